// SPDX-License-Identifier: GPL-2.0
// Purpose: the SMU of Navi 21 (MP1 11.0.7): its messages, the tables that it hands out, MODE1
// reset. Thread: device loop only. Does not model: changing clocks and power (what the driver asks
// for is accepted and forgotten), I2C, overdrive, GFXOFF, the tools and log tables; BACO and MODE2
// reset, whose messages are refused.
#pragma once

#include <cstdint>
#include <functional>

#include "gpu-emu/ip/smu_mailbox.h"

namespace gpuemu {

class Smu11 : public SmuMailbox {
public:
    /// The video engines on or off: a VCN instance without JPEG, and all of JPEG.
    struct VideoPower {
        std::function<void(unsigned instance, bool on)> vcn;
        std::function<void(bool on)> jpeg;
    };

    /// `mode1_reset`: of the whole ASIC; may be carried out later.
    Smu11(Context context, std::function<void()> mode1_reset, VideoPower video_power);

private:
    Answer answer(uint32_t message, uint32_t argument) override;
    bool transfer_to_dram(uint32_t table);

    std::function<void()> mode1_reset_;
    VideoPower video_power_;
};

}  // namespace gpuemu
