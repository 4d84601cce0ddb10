// SPDX-License-Identifier: GPL-2.0
// Purpose: see plan.h.
// Thread: pure functions.
#include "hotplug/run/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace hotplug {

namespace {

/// What only the guest will tell: "if the kernel has CONFIG_KASAN and the image igt_runner".
std::string conditions(const Requirements& needed) {
    std::vector<std::string> parts;
    if (!needed.kernel_options.empty()) {
        parts.push_back(fmt::format("the kernel has {}", fmt::join(needed.kernel_options, ", ")));
    }
    if (!needed.programs.empty()) {
        parts.push_back(fmt::format("the image has {}", fmt::join(needed.programs, ", ")));
    }
    return parts.empty() ? "" : fmt::format("  (if {})", fmt::join(parts, " and "));
}

}  // namespace

bool wants_fresh_guest(const Row& row) {
    return row.scenario->fresh_boot && row.cycle <= 1;
}

std::string unmet_by_machine(const Requirements& needed, const GuestFacts& facts) {
    if (facts.gpus < needed.gpus) {
        return fmt::format("needs {} GPUs, the machine has {}", needed.gpus, facts.gpus);
    }
    const auto& profiles = needed.profiles;
    if (!profiles.empty() &&
        std::find(profiles.begin(), profiles.end(), facts.profile) == profiles.end()) {
        return fmt::format("not for the profile {}", facts.profile);
    }
    if (needed.behind_switch && !facts.behind_switch) {
        return "needs the GPUs behind a PCIe switch: --switch";
    }
    return {};
}

std::string unmet(const Requirements& needed, const GuestFacts& facts) {
    if (std::string reason = unmet_by_machine(needed, facts); !reason.empty()) {
        return reason;
    }
    for (const std::string& option : needed.kernel_options) {
        if (!facts.options.contains(option)) {
            return fmt::format("needs a kernel with {}", option);
        }
    }
    for (const std::string& program : needed.programs) {
        if (!facts.programs.contains(program)) {
            return fmt::format("needs {} in the guest: HP_IMAGE_PARTS says what is in its image",
                               program);
        }
    }
    return {};
}

std::string describe_plan(std::span<const Row> rows, const GuestFacts& machine) {
    std::string text;
    unsigned guests = 0, skipped = 0;
    bool running = false;  // a guest
    bool used = false;     // by a row
    for (const Row& row : rows) {
        if (row.scenario->pool) {
            text += fmt::format("  {}  (guests of its own)\n", row.id());
            running = false;
            continue;
        }
        if (!running || (used && wants_fresh_guest(row))) {
            text += fmt::format("guest {}\n", ++guests);
            running = true;
            used = false;
        }
        const std::string reason = unmet_by_machine(row.scenario->requires_, machine);
        text += fmt::format("  {}{}\n", row.id(),
                            reason.empty() ? conditions(row.scenario->requires_)
                                           : fmt::format("  SKIP {}", reason));
        used = used || reason.empty();
        skipped += reason.empty() ? 0 : 1;
    }
    return text + fmt::format("{} rows, {} of them skipped, in {} guest{} or more\n", rows.size(),
                              skipped, guests, guests == 1 ? "" : "s");
}

}  // namespace hotplug
