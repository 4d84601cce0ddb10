// SPDX-License-Identifier: GPL-2.0
// Purpose: submissions of command buffers to the rings of a render node, and their fences.
// Thread: no state of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "hotplug/in_guest/clients/drm_abi.h"
#include "hotplug/in_guest/clients/drm_device.h"
#include "hotplug/in_guest/clients/io.h"
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

/// The smallest job there is: a file, a context of it, and commands for a compute ring that write
/// one dword.
class SmallJob {
public:
    /// Writes 1 to the first dword of `target()`.
    static IoResult<SmallJob> create(const std::string& node);

    const DrmDevice& device() const { return device_; }
    const BufferObject& target() const { return target_; }

    /// From the next submission on writes `value` to a GPU virtual address; none that was submitted
    /// before may still be running.
    void write_to(std::uint64_t address, std::uint32_t value);

    /// From the next submission on waits until `let_go()` before it writes; as for `write_to()`,
    /// none may still be running.
    void hold();
    /// Writes to memory, whatever became of the GPU.
    void let_go() const;

    IoResult<abi::Fence> submit() const;

private:
    SmallJob(DrmDevice device, std::uint32_t context, BufferObject target, BufferObject commands)
        : device_(std::move(device)),
          context_(context),
          target_(std::move(target)),
          commands_(std::move(commands)) {}

    DrmDevice device_;
    std::uint32_t context_;
    BufferObject target_;
    BufferObject commands_;
    unsigned size_dw_ = 0;
};

}  // namespace hp::clients
