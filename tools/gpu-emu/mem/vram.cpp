// SPDX-License-Identifier: GPL-2.0
// Purpose: Vram on memfd_create(2).
// Thread: device loop only.
#include "gpu-emu/mem/vram.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "lib/log.h"

namespace gpuemu {
namespace {

[[noreturn]] void throw_errno(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

Vram::Vram(uint64_t bytes)
    : fd_(::memfd_create("vram", MFD_CLOEXEC | MFD_ALLOW_SEALING)), size_(bytes) {
    if (!fd_) {
        throw_errno("cannot create the memfd of VRAM");
    }
    if (::ftruncate(fd_.get(), static_cast<off_t>(size_)) != 0) {
        throw_errno("cannot size VRAM");
    }
    // Who maps it counts on its pages: the peers of a hive refuse a file that could be shortened.
    if (::fcntl(fd_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        throw_errno("cannot seal VRAM");
    }
    void* mapped =
        ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd_.get(), 0);
    if (mapped == MAP_FAILED) {
        throw_errno("cannot map VRAM");
    }
    base_ = static_cast<std::byte*>(mapped);
}

Vram::~Vram() {
    ::munmap(base_, size_);
}

std::span<std::byte> Vram::window(uint64_t offset, uint64_t length) const {
    if (offset >= size_) {
        return {};
    }
    return {base_ + offset, std::min(length, size_ - offset)};
}

void Vram::discard() {
    constexpr int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    if (::fallocate(fd_.get(), mode, 0, static_cast<off_t>(size_)) != 0) {
        hp::log::warning("cannot discard VRAM, clearing it", {{"error", std::strerror(errno)}});
        std::memset(base_, 0, size_);
    }
}

void Vram::lose_contents() {
    if (!poisoned_) {
        discard();
        return;
    }
    const uint32_t pattern = poison_mark | ++generation_;
    for_each_resident([pattern](std::span<std::byte> pages) {
        std::ranges::fill(
            std::span(reinterpret_cast<uint32_t*>(pages.data()), pages.size() / sizeof(uint32_t)),
            pattern);
    });
}

template <typename Visit>
void Vram::for_each_resident(Visit visit) const {
    // SEEK_DATA finds pages that exist in the file, whoever touched them (mincore(2) on a memfd
    // would say the same page by page).
    off_t data = ::lseek(fd_.get(), 0, SEEK_DATA);
    while (data >= 0) {
        const off_t hole = ::lseek(fd_.get(), data, SEEK_HOLE);
        if (hole < 0) {
            break;
        }
        visit(std::span(base_ + data, static_cast<std::size_t>(hole - data)));
        data = ::lseek(fd_.get(), hole, SEEK_DATA);
    }
    if (errno != ENXIO) {  // ENXIO: no data after that offset, the way this loop ends
        hp::log::warning("VRAM not looked at completely", {{"error", std::strerror(errno)}});
    }
}

bool Vram::fill_resident_with_ones(Fill& fill, uint64_t bytes) {
    while (bytes != 0) {
        if (fill.next == fill.data_end) {
            const off_t data = ::lseek(fd_.get(), static_cast<off_t>(fill.next), SEEK_DATA);
            const off_t hole = data < 0 ? data : ::lseek(fd_.get(), data, SEEK_HOLE);
            if (hole < 0) {
                if (errno != ENXIO) {  // ENXIO: no data from there on
                    hp::log::warning("VRAM not filled completely",
                                     {{"error", std::strerror(errno)}});
                }
                return true;
            }
            fill = {.next = static_cast<uint64_t>(data), .data_end = static_cast<uint64_t>(hole)};
        }
        const uint64_t length = std::min(bytes, fill.data_end - fill.next);
        std::memset(base_ + fill.next, 0xff, length);
        fill.next += length;
        bytes -= length;
    }
    return false;
}

uint64_t Vram::count_resident(uint32_t word) const {
    uint64_t count = 0;
    for_each_resident([&count, word](std::span<std::byte> pages) {
        // Pages: whole words, and aligned. The guest may write them meanwhile.
        const std::span words(reinterpret_cast<uint32_t*>(pages.data()),
                              pages.size() / sizeof(uint32_t));
        count += static_cast<uint64_t>(std::ranges::count_if(words, [word](uint32_t& at) {
            return std::atomic_ref(at).load(std::memory_order_relaxed) == word;
        }));
    });
    return count;
}

}  // namespace gpuemu
