// SPDX-License-Identifier: GPL-2.0
// Purpose: builds the binary in the layout of drivers/gpu/drm/amd/include/discovery.h: binary
// header v1, IP table v3, GC info v2.1 and the harvest table, each with its byte sum.
// Thread: any; pure.
#include "gpu-emu/ip/discovery.h"

#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace gpuemu {
namespace {

constexpr uint32_t BINARY_SIGNATURE = 0x28211407;
constexpr uint32_t DISCOVERY_TABLE_SIGNATURE = 0x53445049;  // "IPDS"
constexpr uint32_t GC_TABLE_ID = 0x4347;                    // "GC"
constexpr uint32_t HARVEST_TABLE_SIGNATURE = 0x56524148;    // "HARV"
constexpr uint32_t VCN_INFO_TABLE_ID = 0x004E4356;          // "VCN"

constexpr unsigned table_slots = 6;  // TOTAL_TABLES: IP_DISCOVERY, GC, HARVEST_INFO, VCN_INFO, two
                                     // unused
// struct binary_header; each entry of its list of tables is offset, checksum, size, padding.
constexpr std::size_t binary_checksum = 8, binary_size = 10, table_list = 12;
constexpr std::size_t info_bytes = 8, info_checksum = 2, info_size = 4;
constexpr std::size_t binary_header_bytes = table_list + table_slots * info_bytes;
constexpr unsigned die_slots = 16;
constexpr std::size_t die_count = 12;  // in struct ip_discovery_header
constexpr std::size_t ip_header_bytes = die_count + 2 + die_slots * 4 + 2;
constexpr std::size_t ip_count = 2, die_header_bytes = 4;  // of struct die_header
// struct ip_v3.
constexpr std::size_t ip_instance = 2, ip_bases = 3, ip_version = 4, ip_bytes = 8;
// struct gc_info_v2_1.
constexpr unsigned gc_slot = 1;
constexpr std::size_t gc_num_cu_per_sh = 16, gc_num_sh_per_se = 20;
constexpr unsigned harvest_slots = 32;

/// Little-endian fields, one after the other.
class Writer {
public:
    void u8(uint8_t value) { bytes_.push_back(static_cast<std::byte>(value)); }
    void u16(std::size_t value) {
        u8(static_cast<uint8_t>(value));
        u8(static_cast<uint8_t>(value >> 8));
    }
    void u32(uint32_t value) {
        u16(value & 0xffff);
        u16(value >> 16);
    }
    void append(const std::vector<std::byte>& bytes) {
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    void align(std::size_t alignment) {
        bytes_.resize((size() + alignment - 1) / alignment * alignment);
    }
    std::size_t size() const { return bytes_.size(); }
    std::vector<std::byte> take() { return std::move(bytes_); }

private:
    std::vector<std::byte> bytes_;
};

uint16_t byte_sum(std::span<const std::byte> bytes) {
    return std::accumulate(bytes.begin(), bytes.end(), uint16_t{0},
                           [](uint16_t sum, std::byte byte) {
                               return static_cast<uint16_t>(sum + std::to_integer<uint16_t>(byte));
                           });
}

uint16_t get16(std::span<const std::byte> bytes, std::size_t offset) {
    return static_cast<uint16_t>(std::to_integer<unsigned>(bytes[offset]) |
                                 std::to_integer<unsigned>(bytes[offset + 1]) << 8);
}

void put16(std::span<std::byte> bytes, std::size_t offset, uint16_t value) {
    bytes[offset] = static_cast<std::byte>(value);
    bytes[offset + 1] = static_cast<std::byte>(value >> 8);
}

/// struct die_header and its list of struct ip_v3.
std::vector<std::byte> ip_list(const Profile& profile) {
    Writer out;
    out.u16(0);  // die_id
    out.u16(profile.ips.size());
    for (const IpInstance& ip : profile.ips) {
        out.u16(static_cast<uint16_t>(ip.hw_id));
        out.u8(ip.instance);
        out.u8(static_cast<uint8_t>(ip.bases.size()));
        out.u8(ip.major);
        out.u8(ip.minor);
        out.u8(ip.revision);
        out.u8(ip.sub_revision & 0xf);  // variant in the upper half
        for (const uint32_t base : ip.bases) {
            out.u32(base);
        }
    }
    out.align(4);
    return out.take();
}

/// struct ip_discovery_header for one die. Die offsets count from the start of the binary.
std::vector<std::byte> ip_table(const Profile& profile) {
    const std::vector<std::byte> list = ip_list(profile);
    Writer out;
    out.u32(DISCOVERY_TABLE_SIGNATURE);
    out.u16(3);  // version
    out.u16(ip_header_bytes + list.size());
    out.u32(0);  // id
    out.u16(1);  // num_dies
    for (unsigned die = 0; die < die_slots; ++die) {
        out.u16(0);
        out.u16(die == 0 ? binary_header_bytes + ip_header_bytes : 0);
    }
    out.u16(0);  // padding
    out.append(list);
    return out.take();
}

/// struct gc_info_v2_1.
std::vector<std::byte> gc_table(const GcInfo& gc) {
    const uint32_t fields[] = {
        gc.shader_engines,
        gc.cu_per_sh,
        gc.sh_per_se,
        4,     // gc_num_rb_per_se
        16,    // gc_num_tccs
        512,   // gc_num_gprs
        32,    // gc_num_max_gs_thds
        32,    // gc_gs_table_depth
        1792,  // gc_gsprim_buff_depth
        0,     // gc_parameter_cache_depth
        1,     // gc_double_offchip_lds_buffer
        gc.wave_size,
        gc.max_waves_per_simd,
        32,  // gc_max_scratch_slots_per_cu
        gc.lds_size_kib,
        1,          // gc_num_sc_per_se
        1,          // gc_num_packer_per_sc
        16,         // gc_num_tcp_per_sh
        16u << 10,  // gc_tcp_size_per_cu
        16,         // gc_num_sdp_interface
        2,          // gc_num_cu_per_sqc
        64,         // gc_instruction_cache_size_per_sqc
        16,         // gc_scalar_data_cache_size_per_sqc
        4u << 10,   // gc_tcc_size
    };
    Writer out;
    out.u32(GC_TABLE_ID);
    out.u16(2);  // version 2.1
    out.u16(1);
    out.u32(12 + sizeof fields);
    for (const uint32_t field : fields) {
        out.u32(field);
    }
    return out.take();
}

std::vector<std::byte> harvest_table(const Profile& profile) {
    Writer out;
    out.u32(HARVEST_TABLE_SIGNATURE);
    out.u32(0);  // version
    for (unsigned slot = 0; slot < harvest_slots; ++slot) {
        const bool used = slot < profile.harvested.size();
        out.u16(used ? static_cast<uint16_t>(profile.harvested[slot].hw_id) : 0);
        out.u16(used ? profile.harvested[slot].instance : 0);
    }
    return out.take();
}

/// struct vcn_info_v1_0: no codec is fused off. Empty for a GPU without VCN.
std::vector<std::byte> vcn_table(const Profile& profile) {
    constexpr unsigned most_instances = 4, reserved = 4, instance_dwords = 4;
    const auto instances = profile.working(HwId::VCN);
    Writer out;
    if (instances.empty()) {
        return out.take();
    }
    out.u32(VCN_INFO_TABLE_ID);
    out.u16(1);  // version 1.0
    out.u16(0);
    out.u32(4 * (4 + most_instances * instance_dwords + reserved));
    out.u32(static_cast<uint32_t>(instances.size()));
    for (unsigned slot = 0; slot < most_instances; ++slot) {
        out.u32(slot < instances.size() ? instances[slot]->instance : 0);
        out.u32(0);  // fuse_data
        out.u32(0);
        out.u32(0);
    }
    for (unsigned dword = 0; dword < reserved; ++dword) {
        out.u32(0);
    }
    return out.take();
}

}  // namespace

void seal_discovery_binary(std::span<std::byte> binary) {
    for (unsigned slot = 0; slot < table_slots; ++slot) {
        const std::size_t info = table_list + slot * info_bytes;
        const std::size_t offset = get16(binary, info), size = get16(binary, info + info_size);
        if (offset + size <= binary.size()) {
            put16(binary, info + info_checksum, byte_sum(binary.subspan(offset, size)));
        }
    }
    // What the checksum of the binary covers: everything after it.
    const std::size_t size = get16(binary, binary_size);
    if (size >= binary_size && size <= binary.size()) {
        put16(binary, binary_checksum, byte_sum(binary.subspan(binary_size, size - binary_size)));
    }
}

hp::Result<DiscoveryField> parse_discovery_field(std::string_view name) {
    static constexpr std::pair<std::string_view, DiscoveryField> fields[] = {
        {"bytes", DiscoveryField::bytes},   {"dies", DiscoveryField::dies},
        {"ips", DiscoveryField::ips},       {"version", DiscoveryField::version},
        {"nbio", DiscoveryField::nbio},     {"hdp", DiscoveryField::hdp},
        {"smuio", DiscoveryField::smuio},   {"mmhub", DiscoveryField::mmhub},
        {"arrays", DiscoveryField::arrays}, {"cus", DiscoveryField::cus},
        {"twin", DiscoveryField::twin},
    };
    for (const auto& [known, field] : fields) {
        if (known == name) {
            return field;
        }
    }
    return hp::fail(
        "unknown field '" + std::string(name) +
        "': use bytes, dies, ips, version, nbio, hdp, smuio, mmhub, arrays, cus or twin");
}

hp::Result<void> set_discovery_field(std::span<std::byte> binary, DiscoveryField field,
                                     uint16_t value) {
    constexpr std::size_t die = binary_header_bytes + ip_header_bytes;
    const std::size_t gc = get16(binary, table_list + gc_slot * info_bytes);
    const unsigned ips = get16(binary, die + ip_count);
    const auto size_of = [&](std::size_t ip) {
        return ip_bytes + 4 * std::to_integer<std::size_t>(binary[ip + ip_bases]);
    };
    std::size_t ip = die + die_header_bytes;
    const auto find = [&](HwId hw_id, const char* name) -> hp::Result<void> {
        for (unsigned number = 0; number < ips; ++number, ip += size_of(ip)) {
            if (get16(binary, ip) == static_cast<uint16_t>(hw_id)) {
                return {};
            }
        }
        return hp::fail(std::string("the table lists no ") + name);
    };
    const auto set_version = [&](HwId hw_id, const char* name) {
        return find(hw_id, name).map([&] {
            binary[ip + ip_version] = static_cast<std::byte>(value >> 8);
            binary[ip + ip_version + 1] = static_cast<std::byte>(value);
        });
    };
    hp::Result<void> set;
    switch (field) {
        case DiscoveryField::bytes: put16(binary, binary_size, value); break;
        case DiscoveryField::dies: put16(binary, binary_header_bytes + die_count, value); break;
        case DiscoveryField::ips: put16(binary, die + ip_count, value); break;
        case DiscoveryField::version: set = set_version(HwId::OSSSYS, "interrupt handler"); break;
        case DiscoveryField::nbio: set = set_version(HwId::NBIF, "NBIO"); break;
        case DiscoveryField::hdp: set = set_version(HwId::HDP, "HDP"); break;
        case DiscoveryField::smuio: set = set_version(HwId::SMUIO, "SMUIO"); break;
        case DiscoveryField::mmhub:
            set = find(HwId::MMHUB, "MMHUB").map([&] {
                put16(binary, ip + ip_bytes, value);
                put16(binary, ip + ip_bytes + 2, 0);
            });
            break;
        case DiscoveryField::arrays: put16(binary, gc + gc_num_sh_per_se, value); break;
        case DiscoveryField::cus: put16(binary, gc + gc_num_cu_per_sh, value); break;
        case DiscoveryField::twin:
            if (ips < 2) {
                return hp::fail("the first die lists fewer than two IPs");
            }
            if (value == 0 || value >= ips) {
                return hp::fail("the first die has the IPs 1 to " + std::to_string(ips - 1));
            }
            for (unsigned number = 1; number < value; ++number) {
                ip += size_of(ip);
            }
            put16(binary, ip + size_of(ip), get16(binary, ip));
            binary[ip + size_of(ip) + ip_instance] = binary[ip + ip_instance];
            break;
    }
    if (set) {
        seal_discovery_binary(binary);
    }
    return set;
}

std::vector<std::byte> build_discovery_binary(const Profile& profile) {
    const std::vector<std::byte> tables[] = {ip_table(profile), gc_table(profile.gc),
                                             harvest_table(profile), vcn_table(profile)};
    std::size_t offset = binary_header_bytes;
    for (const auto& table : tables) {
        offset += table.size();
    }
    const std::size_t total = offset;
    if (total > discovery_max_bytes || profile.harvested.size() > harvest_slots) {
        throw std::length_error("IP discovery binary of profile " + profile.name + " is too large");
    }
    Writer out;
    out.u32(BINARY_SIGNATURE);
    out.u16(1);  // version 1.0
    out.u16(0);
    out.u16(0);  // its sum
    out.u16(total);
    offset = binary_header_bytes;
    for (unsigned slot = 0; slot < table_slots; ++slot) {
        const bool used = slot < std::size(tables) && !tables[slot].empty();
        out.u16(used ? offset : 0);
        out.u16(0);  // its sum
        out.u16(used ? tables[slot].size() : 0);
        out.u16(0);  // padding
        offset += used ? tables[slot].size() : 0;
    }
    for (const auto& table : tables) {
        out.append(table);
    }
    std::vector<std::byte> binary = out.take();
    seal_discovery_binary(binary);
    return binary;
}

}  // namespace gpuemu
