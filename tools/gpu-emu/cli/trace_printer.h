// SPDX-License-Identifier: GPL-2.0
// Purpose: an access trace for people (columns) and for programs (JSON lines), whole, only what
// came after a loss, or as sums. Thread: any; an object belongs to one thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <string>

#include "gpu-emu/witness/trace_format.h"

namespace gpuemu {

class TracePrinter {
public:
    struct Options {
        bool json = false;
        bool after_loss = false;  // only what happened while the device was gone
        bool summary = false;     // sums instead of records
    };
    using RegisterName = std::function<std::string(uint32_t dword)>;

    TracePrinter(const TraceHeader& header, Options options, RegisterName register_name,
                 std::ostream& out);

    void add(const TraceRecord& record);

    /// After the last record.
    void finish();

private:
    void print_text(const TraceRecord& record);
    void print_json(const TraceRecord& record);
    void sum(const TraceRecord& record);
    void print_summary();
    std::string name_of(const TraceRecord& record) const;
    double seconds(uint64_t time_ns) const;

    uint64_t start_ns_;
    Options options_;
    RegisterName register_name_;
    std::ostream& out_;
    bool lost_ = false;
    std::string label_;  // of a mark in several records

    std::array<uint64_t, trace_kinds> counts_{};
    std::map<std::string, uint64_t> registers_;
    uint64_t records_lost_ = 0;
    uint64_t records_forgotten_ = 0;
};

}  // namespace gpuemu
