// SPDX-License-Identifier: GPL-2.0
// Purpose: submissions of command buffers to the rings of a render node, and their fences.
// Thread: no state of its own.
#include "hotplug/in_guest/clients/submission.h"

#include <linux/sync_file.h>
#include <poll.h>

#include <array>
#include <vector>

#include "hotplug/in_guest/clients/command_buffer.h"
#include "hotplug/in_guest/clients/mapping.h"

namespace hp::clients {

IoResult<abi::Fence> submit(const DrmDevice& device, std::uint32_t context, RingId ring,
                            const BufferObject& commands, unsigned size_dw,
                            std::initializer_list<const BufferObject*> buffers) {
    std::vector<abi::BoListEntry> entries;
    for (const BufferObject* buffer : buffers) {
        entries.push_back({buffer->handle(), 0});
    }
    constexpr std::uint32_t ignored =
        ~0u;  // the kernel's in-line list has neither operation nor handle
    const abi::BoListIn list{ignored, ignored, static_cast<std::uint32_t>(entries.size()),
                             sizeof(abi::BoListEntry), address_of(entries.data())};
    const abi::ChunkIb ib{0, 0, commands.gpu_address(), size_dw * 4, ring.ip_type, 0, ring.ring};
    const std::array chunks = {
        abi::Chunk{abi::AMDGPU_CHUNK_ID_IB, sizeof ib / 4, address_of(&ib)},
        abi::Chunk{abi::AMDGPU_CHUNK_ID_BO_HANDLES, sizeof list / 4, address_of(&list)}};
    const std::array pointers = {address_of(&chunks[0]), address_of(&chunks[1])};

    abi::Submission submission{};
    submission.in.ctx_id = context;
    submission.in.num_chunks = chunks.size();
    submission.in.chunks = address_of(pointers.data());
    return io_call(device.fd(), abi::DRM_IOCTL_AMDGPU_CS, &submission, "AMDGPU_CS").map([&] {
        return abi::Fence{context, ring.ip_type, 0, ring.ring, submission.out.handle};
    });
}

IoResult<bool> wait_fence(const DrmDevice& device, const abi::Fence& fence,
                          std::chrono::milliseconds patience) {
    const auto until = (std::chrono::steady_clock::now() + patience).time_since_epoch();
    abi::WaitSubmission wait{};
    wait.in.handle = fence.seq_no;
    wait.in.timeout = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(until).count());
    wait.in.ip_type = fence.ip_type;
    wait.in.ring = fence.ring;
    wait.in.ctx_id = fence.ctx_id;
    return io_call(device.fd(), abi::DRM_IOCTL_AMDGPU_WAIT_CS, &wait, "AMDGPU_WAIT_CS").map([&] {
        return wait.out.status == 0;
    });
}

IoResult<Fd> export_sync_file(const DrmDevice& device, const abi::Fence& fence) {
    abi::FenceToHandle request{};
    request.in.fence = fence;
    request.in.what = abi::AMDGPU_FENCE_TO_HANDLE_GET_SYNC_FILE_FD;
    return io_call(device.fd(), abi::DRM_IOCTL_AMDGPU_FENCE_TO_HANDLE, &request,
                   "AMDGPU_FENCE_TO_HANDLE")
        .map([&] { return Fd(static_cast<int>(request.out.handle)); });
}

IoResult<int> wait_sync_file(const Fd& fence, std::chrono::milliseconds patience) {
    pollfd wanted{fence.get(), POLLIN, 0};
    if (::poll(&wanted, 1, static_cast<int>(patience.count())) < 0) {
        return errno == EINTR ? IoResult<int>(0) : io_fail("poll");
    }
    sync_file_info info{};
    return io_call(fence.get(), SYNC_IOC_FILE_INFO, &info, "SYNC_IOC_FILE_INFO").map([&] {
        return info.status;
    });
}

/// The dword of the target that a job which is held waits for.
constexpr unsigned released_dw = 64;

IoResult<SmallJob> SmallJob::create(const std::string& node) {
    auto device = DrmDevice::open(node);
    if (!device) {
        return tl::unexpected(device.error());
    }
    const auto context = device->create_context();
    if (!context) {
        return tl::unexpected(context.error());
    }
    auto target = device->create_buffer(4096, abi::AMDGPU_GEM_DOMAIN_GTT);
    if (!target) {
        return tl::unexpected(target.error());
    }
    auto commands = device->create_buffer(4096, abi::AMDGPU_GEM_DOMAIN_GTT);
    if (!commands) {
        return tl::unexpected(commands.error());
    }
    SmallJob job(std::move(*device), *context, std::move(*target), std::move(*commands));
    job.write_to(job.target_.gpu_address(), 1);
    return job;
}

void SmallJob::write_to(std::uint64_t address, std::uint32_t value) {
    CommandBuffer commands(commands_.dwords());
    commands.pm4_write_data(address, value);
    commands.pm4_pad();
    size_dw_ = commands.size();
}

void SmallJob::hold() {
    target_.dwords()[released_dw] = 0;
    CommandBuffer commands(commands_.dwords());
    commands.pm4_wait(target_.gpu_address() + released_dw * sizeof(std::uint32_t), 1);
    commands.pm4_write_data(target_.gpu_address(), 1);
    commands.pm4_pad();
    size_dw_ = commands.size();
}

void SmallJob::let_go() const {
    target_.dwords()[released_dw] = 1;
}

IoResult<abi::Fence> SmallJob::submit() const {
    return clients::submit(device_, context_, {abi::AMDGPU_HW_IP_COMPUTE, 0}, commands_, size_dw_,
                           {&commands_, &target_});
}

}  // namespace hp::clients
