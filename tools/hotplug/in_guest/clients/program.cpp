// SPDX-License-Identifier: GPL-2.0
// Purpose: see program.h.
// Thread: see program.h.
#include "hotplug/in_guest/clients/program.h"

#include <cstdio>
#include <string_view>

namespace hp::clients {

namespace {

using nlohmann::json;

constexpr std::string_view describe_flag = "--describe";
constexpr int wrong_usage = 2;

void print(std::FILE* file, const std::string& text) {
    std::fputs((text + "\n").c_str(), file);
}

}  // namespace

Program::Program(const Description& description)
    : description_(description),
      app_(std::string(description.purpose), std::string(description.name)) {
    app_.add_flag(std::string(describe_flag), describe_,
                  "say what this program is, as JSON, and end");
}

void Program::add_node(std::string& node) {
    gpu_ = "node";
    app_.add_option("node", node, "render node of the GPU, as /dev/dri/renderD128")
        ->required()
        ->type_name("NODE");
}

CLI::Option* Program::add_gpu_id(std::uint32_t& gpu_id, CLI::App* group) {
    gpu_ = "gpu_id";
    return (group != nullptr ? *group : app_)
        .add_option("--gpu-id", gpu_id, "gpu_id of the GPU in KFD's topology")
        ->type_name("ID");
}

std::optional<int> Program::parse(int argc, const char* const* argv) {
    // Before the parser, who would miss what else the client requires.
    if (argc == 2 && argv[1] == describe_flag) {
        print(stdout, describe().dump());
        return 0;
    }
    try {
        app_.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        print(stdout, app_.help());
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

void Program::describe(const CLI::App& app, json& arguments) const {
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
        describe(*group, arguments);
    }
}

json Program::describe() const {
    json arguments = json::array();
    describe(app_, arguments);
    json states = json::array();
    for (const State& state : description_.states) {
        states.push_back({{"state", state.name}, {"says", state.meaning}});
    }
    return {{"name", description_.name},
            {"purpose", description_.purpose},
            {"gpu", gpu_},
            {"worker", description_.worker},
            {"arguments", std::move(arguments)},
            {"states", std::move(states)},
            {"needs", description_.needs}};
}

}  // namespace hp::clients
