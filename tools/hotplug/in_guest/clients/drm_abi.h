// SPDX-License-Identifier: GPL-2.0
// Purpose: the part of the DRM and amdgpu user ABI that the clients use
// (include/uapi/drm/{drm,amdgpu_drm}.h of the kernel). Debian's linux-libc-dev does not have those
// headers, and the clients shall not need a kernel tree to build. Thread: types and constants only.
// Not modelled: members added after Linux 6.1. The DRM core takes a shorter argument and reads the
// rest as zero.
#pragma once

#include <linux/ioctl.h>

#include <cstdint>

namespace hp::clients::abi {

struct GemClose {
    std::uint32_t handle;
    std::uint32_t pad;
};

struct PrimeHandle {
    std::uint32_t handle;
    std::uint32_t flags;  ///< O_CLOEXEC, O_RDWR
    std::int32_t fd;
};

union GemCreate {
    struct {
        std::uint64_t bo_size;
        std::uint64_t alignment;
        std::uint64_t domains;
        std::uint64_t domain_flags;
    } in;
    struct {
        std::uint32_t handle;
        std::uint32_t pad;
    } out;
};

constexpr std::uint64_t AMDGPU_GEM_DOMAIN_GTT = 0x2;
constexpr std::uint64_t AMDGPU_GEM_DOMAIN_VRAM = 0x4;
constexpr std::uint64_t AMDGPU_GEM_CREATE_CPU_ACCESS_REQUIRED = 1 << 0;
constexpr std::uint64_t AMDGPU_GEM_CREATE_CPU_GTT_USWC = 1 << 2;
constexpr std::uint64_t AMDGPU_GEM_CREATE_VM_ALWAYS_VALID = 1 << 6;

union GemMmap {
    struct {
        std::uint32_t handle;
        std::uint32_t pad;
    } in;
    struct {
        std::uint64_t addr_ptr;
    } out;
};

struct GemVa {
    std::uint32_t handle;
    std::uint32_t pad;
    std::uint32_t operation;
    std::uint32_t flags;
    std::uint64_t va_address;
    std::uint64_t offset_in_bo;
    std::uint64_t map_size;
};

constexpr std::uint32_t AMDGPU_VA_OP_MAP = 1;
constexpr std::uint32_t AMDGPU_VM_PAGE_READABLE = 1 << 1;
constexpr std::uint32_t AMDGPU_VM_PAGE_WRITEABLE = 1 << 2;
constexpr std::uint32_t AMDGPU_VM_PAGE_EXECUTABLE = 1 << 3;

union Context {
    struct {
        std::uint32_t op;
        std::uint32_t flags;
        std::uint32_t ctx_id;
        std::int32_t priority;
    } in;
    struct {
        std::uint32_t ctx_id;
        std::uint32_t pad;
    } out;
};

constexpr std::uint32_t AMDGPU_CTX_OP_ALLOC_CTX = 1;

struct BoListEntry {
    std::uint32_t bo_handle;
    std::uint32_t bo_priority;
};

struct BoListIn {
    std::uint32_t operation;
    std::uint32_t list_handle;
    std::uint32_t bo_number;
    std::uint32_t bo_info_size;
    std::uint64_t bo_info_ptr;
};

struct ChunkIb {
    std::uint32_t pad;
    std::uint32_t flags;
    std::uint64_t va_start;
    std::uint32_t ib_bytes;
    std::uint32_t ip_type;
    std::uint32_t ip_instance;
    std::uint32_t ring;
};

struct Chunk {
    std::uint32_t chunk_id;
    std::uint32_t length_dw;
    std::uint64_t chunk_data;
};

constexpr std::uint32_t AMDGPU_CHUNK_ID_IB = 0x01;
constexpr std::uint32_t AMDGPU_CHUNK_ID_BO_HANDLES = 0x06;
constexpr std::uint32_t AMDGPU_HW_IP_GFX = 0;
constexpr std::uint32_t AMDGPU_HW_IP_COMPUTE = 1;
constexpr std::uint32_t AMDGPU_HW_IP_DMA = 2;

union Submission {
    struct {
        std::uint32_t ctx_id;
        std::uint32_t bo_list_handle;
        std::uint32_t num_chunks;
        std::uint32_t flags;
        std::uint64_t chunks;
    } in;
    struct {
        std::uint64_t handle;
    } out;
};

union WaitSubmission {
    struct {
        std::uint64_t handle;
        std::uint64_t timeout;  ///< CLOCK_MONOTONIC, in nanoseconds
        std::uint32_t ip_type;
        std::uint32_t ip_instance;
        std::uint32_t ring;
        std::uint32_t ctx_id;
    } in;
    struct {
        std::uint64_t status;  ///< 1: still busy
    } out;
};

struct Fence {
    std::uint32_t ctx_id;
    std::uint32_t ip_type;
    std::uint32_t ip_instance;
    std::uint32_t ring;
    std::uint64_t seq_no;
};

union FenceToHandle {
    struct {
        Fence fence;
        std::uint32_t what;
        std::uint32_t pad;
    } in;
    struct {
        std::uint32_t handle;
    } out;
};

constexpr std::uint32_t AMDGPU_FENCE_TO_HANDLE_GET_SYNC_FILE_FD = 2;

struct Info {
    std::uint64_t return_pointer;
    std::uint32_t return_size;
    std::uint32_t query;
    struct {
        std::uint32_t type;
        std::uint32_t ip_instance;
        std::uint32_t unused[2];
    } query_hw_ip;
};

constexpr std::uint32_t AMDGPU_INFO_HW_IP_INFO = 0x02;

struct InfoHwIp {
    std::uint32_t hw_ip_version_major;
    std::uint32_t hw_ip_version_minor;
    std::uint64_t capabilities_flags;
    std::uint32_t ib_start_alignment;
    std::uint32_t ib_size_alignment;
    std::uint32_t available_rings;  ///< one bit each
    std::uint32_t ip_discovery_version;
};

static_assert(sizeof(PrimeHandle) == 12 && sizeof(GemCreate) == 32 && sizeof(GemMmap) == 8);
static_assert(sizeof(GemVa) == 40 && sizeof(Context) == 16 && sizeof(BoListIn) == 24);
static_assert(sizeof(ChunkIb) == 32 && sizeof(Chunk) == 16 && sizeof(Submission) == 24);
static_assert(sizeof(WaitSubmission) == 32 && sizeof(FenceToHandle) == 32 && sizeof(Info) == 32);
static_assert(sizeof(InfoHwIp) == 32);

constexpr unsigned long DRM_IOCTL_GEM_CLOSE = _IOW('d', 0x09, GemClose);
constexpr unsigned long DRM_IOCTL_PRIME_HANDLE_TO_FD = _IOWR('d', 0x2d, PrimeHandle);
constexpr unsigned long DRM_IOCTL_PRIME_FD_TO_HANDLE = _IOWR('d', 0x2e, PrimeHandle);
constexpr unsigned long DRM_IOCTL_AMDGPU_GEM_CREATE = _IOWR('d', 0x40, GemCreate);
constexpr unsigned long DRM_IOCTL_AMDGPU_GEM_MMAP = _IOWR('d', 0x41, GemMmap);
constexpr unsigned long DRM_IOCTL_AMDGPU_CTX = _IOWR('d', 0x42, Context);
constexpr unsigned long DRM_IOCTL_AMDGPU_CS = _IOWR('d', 0x44, Submission);
constexpr unsigned long DRM_IOCTL_AMDGPU_INFO = _IOW('d', 0x45, Info);
constexpr unsigned long DRM_IOCTL_AMDGPU_GEM_VA = _IOW('d', 0x48, GemVa);
constexpr unsigned long DRM_IOCTL_AMDGPU_WAIT_CS = _IOWR('d', 0x49, WaitSubmission);
constexpr unsigned long DRM_IOCTL_AMDGPU_FENCE_TO_HANDLE = _IOWR('d', 0x54, FenceToHandle);

}  // namespace hp::clients::abi
