// SPDX-License-Identifier: GPL-2.0
// Purpose: commands to a client, one per line of standard input.
// Thread: not synchronised; the client's one thread owns it.
#pragma once

#include <optional>
#include <string>

namespace hp::clients {

class LineInput {
public:
    /// Waits for a line. Nothing at the end of the input or when a signal asks the client to end.
    std::optional<std::string> next();

private:
    std::string buffer_;
};

}  // namespace hp::clients
