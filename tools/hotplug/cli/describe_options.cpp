// SPDX-License-Identifier: GPL-2.0
// Purpose: see describe_options.h.
// Thread: pure functions.
#include "hotplug/cli/describe_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "hotplug/cli/options.h"

namespace hotplug {

namespace {

/// With the commands' names, and with what completes the words behind each.
constexpr const char* completion_frame =
    R"bash(# Completion of hpctl for bash, made by `hpctl completion`.
_hpctl_words() {{ mapfile -t COMPREPLY < <(compgen -W "$1" -- "$word"); }}
_hpctl_rows() {{ _hpctl_words "$("${{COMP_WORDS[0]}}" list --words 2>/dev/null)"; }}
_hpctl() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        _hpctl_words "{} --help --version"
        return
    fi
    case ${{COMP_WORDS[1]}} in
{}    esac
}}
complete -o default -F _hpctl hpctl
)bash";

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
    return app.get_options([](const CLI::Option*) { return true; });
}

bool takes_a_value(const CLI::Option& option) {
    return option.get_items_expected_max() != 0;
}

/// "--accel", "-c"
std::vector<std::string> flags_of(const CLI::Option& option) {
    std::vector<std::string> flags;
    for (const std::string& name : option.get_lnames()) {
        flags.push_back("--" + name);
    }
    for (const std::string& name : option.get_snames()) {
        flags.push_back("-" + name);
    }
    return flags;
}

/// The words of CLI::IsMember, which tells of them in the type's name: "TEXT:{tcg,kvm}".
std::string choices_of(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    const size_t from = type.find('{'), to = type.find('}');
    if (from == std::string::npos || to == std::string::npos) {
        return "";
    }
    std::string words = type.substr(from + 1, to - from - 1);
    std::replace(words.begin(), words.end(), ',', ' ');
    return words;
}

/// What completes a value of the option, as bash; empty: nothing but readline's own names of files.
std::string completion_of(const CLI::Option& option) {
    if (const std::string words = choices_of(option); !words.empty()) {
        return fmt::format("_hpctl_words \"{}\"", words);
    }
    return option.get_type_name().starts_with(row_type) ? "_hpctl_rows" : "";
}

std::string completion_of(const CLI::App& command) {
    std::string cases, flags, positional;
    for (const CLI::Option* option : options_of(command)) {
        if (option->get_positional()) {
            positional = completion_of(*option);
            continue;
        }
        const auto names = flags_of(*option);
        flags += fmt::format("{}{}", flags.empty() ? "" : " ", fmt::join(names, " "));
        if (takes_a_value(*option)) {
            cases += fmt::format(
                "        {}) {}; return ;;\n", fmt::join(names, " | "),
                completion_of(*option).empty() ? "COMPREPLY=()" : completion_of(*option));
        }
    }
    std::string text = fmt::format("    {})\n", command.get_name());
    if (!cases.empty()) {
        text += fmt::format("        case $previous in\n{}        esac\n", cases);
    }
    text += fmt::format("        [[ $word != -* ]] || {{ _hpctl_words \"{}\"; return; }}\n", flags);
    if (!positional.empty()) {
        text += fmt::format("        {}\n", positional);
    }
    return text + "        ;;\n";
}

/// What groff would read as its own, and hyphens that are to be copied.
std::string roff(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\') {
            out += "\\e";
        } else if (c == '-') {
            out += "\\-";
        } else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) {
            out += std::string("\\&") + c;
        } else {
            out += c;
        }
    }
    return out;
}

std::string man_option(const CLI::Option& option) {
    std::string text = ".TP\n";
    const std::string type = option.get_type_name();
    if (option.get_positional()) {
        text += fmt::format("\\fI{}\\fR\n", roff(option.get_single_name()));
    } else {
        text += fmt::format(
            "\\fB{}\\fR{}\n", roff(fmt::format("{}", fmt::join(flags_of(option), ", "))),
            takes_a_value(option) && !type.empty() ? fmt::format(" \\fI{}\\fR", roff(type)) : "");
    }
    std::string description = option.get_description();
    if (!option.get_default_str().empty()) {
        description += fmt::format(" (default: {})", option.get_default_str());
    }
    return text + roff(description) + "\n";
}

}  // namespace

std::string format_completion(const CLI::App& app) {
    std::vector<std::string> names;
    std::string commands;
    for (const CLI::App* command : commands_of(app)) {
        names.push_back(command->get_name());
        commands += completion_of(*command);
    }
    return fmt::format(completion_frame, fmt::join(names, " "), commands);
}

std::string format_man_page(const CLI::App& app, const std::string& version) {
    std::string text = fmt::format(
        ".TH HPCTL 1 \"\" \"{}\"\n.SH NAME\nhpctl \\- judges amdgpu by plugging, pulling and "
        "breaking "
        "emulated GPUs\n.SH SYNOPSIS\n.B hpctl\n.I COMMAND\n[\\fIOPTIONS\\fR]\n.SH "
        "DESCRIPTION\n{}\n"
        ".SH COMMANDS\n",
        roff(version), roff(app.get_description()));
    for (const CLI::App* command : commands_of(app)) {
        text += fmt::format(".SS hpctl {}\n{}\n", roff(command->get_name()),
                            roff(command->get_description()));
        for (const CLI::Option* option : options_of(*command)) {
            text += man_option(*option);
        }
    }
    text += ".SH EXIT STATUS\n";
    for (const auto& [status, meaning] : exit_table()) {
        text += fmt::format(".TP\n{}\n{}\n", static_cast<int>(status), roff(meaning));
    }
    text += ".SH ENVIRONMENT\n";
    for (const auto& [name, meaning] : environment_table()) {
        text += fmt::format(".TP\n.B {}\n{}\n", name, roff(meaning));
    }
    return text;
}

}  // namespace hotplug
