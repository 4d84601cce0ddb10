// SPDX-License-Identifier: GPL-2.0
// Purpose: what has to be known of a file of somebody else's before it is mapped.
// Thread: any; pure.
#pragma once

namespace hp {

/// Whether no page of the file can go away while it is mapped: the next touch would be SIGBUS. A
/// memfd with F_SEAL_SHRINK is such a file. Huge pages are none: when one was punched out, the next
/// touch is SIGBUS if the system has none left.
bool keeps_its_pages(int fd);

}  // namespace hp
