// SPDX-License-Identifier: GPL-2.0
// Purpose: an ASIC as a table: PCI identity, IP versions with their base addresses, memory size,
// quirks. Adding an ASIC is adding a table here plus the IP blocks that differ. Thread: immutable
// after construction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu-emu/mem/hive_seat.h"
#include "gpu-emu/profiles/opposite.h"

namespace gpuemu {

/// IP hardware ids of the discovery table (drivers/gpu/drm/amd/include/soc15_hw_ip.h).
enum class HwId : uint16_t {
    MP1 = 1,
    THM = 3,
    SMUIO = 4,
    GC = 11,
    VCN = 12,
    MMHUB = 34,
    ATHUB = 35,
    OSSSYS = 40,
    HDP = 41,
    SDMA0 = 42,
    SDMA1 = 43,
    DF = 46,
    SDMA2 = 68,
    SDMA3 = 69,
    NBIF = 108,
    UMC = 150,
    XGMI = 200,
    MP0 = 255,
};

struct IpInstance {
    HwId hw_id;
    uint8_t instance = 0;
    uint8_t major = 0, minor = 0, revision = 0;
    uint8_t sub_revision = 0;
    std::vector<uint32_t> bases;  // dword addresses of segment 0, 1, ...
};

/// An instance in the list that this board does without: a part of the silicon that is fused off.
struct HarvestedIp {
    HwId hw_id;
    uint8_t instance;
};

/// Compute geometry, as the GC info table of the discovery blob reports it.
struct GcInfo {
    uint32_t shader_engines, cu_per_sh, sh_per_se, wave_size, max_waves_per_simd, lds_size_kib;
};

/// What the FRU EEPROM says of the board: the fields of an IPMI product info area, at most 63 bytes
/// each.
struct ProductInfo {
    std::string manufacturer, name, part_number, version, serial, asset_tag, file_id;
};

struct Profile {
    std::string name;         // "mi300x"
    std::string description;  // one line for --list-profiles
    uint16_t vendor_id = 0x1002, device_id = 0;
    uint16_t subsystem_vendor_id = 0x1002, subsystem_id = 0;
    uint8_t revision_id = 0;
    uint32_t class_code = 0x120000;
    uint64_t vram_bytes = 1ull << 30;        // also BAR0; a power of two
    uint64_t doorbell_bar_bytes = 2u << 20;  // BAR2
    uint64_t register_bar_bytes = 2u << 20;  // BAR5
    uint64_t fb_base = 0x8000000000ull;      // MC address of VRAM byte 0
    uint32_t ras_capabilities = 0;           // MP0 C2PMSG_127
    bool virtual_function = false;  // SR-IOV VF: host mailbox, RLCG, ATOM image, PF2VF block
    bool video_bios = false;        // the board has a ROM with one, and it has run
    bool rom_bar = false;           // that can be read through an expansion ROM BAR
    HiveSeat hive{};                // the node is the board's, not the table's
    GcInfo gc{};
    ProductInfo product;
    /// What tells this board from others of its kind, on PCI (Device Serial Number) and in what the
    /// firmware says of it; the board's, not the table's. 0: it has none.
    uint64_t serial = 0;
    /// What it does the other way round; none: as the table is. The board's.
    Opposites opposites{};
    std::vector<IpInstance> ips;
    std::vector<HarvestedIp> harvested;

    /// The one IP of that kind. Throws std::out_of_range when the profile has none (start-up).
    const IpInstance& ip(HwId hw_id, unsigned instance = 0) const;

    /// The instances of an IP that are not harvested, in order. The driver counts XCCs (GC) in that
    /// order and calls the numbers logical, those of the list physical.
    std::vector<const IpInstance*> working(HwId hw_id) const;

    /// Active interposer dies: each has an MMHUB, room for two XCCs and for four SDMA instances.
    unsigned aids() const;
};

/// All profiles of this build, by name. Null when there is none of that name.
const Profile* find_profile(const std::string& name);
std::vector<const Profile*> all_profiles();

}  // namespace gpuemu
