// SPDX-License-Identifier: GPL-2.0
// Purpose: svm_holder, a client with managed memory (SVM) in the VRAM of a GPU, or in system memory
// that is mapped for the GPU's DMA. Asked after the GPU's loss, it reads the memory by the CPU and
// counts the pages that have kept their content and those that are zeroed. A child made by fork(2)
// that shares the pages may do the same; it is stopped until then, so that it can't be what moves
// them. Asked before the loss, it can also unmap the memory while the kernel moves it. Thread: one
// in each process. Not modelled: work of the GPU on that memory; page faults of the GPU (XNACK).
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
               {"read", "what has been read"},
               {"unmapped", "memory has been unmapped while it was moved"}},
};

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
    bool unmap = false;
};

/// The size of a part that is unmapped alone: half of what amdkfd moves at a time
/// (kfd_migrate.c, SVM_EVACUATE_PAGES).
constexpr std::size_t unmapped_part = std::size_t{1} << 20;

using Parts = std::vector<Mapping>;

/// Memory in parts of the same size, which divides `size`, with a page between them that is not
/// mapped. So the kernel makes a VMA and an anon_vma for each (anon_vma_compatible() in mm/vma.c),
/// and both go when the part is unmapped.
IoResult<Parts> own_pages(std::size_t size, std::size_t part) {
    Parts parts;
    const std::size_t count = size / part;
    const std::size_t stride = part + page_size;
    void* address =
        ::mmap(nullptr, count * stride, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED) {
        return io_fail("mmap");
    }
    for (std::size_t i = 0; i < count; ++i) {
        std::byte* const start = static_cast<std::byte*>(address) + i * stride;
        parts.emplace_back(start, part);
        Mapping(start + part, page_size).reset();
    }
    return parts;
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

IoResult<std::size_t> pages_away(const Parts& parts) {
    std::size_t away = 0;
    for (const Mapping& part : parts) {
        const auto pages = pages_away(part);
        if (!pages) {
            return tl::unexpected(pages.error());
        }
        away += *pages;
    }
    return away;
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

/// Waits until the kernel has moved a page, then unmaps the parts, those first that are next.
/// Returns the pages among them that had not been moved yet; none if the client is asked to end
/// meanwhile.
IoResult<std::size_t> unmap_while_moved(Parts& parts) {
    // Nothing tells a process that its pages move: it has to look again and again.
    for (std::size_t next = 0; !stop_wanted(); next = (next + 1) % parts.size()) {
        const auto away = pages_away(parts[next]);
        if (!away) {
            return tl::unexpected(away.error());
        }
        if (*away == parts[next].size() / page_size) {
            continue;
        }
        std::rotate(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(next), parts.end());
        std::size_t unmapped = 0;
        for (Mapping& part : parts) {
            const auto left = pages_away(part);
            if (!left) {
                return tl::unexpected(left.error());
            }
            unmapped += *left;
            part.reset();
        }
        return unmapped;
    }
    return 0;
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
    const std::size_t size = options.size_mib << 20;
    auto memory = own_pages(size, options.unmap ? unmapped_part : size);
    if (!memory) {
        return report.end("system", memory.error());
    }
    for (const Mapping& part : *memory) {
        fill(part);
        const auto used =
            options.place == Place::vram ? device->move_to_vram(part) : device->map_pages(part);
        if (!used) {
            return report.end("device", used.error());
        }
    }
    const auto away = pages_away(*memory);
    if (!away) {
        return report.end("system", away.error());
    }
    const std::size_t count = size / page_size;
    if (*away != (options.place == Place::vram ? count : 0)) {
        report.say("not_moved", {{"pages", count}, {"in_vram", *away}});
        return report.end("not moved");
    }
    std::optional<Child> child;
    if (options.forked) {
        auto started = Child::start(memory->front());
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
    if (options.unmap) {
        const auto unmapped = unmap_while_moved(*memory);
        if (!unmapped) {
            return report.end("system", unmapped.error());
        }
        report.say("unmapped", {{"in_vram", *unmapped}});
        // Else nothing was shown.
        report.done(*unmapped != 0);
        return report.end("done");
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
    const Pages pages = read_back(memory->front());
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
    program.add_flag("--unmap", options.unmap,
                     "instead of reading, wait until the memory is moved, and unmap it meanwhile");
    if (const auto status = program.parse(argc, argv)) {
        return *status;
    }
    handle_signals();
    return run_client(options);
}
