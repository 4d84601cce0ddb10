// SPDX-License-Identifier: GPL-2.0
// Purpose: each check passing, and each failing with the evidence it must show.
// Thread: one.
#include "hotplug/judge/check.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>

#include "hotplug/judge/error_lines.h"

namespace hotplug {
namespace {

using std::chrono::seconds;

VictimClient released(std::string name) {
    return {.name = std::move(name),
            .ended = seconds(1),
            .reason = "device",
            .error = ENODEV,
            .last_line = "{...}"};
}

std::vector<Episode> episode() {
    Episode made;
    made.loss.remove_returned = seconds(2);
    made.clients = {released("hsa_queue@victim")};
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

TEST(CheckStrayDma, TellsOfTheRowsOwn) {
    const auto first = [](uint64_t address) {
        return StrayDma::First{.time = {}, .kind = "dma_write", .address = address, .length = 8};
    };
    const std::vector<StrayDma> before = {{}, {.count = 1, .first = {first(0x1000)}}};
    EXPECT_TRUE(check_stray_dma({}, {{}, {}}).passed);
    EXPECT_TRUE(check_stray_dma(before, before).passed);
    EXPECT_EQ(check_stray_dma(before, before).value, "none");
    const CheckResult failed =
        check_stray_dma(before, {{}, {.count = 3, .first = {first(0x1000), first(0x2000)}}});
    EXPECT_FALSE(failed.passed);
    EXPECT_EQ(failed.value, "2");
    EXPECT_EQ(failed.evidence,
              (std::vector<std::string>{
                  "the GPU in slot 1 went 2 times to where nothing was mapped for it",
                  "dma_write of 8 bytes at 0x2000"}));
}

TEST(CheckClients, NoneIsFineHeldAndLateAreNot) {
    auto none = episode();
    none[0].clients.clear();
    EXPECT_TRUE(check_clients_released(none, {}).passed);
    EXPECT_EQ(check_clients_released(none, {}).value, "no client");
    EXPECT_TRUE(check_clients_released(episode(), {}).passed);
    EXPECT_EQ(check_clients_released(episode(), {}).value, "1.0 s");

    auto held = episode();
    held[0].clients.push_back({.name = "drm_submitter@victim", .last_line = "{}"});
    EXPECT_FALSE(check_clients_released(held, {}).passed);
    EXPECT_EQ(check_clients_released(held, {}).value, "never");
    EXPECT_EQ(check_clients_released(held, {}).evidence,
              std::vector<std::string>{"drm_submitter@victim was not released, its last line: {}"});

    auto late = episode();
    late[0].clients[0].ended = seconds(11);
    EXPECT_EQ(check_clients_released(late, {}).evidence[0],
              "the last client was released after 11.0 s, allowed are 10.0 s");
}

/// Changes a client that ended as it should, and says what is wrong with it.
std::string trouble(const std::function<void(VictimClient&)>& change, Loss loss = Loss::surprise) {
    VictimClient client = released("c");
    client.last_line = "l";
    change(client);
    return trouble_of(client, loss);
}

TEST(CheckClients, EndMustTellOfTheLoss) {
    const auto ends = [](const char* reason, int error, Loss loss = Loss::surprise) {
        return trouble(
            [&](VictimClient& client) {
                client.reason = reason;
                client.error = error;
            },
            loss);
    };
    EXPECT_EQ(ends("device", ENODEV), "");
    EXPECT_EQ(ends("device", ECANCELED), "");
    EXPECT_EQ(ends("hw_exception", 0), "");
    EXPECT_EQ(ends("done", ENODEV), "") << "it was to wait for that";
    EXPECT_EQ(
        ends("device", EHWPOISON),
        "c ended with 'device', errno 133, which does not tell of the loss, its last line: l");
    for (const char* reason : {"done", "signal", "memory_exception", "timeout", "close", ""}) {
        EXPECT_NE(ends(reason, 0), "") << reason;
    }
    EXPECT_NE(ends("device", ETIME), "") << "the driver did not notice";
    EXPECT_EQ(ends("device", ETIME, Loss::hang), "");
    EXPECT_EQ(ends("device", ENODATA, Loss::aer_fatal), "");
    EXPECT_NE(ends("device", EINVAL, Loss::aer_fatal), "");
}

TEST(CheckClients, SignalsEarlyEndsAndWrongResultsFail) {
    EXPECT_EQ(trouble([](VictimClient& client) { client.signal = 7; }),
              "c ended by signal 7, its last line: l");
    EXPECT_EQ(trouble([](VictimClient& client) { client.ended_before = true; }),
              "c had ended before the loss, its last line: l");
    EXPECT_EQ(trouble([](VictimClient& client) { client.bad = 2; }),
              "c had 2 wrong results, its last line: l");
}

TEST(CheckClients, AfterAResetTheyMayGoOn) {
    const auto runs = [](bool goes_on, uint64_t bad, Loss loss) {
        return trouble(
            [&](VictimClient& client) {
                client.ended.reset();
                client.goes_on = goes_on;
                client.bad = bad;
            },
            loss);
    };
    EXPECT_EQ(runs(true, 0, Loss::aer_fatal), "");
    EXPECT_EQ(runs(false, 0, Loss::aer_fatal), "c neither ended nor went on, its last line: l");
    EXPECT_EQ(runs(true, 1, Loss::aer_fatal), "c had 1 wrong results, its last line: l");
    EXPECT_EQ(runs(true, 0, Loss::surprise), "c was not released, its last line: l");

    auto reset = episode();
    reset[0].loss.loss = Loss::aer_fatal;
    reset[0].clients[0].ended.reset();
    reset[0].clients[0].goes_on = true;
    EXPECT_TRUE(check_clients_released(reset, {}).passed);
    EXPECT_EQ(check_clients_released(reset, {}).value, "go on");
}

TEST(CheckAccess, CountsBothWitnessesAndShowsTheFirst) {
    EXPECT_EQ(check_no_access(episode(), {}).value, "0");
    auto touched = episode();
    touched[0].accesses.server = 2;
    touched[0].accesses.black_hole = 9;
    touched[0].accesses.first = {
        {std::chrono::steady_clock::time_point(), "mmio_read", 5, 0x10, "regA"},
        {std::chrono::steady_clock::time_point(), "vram_write", 0, 0x20, ""}};
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
    log.notes = {{"amdgpu *ERROR*", 1, 4}};
    EXPECT_EQ(check_log_clean({{}, log.notes}).value, "clean");
    EXPECT_TRUE(check_log_clean({{}, log.notes}).passed);
    const CheckResult result = check_log_clean(log);
    EXPECT_FALSE(result.passed);
    EXPECT_EQ(result.value, "3 complaints");
    EXPECT_EQ(result.evidence, std::vector<std::string>{"[   62.695402] WARNING in f (3 times)"});
}

TEST(CheckErrorLines, LineThatNobodyAccountsForFails) {
    KernelLogSummary log;
    EXPECT_EQ(check_error_lines(log, {}, {}).value, "none");
    log.notes = {{"amdgpu 0000:01:00.0: IB test failed on sdma0.0 (-110).", 1, 2},
                 {"amdgpu 0000:01:00.0: SMU: bus error for message", 62695402, 3}};
    const CheckResult failed = check_error_lines(log, {}, {});
    EXPECT_FALSE(failed.passed);
    EXPECT_EQ(failed.value, "3 unaccounted for");
    EXPECT_EQ(failed.evidence,
              std::vector<std::string>{
                  "[   62.695402] amdgpu 0000:01:00.0: SMU: bus error for message (3 times)"});
    const CheckResult passed = check_error_lines(log, {}, {"SMU: bus error"});
    EXPECT_TRUE(passed.passed);
    EXPECT_EQ(passed.value, "5 accounted for");
}

TEST(CheckErrorLines, PartAfterACaretIsTheBeginning) {
    KernelLogSummary log;
    log.notes = {{"[drm:psp_v13_0_ring_create [amdgpu]] *ERROR* Failed", 1, 1}};
    EXPECT_TRUE(check_error_lines(log, {}, {"^[drm:"}).passed);
    log.notes = {
        {"amdgpu 0000:02:00.0: [drm:amdgpu_ring_test_helper [amdgpu]] *ERROR* ring", 1, 1}};
    EXPECT_FALSE(check_error_lines(log, {}, {"^[drm:"}).passed) << "that names a GPU";
    EXPECT_TRUE(check_error_lines(log, {}, {"[drm:"}).passed);
}

TEST(CheckErrorLines, LossAccountsForTheGpuThatWasLost) {
    auto episodes = episode();
    episodes[0].loss.loss = Loss::surprise;
    episodes[0].loss.bdf = "0000:01:00.0";
    KernelLogSummary log;
    log.notes = {{"amdgpu 0000:01:00.0: device lost: no answer", 1, 1}};
    EXPECT_TRUE(check_error_lines(log, episodes, {}).passed);
    log.notes[0].count = 2;
    EXPECT_FALSE(check_error_lines(log, episodes, {}).passed) << "it is lost once";
    log.notes = {{"amdgpu 0000:02:00.0: device lost: no answer", 1, 1}};
    EXPECT_FALSE(check_error_lines(log, episodes, {}).passed) << "that one was not lost";
    episodes[0].loss.loss = Loss::driver_unbind;
    episodes[0].loss.bdf = "0000:02:00.0";
    EXPECT_FALSE(check_error_lines(log, episodes, {}).passed) << "an unbind loses no device";
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
