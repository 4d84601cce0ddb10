// SPDX-License-Identifier: GPL-2.0
// Purpose: the command line of amdgpu-emu, and the board that it asks for.
// Thread: one; start-up.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "gpu-emu/board/board.h"

namespace gpuemu {

struct EmulatorOptions {
    std::string profile;
    std::string socket;
    std::string control;
    std::string trace;
    std::string eeprom;
    std::string hive;
    std::string pcie_switch;
    std::string log = "info";
    std::string vram_bar = "mapped";
    std::string tlb = "on";
    std::vector<std::string> opposites;
    std::optional<uint64_t> vram_mib;
    std::optional<uint16_t> device_id;
    std::string serial;  // empty: none
    std::optional<unsigned> node;
    uint64_t spin_us = 0;
    uint64_t reset_ms = Gpu::default_reset_time.count();
    bool black_hole = false;
    bool die_with_parent = false;
    bool list_profiles = false;
    bool list_opposites = false;
};

/// Says to `app` what fills `options`, which outlives the parsing.
void declare(CLI::App& app, EmulatorOptions& options);

/// Throws std::runtime_error with one clear line for what does not go together.
Board::Options board_options(const EmulatorOptions& options);

}  // namespace gpuemu
