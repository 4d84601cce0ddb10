// SPDX-License-Identifier: GPL-2.0
// Purpose: the kernel log, record by record, from /dev/kmsg (Documentation/ABI/testing/dev-kmsg of
// the kernel). Thread: not synchronised; the agent's loop owns the reader.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "lib/fd.h"
#include "lib/result.h"

namespace hp::agent {

struct KmsgRecord {
    unsigned level = 0;
    std::uint64_t sequence = 0;
    std::uint64_t time_us = 0;
    std::string text;
};

/// "level,sequence,microseconds,flags[,...];text" and lines of key=value, which are left out.
Result<KmsgRecord> parse_kmsg_record(std::string_view raw);

/// Reads records and notices those that the kernel's ring lost before they were read.
class KmsgReader {
public:
    /// `kmsg` is non-blocking and yields one record per read(2).
    explicit KmsgReader(Fd kmsg) : kmsg_(std::move(kmsg)) {}

    int fd() const { return kmsg_.get(); }

    /// The events of what is waiting, a batch of it at most: the caller asks again.
    std::vector<nlohmann::json> read();

private:
    Fd kmsg_;
    std::uint64_t next_sequence_ = 0;
};

}  // namespace hp::agent
