// SPDX-License-Identifier: GPL-2.0
// Purpose: writes the access trace to a file without ever making the device loop wait for a disk:
// the loop puts records into a bounded buffer, a thread of its own writes them. What does not fit
// is lost, counted, and said in the trace. The file is bounded, too: a guest decides how often it
// accesses its device. It keeps the latest records, and says how many it has forgotten. Thread:
// record() and mark() on the device loop; the object owns its writer thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
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
    static constexpr size_t default_limit = 64 << 20;    // bytes

    /// Creates `path` or empties it. A regular file never has more than `limit` bytes; `capacity`
    /// records have to fit into a quarter of that. When it is full, a shorter one takes its place:
    /// who has it open then does not see the records that follow. Throws std::system_error
    /// (start-up).
    AccessTrace(const std::string& path, std::string_view profile,
                size_t capacity = default_capacity, size_t limit = default_limit);
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
    // The writer thread's; 0 or errno. What fails changes nothing.
    int append(std::span<const TraceRecord> records);
    int forget();

    const std::string path_;
    const TraceHeader header_;
    hp::Fd file_;
    const size_t capacity_;
    size_t limit_;
    size_t size_ = 0;         // of the file
    uint64_t forgotten_ = 0;  // records that were in the file
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
