// SPDX-License-Identifier: GPL-2.0
// Purpose: makes the device hostile, as one on the other end of a cable may be, or a board that
// dies: it decides, from a seed, which of the things that the driver takes from the device is a
// lie, and which lie. The device itself stays as it is: it does not believe its own lies, and
// writes nowhere where it would not have written. Off until asked for.
// Thread: device loop only.
// Does not model: DMA to memory that the guest did not offer (an IOMMU's business), lies about when
// (delays, interrupts that nobody raised), the contents of VRAM but for the tables named below.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>

#include "gpu-emu/witness/trace_format.h"

namespace gpuemu {

/// What the driver takes from the device.
enum class Surface : uint8_t {
    registers,    // what a read of BAR5 finds, but for VRAM behind MM_INDEX
    write_backs,  // read pointers and fences of the driver's own queues
    interrupts,   // entries of the IH ring and its write pointer
    discovery,    // the IP discovery table
    firmware,     // answers of PSP and SMU, and the tables that the SMU fills
    mailbox,      // messages of a virtual function's host, and its PF2VF block
    fills,        // what SDMA fills a program's memory with: a wrong result, and nothing else
};
inline constexpr std::size_t surface_count = 7;

/// "write_backs": the name in protocol and trace; empty for a number that is no surface.
std::string_view surface_name(Surface surface);
std::optional<Surface> parse_surface(std::string_view name);

/// Places of Surface::write_backs; a value of 64 bits has two.
enum WriteBack : uint32_t {
    compute_rptr = 0,
    compute_fence = 2,
    scheduler_fence = 4,
    sdma_rptr = 6,
    sdma_fence = 8,
    psp_fence = 9,
    video_fence = 10,
    jpeg_fence = 11,
};

/// One lie. `where` is a dword address of BAR5 for registers; for others it counts what a surface
/// consists of, as its user numbers it.
struct Mutation {
    Surface surface;
    uint32_t where;
    uint32_t was;
    uint32_t is;
};

/// What of a surface the driver has asked for, and been lied to about.
struct Places {
    std::size_t asked = 0;
    std::set<uint32_t> told{};
};

/// As a record of the trace: the surface in `flags`, `where` in `offset` (in bytes for registers,
/// whose region it names), `is` in the low half of `value`, `was` in the high one.
TraceRecord trace_record(const Mutation& mutation, uint64_t time_ns);

class Mutator {
public:
    using Witness = std::function<void(const Mutation&)>;

    /// Is told of every lie before the driver can see it.
    void set_witness(Witness witness) { witness_ = std::move(witness); }

    /// From now on one word in `rate` of these surfaces is a lie. Which ones are, and how they
    /// lie, depends on the seed, the surface, the place and how often that place was asked for
    /// since: what is asked for at other places, and when, changes nothing. 0: honest again.
    void start(uint64_t seed, std::span<const Surface> surfaces, uint64_t rate);
    /// Honest in everything: another board.
    void stop();

    bool on(Surface surface) const { return of(surface).rate != 0; }
    /// Lies told since the device was last honest in everything.
    uint64_t mutations() const { return mutations_; }

    /// Since the device was last honest in everything.
    Places places(Surface surface) const;

    /// What the driver is to see in place of `value`. `where` has to come from a bounded set: how
    /// often each was asked for is kept.
    uint32_t word(Surface surface, uint32_t where, uint32_t value) {
        return on(surface) ? consider(surface, where, value) : value;
    }
    /// The same for each whole dword of `bytes`, the first of which is at `where`.
    void table(Surface surface, uint32_t where, std::span<std::byte> bytes);

    /// A scripted lie: the next `count` fences of that kind say `more` than they should.
    void shift(WriteBack fence, uint32_t more, uint64_t count) { shifts_[fence] = {more, count}; }
    /// What the driver is to see in place of a fence of its rings.
    uint32_t fence(WriteBack what, uint32_t value);

private:
    struct Stance {
        uint64_t seed = 0;
        uint64_t rate = 0;                               // 0: honest
        std::unordered_map<uint32_t, uint64_t> turns{};  // by place
    };

    struct Shift {
        uint32_t more;
        uint64_t left;
    };

    struct Seen {
        std::set<uint32_t> asked{};
        std::set<uint32_t> told{};
    };

    const Stance& of(Surface surface) const { return stances_[static_cast<std::size_t>(surface)]; }
    uint32_t consider(Surface surface, uint32_t where, uint32_t value);
    void note(const Mutation& mutation);

    std::array<Stance, surface_count> stances_;
    std::array<Seen, surface_count> seen_;        // outlives stop(): it is asked for afterwards
    std::unordered_map<uint32_t, Shift> shifts_;  // by WriteBack
    Witness witness_;
    uint64_t mutations_ = 0;
};

}  // namespace gpuemu
