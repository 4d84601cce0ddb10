// SPDX-License-Identifier: GPL-2.0
// Purpose: all that a pool knows, as one value: what an operation changes a copy of, and the ledger
// writes down. The intent is in the states: a GPU that is `attaching` is to be put into the slot
// that its row names, whoever reads that, and however often. Thread: values.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gpupool/placement/states.h"

namespace gpupool {

using LeaseId = uint64_t;

/// A day: who waits longer for a repair waits for ever.
constexpr unsigned longest_patience_s = 24 * 3600;

struct Pool {
    std::string name{};
    std::string profile{};  // "mi300x": the one kind of GPU in it
    uint64_t vram_mib = 0;  // of each board; 0: as the profile says
    unsigned spares = 0;    // GPUs that only the lease of a failed one gets
    bool replace = true;    // a failed GPU without being asked
    uid_t owner = 0;
    /// A lease that has had no GPU for so long after it lost one will not be repaired here: what
    /// waits for that is told. 0: never.
    unsigned give_up_s = 0;
    // Of leases whose GPU failed and that have another one since.
    uint64_t repairs = 0;
    uint64_t repair_us = 0;  // what they took together
    bool operator==(const Pool&) const = default;
};

struct Gpu {
    std::string name{};  // "gpu3"
    std::string pool{};
    uint64_t serial = 0;  // of the board, and what the guest knows it by
    GpuState state = GpuState::fresh;
    bool offline = false;  // a flag beside the state: it is given to nobody from now on
    /// Counts cold resets. (GPU, epoch) names a tenancy: nobody else ever has the same, so that
    /// what is said of an earlier one cannot hit a later one.
    uint64_t epoch = 0;
    std::optional<LeaseId> lease{};
    std::string vm{};                // it is in, or on its way into or out of; empty: none
    std::optional<unsigned> slot{};  // of the VM
    std::string reason{};            // why it failed
    uint64_t since_us = 0;           // that it is in this state
    bool operator==(const Gpu&) const = default;
};

struct Vm {
    std::string name{};
    unsigned gpus = 1;         // the most that it has at a time
    std::string definition{};  // for the driver
    VmState state = VmState::stopped;
    uint64_t incarnation = 0;  // counts its starts
    uid_t owner = 0;
    /// One slot more than GPUs: the replacement does not wait for the failed board to be out.
    unsigned slots() const { return gpus + 1; }
    bool operator==(const Vm&) const = default;
};

struct Lease {
    LeaseId id = 0;
    std::string pool{};
    std::string vm{};
    LeaseState state = LeaseState::queued;
    std::optional<std::string> gpu{};
    uid_t owner = 0;
    uint64_t since_us = 0;   // that it is in this state
    uint64_t failed_us = 0;  // that it lost its GPU, and has had none since; 0: it has not
    bool gave_up = false;    // it is degraded, and nobody waits for a repair any more
    bool operator==(const Lease&) const = default;
};

/// Something that happened. What it is about is empty or 0 where it is about something else.
struct Event {
    uint64_t time_us = 0;  // CLOCK_REALTIME
    std::string what{};    // "gpu-failed", "lease-active"
    std::string pool{};
    std::string gpu{};
    uint64_t epoch = 0;
    std::string vm{};
    LeaseId lease = 0;
    std::string detail{};
    bool operator==(const Event&) const = default;
};

struct Books {
    std::map<std::string, Pool> pools{};
    std::map<std::string, Gpu> gpus{};
    std::map<std::string, Vm> vms{};
    std::map<LeaseId, Lease> leases{};  // those that are over until they are written down
    LeaseId next_lease = 1;
    std::string boot_id{};        // of the machine, when the books were last true
    uint64_t now_us = 0;          // for what happens next
    std::vector<Event> events{};  // not yet written down
};

}  // namespace gpupool
