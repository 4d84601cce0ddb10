// SPDX-License-Identifier: GPL-2.0
// Purpose: kfd_crowd, many processes that have /dev/kfd open (crowd_member.h), made by fork(2) of
// one program: fifty cost hardly more than one. Told "check" on standard input it says how many are
// dead, how many have a SIGBUS waiting for them, and how many do not answer when they are asked;
// "end" ends it, well if none was any of that at any check.
// Thread: one.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hotplug/in_guest/clients/crowd_member.h"
#include "hotplug/in_guest/clients/kfd_topology.h"
#include "hotplug/in_guest/clients/line_input.h"
#include "hotplug/in_guest/clients/program.h"
#include "hotplug/in_guest/clients/report.h"
#include "hotplug/in_guest/clients/signals.h"
#include "lib/fd.h"

namespace hp::clients {
namespace {

const Description self{
    .name = "kfd_crowd",
    .purpose = "Has /dev/kfd open in many processes that do not go away when told to",
    .states = {{"crowd", "how many of the processes are dead, signalled or mute"}},
};

constexpr std::chrono::seconds patience_with_all{60};
/// One that answers does so in milliseconds, and one that does not shall not hold up the others.
constexpr std::chrono::seconds patience_with_one{5};

struct Options {
    std::uint32_t gpu_id = 0;
    unsigned count = 50;
    unsigned queues = 0;
    std::optional<Manner> manner;  ///< of all; else each of them in turn
};

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
        Fd questions;
        bool dead = false;
    };

    IoResult<void> start(unsigned number, Manner manner, const KfdNode* with_queue, int answers);
    IoResult<CrowdAnswer> await_answer(std::chrono::milliseconds patience);
    IoResult<bool> ask(unsigned number);
    static IoResult<void> hold(const Member& member);
    static IoResult<void> let_go(const Member& member);

    std::vector<Member> members_;
    Fd answers_;
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
    answers_.reset(ends[0]);
    const Fd answer(ends[1]);
    for (unsigned i = 0; i < options.count; ++i) {
        const Manner manner = options.manner.value_or(static_cast<Manner>(i % manners));
        const KfdNode* with_queue = i < options.queues ? &*node : nullptr;
        if (const auto started = start(i, manner, with_queue, answer.get()); !started) {
            return started;
        }
    }
    for (unsigned i = 0; i < options.count; ++i) {
        const auto arrival = await_answer(patience_with_all);
        if (!arrival) {
            return tl::unexpected(arrival.error());
        }
        if (arrival->op != nullptr) {
            return io_fail(arrival->op, arrival->error);
        }
    }
    for (const Member& member : members_) {
        if (const auto held = hold(member); !held) {
            return held;
        }
    }
    return {};
}

IoResult<void> Crowd::start(unsigned number, Manner manner, const KfdNode* with_queue,
                            int answers) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return io_fail("pipe2");
    }
    const Fd questions(ends[0]);
    Fd ask(ends[1]);
    const pid_t pid = ::fork();
    if (pid < 0) {
        return io_fail("fork");
    }
    if (pid == 0) {
        // The pipes of those before: fifty members would hold more than a thousand.
        members_.clear();
        answers_.reset();
        live({number, manner, with_queue, questions.get(), answers});
    }
    members_.push_back({pid, manner, std::move(ask)});
    return {};
}

IoResult<CrowdAnswer> Crowd::await_answer(std::chrono::milliseconds patience) {
    pollfd wanted{answers_.get(), POLLIN, 0};
    const int ready = ::poll(&wanted, 1, static_cast<int>(patience.count()));
    if (ready <= 0) {
        return io_fail("poll", ready == 0 ? ETIME : errno);
    }
    CrowdAnswer answer;
    if (::read(answers_.get(), &answer, sizeof answer) != sizeof answer) {
        return io_fail("read");
    }
    return answer;
}

/// Stops a member that shall be stopped, in the way of its manner.
IoResult<void> Crowd::hold(const Member& member) {
    if (member.manner == Manner::is_traced) {
        // The second time it is traced already.
        if (::ptrace(PTRACE_SEIZE, member.pid, nullptr, nullptr) != 0 && errno != EPERM) {
            return io_fail("PTRACE_SEIZE");
        }
        if (::ptrace(PTRACE_INTERRUPT, member.pid, nullptr, nullptr) != 0) {
            return io_fail("PTRACE_INTERRUPT");
        }
    } else if (member.manner == Manner::is_stopped) {
        ::kill(member.pid, SIGSTOP);
    } else {
        return {};
    }
    int status = 0;
    if (::waitpid(member.pid, &status, WUNTRACED | __WALL) != member.pid) {
        return io_fail("waitpid");
    }
    return WIFSTOPPED(status) ? IoResult<void>() : io_fail("waitpid", ECHILD);
}

IoResult<void> Crowd::let_go(const Member& member) {
    if (member.manner == Manner::is_traced &&
        ::ptrace(PTRACE_CONT, member.pid, nullptr, nullptr) != 0) {
        return io_fail("PTRACE_CONT");
    }
    if (member.manner == Manner::is_stopped) {
        ::kill(member.pid, SIGCONT);
    }
    return {};
}

/// Whether the member, or the child that has its file, answers, and KFD answers it as it should.
IoResult<bool> Crowd::ask(unsigned number) {
    const Member& member = members_[number];
    if (const auto free = let_go(member); !free) {
        return tl::unexpected(free.error());
    }
    const char question = '?';
    if (::write(member.questions.get(), &question, sizeof question) != sizeof question) {
        return io_fail("write");
    }
    for (;;) {
        const auto answer = await_answer(patience_with_one);
        if (!answer && answer.error().error != ETIME) {
            return tl::unexpected(answer.error());
        }
        if (answer && answer->member != number) {
            continue;  // too late, and counted as none
        }
        if (const auto held = hold(member); !held) {
            return tl::unexpected(held.error());
        }
        return answer && answer->op == nullptr;
    }
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
    unsigned mute = 0;
    for (unsigned number = 0; number < members_.size(); ++number) {
        Member& member = members_[number];
        int status = 0;
        const pid_t ended = member.dead ? 0 : ::waitpid(member.pid, &status, WNOHANG | __WALL);
        if (ended < 0) {
            return io_fail("waitpid");
        }
        member.dead = member.dead || (ended != 0 && (WIFEXITED(status) || WIFSIGNALED(status)));
        // A traced one that is sent a signal stops anew.
        const bool told =
            !member.dead && ((ended != 0 && WIFSTOPPED(status) && WSTOPSIG(status) == SIGBUS) ||
                             sigbus_pending(member.pid));
        // One that shall be killed would be, as soon as it runs.
        const auto answers = member.dead || told ? IoResult<bool>(true) : ask(number);
        if (!answers) {
            return tl::unexpected(answers.error());
        }
        dead += member.dead ? 1 : 0;
        pending += told ? 1 : 0;
        mute += *answers ? 0 : 1;
        report.done(!member.dead && !told && *answers);
    }
    report.say("crowd", {{"of", members_.size()},
                         {"dead", dead},
                         {"sigbus_pending", pending},
                         {"mute", mute},
                         {"bad", dead + pending + mute}});
    return {};
}

int run_client(const Options& options) {
    Reporter report(self);
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
    using namespace hp::clients;
    Program program(self);
    Options options;
    program.add_gpu_id(options.gpu_id);
    program.add_option("--count", options.count, "PROCESSES", "processes").within(1, 1024);
    program.add_option("--queues", options.queues, "PROCESSES",
                       "how many of them have a queue on that GPU");
    program.add_choice<Manner>("--manner", options.manner, "MANNER",
                               "what all of them do, instead of each its own",
                               {{"waits", Manner::waits},
                                {"ignores-sigbus", Manner::ignores_sigbus},
                                {"blocks-sigbus", Manner::blocks_sigbus},
                                {"is-stopped", Manner::is_stopped},
                                {"is-traced", Manner::is_traced},
                                {"sleeps-in-kernel", Manner::sleeps_in_kernel},
                                {"child-has-file", Manner::child_has_file}});
    if (const auto status = program.parse(argc, argv)) {
        return *status;
    }
    if (options.queues > options.count) {
        return program.refuse("--queues: more than there are processes");
    }
    handle_signals();
    return run_client(options);
}
