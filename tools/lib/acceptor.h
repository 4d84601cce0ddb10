// SPDX-License-Identifier: GPL-2.0
// Purpose: takes the connections of a listening socket on an event loop. When there is no file
// descriptor for one, it looks away for a while instead of being told of it again at once.
// Thread: the loop's.
#pragma once

#include <functional>
#include <string>

#include "lib/event_loop.h"
#include "lib/fd.h"
#include "lib/unix_socket.h"

namespace hp {

class Acceptor {
public:
    /// `on_connection` gets each connection, non-blocking. `loop` outlives the acceptor; `what`
    /// says in the log who is accepted.
    Acceptor(EventLoop& loop, UnixListener listener, std::string what,
             std::function<void(Fd)> on_connection);
    Acceptor(const Acceptor&) = delete;
    Acceptor& operator=(const Acceptor&) = delete;

    const std::string& path() const { return listener_.path(); }

private:
    void accept_all();

    EventLoop& loop_;
    UnixListener listener_;
    std::string what_;
    std::function<void(Fd)> on_connection_;
    EventLoop::Handle watch_;
    EventLoop::Handle pause_;
};

}  // namespace hp
