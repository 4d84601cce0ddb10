// SPDX-License-Identifier: GPL-2.0
// Purpose: svm_holder, a client with managed memory (SVM) in the VRAM of a GPU, or in system memory
// that is mapped for the GPU's DMA. Asked after the GPU's loss, it reads the memory by the CPU and
// counts the pages that have kept their content and those that are zeroed. A child made by fork(2)
// that shares the pages may do the same; it is stopped until then, so that it can't be what moves
// them. Thread: one in each process. Not modelled: work of the GPU on that memory; page faults of
// the GPU (XNACK).
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hotplug/in_guest/clients/kfd_device.h"
#include "hotplug/in_guest/clients/kfd_topology.h"
#include "hotplug/in_guest/clients/line_input.h"
#include "hotplug/in_guest/clients/mapping.h"
#include "hotplug/in_guest/clients/program.h"
#include "hotplug/in_guest/clients/report.h"
#include "hotplug/in_guest/clients/signals.h"
#include "lib/fd.h"

namespace hp::clients {
namespace {

const Description self{
    .name = "svm_holder",
    .purpose = "Keeps managed memory that a GPU uses, and reads it when told to",
    .states = {{"not_moved", "pages are not where they have to be"},
               {"child_read", "what the child has read"},
               {"read", "what has been read"}},
};

constexpr std::size_t page_size = 4096;

/// What is right to find in the memory.
enum class Content {
    kept,
    zeroed,
    either,  ///< page by page
};

/// Where the memory is.
enum class Place {
    vram,
    system,
};

struct Options {
    std::uint32_t gpu_id = 0;
    std::size_t size_mib = 4;
    Place place = Place::vram;
    Content content = Content::kept;
    bool forked = false;
};

IoResult<Mapping> own_pages(std::size_t size) {
    void* address =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED) {
        return io_fail("mmap");
    }
    return Mapping(address, size);
}

/// What is in a dword of the memory as long as nothing is lost; never zero.
std::uint32_t content(std::size_t dword) {
    return static_cast<std::uint32_t>(dword) * 2654435761u | 1u;
}

void fill(const Mapping& memory) {
    for (std::size_t i = 0; i < memory.size() / sizeof(std::uint32_t); ++i) {
        memory.dwords()[i] = content(i);
    }
}

/// The pages that the CPU can't reach without moving them, as /proc/self/pagemap tells.
IoResult<std::size_t> pages_away(const Mapping& memory) {
    constexpr std::uint64_t present = 1ull << 63;
    constexpr std::uint64_t swapped = 1ull << 62;
    Fd pagemap(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
    if (!pagemap) {
        return io_fail("open of /proc/self/pagemap");
    }
    std::vector<std::uint64_t> entries(memory.size() / page_size);
    const auto size = static_cast<ssize_t>(entries.size() * sizeof entries[0]);
    const auto offset = static_cast<off_t>(memory.address() / page_size * sizeof entries[0]);
    if (::pread(pagemap.get(), entries.data(), static_cast<std::size_t>(size), offset) != size) {
        return io_fail("read of /proc/self/pagemap");
    }
    return static_cast<std::size_t>(std::count_if(
        entries.begin(), entries.end(),
        [](std::uint64_t entry) { return (entry & (present | swapped)) == swapped; }));
}

struct Pages {
    std::size_t intact = 0;
    std::size_t zeroed = 0;
    std::size_t other = 0;
    std::size_t sigbus = 0;  ///< signals that came of it

    bool as(Content content) const {
        const std::size_t good =
            (content != Content::zeroed ? intact : 0) + (content != Content::kept ? zeroed : 0);
        return good == intact + zeroed + other && sigbus == 0;
    }
    nlohmann::json members() const {
        return {{"intact", intact}, {"zeroed", zeroed}, {"other", other}, {"sigbus", sigbus}};
    }
};

/// Reads all of the memory, which moves it back.
Pages read_back(const Mapping& memory) {
    constexpr std::size_t dwords_per_page = page_size / sizeof(std::uint32_t);
    Pages pages;
    for (std::size_t first = 0; first < memory.size() / sizeof(std::uint32_t);
         first += dwords_per_page) {
        std::size_t kept = 0;
        std::size_t zero = 0;
        for (std::size_t i = first; i < first + dwords_per_page; ++i) {
            const std::uint32_t value = memory.dwords()[i];
            kept += value == content(i);
            zero += value == 0;
        }
        ++(kept == dwords_per_page   ? pages.intact
           : zero == dwords_per_page ? pages.zeroed
                                     : pages.other);
    }
    const auto sigbus = sigbus_count();
    pages.sigbus = sigbus.faults + sigbus.sent;
    return pages;
}

/// A child that has the memory as it was at the fork, and is stopped until it is asked.
class Child {
public:
    static IoResult<Child> start(const Mapping& memory);
    Child(Child&& other) noexcept
        : pid_(std::exchange(other.pid_, 0)), answer_(std::move(other.answer_)) {}
    Child& operator=(Child&&) = delete;
    ~Child();

    IoResult<Pages> read();

private:
    Child(pid_t pid, Fd answer) : pid_(pid), answer_(std::move(answer)) {}

    pid_t pid_;
    Fd answer_;
};

IoResult<Child> Child::start(const Mapping& memory) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return io_fail("pipe2");
    }
    Fd answer(ends[0]);
    const Fd end(ends[1]);
    const pid_t pid = ::fork();
    if (pid < 0) {
        return io_fail("fork");
    }
    if (pid == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::raise(SIGSTOP);
        const Pages pages = read_back(memory);
        const bool told = ::write(end.get(), &pages, sizeof pages) == sizeof pages;
        ::_exit(told ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    Child child(pid, std::move(answer));
    int status = 0;
    if (::waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status)) {
        return io_fail("waitpid", ECHILD);
    }
    return child;
}

Child::~Child() {
    if (pid_ != 0) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
}

IoResult<Pages> Child::read() {
    ::kill(pid_, SIGCONT);
    Pages pages;
    if (::read(answer_.get(), &pages, sizeof pages) != sizeof pages) {
        return io_fail("read of the child's pages", EPIPE);
    }
    return pages;
}

int run_client(const Options& options) {
    Reporter report(self);
    const auto node = find_kfd_node("/sys/class/kfd/kfd/topology", options.gpu_id);
    if (!node) {
        return report.end("device", {"no such gpu_id in the topology", ENODEV});
    }
    auto device = KfdDevice::open(*node);
    if (!device) {
        return report.end("device", device.error());
    }
    const auto memory = own_pages(options.size_mib << 20);
    if (!memory) {
        return report.end("system", memory.error());
    }
    fill(*memory);
    const auto used =
        options.place == Place::vram ? device->move_to_vram(*memory) : device->map_pages(*memory);
    if (!used) {
        return report.end("device", used.error());
    }
    const auto away = pages_away(*memory);
    if (!away) {
        return report.end("system", away.error());
    }
    const std::size_t count = memory->size() / page_size;
    if (*away != (options.place == Place::vram ? count : 0)) {
        report.say("not_moved", {{"pages", count}, {"in_vram", *away}});
        return report.end("not moved");
    }
    std::optional<Child> child;
    if (options.forked) {
        auto started = Child::start(*memory);
        if (!started) {
            return report.end("system", started.error());
        }
        child.emplace(std::move(*started));
    }
    report.ready({{"pages", count}, {"in_vram", *away}, {"forked", options.forked}});
    LineInput input;
    if (!input.next()) {
        return report.end("signal");
    }
    // The child first: it finds the pages as the loss left them, not as another reader did.
    if (child) {
        const auto pages = child->read();
        if (!pages) {
            return report.end("system", pages.error());
        }
        report.say("child_read", pages->members());
        report.done(pages->as(options.content));
    }
    const Pages pages = read_back(*memory);
    report.say("read", pages.members());
    report.done(pages.as(options.content));
    return report.end("done");
}

}  // namespace
}  // namespace hp::clients

int main(int argc, char** argv) {
    using namespace hp::clients;
    Program program(self);
    Options options;
    program.add_gpu_id(options.gpu_id).required();
    program.add_option("--size-mib", options.size_mib, "MiB", "size of the memory").within(1, 256);
    program.add_choice<Place>("--in", options.place, "PLACE", "where the memory is: vram or system",
                              {{"vram", Place::vram}, {"system", Place::system}});
    program.add_choice<Content>(
        "--content", options.content, "CONTENT", "what is right to find: kept, zeroed or either",
        {{"kept", Content::kept}, {"zeroed", Content::zeroed}, {"either", Content::either}});
    program.add_flag("--forked", options.forked, "a stopped child has the memory, too");
    if (const auto status = program.parse(argc, argv)) {
        return *status;
    }
    handle_signals();
    return run_client(options);
}
