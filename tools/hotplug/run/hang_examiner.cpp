// SPDX-License-Identifier: GPL-2.0
// Purpose: see hang_examiner.h.
// Thread: one at a time.
#include "hotplug/run/hang_examiner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>

#include "hotplug/base/child_process.h"
#include "hotplug/report/report_files.h"
#include "hotplug/run/hang.h"

namespace hotplug {

namespace {

namespace fs = std::filesystem;

/// Seconds, of which unpacking drgn the first time is most.
constexpr auto script_deadline = std::chrono::minutes(5);
/// What a report shows of tasks.txt.
constexpr size_t most_lines = 12;
constexpr std::string_view finding = "* ";

/// The lines of tasks.txt that say who waits for what.
std::vector<std::string> findings_in(const fs::path& file) {
    std::vector<std::string> lines;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line) && lines.size() < most_lines;) {
        if (line.starts_with(finding)) {
            lines.push_back(line.substr(finding.size()));
        }
    }
    return lines;
}

}  // namespace

std::optional<DumpOf> parse_dump_of(std::string_view name) {
    return name == "never"  ? std::optional(DumpOf::none)
           : name == "hang" ? std::optional(DumpOf::hangs)
           : name == "fail" ? std::optional(DumpOf::failures)
                            : std::nullopt;
}

bool HangExaminer::wants(const std::string& reason) const {
    return config_.dump == DumpOf::failures || (config_.dump == DumpOf::hangs && !reason.empty());
}

Hang HangExaminer::examine(Testbed& bed, const std::string& reason, const fs::path& folder) {
    Hang hang = {.reason = reason.empty() ? "it does not hang" : reason};
    std::error_code error;
    fs::remove_all(folder, error);
    fs::create_directories(folder, error);
    if (error) {
        hang.note = fmt::format("{}: {}", folder.string(), error.message());
        return hang;
    }
    const auto examined = examine_memory(bed, folder);
    if (!examined) {
        hang.note = examined.error().message;
        if (auto asked = ask_guest(bed, folder); !asked) {
            hang.note += "; " + asked.error().message;
        }
    }
    keep_memory(folder, hang);
    hang.blocked = findings_in(folder / "tasks.txt");
    return hang;
}

void HangExaminer::keep_memory(const fs::path& folder, Hang& hang) {
    std::error_code error;
    if (!fs::exists(folder / "vmcore", error)) {
        return;
    }
    if (kept_ < config_.kept) {
        ++kept_;
        return;
    }
    for (const char* of_memory : {"vmcore", "vmlinux", "types.o", "vmcoreinfo", "open"}) {
        fs::remove(folder / of_memory, error);
    }
    hang.note += fmt::format("{}the memory is not kept: this run has {} dumps (--keep-dumps)",
                             hang.note.empty() ? "" : "; ", config_.kept);
}

hp::Result<void> HangExaminer::examine_memory(Testbed& bed, const fs::path& folder) {
    const auto dumped = bed.dump_memory(folder / "vmcore", config_.limits);
    if (!dumped) {
        return tl::unexpected(dumped.error());
    }
    return run_and_capture(
               Command{{config_.script, folder, config_.kernel, bed.facts().release}, {}},
               Deadline::after(script_deadline))
        .map([](const std::string&) {});
}

hp::Result<void> HangExaminer::ask_guest(Testbed& bed, const fs::path& folder) const {
    std::string text;
    if (const auto tasks = blocked_tasks(bed)) {
        text = fmt::format("The guest says itself, of {} tasks that are blocked (state D):\n",
                           tasks->size());
        for (const BlockedTask& task : *tasks) {
            text += fmt::format("{}{} is blocked in {}\n", finding, task.name,
                                fmt::join(task.stack, " < "));
        }
    } else {
        const auto printed = bed.blocked_tasks_by_console();
        if (!printed) {
            return hp::fail(fmt::format("{}; {}", tasks.error().message, printed.error().message));
        }
        text = "The guest's kernel says, asked on the console (SysRq w):\n" + *printed;
    }
    return write_report(folder / "tasks.txt", text);
}

}  // namespace hotplug
