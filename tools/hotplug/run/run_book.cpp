// SPDX-License-Identifier: GPL-2.0
// Purpose: see run_book.h.
// Thread: any.
#include "hotplug/run/run_book.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "hotplug/judge/expected_update.h"
#include "hotplug/run/guest_facts.h"

namespace hotplug {

RunBook::RunBook(RunnerConfig& config, Progress& progress, RowSource& rows, RunInfo info)
    : config_(config), progress_(progress), rows_(rows), planned_(rows.size()) {
    report_.info = std::move(info);
}

hp::Result<void> RunBook::open() {
    for (const std::string& text : config_.quarantine.stale()) {
        progress_.note("quarantine: " + text);
        add({.kind = IntegrityKind::quarantine_stale,
             .severity = rule_of(IntegrityKind::quarantine_stale).severity,
             .text = text});
    }
    progress_.run_started(planned_);
    return keep();
}

std::vector<Row> RunBook::take() {
    const std::lock_guard held(lock_);
    std::vector<Row> taken;
    if (ended_ || Deadline::interrupted()) {
        return taken;
    }
    while (taken.empty() || rows_.goes_on()) {
        auto row = rows_.next();
        if (!row) {
            break;
        }
        taken.push_back(std::move(*row));
    }
    return taken;
}

bool RunBook::ended() const {
    const std::lock_guard held(lock_);
    return ended_;
}

unsigned RunBook::begin_boot() {
    const std::lock_guard held(lock_);
    return ++report_.info.boots;
}

hp::Result<void> RunBook::booted(const GuestFacts& facts) {
    const std::lock_guard held(lock_);
    if (!report_.info.kernel.empty()) {
        return {};
    }
    auto expected = config_.expected(facts);
    if (!expected) {
        return tl::unexpected(expected.error());
    }
    report_.info.kernel = facts.release;
    report_.info.flavour = facts.flavour();
    report_.info.profile = facts.profile;
    report_.info.options_from = facts.options_from;
    note_unjudged(facts, report_.integrity);
    expected_ = std::move(*expected);
    return {};
}

bool RunBook::has_booted() const {
    const std::lock_guard held(lock_);
    return !report_.info.kernel.empty();
}

void RunBook::judge(RowResult& result) const {
    const std::lock_guard held(lock_);
    hotplug::judge(result, expected_);
}

RunInfo RunBook::info() const {
    const std::lock_guard held(lock_);
    return report_.info;
}

void RunBook::add(IntegrityEntry entry) {
    const std::lock_guard held(lock_);
    report_.integrity.add(std::move(entry));
}

Hang RunBook::examine(Testbed& bed, const std::string& reason,
                      const std::filesystem::path& folder) {
    const std::lock_guard held(alone_);
    return config_.examiner.examine(bed, reason, folder);
}

std::optional<RowResult> RunBook::try_pool(const Row& row) {
    const std::lock_guard held(alone_);
    return config_.pool_trial ? std::optional(config_.pool_trial(row)) : std::nullopt;
}

hp::Result<void> RunBook::finish(RowResult result) {
    const std::lock_guard held(lock_);
    progress_.row_finished(result);
    if (auto taken = rows_.finished(result); !taken) {
        return taken;
    }
    for (const std::string& step : result.cut_output) {
        report_.integrity.add(IntegrityKind::output_cut,
                              fmt::format("{}, step '{}'", result.id, step));
    }
    report_.rows.push_back(std::move(result));
    return keep();
}

void RunBook::leave(std::span<const Row> rows) {
    const std::lock_guard held(lock_);
    for (const Row& row : rows) {
        report_.not_run.push_back(row.id());
    }
}

void RunBook::fail(const std::string& why) {
    const std::lock_guard held(lock_);
    ended_ = true;
    if (report_.info.error.empty()) {
        report_.info.error = why;
    }
}

hp::Result<void> RunBook::keep() const {
    return config_.keep ? config_.keep(report_, planned_) : hp::Result<void>();
}

RunReport RunBook::close() {
    const std::lock_guard held(lock_);
    judge_rates(report_.rows, expected_);
    for (RowResult& row : report_.rows) {
        config_.quarantine.excuse(row);
    }
    const auto left = rows_.left();
    report_.not_run.insert(report_.not_run.end(), left.begin(), left.end());
    report_.info.out_of_time = Deadline::out_of_time() && !report_.not_run.empty();
    report_.info.interrupted = Deadline::interrupted() && !Deadline::out_of_time();
    if (report_.info.interrupted || report_.info.out_of_time) {
        report_.info.error.clear();  // what a cut wait says is not the reason
    }
    report_.info.duration =
        std::chrono::duration_cast<std::chrono::milliseconds>(Deadline::Clock::now() - start_);
    conclude();
    return std::move(report_);
}

void RunBook::conclude() {
    std::map<std::string, std::vector<std::string>> skipped;
    for (const RowResult& row : report_.rows) {
        if (row.outcome == Outcome::skip) {
            skipped[row.skip_reason].push_back(row.id);
        }
    }
    for (const auto& [reason, ids] : skipped) {
        report_.integrity.add({.kind = IntegrityKind::row_skipped,
                               .severity = config_.fail_on_skip ? Severity::fail : Severity::note,
                               .text = fmt::format("{}: {}", reason, fmt::join(ids, " "))});
    }
    if (!report_.rows.empty() && tally(report_.rows).skipped == report_.rows.size()) {
        report_.integrity.add(
            IntegrityKind::nothing_judged,
            fmt::format("{} of {} rows", report_.rows.size(), report_.rows.size()));
    }
    if (report_.info.interrupted) {
        report_.integrity.add(IntegrityKind::ended_early, "interrupted");
    } else if (!report_.info.error.empty()) {
        report_.integrity.add(IntegrityKind::ended_early, report_.info.error);
    } else if (report_.info.out_of_time) {
        report_.integrity.add(IntegrityKind::out_of_time,
                              fmt::format("{} of {} rows have no verdict", report_.not_run.size(),
                                          report_.rows.size() + report_.not_run.size()));
    }
    if (!report_.not_run.empty()) {
        report_.integrity.add(IntegrityKind::not_run,
                              fmt::format("{}", fmt::join(report_.not_run, " ")));
    }
}

}  // namespace hotplug
