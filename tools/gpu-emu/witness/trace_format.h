// SPDX-License-Identifier: GPL-2.0
// Purpose: the access trace as bytes in a file: one header, then records of 32 bytes in the order
// of the device loop. Little endian. Version 1; a reader refuses what it does not know. Thread:
// values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gpuemu {

/// What a record tells. The first ten are accesses and are counted (LossGate); their order is that
/// of the counters.
enum class TraceKind : uint8_t {
    mmio_read,
    mmio_write,
    doorbell_write,
    vram_read,
    vram_write,
    config_read,
    config_write,
    dma_read,
    dma_write,
    interrupt,
    // what happened in between
    attached,
    detached,
    reset,
    vanished,
    restored,
    hung,
    resumed,
    mark,       // part of a label, see below
    dropped,    // value: records lost before this one, because the file could not keep up
    mutation,   // a lie of a hostile device (mutator.h), before the access that tells it
    forgotten,  // the first record; value: how many there were before, in a file that was full
};
inline constexpr size_t access_kinds = 10;
inline constexpr size_t trace_kinds = 21;

/// The name as the control protocol has it for a single access: "mmio_read". Empty for a number
/// that is no kind.
std::string_view kind_name(TraceKind kind);

inline constexpr uint8_t no_region = 0xff;

struct TraceHeader {
    std::array<char, 8> magic;
    uint32_t version;
    uint32_t record_size;
    uint64_t start_monotonic_ns;   // the clock of the records
    uint64_t start_realtime_ns;    // the same moment
    std::array<char, 32> profile;  // padded with NUL
};
static_assert(sizeof(TraceHeader) == 64);

inline constexpr std::array<char, 8> trace_magic = {'A', 'G', 'E', 'M', 'U', 'T', 'R', 'C'};
inline constexpr uint32_t trace_version = 1;

struct TraceRecord {
    uint64_t time_ns;  // CLOCK_MONOTONIC
    uint64_t offset;   // into the region; dma: bus address; interrupt: vector
    uint64_t value;    // the first 8 bytes read or written; dma: bytes asked for; interrupt: times
                       // signalled
    uint32_t size;     // bytes; dma: bytes granted
    TraceKind kind;
    uint8_t region;  // VFIO region index, or no_region
    uint16_t flags;
};
static_assert(sizeof(TraceRecord) == 32);

/// A mark carries 16 bytes of its label in `offset` and `value`, `size` of them in use; flag set:
/// the next one goes on.
inline constexpr uint16_t mark_continues = 1;
inline constexpr size_t mark_bytes = 16;

}  // namespace gpuemu
