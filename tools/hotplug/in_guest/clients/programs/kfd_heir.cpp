// SPDX-License-Identifier: GPL-2.0
// Purpose: kfd_heir, a process that uses a GPU through KFD, with memory and a queue, and a child of
// it that has inherited its files: of /dev/kfd, of the render node, of SMI events. The client is
// neither: it passes on what it is told on standard input. "orphan" ends the process, of which only
// the child's files are left; "present" and "lost" let the child use each of them and tell what
// came of it, "lost" after the GPU has gone; "end" lets the child close them.
// Thread: one in each process. Not modelled: files that are passed on by a socket.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include "hotplug/in_guest/clients/aql_queue.h"
#include "hotplug/in_guest/clients/drm_abi.h"
#include "hotplug/in_guest/clients/kfd_device.h"
#include "hotplug/in_guest/clients/kfd_topology.h"
#include "hotplug/in_guest/clients/line_input.h"
#include "hotplug/in_guest/clients/program.h"
#include "hotplug/in_guest/clients/report.h"
#include "hotplug/in_guest/clients/signals.h"
#include "hotplug/in_guest/clients/smi_events.h"
#include "lib/fd.h"

namespace hp::clients {
namespace {

const Description self{
    .name = "kfd_heir",
    .purpose = "Uses a GPU in a process whose child inherits the files and uses them when told to",
    .states = {{"orphaned", "the process that used the GPU is dead"},
               {"used", "what came of using each inherited file"}},
};

/// What the child tells: once when it has the files, then after each use of them.
struct Word {
    pid_t heir = 0;
    const char* op = nullptr;  ///< null: the files could be got. Points into the program
    int error = 0;
    int kfd_error = 0;
    int drm_error = 0;
    int smi_error = 0;
    std::array<char, 1024> smi_events{};
};
static_assert(sizeof(Word) < 4096, "written to a pipe at once");

struct Pipe {
    Fd out;
    Fd in;

    static IoResult<Pipe> open() {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
            return io_fail("pipe2");
        }
        return Pipe{Fd(ends[0]), Fd(ends[1])};
    }
};

/// What the child inherits, and what only the process has.
struct Estate {
    KfdDevice device;
    KfdMemory memory;
    AqlQueue queue;
    Fd smi;

    static IoResult<Estate> create(const KfdNode& node);
};

IoResult<Fd> open_smi_events(const KfdDevice& device) {
    abi::SmiEvents request{device.gpu_id(), 0};
    const auto called =
        io_call(device.fd(), abi::AMDKFD_IOC_SMI_EVENTS, &request, "KFD_SMI_EVENTS");
    if (!called) {
        return tl::unexpected(called.error());
    }
    Fd events(static_cast<int>(request.anon_fd));
    const std::uint64_t wanted = 1ull << (abi::KFD_SMI_EVENT_GPU_GONE - 1);
    if (::write(events.get(), &wanted, sizeof wanted) != sizeof wanted) {
        return io_fail("write of the wanted events");
    }
    return events;
}

IoResult<Estate> Estate::create(const KfdNode& node) {
    auto device = KfdDevice::open(node);
    if (!device) {
        return tl::unexpected(device.error());
    }
    auto memory = device->allocate(MemoryKind::vram, 4096);
    if (!memory) {
        return tl::unexpected(memory.error());
    }
    auto queue = AqlQueue::create(*device, node);
    if (!queue) {
        return tl::unexpected(queue.error());
    }
    auto smi = open_smi_events(*device);
    if (!smi) {
        return tl::unexpected(smi.error());
    }
    return Estate{std::move(*device), std::move(*memory), std::move(*queue), std::move(*smi)};
}

template <typename Argument>
int error_of(int fd, unsigned long request, Argument& argument) {
    const auto called = io_call(fd, request, &argument, "");
    return called ? 0 : called.error().error;
}

Word use(const Estate& estate) {
    Word word;
    word.heir = ::getpid();
    abi::GetVersion version{};
    word.kfd_error = error_of(estate.device.fd(), abi::AMDKFD_IOC_GET_VERSION, version);
    abi::InfoHwIp ip{};
    abi::Info info{};
    info.return_pointer = reinterpret_cast<std::uintptr_t>(&ip);
    info.return_size = sizeof ip;
    info.query = abi::AMDGPU_INFO_HW_IP_INFO;
    word.drm_error = error_of(estate.device.drm_fd(), abi::DRM_IOCTL_AMDGPU_INFO, info);
    // It never waits: without an event it fails with EAGAIN, and there is no text.
    if (::read(estate.smi.get(), word.smi_events.data(), word.smi_events.size() - 1) < 0 &&
        errno != EAGAIN) {
        word.smi_error = errno;
    }
    return word;
}

void say(int words, const Word& word) {
    if (::write(words, &word, sizeof word) != sizeof word) {
        ::_exit(EXIT_FAILURE);
    }
}

/// Lives until nobody can ask any more.
[[noreturn]] void live_as_heir(const Estate& estate, int questions, int words) {
    Word first;
    first.heir = ::getpid();
    say(words, first);
    char question = 0;
    while (::read(questions, &question, sizeof question) == sizeof question) {
        say(words, use(estate));
    }
    ::_exit(EXIT_SUCCESS);
}

/// The process that uses the GPU; it goes when it is killed, as its heir does not.
[[noreturn]] void live(const KfdNode& node, int questions, int words) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::signal(SIGBUS, SIG_DFL);
    const auto estate = Estate::create(node);
    const pid_t heir = estate ? ::fork() : -1;
    if (heir < 0) {
        Word failure;
        failure.op = estate ? "fork" : estate.error().op;
        failure.error = estate ? errno : estate.error().error;
        say(words, failure);
        ::_exit(EXIT_FAILURE);
    }
    if (heir == 0) {
        live_as_heir(*estate, questions, words);
    }
    for (;;) {
        ::pause();
    }
}

class Family {
public:
    Family(std::uint32_t gpu_id, Pipe questions, Pipe words)
        : gpu_id_(gpu_id), questions_(std::move(questions)), words_(std::move(words)) {}

    IoResult<void> start(const KfdNode& node);
    IoResult<void> orphan();
    /// Each thing that has to be so counts as one result, good or bad.
    IoResult<void> ask(Reporter& report, bool lost);
    IoResult<void> end();

private:
    IoResult<Word> hear();

    std::uint32_t gpu_id_;
    Pipe questions_;
    Pipe words_;
    pid_t parent_ = 0;
    pid_t heir_ = 0;
};

IoResult<void> Family::start(const KfdNode& node) {
    // The heir's next parent: only who is that can wait for its end.
    if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
        return io_fail("PR_SET_CHILD_SUBREAPER");
    }
    parent_ = ::fork();
    if (parent_ < 0) {
        return io_fail("fork");
    }
    if (parent_ == 0) {
        questions_.in.reset();  // that its end can be seen
        live(node, questions_.out.get(), words_.in.get());
    }
    words_.in.reset();
    const auto first = hear();
    if (!first) {
        return tl::unexpected(first.error());
    }
    heir_ = first->heir;
    return first->op == nullptr ? IoResult<void>() : io_fail(first->op, first->error);
}

IoResult<Word> Family::hear() {
    Word word;
    const ssize_t heard = ::read(words_.out.get(), &word, sizeof word);
    if (heard != sizeof word) {
        return io_fail("read of the heir's word", heard == 0 ? EPIPE : errno);
    }
    return word;
}

IoResult<void> Family::orphan() {
    if (parent_ == 0) {
        return {};
    }
    ::kill(parent_, SIGKILL);
    if (::waitpid(parent_, nullptr, 0) != parent_) {
        return io_fail("waitpid");
    }
    parent_ = 0;
    return {};
}

IoResult<void> Family::ask(Reporter& report, bool lost) {
    const char question = '?';
    if (::write(questions_.in.get(), &question, sizeof question) != sizeof question) {
        return io_fail("write");
    }
    const auto word = hear();
    if (!word) {
        return tl::unexpected(word.error());
    }
    const bool told = tells_of_loss(word->smi_events.data(), gpu_id_);
    // KFD serves the process that opened it, and nobody else.
    const std::array<bool, 4> right = {word->kfd_error == EBADF,
                                       word->drm_error == (lost ? ENODEV : 0), word->smi_error == 0,
                                       told == lost};
    unsigned bad = 0;
    for (const bool good : right) {
        report.done(good);
        bad += good ? 0 : 1;
    }
    report.say("used", {{"kfd_errno", word->kfd_error},
                        {"drm_errno", word->drm_error},
                        {"smi_errno", word->smi_error},
                        {"smi_events", word->smi_events.data()},
                        {"bad", bad}});
    return {};
}

IoResult<void> Family::end() {
    if (const auto ended = orphan(); !ended) {
        return ended;
    }
    questions_.in.reset();
    if (::waitpid(heir_, nullptr, 0) != heir_) {
        return io_fail("waitpid");
    }
    return {};
}

IoResult<Family> make_family(std::uint32_t gpu_id) {
    const auto node = find_kfd_node("/sys/class/kfd/kfd/topology", gpu_id);
    if (!node) {
        return io_fail("no such gpu_id in the topology", ENODEV);
    }
    auto questions = Pipe::open();
    if (!questions) {
        return tl::unexpected(questions.error());
    }
    auto words = Pipe::open();
    if (!words) {
        return tl::unexpected(words.error());
    }
    Family family(gpu_id, std::move(*questions), std::move(*words));
    return family.start(*node).map([&] { return std::move(family); });
}

int run_client(std::uint32_t gpu_id) {
    Reporter report(self);
    auto family = make_family(gpu_id);
    if (!family) {
        return report.end("device", family.error());
    }
    report.ready({{"gpu_id", gpu_id}});
    LineInput input;
    const char* reason = "signal";
    while (const auto line = input.next()) {
        if (*line == "end") {
            reason = "done";
            break;
        }
        IoResult<void> done;
        if (*line == "orphan") {
            done = family->orphan().map([&] { report.say("orphaned"); });
        } else if (*line == "present" || *line == "lost") {
            done = family->ask(report, *line == "lost");
        } else {
            done = io_fail("line of standard input", EINVAL);
        }
        if (!done) {
            return report.end("system", done.error());
        }
    }
    const auto ended = family->end();
    return ended ? report.end(reason) : report.end("system", ended.error());
}

}  // namespace
}  // namespace hp::clients

int main(int argc, char** argv) {
    hp::clients::Program program(hp::clients::self);
    std::uint32_t gpu_id = 0;
    program.add_gpu_id(gpu_id).required();
    if (const auto status = program.parse(argc, argv)) {
        return *status;
    }
    hp::clients::handle_signals();
    return hp::clients::run_client(gpu_id);
}
