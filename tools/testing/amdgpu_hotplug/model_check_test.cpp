// SPDX-License-Identifier: GPL-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "testing/amdgpu_hotplug/explorer.h"
#include "testing/amdgpu_hotplug/state_module.h"

namespace hp::model {
namespace {

struct Bound {
    std::string_view name;
    std::vector<Cast> cast;
};

// Any of them may take no part, and any client may never do its next call: what fewer actors can do
// is in here too.
std::vector<Bound> bounds() {
    return {
        {"one GPU: two find it lost, a removal, two resets, a suspend, two clients",
         {{lost}, {lost}, {removal}, {reset}, {reset}, {suspend}, {client}, {client}}},
        {"one GPU: a resume that finds it absent, one more finds it lost, the work for it, two "
         "removals, two resets, a client",
         {{lost},
          {removal},
          {removal},
          {reset},
          {reset},
          {absent_at_resume},
          {client},
          {loss_work}}},
        {"one GPU: a silence that ends, one that lasts, a removal, a reset, a client, the work of "
         "the loss",
         {{silence_ends}, {silence_lasts}, {removal}, {reset}, {client}, {loss_work}}},
        {"one GPU: two silences that end, one more finds it lost, a removal, a reset, a suspend",
         {{silence_ends}, {silence_ends}, {lost}, {removal}, {reset}, {suspend}}},
        {"a GPU and its replacement: both lost and removed, a reset and a client of each",
         {{lost},
          {removal},
          {reset},
          {client},
          {replug, 1},
          {lost, 1},
          {removal, 1},
          {reset, 1},
          {client, 1}}},
    };
}

TEST(ModelCheck, TheDriversStateMachineKeepsEveryInvariant) {
    const StateModule module("unmodified");
    const auto roles = make_roles(module.calls());
    for (const Bound& bound : bounds()) {
        const auto start = std::chrono::steady_clock::now();
        const auto done = explore(roles, bound.cast);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        fmt::print("{}: {} states, {} steps, {} at rest, {:.1f} s\n", bound.name, done.states,
                   done.steps, done.at_rest, took.count());
        if (done.violation) {
            ADD_FAILURE() << done.violation->invariant << '\n' << done.violation->schedule;
        }
        EXPECT_GT(done.at_rest, 0u);
    }
}

// Whoever was told of a loss may be overtaken by a removal before the work is queued.
TEST(ModelCheck, WorkThatDoesNotAskForARemovalOverlapsTeardown) {
    const StateModule module("unmodified");
    const auto done = explore(make_roles(module.calls(), false), {{lost}, {removal}, {loss_work}});
    ASSERT_TRUE(done.violation);
    EXPECT_EQ(done.violation->invariant, "the work for a loss never overlaps teardown");
}

struct SeededBug {
    std::string name;
    std::string_view invariant;
};

void PrintTo(const SeededBug& bug, std::ostream* out) {
    *out << bug.name;
}

class SeededBugs : public testing::TestWithParam<SeededBug> {};

TEST_P(SeededBugs, IsFound) {
    const StateModule module(GetParam().name);
    const auto roles = make_roles(module.calls());
    for (const Bound& bound : bounds()) {
        if (const auto found = explore(roles, bound.cast).violation) {
            EXPECT_EQ(found->invariant, GetParam().invariant) << found->schedule;
            EXPECT_FALSE(found->schedule.empty());
            return;
        }
    }
    ADD_FAILURE() << "nothing found";
}

INSTANTIATE_TEST_SUITE_P(
    ModelCheck, SeededBugs,
    testing::Values(
        SeededBug{"lose_by_two_steps", "RESETTING says that a reset runs"},
        SeededBug{"retry_with_stale_word", "a call ends after a few atomic operations"},
        SeededBug{"phase_change_ends_reset", "RESETTING says that a reset runs"},
        SeededBug{"every_loss_is_new", "a loss is new only once"},
        SeededBug{"no_loss_is_new", "each loss is announced"},
        SeededBug{"loss_after_the_end", "GONE is final"},
        SeededBug{"removal_forgets_loss", "a phase is followed by a higher one only"},
        SeededBug{"removal_ignores_loss", "a removal is told that the hardware is gone"},
        SeededBug{"reset_in_any_phase", "no reset begins once the GPU has left PRESENT"},
        SeededBug{"reset_asks_then_begins", "a reset never overlaps teardown"},
        SeededBug{"reset_revives", "the end of a reset tells the phase"},
        SeededBug{"reset_never_ends", "RESETTING says that a reset runs"},
        SeededBug{"lost_is_never_gone", "a removed GPU is GONE and not in reset"},
        SeededBug{"one_word_for_all", "a GPU that was lost is not usable"},
        SeededBug{"admits_while_removing", "nothing is admitted once the GPU has left PRESENT"},
        SeededBug{"never_admits", "a present GPU admits"},
        SeededBug{"access_after_loss", "nothing touches the hardware after its loss"},
        SeededBug{"no_access_in_removal", "hardware that answers may be used"},
        SeededBug{"waits_for_nothing", "nothing is waited for but a running reset"},
        SeededBug{"end_of_lost_is_no_end", "a removal ends once"},
        SeededBug{"removal_closes_nothing", "a removal begins in REMOVING or LOST"},
        SeededBug{"never_resets", "a present GPU may be reset"},
        SeededBug{"teardown_in_reset", "a reset never overlaps teardown"},
        SeededBug{"suspect_after_loss", "who is lost is not suspected"},
        SeededBug{"loss_keeps_suspicion", "who is lost is not suspected"},
        SeededBug{"suspicion_stops_nothing", "nothing touches the hardware while it may be gone"},
        SeededBug{"suspects_nobody", "hardware that does not answer is suspected"},
        SeededBug{"never_trusts", "a suspicion can be taken back"},
        SeededBug{"reset_keeps_suspicion", "a reset ends a suspicion"},
        SeededBug{"suspect_is_not_reset", "a present GPU may be reset"}),
    [](const auto& bug) { return bug.param.name; });

}  // namespace
}  // namespace hp::model
