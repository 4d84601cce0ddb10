// SPDX-License-Identifier: GPL-2.0
// Purpose: text lines over a unix stream socket, read by a thread of its own so that nothing a peer
// says waits for somebody to ask. Thread: send() from any thread; the line handler runs on the
// reader thread, which the destructor joins.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "hotplug/base/deadline.h"
#include "lib/fd.h"
#include "lib/result.h"

namespace hotplug {

/// Connects to a listening unix socket, waiting for it to appear and to listen. Names `path` in
/// errors.
hp::Result<hp::Fd> connect_unix(const std::string& path, Deadline deadline);

/// A line longer than hp::json_line_limit ends the connection: the peer does not speak the
/// protocol.
class LineChannel {
public:
    enum class Direction { sent, received };
    using Log = std::function<void(Direction, std::string_view)>;
    using LineHandler = std::function<void(std::string_view)>;
    /// Called once, with the reason, when no line will come any more.
    using EndHandler = std::function<void(std::string)>;

    LineChannel(hp::Fd socket, Log log, LineHandler on_line, EndHandler on_end);
    ~LineChannel();
    LineChannel(const LineChannel&) = delete;
    LineChannel& operator=(const LineChannel&) = delete;

    /// Sends the line and a newline. Fails when the peer is gone or takes nothing for 10 s.
    hp::Result<void> send(std::string_view line);

private:
    void read_lines();
    std::string read_until_end();

    hp::Fd socket_;
    Log log_;
    LineHandler on_line_;
    EndHandler on_end_;
    std::mutex send_mutex_;
    std::thread reader_;
};

}  // namespace hotplug
