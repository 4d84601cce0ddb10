// SPDX-License-Identifier: GPL-2.0
// Purpose: see guest_lane.h.
// Thread: see guest_lane.h.
#include "hotplug/run/guest_lane.h"

#include <fmt/format.h>

#include <span>

#include "hotplug/guest/boot_fitness.h"
#include "hotplug/run/bundle.h"
#include "hotplug/run/plan.h"
#include "hotplug/run/row_run.h"

namespace hotplug {

namespace {

/// A kernel that is unfit that often in a row is unfit for a reason.
constexpr unsigned most_boots = 3;
constexpr auto lockdep_deadline = std::chrono::seconds(30);
constexpr auto late_look = std::chrono::milliseconds(50);

}  // namespace

void GuestLane::run() {
    bool goes_on = true;
    while (goes_on) {
        const std::vector<Row> rows = book_.take();
        goes_on = !rows.empty();
        for (size_t i = 0; i < rows.size() && goes_on; ++i) {
            goes_on = !Deadline::interrupted() && !book_.ended() && run_and_judge(rows[i]);
            if (!goes_on) {
                book_.leave(std::span(rows).subspan(i));
            }
        }
    }
    std::error_code ignored;  // what is left over is removed by the next run
    std::filesystem::remove_all(hang_folder(), ignored);
    end_guest();
}

bool GuestLane::run_and_judge(const Row& row) {
    const bool in_guest = !row.scenario->pool;
    if (in_guest) {
        if (auto ready = ensure_guest(row); !ready) {
            book_.fail(ready.error().message);
            return false;
        }
    }
    RowResult result = in_guest ? run_row(row) : run_pool_trial(row);
    if (row_cut_) {
        return false;
    }
    book_.judge(result);
    const bool red = is_red(result.outcome);
    config_.quarantine.excuse(result);
    if (red && in_guest && (!config_.bundles || config_.bundles(result))) {
        const auto bundle = keep_bundle(result);
        if (!bundle) {
            book_.fail(bundle.error().message);
            return false;
        }
        result.bundle = *bundle;
    }
    if (auto taken = book_.finish(std::move(result)); !taken) {
        book_.fail(taken.error().message);
        return false;
    }
    return true;
}

void GuestLane::add(IntegrityKind kind, std::string text) {
    book_.add({.kind = kind,
               .severity = rule_of(kind).severity,
               .text = std::move(text),
               .guest = boot_});
}

std::filesystem::path GuestLane::hang_folder() const {
    return config_.results_dir / fmt::format("hang-{}", boot_);
}

hp::Result<void> GuestLane::ensure_guest(const Row& row) {
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

hp::Result<void> GuestLane::boot_fit_guest() {
    std::string flaw;
    for (unsigned boots = 0; boots < most_boots; ++boots) {
        if (auto booted = boot(); !booted) {
            return booted;
        }
        flaw = find_boot_flaw();
        if (flaw.empty()) {
            return {};
        }
        progress_.note(fmt::format("boot {} is given up: {}", boot_, flaw));
        add(IntegrityKind::unfit_guest, flaw);
        give_up_guest();
    }
    return hp::fail(fmt::format("none of {} boots was fit for a row: {}", most_boots, flaw));
}

hp::Result<void> GuestLane::boot() {
    auto booted = boot_once();
    if (!booted && book_.has_booted() && !Deadline::interrupted()) {
        // This kernel has booted before: a long run does not end with one bad boot, but a driver
        // that hangs one probe in ten does not pass for it.
        add(factory_.guest_ran(boot_dir_) ? IntegrityKind::boot_failed
                                          : IntegrityKind::host_trouble,
            booted.error().message);
        progress_.note("the guest did not boot, once more: " + booted.error().message);
        booted = boot_once();
    }
    return booted;
}

hp::Result<void> GuestLane::boot_once() {
    progress_.booting();
    boot_ = book_.begin_boot();
    boot_dir_ = config_.results_dir / fmt::format("boot-{}", boot_);
    auto bed = factory_.boot(boot_dir_);
    if (!bed) {
        return tl::unexpected(bed.error());
    }
    bed_ = std::move(*bed);
    rows_on_this_boot_ = 0;
    last_row_.clear();
    last_key_.clear();
    history_ = {};
    return book_.booted(bed_->facts());
}

std::string GuestLane::find_boot_flaw() {
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

std::string GuestLane::record_late_complaints() {
    const auto log = bed_->kernel_log(history_.log_judged);
    history_.log_judged += log.size();
    const auto complaints = classify(log).complaints;
    // What the row before is known to make the kernel say, it may make it say late.
    const ExpectedFailure* known = book_.expected().find(last_key_, Check::log_clean);
    const std::string* quarantine = config_.quarantine.find(last_key_);
    for (const Complaint& complaint : complaints) {
        const bool expected = known != nullptr && known->covers({complaint.title});
        const std::string excuse = expected ? fmt::format(" (known: {})", known->reason)
                                   : quarantine != nullptr
                                       ? fmt::format(" (in quarantine {})", *quarantine)
                                       : "";
        book_.add({.kind = IntegrityKind::late_complaint,
                   .severity = excuse.empty() ? Severity::fail : Severity::note,
                   .text = complaint.title + excuse,
                   .guest = boot_,
                   .row = last_row_,
                   .count = static_cast<unsigned>(complaint.count)});
    }
    return complaints.empty() ? "" : complaints.front().title;
}

void GuestLane::give_up_guest() {
    if (auto written = write_kernel_log(bed_->kernel_log(0), boot_dir_); !written) {
        progress_.note(written.error().message);
    }
    end_guest();
}

void GuestLane::end_guest() {
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
        add(IntegrityKind::harness_fault, ended.error().message);
    }
    bed_.reset();
}

RowResult GuestLane::run_row(const Row& row) {
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

RowResult GuestLane::run_pool_trial(const Row& row) {
    end_guest();  // which would be in the way of the trial's own
    progress_.row_started(row.id());
    auto result = book_.try_pool(row);
    row_cut_ = Deadline::interrupted();
    if (!result) {
        result = result_for(row);
        result->skip_reason = "trials of the pool are run by hpctl run";
    }
    return std::move(*result);
}

void GuestLane::examine(RowResult& result, const std::string& hang) {
    RowResult judged = result;
    book_.judge(judged);
    const bool bundled = !config_.bundles || config_.bundles(judged);
    // The kernel's log is judged later: where nothing else failed, it is what told of the hang.
    const bool by_log = judged.outcome == Outcome::pass &&
                        book_.expected().find(result.expected_key, Check::log_clean) == nullptr;
    if ((is_red(judged.outcome) || by_log) && bundled && config_.examiner.wants(hang)) {
        result.hang = book_.examine(*bed_, hang, hang_folder());
        if (result.unfit.empty()) {
            // Its clock stood still, and is behind what the harness takes it for.
            result.unfit = "its memory was dumped";
        }
    }
}

hp::Result<std::string> GuestLane::keep_bundle(const RowResult& result) {
    if (bed_ != nullptr) {
        if (auto written = write_kernel_log(bed_->kernel_log(0), boot_dir_); !written) {
            return tl::unexpected(written.error());
        }
    }
    return write_bundle(result, book_.info(), boot_dir_, config_.results_dir,
                        result.hang ? hang_folder() : std::filesystem::path());
}

}  // namespace hotplug
