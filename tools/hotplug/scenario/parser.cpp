// SPDX-License-Identifier: GPL-2.0
// Purpose: see parser.h. Every member is read through a Node, which knows its JSON
// pointer; what no Node asked for is refused. An exception carries an error out of the recursion,
// and ends at parse_scenario(). Thread: pure functions.
#include "hotplug/scenario/parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "hotplug/scenario/client_rules.h"

namespace hotplug {

namespace {

using json = nlohmann::ordered_json;  // variants keep the order of the file

/// Thrown and caught in this file only.
struct Refusal : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A value of the file and where it stands.
class Node {
public:
    Node(const json& value, std::string pointer) : value_(value), pointer_(std::move(pointer)) {}

    [[noreturn]] void refuse(const std::string& why) const {
        throw Refusal(fmt::format("{}: {}", pointer_.empty() ? "/" : pointer_, why));
    }

    void allow(std::initializer_list<std::string_view> members) const {
        if (!value_.is_object()) {
            refuse(
                fmt::format("expected an object with members from: {}", fmt::join(members, ", ")));
        }
        for (const auto& [name, unused] : value_.items()) {
            if (std::find(members.begin(), members.end(), name) == members.end()) {
                refuse(fmt::format("unknown member '{}', allowed: {}", name,
                                   fmt::join(members, ", ")));
            }
        }
    }

    bool is_list() const { return value_.is_array(); }
    bool has(const char* member) const { return value_.contains(member); }

    Node at(const char* member) const {
        if (!has(member)) {
            refuse(fmt::format("member '{}' is missing", member));
        }
        return Node(value_.at(member), fmt::format("{}/{}", pointer_, member));
    }

    std::string text() const {
        if (!value_.is_string() || value_.get_ref<const std::string&>().empty()) {
            refuse("expected a text that is not empty");
        }
        return value_.get<std::string>();
    }

    std::string name() const {
        const std::string text = this->text();
        if (text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != std::string::npos) {
            refuse(fmt::format("'{}' is no name: a-z, 0-9 and - are allowed", text));
        }
        return text;
    }

    bool boolean() const {
        if (!value_.is_boolean()) {
            refuse("expected true or false");
        }
        return value_.get<bool>();
    }

    int64_t integer(int64_t least, int64_t most) const {
        if (!value_.is_number_integer() || value_.get<int64_t>() < least ||
            value_.get<int64_t>() > most) {
            refuse(fmt::format("expected a whole number from {} to {}", least, most));
        }
        return value_.get<int64_t>();
    }

    nlohmann::json scalar() const {
        if (!value_.is_string() && !value_.is_number_integer() && !value_.is_boolean()) {
            refuse("expected a text, a whole number, true or false");
        }
        return nlohmann::json::parse(value_.dump());
    }

    std::chrono::milliseconds seconds() const {
        const double value = value_.is_number() ? value_.get<double>() : -1;
        if (value <= 0 || value > 3600) {
            refuse("expected seconds: a number above 0, at most 3600");
        }
        return std::chrono::milliseconds(std::llround(value * 1000));
    }

    /// A number, or "0x74a5": ids are written as the kernel prints them.
    uint16_t device_id() const {
        const std::string text = this->text();
        uint16_t id = 0;
        const char* end = text.data() + text.size();
        if (!text.starts_with("0x") ||
            std::from_chars(text.data() + 2, end, id, 16) != std::from_chars_result{end, {}}) {
            refuse(fmt::format("'{}' is no device id: write it as \"0x74a5\"", text));
        }
        return id;
    }

    /// A request to an emulator: what it may contain is the emulator's to know, and to refuse.
    nlohmann::json request() const {
        if (!value_.is_object() || !value_.contains("do") || !value_.at("do").is_string()) {
            refuse(
                "expected a request of the emulator's control socket: an object with a text 'do'");
        }
        return nlohmann::json::parse(value_.dump());
    }

    std::vector<Node> elements() const {
        if (!value_.is_array()) {
            refuse("expected a list");
        }
        std::vector<Node> nodes;
        for (size_t i = 0; i < value_.size(); ++i) {
            nodes.emplace_back(value_[i], fmt::format("{}/{}", pointer_, i));
        }
        return nodes;
    }

    std::vector<std::pair<std::string, Node>> members() const {
        if (!value_.is_object()) {
            refuse("expected an object");
        }
        std::vector<std::pair<std::string, Node>> nodes;
        for (const auto& [name, value] : value_.items()) {
            nodes.emplace_back(name, Node(value, fmt::format("{}/{}", pointer_, name)));
        }
        return nodes;
    }

    std::vector<std::string> texts() const {
        std::vector<std::string> all;
        for (const Node& element : elements()) {
            all.push_back(element.text());
        }
        return all;
    }

private:
    const json& value_;
    std::string pointer_;
};

std::vector<Check> read_checks(const Node& node) {
    std::vector<std::string_view> allowed;
    for (const CheckInfo& check : all_checks()) {
        if (check.use == CheckUse::named) {
            allowed.push_back(check.name);
        }
    }
    std::vector<Check> checks;
    for (const Node& element : node.elements()) {
        const std::string name = element.text();
        const auto check = parse_check(name);
        if (!check || info(*check).use == CheckUse::implicit) {
            element.refuse(
                fmt::format("no such check '{}', allowed: {}", name, fmt::join(allowed, ", ")));
        }
        checks.push_back(*check);
    }
    return checks;
}

Loss read_loss(const Node& node) {
    const std::string name = node.text();
    if (const auto loss = parse_loss(name)) {
        return *loss;
    }
    std::vector<std::string_view> allowed;
    for (const LossKind& kind : all_loss_kinds()) {
        allowed.push_back(kind.name);
    }
    node.refuse(fmt::format("no way to lose a GPU is called '{}', allowed: {}", name,
                            fmt::join(allowed, ", ")));
}

Role read_role(const Node& node) {
    const std::string name = node.text();
    for (const Role role : {Role::victim, Role::bystander}) {
        if (name == to_string(role)) {
            return role;
        }
    }
    node.refuse(fmt::format("no such GPU '{}', allowed: victim, bystander", name));
}

Step read_start(const Node& node) {
    node.allow({"start", "on", "options"});
    StartStep step;
    step.program = node.at("start").text();
    if (node.has("on")) {
        step.on = read_role(node.at("on"));
    }
    if (node.has("options")) {
        step.options = node.at("options").texts();
    }
    return step;
}

Step read_tell(const Node& node) {
    node.allow({"tell", "line", "answer", "seconds"});
    TellStep step{node.at("tell").text(), node.at("line").text()};
    if (node.has("answer")) {
        step.answer = node.at("answer").text();
    }
    if (node.has("seconds")) {
        if (step.answer.empty()) {
            node.refuse("'seconds' belongs to 'answer'");
        }
        step.deadline = node.at("seconds").seconds();
    }
    return step;
}

Step read_stop(const Node& node) {
    node.allow({"stop"});
    return StopStep{node.at("stop").text()};
}

Step read_await(const Node& node) {
    node.allow({"await", "seconds"});
    AwaitStep step;
    step.client = node.at("await").text();
    if (node.has("seconds")) {
        step.deadline = node.at("seconds").seconds();
    }
    return step;
}

Step read_emulate(const Node& node) {
    node.allow({"emulate", "on"});
    EmulateStep step;
    step.request = node.at("emulate").request();
    if (node.has("on")) {
        step.on = read_role(node.at("on"));
    }
    return step;
}

/// The members of an object that is about places in an answer.
std::vector<std::pair<std::string, Node>> read_places(const Node& node) {
    auto places = node.members();
    for (const auto& [pointer, value] : places) {
        if (!pointer.starts_with('/') || pointer.find('~') != std::string::npos) {
            value.refuse(fmt::format("'{}' is no place in an answer: write /hive/reads", pointer));
        }
    }
    if (places.empty()) {
        node.refuse("names no place in the answer");
    }
    return places;
}

Step read_ask(const Node& node) {
    node.allow({"ask", "on", "is", "more"});
    AskStep step;
    step.request = node.at("ask").request();
    if (node.has("on")) {
        step.on = read_role(node.at("on"));
    }
    if (node.has("is")) {
        for (const auto& [pointer, value] : read_places(node.at("is"))) {
            step.is.emplace_back(pointer, value.scalar());
        }
    }
    if (node.has("more")) {
        for (const auto& [pointer, value] : read_places(node.at("more"))) {
            step.more.emplace_back(pointer, value.integer(1, std::numeric_limits<int64_t>::max()));
        }
    }
    return step;
}

Step read_lose(const Node& node) {
    node.allow({"lose", "during", "meanwhile", "seconds"});
    const Node how = node.at("lose");
    LoseStep step;
    if (node.has("meanwhile")) {
        step.meanwhile = node.at("meanwhile").text();
    }
    if (node.has("seconds")) {
        if (step.meanwhile.empty()) {
            node.refuse("'seconds' belongs to 'meanwhile'");
        }
        step.meanwhile_deadline = node.at("seconds").seconds();
    }
    if (!how.is_list()) {
        step.loss = read_loss(how);
        if (node.has("during") != (step.loss == Loss::at_access)) {
            node.refuse("'at_access' and the member 'during' need each other");
        }
        if (node.has("during")) {
            step.during = node.at("during").text();
        }
        return step;
    }
    if (node.has("during")) {
        node.refuse("'during' belongs to the one loss 'at_access'");
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
    return step;
}

Step read_recover(const Node& node) {
    node.allow({"recover"});
    const Node with = node.at("recover");
    with.allow({"device_id", "vram_mib"});
    RecoverStep step;
    if (with.has("device_id")) {
        step.replacement.device_id = with.at("device_id").device_id();
    }
    if (with.has("vram_mib")) {
        step.replacement.vram_mib = with.at("vram_mib").integer(256, 65536);
    }
    return step;
}

Step read_shell(const Node& node) {
    node.allow({"shell", "status", "output", "seconds"});
    ShellStep step;
    step.command = node.at("shell").text();
    if (node.has("status")) {
        step.status = static_cast<int>(node.at("status").integer(0, 255));
    }
    if (node.has("output")) {
        step.output = node.at("output").text();
    }
    if (node.has("seconds")) {
        step.deadline = node.at("seconds").seconds();
    }
    return step;
}

Step read_wait(const Node& node) {
    node.allow({"wait", "seconds"});
    WaitStep step;
    step.text = node.at("wait").text();
    if (node.has("seconds")) {
        step.deadline = node.at("seconds").seconds();
    }
    return step;
}

Step read_expect(const Node& node) {
    node.allow({"expect"});
    return ExpectStep{read_checks(node.at("expect"))};
}

Step read_settle(const Node& node) {
    node.allow({"settle"});
    return SettleStep{node.at("settle").seconds()};
}

struct Verb {
    const char* name;
    Step (*read)(const Node&);
};

constexpr Verb kVerbs[] = {
    {"start", read_start}, {"tell", read_tell},       {"stop", read_stop},
    {"await", read_await}, {"emulate", read_emulate}, {"ask", read_ask},
    {"lose", read_lose},   {"recover", read_recover}, {"shell", read_shell},
    {"wait", read_wait},   {"expect", read_expect},   {"settle", read_settle},
};

Step read_step(const Node& node) {
    std::vector<std::string_view> allowed;
    for (const Verb& verb : kVerbs) {
        if (node.has(verb.name)) {
            return verb.read(node);
        }
        allowed.push_back(verb.name);
    }
    node.refuse(fmt::format("no such step, allowed: {}", fmt::join(allowed, ", ")));
}

std::vector<Step> read_steps(const Node& node) {
    std::vector<Step> steps;
    for (const Node& element : node.elements()) {
        steps.push_back(read_step(element));
    }
    return steps;
}

Requirements read_requirements(const Node& node) {
    node.allow({"gpus", "kernel_options", "programs", "profiles", "switch"});
    Requirements needed;
    if (node.has("gpus")) {
        needed.gpus = static_cast<size_t>(node.at("gpus").integer(1, 8));
    }
    if (node.has("kernel_options")) {
        for (const Node& option : node.at("kernel_options").elements()) {
            needed.kernel_options.push_back(option.text());
            if (!needed.kernel_options.back().starts_with("CONFIG_")) {
                option.refuse("kernel options begin with CONFIG_");
            }
        }
    }
    if (node.has("programs")) {
        needed.programs = node.at("programs").texts();
    }
    if (node.has("profiles")) {
        needed.profiles = node.at("profiles").texts();
    }
    if (node.has("switch")) {
        needed.behind_switch = node.at("switch").boolean();
    }
    return needed;
}

std::vector<std::string> read_tags(const Node& node) {
    std::vector<std::string> tags;
    for (const Node& tag : node.elements()) {
        tags.push_back(tag.name());
    }
    return tags;
}

/// Its steps, or an object with tags of its own.
Variant read_variant(const std::string& name, const Node& node) {
    if (node.is_list()) {
        return {name, read_steps(node)};
    }
    node.allow({"tags", "steps"});
    return {name, read_steps(node.at("steps")), read_tags(node.at("tags"))};
}

std::vector<Variant> read_variants(const Node& node) {
    std::vector<Variant> variants;
    for (const auto& [name, variant] : node.members()) {
        variants.push_back(read_variant(name, variant));
    }
    if (variants.empty()) {
        node.refuse("no variant: leave the member out");
    }
    return variants;
}

Limits read_limits(const Node& node) {
    node.allow({"removal_s", "clients_s", "replug_s", "stall_s", "watch_s", "accesses"});
    Limits limits;
    const auto read = [&](const char* member, std::chrono::milliseconds& limit) {
        if (node.has(member)) {
            limit = node.at(member).seconds();
        }
    };
    read("removal_s", limits.removal);
    read("clients_s", limits.clients);
    read("replug_s", limits.replug);
    read("stall_s", limits.stall);
    read("watch_s", limits.watch);
    if (node.has("accesses")) {
        limits.accesses = static_cast<uint64_t>(node.at("accesses").integer(0, 1'000'000'000));
    }
    return limits;
}

/// What each step needs from those before it: a client before it is told something, a loss before a
/// recovery, a number before it has to be more.
void check_order(const std::vector<Step>& steps, const std::string& where) {
    std::vector<std::string> clients;
    std::vector<Role> asked;
    bool lost = false;
    for (const Step& step : steps) {
        const auto refuse = [&](const std::string& why) {
            throw Refusal(fmt::format("{}: step '{}' {}", where, describe(step), why));
        };
        const auto need_client = [&](const std::string& name) {
            if (std::find(clients.begin(), clients.end(), name) == clients.end()) {
                refuse(fmt::format("names a client that no step before it starts; started: {}",
                                   fmt::join(clients, ", ")));
            }
        };
        if (const auto* start = std::get_if<StartStep>(&step)) {
            if (std::find(clients.begin(), clients.end(), start->name()) != clients.end()) {
                refuse("starts a client a second time");
            }
            clients.push_back(start->name());
        } else if (const auto* tell = std::get_if<TellStep>(&step)) {
            need_client(tell->client);
        } else if (const auto* stop = std::get_if<StopStep>(&step)) {
            need_client(stop->client);
            std::erase(clients, stop->client);
        } else if (const auto* await = std::get_if<AwaitStep>(&step)) {
            need_client(await->client);
            std::erase(clients, await->client);
        } else if (const auto* ask = std::get_if<AskStep>(&step)) {
            const bool known = std::find(asked.begin(), asked.end(), ask->on) != asked.end();
            if (!ask->more.empty() && !known) {
                refuse("says 'more', and no step before it asks that GPU");
            }
            asked.push_back(ask->on);
        } else if (std::holds_alternative<LoseStep>(step)) {
            if (lost) {
                refuse("loses a GPU that is lost already");
            }
            lost = true;
        } else if (std::holds_alternative<RecoverStep>(step)) {
            if (!lost) {
                refuse("has no loss before it");
            }
            lost = false;
        }
    }
}

void check_clients(const Scenario& scenario, const std::vector<Step>& steps,
                   const std::string& where) {
    if (const auto mistake = find_client_mistake(steps, scenario.requires_.programs)) {
        throw Refusal(fmt::format("{}: {}", where, *mistake));
    }
}

void check_scenario(const Scenario& scenario) {
    if (scenario.variants.empty()) {
        check_order(scenario.steps, "/steps");
        check_clients(scenario, scenario.steps, "/steps");
    }
    for (const Variant& variant : scenario.variants) {
        std::vector<Step> steps = variant.steps;
        steps.insert(steps.end(), scenario.steps.begin(), scenario.steps.end());
        check_order(steps, "/variants/" + variant.name);
        check_clients(scenario, steps, "/variants/" + variant.name);
    }
    const auto draws = [](const Step& step) {
        const auto* lose = std::get_if<LoseStep>(&step);
        return lose != nullptr && !lose->drawn_from.empty();
    };
    bool drawn = std::any_of(scenario.steps.begin(), scenario.steps.end(), draws);
    for (const Variant& variant : scenario.variants) {
        drawn = drawn || std::any_of(variant.steps.begin(), variant.steps.end(), draws);
    }
    if (drawn && scenario.cycles == 0) {
        throw Refusal(
            "/cycles: a list of losses is gone through from cycle to cycle: say how many");
    }
    if (scenario.alone && scenario.cycles == 0) {
        throw Refusal("/alone: is about cycles: say how many");
    }
    if (scenario.cycles != 0 && scenario.requires_.gpus < 2) {
        throw Refusal("/cycles: victims alternate, so two GPUs are needed");
    }
}

Scenario read_scenario(const Node& root) {
    root.allow({"id", "description", "tags", "requires", "variants", "steps", "checks", "limits",
                "fresh_boot", "cycles", "alone"});
    Scenario scenario;
    scenario.id = root.at("id").name();
    scenario.description = root.at("description").text();
    if (root.has("tags")) {
        scenario.tags = read_tags(root.at("tags"));
    }
    if (root.has("requires")) {
        scenario.requires_ = read_requirements(root.at("requires"));
    }
    if (root.has("variants")) {
        scenario.variants = read_variants(root.at("variants"));
    }
    scenario.steps = read_steps(root.at("steps"));
    if (root.has("checks")) {
        scenario.checks = read_checks(root.at("checks"));
    }
    if (root.has("limits")) {
        scenario.limits = read_limits(root.at("limits"));
    }
    if (root.has("fresh_boot")) {
        scenario.fresh_boot = root.at("fresh_boot").boolean();
    }
    if (root.has("cycles")) {
        scenario.cycles = static_cast<unsigned>(root.at("cycles").integer(1, 1'000'000));
    }
    if (root.has("alone")) {
        scenario.alone = root.at("alone").boolean();
    }
    check_scenario(scenario);
    return scenario;
}

/// "3:7" of the byte that the JSON parser stumbled over.
std::string line_and_column(std::string_view text, size_t byte) {
    const std::string_view before = text.substr(0, byte == 0 ? 0 : byte - 1);
    const size_t last_break = before.rfind('\n');
    const size_t column =
        last_break == std::string_view::npos ? before.size() + 1 : before.size() - last_break;
    return fmt::format("{}:{}", 1 + std::count(before.begin(), before.end(), '\n'), column);
}

/// The parser's own text without its position: "unexpected ']'; expected '}'".
std::string complaint_of(const json::parse_error& error) {
    std::string text = error.what();
    const size_t position = text.find("column ");
    if (position != std::string::npos) {
        text.erase(0, std::min(text.size(), text.find(": ", position) + 2));
    }
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

}  // namespace

hp::Result<Scenario> parse_scenario(std::string_view text, const std::string& file) {
    try {
        const json value = json::parse(text, nullptr, true, /*ignore_comments=*/true);
        Scenario scenario = read_scenario(Node(value, ""));
        scenario.file = file;
        return scenario;
    } catch (const json::parse_error& error) {
        return hp::fail(
            fmt::format("{}:{}: {}", file, line_and_column(text, error.byte), complaint_of(error)));
    } catch (const Refusal& refusal) {
        return hp::fail(fmt::format("{}: {}", file, refusal.what()));
    }
}

hp::Result<Scenario> load_scenario(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) {
        return hp::fail(fmt::format("{}: cannot read this scenario", file.string()));
    }
    return parse_scenario(text.str(), file.string());
}

}  // namespace hotplug
