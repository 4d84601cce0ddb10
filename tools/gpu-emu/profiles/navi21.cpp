// SPDX-License-Identifier: GPL-2.0
// Purpose: the table of the Navi 21 profile. IP versions as amdgpu_discovery.c knows this ASIC,
// bases as in drivers/gpu/drm/amd/include/sienna_cichlid_ip_offset.h. Thread: immutable after
// construction.
#include "gpu-emu/profiles/navi21.h"

namespace gpuemu {
namespace {

std::vector<IpInstance> ip_table() {
    const std::vector<uint32_t> gc = {0x1260, 0xA000, 0x1C000, 0x02402C00};
    const std::vector<uint32_t> mp = {0x16000, 0x00DC0000, 0x00E00000, 0x00E40000, 0x0243FC00};
    // Each row: hardware id, instance, version, sub-revision, bases of segments 0, 1, ...
    std::vector<IpInstance> ips = {
        {HwId::GC, 0, 10, 3, 0, 0, gc},
        {HwId::MMHUB, 0, 2, 1, 0, 0, {0x1A000, 0x02408800}},
        {HwId::ATHUB, 0, 2, 1, 0, 0, {0xC00, 0x02408C00}},
        {HwId::OSSSYS, 0, 5, 0, 3, 0, {0x10A0, 0x0240A000}},
        {HwId::HDP, 0, 5, 0, 3, 0, {0xF20, 0x0240A400}},
        {HwId::SDMA0, 0, 5, 2, 0, 0, gc},
        {HwId::SDMA1, 0, 5, 2, 0, 0, gc},
        {HwId::SDMA2, 0, 5, 2, 0, 0, gc},
        {HwId::SDMA3, 0, 5, 2, 0, 0, gc},
        {HwId::VCN, 0, 3, 0, 0, 0, {0x7800, 0x7E00, 0x02403000}},
        {HwId::VCN, 1, 3, 0, 0, 0, {0x7B00, 0x12000, 0x02445000}},
        {HwId::NBIF, 0, 3, 3, 1, 0, {0x0, 0x14, 0xD20, 0x10400, 0x0241B000, 0x04040000}},
        {HwId::MP0, 0, 11, 0, 7, 0, mp},
        {HwId::MP1, 0, 11, 0, 7, 0, mp},
        {HwId::THM, 0, 11, 0, 7, 0, {0x16600, 0x02400C00}},
        {HwId::SMUIO, 0, 11, 0, 7, 0, {0x16800, 0x16A00, 0x00440000, 0x02401000}},
        {HwId::DF, 0, 3, 7, 0, 0, {0x7000, 0x0240B800}},
    };
    for (uint8_t umc = 0; umc < 8; ++umc) {
        ips.push_back({HwId::UMC, umc, 8, 7, 0, 0, {0x14000u + 0x40000u * umc}});
    }
    return ips;
}

}  // namespace

Profile make_navi21() {
    Profile profile;
    profile.name = "navi21";
    profile.description = "AMD Radeon PRO V620, graphics rings, no display (gfx 10.3.0)";
    profile.device_id = 0x73a1;
    profile.subsystem_id = 0x73a1;
    profile.class_code = 0x038000;
    profile.register_bar_bytes = 1u << 20;
    profile.video_bios = true;
    profile.gc = {.shader_engines = 4,
                  .cu_per_sh = 10,
                  .sh_per_se = 2,
                  .wave_size = 32,
                  .max_waves_per_simd = 16,
                  .lds_size_kib = 64};
    profile.product = {.manufacturer = "Emulated",
                       .name = "Emulated Radeon PRO V620",
                       .part_number = "EMU-NAVI21",
                       .version = "1",
                       .serial = "EMU0000000000002",
                       .asset_tag = "",
                       .file_id = "amdgpu-emu"};
    profile.ips = ip_table();
    return profile;
}

}  // namespace gpuemu
