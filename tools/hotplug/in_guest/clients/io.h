// SPDX-License-Identifier: GPL-2.0
// Purpose: what a client's call into the kernel returns: a value, or which call failed and how.
// Thread: values, no state.
#pragma once

#include <sys/ioctl.h>

#include <cerrno>
#include <tl/expected.hpp>

namespace hp::clients {

struct IoError {
    const char* op;  ///< the ioctl's or the system call's name
    int error;       ///< errno
};

template <typename T>
using IoResult = tl::expected<T, IoError>;

inline tl::unexpected<IoError> io_fail(const char* op, int error = errno) {
    return tl::unexpected<IoError>(IoError{op, error});
}

/// A signal that interrupts the call is no error of the device.
template <typename Argument>
IoResult<void> io_call(int fd, unsigned long request, Argument* argument, const char* op) {
    while (::ioctl(fd, request, argument) != 0) {
        if (errno != EINTR) {
            return io_fail(op);
        }
    }
    return {};
}

}  // namespace hp::clients
