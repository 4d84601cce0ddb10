// SPDX-License-Identifier: GPL-2.0
// Purpose: see check.h.
// Thread: pure functions.
#include "hotplug/judge/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

namespace hotplug {

namespace {

using Span = std::optional<std::chrono::microseconds>;

constexpr size_t accesses_shown = 4;

double seconds(std::chrono::microseconds time) {
    return static_cast<double>(time.count()) / 1e6;
}

/// The longest of the episodes' times is the row's; an episode without one is shown as such, or
/// by how long it was waited for.
void show_longest(CheckResult& result, const Span& time, std::chrono::microseconds& longest,
                  const Span& given_up = {}) {
    if (!time) {
        result.value = given_up ? "> " + seconds_text(*given_up) : "never";
        longest = std::chrono::microseconds::max();
    } else if (longest != std::chrono::microseconds::max()) {
        longest = std::max(longest, *time);
        result.value = seconds_text(longest);
    }
}

void fail_with(CheckResult& result, std::string evidence) {
    result.passed = false;
    result.evidence.push_back(std::move(evidence));
}

/// In the line of evidence it belongs to: a list of known failures asks each line what it is.
std::string with_kernel_line(std::string evidence, const Episode& episode) {
    if (!episode.last_kernel_line.empty()) {
        evidence += "; the kernel's last line about it: " + episode.last_kernel_line;
    }
    return evidence;
}

/// "mmio_read of regGRBM_STATUS"
std::string describe_access(const LateAccess& access) {
    return fmt::format("{} of {}", access.kind,
                       access.name.empty()
                           ? fmt::format("region {} offset {:#x}", access.region, access.offset)
                           : access.name);
}

/// From the moment the removal was asked for or announced: a death that nobody notices is no
/// removal yet.
Span removal_time(const LossTimeline& loss) {
    if (!loss.remove_returned || !loss.announced) {
        return loss.remove_returned;
    }
    return *loss.remove_returned - *loss.announced;
}

/// ENODEV and ECANCELED say that the GPU, or the work with it, is gone. A job that the driver gave
/// up because the GPU did not answer, or cut short for a reset, has errors of its own: they tell of
/// a GPU that hangs or is reset, and say nothing of one that left. `done` is the word of a client
/// that was told to wait for its loss.
bool tells_of_loss(const VictimClient& client, Loss loss) {
    if (client.reason == "hw_exception") {
        return true;
    }
    if (client.reason != "device" && client.reason != "done") {
        return false;
    }
    const bool resets = loss == Loss::hang || !ends_clients(loss);
    return client.error == ENODEV || client.error == ECANCELED ||
           (resets && (client.error == ETIME || client.error == ENODATA));
}

}  // namespace

std::string seconds_text(std::chrono::microseconds time) {
    return fmt::format("{:.1f} s", seconds(time));
}

CheckResult check_removed(const std::vector<Episode>& episodes, const Limits& limits) {
    CheckResult result = {.check = Check::removed};
    std::chrono::microseconds longest{0};
    for (const Episode& episode : episodes) {
        const LossTimeline& loss = episode.loss;
        const Span time = removal_time(loss);
        show_longest(result, time, longest, loss.given_up);
        std::string failure;
        if (!loss.refused.empty()) {
            failure = fmt::format("refused: {}", loss.refused);
        } else if (!loss.stuck.empty()) {
            failure = fmt::format("did not return: {}", loss.stuck);
        } else if (time && *time > limits.removal) {
            failure = fmt::format("returned after {}, did not return within {}",
                                  seconds_text(*time), seconds_text(limits.removal));
        }
        if (!failure.empty()) {
            fail_with(result, with_kernel_line(std::move(failure), episode));
        }
    }
    return result;
}

std::string trouble_of(const VictimClient& client, Loss loss) {
    const auto because = [&](std::string_view what) {
        return fmt::format("{} {}, its last line: {}", client.name, what, client.last_line);
    };
    if (client.bad != 0) {
        return because(fmt::format("had {} wrong results", client.bad));
    }
    if (client.ended_before) {
        return because("had ended before the loss");
    }
    if (!client.ended) {
        const bool may_go_on = !ends_clients(loss);
        return may_go_on && client.goes_on
                   ? std::string()
                   : because(may_go_on ? "neither ended nor went on" : "was not released");
    }
    if (client.signal) {
        return because(fmt::format("ended by signal {}", *client.signal));
    }
    return tells_of_loss(client, loss)
               ? std::string()
               : because(fmt::format("ended with '{}', errno {}, which does not tell of the loss",
                                     client.reason, client.error));
}

CheckResult check_clients_released(const std::vector<Episode>& episodes, const Limits& limits) {
    CheckResult result = {.check = Check::clients_released, .value = "no client"};
    std::chrono::microseconds longest{0};
    for (const Episode& episode : episodes) {
        if (episode.clients.empty()) {
            continue;
        }
        const Span released = episode.clients_released();
        if (!released && !ends_clients(episode.loss.loss)) {
            result.value = "go on";
        } else {
            show_longest(result, released, longest);
        }
        for (const VictimClient& client : episode.clients) {
            if (std::string trouble = trouble_of(client, episode.loss.loss); !trouble.empty()) {
                fail_with(result, std::move(trouble));
            }
        }
        if (released && *released > limits.clients) {
            fail_with(result, fmt::format("the last client was released after {}, allowed are {}",
                                          seconds_text(*released), seconds_text(limits.clients)));
        }
    }
    return result;
}

CheckResult check_no_access(const std::vector<Episode>& episodes, const Limits& limits) {
    CheckResult result = {.check = Check::no_access};
    uint64_t total = 0;
    for (const Episode& episode : episodes) {
        const AbsentAccesses& accesses = episode.accesses;
        total += accesses.total();
        if (accesses.total() <= limits.accesses) {
            continue;
        }
        fail_with(result, fmt::format("{} accesses before and {} after the device left the bus, "
                                      "allowed are {}",
                                      accesses.server, accesses.black_hole, limits.accesses));
        for (size_t i = 0; i < std::min(accesses_shown, accesses.first.size()); ++i) {
            result.evidence.push_back(describe_access(accesses.first[i]));
        }
    }
    result.value = std::to_string(total);
    return result;
}

CheckResult check_replug(const std::vector<Episode>& episodes, const Limits& limits) {
    CheckResult result = {.check = Check::replug};
    std::chrono::microseconds longest{0};
    for (const Episode& episode : episodes) {
        show_longest(result, episode.first_job, longest);
        if (!episode.replug_failure.empty()) {
            fail_with(result, episode.replug_failure);
        } else if (!episode.first_job) {
            fail_with(result, "the GPU was not put back");
        } else if (*episode.first_job > limits.replug) {
            fail_with(result,
                      fmt::format("the first job ended {} after the replug, allowed are {}",
                                  seconds_text(*episode.first_job), seconds_text(limits.replug)));
        }
    }
    return result;
}

CheckResult check_log_clean(const KernelLogSummary& log) {
    CheckResult result = {.check = Check::log_clean};
    int count = 0;
    for (const Complaint& complaint : log.complaints) {
        count += complaint.count;
        fail_with(result, format_record(complaint.time_us, complaint.title) +
                              (complaint.count > 1 ? fmt::format(" ({} times)", complaint.count)
                                                   : std::string()));
    }
    result.value = count == 0 ? "clean" : fmt::format("{} complaints", count);
    return result;
}

CheckResult check_stray_dma(const std::vector<StrayDma>& before,
                            const std::vector<StrayDma>& after) {
    CheckResult result = {.check = Check::stray_dma};
    uint64_t total = 0;
    for (size_t slot = 0; slot < after.size(); ++slot) {
        const StrayDma had = slot < before.size() ? before[slot] : StrayDma{};
        const StrayDma& has = after[slot];
        if (has.count == had.count) {
            continue;
        }
        total += has.count - had.count;
        fail_with(result, fmt::format("the GPU in slot {} went {} times to where nothing was "
                                      "mapped for it",
                                      slot, has.count - had.count));
        for (size_t i = had.first.size();
             i < std::min(had.first.size() + accesses_shown, has.first.size()); ++i) {
            const StrayDma::First& dma = has.first[i];
            result.evidence.push_back(
                fmt::format("{} of {} bytes at {:#x}", dma.kind, dma.length, dma.address));
        }
    }
    result.value = total == 0 ? "none" : std::to_string(total);
    return result;
}

CheckResult check_no_leak(std::vector<std::string> leaks) {
    CheckResult result = {.check = Check::no_leak};
    result.passed = leaks.empty();
    result.value = leaks.empty() ? "none" : std::to_string(leaks.size());
    result.evidence = std::move(leaks);
    return result;
}

CheckResult check_steps(const std::string& failure) {
    CheckResult result = {.check = Check::steps};
    if (!failure.empty()) {
        fail_with(result, failure);
    }
    return result;
}

CheckResult not_reached(Check check) {
    CheckResult result = {.check = check};
    result.value = "not reached";
    fail_with(result, "the row ended before this could be judged");
    return result;
}

void merge_result(std::vector<CheckResult>& results, CheckResult result) {
    const auto same = std::find_if(results.begin(), results.end(), [&](const CheckResult& other) {
        return other.check == result.check;
    });
    if (same == results.end()) {
        results.push_back(std::move(result));
    } else if (same->passed) {
        *same = std::move(result);
    }
}

}  // namespace hotplug
