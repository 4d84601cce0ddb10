// SPDX-License-Identifier: GPL-2.0
// Purpose: see machine_testbed.h.
// Thread: one at a time.
#include "hotplug/run/machine_testbed.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "hotplug/loss/loss.h"
#include "hotplug/machine/sysrq.h"

namespace hotplug {

namespace {

constexpr auto state_deadline = std::chrono::seconds(60);
constexpr auto kmemleak_deadline = std::chrono::minutes(5);

/// What tells the facts of a guest, each a file that may be missing there. Names of options alone:
/// a distribution's kernel has more lines than the agent keeps.
constexpr const char* options_command =
    "[ ! -e /proc/config.gz ] || zcat /proc/config.gz | sed -n 's/=[ym]$//p'";
// Files of /proc say that they are empty: only to read one tells.
constexpr const char* slabs_command = "read -r line </proc/slabinfo";
/// "DMA" or "DMA-FQ" for each GPU whose DMA an IOMMU translates.
constexpr const char* domains_command =
    "for gpu in /sys/bus/pci/drivers/amdgpu/0*; do cat $gpu/iommu_group/type; done 2>&1";
constexpr const char* dropped_command =
    "[ ! -e /etc/image-incomplete ] || cat /etc/image-incomplete";

std::set<std::string> words_in(const std::string& text) {
    std::istringstream in(text);
    return {std::istream_iterator<std::string>(in), {}};
}

/// `domains`: a line for each GPU.
bool translates_dma(const std::string& domains) {
    return !domains.empty() && domains.find("No such file") == std::string::npos &&
           domains.find("identity") == std::string::npos;
}

std::vector<std::string> lines_in(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        lines.push_back(line);
    }
    return lines;
}

}  // namespace

hp::Result<std::unique_ptr<Testbed>> MachineTestbed::create(std::unique_ptr<Machine> machine) {
    std::unique_ptr<MachineTestbed> bed(new MachineTestbed(std::move(machine)));
    Machine& guest = *bed->machine_;
    const auto ask = [&](std::vector<std::string> argv) {
        return guest.agent()
            .run(argv)
            .and_then([&](RunResult answer) -> hp::Result<RunResult> {
                return answer.cut ? hp::fail(fmt::format("'{}' printed more than the agent keeps",
                                                         argv.back()))
                                  : hp::Result<RunResult>(std::move(answer));
            })
            .map_error([&](hp::Error error) { return guest.explain(std::move(error)); });
    };
    const auto options = ask({"sh", "-c", options_command});
    const auto slabs = ask({"sh", "-c", slabs_command});
    const auto dropped = ask({"sh", "-c", dropped_command});
    const auto programs = ask({"ls", "/usr/bin"});
    const auto domains = ask({"sh", "-c", domains_command});
    for (const auto* answer : {&options, &slabs, &dropped, &programs, &domains}) {
        if (!*answer) {
            return tl::unexpected(answer->error());
        }
    }
    bed->facts_.release = guest.hello().kernel;
    bed->facts_.options = words_in(options->out);
    if (!bed->facts_.options.empty()) {
        bed->facts_.options_from = "/proc/config.gz";
    } else if (const auto file = find_kernel_config(guest.config().kernel, bed->facts_.release)) {
        bed->facts_.options = options_in(*file);
        bed->facts_.options_from = file->string();
    }
    bed->facts_.counts_slabs = slabs->status == 0;
    bed->facts_.image_lacks = lines_in(dropped->out);
    bed->facts_.programs = words_in(programs->out);
    bed->facts_.behind_switch = guest.config().behind_switch;
    bed->facts_.translates_dma = translates_dma(domains->out);
    bed->facts_.gpus = 0;
    for (size_t slot = 0; slot < guest.slot_count(); ++slot) {
        if (guest.slot(slot).has_gpu()) {
            ++bed->facts_.gpus;
            bed->facts_.profile = guest.slot(slot).config().gpu.profile;
        }
    }
    return bed;
}

hp::Result<std::string> MachineTestbed::bdf(size_t slot) {
    return machine_->slot(slot).bdf();
}

hp::Result<GuestState> MachineTestbed::state() {
    return machine_->agent().state(Deadline::after(state_deadline)).map_error([&](hp::Error error) {
        return machine_->explain(std::move(error));
    });
}

hp::Result<std::vector<std::string>> MachineTestbed::kmemleak() {
    return machine_->agent().kmemleak(Deadline::after(kmemleak_deadline));
}

hp::Result<RunResult> MachineTestbed::run(const std::vector<std::string>& argv,
                                          std::chrono::milliseconds timeout) {
    return machine_->agent().run(argv, timeout).map_error([&](hp::Error error) {
        return machine_->explain(std::move(error));
    });
}

hp::Result<LossTimeline> MachineTestbed::lose(size_t slot, Loss loss, Deadline deadline,
                                              const LossOptions& options) {
    return hotplug::lose(*machine_, machine_->slot(slot), loss, deadline, options)
        .map_error([&](hp::Error error) { return machine_->explain(std::move(error)); });
}

hp::Result<ReplugTimeline> MachineTestbed::recover(size_t slot, Loss loss,
                                                   const Replacement& replacement,
                                                   Deadline deadline) {
    return hotplug::recover(*machine_, machine_->slot(slot), loss, replacement, deadline)
        .map_error([&](hp::Error error) { return machine_->explain(std::move(error)); });
}

hp::Result<nlohmann::json> MachineTestbed::emulate(size_t slot, const nlohmann::json& request) {
    GpuSlot& gpu = machine_->slot(slot);
    if (!gpu.has_gpu()) {
        return hp::fail(fmt::format("slot {} has no emulated GPU", slot));
    }
    return gpu.emulator().request(request.at("do").get<std::string>(), request);
}

hp::Result<Lies> MachineTestbed::lies(size_t slot) {
    return machine_->slot(slot).emulator().status().map(
        [](const EmulatorStatus& status) { return status.lies; });
}

hp::Result<AbsentAccesses> MachineTestbed::absent_accesses(size_t slot) {
    return machine_->slot(slot).absent_accesses();
}

hp::Result<std::vector<StrayDma>> MachineTestbed::stray_dma() {
    std::vector<StrayDma> by_slot;
    for (size_t slot = 0; slot < machine_->slot_count(); ++slot) {
        auto stray = machine_->slot(slot).stray_dma();
        if (!stray) {
            return tl::unexpected(machine_->explain(stray.error()));
        }
        by_slot.push_back(std::move(*stray));
    }
    return by_slot;
}

hp::Result<JobId> MachineTestbed::spawn(const std::string& name,
                                        const std::vector<std::string>& argv) {
    return machine_->agent().spawn(name, argv);
}

hp::Result<void> MachineTestbed::signal(JobId job, int signal) {
    return machine_->agent().signal(job, signal);
}

hp::Result<void> MachineTestbed::job_input(JobId job, const std::string& line) {
    return machine_->agent().job_input(job, line);
}

JobView MachineTestbed::job(JobId job) {
    return machine_->agent().job(job);
}

hp::Result<JobExit> MachineTestbed::wait_exit(JobId job, Deadline deadline) {
    return machine_->agent().wait_exit(job, deadline);
}

hp::Result<OutputLine> MachineTestbed::wait_output(
    JobId job, size_t from, const std::function<bool(const std::string&)>& wanted,
    std::string_view awaited, Deadline deadline) {
    return machine_->agent().wait_output(job, from, wanted, awaited, deadline);
}

size_t MachineTestbed::kernel_log_size() {
    return machine_->agent().kernel_log_size();
}

std::vector<KernelLine> MachineTestbed::kernel_log(size_t from) {
    return machine_->agent().kernel_log(from);
}

hp::Result<void> MachineTestbed::wait_kernel_text(size_t from, const std::string& text,
                                                  Deadline deadline) {
    const auto wanted = [&](const KernelLine& line) {
        return line.text.find(text) != std::string::npos;
    };
    return machine_->agent()
        .wait_kernel_line(from, wanted, "the kernel log line '" + text + "'", deadline)
        .map([](const KernelLine&) {});
}

hp::Result<MemoryDump> MachineTestbed::dump_memory(const std::filesystem::path& file,
                                                   const MemoryDumpLimits& limits) {
    return hotplug::dump_memory(machine_->qmp(), machine_->memory_bytes(), file, limits)
        .map_error([&](hp::Error error) { return machine_->explain(std::move(error)); });
}

hp::Result<std::string> MachineTestbed::blocked_tasks_by_console() {
    return sysrq_blocked_tasks(machine_->qmp(), machine_->console_socket(),
                               machine_->console_log());
}

hp::Result<std::unique_ptr<Testbed>> MachineFactory::boot(const std::filesystem::path& log_dir) {
    MachineConfig config = config_;
    config.log_dir = log_dir;
    auto machine = Machine::start(std::move(config));
    if (!machine) {
        return tl::unexpected(machine.error());
    }
    return MachineTestbed::create(std::move(*machine));
}

bool MachineFactory::guest_ran(const std::filesystem::path& log_dir) const {
    std::error_code error;
    const auto size = std::filesystem::file_size(log_dir / "qmp.log", error);
    return !error && size != 0;
}

}  // namespace hotplug
