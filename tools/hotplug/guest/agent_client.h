// SPDX-License-Identifier: GPL-2.0
// Purpose: the harness's end of the guest agent's protocol (Documentation/harness/protocols.md):
// requests with deadlines. What the guest says unasked goes to its kernel log and its jobs, the
// match of the clocks to its clock. Thread: all members from any thread; events are taken in on the
// connection's own reader thread. Not modelled: resending. A request that got no answer may have
// had its effect.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hotplug/base/deadline.h"
#include "hotplug/base/json_conversation.h"
#include "hotplug/guest/guest_clock.h"
#include "hotplug/guest/guest_jobs.h"
#include "hotplug/guest/guest_log.h"
#include "hotplug/guest/guest_state.h"
#include "hotplug/guest/kernel_line.h"
#include "lib/result.h"

namespace hotplug {

struct AgentHello {
    int version = 0;
    std::string kernel;
    uint64_t uptime_us = 0;
};

struct RunResult {
    int status = 0;  // exit code, or -signal
    bool timed_out = false;
    std::string out;
    std::string err;
    bool cut = false;  // it printed more than the agent keeps: 256 KiB of each stream
    uint64_t elapsed_us = 0;
};

struct WriteResult {
    uint64_t elapsed_us = 0;
    int error = 0;  // errno of the guest's write(2); 0: it succeeded
    std::string error_text;
};

class AgentClient {
public:
    /// Connects to the host end of the agent's port; the guest need not be up yet.
    static hp::Result<std::unique_ptr<AgentClient>> connect(const std::string& socket_path,
                                                            Deadline deadline);

    /// Waits for the agent's first word and matches the two clocks.
    hp::Result<AgentHello> wait_hello(Deadline deadline);

    /// For a guest that may be asleep. Suspended and woken up, its virtio-serial port takes the
    /// host for disconnected: virtcons_restore() asks whether it is there before it gives a buffer
    /// for the answer. So if the agent does not answer within `patience`, connects anew and waits
    /// as long for its hello. False: it sleeps on. What was on its way to a guest that is awake
    /// after all is lost: log_gap_line tells of it.
    hp::Result<bool> meet_again(std::chrono::milliseconds patience);

    /// Any request of the protocol; the answer's members when `ok`, else its `error`.
    hp::Result<nlohmann::json> request(std::string_view verb, nlohmann::json members,
                                       Deadline deadline);

    /// Fails only when the program could not be run; its own failure is in the result.
    hp::Result<RunResult> run(const std::vector<std::string>& argv,
                              std::chrono::milliseconds timeout = std::chrono::seconds(30));
    hp::Result<std::string> read(const std::string& path, Deadline deadline);
    hp::Result<std::vector<std::string>> list(const std::string& path, Deadline deadline);
    hp::Result<GuestState> state(Deadline deadline);
    hp::Result<std::vector<std::string>> kmemleak(Deadline deadline);
    /// Asks the guest to power off; the VM's end is the answer.
    hp::Result<void> poweroff();

    /// write(2) of `data` to `path`; a refusal by the guest's kernel is a value, not a failure.
    hp::Result<WriteResult> write(const std::string& path, const std::string& data,
                                  Deadline deadline);
    /// The same, not waited for: sysfs `remove` can block for a minute, and the guest is watched
    /// meanwhile.
    class PendingWrite {
    public:
        /// Nothing while the write has not returned.
        std::optional<hp::Result<WriteResult>> poll();
        hp::Result<WriteResult> wait(Deadline deadline);

    private:
        friend class AgentClient;
        explicit PendingWrite(JsonConversation::Pending pending) : pending_(std::move(pending)) {}
        JsonConversation::Pending pending_;
    };
    hp::Result<PendingWrite> start_write(const std::string& path, const std::string& data,
                                         std::chrono::milliseconds timeout);

    // Jobs.
    hp::Result<JobId> spawn(const std::string& name, const std::vector<std::string>& argv,
                            const std::map<std::string, std::string>& environment = {});
    hp::Result<void> signal(JobId job, int signal);
    hp::Result<void> job_input(JobId job, const std::string& line);
    /// The same, its answer not waited for: for a line upon which the guest may fall asleep.
    hp::Result<void> send_job_input(JobId job, const std::string& line);
    /// See GuestJobs.
    JobView job(JobId job) const { return jobs_.view(job); }
    hp::Result<JobExit> wait_exit(JobId job, Deadline deadline) const {
        return jobs_.wait_exit(job, deadline);
    }
    hp::Result<OutputLine> wait_output(JobId job, size_t from, const GuestJobs::Wanted& wanted,
                                       std::string_view awaited, Deadline deadline) const {
        return jobs_.wait_output(job, from, wanted, awaited, deadline);
    }

    // Kernel log; see GuestLog.
    size_t kernel_log_size() const { return log_.size(); }
    std::vector<KernelLine> kernel_log(size_t from = 0) const { return log_.lines(from); }
    hp::Result<KernelLine> wait_kernel_line(size_t from, const GuestLog::Wanted& wanted,
                                            std::string_view awaited, Deadline deadline) const;
    /// Writes a line into the guest's kernel log and matches the log's clock with the host's by it.
    hp::Result<LogMark> mark_kernel_log(const std::string& text, Deadline deadline);

    // Clocks; see GuestClock.
    hp::Result<void> synchronise_clock(Deadline deadline);
    uint64_t guest_us(Deadline::Clock::time_point when) const { return clock_.guest_us(when); }

    /// False once the connection ended: QEMU is gone or the agent closed its port.
    bool connected() const { return conversation_->connected(); }

private:
    AgentClient() = default;
    void on_event(const nlohmann::json& event);

    GuestLog log_{[this] { return connected(); }};
    GuestJobs jobs_{[this] { return connected(); }};
    GuestClock clock_;

    std::mutex mutex_;  // of the greeting
    std::condition_variable changed_;
    std::optional<AgentHello> hello_;

    // Last: its reader thread uses the members above until it is joined.
    std::unique_ptr<JsonConversation> conversation_;
};

}  // namespace hotplug
