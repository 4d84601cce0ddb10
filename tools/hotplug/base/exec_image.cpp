// SPDX-License-Identifier: GPL-2.0
// Purpose: see exec_image.h.
// Thread: see exec_image.h.
#include "hotplug/base/exec_image.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <string_view>

#include "hotplug/base/child_process.h"

namespace hotplug {

ExecImage::ExecImage(const Command& command) {
    for (const std::string& argument : command.argv) {
        strings_.push_back(argument);
    }
    arguments_ = strings_.size();
    for (char** variable = environ; *variable; ++variable) {
        std::string_view text(*variable);
        if (!command.environment.contains(std::string(text.substr(0, text.find('='))))) {
            strings_.emplace_back(text);
        }
    }
    for (const auto& [name, value] : command.environment) {
        strings_.push_back(fmt::format("{}={}", name, value));
    }
    for (size_t i = 0; i < strings_.size(); ++i) {
        (i < arguments_ ? argv_ : envp_).push_back(strings_[i].data());
    }
    argv_.push_back(nullptr);
    envp_.push_back(nullptr);
    if (command.oom_score_adj != 0) {
        oom_score_adj_ = std::to_string(command.oom_score_adj);
    }
}

void ExecImage::adjust_oom_score() const {
    if (oom_score_adj_.empty()) {
        return;
    }
    const int file = ::open("/proc/self/oom_score_adj", O_WRONLY);
    [[maybe_unused]] const ssize_t written =
        ::write(file, oom_score_adj_.data(), oom_score_adj_.size());
    ::close(file);
}

void ExecImage::redirect(int output_fd) {
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    const int null = ::open("/dev/null", O_RDONLY);
    ::dup2(null, STDIN_FILENO);
    ::dup2(output_fd, STDOUT_FILENO);
    ::dup2(output_fd, STDERR_FILENO);
    ::close(null);
}

void ExecImage::exec() {
    ::execvpe(argv_[0], argv_.data(), envp_.data());
}

}  // namespace hotplug
