// SPDX-License-Identifier: GPL-2.0
// Purpose: has a thread do something, and the event loop hear of it.
// Thread: post() from any; the rest is the loop's.
#pragma once

#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

#include "lib/event_loop.h"
#include "lib/fd.h"

namespace gpupool {

class Mailbox {
public:
    explicit Mailbox(hp::EventLoop& loop);  // throws std::system_error
    /// Waits for the threads.
    ~Mailbox();
    Mailbox(const Mailbox&) = delete;
    Mailbox& operator=(const Mailbox&) = delete;

    /// Calls `letter` on the loop.
    void post(std::function<void()> letter);
    /// Runs `work` on a thread of its own. What it has to say it posts.
    void run(std::function<void()> work);
    /// For the threads to end.
    void wait();

private:
    void open_all();

    hp::Fd bell_;
    std::mutex mutex_;
    std::vector<std::function<void()>> letters_;
    std::list<std::jthread> threads_;
    hp::EventLoop::Handle watch_;
};

}  // namespace gpupool
