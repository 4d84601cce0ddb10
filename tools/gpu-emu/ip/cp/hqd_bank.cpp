// SPDX-License-Identifier: GPL-2.0
// Thread: device loop only.
#include "gpu-emu/ip/cp/hqd_bank.h"

#include <span>

namespace gpuemu {

namespace gc = gc_9_4_3;

namespace {

// struct v9_mqd (drivers/gpu/drm/amd/include/v9_structs.h): the HQD part is from
// cp_mqd_base_addr_lo up to and with cp_hqd_pq_wptr_hi.
constexpr uint64_t mqd_hqd_offset = 128 * sizeof(uint32_t);
constexpr uint32_t mqd_hqd_dwords =
    gc::regCP_HQD_PQ_WPTR_HI.offset - gc::regCP_MQD_BASE_ADDR.offset + 1;

}  // namespace

void HqdBank::Registers::set_pair(Reg low, uint64_t value) {
    values_[index(low)] = static_cast<uint32_t>(value);
    values_[index(low) + 1] = static_cast<uint32_t>(value >> 32);
}

HqdBank::HqdBank(const RegisterFile& registers, const GcLayout& gc)
    : registers_(registers),
      first_dword_(gpuemu::at(gc.ip, gc.CP_MQD_BASE_ADDR)),
      grbm_gfx_cntl_(gpuemu::at(gc.ip, gc.GRBM_GFX_CNTL)),
      bank_(slots) {}

unsigned HqdBank::selected() const {
    const uint32_t select = registers_.raw(grbm_gfx_cntl_);
    return slot(gc::GRBM_GFX_CNTL__MEID::get(select), gc::GRBM_GFX_CNTL__PIPEID::get(select),
                gc::GRBM_GFX_CNTL__QUEUEID::get(select));
}

bool HqdBank::load_mqd(const Port& port, unsigned slot, uint64_t mqd) {
    std::array<uint32_t, mqd_hqd_dwords> values{};
    if (!port.read(mqd + mqd_hqd_offset, std::as_writable_bytes(std::span(values)))) {
        return false;
    }
    Registers loaded;
    for (uint32_t i = 0; i < mqd_hqd_dwords; ++i) {
        loaded.at(i) = values[i];
    }
    bank_[slot] = loaded;
    return true;
}

bool HqdBank::save_mqd(const Port& port, unsigned slot, uint64_t mqd) const {
    bool ok = true;
    for (const Reg reg :
         {gc::regCP_HQD_PQ_RPTR, gc::regCP_HQD_IB_BASE_ADDR, gc::regCP_HQD_IB_BASE_ADDR_HI,
          gc::regCP_HQD_IB_RPTR, gc::regCP_HQD_IB_CONTROL, gc::regCP_HQD_PQ_WPTR_LO,
          gc::regCP_HQD_PQ_WPTR_HI}) {
        ok = port.write32(mqd + mqd_hqd_offset + index(reg) * sizeof(uint32_t), bank_[slot][reg]) &&
             ok;
    }
    return ok;
}

void HqdBank::clear() {
    bank_.assign(slots, Registers{});
}

}  // namespace gpuemu
