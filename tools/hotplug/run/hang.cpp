// SPDX-License-Identifier: GPL-2.0
// Purpose: see hang.h.
// Thread: one at a time.
#include "hotplug/run/hang.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace hotplug {

namespace {

/// A line "= COMM (PID)" for each task in state D, and its stack. A task may end meanwhile.
constexpr const char* blocked_command =
    "for task in /proc/[0-9]*/task/[0-9]*; do "
    "read -r line <$task/stat && state=${line##*) } && [ \"${state%% *}\" = D ] || continue; "
    "read -r comm <$task/comm && echo \"= $comm (${task##*/})\" && cat $task/stack; "
    "done 2>/dev/null; true";
constexpr auto blocked_deadline = std::chrono::seconds(30);
/// A task that waits for a disk or for a page is in state D, too, and soon no more.
constexpr auto second_look = std::chrono::seconds(1);

std::string stuck_episode(const Episode& episode) {
    if (!episode.loss.stuck.empty()) {
        return fmt::format("the removal has not returned: {}", episode.loss.stuck);
    }
    if (episode.replug && !episode.replug->stuck.empty()) {
        return fmt::format("the new GPU is not ready: {}", episode.replug->stuck);
    }
    for (const VictimClient& client : episode.clients) {
        if (ends_clients(episode.loss.loss) && !client.ended && !client.ended_before) {
            return fmt::format("{} has not ended after the loss", client.name);
        }
    }
    return {};
}

/// In both looks, a moment apart.
std::string task_that_stays(Testbed& bed) {
    const auto before = blocked_tasks(bed);
    if (!before || before->empty()) {
        return {};
    }
    Deadline::after(second_look).pause(second_look);
    const auto after = blocked_tasks(bed);
    if (!after) {
        return {};
    }
    for (const BlockedTask& task : *after) {
        const bool stays =
            std::any_of(before->begin(), before->end(), [&](const BlockedTask& earlier) {
                return earlier.name == task.name && earlier.stack == task.stack;
            });
        if (stays) {
            return fmt::format("{} is blocked in {}", task.name,
                               task.stack.empty() ? "an unknown place" : task.stack.front());
        }
    }
    return {};
}

}  // namespace

hp::Result<std::vector<BlockedTask>> blocked_tasks(Testbed& bed) {
    const auto told = bed.run({"sh", "-c", blocked_command}, blocked_deadline);
    if (!told) {
        return tl::unexpected(told.error());
    }
    if (told->timed_out) {
        return hp::fail("the list of blocked tasks did not come to its end");
    }
    std::vector<BlockedTask> tasks;
    std::istringstream lines(told->out);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("= ")) {
            tasks.push_back({line.substr(2), {}});
        } else if (!tasks.empty()) {
            // "[<0>] function+0x1/0x2 [module]"
            const size_t at = line.find("] ");
            tasks.back().stack.push_back(at == std::string::npos ? line : line.substr(at + 2));
        }
    }
    return tasks;
}

std::string find_hang(const RowState& state, bool failed) {
    if (state.silent) {
        return "the guest does not answer";
    }
    for (const Episode& episode : state.result.episodes) {
        if (std::string stuck = stuck_episode(episode); !stuck.empty()) {
            return stuck;
        }
    }
    if (!state.overdue.empty()) {
        return fmt::format("'{}' has not returned", state.overdue);
    }
    for (const Complaint& complaint : classify(state.bed.kernel_log(state.log_from)).complaints) {
        if (complaint.kind == ComplaintKind::hung_task || complaint.kind == ComplaintKind::lockup ||
            complaint.kind == ComplaintKind::rcu_stall) {
            return complaint.title;
        }
    }
    return failed ? task_that_stays(state.bed) : "";
}

}  // namespace hotplug
