// SPDX-License-Identifier: GPL-2.0
// Purpose: the table of the variants.
// Thread: constants and pure functions.
#include "gpu-emu/profiles/opposite.h"

#include <algorithm>
#include <array>

namespace gpuemu {
namespace {

constexpr std::array<OppositeInfo, opposite_count> table = {{
    {Opposite::link_reset_loses_sos, "link-reset-loses-sos",
     "a reset of the link ends the secure OS, and its ring and sessions with it"},
    {Opposite::sos_up_at_once, "sos-up-at-once",
     "the secure OS is up when the driver first looks for it"},
    {Opposite::mode1_keeps_config, "mode1-keeps-config",
     "a mode 1 reset leaves configuration space alone"},
    {Opposite::mode1_at_once, "mode1-at-once",
     "a mode 1 reset begins with the message, whose answer nobody can read"},
    {Opposite::mode2_loses_config, "mode2-loses-config",
     "a mode 2 reset loses configuration space"},
    {Opposite::mode2_keeps_translations, "mode2-keeps-translations",
     "a mode 2 reset leaves the TLBs alone"},
    {Opposite::mode4_loses_config, "mode4-loses-config",
     "a mode 4 reset loses configuration space, as a reset of the link by its port does"},
    {Opposite::vf_reset_as_flr, "vf-reset-as-flr",
     "the host's reset of a virtual function takes as long as an FLR, and loses as much"},
    {Opposite::late_acknowledge, "late-acknowledge",
     "a hub acknowledges an invalidation at the second look, not at the first"},
    {Opposite::tlb_before_context, "tlb-before-context",
     "translations that are kept are used while their context is disabled"},
    {Opposite::hws_keeps_translations, "hws-keeps-translations",
     "the scheduler gives a VMID to another process with the translations of the last"},
    {Opposite::unrouted_doorbells, "unrouted-doorbells",
     "a doorbell goes to whoever has its offset, whatever ranges NBIO was given"},
    {Opposite::mec_doorbell_range, "mec-doorbell-range",
     "a doorbell outside of CP_MEC_DOORBELL_RANGE reaches no compute queue"},
    {Opposite::mmsch_doorbells_unset, "mmsch-doorbells-unset",
     "nobody has set the doorbells of a virtual function's video engines"},
    {Opposite::video_ring_holds_up_others, "video-ring-holds-up-others",
     "a VCN ring that waits holds up the rings behind it"},
    {Opposite::jpeg_condition_3_unequal, "jpeg-condition-3-unequal",
     "JPEG's condition 3 waits until register and reference differ"},
    {Opposite::writable_fuses, "writable-fuses",
     "fuses, straps and the size of memory keep what is written to them"},
}};

}  // namespace

std::span<const OppositeInfo> all_opposites() {
    return table;
}

std::optional<Opposite> parse_opposite(std::string_view name) {
    const auto found = std::ranges::find(table, name, &OppositeInfo::name);
    return found == table.end() ? std::nullopt : std::optional(found->opposite);
}

}  // namespace gpuemu
