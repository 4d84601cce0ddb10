// SPDX-License-Identifier: GPL-2.0
// Purpose: cuts a byte stream into lines of a bounded length.
// Thread: not synchronised; one owner.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "lib/result.h"

namespace hp {

class LineBuffer {
public:
    /// What becomes of a line longer than the limit, so that what is kept stays bounded.
    enum class Overlong {
        refuse,  ///< error() tells of it, and no line comes any more
        cut,     ///< it is handed out in pieces of the limit's size
    };

    LineBuffer(size_t limit, Overlong overlong) : limit_(limit), overlong_(overlong) {}

    void append(std::string_view bytes);

    /// The next line, without its newline. Nothing when none has come to its end.
    std::optional<std::string> next();

    /// Set once next() has met a line longer than the limit, if such are refused.
    const std::optional<Error>& error() const { return error_; }

    /// What came after the last newline: the end of a stream that did not end with one.
    std::string take_rest();

    /// Also forgets an error.
    void clear();

private:
    size_t limit_;
    Overlong overlong_;
    std::string buffer_;
    size_t begin_ = 0;  // of what was not handed out
    std::optional<Error> error_;
};

}  // namespace hp
