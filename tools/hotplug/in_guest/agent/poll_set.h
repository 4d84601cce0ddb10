// SPDX-License-Identifier: GPL-2.0
// Purpose: one round of poll(2): descriptors and what to do when each is ready.
// Thread: not synchronised; made anew for each round.
#pragma once

#include <poll.h>

#include <chrono>
#include <functional>
#include <vector>

namespace hp::agent {

class PollSet {
public:
    using Handler = std::function<void(short revents)>;

    void add(int fd, short events, Handler on_ready) {
        fds_.push_back({fd, events, 0});
        handlers_.push_back(std::move(on_ready));
    }

    /// Waits, then calls the handlers of the ready descriptors in the order they were added.
    void wait(std::chrono::milliseconds at_most) {
        if (::poll(fds_.data(), fds_.size(), static_cast<int>(at_most.count())) <= 0) {
            return;  // nothing ready, or EINTR: the caller's next round asks again
        }
        for (std::size_t i = 0; i < fds_.size(); ++i) {
            if (fds_[i].revents != 0) {
                handlers_[i](fds_[i].revents);
            }
        }
    }

private:
    std::vector<pollfd> fds_;
    std::vector<Handler> handlers_;
};

}  // namespace hp::agent
