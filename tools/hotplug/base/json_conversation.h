// SPDX-License-Identifier: GPL-2.0
// Purpose: requests and answers matched by `id`, and events between them, as JSON lines: what QMP,
// the agent and the emulator's control socket have in common. Thread: all members from any thread;
// the event handler runs on the reader thread and must not wait for an answer.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "hotplug/base/deadline.h"
#include "hotplug/base/line_channel.h"
#include "lib/result.h"

namespace hotplug {

class JsonConversation {
    struct Shared;

public:
    using EventHandler = std::function<void(const nlohmann::json&)>;

    /// `peer` names the other end in errors. `on_event` gets every message that has no `id`.
    static hp::Result<std::unique_ptr<JsonConversation>> connect(const std::string& socket_path,
                                                                 std::string peer,
                                                                 LineChannel::Log log,
                                                                 EventHandler on_event,
                                                                 Deadline deadline);
    ~JsonConversation();

    /// Hangs up and connects again, to a peer that goes on with what it has to say. Requests that
    /// were not answered stay open. Lines that were on their way are lost.
    hp::Result<void> reconnect(Deadline deadline);
    JsonConversation(const JsonConversation&) = delete;
    JsonConversation& operator=(const JsonConversation&) = delete;

    /// An answer on its way. Dropping it is allowed: the answer is then thrown away.
    class Pending {
    public:
        Pending(Pending&& other) noexcept = default;
        Pending& operator=(Pending&& other) noexcept;
        ~Pending();

        /// Nothing while there is no answer; the failure when the connection ended first.
        std::optional<hp::Result<nlohmann::json>> poll();
        hp::Result<nlohmann::json> wait(Deadline deadline);

    private:
        friend class JsonConversation;
        Pending(std::shared_ptr<Shared> shared, uint64_t id, std::string what)
            : shared_(std::move(shared)), id_(id), what_(std::move(what)) {}
        void forget();
        std::shared_ptr<Shared> shared_;
        uint64_t id_;
        std::string what_;
    };

    /// Sends `message` with a fresh `id`. `what` names the request in errors.
    hp::Result<Pending> start(nlohmann::json message, std::string what);
    /// The whole answer, whatever it says.
    hp::Result<nlohmann::json> ask(nlohmann::json message, std::string what, Deadline deadline);
    bool connected() const;

private:
    JsonConversation() = default;
    hp::Result<void> open(Deadline deadline);

    std::string socket_path_;
    LineChannel::Log log_;
    EventHandler on_event_;
    std::shared_ptr<Shared> shared_;
    std::mutex channel_mutex_;
    std::unique_ptr<LineChannel> channel_;
};

/// For the two protocols of ours: the answer when its `ok` is true, else a failure with its
/// `error`.
hp::Result<nlohmann::json> accept_answer(hp::Result<nlohmann::json> answer, std::string_view what);

}  // namespace hotplug
