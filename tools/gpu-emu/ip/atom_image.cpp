// SPDX-License-Identifier: GPL-2.0
// Purpose: builds images in the layout that atom.c, amdgpu_atomfirmware.c and
// sienna_cichlid_ppt.c read.
// Thread: any; pure.
#include "gpu-emu/ip/atom_image.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "gpu-emu/ip/regs/nbio_2_3.h"
#include "gpu-emu/ip/regs/registers.h"

namespace gpuemu {
namespace {

/// Little-endian fields at given places of a fixed buffer.
class Image {
public:
    explicit Image(std::size_t bytes) : bytes_(bytes) {}

    template <typename T>
    void put(std::size_t offset, T value) {
        std::memcpy(&bytes_.at(offset + sizeof value - 1) - (sizeof value - 1), &value,
                    sizeof value);
    }
    void text(std::size_t offset, std::string_view text) {
        std::memcpy(&bytes_.at(offset + text.size() - 1) - (text.size() - 1), text.data(),
                    text.size());
    }
    std::vector<std::byte> take() { return std::move(bytes_); }

private:
    std::vector<std::byte> bytes_;
};

// Fixed places of an ATOM image (atom.h, ObjectID.h).
constexpr std::size_t ATOM_ATI_MAGIC_PTR = 0x30;
constexpr std::size_t ATOM_ROM_TABLE_PTR = 0x48;
constexpr std::size_t OFFSET_TO_GET_ATOMBIOS_NUMBER_OF_STRINGS = 0x2f;
constexpr std::size_t OFFSET_TO_GET_ATOMBIOS_STRING_START = 0x6e;
constexpr std::size_t OFFSET_TO_VBIOS_DATE = 0x50;
constexpr std::size_t ATOM_ROM_MAGIC_PTR = 4;    // in the ROM header
constexpr std::size_t ATOM_ROM_CMD_PTR = 0x1e;   // in the ROM header
constexpr std::size_t ATOM_ROM_DATA_PTR = 0x20;  // in the ROM header

// Offsets in struct amd_sriov_msg_pf2vf_info, which is byte packed.
constexpr std::size_t pf2vf_size = 0, pf2vf_checksum = 16;

// Where the images have their parts.
constexpr uint16_t rom_header = 0x100;
constexpr uint16_t pci_data = 0x180;
constexpr uint16_t data_tables = 0x200;
constexpr uint16_t firmware_info = 0x300;
constexpr uint16_t vram_usage = 0x380;
constexpr uint16_t indirect_io = 0x3c0;
constexpr uint16_t command_tables = 0x600;
constexpr uint16_t strings = 0x700;
constexpr uint16_t version_string = 0x780;
// And the ROM of a board, besides.
constexpr uint16_t asic_init = 0x400;
constexpr uint16_t gfx_info = 0x440;
constexpr uint16_t vram_info = 0x480;
constexpr uint16_t umc_info = 0x480;  // instead of it
constexpr uint16_t powerplay_info = 0x800;
constexpr uint16_t smc_dpm_info = 0x1400;
constexpr std::size_t rom_bytes = 0x1800;

constexpr std::size_t rom_unit = 512;  // of the size that an image says of itself

// atom_master_list_of_data_tables_v2_1: indices of the tables the driver looks for.
constexpr unsigned index_smc_dpm_info = 2, index_firmwareinfo = 4, index_vram_usagebyfirmware = 11,
                   index_gfx_info = 14, index_powerplayinfo = 15, index_indirectioaccess = 23,
                   index_umc_info = 24, index_vram_info = 28;

/// struct atom_common_table_header.
void put_table_header(Image& image, uint16_t offset, uint16_t bytes, uint8_t format,
                      uint8_t content) {
    image.put(offset, bytes);
    image.put(offset + 2u, format);
    image.put(offset + 3u, content);
}

void set_data_table(Image& image, unsigned index, uint16_t table) {
    image.put(data_tables + 4u + 2 * index, table);
}

/// What the driver reads of every image.
void put_common(Image& image, std::size_t bytes, std::string_view name) {
    image.put(0, uint16_t{0xaa55});  // ATOM_BIOS_MAGIC
    image.put(2, static_cast<uint8_t>(bytes / rom_unit));
    image.text(ATOM_ATI_MAGIC_PTR, " 761295520");
    image.put(ATOM_ROM_TABLE_PTR, rom_header);
    image.text(OFFSET_TO_VBIOS_DATE, "01/01/26 00:00");
    image.put(rom_header, uint16_t{0x24});
    image.text(rom_header + ATOM_ROM_MAGIC_PTR, "ATOM");
    image.put(rom_header + ATOM_ROM_CMD_PTR, command_tables);
    image.put(rom_header + ATOM_ROM_DATA_PTR, data_tables);
    put_table_header(image, command_tables, 4 + 2 * 100, 2, 1);
    // One string, the part number: the driver uses a null pointer in an image without one. The name
    // follows after it.
    constexpr std::string_view part_number("113-EMU00001-001\0\r\n", 19);
    image.put(OFFSET_TO_GET_ATOMBIOS_NUMBER_OF_STRINGS, uint8_t{1});
    image.put(OFFSET_TO_GET_ATOMBIOS_STRING_START, strings);
    image.text(strings, part_number);
    image.text(strings + part_number.size(), name);
    image.text(version_string, "ATOMBIOSBK-AMD VER000.001.000.000");

    put_table_header(image, data_tables, 4 + 2 * 35, 2, 1);
    set_data_table(image, index_firmwareinfo, firmware_info);
    set_data_table(image, index_indirectioaccess, indirect_io);
    put_table_header(image, firmware_info, 64, 3, 1);
    image.put(firmware_info + 4u, uint32_t{1});       // firmware_revision
    image.put(firmware_info + 8u, uint32_t{210000});  // bootup_sclk_in10khz
    image.put(firmware_info + 12u, uint32_t{90000});  // bootup_mclk_in10khz
    put_table_header(image, indirect_io, 8, 1, 1);
}

/// struct smu_11_0_7_powerplay_table with its PPTable_t: the limits that the driver shows. There is
/// no fan, no overdrive and no BACO.
void put_powerplay_info(Image& image) {
    constexpr uint16_t bytes = 2470, smc_pptable = 802;
    constexpr uint8_t thermal_controller_none = 0;
    constexpr uint16_t watts = 300, celsius = 100, throttle_celsius = 110, shutdown_celsius = 118;
    constexpr uint8_t pcie_gen4 = 3, pcie_x16 = 6;
    put_table_header(image, powerplay_info, bytes, 15, 0);
    image.put(powerplay_info + 4u, uint8_t{2});   // table_revision
    image.put(powerplay_info + 5u, smc_pptable);  // table_size
    image.put(powerplay_info + 21u, thermal_controller_none);
    image.put(powerplay_info + 28u, shutdown_celsius);

    const std::size_t table = powerplay_info + smc_pptable;
    image.put(table, uint32_t{7});                     // Version
    for (unsigned source = 0; source < 2; ++source) {  // SocketPowerLimitAc, SocketPowerLimitDc
        image.put(table + 12 + 16 * source, watts);
    }
    for (unsigned sensor = 0; sensor < 10; ++sensor) {  // TemperatureLimit
        image.put(table + 52 + 2 * sensor, sensor == 1 ? throttle_celsius : celsius);
    }
    for (unsigned level = 0; level < 2; ++level) {
        image.put(table + 980 + level, pcie_gen4);  // PcieGenSpeed
        image.put(table + 982 + level, pcie_x16);   // PcieLaneCount
        image.put(table + 984 + 2 * level, static_cast<uint16_t>(310 + 309 * level));  // LclkFreq
    }
}

/// struct atom_vram_info_header_v2_5 with one module.
void put_vram_info(Image& image, const Profile& profile) {
    constexpr uint16_t header_bytes = 24, module_bytes = 84;
    constexpr std::size_t module = vram_info + header_bytes;
    constexpr uint8_t gddr6 = 0x70, channels = 16, channel_width_16_bits = 4;
    put_table_header(image, vram_info, header_bytes + module_bytes, 2, 5);
    image.put(vram_info + 20u, uint8_t{1});  // vram_module_num
    image.put(module, static_cast<uint32_t>(profile.vram_bytes >> 20));
    image.put(module + 10, module_bytes);  // vram_module_size
    image.put(module + 13, gddr6);
    image.put(module + 14, channels);
    image.put(module + 15, channel_width_16_bits);
}

/// struct atom_umc_info_v4_0: HBM with ECC, as much of it as hangs on one AID.
void put_umc_info(Image& image, const Profile& profile) {
    constexpr uint16_t bytes = 84;
    constexpr uint8_t hbm3 = 0x80, hbm3e = 0x81;  // ATOM_DGPU_VRAM_TYPE_*
    constexpr uint8_t channels = 32, channel_width_64_bits = 6;
    constexpr uint32_t UMC_CONFIG1__ENABLE_ECC_CAPABLE = 0x00010000;
    put_table_header(image, umc_info, bytes, 4, 0);
    image.put(umc_info + 26u, profile.ip(HwId::GC).minor == 5 ? hbm3e : hbm3);
    image.put(umc_info + 52u, UMC_CONFIG1__ENABLE_ECC_CAPABLE);
    image.put(umc_info + 64u, channels);
    image.put(umc_info + 65u, channel_width_64_bits);
}

/// The header of an expansion ROM as far as put_common() has not put it, and the PCI data
/// structure.
void put_expansion_rom(Image& image, const Profile& profile) {
    constexpr uint8_t x86_far_return = 0xcb, last_image = 0x80;
    constexpr uint16_t data_bytes = 24;
    image.put(3, x86_far_return);  // the entry of its code
    image.put(0x18, pci_data);
    image.text(pci_data, "PCIR");
    image.put(pci_data + 4u, profile.vendor_id);
    image.put(pci_data + 6u, profile.device_id);
    image.put(pci_data + 10u, data_bytes);
    image.put(pci_data + 13u, static_cast<uint8_t>(profile.class_code));
    image.put(pci_data + 14u, static_cast<uint16_t>(profile.class_code >> 8));
    image.put(pci_data + 16u, static_cast<uint16_t>(rom_bytes / rom_unit));
    image.put(pci_data + 21u, last_image);
}

/// All bytes of an expansion ROM add up to zero.
std::vector<std::byte> sealed(std::vector<std::byte> rom) {
    unsigned sum = 0;
    for (const std::byte byte : rom) {
        sum += std::to_integer<unsigned>(byte);
    }
    rom.back() = static_cast<std::byte>(std::to_integer<unsigned>(rom.back()) - sum);
    return rom;
}

}  // namespace

std::vector<std::byte> build_atom_image() {
    Image image(vf_vbios_bytes);
    put_common(image, std::size_t{64} * rom_unit, "Emulated VF image");
    // ATOM_VRAM_OPERATION_FLAGS_MASK | SRIOV_MSG_SHARE_RESERVATION: the driver finds the shared
    // region by its fixed place.
    set_data_table(image, index_vram_usagebyfirmware, vram_usage);
    put_table_header(image, vram_usage, 12, 2, 1);
    image.put(vram_usage + 4u, uint32_t{0x80000000});  // start_address_in_kb
    image.put(vram_usage + 8u, uint16_t{1024});        // used_by_firmware_in_kb
    image.put(vram_usage + 10u, uint16_t{0});          // used_by_driver_in_kb
    return image.take();
}

std::vector<std::byte> build_video_bios(const Profile& profile) {
    Image image(rom_bytes);
    put_common(image, rom_bytes, "Emulated board");
    put_expansion_rom(image, profile);
    image.put(firmware_info + 24u, at(profile.ip(HwId::NBIF),
                                      nbio_2_3::mmBIOS_SCRATCH_0));  // bios_scratch_reg_startaddr

    // The driver runs ASIC_Init after a reset; the device needs nothing of it.
    constexpr uint8_t ATOM_OP_EOT = 91;
    image.put(command_tables + 4u, asic_init);
    put_table_header(image, asic_init, 7, 2, 1);
    image.put(asic_init + 6u, ATOM_OP_EOT);

    if (profile.ip(HwId::MP1).major != 11) {
        set_data_table(image, index_umc_info, umc_info);
        put_umc_info(image, profile);
        return sealed(image.take());
    }
    set_data_table(image, index_vram_info, vram_info);
    put_vram_info(image, profile);
    set_data_table(image, index_gfx_info, gfx_info);
    put_table_header(image, gfx_info, 44, 2, 2);
    image.put(gfx_info + 40u, uint32_t{10000});  // rlc_gpu_timer_refclk, in 10 hz

    set_data_table(image, index_powerplayinfo, powerplay_info);
    put_powerplay_info(image);
    // Nothing on the board that the SMU must know: all of atom_smc_dpm_info_v4_9 is zero.
    set_data_table(image, index_smc_dpm_info, smc_dpm_info);
    put_table_header(image, smc_dpm_info, 0x200, 4, 9);
    return sealed(image.take());
}

void seal_pf2vf(std::span<std::byte> block) {
    uint32_t size = 0;
    std::memcpy(&size, &block[pf2vf_size], sizeof size);
    uint32_t sum = 0;  // of everything but the checksum itself
    std::memcpy(&block[pf2vf_checksum], &sum, sizeof sum);
    for (const std::byte byte : block.first(std::min<std::size_t>(size, block.size()))) {
        sum += std::to_integer<uint32_t>(byte);
    }
    std::memcpy(&block[pf2vf_checksum], &sum, sizeof sum);
}

std::vector<std::byte> build_pf2vf(const Profile& profile) {
    constexpr std::size_t bytes = 1024, version_offset = 4, feature_flags_offset = 20,
                          uuid_offset = 92, atomics_offset = 188, ras_en_caps_offset = 204;
    constexpr uint32_t feature_ras_caps = 1u << 9;
    constexpr uint32_t atomic_completer_32_and_64 = 0x180;  // as in PCI_EXP_DEVCAP2
    // Bits of union amd_sriov_ras_caps.
    constexpr uint64_t block_umc = 1, block_sdma = 2, block_gfx = 4, block_mmhub = 8,
                       poison_propogation_mode = 1ull << 20;
    Image block(bytes);
    block.put(pf2vf_size, static_cast<uint32_t>(bytes));
    block.put(version_offset, uint32_t{2});  // AMD_SRIOV_MSG_FW_VRAM_PF2VF_VER
    block.put(feature_flags_offset, feature_ras_caps);
    block.put(uuid_offset,
              profile.serial != 0 ? profile.serial : uint64_t{profile.device_id} << 48 | 1);
    block.put(atomics_offset, atomic_completer_32_and_64);
    block.put(ras_en_caps_offset,
              block_umc | block_sdma | block_gfx | block_mmhub | poison_propogation_mode);
    std::vector<std::byte> sealed = block.take();
    seal_pf2vf(sealed);
    return sealed;
}

}  // namespace gpuemu
