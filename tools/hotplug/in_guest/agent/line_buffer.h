// SPDX-License-Identifier: GPL-2.0
// Purpose: cuts a byte stream into lines of a bounded length.
// Thread: not synchronised; one owner.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hp::agent {

/// A line longer than the limit is handed out in pieces of the limit's size, so that what is kept
/// stays bounded.
class LineBuffer {
public:
    explicit LineBuffer(std::size_t limit) : limit_(limit) {}

    void append(std::string_view bytes) { buffer_.append(bytes); }

    /// The next whole line without its newline.
    std::optional<std::string> next();

    /// What came after the last newline: the end of a stream that did not end with one.
    std::string take_rest();

    void clear() { buffer_.clear(); }

private:
    std::size_t limit_;
    std::string buffer_;
};

}  // namespace hp::agent
