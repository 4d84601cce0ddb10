// SPDX-License-Identifier: GPL-2.0
// Purpose: see child_process.h.
// Thread: see child_process.h.
#include "hotplug/base/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "hotplug/base/exec_image.h"
#include "hotplug/base/pidfd.h"

namespace hotplug {

namespace {

// In the child. Reports errno through `report_fd`, which a successful exec closes.
[[noreturn]] void become(ExecImage& image, pid_t harness, int output_fd, int report_fd,
                         int death_signal) {
    ::prctl(PR_SET_PDEATHSIG, death_signal);
    int error = ESRCH;
    if (::getppid() == harness) {  // else the harness died before prctl() could tell
        ::setpgid(0,
                  0);  // a terminal's Ctrl-C is for the harness, which ends its children in order
        ExecImage::redirect(output_fd);
        image.adjust_oom_score();
        image.exec();
        error = errno;
    }
    ssize_t written = ::write(report_fd, &error, sizeof(error));
    ::_exit(written == sizeof(error) ? 127 : 126);
}

std::optional<ExitStatus> reap(int pidfd, int options) {
    siginfo_t info{};
    int result;
    do {
        result = ::waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED | options);
    } while (result < 0 && errno == EINTR);
    if (result < 0 || info.si_pid == 0) {
        return std::nullopt;
    }
    if (info.si_code == CLD_EXITED) {
        return ExitStatus{info.si_status, 0};
    }
    return ExitStatus{0, info.si_status};
}

}  // namespace

std::string ExitStatus::describe() const {
    if (signal != 0) {
        return fmt::format("signal {} ({})", signal, ::strsignal(signal));
    }
    return fmt::format("exit status {}", code);
}

hp::Result<ChildProcess> ChildProcess::start(const Command& command,
                                             const std::filesystem::path& log, int death_signal) {
    hp::Fd output(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (!output) {
        return hp::fail(fmt::format("cannot write {}: {}", log.string(), std::strerror(errno)));
    }
    return start(command, output.get(), death_signal);
}

hp::Result<ChildProcess> ChildProcess::start(const Command& command, int output_fd,
                                             int death_signal) {
    ExecImage image(command);
    int report[2];
    if (::pipe2(report, O_CLOEXEC) < 0) {
        return hp::fail(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    }
    hp::Fd report_read(report[0]);
    hp::Fd report_write(report[1]);
    pid_t harness = ::getpid();
    pid_t pid = ::fork();
    if (pid < 0) {
        return hp::fail(fmt::format("cannot fork: {}", std::strerror(errno)));
    }
    if (pid == 0) {
        become(image, harness, output_fd, report_write.get(), death_signal);
    }
    report_write.reset();
    hp::Fd pidfd = open_pidfd(pid);  // the child is not reaped yet: its pid cannot be another's
    if (!pidfd) {
        int error = errno;
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
        return hp::fail(fmt::format("cannot watch a child process: {}", std::strerror(error)));
    }
    ChildProcess child(pid, std::move(pidfd));
    int error = 0;
    ssize_t size;
    do {
        size = ::read(report_read.get(), &error, sizeof(error));
    } while (size < 0 && errno == EINTR);
    if (size == sizeof(error)) {
        return hp::fail(
            fmt::format("cannot execute {}: {}", command.argv.front(), std::strerror(error)));
    }
    return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(other.pid_), pidfd_(std::move(other.pidfd_)), status_(other.status_) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
    if (this != &other) {
        terminate(Deadline::Clock::duration::zero());
        pid_ = other.pid_;
        pidfd_ = std::move(other.pidfd_);
        status_ = other.status_;
    }
    return *this;
}

ChildProcess::~ChildProcess() {
    terminate(Deadline::Clock::duration::zero());
}

void ChildProcess::send_signal(int signal) {
    // Through kill(2): the pid is ours as long as it is not reaped, which only poll() and wait()
    // do.
    ::kill(pid_, signal);
}

std::optional<ExitStatus> ChildProcess::poll() {
    if (!status_ && pidfd_) {
        status_ = reap(pidfd_.get(), WNOHANG);
    }
    return status_;
}

std::optional<ExitStatus> ChildProcess::wait(Deadline deadline) {
    while (!poll() && !deadline.expired()) {
        pollfd ended{pidfd_.get(), POLLIN, 0};
        ::poll(&ended, 1, deadline.poll_timeout_ms());
    }
    return poll();
}

ExitStatus ChildProcess::terminate(Deadline::Clock::duration grace) {
    if (!pidfd_) {
        return status_.value_or(ExitStatus{});  // moved from
    }
    if (grace > Deadline::Clock::duration::zero() && !poll()) {
        send_signal(SIGTERM);
        wait(Deadline::for_cleanup(grace));
    }
    if (!poll()) {
        send_signal(SIGKILL);
        status_ = reap(pidfd_.get(), 0);
    }
    return status_.value_or(ExitStatus{});
}

hp::Result<std::string> run_and_capture(const Command& command, Deadline deadline) {
    hp::Fd output(::memfd_create("output", MFD_CLOEXEC));
    if (!output) {
        return hp::fail(fmt::format("cannot make a memory file: {}", std::strerror(errno)));
    }
    auto child = ChildProcess::start(command, output.get());
    if (!child) {
        return tl::unexpected(child.error());
    }
    auto status = child->wait(deadline);
    if (!status) {
        return hp::fail(deadline.missed(fmt::format("{} to end", command.argv.front())));
    }
    std::string text;
    char buffer[4096];
    ssize_t size;
    while ((size = ::pread(output.get(), buffer, sizeof(buffer), static_cast<off_t>(text.size()))) >
           0) {
        text.append(buffer, static_cast<size_t>(size));
    }
    if (!status->ok()) {
        return hp::fail(fmt::format("{} ended with {}: {}", command.argv.front(),
                                    status->describe(), text.substr(0, text.find('\n'))));
    }
    return text;
}

}  // namespace hotplug
