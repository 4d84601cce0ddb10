// SPDX-License-Identifier: GPL-2.0
// Purpose: the lines of KTAP, the format of the kernel's own tests (its
// Documentation/dev-tools/ktap.rst), written and read. Thread: pure functions. Not modelled: the
// order of lines, and levels of subtests, which are indented by who writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hp::ktap {

/// Each document's, and each level of subtests', first line.
inline constexpr std::string_view version_line = "KTAP version 1";

/// SKIP: not run. XFAIL: failed, as is known. `ok` and `not ok` say what that counts as.
enum class Directive { none, skip, xfail };

/// The result of one test: `not ok 3 name # SKIP note`.
struct Result {
    bool ok = true;
    uint64_t number = 0;
    std::string name{};  ///< may be empty
    Directive directive = Directive::none;
    std::string note{};  ///< why it was skipped, or what came of it
};

/// One line, without its newline. A line break or a '#' in name or note becomes a space: the one
/// ends the line, the other begins a directive.
std::string format_result(const Result& result);
/// "1..N"
std::string format_plan(uint64_t count);
/// "# text"; line breaks and '#' as above.
std::string format_comment(std::string_view text);

// What a line says; nothing when it is of another kind or indented. It comes without its newline.
std::optional<Result> parse_result(std::string_view line);
std::optional<uint64_t> parse_plan(std::string_view line);
/// The reason behind "Bail out!", which may be empty.
std::optional<std::string> parse_bail_out(std::string_view line);
/// Also that of TAP, of which KTAP is a dialect.
bool is_version_line(std::string_view line);

}  // namespace hp::ktap
