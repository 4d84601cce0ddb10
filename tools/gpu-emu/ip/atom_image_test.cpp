// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of the data of a virtual function, followed as atom.c and amdgpu_virt.c do.
// Thread: the test's.
// Does not model: nothing.
#include "gpu-emu/ip/atom_image.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace gpuemu {
namespace {

template <typename T>
T at(const std::vector<std::byte>& image, std::size_t offset) {
    T value{};
    EXPECT_LE(offset + sizeof value, image.size());
    std::memcpy(&value, image.data() + offset, sizeof value);
    return value;
}

std::string text(const std::vector<std::byte>& image, std::size_t offset) {
    return reinterpret_cast<const char*>(image.data()) + offset;
}

TEST(AtomImage, TablesAreFoundFromTheHeader) {
    const auto image = build_atom_image();
    ASSERT_EQ(image.size(), vf_vbios_bytes);
    EXPECT_EQ(at<uint16_t>(image, 0), 0xaa55);
    EXPECT_EQ(text(image, 0x30).substr(0, 10), " 761295520");
    const auto header = at<uint16_t>(image, 0x48);
    EXPECT_EQ(text(image, header + 4u).substr(0, 4), "ATOM");
    const auto tables = at<uint16_t>(image, header + 0x20u);
    const auto firmware_info = at<uint16_t>(image, tables + 4u + 2 * 4);
    EXPECT_EQ(at<uint8_t>(image, firmware_info + 2u), 3);  // format revision
    const auto usage = at<uint16_t>(image, tables + 4u + 2 * 11);
    EXPECT_EQ(at<uint32_t>(image, usage + 4u) >> 30, 2u);  // SRIOV_MSG_SHARE_RESERVATION
    EXPECT_NE(at<uint16_t>(image, tables + 4u + 2 * 23), 0);
}

TEST(AtomImage, HasAPartNumberAndAName) {
    const auto image = build_atom_image();
    ASSERT_EQ(at<uint8_t>(image, 0x2f), 1);
    const auto strings = at<uint16_t>(image, 0x6e);
    const std::string part = text(image, strings);
    EXPECT_EQ(part, "113-EMU00001-001");
    EXPECT_EQ(text(image, strings + part.size() + 3), "Emulated VF image");
}

/// As pci_get_rom_size() and the firmware of the machine look at it.
TEST(VideoBios, IsAnExpansionRom) {
    for (const char* name : {"mi300x", "mi308x", "mi350x", "navi21"}) {
        const Profile& profile = *find_profile(name);
        const auto image = build_video_bios(profile);
        const auto pci_data = at<uint16_t>(image, 0x18);
        EXPECT_EQ(text(image, pci_data).substr(0, 4), "PCIR");
        EXPECT_EQ(at<uint16_t>(image, pci_data + 4u), profile.vendor_id);
        EXPECT_EQ(at<uint16_t>(image, pci_data + 6u), profile.device_id);
        EXPECT_EQ(at<uint32_t>(image, pci_data + 12u) >> 8, profile.class_code);
        EXPECT_EQ(at<uint16_t>(image, pci_data + 16u) * 512u, image.size());
        EXPECT_EQ(at<uint8_t>(image, pci_data + 20u), 0) << "code for x86";
        EXPECT_EQ(at<uint8_t>(image, pci_data + 21u), 0x80) << "the last image";
        unsigned sum = 0;
        for (const std::byte byte : image) {
            sum += std::to_integer<unsigned>(byte);
        }
        EXPECT_EQ(sum & 0xff, 0u);
    }
}

TEST(VideoBios, TellsTheDriverOfNavi21WhatItAsks) {
    const auto image = build_video_bios(*find_profile("navi21"));
    EXPECT_EQ(at<uint8_t>(image, 2) * 512u, image.size());  // AMD_VBIOS_LENGTH()
    const auto header = at<uint16_t>(image, 0x48);
    const auto table = [&](unsigned index) {
        return at<uint16_t>(image, at<uint16_t>(image, header + 0x20u) + 4u + 2 * index);
    };
    EXPECT_EQ(at<uint32_t>(image, table(4) + 24u), 0x14u + 0x38);  // mmBIOS_SCRATCH_0
    EXPECT_EQ(table(11), 0) << "no region is reserved for a host";
    EXPECT_EQ(at<uint32_t>(image, table(14) + 40u), 10000u);  // rlc_gpu_timer_refclk

    const std::size_t module = table(28) + 24u;
    EXPECT_EQ(at<uint8_t>(image, module + 13), 0x70);  // GDDR6
    EXPECT_EQ(at<uint8_t>(image, module + 14) << at<uint8_t>(image, module + 15), 256);

    const auto power = table(15);
    EXPECT_EQ(at<uint16_t>(image, power), 2470);  // sizeof(struct smu_11_0_7_powerplay_table)
    EXPECT_EQ(at<uint8_t>(image, power + 2u), 15);
    EXPECT_EQ(at<uint16_t>(image, power + 802u + 12), 300);  // SocketPowerLimitAc
    EXPECT_EQ(at<uint32_t>(image, power + 802u + 8) & 1, 0u) << "FEATURE_FAN_CONTROL";
    // sienna_cichlid_append_powerplay_table() copies 324 bytes from behind its header.
    EXPECT_LE(table(2) + 4u + 324, image.size());
    EXPECT_GE(table(2), power + 2470);
}

/// amdgpu_atomfirmware_get_umc_info(), amdgpu_atomfirmware_mem_ecc_supported().
TEST(VideoBios, OfAnInstinctSaysThatItsMemoryIsHbm) {
    for (const auto& [name, type] : {std::pair{"mi300x", 0x80}, {"mi350x", 0x81}}) {
        const auto image = build_video_bios(*find_profile(name));
        const auto tables = at<uint16_t>(image, at<uint16_t>(image, 0x48) + 0x20u);
        const auto umc = at<uint16_t>(image, tables + 4u + 2 * 24);
        ASSERT_NE(umc, 0);
        EXPECT_EQ(at<uint8_t>(image, umc + 2u), 4);
        EXPECT_EQ(at<uint8_t>(image, umc + 3u), 0);
        EXPECT_EQ(at<uint8_t>(image, umc + 26u), type);
        EXPECT_EQ(at<uint32_t>(image, umc + 52u), 0x10000u);
        EXPECT_EQ(at<uint8_t>(image, umc + 64u) << at<uint8_t>(image, umc + 65u), 2048);
        EXPECT_EQ(at<uint16_t>(image, tables + 4u + 2 * 15), 0) << "power play is the SMU's";
    }
}

TEST(VideoBios, AsicInitEndsAtOnce) {
    const auto image = build_video_bios(*find_profile("navi21"));
    const auto commands = at<uint16_t>(image, at<uint16_t>(image, 0x48) + 0x1eu);
    const auto asic_init = at<uint16_t>(image, commands + 4u);
    ASSERT_NE(asic_init, 0);
    EXPECT_EQ(at<uint8_t>(image, asic_init + 6u), 91);  // ATOM_OP_EOT
}

TEST(Pf2Vf, ChecksumAndCapabilities) {
    const auto block = build_pf2vf(*find_profile("mi300x-vf"));
    ASSERT_EQ(at<uint32_t>(block, 0), block.size());
    EXPECT_EQ(at<uint32_t>(block, 4), 2u);
    uint32_t sum = 0;  // amd_sriov_msg_checksum(): all bytes but those of the checksum
    for (std::size_t index = 0; index < block.size(); ++index) {
        if (index < 16 || index >= 20) {
            sum += std::to_integer<uint32_t>(block[index]);
        }
    }
    EXPECT_EQ(at<uint32_t>(block, 16), sum);
    EXPECT_NE(at<uint32_t>(block, 20) & 1u << 9, 0u);
    EXPECT_NE(at<uint64_t>(block, 204) & 1, 0u);
}

TEST(Pf2Vf, TheUniqueIdIsTheBoards) {
    Profile profile = *find_profile("mi300x-vf");
    const auto nameless = at<uint64_t>(build_pf2vf(profile), 92);
    EXPECT_NE(nameless, 0u) << "the driver would report none";
    profile.serial = 0xe01;
    EXPECT_EQ(at<uint64_t>(build_pf2vf(profile), 92), 0xe01u);
}

}  // namespace
}  // namespace gpuemu
