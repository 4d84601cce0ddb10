// SPDX-License-Identifier: GPL-2.0
// Purpose: one conversation with gpupoold: a line there, a line back.
// Thread: one owner.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "lib/fd.h"
#include "lib/line_buffer.h"
#include "lib/result.h"

namespace gpupool {

class PoolClient {
public:
    /// Fails with one line that says what to do when nobody listens there.
    static hp::Result<PoolClient> connect(const std::string& socket);

    /// The answer, whatever it says. Fails when none has come a good while after the request's own
    /// `timeout_ms`.
    hp::Result<nlohmann::json> ask(const nlohmann::json& request);

private:
    PoolClient(std::string socket, hp::Fd fd) : socket_(std::move(socket)), fd_(std::move(fd)) {}

    std::string socket_;
    hp::Fd fd_;
    // A map of many GPUs is longer than what the other protocols send in a line.
    static constexpr size_t line_limit = 64 << 20;
    hp::LineBuffer input_{line_limit, hp::LineBuffer::Overlong::refuse};
};

}  // namespace gpupool
