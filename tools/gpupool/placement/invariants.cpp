// SPDX-License-Identifier: GPL-2.0
// Purpose: see invariants.h.
// Thread: see invariants.h.
#include "gpupool/placement/invariants.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "gpupool/placement/rules.h"

namespace gpupool {

namespace {

class Inspection {
public:
    explicit Inspection(const Books& books) : books_(books) {}

    std::vector<std::string> look() {
        for (const auto& [name, gpu] : books_.gpus) {
            look_at(gpu);
        }
        for (const auto& [id, lease] : books_.leases) {
            look_at(lease);
        }
        if (wrong_.empty() && next_assignment(books_)) {
            wrong_.push_back("a lease waits although a GPU is free");
        }
        return std::move(wrong_);
    }

private:
    void expect(bool holds, const std::string& otherwise) {
        if (!holds) {
            wrong_.push_back(otherwise);
        }
    }

    void look_at(const Gpu& gpu) {
        const std::string what = fmt::format("{} ({})", gpu.name, name_of(gpu.state));
        expect(books_.pools.contains(gpu.pool), what + " is in no pool");
        expect(serials_.insert(gpu.serial).second, what + " has another one's serial number");
        expect(gpu.vm.empty() || books_.vms.contains(gpu.vm), what + " is in a vm that is not");
        if (gpu.slot) {
            expect(!gpu.vm.empty(), what + " is in a slot of no vm");
            expect(slots_.emplace(gpu.vm, *gpu.slot).second, what + " is in another one's slot");
        }
        switch (gpu.state) {
            case GpuState::reserved:
                expect(gpu.lease && !gpu.vm.empty() && !gpu.slot, what + ": for whom, and where?");
                break;
            case GpuState::attaching:
            case GpuState::leased:
                expect(gpu.lease && gpu.slot.has_value(), what + ": whose, and where?");
                break;
            case GpuState::detaching: expect(gpu.slot.has_value(), what + " is in no slot"); break;
            case GpuState::failed: expect(!gpu.lease, what + " has a lease"); break;
            case GpuState::fresh:
            case GpuState::scrubbing:
            case GpuState::free:
            case GpuState::pulled:
            case GpuState::quarantined:
            case GpuState::retired:
                expect(!gpu.lease && gpu.vm.empty() && !gpu.slot, what + " is somebody's");
                break;
        }
        if (gpu.lease) {
            const auto lease = books_.leases.find(*gpu.lease);
            expect(lease != books_.leases.end() && lease->second.gpu == gpu.name,
                   fmt::format("{} is of lease {}, which does not know it", what, *gpu.lease));
        }
    }

    void look_at(const Lease& lease) {
        const std::string what = fmt::format("lease {} ({})", lease.id, name_of(lease.state));
        expect(lease.id < books_.next_lease, what + " is one to come");
        expect(books_.pools.contains(lease.pool), what + " is of no pool");
        expect(books_.vms.contains(lease.vm), what + " is of no vm");
        if (lease.gpu) {
            const auto gpu = books_.gpus.find(*lease.gpu);
            expect(gpu != books_.gpus.end() && gpu->second.lease == lease.id &&
                       gpu->second.vm == lease.vm && gpu->second.pool == lease.pool,
                   fmt::format("{} has {}, which does not know it", what, *lease.gpu));
        }
        switch (lease.state) {
            case LeaseState::attaching:
            case LeaseState::active:
            case LeaseState::replacing:
            case LeaseState::returning: expect(lease.gpu.has_value(), what + " has no GPU"); break;
            case LeaseState::queued:
            case LeaseState::degraded:
            case LeaseState::closed:
            case LeaseState::lost: expect(!lease.gpu, what + " has a GPU"); break;
        }
    }

    const Books& books_;
    std::vector<std::string> wrong_;
    std::set<uint64_t> serials_;
    std::set<std::pair<std::string, unsigned>> slots_;
};

}  // namespace

std::vector<std::string> wrong_in(const Books& books) {
    return Inspection(books).look();
}

}  // namespace gpupool
