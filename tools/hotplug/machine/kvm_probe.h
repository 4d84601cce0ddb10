// SPDX-License-Identifier: GPL-2.0
// Purpose: whether KVM is of use on this host. Some have a /dev/kvm that runs no stock guest, or
// one that is slower than TCG. Thread: one at a time; hosts of several processes ask twice at
// worst.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "hotplug/machine/machine.h"
#include "lib/result.h"

namespace hotplug {

/// What was found out is kept in a file, together with what it was found out of.
class KvmMemory {
public:
    /// `subject`: one line that names what the answer depends on, such as this boot of the host.
    KvmMemory(std::filesystem::path file, std::string subject);

    /// Calls `ask`, which fails where KVM is of no use, unless the answer for `subject` is in the
    /// file. A file that cannot be read or written costs another question the next time.
    hp::Result<void> recall_or(const std::function<hp::Result<void>()>& ask) const;

private:
    std::filesystem::path file_;
    std::string subject_;
};

/// Fails when /dev/kvm cannot be opened, or when the guest of `config`, without boards, does not
/// come up under KVM within seconds. Remembers the latter in the user's cache until the host boots
/// again.
hp::Result<void> kvm_is_of_use(MachineConfig config);

}  // namespace hotplug
