// SPDX-License-Identifier: GPL-2.0
// Purpose: see loss.h.
// Thread: see loss.h.
#include "hotplug/loss/loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace hotplug {

namespace {

using Clock = Deadline::Clock;

constexpr std::array losses{Loss::device_del,    Loss::slot_power, Loss::sysfs_remove,
                            Loss::driver_unbind, Loss::surprise,   Loss::surprise_without_restore,
                            Loss::silent_death,  Loss::hang,       Loss::aer_fatal,
                            Loss::at_access};

const std::string pci_devices = "/sys/bus/pci/devices";

constexpr std::chrono::milliseconds poll_interval{50};
// The agent answers while a removal blocks others; this long without an answer, the guest is gone.
constexpr std::chrono::seconds answer_deadline{30};
constexpr std::chrono::seconds agent_margin{60};
// at_access: what is under way has ended by then, or waits for what does not come.
constexpr std::chrono::seconds action_deadline{120};
constexpr std::chrono::milliseconds action_poll{10};
constexpr uint64_t never = ~0ull;
// The guest falls asleep, sleeps and wakes up in about this time: no use in asking before.
constexpr std::chrono::seconds sleep_time{5};
// Longer than an agent that is awake needs for an answer.
constexpr std::chrono::seconds sleeper_patience{2};
// Down to what pci_pm_suspend_noirq() does, D3hot, and back after a second. It waits for a line, so
// that the agent has told of its start before the guest falls asleep.
const std::string suspend_command =
    "echo 1 > /sys/module/suspend/parameters/pm_test_delay && "
    "echo platform > /sys/power/pm_test && read -r go && echo freeze > /sys/power/state";

std::chrono::microseconds span(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration_cast<std::chrono::microseconds>(to - from);
}

std::chrono::microseconds log_span(uint64_t from_us, uint64_t to_us) {
    return std::chrono::microseconds(to_us > from_us ? to_us - from_us : 0);
}

/// A write(2) in the guest that was asked for and whose return is looked for now and then.
class GuestWrite {
public:
    static hp::Result<GuestWrite> start(AgentClient& agent, const std::string& path,
                                        const std::string& data, Deadline deadline) {
        // The agent gives up later than the harness: a write that does not return is a result, no
        // answer to it.
        auto timeout = std::chrono::ceil<std::chrono::milliseconds>(deadline.remaining());
        auto pending = agent.start_write(path, data, timeout + agent_margin);
        if (!pending) {
            return tl::unexpected(pending.error());
        }
        return GuestWrite(std::move(*pending));
    }

    /// True once the write has returned; result() is then valid.
    hp::Result<bool> poll() {
        if (result_) {
            return true;
        }
        auto answer = pending_.poll();
        if (!answer) {
            return false;
        }
        if (!*answer) {
            return tl::unexpected(answer->error());
        }
        result_ = **answer;
        return true;
    }
    const WriteResult& result() const { return *result_; }
    bool refused() const { return result_ && result_->error != 0; }

private:
    explicit GuestWrite(AgentClient::PendingWrite pending) : pending_(std::move(pending)) {}

    AgentClient::PendingWrite pending_;
    std::optional<WriteResult> result_;
};

/// Waits for the guest to switch a slot off and for QEMU to let go of the board; the answer is what
/// was missed, or empty.
hp::Result<std::string> wait_slot_off(GpuSlot& slot, Deadline deadline) {
    while (true) {
        auto off = slot.port().powered_off();
        if (!off) {
            return tl::unexpected(off.error());
        }
        if (*off && (slot.deleted() || !slot.plugged())) {
            return std::string();
        }
        if (deadline.expired()) {
            const auto registers = slot.port().registers();
            return deadline.missed("the guest to power the slot off: " +
                                   (registers ? *registers : registers.error().message));
        }
        deadline.pause(poll_interval);
    }
}

/// One removal from the event to its end.
class Removal {
public:
    Removal(Machine& machine, GpuSlot& slot, Loss loss, Deadline deadline,
            const LossOptions& options)
        : machine_(machine),
          agent_(machine.agent()),
          slot_(slot),
          deadline_(deadline),
          options_(options) {
        timeline_.loss = loss;
    }

    hp::Result<LossTimeline> run() {
        if (auto prepared = prepare(); !prepared) {
            return tl::unexpected(prepared.error());
        }
        if (auto done = carry_out(); !done) {
            return tl::unexpected(done.error());
        }
        if (Deadline::interrupted()) {
            return hp::fail("interrupted");
        }
        find_notification();
        return std::move(timeline_);
    }

private:
    hp::Result<void> prepare();
    hp::Result<void> carry_out();
    hp::Result<void> by_button();
    hp::Result<void> by_surprise(Restore restore);
    hp::Result<void> by_aer();
    hp::Result<void> by_write(const std::string& path, const std::string& data);
    hp::Result<void> by_late_sysfs_remove(hp::Result<void> (EmulatorClient::*failure)());
    hp::Result<void> by_access();
    bool plugs() const { return timeline_.loss == Loss::at_access && options_.during == plugging; }
    bool suspends() const {
        return timeline_.loss == Loss::at_access && options_.during == suspending;
    }
    hp::Result<bool> ended(const std::optional<JobId>& job);

    void mark_event() {
        timeline_.event = Clock::now();
        timeline_.event_guest_us = agent_.guest_us(timeline_.event);
        timeline_.event_log_us = mark_.log_time(timeline_.event);
    }
    hp::Result<void> announce();

    hp::Result<void> wait_until_over(GuestWrite* write);
    hp::Result<bool> stands_still();
    hp::Result<bool> note_directory();
    void note_deleted();
    bool names_device(const std::string& text) const;
    void find_notification();

    bool directory_stays() const { return timeline_.loss == Loss::driver_unbind; }
    std::string device_path() const { return pci_devices + "/" + timeline_.bdf; }

    Machine& machine_;
    AgentClient& agent_;
    GpuSlot& slot_;
    Deadline deadline_;
    const LossOptions& options_;
    LossTimeline timeline_;
    std::string port_bdf_;  // what the kernel log calls the port above the slot
    LogMark mark_;
    std::optional<Clock::time_point> directory_gone_;
    uint64_t accesses_ = 0;         // seen when the removal last touched the device
    Clock::time_point last_touch_;  // and when that was noticed
};

hp::Result<void> Removal::prepare() {
    if (!plugs() && !slot_.plugged()) {
        return hp::fail(fmt::format("slot {} is empty: nothing to lose", slot_.index()));
    }
    bool needs_gpu = timeline_.loss == Loss::silent_death || timeline_.loss == Loss::hang ||
                     timeline_.loss == Loss::driver_unbind || timeline_.loss == Loss::at_access;
    if (needs_gpu && !slot_.has_gpu()) {
        return hp::fail(fmt::format("{}: slot {} has no emulated GPU", to_string(timeline_.loss),
                                    slot_.index()));
    }
    auto bdf = slot_.bdf();
    auto port = slot_.port().bdf();
    if (!bdf || !port) {
        return tl::unexpected(bdf ? port.error() : bdf.error());
    }
    timeline_.bdf = *bdf;
    port_bdf_ = *port;
    if (auto matched = agent_.synchronise_clock(Deadline::after(answer_deadline)); !matched) {
        return matched;
    }
    auto mark = agent_.mark_kernel_log(
        fmt::format("hpctl: {} of {}", to_string(timeline_.loss), timeline_.bdf),
        Deadline::after(answer_deadline));
    if (!mark) {
        return tl::unexpected(mark.error());
    }
    mark_ = *mark;
    timeline_.kernel_log_from = mark_.next_line;
    return slot_.reset_counters();
}

hp::Result<void> Removal::carry_out() {
    switch (timeline_.loss) {
        case Loss::device_del: return by_button();
        case Loss::slot_power:
            return by_write("/sys/bus/pci/slots/" + slot_.slot_name() + "/power", "0");
        case Loss::sysfs_remove: return by_write(device_path() + "/remove", "1");
        case Loss::driver_unbind: return by_write(device_path() + "/driver/unbind", timeline_.bdf);
        case Loss::surprise: return by_surprise(Restore::yes);
        case Loss::surprise_without_restore: return by_surprise(Restore::no);
        case Loss::silent_death: return by_late_sysfs_remove(&EmulatorClient::vanish);
        case Loss::hang: return by_late_sysfs_remove(&EmulatorClient::hang);
        case Loss::aer_fatal: return by_aer();
        case Loss::at_access: return by_access();
    }
    return hp::fail("no such loss");
}

hp::Result<void> Removal::announce() {
    timeline_.announced = span(timeline_.event, Clock::now());
    if (options_.meanwhile.empty()) {
        return {};
    }
    return agent_.spawn("meanwhile", {"sh", "-c", options_.meanwhile}).map([&](JobId job) {
        timeline_.meanwhile = job;
    });
}

hp::Result<void> Removal::by_button() {
    mark_event();
    if (auto pressed = slot_.press_button(); !pressed) {
        return pressed;
    }
    if (auto announced = announce(); !announced) {
        return announced;
    }
    return wait_until_over(nullptr);
}

hp::Result<void> Removal::by_surprise(Restore restore) {
    mark_event();
    if (slot_.has_gpu()) {
        if (auto vanished = slot_.emulator().vanish(); !vanished) {
            return vanished;
        }
        deadline_.pause(options_.ones_before_event);
    }
    if (auto pulled = slot_.port().surprise_removal(restore); !pulled) {
        return pulled;
    }
    if (auto announced = announce(); !announced) {
        return announced;
    }
    return wait_until_over(nullptr);
}

hp::Result<void> Removal::by_aer() {
    mark_event();
    // Surprise Down Error Status: fatal, so that the link is reset and the driver's error handlers
    // run.
    auto answer =
        machine_.qmp().human(fmt::format("pcie_aer_inject_error {} SDN", slot_.port_id()));
    if (!answer) {
        return tl::unexpected(answer.error());
    }
    if (!answer->starts_with("OK")) {
        return hp::fail(fmt::format("QEMU did not inject the error: {}", *answer));
    }
    if (auto announced = announce(); !announced) {
        return announced;
    }
    constexpr std::string_view end =
        "device recovery ";  // drivers/pci/pcie/err.c: pcie_do_recovery()
    auto line = agent_.wait_kernel_line(
        timeline_.kernel_log_from,
        [&](const KernelLine& candidate) {
            return candidate.text.find(end) != std::string::npos && names_device(candidate.text);
        },
        "'device recovery successful' or 'failed'", deadline_);
    if (!line) {
        if (!agent_.connected()) {
            return tl::unexpected(line.error());
        }
        timeline_.stuck = line.error().message;
        return {};
    }
    timeline_.remove_returned = log_span(timeline_.event_log_us, line->time_us);
    if (line->text.find("successful") == std::string::npos) {
        timeline_.refused = line->text;
    }
    return {};
}

hp::Result<void> Removal::by_write(const std::string& path, const std::string& data) {
    if (timeline_.event == Clock::time_point{}) {
        mark_event();
    }
    auto write = GuestWrite::start(agent_, path, data, deadline_);
    if (!write) {
        return tl::unexpected(write.error());
    }
    if (auto announced = announce(); !announced) {
        return announced;
    }
    return wait_until_over(&*write);
}

hp::Result<void> Removal::by_late_sysfs_remove(hp::Result<void> (EmulatorClient::*failure)()) {
    mark_event();
    if (auto failed = (slot_.emulator().*failure)(); !failed) {
        return failed;
    }
    deadline_.pause(options_.unnoticed);
    return by_write(device_path() + "/remove", "1");
}

// What `during` is has ended: the command, or the way of a new board into use.
hp::Result<bool> Removal::ended(const std::optional<JobId>& job) {
    if (suspends()) {
        // Before it is asked for: the news of its end may have come with the hello.
        if (auto met = agent_.meet_again(sleeper_patience); !met) {
            return met;
        }
    }
    if (job) {
        return agent_.job(*job).exit.has_value();
    }
    return machine_.device_progress(slot_).map(
        [](const DeviceProgress& progress) { return progress.ready; });
}

hp::Result<void> Removal::by_access() {
    EmulatorClient& emulator = slot_.emulator();
    const auto longest = deadline_.remaining();  // of the removal, which has not begun yet
    if (plugs()) {
        const auto missing = wait_slot_off(slot_, deadline_);
        if (!missing || !missing->empty()) {
            return missing ? hp::fail(*missing) : tl::unexpected(missing.error());
        }
        if (auto prepared = slot_.prepare_board({}, deadline_); !prepared) {
            return prepared;
        }
    }
    const uint64_t earlier = emulator.event_count("vanished");
    if (auto armed = emulator.vanish_after(options_.access == 0 ? never : options_.access);
        !armed) {
        return armed;
    }
    std::optional<JobId> job;
    if (plugs()) {
        if (auto plugged = slot_.plug(); !plugged) {
            return plugged;
        }
    } else {
        auto spawned =
            agent_.spawn("action", {"sh", "-c", suspends() ? suspend_command : options_.during});
        if (!spawned) {
            return tl::unexpected(spawned.error());
        }
        job = *spawned;
    }
    if (suspends()) {
        if (auto sent = agent_.send_job_input(*job, "go"); !sent) {
            return sent;
        }
    }
    const Deadline action_over = Deadline::after(action_deadline);
    // ended() asks the guest when a board was plugged in: less often.
    const std::chrono::milliseconds pace = suspends() ? sleep_time
                                           : job      ? action_poll
                                                      : poll_interval;
    while (true) {
        auto heard = emulator.wait_event("vanished", earlier, action_over.within(pace));
        if (heard) {
            break;
        }
        if (!emulator.connected()) {
            return heard;
        }
        const auto over = ended(job);
        if (!over) {
            return tl::unexpected(over.error());
        }
        if (*over) {
            if (auto vanished = emulator.vanish(); !vanished) {
                return vanished;
            }
            break;
        }
        if (action_over.expired()) {
            return hp::fail(action_over.missed(fmt::format("'{}' to end", options_.during)));
        }
    }
    mark_event();
    deadline_ = Deadline::after(longest);
    auto seen = emulator.wait_event("vanished", earlier, deadline_);
    auto vanishing = seen ? emulator.last_vanishing() : tl::unexpected(seen.error());
    if (!vanishing) {
        return tl::unexpected(vanishing.error());
    }
    timeline_.vanishing = std::move(*vanishing);
    deadline_.pause(options_.ones_before_event);
    if (plugs()) {
        // The board came to addresses under which nothing lies yet.
        if (auto armed = machine_.arm_black_holes(); !armed) {
            return armed;
        }
    }
    // Accesses count from here: until now nobody could tell the guest, and how long that was hangs
    // on how soon this thread heard of it.
    if (auto reset = slot_.reset_counters(); !reset) {
        return reset;
    }
    if (auto pulled = slot_.port().surprise_removal(Restore::yes); !pulled) {
        return pulled;
    }
    if (auto announced = announce(); !announced) {
        return announced;
    }
    // A guest that sleeps can be asked nothing.
    while (suspends()) {
        const auto over = ended(job);
        if (!over) {
            return tl::unexpected(over.error());
        }
        if (*over) {
            break;
        }
        if (action_over.expired()) {
            timeline_.stuck = action_over.missed("the guest to wake up");
            return {};
        }
        deadline_.pause(poll_interval);
    }
    if (auto over = wait_until_over(nullptr); !over) {
        return over;
    }
    if (job && timeline_.stuck.empty()) {
        if (!agent_.wait_exit(*job, Deadline::after(action_deadline))) {
            timeline_.stuck = fmt::format("'{}' does not end", options_.during);
        }
    }
    return {};
}

hp::Result<bool> Removal::note_directory() {
    if (directory_gone_) {
        return true;
    }
    auto names = agent_.list(pci_devices, Deadline::after(answer_deadline));
    if (!names) {
        return tl::unexpected(names.error());
    }
    if (std::find(names->begin(), names->end(), timeline_.bdf) != names->end()) {
        return false;
    }
    directory_gone_ = Clock::now();
    return true;
}

void Removal::note_deleted() {
    if (auto when = slot_.deleted(); when && !timeline_.device_deleted) {
        timeline_.device_deleted = span(timeline_.event, *when);
    }
}

hp::Result<bool> Removal::stands_still() {
    const auto now = Clock::now();
    if (!options_.overdue || !slot_.has_gpu() ||
        now - timeline_.event < *timeline_.announced + *options_.overdue) {
        return false;
    }
    const auto accesses = slot_.accesses();
    if (!accesses) {
        return tl::unexpected(accesses.error());
    }
    if (*accesses != accesses_ || last_touch_ == Clock::time_point{}) {
        accesses_ = *accesses;
        last_touch_ = now;
    }
    return now - last_touch_ >= options_.still;
}

// `write`: the guest's write that asked for the removal, null when the slot did.
hp::Result<void> Removal::wait_until_over(GuestWrite* write) {
    while (true) {
        hp::Result<bool> written = write ? write->poll() : hp::Result<bool>(true);
        if (!written) {
            return tl::unexpected(written.error());
        }
        if (write && write->refused()) {
            timeline_.refused = write->result().error_text;
            timeline_.remove_returned =
                *timeline_.announced + std::chrono::microseconds(write->result().elapsed_us);
            return {};
        }
        hp::Result<bool> gone = directory_stays() ? hp::Result<bool>(true) : note_directory();
        if (!gone) {
            return tl::unexpected(gone.error());
        }
        if (*written && *gone && !timeline_.remove_returned) {
            // The directory goes before the write returns, and the write's own time is exact.
            timeline_.remove_returned =
                write ? *timeline_.announced + std::chrono::microseconds(write->result().elapsed_us)
                      : span(timeline_.event, *directory_gone_);
        }
        note_deleted();
        bool let_go = !empties_slot(timeline_.loss) || timeline_.device_deleted;
        if (timeline_.remove_returned && let_go) {
            return {};
        }
        const hp::Result<bool> still = stands_still();
        if (!still) {
            return tl::unexpected(still.error());
        }
        if (deadline_.expired() || *still) {
            const std::string awaited =
                !*written ? "the guest's write to return"
                : !*gone  ? fmt::format("{} to leave {}", timeline_.bdf, pci_devices)
                          : fmt::format("DEVICE_DELETED of {}", slot_.device_id());
            timeline_.stuck = deadline_.missed(awaited);
            if (!*still) {
                timeline_.given_up = span(timeline_.event, Clock::now());
            }
            return {};
        }
        deadline_.pause(poll_interval);
    }
}

bool Removal::names_device(const std::string& text) const {
    return text.find(timeline_.bdf) != std::string::npos ||
           text.find(port_bdf_) != std::string::npos;
}

void Removal::find_notification() {
    for (const KernelLine& line : agent_.kernel_log(timeline_.kernel_log_from)) {
        if (names_device(line.text)) {
            timeline_.notified = log_span(timeline_.event_log_us, line.time_us);
            timeline_.notified_line = line.text;
            return;
        }
    }
}

/// One way back from the event to a GPU in use.
class Return {
public:
    Return(Machine& machine, GpuSlot& slot, Loss loss, const Replacement& replacement,
           Deadline deadline)
        : machine_(machine),
          agent_(machine.agent()),
          slot_(slot),
          loss_(loss),
          replacement_(replacement),
          deadline_(deadline) {}

    hp::Result<ReplugTimeline> run() {
        if (auto prepared = prepare(); !prepared) {
            return tl::unexpected(prepared.error());
        }
        if (!timeline_.stuck.empty()) {
            return std::move(timeline_);
        }
        timeline_.event = Clock::now();
        timeline_.event_guest_us = agent_.guest_us(timeline_.event);
        timeline_.event_log_us = mark_.log_time(timeline_.event);
        if (auto started = start(); !started) {
            return tl::unexpected(started.error());
        }
        if (auto used = wait_in_use(); !used) {
            return tl::unexpected(used.error());
        }
        if (Deadline::interrupted()) {
            return hp::fail("interrupted");
        }
        if (timeline_.ready) {
            if (auto armed = machine_.arm_black_holes(); !armed) {
                return tl::unexpected(armed.error());
            }
        }
        return std::move(timeline_);
    }

private:
    hp::Result<void> prepare();
    hp::Result<void> start();
    hp::Result<void> write(const std::string& path, const std::string& data);
    hp::Result<void> wait_in_use();
    /// Why there is no board any more although nobody took it out.
    std::string put_away() const {
        return fmt::format("the guest has switched slot {} off, and QEMU let go of {}",
                           slot_.slot_name(), slot_.device_id());
    }
    void note(ReplugTimeline::Span& moment, bool reached) const {
        if (reached && !moment) {
            moment = span(timeline_.event, Clock::now());
        }
    }

    Machine& machine_;
    AgentClient& agent_;
    GpuSlot& slot_;
    Loss loss_;
    const Replacement& replacement_;
    Deadline deadline_;
    ReplugTimeline timeline_;
    LogMark mark_;
    std::optional<GuestWrite> write_;
};

hp::Result<void> Return::prepare() {
    auto bdf = slot_.bdf();
    if (!bdf) {
        return tl::unexpected(bdf.error());
    }
    timeline_.bdf = *bdf;
    if (auto matched = agent_.synchronise_clock(Deadline::after(answer_deadline)); !matched) {
        return matched;
    }
    auto mark = agent_.mark_kernel_log(
        fmt::format("hpctl: recovery from {} of {}", to_string(loss_), timeline_.bdf),
        Deadline::after(answer_deadline));
    if (!mark) {
        return tl::unexpected(mark.error());
    }
    mark_ = *mark;
    timeline_.kernel_log_from = mark_.next_line;
    if (empties_slot(loss_)) {
        auto missing = wait_slot_off(slot_, deadline_);
        if (!missing) {
            return tl::unexpected(missing.error());
        }
        timeline_.stuck = std::move(*missing);
        return timeline_.stuck.empty() ? slot_.prepare_board(replacement_, deadline_)
                                       : hp::Result<void>();
    }
    if (slot_.deleted()) {
        timeline_.stuck = put_away();
        return {};
    }
    if (replacement_.needs_new_emulator()) {
        return hp::fail(fmt::format("after {} the old board is still in slot {}: no other fits in",
                                    to_string(loss_), slot_.index()));
    }
    if (loss_ == Loss::silent_death || loss_ == Loss::hang) {
        return slot_.emulator().restore();
    }
    return {};
}

hp::Result<void> Return::start() {
    switch (loss_) {
        case Loss::device_del:
        case Loss::slot_power:
        case Loss::surprise:
        case Loss::surprise_without_restore:
        case Loss::at_access: return slot_.plug();
        case Loss::sysfs_remove:
        case Loss::silent_death:
        case Loss::hang: return write("/sys/bus/pci/rescan", "1");
        case Loss::driver_unbind: return write("/sys/bus/pci/drivers/amdgpu/bind", timeline_.bdf);
        case Loss::aer_fatal: return {};
    }
    return hp::fail("no such loss");
}

hp::Result<void> Return::write(const std::string& path, const std::string& data) {
    auto started = GuestWrite::start(agent_, path, data, deadline_);
    if (!started) {
        return tl::unexpected(started.error());
    }
    write_ = std::move(*started);
    return {};
}

hp::Result<void> Return::wait_in_use() {
    while (true) {
        hp::Result<bool> written = write_ ? write_->poll() : hp::Result<bool>(true);
        if (!written) {
            return tl::unexpected(written.error());
        }
        if (write_ && write_->refused()) {
            timeline_.refused = write_->result().error_text;
            return {};
        }
        if (slot_.deleted()) {
            timeline_.stuck = put_away();
            return {};
        }
        auto progress = machine_.device_progress(slot_);
        if (!progress) {
            return tl::unexpected(progress.error());
        }
        note(timeline_.enumerated, progress->enumerated);
        note(timeline_.driver_bound, progress->bound);
        note(timeline_.ready, progress->ready);
        if (timeline_.ready && *written) {
            return {};
        }
        if (deadline_.expired()) {
            const char* awaited = !progress->enumerated ? "the guest to find the board"
                                  : !progress->bound    ? "a driver to be bound to it"
                                  : !progress->ready    ? "its render node and KFD node"
                                                        : "the guest's write to return";
            timeline_.stuck = deadline_.missed(awaited);
            return {};
        }
        deadline_.pause(poll_interval);
    }
}

}  // namespace

std::span<const Loss> all_losses() {
    return losses;
}

std::string_view to_string(Loss loss) {
    switch (loss) {
        case Loss::device_del: return "device_del";
        case Loss::slot_power: return "slot_power";
        case Loss::sysfs_remove: return "sysfs_remove";
        case Loss::driver_unbind: return "driver_unbind";
        case Loss::surprise: return "surprise";
        case Loss::surprise_without_restore: return "surprise_without_restore";
        case Loss::silent_death: return "silent_death";
        case Loss::hang: return "hang";
        case Loss::aer_fatal: return "aer_fatal";
        case Loss::at_access: return "at_access";
    }
    return "unknown";
}

std::optional<Loss> parse_loss(std::string_view name) {
    auto found = std::find_if(losses.begin(), losses.end(),
                              [&](Loss loss) { return to_string(loss) == name; });
    return found == losses.end() ? std::nullopt : std::optional(*found);
}

bool empties_slot(Loss loss) {
    switch (loss) {
        case Loss::device_del:
        case Loss::slot_power:
        case Loss::surprise:
        case Loss::surprise_without_restore:
        case Loss::at_access: return true;
        case Loss::sysfs_remove:
        case Loss::driver_unbind:
        case Loss::silent_death:
        case Loss::hang:
        case Loss::aer_fatal: return false;
    }
    return false;
}

bool ends_clients(Loss loss) {
    return loss != Loss::aer_fatal;
}

hp::Result<LossTimeline> lose(Machine& machine, GpuSlot& slot, Loss loss, Deadline deadline,
                              const LossOptions& options) {
    auto timeline = Removal(machine, slot, loss, deadline, options).run();
    if (!timeline) {
        return tl::unexpected(machine.explain(timeline.error()));
    }
    return timeline;
}

hp::Result<ReplugTimeline> recover(Machine& machine, GpuSlot& slot, Loss loss,
                                   const Replacement& replacement, Deadline deadline) {
    auto timeline = Return(machine, slot, loss, replacement, deadline).run();
    if (!timeline) {
        return tl::unexpected(machine.explain(timeline.error()));
    }
    return timeline;
}

}  // namespace hotplug
