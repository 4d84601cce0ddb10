// SPDX-License-Identifier: GPL-2.0
// Purpose: starts a program with pipes on its three standard streams, in a session of its own.
// Thread: any; a Child has one owner.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "lib/fd.h"
#include "lib/result.h"

namespace hp::agent {

struct Child {
    pid_t pid = -1;
    Fd pidfd;  ///< readable once the program has ended
    Fd input;  ///< non-blocking, like the other two
    Fd output;
    Fd errors;
};

/// `env` is added to the agent's own environment. The program is looked for in PATH.
Result<Child> start_child(const std::vector<std::string>& argv,
                          const std::map<std::string, std::string>& env);

/// Collects an ended child: its exit code, or minus the signal that ended it.
Result<int> reap(const Child& child);

}  // namespace hp::agent
