// SPDX-License-Identifier: GPL-2.0
// Purpose: whether a GPU is there, and where on the bus its VRAM is, as words in memory that its
// peers look at with each access: a message would reach them later than the loss. Thread: written
// on the device loop of the GPU, read on those of its peers. Does not model: transfers that are on
// the link when the GPU goes; they arrive, and may be seen behind the ones that its VRAM is filled
// with. A process that is killed leaves its word as it is: its peers find it there until their
// loops see the end of its socket.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "lib/fd.h"

namespace gpuemu {

inline constexpr std::size_t presence_bytes = 4096;

/// What the memory begins with.
struct PresenceWords {
    std::atomic<uint32_t> present;
    /// Of BAR0, and 0 before the guest has given it one; it stays when the GPU goes.
    std::atomic<uint64_t> bus_address;
};

/// The GPU's side. The memfd cannot be shortened, nor written by who is given it.
class Presence {
public:
    /// Throws std::system_error when there is no memory (start-up). Not there at first.
    Presence();
    ~Presence();
    Presence(const Presence&) = delete;
    Presence& operator=(const Presence&) = delete;

    int fd() const { return fd_.get(); }
    void set(bool present);
    void set_bus_address(uint64_t address);

private:
    hp::Fd fd_;
    PresenceWords* words_ = nullptr;
};

}  // namespace gpuemu
