// SPDX-License-Identifier: GPL-2.0
// Purpose: QEMU's machine protocol: commands, human monitor commands, and the events in the order
// they came. Thread: all members from any thread. Never sent: `info mtree -f` (leaks a FlatView:
// the unplugged device is then never finalized).
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hotplug/base/deadline.h"
#include "hotplug/base/json_conversation.h"
#include "lib/result.h"

namespace hotplug {

struct QmpEvent {
    Deadline::Clock::time_point received;
    std::string name;
    nlohmann::json data;
};

class QmpClient {
public:
    /// Connects, takes the greeting and leaves negotiation mode. Both directions are written to
    /// `log`.
    static hp::Result<std::unique_ptr<QmpClient>> connect(const std::string& socket_path,
                                                          const std::filesystem::path& log,
                                                          Deadline deadline);

    /// The `return` member; fails with QEMU's own description.
    hp::Result<nlohmann::json> execute(
        std::string_view command, nlohmann::json arguments = nlohmann::json::object(),
        Deadline deadline = Deadline::after(std::chrono::seconds(30)));
    /// A human monitor command's output.
    hp::Result<std::string> human(const std::string& command_line);
    /// Asks QEMU to end. That it may end before it answers is not a failure.
    void quit();
    /// False once QEMU is gone.
    bool connected() const { return conversation_->connected(); }

    size_t event_count() const;
    /// The first event from index `from` on that satisfies `wanted`.
    std::optional<QmpEvent> find_event(size_t from,
                                       const std::function<bool(const QmpEvent&)>& wanted) const;
    hp::Result<QmpEvent> wait_event(size_t from, const std::function<bool(const QmpEvent&)>& wanted,
                                    std::string_view awaited, Deadline deadline) const;

private:
    QmpClient() = default;
    void on_message(const nlohmann::json& message);

    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    bool greeted_ = false;
    std::vector<QmpEvent> events_;

    // Last: its reader thread uses the members above until it is joined.
    std::unique_ptr<JsonConversation> conversation_;
};

/// DEVICE_DELETED of the device with that id.
std::function<bool(const QmpEvent&)> device_deleted(std::string device_id);

}  // namespace hotplug
