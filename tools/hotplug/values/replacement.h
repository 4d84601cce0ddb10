// SPDX-License-Identifier: GPL-2.0
// Purpose: what of the board differs when a GPU comes back. Thread: values.
#pragma once

#include <cstdint>
#include <optional>

namespace hotplug {

/// What a board has beside its GPU, as function 1.
enum class SecondFunction {
    driverless,  // no driver of the kernel knows it
    audio,       // snd_hda_intel's: stands for the audio of HDMI
};

/// Nothing set: the same board is put back, with its GPU alone.
struct Replacement {
    std::optional<uint16_t> device_id = {};
    std::optional<uint64_t> vram_mib = {};
    std::optional<uint64_t> serial = {};  // as its Device Serial Number
    std::optional<SecondFunction> second_function = {};
    /// A new emulator process even when nothing differs: another board of the same model.
    bool other_board = false;

    bool needs_new_emulator() const { return device_id || vram_mib || serial || other_board; }
    bool needs_empty_slot() const { return needs_new_emulator() || second_function; }
};

}  // namespace hotplug
