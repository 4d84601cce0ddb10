// SPDX-License-Identifier: GPL-2.0
// Purpose: cuts a byte stream into lines of a bounded length.
// Thread: not synchronised; one owner.
#include "hotplug/in_guest/agent/line_buffer.h"

#include <algorithm>
#include <utility>

namespace hp::agent {

std::optional<std::string> LineBuffer::next() {
    const auto newline = buffer_.find('\n');
    const auto length = std::min(newline == std::string::npos ? buffer_.size() : newline, limit_);
    if (newline == std::string::npos && length < limit_) {
        return std::nullopt;
    }
    std::string line = buffer_.substr(0, length);
    buffer_.erase(0, length == newline ? length + 1 : length);
    return line;
}

std::string LineBuffer::take_rest() {
    return std::exchange(buffer_, {});
}

}  // namespace hp::agent
