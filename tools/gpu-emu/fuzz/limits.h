// SPDX-License-Identifier: GPL-2.0
// Purpose: how long a fuzzer's input may take and how much more memory there may be of it. Time is
// that of the processor, memory what the heap holds. Thread: single-threaded.
#pragma once

#include <sanitizer/allocator_interface.h>
#include <time.h>

#include <cstddef>
#include <cstdint>

namespace gpuemu::fuzz {

class Limits {
public:
    static constexpr int64_t most_ns = 50'000'000;
    static constexpr size_t most_bytes = 64u << 20;

    /// Null, or what the input has too much of by now.
    const char* exceeded() const {
        if (__sanitizer_get_current_allocated_bytes() > heap_ + most_bytes) {
            return "memory";
        }
        return now() - start_ > most_ns ? "time" : nullptr;
    }

private:
    static int64_t now() {
        timespec time{};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    }

    int64_t start_ = now();
    size_t heap_ = __sanitizer_get_current_allocated_bytes();
};

}  // namespace gpuemu::fuzz
