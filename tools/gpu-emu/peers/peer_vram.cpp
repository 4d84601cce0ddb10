// SPDX-License-Identifier: GPL-2.0
// Purpose: checks and maps of the two memfds of a peer.
// Thread: device loop only.
#include "gpu-emu/peers/peer_vram.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "lib/memfd.h"

namespace gpuemu {
namespace {

/// Of one peer: all that can be connected leave half of the 47 bits that a process has.
constexpr uint64_t largest_vram = 1ull << 40;

/// Nothing for a file whose size could change, or that could lose pages.
std::optional<uint64_t> fixed_size(const hp::Fd& fd) {
    struct stat info {};
    if (!hp::keeps_its_pages(fd.get()) || ::fstat(fd.get(), &info) != 0) {
        return std::nullopt;
    }
    return static_cast<uint64_t>(info.st_size);
}

}  // namespace

hp::Result<PeerVram> PeerVram::map(const hp::Fd& vram, const hp::Fd& presence, uint64_t max_bytes) {
    const auto vram_size = fixed_size(vram);
    const auto presence_size = fixed_size(presence);
    if (!vram_size || *vram_size == 0 || *vram_size > std::min(max_bytes, largest_vram) ||
        presence_size != uint64_t{presence_bytes}) {
        return hp::fail("its memory has another size than it may have, or one that could change");
    }
    void* words = ::mmap(nullptr, presence_bytes, PROT_READ, MAP_SHARED, presence.get(), 0);
    if (words == MAP_FAILED) {
        return hp::fail(std::string("cannot map its state: ") + std::strerror(errno));
    }
    void* memory = ::mmap(nullptr, *vram_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                          vram.get(), 0);
    if (memory == MAP_FAILED) {
        const int error = errno;
        ::munmap(words, presence_bytes);
        return hp::fail(std::string("cannot map its VRAM: ") + std::strerror(error));
    }
    return PeerVram({static_cast<std::byte*>(memory), *vram_size},
                    static_cast<const PresenceWords*>(words));
}

PeerVram::PeerVram(PeerVram&& other) noexcept
    : vram_(std::exchange(other.vram_, {})), presence_(std::exchange(other.presence_, nullptr)) {}

PeerVram& PeerVram::operator=(PeerVram&& other) noexcept {
    if (this != &other) {
        unmap();
        vram_ = std::exchange(other.vram_, {});
        presence_ = std::exchange(other.presence_, nullptr);
    }
    return *this;
}

void PeerVram::unmap() {
    if (presence_ != nullptr) {
        ::munmap(vram_.data(), vram_.size());
        ::munmap(const_cast<PresenceWords*>(presence_), presence_bytes);
    }
}

std::span<std::byte> PeerVram::window(uint64_t offset, uint64_t length) const {
    if (offset >= vram_.size()) {
        return {};
    }
    return vram_.subspan(offset, std::min(length, vram_.size() - offset));
}

}  // namespace gpuemu
