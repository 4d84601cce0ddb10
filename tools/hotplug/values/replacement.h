// SPDX-License-Identifier: GPL-2.0
// Purpose: what of the board differs when a GPU comes back. Thread: values.
#pragma once

#include <cstdint>
#include <optional>

namespace hotplug {

/// Nothing set: the same board is put back.
struct Replacement {
    std::optional<uint16_t> device_id;
    std::optional<uint64_t> vram_mib;
    /// A new emulator process even when nothing differs: another board of the same model.
    bool other_board = false;

    bool needs_new_emulator() const { return device_id || vram_mib || other_board; }
};

}  // namespace hotplug
