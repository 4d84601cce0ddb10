// SPDX-License-Identifier: GPL-2.0
// Thread: values.
#include "gpu-emu/ip/vcn/vcn_layout.h"

#include <fmt/format.h>

#include <array>

#include "gpu-emu/ip/gc_layout.h"
#include "gpu-emu/ip/regs/nbio_2_3.h"
#include "gpu-emu/ip/regs/vcn_3_0_0.h"
#include "gpu-emu/ip/regs/vcn_4_0_3.h"
#include "gpu-emu/ip/regs/vcn_5_0_0.h"

namespace gpuemu {
namespace {

// soc15_ih_clientid.h.
constexpr uint8_t SOC15_IH_CLIENTID_VCN = 0x10, SOC15_IH_CLIENTID_VCN1 = 0x0e;

// ivsrcid/vcn/irqsrcs_vcn_{2,4,5}_0.h: the same numbers.
constexpr uint8_t SRCID__UVD_ENC_GENERAL_PURPOSE = 119, SRCID__UVD_ENC_LOW_LATENCY = 120,
                  SRCID__UVD_SYSTEM_MESSAGE_INTERRUPT = 124;
constexpr std::array<uint8_t, 10> SRCID__JPEG_DECODE = {153, 149, 151, 171, 172,
                                                        173, 174, 175, 177, 178};

// VCN_AON_IP_ADDRESS_2_0 and the sizes of the ranges in SOC15_DPG_MODE_OFFSET(), in dwords.
constexpr uint32_t always_on_internal = 0xc000, always_on_dwords = 0x180, video_dwords = 0x980;

/// What packets name as 0x4000 and on: JPEG.
constexpr uint32_t jpeg_internal = 0x4000;

// Of a JRBC, as packets name them.
constexpr uint32_t jrbc_wptr = 0x4080, jrbc_cntl = 0x4081, jrbc_status = 0x4089, jrbc_rptr = 0x408a,
                   jrbc_size = 0x4093;

JpegCoreLayout jpeg_core(std::string name, const RegisterWindow& window, uint32_t rb_bar,
                         uint32_t rb_vmid, VideoDoorbell doorbell, uint8_t ih_source) {
    const auto at = [&](uint32_t internal) { return *window.dword(internal); };
    return {.ring = {.name = std::move(name),
                     .base = at(rb_bar),
                     .size = at(jrbc_size),
                     .rptr = at(jrbc_rptr),
                     .wptr = at(jrbc_wptr),
                     .doorbell = doorbell,
                     .ih_source = ih_source},
            .rb_cntl = at(jrbc_cntl),
            .rb_vmid = at(rb_vmid),
            .status = at(jrbc_status),
            .window = window,
            .client_stall = std::nullopt,
            .client_clean_status = std::nullopt};
}

std::vector<RegisterWindow> windows(const IpInstance& ip, uint32_t first_video) {
    return {{0, video_dwords, at(ip, Reg{first_video, 1})},
            {always_on_internal, always_on_dwords, at(ip, Reg{0, 1})}};
}

/// Two for encoding and one for decoding, and a JPEG decoder in the first instance.
VcnLayout vcn_3(const Profile& profile, const IpInstance& ip) {
    namespace vcn = vcn_3_0_0;
    constexpr uint32_t first_video = 0x80;
    const bool first = ip.instance == 0;
    const auto at = [&](Reg reg) { return gpuemu::at(ip, reg); };
    const uint32_t range =
        gpuemu::at(profile.ip(HwId::NBIF), first ? nbio_2_3::mmBIF_MMSCH0_DOORBELL_RANGE
                                                 : nbio_2_3::mmBIF_MMSCH1_DOORBELL_RANGE);
    const auto doorbell = [&](uint32_t place) {
        return VideoDoorbell{VideoDoorbell::Kind::place_in_range, range, place};
    };
    const VideoPlace place{.instance = ip.instance,
                           .hub = Hub::mm,
                           .ih_client = first ? SOC15_IH_CLIENTID_VCN : SOC15_IH_CLIENTID_VCN1,
                           .own_die = std::nullopt};
    VcnLayout layout{.place = place,
                     .rings = {{.name = "dec",
                                .base = at(vcn::mmUVD_LMI_RBC_RB_64BIT_BAR_LOW),
                                .size = at(vcn::mmUVD_RBC_RB_CNTL),
                                .rptr = at(vcn::mmUVD_RBC_RB_RPTR),
                                .wptr = at(vcn::mmUVD_RBC_RB_WPTR),
                                .doorbell = doorbell(0),
                                .ih_source = SRCID__UVD_SYSTEM_MESSAGE_INTERRUPT,
                                .size_in = VideoRing::SizeIn::log2_bytes},
                               {.name = "enc0",
                                .base = at(vcn::mmUVD_RB_BASE_LO),
                                .size = at(vcn::mmUVD_RB_SIZE),
                                .rptr = at(vcn::mmUVD_RB_RPTR),
                                .wptr = at(vcn::mmUVD_RB_WPTR),
                                .doorbell = doorbell(2),
                                .ih_source = SRCID__UVD_ENC_GENERAL_PURPOSE},
                               {.name = "enc1",
                                .base = at(vcn::mmUVD_RB_BASE_LO2),
                                .size = at(vcn::mmUVD_RB_SIZE2),
                                .rptr = at(vcn::mmUVD_RB_RPTR2),
                                .wptr = at(vcn::mmUVD_RB_WPTR2),
                                .doorbell = doorbell(3),
                                .ih_source = SRCID__UVD_ENC_LOW_LATENCY}},
                     .rbc = RbcLayout{.gpcom_cmd = at(vcn::mmUVD_GPCOM_VCPU_CMD),
                                      .gpcom_data0 = at(vcn::mmUVD_GPCOM_VCPU_DATA0),
                                      .gpcom_data1 = at(vcn::mmUVD_GPCOM_VCPU_DATA1),
                                      .context_id = at(vcn::mmUVD_CONTEXT_ID),
                                      .gp_scratch8 = at(vcn::mmUVD_GP_SCRATCH8),
                                      .ib_size = at(vcn::mmUVD_RBC_IB_SIZE),
                                      .ib_bar = at(vcn::mmUVD_LMI_RBC_IB_64BIT_BAR_LOW),
                                      .ib_vmid = at(vcn::mmUVD_LMI_RBC_IB_VMID),
                                      .rb_vmid = at(vcn::mmUVD_LMI_RBC_RB_VMID)},
                     .pgfsm_config = at(vcn::mmUVD_PGFSM_CONFIG),
                     .pgfsm_status = at(vcn::mmUVD_PGFSM_STATUS),
                     .power_status = at(vcn::mmUVD_POWER_STATUS),
                     .dpg_lma_ctl = at(vcn::mmUVD_DPG_LMA_CTL),
                     .dpg_lma_data = at(vcn::mmUVD_DPG_LMA_DATA),
                     .dpg_pause = at(vcn::mmUVD_DPG_PAUSE),
                     .dpg_lma_address_shift = 16,
                     .status = at(vcn::mmUVD_STATUS),
                     .vcpu_cntl = at(vcn::mmUVD_VCPU_CNTL),
                     .lmi_status = at(vcn::mmUVD_LMI_STATUS),
                     .rb_enable = std::nullopt,
                     .harvesting = at(vcn::mmCC_UVD_HARVESTING),
                     .windows = windows(ip, first_video),
                     .video_first = at(Reg{first_video, 1}),
                     .video_end = at(Reg{first_video + 0x480, 1}),
                     .mmsch = std::nullopt,
                     .jpeg = {.place = place,
                              .cores = {},
                              .jmi_cntl = at(vcn::mmUVD_JMI_CNTL),
                              .core_rst_ctrl = std::nullopt,
                              .gpcom_data0 = 0x402a,
                              .mem_wr_bar = 0x40ea,
                              .ib_vmid = 0x40cf,
                              .ib_bar = 0x40e8}};
    if (first) {
        const RegisterWindow window{jpeg_internal, 0x180,
                                    at(vcn::mmUVD_JRBC_RB_WPTR) - (jrbc_wptr - jpeg_internal)};
        layout.jpeg.cores = {
            jpeg_core("jpeg", window, 0x40e6, 0x40d0, doorbell(1), SRCID__JPEG_DECODE[0])};
    }
    return layout;
}

/// Of VCN 4.0.3 and 5.0.1: where the second and later of a row of registers are from its first.
uint32_t jpeg_core_offset(unsigned core) {
    // jpeg_v4_0_3_core_reg_offset(), jpeg_v5_0_1_core_reg_offset(): below segment 1, beyond eight
    // of them above it again.
    if (core == 0) {
        return 0;
    }
    return core <= 8 ? 0x40 * core - 0xc80 : 0x40 * core - 0x440;
}

/// On each AID one, with a unified ring and eight or ten JPEG decoders.
VcnLayout vcn_4(const Profile& profile, const IpInstance& ip) {
    namespace vcn = vcn_4_0_3;
    namespace vcn5 = vcn_5_0_0;
    const bool is_5 = ip.major == 5;
    const uint32_t first_video = is_5 ? 0x100 : 0xc0;
    const unsigned jpeg_cores = is_5 ? 10 : 8;
    const auto at = [&](Reg reg) { return gpuemu::at(ip, reg); };
    const auto own = [](uint32_t dword) { return VideoDoorbell{VideoDoorbell::Kind::own, dword}; };
    const uint8_t aid = ip.instance;
    const uint32_t mmhub = profile.working(HwId::MMHUB).at(aid)->bases.at(0);
    constexpr uint32_t packet_mask = 0x1ffff, mmhub_dwords = 0x1000;
    const VideoPlace place{.instance = ip.instance,
                           .hub = {Hub::Kind::mm, aid},
                           .ih_client = SOC15_IH_CLIENTID_VCN,
                           .ih_node = ih_node_of_aid(aid),
                           .own_die = RegisterWindow{mmhub & packet_mask, mmhub_dwords, mmhub}};
    VcnLayout layout{
        .place = place,
        .rings = {{.name = "unified",
                   .base = at(is_5 ? vcn5::regUVD_RB_BASE_LO : vcn::regUVD_RB_BASE_LO),
                   .size = at(is_5 ? vcn5::regUVD_RB_SIZE : vcn::regUVD_RB_SIZE),
                   .rptr = at(vcn::regUVD_RB_RPTR),
                   .wptr = at(vcn::regUVD_RB_WPTR),
                   .doorbell = own(at(vcn::regVCN_RB1_DB_CTRL)),
                   .ih_source = SRCID__UVD_ENC_GENERAL_PURPOSE}},
        .rbc = std::nullopt,
        .pgfsm_config = at(vcn::regUVD_PGFSM_CONFIG),
        .pgfsm_status = at(vcn::regUVD_PGFSM_STATUS),
        .power_status = at(vcn::regUVD_POWER_STATUS),
        .dpg_lma_ctl = at(vcn::regUVD_DPG_LMA_CTL),
        .dpg_lma_data = at(vcn::regUVD_DPG_LMA_DATA),
        .dpg_pause = at(vcn::regUVD_DPG_PAUSE),
        .dpg_lma_address_shift = is_5 ? 14u : 16u,
        .status = at(is_5 ? vcn5::regUVD_STATUS : vcn::regUVD_STATUS),
        .vcpu_cntl = at(is_5 ? vcn5::regUVD_VCPU_CNTL : vcn::regUVD_VCPU_CNTL),
        .lmi_status = at(is_5 ? vcn5::regUVD_LMI_STATUS : vcn::regUVD_LMI_STATUS),
        .rb_enable = at(vcn::regVCN_RB_ENABLE),
        .rb_enable_mask = is_5 ? vcn::VCN_RB_ENABLE__RB1_EN::mask : vcn::VCN_RB_ENABLE__RB_EN::mask,
        .harvesting = std::nullopt,
        .windows = windows(ip, first_video),
        .video_first = at(Reg{first_video, 1}),
        .video_end = at(Reg{first_video + 0x400, 1}),
        .mmsch = std::nullopt,
        .jpeg = {.place = place,
                 .cores = {},
                 .jmi_cntl = at(vcn::regUVD_JMI_CNTL),
                 .core_rst_ctrl = at(vcn::regJPEG_CORE_RST_CTRL),
                 .gpcom_data0 = 0x404e,
                 .mem_wr_bar = 0x40ab,
                 .ib_vmid = 0x40a4,
                 .ib_bar = 0x40b6}};
    std::vector<uint32_t> doorbells = {at(vcn::regVCN_RB1_DB_CTRL)};
    for (unsigned core = 0; core < jpeg_cores; ++core) {
        // A JRBC and its JMI are neighbours.
        const RegisterWindow window{
            jrbc_wptr, 0x40, at(vcn::regUVD_JRBC0_UVD_JRBC_RB_WPTR) + jpeg_core_offset(core)};
        const uint32_t control = is_5 ? at(vcn5::regVCN_JPEG_DB_CTRL) + core
                                      : at(vcn::regVCN_JPEG_DB_CTRL) + (core ? core - 0x15 : 0);
        JpegCoreLayout core_layout = jpeg_core(fmt::format("jpeg{}", core), window, 0x40a9, 0x40a5,
                                               own(control), SRCID__JPEG_DECODE[core]);
        core_layout.client_stall = *window.dword(0x40ba);
        core_layout.client_clean_status = *window.dword(0x40bb);
        layout.jpeg.cores.push_back(std::move(core_layout));
        doorbells.push_back(control);
    }
    if (profile.virtual_function) {
        layout.mmsch = MmschLayout{.ctx_addr = at(vcn::regMMSCH_VF_CTX_ADDR_LO),
                                   .ctx_size = at(vcn::regMMSCH_VF_CTX_SIZE),
                                   .mailbox_host = at(vcn::regMMSCH_VF_MAILBOX_HOST),
                                   .mailbox_resp = at(vcn::regMMSCH_VF_MAILBOX_RESP),
                                   .nc0_bar = at(vcn::regUVD_LMI_VCPU_NC0_64BIT_BAR_LOW),
                                   .from_first = ip.bases.at(1) - profile.ip(HwId::VCN).bases.at(1),
                                   .db = std::move(doorbells)};
    }
    return layout;
}

}  // namespace

std::optional<uint32_t> VcnLayout::dword(uint32_t internal) const {
    for (const RegisterWindow& window : windows) {
        if (const auto found = window.dword(internal)) {
            return found;
        }
    }
    return std::nullopt;
}

std::vector<VcnLayout> vcn_layouts(const Profile& profile) {
    std::vector<VcnLayout> layouts;
    for (const IpInstance* ip : profile.working(HwId::VCN)) {
        layouts.push_back(ip->major == 3 ? vcn_3(profile, *ip) : vcn_4(profile, *ip));
    }
    return layouts;
}

}  // namespace gpuemu
