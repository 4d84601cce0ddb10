// SPDX-License-Identifier: GPL-2.0
// Purpose: the part of amdkfd's user ABI that the clients use (include/uapi/linux/kfd_ioctl.h of
// the kernel). Debian ships that header, but not the DRM header it includes. Thread: types and
// constants only. Not modelled: members added after Linux 6.1. amdkfd takes a shorter argument and
// reads the rest as zero.
#pragma once

#include <linux/ioctl.h>

#include <cstdint>

namespace hp::clients::abi {

struct GetVersion {
    std::uint32_t major_version;
    std::uint32_t minor_version;
};

struct CreateQueue {
    std::uint64_t ring_base_address;
    std::uint64_t write_pointer_address;
    std::uint64_t read_pointer_address;
    std::uint64_t doorbell_offset;  ///< from KFD
    std::uint32_t ring_size;
    std::uint32_t gpu_id;
    std::uint32_t queue_type;
    std::uint32_t queue_percentage;
    std::uint32_t queue_priority;
    std::uint32_t queue_id;  ///< from KFD
    std::uint64_t eop_buffer_address;
    std::uint64_t eop_buffer_size;
    std::uint64_t ctx_save_restore_address;
    std::uint32_t ctx_save_restore_size;
    std::uint32_t ctl_stack_size;
};

constexpr std::uint32_t KFD_IOC_QUEUE_TYPE_COMPUTE_AQL = 0x2;

struct DestroyQueue {
    std::uint32_t queue_id;
    std::uint32_t pad;
};

struct CreateEvent {
    std::uint64_t event_page_offset;   ///< to KFD: handle of the event page, with the first event
    std::uint32_t event_trigger_data;  ///< from KFD, like the last two
    std::uint32_t event_type;
    std::uint32_t auto_reset;
    std::uint32_t node_id;
    std::uint32_t event_id;
    std::uint32_t event_slot_index;
};

constexpr std::uint32_t KFD_IOC_EVENT_SIGNAL = 0;
constexpr std::uint32_t KFD_IOC_EVENT_HW_EXCEPTION = 3;
constexpr std::uint32_t KFD_IOC_EVENT_MEMORY = 8;
constexpr std::uint32_t KFD_SIGNAL_EVENT_LIMIT = 4096;

constexpr std::uint32_t KFD_HW_EXCEPTION_DEVICE_LOST = 2;

struct MemoryException {
    std::uint32_t failure[4];
    std::uint64_t va;
    std::uint32_t gpu_id;
    std::uint32_t error_type;
};

struct HardwareException {
    std::uint32_t reset_type;
    std::uint32_t reset_cause;
    std::uint32_t memory_lost;
    std::uint32_t gpu_id;
};

struct EventData {
    union {
        MemoryException memory_exception;
        HardwareException hardware_exception;
    };
    std::uint64_t extension;
    std::uint32_t event_id;  ///< to KFD
    std::uint32_t pad;
};

struct WaitEvents {
    std::uint64_t events_ptr;
    std::uint32_t num_events;
    std::uint32_t wait_for_all;
    std::uint32_t timeout_ms;
    std::uint32_t wait_result;  ///< from KFD
};

constexpr std::uint32_t KFD_IOC_WAIT_RESULT_TIMEOUT = 1;

/// With no array of apertures KFD tells how many GPUs the process has.
struct GetProcessAperturesNew {
    std::uint64_t apertures_ptr;
    std::uint32_t num_of_nodes;
    std::uint32_t pad;
};

struct AcquireVm {
    std::uint32_t drm_fd;
    std::uint32_t gpu_id;
};

struct AllocMemoryOfGpu {
    std::uint64_t va_addr;
    std::uint64_t size;
    std::uint64_t handle;       ///< from KFD
    std::uint64_t mmap_offset;  ///< to KFD for userptr, else from KFD
    std::uint32_t gpu_id;
    std::uint32_t flags;
};

constexpr std::uint32_t KFD_IOC_ALLOC_MEM_FLAGS_VRAM = 1u << 0;
constexpr std::uint32_t KFD_IOC_ALLOC_MEM_FLAGS_GTT = 1u << 1;
constexpr std::uint32_t KFD_IOC_ALLOC_MEM_FLAGS_USERPTR = 1u << 2;
constexpr std::uint32_t KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL = 1u << 3;
constexpr std::uint32_t KFD_IOC_ALLOC_MEM_FLAGS_COHERENT = 1u << 26;
constexpr std::uint32_t KFD_IOC_ALLOC_MEM_FLAGS_NO_SUBSTITUTE = 1u << 28;
constexpr std::uint32_t KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC = 1u << 29;
constexpr std::uint32_t KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE = 1u << 30;
constexpr std::uint32_t KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE = 1u << 31;

struct FreeMemoryOfGpu {
    std::uint64_t handle;
};

/// Both directions of mapping take the same argument.
struct MapMemoryToGpu {
    std::uint64_t handle;
    std::uint64_t device_ids_array_ptr;
    std::uint32_t n_devices;
    std::uint32_t n_success;
};

struct SmiEvents {
    std::uint32_t gpu_id;
    std::uint32_t anon_fd;  ///< from KFD
};

constexpr std::uint32_t KFD_SMI_EVENT_GPU_GONE = 14;

struct SvmAttribute {
    std::uint32_t type;
    std::uint32_t value;
};

constexpr std::uint32_t KFD_IOCTL_SVM_ATTR_PREFERRED_LOC = 0;
constexpr std::uint32_t KFD_IOCTL_SVM_ATTR_PREFETCH_LOC = 1;
constexpr std::uint32_t KFD_IOCTL_SVM_ATTR_ACCESS = 2;

/// What the kernel's header calls kfd_ioctl_svm_args, with the three attributes behind it.
struct Svm {
    std::uint64_t start_addr;
    std::uint64_t size;
    std::uint32_t op;
    std::uint32_t nattr;
    SvmAttribute attrs[3];
};

constexpr std::uint32_t KFD_IOCTL_SVM_OP_SET_ATTR = 0;

static_assert(sizeof(CreateQueue) == 88 && sizeof(CreateEvent) == 32 && sizeof(EventData) == 48);
static_assert(sizeof(WaitEvents) == 24 && sizeof(AllocMemoryOfGpu) == 40 &&
              sizeof(MapMemoryToGpu) == 24);

constexpr unsigned long AMDKFD_IOC_GET_VERSION = _IOR('K', 0x01, GetVersion);
constexpr unsigned long AMDKFD_IOC_CREATE_QUEUE = _IOWR('K', 0x02, CreateQueue);
constexpr unsigned long AMDKFD_IOC_DESTROY_QUEUE = _IOWR('K', 0x03, DestroyQueue);
constexpr unsigned long AMDKFD_IOC_CREATE_EVENT = _IOWR('K', 0x08, CreateEvent);
constexpr unsigned long AMDKFD_IOC_WAIT_EVENTS = _IOWR('K', 0x0c, WaitEvents);
constexpr unsigned long AMDKFD_IOC_GET_PROCESS_APERTURES_NEW =
    _IOWR('K', 0x14, GetProcessAperturesNew);
constexpr unsigned long AMDKFD_IOC_ACQUIRE_VM = _IOW('K', 0x15, AcquireVm);
constexpr unsigned long AMDKFD_IOC_ALLOC_MEMORY_OF_GPU = _IOWR('K', 0x16, AllocMemoryOfGpu);
constexpr unsigned long AMDKFD_IOC_FREE_MEMORY_OF_GPU = _IOW('K', 0x17, FreeMemoryOfGpu);
constexpr unsigned long AMDKFD_IOC_MAP_MEMORY_TO_GPU = _IOWR('K', 0x18, MapMemoryToGpu);
constexpr unsigned long AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU = _IOWR('K', 0x19, MapMemoryToGpu);
constexpr unsigned long AMDKFD_IOC_SMI_EVENTS = _IOWR('K', 0x1f, SmiEvents);
/// The size in the number counts the attributes that follow.
constexpr unsigned long AMDKFD_IOC_SVM = _IOWR('K', 0x20, Svm);

}  // namespace hp::clients::abi
