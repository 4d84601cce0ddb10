// SPDX-License-Identifier: GPL-2.0
// Purpose: see qmp_client.h.
// Thread: see qmp_client.h.
#include "hotplug/machine/qmp_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace hotplug {

namespace {

// Both directions with the time since the connection. Two threads write: senders and the reader.
LineChannel::Log file_log(const std::filesystem::path& path) {
    struct State {
        std::mutex mutex;
        std::ofstream file;
        Deadline::Clock::time_point start = Deadline::Clock::now();
    };
    auto state = std::make_shared<State>();
    state->file.open(path, std::ios::app);
    return [state](LineChannel::Direction direction, std::string_view line) {
        std::lock_guard lock(state->mutex);
        std::chrono::duration<double> time = Deadline::Clock::now() - state->start;
        const char* arrow = direction == LineChannel::Direction::sent ? "->" : "<-";
        state->file << fmt::format("{:10.4f} {} {}\n", time.count(), arrow, line) << std::flush;
    };
}

}  // namespace

hp::Result<std::unique_ptr<QmpClient>> QmpClient::connect(const std::string& socket_path,
                                                          const std::filesystem::path& log,
                                                          Deadline deadline) {
    std::unique_ptr<QmpClient> client(new QmpClient);
    auto conversation = JsonConversation::connect(
        socket_path, "QEMU", file_log(log),
        [raw = client.get()](const nlohmann::json& message) { raw->on_message(message); },
        deadline);
    if (!conversation) {
        return tl::unexpected(conversation.error());
    }
    client->conversation_ = std::move(*conversation);
    {
        std::unique_lock lock(client->mutex_);
        if (!deadline.wait(client->changed_, lock, [&] {
                return client->greeted_ || !client->conversation_->connected();
            })) {
            return hp::fail(deadline.missed("QEMU's greeting on its monitor socket"));
        }
    }
    if (auto answer = client->execute("qmp_capabilities", nlohmann::json::object(), deadline);
        !answer) {
        return tl::unexpected(answer.error());
    }
    return client;
}

void QmpClient::on_message(const nlohmann::json& message) {
    std::lock_guard lock(mutex_);
    if (message.contains("QMP")) {
        greeted_ = true;
    } else if (message.contains("event")) {
        events_.push_back({Deadline::Clock::now(), message.at("event").get<std::string>(),
                           message.value("data", nlohmann::json::object())});
    }
    changed_.notify_all();
}

hp::Result<nlohmann::json> QmpClient::execute(std::string_view command, nlohmann::json arguments,
                                              Deadline deadline) {
    nlohmann::json message{{"execute", command}};
    if (!arguments.empty()) {
        message["arguments"] = std::move(arguments);
    }
    auto answer = conversation_->ask(std::move(message), std::string(command), deadline);
    if (!answer) {
        return answer;
    }
    if (auto result = answer->find("return"); result != answer->end()) {
        return *result;
    }
    std::string description = "an answer that is neither result nor error";
    if (auto error = answer->find("error"); error != answer->end() && error->is_object()) {
        description = error->value("desc", error->dump());
    }
    return hp::fail(fmt::format("QEMU refused {}: {}", command, description));
}

hp::Result<std::string> QmpClient::human(const std::string& command_line) {
    auto answer = execute("human-monitor-command", {{"command-line", command_line}});
    if (!answer) {
        return tl::unexpected(answer.error());
    }
    if (!answer->is_string()) {
        return hp::fail(fmt::format("QEMU's monitor answered '{}' without text", command_line));
    }
    return answer->get<std::string>();
}

void QmpClient::quit() {
    // QEMU often closes the socket before the answer is out: the caller waits for the process, not
    // for this.
    (void)execute("quit", nlohmann::json::object(), Deadline::for_cleanup(std::chrono::seconds(3)));
}

size_t QmpClient::event_count() const {
    std::lock_guard lock(mutex_);
    return events_.size();
}

std::optional<QmpEvent> QmpClient::find_event(
    size_t from, const std::function<bool(const QmpEvent&)>& wanted) const {
    std::lock_guard lock(mutex_);
    auto first = events_.begin() + static_cast<ptrdiff_t>(std::min(from, events_.size()));
    auto found = std::find_if(first, events_.end(), wanted);
    return found == events_.end() ? std::nullopt : std::optional(*found);
}

hp::Result<QmpEvent> QmpClient::wait_event(size_t from,
                                           const std::function<bool(const QmpEvent&)>& wanted,
                                           std::string_view awaited, Deadline deadline) const {
    std::optional<QmpEvent> found;
    auto came = [&] {
        for (; from < events_.size() && !found; ++from) {
            if (wanted(events_[from])) {
                found = events_[from];
            }
        }
        return found.has_value() || !conversation_->connected();
    };
    std::unique_lock lock(mutex_);
    if (!deadline.wait(changed_, lock, came)) {
        return hp::fail(deadline.missed(awaited));
    }
    if (!found) {
        return hp::fail(fmt::format("QEMU ended while waiting for {}", awaited));
    }
    return *found;
}

std::function<bool(const QmpEvent&)> device_deleted(std::string device_id) {
    return [device_id = std::move(device_id)](const QmpEvent& event) {
        return event.name == "DEVICE_DELETED" && event.data.value("device", "") == device_id;
    };
}

}  // namespace hotplug
