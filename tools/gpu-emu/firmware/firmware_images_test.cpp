// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of the firmware files: the headers are parsed again with structures written from
// amdgpu_ucode.h, with the checks that the driver makes.
// Thread: the test's.
// Does not model: nothing.
#include "gpu-emu/firmware/firmware_images.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

namespace gpuemu {
namespace {

struct common_firmware_header {
    uint32_t size_bytes, header_size_bytes;
    uint16_t header_version_major, header_version_minor, ip_version_major, ip_version_minor;
    uint32_t ucode_version, ucode_size_bytes, ucode_array_offset_bytes, crc32;
};
struct psp_fw_bin_desc {
    uint32_t fw_type, fw_version, offset_bytes, size_bytes;
};
struct gfx_firmware_header_v1_0 {
    common_firmware_header header;
    uint32_t ucode_feature_version, jt_offset, jt_size;
};
struct rlc_firmware_header_v2_0 {
    common_firmware_header header;
    uint32_t ucode_feature_version, jt_offset, jt_size, save_and_restore_offset;
    uint32_t clear_state_descriptor_offset, avail_scratch_ram_locations, reg_restore_list_size;
    uint32_t reg_list_format_start, reg_list_format_separate_start, starting_offsets_start;
    uint32_t reg_list_format_size_bytes, reg_list_format_array_offset_bytes, reg_list_size_bytes;
    uint32_t reg_list_array_offset_bytes, reg_list_format_separate_size_bytes;
    uint32_t reg_list_format_separate_array_offset_bytes, reg_list_separate_size_bytes;
    uint32_t reg_list_separate_array_offset_bytes;
};
struct sdma_firmware_header_v1_0 {
    common_firmware_header header;
    uint32_t ucode_feature_version, ucode_change_version, jt_offset, jt_size;
};
struct smc_firmware_header_v2_1 {
    common_firmware_header header;
    uint32_t ucode_start_addr, pptable_count, pptable_entry_offset;
};

class FirmwareImages : public testing::Test {
protected:
    template <typename T>
    T header(const std::string& name, std::size_t offset = 0) const {
        T value{};
        const auto& bytes = files.at(name);
        EXPECT_LE(offset + sizeof value, bytes.size());
        std::memcpy(&value, bytes.data() + offset, sizeof value);
        return value;
    }
    std::vector<psp_fw_bin_desc> parts(const std::string& name) const {
        std::vector<psp_fw_bin_desc> list(header<uint32_t>(name, sizeof(common_firmware_header)));
        for (std::size_t index = 0; index < list.size(); ++index) {
            list[index] = header<psp_fw_bin_desc>(
                name, sizeof(common_firmware_header) + 4 + index * sizeof(psp_fw_bin_desc));
        }
        return list;
    }

    std::map<std::string, std::vector<std::byte>> files = [] {
        std::map<std::string, std::vector<std::byte>> by_name;
        for (FirmwareFile& file : build_firmware_images()) {
            by_name[file.name] = std::move(file.bytes);
        }
        return by_name;
    }();
};

TEST_F(FirmwareImages, AreTheFilesOfTheAsics) {
    std::set<std::string> names;
    for (const auto& [name, bytes] : files) {
        names.insert(name);
    }
    EXPECT_EQ(names,
              (std::set<std::string>{
                  "gc_9_4_3_mec.bin",       "gc_9_4_3_rlc.bin",       "psp_13_0_6_sos.bin",
                  "psp_13_0_6_ta.bin",      "sdma_4_4_2.bin",         "smu_13_0_6.bin",
                  "gc_9_5_0_mec.bin",       "gc_9_5_0_rlc.bin",       "psp_13_0_12_sos.bin",
                  "psp_13_0_12_ta.bin",     "sdma_4_4_5.bin",         "sienna_cichlid_ce.bin",
                  "sienna_cichlid_me.bin",  "sienna_cichlid_mec.bin", "sienna_cichlid_mec2.bin",
                  "sienna_cichlid_pfp.bin", "sienna_cichlid_rlc.bin", "sienna_cichlid_sdma.bin",
                  "sienna_cichlid_smc.bin", "sienna_cichlid_sos.bin", "sienna_cichlid_ta.bin",
                  "vcn_4_0_3.bin",          "vcn_5_0_1.bin",          "sienna_cichlid_vcn.bin",
                  "gc_9_4_3_sjt_mec.bin"}));
}

TEST_F(FirmwareImages, CommonHeadersHold) {
    for (const auto& [name, bytes] : files) {
        const auto common = header<common_firmware_header>(name);
        EXPECT_EQ(common.size_bytes, bytes.size()) << name;  // amdgpu_ucode_validate()
        EXPECT_LE(common.header_size_bytes, common.ucode_array_offset_bytes) << name;
        EXPECT_EQ(common.ucode_array_offset_bytes + common.ucode_size_bytes, bytes.size()) << name;
        EXPECT_NE(common.ucode_version, 0u) << name;
    }
    // Of 64 times a5 5a 00 01, computed by another implementation of CRC-32.
    EXPECT_EQ(header<common_firmware_header>("smu_13_0_6.bin").crc32, 0x11a94887u);
}

TEST_F(FirmwareImages, PspPartsLieInThePayload) {
    const auto sos = parts("psp_13_0_6_sos.bin");
    const auto ta = parts("psp_13_0_6_ta.bin");
    EXPECT_EQ(header<common_firmware_header>("psp_13_0_6_sos.bin").header_version_major, 2);
    std::set<uint32_t> types;
    for (const auto& part : sos) {
        types.insert(part.fw_type);
    }
    EXPECT_EQ(types, (std::set<uint32_t>{1, 2, 3}));  // SOS, SYS_DRV, KDB
    ASSERT_EQ(ta.size(), 3u);
    EXPECT_EQ(ta[0].fw_type, 1u);  // ASD
    EXPECT_EQ(ta[1].fw_type, 3u);  // RAS
    EXPECT_EQ(ta[2].fw_type, 2u);  // XGMI
    EXPECT_LT(ta[2].fw_version & 0xff, 0x14u) << "from there on APUs want another one";
    for (const auto& [name, list] :
         {std::pair{"psp_13_0_6_sos.bin", sos}, {"psp_13_0_6_ta.bin", ta}}) {
        const auto common = header<common_firmware_header>(name);
        for (const auto& part : list) {
            EXPECT_GT(part.size_bytes, 0u);
            EXPECT_LE(part.offset_bytes + part.size_bytes, common.ucode_size_bytes) << name;
        }
    }
}

TEST_F(FirmwareImages, JumpTablesLieInThePayload) {
    const auto mec = header<gfx_firmware_header_v1_0>("gc_9_4_3_mec.bin");
    EXPECT_EQ(mec.header.header_version_major, 1);
    EXPECT_EQ(mec.header.header_size_bytes, sizeof mec);
    EXPECT_EQ((mec.jt_offset + mec.jt_size) * 4, mec.header.ucode_size_bytes);
    const auto sdma = header<sdma_firmware_header_v1_0>("sdma_4_4_2.bin");
    EXPECT_EQ(sdma.header.header_size_bytes, sizeof sdma);
    EXPECT_EQ((sdma.jt_offset + sdma.jt_size) * 4, sdma.header.ucode_size_bytes);
}

TEST_F(FirmwareImages, RlcListsAreEmptyAndSmuHasNoTables) {
    const auto rlc = header<rlc_firmware_header_v2_0>("gc_9_4_3_rlc.bin");
    EXPECT_EQ(rlc.header.header_version_major, 2);
    EXPECT_EQ(rlc.header.header_version_minor, 0);
    EXPECT_EQ(rlc.header.header_size_bytes, sizeof rlc);
    EXPECT_EQ(rlc.reg_list_format_size_bytes, 0u);
    EXPECT_EQ(rlc.reg_list_size_bytes, 0u);
    EXPECT_LE(rlc.reg_list_format_array_offset_bytes, rlc.header.size_bytes);
    const auto smu = header<smc_firmware_header_v2_1>("smu_13_0_6.bin");
    EXPECT_EQ(smu.header.header_version_major, 2);
    EXPECT_EQ(smu.header.header_version_minor, 1);
    EXPECT_EQ(smu.pptable_count, 0u);
    EXPECT_LE(smu.pptable_entry_offset, smu.header.size_bytes);
}

TEST_F(FirmwareImages, AreWrittenAndErrorsSaid) {
    const auto directory = std::filesystem::temp_directory_path() /
                           ("firmware_images_test." + std::to_string(::getpid()));
    ASSERT_TRUE(write_firmware_images(directory.string()));
    for (const auto& [name, bytes] : files) {
        EXPECT_EQ(std::filesystem::file_size(directory / name), bytes.size());
    }
    const auto file = directory / "smu_13_0_6.bin";
    const auto written = write_firmware_images((file / "sub").string());
    ASSERT_FALSE(written);
    EXPECT_NE(written.error().message.find("cannot make directory"), std::string::npos);
    std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace gpuemu
