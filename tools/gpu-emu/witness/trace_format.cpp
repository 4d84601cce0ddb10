// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/witness/trace_format.h"

namespace gpuemu {

std::string_view kind_name(TraceKind kind) {
    static constexpr std::array<std::string_view, trace_kinds> names = {
        "mmio_read",    "mmio_write", "doorbell_write", "vram_read", "vram_write", "config_read",
        "config_write", "dma_read",   "dma_write",      "interrupt", "attached",   "detached",
        "reset",        "vanished",   "restored",       "hung",      "resumed",    "mark",
        "dropped",      "mutation",   "forgotten",
    };
    const auto index = static_cast<size_t>(kind);
    return index < names.size() ? names[index] : std::string_view();
}

}  // namespace gpuemu
