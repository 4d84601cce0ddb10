// SPDX-License-Identifier: GPL-2.0
// Purpose: see program.h.
// Thread: see program.h.
#include "hotplug/in_guest/clients/program.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

namespace hp::clients {

namespace {

using nlohmann::json;

constexpr std::string_view describe_flag = "--describe";
constexpr int wrong_usage = 2;

void print(std::FILE* file, const std::string& text) {
    std::fputs((text + "\n").c_str(), file);
}

void describe_arguments(const CLI::App& app, json& arguments) {
    for (const CLI::Option* option : app.get_options()) {
        const std::string name = option->get_name();
        if (option == app.get_help_ptr() || name == describe_flag) {
            continue;
        }
        json argument = {{"name", name},
                         {"about", option->get_description()},
                         {"required", option->get_required()}};
        if (option->get_items_expected_max() > 0) {
            argument["value"] = option->get_type_name();
        }
        arguments.push_back(std::move(argument));
    }
    for (const CLI::App* group : app.get_subcommands(nullptr)) {
        describe_arguments(*group, arguments);
    }
}

CLI::Option* add_gpu_id_to(CLI::App& app, std::uint32_t& gpu_id) {
    return app.add_option("--gpu-id", gpu_id, "gpu_id of the GPU in KFD's topology")
        ->type_name("ID");
}

}  // namespace

Program::Option Program::Option::required() const {
    return Option(option_->required());
}

Program::Option Program::Option::within(int least, int most) const {
    return Option(option_->check(CLI::Range(least, most)));
}

Program::Option Program::Option::within(double least, double most) const {
    return Option(option_->check(CLI::Range(least, most)));
}

Program::Option Program::Option::positive() const {
    return Option(option_->check(CLI::PositiveNumber));
}

Program::Option Program::Option::one_of(std::initializer_list<const char*> words) const {
    return Option(option_->check(CLI::IsMember(words)));
}

Program::Program(const Description& description)
    : description_(description),
      app_(std::make_unique<CLI::App>(std::string(description.purpose),
                                      std::string(description.name))) {
    app_->add_flag(std::string(describe_flag), describe_,
                   "say what this program is, as JSON, and end");
}

Program::~Program() = default;

void Program::add_node(std::string& node) {
    gpu_ = "node";
    add_option("node", node, "NODE", "render node of the GPU, as /dev/dri/renderD128").required();
}

Program::Option Program::add_gpu_id(std::uint32_t& gpu_id) {
    gpu_ = "gpu_id";
    return Option(add_gpu_id_to(*app_, gpu_id));
}

void Program::add_gpu_id_or_bdf(std::uint32_t& gpu_id, std::string& bdf) {
    gpu_ = "gpu_id";
    CLI::App* group = app_->add_option_group("the GPU");
    add_gpu_id_to(*group, gpu_id);
    group->add_option("--bdf", bdf, "its PCI address: 0000:01:00.0")->type_name("BDF");
    group->require_option(1);
}

void Program::add_flag(const char* name, bool& flag, const char* about) {
    app_->add_flag(name, flag, about);
}

template <typename Value>
Program::Option Program::add_option(const char* name, Value& value, const char* unit,
                                    const char* about) {
    return Option(app_->add_option(name, value, about)->type_name(unit));
}

template Program::Option Program::add_option(const char*, int&, const char*, const char*);
template Program::Option Program::add_option(const char*, std::uint32_t&, const char*, const char*);
template Program::Option Program::add_option(const char*, std::uint64_t&, const char*, const char*);
template Program::Option Program::add_option(const char*, double&, const char*, const char*);
template Program::Option Program::add_option(const char*, std::string&, const char*, const char*);
template Program::Option Program::add_option(const char*, std::optional<std::uint32_t>&,
                                             const char*, const char*);
template Program::Option Program::add_option(const char*, std::vector<std::string>&, const char*,
                                             const char*);

void Program::add_choice(const char* name, const char* unit, const char* about,
                         const Choices& choices, const std::function<void(std::int64_t)>& choose) {
    const std::map<std::string, std::int64_t> in_order(choices.begin(), choices.end());
    app_->add_option_function<std::int64_t>(name, choose, about)
        ->type_name(unit)
        ->transform(CLI::CheckedTransformer(in_order));
}

std::optional<int> Program::parse(int argc, const char* const* argv) {
    // Before the parser, who would miss what else the client requires.
    if (argc == 2 && argv[1] == describe_flag) {
        print(stdout, describe());
        return 0;
    }
    try {
        app_->parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        print(stdout, app_->help());
        return 0;
    } catch (const CLI::ParseError& error) {
        return refuse(error.what());
    }
    if (describe_) {
        return refuse("--describe stands alone");
    }
    return std::nullopt;
}

int Program::refuse(const std::string& why) const {
    print(stderr, std::string(description_.name) + ": " + why + " (see --help)");
    return wrong_usage;
}

std::string Program::describe() const {
    json arguments = json::array();
    describe_arguments(*app_, arguments);
    json states = json::array();
    for (const State& state : description_.states) {
        states.push_back({{"state", state.name}, {"says", state.meaning}});
    }
    const json said = {{"name", description_.name},
                       {"purpose", description_.purpose},
                       {"gpu", gpu_},
                       {"worker", description_.worker},
                       {"arguments", std::move(arguments)},
                       {"states", std::move(states)},
                       {"needs", description_.needs}};
    return said.dump();
}

}  // namespace hp::clients
