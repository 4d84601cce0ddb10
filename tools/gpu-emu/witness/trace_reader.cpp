// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/witness/trace_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace gpuemu {

hp::Result<TraceReader> TraceReader::open(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        return hp::fail(fmt::format("cannot read {}", path));
    }
    TraceHeader header{};
    if (!file.read(reinterpret_cast<char*>(&header), sizeof header) ||
        header.magic != trace_magic) {
        return hp::fail(fmt::format("{} is not an access trace", path));
    }
    if (header.version != trace_version || header.record_size != sizeof(TraceRecord)) {
        return hp::fail(fmt::format("{} is a trace of version {}, this tool reads version {}", path,
                                    header.version, trace_version));
    }
    return TraceReader(std::move(file), header);
}

TraceReader::TraceReader(std::ifstream file, const TraceHeader& header)
    : file_(std::move(file)), header_(header) {}

std::string TraceReader::profile() const {
    const auto end = std::find(header_.profile.begin(), header_.profile.end(), '\0');
    return std::string(header_.profile.begin(), end);
}

std::optional<TraceRecord> TraceReader::next() {
    TraceRecord record{};
    if (!file_.read(reinterpret_cast<char*>(&record), sizeof record)) {
        truncated_ = file_.gcount() != 0;
        return std::nullopt;
    }
    return record;
}

std::string mark_text(const TraceRecord& record) {
    std::array<char, mark_bytes> text{};
    std::memcpy(text.data(), &record.offset, sizeof record.offset);
    std::memcpy(text.data() + sizeof record.offset, &record.value, sizeof record.value);
    return std::string(text.data(), std::min<size_t>(record.size, text.size()));
}

}  // namespace gpuemu
