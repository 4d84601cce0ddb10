// SPDX-License-Identifier: GPL-2.0
// Thread: device loop only.
#include "gpu-emu/ip/cp/xcc_group.h"

#include <algorithm>

#include "gpu-emu/ip/regs/gc_9_4_3.h"

namespace gpuemu {

namespace gc = gc_9_4_3;

XccPlace xcc_place(const GcLayout& layout, const RegisterFile& registers, uint8_t xcc) {
    if (!layout.CP_HYP_XCP_CTL) {
        return {};
    }
    const uint32_t control = registers.raw(at(layout.ip, *layout.CP_HYP_XCP_CTL));
    XccPlace place;
    place.count = static_cast<uint8_t>(
        std::max(gc::CP_HYP_XCP_CTL__NUM_XCC_IN_XCP::get(control), uint32_t{1}));
    place.virtual_id = static_cast<uint8_t>(gc::CP_HYP_XCP_CTL__VIRTUAL_XCC_ID::get(control));
    place.partition = xcc / place.count;
    return place;
}

bool XccGroup::may_go_on(uint8_t xcc, const ComputeQueue& queue) const {
    const XccPlace own = place(xcc);
    const auto first = static_cast<uint8_t>(own.partition * own.count);
    if (queue.owner().role == QueueRole::follower) {
        const ComputeQueue* const leader = same_queue(first, queue);
        return leader != nullptr && queue.position() <= leader->position();
    }
    for (uint8_t other = first; other < first + own.count; ++other) {
        if (other == xcc) {
            continue;
        }
        const ComputeQueue* const follower = same_queue(other, queue);
        if (follower == nullptr || follower->position() <= queue.position()) {
            return false;
        }
    }
    return true;
}

void XccGroup::went_on(uint8_t xcc) const {
    const XccPlace own = place(xcc);
    const auto first = static_cast<uint8_t>(own.partition * own.count);
    for (uint8_t other = first; other < first + own.count; ++other) {
        if (other != xcc && other < members_.size()) {
            kicker_.kick(*members_[other].mec);
        }
    }
}

/// Null: it is not mapped there, or not yet, or no longer.
const ComputeQueue* XccGroup::same_queue(uint8_t xcc, const ComputeQueue& queue) const {
    if (xcc >= members_.size()) {
        return nullptr;
    }
    const auto queues = members_[xcc].slots->queues();
    const auto found = std::ranges::find_if(queues, [&](const ComputeQueue& other) {
        return other.active() && other.owner().role != QueueRole::alone &&
               other.doorbell() == queue.doorbell();
    });
    return found == queues.end() ? nullptr : &*found;
}

}  // namespace gpuemu
