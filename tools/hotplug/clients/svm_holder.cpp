// SPDX-License-Identifier: GPL-2.0
// Purpose: svm_holder, a client with managed memory (SVM) in the VRAM of a GPU. Asked after the
// GPU's loss, it reads the memory by the CPU and counts the pages that have kept their content and
// those that are zeroed. Thread: one. Not modelled: work of the GPU on that memory; page faults of
// the GPU (XNACK).
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hotplug/clients/kfd_device.h"
#include "hotplug/clients/kfd_topology.h"
#include "hotplug/clients/line_input.h"
#include "hotplug/clients/mapping.h"
#include "hotplug/clients/report.h"
#include "hotplug/clients/signals.h"
#include "lib/fd.h"

namespace hp::clients {
namespace {

constexpr std::size_t page_size = 4096;

struct Options {
    std::uint32_t gpu_id = 0;
    std::size_t size_mib = 4;
    bool may_be_zeroed = false;
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
    return pages;
}

int run_client(const Options& options) {
    Reporter report("svm_holder");
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
    if (const auto moved = device->move_to_vram(*memory); !moved) {
        return report.end("device", moved.error());
    }
    const auto away = pages_away(*memory);
    if (!away) {
        return report.end("system", away.error());
    }
    const std::size_t count = memory->size() / page_size;
    if (*away != count) {
        report.say("not_moved", {{"pages", count}, {"in_vram", *away}});
        return report.end("not moved");
    }
    report.ready({{"pages", count}, {"in_vram", *away}});
    LineInput input;
    if (!input.next()) {
        return report.end("signal");
    }
    const Pages pages = read_back(*memory);
    const auto sigbus = sigbus_count();
    report.say("read", {{"intact", pages.intact},
                        {"zeroed", pages.zeroed},
                        {"other", pages.other},
                        {"sigbus", sigbus.faults + sigbus.sent}});
    const bool good = pages.intact == count ||
                      (options.may_be_zeroed && pages.intact + pages.zeroed == count);
    return report.end(good && sigbus.faults + sigbus.sent == 0 ? "done" : "lost pages");
}

}  // namespace
}  // namespace hp::clients

int main(int argc, char** argv) {
    CLI::App app("Keeps managed memory in the VRAM of a GPU, and reads it when told to");
    hp::clients::Options options;
    app.add_option("--gpu-id", options.gpu_id, "gpu_id of KFD's topology")->required();
    app.add_option("--size-mib", options.size_mib, "size of the memory")
        ->check(CLI::Range(1, 256));
    app.add_flag("--may-be-zeroed", options.may_be_zeroed,
                 "a page that has lost its content, and reads as zeroes, is fine");
    CLI11_PARSE(app, argc, argv);
    hp::clients::handle_signals();
    return hp::clients::run_client(options);
}
