// SPDX-License-Identifier: GPL-2.0
// Purpose: a VM, which is a QEMU that outlives the daemon, with its empty slots and the agent in
// its guest. Thread: start(), find() and stop() one at a time; members from any thread, for a board
// or a slot one at a time: a board comes while another goes.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "gpupool/driver/driver.h"
#include "gpupool/driver/emulated_board.h"
#include "hotplug/guest/agent_client.h"
#include "hotplug/machine/gpu_slot.h"
#include "hotplug/machine/machine.h"
#include "hotplug/machine/qmp_client.h"
#include "hotplug/machine/qtest_client.h"
#include "lib/result.h"

namespace gpupool {

/// What makes a VM: {"kernel", "initrd", "memory_mib", "cpus", "cmdline", "kvm"}.
hp::Result<hotplug::MachineConfig> machine_of(const std::string& definition);

class QemuVm {
public:
    struct Id {
        std::string name;
        uint64_t incarnation = 0;
        std::string folder_name() const;
        static std::optional<Id> parse(const std::string& folder_name);
    };

    /// Boots it, if it does not run: until its agent is there. `folder`: of all VMs.
    static hp::Result<std::unique_ptr<QemuVm>> start(const std::filesystem::path& folder,
                                                     const Id& id,
                                                     const hotplug::MachineConfig& config,
                                                     unsigned slots);
    /// Nothing when it does not run.
    static hp::Result<std::unique_ptr<QemuVm>> find(const std::filesystem::path& folder,
                                                    const Id& id, unsigned slots);
    static std::vector<Id> all(const std::filesystem::path& folder);
    /// Ends it, if it runs.
    static hp::Result<void> stop(const std::filesystem::path& folder, const Id& id);
    /// The same for one whose monitor is lost.
    static hp::Result<void> end(const std::filesystem::path& folder, const Id& id);

    const Id& id() const { return id_; }
    bool running() const { return qmp_->connected(); }

    /// The slots of the boards that QEMU has.
    hp::Result<std::map<std::string, unsigned>> boards();
    /// Puts the board into the slot, and waits for the guest to have a driver, a render node and a
    /// KFD node for it. Returns how long both took.
    tl::expected<std::string, StepFailure> plug(const EmulatedBoard& board, unsigned slot);
    /// Has the guest power the slot off.
    hp::Result<void> unplug(const std::string& board, unsigned slot, std::chrono::seconds patience);
    /// Until QEMU has let go of it.
    hp::Result<void> wait_gone(const std::string& board, hotplug::Deadline deadline);
    /// Without a word to the guest.
    hp::Result<void> tear_out(const std::string& board, unsigned slot);

private:
    QemuVm(std::filesystem::path folder, Id id) : folder_(std::move(folder)), id_(std::move(id)) {}
    hp::Result<void> connect(unsigned slots, hotplug::Deadline deadline);
    hp::Result<std::shared_ptr<hotplug::AgentClient>> agent(hotplug::Deadline deadline);
    hp::Result<void> wait_put_away(unsigned slot);
    tl::expected<void, StepFailure> wait_ready(const EmulatedBoard& board, unsigned slot,
                                               hotplug::AgentClient& agent);

    std::filesystem::path folder_;  // its own
    Id id_;
    std::unique_ptr<hotplug::QmpClient> qmp_;
    std::mutex hands_;  // of who reaches into the machine, its CPUs stopped maybe: the next two
    std::unique_ptr<hotplug::QtestClient> qtest_;
    std::vector<std::unique_ptr<hotplug::GpuSlot>> slots_;
    std::mutex agent_mutex_;  // of the next one
    std::weak_ptr<hotplug::AgentClient> agent_;
};

}  // namespace gpupool
