// SPDX-License-Identifier: GPL-2.0
// Purpose: see runner.h.
// Thread: one at a time.
#include "hotplug/run/runner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "hotplug/guest/boot_fitness.h"
#include "hotplug/judge/expected_update.h"
#include "hotplug/run/bundle.h"
#include "hotplug/run/plan.h"
#include "hotplug/run/row_run.h"

namespace hotplug {

namespace {

/// A kernel that is unfit that often in a row is unfit for a reason.
constexpr unsigned most_boots = 3;
constexpr auto lockdep_deadline = std::chrono::seconds(30);
constexpr auto late_look = std::chrono::milliseconds(50);

class GivenRows final : public RowSource {
public:
    explicit GivenRows(std::span<const Row> rows) : rows_(rows) {}

    size_t size() const override { return rows_.size(); }
    std::optional<Row> next() override {
        return next_ < rows_.size() ? std::optional(rows_[next_++]) : std::nullopt;
    }
    hp::Result<void> finished(const RowResult&) override { return {}; }
    std::vector<std::string> left() const override {
        std::vector<std::string> ids;
        for (const Row& row : rows_.subspan(next_)) {
            ids.push_back(row.id());
        }
        return ids;
    }

private:
    std::span<const Row> rows_;
    size_t next_ = 0;
};

}  // namespace

Runner::Runner(TestbedFactory& factory, Progress& progress, RunnerConfig config)
    : factory_(factory), progress_(progress), config_(std::move(config)) {}

RunReport Runner::run(std::span<const Row> rows, RunInfo info) {
    GivenRows given(rows);
    return run(given, std::move(info));
}

RunReport Runner::run(RowSource& rows, RunInfo info) {
    report_ = {std::move(info), {}, {}};
    for (const std::string& text : config_.quarantine.stale()) {
        progress_.note("quarantine: " + text);
        report_.integrity.add(IntegrityKind::quarantine_stale, text);
    }
    const auto start = Deadline::Clock::now();
    const size_t planned = rows.size();
    progress_.run_started(planned);
    if (auto kept = keep_report(planned); !kept) {
        report_.info.error = kept.error().message;
        report_.not_run = rows.left();
        conclude();
        return std::move(report_);
    }
    std::optional<std::string> under_way;
    while (!Deadline::interrupted()) {
        const std::optional<Row> next = rows.next();
        if (!next) {
            break;
        }
        const Row& row = *next;
        under_way = row.id();
        const bool in_guest = !row.scenario->pool;
        if (in_guest) {
            if (auto ready = ensure_guest(row); !ready) {
                report_.info.error = ready.error().message;
                break;
            }
        }
        RowResult result = in_guest ? run_row(row) : run_pool_trial(row);
        if (row_cut_) {
            break;
        }
        judge(result, expected_);
        const bool red = is_red(result.outcome);
        config_.quarantine.excuse(result);
        if (red && in_guest && (!config_.bundles || config_.bundles(result))) {
            const auto bundle = keep_bundle(result);
            if (!bundle) {
                report_.info.error = bundle.error().message;
                break;
            }
            result.bundle = *bundle;
        }
        progress_.row_finished(result);
        if (auto taken = rows.finished(result); !taken) {
            report_.info.error = taken.error().message;
            break;
        }
        for (const std::string& step : result.cut_output) {
            report_.integrity.add(IntegrityKind::output_cut,
                                  fmt::format("{}, step '{}'", result.id, step));
        }
        report_.rows.push_back(std::move(result));
        under_way.reset();
        if (auto kept = keep_report(planned); !kept) {
            report_.info.error = kept.error().message;
            break;
        }
    }
    std::error_code ignored;  // what is left over is removed by the next run
    std::filesystem::remove_all(hang_folder(), ignored);
    end_guest();
    judge_rates(report_.rows, expected_);
    for (RowResult& row : report_.rows) {
        config_.quarantine.excuse(row);
    }
    if (under_way) {
        report_.not_run.push_back(*under_way);
    }
    const auto left = rows.left();
    report_.not_run.insert(report_.not_run.end(), left.begin(), left.end());
    report_.info.out_of_time = Deadline::out_of_time() && !report_.not_run.empty();
    report_.info.interrupted = Deadline::interrupted() && !Deadline::out_of_time();
    if (report_.info.interrupted || report_.info.out_of_time) {
        report_.info.error.clear();  // what a cut wait says is not the reason
    }
    report_.info.duration =
        std::chrono::duration_cast<std::chrono::milliseconds>(Deadline::Clock::now() - start);
    conclude();
    return std::move(report_);
}

void Runner::conclude() {
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

hp::Result<void> Runner::keep_report(size_t planned) const {
    return config_.keep ? config_.keep(report_, planned) : hp::Result<void>();
}

hp::Result<void> Runner::ensure_guest(const Row& row) {
    const bool soak_goes_on = row.soak() && row.cycle > 1;
    if (bed_ != nullptr && rows_on_this_boot_ != 0 && !soak_goes_on) {
        // A row may make the kernel complain when it is over.
        if (const auto title = record_late_complaints(); !title.empty()) {
            progress_.note("the guest complained between two rows, and is given up: " + title);
            give_up_guest();
        } else if (wants_fresh_guest(row)) {
            end_guest();
        }
    }
    return bed_ != nullptr ? hp::Result<void>() : boot_fit_guest();
}

hp::Result<void> Runner::boot_fit_guest() {
    std::string flaw;
    for (unsigned boots = 0; boots < most_boots; ++boots) {
        if (auto booted = boot(); !booted) {
            return booted;
        }
        flaw = find_boot_flaw();
        if (flaw.empty()) {
            return {};
        }
        progress_.note(fmt::format("boot {} is given up: {}", report_.info.boots, flaw));
        report_.integrity.add(IntegrityKind::unfit_guest, flaw, report_.info.boots);
        give_up_guest();
    }
    return hp::fail(fmt::format("none of {} boots was fit for a row: {}", most_boots, flaw));
}

hp::Result<void> Runner::boot() {
    auto booted = boot_once();
    if (!booted && report_.info.boots > 1 && !Deadline::interrupted()) {
        // This kernel has booted before: a long run does not end with one bad boot, but a driver
        // that hangs one probe in ten does not pass for it.
        report_.integrity.add(factory_.guest_ran(boot_dir_) ? IntegrityKind::boot_failed
                                                            : IntegrityKind::host_trouble,
                              booted.error().message, report_.info.boots);
        progress_.note("the guest did not boot, once more: " + booted.error().message);
        booted = boot_once();
    }
    return booted;
}

hp::Result<void> Runner::boot_once() {
    progress_.booting();
    boot_dir_ = config_.results_dir / fmt::format("boot-{}", ++report_.info.boots);
    auto bed = factory_.boot(boot_dir_);
    if (!bed) {
        return tl::unexpected(bed.error());
    }
    bed_ = std::move(*bed);
    rows_on_this_boot_ = 0;
    last_row_.clear();
    last_key_.clear();
    history_ = {};
    if (report_.info.kernel.empty()) {
        const GuestFacts& facts = bed_->facts();
        report_.info.kernel = facts.release;
        report_.info.flavour = facts.flavour();
        report_.info.profile = facts.profile;
        report_.info.options_from = facts.options_from;
        note_unjudged(facts, report_.integrity);
        auto expected = config_.expected(facts);
        if (!expected) {
            return tl::unexpected(expected.error());
        }
        expected_ = std::move(*expected);
    }
    return {};
}

std::string Runner::find_boot_flaw() {
    const auto log = bed_->kernel_log(0);
    const std::span all(log);
    const size_t driver = find_driver_start(all);
    // Complaints about the driver's probe are the first row's.
    history_.log_judged = driver;
    if (const auto early = classify(all.first(driver)).complaints; !early.empty()) {
        return "the kernel complained before the driver was loaded: " + early.front().title;
    }
    if (!bed_->facts().options.contains("CONFIG_LOCKDEP") ||
        !classify(all.subspan(driver)).complaints.empty()) {
        return "";
    }
    const auto on =
        bed_->run({"cat", "/proc/lockdep_stats"}, lockdep_deadline)
            .and_then([](const RunResult& stats) { return lock_debugging_on(stats.out); });
    if (!on) {
        return on.error().message;
    }
    return *on ? "" : "lock debugging is off";
}

std::string Runner::record_late_complaints() {
    const auto log = bed_->kernel_log(history_.log_judged);
    history_.log_judged += log.size();
    const auto complaints = classify(log).complaints;
    // What the row before is known to make the kernel say, it may make it say late.
    const ExpectedFailure* known = expected_.find(last_key_, Check::log_clean);
    const std::string* quarantine = config_.quarantine.find(last_key_);
    for (const Complaint& complaint : complaints) {
        const bool expected = known != nullptr && known->covers({complaint.title});
        const std::string excuse = expected ? fmt::format(" (known: {})", known->reason)
                                   : quarantine != nullptr
                                       ? fmt::format(" (in quarantine {})", *quarantine)
                                       : "";
        report_.integrity.add({.kind = IntegrityKind::late_complaint,
                               .severity = excuse.empty() ? Severity::fail : Severity::note,
                               .text = complaint.title + excuse,
                               .guest = report_.info.boots,
                               .row = last_row_,
                               .count = static_cast<unsigned>(complaint.count)});
    }
    return complaints.empty() ? "" : complaints.front().title;
}

void Runner::give_up_guest() {
    if (auto written = write_kernel_log(bed_->kernel_log(0), boot_dir_); !written) {
        progress_.note(written.error().message);
    }
    end_guest();
}

void Runner::end_guest() {
    if (bed_ == nullptr) {
        return;
    }
    if (!row_cut_) {  // else the log is that of a row without a verdict
        const Deadline watch = Deadline::after(config_.late_watch);
        while (!watch.expired() &&
               classify(bed_->kernel_log(history_.log_judged)).complaints.empty()) {
            watch.pause(late_look);
        }
        if (const auto title = record_late_complaints(); !title.empty()) {
            progress_.note("the guest complained after its last row: " + title);
        }
    }
    if (auto ended = bed_->end(); !ended) {
        progress_.note(ended.error().message);
        report_.integrity.add(IntegrityKind::harness_fault, ended.error().message,
                              report_.info.boots);
    }
    bed_.reset();
}

RowResult Runner::run_row(const Row& row) {
    if (std::string reason = unmet(row.scenario->requires_, bed_->facts()); !reason.empty()) {
        RowResult skipped = result_for(row);
        skipped.skip_reason = std::move(reason);
        return skipped;
    }
    progress_.row_started(row.id());
    RowRun::OnFailure on_failure;
    if (config_.examiner.looks_at_anything()) {
        on_failure = [this](RowResult& so_far, const std::string& hang) { examine(so_far, hang); };
    }
    RowRun run(*bed_, row, progress_, history_, std::move(on_failure));
    RowResult result = run.run();
    row_cut_ = Deadline::interrupted();
    result.fresh_boot = rows_on_this_boot_++ == 0;
    last_row_ = row.id();
    last_key_ = row.expected_key();
    if (!result.unfit.empty()) {
        give_up_guest();
    }
    return result;
}

RowResult Runner::run_pool_trial(const Row& row) {
    end_guest();  // which would be in the way of the trial's own
    if (!config_.pool_trial) {
        RowResult skipped = result_for(row);
        skipped.skip_reason = "trials of the pool are run by hpctl run";
        return skipped;
    }
    progress_.row_started(row.id());
    RowResult result = config_.pool_trial(row);
    row_cut_ = Deadline::interrupted();
    return result;
}

void Runner::examine(RowResult& result, const std::string& hang) {
    RowResult judged = result;
    judge(judged, expected_);
    const bool bundled = !config_.bundles || config_.bundles(judged);
    // The kernel's log is judged later: where nothing else failed, it is what told of the hang.
    const bool by_log = judged.outcome == Outcome::pass &&
                        expected_.find(result.expected_key, Check::log_clean) == nullptr;
    if ((is_red(judged.outcome) || by_log) && bundled && config_.examiner.wants(hang)) {
        result.hang = config_.examiner.examine(*bed_, hang, hang_folder());
        if (result.unfit.empty()) {
            // Its clock stood still, and is behind what the harness takes it for.
            result.unfit = "its memory was dumped";
        }
    }
}

hp::Result<std::string> Runner::keep_bundle(const RowResult& result) {
    if (bed_ != nullptr) {
        if (auto written = write_kernel_log(bed_->kernel_log(0), boot_dir_); !written) {
            return tl::unexpected(written.error());
        }
    }
    return write_bundle(result, report_.info, boot_dir_, config_.results_dir,
                        result.hang ? hang_folder() : std::filesystem::path());
}

}  // namespace hotplug
