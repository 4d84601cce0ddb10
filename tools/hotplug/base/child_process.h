// SPDX-License-Identifier: GPL-2.0
// Purpose: a program started and owned by the harness: ends with its owner, is always reaped, and
// dies with the harness. Thread: one owner. PR_SET_PDEATHSIG refers to the thread that started the
// child: start it on one that stays. Not modelled: terminals and process groups; a child's own
// children are its business.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hotplug/base/deadline.h"
#include "lib/fd.h"
#include "lib/result.h"

namespace hotplug {

struct ExitStatus {
    int code = 0;    // exit code when signal is 0
    int signal = 0;  // that ended it

    bool ok() const { return code == 0 && signal == 0; }
    /// "exit status 1", "signal 6 (Aborted)"
    std::string describe() const;
};

struct Command {
    std::vector<std::string> argv;  // argv[0] is looked up in PATH when it has no slash
    std::map<std::string, std::string> environment;  // added to the harness's own
    /// Of /proc/self/oom_score_adj, 0 to 1000: not set when 0.
    int oom_score_adj = 0;
};

/// For what a host that runs out of memory shall kill before anything else: the guests, not the
/// work of who runs them.
constexpr int first_to_be_killed = 1000;

class ChildProcess {
public:
    /// Standard output and error are appended to `log`. Fails when the program cannot be executed.
    static hp::Result<ChildProcess> start(const Command& command, const std::filesystem::path& log,
                                          int death_signal = SIGKILL);
    /// The same with an open file; the caller keeps it.
    static hp::Result<ChildProcess> start(const Command& command, int output_fd,
                                          int death_signal = SIGKILL);

    ChildProcess(ChildProcess&& other) noexcept;
    ChildProcess& operator=(ChildProcess&& other) noexcept;
    /// Kills what still runs, and reaps it.
    ~ChildProcess();

    pid_t pid() const { return pid_; }
    /// Nothing while it runs.
    std::optional<ExitStatus> poll();
    /// Nothing when it still ran at the deadline.
    std::optional<ExitStatus> wait(Deadline deadline);
    /// SIGTERM, then SIGKILL after `grace`. Returns how it ended, also when it had ended before.
    ExitStatus terminate(Deadline::Clock::duration grace);

private:
    ChildProcess(pid_t pid, hp::Fd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}
    void send_signal(int signal);

    pid_t pid_;
    hp::Fd pidfd_;
    std::optional<ExitStatus> status_;
};

/// Runs a short program to its end and returns what it printed on both streams; fails when its
/// status is not 0.
hp::Result<std::string> run_and_capture(const Command& command, Deadline deadline);

}  // namespace hotplug
