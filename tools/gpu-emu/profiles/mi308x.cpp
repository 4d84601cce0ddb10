// SPDX-License-Identifier: GPL-2.0
// Purpose: the table of the MI308X profile: four AIDs, of whose two XCCs each one is harvested,
// each with four SDMA instances and an MMHUB. IP versions as amdgpu_discovery.c knows this ASIC.
// Thread: immutable after construction.
#include "gpu-emu/profiles/mi308x.h"

namespace gpuemu {
namespace {

constexpr uint8_t aids = 4, xccs_per_aid = 2, sdma_per_aid = 4, umcs = 32;

// RAS capability word, as that of mi300x.cpp.
constexpr uint32_t ras_blocks = 0x2f;
constexpr uint32_t ras_poison_mode = 1u << 24;

/// Each XCC has a block of 0x10000 dwords, in which its registers are where the first XCC has them
/// in its own (gfx_v9_4_3_normalize_xcc_reg_offset()). The rest of the blocks is for the others, as
/// far as packets reach: SDMA and PM4 name registers below dword 2^18.
std::vector<IpInstance> ip_table() {
    constexpr uint32_t xcc_block = 0x10000;
    constexpr uint32_t mmhub_base[aids] = {0x18000, 0x28000, 0x38000, 0x36000};
    constexpr uint32_t sdma_base[aids] = {0x3400, 0x23400, 0x24c00, 0x26400}, sdma_dwords = 0x600;

    // Each row: hardware id, instance, version, sub-revision, bases of segments 0, 1, ...
    std::vector<IpInstance> ips = {
        {HwId::ATHUB, 0, 1, 8, 0, 0, {0xC20, 0x02408C00}},
        {HwId::OSSSYS, 0, 4, 4, 2, 0, {0x10A0, 0x0240A000}},
        {HwId::HDP, 0, 4, 4, 2, 0, {0xF20, 0x0240A400}},
        {HwId::MP0, 0, 13, 0, 6, 0, {0x16000, 0x00DC0000, 0x00E00000, 0x00E40000, 0x0243FC00}},
        {HwId::MP1, 0, 13, 0, 6, 0, {0x16000, 0x00DC0000, 0x00E00000, 0x00E40000, 0x0243FC00}},
        {HwId::THM, 0, 13, 0, 6, 0, {0x16600, 0x02400C00}},
        {HwId::SMUIO, 0, 13, 0, 3, 0, {0x16800, 0x16A00, 0x02401000, 0x03440000}},
        {HwId::DF, 0, 4, 5, 0, 0, {0x7000, 0x0240B800, 0x07C00000}},
    };
    for (uint8_t xcc = 0; xcc < aids * xccs_per_aid; ++xcc) {
        const uint32_t block = xcc_block * xcc;
        ips.push_back({HwId::GC,
                       xcc,
                       9,
                       4,
                       3,
                       0,
                       {block + 0x2000, block + 0xA000, 0x02402C00 + 0x100u * xcc}});
    }
    for (uint8_t aid = 0; aid < aids; ++aid) {
        ips.push_back({HwId::MMHUB, aid, 1, 8, 0, 0, {mmhub_base[aid], 0x02408800 + 0x100u * aid}});
        // nbio_v7_9_init_registers() looks at BACO_CNTL, in segment 2, of each. That of the first
        // is the one that all else is about.
        const uint32_t other = aid == 0 ? 0 : 0x4000u + 0x200u * aid;
        ips.push_back(
            {HwId::NBIF,
             aid,
             7,
             9,
             0,
             1,
             {0x0, 0x14, 0xD20 + other, 0x10400, 0x0241B000, 0x04040000, 0x0, 0x0, 0x05000000}});
        // Where mi300x.cpp has it. Nothing but its own packets names the registers of a VCN.
        const uint32_t vcn = aid == 0 ? 0 : 0x40000 + 0x10000u * (aid - 1);
        ips.push_back(
            {HwId::VCN, aid, 4, 0, 3, 0, {vcn + 0x7800, vcn + 0x7E00, 0x02403000 + 0x100u * aid}});
        for (uint8_t sdma = 0; sdma < sdma_per_aid; ++sdma) {
            ips.push_back({HwId::SDMA0,
                           static_cast<uint8_t>(aid * sdma_per_aid + sdma),
                           4,
                           4,
                           2,
                           0,
                           {sdma_base[aid] + sdma_dwords * sdma}});
        }
    }
    for (uint8_t umc = 0; umc < umcs; ++umc) {
        ips.push_back(
            {HwId::UMC, umc, 12, 0, 0, 0, {0x14000u + 0x40000u * umc, 0x02425800u + 0x400u * umc}});
    }
    return ips;
}

}  // namespace

Profile make_mi308x() {
    Profile profile;
    profile.name = "mi308x";
    profile.description = "AMD Instinct MI308X, four XCCs in one to four partitions (gfx 9.4.3)";
    profile.device_id = 0x74a2;
    profile.subsystem_id = 0x74a2;
    profile.video_bios = profile.rom_bar = true;
    // A quarter has to hold the page tables that KFD sets aside for all VRAM, and what is pinned.
    profile.vram_bytes = 4ull << 30;
    profile.ras_capabilities = ras_blocks | ras_poison_mode;
    profile.gc = {.shader_engines = 4,
                  .cu_per_sh = 5,
                  .sh_per_se = 1,
                  .wave_size = 64,
                  .max_waves_per_simd = 8,
                  .lds_size_kib = 64};
    profile.product = {.manufacturer = "Emulated",
                       .name = "Emulated Instinct MI308X",
                       .part_number = "EMU-MI308X",
                       .version = "1",
                       .serial = "EMU0000000000003",
                       .asset_tag = "",
                       .file_id = "amdgpu-emu"};
    profile.ips = ip_table();
    for (uint8_t aid = 0; aid < aids; ++aid) {
        profile.harvested.push_back({HwId::GC, static_cast<uint8_t>(aid * xccs_per_aid + 1)});
    }
    return profile;
}

}  // namespace gpuemu
