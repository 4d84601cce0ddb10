// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/loss/loss_gate.h"

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

/// What vanish_after() counts: what the driver and the engines do, in an order that a run repeats.
bool is_step(TraceKind kind) {
    switch (kind) {
        case TraceKind::mmio_read:
        case TraceKind::mmio_write:
        case TraceKind::doorbell_write:
        case TraceKind::dma_read:
        case TraceKind::dma_write: return true;
        default: return false;
    }
}

/// FNV-1a, a byte at a time.
uint64_t mix(uint64_t digest, uint64_t value) {
    for (unsigned shift = 0; shift < 64; shift += 8) {
        digest = (digest ^ ((value >> shift) & 0xff)) * 0x100000001b3;
    }
    return digest;
}
constexpr uint64_t empty_digest = 0xcbf29ce484222325;

bool is_dma(TraceKind kind) {
    return kind == TraceKind::dma_read || kind == TraceKind::dma_write;
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
    if (!lost()) {
        lose(at);
    }
    if (options_.on_vanish) {
        options_.on_vanish();
    }
}

void LossGate::vanish_after(uint64_t accesses) {
    vanish_after_ = accesses;
    prefix_.reset();
    if (accesses != 0) {
        prefix_ =
            Vanishing::Prefix{.accesses = 0, .digest = empty_digest, .cpu_digest = empty_digest};
    }
}

void LossGate::function_reset() {
    if (vanish_after_reset_ != 0) {
        vanish_after(std::exchange(vanish_after_reset_, 0));
    }
}

void LossGate::vanish_asleep() {
    vanish_asleep_ = true;
    fall_asleep();
}

/// The host may just have put the function to sleep.
void LossGate::fall_asleep() {
    if (vanish_asleep_ && !lost() && function_.asleep()) {
        vanish();
    }
}

void LossGate::lose(std::optional<Access> at) {
    const Vanishing how{.accesses = accesses_, .prefix = prefix_, .at = at};
    vanish_after(0);
    vanish_after_reset_ = 0;
    vanish_asleep_ = false;
    vanish_after_config_.reset();
    after_loss_ = {};
    first_after_loss_.clear();
    lost_at_ns_ = hp::monotonic_ns();
    set_state(State::ones, TraceKind::vanished);
    hp::log::info("device vanished", {{"accesses", accesses_}});
    if (observer_ != nullptr) {
        observer_->vanished(how);
    }
}

void LossGate::restore() {
    flaky_end_.cancel();
    if (options_.on_restore) {
        options_.on_restore();
    }
    if (host_ != nullptr) {
        function_.detach();
        function_.attach(*this);
    }
    set_state(State::present, TraceKind::restored);
    hp::log::info("device restored");
    if (observer_ != nullptr) {
        observer_->restored();
    }
}

hp::Result<void> LossGate::hang() {
    if (lost()) {
        return hp::fail("the device is gone; restore it first");
    }
    set_state(State::hung, TraceKind::hung);
    return {};
}

hp::Result<void> LossGate::resume() {
    if (lost()) {
        return hp::fail("the device is gone; restore it first");
    }
    set_state(State::present, TraceKind::resumed);
    return {};
}

hp::Result<void> LossGate::flaky(std::chrono::milliseconds duration) {
    if (lost()) {
        return hp::fail("the device is gone; restore it first");
    }
    before_flaky_ = state_;
    lose();
    flaky_end_ = loop_.after(duration, [this] {
        flaky_end_.cancel();
        set_state(before_flaky_, TraceKind::restored);
        if (observer_ != nullptr) {
            observer_->restored();
        }
    });
    return {};
}

void LossGate::reset_counters() {
    total_ = {};
    after_loss_ = {};
    first_after_loss_.clear();
    lost_at_ns_ = hp::monotonic_ns();
}

void LossGate::set_state(State state, TraceKind event) {
    state_ = state;
    engines_.set_paused(state != State::present);
    tell_presence();
    trace(event, no_region, 0, accesses_, 0);
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
        std::fill(out.begin(), out.end(), std::byte{0xff});
    }
    witness(kind, region, offset, out);
    if (region == Region::config && offset == vanish_after_config_ && !lost()) {
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
    host_ = &host;
    accesses_ = 0;
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
    function_.detach();
    host_ = nullptr;
    tell_presence();
    trace(TraceKind::detached, no_region, 0, accesses_, 0);
    hp::log::info("detached", {{"accesses", accesses_}});
    if (observer_ != nullptr) {
        observer_->detached();
    }
}

void LossGate::reset() {
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
    return window;
}

void LossGate::raise_msi(unsigned vector) {
    if (lost() || host_ == nullptr) {
        return;
    }
    uint64_t signals = 1;
    if (drop_interrupts_ > 0) {
        --drop_interrupts_;
        signals = 0;
    } else if (duplicate_interrupts_ > 0) {
        --duplicate_interrupts_;
        signals = 2;
    }
    for (uint64_t i = 0; i < signals; ++i) {
        host_->raise_msi(vector);
    }
    count(TraceKind::interrupt, no_region, vector, signals, 0);
}

/// The access about to be made has its number; if it is the one, the device is gone before it.
void LossGate::step(const Access& access) {
    if (!is_step(access.kind)) {
        return;
    }
    if (vanish_after_ != 0 && --vanish_after_ == 0) {
        vanish_at(access);
    }
    ++accesses_;
    if (!prefix_) {
        return;
    }
    ++prefix_->accesses;
    const auto kind = static_cast<uint64_t>(access.kind);
    if (is_dma(access.kind)) {
        prefix_->digest = mix(prefix_->digest, kind);
        return;
    }
    const uint64_t word = kind << 56 | static_cast<uint64_t>(access.region) << 48 | access.offset;
    prefix_->digest = mix(prefix_->digest, word);
    prefix_->cpu_digest = mix(prefix_->cpu_digest, word);
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
            first_after_loss_.push_back({.since_loss_ns = hp::monotonic_ns() - lost_at_ns_,
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
