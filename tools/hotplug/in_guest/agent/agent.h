// SPDX-License-Identifier: GPL-2.0
// Purpose: the guest agent: serves Documentation/harness/protocols.md over a virtio-serial port.
// Thread: one loop does all but what may block in the kernel, which Workers do.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "hotplug/in_guest/agent/jobs.h"
#include "hotplug/in_guest/agent/kmsg.h"
#include "hotplug/in_guest/agent/out_queue.h"
#include "hotplug/in_guest/agent/poll_set.h"
#include "hotplug/in_guest/agent/request.h"
#include "hotplug/in_guest/agent/workers.h"
#include "lib/fd.h"
#include "lib/line_buffer.h"
#include "lib/result.h"

namespace hp::agent {

class Agent {
public:
    struct Config {
        Fd port;                           ///< non-blocking
        Fd kmsg;                           ///< non-blocking, one record per read
        std::filesystem::path root = "/";  ///< where procfs and sysfs are
        std::function<void()> power_off;
    };

    explicit Agent(Config config);

    /// One round of the loop: waits for something to do, at most so long, and does it.
    void step(std::chrono::milliseconds at_most);

private:
    void check_connection();
    std::chrono::milliseconds time_to_next_deadline(std::chrono::milliseconds at_most) const;
    void read_requests();
    void serve_line(const std::string& line);
    Result<void> serve(const Request& request);
    nlohmann::json hello() const;

    // Each answers, now or later, or fails.
    Result<void> serve_run(const Request& request);
    Result<void> serve_spawn(const Request& request);
    Result<void> serve_signal(const Request& request);
    Result<void> serve_job_input(const Request& request);
    Result<void> serve_read(const Request& request);
    Result<void> serve_write(const Request& request);
    Result<void> serve_list(const Request& request);

    Result<void> start_work(const Request& request, Workers::Work work);
    void answer(const Request& request, nlohmann::json members);
    /// Every message comes after the kernel log records written before it: whoever has an answer
    /// has the log to it.
    void push(const nlohmann::json& message);
    void push_all(const std::vector<nlohmann::json>& messages);
    void drain_kernel_log();

    Config config_;
    KmsgReader kmsg_;
    LineBuffer in_;
    OutQueue out_;
    Jobs jobs_;
    Workers workers_;
    bool connected_ = false;
};

}  // namespace hp::agent
