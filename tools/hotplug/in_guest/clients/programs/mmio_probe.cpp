// SPDX-License-Identifier: GPL-2.0
// Purpose: mmio_probe, which maps a BAR through sysfs and times single reads and writes.
// Thread: one.
// Not modelled: side effects. The dword at the offset is read, and with --write written back with
// what it read. With --set it gets that value, and nothing is timed.
#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hotplug/in_guest/clients/io.h"
#include "hotplug/in_guest/clients/mapping.h"
#include "hotplug/in_guest/clients/program.h"
#include "hotplug/in_guest/clients/report.h"
#include "hotplug/in_guest/clients/signals.h"
#include "lib/fd.h"

namespace hp::clients {
namespace {

const Description self{
    .name = "mmio_probe",
    .purpose = "Times single accesses to a BAR",
    .states = {{"result", "the value written, or the times measured"}},
};

using nlohmann::json;

struct Options {
    std::string bdf;
    unsigned bar = 0;
    std::uint64_t offset = 0;
    std::uint64_t count = 10000;
    bool write = false;
    std::optional<std::uint32_t> set;
};

IoResult<Mapping> map_page(const Options& options) {
    const std::string path =
        "/sys/bus/pci/devices/" + options.bdf + "/resource" + std::to_string(options.bar);
    const Fd fd(::open(path.c_str(), O_RDWR | O_SYNC | O_CLOEXEC));
    if (!fd) {
        return io_fail("open");
    }
    constexpr std::size_t page = 4096;
    void* address = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(),
                           static_cast<off_t>(options.offset & ~(page - 1)));
    if (address == MAP_FAILED) {
        return io_fail("mmap");
    }
    return Mapping(address, page);
}

/// Nanoseconds per access: batches, so that reading the clock does not count, of which the median
/// is not moved by noise.
template <typename Access>
json time_accesses(std::uint64_t count, Reporter& report, Access access) {
    constexpr std::uint64_t batches = 32;
    const std::uint64_t batch = std::max<std::uint64_t>(count / batches, 1);
    std::vector<double> costs;
    double total_ns = 0;
    for (std::uint64_t done = 0; done < count && !stop_wanted(); done += batch) {
        const auto started = std::chrono::steady_clock::now();
        for (std::uint64_t i = 0; i < batch; ++i) {
            access();
        }
        const std::chrono::duration<double, std::nano> elapsed =
            std::chrono::steady_clock::now() - started;
        total_ns += elapsed.count();
        costs.push_back(elapsed.count() / static_cast<double>(batch));
        report.done(true);
    }
    if (costs.empty()) {
        return nullptr;
    }
    std::sort(costs.begin(), costs.end());
    return {{"min_ns", costs.front()},
            {"median_ns", costs[costs.size() / 2]},
            {"mean_ns", total_ns / static_cast<double>(batch * costs.size())},
            {"accesses", batch * costs.size()}};
}

int run_client(const Options& options) {
    Reporter report(self);
    const auto mapping = map_page(options);
    if (!mapping) {
        return report.end("device", mapping.error());
    }
    volatile std::uint32_t& dword = mapping->dwords()[(options.offset % mapping->size()) / 4];
    report.ready({{"bdf", options.bdf}, {"bar", options.bar}, {"offset", options.offset}});
    if (options.set) {
        dword = *options.set;
        report.say("result", {{"value", std::uint32_t{dword}}});
        return report.end("done");
    }
    std::uint32_t value = dword;
    json result = {{"value", value}};
    result["read"] = time_accesses(options.count, report, [&] { value = dword; });
    if (options.write) {
        result["write"] = time_accesses(options.count, report, [&] { dword = value; });
    }
    result["faults"] = sigbus_count().faults;
    report.say("result", std::move(result));
    return report.end(stop_wanted() ? "signal" : "done");
}

}  // namespace
}  // namespace hp::clients

int main(int argc, char** argv) {
    hp::clients::Program program(hp::clients::self);
    hp::clients::Options options;
    program.add_option("bdf", options.bdf, "BDF", "PCI address, as 0000:01:00.0").required();
    program.add_option("bar", options.bar, "BAR", "number of the BAR").required().within(0, 5);
    program.add_option("--offset", options.offset, "BYTES",
                       "byte offset of the dword (0x... for hex)");
    program.add_option("--count", options.count, "ACCESSES", "how many accesses of each kind")
        .positive();
    program.add_flag("--write", options.write, "time writes too: the value read is written back");
    program.add_option("--set", options.set, "DWORD",
                       "write this value instead of timing (0x... for hex)");
    if (const auto status = program.parse(argc, argv)) {
        return *status;
    }
    hp::clients::handle_signals();
    return hp::clients::run_client(options);
}
