// SPDX-License-Identifier: GPL-2.0
// Purpose: UNIX stream sockets: listening on a path without trampling a live server, connecting by
// a deadline, and closing without a reset. Thread: any; an object belongs to one thread.
#pragma once

#include <chrono>
#include <string>

#include "lib/fd.h"
#include "lib/result.h"

namespace hp {

/// A listening socket and its path, which goes when the listener does.
class UnixListener {
public:
    /// Replaces a socket file that nobody serves any more. Fails when somebody does, or when
    /// something else is there.
    static Result<UnixListener> open(const std::string& path);

    UnixListener(UnixListener&&) = default;
    UnixListener& operator=(UnixListener&& other) noexcept;
    ~UnixListener() { close(); }

    int fd() const { return fd_.get(); }
    const std::string& path() const { return path_; }

    /// The next waiting connection, non-blocking and close-on-exec; an empty Fd when none waits.
    Result<Fd> accept();

    void close();

private:
    UnixListener(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

    Fd fd_;
    std::string path_;
};

/// Connects, waiting up to `deadline` for somebody to listen there. The socket is blocking.
Result<Fd> connect_unix(const std::string& path, std::chrono::milliseconds deadline);

/// Connects if somebody listens there, an empty Fd if nobody does. Never waits; the socket is
/// non-blocking.
Result<Fd> try_connect_unix(const std::string& path);

/// Says goodbye, takes what is still on its way and closes. A plain close() with unread bytes makes
/// the peer see ECONNRESET instead of the end of the stream; QEMU's vfio-user client aborts on that
/// (hw/vfio-user/proxy.c).
void close_orderly(Fd socket);

}  // namespace hp
