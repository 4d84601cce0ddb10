// SPDX-License-Identifier: GPL-2.0
// Purpose: the board's I2C EEPROMs (AT24CM02 style: two address bytes in front of the data, writes
// wrap within a page): 512 KiB over the device addresses 0x50 to 0x57 with the driver's RAS table,
// and at 0x58, write-protected, the FRU with the product data of the board.
// Thread: device loop only.
// Does not model: the write cycle time (a write is done when it is acknowledged), other I2C
// devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/fd.h"

namespace gpuemu {

class Eeprom {
public:
    static constexpr std::size_t bytes = 512 * 1024;
    static constexpr std::size_t page_bytes = 256;

    static constexpr uint8_t fru_device = 0x58;

    /// With a path, the contents of the 512 KiB are that file, made blank if it is not there;
    /// without, they are memory. Throws std::system_error (start-up). `fru`: at most 64 KiB; empty:
    /// nobody answers at its address.
    Eeprom(const std::string& path, std::vector<std::byte> fru);
    ~Eeprom();
    Eeprom(const Eeprom&) = delete;
    Eeprom& operator=(const Eeprom&) = delete;

    /// All ones, as delivered; the FRU stays. Does nothing to contents that are kept in a file.
    void power_on();

    /// Start of a transfer. False: no device answers that 7-bit address.
    bool start(uint8_t device_address);
    /// A byte from the master: first the two bytes of the memory address, then data.
    void put(uint8_t value);
    /// A byte to the master, from the current address on.
    uint8_t get();

    std::span<const std::byte> contents() const { return {data_, bytes}; }

private:
    static constexpr unsigned address_bytes = 2;

    hp::Fd file_;
    std::byte* data_ = nullptr;
    std::vector<std::byte> fru_;
    bool fru_selected_ = false;
    uint32_t address_ = 0;
    unsigned address_bytes_seen_ = 0;
};

}  // namespace gpuemu
