// SPDX-License-Identifier: GPL-2.0
// Purpose: the 4 KiB configuration space of a PCI Express endpoint: header with self-sizing BARs,
// power management, PCI Express (gen 4 x16, function-level reset), MSI (64 bit, one vector), one
// vendor-specific extended capability and, on request, a Device Serial Number. Thread: device loop
// only. Does not model: MSI-X (stock QEMU aborts when such a vfio-user device is unplugged), AER,
// that a function in D3hot does not answer (PMCSR's PowerState can be written and read).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace gpuemu {

class ConfigSpace {
public:
    static constexpr uint64_t size = 4096;
    static constexpr unsigned bar_count = 6;

    struct Identity {
        uint16_t vendor = 0, device = 0;
        uint16_t subsystem_vendor = 0, subsystem = 0;
        uint8_t revision = 0;
        uint32_t class_code = 0;  // base class, sub-class, interface: 24 bits
        uint64_t serial = 0;      // Device Serial Number; 0: there is no such capability
    };

    /// `on_flr` is called when the host starts a function-level reset, after that has reset this
    /// space.
    /// May be empty.
    explicit ConfigSpace(Identity identity, std::function<void()> on_flr = {});

    /// Declares a BAR: `bytes` a power of two of at least 16, a 64 bit BAR also takes `index` + 1.
    /// Throws std::invalid_argument (start-up).
    void set_bar(unsigned index, uint64_t bytes, bool is64, bool prefetchable);

    /// Declares the expansion ROM: `bytes` a power of two of at least 2048. Throws
    /// std::invalid_argument (start-up).
    void set_rom(uint64_t bytes);

    /// Any offset and length; what lies beyond the space reads as ones and takes no writes.
    void read(uint64_t offset, std::span<std::byte> out) const;
    void write(uint64_t offset, std::span<const std::byte> in);

    /// Everything the host wrote is gone, as after a conventional reset. BAR sizes stay.
    void reset();

    bool memory_enabled() const;
    bool bus_master() const;
    bool in_d3hot() const;

private:
    struct Bar {
        uint32_t flags = 0;     // low bits, read-only
        uint32_t writable = 0;  // address bits: what makes the BAR report its size
    };

    void reset_function();
    void set(unsigned offset, unsigned bytes, uint32_t value, uint32_t writable = 0);
    uint32_t get(unsigned offset, unsigned bytes) const;

    Identity identity_;
    std::function<void()> on_flr_;
    std::array<Bar, bar_count> bars_{};
    uint32_t rom_writable_ = 0;
    std::array<uint8_t, size> value_{};
    std::array<uint8_t, size> writable_{};         // 1: bit takes what is written
    std::array<uint8_t, size> write_one_clear_{};  // 1: bit is cleared by writing one
};

}  // namespace gpuemu
