// SPDX-License-Identifier: GPL-2.0
// Purpose: the HQD (hardware queue descriptor) registers: one window in the register space, banked
// per queue by regGRBM_GFX_CNTL, loaded from and saved to the MQD in memory. The registers have the
// names of GC 9.4.3; GC 10.3.0 has them in the same order elsewhere.
// Thread: device loop only. Does not model: the VMID field of regGRBM_GFX_CNTL (the HQD window is
// not banked by it).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gpu-emu/device/register_file.h"
#include "gpu-emu/ip/gc_layout.h"
#include "gpu-emu/ip/queue/port.h"
#include "gpu-emu/ip/regs/gc_9_4_3.h"
#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

class HqdBank {
public:
    static constexpr unsigned pipes = 4;
    static constexpr unsigned queues_per_pipe = 8;
    static constexpr unsigned slots_per_me = pipes * queues_per_pipe;
    static constexpr unsigned slots = 4 * slots_per_me;  // as the two bits of MEID select
    static constexpr uint32_t window =
        gc_9_4_3::regCP_HQD_AQL_DISPATCH_ID_HI.offset - gc_9_4_3::regCP_MQD_BASE_ADDR.offset + 1;

    /// Registers of one queue; index with HqdBank::index(reg).
    class Registers {
    public:
        uint32_t& operator[](Reg reg) { return values_[index(reg)]; }
        uint32_t operator[](Reg reg) const { return values_[index(reg)]; }
        uint32_t& at(uint32_t index) { return values_.at(index); }

        /// A register and its _HI neighbour.
        uint64_t pair(Reg low) const { return join(values_[index(low)], values_[index(low) + 1]); }
        void set_pair(Reg low, uint64_t value);

    private:
        std::array<uint32_t, window> values_{};
    };

    HqdBank(const RegisterFile& registers, const GcLayout& gc);

    static constexpr unsigned slot(unsigned me, unsigned pipe, unsigned queue) {
        return me * slots_per_me + pipe * queues_per_pipe + queue;
    }

    uint32_t first_dword() const { return first_dword_; }

    /// The queue that the window shows now.
    unsigned selected() const;

    Registers& operator[](unsigned slot) { return bank_[slot]; }

    /// Reads the HQD part of a v9_mqd or v10_compute_mqd. False on a fault: the registers stay as
    /// they were.
    bool load_mqd(const Port& port, unsigned slot, uint64_t mqd);

    /// Writes the registers that running changes (read and write pointer, unfinished indirect
    /// buffer) back.
    bool save_mqd(const Port& port, unsigned slot, uint64_t mqd) const;

    void clear();

private:
    static constexpr uint32_t index(Reg reg) {
        return reg.offset - gc_9_4_3::regCP_MQD_BASE_ADDR.offset;
    }

    const RegisterFile& registers_;
    uint32_t first_dword_;
    uint32_t grbm_gfx_cntl_;
    std::vector<Registers> bank_;
};

}  // namespace gpuemu
