// SPDX-License-Identifier: GPL-2.0
// Purpose: a client's command line. `--help` is for people, `--describe` says the same as JSON
// (Documentation/harness/protocols.md), and the build makes the harness's table of clients of it.
// The parser, which takes longer to compile than a client, is program.cpp's alone.
// Thread: the client's one thread, at its start.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hotplug/in_guest/clients/description.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace hp::clients {

class Program {
public:
    /// What else is to be said of an argument with a value.
    class Option {
    public:
        explicit Option(CLI::Option* option) : option_(option) {}
        Option required() const;
        Option within(int least, int most) const;
        Option within(double least, double most) const;
        Option positive() const;
        Option one_of(std::initializer_list<const char*> words) const;

    private:
        CLI::Option* option_;
    };

    explicit Program(const Description& description);
    ~Program();
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    // What the harness puts before a client's own arguments: the GPU that it is to use.
    /// The first argument: a render node.
    void add_node(std::string& node);
    Option add_gpu_id(std::uint32_t& gpu_id);
    /// One of --gpu-id and --bdf.
    void add_gpu_id_or_bdf(std::uint32_t& gpu_id, std::string& bdf);

    // The client's own.
    void add_flag(const char* name, bool& flag, const char* about);
    /// `unit` is the value's, or what it names. For the types that program.cpp names.
    template <typename Value>
    Option add_option(const char* name, Value& value, const char* unit, const char* about);
    /// An option whose values have names.
    template <typename Value, typename Variable>
    void add_choice(const char* name, Variable& chosen, const char* unit, const char* about,
                    std::initializer_list<std::pair<const char*, Value>> choices) {
        Choices numbers;
        for (const auto& [word, value] : choices) {
            numbers.emplace_back(word, static_cast<std::int64_t>(value));
        }
        add_choice(name, unit, about, numbers,
                   [&chosen](std::int64_t number) { chosen = static_cast<Value>(number); });
    }

    /// The status to end with, when all is said; nothing: go on. A wrong command line is refused.
    std::optional<int> parse(int argc, const char* const* argv);

    /// Says on standard error what is wrong with the command line; the status to end with.
    int refuse(const std::string& why) const;

private:
    using Choices = std::vector<std::pair<std::string, std::int64_t>>;

    void add_choice(const char* name, const char* unit, const char* about, const Choices& choices,
                    const std::function<void(std::int64_t)>& choose);
    std::string describe() const;

    const Description& description_;
    const char* gpu_ = "none";
    std::unique_ptr<CLI::App> app_;
    bool describe_ = false;
};

}  // namespace hp::clients
