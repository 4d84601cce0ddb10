// SPDX-License-Identifier: GPL-2.0
// Purpose: NBIO: identity and straps, memory size, partition state, and the two windows into VRAM
// (MM_INDEX/MM_DATA) and SMN space (PCIE_INDEX2/PCIE_DATA2).
// Thread: device loop only.
// Does not model: changing the partition mode (see partitions.h), BACO, the ranges by which a
// doorbell finds its block (here the block that has it takes it), the RAS status of NBIO 2.3
// and 3.3, which they have elsewhere. Registers without a note are those of NBIO 7.9.0, which
// NBIO 2.3 and 3.3 have at the same places.
#pragma once

#include <cstdint>

#include "gpu-emu/device/register_file.h"
#include "gpu-emu/ip/ip_block.h"
#include "gpu-emu/ip/regs/registers.h"
#include "gpu-emu/mem/vram.h"
#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

class Nbio : public IpBlock {
public:
    Nbio(const Profile& profile, RegisterFile& registers, const Vram& vram);

    void reset(ResetKind kind) override;

    /// Whether doorbells get further than here.
    bool doorbells_pass() const;

    /// RAS_ATHUB_ERR_EVENT: a fatal error happened. Stays until the driver clears it.
    void latch_fatal_error();

private:
    void claim_vram_window();
    void claim_smn_window();
    void claim_ras_status();
    uint64_t smn_address() const;

    const Profile& profile_;
    const IpInstance& ip_;
    RegisterFile& registers_;
    const Vram& vram_;
    bool fatal_error_ = false;
};

}  // namespace gpuemu
