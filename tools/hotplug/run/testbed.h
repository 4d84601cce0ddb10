// SPDX-License-Identifier: GPL-2.0
// Purpose: the guest as the runner sees it. machine_testbed.h puts a Machine behind it; tests put a
// fake. Thread: one at a time.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "hotplug/base/deadline.h"
#include "hotplug/guest/agent_client.h"
#include "hotplug/guest/guest_state.h"
#include "hotplug/machine/memory_dump.h"
#include "hotplug/run/guest_facts.h"
#include "hotplug/values/accesses.h"
#include "hotplug/values/lies.h"
#include "hotplug/values/loss_options.h"
#include "hotplug/values/loss_timeline.h"
#include "hotplug/values/replacement.h"
#include "lib/result.h"

namespace hotplug {

/// A running guest with the driver bound to each GPU. Ends with the object. Members do what the
/// members of Machine, AgentClient, GpuSlot and loss.h of the same name do; a failure means that
/// the harness or the guest's agent cannot go on, while what the driver does wrong is a value.
class Testbed {
public:
    virtual ~Testbed() = default;

    virtual const GuestFacts& facts() const = 0;
    /// Ends the guest; fails when one of the machine's own parts did not end well.
    virtual hp::Result<void> end() = 0;
    virtual hp::Result<std::string> bdf(size_t slot) = 0;
    virtual hp::Result<GuestState> state() = 0;
    virtual hp::Result<std::vector<std::string>> kmemleak() = 0;
    virtual hp::Result<RunResult> run(const std::vector<std::string>& argv,
                                      std::chrono::milliseconds timeout) = 0;

    virtual hp::Result<LossTimeline> lose(size_t slot, Loss loss, Deadline deadline,
                                          const LossOptions& options) = 0;
    virtual hp::Result<ReplugTimeline> recover(size_t slot, Loss loss,
                                               const Replacement& replacement,
                                               Deadline deadline) = 0;
    /// A request to the emulator of the GPU in `slot`.
    virtual hp::Result<nlohmann::json> emulate(size_t slot, const nlohmann::json& request) = 0;
    /// Lies that the GPU in `slot` has told since it was made hostile.
    virtual hp::Result<Lies> lies(size_t slot) = 0;
    virtual hp::Result<AbsentAccesses> absent_accesses(size_t slot) = 0;
    /// By slot.
    virtual hp::Result<std::vector<StrayDma>> stray_dma() = 0;

    virtual hp::Result<JobId> spawn(const std::string& name,
                                    const std::vector<std::string>& argv) = 0;
    virtual hp::Result<void> signal(JobId job, int signal) = 0;
    virtual hp::Result<void> job_input(JobId job, const std::string& line) = 0;
    virtual JobView job(JobId job) = 0;
    virtual hp::Result<JobExit> wait_exit(JobId job, Deadline deadline) = 0;
    virtual hp::Result<OutputLine> wait_output(
        JobId job, size_t from, const std::function<bool(const std::string&)>& wanted,
        std::string_view awaited, Deadline deadline) = 0;

    virtual size_t kernel_log_size() = 0;
    virtual std::vector<KernelLine> kernel_log(size_t from) = 0;
    virtual hp::Result<void> wait_kernel_text(size_t from, const std::string& text,
                                              Deadline deadline) = 0;

    /// Into `file`; the guest goes on afterwards.
    virtual hp::Result<MemoryDump> dump_memory(const std::filesystem::path& file,
                                               const MemoryDumpLimits& limits) = 0;
    /// The tasks in state D with their stacks, asked for on the console: for a guest whose agent
    /// does not answer.
    virtual hp::Result<std::string> blocked_tasks_by_console() = 0;
};

/// Boots guests, one after the other.
class TestbedFactory {
public:
    virtual ~TestbedFactory() = default;
    /// The guest's logs go to `log_dir`.
    virtual hp::Result<std::unique_ptr<Testbed>> boot(const std::filesystem::path& log_dir) = 0;
    /// Of a boot that failed: did the guest run at all? If not, nothing in it can be to blame.
    virtual bool guest_ran(const std::filesystem::path& log_dir) const = 0;
};

}  // namespace hotplug
