// SPDX-License-Identifier: GPL-2.0
// Purpose: the messages on their way to the harness, encoded, with a mark above which nobody may
// produce more. Thread: not synchronised; the agent's loop owns it.
#pragma once

#include <cstddef>
#include <deque>
#include <nlohmann/json.hpp>
#include <string>

#include "lib/result.h"

namespace hp::agent {

/// No message is ever dropped. Whoever reads a source (kernel log, job output, requests) asks
/// full() first and leaves the bytes where they are: the kernel's ring or the job's pipe then holds
/// them back.
class OutQueue {
public:
    static constexpr std::size_t high_water = 4u << 20;

    void push(const nlohmann::json& message);

    bool full() const { return bytes_ >= high_water; }
    bool empty() const { return lines_.empty(); }

    /// Writes what the descriptor (non-blocking) takes now.
    Result<void> flush(int fd);

    /// The peer is a new one that has not seen the start of a line half sent: say that line again.
    void restart_line() { sent_ = 0; }

private:
    std::deque<std::string> lines_;
    std::size_t bytes_ = 0;
    std::size_t sent_ = 0;  // of the first line
};

}  // namespace hp::agent
