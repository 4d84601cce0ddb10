// SPDX-License-Identifier: GPL-2.0
// Purpose: the scenario parser: what a file may say, and the exact error for what it may not.
// Thread: one.
#include "hotplug/scenario/parser.h"

#include <gtest/gtest.h>

#include "lib/temp_tree.h"

namespace hotplug {
namespace {

TEST(ScenarioParser, ReadsEveryMember) {
    const auto scenario = parse_scenario(R"(
// A comment.
{
    "id": "surprise-2", "description": "does it", "tags": ["flagship", "smoke"],
    "reports": ["https://example.org/issues/7"],
    "requires": {"gpus": 2, "kernel_options": ["CONFIG_KASAN"], "programs": ["lspci"],
                 "profiles": ["mi300x"], "switch": true},
    "variants": {"idle": [], "busy": [{"start": "drm_submitter", "on": "bystander"}],
                 "drm": {"tags": ["more"], "steps": [{"settle": 1}]}},
    "steps": [
        {"start": "holder", "options": ["$VICTIM"]},
        {"tell": "holder@victim", "line": "read", "answer": "read", "seconds": 6},
        {"lose": "surprise", "meanwhile": "sync", "seconds": 4},
        {"wait": "text", "seconds": 2.5},
        {"shell": "true", "status": 1, "output": "x", "seconds": 5, "reaches": "y"},
        {"emulate": {"do": "vanish_after", "accesses": 9}, "on": "bystander"},
        {"expect": ["removed", "kfd_usable"]},
        {"settle": 0.5},
        {"recover": {"device_id": "0x74a5", "vram_mib": 2048, "serial": "0xe01",
                     "second_function": "audio"}},
        {"await": "holder@victim", "seconds": 3},
        {"ask": {"do": "status"}, "on": "bystander", "is": {"/state": "ones", "/a/b": 7}},
        {"ask": {"do": "status"}, "on": "bystander", "more": {"/hive/reads": 4}},
        {"lose": "link_down", "ones_s": 0.4}
    ],
    "checks": ["replug"],
    "limits": {"removal_s": 20, "clients_s": 5, "replug_s": 30, "stall_s": 1, "watch_s": 30,
               "accesses": 7},
    "fresh_boot": true, "cycles": 3, "alone": true
})",
                                         "x.json");
    ASSERT_TRUE(scenario) << scenario.error().message;
    EXPECT_EQ(scenario->id, "surprise-2");
    EXPECT_EQ(scenario->tags, (std::vector<std::string>{"flagship", "smoke"}));
    EXPECT_EQ(scenario->reports, std::vector<std::string>{"https://example.org/issues/7"});
    ASSERT_EQ(scenario->variants.size(), 3U);
    EXPECT_FALSE(scenario->variants[1].tags);
    EXPECT_EQ(scenario->variants[2].tags, std::vector<std::string>{"more"});
    EXPECT_EQ(scenario->variants[2].steps.size(), 1U);
    EXPECT_EQ(scenario->variants[0].name, "idle") << "variants keep the file's order";
    ASSERT_EQ(scenario->steps.size(), 13U);
    const auto& tell = std::get<TellStep>(scenario->steps[1]);
    EXPECT_EQ(tell.answer, "read");
    EXPECT_EQ(tell.deadline, std::chrono::seconds(6));
    const auto& recover = std::get<RecoverStep>(scenario->steps[8]);
    EXPECT_EQ(recover.replacement.device_id, 0x74a5);
    EXPECT_EQ(recover.replacement.vram_mib, 2048U);
    EXPECT_EQ(recover.replacement.serial, 0xe01U);
    EXPECT_EQ(recover.replacement.second_function, SecondFunction::audio);
    EXPECT_EQ(std::get<WaitStep>(scenario->steps[3]).deadline, std::chrono::milliseconds(2500));
    const auto& lose = std::get<LoseStep>(scenario->steps[2]);
    EXPECT_EQ(lose.loss, Loss::surprise);
    EXPECT_EQ(lose.meanwhile, "sync");
    EXPECT_EQ(lose.meanwhile_deadline, std::chrono::seconds(4));
    EXPECT_FALSE(lose.ones);
    EXPECT_EQ(std::get<LoseStep>(scenario->steps[12]).ones, std::chrono::milliseconds(400));
    EXPECT_EQ(std::get<ShellStep>(scenario->steps[4]).deadline, std::chrono::seconds(5));
    EXPECT_EQ(std::get<ShellStep>(scenario->steps[4]).reaches, "y");
    const auto& emulate = std::get<EmulateStep>(scenario->steps[5]);
    EXPECT_EQ(emulate.request, (nlohmann::json{{"do", "vanish_after"}, {"accesses", 9}}));
    EXPECT_EQ(emulate.on, Role::bystander);
    EXPECT_EQ(std::get<AwaitStep>(scenario->steps[9]).deadline, std::chrono::seconds(3));
    const auto& ask = std::get<AskStep>(scenario->steps[10]);
    EXPECT_EQ(ask.request, (nlohmann::json{{"do", "status"}}));
    EXPECT_EQ(ask.on, Role::bystander);
    EXPECT_EQ(ask.is, (std::vector<std::pair<std::string, nlohmann::json>>{{"/state", "ones"},
                                                                           {"/a/b", 7}}));
    EXPECT_EQ(std::get<AskStep>(scenario->steps[11]).more,
              (std::vector<std::pair<std::string, uint64_t>>{{"/hive/reads", 4}}));
    EXPECT_EQ(scenario->limits.removal, std::chrono::seconds(20));
    EXPECT_EQ(scenario->limits.watch, std::chrono::seconds(30));
    EXPECT_EQ(scenario->limits.accesses, 7U);
    EXPECT_EQ(scenario->requires_.kernel_options, std::vector<std::string>{"CONFIG_KASAN"});
    EXPECT_EQ(scenario->requires_.programs, std::vector<std::string>{"lspci"});
    EXPECT_TRUE(scenario->fresh_boot);
    EXPECT_EQ(scenario->cycles, 3U);
    EXPECT_TRUE(scenario->alone);
}

struct Bad {
    const char* text;
    const char* error;
};

class ScenarioParserError : public testing::TestWithParam<Bad> {};

TEST_P(ScenarioParserError, SaysWhereAndWhat) {
    const auto scenario = parse_scenario(GetParam().text, "x.json");
    ASSERT_FALSE(scenario);
    EXPECT_EQ(scenario.error().message.substr(0, std::string(GetParam().error).size()),
              GetParam().error);
    EXPECT_EQ(scenario.error().message.find('\n'), std::string::npos);
}

#define SCENARIO(members) "{\"id\": \"a\", \"description\": \"d\", " members "}"
#define STEPS(steps) SCENARIO("\"steps\": [" steps "]")

INSTANTIATE_TEST_SUITE_P(
    All, ScenarioParserError,
    testing::Values(
        Bad{"{\n  \"id\": ]", "x.json:2:9: syntax error"}, Bad{"", "x.json:1:1: "},
        Bad{"[]", "x.json: /: expected an object with members from: id, description"},
        Bad{"{}", "x.json: /: member 'id' is missing"},
        Bad{R"({"id": "A b", "description": "d", "steps": []})",
            "x.json: /id: 'A b' is no name: a-z, 0-9 and - are allowed"},
        Bad{R"({"id": "a", "description": "", "steps": []})",
            "x.json: /description: expected a text that is not empty"},
        Bad{SCENARIO(R"("tests": 1, "steps": [])"),
            "x.json: /: unknown member 'tests', allowed: id, description, tags"},
        Bad{SCENARIO(R"("steps": 5)"), "x.json: /steps: expected a list"},
        Bad{STEPS(R"({"lsoe": "hang"})"),
            "x.json: /steps/0: no such step, allowed: start, tell, stop, await, lose, "
            "emulate"},
        Bad{STEPS(R"(7)"), "x.json: /steps/0: no such step, allowed: start"},
        Bad{STEPS(R"({"lose": "explode"})"),
            "x.json: /steps/0/lose: no way to lose a GPU is called 'explode', allowed: device_del, "
            "slot_power"},
        Bad{STEPS(R"({"lose": ["hang"]})"),
            "x.json: /steps/0/lose: nothing to draw from: name one way, or a list of two and more"},
        Bad{STEPS(R"({"lose": ["hang", "surprise", "hang"]})"),
            "x.json: /steps/0/lose/2: 'hang' a second time"},
        Bad{STEPS(R"({"lose": ["hang", "explode"]})"),
            "x.json: /steps/0/lose/1: no way to lose a GPU is called 'explode'"},
        Bad{STEPS(R"({"lose": ["hang", "surprise"]})"),
            "x.json: /cycles: a list of losses is gone through from cycle to cycle"},
        Bad{STEPS(R"({"lose": "hang", "on": "victim"})"),
            "x.json: /steps/0: unknown member 'on', allowed: lose"},
        Bad{STEPS(R"({"lose": "hang", "seconds": 5})"),
            "x.json: /steps/0: 'seconds' belongs to 'meanwhile'"},
        Bad{STEPS(R"({"lose": "hang", "meanwhile": ""})"),
            "x.json: /steps/0/meanwhile: expected a text that is not empty"},
        Bad{STEPS(R"({"lose": "at_access"})"),
            "x.json: /steps/0: 'at_access' and the member 'during' need each other"},
        Bad{STEPS(R"({"lose": "hang", "during": "true"})"),
            "x.json: /steps/0: 'at_access' and the member 'during' need each other"},
        Bad{STEPS(R"({"lose": "hang", "ones_s": 1})"),
            "x.json: /steps/0: 'ones_s' belongs to 'link_down' and 'link_down_fatal'"},
        Bad{STEPS(R"({"recover": {"second_function": "usb"}})"),
            "x.json: /steps/0/recover/second_function: no such second function 'usb', allowed: "
            "driverless, audio"},
        Bad{STEPS(R"({"lose": "hang"}, {"recover": {"serial": "0"}})"),
            "x.json: /steps/1/recover/serial: '0' is no serial number: want 1 to 2^64 - 1, as "
            "0xe01"},
        Bad{STEPS(R"({"lose": ["hang", "at_access"]})"),
            "x.json: /steps/0/lose/1: 'at_access' needs a step of its own"},
        Bad{STEPS(R"({"start": "a", "on": "me"})"),
            "x.json: /steps/0/on: no such GPU 'me', allowed: victim, bystander"},
        Bad{STEPS(R"({"lose": "hang"}, {"recover": {"device_id": "74a5"}})"),
            "x.json: /steps/1/recover/device_id: '74a5' is no device id: write it as \"0x74a5\""},
        Bad{STEPS(R"({"lose": "hang"}, {"recover": {"vram_mib": 1}})"),
            "x.json: /steps/1/recover/vram_mib: expected a whole number from 256 to 65536"},
        Bad{STEPS(R"({"expect": ["log_clean"]})"),
            "x.json: /steps/0/expect/0: no such check 'log_clean', allowed: removed"},
        Bad{STEPS(R"({"settle": -1})"),
            "x.json: /steps/0/settle: expected seconds: a number above 0, at most 3600"},
        Bad{STEPS(R"({"recover": {}})"), "x.json: /steps: step 'recover' has no loss before it"},
        Bad{STEPS(R"({"lose": "hang"}, {"lose": "hang"})"),
            "x.json: /steps: step 'lose hang' loses a GPU that is lost already"},
        Bad{STEPS(R"({"tell": "holder@victim", "line": "x"})"),
            "x.json: /steps: step 'tell holder@victim 'x'' names a client that no step before"},
        Bad{STEPS(R"({"tell": "a@victim", "line": "x", "seconds": 1})"),
            "x.json: /steps/0: 'seconds' belongs to 'answer'"},
        Bad{STEPS(R"({"emulate": "vanish"})"),
            "x.json: /steps/0/emulate: expected a request of the emulator's control socket"},
        Bad{STEPS(R"({"ask": {"do": "status"}, "is": {"reads": 1}})"),
            "x.json: /steps/0/is/reads: 'reads' is no place in an answer: write /hive/reads"},
        Bad{STEPS(R"({"ask": {"do": "status"}, "is": {"/state": []}})"),
            "x.json: /steps/0/is//state: expected a text, a whole number, true or false"},
        Bad{STEPS(R"({"ask": {"do": "status"}, "is": {}})"),
            "x.json: /steps/0/is: names no place in the answer"},
        Bad{STEPS(R"({"ask": {"do": "status"}, "more": {"/hive/reads": 0}})"),
            "x.json: /steps/0/more//hive/reads: expected a whole number from 1"},
        Bad{STEPS(R"({"ask": {"do": "status"}}, )"
                  R"({"ask": {"do": "status"}, "on": "bystander", "more": {"/hive/reads": 1}})"),
            "x.json: /steps: step 'ask {\"do\":\"status\"} of bystander' says 'more', and no step "
            "before it asks that GPU"},
        Bad{STEPS(R"({"start": "a"}, {"await": "a@victim"}, {"stop": "a@victim"})"),
            "x.json: /steps: step 'stop a@victim' names a client that no step before"},
        Bad{STEPS(R"({"start": "a"}, {"start": "a"})"),
            "x.json: /steps: step 'start a@victim' starts a client a second time"},
        Bad{STEPS(R"({"shell": "a", "reaches": "b"}, {"shell": "c", "reaches": "b"})"),
            "x.json: /steps: step 'shell c' reaches 'b' a second time"},
        Bad{STEPS(R"({"start": "holdr"})"),
            "x.json: /steps: step 'start holdr@victim': 'holdr' is no client of ours, nor named in "
            "/requires/programs; did you mean 'holder'?"},
        Bad{SCENARIO(
                R"("variants": {"v": [{"start": "holder", "options": ["--all"]}]}, "steps": [])"),
            "x.json: /variants/v: step 'start holder@victim': holder has no option '--all'"},
        Bad{SCENARIO(R"("variants": {"v": [{"lose": "hang"}]}, "steps": [{"lose": "hang"}])"),
            "x.json: /variants/v: step 'lose hang' loses a GPU that is lost already"},
        Bad{SCENARIO(R"("variants": {"v": {"steps": []}}, "steps": [])"),
            "x.json: /variants/v: has neither tags nor parameters"},
        Bad{SCENARIO(R"("variants": {}, "steps": [])"),
            "x.json: /variants: no variant: leave the member out"},
        Bad{SCENARIO(R"("checks": ["fine"], "steps": [])"),
            "x.json: /checks/0: no such check 'fine', allowed: removed"},
        Bad{SCENARIO(R"("limits": {"removal": 1}, "steps": [])"),
            "x.json: /limits: unknown member 'removal', allowed: removal_s"},
        Bad{SCENARIO(R"("requires": {"kernel_options": ["KASAN"]}, "steps": [])"),
            "x.json: /requires/kernel_options/0: kernel options begin with CONFIG_"},
        Bad{SCENARIO(R"("reports": ["example.org"], "steps": [])"),
            "x.json: /reports/0: no link: write https://HOST/PATH"},
        Bad{SCENARIO(R"("fresh_boot": 1, "steps": [])"),
            "x.json: /fresh_boot: expected true or false"},
        Bad{SCENARIO(R"("requires": {"gpus": 1}, "cycles": 2, "steps": [])"),
            "x.json: /cycles: victims alternate, so two GPUs are needed"},
        Bad{SCENARIO(R"("tags": ["a"], "steps": [], "tags": ["b"])"),
            "x.json: /tags: named a second time"},
        Bad{STEPS(R"({"settle": 1}, {"settle": 1, "settle": 2})"),
            "x.json: /steps/1/settle: named a second time"},
        Bad{SCENARIO(R"("setup": [{"lose": "hang"}], "variants": {"v": [{"lose": "hang"}]}, )"
                     R"("steps": [])"),
            "x.json: /variants/v: step 'lose hang' loses a GPU that is lost already"},
        Bad{SCENARIO(R"("setup": [], "steps": [])"), "x.json: /: 'setup' belongs to 'variants'"},
        Bad{STEPS(R"({"shell": ["../x.sh"]})"),
            "x.json: /steps/0/shell: expected a script's name, as in [\"holder.sh\""},
        Bad{SCENARIO(R"("alone": true, "steps": [])"),
            "x.json: /alone: is about cycles: say how many"},
        Bad{SCENARIO(R"("pool_s": 9, "steps": [])"),
            "x.json: /pool_s: a trial is named by a variant: there is none"},
        Bad{SCENARIO(R"("pool_s": 9, "variants": {"v": [{"settle": 1}]}, "steps": [])"),
            "x.json: /pool_s: a trial of the pool has neither steps nor checks nor cycles"}));

TEST(ScenarioParser, TrialsOfThePoolAreNamedByVariants) {
    const auto scenario =
        parse_scenario(SCENARIO(R"("pool_s": 9, "variants": {"swap": []}, "steps": [])"), "x.json");
    ASSERT_TRUE(scenario) << scenario.error().message;
    EXPECT_EQ(scenario->pool, std::chrono::seconds(9));
}

TEST(ScenarioParser, ScriptsAreReadFromTheFolderBeside) {
    hp::TempTree tree;
    tree.file("10-a.json", R"({"id": "a", "description": "d",
        "setup": [{"start": ["hold.sh", "$VICTIM_NODE"]}], "variants": {"v": [{"shell": ["use.sh"]}]},
        "steps": [{"shell": ["use.sh", "1", "2"]}]})");
    tree.file("guest/hold.sh", "hold $1\n");
    tree.file("guest/use.sh", "use $2\n");
    const auto scenario = load_scenario(tree.root() / "10-a.json");
    ASSERT_TRUE(scenario) << scenario.error().message;
    const auto& start = std::get<StartStep>(scenario->setup[0]);
    EXPECT_EQ(start.name(), "sh@victim");
    EXPECT_EQ(start.script->options(),
              (std::vector<std::string>{"-c", "hold $1\n", "hold.sh", "$VICTIM_NODE"}));
    EXPECT_EQ(std::get<ShellStep>(scenario->variants[0].steps[0]).argv(),
              (std::vector<std::string>{"sh", "-c", "use $2\n", "use.sh"}));
    EXPECT_EQ(std::get<ShellStep>(scenario->steps[0]).argv(),
              (std::vector<std::string>{"sh", "-c", "use $2\n", "use.sh", "1", "2"}));
    EXPECT_EQ(describe(scenario->steps[0]), "shell use.sh 1 2");
    EXPECT_EQ(describe(scenario->setup[0]), "start hold.sh $VICTIM_NODE as sh@victim");

    tree.file("20-b.json", R"({"id": "b", "description": "d", "steps": [{"shell": ["no.sh"]}]})");
    const auto missing = load_scenario(tree.root() / "20-b.json");
    ASSERT_FALSE(missing);
    EXPECT_NE(missing.error().message.find("20-b.json: "), std::string::npos);
    EXPECT_NE(missing.error().message.find("guest/no.sh: cannot be read"), std::string::npos);
}

TEST(ScenarioParser, FileThatIsNotThereIsNamed) {
    const auto scenario = load_scenario("no/such.json");
    ASSERT_FALSE(scenario);
    EXPECT_EQ(scenario.error().message, "no/such.json: cannot read this scenario");
}

}  // namespace
}  // namespace hotplug
