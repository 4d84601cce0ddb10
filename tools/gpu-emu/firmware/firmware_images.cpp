// SPDX-License-Identifier: GPL-2.0
// Purpose: builds the headers of drivers/gpu/drm/amd/amdgpu/amdgpu_ucode.h field by field.
// Thread: any; pure.
#include "gpu-emu/firmware/firmware_images.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <span>
#include <system_error>

#include "gpu-emu/ip/xgmi_ta.h"

namespace gpuemu {
namespace {

constexpr uint32_t payload_offset = 256;
constexpr std::size_t common_header_bytes = 32;

struct Version {
    uint16_t major, minor;
};

std::vector<std::byte> pattern(std::size_t bytes) {
    constexpr std::array<uint8_t, 4> repeated = {0xa5, 0x5a, 0x00, 0x01};
    std::vector<std::byte> payload(bytes);
    for (std::size_t index = 0; index < bytes; ++index) {
        payload[index] = static_cast<std::byte>(repeated[index % repeated.size()]);
    }
    return payload;
}

/// CRC-32 of IEEE 802.3, reflected, as in the header's crc32.
uint32_t crc32(std::span<const std::byte> bytes) {
    uint32_t crc = ~0u;
    for (const std::byte byte : bytes) {
        crc ^= std::to_integer<uint32_t>(byte);
        for (int bit = 0; bit < 8; ++bit) {
            crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320u : 0u);
        }
    }
    return ~crc;
}

/// struct common_firmware_header, `fields` (all 32 bits wide), padding, payload.
std::vector<std::byte> image(Version header_version, Version ip_version, uint32_t ucode_version,
                             std::initializer_list<uint32_t> fields,
                             const std::vector<std::byte>& payload) {
    std::vector<std::byte> out(payload_offset);
    std::size_t position = 0;
    const auto put = [&](auto value) {
        std::memcpy(out.data() + position, &value, sizeof value);
        position += sizeof value;
    };
    put(static_cast<uint32_t>(payload_offset + payload.size()));          // size_bytes
    put(static_cast<uint32_t>(common_header_bytes + fields.size() * 4));  // header_size_bytes
    put(header_version.major);
    put(header_version.minor);
    put(ip_version.major);
    put(ip_version.minor);
    put(ucode_version);
    put(static_cast<uint32_t>(payload.size()));  // ucode_size_bytes
    put(payload_offset);                         // ucode_array_offset_bytes
    put(crc32(payload));
    for (const uint32_t field : fields) {
        put(field);
    }
    out.insert(out.end(), payload.begin(), payload.end());
    return out;
}

std::vector<std::byte> image(Version header_version, Version ip_version, uint32_t ucode_version,
                             std::initializer_list<uint32_t> fields, std::size_t payload_bytes) {
    return image(header_version, ip_version, ucode_version, fields, pattern(payload_bytes));
}

constexpr uint32_t part_bytes = 4096;

/// psp_firmware_header_v2_0: the parts that the driver hands to the bootloader.
std::vector<std::byte> psp_sos(Version psp_version) {
    constexpr uint32_t PSP_FW_TYPE_PSP_SOS = 1, PSP_FW_TYPE_PSP_SYS_DRV = 2,
                       PSP_FW_TYPE_PSP_KDB = 3;
    constexpr uint32_t version = 0x00360001;
    // Count, then type, version, offset in the payload and size of each.
    return image({2, 0}, psp_version, version,
                 {3, PSP_FW_TYPE_PSP_SOS, version, 0, part_bytes,            //
                  PSP_FW_TYPE_PSP_SYS_DRV, version, part_bytes, part_bytes,  //
                  PSP_FW_TYPE_PSP_KDB, 1, 2 * part_bytes, part_bytes},
                 3 * part_bytes);
}

constexpr uint32_t TA_FW_TYPE_PSP_ASD = 1, TA_FW_TYPE_PSP_XGMI = 2, TA_FW_TYPE_PSP_RAS = 3;

/// ta_firmware_header_v2_0: ASD and the RAS application.
std::vector<std::byte> psp_ta(Version psp_version) {
    return image({2, 0}, psp_version, 0x1b000201,
                 {2, TA_FW_TYPE_PSP_ASD, 0x21000001, 0, part_bytes,  //
                  TA_FW_TYPE_PSP_RAS, 0x1b00013e, part_bytes, part_bytes},
                 2 * part_bytes);
}

/// The same with the application for XGMI, which the emulated PSP knows by its mark.
std::vector<std::byte> psp_ta_with_xgmi(Version psp_version) {
    constexpr uint32_t xgmi_offset = 2 * part_bytes;
    std::vector<std::byte> payload = pattern(3 * part_bytes);
    std::memcpy(payload.data() + xgmi_offset, xgmi_ta_mark.data(), xgmi_ta_mark.size());
    return image({2, 0}, psp_version, 0x1b000201,
                 {3, TA_FW_TYPE_PSP_ASD, 0x21000001, 0, part_bytes,        //
                  TA_FW_TYPE_PSP_RAS, 0x1b00013e, part_bytes, part_bytes,  //
                  TA_FW_TYPE_PSP_XGMI, 0x20000013, xgmi_offset, part_bytes},
                 payload);
}

/// gfx_firmware_header_v1_0: feature version, jump table offset and size in dwords.
std::vector<std::byte> gc_cp(Version gc_version, uint32_t ucode_version) {
    constexpr uint32_t payload = 16384, jump_table = 1024;
    return image({1, 0}, gc_version, ucode_version,
                 {0x21, (payload - jump_table) / 4, jump_table / 4}, payload);
}

/// rlc_firmware_header_v2_0 with empty register lists.
std::vector<std::byte> gc_rlc(Version gc_version) {
    constexpr uint32_t list = payload_offset;  // offset of lists that have no bytes
    return image({2, 0}, gc_version, 0x53,
                 {1, 0x800, 64, 0, 0, 0, 0, 0, 0, 0, 0, list, 0, list, 0, list, 0, list}, 8192);
}

/// sdma_firmware_header_v1_0: feature and change version, jump table offset and size in dwords.
std::vector<std::byte> sdma(Version sdma_version) {
    constexpr uint32_t payload = 8192, jump_table = 256;
    return image({1, 0}, sdma_version, 0x18, {0x20, 0, (payload - jump_table) / 4, jump_table / 4},
                 payload);
}

/// No more than the common header. Bits 20 to 23 say that the rest counts as encoder, decoder and
/// revision.
std::vector<std::byte> vcn(Version vcn_version) {
    return image({1, 0}, vcn_version, 0x0911f00b, {}, 16384);
}

/// smc_firmware_header_v2_1: start address, no P2S tables.
std::vector<std::byte> smu() {
    return image({2, 1}, {13, 0}, 0x00557900, {0, 0, payload_offset}, 256);
}

/// smc_firmware_header_v1_0: start address.
std::vector<std::byte> smc() {
    return image({1, 0}, {11, 0}, 0x003a2900, {0}, 256);
}

constexpr Version psp_13{13, 0}, psp_11{11, 0}, gc_9{9, 4}, gc_9_5{9, 5}, gc_10{10, 3},
    sdma_4{4, 4}, sdma_5{5, 2};
// Of the MEC of GC 9.5.0: from 21 on the driver resets its queues, from 44 on it reads the counters
// of SDMA queues, which nobody counts here.
constexpr uint32_t gfx9_5_ucode_version = 32;
// Of the command processors of GC 10.3.0: amdkfd wants PCIe atomics of one before 92, and from 100
// on the driver uses a cleaner shader.
constexpr uint32_t gfx10_ucode_version = 96;

}  // namespace

std::vector<FirmwareFile> build_firmware_images() {
    std::vector<FirmwareFile> files = {
        {"psp_13_0_6_sos.bin", psp_sos(psp_13)},
        {"psp_13_0_6_ta.bin", psp_ta_with_xgmi(psp_13)},
        {"gc_9_4_3_mec.bin", gc_cp(gc_9, 0xA8)},
        {"gc_9_4_3_sjt_mec.bin", gc_cp(gc_9, 0xA8)},  // for virtual functions, split jump table
        {"gc_9_4_3_rlc.bin", gc_rlc(gc_9)},
        {"sdma_4_4_2.bin", sdma(sdma_4)},
        {"smu_13_0_6.bin", smu()},
        {"vcn_4_0_3.bin", vcn({4, 0})},
        {"psp_13_0_12_sos.bin", psp_sos(psp_13)},
        {"psp_13_0_12_ta.bin", psp_ta(psp_13)},
        {"gc_9_5_0_mec.bin", gc_cp(gc_9_5, gfx9_5_ucode_version)},
        {"gc_9_5_0_rlc.bin", gc_rlc(gc_9_5)},
        {"sdma_4_4_5.bin", sdma(sdma_4)},
        {"vcn_5_0_1.bin", vcn({5, 0})},
        {"sienna_cichlid_sos.bin", psp_sos(psp_11)},
        {"sienna_cichlid_ta.bin", psp_ta(psp_11)},
        {"sienna_cichlid_rlc.bin", gc_rlc(gc_10)},
        {"sienna_cichlid_sdma.bin", sdma(sdma_5)},
        {"sienna_cichlid_smc.bin", smc()},
        {"sienna_cichlid_vcn.bin", vcn({3, 0})},
    };
    for (const char* engine : {"pfp", "me", "ce", "mec", "mec2"}) {
        files.push_back(
            {std::string("sienna_cichlid_") + engine + ".bin", gc_cp(gc_10, gfx10_ucode_version)});
    }
    return files;
}

hp::Result<void> write_firmware_images(const std::string& directory) {
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error) {
        return hp::fail("cannot make directory " + directory + ": " + error.message());
    }
    for (const FirmwareFile& file : build_firmware_images()) {
        const std::string path = (std::filesystem::path(directory) / file.name).string();
        std::ofstream out(path, std::ios::binary | std::ios::trunc);
        out.write(reinterpret_cast<const char*>(file.bytes.data()),
                  static_cast<std::streamsize>(file.bytes.size()));
        out.close();
        if (!out) {
            return hp::fail("cannot write " + path);
        }
    }
    return {};
}

}  // namespace gpuemu
