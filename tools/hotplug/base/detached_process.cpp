// SPDX-License-Identifier: GPL-2.0
// Purpose: see detached_process.h.
// Thread: see detached_process.h.
#include "hotplug/base/detached_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>

#include "hotplug/base/exec_image.h"
#include "hotplug/base/pidfd.h"
#include "lib/fd.h"

namespace hotplug {

namespace {

// A process that SIGKILL was sent to is gone after that, unless the kernel holds it.
constexpr std::chrono::seconds kill_grace{5};
// Between the lock and the number in the file there are two system calls.
constexpr std::chrono::seconds number_deadline{5};
constexpr std::chrono::milliseconds pause{5};

/// An open file description's lock: it goes with the last descriptor, and can be asked for without
/// being in anybody's way.
flock whole_file(short type) {
    flock lock{};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    return lock;
}

/// `pid` in decimal, without an allocation.
size_t to_text(pid_t pid, std::array<char, 16>& text) {
    return static_cast<size_t>(std::to_chars(text.begin(), text.end(), pid).ptr - text.begin());
}

/// In the grandchild. Reports errno through `report_fd`, which a successful exec closes.
[[noreturn]] void become(ExecImage& image, int output_fd, int lock_fd, int report_fd) {
    // Before the lock: signals for a group or a terminal are not for it.
    ::setsid();
    int error = 0;
    std::array<char, 16> number{};
    const size_t size = to_text(::getpid(), number);
    flock whole = whole_file(F_WRLCK);
    if (::fcntl(lock_fd, F_OFD_SETLK, &whole) != 0) {
        error = EWOULDBLOCK;  // somebody was faster, and that is as good
    } else if (::ftruncate(lock_fd, 0) != 0 ||
               ::pwrite(lock_fd, number.data(), size, 0) != static_cast<ssize_t>(size) ||
               ::fcntl(lock_fd, F_SETFD, 0) != 0) {
        error = errno;
    } else {
        ExecImage::redirect(output_fd);
        image.adjust_oom_score();
        image.exec();
        error = errno;
    }
    ::close(lock_fd);  // who hears of the error finds nobody who holds the lock
    const ssize_t written = ::write(report_fd, &error, sizeof(error));
    ::_exit(written == sizeof(error) ? 127 : 126);
}

/// The process that holds the lock, so that the number cannot become another's any more; no
/// descriptor when nobody does. Fails when somebody does, and cannot be got hold of.
hp::Result<hp::Fd> hold(const std::filesystem::path& lock) {
    const auto pid = detached_process(lock);
    if (!pid) {
        return hp::Fd();
    }
    hp::Fd process = open_pidfd(*pid);
    const int error = errno;
    if (detached_process(lock) != pid) {
        return hp::Fd();
    }
    if (!process) {
        return hp::fail(fmt::format("process {}, which has locked {}, cannot be found: {}", *pid,
                                    lock.string(), std::strerror(error)));
    }
    return process;
}

bool ended(const hp::Fd& process, Deadline deadline) {
    while (true) {
        pollfd end{process.get(), POLLIN, 0};
        if (::poll(&end, 1, deadline.poll_timeout_ms()) > 0) {
            return true;
        }
        if (deadline.expired()) {
            return false;
        }
    }
}

}  // namespace

hp::Result<void> start_detached(const Command& command, const std::filesystem::path& log,
                                const std::filesystem::path& lock) {
    if (detached_process(lock)) {
        return {};
    }
    const hp::Fd output(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    const hp::Fd locked(::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (!output || !locked) {
        return hp::fail(fmt::format("cannot write {}: {}", (output ? lock : log).string(),
                                    std::strerror(errno)));
    }
    ExecImage image(command);
    int report[2];
    if (::pipe2(report, O_CLOEXEC) < 0) {
        return hp::fail(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    }
    const hp::Fd report_read(report[0]);
    hp::Fd report_write(report[1]);
    const pid_t child = ::fork();
    if (child < 0) {
        return hp::fail(fmt::format("cannot fork: {}", std::strerror(errno)));
    }
    if (child == 0) {
        // Its own child is nobody's, and init's to reap.
        const pid_t grandchild = ::fork();
        if (grandchild == 0) {
            become(image, output.get(), locked.get(), report_write.get());
        }
        ::_exit(grandchild < 0 ? 1 : 0);
    }
    report_write.reset();
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0) {
        return hp::fail("cannot fork a second time");
    }
    int error = 0;
    ssize_t size;
    do {
        size = ::read(report_read.get(), &error, sizeof(error));
    } while (size < 0 && errno == EINTR);
    if (size == sizeof(error) && error != EWOULDBLOCK) {
        return hp::fail(
            fmt::format("cannot execute {}: {}", command.argv.front(), std::strerror(error)));
    }
    return {};
}

std::optional<pid_t> detached_process(const std::filesystem::path& lock) {
    const hp::Fd file(::open(lock.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) {
        return std::nullopt;
    }
    const Deadline deadline = Deadline::for_cleanup(number_deadline);
    while (true) {
        flock holder = whole_file(F_RDLCK);
        if (::fcntl(file.get(), F_OFD_GETLK, &holder) != 0 || holder.l_type == F_UNLCK) {
            return std::nullopt;
        }
        std::array<char, 16> text{};
        const ssize_t size = ::pread(file.get(), text.data(), text.size(), 0);
        pid_t pid = 0;
        if (size > 0) {
            std::from_chars(text.data(), text.data() + size, pid);
        }
        if (pid > 0 || deadline.expired()) {
            return pid;
        }
        deadline.pause(pause);
    }
}

bool wait_for_end(const std::filesystem::path& lock, Deadline deadline) {
    const auto process = hold(lock);
    return process && (!*process || ended(*process, deadline));
}

hp::Result<void> end_detached(const std::filesystem::path& lock, Deadline::Clock::duration grace) {
    const auto process = hold(lock);
    if (!process) {
        return tl::unexpected(process.error());
    }
    if (!*process) {
        return {};
    }
    const auto send = [&](int signal) {
        ::syscall(SYS_pidfd_send_signal, process->get(), signal, nullptr, 0);
    };
    send(SIGTERM);
    if (ended(*process, Deadline::for_cleanup(grace))) {
        return {};
    }
    send(SIGKILL);
    if (!ended(*process, Deadline::for_cleanup(kill_grace))) {
        return hp::fail(fmt::format("the process of {} does not end", lock.string()));
    }
    return {};
}

}  // namespace hotplug
