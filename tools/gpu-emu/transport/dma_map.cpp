// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/transport/dma_map.h"

#include <linux/vfio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "lib/log.h"
#include "lib/memfd.h"

namespace gpuemu {
namespace {

constexpr uint64_t page_size = 4096;

/// Whether [begin, begin + size) is a range, that is, not empty and not beyond the last address.
bool is_range(uint64_t begin, uint64_t size) {
    return size != 0 && size - 1 <= std::numeric_limits<uint64_t>::max() - begin;
}

/// Touching a mapping beyond the end of its file is SIGBUS: refuse it while it can be refused.
int check_file(int fd, uint64_t offset, uint64_t size) {
    struct stat info {};
    if (::fstat(fd, &info) != 0) {
        return errno;
    }
    if (!S_ISREG(info.st_mode) || !is_range(offset, size)) {
        return EINVAL;
    }
    const auto file_size = static_cast<uint64_t>(info.st_size);
    if (offset > file_size || size > file_size - offset) {
        return EINVAL;
    }
    return hp::keeps_its_pages(fd) ? 0 : EPERM;
}

}  // namespace

int DmaMap::map(const vfio_user::DmaMapRequest& request, int fd) {
    constexpr uint32_t known_flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE;
    if (request.argsz < sizeof request || (request.flags & ~known_flags) != 0 ||
        request.flags == 0 || !is_range(request.address, request.size) ||
        request.address % page_size != 0 || request.size % page_size != 0) {
        return EINVAL;
    }
    if (maps_.size() >= vfio_user::max_dma_maps) {
        return ENOSPC;
    }
    const auto next = first_at_or_after(request.address);
    if (next != maps_.end() && next->address <= request.address + (request.size - 1)) {
        return EEXIST;
    }
    Map map{.address = request.address,
            .size = request.size,
            .memory = nullptr,
            .readable = (request.flags & VFIO_DMA_MAP_FLAG_READ) != 0,
            .writable = (request.flags & VFIO_DMA_MAP_FLAG_WRITE) != 0};
    if (fd >= 0) {
        if (const int error = check_file(fd, request.offset, request.size)) {
            if (error == EPERM && !std::exchange(refusal_logged_, true)) {
                hp::log::warning("DMA map refused: its file could be shortened while it is in use",
                                 {{"hint",
                                   "a memfd with F_SEAL_SHRINK is needed, as QEMU's "
                                   "memory-backend-memfd,share=on has"}});
            }
            return error;
        }
        if (request.size > vfio_user::max_mapped_bytes - mapped_bytes_) {
            return ENOSPC;
        }
        void* memory = ::mmap(nullptr, map.size, PROT_READ | (map.writable ? PROT_WRITE : 0),
                              MAP_SHARED, fd, static_cast<off_t>(request.offset));
        if (memory == MAP_FAILED) {
            return errno;
        }
        map.memory = static_cast<std::byte*>(memory);
        mapped_bytes_ += map.size;
    }
    maps_.insert(next, map);
    return 0;
}

int DmaMap::unmap(const vfio_user::DmaUnmap& request) {
    if (request.argsz < sizeof request || (request.flags & ~vfio_user::dma_unmap_all) != 0) {
        return EINVAL;
    }
    if (request.flags == vfio_user::dma_unmap_all) {
        if (request.address != 0 || request.size != 0) {
            return EINVAL;
        }
        clear();
        return 0;
    }
    if (!is_range(request.address, request.size)) {
        return EINVAL;
    }
    const uint64_t last = request.address + (request.size - 1);
    const auto begin = first_at_or_after(request.address);
    auto end = begin;
    for (; end != maps_.end() && end->address <= last; ++end) {
        if (end->address < request.address || end->address + (end->size - 1) > last) {
            return EINVAL;
        }
    }
    for (auto it = begin; it != end; ++it) {
        release(*it);
    }
    maps_.erase(begin, end);
    return 0;
}

void DmaMap::release(const Map& map) {
    if (map.memory != nullptr) {
        ::munmap(map.memory, map.size);
        mapped_bytes_ -= map.size;
    }
}

void DmaMap::clear() {
    for (const Map& map : maps_) {
        release(map);
    }
    maps_.clear();
    refusal_logged_ = false;
}

std::span<std::byte> DmaMap::window(uint64_t address, uint64_t length, DmaAccess access) {
    const Map* map = find(address);
    if (map == nullptr || map->memory == nullptr ||
        !(access == DmaAccess::write ? map->writable : map->readable)) {
        return {};
    }
    const uint64_t offset = address - map->address;
    return {map->memory + offset, std::min(length, map->size - offset)};
}

/// The first map that ends behind `address`: the one that holds it or else the next one.
std::vector<DmaMap::Map>::iterator DmaMap::first_at_or_after(uint64_t address) {
    return std::partition_point(maps_.begin(), maps_.end(), [address](const Map& map) {
        return map.address + (map.size - 1) < address;
    });
}

const DmaMap::Map* DmaMap::find(uint64_t address) {
    const auto holds = [address](const Map& map) { return address - map.address < map.size; };
    if (last_hit_ < maps_.size() && holds(maps_[last_hit_])) {
        return &maps_[last_hit_];
    }
    const auto found = first_at_or_after(address);
    if (found == maps_.end() || !holds(*found)) {
        return nullptr;
    }
    last_hit_ = static_cast<size_t>(found - maps_.begin());
    return &*found;
}

}  // namespace gpuemu
