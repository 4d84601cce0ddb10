// SPDX-License-Identifier: GPL-2.0
// Purpose: the socket of one vfio-user client: bytes to messages to the session, replies back.
// While a reply is delayed or does not fit into the socket, nothing more is read: order is kept,
// and a client that does not read costs one reply of memory. Thread: device loop only; never
// blocks.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "gpu-emu/transport/message_framer.h"
#include "gpu-emu/transport/vfio_user_session.h"
#include "lib/event_loop.h"
#include "lib/fd.h"

namespace gpuemu {

class VfioUserConnection {
public:
    struct Options {
        /// How much later than it could be the reply to this BAR access is to be sent. Empty: none
        /// is.
        std::function<std::chrono::microseconds()> bar_delay;
        /// A client that takes nothing of a waiting reply for that long is dropped.
        std::chrono::milliseconds stall_limit{30'000};
    };

    /// `on_end` is called once, when the stream is over or makes no sense any more (then with a
    /// reason). It destroys this object. `session` and `options` outlive it.
    VfioUserConnection(hp::EventLoop& loop, hp::Fd socket, VfioUserSession& session,
                       const Options& options, std::function<void(const std::string&)> on_end);
    ~VfioUserConnection();
    VfioUserConnection(const VfioUserConnection&) = delete;
    VfioUserConnection& operator=(const VfioUserConnection&) = delete;

    /// The peer has closed; there may still be messages to read.
    bool peer_gone() const;

    /// Treats what a peer that is gone has left behind, and ends. This object is destroyed on
    /// return.
    void finish();

private:
    // Those that answer bool: false means that this object is gone.
    bool on_events(uint32_t events);
    bool serve();
    bool handle_buffered(int& left);
    bool answer();
    bool send_reply();
    bool resume();
    bool end(const std::string& reason);

    bool waiting() const { return static_cast<bool>(delay_) || static_cast<bool>(stall_); }
    ssize_t send_rest();

    hp::EventLoop& loop_;
    hp::Fd socket_;
    VfioUserSession& session_;
    const Options& options_;
    std::function<void(const std::string&)> on_end_;
    MessageFramer framer_;
    MessageFramer::Message message_;
    Reply reply_;
    size_t sent_ = 0;  // bytes of reply_ the socket has taken
    hp::EventLoop::Handle watch_;
    hp::EventLoop::Handle delay_;      // set: reply_ waits for its time
    hp::EventLoop::Handle stall_;      // set: reply_ waits for room in the socket
    hp::EventLoop::Handle next_turn_;  // set: messages are left for it
};

}  // namespace gpuemu
