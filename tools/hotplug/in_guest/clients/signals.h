// SPDX-License-Identifier: GPL-2.0
// Purpose: the signals a client lives through: SIGBUS from memory that went away with its device,
// SIGBUS sent by amdkfd when a GPU is removed, and the wish to end. Thread: handlers run in the
// client's one thread. Not modelled: several threads touching device memory.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

namespace hp::clients {

struct SigbusCount {
    std::uint64_t faults = 0;  ///< accesses to memory that is gone
    std::uint64_t sent =
        0;  ///< signals without an address: kfd_signal_... in kfd_events.c sends those
    std::uintptr_t last_address = 0;
};

/// From now on an access to memory that is gone completes, on a page of zeroes put in its place,
/// and is counted; SIGTERM and SIGINT only set stop_wanted().
void handle_signals();

SigbusCount sigbus_count();
bool stop_wanted();

/// poll(2), which also ends, with 0, when the client is asked to end, however early: a signal that
/// comes between a look at stop_wanted() and a plain poll() or read() would be missed. Without a
/// patience it waits for ever. Failures of poll(2) count as ready: what is done then has them, too.
int wait_unless_stopped(std::span<pollfd> wanted,
                        std::optional<std::chrono::milliseconds> patience);

}  // namespace hp::clients
