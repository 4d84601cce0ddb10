// SPDX-License-Identifier: GPL-2.0
// Purpose: see ktap.h.
// Thread: pure functions.
#include "lib/ktap.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace hp::ktap {

namespace {

constexpr std::string_view directive_mark = "# ";

bool take(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) {
        return false;
    }
    text.remove_prefix(prefix.size());
    return true;
}

/// A decimal number that ends at a space or with the text; it is taken, the space is not.
std::optional<uint64_t> take_number(std::string_view& text) {
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) {
        return {};
    }
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return text.empty() || text.front() == ' ' ? std::optional(number) : std::nullopt;
}

std::string one_line(std::string_view text) {
    std::string line(text);
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r' || c == '#'; }, ' ');
    return line;
}

std::string_view to_string(Directive directive) {
    switch (directive) {
        case Directive::skip: return "SKIP";
        case Directive::xfail: return "XFAIL";
        case Directive::none: break;
    }
    return "";
}

}  // namespace

std::string format_result(const Result& result) {
    std::string line = (result.ok ? "ok " : "not ok ") + std::to_string(result.number);
    if (!result.name.empty()) {
        line += " " + one_line(result.name);
    }
    const std::string_view directive = to_string(result.directive);
    if (!directive.empty() || !result.note.empty()) {
        line += " #";
    }
    for (const std::string& word : {std::string(directive), one_line(result.note)}) {
        if (!word.empty()) {
            line += " " + word;
        }
    }
    return line;
}

std::string format_plan(uint64_t count) {
    return "1.." + std::to_string(count);
}

std::string format_comment(std::string_view text) {
    return "# " + one_line(text);
}

std::optional<Result> parse_result(std::string_view line) {
    Result result;
    result.ok = !take(line, "not ");
    if (!take(line, "ok ")) {
        return {};
    }
    const auto number = take_number(line);
    if (!number || !take(line, " ")) {
        return {};
    }
    result.number = *number;
    take(line, "- ");
    // A test without a name may have a directive all the same, as kselftest's skips do.
    size_t mark = line.starts_with(directive_mark) ? 0 : line.find(" # ");
    result.name = line.substr(0, mark);
    if (mark != std::string_view::npos) {
        line.remove_prefix(mark == 0 ? 0 : mark + 1);
        take(line, directive_mark);
        for (const Directive directive : {Directive::skip, Directive::xfail}) {
            if (take(line, to_string(directive))) {
                result.directive = directive;
                break;
            }
        }
        take(line, " ");
        result.note = line;
    }
    if (result.name.empty() && result.directive == Directive::none) {
        return {};
    }
    return result;
}

std::optional<uint64_t> parse_plan(std::string_view line) {
    if (!take(line, "1..")) {
        return {};
    }
    return take_number(line);
}

std::optional<std::string> parse_bail_out(std::string_view line) {
    if (!take(line, "Bail out!")) {
        return {};
    }
    take(line, " ");
    return std::string(line);
}

bool is_version_line(std::string_view line) {
    return line.starts_with("KTAP version ") || line.starts_with("TAP version ");
}

}  // namespace hp::ktap
