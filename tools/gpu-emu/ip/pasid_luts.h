// SPDX-License-Identifier: GPL-2.0
// Purpose: how an engine finds or says in OSSSYS whose VMID it is: IH_VMID_n_LUT, of which there is
// one for each node behind the index of OSSSYS 4.4.2, and just one in OSSSYS 5. The memory behind
// these registers is that of Ih. Thread: device loop only.
// Does not model: two users of the index at once, which the driver may be while it writes entries.
#pragma once

#include <cstdint>
#include <optional>

#include "gpu-emu/device/register_file.h"
#include "gpu-emu/ip/regs/registers.h"
#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

class PasidLuts {
public:
    PasidLuts(const IpInstance& osssys, RegisterFile& registers)
        : osssys_(osssys), registers_(registers) {}

    /// Nothing if that OSSSYS has one table for all.
    static std::optional<Reg> index(const IpInstance& osssys);

    /// `lut`: of VMID 0 of a kind of hub. The index is left as it was.
    uint16_t read(uint8_t node, Reg lut, unsigned vmid);
    void write(uint8_t node, Reg lut, unsigned vmid, uint16_t pasid);

private:
    uint32_t choose(uint32_t node);  // returns the node of before

    const IpInstance& osssys_;
    RegisterFile& registers_;
};

}  // namespace gpuemu
