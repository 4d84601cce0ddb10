// SPDX-License-Identifier: GPL-2.0
// Purpose: reads an access trace, record by record, trusting nothing in the file.
// Thread: any; an object belongs to one thread.
#pragma once

#include <fstream>
#include <optional>
#include <string>

#include "gpu-emu/witness/trace_format.h"
#include "lib/result.h"

namespace gpuemu {

class TraceReader {
public:
    static hp::Result<TraceReader> open(const std::string& path);

    const TraceHeader& header() const { return header_; }
    std::string profile() const;

    /// Empty at the end. A file that ends within a record (its writer was killed) ends before it.
    std::optional<TraceRecord> next();
    bool truncated() const { return truncated_; }

private:
    TraceReader(std::ifstream file, const TraceHeader& header);

    std::ifstream file_;
    TraceHeader header_;
    bool truncated_ = false;
};

/// The part of a label that a mark record carries.
std::string mark_text(const TraceRecord& record);

}  // namespace gpuemu
