// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/hostile/mutator.h"

#include <algorithm>
#include <cstring>

#include "gpu-emu/pci/pci_function.h"

namespace gpuemu {
namespace {

constexpr std::array<std::string_view, surface_count> names = {
    "registers", "write_backs", "interrupts", "discovery", "firmware", "mailbox", "fills",
};

/// SplitMix64: the same numbers everywhere, and neighbours have nothing in common.
uint64_t scramble(uint64_t value) {
    value += 0x9e3779b97f4a7c15;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
}

/// Near misses, extremes and noise: what code that takes a count, an index or a size for granted is
/// surprised by.
uint32_t lie(uint64_t draw, uint32_t truth) {
    const auto noise = static_cast<uint32_t>(draw >> 32);
    const unsigned bit = (draw >> 8) % 32;
    const unsigned in_byte = bit & ~7u;
    uint32_t told = truth;
    switch (draw % 8) {
        case 0: told = truth ^ 1u << bit; break;
        case 1: told = truth ^ 1u << bit ^ 1u << noise % 32; break;
        case 2: told = (truth & ~(0xffu << in_byte)) | (noise & 0xff) << in_byte; break;
        case 3: told = noise; break;
        case 4: told = 0xffffffff; break;
        case 5: told = 0; break;
        case 6: told = truth + 1; break;
        case 7: told = truth - 1; break;
    }
    return told != truth ? told : ~truth;
}

}  // namespace

std::string_view surface_name(Surface surface) {
    const auto index = static_cast<std::size_t>(surface);
    return index < names.size() ? names[index] : std::string_view();
}

std::optional<Surface> parse_surface(std::string_view name) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) {
        return std::nullopt;
    }
    return static_cast<Surface>(found - names.begin());
}

TraceRecord trace_record(const Mutation& mutation, uint64_t time_ns) {
    const bool has_region = mutation.surface == Surface::registers;
    return {.time_ns = time_ns,
            .offset = uint64_t{mutation.where} * (has_region ? sizeof(uint32_t) : 1),
            .value = uint64_t{mutation.was} << 32 | mutation.is,
            .size = sizeof(uint32_t),
            .kind = TraceKind::mutation,
            .region = has_region ? static_cast<uint8_t>(Region::bar5) : no_region,
            .flags = static_cast<uint16_t>(mutation.surface)};
}

void Mutator::start(uint64_t seed, std::span<const Surface> surfaces, uint64_t rate) {
    const auto honest = [](const Stance& stance) { return stance.rate == 0; };
    if (rate != 0 && std::ranges::all_of(stances_, honest)) {
        mutations_ = 0;
        seen_ = {};
    }
    for (const Surface surface : surfaces) {
        stances_[static_cast<std::size_t>(surface)] = {.seed = seed, .rate = rate};
    }
}

void Mutator::stop() {
    stances_ = {};
    shifts_.clear();
}

Places Mutator::places(Surface surface) const {
    const Seen& seen = seen_[static_cast<std::size_t>(surface)];
    return {seen.asked.size(), seen.told};
}

void Mutator::table(Surface surface, uint32_t where, std::span<std::byte> bytes) {
    if (!on(surface)) {
        return;
    }
    for (; bytes.size() >= sizeof(uint32_t); bytes = bytes.subspan(sizeof(uint32_t))) {
        uint32_t value = 0;
        std::memcpy(&value, bytes.data(), sizeof value);
        value = consider(surface, where++, value);
        std::memcpy(bytes.data(), &value, sizeof value);
    }
}

uint32_t Mutator::consider(Surface surface, uint32_t where, uint32_t value) {
    Stance& stance = stances_[static_cast<std::size_t>(surface)];
    const uint64_t place = scramble(uint64_t{where} << 8 | static_cast<uint64_t>(surface));
    const uint64_t turn = stance.turns[where]++;
    const uint64_t draw = scramble(scramble(stance.seed ^ place) + turn);
    Seen& seen = seen_[static_cast<std::size_t>(surface)];
    if (turn == 0) {
        seen.asked.insert(where);
    }
    if (draw % stance.rate != 0) {
        return value;
    }
    const Mutation mutation{surface, where, value, lie(scramble(draw), value)};
    seen.told.insert(where);
    note(mutation);
    return mutation.is;
}

uint32_t Mutator::fence(WriteBack what, uint32_t value) {
    if (const auto shift = shifts_.find(what); shift != shifts_.end() && shift->second.left != 0) {
        shift->second.left -= 1;
        const Mutation mutation{Surface::write_backs, what, value, value + shift->second.more};
        note(mutation);
        value = mutation.is;
    }
    return word(Surface::write_backs, what, value);
}

void Mutator::note(const Mutation& mutation) {
    ++mutations_;
    if (witness_) {
        witness_(mutation);
    }
}

}  // namespace gpuemu
