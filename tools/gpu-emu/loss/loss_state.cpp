// SPDX-License-Identifier: GPL-2.0
// Purpose: the changes of LossState. Thread: device loop only.
#include "gpu-emu/loss/loss_state.h"

namespace gpuemu {

void LossState::lose(uint64_t now_ns) {
    before_loss_ = kind_;
    kind_ = Kind::ones;
    lost_at_ns_ = now_ns;
}

hp::Result<void> LossState::hang(bool for_good) {
    const auto done = change(Kind::hung);
    if (done) {
        hung_for_good_ = for_good;
    }
    return done;
}

bool LossState::function_reset() {
    const bool ended = kind_ == Kind::hung && !hung_for_good_;
    if (ended) {
        kind_ = Kind::present;
    }
    return ended;
}

hp::Result<void> LossState::is_there() const {
    if (lost()) {
        return hp::fail("the device is gone; restore it first");
    }
    return {};
}

hp::Result<void> LossState::change(Kind kind) {
    const auto there = is_there();
    if (there) {
        kind_ = kind;
    }
    return there;
}

unsigned LossState::signals_of_interrupt() {
    if (drop_interrupts_ > 0) {
        --drop_interrupts_;
        return 0;
    }
    if (duplicate_interrupts_ > 0) {
        --duplicate_interrupts_;
        return 2;
    }
    return 1;
}

}  // namespace gpuemu
