// SPDX-License-Identifier: GPL-2.0
// Purpose: what a process costs, of a listing and of this process itself. Thread: one.
#include "hotplug/bench/process_figures.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/fd.h"

namespace hotplug {
namespace {

constexpr uint64_t kib = 1u << 10;
constexpr uint64_t mib = 1u << 20;

TEST(ProcessFigures, MemfdsAreNotItsOwn) {
    constexpr std::string_view smaps =
        "55843382d000-558433830000 r--p 00000000 fe:00 248030             /usr/bin/amdgpu-emu\n"
        "Size:                 12 kB\n"
        "Rss:                  12 kB\n"
        "Pss:                   3 kB\n"
        "VmFlags: rd mr mw me\n"
        "7f5ccfd70000-7f5d0fd70000 rw-s 80000000 00:01 1038      /memfd:memory (deleted)\n"
        "Size:            1048576 kB\n"
        "Rss:                 400 kB\n"
        "7f5d903f5000-7f5dd03f5000 rw-s 00000000 00:01 1036      /memfd:vram (deleted)\n"
        "Rss:                   8 kB\n"
        "7ffd5e000000-7ffd5e021000 rw-p 00000000 00:00 0         [stack]\n"
        "Rss:                 100 kB";
    const ProcessMemory memory = resident_in(smaps);
    EXPECT_EQ(memory.own, 112 * kib);
    EXPECT_EQ(memory.borrowed, 408 * kib);
    EXPECT_EQ(resident_in("").own, 0u);
}

TEST(ProcessFigures, ASparseMemfdCostsWhatWasTouched) {
    constexpr uint64_t size = 16ull << 30;
    const hp::Fd fd(::memfd_create("vram", MFD_CLOEXEC));
    ASSERT_TRUE(fd);
    ASSERT_EQ(::ftruncate(fd.get(), size), 0);
    void* mapped =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd.get(), 0);
    ASSERT_NE(mapped, MAP_FAILED);
    const auto before = process_memory(::getpid());
    ASSERT_TRUE(before) << before.error().message;
    static_cast<volatile char*>(mapped)[size - 1] = 1;
    static_cast<volatile char*>(mapped)[size / 2] = 1;
    const hp::Fd again(::dup(fd.get()));
    const auto after = process_memory(::getpid());
    ASSERT_TRUE(after) << after.error().message;
    ::munmap(mapped, size);
    EXPECT_GE(after->memfds, before->memfds + 8 * kib);
    // A page may be a huge one.
    EXPECT_LE(after->memfds, before->memfds + 4 * mib);
    EXPECT_GE(after->borrowed, before->borrowed + 8 * kib) << "it is mapped, too";
    EXPECT_GT(after->own, 0u);
    const auto unmapped = process_memory(::getpid());
    ASSERT_TRUE(unmapped);
    EXPECT_EQ(unmapped->memfds, after->memfds) << "whoever touched them";
}

TEST(ProcessFigures, CpuTimeOnlyGrows) {
    const auto before = process_cpu_time(::getpid());
    const auto after = process_cpu_time(::getpid());
    ASSERT_TRUE(before && after);
    EXPECT_GT(before->count(), 0);
    EXPECT_GE(*after, *before);
}

TEST(ProcessFigures, AProcessThatIsNotThere) {
    constexpr pid_t none = (1 << 22) + 1;  // more than PID_MAX_LIMIT
    EXPECT_FALSE(process_memory(none));
    EXPECT_FALSE(process_cpu_time(none));
}

}  // namespace
}  // namespace hotplug
