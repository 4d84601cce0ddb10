// SPDX-License-Identifier: GPL-2.0
// Purpose: the table of checks. One more check is a row here, the function that judges it (RowRun,
// run/), and a row in Documentation/harness/checks.md, which checks_test.cpp asks for.
// Thread: constants and pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace hotplug {

/// What a check looks at, and so when it can be judged at all.
enum class CheckData {
    losses,  ///< what was seen of losses and replugs: without one there is nothing to judge
    guest,   ///< the guest, which is asked: one that does not answer fails
    row,     ///< what the row has on record
};

/// Who asks for a check.
enum class CheckUse {
    named,     ///< a scenario that wants it
    implicit,  ///< nobody: it is part of every row's verdict
};

// clang-format off
/// In the order of a report's columns: name, column heading, who asks for it, what it looks at.
#define HOTPLUG_CHECKS(check)                                       \
    check(removed,          "removal returned", named,    losses)   \
    check(clients_released, "clients released", named,    losses)   \
    check(no_access,        "absent accesses",  named,    losses)   \
    check(bystander,        "bystander",        named,    guest)    \
    check(kfd_usable,       "/dev/kfd",         named,    guest)    \
    check(replug,           "replug to job",    named,    losses)   \
    check(steps,            "steps",            implicit, row)      \
    check(log_clean,        "kernel log",       implicit, row)      \
    check(error_lines,      "error lines",      implicit, row)      \
    check(stray_dma,        "stray DMA",        implicit, row)      \
    check(no_leak,          "leaks",            implicit, guest)
// clang-format on

/// What a row is judged by. Documentation/harness/checks.md explains each.
enum class Check {
#define HOTPLUG_CHECK_ENUMERATOR(name, heading, use, data) name,
    HOTPLUG_CHECKS(HOTPLUG_CHECK_ENUMERATOR)
#undef HOTPLUG_CHECK_ENUMERATOR
};

struct CheckInfo {
    Check check;
    std::string_view name;
    std::string_view heading;
    CheckUse use;
    CheckData data;
};

std::span<const CheckInfo> all_checks();
const CheckInfo& info(Check check);
std::string_view to_string(Check check);
std::optional<Check> parse_check(std::string_view name);

}  // namespace hotplug
