// SPDX-License-Identifier: GPL-2.0
// Purpose: bytes with file descriptors over a UNIX socket: sendmsg(2) and recvmsg(2) with
// SCM_RIGHTS (unix(7)). Thread: any; no state. Does not model: other control messages.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <vector>

#include "lib/fd.h"

namespace hp {

/// Descriptors that one call may carry: SCM_MAX_FD of the kernel (include/net/scm.h).
inline constexpr std::size_t most_passed_fds = 253;

/// As send(2) with `flags` and MSG_NOSIGNAL: the bytes taken, or -1 and errno. `fds` stay the
/// caller's and go with the first byte, so `bytes` is not empty; more than most_passed_fds are
/// EINVAL.
ssize_t send_with_fds(int socket, std::span<const std::byte> bytes, std::span<const int> fds,
                      int flags);

/// What one recvmsg(2) brought.
struct ReceivedWithFds {
    ssize_t bytes = -1;        // as of recv(2); errno is left when it is -1
    std::vector<Fd> fds;       // close-on-exec
    bool fds_missing = false;  // there were more than the room for them; they are closed
};

/// As recv(2) with `flags`, with room for `most_fds`, at most most_passed_fds, descriptors.
ReceivedWithFds receive_with_fds(int socket, std::span<std::byte> into, int flags,
                                 std::size_t most_fds = most_passed_fds);

}  // namespace hp
