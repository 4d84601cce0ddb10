// SPDX-License-Identifier: GPL-2.0
// Purpose: the harness's end of the emulator's control socket (Documentation/harness/protocols.md):
// the loss model and the witness's counters. Thread: all members from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "hotplug/base/deadline.h"
#include "hotplug/base/json_conversation.h"
#include "hotplug/values/accesses.h"
#include "hotplug/values/lies.h"
#include "lib/result.h"

namespace hotplug {

struct EmulatorStatus {
    std::string profile;
    std::string state;  // "present", "ones", "hung"
    bool attached = false;
    uint64_t attachments = 0;
    uint64_t unknown_registers = 0;
    Lies lies;
    std::string engines;
};

struct EmulatorCounters {
    AccessCounts total;
    AccessCounts after_loss;
    std::vector<LateAccess> first_after_loss;
    StrayDma stray_dma;  // since the process began
};

class EmulatorClient {
public:
    /// `name` stands for the emulator in errors ("the emulator of slot 0").
    static hp::Result<std::unique_ptr<EmulatorClient>> connect(const std::string& socket_path,
                                                               std::string name, Deadline deadline);

    hp::Result<EmulatorStatus> status();
    hp::Result<EmulatorCounters> counters(bool reset = false);

    hp::Result<void> vanish();
    hp::Result<void> restore();
    hp::Result<void> hang();
    hp::Result<void> resume();
    hp::Result<void> flaky(std::chrono::milliseconds time);
    hp::Result<void> drop_irq(unsigned count);
    hp::Result<void> duplicate_irq(unsigned count);
    hp::Result<void> delay(std::chrono::microseconds per_access);
    hp::Result<void> vanish_after(uint64_t accesses);
    /// `block`: umc, gfx, sdma; `severity`: correctable, uncorrectable, poison.
    hp::Result<void> ras(std::string_view block, std::string_view severity);
    hp::Result<void> mark(std::string_view label);
    hp::Result<void> shutdown();

    /// Any request of the protocol, for a scenario that needs one not listed above.
    hp::Result<nlohmann::json> request(std::string_view verb, nlohmann::json members = {});

    bool connected() const { return conversation_->connected(); }

    /// Events are counted by name from the connection on: note the count, act, wait for a higher
    /// one.
    uint64_t event_count(const std::string& name) const;
    hp::Result<void> wait_event(const std::string& name, uint64_t more_than,
                                Deadline deadline) const;
    /// The last event `vanished`; fails when there was none since the connection.
    hp::Result<Vanishing> last_vanishing() const;

private:
    EmulatorClient() = default;

    std::string name_;
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::map<std::string, uint64_t> events_;
    nlohmann::json vanished_;

    // Last: its reader thread uses the members above until it is joined.
    std::unique_ptr<JsonConversation> conversation_;
};

}  // namespace hotplug
