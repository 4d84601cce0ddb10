// SPDX-License-Identifier: GPL-2.0
// Purpose: a guest physical address space behind the qtest protocol, for unit tests: bytes that are
// read and written. Thread: the fake server's; seed it before the client connects.
#pragma once

#include <cstdint>
#include <map>
#include <sstream>
#include <string>

#include "hotplug/machine/slot_port.h"

namespace hotplug {

class FakePci {
public:
    /// For FakeServer. Unwritten memory reads as ones, as absent functions do.
    std::string answer(const std::string& line) {
        std::istringstream words(line);
        std::string verb;
        std::string address_text;
        std::string value_text;
        words >> verb >> address_text >> value_text;
        unsigned size = verb.ends_with('b') ? 1 : verb.ends_with('w') ? 2 : 4;
        uint64_t address = std::stoull(address_text, nullptr, 16);
        if (verb.starts_with("write")) {
            poke(address, std::stoull(value_text, nullptr, 16), size);
            return "OK\n";
        }
        std::ostringstream reply;
        reply << "OK 0x" << std::hex << peek(address, size) << "\n";
        return reply.str();
    }

    void poke(uint64_t address, uint64_t value, unsigned size) {
        for (unsigned i = 0; i < size; ++i) {
            bytes_[address + i] = static_cast<uint8_t>(value >> (8 * i));
        }
    }
    uint64_t peek(uint64_t address, unsigned size) const {
        uint64_t value = 0;
        for (unsigned i = 0; i < size; ++i) {
            auto found = bytes_.find(address + i);
            value |= uint64_t{found == bytes_.end() ? uint8_t{0xff} : found->second} << (8 * i);
        }
        return value;
    }

private:
    std::map<uint64_t, uint8_t> bytes_;
};

}  // namespace hotplug
