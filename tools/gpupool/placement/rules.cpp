// SPDX-License-Identifier: GPL-2.0
// Purpose: see rules.h.
// Thread: see rules.h.
#include "gpupool/placement/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace gpupool {

namespace {

// Device ids of QEMU and the paths of sockets (108 bytes) are made of them.
constexpr size_t longest_name = 32;
constexpr uint64_t us_per_s = 1'000'000;

/// Leases that wait for a GPU of a pool in one of the two ways, longest first.
std::vector<const Lease*> waiting(const Books& books, LeaseState state) {
    std::vector<const Lease*> found;
    for (const auto& [id, lease] : books.leases) {
        if (lease.state == state) {
            found.push_back(&lease);
        }
    }
    std::ranges::stable_sort(found, {}, &Lease::since_us);
    return found;
}

bool serves_failures(const Books& books, const Lease& lease) {
    return books.pools.at(lease.pool).replace;
}

}  // namespace

std::vector<std::string> available_gpus(const Books& books, const std::string& pool) {
    std::vector<const Gpu*> found;
    for (const auto& [name, gpu] : books.gpus) {
        if (gpu.pool == pool && gpu.state == GpuState::free && !gpu.offline) {
            found.push_back(&gpu);
        }
    }
    std::ranges::stable_sort(found, {}, &Gpu::since_us);
    std::vector<std::string> names;
    std::ranges::transform(found, std::back_inserter(names),
                           [](const Gpu* gpu) { return gpu->name; });
    return names;
}

std::optional<Assignment> next_assignment(const Books& books) {
    for (const Lease* lease : waiting(books, LeaseState::degraded)) {
        const auto gpus = available_gpus(books, lease->pool);
        if (!gpus.empty() && serves_failures(books, *lease)) {
            return Assignment{lease->id, gpus.front()};
        }
    }
    for (const Lease* lease : waiting(books, LeaseState::queued)) {
        const auto gpus = available_gpus(books, lease->pool);
        if (gpus.size() > books.pools.at(lease->pool).spares) {
            return Assignment{lease->id, gpus.front()};
        }
    }
    return std::nullopt;
}

std::optional<unsigned> free_slot(const Books& books, const std::string& vm) {
    std::set<unsigned> taken;
    for (const auto& [name, gpu] : books.gpus) {
        if (gpu.vm == vm && gpu.slot) {
            taken.insert(*gpu.slot);
        }
    }
    for (unsigned slot = 0; slot < books.vms.at(vm).slots(); ++slot) {
        if (!taken.contains(slot)) {
            return slot;
        }
    }
    return std::nullopt;
}

unsigned gpus_asked_for(const Books& books, const std::string& vm) {
    return static_cast<unsigned>(std::ranges::count_if(books.leases, [&](const auto& entry) {
        return entry.second.vm == vm && !is_over(entry.second.state);
    }));
}

unsigned capacity_of(const Books& books, const std::string& pool) {
    const auto good = static_cast<unsigned>(std::ranges::count_if(books.gpus, [&](const auto& e) {
        const Gpu& gpu = e.second;
        return gpu.pool == pool && !gpu.offline && !is_broken(gpu.state);
    }));
    const auto counted_on =
        static_cast<unsigned>(std::ranges::count_if(books.leases, [&](const auto& e) {
            const Lease& lease = e.second;
            return lease.pool == pool && lease.state != LeaseState::queued &&
                   !is_over(lease.state) && !lease.gave_up;
        }));
    const unsigned spares = books.pools.at(pool).spares;
    return std::max(good > spares ? good - spares : 0, counted_on);
}

std::optional<uint64_t> until_give_up(const Books& books, const Lease& lease) {
    const unsigned patience_s = books.pools.at(lease.pool).give_up_s;
    if (patience_s == 0 || lease.state != LeaseState::degraded || lease.gave_up) {
        return std::nullopt;
    }
    const uint64_t end_us = lease.failed_us + patience_s * us_per_s;
    return end_us > books.now_us ? end_us - books.now_us : 0;
}

std::optional<uint64_t> until_next_give_up(const Books& books) {
    std::optional<uint64_t> soonest;
    for (const auto& [id, lease] : books.leases) {
        if (const auto left = until_give_up(books, lease)) {
            soonest = std::min(soonest.value_or(*left), *left);
        }
    }
    return soonest;
}

Outcome<void> may_lease(const Books& books, const Pool& pool, const Vm& vm, unsigned count) {
    if (vm.state != VmState::running) {
        return refuse(Code::vm_unreachable,
                      fmt::format("vm {} is {}: start it first", vm.name, name_of(vm.state)));
    }
    for (const auto& [id, lease] : books.leases) {
        const Pool& other = books.pools.at(lease.pool);
        if (lease.vm == vm.name && !is_over(lease.state) && other.profile != pool.profile) {
            return refuse(Code::heterogeneous,
                          fmt::format("vm {} has a lease of {} GPUs (pool {}), and pool {} is of "
                                      "{}: the GPUs of a VM are of one kind",
                                      vm.name, other.profile, other.name, pool.name, pool.profile));
        }
    }
    const unsigned asked = gpus_asked_for(books, vm.name);
    if (asked + count > vm.gpus) {
        return refuse(Code::vm_full, fmt::format("vm {} may have {} GPUs, and has leases of {}",
                                                 vm.name, vm.gpus, asked));
    }
    return {};
}

Outcome<void> may_change(const Caller& caller, uid_t owner, const std::string& what) {
    if (caller.admin || caller.uid == owner) {
        return {};
    }
    return refuse(Code::not_owner,
                  fmt::format("{} belongs to uid {}, not to uid {}", what, owner, caller.uid));
}

std::vector<std::string> unlike(const Books& books,
                                const std::map<std::string, std::string>& profiles_by_pool) {
    std::vector<std::string> wrong;
    for (const auto& [name, profile] : profiles_by_pool) {
        const auto pool = books.pools.find(name);
        if (pool == books.pools.end()) {
            wrong.push_back(
                fmt::format("there is no pool {} here, one of {} is expected", name, profile));
        } else if (pool->second.profile != profile) {
            wrong.push_back(fmt::format("pool {} is of {} here, {} is expected", name,
                                        pool->second.profile, profile));
        }
    }
    return wrong;
}

bool good_name(const std::string& name) {
    const auto fits = [](unsigned char letter) {
        return std::isalnum(letter) != 0 || letter == '-' || letter == '_' || letter == '.';
    };
    return !name.empty() && name.size() <= longest_name &&
           std::isalpha(static_cast<unsigned char>(name.front())) != 0 &&
           std::ranges::all_of(name, fits);
}

std::string_view name_of(Health health) {
    switch (health) {
        case Health::online: return "ONLINE";
        case Health::degraded: return "DEGRADED";
        case Health::faulted: return "FAULTED";
    }
    return "";
}

Health health_of(const Books& books, const std::string& pool) {
    bool broken = false;
    bool good = false;
    for (const auto& [name, gpu] : books.gpus) {
        if (gpu.pool != pool || gpu.state == GpuState::retired) {
            continue;
        }
        const bool out = is_broken(gpu.state);
        broken = broken || out;
        good = good || !out;
    }
    for (const auto& [id, lease] : books.leases) {
        broken = broken || (lease.pool == pool && (lease.state == LeaseState::degraded ||
                                                   lease.state == LeaseState::replacing));
    }
    if (!broken) {
        return Health::online;
    }
    return good ? Health::degraded : Health::faulted;
}

}  // namespace gpupool
