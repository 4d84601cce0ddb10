// SPDX-License-Identifier: GPL-2.0
// Purpose: see excerpt.h.
// Thread: see excerpt.h.
#include "hotplug/report/excerpt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include "gpu-emu/witness/trace_format.h"

namespace hotplug {

namespace {

using gpuemu::TraceHeader;
using gpuemu::TraceRecord;

constexpr uint64_t records_at_once = (excerpt_bytes - sizeof(TraceHeader)) / sizeof(TraceRecord);

hp::Result<void> write(const std::filesystem::path& to, std::string_view bytes) {
    std::ofstream out(to, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) {
        return hp::fail(fmt::format("{}: cannot write", to.string()));
    }
    return {};
}

/// What is there of `size` bytes from `offset` on.
std::string read(std::ifstream& in, uint64_t offset, uint64_t size) {
    std::string bytes(size, '\0');
    in.clear();
    in.seekg(static_cast<std::streamoff>(offset));
    in.read(bytes.data(), static_cast<std::streamsize>(size));
    bytes.resize(static_cast<size_t>(std::max<std::streamsize>(in.gcount(), 0)));
    return bytes;
}

/// Of a record in the file.
uint64_t offset_of(uint64_t index) {
    return sizeof(TraceHeader) + index * sizeof(TraceRecord);
}

/// The last mutations among the first `end` records, at most `most` of them.
std::string mutations_before(std::ifstream& in, uint64_t end, uint64_t most) {
    std::string kept;
    for (uint64_t index = 0; index < end; index += records_at_once) {
        const uint64_t count = std::min(records_at_once, end - index);
        const std::string bytes = read(in, offset_of(index), count * sizeof(TraceRecord));
        for (size_t at = 0; at + sizeof(TraceRecord) <= bytes.size(); at += sizeof(TraceRecord)) {
            if (static_cast<uint8_t>(bytes[at + offsetof(TraceRecord, kind)]) ==
                static_cast<uint8_t>(gpuemu::TraceKind::mutation)) {
                kept += bytes.substr(at, sizeof(TraceRecord));
            }
        }
        const uint64_t bound = most * sizeof(TraceRecord);
        kept.erase(0, kept.size() - std::min<uint64_t>(kept.size(), bound));
    }
    return kept;
}

uint64_t size_of(const std::filesystem::path& file) {
    std::error_code error;
    const auto size = std::filesystem::file_size(file, error);
    return error ? 0 : size;
}

}  // namespace

hp::Result<void> copy_log_end(const std::filesystem::path& from, const std::filesystem::path& to) {
    std::ifstream in(from, std::ios::binary);
    const uint64_t size = size_of(from);
    const uint64_t skipped = size > excerpt_bytes ? size - excerpt_bytes : 0;
    std::string text = read(in, skipped, size - skipped);
    if (skipped != 0) {
        text.erase(0, text.find('\n') + 1);
    }
    return write(to, text);
}

hp::Result<void> copy_trace_around(const std::filesystem::path& from,
                                   const std::filesystem::path& to, uint64_t moment_ns) {
    std::ifstream in(from, std::ios::binary);
    const uint64_t size = std::max<uint64_t>(size_of(from), sizeof(TraceHeader));
    // Records stand in the order of time: halve until the first one that is not before the moment.
    uint64_t middle = 0;
    uint64_t end = (size - sizeof(TraceHeader)) / sizeof(TraceRecord);
    while (middle < end) {
        const uint64_t probe = middle + (end - middle) / 2;
        TraceRecord record{};
        const std::string bytes = read(in, offset_of(probe), sizeof record);
        std::memcpy(&record, bytes.data(), bytes.size());
        if (record.time_ns < moment_ns) {
            middle = probe + 1;
        } else {
            end = probe;
        }
    }
    const uint64_t first = middle - std::min(middle, records_at_once / 2);
    const std::string lies = mutations_before(in, first, records_at_once / 4);
    return write(to, read(in, 0, sizeof(TraceHeader)) + lies +
                         read(in, offset_of(first), records_at_once * sizeof(TraceRecord) - lies.size()));
}

}  // namespace hotplug
