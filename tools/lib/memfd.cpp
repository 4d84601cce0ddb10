// SPDX-License-Identifier: GPL-2.0
// Purpose: see memfd.h.
// Thread: any; pure.
#include "lib/memfd.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

namespace hp {

bool keeps_its_pages(int fd) {
    struct statfs filesystem {};
    const int seals = ::fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && ::fstatfs(fd, &filesystem) == 0 &&
           filesystem.f_type == TMPFS_MAGIC;
}

}  // namespace hp
