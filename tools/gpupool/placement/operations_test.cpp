// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of what can be done to the books, and of what is refused and by which code.
// Thread: the test's.
#include "gpupool/placement/operations.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "gpupool/placement/invariants.h"

namespace gpupool {
namespace {

const Caller root{.uid = 0, .admin = true};
const Caller alice{.uid = 1000, .admin = false};
const Caller bob{.uid = 1001, .admin = false};

template <typename T>
std::string code_of(const Outcome<T>& outcome) {
    return outcome ? "done" : std::string(name_of(outcome.error().code));
}

class OperationsTest : public testing::Test {
protected:
    /// A pool of `gpus` clean GPUs, and a VM of alice's that runs.
    void set_up(unsigned gpus, unsigned spares = 0) {
        ASSERT_TRUE(
            create_pool(books, root, {.name = "mi", .profile = "mi300x", .spares = spares}));
        for (unsigned i = 0; i < gpus; ++i) {
            ASSERT_TRUE(add_gpu(books, root, "mi", 0xe00 + i, ""));
        }
        drive();
        run("train");
    }
    void run(const std::string& vm, unsigned gpus = 2) {
        ASSERT_TRUE(declare_vm(books, root,
                               {.name = vm, .gpus = gpus, .definition = "{}", .owner = alice.uid}));
        ASSERT_TRUE(start_vm(books, alice, vm));
        drive();
    }
    /// Does all that is due, `kind` apart.
    void drive(std::optional<StepKind> but = {}) {
        for (bool more = true; more;) {
            more = false;
            ++books.now_us;
            for (const Step& step : due_steps(books)) {
                more = (step.kind != but && step_done(books, step, "")) || more;
            }
        }
        EXPECT_EQ(wrong_in(books), std::vector<std::string>());
    }
    LeaseId take(const std::string& vm = "train") {
        ++books.now_us;
        const auto ids = lease(books, alice, "mi", vm, {});
        EXPECT_TRUE(ids) << ids.error().message;
        return ids ? ids->front() : 0;
    }
    GpuState gpu(const std::string& name) const { return books.gpus.at(name).state; }
    LeaseState state(LeaseId id) const { return books.leases.at(id).state; }
    Step due(StepKind kind) const {
        const auto steps = due_steps(books);
        const auto found = std::ranges::find(steps, kind, &Step::kind);
        EXPECT_NE(found, steps.end());
        return found == steps.end() ? Step{} : *found;
    }
    bool told(const std::string& what) const {
        return std::ranges::any_of(books.events, [&](const Event& e) { return e.what == what; });
    }

    Books books;
};

TEST_F(OperationsTest, ALeaseGoesItsWayAndTheGpuIsScrubbedInBetween) {
    set_up(1);
    const LeaseId id = take();
    EXPECT_EQ(state(id), LeaseState::attaching);
    EXPECT_EQ(gpu("gpu0"), GpuState::attaching);
    EXPECT_EQ(books.gpus.at("gpu0").slot, 0u);
    drive();
    EXPECT_EQ(state(id), LeaseState::active);
    ASSERT_TRUE(give_back(books, alice, id));
    EXPECT_EQ(state(id), LeaseState::returning);
    ASSERT_TRUE(step_done(books, due(StepKind::detach), ""));
    EXPECT_EQ(state(id), LeaseState::closed);
    EXPECT_EQ(gpu("gpu0"), GpuState::scrubbing);
    EXPECT_EQ(books.gpus.at("gpu0").epoch, 2u);
    drive();
    EXPECT_EQ(gpu("gpu0"), GpuState::free);
}

TEST_F(OperationsTest, WhoWaitsIsServedInOrder) {
    set_up(1);
    run("other");
    const LeaseId first = take(), second = take("other");
    drive();
    EXPECT_EQ(state(second), LeaseState::queued);
    ASSERT_TRUE(give_back(books, alice, first));
    drive();
    EXPECT_EQ(state(second), LeaseState::active);
    const LeaseId third = take();
    ASSERT_TRUE(give_back(books, alice, third)) << "one that waits goes at once";
    EXPECT_EQ(state(third), LeaseState::closed);
}

TEST_F(OperationsTest, AFailedGpuIsReplacedByASpareWithoutWaitingForThePull) {
    set_up(2, 1);
    const LeaseId id = take();
    drive();
    EXPECT_EQ(code_of(lease(books, alice, "mi", "train", {.queue = false})), "exhausted")
        << "spares are for those that had one";
    ASSERT_TRUE(board_failed(books, "gpu0", books.gpus.at("gpu0").epoch, "it is silent"));
    EXPECT_EQ(state(id), LeaseState::replacing);
    EXPECT_EQ(health_of(books, "mi"), Health::degraded);
    EXPECT_EQ(books.gpus.at("gpu0").slot, 0u) << "it is still in the VM";
    EXPECT_EQ(books.gpus.at("gpu1").slot, 1u);
    drive(StepKind::pull);
    EXPECT_EQ(state(id), LeaseState::active);
    EXPECT_EQ(gpu("gpu0"), GpuState::failed);
    drive();
    EXPECT_EQ(gpu("gpu0"), GpuState::quarantined);
    EXPECT_EQ(books.gpus.at("gpu0").reason, "it is silent");
}

TEST_F(OperationsTest, WithoutASpareItIsDegradedAndServedBeforeTheQueue) {
    set_up(2);
    run("other");
    const LeaseId first = take(), second = take("other"), waits = take();
    drive();
    ASSERT_TRUE(fail_gpu(books, root, "gpu0", {}, "ras"));
    drive();
    EXPECT_EQ(state(first), LeaseState::degraded);
    ASSERT_TRUE(give_back(books, alice, second));
    drive();
    EXPECT_EQ(state(first), LeaseState::active);
    EXPECT_EQ(books.leases.at(first).gpu, "gpu1");
    EXPECT_EQ(state(waits), LeaseState::queued);
    ASSERT_TRUE(bring_online(books, root, "gpu0")) << "tested, and scrubbed";
    drive();
    EXPECT_EQ(state(waits), LeaseState::active);
    EXPECT_EQ(books.leases.at(waits).gpu, "gpu0");
}

TEST_F(OperationsTest, AReplacementWaitsForASlot) {
    set_up(4);
    const LeaseId first = take();
    take();
    drive();
    for (const char* broken : {"gpu0", "gpu2"}) {
        ASSERT_TRUE(fail_gpu(books, root, broken, {}, "again"));
        drive(StepKind::pull);
    }
    EXPECT_EQ(gpu("gpu3"), GpuState::reserved) << "three slots: two broken boards, and one good";
    EXPECT_EQ(state(first), LeaseState::replacing);
    drive();
    EXPECT_EQ(state(first), LeaseState::active);
}

TEST_F(OperationsTest, APlannedReplacement) {
    set_up(2);
    const LeaseId id = take();
    drive();
    EXPECT_EQ(code_of(replace_gpu(books, root, "gpu1", "")), "bad-state");
    EXPECT_EQ(code_of(replace_gpu(books, root, "gpu0", "gpu0")), "bad-state");
    EXPECT_EQ(code_of(replace_gpu(books, alice, "gpu0", "")), "not-owner");
    EXPECT_EQ(replace_gpu(books, root, "gpu0", "gpu1"), "gpu1");
    EXPECT_EQ(state(id), LeaseState::replacing);
    drive();
    EXPECT_EQ(books.leases.at(id).gpu, "gpu1");
    EXPECT_EQ(gpu("gpu0"), GpuState::free);
    run("other", 1);
    take("other");
    drive();
    EXPECT_EQ(code_of(replace_gpu(books, root, "gpu1", "")), "exhausted");
}

TEST_F(OperationsTest, OfflineIsAFlagBesideTheState) {
    set_up(1);
    const LeaseId id = take();
    ASSERT_TRUE(take_offline(books, root, "gpu0"));
    EXPECT_EQ(code_of(take_offline(books, root, "gpu0")), "bad-state");
    drive();
    EXPECT_EQ(state(id), LeaseState::active) << "it is not taken away";
    ASSERT_TRUE(give_back(books, alice, id));
    drive();
    EXPECT_EQ(code_of(lease(books, alice, "mi", "train", {.queue = false})), "exhausted");
    ASSERT_TRUE(bring_online(books, root, "gpu0"));
    EXPECT_EQ(code_of(lease(books, alice, "mi", "train", {.queue = false})), "done");
}

TEST_F(OperationsTest, TheEndOfAVmIsTheEndOfItsLeases) {
    set_up(2);
    run("other");
    const LeaseId id = take(), theirs = take("other");
    drive();
    EXPECT_FALSE(vm_ended(books, "train", 7, "of an earlier start"));
    ASSERT_TRUE(vm_ended(books, "train", 1, "it crashed"));
    EXPECT_EQ(state(id), LeaseState::lost);
    EXPECT_EQ(state(theirs), LeaseState::active);
    drive();
    EXPECT_EQ(gpu("gpu0"), GpuState::free);
    ASSERT_TRUE(start_vm(books, alice, "train"));
    drive();
    take();
    drive();
    ASSERT_TRUE(stop_vm(books, alice, "train"));
    drive();
    EXPECT_EQ(gpu("gpu0"), GpuState::free);
    EXPECT_EQ(books.gpus.at("gpu0").epoch, 3u);
}

TEST_F(OperationsTest, ARestartOfTheMachineLeavesNothingUnscrubbed) {
    set_up(3);
    const LeaseId id = take();
    drive();
    ASSERT_TRUE(fail_gpu(books, root, "gpu2", {}, "dead"));
    machine_restarted(books, "another");
    EXPECT_EQ(state(id), LeaseState::lost);
    EXPECT_EQ(books.vms.at("train").state, VmState::stopped);
    EXPECT_EQ(gpu("gpu0"), GpuState::scrubbing);
    EXPECT_EQ(gpu("gpu1"), GpuState::scrubbing) << "free a moment ago";
    EXPECT_EQ(gpu("gpu2"), GpuState::failed) << "what broke stays broken";
    drive();
    EXPECT_EQ(books.boot_id, "another");
}

TEST_F(OperationsTest, WhatIsNotDueAnyMoreChangesNothing) {
    set_up(1);
    take();
    const Step late = due(StepKind::attach);
    drive();
    EXPECT_FALSE(step_done(books, late, ""));
    EXPECT_FALSE(step_failed(books, late, Blame::board, ""));
    ASSERT_TRUE(give_back(books, alice, 1));
    const Step detach = due(StepKind::detach);
    drive();
    take();
    drive();
    EXPECT_FALSE(step_done(books, detach, "")) << "of an earlier epoch";
    EXPECT_FALSE(board_failed(books, "gpu0", 1, "likewise"));
    EXPECT_EQ(gpu("gpu0"), GpuState::leased);
}

TEST_F(OperationsTest, AStepThatFailsIsTheBoardsFailureUnlessTheVmIsToBlame) {
    set_up(1);
    const LeaseId id = take();
    EXPECT_FALSE(step_failed(books, due(StepKind::attach), Blame::vm, "QEMU is gone"));
    EXPECT_EQ(gpu("gpu0"), GpuState::attaching);
    ASSERT_TRUE(step_failed(books, due(StepKind::attach), Blame::board, "no driver took it"));
    EXPECT_EQ(gpu("gpu0"), GpuState::failed);
    EXPECT_EQ(state(id), LeaseState::degraded);
    EXPECT_FALSE(step_failed(books, due(StepKind::pull), Blame::board, "it is tried again"));
    ASSERT_TRUE(declare_vm(books, root, {.name = "bad", .definition = "{}", .owner = alice.uid}));
    ASSERT_TRUE(start_vm(books, alice, "bad"));
    ASSERT_TRUE(step_failed(books, due(StepKind::start_vm), Blame::vm, "no kernel") == false);
    ASSERT_TRUE(step_failed(books, due(StepKind::start_vm), Blame::board, "no kernel"));
    EXPECT_EQ(books.vms.at("bad").state, VmState::stopped);
}

TEST_F(OperationsTest, RefusesByCodeAndChangesNothing) {
    set_up(2);
    const LeaseId id = take();
    drive();
    ASSERT_TRUE(create_pool(books, root, {.name = "nv", .profile = "navi21"}));
    ASSERT_TRUE(declare_vm(books, root, {.name = "off", .definition = "{}", .owner = alice.uid}));
    const Books before = books;
    const auto expect = [&](const std::string& found, const std::string& wanted) {
        EXPECT_EQ(found, wanted);
        EXPECT_EQ(books.gpus, before.gpus) << wanted;
        EXPECT_EQ(books.leases, before.leases) << wanted;
        EXPECT_EQ(books.pools, before.pools) << wanted;
        EXPECT_EQ(books.vms, before.vms) << wanted;
        EXPECT_EQ(books.events, before.events) << wanted;
        EXPECT_EQ(books.next_lease, before.next_lease) << wanted;
    };
    expect(code_of(create_pool(books, alice, {.name = "x", .profile = "mi300x"})), "not-owner");
    expect(code_of(create_pool(books, root, {.name = "mi", .profile = "mi300x"})), "exists");
    expect(code_of(create_pool(books, root, {.name = "../x", .profile = "mi300x"})), "bad-request");
    expect(code_of(create_pool(books, root, {.name = "x"})), "bad-request");
    expect(code_of(add_gpu(books, root, "no", 1, "")), "unknown-pool");
    expect(code_of(add_gpu(books, alice, "mi", 1, "")), "not-owner");
    expect(code_of(add_gpu(books, root, "mi", 0, "")), "bad-request");
    expect(code_of(add_gpu(books, root, "mi", 1, "navi21")), "heterogeneous");
    expect(code_of(add_gpu(books, root, "nv", 0xe01, "")), "exists");
    expect(code_of(declare_vm(books, alice, {.name = "mine"})), "not-owner");
    expect(code_of(declare_vm(books, root, {.name = "train"})), "exists");
    expect(code_of(declare_vm(books, root, {.name = ""})), "bad-request");
    expect(code_of(declare_vm(books, root, {.name = "many", .gpus = 32})), "bad-request");
    expect(code_of(start_vm(books, alice, "no")), "unknown-vm");
    expect(code_of(start_vm(books, bob, "off")), "not-owner");
    expect(code_of(start_vm(books, alice, "train")), "bad-state");
    expect(code_of(stop_vm(books, alice, "off")), "bad-state");
    expect(code_of(lease(books, alice, "no", "train", {})), "unknown-pool");
    expect(code_of(lease(books, alice, "mi", "no", {})), "unknown-vm");
    expect(code_of(lease(books, bob, "mi", "train", {})), "not-owner");
    expect(code_of(lease(books, alice, "mi", "off", {})), "vm-unreachable");
    expect(code_of(lease(books, alice, "mi", "train", {.count = 2})), "vm-full");
    expect(code_of(lease(books, alice, "mi", "train", {.count = 0})), "bad-request");
    expect(code_of(lease(books, alice, "nv", "train", {})), "heterogeneous");
    expect(code_of(give_back(books, alice, 99)), "unknown-lease");
    expect(code_of(give_back(books, bob, id)), "not-owner");
    expect(code_of(fail_gpu(books, root, "gpu9", {}, "")), "unknown-gpu");
    expect(code_of(fail_gpu(books, root, "gpu0", 7, "")), "stale-epoch");
    expect(code_of(fail_gpu(books, alice, "gpu0", {}, "")), "not-owner");
    expect(code_of(bring_online(books, root, "gpu0")), "bad-state");
    expect(code_of(retire_gpu(books, root, "gpu0")), "bad-state");
    expect(code_of(replace_gpu(books, root, "gpu0", "gpu9")), "unknown-gpu");
}

TEST_F(OperationsTest, QuarantineEndsByATestOrForGood) {
    set_up(2);
    for (const char* name : {"gpu0", "gpu1"}) {
        ASSERT_TRUE(fail_gpu(books, root, name, {}, "ecc"));
    }
    EXPECT_EQ(health_of(books, "mi"), Health::faulted);
    drive();
    EXPECT_EQ(code_of(fail_gpu(books, root, "gpu0", {}, "")), "bad-state");
    ASSERT_TRUE(retire_gpu(books, root, "gpu1"));
    ASSERT_TRUE(bring_online(books, root, "gpu0"));
    drive();
    EXPECT_EQ(gpu("gpu0"), GpuState::free);
    EXPECT_EQ(gpu("gpu1"), GpuState::retired);
    EXPECT_EQ(health_of(books, "mi"), Health::online);
    EXPECT_TRUE(told("gpu-retired"));
}

TEST_F(OperationsTest, AFailureLessensTheCapacityOnlyOnceItsRepairIsGivenUp) {
    set_up(3, 1);
    books.pools.at("mi").give_up_s = 10;
    EXPECT_EQ(capacity_of(books, "mi"), 2U) << "less the spare";
    const LeaseId id = take();
    drive();
    ASSERT_TRUE(take_offline(books, root, "gpu1"));
    ASSERT_TRUE(take_offline(books, root, "gpu2"));
    EXPECT_EQ(capacity_of(books, "mi"), 1U) << "nothing to give, and one that is had";
    EXPECT_EQ(until_next_give_up(books), std::nullopt);
    const uint64_t failed = books.now_us;
    ASSERT_TRUE(fail_gpu(books, root, books.leases.at(id).gpu.value(), {}, "ecc"));
    drive();
    EXPECT_EQ(state(id), LeaseState::degraded);
    EXPECT_EQ(capacity_of(books, "mi"), 1U) << "a cluster would stop the VM";
    books.now_us = failed + 9'999'999;
    settle(books);
    EXPECT_EQ(until_next_give_up(books), 1U);
    EXPECT_FALSE(told("lease-gave-up"));
    ++books.now_us;
    EXPECT_EQ(until_next_give_up(books), 0U);
    settle(books);
    EXPECT_TRUE(told("lease-gave-up"));
    EXPECT_EQ(until_next_give_up(books), std::nullopt) << "once";
    EXPECT_EQ(capacity_of(books, "mi"), 0U);
    ASSERT_TRUE(bring_online(books, root, "gpu1"));
    EXPECT_EQ(state(id), LeaseState::replacing) << "it is repaired all the same";
    EXPECT_EQ(capacity_of(books, "mi"), 1U);
}

TEST_F(OperationsTest, ARepairIsCountedFromTheFailureToTheNextGpu) {
    set_up(2);
    const LeaseId id = take();
    drive();
    const uint64_t failed = books.now_us;
    ASSERT_TRUE(fail_gpu(books, root, books.leases.at(id).gpu.value(), {}, "ecc"));
    books.now_us += 500;
    drive();
    const Pool& pool = books.pools.at("mi");
    EXPECT_EQ(state(id), LeaseState::active);
    EXPECT_EQ(pool.repairs, 1U);
    EXPECT_EQ(pool.repair_us, books.leases.at(id).since_us - failed);
    EXPECT_GE(pool.repair_us, 500U);
    ASSERT_TRUE(bring_online(books, root, "gpu0"));
    drive();
    ASSERT_TRUE(replace_gpu(books, root, books.leases.at(id).gpu.value(), ""));
    drive();
    EXPECT_EQ(pool.repairs, 1U) << "what worked is not repaired";
}

TEST_F(OperationsTest, OthersWriteIntoTheEventsOnlyWhatIsTheirs) {
    EXPECT_EQ(code_of(note(books, alice, "cluster-node", "node1 is lost")), "not-owner");
    EXPECT_EQ(code_of(note(books, root, "gpu-failed", "")), "bad-request");
    EXPECT_EQ(code_of(note(books, root, "cluster-\n", "")), "bad-request");
    EXPECT_TRUE(books.events.empty());
    ASSERT_TRUE(note(books, root, "cluster-node", std::string(1000, 'x')));
    EXPECT_EQ(books.events.back().detail.size(), 200U);
}

TEST_F(OperationsTest, SaysHowAMachineIsUnlikeTheOthers) {
    set_up(1);
    EXPECT_TRUE(unlike(books, {{"mi", "mi300x"}}).empty());
    EXPECT_EQ(unlike(books, {{"mi", "navi21"}, {"nv", "navi21"}}),
              (std::vector<std::string>{"pool mi is of mi300x here, navi21 is expected",
                                        "there is no pool nv here, one of navi21 is expected"}));
}

}  // namespace
}  // namespace gpupool
