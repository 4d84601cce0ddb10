// SPDX-License-Identifier: GPL-2.0
// Purpose: kfd_crowd, many processes that have /dev/kfd open, each in one of the states in which a
// process does not go away when it is told to: SIGBUS ignored or blocked, stopped, traced, asleep
// in the kernel, its file held by a child. Some of them have a queue with a packet in flight. Told
// "check" on standard input it says how many are dead, and how many have a SIGBUS waiting for them;
// "end" ends it, well if none was either at any check.
// Thread: one in each process. Not modelled: queues that make progress; hsa_queue has one.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "hotplug/clients/aql_queue.h"
#include "hotplug/clients/kfd_device.h"
#include "hotplug/clients/kfd_topology.h"
#include "hotplug/clients/line_input.h"
#include "hotplug/clients/report.h"
#include "hotplug/clients/signals.h"
#include "lib/fd.h"

namespace hp::clients {
namespace {

constexpr std::chrono::seconds patience{60};

struct Options {
    std::uint32_t gpu_id = 0;
    unsigned count = 50;
    unsigned queues = 0;
};

/// What a member does once it has /dev/kfd open.
enum class Manner {
    waits,
    ignores_sigbus,
    blocks_sigbus,
    is_stopped,
    is_traced,
    sleeps_in_kernel,  ///< D state: waits for a child made by vfork(2)
    child_has_file,
};
constexpr unsigned manners = 7;

/// A member's first and only word. `op` points into the program, which is the same in all of them.
struct Arrival {
    const char* op = nullptr;
    int error = 0;
};

/// A queue whose one packet waits for a signal that never comes.
struct BusyQueue {
    KfdDevice device;
    KfdMemory signals;
    AqlQueue queue;

    static IoResult<BusyQueue> create(const KfdNode& node) {
        auto device = KfdDevice::open(node);
        if (!device) {
            return tl::unexpected(device.error());
        }
        auto signals = device->allocate(MemoryKind::userptr, 4096);
        if (!signals) {
            return tl::unexpected(signals.error());
        }
        auto queue = AqlQueue::create(*device, node);
        if (!queue) {
            return tl::unexpected(queue.error());
        }
        new (signals->at<AmdSignal>(0)) AmdSignal{.kind = AMD_SIGNAL_KIND_USER, .value = 1};
        new (signals->at<AmdSignal>(64)) AmdSignal{.kind = AMD_SIGNAL_KIND_USER, .value = 1};
        queue->submit_barrier(signals->address(), signals->address() + 64);
        return BusyQueue{std::move(*device), std::move(*signals), std::move(*queue)};
    }
};

[[noreturn]] void sleep_until_killed() {
    for (;;) {
        ::pause();
    }
}

void set_sigbus(Manner manner) {
    if (manner == Manner::ignores_sigbus) {
        ::signal(SIGBUS, SIG_IGN);
    } else if (manner == Manner::blocks_sigbus) {
        sigset_t blocked;
        sigemptyset(&blocked);
        sigaddset(&blocked, SIGBUS);
        ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
    }
}

/// The life of a member; ends with SIGKILL, at the latest when the crowd's first process ends.
[[noreturn]] void live(Manner manner, const KfdNode* with_queue, int arrivals) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const int signal : {SIGTERM, SIGINT, SIGBUS}) {
        ::signal(signal, SIG_DFL);
    }
    set_sigbus(manner);
    const auto arrive = [arrivals](Arrival arrival) {
        if (::write(arrivals, &arrival, sizeof arrival) != sizeof arrival) {
            ::_exit(EXIT_FAILURE);
        }
    };
    const auto give_up = [&arrive](const IoError& error) {
        arrive({error.op, error.error});
        ::_exit(EXIT_FAILURE);
    };
    std::optional<BusyQueue> queue;
    if (with_queue != nullptr) {
        auto made = BusyQueue::create(*with_queue);
        if (!made) {
            give_up(made.error());
        }
        queue.emplace(std::move(*made));
    }
    Fd kfd(::open("/dev/kfd", O_RDWR | O_CLOEXEC));
    if (!kfd) {
        give_up({"open", errno});
    }
    if (manner == Manner::sleeps_in_kernel || manner == Manner::child_has_file) {
        const bool share = manner == Manner::sleeps_in_kernel;
        const pid_t child = share ? ::vfork() : ::fork();
        if (child == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            arrive({});
            sleep_until_killed();
        }
        if (child < 0) {
            give_up({share ? "vfork" : "fork", errno});
        }
        kfd.reset();
        sleep_until_killed();
    }
    arrive({});
    if (manner == Manner::is_stopped) {
        ::raise(SIGSTOP);
    }
    sleep_until_killed();
}

class Crowd {
public:
    Crowd() = default;
    Crowd(const Crowd&) = delete;
    Crowd& operator=(const Crowd&) = delete;
    ~Crowd();

    /// Returns when all members are in the state they shall be in.
    IoResult<void> gather(const Options& options);

    /// Says what has become of the members, and counts each that is as it was as a good result.
    IoResult<void> judge(Reporter& report);

private:
    struct Member {
        pid_t pid;
        Manner manner;
        bool dead = false;
    };

    IoResult<void> await_arrivals(int arrivals, unsigned count);
    static IoResult<void> hold(const Member& member);

    std::vector<Member> members_;
};

Crowd::~Crowd() {
    for (const Member& member : members_) {
        if (!member.dead) {
            ::kill(member.pid, SIGKILL);
        }
    }
    for (const Member& member : members_) {
        int status = 0;
        while (!member.dead && ::waitpid(member.pid, &status, __WALL) == member.pid &&
               !WIFEXITED(status) && !WIFSIGNALED(status)) {
        }
    }
}

IoResult<void> Crowd::gather(const Options& options) {
    std::optional<KfdNode> node;
    if (options.queues != 0) {
        node = find_kfd_node("/sys/class/kfd/kfd/topology", options.gpu_id);
        if (!node) {
            return io_fail("no such gpu_id in the topology", ENODEV);
        }
    }
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return io_fail("pipe2");
    }
    const Fd arrivals(ends[0]);
    const Fd arrive(ends[1]);
    for (unsigned i = 0; i < options.count; ++i) {
        const auto manner = static_cast<Manner>(i % manners);
        const pid_t pid = ::fork();
        if (pid < 0) {
            return io_fail("fork");
        }
        if (pid == 0) {
            live(manner, i < options.queues ? &*node : nullptr, arrive.get());
        }
        members_.push_back({pid, manner});
    }
    if (const auto arrived = await_arrivals(arrivals.get(), options.count); !arrived) {
        return arrived;
    }
    for (const Member& member : members_) {
        if (const auto held = hold(member); !held) {
            return held;
        }
    }
    return {};
}

IoResult<void> Crowd::await_arrivals(int arrivals, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
        pollfd wanted{arrivals, POLLIN, 0};
        const int ready = ::poll(&wanted, 1,
                                 static_cast<int>(std::chrono::milliseconds(patience).count()));
        if (ready <= 0) {
            return io_fail("poll", ready == 0 ? ETIME : errno);
        }
        Arrival arrival;
        if (::read(arrivals, &arrival, sizeof arrival) != sizeof arrival) {
            return io_fail("read");
        }
        if (arrival.op != nullptr) {
            return io_fail(arrival.op, arrival.error);
        }
    }
    return {};
}

/// Waits until a member is stopped that stops itself, and stops one that shall be traced.
IoResult<void> Crowd::hold(const Member& member) {
    if (member.manner == Manner::is_traced &&
        (::ptrace(PTRACE_SEIZE, member.pid, nullptr, nullptr) != 0 ||
         ::ptrace(PTRACE_INTERRUPT, member.pid, nullptr, nullptr) != 0)) {
        return io_fail("ptrace");
    }
    if (member.manner == Manner::is_traced || member.manner == Manner::is_stopped) {
        int status = 0;
        if (::waitpid(member.pid, &status, WUNTRACED | __WALL) != member.pid) {
            return io_fail("waitpid");
        }
        if (!WIFSTOPPED(status)) {
            return io_fail("waitpid", ECHILD);
        }
    }
    return {};
}

/// Is there a SIGBUS that the process has not taken yet?
bool sigbus_pending(pid_t pid) {
    std::ifstream status("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("SigPnd:") || line.starts_with("ShdPnd:")) {
            const auto pending = std::stoull(line.substr(line.find(':') + 1), nullptr, 16);
            if ((pending >> (SIGBUS - 1) & 1) != 0) {
                return true;
            }
        }
    }
    return false;
}

IoResult<void> Crowd::judge(Reporter& report) {
    unsigned dead = 0;
    unsigned pending = 0;
    for (Member& member : members_) {
        int status = 0;
        const pid_t ended = ::waitpid(member.pid, &status, WNOHANG | __WALL);
        if (ended < 0) {
            return io_fail("waitpid");
        }
        member.dead = ended != 0 && (WIFEXITED(status) || WIFSIGNALED(status));
        // A traced one that is sent a signal stops anew.
        const bool told =
            !member.dead && ((ended != 0 && WIFSTOPPED(status) && WSTOPSIG(status) == SIGBUS) ||
                             sigbus_pending(member.pid));
        dead += member.dead ? 1 : 0;
        pending += told ? 1 : 0;
        report.done(!member.dead && !told);
    }
    report.say("crowd", {{"of", members_.size()}, {"dead", dead}, {"sigbus_pending", pending}});
    return {};
}

int run_client(const Options& options) {
    Reporter report("kfd_crowd");
    Crowd crowd;
    if (const auto gathered = crowd.gather(options); !gathered) {
        return report.end("device", gathered.error());
    }
    report.ready({{"processes", options.count}, {"queues", options.queues}});
    LineInput input;
    for (auto line = input.next(); line && *line != "end"; line = input.next()) {
        if (*line != "check") {
            return report.end("system", {"line of standard input", EINVAL});
        }
        if (const auto judged = crowd.judge(report); !judged) {
            return report.end("system", judged.error());
        }
    }
    return report.end("done");
}

}  // namespace
}  // namespace hp::clients

int main(int argc, char** argv) {
    CLI::App app("Has /dev/kfd open in many processes that do not go away when told to");
    hp::clients::Options options;
    app.add_option("--gpu-id", options.gpu_id, "gpu_id of KFD's topology, for the queues");
    app.add_option("--count", options.count, "processes")->check(CLI::Range(1, 1024));
    app.add_option("--queues", options.queues, "how many of them have a queue on that GPU");
    CLI11_PARSE(app, argc, argv);
    if (options.queues > options.count) {
        return app.exit(CLI::ValidationError("--queues", "more than there are processes"));
    }
    hp::clients::handle_signals();
    return hp::clients::run_client(options);
}
