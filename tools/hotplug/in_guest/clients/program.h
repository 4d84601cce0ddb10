// SPDX-License-Identifier: GPL-2.0
// Purpose: a client's command line. `--help` is for people, `--describe` says the same as JSON
// (Documentation/harness/protocols.md), and the build makes the harness's table of clients of it.
// Thread: the client's one thread, at its start.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "hotplug/in_guest/clients/description.h"

namespace hp::clients {

class Program {
public:
    explicit Program(const Description& description);
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    /// For the client's own options. A value's type_name() is its unit, or what it names.
    CLI::App& app() { return app_; }

    // What the harness puts before a client's own options: the GPU that it is to use.
    /// The first argument: a render node.
    void add_node(std::string& node);
    /// --gpu-id, in `group` when it is one of several ways to name the GPU.
    CLI::Option* add_gpu_id(std::uint32_t& gpu_id, CLI::App* group = nullptr);

    /// The status to end with, when all is said; nothing: go on. A wrong command line is refused.
    std::optional<int> parse(int argc, const char* const* argv);

    /// Says on standard error what is wrong with the command line; the status to end with.
    int refuse(const std::string& why) const;

    nlohmann::json describe() const;

private:
    void describe(const CLI::App& app, nlohmann::json& arguments) const;

    const Description& description_;
    const char* gpu_ = "none";
    CLI::App app_;
    bool describe_ = false;
};

}  // namespace hp::clients
