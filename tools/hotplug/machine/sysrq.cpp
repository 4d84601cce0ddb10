// SPDX-License-Identifier: GPL-2.0
// Purpose: see sysrq.h.
// Thread: one at a time.
#include "hotplug/machine/sysrq.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <fstream>
#include <iterator>

#include "hotplug/base/line_channel.h"

namespace hotplug {

namespace {

namespace fs = std::filesystem;

constexpr auto list_deadline = std::chrono::seconds(30);
constexpr auto look = std::chrono::milliseconds(100);

uint64_t size_of(const fs::path& file) {
    std::error_code error;
    const auto size = fs::file_size(file, error);
    return error ? 0 : size;
}

}  // namespace

hp::Result<std::string> sysrq_blocked_tasks(QmpClient& qmp, const fs::path& console_socket,
                                            const fs::path& log, std::chrono::milliseconds quiet) {
    const Deadline deadline = Deadline::after(list_deadline);
    const auto console = connect_unix(console_socket, deadline);
    if (!console) {
        return hp::fail("the guest's console: " + console.error().message);
    }
    const uint64_t from = size_of(log);
    // 9: print everything. A break before each key makes it one for the kernel.
    for (const char key : {'9', 'w'}) {
        if (auto sent = qmp.execute("chardev-send-break", {{"id", "console"}}); !sent) {
            return tl::unexpected(sent.error());
        }
        if (::send(console->get(), &key, 1, MSG_NOSIGNAL) != 1) {
            return hp::fail("the guest's console takes no key");
        }
        // Two keys at once are one line of input, of which the second is not behind its break.
        deadline.pause(look);
    }
    // The kernel does not say when it is done.
    uint64_t size = from;
    auto grown = Deadline::Clock::now();
    while (!deadline.expired() && Deadline::Clock::now() - grown < quiet) {
        if (const uint64_t now = size_of(log); now != size) {
            size = now;
            grown = Deadline::Clock::now();
        }
        deadline.pause(look);
    }
    if (size == from) {
        return hp::fail("SysRq on the console: the kernel does not answer");
    }
    std::ifstream in(log, std::ios::binary);
    in.seekg(static_cast<std::streamoff>(from));
    return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace hotplug
