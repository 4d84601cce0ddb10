// SPDX-License-Identifier: GPL-2.0
// Purpose: the interrupt handler (OSSSYS 4.4.2): entries into the guest's ring, write pointer
// write-back, MSI, read pointer by register or doorbell; and whose VMID it is, for each node (the
// memory behind IH_VMID_n_LUT).
// Thread: device loop only.
// Does not model: rings 1 and 2 (everything goes to ring 0), the storm and retry filters, the
// self-interrupt.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "gpu-emu/device/register_file.h"
#include "gpu-emu/hostile/mutator.h"
#include "gpu-emu/ip/interrupt_sink.h"
#include "gpu-emu/ip/ip_block.h"
#include "gpu-emu/ip/regs/registers.h"
#include "gpu-emu/mem/gpu_memory.h"
#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

class Ih : public IpBlock, public InterruptSink {
public:
    struct Context {
        const Profile& profile;
        RegisterFile& registers;
        GpuMemory& memory;
        std::function<void()> raise_msi;
        std::function<uint64_t()> gpu_clock;  // for the time stamps of the entries
        Mutator& mutator;
    };

    explicit Ih(Context context);

    void reset(ResetKind kind) override;
    void raise(const InterruptEntry& entry) override;

    /// A doorbell write. False: the index is not the read pointer's.
    bool ring_doorbell(uint32_t index, uint64_t value);

    /// A scripted lie: with the next entry the register and the memory say `value`, bit 0 for an
    /// overflow included, instead of the write pointer. A reset ends it.
    void falsify_wptr(uint32_t value) { false_wptr_ = value; }

    uint64_t delivered() const { return delivered_; }
    /// Entries that found no ring: disabled, too small, or its memory not reachable.
    uint64_t lost() const { return lost_; }

private:
    static constexpr uint32_t entry_bytes = 32;
    static constexpr uint32_t nodes = 16, lut_dwords = 32;  // of both hubs

    uint32_t& reg(Reg reg) { return context_.registers.raw(at(ip_, reg)); }
    uint32_t ring_bytes();
    uint32_t& lut_entry(uint32_t dword);
    std::span<std::byte> window(uint64_t address, uint64_t length);
    bool write_entry(const InterruptEntry& entry);
    void advance();
    void publish_wptr();
    void set_rptr(uint32_t value);

    Context context_;
    const IpInstance& ip_;
    std::array<std::array<uint32_t, lut_dwords>, nodes> luts_{};
    uint32_t wptr_ = 0;      // byte offset in the ring
    bool overflow_ = false;  // latched until WPTR_OVERFLOW_CLEAR
    std::optional<uint32_t> false_wptr_;
    bool raising_ = false;  // an entry is on its way
    uint64_t delivered_ = 0;
    uint64_t lost_ = 0;
};

}  // namespace gpuemu
