// SPDX-License-Identifier: GPL-2.0
// Purpose: the vfio-user protocol, version 0.0, as bytes on the wire (docs/interop/vfio-user.rst of
// QEMU). Little endian, naturally aligned; every message is a Header and, after it, what the
// command says. Thread: values. Does not model: migration, dirty page logging, DMA by message,
// device features, MSI-X.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace gpuemu::vfio_user {

static_assert(std::endian::native == std::endian::little, "the wire structures are used in place");

enum class Command : uint16_t {
    version = 1,
    dma_map = 2,
    dma_unmap = 3,
    device_get_info = 4,
    device_get_region_info = 5,
    device_get_region_io_fds = 6,
    device_get_irq_info = 7,
    device_set_irqs = 8,
    region_read = 9,
    region_write = 10,
    dma_read = 11,
    dma_write = 12,
    device_reset = 13,
};

struct Header {
    uint16_t id;
    Command command;
    uint32_t size;  // of the message, header included
    uint32_t flags;
    uint32_t error;  // errno, with header_error
};
static_assert(sizeof(Header) == 16);

// Header::flags
inline constexpr uint32_t header_type = 0xf;
inline constexpr uint32_t header_type_command = 0;
inline constexpr uint32_t header_type_reply = 1;
inline constexpr uint32_t header_no_reply = 1u << 4;
inline constexpr uint32_t header_error = 1u << 5;

struct Version {
    uint16_t major;
    uint16_t minor;
    // then a JSON object, ending with a NUL; may be missing
};

struct DmaMapRequest {
    uint32_t argsz;
    uint32_t flags;  // VFIO_DMA_MAP_FLAG_READ, _WRITE
    uint64_t offset;
    uint64_t address;
    uint64_t size;
};
static_assert(sizeof(DmaMapRequest) == 32);

struct DmaUnmap {
    uint32_t argsz;
    uint32_t flags;
    uint64_t address;
    uint64_t size;
};
static_assert(sizeof(DmaUnmap) == 24);

// DmaUnmap::flags
inline constexpr uint32_t dma_unmap_get_dirty_pages = 1u << 0;
inline constexpr uint32_t dma_unmap_all = 1u << 1;

struct DeviceInfo {
    uint32_t argsz;
    uint32_t flags;  // VFIO_DEVICE_FLAGS_*
    uint32_t num_regions;
    uint32_t num_irqs;
};
static_assert(sizeof(DeviceInfo) == 16);

struct RegionInfoMessage {
    uint32_t argsz;
    uint32_t flags;  // VFIO_REGION_INFO_FLAG_*
    uint32_t index;
    uint32_t cap_offset;
    uint64_t size;
    uint64_t offset;  // into the file descriptor that comes along, if one does
};
static_assert(sizeof(RegionInfoMessage) == 32);

struct IrqInfo {
    uint32_t argsz;
    uint32_t flags;  // VFIO_IRQ_INFO_*
    uint32_t index;
    uint32_t count;
};
static_assert(sizeof(IrqInfo) == 16);

struct IrqSet {
    uint32_t argsz;
    uint32_t flags;  // VFIO_IRQ_SET_*
    uint32_t index;
    uint32_t start;
    uint32_t count;
};
static_assert(sizeof(IrqSet) == 20);

struct RegionAccess {
    uint64_t offset;
    uint32_t region;
    uint32_t count;
    // then `count` bytes in the request of a write and in the reply of a read
};
static_assert(sizeof(RegionAccess) == 16);

// What we tell the client in our version reply, and hold it to.
inline constexpr uint32_t max_data_transfer = 1 << 20;
inline constexpr uint32_t max_message = sizeof(Header) + sizeof(RegionAccess) + max_data_transfer;
inline constexpr uint32_t max_message_fds = 8;
inline constexpr uint32_t max_dma_maps = 65535;
// Of files that are mapped; 47 bits are all that a process has. No machine has as much memory.
inline constexpr uint64_t max_mapped_bytes = 1ull << 44;

}  // namespace gpuemu::vfio_user
