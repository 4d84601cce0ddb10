// SPDX-License-Identifier: GPL-2.0
// Purpose: the parameters of variants: where they are filled in, and which are refused.
// Thread: one.
#include "hotplug/scenario/parameters.h"

#include <gtest/gtest.h>

#include "hotplug/scenario/parser.h"

namespace hotplug {
namespace {

hp::Result<Scenario> parse(const std::string& with) {
    return parse_scenario(R"({"id": "a", "description": "d",
        "setup": [{"start": "drm_submitter", "options": ["--pause", "$PAUSE"]}],
        "variants": {"v": {"with": )" +
                              with + R"(, "steps": [{"lose": "hang", "meanwhile": "echo $WORD"}]}},
        "steps": [
            {"shell": "echo $WORD $WORDS $VICTIM '$WORD'", "output": "$WORD"},
            {"shell": ["reset.sh", "$WORD"]},
            {"wait": "said $WORD"},
            {"tell": "drm_submitter@victim", "line": "$WORD"},
            {"start": "sh", "options": ["-c", "$WORD"]}
        ]})",
                          "x.json");
}

TEST(Parameters, AreFilledInWhereverTheGuestIsGivenAText) {
    const auto scenario = parse(R"({"WORD": "a|b", "PAUSE": "100"})");
    ASSERT_TRUE(scenario) << scenario.error().message;
    const auto steps = steps_of(*scenario, &scenario->variants[0]);
    ASSERT_EQ(steps.size(), 7U);
    EXPECT_EQ(std::get<StartStep>(steps[0]).options, (std::vector<std::string>{"--pause", "100"}));
    EXPECT_EQ(std::get<LoseStep>(steps[1]).meanwhile, "echo a|b");
    const auto& shell = std::get<ShellStep>(steps[2]);
    EXPECT_EQ(shell.command, "echo a|b $WORDS $VICTIM 'a|b'") << "$WORDS is another one";
    EXPECT_EQ(shell.output, "a|b");
    EXPECT_EQ(std::get<ShellStep>(steps[3]).script->arguments, std::vector<std::string>{"a|b"});
    EXPECT_EQ(std::get<WaitStep>(steps[4]).text, "said a|b");
    EXPECT_EQ(std::get<TellStep>(steps[5]).line, "a|b");
    EXPECT_EQ(std::get<StartStep>(steps[6]).options, (std::vector<std::string>{"-c", "a|b"}));
    EXPECT_EQ(scenario->id, "a");
}

TEST(Parameters, ValueIsNotFilledInAgain) {
    const auto scenario = parse(R"({"WORD": "$WORD", "PAUSE": "1"})");
    ASSERT_TRUE(scenario) << scenario.error().message;
    EXPECT_EQ(std::get<WaitStep>(steps_of(*scenario, &scenario->variants[0])[4]).text,
              "said $WORD");
}

TEST(Parameters, OneThatNoStepHasIsRefused) {
    const auto scenario = parse(R"({"WORD": "a", "PAUSE": "1", "OTHER": "b"})");
    ASSERT_FALSE(scenario);
    EXPECT_EQ(scenario.error().message,
              "x.json: /variants/v/with/OTHER: no step of the row has $OTHER");
}

TEST(Parameters, RulesSeeTheValue) {
    const auto scenario = parse(R"({"WORD": "a", "PAUSE": "--no-such-option"})");
    ASSERT_FALSE(scenario);
    EXPECT_NE(scenario.error().message.find("--no-such-option"), std::string::npos)
        << scenario.error().message;
}

TEST(Parameters, NamesOfTheRunnerAreTaken) {
    EXPECT_TRUE(is_parameter_name("TEST"));
    EXPECT_TRUE(is_parameter_name("VICTIMS"));
    for (const char* name : {"", "test", "1A", "_A", "A-B", "VICTIM", "VICTIM_ID", "BYSTANDER"}) {
        EXPECT_FALSE(is_parameter_name(name)) << name;
        EXPECT_FALSE(parse(std::string("{\"") + name + R"(": "a", "WORD": "a", "PAUSE": "1"})"));
    }
    EXPECT_FALSE(parse("{}"));
    EXPECT_FALSE(parse(R"({"WORD": 1, "PAUSE": "1"})"));
}

}  // namespace
}  // namespace hotplug
