// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/transport/dma_map.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/vfio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "lib/fd.h"

namespace gpuemu {
namespace {

constexpr uint32_t read_write = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE;
constexpr uint64_t page = 4096;

hp::Fd unsealed_file(uint64_t bytes) {
    hp::Fd fd(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    EXPECT_EQ(::ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
    return fd;
}

hp::Fd memory_file(uint64_t bytes) {
    hp::Fd fd = unsealed_file(bytes);
    EXPECT_EQ(::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
    return fd;
}

vfio_user::DmaMapRequest request(uint64_t address, uint64_t size, uint64_t offset = 0,
                                 uint32_t flags = read_write) {
    return {.argsz = sizeof(vfio_user::DmaMapRequest),
            .flags = flags,
            .offset = offset,
            .address = address,
            .size = size};
}

vfio_user::DmaUnmap unmap_request(uint64_t address, uint64_t size, uint32_t flags = 0) {
    return {.argsz = sizeof(vfio_user::DmaUnmap), .flags = flags, .address = address, .size = size};
}

TEST(DmaMap, AWindowIsTheClientsMemory) {
    const hp::Fd file = memory_file(4 * page);
    DmaMap map;
    ASSERT_EQ(map.map(request(0x100000, 2 * page, page), file.get()), 0);
    auto window = map.window(0x100000 + 8, 16, DmaAccess::write);
    ASSERT_EQ(window.size(), 16u);
    window[0] = std::byte{0x5a};
    uint8_t byte = 0;
    ASSERT_EQ(::pread(file.get(), &byte, 1, page + 8), 1);
    EXPECT_EQ(byte, 0x5a) << "the offset into the file counts";
}

TEST(DmaMap, WindowsEndWithTheirMap) {
    const hp::Fd file = memory_file(4 * page);
    DmaMap map;
    ASSERT_EQ(map.map(request(0x100000, page), file.get()), 0);
    ASSERT_EQ(map.map(request(0x100000 + page, page, page), file.get()), 0);
    EXPECT_EQ(map.window(0x100000 + page - 4, 8, DmaAccess::read).size(), 4u);
    EXPECT_EQ(map.window(0x100000 + page, ~0ull, DmaAccess::read).size(), page);
    EXPECT_TRUE(map.window(0xfffff, 1, DmaAccess::read).empty());
    EXPECT_TRUE(map.window(0x100000 + 2 * page, 1, DmaAccess::read).empty());
}

TEST(DmaMap, ReadOnlyMemoryIsNotWritten) {
    const hp::Fd file = memory_file(page);
    DmaMap map;
    ASSERT_EQ(map.map(request(0, page, 0, VFIO_DMA_MAP_FLAG_READ), file.get()), 0);
    EXPECT_EQ(map.window(0, 4, DmaAccess::read).size(), 4u);
    EXPECT_TRUE(map.window(0, 4, DmaAccess::write).empty());
}

TEST(DmaMap, AMapWithoutAFileIsKnownAndNotReached) {
    DmaMap map;
    ASSERT_EQ(map.map(request(0, page), -1), 0);
    EXPECT_TRUE(map.window(0, 4, DmaAccess::read).empty());
    EXPECT_EQ(map.map(request(0, page), -1), EEXIST);
    EXPECT_EQ(map.unmap(unmap_request(0, page)), 0);
    EXPECT_EQ(map.count(), 0u);
}

TEST(DmaMap, OverlapIsRefused) {
    DmaMap map;
    ASSERT_EQ(map.map(request(4 * page, 2 * page), -1), 0);
    EXPECT_EQ(map.map(request(5 * page, page), -1), EEXIST);
    EXPECT_EQ(map.map(request(3 * page, 2 * page), -1), EEXIST);
    EXPECT_EQ(map.map(request(0, 64 * page), -1), EEXIST);
    EXPECT_EQ(map.map(request(3 * page, page), -1), 0) << "neighbours are welcome";
    EXPECT_EQ(map.map(request(6 * page, page), -1), 0);
}

TEST(DmaMap, RangesThatAreNoneAreRefused) {
    DmaMap map;
    EXPECT_EQ(map.map(request(0, 0), -1), EINVAL);
    EXPECT_EQ(map.map(request(page, ~0ull - page + 1), -1), 0) << "up to the last address";
    map.clear();
    EXPECT_EQ(map.map(request(2 * page, ~0ull - page + 1), -1), EINVAL) << "and no further";
    EXPECT_EQ(map.map(request(1, page), -1), EINVAL);
    EXPECT_EQ(map.map(request(page, page + 1), -1), EINVAL);
    EXPECT_EQ(map.map(request(page, page, 0, 0), -1), EINVAL);
    EXPECT_EQ(map.map(request(page, page, 0, 0x80), -1), EINVAL);
    auto small = request(page, page);
    small.argsz = 16;
    EXPECT_EQ(map.map(small, -1), EINVAL);
}

TEST(DmaMap, MemoryThatTheFileDoesNotHaveIsRefused) {
    const hp::Fd file = memory_file(2 * page);
    DmaMap map;
    EXPECT_EQ(map.map(request(0, 3 * page), file.get()), EINVAL);
    EXPECT_EQ(map.map(request(0, 2 * page, page), file.get()), EINVAL);
    EXPECT_EQ(map.map(request(0, page, ~0ull - page + 1), file.get()), EINVAL);
    EXPECT_EQ(map.map(request(0, page, 8), file.get()), EINVAL) << "mmap wants whole pages";
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const hp::Fd read_end(ends[0]);
    const hp::Fd write_end(ends[1]);
    EXPECT_EQ(map.map(request(0, page), read_end.get()), EINVAL);
    EXPECT_EQ(map.count(), 0u);
}

TEST(DmaMap, AFileThatCouldBeShortenedIsRefused) {
    const hp::Fd file = unsealed_file(page);
    DmaMap map;
    EXPECT_EQ(map.map(request(0, page), file.get()), EPERM);
    ASSERT_EQ(::ftruncate(file.get(), 0), 0) << "which is what would be a SIGBUS";
    EXPECT_TRUE(map.window(0, 4, DmaAccess::read).empty());

    const hp::Fd on_disk(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    ASSERT_TRUE(on_disk);
    EXPECT_EQ(map.map(request(0, page, 0, VFIO_DMA_MAP_FLAG_READ), on_disk.get()), EPERM);
    EXPECT_EQ(map.count(), 0u);
}

TEST(DmaMap, AMappedFileCannotBeShortenedAnyMore) {
    const hp::Fd file = memory_file(2 * page);
    DmaMap map;
    ASSERT_EQ(map.map(request(0, 2 * page), file.get()), 0);
    ASSERT_EQ(::ftruncate(file.get(), 0), -1);
    EXPECT_EQ(errno, EPERM);
    const auto window = map.window(page, 4, DmaAccess::write);
    ASSERT_EQ(window.size(), 4u);
    window[0] = std::byte{0x5a};
    uint8_t byte = 0;
    ASSERT_EQ(::pread(file.get(), &byte, 1, page), 1);
    EXPECT_EQ(byte, 0x5a);
    // A hole takes the page, not its place: it is there again, and empty, when it is touched.
    ASSERT_EQ(::fallocate(file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 2 * page), 0);
    EXPECT_EQ(window[0], std::byte{0});
}

TEST(DmaMap, UnmapTakesWholeMapsOnly) {
    DmaMap map;
    for (uint64_t i = 0; i < 4; ++i) {
        ASSERT_EQ(map.map(request(i * 2 * page, 2 * page), -1), 0);
    }
    EXPECT_EQ(map.unmap(unmap_request(page, 3 * page)), EINVAL);
    EXPECT_EQ(map.unmap(unmap_request(0, 3 * page)), EINVAL);
    EXPECT_EQ(map.count(), 4u);
    EXPECT_EQ(map.unmap(unmap_request(2 * page, 4 * page)), 0);
    EXPECT_EQ(map.count(), 2u);
    EXPECT_EQ(map.unmap(unmap_request(2 * page, 4 * page)), 0) << "nothing is there";
    EXPECT_EQ(map.count(), 2u);
    EXPECT_EQ(map.unmap(unmap_request(2 * page, 0)), EINVAL);
    EXPECT_EQ(map.unmap(unmap_request(page, ~0ull)), EINVAL);
    EXPECT_EQ(map.unmap(unmap_request(0, page, vfio_user::dma_unmap_get_dirty_pages)), EINVAL);
    EXPECT_EQ(map.unmap(unmap_request(0, page, vfio_user::dma_unmap_all)), EINVAL);
    EXPECT_EQ(map.unmap(unmap_request(0, 0, vfio_user::dma_unmap_all)), 0);
    EXPECT_EQ(map.count(), 0u);
}

TEST(DmaMap, TheLastHitIsNotKeptBeyondItsMap) {
    const hp::Fd file = memory_file(2 * page);
    DmaMap map;
    ASSERT_EQ(map.map(request(0, page), file.get()), 0);
    ASSERT_EQ(map.map(request(page, page, page), file.get()), 0);
    ASSERT_EQ(map.window(page, 4, DmaAccess::read).size(), 4u);
    ASSERT_EQ(map.unmap(unmap_request(page, page)), 0);
    EXPECT_TRUE(map.window(page, 4, DmaAccess::read).empty());
    EXPECT_EQ(map.window(0, 4, DmaAccess::read).size(), 4u);
}

/// The address space of this process is not the client's to fill: a sparse file costs it nothing.
TEST(DmaMap, MappedBytesAreBounded) {
    constexpr uint64_t tib = 1ull << 40;
    const hp::Fd file = memory_file(8 * tib);
    DmaMap map;
    uint64_t mapped = 0;
    int error = 0;
    for (uint64_t index = 0; index < 16 && error == 0; ++index) {
        error = map.map(request(index * 8 * tib, 8 * tib), file.get());
        mapped += error == 0 ? 8 * tib : 0;
    }
    EXPECT_EQ(error, ENOSPC);
    EXPECT_EQ(mapped, 16 * tib);
    EXPECT_EQ(map.map(request(1ull << 60, 8 * tib), -1), 0) << "without a file nothing is mapped";
    EXPECT_EQ(map.unmap(unmap_request(0, 8 * tib)), 0);
    EXPECT_EQ(map.map(request(0, 8 * tib), file.get()), 0) << "there is room again";
    map.clear();
    EXPECT_EQ(map.map(request(0, 8 * tib), file.get()), 0);
    EXPECT_EQ(map.map(request(8 * tib, 8 * tib), file.get()), 0);
}

}  // namespace
}  // namespace gpuemu
