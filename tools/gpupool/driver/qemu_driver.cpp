// SPDX-License-Identifier: GPL-2.0
// Purpose: see qemu_driver.h.
// Thread: see qemu_driver.h.
#include "gpupool/driver/qemu_driver.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "gpu-emu/profiles/profile.h"
#include "hotplug/base/deadline.h"

namespace gpupool {

namespace {

namespace fs = std::filesystem;

// Whether something was lost is written by others into memory: looking costs nothing.
constexpr std::chrono::milliseconds watch_interval{50};
// A guest that cannot let go of a good board in that time has a bad driver.
constexpr std::chrono::seconds detach_patience{90};
// A board that has failed is not waited for: it loses its power after that, and is torn out when
// the guest does not let go of it even then. Where nothing is, QEMU reads zero: no driver takes
// that for an absent device, as it does the ones of a dark board.
constexpr std::chrono::seconds pull_patience{10};
constexpr std::chrono::seconds dark_patience{20};

tl::unexpected<StepFailure> failed(Blame blame, std::string message) {
    return tl::unexpected<StepFailure>(StepFailure{blame, std::move(message)});
}

std::string name_of_board(const Step& step) {
    return BoardId{.serial = step.serial, .epoch = step.epoch}.name();
}

}  // namespace

hp::Result<std::unique_ptr<QemuDriver>> QemuDriver::make(const fs::path& folder,
                                                         const std::optional<fs::path>& toolroot) {
    auto qemu = hotplug::find_qemu(toolroot);
    if (!qemu) {
        return tl::unexpected(qemu.error());
    }
    auto emulator = hotplug::find_emulator(std::nullopt);
    if (!emulator) {
        return tl::unexpected(emulator.error());
    }
    const fs::path whole = fs::absolute(folder);
    for (const char* part : {"boards", "vms"}) {
        std::error_code error;
        fs::create_directories(whole / part, error);
        if (error) {
            return hp::fail(
                fmt::format("{} cannot be made: {}", (whole / part).string(), error.message()));
        }
    }
    return std::unique_ptr<QemuDriver>(new QemuDriver(
        std::move(*qemu), {.emulator = *emulator, .folder = whole / "boards"}, whole / "vms"));
}

void QemuDriver::begin(const Books& books, Watcher watcher) {
    watcher_ = std::move(watcher);
    for (const auto& [name, vm] : books.vms) {
        take_up(vm);
    }
    for (const auto& [name, gpu] : books.gpus) {
        take_up(gpu);
    }
    thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

void QemuDriver::take_up(const Vm& vm) {
    if (vm.state != VmState::running) {
        return;  // what is on its way is looked for by its step
    }
    auto found = QemuVm::find(vm_folder_, {vm.name, vm.incarnation}, vm.slots());
    if (found && *found) {
        vms_.emplace(vm.name, std::move(*found));
    } else {
        lose({vm.name, vm.incarnation}, found ? "it does not run any more" : found.error().message);
    }
}

void QemuDriver::take_up(const Gpu& gpu) {
    const bool expected =
        is_held(gpu.state) || gpu.state == GpuState::free || gpu.state == GpuState::detaching;
    if (!expected) {
        return;
    }
    auto found = EmulatedBoard::find(board_environment_, {gpu.serial, gpu.epoch});
    if (found && *found) {
        boards_.emplace(gpu.serial, std::move(*found));
    } else {
        watcher_.board_failed(gpu.serial, gpu.epoch,
                              found ? "it has no power any more" : found.error().message);
    }
}

/// A VM whose monitor is lost is told of as ended, so that it has to be.
void QemuDriver::lose(const QemuVm::Id& id, std::string reason) {
    if (const auto ended = QemuVm::end(vm_folder_, id); !ended) {
        reason += "; " + ended.error().message;
    }
    watcher_.vm_ended(id.name, id.incarnation, std::move(reason));
}

void QemuDriver::watch(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        look_after();
        hotplug::Deadline::for_cleanup(watch_interval).pause(watch_interval);
    }
}

/// Tells of what was lost, once.
void QemuDriver::look_after() {
    std::vector<std::shared_ptr<QemuVm>> ended;
    std::vector<std::pair<BoardId, std::string>> broken;
    {
        const std::lock_guard lock(mutex_);
        std::erase_if(vms_, [&](const auto& entry) {
            if (entry.second->running()) {
                return false;
            }
            ended.push_back(entry.second);
            return true;
        });
        std::erase_if(boards_, [&](const auto& entry) {
            const auto failure = entry.second->failure();
            if (failure) {
                broken.emplace_back(entry.second->id(), *failure);
            }
            return failure.has_value();
        });
    }
    for (const auto& vm : ended) {
        lose(vm->id(), "QEMU has ended");
    }
    for (const auto& [id, reason] : broken) {
        watcher_.board_failed(id.serial, id.epoch, reason);
    }
}

hp::Result<void> QemuDriver::check_definition(const std::string& definition) const {
    return machine_of(definition).map([](const hotplug::MachineConfig&) {});
}

hp::Result<void> QemuDriver::check_profile(const std::string& profile) const {
    if (gpuemu::find_profile(profile) == nullptr) {
        return hp::fail(fmt::format(
            "there is no profile '{}': amdgpu-emu --list-profiles names them", profile));
    }
    return {};
}

tl::expected<std::string, StepFailure> QemuDriver::carry_out(const Step& step) {
    switch (step.kind) {
        case StepKind::scrub: return scrub(step);
        case StepKind::attach: return attach(step);
        case StepKind::detach: return detach(step);
        case StepKind::pull: return pull(step);
        case StepKind::start_vm: return start_vm(step);
        case StepKind::stop_vm: return stop_vm(step);
    }
    return failed(Blame::board, "nobody knows how");
}

std::shared_ptr<EmulatedBoard> QemuDriver::board_of(const Step& step) {
    const std::lock_guard lock(mutex_);
    const auto found = boards_.find(step.serial);
    return found != boards_.end() && found->second->id().epoch == step.epoch ? found->second
                                                                             : nullptr;
}

std::shared_ptr<QemuVm> QemuDriver::vm_of(const Step& step) {
    const std::lock_guard lock(mutex_);
    const auto found = vms_.find(step.vm);
    return found != vms_.end() && found->second->running() &&
                   found->second->id().incarnation == step.incarnation
               ? found->second
               : nullptr;
}

/// A cold reset: the power goes, and comes again under the new epoch.
QemuDriver::Done QemuDriver::scrub(const Step& step) {
    const BoardId id{.serial = step.serial, .epoch = step.epoch};
    {
        const std::lock_guard lock(mutex_);
        boards_.erase(step.serial);
    }
    for (const BoardId& other : EmulatedBoard::all(board_environment_)) {
        if (other.serial != id.serial || other == id) {
            continue;
        }
        if (auto off = EmulatedBoard::power_off(board_environment_, other); !off) {
            return failed(Blame::board, off.error().message);
        }
    }
    auto board = EmulatedBoard::power_on(board_environment_, id, step.profile, step.vram_mib);
    if (!board) {
        return failed(Blame::board, board.error().message);
    }
    const std::lock_guard lock(mutex_);
    boards_[step.serial] = std::move(*board);
    return "";
}

QemuDriver::Done QemuDriver::attach(const Step& step) {
    const auto board = board_of(step);
    if (!board) {
        return failed(Blame::board, "it has no power");
    }
    const auto vm = vm_of(step);
    if (!vm) {
        return failed(Blame::vm, "the vm does not run");
    }
    auto plugged = vm->plug(*board, step.slot);
    if (!plugged && !vm->running()) {
        return failed(Blame::vm, plugged.error().message);
    }
    return plugged;
}

QemuDriver::Done QemuDriver::detach(const Step& step) {
    const auto vm = vm_of(step);
    if (!vm) {
        return "the vm does not run";
    }
    const auto begin = hotplug::Deadline::Clock::now();
    if (auto out = vm->unplug(name_of_board(step), step.slot, detach_patience); !out) {
        return failed(vm->running() ? Blame::board : Blame::vm, out.error().message);
    }
    return fmt::format("remove {} ms", std::chrono::round<std::chrono::milliseconds>(
                                           hotplug::Deadline::Clock::now() - begin)
                                           .count());
}

QemuDriver::Done QemuDriver::pull(const Step& step) {
    const BoardId id{.serial = step.serial, .epoch = step.epoch};
    const auto begin = hotplug::Deadline::Clock::now();
    bool torn_out = false;
    if (const auto vm = step.vm.empty() ? nullptr : vm_of(step)) {
        bool out_of_it = vm->unplug(id.name(), step.slot, pull_patience).has_value();
        if (!out_of_it) {
            // One that is dark already, or has no emulator, is as good.
            (void)EmulatedBoard::go_dark(board_environment_, id);
            out_of_it =
                vm->wait_gone(id.name(), hotplug::Deadline::after(dark_patience)).has_value();
        }
        if (!out_of_it) {
            torn_out = true;
            if (auto out = vm->tear_out(id.name(), step.slot); !out && vm->running()) {
                return failed(Blame::board, out.error().message);
            }
        }
    }
    const auto out_in =
        std::chrono::round<std::chrono::milliseconds>(hotplug::Deadline::Clock::now() - begin);
    {
        const std::lock_guard lock(mutex_);
        boards_.erase(step.serial);
    }
    if (auto off = EmulatedBoard::power_off(board_environment_, id); !off) {
        return failed(Blame::board, off.error().message);
    }
    return fmt::format("remove {} ms{}", out_in.count(),
                       torn_out ? ", without the guest's consent" : "");
}

QemuDriver::Done QemuDriver::start_vm(const Step& step) {
    const QemuVm::Id id{step.vm, step.incarnation};
    auto config = machine_of(step.definition);
    if (!config) {
        return failed(Blame::board, config.error().message);
    }
    config->qemu = qemu_;
    for (const QemuVm::Id& other : QemuVm::all(vm_folder_)) {
        if (other.name == id.name && other.incarnation != id.incarnation) {
            if (auto stopped = QemuVm::stop(vm_folder_, other); !stopped) {
                return failed(Blame::board, stopped.error().message);
            }
        }
    }
    const auto begin = hotplug::Deadline::Clock::now();
    auto vm = QemuVm::start(vm_folder_, id, *config, step.slots);
    if (!vm) {
        (void)QemuVm::stop(vm_folder_, id);  // the books say that it is stopped
        return failed(Blame::board, vm.error().message);
    }
    const std::lock_guard lock(mutex_);
    vms_[step.vm] = std::move(*vm);
    return fmt::format("up in {} ms", std::chrono::round<std::chrono::milliseconds>(
                                          hotplug::Deadline::Clock::now() - begin)
                                          .count());
}

QemuDriver::Done QemuDriver::stop_vm(const Step& step) {
    {
        // From now on its end is what was wanted. A QEMU has one monitor: ours goes first.
        const std::lock_guard lock(mutex_);
        vms_.erase(step.vm);
    }
    for (const QemuVm::Id& id : QemuVm::all(vm_folder_)) {
        if (id.name != step.vm) {
            continue;
        }
        if (auto stopped = QemuVm::stop(vm_folder_, id); !stopped) {
            return failed(Blame::vm, stopped.error().message);
        }
    }
    return "";
}

hp::Result<Inventory> QemuDriver::look() {
    Inventory found;
    for (const BoardId& id : EmulatedBoard::all(board_environment_)) {
        found.boards.emplace(id.serial, Inventory::Board{.epoch = id.epoch, .vm = {}});
    }
    std::map<std::string, std::shared_ptr<QemuVm>> vms;
    {
        const std::lock_guard lock(mutex_);
        vms = vms_;
    }
    for (const QemuVm::Id& id : QemuVm::all(vm_folder_)) {
        found.vms.emplace(id.name, id.incarnation);
    }
    for (const auto& [name, vm] : vms) {
        auto boards = vm->boards();
        if (!boards) {
            return tl::unexpected(boards.error());
        }
        for (const auto& [device, slot] : *boards) {
            const auto id = BoardId::parse(device);
            const auto board = found.boards.find(id->serial);
            if (board != found.boards.end() && board->second.epoch == id->epoch) {
                board->second.vm = name;
                board->second.slot = slot;
            }
        }
    }
    return found;
}

}  // namespace gpupool
