// SPDX-License-Identifier: GPL-2.0
// Purpose: the figures of Documentation/harness/figures.md. Each is measured beside
// its control in the same run, and the ratio is what counts: QEMU's in-process edu device for
// accesses, QEMU's nvme for removals. Thread: one, and the peer of the socket round trip.
#include "hotplug/bench/usual_bench.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <thread>

#include "hotplug/bench/figures.h"
#include "hotplug/bench/median.h"
#include "hotplug/bench/times.h"
#include "hotplug/loss/loss.h"
#include "hotplug/machine/machine.h"
#include "lib/fd.h"

namespace hotplug {

namespace {

using json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr auto command_deadline = std::chrono::minutes(2);
constexpr unsigned losses = 3;

/// Request and reply of a register read's size between two threads over a unix socket: what an
/// access by message cannot be cheaper than on this machine.
hp::Result<double> socket_round_trip_us() {
    constexpr size_t request_bytes = 32, reply_bytes = 36;
    constexpr unsigned rounds = 20'000;
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        return hp::fail("cannot make a socket pair");
    }
    hp::Fd ours(ends[0]);
    const hp::Fd theirs(ends[1]);
    std::jthread peer([&theirs] {
        std::array<char, reply_bytes> buffer{};
        while (recv(theirs.get(), buffer.data(), request_bytes, MSG_WAITALL) == request_bytes) {
            if (send(theirs.get(), buffer.data(), reply_bytes, MSG_NOSIGNAL) != reply_bytes) {
                return;
            }
        }
    });
    std::array<char, reply_bytes> buffer{};
    const auto started = std::chrono::steady_clock::now();
    for (unsigned i = 0; i < rounds; ++i) {
        if (send(ours.get(), buffer.data(), request_bytes, MSG_NOSIGNAL) != request_bytes ||
            recv(ours.get(), buffer.data(), reply_bytes, MSG_WAITALL) != reply_bytes) {
            shutdown(ours.get(), SHUT_RDWR);
            return hp::fail("the socket pair broke");
        }
    }
    const std::chrono::duration<double, std::micro> elapsed =
        std::chrono::steady_clock::now() - started;
    shutdown(ours.get(), SHUT_RDWR);
    return elapsed.count() / rounds;
}

struct AccessTimes {
    double read_us = 0, write_us = 0;
};

hp::Result<AccessTimes> probe_bar(Machine& machine, GpuSlot& slot, unsigned bar, uint64_t offset,
                                  unsigned count) {
    const auto bdf = slot.bdf();
    if (!bdf) {
        return tl::unexpected(bdf.error());
    }
    const auto enabled = machine.agent().write("/sys/bus/pci/devices/" + *bdf + "/enable", "1",
                                               Deadline::after(command_deadline));
    if (!enabled || enabled->error != 0) {
        return hp::fail(fmt::format("cannot enable {}: {}", *bdf,
                                    enabled ? enabled->error_text : enabled.error().message));
    }
    const auto ran =
        machine.agent().run({"mmio_probe", *bdf, std::to_string(bar), "--offset",
                             std::to_string(offset), "--count", std::to_string(count), "--write"},
                            command_deadline);
    if (!ran) {
        return tl::unexpected(ran.error());
    }
    for (size_t at = 0; at < ran->out.size();) {
        const size_t end = std::min(ran->out.find('\n', at), ran->out.size());
        const json line = json::parse(ran->out.substr(at, end - at), nullptr, false);
        if (line.is_object() && line.value("state", "") == "result") {
            return AccessTimes{line.at("read").at("median_ns").get<double>() / 1000,
                               line.at("write").at("median_ns").get<double>() / 1000};
        }
        at = end + 1;
    }
    return hp::fail(
        fmt::format("mmio_probe of {} gave no result: {} {}", *bdf, ran->out, ran->err));
}

class Bench {
public:
    Bench(const MachineConfig& base, fs::path results)
        : base_(base), results_(std::move(results)) {}

    hp::Result<void> run() {
        for (const auto part : {&Bench::accesses, &Bench::boot_and_probe, &Bench::removals}) {
            if (const auto done = (this->*part)(); !done) {
                return done;
            }
        }
        return write_figures(results_ / "bench.json", figures_);
    }

private:
    hp::Result<std::unique_ptr<Machine>> boot(std::vector<SlotDevice> devices, bool load_driver) {
        MachineConfig config = base_;
        SlotConfig slot = base_.slots.front();
        slot.gpu.trace = false;
        config.slots.assign(devices.size(), slot);
        for (size_t i = 0; i < devices.size(); ++i) {
            config.slots[i].device = devices[i];
        }
        config.load_driver = load_driver;
        config.log_dir = results_ / fmt::format("bench-{}", ++boots_);
        return Machine::start(std::move(config));
    }

    hp::Result<void> accesses() {
        auto machine = boot({SlotDevice::gpu, SlotDevice::edu}, false);
        if (!machine) {
            return tl::unexpected(machine.error());
        }
        constexpr uint64_t memsize_register = 0xde3 * 4;  // regRCC_DEV0_EPF0_RCC_CONFIG_MEMSIZE
        constexpr uint64_t edu_liveness = 4;
        std::vector<double> gpu_read, gpu_write, edu_read, edu_write, floor;
        for (unsigned i = 0; i < losses; ++i) {
            const auto gpu = probe_bar(**machine, (*machine)->slot(0), 5, memsize_register, 20'000);
            const auto edu = probe_bar(**machine, (*machine)->slot(1), 0, edu_liveness, 200'000);
            const auto socket = socket_round_trip_us();
            if (!gpu || !edu || !socket) {
                return tl::unexpected(!gpu ? gpu.error() : !edu ? edu.error() : socket.error());
            }
            gpu_read.push_back(gpu->read_us);
            gpu_write.push_back(gpu->write_us);
            edu_read.push_back(edu->read_us);
            edu_write.push_back(edu->write_us);
            floor.push_back(*socket);
        }
        const double read = median_of(gpu_read), write = median_of(gpu_write);
        print_figure("MMIO read, emulated GPU", fmt::format("{:.1f} us", read));
        print_figure("MMIO write, emulated GPU", fmt::format("{:.1f} us", write));
        print_figure("MMIO read, QEMU's edu", fmt::format("{:.2f} us", median_of(edu_read)));
        print_figure("MMIO write, QEMU's edu", fmt::format("{:.2f} us", median_of(edu_write)));
        print_figure("socket round trip of the same size, two host threads",
                     fmt::format("{:.1f} us", median_of(floor)));
        print_figure("ratio read: GPU / edu", fmt::format("{:.0f}", read / median_of(edu_read)));
        print_figure("ratio read: GPU / socket round trip",
                     fmt::format("{:.2f}", read / median_of(floor)));
        figures_["mmio"] = {{"gpu_read_us", read},
                            {"gpu_write_us", write},
                            {"edu_read_us", median_of(edu_read)},
                            {"edu_write_us", median_of(edu_write)},
                            {"socket_round_trip_us", median_of(floor)}};
        return {};
    }

    hp::Result<void> boot_and_probe() {
        auto machine = boot({SlotDevice::gpu}, true);
        if (!machine) {
            return tl::unexpected(machine.error());
        }
        const auto counters = (*machine)->slot(0).emulator().counters();
        if (!counters) {
            return tl::unexpected(counters.error());
        }
        const AccessCounts& total = counters->total;
        print_figure("start of QEMU to agent",
                     fmt::format("{:.1f} s", in_seconds((*machine)->time_to_agent())));
        print_figure("start of QEMU to bound driver",
                     fmt::format("{:.1f} s", in_seconds((*machine)->time_to_driver())));
        print_figure(
            "accesses from power-on to bound driver",
            fmt::format(
                "{} MMIO reads, {} writes, {} doorbells, {} interrupts; of VRAM, as far as it "
                "is trapped, {} reads, {} writes",
                total.mmio_reads, total.mmio_writes, total.doorbell_writes, total.interrupts,
                total.vram_reads, total.vram_writes));
        figures_["probe"] = {{"to_agent_s", in_seconds((*machine)->time_to_agent())},
                             {"to_driver_s", in_seconds((*machine)->time_to_driver())},
                             {"mmio_reads", total.mmio_reads},
                             {"mmio_writes", total.mmio_writes},
                             {"doorbell_writes", total.doorbell_writes},
                             {"vram_reads", total.vram_reads},
                             {"vram_writes", total.vram_writes},
                             {"interrupts", total.interrupts}};
        return {};
    }

    /// Seconds until the removal returned, and of the whole cycle; the device is back afterwards.
    hp::Result<std::pair<double, double>> cycle(Machine& machine, Loss loss) {
        const auto started = std::chrono::steady_clock::now();
        const auto lost = lose(machine, machine.slot(0), loss, Deadline::after(removal_deadline));
        if (!lost) {
            return tl::unexpected(lost.error());
        }
        if (!lost->remove_returned) {
            return hp::fail(fmt::format("{}: {}", to_string(loss), lost->stuck));
        }
        const auto back =
            recover(machine, machine.slot(0), loss, {}, Deadline::after(replug_deadline));
        if (!back) {
            return tl::unexpected(back.error());
        }
        if (!back->stuck.empty()) {
            return hp::fail(fmt::format("replug after {}: {}", to_string(loss), back->stuck));
        }
        const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - started;
        return std::pair(in_seconds(*lost->remove_returned), whole.count());
    }

    hp::Result<void> removals() {
        auto gpu = boot({SlotDevice::gpu}, true);
        if (!gpu) {
            return tl::unexpected(gpu.error());
        }
        auto nvme = boot({SlotDevice::nvme}, true);
        if (!nvme) {
            return tl::unexpected(nvme.error());
        }
        for (const Loss loss : {Loss::slot_power, Loss::sysfs_remove, Loss::surprise}) {
            std::vector<double> of_gpu, of_nvme, cycles;
            for (unsigned i = 0; i < (loss == Loss::surprise ? 1 : losses); ++i) {
                const auto first = cycle(**gpu, loss);
                const auto control = cycle(**nvme, loss);
                if (!first || !control) {
                    return tl::unexpected(!first ? first.error() : control.error());
                }
                of_gpu.push_back(first->first);
                cycles.push_back(first->second);
                of_nvme.push_back(control->first);
            }
            const double per_hour = 3600 / median_of(cycles);
            print_figure(fmt::format("{}: removal returned, GPU / nvme", to_string(loss)),
                         fmt::format("{:.2f} s / {:.2f} s = {:.1f}", median_of(of_gpu),
                                     median_of(of_nvme), median_of(of_gpu) / median_of(of_nvme)));
            print_figure(fmt::format("{}: cycles per hour of an idle GPU", to_string(loss)),
                         fmt::format("{:.0f}", per_hour));
            figures_["removal"][std::string(to_string(loss))] = {{"gpu_s", median_of(of_gpu)},
                                                                 {"nvme_s", median_of(of_nvme)},
                                                                 {"cycles_per_hour", per_hour}};
        }
        return {};
    }

    const MachineConfig& base_;
    fs::path results_;
    unsigned boots_ = 0;
    json figures_ = json::object();
};

}  // namespace

hp::Result<void> run_usual_bench(const MachineConfig& base, const fs::path& results) {
    return Bench(base, results).run();
}

}  // namespace hotplug
