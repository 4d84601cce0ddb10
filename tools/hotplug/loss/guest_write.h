// SPDX-License-Identifier: GPL-2.0
// Purpose: a write(2) into a file of the guest's sysfs that may block for long.
// Thread: one.
#pragma once

#include <optional>
#include <string>

#include "hotplug/base/deadline.h"
#include "hotplug/guest/agent_client.h"
#include "lib/result.h"

namespace hotplug {

/// A write(2) in the guest that was asked for and whose return is looked for now and then.
class GuestWrite {
public:
    static hp::Result<GuestWrite> start(AgentClient& agent, const std::string& path,
                                        const std::string& data, Deadline deadline);

    /// True once the write has returned; result() is then valid.
    hp::Result<bool> poll();
    const WriteResult& result() const { return *result_; }
    bool refused() const { return result_ && result_->error != 0; }

private:
    explicit GuestWrite(AgentClient::PendingWrite pending) : pending_(std::move(pending)) {}

    AgentClient::PendingWrite pending_;
    std::optional<WriteResult> result_;
};

}  // namespace hotplug
