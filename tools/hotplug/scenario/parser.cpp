// SPDX-License-Identifier: GPL-2.0
// Purpose: the tables of a scenario's own members (steps.h has those of steps).
// Thread: pure functions.
#include "hotplug/scenario/parser.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "hotplug/scenario/node.h"
#include "hotplug/scenario/object.h"
#include "hotplug/scenario/parameters.h"
#include "hotplug/scenario/rules.h"
#include "hotplug/scenario/steps.h"
#include "lib/json_text.h"

namespace hotplug {

namespace {

using json = nlohmann::ordered_json;

Kind<std::string> kernel_option_kind() {
    return {{{"type", "string"}, {"pattern", "^CONFIG_"}}, [](const Node& node) {
                const std::string option = node.text();
                if (!option.starts_with("CONFIG_")) {
                    node.refuse("kernel options begin with CONFIG_");
                }
                return option;
            }};
}

Kind<std::string> link_kind() {
    return {{{"type", "string"}, {"pattern", "^https://[^ ]+$"}}, [](const Node& node) {
                const std::string link = node.text();
                if (!link.starts_with("https://") || link.find(' ') != std::string::npos ||
                    link == "https://") {
                    node.refuse("no link: write https://HOST/PATH");
                }
                return link;
            }};
}

const Object<Requirements>& requirements_object() {
    static const Object<Requirements> object = {
        .members = {may("gpus", &Requirements::gpus, integer_kind(1, 8), "how many (2)"),
                    may("kernel_options", &Requirements::kernel_options,
                        list_kind(kernel_option_kind()), "of the guest's kernel"),
                    may("programs", &Requirements::programs, list_kind(text_kind()),
                        "of the guest's image"),
                    may("profiles", &Requirements::profiles, list_kind(text_kind()),
                        "the GPU is one of these"),
                    may("switch", &Requirements::behind_switch, boolean_kind(),
                        "the GPUs are behind a PCIe switch")}};
    return object;
}

const Object<Limits>& limits_object() {
    static const Object<Limits> object = {
        .members = {
            may("removal_s", &Limits::removal, seconds_kind(), "of the removal (10)"),
            may("clients_s", &Limits::clients, seconds_kind(), "until clients have ended (10)"),
            may("replug_s", &Limits::replug, seconds_kind(), "from replug to first job (60)"),
            may("stall_s", &Limits::stall, seconds_kind(), "of the bystander's clients (10)"),
            may("watch_s", &Limits::watch, seconds_kind(),
                "no verdict: how long a removal is watched at most (300)"),
            may("accesses", &Limits::accesses, integer_kind(0, 1'000'000'000),
                "to the absent GPU (0)")}};
    return object;
}

Kind<std::vector<std::string>> tags_kind() {
    return list_kind(name_kind());
}

Kind<std::vector<std::pair<std::string, std::string>>> parameters_kind() {
    return {{{"type", "object"},
             {"minProperties", 1},
             {"propertyNames", json::object({{"pattern", "^[A-Z][A-Z0-9_]*$"}})},
             {"additionalProperties", text_kind().schema}},
            [](const Node& node) {
                std::vector<std::pair<std::string, std::string>> parameters;
                for (const auto& [name, value] : node.members()) {
                    if (!is_parameter_name(name)) {
                        value.refuse(
                            "no name for a parameter: write capitals, and none that the "
                            "runner fills in");
                    }
                    parameters.emplace_back(name, value.text());
                }
                if (parameters.empty()) {
                    node.refuse("names no parameter");
                }
                return parameters;
            }};
}

/// Its steps, or an object with what else is its own.
Kind<Variant> variant_kind() {
    const auto steps = list_kind(step_kind());
    const Object<Variant> object = {
        .members = {may("tags", &Variant::tags, tags_kind(), "instead of the scenario's"),
                    may("with", &Variant::with, parameters_kind(),
                        "parameters: what $NAME stands for in the steps"),
                    may("steps", &Variant::steps, steps, "before the scenario's")},
        .rule =
            [](const Node& node, const Variant& variant) {
                if (!variant.tags && variant.with.empty()) {
                    node.refuse("has neither tags nor parameters: write the list of its steps");
                }
            },
        .rule_schema = {
            {"anyOf", json::array({json::object({{"required", json::array({"tags"})}}),
                                   json::object({{"required", json::array({"with"})}})})}}};
    return {json::object({{"anyOf", json::array({steps.schema, object.schema()})}}),
            [steps, object](const Node& node) {
                return node.is_list() ? Variant{.name = {}, .steps = steps.read(node)}
                                      : object.read(node);
            }};
}

Kind<std::vector<Variant>> variants_kind() {
    const auto variant = variant_kind();
    return {{{"type", "object"}, {"minProperties", 1}, {"additionalProperties", variant.schema}},
            [variant](const Node& node) {
                std::vector<Variant> variants;
                for (const auto& [name, value] : node.members()) {
                    variants.push_back(variant.read(value));
                    variants.back().name = name;
                }
                if (variants.empty()) {
                    node.refuse("no variant: leave the member out");
                }
                return variants;
            }};
}

const Object<Scenario>& scenario_object() {
    static const Object<Scenario> object = {
        .members = {needs("id", &Scenario::id, name_kind(), "names it: unique"),
                    needs("description", &Scenario::description, text_kind(),
                          "completes \"This scenario ...\""),
                    may("tags", &Scenario::tags, tags_kind(), "sets for hpctl run TAG"),
                    may("reports", &Scenario::reports, list_kind(link_kind()),
                        "links to what users reported, which the rows do again"),
                    may("requires", &Scenario::requires_, requirements_object().kind(),
                        "the row is skipped where this is not so"),
                    may("setup", &Scenario::setup, list_kind(step_kind()),
                        "before each variant's steps"),
                    may("variants", &Scenario::variants, variants_kind(), "each is a row"),
                    needs("steps", &Scenario::steps, list_kind(step_kind()), "in order"),
                    may("checks", &Scenario::checks, list_kind(check_kind()), "judged at the end"),
                    may("may_log", &Scenario::may_log, list_kind(text_kind()),
                        "parts of the error lines that the steps may cause, each with its why"),
                    may("limits", &Scenario::limits, limits_object().kind(), "fail a check"),
                    may("fresh_boot", &Scenario::fresh_boot, boolean_kind(),
                        "the row gets a guest that ran no other"),
                    may("cycles", &Scenario::cycles, integer_kind(1, 1'000'000),
                        "the row is repeated that often, the victims alternate"),
                    may("alone", &Scenario::alone, boolean_kind(), "the cycles are tries, no soak"),
                    may("pool_s", &Scenario::pool, seconds_kind(),
                        "the variants are trials of the GPU pool, which take so long at most"),
                    // For editors, which complete a file by it.
                    {"$schema", false, "where the output of hpctl schema is", text_kind().schema,
                     [](const Node& node, Scenario&) { (void)node.text(); }}},
        .dependencies = {{"setup", "variants"}},
        .rule = [](const Node&, const Scenario& scenario) { check_scenario(scenario); }};
    return object;
}

hp::Result<std::string> read_file(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) {
        return hp::fail(fmt::format("{}: cannot be read", file.string()));
    }
    return text.str();
}

hp::Result<void> read_scripts(std::vector<Step>& steps, const std::filesystem::path& folder) {
    for (Step& step : steps) {
        std::optional<Script>* script = nullptr;
        if (auto* start = std::get_if<StartStep>(&step)) {
            script = &start->script;
        } else if (auto* shell = std::get_if<ShellStep>(&step)) {
            script = &shell->script;
        }
        if (script == nullptr || !*script) {
            continue;
        }
        auto text = read_file(folder / (*script)->name);
        if (!text) {
            return tl::unexpected(text.error());
        }
        (*script)->text = std::move(*text);
    }
    return {};
}

}  // namespace

hp::Result<Scenario> parse_scenario(std::string_view text, const std::string& file) {
    const auto value = hp::parse_json_text(text, file);
    if (!value) {
        return tl::unexpected(value.error());
    }
    try {
        Scenario scenario = scenario_object().read(Node(*value, ""));
        scenario.file = file;
        return scenario;
    } catch (const Refusal& refusal) {
        return hp::fail(fmt::format("{}: {}", file, refusal.what()));
    }
}

hp::Result<Scenario> load_scenario(const std::filesystem::path& file) {
    const auto text = read_file(file);
    if (!text) {
        return hp::fail(fmt::format("{}: cannot read this scenario", file.string()));
    }
    auto scenario = parse_scenario(*text, file.string());
    if (!scenario) {
        return scenario;
    }
    std::vector<std::vector<Step>*> lists = {&scenario->setup, &scenario->steps};
    for (Variant& variant : scenario->variants) {
        lists.push_back(&variant.steps);
    }
    for (std::vector<Step>* steps : lists) {
        if (auto read = read_scripts(*steps, file.parent_path() / "guest"); !read) {
            return hp::fail(fmt::format("{}: {}", file.string(), read.error().message));
        }
    }
    return scenario;
}

nlohmann::ordered_json scenario_schema() {
    json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                   {"title", "a scenario of hpctl"}};
    schema.update(scenario_object().schema());
    for (const Verb& verb : verbs()) {
        schema["$defs"][verb.name] = verb.schema;
    }
    return schema;
}

}  // namespace hotplug
