// SPDX-License-Identifier: GPL-2.0
// Purpose: see json_conversation.h.
// Thread: see json_conversation.h.
#include "hotplug/base/json_conversation.h"

#include <fmt/format.h>

#include "lib/json_line.h"

namespace hotplug {

struct JsonConversation::Shared {
    explicit Shared(std::string name) : peer(std::move(name)) {}

    const std::string peer;
    std::mutex mutex;
    std::condition_variable changed;
    uint64_t next_id = 1;
    std::map<uint64_t, std::optional<nlohmann::json>> answers;  // of the requests not given up
    std::optional<std::string> ended;
    bool hanging_up = false;  // the end of the channel is our own doing

    void end(std::string reason) {
        std::lock_guard lock(mutex);
        if (!ended && !hanging_up) {
            ended = std::move(reason);
        }
        changed.notify_all();
    }

    // Takes an answer in; one nobody waits for any more is dropped.
    void take(const nlohmann::json& message) {
        std::lock_guard lock(mutex);
        if (auto slot = answers.find(message.at("id").get<uint64_t>()); slot != answers.end()) {
            slot->second = message;
            changed.notify_all();
        }
    }

    hp::Error end_error(std::string_view what) const {
        return hp::Error{fmt::format("{}: {} (asked for {})", peer, *ended, what)};
    }
};

hp::Result<std::unique_ptr<JsonConversation>> JsonConversation::connect(
    const std::string& socket_path, std::string peer, LineChannel::Log log, EventHandler on_event,
    Deadline deadline) {
    std::unique_ptr<JsonConversation> conversation(new JsonConversation);
    conversation->socket_path_ = socket_path;
    conversation->log_ = std::move(log);
    conversation->on_event_ = std::move(on_event);
    conversation->shared_ = std::make_shared<Shared>(std::move(peer));
    if (auto opened = conversation->open(deadline); !opened) {
        return tl::unexpected(opened.error());
    }
    return conversation;
}

hp::Result<void> JsonConversation::open(Deadline deadline) {
    auto socket = connect_unix(socket_path_, deadline);
    if (!socket) {
        return hp::fail(fmt::format("{}: {}", shared_->peer, socket.error().message));
    }
    auto on_line = [shared = shared_, on_event = on_event_](std::string_view line) {
        const auto message = hp::parse_json_line(line);
        if (!message) {
            shared->end(fmt::format("it does not speak the protocol: {}", message.error().message));
            return;
        }
        try {
            if (message->contains("id")) {
                shared->take(*message);
            } else {
                on_event(*message);
            }
        } catch (const nlohmann::json::exception& error) {
            shared->end(fmt::format("it does not speak the protocol: {}", error.what()));
        }
    };
    channel_ = std::make_unique<LineChannel>(
        std::move(*socket), log_, std::move(on_line),
        [shared = shared_](std::string reason) { shared->end(std::move(reason)); });
    return {};
}

hp::Result<void> JsonConversation::reconnect(Deadline deadline) {
    std::lock_guard channel_lock(channel_mutex_);
    const auto hang_up = [&](bool now) {
        std::lock_guard lock(shared_->mutex);
        shared_->hanging_up = now;
    };
    hang_up(true);
    channel_.reset();
    hang_up(false);
    auto opened = open(deadline);
    if (!opened) {
        shared_->end(opened.error().message);
    }
    return opened;
}

JsonConversation::~JsonConversation() = default;

bool JsonConversation::connected() const {
    std::lock_guard lock(shared_->mutex);
    return !shared_->ended;
}

hp::Result<JsonConversation::Pending> JsonConversation::start(nlohmann::json message,
                                                              std::string what) {
    uint64_t id;
    {
        std::lock_guard lock(shared_->mutex);
        if (shared_->ended) {
            return tl::unexpected(shared_->end_error(what));
        }
        id = shared_->next_id++;
        shared_->answers.emplace(id, std::nullopt);
    }
    Pending pending(shared_, id, std::move(what));
    message["id"] = id;
    std::lock_guard lock(channel_mutex_);
    if (!channel_) {
        return hp::fail(fmt::format("{}: it could not be reached again ({})", shared_->peer, what));
    }
    if (auto sent = channel_->send(hp::format_json_line(message)); !sent) {
        return hp::fail(
            fmt::format("{}: {} ({})", shared_->peer, sent.error().message, pending.what_));
    }
    return pending;
}

hp::Result<nlohmann::json> JsonConversation::ask(nlohmann::json message, std::string what,
                                                 Deadline deadline) {
    auto pending = start(std::move(message), std::move(what));
    if (!pending) {
        return tl::unexpected(pending.error());
    }
    return pending->wait(deadline);
}

JsonConversation::Pending& JsonConversation::Pending::operator=(Pending&& other) noexcept {
    if (this != &other) {
        forget();
        shared_ = std::move(other.shared_);
        id_ = other.id_;
        what_ = std::move(other.what_);
    }
    return *this;
}

JsonConversation::Pending::~Pending() {
    forget();
}

void JsonConversation::Pending::forget() {
    if (shared_) {
        std::lock_guard lock(shared_->mutex);
        shared_->answers.erase(id_);
    }
}

std::optional<hp::Result<nlohmann::json>> JsonConversation::Pending::poll() {
    std::lock_guard lock(shared_->mutex);
    if (const auto& answer = shared_->answers.at(id_)) {
        return *answer;
    }
    if (shared_->ended) {
        return tl::unexpected(shared_->end_error(what_));
    }
    return std::nullopt;
}

hp::Result<nlohmann::json> JsonConversation::Pending::wait(Deadline deadline) {
    std::unique_lock lock(shared_->mutex);
    const auto& answer = shared_->answers.at(id_);
    if (!deadline.wait(shared_->changed, lock,
                       [&] { return answer.has_value() || shared_->ended.has_value(); })) {
        return hp::fail(deadline.missed(fmt::format("{}'s answer to {}", shared_->peer, what_)));
    }
    if (answer) {
        return *answer;
    }
    return tl::unexpected(shared_->end_error(what_));
}

hp::Result<nlohmann::json> accept_answer(hp::Result<nlohmann::json> answer, std::string_view what) {
    if (!answer) {
        return answer;
    }
    auto ok = answer->find("ok");
    if (ok == answer->end() || !ok->is_boolean()) {
        return hp::fail(fmt::format("{}: an answer without 'ok'", what));
    }
    if (!ok->get<bool>()) {
        auto error = answer->find("error");
        bool told = error != answer->end() && error->is_string();
        return hp::fail(
            fmt::format("{}: {}", what, told ? error->get<std::string>() : "no reason given"));
    }
    return answer;
}

}  // namespace hotplug
