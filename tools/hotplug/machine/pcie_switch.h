// SPDX-License-Identifier: GPL-2.0
// Purpose: the PCIe switch that a machine may have its slots behind, so that what is in them can
// reach each other's memory: Linux lets devices do so below one switch, and on a few root
// complexes, of which q35's is none. Beside the slots is QEMU's edu, a device with a DMA engine.
// Thread: pure functions. Not modelled: other devices below it, a switch that is itself plugged.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hotplug {

/// The switch is behind the root port 00:04.0, which is a slot's in a machine without one.
inline constexpr unsigned switch_root_port = 0x4;
inline constexpr const char* switch_root_id = "switch-root";  // by QEMU's name
/// The bus of its downstream ports, by QEMU's name. Slot N's port is device N there.
inline constexpr const char* switch_bus = "switch";
inline constexpr size_t max_switch_slots = 8;

/// QEMU's -device objects (JSON): root port, upstream port, and behind a downstream port the edu.
/// The slots bring their ports themselves.
std::vector<std::string> switch_devices(size_t slots);

}  // namespace hotplug
