// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of the IP discovery binary with a parser of its own, written from
// drivers/gpu/drm/amd/include/discovery.h in the way amdgpu_discovery.c goes through it.
// Thread: the test's.
// Does not model: nothing.
#include "gpu-emu/ip/discovery.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace gpuemu {
namespace {

#pragma pack(push, 1)
struct table_info {
    uint16_t offset, checksum, size, padding;
};
struct binary_header {
    uint32_t binary_signature;
    uint16_t version_major, version_minor, binary_checksum, binary_size;
    table_info table_list[6];
};
struct die_info {
    uint16_t die_id, die_offset;
};
struct ip_discovery_header {
    uint32_t signature;
    uint16_t version, size;
    uint32_t id;
    uint16_t num_dies;
    die_info dies[16];
    uint16_t padding;
};
struct die_header {
    uint16_t die_id, num_ips;
};
struct ip_v3 {
    uint16_t hw_id;
    uint8_t instance_number, num_base_address, major, minor, revision;
    uint8_t sub_revision : 4, variant : 4;
};
struct gpu_info_header {
    uint32_t table_id;
    uint16_t version_major, version_minor;
    uint32_t size;
};
#pragma pack(pop)

class Binary {
public:
    explicit Binary(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
    explicit Binary(const Profile& profile) : Binary(build_discovery_binary(profile)) {}

    template <typename T>
    T at(std::size_t offset) const {
        EXPECT_LE(offset + sizeof(T), bytes_.size());
        T value{};
        std::memcpy(&value, bytes_.data() + offset, sizeof value);
        return value;
    }
    uint16_t sum(std::size_t offset, std::size_t length) const {
        uint16_t total = 0;
        for (std::size_t index = offset; index < offset + length; ++index) {
            total = static_cast<uint16_t>(total + std::to_integer<unsigned>(bytes_.at(index)));
        }
        return total;
    }
    std::size_t size() const { return bytes_.size(); }

private:
    std::vector<std::byte> bytes_;
};

class Discovery : public testing::TestWithParam<const char*> {
protected:
    const Profile& profile = *find_profile(GetParam());
    const Binary binary{profile};
    const binary_header header = binary.at<binary_header>(0);
};

TEST_P(Discovery, SignatureSizeAndChecksums) {
    EXPECT_EQ(header.binary_signature, 0x28211407u);
    EXPECT_EQ(header.version_major, 1);
    EXPECT_EQ(header.binary_size, binary.size());
    EXPECT_LE(binary.size(), discovery_max_bytes);
    constexpr std::size_t covered = offsetof(binary_header, binary_checksum) + 2;
    EXPECT_EQ(header.binary_checksum, binary.sum(covered, header.binary_size - covered));
    for (unsigned table = 0; table < 4; ++table) {
        const table_info& info = header.table_list[table];
        ASSERT_NE(info.offset, 0);
        ASSERT_LE(info.offset + info.size, header.binary_size);
        EXPECT_EQ(info.checksum, binary.sum(info.offset, info.size)) << table;
    }
    for (unsigned table = 4; table < 6; ++table) {
        EXPECT_EQ(header.table_list[table].offset, 0);
    }
}

TEST_P(Discovery, EveryIpIsListedWithItsBases) {
    const std::size_t table = header.table_list[0].offset;
    const auto ip_header = binary.at<ip_discovery_header>(table);
    EXPECT_EQ(ip_header.signature, 0x53445049u);
    EXPECT_EQ(ip_header.version, 3);
    EXPECT_EQ(ip_header.size, header.table_list[0].size);
    ASSERT_EQ(ip_header.num_dies, 1);
    std::size_t offset = ip_header.dies[0].die_offset;
    const auto die = binary.at<die_header>(offset);
    EXPECT_EQ(die.die_id, ip_header.dies[0].die_id);
    ASSERT_EQ(die.num_ips, profile.ips.size());
    offset += sizeof(die_header);
    for (const IpInstance& expected : profile.ips) {
        const auto ip = binary.at<ip_v3>(offset);
        offset += sizeof(ip_v3);
        EXPECT_EQ(ip.hw_id, static_cast<uint16_t>(expected.hw_id));
        EXPECT_EQ(ip.instance_number, expected.instance);
        EXPECT_EQ(ip.major, expected.major);
        EXPECT_EQ(ip.minor, expected.minor);
        EXPECT_EQ(ip.revision, expected.revision);
        EXPECT_EQ(ip.sub_revision, expected.sub_revision);
        ASSERT_EQ(ip.num_base_address, expected.bases.size());
        for (const uint32_t base : expected.bases) {
            EXPECT_EQ(binary.at<uint32_t>(offset), base);
            offset += sizeof(uint32_t);
        }
    }
    EXPECT_LE(offset, table + ip_header.size);
}

TEST_P(Discovery, GcInfoHoldsTheGeometry) {
    const std::size_t table = header.table_list[1].offset;
    const auto info = binary.at<gpu_info_header>(table);
    EXPECT_EQ(info.table_id, 0x4347u);
    EXPECT_EQ(info.version_major, 2);
    EXPECT_EQ(info.version_minor, 1);
    EXPECT_EQ(info.size, header.table_list[1].size);
    EXPECT_EQ(info.size, sizeof info + 24 * sizeof(uint32_t));  // gc_info_v2_1
    const auto field = [&](std::size_t index) {
        return binary.at<uint32_t>(table + sizeof info + index * 4);
    };
    EXPECT_EQ(field(0), profile.gc.shader_engines);
    EXPECT_EQ(field(1), profile.gc.cu_per_sh);
    EXPECT_EQ(field(2), profile.gc.sh_per_se);
    EXPECT_EQ(field(11), profile.gc.wave_size);
    EXPECT_EQ(field(12), profile.gc.max_waves_per_simd);
    EXPECT_EQ(field(14), profile.gc.lds_size_kib);
}

/// amdgpu_discovery_get_vcn_info().
TEST_P(Discovery, NoCodecIsFusedOff) {
    const std::size_t table = header.table_list[3].offset;
    const auto info = binary.at<gpu_info_header>(table);
    EXPECT_EQ(info.table_id, 0x004e4356u);
    EXPECT_EQ(info.version_major, 1);
    EXPECT_EQ(info.size, header.table_list[3].size);
    EXPECT_EQ(info.size, 12u + 4 + 4 * 16 + 16);  // struct vcn_info_v1_0
    EXPECT_EQ(binary.at<uint32_t>(table + sizeof info), profile.working(HwId::VCN).size());
    for (unsigned instance = 0; instance < 4; ++instance) {
        EXPECT_EQ(binary.at<uint32_t>(table + sizeof info + 4 + 16 * instance + 4), 0u);
    }
}

TEST_P(Discovery, NothingIsHarvested) {
    const std::size_t table = header.table_list[2].offset;
    EXPECT_EQ(header.table_list[2].size, 8 + 32 * 4);
    EXPECT_EQ(binary.at<uint32_t>(table), 0x56524148u);
    for (unsigned slot = 0; slot < 32; ++slot) {
        EXPECT_EQ(binary.at<uint32_t>(table + 8 + slot * 4), 0u);
    }
}

INSTANTIATE_TEST_SUITE_P(Profiles, Discovery, testing::Values("mi300x", "mi300x-vf", "mi350x"),
                         [](const auto& info) {
                             std::string name = info.param;
                             std::ranges::replace(name, '-', '_');
                             return name;
                         });

/// amdgpu_discovery_read_from_harvest_table().
TEST(DiscoveryHarvest, NamesTheXccsThatAreFusedOff) {
    const Binary binary(*find_profile("mi308x"));
    const std::size_t table = binary.at<binary_header>(0).table_list[2].offset;
    for (unsigned slot = 0; slot < 4; ++slot) {
        EXPECT_EQ(binary.at<uint16_t>(table + 8 + slot * 4), 11u) << "GC_HWID";
        EXPECT_EQ(binary.at<uint8_t>(table + 10 + slot * 4), 2 * slot + 1);
    }
    EXPECT_EQ(binary.at<uint32_t>(table + 8 + 4 * 4), 0u);
}

/// Whether the sum of the binary, and that of its first table, are right.
void expect_sealed(const Binary& binary) {
    const auto header = binary.at<binary_header>(0);
    constexpr std::size_t covered = offsetof(binary_header, binary_checksum) + 2;
    EXPECT_EQ(header.binary_checksum, binary.sum(covered, binary.size() - covered));
    const table_info& info = header.table_list[0];
    EXPECT_EQ(info.checksum, binary.sum(info.offset, info.size));
}

TEST(DiscoveryLies, ACountIsFalseAndTheSumsAreRight) {
    std::vector<std::byte> bytes = build_discovery_binary(*find_profile("mi300x"));
    ASSERT_TRUE(set_discovery_field(bytes, DiscoveryField::dies, 3073));
    const Binary dies(bytes);
    const std::size_t table = dies.at<binary_header>(0).table_list[0].offset;
    const auto ip_header = dies.at<ip_discovery_header>(table);
    EXPECT_EQ(ip_header.num_dies, 3073);
    expect_sealed(dies);
    ASSERT_TRUE(set_discovery_field(bytes, DiscoveryField::ips, 65535));
    const Binary ips(bytes);
    EXPECT_EQ(ips.at<die_header>(ip_header.dies[0].die_offset).num_ips, 65535);
    expect_sealed(ips);
    ASSERT_TRUE(set_discovery_field(bytes, DiscoveryField::bytes, 65535));
    EXPECT_EQ(Binary(bytes).at<binary_header>(0).binary_size, 65535);
}

/// The IPs of the first die, as hardware ID, instance, major, minor.
std::vector<std::array<unsigned, 4>> listed(const Binary& binary) {
    const std::size_t table = binary.at<binary_header>(0).table_list[0].offset;
    std::size_t at = binary.at<ip_discovery_header>(table).dies[0].die_offset;
    const unsigned count = binary.at<die_header>(at).num_ips;
    at += sizeof(die_header);
    std::vector<std::array<unsigned, 4>> ips;
    for (unsigned number = 0; number < count; ++number) {
        const auto ip = binary.at<ip_v3>(at);
        ips.push_back({ip.hw_id, ip.instance_number, ip.major, ip.minor});
        at += sizeof ip + 4 * ip.num_base_address;
    }
    return ips;
}

TEST(DiscoveryLies, AnIpHasAnotherVersion) {
    const std::vector<std::byte> honest = build_discovery_binary(*find_profile("mi300x"));
    for (const auto& [field, hw_id] : {std::pair{DiscoveryField::version, HwId::OSSSYS},
                                       {DiscoveryField::nbio, HwId::NBIF},
                                       {DiscoveryField::hdp, HwId::HDP},
                                       {DiscoveryField::smuio, HwId::SMUIO}}) {
        std::vector<std::byte> bytes = honest;
        ASSERT_TRUE(set_discovery_field(bytes, field, 0x6307));
        auto expected = listed(Binary(honest));
        const auto ip = std::ranges::find(expected, static_cast<unsigned>(hw_id),
                                          [](const auto& listed) { return listed[0]; });
        ASSERT_NE(ip, expected.end());
        (*ip)[2] = 0x63;
        (*ip)[3] = 7;
        EXPECT_EQ(listed(Binary(bytes)), expected);
        expect_sealed(Binary(bytes));
    }
}

TEST(DiscoveryLies, AnMmhubIsElsewhere) {
    const Profile& profile = *find_profile("mi300x");
    std::vector<std::byte> bytes = build_discovery_binary(profile);
    ASSERT_TRUE(set_discovery_field(bytes, DiscoveryField::mmhub, 65535));
    const Binary binary(bytes);
    const std::size_t table = binary.at<binary_header>(0).table_list[0].offset;
    std::size_t at = binary.at<ip_discovery_header>(table).dies[0].die_offset + sizeof(die_header);
    bool first = true;
    for (const IpInstance& ip : profile.ips) {
        const bool moved = first && ip.hw_id == HwId::MMHUB;
        first = first && !moved;
        for (std::size_t base = 0; base < ip.bases.size(); ++base) {
            EXPECT_EQ(binary.at<uint32_t>(at + sizeof(ip_v3) + 4 * base),
                      moved && base == 0 ? 65535 : ip.bases[base]);
        }
        at += sizeof(ip_v3) + 4 * ip.bases.size();
    }
    EXPECT_FALSE(first);
    expect_sealed(binary);
}

TEST(DiscoveryLies, ShaderArraysAreFalse) {
    std::vector<std::byte> bytes = build_discovery_binary(*find_profile("mi300x"));
    const std::size_t cus = Binary(bytes).at<binary_header>(0).table_list[1].offset +
                            sizeof(gpu_info_header) + sizeof(uint32_t);
    const std::size_t arrays = cus + sizeof(uint32_t);
    ASSERT_TRUE(set_discovery_field(bytes, DiscoveryField::arrays, 65535));
    EXPECT_EQ(Binary(bytes).at<uint32_t>(arrays), 65535u);
    EXPECT_EQ(Binary(bytes).at<uint32_t>(cus), 10u);
    ASSERT_TRUE(set_discovery_field(bytes, DiscoveryField::cus, 33));
    const Binary binary(bytes);
    EXPECT_EQ(binary.at<uint32_t>(cus), 33u);
    const table_info info = binary.at<binary_header>(0).table_list[1];
    EXPECT_EQ(info.checksum, binary.sum(info.offset, info.size));
    expect_sealed(binary);
}

TEST(DiscoveryLies, AnIpIsListedTwice) {
    const std::vector<std::byte> honest = build_discovery_binary(*find_profile("mi300x"));
    const auto honest_ips = listed(Binary(honest));
    const auto last = static_cast<uint16_t>(honest_ips.size() - 1);
    for (const uint16_t number : {uint16_t{1}, last}) {
        std::vector<std::byte> bytes = honest;
        ASSERT_TRUE(set_discovery_field(bytes, DiscoveryField::twin, number));
        auto expected = honest_ips;
        expected[number][0] = expected[number - 1][0];
        expected[number][1] = expected[number - 1][1];
        EXPECT_EQ(listed(Binary(bytes)), expected);
        expect_sealed(Binary(bytes));
    }
    std::vector<std::byte> bytes = honest;
    const std::string error = "the first die has the IPs 1 to " + std::to_string(last);
    EXPECT_EQ(set_discovery_field(bytes, DiscoveryField::twin, 0).error().message, error);
    EXPECT_EQ(set_discovery_field(bytes, DiscoveryField::twin, last + 1).error().message, error);
    EXPECT_EQ(bytes, honest);
}

TEST(DiscoveryLies, WhatIsNotListedCannotLie) {
    Profile profile = *find_profile("mi300x");
    std::erase_if(profile.ips, [](const IpInstance& ip) {
        return ip.hw_id == HwId::OSSSYS || ip.hw_id == HwId::SMUIO;
    });
    std::vector<std::byte> bytes = build_discovery_binary(profile);
    EXPECT_EQ(set_discovery_field(bytes, DiscoveryField::version, 0x6307).error().message,
              "the table lists no interrupt handler");
    EXPECT_EQ(set_discovery_field(bytes, DiscoveryField::smuio, 0x6307).error().message,
              "the table lists no SMUIO");
    profile.ips.clear();
    bytes = build_discovery_binary(profile);
    EXPECT_FALSE(set_discovery_field(bytes, DiscoveryField::version, 0x6307));
    EXPECT_EQ(set_discovery_field(bytes, DiscoveryField::twin, 1).error().message,
              "the first die lists fewer than two IPs");
}

TEST(DiscoveryLimits, TooManyHarvestedIpsAreAnError) {
    Profile profile = *find_profile("mi308x");
    profile.harvested.resize(33, profile.harvested.front());
    EXPECT_THROW(build_discovery_binary(profile), std::length_error);
}

TEST(DiscoveryLimits, TooManyIpsAreAnError) {
    Profile profile = *find_profile("mi300x");
    profile.ips.resize(2000, profile.ips.front());
    EXPECT_THROW(build_discovery_binary(profile), std::length_error);
}

}  // namespace
}  // namespace gpuemu
