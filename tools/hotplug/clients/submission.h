// SPDX-License-Identifier: GPL-2.0
// Purpose: submissions of command buffers to the rings of a render node, and their fences.
// Thread: no state of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>

#include "hotplug/clients/drm_abi.h"
#include "hotplug/clients/drm_device.h"
#include "hotplug/clients/io.h"
#include "lib/fd.h"

namespace hp::clients {

/// Where a submission goes.
struct RingId {
    std::uint32_t ip_type;
    std::uint32_t ring;
};

/// Submits the first `size_dw` dwords of `commands`; `buffers` are all that the commands touch,
/// themselves included.
IoResult<abi::Fence> submit(const DrmDevice& device, std::uint32_t context, RingId ring,
                            const BufferObject& commands, unsigned size_dw,
                            std::initializer_list<const BufferObject*> buffers);

/// False when it has not been executed within `patience`.
IoResult<bool> wait_fence(const DrmDevice& device, const abi::Fence& fence,
                          std::chrono::milliseconds patience);

IoResult<Fd> export_sync_file(const DrmDevice& device, const abi::Fence& fence);

/// What has become of a fence within `patience`, or until a signal: 0 pending, 1 signalled,
/// negative signalled with that error. Asks the file, not the device, which may be gone.
IoResult<int> wait_sync_file(const Fd& fence, std::chrono::milliseconds patience);

}  // namespace hp::clients
