// SPDX-License-Identifier: GPL-2.0
// Purpose: the XCCs of a GPU, joined to partitions: where an XCC is in its partition, and how the
// micro engines of a partition keep step in a queue that all of them run.
// Thread: device loop only.
// Does not model: how the hardware shares the work groups of a dispatch out (nothing is
// dispatched).
#pragma once

#include <cstdint>
#include <vector>

#include "gpu-emu/device/engine.h"
#include "gpu-emu/device/register_file.h"
#include "gpu-emu/ip/cp/compute_slots.h"
#include "gpu-emu/ip/gc_layout.h"

namespace gpuemu {

/// Where an XCC is, as its CP_HYP_XCP_CTL says.
struct XccPlace {
    uint8_t virtual_id = 0;  // in its partition; 0 leads
    uint8_t count = 1;       // XCCs of the partition
    uint8_t partition = 0;
};

/// An XCC whose register says nothing is a partition of its own.
XccPlace xcc_place(const GcLayout& layout, const RegisterFile& registers, uint8_t xcc);

class XccGroup {
public:
    XccGroup(const RegisterFile& registers, EngineKicker& kicker)
        : registers_(registers), kicker_(kicker) {}

    /// The micro engine of the next XCC and its queues; they outlive the group's other calls.
    void add(const GcLayout& gc, Engine& mec, ComputeSlots& slots) {
        members_.push_back({gc, &mec, &slots});
    }

    XccPlace place(uint8_t xcc) const { return xcc_place(members_[xcc].gc, registers_, xcc); }

    /// Whether it is this XCC's turn in `queue`, which has a role: a follower does not begin with a
    /// packet before the leader, who waits for all followers to be done with it.
    bool may_go_on(uint8_t xcc, const ComputeQueue& queue) const;

    /// The queue went on at this XCC: others may have waited for that.
    void went_on(uint8_t xcc) const;

private:
    struct Member {
        GcLayout gc;
        Engine* mec;
        ComputeSlots* slots;
    };

    const ComputeQueue* same_queue(uint8_t xcc, const ComputeQueue& queue) const;

    const RegisterFile& registers_;
    EngineKicker& kicker_;
    std::vector<Member> members_;  // by XCC
};

}  // namespace gpuemu
