// SPDX-License-Identifier: GPL-2.0
// Purpose: the messages on their way to the harness, encoded, with a mark above which nobody may
// produce more. Thread: not synchronised; the agent's loop owns it.
#include "hotplug/in_guest/agent/out_queue.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "lib/json_line.h"

namespace hp::agent {

namespace {

using nlohmann::json;

std::string encode(const json& message) {
    return format_json_line(message) + '\n';
}

/// A peer may refuse a longer line and lose step, so the sender learns of it instead.
json too_long(const json& message, std::size_t size) {
    json refusal = {{"ok", false},
                    {"error", "answer of " + std::to_string(size) +
                                  " bytes is over the limit of a line: ask for less"}};
    if (message.contains("id")) {
        refusal["id"] = message["id"];
    } else {
        refusal["event"] = "too_long";
        refusal["of"] = message.value("event", "");
    }
    return refusal;
}

}  // namespace

void OutQueue::push(const json& message) {
    std::string line = encode(message);
    if (line.size() > json_line_limit) {
        line = encode(too_long(message, line.size()));
    }
    bytes_ += line.size();
    lines_.push_back(std::move(line));
}

Result<void> OutQueue::flush(int fd) {
    while (!lines_.empty()) {
        const std::string& line = lines_.front();
        const ssize_t n = ::write(fd, line.data() + sent_, line.size() - sent_);
        if (n < 0) {
            if (errno == EINTR) {
                continue;
            }
            if (errno == EAGAIN) {
                return {};
            }
            return fail(std::string("cannot write to the agent's port: ") + std::strerror(errno));
        }
        sent_ += static_cast<std::size_t>(n);
        if (sent_ == line.size()) {
            bytes_ -= line.size();
            lines_.pop_front();
            sent_ = 0;
        }
    }
    return {};
}

}  // namespace hp::agent
