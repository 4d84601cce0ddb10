// SPDX-License-Identifier: GPL-2.0
// Purpose: writes the access trace to a file without ever making the device loop wait for a disk:
// the loop puts records into a bounded buffer, a thread of its own writes them. What does not fit
// is lost, counted, and said in the trace. Thread: record() and mark() on the device loop; the
// object owns its writer thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "gpu-emu/witness/trace_format.h"
#include "lib/fd.h"

namespace gpuemu {

class AccessTrace {
public:
    static constexpr size_t default_capacity = 1 << 18;  // records: 8 MiB

    /// Creates `path` or empties it. Throws std::system_error (start-up).
    AccessTrace(const std::string& path, std::string_view profile,
                size_t capacity = default_capacity);
    ~AccessTrace();  // writes what is left
    AccessTrace(const AccessTrace&) = delete;
    AccessTrace& operator=(const AccessTrace&) = delete;

    void record(const TraceRecord& record);
    void mark(std::string_view label);

    /// Records lost so far, to a full buffer or to a file that takes no more.
    uint64_t dropped() const;

private:
    void put(const TraceRecord& record);  // with mutex_ held
    void write_loop();

    hp::Fd file_;
    const size_t capacity_;
    mutable std::mutex mutex_;
    std::condition_variable wake_;
    std::vector<TraceRecord> filling_;
    uint64_t dropped_ = 0;
    uint64_t dropped_told_ = 0;   // of these the trace knows
    bool writer_sleeps_ = false;  // until there is a record
    bool stopping_ = false;
    std::thread writer_;
};

}  // namespace gpuemu
