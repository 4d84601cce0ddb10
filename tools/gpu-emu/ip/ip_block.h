// SPDX-License-Identifier: GPL-2.0
// Purpose: what all IP blocks have in common: they claim their registers when they are made and
// put them into the state after a reset when told.
// Thread: device loop only.
#pragma once

namespace gpuemu {

enum class ResetKind {
    cold,   // power-on
    link,   // hot reset of the link, or mode 4: the PSP goes on running, VRAM stays, the rest is
            // as after flr
    flr,    // function-level reset: all state but what lies outside the chip (EEPROM)
    mode1,  // the whole ASIC, asked for by the driver: all that flr takes, configuration space too
    host,   // of a virtual function by its host, which puts its configuration space right
};

class IpBlock {
public:
    virtual ~IpBlock() = default;

    /// The register file was cleared: presets what reads as non-zero, forgets the rest.
    virtual void reset(ResetKind kind) = 0;
};

}  // namespace gpuemu
