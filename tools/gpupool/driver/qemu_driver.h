// SPDX-License-Identifier: GPL-2.0
// Purpose: emulated boards and QEMU's VMs. Both outlive the daemon; the next one finds them by
// their names. Thread: see driver.h; in a VM a board may come while another goes.
// Not modelled: real boards. Theirs is another driver: scrub is a reset of the slot, attach hands
// vfio-pci's device over.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "gpupool/driver/driver.h"
#include "gpupool/driver/emulated_board.h"
#include "gpupool/driver/qemu_vm.h"
#include "hotplug/machine/host_tools.h"

namespace gpupool {

class QemuDriver : public Driver {
public:
    /// `folder`: of what ends with the machine.
    static hp::Result<std::unique_ptr<QemuDriver>> make(
        const std::filesystem::path& folder, const std::optional<std::filesystem::path>& toolroot);

    void begin(const Books& books, Watcher watcher) override;
    hp::Result<void> check_definition(const std::string& definition) const override;
    hp::Result<void> check_profile(const std::string& profile) const override;
    tl::expected<std::string, StepFailure> carry_out(const Step& step) override;
    hp::Result<Inventory> look() override;

private:
    using Done = tl::expected<std::string, StepFailure>;

    QemuDriver(hotplug::QemuCommand qemu, EmulatedBoard::Environment boards,
               std::filesystem::path vms)
        : qemu_(std::move(qemu)),
          board_environment_(std::move(boards)),
          vm_folder_(std::move(vms)) {}

    Done scrub(const Step& step);
    Done attach(const Step& step);
    Done detach(const Step& step);
    Done pull(const Step& step);
    Done start_vm(const Step& step);
    Done stop_vm(const Step& step);
    std::shared_ptr<EmulatedBoard> board_of(const Step& step);
    /// Null when it does not run (any more) in that incarnation.
    std::shared_ptr<QemuVm> vm_of(const Step& step);
    void take_up(const Gpu& gpu);
    void take_up(const Vm& vm);
    void lose(const QemuVm::Id& id, std::string reason);
    void watch(const std::stop_token& stop);
    void look_after();

    const hotplug::QemuCommand qemu_;
    const EmulatedBoard::Environment board_environment_;
    const std::filesystem::path vm_folder_;
    Watcher watcher_;
    std::mutex mutex_;
    std::map<uint64_t, std::shared_ptr<EmulatedBoard>> boards_;  // by serial number
    std::map<std::string, std::shared_ptr<QemuVm>> vms_;         // those that run
    std::jthread thread_;                                        // last: it uses the members above
};

}  // namespace gpupool
