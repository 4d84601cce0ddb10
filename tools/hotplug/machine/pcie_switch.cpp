// SPDX-License-Identifier: GPL-2.0
// Purpose: see pcie_switch.h.
// Thread: see pcie_switch.h.
#include "hotplug/machine/pcie_switch.h"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>

namespace hotplug {

namespace {

using nlohmann::json;

// The slots have numbers 1 to max_switch_slots.
constexpr size_t first_chassis = max_switch_slots + 1;

// A board of 4 GiB in each slot, and room for the alignment of as much.
constexpr uint64_t prefetchable_of_a_slot = 8ull << 30;
constexpr uint64_t registers_of_a_slot = 16ull << 20;

// edu would take an address beyond 28 bits for a mistake of the driver's.
constexpr uint64_t edu_dma_mask = UINT64_MAX;

}  // namespace

std::vector<std::string> switch_devices(size_t slots) {
    const json root{{"driver", "pcie-root-port"},
                    {"id", switch_root_id},
                    {"bus", "pcie.0"},
                    {"addr", fmt::format("{:#x}", switch_root_port)},
                    {"chassis", first_chassis},
                    {"slot", first_chassis},
                    {"hotplug", false},
                    {"pref64-reserve", slots * prefetchable_of_a_slot},
                    {"mem-reserve", (slots + 1) * registers_of_a_slot}};
    const json upstream{{"driver", "x3130-upstream"}, {"id", switch_bus}, {"bus", switch_root_id}};
    const json port{{"driver", "xio3130-downstream"},
                    {"id", "edu-port"},
                    {"bus", switch_bus},
                    {"addr", fmt::format("{:#x}", slots)},
                    {"chassis", first_chassis + 1},
                    {"slot", first_chassis + 1},
                    {"hotplug", false}};
    const json edu{
        {"driver", "edu"}, {"id", "edu"}, {"bus", "edu-port"}, {"dma_mask", edu_dma_mask}};
    return {root.dump(), upstream.dump(), port.dump(), edu.dump()};
}

}  // namespace hotplug
