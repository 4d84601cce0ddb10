// SPDX-License-Identifier: GPL-2.0
// Purpose: see igt_verdict.h.
// Thread: pure functions.
#include "hotplug/in_guest/clients/igt_verdict.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "lib/init_lines.h"
#include "lib/ktap.h"

namespace hp::clients {

namespace {

using json = nlohmann::json;

constexpr const char* runner_prefix = "igt@";
constexpr std::string_view all_subtests = "@*";
constexpr const char* no_gfx_ring = "the GPU has no GFX ring";
/// IGT's words for a subtest that found no ring to run on. A test that could not open the GPU says
/// something else.
constexpr const char* no_ring_found = "No dynamic tests executed";
/// Of each of a test's texts the end is shown: it has the assertion that failed.
constexpr std::size_t shown_lines = 40;
constexpr int kern_warning = 4;
/// The PCI core's words, at each rescan, of a GPU without an expansion ROM, once its driver has
/// tried to map one.
constexpr std::string_view no_rom =
    ": ROM [??? 0x00000000 flags 0x20000000]: alignment must not be zero";
/// And around a reset that was asked for through sysfs.
constexpr std::string_view resetting = ": resetting";
constexpr std::string_view reset_done = ": reset done";

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

/// The runner's name of a test.
std::string key_of(const std::string& name) {
    std::string key = runner_prefix + name;
    std::transform(key.begin(), key.end(), key.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return key;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        lines.push_back(line);
    }
    return lines;
}

/// Each number, hexadecimal ones with their prefix, becomes a '#'.
std::string shape_of(std::string_view message) {
    std::string shape;
    for (std::size_t i = 0; i < message.size(); ++i) {
        if (std::isdigit(static_cast<unsigned char>(message[i])) == 0) {
            shape += message[i];
            continue;
        }
        shape += '#';
        while (i + 1 < message.size() &&
               (std::isxdigit(static_cast<unsigned char>(message[i + 1])) != 0 ||
                message[i + 1] == 'x')) {
            ++i;
        }
    }
    return shape;
}

/// "amdgpu 0000:01:00.0"
bool names_device_only(std::string_view text) {
    return std::count(text.begin(), text.end(), ' ') == 1 && text.ends_with(".0") &&
           !contains(text, ": ");
}

/// Whether a message is, as a whole, one that no driver makes, whatever is done to the GPU.
bool of_no_driver(std::string_view message) {
    // IGT's own, of the time that a program of amdgpu's took
    const bool igt =
        message.starts_with("=== TOTAL (all subtests in ") && message.ends_with(" ===");
    // tracefs, to whom first looks into debugfs
    const bool tracefs =
        message.starts_with("NOTICE: Automounting of tracing to debugfs is deprecated");
    const auto of_pci_core = [&](std::string_view words) {
        return message.ends_with(words) &&
               names_device_only(message.substr(0, message.size() - words.size()));
    };
    return igt || tracefs || of_pci_core(no_rom) || of_pci_core(resetting) ||
           of_pci_core(reset_done);
}

/// The runner's lines `<4> [12.345678] MESSAGE` that are not usual.
std::string unusual(const std::string& warnings, const MessageShapes& usual) {
    std::string text;
    for (const std::string& line : lines_of(warnings)) {
        const std::size_t end = line.find("] ");
        const std::string message = end == std::string::npos ? line : line.substr(end + 2);
        if (!of_no_driver(message) && !usual.contains(shape_of(message))) {
            text += line + "\n";
        }
    }
    return text;
}

/// What the runner has of a test: its own entry and one for each of its dynamic subtests.
struct Report {
    std::string result;  ///< the first that is neither pass nor skip, else its own
    std::string out;
    std::string err;
    std::string warnings;  ///< of the kernel
};

std::string text_of(const json& entry, const char* member) {
    return entry.contains(member) ? entry.at(member).get<std::string>() : "";
}

/// The runner's rule for `warn`, which its `dmesg-warn` hides: anything on standard error before
/// the last line about a subtest that is no such line.
bool stderr_warns(const std::string& err) {
    bool other = false;
    for (const std::string& line : lines_of(err)) {
        if (line.starts_with("Starting ") || line.starts_with("Subtest ") ||
            line.starts_with("Dynamic subtest ")) {
            if (other) {
                return true;
            }
        } else {
            other = true;
        }
    }
    return false;
}

Report report_of(const json& tests, const std::string& key, const MessageShapes& usual) {
    Report report;
    for (const auto& [name, entry] : tests.items()) {
        if (name != key && !name.starts_with(key + "@")) {
            continue;
        }
        const std::string all_warnings = text_of(entry, "dmesg-warnings");
        const std::string warnings = unusual(all_warnings, usual);
        std::string result = text_of(entry, "result");
        if (result == "dmesg-warn" && !all_warnings.empty() && warnings.empty()) {
            result = stderr_warns(text_of(entry, "err")) ? "warn" : "pass";
        }
        const bool bad = result != "pass" && result != "skip";
        if (name == key) {
            report.out = text_of(entry, "out");
            report.err = text_of(entry, "err");
        }
        if (report.result.empty() || report.result == "pass" || report.result == "skip") {
            report.result = bad || name == key ? result : report.result;
            report.warnings = bad || name == key ? warnings : report.warnings;
        }
    }
    return report;
}

/// `Test requirement: arr_cap[AMD_IP_GFX]` and what it was explained with, or the line above
/// `Subtest NAME: SKIP`.
std::string skip_reason(const std::string& out) {
    const auto lines = lines_of(out);
    const auto starts = [](const char* prefix) {
        return [prefix](const std::string& line) { return line.starts_with(prefix); };
    };
    const auto ends_reason = [&](const std::string& line) {
        return line.empty() || starts("Last errno")(line) || starts("Subtest ")(line) ||
               starts("Dynamic subtest ")(line);
    };
    auto at = std::find_if(lines.begin(), lines.end(), starts("Test requirement: "));
    std::string reason;
    if (at != lines.end()) {
        for (; at != lines.end() && !ends_reason(*at); ++at) {
            reason += (reason.empty() ? "" : "; ") + *at;
        }
        return reason;
    }
    at = std::find_if(lines.begin(), lines.end(), [&](const std::string& line) {
        return starts("Subtest ")(line) && contains(line, ": SKIP");
    });
    while (at != lines.begin() && (at == lines.end() || ends_reason(*at))) {
        --at;
    }
    return at == lines.end() || ends_reason(*at) ? "no reason given" : *at;
}

std::string tail(const char* what, const std::string& text) {
    const auto lines = lines_of(text);
    const std::size_t begin = lines.size() > shown_lines ? lines.size() - shown_lines : 0;
    std::string shown;
    for (std::size_t i = begin; i < lines.size(); ++i) {
        shown += std::string(what) + ": " + lines[i] + "\n";
    }
    return shown;
}

IgtVerdict judge_skip(const IgtRequest& request, const Report& report, bool has_gfx_ring) {
    using Outcome = IgtVerdict::Outcome;
    const std::string reason = skip_reason(report.out);
    if (request.gfx == IgtRequest::Gfx::asked && !has_gfx_ring && contains(reason, no_ring_found)) {
        return {request.name, Outcome::skip, no_gfx_ring, ""};
    }
    const bool expected =
        std::any_of(request.may_skip.begin(), request.may_skip.end(),
                    [&](const std::string& text) { return contains(reason, text); });
    if (expected) {
        return {request.name, Outcome::skip, reason, ""};
    }
    return {request.name, Outcome::fail, "skipped for another reason than expected: " + reason,
            tail("out", report.out) + tail("err", report.err)};
}

/// Why a pass is none; empty: it is one.
std::string false_pass(const IgtRequest& request, const Report& report, bool has_gfx_ring) {
    if (request.gfx == IgtRequest::Gfx::asked && !has_gfx_ring) {
        return std::string("passed, but ") + no_gfx_ring;
    }
    const std::string said = report.out + report.err;
    for (const std::string& text : request.never) {
        if (contains(said, text)) {
            return "passed, but said '" + text + "'";
        }
    }
    for (const std::string& text : request.shows) {
        if (!contains(said, text)) {
            return "passed, but did not say '" + text + "'";
        }
    }
    return "";
}

IgtVerdict judge(const json& tests, const IgtRequest& request, const IgtMachine& machine,
                 const MessageShapes& usual) {
    using Outcome = IgtVerdict::Outcome;
    if (std::string obstacle = request.obstacle(machine); !obstacle.empty()) {
        return {request.name, Outcome::skip, std::move(obstacle), ""};
    }
    const Report report = report_of(tests, key_of(request.name), usual);
    if (report.result == "skip") {
        return judge_skip(request, report, machine.gfx_ring);
    }
    std::string reason = report.result.empty() ? "IGT has no result of it" : report.result;
    if (report.result == "pass") {
        reason = false_pass(request, report, machine.gfx_ring);
        if (reason.empty()) {
            return {request.name, Outcome::pass, "", ""};
        }
    }
    return {request.name, Outcome::fail, reason,
            tail("kernel", report.warnings) + tail("out", report.out) + tail("err", report.err)};
}

bool wants_all(const IgtRequest& request) {
    return request.name.ends_with(all_subtests);
}

/// The subtests that a request is of; where it is of all and there is none, itself.
std::vector<std::string> names_of(const IgtRequest& request, const json& tests) {
    std::vector<std::string> names;
    if (wants_all(request)) {
        const std::string key = key_of(request.name);
        const std::string prefix = key.substr(0, key.size() - 1);
        for (const auto& [name, entry] : tests.items()) {
            if (name.starts_with(prefix) && name.find('@', prefix.size()) == std::string::npos) {
                names.push_back(name.substr(std::string_view(runner_prefix).size()));
            }
        }
    }
    if (names.empty()) {
        names.push_back(request.name);
    }
    return names;
}

}  // namespace

std::string IgtRequest::obstacle(const IgtMachine& machine) const {
    if (gfx == Gfx::blind && !machine.gfx_ring) {
        return no_gfx_ring;
    }
    if (machine.memory_mib < memory_mib) {
        return "the machine has " + std::to_string(machine.memory_mib) + " MiB of memory, not " +
               std::to_string(memory_mib);
    }
    return "";
}

tl::expected<IgtRequest, std::string> parse_igt_request(std::string_view text) {
    IgtRequest request;
    std::size_t end = text.find('|');
    request.name = text.substr(0, end);
    while (end != std::string_view::npos) {
        text.remove_prefix(end + 1);
        end = text.find('|');
        const std::string part(text.substr(0, end));
        const std::size_t equals = part.find('=');
        const std::string word = part.substr(0, equals);
        const std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
        if (part == "gfx") {
            request.gfx = IgtRequest::Gfx::asked;
        } else if (part == "blind-gfx") {
            request.gfx = IgtRequest::Gfx::blind;
        } else if (word == "memory" && !value.empty() &&
                   std::all_of(value.begin(), value.end(),
                               [](unsigned char c) { return std::isdigit(c) != 0; })) {
            request.memory_mib = std::strtoul(value.c_str(), nullptr, 10);
        } else if (word == "may-skip" && !value.empty()) {
            request.may_skip.push_back(value);
        } else if (word == "never" && !value.empty()) {
            request.never.push_back(value);
        } else if (word == "shows" && !value.empty()) {
            request.shows.push_back(value);
        } else {
            return tl::unexpected("'" + part +
                                  "' is none of gfx, blind-gfx, memory=MIB, may-skip=TEXT, "
                                  "never=TEXT, shows=TEXT");
        }
    }
    const std::size_t at = request.name.find('@');
    if (at == 0 || at == std::string::npos || at + 1 == request.name.size()) {
        return tl::unexpected("'" + request.name + "' is not BINARY@SUBTEST");
    }
    return request;
}

std::string igt_test_list(const std::vector<IgtRequest>& requests, const IgtMachine& machine) {
    std::string list;
    for (const IgtRequest& request : requests) {
        if (request.obstacle(machine).empty()) {
            // The runner takes a binary without a subtest for all of them.
            const std::size_t cut = wants_all(request) ? all_subtests.size() : 0;
            list += runner_prefix + request.name.substr(0, request.name.size() - cut) + "\n";
        }
    }
    return list;
}

MessageShapes boot_warnings(const std::vector<std::string>& records) {
    MessageShapes shapes;
    for (const std::string& record : records) {
        // PRIORITY,NUMBER,TIME,FLAGS;MESSAGE and then lines of members
        const std::size_t begin = record.find(';');
        if (begin == std::string::npos) {
            continue;
        }
        const std::string message = record.substr(begin + 1, record.find('\n', begin) - begin - 1);
        if (contains(message, modules_loaded_line)) {
            return shapes;
        }
        constexpr int level_mask = 7;
        if ((std::atoi(record.c_str()) & level_mask) <= kern_warning) {
            shapes.insert(shape_of(message));
        }
    }
    return {};
}

std::vector<IgtVerdict> judge_igt(const json& results, const std::vector<IgtRequest>& requests,
                                  const IgtMachine& machine, const MessageShapes& usual) {
    const json none = json::object();
    const json& tests = results.contains("tests") ? results.at("tests") : none;
    std::vector<IgtVerdict> verdicts;
    for (const IgtRequest& request : requests) {
        for (const std::string& name : names_of(request, tests)) {
            IgtRequest single = request;
            single.name = name;
            verdicts.push_back(judge(tests, single, machine, usual));
        }
    }
    return verdicts;
}

std::string format_ktap(const std::vector<IgtVerdict>& verdicts) {
    std::string text = std::string(ktap::version_line) + "\n";
    text += ktap::format_plan(verdicts.size()) + "\n";
    std::uint64_t number = 0;
    for (const IgtVerdict& verdict : verdicts) {
        for (const std::string& line : lines_of(verdict.details)) {
            text += ktap::format_comment(line) + "\n";
        }
        const bool skipped = verdict.outcome == IgtVerdict::Outcome::skip;
        text += ktap::format_result(
                    {verdict.outcome != IgtVerdict::Outcome::fail, ++number, verdict.name,
                     skipped ? ktap::Directive::skip : ktap::Directive::none, verdict.reason}) +
                "\n";
    }
    return text;
}

}  // namespace hp::clients
