// SPDX-License-Identifier: GPL-2.0
// Purpose: who gets which GPU. Thread: pure functions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gpupool/placement/books.h"
#include "gpupool/placement/refusal.h"

namespace gpupool {

/// Who asks: the other end of the daemon's socket.
struct Caller {
    uid_t uid = 0;
    bool admin = false;  // root, and whom the daemon runs as
};

/// A GPU that a lease could have now, and for which lease: those that lost a GPU come before those
/// that never had one, each in the order in which they began to wait. Spares are for the former.
struct Assignment {
    LeaseId lease;
    std::string gpu{};
    bool operator==(const Assignment&) const = default;
};
std::optional<Assignment> next_assignment(const Books& books);

/// The GPUs of a pool that could be given away now, the one that rested longest first.
std::vector<std::string> available_gpus(const Books& books, const std::string& pool);

/// The lowest slot of the VM in which nothing is or is coming.
std::optional<unsigned> free_slot(const Books& books, const std::string& vm);

/// How many GPUs the VM's leases that are not over ask for.
unsigned gpus_asked_for(const Books& books, const std::string& vm);

/// What a cluster may count on: as many GPUs of the pool as are good, less the spares, or as VMs
/// have or wait to get back, whichever is more. A GPU that fails under a VM does not lessen it
/// until its repair is given up: a cluster that saw less than it has placed here would stop VMs.
unsigned capacity_of(const Books& books, const std::string& pool);

/// Microseconds from `books.now_us` until the lease's repair is given up, and until the next one of
/// any lease is; nothing: it is not to be.
std::optional<uint64_t> until_give_up(const Books& books, const Lease& lease);
std::optional<uint64_t> until_next_give_up(const Books& books);

/// Refused: a pool of GPUs of another kind than the VM's leases have; not running; full.
Outcome<void> may_lease(const Books& books, const Pool& pool, const Vm& vm, unsigned count);

/// Refused as not-owner.
Outcome<void> may_change(const Caller& caller, uid_t owner, const std::string& what);

/// What is wrong with what a cluster expects of this machine: pools, and the kinds of their GPUs.
std::vector<std::string> unlike(const Books& books,
                                const std::map<std::string, std::string>& profiles_by_pool);

/// A name that is fit for files, device ids and tables: letters, digits, '-', '_', '.', up to 32, a
/// letter first.
bool good_name(const std::string& name);

/// What a pool is like, in ZFS's words.
enum class Health { online, degraded, faulted };
std::string_view name_of(Health health);
Health health_of(const Books& books, const std::string& pool);

}  // namespace gpupool
