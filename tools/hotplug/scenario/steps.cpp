// SPDX-License-Identifier: GPL-2.0
// Purpose: see steps.h.
// Thread: see steps.h.
#include "hotplug/scenario/steps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "lib/serial_number.h"

namespace hotplug {

namespace {

using json = nlohmann::ordered_json;

json one_of(const std::vector<std::string_view>& names) {
    return json::object({{"enum", names}});
}

std::vector<std::string_view> loss_names() {
    std::vector<std::string_view> names;
    for (const LossKind& kind : all_loss_kinds()) {
        names.push_back(kind.name);
    }
    return names;
}

Loss read_loss(const Node& node) {
    const std::string name = node.text();
    if (const auto loss = parse_loss(name)) {
        return *loss;
    }
    node.refuse(fmt::format("no way to lose a GPU is called '{}', allowed: {}", name,
                            fmt::join(loss_names(), ", ")));
}

Kind<Role> role_kind() {
    return {one_of({to_string(Role::victim), to_string(Role::bystander)}), [](const Node& node) {
                const std::string name = node.text();
                for (const Role role : {Role::victim, Role::bystander}) {
                    if (name == to_string(role)) {
                        return role;
                    }
                }
                node.refuse(fmt::format("no such GPU '{}', allowed: victim, bystander", name));
            }};
}

Kind<nlohmann::json> request_kind() {
    return {{{"type", "object"},
             {"required", json::array({"do"})},
             {"properties", {{"do", json::object({{"type", "string"}})}}}},
            [](const Node& node) { return node.request(); }};
}

/// An object that is about places in an answer, by JSON pointer.
template <typename V>
Kind<std::vector<std::pair<std::string, V>>> places_kind(const Kind<V>& value) {
    return {{{"type", "object"},
             {"minProperties", 1},
             {"propertyNames", json::object({{"pattern", "^/[^~]*$"}})},
             {"additionalProperties", value.schema}},
            [value](const Node& node) {
                std::vector<std::pair<std::string, V>> places;
                for (const auto& [pointer, each] : node.members()) {
                    if (!pointer.starts_with('/') || pointer.find('~') != std::string::npos) {
                        each.refuse(fmt::format("'{}' is no place in an answer: write /hive/reads",
                                                pointer));
                    }
                    places.emplace_back(pointer, value.read(each));
                }
                if (places.empty()) {
                    node.refuse("names no place in the answer");
                }
                return places;
            }};
}

Kind<nlohmann::json> scalar_kind() {
    return {json::object({{"type", json::array({"string", "integer", "boolean"})}}),
            [](const Node& node) { return node.scalar(); }};
}

/// A text, or a list: the name of a file in scenarios/guest and its arguments.
template <typename T>
Member<T> command_member(const std::string& name, std::string T::*command,
                         const std::string& meaning) {
    const json script_name = {{"type", "string"}, {"pattern", "^[a-z0-9-]+\\.sh$"}};
    const json script = {{"type", "array"},
                         {"minItems", 1},
                         {"prefixItems", json::array({script_name})},
                         {"items", text_kind().schema}};
    return {name, true, meaning,
            json::object({{"anyOf", json::array({text_kind().schema, script})}}),
            [command](const Node& node, T& step) {
                if (!node.is_list()) {
                    step.*command = node.text();
                    return;
                }
                std::vector<std::string> words = list_kind(text_kind()).read(node);
                if (words.empty() || !words[0].ends_with(".sh") || words[0].size() == 3 ||
                    words[0].find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") !=
                        std::string::npos ||
                    words[0].find('.') != words[0].size() - 3) {
                    node.refuse("expected a script's name, as in [\"holder.sh\", \"$VICTIM\"]");
                }
                step.*command = "sh";
                step.script = Script{words[0], {words.begin() + 1, words.end()}};
            }};
}

template <typename T>
Verb verb(const std::string& meaning, const Object<T>& object,
          std::string (*describe)(const T& step)) {
    json schema = object.schema();
    schema["description"] = meaning;
    return {object.members.front().name, meaning, std::move(schema),
            [object](const Node& node) -> Step { return object.read(node); },
            [describe](const Step& step) { return describe(std::get<T>(step)); }};
}

Verb start_verb() {
    return verb<StartStep>(
        "starts a client, and waits until it is ready",
        {.members = {command_member("start", &StartStep::program,
                                    "a program of the guest; or a script and its arguments"),
                     may("on", &StartStep::on, role_kind(), "its GPU (victim)"),
                     may("options", &StartStep::options, list_kind(text_kind()),
                         "with the variables of 'shell'")}},
        [](const StartStep& step) {
            return step.script ? fmt::format("start {} as {}", step.script->line(), step.name())
                               : "start " + step.name();
        });
}

Verb tell_verb() {
    return verb<TellStep>(
        "gives a running client a line",
        {.members = {needs("tell", &TellStep::client, text_kind(), "PROGRAM@GPU"),
                     needs("line", &TellStep::line, text_kind(), "for its standard input"),
                     may("answer", &TellStep::answer, text_kind(),
                         "the state of the line that it answers with"),
                     may("seconds", &TellStep::deadline, seconds_kind(), "for the answer (10)")},
         .dependencies = {{"seconds", "answer"}}},
        [](const TellStep& step) { return fmt::format("tell {} '{}'", step.client, step.line); });
}

Verb stop_verb() {
    return verb<StopStep>(
        "ends a client with SIGTERM, then SIGKILL, and waits for its end",
        {.members = {needs("stop", &StopStep::client, text_kind(), "PROGRAM@GPU")}},
        [](const StopStep& step) { return "stop " + step.client; });
}

Verb await_verb() {
    return verb<AwaitStep>(
        "waits until a client ends by itself, with status 0",
        {.members = {needs("await", &AwaitStep::client, text_kind(), "PROGRAM@GPU"),
                     may("seconds", &AwaitStep::deadline, seconds_kind(), "how long (10)")}},
        [](const AwaitStep& step) { return "await the end of " + step.client; });
}

/// One way, or a list that seed and cycle draw from.
Member<LoseStep> how_to_lose() {
    std::vector<std::string_view> drawn = loss_names();
    std::erase(drawn, to_string(Loss::at_access));
    const json list = {
        {"type", "array"}, {"minItems", 2}, {"uniqueItems", true}, {"items", one_of(drawn)}};
    return {"lose", true, "the way, or ways that cycles go through in an order of the seed",
            json::object({{"anyOf", json::array({one_of(loss_names()), list})}}),
            [](const Node& how, LoseStep& step) {
                if (!how.is_list()) {
                    step.loss = read_loss(how);
                    return;
                }
                for (const Node& element : how.elements()) {
                    const Loss loss = read_loss(element);
                    if (loss == Loss::at_access) {
                        element.refuse("'at_access' needs a step of its own, with 'during'");
                    }
                    if (std::find(step.drawn_from.begin(), step.drawn_from.end(), loss) !=
                        step.drawn_from.end()) {
                        element.refuse(fmt::format("'{}' a second time", to_string(loss)));
                    }
                    step.drawn_from.push_back(loss);
                }
                if (step.drawn_from.size() < 2) {
                    how.refuse("nothing to draw from: name one way, or a list of two and more");
                }
            }};
}

Verb lose_verb() {
    const json at_access = {{"properties", {{"lose", {{"const", to_string(Loss::at_access)}}}}}};
    const std::vector<std::string_view> link_down = {to_string(Loss::link_down),
                                                     to_string(Loss::link_down_fatal)};
    return verb<LoseStep>(
        "loses the victim, and waits for the end of the removal",
        {.members = {how_to_lose(),
                     may("during", &LoseStep::during, text_kind(),
                         "at_access: a command for the guest's shell, plug or suspend"),
                     may("meanwhile", &LoseStep::meanwhile, text_kind(),
                         "a command for the guest's shell once the removal is announced"),
                     may("seconds", &LoseStep::meanwhile_deadline, seconds_kind(),
                         "for 'meanwhile' (10)"),
                     may("ones_s", &LoseStep::ones, seconds_kind(),
                         "link_down, link_down_fatal: how long reads are all ones (0.05)")},
         .dependencies = {{"seconds", "meanwhile"}},
         .rule =
             [](const Node& node, const LoseStep& step) {
                 const bool one = step.drawn_from.empty() && step.loss == Loss::at_access;
                 if (one == step.during.empty()) {
                     node.refuse("'at_access' and the member 'during' need each other");
                 }
                 if (step.ones && (!step.drawn_from.empty() ||
                                   kind_of(step.loss).failure != BoardFailure::link_down)) {
                     node.refuse("'ones_s' belongs to 'link_down' and 'link_down_fatal'");
                 }
             },
         .rule_schema = {{"if", {{"required", json::array({"ones_s"})}}},
                         {"then",
                          {{"properties", {{"lose", one_of(link_down)}, {"during", false}}}}},
                         {"else",
                          {{"if", at_access},
                           {"then", json::object({{"required", json::array({"during"})}})},
                           {"else", {{"properties", json::object({{"during", false}})}}}}}}},
        [](const LoseStep& step) {
            if (!step.during.empty()) {
                return fmt::format("lose {} of '{}'", to_string(step.loss), step.during);
            }
            return step.drawn_from.empty()
                       ? fmt::format("lose {}", to_string(step.loss))
                       : fmt::format("lose one of {} ways", step.drawn_from.size());
        });
}

Verb emulate_verb() {
    return verb<EmulateStep>(
        "sends a request to the GPU's emulator",
        {.members = {needs("emulate", &EmulateStep::request, request_kind(), "see protocols.md"),
                     may("on", &EmulateStep::on, role_kind(), "the GPU (victim)")}},
        [](const EmulateStep& step) {
            return fmt::format("emulate {} on {}", step.request.dump(), to_string(step.on));
        });
}

Verb ask_verb() {
    constexpr int64_t most = std::numeric_limits<int64_t>::max();
    const auto grown = integer_kind(1, most);
    const Kind<uint64_t> more = {grown.schema, [grown](const Node& node) {
                                     return static_cast<uint64_t>(grown.read(node));
                                 }};
    return verb<AskStep>(
        "asks the GPU's emulator, and judges the answer by JSON pointer",
        {.members = {needs("ask", &AskStep::request, request_kind(), "one that changes nothing"),
                     may("on", &AskStep::on, role_kind(), "the GPU (victim)"),
                     may("is", &AskStep::is, places_kind(scalar_kind()), "what the answer has"),
                     may("more", &AskStep::more, places_kind(more),
                         "by how much numbers have grown since that GPU was asked before")}},
        [](const AskStep& step) {
            return fmt::format("ask {} of {}", step.request.dump(), to_string(step.on));
        });
}

Kind<SecondFunction> second_function_kind() {
    return {one_of({"driverless", "audio"}), [](const Node& node) {
                const std::string name = node.text();
                if (name != "driverless" && name != "audio") {
                    node.refuse(fmt::format(
                        "no such second function '{}', allowed: driverless, audio", name));
                }
                return name == "audio" ? SecondFunction::audio : SecondFunction::driverless;
            }};
}

Verb recover_verb() {
    const Kind<uint16_t> device_id = {{{"type", "string"}, {"pattern", "^0x[0-9a-fA-F]{1,4}$"}},
                                      [](const Node& node) { return node.device_id(); }};
    const Kind<uint64_t> serial = {{{"type", "string"}, {"pattern", "^(0x[0-9a-fA-F]+|[0-9]+)$"}},
                                   [](const Node& node) {
                                       const auto number = hp::parse_serial(node.text());
                                       if (!number) {
                                           node.refuse(number.error().message);
                                       }
                                       return *number;
                                   }};
    const Object<Replacement> replacement = {
        .members = {
            may("device_id", &Replacement::device_id, device_id, "of another model"),
            may("vram_mib", &Replacement::vram_mib, integer_kind(256, 65536),
                "another amount of memory"),
            may("serial", &Replacement::serial, serial, "a serial number that the PCI core reads"),
            may("second_function", &Replacement::second_function, second_function_kind(),
                "what the board has beside the GPU")}};
    return verb<RecoverStep>(
        "gets the GPU back in the way that fits the loss, and runs a first job on it",
        {.members = {needs("recover", &RecoverStep::replacement, replacement.kind(),
                           "what differs from the board that was lost")}},
        [](const RecoverStep&) { return std::string("recover"); });
}

Verb shell_verb() {
    return verb<ShellStep>(
        "runs a command with the guest's shell",
        {.members = {command_member("shell", &ShellStep::command,
                                    "the command, or a script and its arguments; $VICTIM, "
                                    "$BYSTANDER: PCI addresses; $VICTIM_NODE, $BYSTANDER_NODE: "
                                    "render nodes; $VICTIM_ID: KFD's gpu_id"),
                     may("status", &ShellStep::status, integer_kind(0, 255), "its end (0)"),
                     may("output", &ShellStep::output, text_kind(), "what its output contains"),
                     may("seconds", &ShellStep::deadline, seconds_kind(), "how long (30)"),
                     may("reaches", &ShellStep::reaches, name_kind(),
                         "how far the row came if it ends like that, for the reports; the row goes "
                         "on in any case")}},
        [](const ShellStep& step) {
            return "shell " + (step.script ? step.script->line() : step.command);
        });
}

Verb wait_verb() {
    return verb<WaitStep>(
        "waits for a line of the kernel log, from the row's start on",
        {.members = {needs("wait", &WaitStep::text, text_kind(),
                           "contained in it; with the variables of 'shell'"),
                     may("seconds", &WaitStep::deadline, seconds_kind(), "how long (10)")}},
        [](const WaitStep& step) { return "wait for " + step.text; });
}

Verb expect_verb() {
    return verb<ExpectStep>(
        "judges checks now",
        {.members = {needs("expect", &ExpectStep::checks, list_kind(check_kind()), "these")}},
        [](const ExpectStep& step) {
            std::vector<std::string_view> names;
            for (const Check check : step.checks) {
                names.push_back(to_string(check));
            }
            return fmt::format("expect {}", fmt::join(names, ", "));
        });
}

Verb settle_verb() {
    return verb<SettleStep>(
        "lets time pass, for what sends no event",
        {.members = {needs("settle", &SettleStep::time, seconds_kind(), "seconds")}},
        [](const SettleStep& step) { return fmt::format("settle {} ms", step.time.count()); });
}

}  // namespace

const std::vector<Verb>& verbs() {
    static const std::vector<Verb> table = {
        start_verb(), tell_verb(),    stop_verb(),  await_verb(), lose_verb(),   emulate_verb(),
        ask_verb(),   recover_verb(), shell_verb(), wait_verb(),  expect_verb(), settle_verb(),
    };
    return table;
}

Kind<Check> check_kind() {
    std::vector<std::string_view> names;
    for (const CheckInfo& check : all_checks()) {
        if (check.use == CheckUse::named) {
            names.push_back(check.name);
        }
    }
    return {one_of(names), [names](const Node& node) {
                const std::string name = node.text();
                const auto check = parse_check(name);
                if (!check || info(*check).use == CheckUse::implicit) {
                    node.refuse(fmt::format("no such check '{}', allowed: {}", name,
                                            fmt::join(names, ", ")));
                }
                return *check;
            }};
}

Kind<Step> step_kind() {
    json any = json::array();
    for (const Verb& verb : verbs()) {
        any.push_back(json::object({{"$ref", "#/$defs/" + verb.name}}));
    }
    return {json::object({{"oneOf", std::move(any)}}), [](const Node& node) {
                std::vector<std::string_view> allowed;
                for (const Verb& verb : verbs()) {
                    if (node.has(verb.name)) {
                        return verb.read(node);
                    }
                    allowed.push_back(verb.name);
                }
                node.refuse(fmt::format("no such step, allowed: {}", fmt::join(allowed, ", ")));
            }};
}

std::string describe(const Step& step) {
    return verbs()[step.index()].describe(step);
}

}  // namespace hotplug
