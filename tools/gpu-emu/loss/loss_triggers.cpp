// SPDX-License-Identifier: GPL-2.0
// Purpose: counts towards a loss, and digests what was counted. Thread: device loop only.
#include "gpu-emu/loss/loss_triggers.h"

#include <utility>

namespace gpuemu {
namespace {

/// What vanish_after() counts: what the driver does, and what the engines write, in an order that a
/// run repeats. What they read is not in it: an engine that waits looks again by a timer, so how
/// often it has looked is chance.
bool is_step(TraceKind kind) {
    switch (kind) {
        case TraceKind::mmio_read:
        case TraceKind::mmio_write:
        case TraceKind::doorbell_write:
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

}  // namespace

void LossTriggers::vanish_after(uint64_t accesses) {
    vanish_after_ = accesses;
    prefix_.reset();
    if (accesses != 0) {
        prefix_ =
            Vanishing::Prefix{.accesses = 0, .digest = empty_digest, .cpu_digest = empty_digest};
    }
}

void LossTriggers::function_reset() {
    if (vanish_after_reset_ != 0) {
        vanish_after(std::exchange(vanish_after_reset_, 0));
    }
}

bool LossTriggers::due_at(const Access& access) {
    if (access.kind == TraceKind::mmio_read &&
        access.region == static_cast<uint8_t>(Region::bar5) && access.offset == vanish_at_read_) {
        return true;
    }
    return is_step(access.kind) && vanish_after_ != 0 && --vanish_after_ == 0;
}

void LossTriggers::counted(const Access& access) {
    if (!is_step(access.kind)) {
        return;
    }
    ++accesses_;
    if (!prefix_) {
        return;
    }
    ++prefix_->accesses;
    const auto kind = static_cast<uint64_t>(access.kind);
    if (access.kind == TraceKind::dma_write) {
        prefix_->digest = mix(prefix_->digest, kind);
        return;
    }
    const uint64_t word = kind << 56 | static_cast<uint64_t>(access.region) << 48 | access.offset;
    prefix_->digest = mix(prefix_->digest, word);
    prefix_->cpu_digest = mix(prefix_->cpu_digest, word);
}

Vanishing LossTriggers::vanished(std::optional<Access> at) {
    const Vanishing how{.accesses = accesses_, .prefix = prefix_, .at = at};
    const uint64_t accesses = accesses_;
    *this = LossTriggers();
    accesses_ = accesses;
    return how;
}

}  // namespace gpuemu
