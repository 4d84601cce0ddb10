// SPDX-License-Identifier: GPL-2.0
// Purpose: commands to a client, one per line of standard input.
// Thread: not synchronised; the client's one thread owns it.
#pragma once

#include <optional>
#include <string>

#include "lib/line_buffer.h"

namespace hp::clients {

class LineInput {
public:
    /// Waits for a line. Nothing at the end of the input or when a signal asks the client to end.
    std::optional<std::string> next();

private:
    // A command is a word or a few; what is longer is none, in pieces too.
    LineBuffer buffer_{4096, LineBuffer::Overlong::cut};
};

}  // namespace hp::clients
