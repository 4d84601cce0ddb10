// SPDX-License-Identifier: GPL-2.0
// Purpose: storage, handler dispatch and the unknown-access count of RegisterFile.
// Thread: device loop only.
#include "gpu-emu/device/register_file.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace gpuemu {
namespace {

template <typename Handler>
uint16_t add_handler(std::vector<Handler>& handlers, Handler handler) {
    handlers.push_back(std::move(handler));
    if (handlers.size() > std::numeric_limits<uint16_t>::max()) {
        throw std::logic_error("too many register handlers");
    }
    return static_cast<uint16_t>(handlers.size());
}

void claim(std::vector<uint16_t>& slots, uint32_t first, uint32_t count, uint16_t slot) {
    if (first > slots.size() || count > slots.size() - first) {
        throw std::logic_error("register claim beyond the window: dword " + std::to_string(first));
    }
    for (uint32_t dword = first; dword < first + count; ++dword) {
        if (slots[dword] != 0) {
            throw std::logic_error("register claimed twice: dword " + std::to_string(dword));
        }
        slots[dword] = slot;
    }
}

}  // namespace

RegisterFile::RegisterFile(uint64_t window_bytes)
    : window_dwords_(window_bytes / 4),
      storage_(window_dwords_),
      known_(window_dwords_),
      read_slot_(window_dwords_),
      write_slot_(window_dwords_) {}

uint32_t RegisterFile::read(uint32_t dword) {
    if (dword >= window_dwords_) {
        return read_far(uint64_t{dword} * 4);
    }
    if (const uint16_t slot = read_slot_[dword]; slot != 0) {
        return read_handlers_[slot - 1](dword);
    }
    if (!known_[dword]) {
        note_unknown(uint64_t{dword} * 4);
    }
    return storage_[dword];
}

void RegisterFile::write(uint32_t dword, uint32_t value) {
    if (dword >= window_dwords_) {
        write_far(uint64_t{dword} * 4, value);
        return;
    }
    raw(dword) = value;
    if (const uint16_t slot = write_slot_[dword]; slot != 0) {
        write_handlers_[slot - 1](dword, value);
    }
}

uint32_t& RegisterFile::raw(uint32_t dword) {
    known_.at(dword) = true;
    return storage_[dword];
}

uint32_t RegisterFile::raw(uint32_t dword) const {
    return storage_.at(dword);
}

uint64_t RegisterFile::raw64(uint32_t low_dword) const {
    return raw(low_dword) | uint64_t{raw(low_dword + 1)} << 32;
}

uint32_t RegisterFile::read_far(uint64_t address) {
    if (address / 4 < window_dwords_) {
        return read(static_cast<uint32_t>(address / 4));
    }
    if (const auto found = far_.find(address); found != far_.end()) {
        return found->second;
    }
    note_unknown(address);
    return 0;
}

void RegisterFile::note_unknown(uint64_t address) {
    const auto found = unknown_reads_.find(address);
    if (found != unknown_reads_.end()) {
        ++found->second;
    } else if (unknown_reads_.size() < most_unknown_reads) {
        unknown_reads_.emplace(address, 1);
    }
}

void RegisterFile::write_far(uint64_t address, uint32_t value) {
    if (address / 4 < window_dwords_) {
        write(static_cast<uint32_t>(address / 4), value);
    } else {
        preset_far(address, value);
    }
}

void RegisterFile::preset_far(uint64_t address, uint32_t value) {
    if (address / 4 < window_dwords_) {
        raw(static_cast<uint32_t>(address / 4)) = value;
        return;
    }
    // The address comes from the guest: what it can make us store is bounded, the rest reads as
    // unknown.
    constexpr std::size_t max_far_registers = 1u << 16;
    if (far_.size() < max_far_registers || far_.contains(address)) {
        far_[address] = value;
    }
}

void RegisterFile::on_read(uint32_t first, uint32_t count, ReadHandler handler) {
    claim(read_slot_, first, count, add_handler(read_handlers_, std::move(handler)));
}

void RegisterFile::on_write(uint32_t first, uint32_t count, WriteHandler handler) {
    claim(write_slot_, first, count, add_handler(write_handlers_, std::move(handler)));
}

void RegisterFile::clear() {
    storage_.assign(storage_.size(), 0);
    known_.assign(known_.size(), false);
    far_.clear();
    unknown_reads_.clear();
}

void RegisterFile::clear(uint32_t first, uint32_t count) {
    if (first > window_dwords_ || count > window_dwords_ - first) {
        throw std::out_of_range("registers beyond the window: from dword " + std::to_string(first));
    }
    std::fill_n(storage_.begin() + first, count, 0u);
    std::fill_n(known_.begin() + first, count, true);
}

}  // namespace gpuemu
