// SPDX-License-Identifier: GPL-2.0
// Purpose: who had a queue mapped, where its state goes when it is taken off, and what a request to
// map one says. Thread: values.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "gpu-emu/mem/gpu_memory.h"

namespace gpuemu {

/// Of a queue that all XCCs of a partition run, each from an MQD of its own. All of them carry out
/// each packet; what memory is told of it, the leader tells, who is the last to be done with it.
enum class QueueRole { alone, leader, follower };

struct QueueOwner {
    uint64_t mqd =
        0;  // MQD the queue was loaded from; 0: written register by register, nothing to save to
    uint16_t pasid = 0;      // process, of queues of a run list
    bool scheduled = false;  // mapped by a run list
    bool is_static = false;  // stays on UNMAP_QUEUES of all non-static queues
    QueueRole role = QueueRole::alone;
    Hub hub = Hub::gfx;  // through which whoever mapped it reaches the MQD
};

/// Which queues to take off. Doorbell: dword index, nothing if the queue has none.
using QueueSelector =
    std::function<bool(const QueueOwner& owner, std::optional<uint32_t> doorbell)>;

struct MapRequest {
    QueueOwner owner;
    uint32_t doorbell = 0;         // dword index
    std::optional<unsigned> vmid;  // instead of the MQD's
    uint64_t wptr_address = 0;     // read in the queue's VMID; 0: the MQD's write pointer counts
};

}  // namespace gpuemu
