// SPDX-License-Identifier: GPL-2.0
// Purpose: see host_memory.h.
// Thread: pure functions.
#include "hotplug/machine/host_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "hotplug/machine/machine.h"

namespace hotplug {

namespace {

// Measured, figures.md. The emulator's is that of the tests, with ASan and the VRAM that a driver
// and its clients touch; the one that users run keeps 12 MiB.
constexpr uint64_t qemu_mib = 512;
constexpr uint64_t emulator_mib = 40;
/// A GPU's own and its black hole's.
constexpr unsigned emulators_per_gpu = 2;

/// MiB.
hp::Result<uint64_t> available_memory(const std::filesystem::path& meminfo) {
    std::ifstream file(meminfo);
    for (std::string name; file >> name;) {
        uint64_t kib = 0;
        if (name == "MemAvailable:" && file >> kib) {
            return kib >> 10;
        }
        std::getline(file, name);
    }
    return hp::fail(fmt::format("{} does not say MemAvailable", meminfo.string()));
}

}  // namespace

MemoryNeed memory_need(const MachineConfig& config) {
    MemoryNeed need;
    need.guests = config.memory_mib;
    need.qemus = qemu_mib;
    need.emulator_count = emulators_per_gpu *
                          static_cast<unsigned>(std::count_if(
                              config.slots.begin(), config.slots.end(), [](const SlotConfig& slot) {
                                  return slot.device == SlotDevice::gpu;
                              }));
    need.emulators = need.emulator_count * emulator_mib;
    return need;
}

hp::Result<void> check_memory(const MachineConfig& config, unsigned count,
                              const std::filesystem::path& meminfo) {
    MemoryNeed need = memory_need(config);
    need.guests *= count;
    need.qemus *= count;
    need.emulators *= count;
    need.emulator_count *= count;
    const auto available = available_memory(meminfo);
    if (!available) {
        return tl::unexpected(available.error());
    }
    if (need.total() <= *available) {
        return {};
    }
    return hp::fail(fmt::format(
        "{} guest{} with {} MiB of memory each, {} MiB for QEMU and {} MiB for {} emulators are {} "
        "MiB, and the host has {} MiB available: ask for less --memory or fewer GPUs",
        count, count == 1 ? "" : "s", config.memory_mib, need.qemus, need.emulators,
        need.emulator_count, need.total(), *available));
}

}  // namespace hotplug
