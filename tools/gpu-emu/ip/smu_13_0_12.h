// SPDX-License-Identifier: GPL-2.0
// Purpose: the SMU of MI350 (MP1 13.0.12): what its messages and tables have other than those of
// 13.0.6. Metrics are of another form, what does not change is in a table of its own, and with it
// the product data, for which there is no FRU EEPROM; a third table is about the board.
// Thread: device loop only.
// Does not model: the RAS EEPROM behind the firmware (its feature is off, so that the driver goes
// over I2C), a fast PPT limit, and what smu.h does not.
#pragma once

#include <cstdint>

#include "gpu-emu/ip/smu.h"

namespace gpuemu {

class Smu13_0_12 : public Smu {
public:
    using Smu::Smu;

private:
    Answer answer(uint32_t message, uint32_t argument) override;
    bool write_metrics();
    bool write_static_metrics();
    bool write_system_metrics();

    uint64_t accumulation_counter_ = 0;
};

}  // namespace gpuemu
