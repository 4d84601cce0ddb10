// SPDX-License-Identifier: GPL-2.0
// Purpose: see keeper.h.
// Thread: see keeper.h.
#include "gpupool/daemon/keeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "gpupool/placement/invariants.h"
#include "lib/log.h"

namespace gpupool {

namespace {

// Until a step that failed without anybody being the worse for it is tried again, or a ledger that
// was full written.
constexpr std::chrono::seconds retry_delay{1};

uint64_t now_us() {
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                     std::chrono::system_clock::now().time_since_epoch())
                                     .count());
}

std::string subject_of(const Step& step) {
    return step.gpu.empty() ? "vm " + step.vm : step.gpu;
}

/// "gpu3 epoch 5, vm train, lease 7"
std::string about(const Event& event) {
    std::string text = event.gpu.empty() ? event.pool : event.gpu;
    if (event.epoch != 0) {
        text += fmt::format(" epoch {}", event.epoch);
    }
    if (!event.vm.empty()) {
        text += fmt::format("{}vm {}", text.empty() ? "" : ", ", event.vm);
    }
    if (event.lease != 0) {
        text += fmt::format(", lease {}", event.lease);
    }
    return text;
}

std::string name_of_serial(const Books& books, uint64_t serial) {
    for (const auto& [name, gpu] : books.gpus) {
        if (gpu.serial == serial) {
            return name;
        }
    }
    return "";
}

}  // namespace

Keeper::Keeper(hp::EventLoop& loop, Ledger ledger, std::unique_ptr<Driver> driver,
               const std::string& boot_id, Brink brink)
    : loop_(loop),
      ledger_(std::move(ledger)),
      driver_(std::move(driver)),
      brink_(std::move(brink)),
      mailbox_(std::make_unique<Mailbox>(loop)) {
    if (books().boot_id != boot_id) {
        Books changed = draft();
        machine_restarted(changed, boot_id);
        if (auto done = commit(std::move(changed)); !done) {
            throw std::runtime_error(done.error().message);
        }
    }
    Mailbox* const mailbox = mailbox_.get();
    driver_->begin(
        books(),
        {.board_failed =
             [this, mailbox](uint64_t serial, uint64_t epoch, std::string reason) {
                 mailbox->post([this, serial, epoch, reason = std::move(reason)] {
                     report([=](Books& books) {
                         return board_failed(books, name_of_serial(books, serial), epoch, reason);
                     });
                 });
             },
         .vm_ended =
             [this, mailbox](std::string vm, uint64_t incarnation, std::string reason) {
                 mailbox->post([this, vm = std::move(vm), incarnation, reason = std::move(reason)] {
                     report([=](Books& books) { return vm_ended(books, vm, incarnation, reason); });
                 });
             }});
    drive();
}

Keeper::~Keeper() {
    // The steps use the driver, and the driver's own threads the mailbox.
    mailbox_->wait();
    driver_.reset();
}

Books Keeper::draft() const {
    Books copy = books();
    copy.now_us = now_us();
    return copy;
}

Outcome<void> Keeper::commit(Books changed, const std::optional<AnsweredRequest>& request) {
    const std::vector<Event> events = changed.events;
    brink_();
    if (auto written = ledger_.commit(std::move(changed), request); !written) {
        hp::log::error("the ledger was not written", {{"error", written.error().message}});
        return refuse(Code::ledger, written.error().message);
    }
    brink_();
    for (const Event& event : events) {
        hp::log::info(event.what, {{"about", about(event)}, {"detail", event.detail}});
    }
    drive();
    if (on_change_) {
        on_change_();
    }
    return {};
}

/// Of the hardware: it is written down sooner or later.
void Keeper::report(Report report) {
    if (!unrecorded_.empty() || !record(report)) {
        unrecorded_.push_back(std::move(report));
        try_again();
    }
}

/// False: the ledger would not take it.
bool Keeper::record(const Report& report) {
    Books changed = draft();
    return !report(changed) || commit(std::move(changed)).has_value();
}

void Keeper::try_again() {
    if (waiting_) {
        return;
    }
    waiting_ = true;
    again_ = loop_.after(retry_delay, [this] {
        waiting_ = false;
        while (!unrecorded_.empty() && record(unrecorded_.front())) {
            unrecorded_.pop_front();
        }
        if (!unrecorded_.empty()) {
            try_again();
        }
        paused_.clear();
        drive();
    });
}

void Keeper::drive() {
    for (const Step& step : due_steps(books())) {
        const std::string subject = subject_of(step);
        if (!under_way_.contains(subject) && !paused_.contains(subject)) {
            start(subject, step);
        }
    }
    watch_patience();
}

/// Nothing else happens when a repair is to be given up.
void Keeper::watch_patience() {
    const auto left = until_next_give_up(draft());
    // What the ledger would not take yet has its own timer.
    if (!left || !unrecorded_.empty()) {
        patience_ = {};
        return;
    }
    patience_ =
        loop_.after(std::chrono::microseconds(*left) + std::chrono::milliseconds(1), [this] {
            report([](Books& books) {
                settle(books);
                return !books.events.empty();
            });
        });
}

void Keeper::start(const std::string& subject, const Step& step) {
    under_way_.emplace(subject, step);
    hp::log::debug("begins", {{"step", describe(step)}});
    mailbox_->run([this, subject, step, mailbox = mailbox_.get()] {
        brink_();
        auto result = driver_->carry_out(step);
        brink_();
        mailbox->post(
            [this, subject, step, result = std::move(result)] { finish(subject, step, result); });
    });
}

void Keeper::finish(const std::string& subject, const Step& step,
                    const tl::expected<std::string, StepFailure>& result) {
    under_way_.erase(subject);
    failing_.erase(subject);
    if (result) {
        report([step, detail = *result](Books& books) { return step_done(books, step, detail); });
        drive();
        return;
    }
    const StepFailure& failure = result.error();
    hp::log::warning("failed", {{"step", describe(step)}, {"error", failure.message}});
    Books changed = draft();
    const bool has_consequences = step_failed(changed, step, failure.blame, failure.message);
    if (!has_consequences) {
        // Nothing to do but to try again, later.
        failing_[subject] = failure.message;
        paused_.insert(subject);
        try_again();
    } else {
        report([step, failure](Books& books) {
            return step_failed(books, step, failure.blame, failure.message);
        });
    }
    drive();
}

void Keeper::examine(std::function<void(Findings)> tell) {
    mailbox_->run([this, tell = std::move(tell), before = books(),
                   mailbox = mailbox_.get()]() mutable {
        auto inventory = driver_->look();
        mailbox->post([this, tell = std::move(tell), before = std::move(before),
                       inventory = std::move(inventory)] {
            Findings findings = wrong_in(books());
            if (inventory) {
                // What has changed since the driver looked is no difference.
                const auto now = differences(books(), *inventory);
                for (std::string& line : differences(before, *inventory)) {
                    if (std::ranges::find(now, line) != now.end()) {
                        findings.push_back(std::move(line));
                    }
                }
            } else {
                findings.push_back("what is there cannot be told: " + inventory.error().message);
            }
            for (const auto& [subject, reason] : failing_) {
                findings.push_back(fmt::format("{}: tried again and again: {}", subject, reason));
            }
            tell(std::move(findings));
        });
    });
}

std::vector<std::string> differences(const Books& books, const Inventory& inventory) {
    std::vector<std::string> found;
    for (const auto& [name, vm] : books.vms) {
        const auto running = inventory.vms.find(name);
        const bool runs = running != inventory.vms.end();
        if (vm.state == VmState::running && (!runs || running->second != vm.incarnation)) {
            found.push_back(
                fmt::format("vm {} does not run, and the books say that it does", name));
        }
        if (vm.state == VmState::stopped && runs) {
            found.push_back(fmt::format("vm {} runs, and the books say that it does not", name));
        }
    }
    for (const auto& [name, gpu] : books.gpus) {
        const auto there = inventory.boards.find(gpu.serial);
        const bool powered = there != inventory.boards.end();
        const std::string where = powered ? there->second.vm : "";
        switch (gpu.state) {
            case GpuState::free:
            case GpuState::reserved:
                if (!powered || there->second.epoch != gpu.epoch) {
                    found.push_back(
                        fmt::format("{} is {}, and has no power", name, name_of(gpu.state)));
                } else if (!where.empty()) {
                    found.push_back(
                        fmt::format("{} is {}, and in vm {}", name, name_of(gpu.state), where));
                }
                break;
            case GpuState::leased:
                if (!powered || there->second.epoch != gpu.epoch || where != gpu.vm ||
                    there->second.slot != gpu.slot) {
                    found.push_back(fmt::format(
                        "{} is leased to vm {}, slot {}, and {}", name, gpu.vm,
                        gpu.slot.value_or(0),
                        where.empty() ? "in none"
                                      : fmt::format("in vm {}, slot {}, epoch {}", where,
                                                    there->second.slot, there->second.epoch)));
                }
                break;
            case GpuState::pulled:
            case GpuState::quarantined:
            case GpuState::retired:
                if (powered) {
                    found.push_back(
                        fmt::format("{} is {}, and has power", name, name_of(gpu.state)));
                }
                break;
            case GpuState::fresh:
            case GpuState::scrubbing:
            case GpuState::attaching:
            case GpuState::detaching:
            case GpuState::failed: break;  // on its way
        }
    }
    for (const auto& [serial, board] : inventory.boards) {
        if (name_of_serial(books, serial).empty()) {
            found.push_back(fmt::format("a board with serial number {:#x} is in no pool", serial));
        }
    }
    return found;
}

}  // namespace gpupool
