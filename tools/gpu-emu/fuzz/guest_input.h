// SPDX-License-Identifier: GPL-2.0
// Purpose: the bytes of a fuzzer as what a guest says: numbers, addresses and dwords of packets
// that mostly mean something. What is behind the end is zero. Thread: single-threaded.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace gpuemu::fuzz {

class GuestInput {
public:
    GuestInput(const uint8_t* data, size_t size) : left_(data, size) {}

    bool empty() const { return left_.empty(); }

    template <typename T>
    T take() {
        T value{};
        const size_t length = std::min(sizeof value, left_.size());
        if (length != 0) {
            std::memcpy(&value, left_.data(), length);
        }
        left_ = left_.subspan(length);
        return value;
    }

    /// Of a packet: nothing, a small number or a high half of an address, the low half of one in
    /// the first 256 KiB (which is also a register), or anything.
    uint32_t dword() {
        switch (take<uint8_t>() % 4) {
            case 0: return 0;
            case 1: return take<uint8_t>();
            case 2: return uint32_t{take<uint16_t>()} * 4;
            default: return take<uint32_t>();
        }
    }
    std::vector<uint32_t> dwords(size_t count) {
        std::vector<uint32_t> dwords(count);
        std::ranges::generate(dwords, [this] { return dword(); });
        return dwords;
    }

    template <typename T>
    const T& one_of(std::span<const T> choices) {
        return choices[take<uint16_t>() % choices.size()];
    }

private:
    std::span<const uint8_t> left_;
};

}  // namespace gpuemu::fuzz
