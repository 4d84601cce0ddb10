// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/loss/loss_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "lib/clock.h"
#include "lib/log.h"

namespace gpuemu {
namespace {

/// BAR0 is VRAM, BAR2 doorbells and BAR5 registers on every GPU of the family
/// (amdgpu_device_init()).
TraceKind read_kind(Region region) {
    switch (region) {
        case Region::bar0: return TraceKind::vram_read;
        case Region::config: return TraceKind::config_read;
        default: return TraceKind::mmio_read;
    }
}

TraceKind write_kind(Region region) {
    switch (region) {
        case Region::bar0: return TraceKind::vram_write;
        case Region::bar2: return TraceKind::doorbell_write;
        case Region::config: return TraceKind::config_write;
        default: return TraceKind::mmio_write;
    }
}

}  // namespace

LossGate::LossGate(PciFunction& function, EngineScheduler& engines, hp::EventLoop& loop,
                   Options options)
    : function_(function), engines_(engines), loop_(loop), options_(std::move(options)) {
    first_after_loss_.reserve(first_accesses_kept);
}

void LossGate::vanish() {
    vanish_at(std::nullopt);
}

void LossGate::vanish_at(std::optional<Access> at) {
    flaky_end_.cancel();  // if it was only away for a while, it stays away now
    loss_.set_not_ready(false);
    if (!lost()) {
        lose(at);
    }
    if (options_.on_vanish) {
        options_.on_vanish();
    }
}

void LossGate::vanish_asleep() {
    triggers_.vanish_asleep();
    fall_asleep();
}

/// The host may just have put the function to sleep.
void LossGate::fall_asleep() {
    if (triggers_.due_asleep() && !lost() && function_.asleep()) {
        vanish();
    }
}

void LossGate::lose(std::optional<Access> at) {
    const Vanishing how = triggers_.vanished(at);
    after_loss_ = {};
    first_after_loss_.clear();
    loss_.lose(hp::monotonic_ns());
    tell_state(TraceKind::vanished);
    hp::log::info("device vanished", {{"accesses", how.accesses}});
    if (observer_ != nullptr) {
        observer_->vanished(how);
    }
}

void LossGate::restore() {
    flaky_end_.cancel();
    loss_.set_not_ready(false);
    if (options_.on_restore) {
        options_.on_restore();
    }
    if (host_ != nullptr) {
        function_.detach();
        function_.attach(*this);
    }
    loss_.restore();
    set_lateness(std::chrono::microseconds(0));
    tell_state(TraceKind::restored);
    hp::log::info("device restored");
    if (observer_ != nullptr) {
        observer_->restored();
    }
}

hp::Result<void> LossGate::hang(bool for_good) {
    const auto done = loss_.hang(for_good);
    if (done) {
        tell_state(TraceKind::hung);
    }
    return done;
}

void LossGate::function_reset_done() {
    if (loss_.function_reset()) {
        tell_state(TraceKind::resumed);
        hp::log::info("a reset has ended the hang");
    }
}

hp::Result<void> LossGate::resume() {
    const auto done = loss_.resume();
    if (done) {
        tell_state(TraceKind::resumed);
    }
    return done;
}

hp::Result<void> LossGate::flaky(std::chrono::milliseconds duration) {
    if (const auto there = loss_.is_there(); !there) {
        return there;
    }
    lose();
    flaky_end_ = loop_.after(duration, [this] {
        flaky_end_.cancel();
        loss_.set_not_ready(false);
        loss_.come_back();
        tell_state(TraceKind::restored);
        if (observer_ != nullptr) {
            observer_->restored();
        }
    });
    return {};
}

hp::Result<void> LossGate::not_ready(std::chrono::milliseconds duration) {
    const auto done = flaky(duration);
    if (done) {
        loss_.set_not_ready(true);
    }
    return done;
}

void LossGate::answer_for_lost(Region region, uint64_t offset, std::span<std::byte> out) const {
    std::fill(out.begin(), out.end(), std::byte{0xff});
    if (loss_.not_ready() && region == Region::config && offset == 0 && out.size() >= 2) {
        out[0] = std::byte{0x01};
        out[1] = std::byte{0x00};
    }
}

void LossGate::reset_counters() {
    total_ = {};
    after_loss_ = {};
    first_after_loss_.clear();
    loss_.lost_from(hp::monotonic_ns());
}

void LossGate::tell_state(TraceKind event) {
    thread_.check();
    using Pause = EngineScheduler::Pause;
    engines_.set_pause(lost()                        ? Pause::all
                       : loss_.kind() == State::hung ? Pause::hung
                                                     : Pause::none);
    tell_presence();
    trace(event, no_region, 0, triggers_.accesses(), 0);
}

void LossGate::tell_presence() {
    const bool present = host_ != nullptr && !lost();
    if (present != present_ && options_.on_presence) {
        options_.on_presence(present);
    }
    present_ = present;
}

void LossGate::read(Region region, uint64_t offset, std::span<std::byte> out) {
    const TraceKind kind = read_kind(region);
    step({kind, static_cast<uint8_t>(region), offset});
    if (answers(region)) {
        function_.read(region, offset, out);
    } else {
        answer_for_lost(region, offset, out);
    }
    witness(kind, region, offset, out);
    if (region == Region::config && triggers_.due_behind_config_read(offset) && !lost()) {
        vanish();
    }
}

void LossGate::write(Region region, uint64_t offset, std::span<const std::byte> in) {
    const TraceKind kind = write_kind(region);
    step({kind, static_cast<uint8_t>(region), offset});
    // Noted first: what the write brings about (DMA, interrupts) comes behind it in the trace.
    witness(kind, region, offset, in);
    if (answers(region)) {
        function_.write(region, offset, in);
    }
    if (region == Region::config) {
        fall_asleep();
    }
}

void LossGate::attach(PciHost& host) {
    thread_.check();
    host_ = &host;
    triggers_.attached();
    ++attachments_;
    trace(TraceKind::attached, no_region, 0, attachments_, 0);
    function_.attach(*this);
    tell_presence();
    hp::log::info("attached", {{"attachments", attachments_}});
    if (observer_ != nullptr) {
        observer_->attached();
    }
}

void LossGate::detach() {
    thread_.check();
    function_.detach();
    host_ = nullptr;
    tell_presence();
    trace(TraceKind::detached, no_region, 0, triggers_.accesses(), 0);
    hp::log::info("detached", {{"accesses", triggers_.accesses()}});
    if (observer_ != nullptr) {
        observer_->detached();
    }
}

void LossGate::reset() {
    thread_.check();
    trace(TraceKind::reset, no_region, 0, 0, 0);
    if (!lost()) {
        function_.reset();
    }
}

std::span<std::byte> LossGate::dma(uint64_t iova, uint64_t length, DmaAccess access) {
    const TraceKind kind = access == DmaAccess::read ? TraceKind::dma_read : TraceKind::dma_write;
    if (lost() || host_ == nullptr) {
        return {};
    }
    step({kind, no_region, iova});
    if (lost()) {
        return {};
    }
    const std::span<std::byte> window = host_->dma(iova, length, access);
    count(kind, no_region, iova, length, static_cast<uint32_t>(window.size()));
    if (window.empty() && length != 0) {
        note_stray(iova, length, access);
    }
    return window;
}

void LossGate::note_stray(uint64_t iova, uint64_t length, DmaAccess access) {
    hp::log::warning("DMA to where the client has mapped nothing",
                     {{"address", fmt::format("{:#x}", iova)},
                      {"length", length},
                      {"access", access == DmaAccess::write ? "write" : "read"}});
    ++stray_dma_.count;
    if (stray_dma_.first.size() < first_accesses_kept) {
        stray_dma_.first.push_back(
            {.time_ns = hp::monotonic_ns(), .access = access, .address = iova, .length = length});
    }
}

bool LossGate::raise_msi(unsigned vector) {
    thread_.check();
    if (lost() || host_ == nullptr) {
        return false;
    }
    const unsigned signals = loss_.signals_of_interrupt();
    unsigned received = 0;
    for (unsigned i = 0; i < signals; ++i) {
        received += host_->raise_msi(vector) ? 1 : 0;
    }
    if (received == 0) {
        trace(TraceKind::interrupt, no_region, vector, 0, 0);
        return false;
    }
    count(TraceKind::interrupt, no_region, vector, received, 0);
    return true;
}

/// The access about to be made has its number; if it is the one, the device is gone before it.
void LossGate::step(const Access& access) {
    thread_.check();
    if (triggers_.due_at(access)) {
        vanish_at(access);
    }
    triggers_.counted(access);
}

void LossGate::witness(TraceKind kind, Region region, uint64_t offset,
                       std::span<const std::byte> data) {
    uint64_t value = 0;
    std::memcpy(&value, data.data(), std::min(data.size(), sizeof value));
    count(kind, static_cast<uint8_t>(region), offset, value, static_cast<uint32_t>(data.size()));
}

void LossGate::count(TraceKind kind, uint8_t region, uint64_t offset, uint64_t value,
                     uint32_t size) {
    const auto index = static_cast<size_t>(kind);
    ++total_[index];
    if (lost()) {
        ++after_loss_[index];
        const bool config = kind == TraceKind::config_read || kind == TraceKind::config_write;
        if (!config && first_after_loss_.size() < first_accesses_kept) {
            first_after_loss_.push_back({.since_loss_ns = hp::monotonic_ns() - loss_.lost_at_ns(),
                                         .kind = kind,
                                         .region = region,
                                         .offset = offset});
        }
    }
    trace(kind, region, offset, value, size);
}

void LossGate::trace(TraceKind kind, uint8_t region, uint64_t offset, uint64_t value,
                     uint32_t size) {
    if (options_.trace != nullptr) {
        options_.trace->record({.time_ns = hp::monotonic_ns(),
                                .offset = offset,
                                .value = value,
                                .size = size,
                                .kind = kind,
                                .region = region,
                                .flags = 0});
    }
}

}  // namespace gpuemu
