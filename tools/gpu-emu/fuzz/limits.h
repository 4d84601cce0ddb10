// SPDX-License-Identifier: GPL-2.0
// Purpose: what a fuzzer's input takes: time of the processor, and memory that the heap holds.
// Thread: single-threaded.
#pragma once

#include <sanitizer/allocator_interface.h>
#include <time.h>

#include <cstddef>
#include <cstdint>

namespace gpuemu::fuzz {

/// Time that the thread has had of the processor.
class Stopwatch {
public:
    int64_t ns() const { return now() - start_; }

private:
    static int64_t now() {
        timespec time{};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    }

    int64_t start_ = now();
};

class HeapGrowth {
public:
    std::size_t bytes() const {
        const std::size_t held = __sanitizer_get_current_allocated_bytes();
        return held > before_ ? held - before_ : 0;
    }

private:
    std::size_t before_ = __sanitizer_get_current_allocated_bytes();
};

}  // namespace gpuemu::fuzz
