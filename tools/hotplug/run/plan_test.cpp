// SPDX-License-Identifier: GPL-2.0
// Purpose: the plan of a run that is not begun: guests, skips, and what only a guest can tell.
// Thread: one.
#include "hotplug/run/plan.h"

#include <gtest/gtest.h>

namespace hotplug {
namespace {

class PlanTest : public testing::Test {
protected:
    PlanTest() {
        machine_.gpus = 2;
        machine_.profile = "mi300x";
    }

    /// A row of a scenario that lives as long as the test.
    Row row(std::string id, bool fresh_boot = false) {
        auto& made = scenarios_.emplace_back(std::make_unique<Scenario>());
        made->id = std::move(id);
        made->fresh_boot = fresh_boot;
        return {made.get(), nullptr, 0};
    }
    Requirements& needs_of(const Row& row) {
        return const_cast<Scenario*>(row.scenario)->requires_;
    }

    GuestFacts machine_;
    std::vector<std::unique_ptr<Scenario>> scenarios_;
};

TEST_F(PlanTest, RowsShareAGuestUntilOneWantsItsOwn) {
    const Row rows[] = {row("a", true), row("b"), row("c", true), row("d", true)};
    EXPECT_EQ(describe_plan(rows, machine_),
              "guest 1\n  a\n  b\nguest 2\n  c\nguest 3\n  d\n"
              "4 rows, 0 of them skipped, in 3 guests or more\n");
}

TEST_F(PlanTest, TrialsOfThePoolHaveGuestsOfTheirOwn) {
    const Row rows[] = {row("a"), row("pool"), row("b")};
    const_cast<Scenario*>(rows[1].scenario)->pool = std::chrono::seconds(9);
    EXPECT_EQ(describe_plan(rows, machine_),
              "guest 1\n  a\n  pool  (guests of its own)\nguest 2\n  b\n"
              "3 rows, 0 of them skipped, in 2 guests or more\n");
}

TEST_F(PlanTest, CyclesStayOnTheirGuest) {
    Row first = row("soak", true);
    first.cycle = 1;
    Row second = first;
    second.cycle = 2;
    const Row rows[] = {first, second};
    EXPECT_EQ(describe_plan(rows, machine_),
              "guest 1\n  soak/1\n  soak/2\n2 rows, 0 of them skipped, in 1 guest or more\n");
}

TEST_F(PlanTest, SaysWhatTheMachineCannotRunAndWhatItDoesNotKnow) {
    const Row many = row("many", true), graphics = row("graphics"), bus = row("switch");
    const Row sanitized = row("sanitized");
    needs_of(many).gpus = 4;
    needs_of(graphics).profiles = {"navi21"};
    needs_of(bus).behind_switch = true;
    needs_of(sanitized).kernel_options = {"CONFIG_KASAN"};
    needs_of(sanitized).programs = {"igt_runner"};
    const Row rows[] = {many, graphics, bus, sanitized, row("last", true)};
    EXPECT_EQ(describe_plan(rows, machine_),
              "guest 1\n"
              "  many  SKIP needs 4 GPUs, the machine has 2\n"
              "  graphics  SKIP not for the profile mi300x\n"
              "  switch  SKIP needs the GPUs behind a PCIe switch: --switch\n"
              "  sanitized  (if the kernel has CONFIG_KASAN and the image has igt_runner)\n"
              "guest 2\n  last\n"
              "5 rows, 3 of them skipped, in 2 guests or more\n");
}

}  // namespace
}  // namespace hotplug
