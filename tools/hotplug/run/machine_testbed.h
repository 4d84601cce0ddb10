// SPDX-License-Identifier: GPL-2.0
// Purpose: the runner's guest on a real Machine.
// Thread: one at a time; see machine.h about the thread that boots.
#pragma once

#include <memory>

#include "hotplug/machine/machine.h"
#include "hotplug/run/testbed.h"

namespace hotplug {

class MachineTestbed final : public Testbed {
public:
    /// Asks the guest for the facts. The kernel's options come from its /proc/config.gz, or from
    /// the host: find_kernel_config().
    static hp::Result<std::unique_ptr<Testbed>> create(std::unique_ptr<Machine> machine);

    const GuestFacts& facts() const override { return facts_; }
    hp::Result<void> end() override { return machine_->stop(); }
    hp::Result<std::string> bdf(size_t slot) override;
    hp::Result<GuestState> state() override;
    hp::Result<std::vector<std::string>> kmemleak() override;
    hp::Result<RunResult> run(const std::vector<std::string>& argv,
                              std::chrono::milliseconds timeout) override;
    hp::Result<LossTimeline> lose(size_t slot, Loss loss, Deadline deadline,
                                  const LossOptions& options) override;
    hp::Result<ReplugTimeline> recover(size_t slot, Loss loss, const Replacement& replacement,
                                       Deadline deadline) override;
    hp::Result<nlohmann::json> emulate(size_t slot, const nlohmann::json& request) override;
    hp::Result<Lies> lies(size_t slot) override;
    hp::Result<AbsentAccesses> absent_accesses(size_t slot) override;
    hp::Result<std::vector<StrayDma>> stray_dma() override;
    hp::Result<JobId> spawn(const std::string& name, const std::vector<std::string>& argv) override;
    hp::Result<void> signal(JobId job, int signal) override;
    hp::Result<void> job_input(JobId job, const std::string& line) override;
    JobView job(JobId job) override;
    hp::Result<JobExit> wait_exit(JobId job, Deadline deadline) override;
    hp::Result<OutputLine> wait_output(JobId job, size_t from,
                                       const std::function<bool(const std::string&)>& wanted,
                                       std::string_view awaited, Deadline deadline) override;
    size_t kernel_log_size() override;
    std::vector<KernelLine> kernel_log(size_t from) override;
    hp::Result<void> wait_kernel_text(size_t from, const std::string& text,
                                      Deadline deadline) override;
    hp::Result<MemoryDump> dump_memory(const std::filesystem::path& file,
                                       const MemoryDumpLimits& limits) override;
    hp::Result<std::string> blocked_tasks_by_console() override;

private:
    explicit MachineTestbed(std::unique_ptr<Machine> machine) : machine_(std::move(machine)) {}

    std::unique_ptr<Machine> machine_;
    GuestFacts facts_;
};

class MachineFactory final : public TestbedFactory {
public:
    explicit MachineFactory(MachineConfig config) : config_(std::move(config)) {}
    hp::Result<std::unique_ptr<Testbed>> boot(const std::filesystem::path& log_dir) override;
    /// QEMU's monitor has spoken: QEMU starts the guest before.
    bool guest_ran(const std::filesystem::path& log_dir) const override;

private:
    MachineConfig config_;
};

}  // namespace hotplug
