// SPDX-License-Identifier: GPL-2.0
// Purpose: hardware errors as the driver of this ASIC finds them: ACA (MCA) banks that it reads
// through SMU messages, and the event that makes it look.
//
//  - correctable: a bank in the corrected list, no event: the driver polls that list.
//  - uncorrectable: a bank in the uncorrected list, and the fatal error event of NBIO with an
//    interrupt: the driver resets the GPU.
//  - poison in umc: a deferred error in the corrected list and an interrupt of the data fabric: the
//    driver says "poison is created" and retires the page.
//  - poison in sdma: a bank and the ECC interrupt of the engine: consumption outside of a process,
//    the driver resets the GPU.
//  - poison in gfx: a bank only.
//
// Thread: device loop only.
// Does not model: the interrupt of gfx poison (it needs the wave of a process that ran into it),
// wrong data in memory or results, XGMI, PCIe and VCN errors, errors asked for through the RAS TA.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <string_view>

#include "gpu-emu/ip/interrupt_sink.h"
#include "lib/result.h"

namespace gpuemu {

/// An ACA bank: 16 registers of 64 bits.
using AcaBank = std::array<uint64_t, 16>;

/// One list of banks, read as the SMU firmware hands them out: a query takes what is there and
/// removes it from the list, the dump messages then read what the query took.
class AcaBankList {
public:
    /// The driver refuses counts from 12 on.
    static constexpr std::size_t max_per_query = 11;

    void add(const AcaBank& bank);
    uint32_t query();
    /// `argument`: bank index in the upper half, byte offset into it in the lower.
    uint32_t dump(uint32_t argument) const;
    void clear();

private:
    static constexpr std::size_t max_pending = 256;

    std::deque<AcaBank> pending_;
    std::deque<AcaBank> taken_;
};

enum class RasBlock { umc, gfx, sdma };
enum class RasSeverity { correctable, uncorrectable, poison };

/// By their names. One clear error for what is none.
hp::Result<RasBlock> parse_ras_block(std::string_view name);
hp::Result<RasSeverity> parse_ras_severity(std::string_view name);

class Ras {
public:
    struct Context {
        InterruptSink& interrupts;
        std::function<void()> fatal_error;  // latches the event and raises the interrupt
    };

    explicit Ras(Context context);

    void inject(RasBlock block, RasSeverity severity);

    AcaBankList& corrected() { return corrected_; }
    AcaBankList& uncorrected() { return uncorrected_; }

    /// Banks keep their contents over a reset of the ASIC, so that the driver finds the cause of
    /// it.
    void power_on();

private:
    Context context_;
    AcaBankList corrected_;
    AcaBankList uncorrected_;
    uint64_t injected_ = 0;
};

}  // namespace gpuemu
