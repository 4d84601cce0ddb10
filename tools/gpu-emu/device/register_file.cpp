// SPDX-License-Identifier: GPL-2.0
// Purpose: storage, declared registers and what RegisterFile notes.
// Thread: device loop only.
#include "gpu-emu/device/register_file.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace gpuemu {
RegisterFile::RegisterFile(uint64_t window_bytes)
    : window_dwords_(window_bytes / 4),
      storage_(window_dwords_),
      known_(window_dwords_),
      slot_(window_dwords_),
      declared_(1) {}

uint32_t RegisterFile::read(uint32_t dword) {
    if (dword >= window_dwords_) {
        return read_far(uint64_t{dword} * 4);
    }
    if (const uint16_t slot = slot_[dword]; slot != 0 && declared_[slot].read) {
        return declared_[slot].read(dword);
    }
    if (!known_[dword]) {
        note(unknown_reads_, uint64_t{dword} * 4);
    }
    return storage_[dword];
}

void RegisterFile::write(uint32_t dword, uint32_t value) {
    if (dword >= window_dwords_) {
        write_far(uint64_t{dword} * 4, value);
        return;
    }
    const Register& declared = declared_[slot_[dword]];
    if (declared.type.is_read_only()) {
        note(read_only_writes_, uint64_t{dword} * 4);
        return;
    }
    uint32_t& stored = raw(dword);
    stored = declared.type.after(stored, value);
    if (declared.written) {
        declared.written(dword, value);
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
    note(unknown_reads_, address);
    return 0;
}

void RegisterFile::note(Noted& noted, uint64_t address) {
    if (const auto found = noted.find(address); found != noted.end()) {
        ++found->second;
    } else if (noted.size() < most_noted) {
        noted.emplace(address, 1);
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

void RegisterFile::declare(uint32_t first, uint32_t count, Register what) {
    if (first > window_dwords_ || count > window_dwords_ - first) {
        throw std::logic_error("registers declared beyond the window: from dword " +
                               std::to_string(first));
    }
    if (declared_.size() > std::numeric_limits<uint16_t>::max()) {
        throw std::logic_error("too many registers declared");
    }
    const auto slots = std::span(slot_).subspan(first, count);
    if (const auto other = std::ranges::find_if(slots, std::identity{}); other != slots.end()) {
        throw std::logic_error("register declared twice: dword " +
                               std::to_string(first + (other - slots.begin())));
    }
    std::ranges::fill(slots, static_cast<uint16_t>(declared_.size()));
    declared_.push_back(std::move(what));
}

void RegisterFile::clear() {
    storage_.assign(storage_.size(), 0);
    known_.assign(known_.size(), false);
    far_.clear();
    unknown_reads_.clear();
    read_only_writes_.clear();
}

void RegisterFile::clear(uint32_t first, uint32_t count) {
    if (first > window_dwords_ || count > window_dwords_ - first) {
        throw std::out_of_range("registers beyond the window: from dword " + std::to_string(first));
    }
    std::fill_n(storage_.begin() + first, count, 0u);
    std::fill_n(known_.begin() + first, count, true);
}

}  // namespace gpuemu
