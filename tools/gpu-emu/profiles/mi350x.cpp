// SPDX-License-Identifier: GPL-2.0
// Purpose: the table of the MI350X profile. IP versions as amdgpu_discovery.c knows this ASIC.
// Thread: immutable after construction.
#include "gpu-emu/profiles/mi350x.h"

namespace gpuemu {
namespace {

// RAS capability word, as that of mi300x.cpp.
constexpr uint32_t ras_blocks = 0x2f;
constexpr uint32_t ras_poison_mode = 1u << 24;

// Two for each of the eight stacks of HBM, whatever the number of AIDs: ras_umc_v12_0.c knows 8 and
// 16 only.
constexpr uint8_t umcs = 16;

/// Bases within the limits that mi300x.cpp names, and at its places.
std::vector<IpInstance> ip_table() {
    const std::vector<uint32_t> mp = {0x16000, 0x00DC0000, 0x00E00000, 0x00E40000, 0x0243FC00};
    // Each row: hardware id, instance, version, sub-revision, bases of segments 0, 1, ...
    std::vector<IpInstance> ips = {
        {HwId::GC, 0, 9, 5, 0, 0, {0x2000, 0xA000, 0x02402C00}},
        {HwId::MMHUB, 0, 1, 8, 1, 0, {0x18000, 0x02408800}},
        {HwId::ATHUB, 0, 1, 8, 1, 0, {0xC20, 0x02408C00}},
        {HwId::OSSSYS, 0, 4, 4, 5, 0, {0x10A0, 0x0240A000}},
        {HwId::HDP, 0, 4, 4, 5, 0, {0xF20, 0x0240A400}},
        {HwId::SDMA0, 0, 4, 4, 5, 0, {0x1260}},
        {HwId::SDMA0, 1, 4, 4, 5, 0, {0x1860}},
        {HwId::VCN, 0, 5, 0, 1, 0, {0x7800, 0x7E00, 0x02403000}},
        {HwId::NBIF,
         0,
         7,
         9,
         1,
         0,
         {0x0, 0x14, 0xD20, 0x10400, 0x0241B000, 0x04040000, 0x0, 0x0, 0x05000000}},
        {HwId::MP0, 0, 13, 0, 12, 0, mp},
        {HwId::MP1, 0, 13, 0, 12, 0, mp},
        {HwId::THM, 0, 13, 0, 12, 0, {0x16600, 0x02400C00}},
        {HwId::SMUIO, 0, 13, 0, 11, 0, {0x16800, 0x16A00, 0x02401000, 0x03440000}},
        {HwId::DF, 0, 4, 5, 0, 0, {0x7000, 0x0240B800, 0x07C00000}},
    };
    for (uint8_t umc = 0; umc < umcs; ++umc) {
        ips.push_back(
            {HwId::UMC, umc, 12, 5, 0, 0, {0x14000u + 0x40000u * umc, 0x02425800u + 0x400u * umc}});
    }
    return ips;
}

}  // namespace

Profile make_mi350x() {
    Profile profile;
    profile.name = "mi350x";
    profile.description = "AMD Instinct MI350X, bare metal, one XCC (gfx 9.5.0)";
    profile.device_id = 0x75a0;
    profile.subsystem_id = 0x75a0;
    profile.video_bios = profile.rom_bar = true;
    profile.ras_capabilities = ras_blocks | ras_poison_mode;
    profile.gc = {.shader_engines = 4,
                  .cu_per_sh = 8,
                  .sh_per_se = 1,
                  .wave_size = 64,
                  .max_waves_per_simd = 8,
                  .lds_size_kib = 160};
    profile.product = {.manufacturer = "Emulated",
                       .name = "Emulated Instinct MI350X",
                       .part_number = "EMU-MI350X",
                       .version = "1",
                       .serial = "EMU0000000000004",
                       .asset_tag = "",
                       .file_id = "amdgpu-emu"};
    profile.ips = ip_table();
    return profile;
}

}  // namespace gpuemu
