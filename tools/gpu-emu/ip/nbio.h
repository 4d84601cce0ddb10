// SPDX-License-Identifier: GPL-2.0
// Purpose: NBIO: identity and straps, memory size, partition state, and the two windows into VRAM
// (MM_INDEX/MM_DATA) and SMN space (PCIE_INDEX2/PCIE_DATA2).
// Thread: device loop only.
// Does not model: changing the partition mode (see partitions.h), BACO, the routes of doorbells
// behind NBIO (S2A_DOORBELL_ENTRY_n), the RAS status of NBIO 2.3 and 3.3, which they have
// elsewhere. Registers without a note are those of NBIO 7.9.0, which NBIO 2.3 and 3.3 have at the
// same places.
#pragma once

#include <cstdint>
#include <optional>

#include "gpu-emu/device/register_file.h"
#include "gpu-emu/ip/doorbell_route.h"
#include "gpu-emu/ip/ip_block.h"
#include "gpu-emu/ip/regs/registers.h"
#include "gpu-emu/mem/vram.h"
#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

class Nbio : public IpBlock {
public:
    Nbio(const Profile& profile, RegisterFile& registers, const Vram& vram);

    void reset(ResetKind kind) override;

    /// Whether a read of this register is one of VRAM.
    bool shows_vram(uint32_t dword) const;

    /// Whether doorbells get further than here.
    bool doorbells_pass() const;
    /// Assumed: by the ranges that the driver sets. Nothing: whoever has its offset takes it; the
    /// host of a virtual function has set the ranges, and nobody knows how.
    std::optional<DoorbellRoute> route_of(uint32_t doorbell) const;

    /// RAS_ATHUB_ERR_EVENT: a fatal error happened. Stays until the driver clears it.
    void latch_fatal_error();

private:
    void declare_identity();
    void claim_vram_window();
    void claim_smn_window();
    void claim_ras_status();
    uint64_t smn_address() const;
    struct Range {
        uint32_t first = 0, count = 0;  // of a page's doorbells
    };
    uint64_t doorbell_entry(unsigned entry) const;  // in SMN space
    Range far_range(unsigned entry) const;
    Range near_range(Reg reg) const;

    const Profile& profile_;
    const IpInstance& ip_;
    RegisterFile& registers_;
    const Vram& vram_;
};

}  // namespace gpuemu
