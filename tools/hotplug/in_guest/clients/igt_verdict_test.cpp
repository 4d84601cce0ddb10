// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of igt_verdict.h, on what igt_runner writes.
// Thread: one.
#include "hotplug/in_guest/clients/igt_verdict.h"

#include <gtest/gtest.h>

namespace hp::clients {
namespace {

using Outcome = IgtVerdict::Outcome;

constexpr unsigned long memory_mib = 3000;
constexpr const char* no_dynamic =
    "Starting subtest: cs-gfx-with-IP-GFX\n"
    "No dynamic tests executed.\n"
    "Subtest cs-gfx-with-IP-GFX: SKIP (0.000s)\n";
constexpr const char* no_display =
    "Test requirement not met in function igt_display_require, file ../lib/igt_kms.c:3050:\n"
    "Test requirement: resources\n"
    "drmModeGetResources failed\n"
    "Last errno: 95, Operation not supported\n"
    "Subtest driver-unload: SKIP\n";

IgtRequest request(const std::string& text) {
    auto parsed = parse_igt_request(text);
    EXPECT_TRUE(parsed) << parsed.error();
    return parsed.value_or(IgtRequest{});
}

nlohmann::json entry(const std::string& result, const std::string& out = "",
                     const std::string& warnings = "") {
    nlohmann::json made = {{"result", result}, {"out", out}, {"err", ""}, {"dmesg", ""}};
    if (!warnings.empty()) {
        made["dmesg-warnings"] = warnings;
    }
    return made;
}

/// Of one test, without GFX ring if not said otherwise.
IgtVerdict judge_one(const std::string& text, const nlohmann::json& tests, bool gfx = false,
                     const MessageShapes& usual = {}) {
    const auto verdicts = judge_igt({{"tests", tests}}, {request(text)}, {gfx, memory_mib}, usual);
    EXPECT_EQ(verdicts.size(), 1u);
    return verdicts.front();
}

TEST(IgtRequestTest, NamesATestAndItsConditions) {
    const auto all =
        request("amdgpu/amd_basic@cs|gfx|may-skip=a, b|may-skip=c|never=Could not|shows= alive=2");
    EXPECT_EQ(all.name, "amdgpu/amd_basic@cs");
    EXPECT_EQ(all.gfx, IgtRequest::Gfx::asked);
    EXPECT_EQ(all.may_skip, (std::vector<std::string>{"a, b", "c"}));
    EXPECT_EQ(all.never, std::vector<std::string>{"Could not"});
    EXPECT_EQ(all.shows, std::vector<std::string>{" alive=2"});
    EXPECT_EQ(request("a@b").gfx, IgtRequest::Gfx::any);
    EXPECT_EQ(request("a@b|blind-gfx").gfx, IgtRequest::Gfx::blind);
}

TEST(IgtRequestTest, WhatIsNoneIsRefused) {
    for (const char* text : {"", "a", "@b", "a@", "a@b|", "a@b|GFX", "a@b|never=", "a@b|x=y",
                             "a@b|memory=", "a@b|memory=2g", "|a@b"}) {
        EXPECT_FALSE(parse_igt_request(text)) << text;
    }
}

TEST(IgtTestListTest, LeavesOutWhatIsBlindWithoutARing) {
    const std::vector<IgtRequest> requests = {request("a@B-c"), request("d@e|blind-gfx"),
                                              request("f@g|gfx")};
    EXPECT_EQ(igt_test_list(requests, {false, memory_mib}), "igt@a@B-c\nigt@f@g\n");
    EXPECT_EQ(igt_test_list(requests, {true, memory_mib}), "igt@a@B-c\nigt@d@e\nigt@f@g\n");
    EXPECT_EQ(igt_test_list({request("d@e|blind-gfx")}, {false, memory_mib}), "");
}

TEST(IgtVerdictTest, OnlyPassIsAPass) {
    EXPECT_EQ(judge_one("a@B", {{"igt@a@b", entry("pass")}}).outcome, Outcome::pass)
        << "the runner's names are in small letters";
    for (const char* result : {"dmesg-warn", "dmesg-fail", "warn", "fail", "crash", "timeout",
                               "incomplete", "abort", "notrun"}) {
        const auto verdict = judge_one("a@b", {{"igt@a@b", entry(result)}});
        EXPECT_EQ(verdict.outcome, Outcome::fail) << result;
        EXPECT_EQ(verdict.reason, result);
    }
    EXPECT_EQ(judge_one("a@b", nlohmann::json::object()).reason, "IGT has no result of it");
    EXPECT_EQ(judge_igt(nlohmann::json::object(), {request("a@b")}, {true, memory_mib}, {})
                  .front()
                  .outcome,
              Outcome::fail);
}

TEST(IgtVerdictTest, FailureHasWhatKernelAndTestSaid) {
    const auto verdict =
        judge_one("a@b", {{"igt@a@b", entry("dmesg-warn", "bound\nSubtest b: SUCCESS (1.2s)\n",
                                            "<4> [12.3] amdgpu 0000:01:00.0: late\n")}});
    EXPECT_EQ(verdict.details,
              "kernel: <4> [12.3] amdgpu 0000:01:00.0: late\n"
              "out: bound\nout: Subtest b: SUCCESS (1.2s)\n");
    std::string long_text;
    for (int i = 0; i < 100; ++i) {
        long_text += std::to_string(i) + "\n";
    }
    const auto cut = judge_one("a@b", {{"igt@a@b", entry("fail", long_text)}}).details;
    EXPECT_EQ(cut.substr(0, cut.find('\n')), "out: 60") << "the end is what has the assertion";
}

TEST(IgtVerdictTest, DynamicSubtestDoesNotPassWithItsParent) {
    const auto verdict = judge_one("a@b", {{"igt@a@b", entry("pass", "said")},
                                           {"igt@a@b@c", entry("pass")},
                                           {"igt@a@b@d", entry("dmesg-warn", "", "<4> late\n")},
                                           {"igt@a@bc", entry("fail")}});
    EXPECT_EQ(verdict.outcome, Outcome::fail);
    EXPECT_EQ(verdict.reason, "dmesg-warn");
    EXPECT_EQ(verdict.details, "kernel: <4> late\nout: said\n");
    EXPECT_EQ(judge_one("a@b", {{"igt@a@b", entry("pass")}, {"igt@a@bc", entry("fail")}}).outcome,
              Outcome::pass)
        << "another test";
}

TEST(IgtVerdictTest, WhatTheKernelSaysAtEachBootIsNoNews) {
    const std::vector<std::string> boot = {
        "4,10,7916644,-;amdgpu 0000:01:00.0: BAR 0x10f0 of 2: bogus\n SUBSYSTEM=pci\n",
        "6,11,7916645,-;amdgpu 0000:01:00.0: ready\n",
        "3,12,7916646,-;amdgpu 0000:02:00.0: no header\n",
        "12,13,8000000,-;guest: modules are loaded\n",
        "4,14,9000000,-;amdgpu 0000:01:00.0: lost\n"};
    const MessageShapes usual = boot_warnings(boot);
    EXPECT_EQ(usual.size(), 2u);
    EXPECT_TRUE(boot_warnings({boot.begin(), boot.begin() + 3}).empty()) << "where does it end?";

    const std::string known =
        "<4> [99.000001] amdgpu 0000:02:00.0: BAR 0xabc of 5: bogus\n"
        "<3> [99.000002] amdgpu 0000:01:00.0: no header\n";
    const nlohmann::json one = {{"igt@a@b", entry("dmesg-warn", "", known)}};
    EXPECT_EQ(judge_one("a@b", one, false, usual).outcome, Outcome::pass);
    EXPECT_EQ(judge_one("a@b", one).outcome, Outcome::fail);
    const auto more = judge_one(
        "a@b", {{"igt@a@b", entry("dmesg-warn", "", known + "<4> [99.1] amdgpu: lost\n")}}, false,
        usual);
    EXPECT_EQ(more.reason, "dmesg-warn");
    EXPECT_EQ(more.details, "kernel: <4> [99.1] amdgpu: lost\n");
    auto warned = one;
    warned["igt@a@b"]["err"] = "Starting subtest: b\n(b:7) WARNING: odd\nSubtest b: SUCCESS (1s)\n";
    EXPECT_EQ(judge_one("a@b", warned, false, usual).reason, "warn") << "what dmesg-warn hid";
    warned["igt@a@b"]["err"] = "Starting subtest: b\nSubtest b: SUCCESS (1s)\n";
    EXPECT_EQ(judge_one("a@b", warned, false, usual).outcome, Outcome::pass);
    EXPECT_EQ(judge_one("a@b", {{"igt@a@b", entry("dmesg-fail", "", known)}}, false, usual).reason,
              "dmesg-fail");
}

TEST(IgtVerdictTest, WhatNoDriverSaysIsNoFailure) {
    const std::string others =
        "<4> [25.9] NOTICE: Automounting of tracing to debugfs is deprecated and will be removed\n"
        "<4> [61.0] === TOTAL (all subtests in amd_basic binary): 0 min 4 sec ===\n"
        "<4> [72.3] amdgpu 0000:02:00.0: ROM [??? 0x00000000 flags 0x20000000]: alignment must not "
        "be zero\n"
        "<4> [84.3] amdgpu 0000:01:00.0: resetting\n"
        "<4> [84.5] amdgpu 0000:01:00.0: reset done\n";
    EXPECT_EQ(judge_one("a@b", {{"igt@a@b", entry("dmesg-warn", "", others)}}).outcome,
              Outcome::pass);
    const auto more = judge_one(
        "a@b", {{"igt@a@b", entry("dmesg-warn", "", others + "<4> [73.1] amdgpu: late\n")}});
    EXPECT_EQ(more.reason, "dmesg-warn");
    EXPECT_EQ(more.details, "kernel: <4> [73.1] amdgpu: late\n");
    for (const char* drivers :
         {"<3> [9.1] amdgpu: reset failed in === TOTAL (all subtests in x): 0 sec ===\n",
          "<3> [9.2] amdgpu: gone. NOTICE: Automounting of tracing to debugfs is deprecated\n",
          "<3> [9.3] amdgpu 0000:02:00.0: lost: ROM [??? 0x00000000 flags 0x20000000]: alignment "
          "must not be zero\n"}) {
        EXPECT_EQ(judge_one("a@b", {{"igt@a@b", entry("dmesg-warn", "", drivers)}}).outcome,
                  Outcome::fail)
            << drivers;
    }
}

TEST(IgtVerdictTest, SkipForLackOfAGfxRingIsOne) {
    const nlohmann::json skipped = {{"igt@a@b", entry("skip", no_dynamic)}};
    const auto right = judge_one("a@b|gfx", skipped);
    EXPECT_EQ(right.outcome, Outcome::skip);
    EXPECT_EQ(right.reason, "the GPU has no GFX ring");
    EXPECT_EQ(judge_one("a@b|gfx", skipped, true).outcome, Outcome::fail) << "there is one";
    EXPECT_EQ(judge_one("a@b", skipped).outcome, Outcome::fail) << "it needs none";
    EXPECT_EQ(judge_one("a@b|gfx", {{"igt@a@b", entry("skip", no_display)}}).outcome, Outcome::fail)
        << "skipped for another reason";
    EXPECT_EQ(judge_one("a@b|gfx", {{"igt@a@b", entry("pass")}}).outcome, Outcome::fail)
        << "on what did it run?";
    EXPECT_EQ(judge_one("a@b|gfx", {{"igt@a@b", entry("pass")}}, true).outcome, Outcome::pass);
    EXPECT_EQ(judge_one("a@b|gfx", {{"igt@a@b", entry("fail")}}).outcome, Outcome::fail);
}

TEST(IgtVerdictTest, BlindTestIsNotRunWithoutAGfxRing) {
    const auto verdict = judge_one("a@b|blind-gfx", nlohmann::json::object());
    EXPECT_EQ(verdict.outcome, Outcome::skip);
    EXPECT_EQ(verdict.reason, "the GPU has no GFX ring");
    EXPECT_EQ(judge_one("a@b|blind-gfx", nlohmann::json::object(), true).outcome, Outcome::fail);
}

TEST(IgtVerdictTest, GreedyTestIsNotRunOnASmallMachine) {
    const nlohmann::json tests = {{"igt@a@b", entry("pass")}};
    const auto verdict = judge_one("a@b|memory=3001", tests);
    EXPECT_EQ(verdict.outcome, Outcome::skip);
    EXPECT_EQ(verdict.reason, "the machine has 3000 MiB of memory, not 3001");
    EXPECT_EQ(judge_one("a@b|memory=3000", tests).outcome, Outcome::pass);
    EXPECT_EQ(igt_test_list({request("a@b|memory=3001"), request("a@c|memory=3000")},
                            {false, memory_mib}),
              "igt@a@c\n");
}

TEST(IgtVerdictTest, AllSubtestsOfABinaryAreJudgedEach) {
    const nlohmann::json tests = {{"igt@a@x", entry("pass")},
                                  {"igt@a@y", entry("fail")},
                                  {"igt@a@y@dynamic", entry("pass")},
                                  {"igt@ab@z", entry("pass")}};
    const auto verdicts = judge_igt({{"tests", tests}}, {request("a@*")}, {false, memory_mib}, {});
    ASSERT_EQ(verdicts.size(), 2u);
    EXPECT_EQ(verdicts[0].name, "a@x");
    EXPECT_EQ(verdicts[0].outcome, Outcome::pass);
    EXPECT_EQ(verdicts[1].name, "a@y");
    EXPECT_EQ(verdicts[1].outcome, Outcome::fail);
    EXPECT_EQ(judge_one("c@*", tests).outcome, Outcome::fail) << "none was run";
    EXPECT_EQ(igt_test_list({request("a/b@*")}, {false, memory_mib}), "igt@a/b\n");
}

TEST(IgtVerdictTest, SkipTellsItsReason) {
    const nlohmann::json skipped = {{"igt@a@b", entry("skip", no_display)}};
    const auto right = judge_one("a@b|may-skip=other|may-skip=GetResources failed", skipped);
    EXPECT_EQ(right.outcome, Outcome::skip);
    EXPECT_EQ(right.reason, "Test requirement: resources; drmModeGetResources failed");
    const auto wrong = judge_one("a@b|may-skip=kmemleak", skipped);
    EXPECT_EQ(wrong.outcome, Outcome::fail);
    EXPECT_EQ(wrong.reason,
              "skipped for another reason than expected: Test requirement: resources; "
              "drmModeGetResources failed");
    EXPECT_EQ(judge_one("a@b|may-skip=x", {{"igt@a@b", entry("skip")}}).reason,
              "skipped for another reason than expected: no reason given");
    EXPECT_EQ(judge_one("a@b|may-skip=executed", {{"igt@a@b", entry("skip", no_dynamic)}}).reason,
              "No dynamic tests executed.");
}

TEST(IgtVerdictTest, KnownFalsePassesAreNone) {
    const nlohmann::json tests = {{"igt@a@b", entry("pass", "round 1: 2 alive, 7 subs\n")}};
    EXPECT_EQ(judge_one("a@b|shows= alive|never=: 0 alive", tests).outcome, Outcome::pass);
    EXPECT_EQ(judge_one("a@b|never=2 alive", tests).reason, "passed, but said '2 alive'");
    EXPECT_EQ(judge_one("a@b|shows=reloaded", tests).reason, "passed, but did not say 'reloaded'");
}

TEST(IgtKtapTest, IsWhatTheHarnessReads) {
    EXPECT_EQ(format_ktap({{"a@b", Outcome::pass, "", ""},
                           {"a@c", Outcome::skip, "no # ring", ""},
                           {"a@d", Outcome::fail, "dmesg-warn", "kernel: late\nout: #1\n"}}),
              "KTAP version 1\n"
              "1..3\n"
              "ok 1 a@b\n"
              "ok 2 a@c # SKIP no   ring\n"
              "# kernel: late\n"
              "# out:  1\n"
              "not ok 3 a@d # dmesg-warn\n");
}

}  // namespace
}  // namespace hp::clients
