// SPDX-License-Identifier: GPL-2.0
// Purpose: what a guest client says, as JSON lines on standard output
// (Documentation/harness/protocols.md). Thread: not synchronised; the client's one thread owns it.
#include "hotplug/in_guest/clients/report.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "lib/json_line.h"

namespace hp::clients {

using nlohmann::json;

namespace {

std::uint64_t now_us() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

void write_line(const std::string& line) {
    for (std::size_t sent = 0; sent < line.size();) {
        const ssize_t n = ::write(STDOUT_FILENO, line.data() + sent, line.size() - sent);
        if (n < 0 && errno != EINTR) {
            std::_Exit(EXIT_FAILURE);  // nobody listens any more
        }
        sent += n < 0 ? 0 : static_cast<std::size_t>(n);
    }
}

}  // namespace

void Reporter::say(const char* state, json members) {
    if (!reports(client_, state)) {
        std::fprintf(stderr, "%s describes no state '%s'\n", std::string(client_.name).c_str(),
                     state);
        std::abort();
    }
    members["client"] = client_.name;
    members["state"] = state;
    members["time_us"] = now_us();
    write_line(format_json_line(members) + '\n');
}

void Reporter::done(bool good) {
    constexpr std::chrono::milliseconds pace{100};
    ++done_;
    bad_ += good ? 0 : 1;
    const auto now = Clock::now();
    // Who is killed has no last line: that something was wrong is said when it is seen.
    const bool news = !good && bad_ == 1;
    if (news || now - last_progress_ >= pace) {
        last_progress_ = now;
        say("progress", {{"done", done_}, {"bad", bad_}});
    }
}

void Reporter::error(const IoError& error, json members) {
    if (errors_.emplace(error.op, error.error).second) {
        members["op"] = error.op;
        members["errno"] = error.error;
        members["error"] = std::strerror(error.error);
        say("error", std::move(members));
    }
}

int Reporter::end(const char* reason, const IoError& error) {
    say("end", {{"reason", reason},
                {"errno", error.error},
                {"op", error.op},
                {"done", done_},
                {"bad", bad_}});
    return std::strcmp(reason, "done") == 0 && bad_ == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace hp::clients
