// SPDX-License-Identifier: GPL-2.0
// Purpose: what a register keeps of a write, bit by bit. Thread: values.
// Does not model: bits that a one clears (no register with a meaning here has any), and bits that
// change when they are read (Register::read does that).
#pragma once

#include <cstdint>

namespace gpuemu {

/// A bit is in one of the masks, or it is read-only: a write leaves it as it is.
struct RegisterType {
    uint32_t writable = ~0u;     // takes what is written
    uint32_t self_clearing = 0;  // a one asks for something, at once; reads as zero

    constexpr uint32_t after(uint32_t stored, uint32_t written) const {
        return (stored & ~(writable | self_clearing)) | (written & writable);
    }
    constexpr bool is_read_only() const { return (writable | self_clearing) == 0; }
};

inline constexpr RegisterType read_only{.writable = 0};
/// All of it asks: what is written is not there to be read.
inline constexpr RegisterType trigger{.writable = 0, .self_clearing = ~0u};

/// The rest is storage.
constexpr RegisterType with_read_only(uint32_t bits) {
    return {.writable = ~bits};
}
constexpr RegisterType with_self_clearing(uint32_t bits) {
    return {.writable = ~bits, .self_clearing = bits};
}

}  // namespace gpuemu
