// SPDX-License-Identifier: GPL-2.0
// Purpose: holds what is written for KCIDB to the rules of its schema 5.3, which are written down
// here: which members an object may and must have, and what their values look like. Thread: one.
#include "hotplug/report/kcidb.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>

namespace hotplug {
namespace {

using json = nlohmann::ordered_json;

/// What is wrong with a value; empty: nothing.
using Rule = std::function<std::string(const json&)>;

Rule text_like(const std::string& pattern, size_t longest = std::string::npos) {
    return [expression = std::regex(pattern), pattern, longest](const json& value) -> std::string {
        if (!value.is_string()) {
            return "is no text";
        }
        const auto text = value.get<std::string>();
        if (text.find('\0') != std::string::npos) {
            return "has a NUL";
        }
        // Characters, not bytes.
        if (static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
                return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
            })) > longest) {
            return "is too long";
        }
        return pattern.empty() || std::regex_match(text, expression) ? ""
                                                                     : "is not like " + pattern;
    };
}

std::string number(const json& value) {
    return value.is_number() ? "" : "is no number";
}

std::string anything_in_an_object(const json& value) {
    return value.is_object() ? "" : "is no object";
}

struct ObjectRules {
    std::map<std::string, Rule> members;  ///< no other is allowed
    std::set<std::string> required;

    std::string operator()(const json& value) const {
        if (!value.is_object()) {
            return "is no object";
        }
        for (const std::string& name : required) {
            if (!value.contains(name)) {
                return "has no " + name;
            }
        }
        for (const auto& [name, member] : value.items()) {
            const auto rule = members.find(name);
            if (rule == members.end()) {
                return "may not have " + name;
            }
            if (const std::string fault = rule->second(member); !fault.empty()) {
                return name + " " + fault;
            }
        }
        return "";
    }
};

Rule list_of(Rule element) {
    return [element = std::move(element)](const json& value) -> std::string {
        if (!value.is_array()) {
            return "is no list";
        }
        for (size_t i = 0; i < value.size(); ++i) {
            if (const std::string fault = element(value[i]); !fault.empty()) {
                return fmt::format("{}: {}", i, fault);
            }
        }
        return "";
    };
}

const Rule text = text_like("");
const Rule excerpt = text_like("", 16384);
const Rule id = text_like("[a-z0-9_]+:[\\s\\S]*");
const Rule origin = text_like("[a-z0-9_]+");
const Rule status = text_like("FAIL|ERROR|MISS|PASS|DONE|SKIP");
const Rule time_of_day = text_like(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d))");

std::string version(const json& value) {
    return value == json{{"major", 5}, {"minor", 3}} ? "" : "is not 5.3";
}

/// Of the members that KCIDB knows those that a harness may have to tell.
const ObjectRules submission = {
    {{"version", version},
     {"checkouts", list_of(ObjectRules{{{"id", id},
                                        {"origin", origin},
                                        {"git_repository_url", text_like("https://[\\s\\S]*")},
                                        {"git_commit_hash", text_like("[0-9a-f]{40}")},
                                        {"git_commit_name", text},
                                        {"patchset_hash", text_like("|[0-9a-f]{64}")},
                                        {"comment", text},
                                        {"start_time", time_of_day},
                                        {"valid",
                                         [](const json& value) {
                                             return value.is_boolean()
                                                        ? ""
                                                        : "is neither true nor false";
                                         }},
                                        {"misc", anything_in_an_object}},
                                       {"id", "origin"}})},
     {"builds", list_of(ObjectRules{{{"checkout_id", id},
                                     {"id", id},
                                     {"origin", origin},
                                     {"comment", text},
                                     {"start_time", time_of_day},
                                     {"duration", number},
                                     {"architecture", text_like("[a-z0-9_]*")},
                                     {"config_name", text},
                                     {"log_excerpt", excerpt},
                                     {"status", status},
                                     {"misc", anything_in_an_object}},
                                    {"checkout_id", "id", "origin"}})},
     {"tests",
      list_of(ObjectRules{
          {{"build_id", id},
           {"id", id},
           {"origin", origin},
           {"environment", ObjectRules{{{"comment", text}, {"misc", anything_in_an_object}}, {}}},
           {"path", text_like(R"(([a-zA-Z0-9_-]+(\.[a-zA-Z0-9_-]+)*)?)")},
           {"comment", text},
           {"log_excerpt", excerpt},
           {"status", status},
           {"number",
            ObjectRules{{{"value", number}, {"unit", text}, {"prefix", text_like("metric|binary")}},
                        {"value"}}},
           {"start_time", time_of_day},
           {"duration", number},
           {"misc", anything_in_an_object}},
          {"build_id", "id", "origin"}})}},
    {"version"}};

KcidbSource source() {
    KcidbSource made;
    made.origin = "lab_7";
    made.run = "00c0ffee";
    made.kernel = "0123456789abcdef-fedcba9876543210";
    made.checkout = {{"comment", "Debian's linux-source-7.3"}, {"patchset_hash", ""}};
    return made;
}

RunReport report() {
    RunReport made;
    made.info.kernel = "7.3.4";
    made.info.flavour = "debug";
    made.info.profile = "mi300x";
    made.info.packages = {{"QEMU", {"qemu_10_amd64"}}, {"kernel", {"linux-source-7.3 7.3.4-1"}}};
    made.info.versions = {{"QEMU", "10.1"}, {"kernel image", "/home/me/linux"}};

    RowResult good;
    good.id = good.name = good.expected_key = "slot-power/idle";
    good.description = "turns the slot off";
    good.started = "2026-11-25T02:56:52Z";
    good.duration = std::chrono::milliseconds(1500);
    good.checks = {{.check = Check::removed, .value = "1.1 s"}};

    RowResult bad = good;
    bad.id = "hang/busy~2";
    bad.name = bad.expected_key = "hang/busy";
    bad.attempt = 2;
    bad.outcome = Outcome::fail;
    bad.checks = {{.check = Check::removed,
                   .passed = false,
                   .evidence = {std::string("\0\xff#", 3) + std::string(40'000, 'x')},
                   .outcome = Outcome::fail}};
    bad.tests = {{"igt@kms..flip (1)", TestOutcome::fail, "late"},
                 {"igt@kms..flip (1)", TestOutcome::pass, ""}};

    RowResult quarantined = bad;
    quarantined.id = quarantined.name = quarantined.expected_key = "surprise/idle";
    quarantined.attempt = 0;
    quarantined.outcome = Outcome::quarantined;
    quarantined.quarantine = "until 2026-12-31: tracked";

    RowResult skipped = good;
    skipped.id = skipped.name = skipped.expected_key = "sweep/probe";
    skipped.checks.clear();
    skipped.outcome = Outcome::skip;
    skipped.skip_reason = "needs 4 GPUs, the machine has 2";

    made.rows = {good, bad, quarantined, skipped};
    made.not_run = {"aer-fatal/idle~2"};
    made.integrity.add(IntegrityKind::out_of_time, "1 of 5 rows have no verdict");
    return made;
}

json submitted(const RunReport& report = hotplug::report(), const KcidbSource& from = source()) {
    return json::parse(format_kcidb(report, from));
}

/// The first one with the path below the suite's.
json test_at(const json& all, const std::string& path) {
    for (const json& test : all.at("tests")) {
        if (test.at("path") == "amdgpu_hotplug." + path) {
            return test;
        }
    }
    return json::object();
}

TEST(Kcidb, KeepsTheRulesOfItsSchema) {
    EXPECT_EQ(submission(submitted()), "");
    KcidbSource built = source();
    built.build = "maestro:6740a";
    EXPECT_EQ(submission(submitted(report(), built)), "");
    EXPECT_EQ(submission(submitted({}, source())), "") << "a run that has not begun";
}

/// The rules can fail.
TEST(Kcidb, RulesSeeWhatIsWrong) {
    const auto fault = [](const std::function<void(json&)>& spoil) {
        json all = submitted();
        spoil(all);
        return submission(all);
    };
    EXPECT_EQ(fault([](json& all) { all["version"]["minor"] = 4; }), "version is not 5.3");
    EXPECT_EQ(fault([](json& all) { all["version"].erase("major"); }), "version is not 5.3");
    EXPECT_EQ(fault([](json& all) { all["more"] = 1; }), "may not have more");
    EXPECT_EQ(fault([](json& all) { all["tests"][0].erase("build_id"); }),
              "tests 0: has no build_id");
    EXPECT_EQ(fault([](json& all) { all["tests"][0]["path"] = "a..b"; }).find("tests 0: path"), 0U);
    EXPECT_EQ(fault([](json& all) { all["tests"][0]["status"] = "XFAIL"; }).find("tests 0: status"),
              0U);
    EXPECT_EQ(fault([](json& all) { all["tests"][0]["id"] = "no colon"; }).find("tests 0: id"), 0U);
    EXPECT_EQ(fault([](json& all) { all["tests"][1]["log_excerpt"] = std::string(16385, 'x'); }),
              "tests 1: log_excerpt is too long");
    EXPECT_EQ(fault([](json& all) { all["builds"][0]["comment"] = std::string("a\0b", 3); }),
              "builds 0: comment has a NUL");
    EXPECT_EQ(fault([](json& all) {
                  all["checkouts"][0]["patchset_hash"] = "4bc368baaa70";
              }).find("checkouts 0: patchset_hash"),
              0U);
    EXPECT_EQ(fault([](json& all) {
                  all["tests"][0]["start_time"] = "today";
              }).find("tests 0: start_time"),
              0U);
    EXPECT_EQ(fault([](json& all) { all["tests"][0]["duration"] = "1 s"; }),
              "tests 0: duration is no number");
}

TEST(Kcidb, TestsAreOfABuildOfACheckout) {
    const json all = submitted();
    const json& checkout = all.at("checkouts").at(0);
    EXPECT_EQ(checkout.at("id"), "lab_7:0123456789abcdef-fedcba9876543210");
    EXPECT_EQ(checkout.at("patchset_hash"), "");
    EXPECT_EQ(all.at("builds").at(0).at("checkout_id"), checkout.at("id"));
    EXPECT_EQ(all.at("builds").at(0).at("config_name"), "debug");
    EXPECT_EQ(all.at("builds").at(0).at("misc").at("packages"), json{"linux-source-7.3 7.3.4-1"})
        << "of the kernel, and of nothing else";
    std::set<std::string> ids;
    for (const json& test : all.at("tests")) {
        EXPECT_EQ(test.at("build_id"), all.at("builds").at(0).at("id"));
        EXPECT_TRUE(ids.insert(test.at("id").get<std::string>()).second) << test.at("id");
    }
    EXPECT_EQ(all.at("tests").at(0).at("environment").at("misc"),
              (json{{"profile", "mi300x"}, {"QEMU", "10.1"}}))
        << "and no path of the host";
    KcidbSource built = source();
    built.build = "maestro:6740a";
    const json referring = submitted(report(), built);
    EXPECT_FALSE(referring.contains("checkouts"));
    EXPECT_FALSE(referring.contains("builds"));
    EXPECT_EQ(referring.at("tests").at(0).at("build_id"), "maestro:6740a");
    EXPECT_EQ(referring.at("tests").at(0).at("origin"), "lab_7");
}

TEST(Kcidb, StatusIsThatOfTheDriver) {
    const json all = submitted();
    EXPECT_EQ(test_at(all, "slot-power.idle").at("status"), "PASS");
    EXPECT_EQ(test_at(all, "slot-power.idle").at("duration"), 1.5);
    EXPECT_EQ(test_at(all, "slot-power.idle.removed").at("misc").at("value"), "1.1 s");
    EXPECT_EQ(test_at(all, "hang.busy").at("status"), "FAIL");
    EXPECT_EQ(test_at(all, "hang.busy").at("id"), "lab_7:00c0ffee:hang/busy~2");
    EXPECT_EQ(test_at(all, "hang.busy.igt_kms.flip__1_").at("status"), "FAIL");
    EXPECT_EQ(test_at(all, "surprise.idle").at("status"), "FAIL");
    EXPECT_EQ(test_at(all, "surprise.idle").at("misc").at("quarantine"),
              "until 2026-12-31: tracked");
    EXPECT_EQ(test_at(all, "sweep.probe").at("status"), "SKIP");
    EXPECT_EQ(test_at(all, "aer-fatal.idle").at("status"), "MISS");
    EXPECT_EQ(test_at(all, "integrity").at("status"), "FAIL");
    EXPECT_EQ(test_at(all, "hang.busy.failure_rate").at("status"), "DONE");
    EXPECT_EQ(test_at(all, "hang.busy.failure_rate").at("number").at("value"), 1.0);

    RunReport faulty = report();
    faulty.integrity.add(IntegrityKind::harness_fault, "the emulator ended with signal 6");
    EXPECT_EQ(test_at(submitted(faulty), "integrity").at("status"), "ERROR");
    RunReport known = report();
    known.rows[1].outcome = Outcome::known;
    EXPECT_EQ(test_at(submitted(known), "hang.busy").at("status"), "FAIL");
    EXPECT_EQ(test_at(submitted(known), "hang.busy").at("misc").at("outcome"), "known");
}

TEST(Kcidb, ExcerptsEndBetweenTwoCharacters) {
    RunReport long_text = report();
    for (const size_t before : {16382U, 16383U, 16384U}) {
        long_text.rows[1].checks[0].evidence = {std::string(before, 'x') + "\xe2\x82\xac"};
        const json all = submitted(long_text);
        EXPECT_EQ(submission(all), "");
        EXPECT_EQ(test_at(all, "hang.busy.removed").at("log_excerpt"), std::string(before, 'x'));
    }
}

TEST(Kcidb, NamesAreChecked) {
    EXPECT_TRUE(is_kcidb_origin("lab_7"));
    for (const char* none : {"", "Lab", "a-b", "a:b"}) {
        EXPECT_FALSE(is_kcidb_origin(none)) << none;
    }
    EXPECT_TRUE(is_kcidb_id("maestro:67"));
    for (const char* none : {"", "maestro", ":67", "Maestro:67"}) {
        EXPECT_FALSE(is_kcidb_id(none)) << none;
    }
    EXPECT_EQ(kcidb_path("/a//b.c@d/"), "amdgpu_hotplug.a.b.c_d");
}

}  // namespace
}  // namespace hotplug
