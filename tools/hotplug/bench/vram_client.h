// SPDX-License-Identifier: GPL-2.0
// Purpose: a vfio-user client that does one thing: it writes and reads words of an emulator's VRAM
// (BAR0) by message, where a figure is wanted without a guest. Thread: one; it blocks, at most for
// `patience` at a time. Not modelled: all else of the protocol, which QEMU is for.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "lib/fd.h"
#include "lib/result.h"

namespace hotplug {

class VramClient {
public:
    /// Connects and says hello: the emulator has one client at a time.
    static hp::Result<VramClient> connect(const std::filesystem::path& socket,
                                          std::chrono::milliseconds patience);

    hp::Result<void> write(uint64_t offset, uint32_t value);
    hp::Result<uint32_t> read(uint64_t offset);

private:
    explicit VramClient(hp::Fd socket) : socket_(std::move(socket)) {}
    /// What the reply has behind its header; a reply that says error is a failure.
    hp::Result<std::vector<std::byte>> ask(uint16_t command, std::span<const std::byte> request);
    hp::Result<void> receive(std::span<std::byte> bytes);
    hp::Result<void> enable_memory();

    hp::Fd socket_;
    uint16_t next_id_ = 0;
};

}  // namespace hotplug
