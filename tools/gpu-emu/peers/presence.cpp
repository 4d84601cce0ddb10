// SPDX-License-Identifier: GPL-2.0
// Purpose: Presence on memfd_create(2).
#include "gpu-emu/peers/presence.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace gpuemu {
namespace {

[[noreturn]] void throw_errno(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

Presence::Presence() : fd_(::memfd_create("presence", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    if (!fd_ || ::ftruncate(fd_.get(), presence_bytes) != 0) {
        throw_errno("cannot create the memfd for the peers");
    }
    void* mapped =
        ::mmap(nullptr, presence_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
    if (mapped == MAP_FAILED) {
        throw_errno("cannot map the memfd for the peers");
    }
    words_ = static_cast<PresenceWords*>(mapped);
    // Behind the mapping: from now on nobody else can make one to write to.
    if (::fcntl(fd_.get(), F_ADD_SEALS,
                F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0) {
        throw_errno("cannot seal the memfd for the peers");
    }
}

Presence::~Presence() {
    ::munmap(words_, presence_bytes);
}

void Presence::set(bool present) {
    words_->present.store(present ? 1 : 0, std::memory_order_seq_cst);
}

void Presence::set_bus_address(uint64_t address) {
    words_->bus_address.store(address, std::memory_order_seq_cst);
}

}  // namespace gpuemu
