// SPDX-License-Identifier: GPL-2.0
// Thread: device loop only.
#include "gpu-emu/ip/queue/memory_ops.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <type_traits>

namespace gpuemu {
namespace {

constexpr uint64_t smallest_piece = 64;

uint64_t piece(uint64_t left, const Budget& budget) {
    const uint64_t allowed = budget.bytes > 0 ? static_cast<uint64_t>(budget.bytes) : 0;
    return std::min(left, std::max(allowed, smallest_piece));
}

/// Low five bits of a TC_OP: the operation. Bit 5: 64 bits wide. Bit 6: no return value.
constexpr uint32_t op_mask = 0x1f;
constexpr uint32_t op_wide = 0x20;
enum AtomicOp : uint32_t {
    SWAP = 0x07,
    CMPSWAP = 0x08,
    ADD = 0x0f,
    SUB = 0x10,
    SMIN = 0x11,
    UMIN = 0x12,
    SMAX = 0x13,
    UMAX = 0x14,
    AND = 0x15,
    OR = 0x16,
    XOR = 0x17,
    INC = 0x18,
    DEC = 0x19,
};

template <typename T>
T result_of(uint32_t op, T old, T source, T comparand) {
    using Signed = std::make_signed_t<T>;
    const auto signed_less = [](T a, T b) {
        return static_cast<Signed>(a) < static_cast<Signed>(b);
    };
    switch (op) {
        case SWAP: return source;
        case CMPSWAP: return old == comparand ? source : old;
        case ADD: return old + source;
        case SUB: return old - source;
        case SMIN: return signed_less(source, old) ? source : old;
        case UMIN: return std::min(old, source);
        case SMAX: return signed_less(old, source) ? source : old;
        case UMAX: return std::max(old, source);
        case AND: return old & source;
        case OR: return old | source;
        case XOR: return old ^ source;
        case INC: return old >= source ? 0 : old + 1;
        case DEC: return old == 0 || old > source ? source : old - 1;
        default: return old;
    }
}

template <typename T>
std::optional<uint64_t> atomic_of(const Port& port, uint32_t op, uint64_t address, uint64_t source,
                                  uint64_t comparand) {
    const auto window = port.window(address & ~uint64_t{sizeof(T) - 1}, sizeof(T), true);
    if (window.size() < sizeof(T) ||
        reinterpret_cast<uintptr_t>(window.data()) % std::atomic_ref<T>::required_alignment != 0) {
        return std::nullopt;
    }
    std::atomic_ref<T> cell(*reinterpret_cast<T*>(window.data()));
    T old = cell.load();
    while (!cell.compare_exchange_weak(
        old, result_of(op, old, static_cast<T>(source), static_cast<T>(comparand)))) {
    }
    return old;
}

}  // namespace

Step copy_bytes(const Port& port, uint64_t source, uint64_t destination, uint64_t bytes,
                uint64_t& progress, Budget& budget) {
    while (progress < bytes) {
        const uint64_t want = piece(bytes - progress, budget);
        const auto from = port.window(source + progress, want, false);
        const auto to = port.window(destination + progress, want, true);
        const uint64_t count = std::min<uint64_t>({want, from.size(), to.size()});
        if (count == 0) {
            return Step::done;
        }
        std::memmove(to.data(), from.data(), count);
        progress += count;
        budget.bytes -= static_cast<int64_t>(count);
        if (budget.bytes <= 0 && progress < bytes) {
            return Step::again;
        }
    }
    return Step::done;
}

Step fill_bytes(const Port& port, uint64_t destination, uint32_t pattern, uint64_t bytes,
                uint64_t& progress, Budget& budget) {
    while (progress < bytes) {
        const auto to = port.window(destination + progress, piece(bytes - progress, budget), true);
        const uint64_t count = std::min<uint64_t>(to.size(), bytes - progress);
        if (count == 0) {
            return Step::done;
        }
        // A piece may begin in the middle of the dword: one block of the pattern, turned by what is
        // done already.
        std::array<std::byte, 256> block;
        for (size_t i = 0; i < block.size(); ++i) {
            block[i] = static_cast<std::byte>(pattern >> ((progress + i) % 4 * 8));
        }
        for (uint64_t at = 0; at < count; at += block.size()) {
            std::memcpy(to.data() + at, block.data(), std::min<uint64_t>(block.size(), count - at));
        }
        progress += count;
        budget.bytes -= static_cast<int64_t>(count);
        if (budget.bytes <= 0 && progress < bytes) {
            return Step::again;
        }
    }
    return Step::done;
}

bool compare(uint32_t function, uint32_t value, uint32_t reference) {
    switch (function & 7) {
        case 1: return value < reference;
        case 2: return value <= reference;
        case 3: return value == reference;
        case 4: return value != reference;
        case 5: return value >= reference;
        case 6: return value > reference;
        default: return true;
    }
}

bool is_integer_atomic(uint32_t tc_op) {
    const uint32_t op = tc_op & op_mask;
    return op == SWAP || op == CMPSWAP || (op >= ADD && op <= DEC);
}

bool is_satisfied(uint32_t tc_op, uint64_t old, uint64_t comparand) {
    const uint64_t width = tc_op & op_wide ? ~uint64_t{0} : 0xffffffff;
    return (tc_op & op_mask) != CMPSWAP || ((old ^ comparand) & width) == 0;
}

std::optional<uint64_t> atomic(const Port& port, uint32_t tc_op, uint64_t address, uint64_t source,
                               uint64_t comparand) {
    const uint32_t op = tc_op & op_mask;
    return tc_op & op_wide ? atomic_of<uint64_t>(port, op, address, source, comparand)
                           : atomic_of<uint32_t>(port, op, address, source, comparand);
}

}  // namespace gpuemu
