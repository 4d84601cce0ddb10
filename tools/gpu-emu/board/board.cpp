// SPDX-License-Identifier: GPL-2.0
// Purpose: puts a board together, from the inside out. Thread: device loop only.
#include "gpu-emu/board/board.h"

#include <utility>

#include "lib/clock.h"

namespace gpuemu {

Board::Board(hp::EventLoop& loop, Options options) : loop_(loop), options_(std::move(options)) {
    loop_.set_idle_work([this] {
        const bool fills = gpu_ && gpu_->fill_vram();
        const auto turn = engines_.turn();
        return fills ? hp::EventLoop::Idle::more : turn;
    });
    if (!options_.trace.empty()) {
        trace_.emplace(options_.trace, options_.profile.name);
    }
    make_device();
    PciFunction& function = gpu_ ? static_cast<PciFunction&>(*gpu_) : *black_hole_;
    gate_.emplace(function, engines_, loop_, gate_options());
    if (options_.black_hole) {
        gate_->vanish();
    }
    if (gpu_) {
        gpu_->set_reset_witness({.asked = [this] { gate_->function_reset_asked(); },
                                 .done = [this] { gate_->function_reset_done(); }});
    }
    if (gpu_ && !options_.pcie_switch.empty()) {
        switch_port_.emplace(*gate_, *gpu_, loop_, options_.pcie_switch, options_.node);
        switch_port_->open(gpu_->vram());
    }
    if (!options_.control.empty()) {
        control_.emplace(loop_, options_.control, static_cast<Controllable&>(*this));
    }
    PciFunction& outermost = switch_port_ ? static_cast<PciFunction&>(*switch_port_) : *gate_;
    server_.emplace(
        loop_, outermost, options_.socket,
        VfioUserConnection::Options{.bar_delay = [this] { return gate_->loss().delay(); }});
}

Board::~Board() {
    loop_.set_idle_work({});
}

void Board::make_device() {
    if (options_.black_hole) {
        black_hole_ = std::make_unique<BlackHole>(options_.profile);
        return;
    }
    if (options_.profile.hive.in_hive()) {
        hive_.emplace(loop_, options_.hive, options_.profile.hive);
    }
    gpu_ = std::make_unique<Gpu>(options_.profile,
                                 Gpu::Options{.map_vram = options_.map_vram,
                                              .eeprom_path = options_.eeprom,
                                              .peers = hive_ ? &*hive_ : nullptr,
                                              .loop = &loop_,
                                              .reset_time = options_.reset_time,
                                              .tlb = options_.tlb},
                                 engines_);
    if (hive_) {
        hive_->open(gpu_->vram());
    }
    if (trace_) {
        gpu_->set_mutation_witness([this](const Mutation& mutation) {
            trace_->record(trace_record(mutation, hp::monotonic_ns()));
        });
    }
}

LossGate::Options Board::gate_options() {
    return {.trace = trace(),
            .on_vanish =
                [this] {
                    if (gpu_) {
                        gpu_->turn_vram_to_ones();
                    }
                },
            .on_presence =
                [this](bool present) {
                    if (hive_) {
                        hive_->set_present(present);
                    }
                    if (switch_port_) {
                        switch_port_->set_present(present);
                    }
                },
            .on_restore =
                [this] {
                    if (gpu_) {
                        gpu_->make_honest();
                    }
                },
            .config_survives = options_.black_hole};
}

std::string Board::register_name(uint32_t dword) const {
    return Gpu::register_name(options_.profile, dword);
}

DeviceStatus Board::device_status() const {
    DeviceStatus status;
    if (gpu_) {
        status.unknown_registers = gpu_->registers().unknown_reads().size();
        status.read_only_writes = gpu_->registers().read_only_writes().size();
        status.engines = gpu_->describe();
        status.mutations = gpu_->mutations();
        for (std::size_t i = 0; i < surface_count; ++i) {
            status.lied_about[i] = gpu_->lied_about(Surface{static_cast<uint8_t>(i)});
        }
    }
    if (hive_) {
        status.hive = hive_->status();
    }
    if (switch_port_) {
        status.pcie_switch = switch_port_->status();
    }
    return status;
}

hp::Result<void> Board::inject(RasBlock block, RasSeverity severity) {
    return gpu_->inject(block, severity);
}

void Board::interrupt(const InterruptEntry& entry) {
    gpu_->interrupt(entry);
}

hp::Result<void> Board::notify_guest(HostNotification what) {
    return gpu_->notify_guest(what);
}

hp::Result<void> Board::make_hostile(uint64_t seed, std::span<const Surface> surfaces,
                                     uint64_t rate) {
    return gpu_->make_hostile(seed, surfaces, rate);
}

void Board::shift_fences(WriteBack fence, uint32_t more, uint64_t count) {
    gpu_->shift_fences(fence, more, count);
}

hp::Result<void> Board::falsify_discovery(DiscoveryField field, uint16_t value) {
    return gpu_->falsify_discovery(field, value);
}

void Board::silence_smu(uint64_t messages) {
    gpu_->silence_smu(messages);
}

void Board::silence_boot_loader(uint64_t commands) {
    gpu_->silence_boot_loader(commands);
}

void Board::falsify_wptr(uint32_t value) {
    gpu_->falsify_wptr(value);
}

hp::Result<void> Board::poison_vram() {
    if (!gpu_) {
        return hp::fail("this device has no VRAM");
    }
    gpu_->poison_vram();
    return {};
}

hp::Result<uint64_t> Board::count_in_vram(uint32_t word) {
    if (!gpu_) {
        return hp::fail("this device has no VRAM");
    }
    return gpu_->vram().count_resident(word);
}

}  // namespace gpuemu
