// SPDX-License-Identifier: GPL-2.0
// Purpose: the tables of the MI300X profiles. IP versions as amdgpu_discovery.c knows this ASIC.
// Thread: immutable after construction.
#include "gpu-emu/profiles/mi300x.h"

namespace gpuemu {
namespace {

// RAS capability word (amdgpu_ras.c, MP0 C2PMSG_127): UMC, SDMA, GFX, MMHUB, PCIE_BIF; poison mode.
constexpr uint32_t ras_blocks = 0x2f;
constexpr uint32_t ras_poison_mode = 1u << 24;

// Bases are ours to choose, within limits of the driver: registers that packets name must lie below
// dword 2^18, and those of every IP but GC outside 0x2000..0x33ff and 0xa000..0xffff in their low
// 16 bits, which gfx_v9_4_3.c folds into the XCC (regMMHUB at 0x1a000 would hang each TLB flush).
std::vector<IpInstance> ip_table() {
    // Each row: hardware id, instance, version, sub-revision, bases of segments 0, 1, ...
    std::vector<IpInstance> ips = {
        {HwId::GC, 0, 9, 4, 3, 0, {0x2000, 0xA000, 0x02402C00}},
        {HwId::MMHUB, 0, 1, 8, 0, 0, {0x18000, 0x02408800}},
        {HwId::ATHUB, 0, 1, 8, 0, 0, {0xC20, 0x02408C00}},
        {HwId::OSSSYS, 0, 4, 4, 2, 0, {0x10A0, 0x0240A000}},
        {HwId::HDP, 0, 4, 4, 2, 0, {0xF20, 0x0240A400}},
        {HwId::SDMA0, 0, 4, 4, 2, 0, {0x1260}},
        {HwId::SDMA0, 1, 4, 4, 2, 0, {0x1860}},
        // jpeg_v4_0_3.c counts from one segment into the other, SOC15_DPG_MODE_OFFSET() knows the
        // second.
        {HwId::VCN, 0, 4, 0, 3, 0, {0x7800, 0x7E00, 0x02403000}},
        // nbio_v7_9.c uses segment 8: a shorter list would make the driver read its neighbour. The
        // sub-revision is the revision id of a virtual function.
        {HwId::NBIF,
         0,
         7,
         9,
         0,
         1,
         {0x0, 0x14, 0xD20, 0x10400, 0x0241B000, 0x04040000, 0x0, 0x0, 0x05000000}},
        {HwId::MP0, 0, 13, 0, 6, 0, {0x16000, 0x00DC0000, 0x00E00000, 0x00E40000, 0x0243FC00}},
        {HwId::MP1, 0, 13, 0, 6, 0, {0x16000, 0x00DC0000, 0x00E00000, 0x00E40000, 0x0243FC00}},
        {HwId::THM, 0, 13, 0, 6, 0, {0x16600, 0x02400C00}},
        {HwId::SMUIO, 0, 13, 0, 3, 0, {0x16800, 0x16A00, 0x02401000, 0x03440000}},
        {HwId::DF, 0, 4, 5, 0, 0, {0x7000, 0x0240B800, 0x07C00000}},
    };
    for (uint8_t umc = 0; umc < 8; ++umc) {
        ips.push_back(
            {HwId::UMC,
             umc,
             12,
             0,
             0,
             0,
             {0x14000u + 0x40000u * umc, 0x54000u + 0x40000u * umc, 0x02425800u + 0x400u * umc}});
    }
    return ips;
}

Profile make_base() {
    Profile profile;
    profile.gc = {.shader_engines = 4,
                  .cu_per_sh = 10,
                  .sh_per_se = 1,
                  .wave_size = 64,
                  .max_waves_per_simd = 8,
                  .lds_size_kib = 64};
    profile.product = {.manufacturer = "Emulated",
                       .name = "Emulated Instinct MI300X",
                       .part_number = "EMU-MI300X",
                       .version = "1",
                       .serial = "EMU0000000000001",
                       .asset_tag = "",
                       .file_id = "amdgpu-emu"};
    profile.ips = ip_table();
    return profile;
}

}  // namespace

Profile make_mi300x() {
    Profile profile = make_base();
    profile.name = "mi300x";
    profile.description = "AMD Instinct MI300X, bare metal, one XCC (gfx 9.4.3)";
    profile.device_id = 0x74a1;
    profile.subsystem_id = 0x74a1;
    profile.video_bios = profile.rom_bar = true;
    profile.ras_capabilities = ras_blocks | ras_poison_mode;
    return profile;
}

Profile make_mi300x_hive() {
    Profile profile = make_mi300x();
    profile.name = "mi300x-hive";
    profile.description =
        "AMD Instinct MI300X, bare metal, one XCC (gfx 9.4.3), one of two in an XGMI hive";
    profile.ips.push_back({HwId::XGMI, 0, 6, 4, 0, 0, {0x02402800}});
    profile.hive = {.nodes = 2, .node = 0, .segment_bytes = 16ull << 30};
    return profile;
}

Profile make_mi300x_vf() {
    Profile profile = make_base();
    profile.name = "mi300x-vf";
    profile.description = "AMD Instinct MI300X, SR-IOV virtual function, one XCC (gfx 9.4.3)";
    profile.device_id = 0x74b5;
    profile.subsystem_id = 0x74b5;
    profile.ras_capabilities = ras_blocks | ras_poison_mode;
    profile.virtual_function = true;
    return profile;
}

}  // namespace gpuemu
