// SPDX-License-Identifier: GPL-2.0
// Purpose: the IP discovery binary that the boot firmware leaves near the end of VRAM: which IPs
// there are, their versions and base addresses, and the compute geometry.
// Thread: any; pure.
// Does not model: MALL and NPS tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "gpu-emu/profiles/profile.h"
#include "lib/result.h"

namespace gpuemu {

/// Distance of the binary from the end of VRAM (DISCOVERY_TMR_OFFSET of the driver).
inline constexpr uint64_t discovery_offset_from_end = 64 * 1024;

/// The driver reads this much (DISCOVERY_TMR_SIZE).
inline constexpr std::size_t discovery_max_bytes = 10 * 1024;

/// Makes the sums right again after `binary` was changed, as far as its lengths still say where its
/// tables are: a device that lies can add up, too.
void seal_discovery_binary(std::span<std::byte> binary);

/// What a scripted lie changes, and what the value means.
enum class DiscoveryField : uint8_t {
    bytes,    // the size of the binary
    dies,     // the number of dies
    ips,      // the number of IPs of the first die
    version,  // the version of the interrupt handler (OSSSYS): major in the upper byte, minor
    nbio,     // the version of NBIO, likewise
    hdp,      // the version of HDP, likewise
    smuio,    // the version of SMUIO, likewise
    mmhub,    // the first base address of the first MMHUB, in dwords
    arrays,   // the number of shader arrays in each engine (gc_num_sh_per_se)
    cus,      // the number of CUs in each array (gc_num_cu_per_sh)
    twin,     // the IP with this number on the first die, 1 or more, names the one before it
};

/// By its name. One clear error for what is none.
hp::Result<DiscoveryField> parse_discovery_field(std::string_view name);

/// Puts `value` into a field of what build_discovery_binary() has just made, and seals it. One
/// clear error if the first die has no such IP.
hp::Result<void> set_discovery_field(std::span<std::byte> binary, DiscoveryField field,
                                     uint16_t value);

/// Throws std::length_error when the profile's tables do not fit (start-up).
std::vector<std::byte> build_discovery_binary(const Profile& profile);

}  // namespace gpuemu
