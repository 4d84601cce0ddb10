// SPDX-License-Identifier: GPL-2.0
// Purpose: what is lost of a device, and how: whether it is there, and what becomes of its
// interrupts and of the time that its answers take. Thread: device loop only.
#pragma once

#include <chrono>
#include <cstdint>

#include "lib/result.h"

namespace gpuemu {

class LossState {
public:
    enum class Kind {
        present,
        ones,  // gone: reads are ones, writes, DMA and interrupts are lost
        hung,  // engines stand still, registers answer
    };

    Kind kind() const { return kind_; }
    bool lost() const { return kind_ == Kind::ones; }
    /// When it was last lost; CLOCK_MONOTONIC.
    uint64_t lost_at_ns() const { return lost_at_ns_; }

    /// Gone, at a time of CLOCK_MONOTONIC.
    void lose(uint64_t now_ns);
    /// Another board is there.
    void restore() { kind_ = Kind::present; }
    /// The same board is there again, as it was when it was lost.
    void come_back() { kind_ = before_loss_; }
    /// Until resume() or function_reset(); for good: no reset of the function helps.
    hp::Result<void> hang(bool for_good);
    /// The function was reset. True: that has ended a hang.
    bool function_reset();
    hp::Result<void> resume() { return change(Kind::present); }
    /// One clear error for a device that is gone.
    hp::Result<void> is_there() const;
    /// What is gone already counts as lost from this time on.
    void lost_from(uint64_t now_ns) { lost_at_ns_ = now_ns; }

    /// So many interrupts to come are lost; then so many are doubled.
    void drop_interrupts(uint64_t count) { drop_interrupts_ = count; }
    void duplicate_interrupts(uint64_t count) { duplicate_interrupts_ = count; }
    /// How often the next interrupt is sent: 0, 1 or 2 times.
    unsigned signals_of_interrupt();

    /// Gone as one that starts after a reset: a read of its Vendor ID is completed with Request
    /// Retry Status. Ends with the loss.
    void set_not_ready(bool not_ready) { not_ready_ = not_ready; }
    bool not_ready() const { return lost() && not_ready_; }

    /// How much later than it could be an access to a BAR is answered.
    void set_delay(std::chrono::microseconds delay) { delay_ = delay; }
    std::chrono::microseconds delay() const { return delay_; }

private:
    hp::Result<void> change(Kind kind);

    Kind kind_ = Kind::present;
    Kind before_loss_ = Kind::present;
    bool hung_for_good_ = false;
    bool not_ready_ = false;
    uint64_t lost_at_ns_ = 0;
    uint64_t drop_interrupts_ = 0;
    uint64_t duplicate_interrupts_ = 0;
    std::chrono::microseconds delay_{0};
};

}  // namespace gpuemu
