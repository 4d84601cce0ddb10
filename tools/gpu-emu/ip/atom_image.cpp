// SPDX-License-Identifier: GPL-2.0
// Purpose: builds the image in the layout that atom.c and amdgpu_atomfirmware.c read.
// Thread: any; pure.
// Does not model: see atom_image.h.
#include "gpu-emu/ip/atom_image.h"

#include <algorithm>
#include <cstring>
#include <string_view>

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

// Where this image has its parts.
constexpr uint16_t rom_header = 0x100;
constexpr uint16_t data_tables = 0x200;
constexpr uint16_t firmware_info = 0x300;
constexpr uint16_t vram_usage = 0x380;
constexpr uint16_t indirect_io = 0x3c0;
constexpr uint16_t command_tables = 0x600;
constexpr uint16_t strings = 0x700;
constexpr uint16_t version_string = 0x780;

/// struct atom_common_table_header.
void put_table_header(Image& image, uint16_t offset, uint16_t bytes, uint8_t format,
                      uint8_t content) {
    image.put(offset, bytes);
    image.put(offset + 2u, format);
    image.put(offset + 3u, content);
}

void put_data_tables(Image& image) {
    // atom_master_list_of_data_tables_v2_1: indices of the tables the driver looks for.
    constexpr unsigned count = 35, index_firmwareinfo = 4, index_vram_usagebyfirmware = 11,
                       index_indirectioaccess = 23;
    const auto set = [&](unsigned index, uint16_t table) {
        image.put(data_tables + 4u + 2 * index, table);
    };
    put_table_header(image, data_tables, 4 + 2 * count, 2, 1);
    set(index_firmwareinfo, firmware_info);
    set(index_vram_usagebyfirmware, vram_usage);
    set(index_indirectioaccess, indirect_io);

    put_table_header(image, firmware_info, 64, 3, 1);
    image.put(firmware_info + 4u, uint32_t{1});       // firmware_revision
    image.put(firmware_info + 8u, uint32_t{210000});  // bootup_sclk_in10khz
    image.put(firmware_info + 12u, uint32_t{90000});  // bootup_mclk_in10khz

    // ATOM_VRAM_OPERATION_FLAGS_MASK | SRIOV_MSG_SHARE_RESERVATION: the driver finds the shared
    // region by its fixed place.
    put_table_header(image, vram_usage, 12, 2, 1);
    image.put(vram_usage + 4u, uint32_t{0x80000000});  // start_address_in_kb
    image.put(vram_usage + 8u, uint16_t{1024});        // used_by_firmware_in_kb
    image.put(vram_usage + 10u, uint16_t{0});          // used_by_driver_in_kb

    put_table_header(image, indirect_io, 8, 1, 1);
}

}  // namespace

std::vector<std::byte> build_atom_image() {
    Image image(vf_vbios_bytes);
    image.put(0, uint16_t{0xaa55});  // ATOM_BIOS_MAGIC
    image.put(2, uint8_t{64});       // size in units of 512 bytes
    image.text(ATOM_ATI_MAGIC_PTR, " 761295520");
    image.put(ATOM_ROM_TABLE_PTR, rom_header);
    image.text(OFFSET_TO_VBIOS_DATE, "01/01/26 00:00");
    image.put(rom_header, uint16_t{0x24});
    image.text(rom_header + ATOM_ROM_MAGIC_PTR, "ATOM");
    image.put(rom_header + ATOM_ROM_CMD_PTR, command_tables);
    image.put(rom_header + ATOM_ROM_DATA_PTR, data_tables);
    put_data_tables(image);
    put_table_header(image, command_tables, 4 + 2 * 100, 2, 1);
    // One string, the part number: the driver uses a null pointer in an image without one. The name
    // follows after it.
    image.put(OFFSET_TO_GET_ATOMBIOS_NUMBER_OF_STRINGS, uint8_t{1});
    image.put(OFFSET_TO_GET_ATOMBIOS_STRING_START, strings);
    image.text(strings, std::string_view("113-EMU00001-001\0\r\nEmulated VF image\0", 38));
    image.text(version_string, "ATOMBIOSBK-AMD VER000.001.000.000");
    return image.take();
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
    block.put(uuid_offset, uint64_t{profile.device_id} << 48 | 1);
    block.put(atomics_offset, atomic_completer_32_and_64);
    block.put(ras_en_caps_offset,
              block_umc | block_sdma | block_gfx | block_mmhub | poison_propogation_mode);
    std::vector<std::byte> sealed = block.take();
    seal_pf2vf(sealed);
    return sealed;
}

}  // namespace gpuemu
