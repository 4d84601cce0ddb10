// SPDX-License-Identifier: GPL-2.0
// Purpose: variants of a board. What the model knows of the hardware from the driver alone is
// assumed (Documentation/emulator/architecture.md); a board of a variant does the opposite of one
// such assumption. A driver that works with both does not depend on it. Thread: values.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace gpuemu {

enum class Opposite : uint8_t {
    link_reset_loses_sos,
    sos_up_at_once,
    mode1_keeps_config,
    mode1_at_once,
    mode2_loses_config,
    mode2_keeps_translations,
    mode4_loses_config,
    vf_reset_as_flr,
    late_acknowledge,
    tlb_before_context,
    hws_keeps_translations,
    unrouted_doorbells,
    mec_doorbell_range,
    mmsch_doorbells_unset,
    video_ring_holds_up_others,
    jpeg_condition_3_unequal,
    writable_fuses,
};
inline constexpr std::size_t opposite_count = 17;

struct OppositeInfo {
    Opposite opposite;
    std::string_view name;  // "link-reset-loses-sos"
    std::string_view description;
};

/// One for each, in their order.
std::span<const OppositeInfo> all_opposites();
std::optional<Opposite> parse_opposite(std::string_view name);

/// Those of a board.
class Opposites {
public:
    void add(Opposite opposite) { set_.set(static_cast<std::size_t>(opposite)); }
    bool has(Opposite opposite) const { return set_.test(static_cast<std::size_t>(opposite)); }

private:
    std::bitset<opposite_count> set_;
};

}  // namespace gpuemu
