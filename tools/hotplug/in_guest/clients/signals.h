// SPDX-License-Identifier: GPL-2.0
// Purpose: the signals a client lives through: SIGBUS from memory that went away with its device,
// SIGBUS sent by amdkfd when a GPU is removed, and the wish to end. Thread: handlers run in the
// client's one thread. Not modelled: several threads touching device memory.
#pragma once

#include <cstdint>

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

}  // namespace hp::clients
