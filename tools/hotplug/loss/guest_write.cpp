// SPDX-License-Identifier: GPL-2.0
// Purpose: see guest_write.h.
// Thread: one.
#include "hotplug/loss/guest_write.h"

#include <chrono>

namespace hotplug {

namespace {

// The agent gives up later than the harness: a write that does not return is a result, no answer to
// it.
constexpr std::chrono::seconds agent_margin{60};

}  // namespace

hp::Result<GuestWrite> GuestWrite::start(AgentClient& agent, const std::string& path,
                                         const std::string& data, Deadline deadline) {
    const auto timeout = std::chrono::ceil<std::chrono::milliseconds>(deadline.remaining());
    auto pending = agent.start_write(path, data, timeout + agent_margin);
    if (!pending) {
        return tl::unexpected(pending.error());
    }
    return GuestWrite(std::move(*pending));
}

hp::Result<bool> GuestWrite::poll() {
    if (result_) {
        return true;
    }
    auto answer = pending_.poll();
    if (!answer) {
        return false;
    }
    if (!*answer) {
        return tl::unexpected(answer->error());
    }
    result_ = **answer;
    return true;
}

}  // namespace hotplug
