// SPDX-License-Identifier: GPL-2.0
// Purpose: see line_buffer.h.
// Thread: see line_buffer.h.
#include "lib/line_buffer.h"

#include <algorithm>
#include <utility>

namespace hp {

void LineBuffer::append(std::string_view bytes) {
    buffer_.erase(0, std::exchange(begin_, 0));
    buffer_.append(bytes);
}

std::optional<std::string> LineBuffer::next() {
    if (error_) {
        return std::nullopt;
    }
    const size_t newline = buffer_.find('\n', begin_);
    const bool whole = newline != std::string::npos;
    const size_t length = (whole ? newline : buffer_.size()) - begin_;
    if (length > limit_ && overlong_ == Overlong::refuse) {
        error_ = Error{"a line of more than " + std::to_string(limit_) + " bytes"};
        return std::nullopt;
    }
    if (!whole && (length < limit_ || overlong_ == Overlong::refuse)) {
        return std::nullopt;
    }
    const size_t taken = std::min(length, limit_);
    std::string line = buffer_.substr(begin_, taken);
    begin_ += taken + (whole && taken == length ? 1 : 0);
    return line;
}

std::string LineBuffer::take_rest() {
    std::string rest = buffer_.substr(begin_);
    clear();
    return rest;
}

void LineBuffer::clear() {
    buffer_.clear();
    begin_ = 0;
    error_.reset();
}

}  // namespace hp
