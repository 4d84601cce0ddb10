// SPDX-License-Identifier: GPL-2.0
// Purpose: see operations.h.
// Thread: see operations.h.
#include "gpupool/placement/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace gpupool {

namespace {

constexpr unsigned most_gpus_of_a_vm = 31;  // hotplug::GpuSlot::max_slots, and one for a repair
constexpr size_t longest_reason = 200;
constexpr std::string_view noted_prefix = "cluster-";

// --- Looking up ---

template <typename Value>
Outcome<Value*> find_in(std::map<std::string, Value>& table, const std::string& name, Code missing,
                        const char* kind) {
    const auto found = table.find(name);
    if (found == table.end()) {
        return refuse(missing, fmt::format("there is no {} '{}'", kind, name));
    }
    return &found->second;
}

Outcome<Pool*> find_pool(Books& books, const std::string& name) {
    return find_in(books.pools, name, Code::unknown_pool, "pool");
}
Outcome<Gpu*> find_gpu(Books& books, const std::string& name) {
    return find_in(books.gpus, name, Code::unknown_gpu, "GPU");
}
Outcome<Vm*> find_vm(Books& books, const std::string& name) {
    return find_in(books.vms, name, Code::unknown_vm, "vm");
}

/// The GPU, for somebody who may change its pool.
Outcome<Gpu*> find_own_gpu(Books& books, const Caller& caller, const std::string& name) {
    auto gpu = find_gpu(books, name);
    if (!gpu) {
        return gpu;
    }
    const Pool& pool = books.pools.at((*gpu)->pool);
    if (auto may = may_change(caller, pool.owner, "pool " + pool.name); !may) {
        return tl::unexpected(may.error());
    }
    return gpu;
}

Outcome<Vm*> find_own_vm(Books& books, const Caller& caller, const std::string& name) {
    auto vm = find_vm(books, name);
    if (!vm) {
        return vm;
    }
    if (auto may = may_change(caller, (*vm)->owner, "vm " + name); !may) {
        return tl::unexpected(may.error());
    }
    return vm;
}

// --- The ways from state to state, and what is told of each ---

void tell(Books& books, Event event) {
    event.time_us = books.now_us;
    books.events.push_back(std::move(event));
}

/// What the tables do not have is a mistake of this file: whoever gets here has asked before.
template <typename Thing, typename Happening>
void move(Books& books, Thing& thing, Happening happening) {
    const auto to = next(thing.state, happening);
    if (!to) {
        throw std::logic_error(
            fmt::format("{} cannot happen in state {}", name_of(happening), name_of(thing.state)));
    }
    thing.state = *to;
    if constexpr (requires { thing.since_us; }) {
        thing.since_us = books.now_us;
    }
}

void move_gpu(Books& books, Gpu& gpu, GpuEvent happening, const std::string& detail = {}) {
    move(books, gpu, happening);
    const Event told{.what = fmt::format("gpu-{}", name_of(gpu.state)),
                     .pool = gpu.pool,
                     .gpu = gpu.name,
                     .epoch = gpu.epoch,
                     .vm = gpu.vm,
                     .lease = gpu.lease.value_or(0),
                     .detail = detail};
    tell(books, told);
}

/// What is known of a repair that begins, ends, or is not wanted any more.
void keep_time_of_repair(Books& books, Lease& lease) {
    if (lease.state != LeaseState::degraded) {
        lease.gave_up = false;
    } else if (lease.failed_us == 0) {
        lease.failed_us = books.now_us;
    }
    if (lease.state == LeaseState::active && lease.failed_us != 0) {
        Pool& pool = books.pools.at(lease.pool);
        ++pool.repairs;
        pool.repair_us += books.now_us - lease.failed_us;
        lease.failed_us = 0;
    }
}

void move_lease(Books& books, Lease& lease, LeaseEvent happening, const std::string& detail = {}) {
    move(books, lease, happening);
    keep_time_of_repair(books, lease);
    tell(books, {.what = fmt::format("lease-{}", name_of(lease.state)),
                 .pool = lease.pool,
                 .gpu = lease.gpu.value_or(""),
                 .vm = lease.vm,
                 .lease = lease.id,
                 .detail = detail});
}

void move_vm(Books& books, Vm& vm, VmEvent happening, const std::string& detail = {}) {
    move(books, vm, happening);
    tell(books, {.what = fmt::format("vm-{}", name_of(vm.state)), .vm = vm.name, .detail = detail});
}

void begin_scrub(Books& books, Gpu& gpu, GpuEvent happening, const std::string& detail = {}) {
    ++gpu.epoch;
    gpu.vm.clear();
    gpu.slot.reset();
    gpu.reason.clear();
    move_gpu(books, gpu, happening, detail);
}

/// The two know each other no more. The GPU's own state is the caller's business.
void part(Books& books, Gpu& gpu) {
    if (gpu.lease) {
        books.leases.at(*gpu.lease).gpu.reset();
        gpu.lease.reset();
    }
}

/// A GPU that is somebody's goes out of its VM, or was never on its way.
void send_back(Books& books, Gpu& gpu) {
    if (gpu.state == GpuState::reserved) {
        move_gpu(books, gpu, GpuEvent::cancel);
        gpu.vm.clear();
    } else if (next(gpu.state, GpuEvent::detach)) {
        move_gpu(books, gpu, GpuEvent::detach);
    }
}

void give(Books& books, Lease& lease, Gpu& gpu) {
    gpu.lease = lease.id;
    gpu.vm = lease.vm;
    lease.gpu = gpu.name;
    move_gpu(books, gpu, GpuEvent::reserve);
}

void break_gpu(Books& books, Gpu& gpu, const std::string& reason) {
    const auto lease = gpu.lease;
    gpu.reason = reason.substr(0, longest_reason);
    move_gpu(books, gpu, GpuEvent::fail, gpu.reason);
    if (gpu.slot == std::nullopt) {
        gpu.vm.clear();  // it was only reserved
    }
    part(books, gpu);
    if (lease) {
        move_lease(books, books.leases.at(*lease), LeaseEvent::gpu_failed,
                   fmt::format("{} failed: {}", gpu.name, gpu.reason));
    }
}

/// What becomes of what the VM had.
void end_leases_of(Books& books, const std::string& vm) {
    for (auto& [id, lease] : books.leases) {
        if (lease.vm != vm || is_over(lease.state)) {
            continue;
        }
        if (lease.gpu) {
            Gpu& gpu = books.gpus.at(*lease.gpu);
            part(books, gpu);
            send_back(books, gpu);
        }
        move_lease(books, lease, LeaseEvent::vm_ended);
    }
}

void give_up_repairs(Books& books) {
    for (auto& [id, lease] : books.leases) {
        if (until_give_up(books, lease) == 0) {
            lease.gave_up = true;
            tell(books, {.what = "lease-gave-up",
                         .pool = lease.pool,
                         .vm = lease.vm,
                         .lease = id,
                         .detail = fmt::format("without a GPU for {} s",
                                               books.pools.at(lease.pool).give_up_s)});
        }
    }
}

bool is_due(const Books& books, const Step& step) {
    const auto due = due_steps(books);
    return std::ranges::find(due, step) != due.end();
}

template <typename State, typename Happening>
Outcome<void> may_happen(const std::string& what, State state, Happening happening) {
    if (next(state, happening)) {
        return {};
    }
    return refuse(Code::bad_state, fmt::format("{} is {}: {} is not possible then", what,
                                               name_of(state), name_of(happening)));
}

}  // namespace

Outcome<void> create_pool(Books& books, const Caller& caller, Pool pool) {
    if (!caller.admin) {
        return refuse(Code::not_owner,
                      fmt::format("uid {} may not create pools: root may", caller.uid));
    }
    if (!good_name(pool.name)) {
        return refuse(Code::bad_request, fmt::format("'{}' is no name for a pool", pool.name));
    }
    if (pool.profile.empty()) {
        return refuse(Code::bad_request, "a pool needs a profile: the kind of its GPUs");
    }
    if (books.pools.contains(pool.name)) {
        return refuse(Code::exists, fmt::format("there is a pool {} already", pool.name));
    }
    pool.owner = caller.uid;
    tell(books, {.what = "pool-created", .pool = pool.name, .detail = pool.profile});
    const std::string name = pool.name;
    books.pools.emplace(name, std::move(pool));
    return {};
}

Outcome<std::string> add_gpu(Books& books, const Caller& caller, const std::string& pool_name,
                             uint64_t serial, const std::string& profile) {
    auto pool = find_pool(books, pool_name);
    if (!pool) {
        return tl::unexpected(pool.error());
    }
    if (auto may = may_change(caller, (*pool)->owner, "pool " + pool_name); !may) {
        return tl::unexpected(may.error());
    }
    if (serial == 0) {
        return refuse(Code::bad_request, "a GPU needs a serial number: its board is known by it");
    }
    if (!profile.empty() && profile != (*pool)->profile) {
        return refuse(Code::heterogeneous, fmt::format("pool {} is of {}, this is a {}", pool_name,
                                                       (*pool)->profile, profile));
    }
    for (const auto& [name, gpu] : books.gpus) {
        if (gpu.serial == serial) {
            return refuse(Code::exists, fmt::format("{} of pool {} has the serial number {:#x}",
                                                    name, gpu.pool, serial));
        }
    }
    // GPUs are never forgotten: names are not used twice.
    Gpu gpu{.name = fmt::format("gpu{}", books.gpus.size()),
            .pool = pool_name,
            .serial = serial,
            .since_us = books.now_us};
    const std::string name = gpu.name;
    tell(books, {.what = "gpu-added",
                 .pool = pool_name,
                 .gpu = name,
                 .detail = fmt::format("{:#x}", serial)});
    books.gpus.emplace(name, std::move(gpu));
    settle(books);
    return name;
}

Outcome<void> check_vm(const Vm& vm) {
    if (!good_name(vm.name)) {
        return refuse(Code::bad_request, fmt::format("'{}' is no name for a vm", vm.name));
    }
    if (vm.gpus == 0 || vm.gpus > most_gpus_of_a_vm) {
        return refuse(Code::bad_request,
                      fmt::format("a vm may have 1 to {} GPUs", most_gpus_of_a_vm));
    }
    return {};
}

Outcome<void> declare_vm(Books& books, const Caller& caller, Vm vm) {
    if (!caller.admin) {
        return refuse(
            Code::not_owner,
            fmt::format("uid {} may not declare VMs: root may, for others too", caller.uid));
    }
    if (auto good = check_vm(vm); !good) {
        return good;
    }
    if (books.vms.contains(vm.name)) {
        return refuse(Code::exists, fmt::format("there is a vm {} already", vm.name));
    }
    vm.state = VmState::stopped;
    vm.incarnation = 0;
    tell(books, {.what = "vm-declared", .vm = vm.name});
    const std::string name = vm.name;
    books.vms.emplace(name, std::move(vm));
    return {};
}

Outcome<void> start_vm(Books& books, const Caller& caller, const std::string& name) {
    auto vm = find_own_vm(books, caller, name);
    if (!vm) {
        return tl::unexpected(vm.error());
    }
    if (auto may = may_happen("vm " + name, (*vm)->state, VmEvent::start); !may) {
        return may;
    }
    ++(*vm)->incarnation;
    move_vm(books, **vm, VmEvent::start);
    return {};
}

Outcome<void> stop_vm(Books& books, const Caller& caller, const std::string& name) {
    auto vm = find_own_vm(books, caller, name);
    if (!vm) {
        return tl::unexpected(vm.error());
    }
    if (auto may = may_happen("vm " + name, (*vm)->state, VmEvent::stop); !may) {
        return may;
    }
    move_vm(books, **vm, VmEvent::stop);
    return {};
}

Outcome<std::vector<LeaseId>> lease(Books& books, const Caller& caller,
                                    const std::string& pool_name, const std::string& vm_name,
                                    const LeaseOptions& options) {
    auto pool = find_pool(books, pool_name);
    if (!pool) {
        return tl::unexpected(pool.error());
    }
    auto vm = find_own_vm(books, caller, vm_name);
    if (!vm) {
        return tl::unexpected(vm.error());
    }
    if (options.count == 0) {
        return refuse(Code::bad_request, "a lease is of one GPU at least");
    }
    if (auto may = may_lease(books, **pool, **vm, options.count); !may) {
        return tl::unexpected(may.error());
    }
    Books changed = books;
    std::vector<LeaseId> ids;
    for (unsigned i = 0; i < options.count; ++i) {
        Lease made{.id = changed.next_lease++,
                   .pool = pool_name,
                   .vm = vm_name,
                   .owner = caller.uid,
                   .since_us = changed.now_us};
        tell(changed, {.what = "lease-queued", .pool = pool_name, .vm = vm_name, .lease = made.id});
        ids.push_back(made.id);
        changed.leases.emplace(made.id, std::move(made));
    }
    settle(changed);
    const bool all = std::ranges::none_of(
        ids, [&](LeaseId id) { return changed.leases.at(id).state == LeaseState::queued; });
    if (!all && !options.queue) {
        return refuse(Code::exhausted, fmt::format("pool {} has not {} GPUs to give away now",
                                                   pool_name, options.count));
    }
    books = std::move(changed);
    return ids;
}

Outcome<void> give_back(Books& books, const Caller& caller, LeaseId id) {
    const auto found = books.leases.find(id);
    if (found == books.leases.end() || is_over(found->second.state)) {
        return refuse(Code::unknown_lease, fmt::format("there is no lease {}, or it is over", id));
    }
    Lease& lease = found->second;
    const std::string what = fmt::format("lease {}", id);
    if (auto may = may_change(caller, lease.owner, what); !may) {
        return may;
    }
    if (auto may = may_happen(what, lease.state, LeaseEvent::give_back); !may) {
        return may;
    }
    move_lease(books, lease, LeaseEvent::give_back);
    if (lease.gpu) {
        Gpu& gpu = books.gpus.at(*lease.gpu);
        if (gpu.state == GpuState::reserved) {
            part(books, gpu);
            send_back(books, gpu);
            move_lease(books, lease, LeaseEvent::given_back);
        } else {
            send_back(books, gpu);
        }
    }
    settle(books);
    return {};
}

Outcome<void> fail_gpu(Books& books, const Caller& caller, const std::string& name,
                       std::optional<uint64_t> epoch, const std::string& reason) {
    auto gpu = find_own_gpu(books, caller, name);
    if (!gpu) {
        return tl::unexpected(gpu.error());
    }
    if (epoch && *epoch != (*gpu)->epoch) {
        return refuse(Code::stale_epoch, fmt::format("{} is in epoch {}, not in {} any more", name,
                                                     (*gpu)->epoch, *epoch));
    }
    if (auto may = may_happen(name, (*gpu)->state, GpuEvent::fail); !may) {
        return may;
    }
    break_gpu(books, **gpu, reason);
    settle(books);
    return {};
}

Outcome<std::string> replace_gpu(Books& books, const Caller& caller, const std::string& name,
                                 const std::string& with) {
    auto gpu = find_own_gpu(books, caller, name);
    if (!gpu) {
        return tl::unexpected(gpu.error());
    }
    if ((*gpu)->state != GpuState::leased || !(*gpu)->lease) {
        return refuse(Code::bad_state, fmt::format("{} is {}: only one that is leased is replaced",
                                                   name, name_of((*gpu)->state)));
    }
    const auto available = available_gpus(books, (*gpu)->pool);
    if (!with.empty()) {
        if (auto other = find_gpu(books, with); !other) {
            return tl::unexpected(other.error());
        }
        if (std::ranges::find(available, with) == available.end()) {
            return refuse(Code::bad_state,
                          fmt::format("{} is not free in pool {}", with, (*gpu)->pool));
        }
    } else if (available.empty()) {
        return refuse(Code::exhausted, fmt::format("no GPU of pool {} is free", (*gpu)->pool));
    }
    Lease& lease = books.leases.at(*(*gpu)->lease);
    if (auto may = may_happen(fmt::format("lease {}", lease.id), lease.state, LeaseEvent::replace);
        !may) {
        return tl::unexpected(may.error());
    }
    Gpu& other = books.gpus.at(with.empty() ? available.front() : with);
    part(books, **gpu);
    send_back(books, **gpu);
    give(books, lease, other);
    move_lease(books, lease, LeaseEvent::replace, fmt::format("{} by {}", name, other.name));
    settle(books);
    return other.name;
}

Outcome<void> take_offline(Books& books, const Caller& caller, const std::string& name) {
    auto gpu = find_own_gpu(books, caller, name);
    if (!gpu) {
        return tl::unexpected(gpu.error());
    }
    if ((*gpu)->offline) {
        return refuse(Code::bad_state, fmt::format("{} is offline already", name));
    }
    (*gpu)->offline = true;
    tell(books, {.what = "gpu-offline", .pool = (*gpu)->pool, .gpu = name});
    return {};
}

Outcome<void> bring_online(Books& books, const Caller& caller, const std::string& name) {
    auto gpu = find_own_gpu(books, caller, name);
    if (!gpu) {
        return tl::unexpected(gpu.error());
    }
    const bool waits = (*gpu)->state == GpuState::quarantined;
    if (!waits && !(*gpu)->offline) {
        return refuse(Code::bad_state,
                      fmt::format("{} is {}, and not offline", name, name_of((*gpu)->state)));
    }
    if ((*gpu)->offline) {
        (*gpu)->offline = false;
        tell(books, {.what = "gpu-online", .pool = (*gpu)->pool, .gpu = name});
    }
    if (waits) {
        begin_scrub(books, **gpu, GpuEvent::test);
    }
    settle(books);
    return {};
}

Outcome<void> retire_gpu(Books& books, const Caller& caller, const std::string& name) {
    auto gpu = find_own_gpu(books, caller, name);
    if (!gpu) {
        return tl::unexpected(gpu.error());
    }
    if (auto may = may_happen(name, (*gpu)->state, GpuEvent::retire); !may) {
        return may;
    }
    move_gpu(books, **gpu, GpuEvent::retire);
    return {};
}

bool step_done(Books& books, const Step& step, const std::string& detail) {
    if (!is_due(books, step)) {
        return false;
    }
    switch (step.kind) {
        case StepKind::scrub:
            move_gpu(books, books.gpus.at(step.gpu), GpuEvent::scrubbed, detail);
            break;
        case StepKind::attach: {
            Gpu& gpu = books.gpus.at(step.gpu);
            move_gpu(books, gpu, GpuEvent::attached, detail);
            move_lease(books, books.leases.at(gpu.lease.value()), LeaseEvent::attached);
            break;
        }
        case StepKind::detach: {
            Gpu& gpu = books.gpus.at(step.gpu);
            const auto lease = gpu.lease;
            part(books, gpu);
            begin_scrub(books, gpu, GpuEvent::detached, detail);
            if (lease) {
                move_lease(books, books.leases.at(*lease), LeaseEvent::given_back);
            }
            break;
        }
        case StepKind::pull: {
            Gpu& gpu = books.gpus.at(step.gpu);
            move_gpu(books, gpu, GpuEvent::pulled, detail);
            gpu.vm.clear();
            gpu.slot.reset();
            move_gpu(books, gpu, GpuEvent::quarantine);
            break;
        }
        case StepKind::start_vm:
            move_vm(books, books.vms.at(step.vm), VmEvent::started, detail);
            break;
        case StepKind::stop_vm:
            end_leases_of(books, step.vm);
            move_vm(books, books.vms.at(step.vm), VmEvent::ended, detail);
            break;
    }
    settle(books);
    return true;
}

bool step_failed(Books& books, const Step& step, Blame blame, const std::string& reason) {
    if (!is_due(books, step) || step.kind == StepKind::pull || step.kind == StepKind::stop_vm ||
        blame == Blame::vm) {
        return false;
    }
    const std::string whole = fmt::format("{}: {}", name_of(step.kind), reason);
    if (step.kind == StepKind::start_vm) {
        end_leases_of(books, step.vm);
        move_vm(books, books.vms.at(step.vm), VmEvent::ended, whole);
    } else {
        break_gpu(books, books.gpus.at(step.gpu), whole);
    }
    settle(books);
    return true;
}

bool board_failed(Books& books, const std::string& name, uint64_t epoch,
                  const std::string& reason) {
    const auto gpu = books.gpus.find(name);
    if (gpu == books.gpus.end() || gpu->second.epoch != epoch ||
        !next(gpu->second.state, GpuEvent::fail)) {
        return false;
    }
    break_gpu(books, gpu->second, reason);
    settle(books);
    return true;
}

bool vm_ended(Books& books, const std::string& name, uint64_t incarnation,
              const std::string& reason) {
    const auto vm = books.vms.find(name);
    if (vm == books.vms.end() || vm->second.incarnation != incarnation ||
        !next(vm->second.state, VmEvent::ended)) {
        return false;
    }
    end_leases_of(books, name);
    move_vm(books, vm->second, VmEvent::ended, reason);
    settle(books);
    return true;
}

void machine_restarted(Books& books, const std::string& boot_id) {
    for (auto& [name, vm] : books.vms) {
        end_leases_of(books, name);
        if (next(vm.state, VmEvent::ended)) {
            move_vm(books, vm, VmEvent::ended, "the machine restarted");
        }
    }
    for (auto& [name, gpu] : books.gpus) {
        if (next(gpu.state, GpuEvent::restart)) {
            begin_scrub(books, gpu, GpuEvent::restart, "the machine restarted");
        } else {
            gpu.vm.clear();
            gpu.slot.reset();
        }
    }
    books.boot_id = boot_id;
    settle(books);
}

Outcome<void> note(Books& books, const Caller& caller, const std::string& what,
                   const std::string& detail) {
    if (!caller.admin) {
        return refuse(Code::not_owner,
                      fmt::format("uid {} may not write into the events: root may", caller.uid));
    }
    if (!good_name(what) || !what.starts_with(noted_prefix)) {
        return refuse(
            Code::bad_request,
            fmt::format("'{}' is no name of an event that begins with '{}'", what, noted_prefix));
    }
    tell(books, {.what = what, .detail = detail.substr(0, longest_reason)});
    return {};
}

void settle(Books& books) {
    for (auto& [name, gpu] : books.gpus) {
        if (gpu.state == GpuState::fresh) {
            begin_scrub(books, gpu, GpuEvent::scrub);
        }
    }
    while (const auto assignment = next_assignment(books)) {
        Lease& lease = books.leases.at(assignment->lease);
        give(books, lease, books.gpus.at(assignment->gpu));
        move_lease(books, lease, LeaseEvent::assign);
    }
    for (auto& [name, gpu] : books.gpus) {
        if (gpu.state != GpuState::reserved || books.vms.at(gpu.vm).state != VmState::running) {
            continue;
        }
        if (const auto slot = free_slot(books, gpu.vm)) {
            gpu.slot = slot;
            move_gpu(books, gpu, GpuEvent::attach);
        }
    }
    give_up_repairs(books);
}

}  // namespace gpupool
