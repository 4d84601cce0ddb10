// SPDX-License-Identifier: GPL-2.0
// Purpose: reads and writes the guest's physical address space from outside, through the qtest
// protocol beside a running guest. Commands of one execute() are one send(2): QEMU carries them out
// in one main-loop callback, under its big lock. Thread: one at a time. Not modelled: qtest's clock
// and interrupt commands.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hotplug/base/deadline.h"
#include "lib/fd.h"
#include "lib/line_buffer.h"
#include "lib/result.h"

namespace hotplug {

class QtestClient {
public:
    /// QEMU's character device reads this much at once; a longer packet would not be atomic.
    static constexpr size_t max_packet = 4096;

    static hp::Result<std::unique_ptr<QtestClient>> connect(const std::string& socket_path,
                                                            Deadline deadline);

    static std::string write8(uint64_t address, uint8_t value);
    static std::string write16(uint64_t address, uint16_t value);
    static std::string write32(uint64_t address, uint32_t value);
    static std::string read8(uint64_t address);
    static std::string read16(uint64_t address);
    static std::string read32(uint64_t address);

    /// Carries out all commands atomically; one value per command, 0 for a write.
    hp::Result<std::vector<uint64_t>> execute(const std::vector<std::string>& commands);

private:
    explicit QtestClient(hp::Fd socket) : socket_(std::move(socket)) {}
    hp::Result<void> send_packet(const std::string& packet, Deadline deadline);
    hp::Result<std::string> receive_line(Deadline deadline);

    hp::Fd socket_;
    // An answer is a word and a number.
    hp::LineBuffer received_{max_packet, hp::LineBuffer::Overlong::refuse};
};

}  // namespace hotplug
