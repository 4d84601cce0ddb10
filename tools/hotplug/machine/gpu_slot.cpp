// SPDX-License-Identifier: GPL-2.0
// Purpose: see gpu_slot.h.
// Thread: see gpu_slot.h.
#include "hotplug/machine/gpu_slot.h"

#include <fmt/format.h>

#include <algorithm>

#include "hotplug/machine/hot_add.h"
#include "hotplug/machine/pcie_switch.h"

namespace hotplug {

namespace {

using nlohmann::json;

// Device numbers on pcie.0. 0x0 and 0x1f are q35's own, 0x3 is the agent's virtio-serial. The first
// eight slots have devices of their own; those behind them are further functions of these.
constexpr unsigned first_port = 0x4;
constexpr unsigned first_hole = 0x10;
constexpr unsigned devices = 8;
constexpr unsigned functions = 8;  // of a device, by the bus's rules
static_assert(GpuSlot::max_slots <= devices * functions);
static_assert(first_port + devices <= first_hole);
static_assert(first_hole + devices <= 0x1f);

unsigned device_of(unsigned slot) {
    return slot % devices;
}

unsigned function_of(unsigned slot) {
    return slot / devices;
}

// Room for any board that is plugged later: the guest does not enlarge the windows above a hot-plug
// port. That of the registers is below 4 GiB, where SeaBIOS has 1 GiB less ECAM and chip set for
// all of them and for the black holes; the boards have 2 MiB there. The other windows are above
// memory, in the 1 TiB of the 40 address bits that a CPU of TCG has.
constexpr uint64_t prefetchable_window = 8ull << 30;
constexpr uint64_t register_window = 16ull << 20;
static_assert(GpuSlot::max_slots * register_window <= 512ull << 20);

/// "0x4", "0x4.1"
std::string address_on_bus(unsigned first, unsigned slot) {
    const unsigned function = function_of(slot);
    const std::string device = fmt::format("{:#x}", first + device_of(slot));
    return function == 0 ? device : fmt::format("{}.{}", device, function);
}

}  // namespace

std::string GpuSlot::device_id() const {
    std::string name = fmt::format("{}{}", has_gpu() ? "gpu" : "control", index_);
    return generation_ == 0 ? name : fmt::format("{}-{}", name, generation_);
}

hp::Result<std::string> GpuSlot::bdf() {
    auto bus = port_->secondary_bus();
    if (!bus) {
        return tl::unexpected(bus.error());
    }
    return fmt::format("0000:{:02x}:00.0", *bus);
}

EmulatorSpec GpuSlot::spec(const std::string& name, const GpuOptions& gpu) const {
    EmulatorSpec spec;
    spec.name = name;
    spec.program = environment_.emulator;
    spec.socket_dir = environment_.socket_dir;
    spec.log_dir = environment_.log_dir;
    spec.gpu = gpu;
    spec.node = index_;
    spec.behind_switch = environment_.behind_switch;
    return spec;
}

hp::Result<void> GpuSlot::start_emulators(uint64_t largest_vram_mib, Deadline deadline) {
    if (!has_gpu()) {
        return {};
    }
    auto gpu = EmulatorProcess::start(spec(device_id(), config_.gpu), deadline);
    if (!gpu) {
        return tl::unexpected(gpu.error());
    }
    gpu_ = std::move(*gpu);

    EmulatorSpec hole_spec = spec(fmt::format("hole{}", index_), config_.gpu);
    hole_spec.black_hole = true;
    hole_spec.gpu.device_id.reset();
    hole_spec.gpu.vram_mib = std::max(config_.gpu.vram_mib.value_or(0), largest_vram_mib);
    auto hole = EmulatorProcess::start(std::move(hole_spec), deadline);
    if (!hole) {
        return tl::unexpected(hole.error());
    }
    hole_ = std::move(*hole);
    return {};
}

void GpuSlot::attach(QmpClient& qmp, QtestClient& qtest) {
    qmp_ = &qmp;
    port_ = environment_.behind_switch
                ? std::make_unique<SlotPort>(qtest, DownstreamPort{switch_root_port, index_})
                : std::make_unique<SlotPort>(qtest, first_port + device_of(index_),
                                             function_of(index_));
    if (has_gpu()) {
        black_hole_ =
            std::make_unique<BlackHole>(qtest, first_hole + device_of(index_), function_of(index_));
    }
    plugged_ = config_.device != SlotDevice::empty;
}

json GpuSlot::board() const {
    switch (config_.device) {
        case SlotDevice::empty: break;
        case SlotDevice::gpu:
            return vfio_user_device(device_id(), port_id(), gpu_->vfio_user_socket());
        case SlotDevice::nvme:
            return {{"driver", "nvme"},
                    {"id", device_id()},
                    {"bus", port_id()},
                    {"serial", fmt::format("control{}", index_)},
                    {"drive", fmt::format("disk{}", index_)}};
        case SlotDevice::edu: return {{"driver", "edu"}, {"id", device_id()}, {"bus", port_id()}};
    }
    return nullptr;
}

json GpuSlot::second_function() const {
    const bool audio = *second_function_ == SecondFunction::audio;
    return {{"driver", audio ? "intel-hda" : "pci-testdev"},
            {"id", device_id() + ".1"},
            {"bus", port_id()},
            {"addr", "0x0.0x1"}};
}

json GpuSlot::port_object() const {
    if (environment_.behind_switch) {
        return {
            {"driver", "xio3130-downstream"},       {"id", port_id()},       {"bus", switch_bus},
            {"addr", fmt::format("{:#x}", index_)}, {"chassis", index_ + 1}, {"slot", index_ + 1}};
    }
    return {{"driver", "pcie-root-port"},
            {"id", port_id()},
            {"bus", "pcie.0"},
            {"addr", address_on_bus(first_port, index_)},
            {"chassis", index_ + 1},
            {"slot", index_ + 1},
            {"pref64-reserve", prefetchable_window},
            {"mem-reserve", register_window}};
}

std::vector<std::string> GpuSlot::qemu_devices(size_t slots) const {
    json port = port_object();
    // Function 0 has to say that there are others; one more look at each is all that it costs.
    const bool shared = slots > devices && function_of(index_) == 0;
    if (shared) {
        port["multifunction"] = true;
    }
    std::vector<std::string> objects{port.dump()};
    if (config_.device != SlotDevice::empty) {
        objects.push_back(board().dump());
    }
    if (has_gpu()) {
        json hole =
            vfio_user_device(fmt::format("hole{}", index_), "pcie.0", hole_->vfio_user_socket());
        hole["addr"] = address_on_bus(first_hole, index_);
        if (shared) {
            hole["multifunction"] = true;
        }
        objects.push_back(hole.dump());
    }
    return objects;
}

hp::Result<bool> GpuSlot::black_hole_displaced() {
    if (!black_hole_ || !plugged_) {
        return false;
    }
    auto bus = port_->secondary_bus();
    if (!bus) {
        return tl::unexpected(bus.error());
    }
    auto addresses = black_hole_->addresses_of(*bus);
    if (!addresses) {
        return tl::unexpected(addresses.error());
    }
    return !black_hole_->lies_under(*addresses);
}

hp::Result<void> GpuSlot::lay_black_hole(const std::vector<SlotPort*>& ports) {
    auto bus = port_->secondary_bus();
    if (!bus) {
        return tl::unexpected(bus.error());
    }
    auto addresses = black_hole_->addresses_of(*bus);
    if (!addresses) {
        return tl::unexpected(addresses.error());
    }
    return black_hole_->lay_under(*addresses, ports);
}

hp::Result<void> GpuSlot::stop() {
    hp::Result<void> result;
    for (EmulatorProcess* emulator : {gpu_.get(), hole_.get()}) {
        if (!emulator) {
            continue;
        }
        if (auto stopped = emulator->stop(); !stopped) {
            result = stopped;
        }
    }
    return result;
}

hp::Result<void> GpuSlot::prepare_board(const Replacement& replacement, Deadline deadline) {
    if (plugged_) {
        return hp::fail(fmt::format("slot {} still holds {}", index_, device_id()));
    }
    ++generation_;
    second_function_ = replacement.second_function;
    if (!has_gpu()) {
        return {};
    }
    if (!replacement.needs_new_emulator()) {
        return gpu_->control().restore();
    }
    config_.gpu.device_id = replacement.device_id ? replacement.device_id : config_.gpu.device_id;
    config_.gpu.vram_mib = replacement.vram_mib ? replacement.vram_mib : config_.gpu.vram_mib;
    config_.gpu.serial = replacement.serial ? replacement.serial : config_.gpu.serial;
    auto stray = stray_dma();
    if (!stray) {
        return tl::unexpected(stray.error());
    }
    stray_dma_before_ = std::move(*stray);
    // The old board's process ends before the new one's begins.
    if (auto stopped = gpu_->stop(); !stopped) {
        return stopped;
    }
    auto gpu = EmulatorProcess::start(spec(device_id(), config_.gpu), deadline);
    if (!gpu) {
        return tl::unexpected(gpu.error());
    }
    gpu_ = std::move(*gpu);
    return {};
}

hp::Result<void> GpuSlot::plug() {
    // Function 0 comes last: it is what makes the slot report a board.
    json gpu = board();
    std::vector<json> functions;
    if (second_function_) {
        gpu["multifunction"] = true;
        functions.push_back(second_function());
    }
    functions.push_back(std::move(gpu));
    return hot_add(*qmp_, *port_, functions, plugged_);
}

hp::Result<void> GpuSlot::press_button() {
    if (auto pressed = qmp_->execute("device_del", {{"id", device_id()}}); !pressed) {
        return tl::unexpected(pressed.error());
    }
    return {};
}

std::optional<Deadline::Clock::time_point> GpuSlot::deleted() {
    auto event = qmp_->find_event(0, device_deleted(device_id()));
    if (!event) {
        return std::nullopt;
    }
    plugged_ = false;
    return event->received;
}

hp::Result<void> GpuSlot::reset_counters() {
    for (EmulatorProcess* emulator : {gpu_.get(), hole_.get()}) {
        if (!emulator) {
            continue;
        }
        if (auto counters = emulator->control().counters(true); !counters) {
            return tl::unexpected(counters.error());
        }
    }
    return {};
}

hp::Result<StrayDma> GpuSlot::stray_dma() {
    if (!has_gpu()) {
        return StrayDma{};
    }
    return gpu_->control().counters().map([this](EmulatorCounters counters) {
        StrayDma all = stray_dma_before_;
        all.count += counters.stray_dma.count;
        all.first.insert(all.first.end(), counters.stray_dma.first.begin(),
                         counters.stray_dma.first.end());
        return all;
    });
}

hp::Result<uint64_t> GpuSlot::accesses() {
    auto server = gpu_->control().counters();
    auto hole = hole_->control().counters();
    if (!server || !hole) {
        return tl::unexpected(server ? hole.error() : server.error());
    }
    return server->total.bar_accesses() + hole->total.bar_accesses();
}

hp::Result<AbsentAccesses> GpuSlot::absent_accesses() {
    AbsentAccesses accesses;
    if (!has_gpu()) {
        return accesses;
    }
    auto server = gpu_->control().counters();
    auto hole = hole_->control().counters();
    if (!server || !hole) {
        return tl::unexpected(server ? hole.error() : server.error());
    }
    accesses.server_counts = server->after_loss;
    accesses.black_hole_counts = hole->total;
    accesses.server = server->after_loss.bar_accesses();
    accesses.black_hole = hole->total.bar_accesses();
    accesses.first = std::move(server->first_after_loss);
    accesses.first.insert(accesses.first.end(), hole->first_after_loss.begin(),
                          hole->first_after_loss.end());
    return accesses;
}

}  // namespace hotplug
