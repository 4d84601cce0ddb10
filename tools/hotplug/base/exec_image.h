// SPDX-License-Identifier: GPL-2.0
// Purpose: a child's program, arguments and environment, laid out before fork(): afterwards there
// are only async-signal-safe calls. Thread: one owner; exec() and adjust_oom_score() in the child.
#pragma once

#include <string>
#include <vector>

namespace hotplug {

struct Command;

class ExecImage {
public:
    explicit ExecImage(const Command& command);
    ExecImage(const ExecImage&) = delete;
    ExecImage& operator=(const ExecImage&) = delete;

    /// May fail where /proc is not there or not writable: the program runs as well then.
    void adjust_oom_score() const;
    /// Standard input is empty from now on, both outputs go to `output_fd`, no signal is blocked.
    static void redirect(int output_fd);
    /// Returns only when it fails, with errno.
    void exec();

private:
    std::vector<std::string> strings_;
    size_t arguments_ = 0;
    std::vector<char*> argv_;
    std::vector<char*> envp_;
    std::string oom_score_adj_;
};

}  // namespace hotplug
