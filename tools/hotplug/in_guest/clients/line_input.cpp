// SPDX-License-Identifier: GPL-2.0
// Purpose: commands to a client, one per line of standard input.
// Thread: not synchronised; the client's one thread owns it.
#include "hotplug/in_guest/clients/line_input.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "hotplug/in_guest/clients/signals.h"

namespace hp::clients {

std::optional<std::string> LineInput::next() {
    for (;;) {
        if (auto line = buffer_.next()) {
            return line;
        }
        std::array wanted = {pollfd{STDIN_FILENO, POLLIN, 0}};
        if (wait_unless_stopped(wanted, std::nullopt) == 0) {
            return std::nullopt;
        }
        std::array<char, 4096> bytes;
        const ssize_t n = ::read(STDIN_FILENO, bytes.data(), bytes.size());
        if (n == 0 || (n < 0 && errno != EINTR)) {
            return std::nullopt;
        }
        if (n > 0) {
            buffer_.append({bytes.data(), static_cast<std::size_t>(n)});
        }
    }
}

}  // namespace hp::clients
