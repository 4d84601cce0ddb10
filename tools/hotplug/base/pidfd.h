// SPDX-License-Identifier: GPL-2.0
// Purpose: a descriptor of a process, which stays that of this process when its number becomes
// another's. Thread: any.
#pragma once

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "lib/fd.h"

namespace hotplug {

/// No descriptor, and errno, when there is no such process. Not glibc's wrapper: Debian 12's
/// <sys/pidfd.h> forgets extern "C".
inline hp::Fd open_pidfd(pid_t pid) {
    return hp::Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

}  // namespace hotplug
