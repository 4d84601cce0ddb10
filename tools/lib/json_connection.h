// SPDX-License-Identifier: GPL-2.0
// Purpose: one JSON value per line over a stream socket, driven by an event loop: never blocks,
// bounded in both directions. Thread: the loop's. Does not model: requests and answers; what the
// values mean is the owner's business.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "lib/event_loop.h"
#include "lib/fd.h"
#include "lib/json_line.h"
#include "lib/line_buffer.h"
#include "lib/result.h"

namespace hp {

class JsonConnection {
public:
    static constexpr size_t queue_limit = 4 << 20;  // unsent bytes of a peer that does not read

    struct Handlers {
        /// A line arrived: its value, or why it is none. The connection goes on in both cases, and
        /// must not be destroyed here.
        std::function<void(Result<nlohmann::json> line)> on_line;
        /// The connection is over; the handler may destroy this object. `reason` is empty when the
        /// peer closed. Always called from the loop itself, never from inside send().
        std::function<void(const std::string& reason)> on_end;
    };

    JsonConnection(EventLoop& loop, Fd socket, Handlers handlers);
    ~JsonConnection();
    JsonConnection(const JsonConnection&) = delete;
    JsonConnection& operator=(const JsonConnection&) = delete;

    /// Queues a line. A peer that let more than queue_limit pile up is given up (on_end, later).
    void send(const nlohmann::json& value);

    /// Bytes not yet taken by the socket.
    size_t unsent() const { return output_.size(); }

private:
    void on_events(uint32_t events);
    void receive();
    void take_lines();
    void flush();
    void end(std::string reason);

    EventLoop& loop_;
    Fd socket_;
    Handlers handlers_;
    EventLoop::Handle watch_;
    EventLoop::Handle ending_;
    LineBuffer input_{json_line_limit, LineBuffer::Overlong::refuse};
    std::string output_;
};

}  // namespace hp
