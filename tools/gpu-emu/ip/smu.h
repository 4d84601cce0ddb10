// SPDX-License-Identifier: GPL-2.0
// Purpose: the SMU (MP1 13.0.6): its messages, the metrics table, I2C transfers to the EEPROM, the
// read-out of ACA banks, resets. Later ones of its line (13.0.12) answer what they have other.
// Thread: device loop only.
// Does not model: changing clocks and power (limits are accepted and forgotten) and tools and log
// tables; the static metrics table, the ECC table, debug data, GFXOFF, FW RAS EEPROM, whose
// messages are refused as those of an older firmware are.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "gpu-emu/device/register_file.h"
#include "gpu-emu/hostile/mutator.h"
#include "gpu-emu/ip/eeprom.h"
#include "gpu-emu/ip/ras.h"
#include "gpu-emu/ip/smu_mailbox.h"
#include "gpu-emu/mem/gpu_memory.h"
#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

class Smu : public SmuMailbox {
public:
    struct Context {
        const Profile& profile;
        RegisterFile& registers;
        GpuMemory& memory;
        Eeprom& eeprom;
        Ras& ras;
        std::function<void()> mode1_reset;         // the whole ASIC; may be carried out later
        std::function<void()> mode2_reset;         // GC and SDMA; may be carried out later
        std::function<void()> mode4_reset;         // as of the link; may be carried out later
        std::function<void(uint32_t)> sdma_reset;  // mask of instances; may be carried out later
        std::function<void(uint32_t)> vcn_reset;   // likewise
        std::function<uint64_t()> gpu_clock;
        Mutator& mutator;
    };

    explicit Smu(Context context);

protected:
    Answer answer(uint32_t message, uint32_t argument) override;
    const Context& context() const { return context_; }
    /// False: not all of the mask is there, or it is empty.
    bool reset_vcn(uint32_t instances);

private:
    static uint32_t dpm_frequency(uint32_t argument);
    bool export_metrics();
    bool transfer_i2c();
    bool reset_asic(uint32_t type);
    bool reset_sdma(uint32_t instances);

    Context context_;
    uint32_t accumulation_counter_ = 0;
};

}  // namespace gpuemu
