// SPDX-License-Identifier: GPL-2.0
// Purpose: gpu_monitors, which keeps two monitors of other people running: radeontop on one GPU and
// nvtop on all. It is ready when both have shown what they read from a GPU, and counts what
// radeontop shows from then on. What they show of a GPU that is gone is not judged, nor whether
// they go on; that they can be ended is. Thread: one. Not modelled: a terminal; nvtop draws into a
// pipe.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hotplug/in_guest/clients/program.h"
#include "hotplug/in_guest/clients/report.h"
#include "hotplug/in_guest/clients/signals.h"
#include "lib/fd.h"

namespace hp::clients {
namespace {

const Description self{
    .name = "gpu_monitors",
    .purpose = "Keeps radeontop and nvtop running, and ends them when told to",
    .states = {{"monitor_ended", "a monitor that ended by itself, and its status"}},
    .needs = {"radeontop", "nvtop"},
};

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds start_patience{50};
/// Below that of hpctl with a client, so that this one can tell.
constexpr std::chrono::seconds end_patience{4};

/// A program with its output in a pipe.
class Monitor {
public:
    /// `shows`: it prints this with what it has read from a GPU.
    static IoResult<Monitor> start(std::vector<std::string> argv, std::string_view shows);

    Monitor(Monitor&& other) noexcept
        : name_(std::move(other.name_)),
          shows_(other.shows_),
          pid_(std::exchange(other.pid_, -1)),
          pidfd_(std::move(other.pidfd_)),
          output_(std::move(other.output_)),
          recent_(std::move(other.recent_)),
          shown_(other.shown_) {}
    Monitor& operator=(Monitor&&) = delete;
    /// Kills what is still there.
    ~Monitor();

    const std::string& name() const { return name_; }
    bool runs() const { return pid_ > 0; }
    /// How often it has shown what it read; above 0: it works.
    std::uint64_t shown() const { return shown_; }

    /// To wait for: what it prints, and its end.
    std::array<pollfd, 2> wanted() const {
        return {pollfd{output_.get(), POLLIN, 0}, pollfd{pidfd_.get(), POLLIN, 0}};
    }
    void take_output();
    /// Its exit code, or minus the signal that ended it; nothing while it runs.
    std::optional<int> reap();
    void tell(int signal) const { ::kill(pid_, signal); }

private:
    Monitor(std::string name, std::string_view shows, pid_t pid, Fd pidfd, Fd output)
        : name_(std::move(name)),
          shows_(shows),
          pid_(pid),
          pidfd_(std::move(pidfd)),
          output_(std::move(output)) {}

    std::string name_;
    std::string_view shows_;
    pid_t pid_;
    Fd pidfd_;  ///< readable once it has ended
    Fd output_;
    std::string recent_;
    std::uint64_t shown_ = 0;
};

IoResult<Monitor> Monitor::start(std::vector<std::string> argv, std::string_view shows) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return io_fail("pipe2");
    }
    Fd output(ends[0]);
    const Fd input(ends[1]);
    std::vector<char*> words;
    for (std::string& word : argv) {
        words.push_back(word.data());
    }
    words.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, input.get(), STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t pid = -1;
    const int error = ::posix_spawnp(&pid, words[0], &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        return io_fail("posix_spawn of a monitor", error);
    }
    Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!pidfd) {
        return io_fail("pidfd_open");
    }
    return Monitor(argv[0], shows, pid, std::move(pidfd), std::move(output));
}

Monitor::~Monitor() {
    if (runs()) {
        tell(SIGKILL);
        reap();
    }
}

std::optional<int> Monitor::reap() {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) {
        return std::nullopt;
    }
    pid_ = -1;
    pidfd_.reset();
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

void Monitor::take_output() {
    std::array<char, 4096> bytes;
    const ssize_t size = ::read(output_.get(), bytes.data(), bytes.size());
    if (size == 0 || (size < 0 && errno != EINTR)) {
        output_.reset();  // poll(2) passes over what is closed
        return;
    }
    recent_.append(bytes.data(), size < 0 ? 0 : static_cast<std::size_t>(size));
    std::size_t searched = 0;
    for (std::size_t at = 0; (at = recent_.find(shows_, searched)) != std::string::npos;) {
        ++shown_;
        searched = at + shows_.size();
    }
    // The last bytes stay: they may be its beginning.
    const std::size_t beginning = std::min(recent_.size(), shows_.size() - 1);
    recent_.erase(0, std::max(searched, recent_.size() - beginning));
}

class Monitors {
public:
    static IoResult<Monitors> start(const std::string& node);

    bool all_work() const {
        return std::all_of(all_.begin(), all_.end(),
                           [](const Monitor& one) { return one.shown() > 0; });
    }
    bool any_runs() const {
        return std::any_of(all_.begin(), all_.end(), [](const Monitor& one) { return one.runs(); });
    }
    std::uint64_t shown() const { return all_.front().shown(); }

    /// Waits until a monitor prints something or ends, and takes that; not when the client is asked
    /// to end. Without a patience it waits for ever.
    void look(Reporter& report, std::optional<std::chrono::milliseconds> patience);
    /// SIGTERM to all. Null when they ended of it in time, or one that did not.
    const Monitor* end();

private:
    explicit Monitors(std::vector<Monitor> all) : all_(std::move(all)) {}
    std::vector<pollfd> wanted() const;
    /// Tells of those that ended, if there is somebody to tell.
    void take(const std::vector<pollfd>& polled, Reporter* report);

    std::vector<Monitor> all_;
};

IoResult<Monitors> Monitors::start(const std::string& node) {
    ::setenv("TERM", "linux", 1);
    std::vector<Monitor> all;
    // "1700000000.123: bus 01, gpu 0.00%, ...", and the head line of nvtop's first device
    auto radeontop = Monitor::start({"radeontop", "-p", node, "-d", "-"}, ", gpu ");
    if (!radeontop) {
        return tl::unexpected(radeontop.error());
    }
    all.push_back(std::move(*radeontop));
    auto nvtop = Monitor::start({"nvtop"}, "Device");
    if (!nvtop) {
        return tl::unexpected(nvtop.error());
    }
    all.push_back(std::move(*nvtop));
    return Monitors(std::move(all));
}

std::vector<pollfd> Monitors::wanted() const {
    std::vector<pollfd> wanted;
    for (const Monitor& one : all_) {
        const auto of_one = one.wanted();
        wanted.insert(wanted.end(), of_one.begin(), of_one.end());
    }
    return wanted;
}

void Monitors::take(const std::vector<pollfd>& polled, Reporter* report) {
    for (std::size_t i = 0; i < all_.size(); ++i) {
        if (polled[2 * i].revents != 0) {
            all_[i].take_output();
        }
        const auto status = polled[2 * i + 1].revents != 0 ? all_[i].reap() : std::nullopt;
        if (status && report != nullptr) {
            report->say("monitor_ended", {{"name", all_[i].name()}, {"status", *status}});
        }
    }
}

void Monitors::look(Reporter& report, std::optional<std::chrono::milliseconds> patience) {
    auto polled = wanted();
    if (wait_unless_stopped(polled, patience) > 0) {
        take(polled, &report);
    }
}

const Monitor* Monitors::end() {
    for (const Monitor& one : all_) {
        if (one.runs()) {
            one.tell(SIGTERM);
        }
    }
    const auto until = Clock::now() + end_patience;
    for (;;) {
        const auto running =
            std::find_if(all_.begin(), all_.end(), [](const Monitor& one) { return one.runs(); });
        if (running == all_.end()) {
            return nullptr;
        }
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
        auto polled = wanted();
        const int ready = left.count() <= 0 ? 0
                                            : ::poll(polled.data(), polled.size(),
                                                     static_cast<int>(left.count()));
        if (ready == 0) {
            return &*running;
        }
        if (ready > 0) {
            take(polled, nullptr);
        }
    }
}

int run_client(const std::string& node) {
    Reporter report(self);
    auto monitors = Monitors::start(node);
    if (!monitors) {
        return report.end("system", monitors.error());
    }
    const auto until = Clock::now() + start_patience;
    while (!monitors->all_work()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
        if (stop_wanted()) {
            return report.end("signal");
        }
        if (left.count() <= 0 || !monitors->any_runs()) {
            return report.end("timeout", {"first words of both monitors", ETIME});
        }
        monitors->look(report, left);
    }
    report.ready({{"node", node}});
    while (!stop_wanted()) {
        const std::uint64_t before = monitors->shown();
        monitors->look(report, std::nullopt);
        for (std::uint64_t i = before; i < monitors->shown(); ++i) {
            report.done(true);
        }
    }
    if (const Monitor* stuck = monitors->end(); stuck != nullptr) {
        report.error({"SIGTERM of a monitor", ETIME}, {{"name", stuck->name()}});
        return report.end("timeout", {"SIGTERM of a monitor", ETIME});
    }
    return report.end("done");
}

}  // namespace
}  // namespace hp::clients

int main(int argc, char** argv) {
    hp::clients::Program program(hp::clients::self);
    std::string node;
    program.add_node(node);
    if (const auto status = program.parse(argc, argv)) {
        return *status;
    }
    hp::clients::handle_signals();
    return hp::clients::run_client(node);
}
