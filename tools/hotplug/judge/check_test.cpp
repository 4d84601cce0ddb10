// SPDX-License-Identifier: GPL-2.0
// Purpose: each check passing, and each failing with the evidence it must show.
// Thread: one.
#include "hotplug/judge/check.h"

#include <gtest/gtest.h>

namespace hotplug {
namespace {

using std::chrono::seconds;

std::vector<Episode> episode() {
    Episode made;
    made.loss.remove_returned = seconds(2);
    made.clients_released = seconds(1);
    made.first_job = seconds(3);
    made.last_kernel_line = "[    9.000000] amdgpu 0000:01:00.0: last words";
    return {made};
}

TEST(CheckRemoved, ShowsTheLongestTime) {
    auto episodes = episode();
    episodes.push_back(episodes[0]);
    episodes[1].loss.remove_returned = seconds(5);
    const CheckResult result = check_removed(episodes, {});
    EXPECT_TRUE(result.passed);
    EXPECT_EQ(result.value, "5.0 s");
}

TEST(CheckRemoved, CountsFromTheAnnouncement) {
    auto episodes = episode();
    episodes[0].loss.announced = std::chrono::milliseconds(500);
    EXPECT_EQ(check_removed(episodes, {}).value, "1.5 s");
}

TEST(CheckRemoved, TooLateStuckOrRefusedFails) {
    auto late = episode();
    late[0].loss.remove_returned = seconds(64);
    CheckResult result = check_removed(late, {});
    EXPECT_FALSE(result.passed);
    EXPECT_EQ(result.value, "64.0 s");
    EXPECT_EQ(result.evidence,
              std::vector<std::string>{
                  "returned after 64.0 s, did not return within 10.0 s; the kernel's last line "
                  "about it: [    9.000000] amdgpu 0000:01:00.0: last words"});

    auto stuck = episode();
    stuck[0].loss.remove_returned.reset();
    stuck[0].loss.stuck = "the device's directory is still there after 90 s";
    result = check_removed(stuck, {});
    EXPECT_FALSE(result.passed);
    EXPECT_EQ(result.value, "never");
    EXPECT_EQ(result.evidence[0],
              "did not return: the device's directory is still there after 90 s; the kernel's last "
              "line about it: [    9.000000] amdgpu 0000:01:00.0: last words");

    stuck[0].loss.given_up = seconds(60);
    stuck.push_back(episode()[0]);
    EXPECT_EQ(check_removed(stuck, {}).value, "> 60.0 s");

    auto refused = episode();
    refused[0].loss.refused = "No such device";
    refused[0].last_kernel_line.clear();
    EXPECT_EQ(check_removed(refused, {}).evidence[0], "refused: No such device");
}

TEST(CheckClients, NoneIsFineHeldAndLateAreNot) {
    auto none = episode();
    none[0].clients_released.reset();
    EXPECT_TRUE(check_clients_released(none, {}).passed);
    EXPECT_EQ(check_clients_released(none, {}).value, "no client");
    EXPECT_EQ(check_clients_released(episode(), {}).value, "1.0 s");

    auto held = none;
    held[0].still_held = {"drm_submitter@victim was not released"};
    EXPECT_FALSE(check_clients_released(held, {}).passed);
    EXPECT_EQ(check_clients_released(held, {}).evidence, held[0].still_held);

    auto killed = episode();
    killed[0].killed = {"hsa_queue@victim ended by signal 7"};
    EXPECT_FALSE(check_clients_released(killed, {}).passed);
    EXPECT_EQ(check_clients_released(killed, {}).value, "1.0 s");
    EXPECT_EQ(check_clients_released(killed, {}).evidence, killed[0].killed);

    auto late = episode();
    late[0].clients_released = seconds(11);
    EXPECT_EQ(check_clients_released(late, {}).evidence[0],
              "the last client was released after 11.0 s, allowed are 10.0 s");
}

TEST(CheckAccess, CountsBothWitnessesAndShowsTheFirst) {
    EXPECT_EQ(check_no_access(episode(), {}).value, "0");
    auto touched = episode();
    touched[0].accesses.server = 2;
    touched[0].accesses.black_hole = 9;
    touched[0].accesses.first = {{Deadline::Clock::time_point(), "mmio_read", 5, 0x10, "regA"},
                                 {Deadline::Clock::time_point(), "vram_write", 0, 0x20, ""}};
    const CheckResult result = check_no_access(touched, {});
    EXPECT_FALSE(result.passed);
    EXPECT_EQ(result.value, "11");
    EXPECT_EQ(result.evidence,
              (std::vector<std::string>{
                  "2 accesses before and 9 after the device left the bus, allowed are 0",
                  "mmio_read of regA", "vram_write of region 0 offset 0x20"}));
    Limits limits;
    limits.accesses = 11;
    EXPECT_TRUE(check_no_access(touched, limits).passed);
}

TEST(CheckReplug, NeedsAJobOnTheNewGpu) {
    EXPECT_EQ(check_replug(episode(), {}).value, "3.0 s");
    auto failed = episode();
    failed[0].first_job.reset();
    EXPECT_EQ(check_replug(failed, {}).evidence[0], "the GPU was not put back");
    failed[0].replug_failure = "refused: File exists";
    EXPECT_EQ(check_replug(failed, {}).evidence[0], "refused: File exists");
    auto late = episode();
    late[0].first_job = seconds(61);
    EXPECT_FALSE(check_replug(late, {}).passed);
}

TEST(CheckLog, ComplaintsAreTheEvidence) {
    EXPECT_TRUE(check_log_clean({}).passed);
    KernelLogSummary log;
    log.complaints = {{.kind = ComplaintKind::warning,
                       .title = "WARNING in f",
                       .time_us = 62695402,
                       .count = 3,
                       .lines = {},
                       .stack = {}}};
    log.notes = {{"amdgpu *ERROR*", 1, 1}};
    const CheckResult result = check_log_clean(log);
    EXPECT_FALSE(result.passed);
    EXPECT_EQ(result.value, "3 complaints");
    EXPECT_EQ(result.evidence, std::vector<std::string>{"[   62.695402] WARNING in f (3 times)"});
}

TEST(CheckMerge, FirstFailureStays) {
    std::vector<CheckResult> results;
    merge_result(results, {.check = Check::kfd_usable, .value = "yes"});
    merge_result(results, {.check = Check::kfd_usable, .passed = false, .value = "no"});
    merge_result(results, {.check = Check::kfd_usable, .value = "yes"});
    ASSERT_EQ(results.size(), 1U);
    EXPECT_FALSE(results[0].passed);
    EXPECT_EQ(results[0].value, "no");
}

TEST(CheckSteps, FailureIsItsEvidence) {
    EXPECT_TRUE(check_steps("").passed);
    EXPECT_EQ(check_steps("step 'x': y").evidence, std::vector<std::string>{"step 'x': y"});
    EXPECT_FALSE(not_reached(Check::replug).passed);
}

}  // namespace
}  // namespace hotplug
