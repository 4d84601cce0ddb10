// SPDX-License-Identifier: GPL-2.0
// Purpose: keeps books and hardware together: writes down what is wanted, has the driver do what is
// due, writes down what came of it. Holds nothing that the ledger does not: it may end at any
// moment, and the next one goes on.
// Thread: the loop's; steps have threads of their own.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gpupool/daemon/mailbox.h"
#include "gpupool/driver/driver.h"
#include "gpupool/ledger/ledger.h"
#include "gpupool/placement/refusal.h"
#include "lib/event_loop.h"

namespace gpupool {

class Keeper {
public:
    /// Tells of each commit.
    using OnChange = std::function<void()>;
    /// Called on any thread before and after each commit and each step: where an end of the process
    /// could leave books and hardware with something different in them.
    using Brink = std::function<void()>;

    /// `boot_id`: of the machine as it runs now. Takes up what an earlier one left, and begins to
    /// work. Throws std::runtime_error with one line when the ledger cannot be written.
    Keeper(hp::EventLoop& loop, Ledger ledger, std::unique_ptr<Driver> driver,
           const std::string& boot_id, Brink brink);
    /// Waits for the steps that are under way; their ends are not written down, and they are due
    /// again.
    ~Keeper();
    Keeper(const Keeper&) = delete;
    Keeper& operator=(const Keeper&) = delete;

    const Books& books() const { return ledger_.books(); }
    const Ledger& ledger() const { return ledger_; }
    const Driver& driver() const { return *driver_; }
    void set_on_change(OnChange on_change) { on_change_ = std::move(on_change); }

    /// A copy of the books, for an operation that commit() then writes down.
    Books draft() const;
    Outcome<void> commit(Books changed, const std::optional<AnsweredRequest>& request = {});

    /// Where books and hardware differ, steps that are under way apart. Asks the driver on a thread
    /// of its own, which may take a while; `tell` is called on the loop.
    using Findings = std::vector<std::string>;
    void examine(std::function<void(Findings)> tell);

private:
    using Report = std::function<bool(Books&)>;
    void report(Report report);
    bool record(const Report& report);
    void try_again();
    void drive();
    void watch_patience();
    void start(const std::string& subject, const Step& step);
    void finish(const std::string& subject, const Step& step,
                const tl::expected<std::string, StepFailure>& result);

    hp::EventLoop& loop_;
    Ledger ledger_;
    std::unique_ptr<Driver> driver_;
    Brink brink_;
    OnChange on_change_;
    std::map<std::string, Step> under_way_;       // by GPU or VM
    std::map<std::string, std::string> failing_;  // what is tried again and again, and why
    std::set<std::string> paused_;                // until then
    std::list<Report> unrecorded_;                // what the ledger would not take
    hp::EventLoop::Handle again_;
    bool waiting_ = false;
    hp::EventLoop::Handle patience_;  // ends then
    std::unique_ptr<Mailbox> mailbox_;
};

/// Where books and inventory differ.
std::vector<std::string> differences(const Books& books, const Inventory& inventory);

}  // namespace gpupool
