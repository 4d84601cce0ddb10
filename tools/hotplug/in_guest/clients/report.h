// SPDX-License-Identifier: GPL-2.0
// Purpose: what a guest client says, as JSON lines on standard output
// (Documentation/harness/protocols.md). Thread: not synchronised; the client's one thread owns it.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "hotplug/in_guest/clients/description.h"
#include "hotplug/in_guest/clients/io.h"

namespace hp::clients {

class Reporter {
public:
    explicit Reporter(const Description& client) : client_(client) {}

    /// One line. A state that the client does not describe is a mistake in it, and aborts it.
    void say(const char* state, nlohmann::json members = nlohmann::json::object());

    void ready(nlohmann::json members = nlohmann::json::object()) {
        say("ready", std::move(members));
    }

    /// Counts a result. Said at most ten times a second, and with the first that is bad.
    void done(bool good);
    std::uint64_t done_count() const { return done_; }

    /// Said when this call failed with this errno for the first time.
    void error(const IoError& error, nlohmann::json members = nlohmann::json::object());

    /// The last line; returns the process's exit status, 0 only for the reason "done" without bad
    /// results.
    int end(const char* reason, const IoError& error = {"", 0});

private:
    using Clock = std::chrono::steady_clock;

    const Description& client_;
    std::uint64_t done_ = 0;
    std::uint64_t bad_ = 0;
    Clock::time_point last_progress_{};
    std::set<std::pair<std::string, int>> errors_;
};

}  // namespace hp::clients
