// SPDX-License-Identifier: GPL-2.0
// Purpose: an open render node of amdgpu and buffers in its address space.
// Thread: not synchronised; the client's one thread owns it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hotplug/in_guest/clients/drm_abi.h"
#include "hotplug/in_guest/clients/io.h"
#include "hotplug/in_guest/clients/mapping.h"
#include "lib/fd.h"

namespace hp::clients {

/// A GEM object, mapped for the GPU and for the CPU.
class BufferObject {
public:
    BufferObject(int drm_fd, std::uint32_t handle) : drm_fd_(drm_fd), handle_(handle) {}
    BufferObject(BufferObject&& other) noexcept;
    BufferObject& operator=(BufferObject&&) = delete;
    /// Closes the handle; that fails only where the device is gone and took it along.
    ~BufferObject();

    std::uint32_t handle() const { return handle_; }
    std::uint64_t gpu_address() const { return gpu_address_; }
    volatile std::uint32_t* dwords() const { return mapping_.dwords(); }

    void unmap() { mapping_.reset(); }
    IoResult<void> close();

private:
    friend class DrmDevice;

    int drm_fd_;
    std::uint32_t handle_;
    std::uint64_t gpu_address_ = 0;
    Mapping mapping_;
};

class DrmDevice {
public:
    static IoResult<DrmDevice> open(const std::string& node);

    int fd() const { return fd_.get(); }
    void close() { fd_.reset(); }

    /// `domain`: AMDGPU_GEM_DOMAIN_*. VRAM is asked for where the CPU sees it.
    IoResult<BufferObject> create_buffer(std::uint64_t size, std::uint64_t domain);

    /// Nothing but the object: neither the GPU nor the CPU has it mapped.
    IoResult<BufferObject> create_object(std::uint64_t size, std::uint64_t domain,
                                         std::uint64_t flags);

    IoResult<Fd> export_dma_buf(const BufferObject& buffer);

    /// A buffer of another device, in this one's address space; the CPU has it not mapped.
    IoResult<BufferObject> import_dma_buf(const Fd& dma_buf, std::uint64_t size);

    IoResult<std::uint32_t> create_context();

    /// How many rings of the kind AMDGPU_HW_IP_* there are.
    IoResult<unsigned> ring_count(std::uint32_t ip_type);

private:
    explicit DrmDevice(Fd fd) : fd_(std::move(fd)) {}

    IoResult<void> map_for_gpu(BufferObject& buffer, std::uint64_t size);

    Fd fd_;
    std::uint64_t next_address_ =
        0x200000000;  // any place above what the driver reserves at the bottom
};

}  // namespace hp::clients
