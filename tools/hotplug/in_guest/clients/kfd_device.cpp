// SPDX-License-Identifier: GPL-2.0
// Purpose: one GPU through /dev/kfd: its memory, mapped at the same address for CPU and GPU, and
// its events. Thread: not synchronised; the client's one thread owns it. Not modelled: memory
// of several GPUs.
#include "hotplug/in_guest/clients/kfd_device.h"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <utility>

#include "hotplug/in_guest/clients/mapping.h"

namespace hp::clients {

namespace {

constexpr std::uint32_t access_flags = abi::KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE |
                                       abi::KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE |
                                       abi::KFD_IOC_ALLOC_MEM_FLAGS_NO_SUBSTITUTE;
/// kfd_doorbell_process_slice(): 1024 queues of a process, a doorbell of 8 bytes each, on GPUs
/// without MES.
constexpr std::uint64_t doorbell_slice = 8192;

std::uint32_t flags_of(MemoryKind kind) {
    switch (kind) {
        case MemoryKind::gtt:
            return access_flags | abi::KFD_IOC_ALLOC_MEM_FLAGS_GTT |
                   abi::KFD_IOC_ALLOC_MEM_FLAGS_COHERENT;
        case MemoryKind::userptr:
            return access_flags | abi::KFD_IOC_ALLOC_MEM_FLAGS_USERPTR |
                   abi::KFD_IOC_ALLOC_MEM_FLAGS_COHERENT;
        case MemoryKind::vram:
            return access_flags | abi::KFD_IOC_ALLOC_MEM_FLAGS_VRAM |
                   abi::KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC;
        case MemoryKind::device: return access_flags | abi::KFD_IOC_ALLOC_MEM_FLAGS_VRAM;
    }
    return access_flags;
}

/// Puts other memory in the place of a reservation.
IoResult<void> map_over(const Mapping& place, int fd, std::uint64_t offset) {
    void* address = ::mmap(place.at<void>(0), place.size(), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_FIXED, fd, static_cast<off_t>(offset));
    return address == MAP_FAILED ? IoResult<void>(io_fail("mmap")) : IoResult<void>();
}

}  // namespace

KfdMemory::KfdMemory(KfdMemory&& other) noexcept
    : kfd_fd_(other.kfd_fd_),
      gpu_id_(other.gpu_id_),
      handle_(std::exchange(other.handle_, 0)),
      mapping_(std::move(other.mapping_)),
      on_gpu_(std::exchange(other.on_gpu_, false)) {}

KfdMemory::~KfdMemory() {
    if (on_gpu_) {
        abi::MapMemoryToGpu unmap{handle_, address_of(&gpu_id_), 1, 0};
        (void)io_call(kfd_fd_, abi::AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU, &unmap,
                      "KFD_UNMAP_MEMORY_FROM_GPU");
    }
    if (handle_ != 0) {
        abi::FreeMemoryOfGpu release{handle_};
        (void)io_call(kfd_fd_, abi::AMDKFD_IOC_FREE_MEMORY_OF_GPU, &release,
                      "KFD_FREE_MEMORY_OF_GPU");
    }
}

IoResult<KfdDevice> KfdDevice::open(const KfdNode& node) {
    Fd kfd(::open("/dev/kfd", O_RDWR | O_CLOEXEC));
    if (!kfd) {
        return io_fail("open of /dev/kfd");
    }
    auto drm = acquire(kfd.get(), node);
    if (!drm) {
        return tl::unexpected(drm.error());
    }
    return KfdDevice(std::move(kfd), std::move(*drm), node.gpu_id());
}

IoResult<Fd> KfdDevice::acquire(int kfd_fd, const KfdNode& node) {
    Fd drm(::open(node.render_node().c_str(), O_RDWR | O_CLOEXEC));
    if (!drm) {
        return io_fail("open of the render node");
    }
    abi::AcquireVm request{static_cast<std::uint32_t>(drm.get()), node.gpu_id()};
    return io_call(kfd_fd, abi::AMDKFD_IOC_ACQUIRE_VM, &request, "KFD_ACQUIRE_VM").map([&] {
        return std::move(drm);
    });
}

IoResult<abi::GetVersion> KfdDevice::version() const {
    abi::GetVersion version{};
    return io_call(fd(), abi::AMDKFD_IOC_GET_VERSION, &version, "KFD_GET_VERSION").map([&] {
        return version;
    });
}

IoResult<void> KfdDevice::move_to(const KfdNode& node) {
    auto drm = acquire(fd(), node);
    if (!drm) {
        return tl::unexpected(drm.error());
    }
    drm_ = std::move(*drm);
    gpu_id_ = node.gpu_id();
    if (event_page_.size() == 0) {
        return {};
    }
    // Memory of a GPU that is gone can't be mapped to another one: the next event brings a new
    // page along.
    const auto mapped = map_to_gpu(event_page_handle_);
    if (!mapped && mapped.error().error == ENODEV) {
        event_page_ = Mapping();
        return {};
    }
    return mapped;
}

IoResult<Mapping> KfdDevice::reserve(std::uint64_t size) {
    void* address =
        ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) {
        return io_fail("mmap");
    }
    return Mapping(address, size);
}

IoResult<KfdMemory> KfdDevice::allocate(MemoryKind kind, std::uint64_t size) {
    auto place = reserve(size);
    if (!place) {
        return tl::unexpected(place.error());
    }
    if (kind == MemoryKind::userptr &&
        ::mprotect(place->at<void>(0), size, PROT_READ | PROT_WRITE) != 0) {
        return io_fail("mprotect");
    }
    abi::AllocMemoryOfGpu request{};
    request.va_addr = place->address();
    request.size = size;
    request.gpu_id = gpu_id_;
    request.flags = flags_of(kind);
    request.mmap_offset = kind == MemoryKind::userptr ? place->address() : 0;
    const auto allocated =
        io_call(fd(), abi::AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &request, "KFD_ALLOC_MEMORY_OF_GPU");
    if (!allocated) {
        return tl::unexpected(allocated.error());
    }
    KfdMemory memory(fd(), gpu_id_, request.handle, std::move(*place));
    if (kind == MemoryKind::gtt || kind == MemoryKind::vram) {
        const auto mapped = map_over(memory.mapping_, drm_.get(), request.mmap_offset);
        if (!mapped) {
            return tl::unexpected(mapped.error());
        }
    }
    const auto on_gpu = map_to_gpu(memory.handle());
    if (!on_gpu) {
        return tl::unexpected(on_gpu.error());
    }
    memory.on_gpu_ = true;
    return memory;
}

IoResult<KfdMemory> KfdDevice::map_doorbells(std::uint64_t mmap_offset) {
    auto place = reserve(doorbell_slice);
    if (!place) {
        return tl::unexpected(place.error());
    }
    abi::AllocMemoryOfGpu request{};
    request.va_addr = place->address();
    request.size = doorbell_slice;
    request.gpu_id = gpu_id_;
    request.flags = access_flags | abi::KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL |
                    abi::KFD_IOC_ALLOC_MEM_FLAGS_COHERENT;
    const auto allocated =
        io_call(fd(), abi::AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &request, "KFD_ALLOC_MEMORY_OF_GPU");
    if (!allocated) {
        return tl::unexpected(allocated.error());
    }
    KfdMemory memory(fd(), gpu_id_, request.handle, std::move(*place));
    const auto mapped = map_over(memory.mapping_, fd(), mmap_offset & ~(doorbell_slice - 1));
    const auto on_gpu = mapped ? map_to_gpu(memory.handle()) : mapped;
    if (!on_gpu) {
        return tl::unexpected(on_gpu.error());
    }
    memory.on_gpu_ = true;
    return memory;
}

IoResult<void> KfdDevice::map_on(const KfdMemory& memory, std::span<const std::uint32_t> gpu_ids) {
    return map_to_gpus(memory.handle(), gpu_ids);
}

IoResult<void> KfdDevice::map_to_gpus(std::uint64_t handle,
                                      std::span<const std::uint32_t> gpu_ids) {
    abi::MapMemoryToGpu request{handle, address_of(gpu_ids.data()),
                                static_cast<std::uint32_t>(gpu_ids.size()), 0};
    return io_call(fd(), abi::AMDKFD_IOC_MAP_MEMORY_TO_GPU, &request, "KFD_MAP_MEMORY_TO_GPU");
}

IoResult<void> KfdDevice::move_to_vram(const Mapping& pages) {
    abi::Svm request{pages.address(),
                     pages.size(),
                     abi::KFD_IOCTL_SVM_OP_SET_ATTR,
                     3,
                     {{abi::KFD_IOCTL_SVM_ATTR_PREFERRED_LOC, gpu_id_},
                      {abi::KFD_IOCTL_SVM_ATTR_PREFETCH_LOC, gpu_id_},
                      {abi::KFD_IOCTL_SVM_ATTR_ACCESS, gpu_id_}}};
    return io_call(fd(), abi::AMDKFD_IOC_SVM, &request, "KFD_SVM");
}

IoResult<void> KfdDevice::map_pages(const Mapping& pages) {
    abi::Svm request{pages.address(),
                     pages.size(),
                     abi::KFD_IOCTL_SVM_OP_SET_ATTR,
                     1,
                     {{abi::KFD_IOCTL_SVM_ATTR_ACCESS, gpu_id_}}};
    return io_call(fd(), abi::AMDKFD_IOC_SVM, &request, "KFD_SVM");
}

IoResult<std::uint32_t> KfdDevice::create_event(std::uint32_t type, abi::CreateEvent& args) {
    args.event_type = type;
    args.auto_reset = 1;
    return io_call(fd(), abi::AMDKFD_IOC_CREATE_EVENT, &args, "KFD_CREATE_EVENT").map([&] {
        return args.event_id;
    });
}

IoResult<void> KfdDevice::create_exception_events() {
    for (const auto& [type, id] : {std::pair{abi::KFD_IOC_EVENT_HW_EXCEPTION, &hardware_exception_},
                                   std::pair{abi::KFD_IOC_EVENT_MEMORY, &memory_exception_}}) {
        abi::CreateEvent args{};
        const auto created = create_event(type, args);
        if (!created) {
            return tl::unexpected(created.error());
        }
        *id = *created;
    }
    return {};
}

IoResult<SignalEvent> KfdDevice::create_signal_event() {
    abi::CreateEvent args{};
    if (event_page_.size() == 0) {
        auto page = allocate(MemoryKind::gtt, abi::KFD_SIGNAL_EVENT_LIMIT * sizeof(std::uint64_t));
        if (!page) {
            return tl::unexpected(page.error());
        }
        // Told with the first event only, and with the first one after the loss of its GPU.
        args.event_page_offset = event_page_handle_ = page->handle();
        event_page_ = page->leave_to_process();  // KFD refuses to free it
    }
    if (hardware_exception_ == 0) {
        const auto exceptions = create_exception_events();
        if (!exceptions) {
            return tl::unexpected(exceptions.error());
        }
    }
    return create_event(abi::KFD_IOC_EVENT_SIGNAL, args).map([&](std::uint32_t id) {
        return SignalEvent{id,
                           event_page_.address() + args.event_slot_index * sizeof(std::uint64_t)};
    });
}

IoResult<EventWait> KfdDevice::wait_event(const SignalEvent& event,
                                          std::chrono::milliseconds patience) {
    // The exceptions first: a result that is ready is told by the signal's own value anyway.
    std::array<abi::EventData, 3> events{};
    events[0].event_id = hardware_exception_;
    events[1].event_id = memory_exception_;
    events[2].event_id = event.id;
    abi::WaitEvents wait{};
    wait.events_ptr = address_of(events.data());
    wait.num_events = events.size();
    wait.timeout_ms = static_cast<std::uint32_t>(patience.count());
    const auto waited = io_call(fd(), abi::AMDKFD_IOC_WAIT_EVENTS, &wait, "KFD_WAIT_EVENTS");
    if (!waited) {
        return tl::unexpected(waited.error());
    }
    if (wait.wait_result == abi::KFD_IOC_WAIT_RESULT_TIMEOUT) {
        return EventWait::timeout;
    }
    // KFD fills in the GPU of an exception only when that event has fired
    // (copy_signaled_event_data).
    if (events[0].hardware_exception.gpu_id != 0) {
        last_exception_ = events[0].hardware_exception;
        return EventWait::hardware_exception;
    }
    if (events[1].memory_exception.gpu_id != 0) {
        return EventWait::memory_exception;
    }
    return EventWait::fired;
}

}  // namespace hp::clients
