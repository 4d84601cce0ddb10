// SPDX-License-Identifier: GPL-2.0
// Purpose: the registers as gfxhub_v1_2_get_xgmi_info(), mmhub_v1_8_get_fb_location(),
// smuio_v13_0_3_get_socket_id() and amdgpu_get_xgmi_link_status() read them.
// Thread: device loop only.
#include "gpu-emu/ip/xgmi.h"

#include <stdexcept>
#include <string>

#include "gpu-emu/ip/regs/gc_9_4_3.h"
#include "gpu-emu/ip/regs/mmhub_1_8_0.h"
#include "gpu-emu/ip/regs/smuio_13_0_3.h"
#include "gpu-emu/ip/regs/xgmi_6_4_0.h"

namespace gpuemu {
namespace {

namespace gc = gc_9_4_3;
namespace mm = mmhub_1_8_0;
namespace xgmi = xgmi_6_4_0;

constexpr unsigned unit_shift = 24;  // addresses of the frame buffer are in units of 16 MiB

/// The registers of one hub.
struct HubRegisters {
    uint32_t FB_LOCATION_TOP, XGMI_LFB_CNTL, XGMI_LFB_SIZE;
};

}  // namespace

Xgmi::Xgmi(const Profile& profile, RegisterFile& registers)
    : profile_(profile), registers_(registers) {
    constexpr std::size_t largest_hive = xgmi::smn_pcs_state_hist1.size() + 1;
    if (profile.hive.nodes > largest_hive) {
        throw std::invalid_argument("a hive of " + std::to_string(profile.hive.nodes) +
                                    " nodes: the ports are enough for " +
                                    std::to_string(largest_hive));
    }
}

void Xgmi::reset(ResetKind) {
    const HiveSeat& hive = profile_.hive;
    const IpInstance& gc_ip = profile_.ip(HwId::GC);
    const IpInstance& mm_ip = profile_.ip(HwId::MMHUB);
    const uint64_t last = profile_.fb_base + hive.nodes * hive.segment_bytes - 1;
    for (const HubRegisters& hub : {HubRegisters{at(gc_ip, gc::regMC_VM_FB_LOCATION_TOP),
                                                 at(gc_ip, gc::regMC_VM_XGMI_LFB_CNTL),
                                                 at(gc_ip, gc::regMC_VM_XGMI_LFB_SIZE)},
                                    HubRegisters{at(mm_ip, mm::regMC_VM_FB_LOCATION_TOP),
                                                 at(mm_ip, mm::regMC_VM_XGMI_LFB_CNTL),
                                                 at(mm_ip, mm::regMC_VM_XGMI_LFB_SIZE)}}) {
        // The frame buffer is that of all nodes: VmHub has put that of one there.
        registers_.raw(hub.FB_LOCATION_TOP) = static_cast<uint32_t>(last >> unit_shift);
        registers_.raw(hub.XGMI_LFB_CNTL) = mm::MC_VM_XGMI_LFB_CNTL__PF_MAX_REGION::set(
            mm::MC_VM_XGMI_LFB_CNTL__PF_LFB_REGION::set(0, hive.node), hive.nodes - 1);
        registers_.raw(hub.XGMI_LFB_SIZE) = mm::MC_VM_XGMI_LFB_SIZE__PF_LFB_SIZE::set(
            0, static_cast<uint32_t>(hive.segment_bytes >> unit_shift));
    }
    registers_.raw(at(profile_.ip(HwId::SMUIO), smuio_13_0_3::regSMUIO_MCM_CONFIG)) =
        smuio_13_0_3::SMUIO_MCM_CONFIG__SOCKET_ID::set(0, hive.node);
    // A link to each of the others.
    for (unsigned link = 0; link < xgmi::smn_pcs_state_hist1.size(); ++link) {
        registers_.preset_far(xgmi::smn_pcs_state_hist1[link], link < hive.nodes - 1
                                                                   ? xgmi::XGMI_STATE_LS0
                                                                   : xgmi::XGMI_STATE_DISABLE);
    }
}

}  // namespace gpuemu
