// SPDX-License-Identifier: GPL-2.0
// Purpose: the register space of the GPU: the BAR5 window (dword offsets) and the far registers
// behind it (SMN byte addresses). A register without a handler is storage, and counted as unknown
// when it is first read unwritten. Thread: device loop only. Does not model: access width below a
// dword (the BAR merges sub-dword writes before they get here).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

namespace gpuemu {

class RegisterFile {
public:
    using ReadHandler = std::function<uint32_t(uint32_t dword)>;
    using WriteHandler = std::function<void(uint32_t dword, uint32_t value)>;

    /// `window_bytes`: size of BAR5. Registers above it are reached as far registers.
    explicit RegisterFile(uint64_t window_bytes);

    /// As the hardware is asked: through the handler if there is one. A dword beyond the window
    /// goes to far space.
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

    /// Claims `count` dwords from `first`. Two blocks must not claim the same register: throws
    /// std::logic_error (start-up). A write handler is called after the value was stored.
    void on_read(uint32_t first, uint32_t count, ReadHandler handler);
    void on_write(uint32_t first, uint32_t count, WriteHandler handler);
    /// Whether a write does more than to store: who lets a guest write many charges for each.
    bool has_effect(uint32_t dword) const {
        return dword < window_dwords_ && write_slot_[dword] != 0;
    }

    /// All storage to zero and nothing unknown; handlers stay.
    void clear();
    /// As if zero had been written to each of them, without the effects. They are inside the
    /// window.
    void clear(uint32_t first, uint32_t count);

    /// Registers read although nobody wrote, preset or handled them since the last clear(): address
    /// -> times. A guest can read anywhere: the first most_unknown_reads are kept.
    const std::map<uint64_t, uint64_t>& unknown_reads() const { return unknown_reads_; }

private:
    static constexpr std::size_t most_unknown_reads = 4096;

    void note_unknown(uint64_t address);

    uint64_t window_dwords_;
    std::vector<uint32_t> storage_;
    std::vector<bool> known_;
    std::vector<uint16_t> read_slot_;  // 0: none, else index + 1 into read_handlers_
    std::vector<uint16_t> write_slot_;
    std::vector<ReadHandler> read_handlers_;
    std::vector<WriteHandler> write_handlers_;
    std::unordered_map<uint64_t, uint32_t> far_;
    std::map<uint64_t, uint64_t> unknown_reads_;
};

}  // namespace gpuemu
