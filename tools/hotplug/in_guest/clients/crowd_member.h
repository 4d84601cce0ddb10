// SPDX-License-Identifier: GPL-2.0
// Purpose: a member of kfd_crowd: a process that has /dev/kfd open, in one of the states in which a
// process does not go away when it is told to. Asked, it makes a call of KFD and tells what came of
// it. Thread: one in each process; whoever makes a member owns both ends of its pipes. Not
// modelled: queues that make progress; hsa_queue has one.
#pragma once

#include "hotplug/in_guest/clients/kfd_topology.h"

namespace hp::clients {

/// What a member does once it has /dev/kfd open.
enum class Manner {
    waits,
    ignores_sigbus,
    blocks_sigbus,
    is_stopped,
    is_traced,
    sleeps_in_kernel,  ///< D state: waits for a child made by vfork(2)
    child_has_file,    ///< a forked child, whose parent has closed it
};
constexpr unsigned manners = 7;

/// A member's first word, and its answer to each question. `op` points into the program, which is
/// the same in all of them; null: all is well.
struct CrowdAnswer {
    unsigned member = 0;
    const char* op = nullptr;
    int error = 0;
};

struct CrowdMember {
    unsigned number = 0;
    Manner manner = Manner::waits;
    const KfdNode* with_queue = nullptr;  ///< on this GPU, with a packet in flight
    int questions = -1;                   ///< each byte is one
    int answers = -1;
};

/// The life of a member, which is a process of its own. Ends with SIGKILL, at the latest when the
/// process that made it ends. That one stops and traces it where the manner says so.
[[noreturn]] void live(const CrowdMember& member);

}  // namespace hp::clients
