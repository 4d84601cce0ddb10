// SPDX-License-Identifier: GPL-2.0
// Purpose: an open render node of amdgpu and buffers in its address space.
// Thread: not synchronised; the client's one thread owns it.
#include "hotplug/in_guest/clients/drm_device.h"

#include <fcntl.h>

#include <bit>
#include <utility>

namespace hp::clients {

BufferObject::BufferObject(BufferObject&& other) noexcept
    : drm_fd_(other.drm_fd_),
      handle_(std::exchange(other.handle_, 0)),
      gpu_address_(other.gpu_address_),
      mapping_(std::move(other.mapping_)) {}

BufferObject::~BufferObject() {
    if (handle_ != 0) {
        (void)close();
    }
}

IoResult<void> BufferObject::close() {
    abi::GemClose request{std::exchange(handle_, 0), 0};
    return io_call(drm_fd_, abi::DRM_IOCTL_GEM_CLOSE, &request, "GEM_CLOSE");
}

IoResult<DrmDevice> DrmDevice::open(const std::string& node) {
    Fd fd(::open(node.c_str(), O_RDWR | O_CLOEXEC));
    if (!fd) {
        return io_fail("open");
    }
    return DrmDevice(std::move(fd));
}

IoResult<void> DrmDevice::map_for_gpu(BufferObject& buffer, std::uint64_t size) {
    abi::GemVa va{};
    va.handle = buffer.handle();
    va.operation = abi::AMDGPU_VA_OP_MAP;
    va.flags = abi::AMDGPU_VM_PAGE_READABLE | abi::AMDGPU_VM_PAGE_WRITEABLE |
               abi::AMDGPU_VM_PAGE_EXECUTABLE;
    va.va_address = next_address_;
    va.map_size = size;
    auto called = io_call(fd(), abi::DRM_IOCTL_AMDGPU_GEM_VA, &va, "AMDGPU_GEM_VA");
    if (!called) {
        return called;
    }
    constexpr std::uint64_t step = 2u << 20;
    next_address_ += (size + step - 1) & ~(step - 1);
    buffer.gpu_address_ = va.va_address;
    return {};
}

IoResult<BufferObject> DrmDevice::create_buffer(std::uint64_t size, std::uint64_t domain) {
    auto created = create_object(
        size, domain,
        domain == abi::AMDGPU_GEM_DOMAIN_VRAM ? abi::AMDGPU_GEM_CREATE_CPU_ACCESS_REQUIRED : 0);
    if (!created) {
        return created;
    }
    BufferObject buffer = std::move(*created);
    if (const auto mapped = map_for_gpu(buffer, size); !mapped) {
        return tl::unexpected(mapped.error());
    }

    abi::GemMmap map{};
    map.in.handle = buffer.handle();
    const auto called = io_call(fd(), abi::DRM_IOCTL_AMDGPU_GEM_MMAP, &map, "AMDGPU_GEM_MMAP");
    if (!called) {
        return tl::unexpected(called.error());
    }
    void* address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd(),
                           static_cast<off_t>(map.out.addr_ptr));
    if (address == MAP_FAILED) {
        return io_fail("mmap");
    }
    buffer.mapping_ = Mapping(address, size);
    return buffer;
}

IoResult<BufferObject> DrmDevice::create_object(std::uint64_t size, std::uint64_t domain,
                                                std::uint64_t flags) {
    abi::GemCreate create{};
    create.in.bo_size = size;
    create.in.alignment = 4096;
    create.in.domains = domain;
    create.in.domain_flags = flags;
    return io_call(fd(), abi::DRM_IOCTL_AMDGPU_GEM_CREATE, &create, "AMDGPU_GEM_CREATE").map([&] {
        return BufferObject(fd(), create.out.handle);
    });
}

IoResult<Fd> DrmDevice::export_dma_buf(const BufferObject& buffer) {
    abi::PrimeHandle request{buffer.handle(), O_CLOEXEC | O_RDWR, -1};
    return io_call(fd(), abi::DRM_IOCTL_PRIME_HANDLE_TO_FD, &request, "PRIME_HANDLE_TO_FD")
        .map([&] { return Fd(request.fd); });
}

IoResult<BufferObject> DrmDevice::import_dma_buf(const Fd& dma_buf, std::uint64_t size) {
    abi::PrimeHandle request{0, 0, dma_buf.get()};
    const auto called =
        io_call(fd(), abi::DRM_IOCTL_PRIME_FD_TO_HANDLE, &request, "PRIME_FD_TO_HANDLE");
    if (!called) {
        return tl::unexpected(called.error());
    }
    BufferObject buffer(fd(), request.handle);
    if (const auto mapped = map_for_gpu(buffer, size); !mapped) {
        return tl::unexpected(mapped.error());
    }
    return buffer;
}

IoResult<std::uint32_t> DrmDevice::create_context() {
    abi::Context context{};
    context.in.op = abi::AMDGPU_CTX_OP_ALLOC_CTX;
    return io_call(fd(), abi::DRM_IOCTL_AMDGPU_CTX, &context, "AMDGPU_CTX").map([&] {
        return context.out.ctx_id;
    });
}

IoResult<unsigned> DrmDevice::ring_count(std::uint32_t ip_type) {
    abi::InfoHwIp ip{};
    abi::Info info{};
    info.return_pointer = reinterpret_cast<std::uintptr_t>(&ip);
    info.return_size = sizeof ip;
    info.query = abi::AMDGPU_INFO_HW_IP_INFO;
    info.query_hw_ip.type = ip_type;
    return io_call(fd(), abi::DRM_IOCTL_AMDGPU_INFO, &info, "AMDGPU_INFO").map([&] {
        return static_cast<unsigned>(std::popcount(ip.available_rings));
    });
}

}  // namespace hp::clients
