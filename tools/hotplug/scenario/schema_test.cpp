// SPDX-License-Identifier: GPL-2.0
// Purpose: the schema and the parser agree: on all scenarios we ship, and on what both refuse.
// Thread: one. Does not model: more of JSON Schema than we emit; another keyword fails the test.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "hotplug/scenario/parser.h"
#include "hotplug/scenario/steps.h"

namespace hotplug {
namespace {

using json = nlohmann::ordered_json;

class SchemaChecker {
public:
    explicit SchemaChecker(json root) : root_(std::move(root)) {}

    bool accepts(const json& value) const { return accepts(root_, value); }

private:
    static bool is(const std::string& type, const json& value) {
        return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
               (type == "string" && value.is_string()) ||
               (type == "boolean" && value.is_boolean()) ||
               (type == "integer" && value.is_number_integer()) ||
               (type == "number" && value.is_number());
    }

    bool any(const json& schemas, const json& value, size_t least, size_t most) const {
        const auto count = static_cast<size_t>(
            std::count_if(schemas.begin(), schemas.end(),
                          [&](const json& schema) { return accepts(schema, value); }));
        return count >= least && count <= most;
    }

    bool accepts_member(const json& schema, const std::string& name, const json& value) const {
        if (schema.contains("properties") && schema["properties"].contains(name)) {
            return accepts(schema["properties"][name], value);
        }
        return !schema.contains("additionalProperties") ||
               accepts(schema["additionalProperties"], value);
    }

    bool accepts_members(const json& schema, const json& value) const {
        return std::all_of(value.items().begin(), value.items().end(), [&](const auto& member) {
            return accepts_member(schema, member.key(), member.value());
        });
    }

    // As JSON Schema has it, a keyword about objects says nothing of what is none.
    bool holds(const json& schema, const std::string& keyword, const json& what,
               const json& value) const {
        if (keyword == "$ref") {
            return accepts(root_.at(json::json_pointer(what.get<std::string>().substr(1))), value);
        }
        if (keyword == "type") {
            return what.is_string() ? is(what, value)
                                    : std::any_of(what.begin(), what.end(), [&](const json& type) {
                                          return is(type, value);
                                      });
        }
        if (keyword == "enum") {
            return std::find(what.begin(), what.end(), value) != what.end();
        }
        if (keyword == "const") {
            return value == what;
        }
        if (keyword == "minLength") {
            return !value.is_string() || value.get<std::string>().size() >= what;
        }
        if (keyword == "pattern") {
            return !value.is_string() ||
                   std::regex_search(value.get<std::string>(), std::regex(what.get<std::string>()));
        }
        if (keyword == "minimum") {
            return !value.is_number() || value >= what;
        }
        if (keyword == "maximum") {
            return !value.is_number() || value <= what;
        }
        if (keyword == "exclusiveMinimum") {
            return !value.is_number() || value > what;
        }
        if (keyword == "prefixItems") {
            return !value.is_array() || value.empty() || accepts(what.at(0), value.at(0));
        }
        if (keyword == "items") {
            const auto first = schema.contains("prefixItems") ? schema.at("prefixItems").size() : 0;
            return !value.is_array() || value.size() <= first ||
                   std::all_of(value.begin() + static_cast<std::ptrdiff_t>(first), value.end(),
                               [&](const json& element) { return accepts(what, element); });
        }
        if (keyword == "minItems") {
            return !value.is_array() || value.size() >= what;
        }
        if (keyword == "uniqueItems") {
            return !value.is_array() || std::all_of(value.begin(), value.end(), [&](const json& e) {
                return std::count(value.begin(), value.end(), e) == 1;
            });
        }
        if (keyword == "required") {
            return !value.is_object() ||
                   std::all_of(what.begin(), what.end(), [&](const json& name) {
                       return value.contains(name.get<std::string>());
                   });
        }
        if (keyword == "minProperties") {
            return !value.is_object() || value.size() >= what;
        }
        if (keyword == "propertyNames") {
            return !value.is_object() ||
                   std::all_of(value.items().begin(), value.items().end(),
                               [&](const auto& member) { return accepts(what, member.key()); });
        }
        if (keyword == "dependentRequired") {
            return !value.is_object() ||
                   std::all_of(what.items().begin(), what.items().end(), [&](const auto& each) {
                       return !value.contains(each.key()) ||
                              holds(schema, "required", each.value(), value);
                   });
        }
        if (keyword == "properties" || keyword == "additionalProperties") {
            return !value.is_object() || accepts_members(schema, value);
        }
        if (keyword == "anyOf") {
            return any(what, value, 1, what.size());
        }
        if (keyword == "oneOf") {
            return any(what, value, 1, 1);
        }
        if (keyword == "if") {
            const char* branch = accepts(what, value) ? "then" : "else";
            return accepts(schema.at(branch), value);
        }
        const bool says_nothing = keyword == "description" || keyword == "title" ||
                                  keyword == "then" || keyword == "else" || keyword == "$defs" ||
                                  keyword == "$schema";
        EXPECT_TRUE(says_nothing) << keyword;
        return says_nothing;
    }

    bool accepts(const json& schema, const json& value) const {
        if (schema.is_boolean()) {
            return schema.get<bool>();
        }
        return std::all_of(schema.items().begin(), schema.items().end(), [&](const auto& member) {
            return holds(schema, member.key(), member.value(), value);
        });
    }

    json root_;
};

TEST(ScenarioSchema, AcceptsEveryScenarioWeShip) {
    const SchemaChecker schema(scenario_schema());
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(HP_SOURCE_SCENARIOS)) {
        if (entry.path().extension() == ".json") {
            std::ifstream text(entry.path());
            EXPECT_TRUE(schema.accepts(json::parse(text, nullptr, true, true))) << entry.path();
            ++count;
        }
    }
    EXPECT_GT(count, 90U);
}

// The good ones show that it is the bad member for which both refuse the others.
TEST(ScenarioSchema, RefusesWhatTheParserRefuses) {
    const SchemaChecker schema(scenario_schema());
    const auto agree = [&](const std::string& members, bool good) {
        const std::string text = R"({"id": "a", "description": "d")" + members + "}";
        EXPECT_EQ(parse_scenario(text, "x.json").has_value(), good) << text;
        EXPECT_EQ(schema.accepts(json::parse(text)), good) << text;
    };
    agree(R"(, "$schema": "scenario.schema.json", "steps": [{"start": "holder"}, {"lose": "hang"},
             {"recover": {"device_id": "0x74a5"}}])",
          true);
    agree(
        R"(, "cycles": 2, "steps": [{"lose": ["hang", "surprise"], "meanwhile": "x", "seconds": 1}])",
        true);
    agree(R"(, "steps": [{"lose": "at_access", "during": "true"}])", true);
    agree(R"(, "setup": [{"start": ["holder.sh", "$VICTIM"]}], "variants": {"a": []},
             "steps": [{"shell": ["used-memory.sh"], "seconds": 5}, {"stop": "sh@victim"}])",
          true);
    agree(R"(, "variants": {"a": [], "b": {"tags": ["t"], "steps": []}}, "steps": [])", true);
    agree(R"(, "variants": {"a": {"with": {"W": "x"}}}, "steps": [{"shell": "$W"}])", true);
    agree(R"(, "steps": [], "may_log": ["ring reset"])", true);
    agree(R"(, "steps": [], "may_log": [""])", false);
    agree(R"(, "variants": {"a": {"with": {"w": "x"}}}, "steps": [{"shell": "$w"}])", false);
    agree(R"(, "variants": {"a": {"with": {}, "tags": ["t"]}}, "steps": [])", false);
    agree("", false);
    agree(R"(, "steps": 5)", false);
    agree(R"(, "steps": [], "tests": 1)", false);
    agree(R"(, "steps": [], "$schema": 1)", false);
    agree(R"(, "steps": [], "variants": {})", false);
    agree(R"(, "steps": [], "setup": [])", false);
    agree(R"(, "steps": [], "variants": {"v": {"steps": []}})", false);
    agree(R"(, "steps": [], "checks": ["fine"])", false);
    agree(R"(, "steps": [], "checks": ["log_clean"])", false);
    agree(R"(, "steps": [], "limits": {"removal": 1})", false);
    agree(R"(, "steps": [], "limits": {"removal_s": 0})", false);
    agree(R"(, "steps": [], "limits": {"removal_s": 3601})", false);
    agree(R"(, "steps": [], "requires": {"kernel_options": ["KASAN"]})", false);
    agree(R"(, "steps": [], "requires": {"gpus": 9})", false);
    agree(R"(, "steps": [], "tags": ["A b"])", false);
    agree(R"(, "steps": [], "reports": ["https://example.org/issues/7"])", true);
    agree(R"(, "steps": [], "reports": ["https://"])", false);
    agree(R"(, "steps": [], "reports": ["https://example.org /"])", false);
    agree(R"(, "steps": [], "fresh_boot": 1)", false);
    for (const char* step : {R"({"lsoe": "hang"})",
                             "7",
                             R"({"lose": "explode"})",
                             R"({"lose": ["hang"]})",
                             R"({"lose": "hang", "on": "victim"})",
                             R"({"lose": "hang", "seconds": 5})",
                             R"({"lose": "hang", "meanwhile": ""})",
                             R"({"lose": "at_access"})",
                             R"({"lose": "hang", "during": "true"})",
                             R"({"start": "a", "on": "me"})",
                             R"({"start": ""})",
                             R"({"expect": ["log_clean"]})",
                             R"({"settle": -1})",
                             R"({"shell": []})",
                             R"({"shell": ["../x.sh"]})",
                             R"({"shell": ["x"]})",
                             R"({"shell": [".sh"]})",
                             R"({"shell": ["x.sh", 1]})",
                             R"({"start": ["x.sh", ""]})",
                             R"({"emulate": "vanish"})",
                             R"({"emulate": {"do": 1}})",
                             R"({"ask": {"do": "status"}, "is": {"reads": 1}})",
                             R"({"ask": {"do": "status"}, "is": {"/state": []}})",
                             R"({"ask": {"do": "status"}, "is": {}})",
                             R"({"ask": {"do": "status"}, "more": {"/hive/reads": 0}})",
                             R"({"shell": "true", "status": 256})",
                             R"({"shell": "true", "stop": "a"})"}) {
        agree(std::string(R"(, "steps": [)") + step + "]", false);
    }
    for (const char* board : {R"({"device_id": "74a5"})", R"({"device_id": "0x174a5"})",
                              R"({"vram_mib": 1})", R"({"color": "red"})"}) {
        agree(std::string(R"(, "steps": [{"lose": "hang"}, {"recover": )") + board + "}]", false);
    }
    agree(R"(, "cycles": 2, "steps": [{"lose": ["hang", "surprise", "hang"]}])", false);
    agree(R"(, "cycles": 2, "steps": [{"lose": ["hang", "at_access"]}])", false);
}

TEST(ScenarioSchema, EachVerbStandsWhereItsStepDoes) {
    ASSERT_EQ(verbs().size(), std::variant_size_v<Step>);
    const std::vector<std::pair<const char*, const char*>> steps = {
        {R"({"start": "a"})", "start a@victim"},
        {R"({"tell": "a@victim", "line": "x"})", "tell a@victim 'x'"},
        {R"({"stop": "a@victim"})", "stop a@victim"},
        {R"({"await": "a@victim"})", "await the end of a@victim"},
        {R"({"lose": "hang"})", "lose hang"},
        {R"({"emulate": {"do": "hang"}})", "emulate {\"do\":\"hang\"} on victim"},
        {R"({"ask": {"do": "status"}})", "ask {\"do\":\"status\"} of victim"},
        {R"({"recover": {}})", "recover"},
        {R"({"shell": "true"})", "shell true"},
        {R"({"wait": "text"})", "wait for text"},
        {R"({"expect": ["removed"]})", "expect removed"},
        {R"({"settle": 1})", "settle 1000 ms"}};
    ASSERT_EQ(steps.size(), verbs().size());
    for (size_t i = 0; i < steps.size(); ++i) {
        const json value = json::parse(steps[i].first);
        const Step step = verbs()[i].read(Node(value, ""));
        EXPECT_EQ(step.index(), i) << verbs()[i].name;
        EXPECT_EQ(describe(step), steps[i].second);
    }
}

}  // namespace
}  // namespace hotplug
