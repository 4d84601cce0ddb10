// SPDX-License-Identifier: GPL-2.0
// Purpose: the register space of the GPU: the BAR5 window (dword offsets) and the far registers
// behind it (SMN byte addresses). A register that nobody declared is storage, and counted as
// unknown when it is first read unwritten. Thread: device loop only. Does not model: access width
// below a dword (the BAR merges sub-dword writes before they get here), types of far registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "gpu-emu/device/register_type.h"

namespace gpuemu {

/// What makes a register more than storage.
struct Register {
    RegisterType type = {};
    /// What is read instead of what is stored.
    std::function<uint32_t(uint32_t dword)> read = {};
    /// What a write does, `value` as it came. By then the register holds what its type leaves. Not
    /// called of one that is read-only.
    std::function<void(uint32_t dword, uint32_t value)> written = {};
};

class RegisterFile {
public:
    /// Addresses of registers, in bytes, and how often each was met: the first most_noted.
    using Noted = std::map<uint64_t, uint64_t>;

    /// `window_bytes`: size of BAR5. Registers above it are reached as far registers.
    explicit RegisterFile(uint64_t window_bytes);

    /// As the hardware is asked. A dword beyond the window goes to far space.
    uint32_t read(uint32_t dword);
    void write(uint32_t dword, uint32_t value);

    /// Storage only, no handler: how IP blocks keep their own registers. `dword` must be inside the
    /// window.
    uint32_t& raw(uint32_t dword);
    uint32_t raw(uint32_t dword) const;
    uint64_t raw64(uint32_t low_dword) const;  // two neighbouring registers, low one first

    /// SMN space, byte addresses. Below window_bytes it is the window itself.
    uint32_t read_far(uint64_t address);
    void write_far(uint64_t address, uint32_t value);
    void preset_far(uint64_t address, uint32_t value);

    /// `count` dwords from `first` are such registers. No register is declared twice: throws
    /// std::logic_error (start-up).
    void declare(uint32_t first, uint32_t count, Register what);
    /// Whether a write does more than to store: who lets a guest write many charges for each.
    bool has_effect(uint32_t dword) const {
        return dword < window_dwords_ && declared_[slot_[dword]].written != nullptr;
    }

    /// All storage to zero and nothing unknown; what was declared stays.
    void clear();
    /// As if zero had been written to each of them, without the effects. They are inside the
    /// window.
    void clear(uint32_t first, uint32_t count);

    /// Read although nobody wrote, preset or declared a value since the last clear(). A guest can
    /// read anywhere.
    const Noted& unknown_reads() const { return unknown_reads_; }
    /// Written although they are read-only, since the last clear().
    const Noted& read_only_writes() const { return read_only_writes_; }

private:
    static constexpr std::size_t most_noted = 4096;

    static void note(Noted& noted, uint64_t address);

    uint64_t window_dwords_;
    std::vector<uint32_t> storage_;
    std::vector<bool> known_;
    std::vector<uint16_t> slot_;      // of declared_
    std::vector<Register> declared_;  // the first one is storage
    std::unordered_map<uint64_t, uint32_t> far_;
    Noted unknown_reads_;
    Noted read_only_writes_;
};

}  // namespace gpuemu
