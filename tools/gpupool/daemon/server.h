// SPDX-License-Identifier: GPL-2.0
// Purpose: the daemon's socket: JSON lines, each with `do` and `id`; the answer has the same `id`,
// `ok`, and where that is false `code` and `error` (Documentation/pool/protocol.md). Who is at the
// other end is asked of the kernel. Writes metrics and map where somebody wants them.
// Thread: the loop's.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "gpupool/daemon/keeper.h"
#include "gpupool/placement/refusal.h"
#include "gpupool/placement/rules.h"
#include "lib/acceptor.h"
#include "lib/event_loop.h"
#include "lib/json_connection.h"

namespace gpupool {

class Server {
public:
    struct Options {
        std::string socket;
        std::filesystem::path metrics;  // empty: not written
        std::filesystem::path map;      // likewise
        bool clustered = false;         // VMs are started and stopped by the cluster's agent alone
        std::optional<uid_t> cluster_user{};  // may write into the events, too
    };

    /// So many at a time; who comes then is sent away.
    static constexpr size_t most_clients = 64;
    /// Of a client's requests so many may wait for their answers.
    static constexpr size_t most_waits = 16;

    /// Throws std::runtime_error with one line when the socket cannot be made.
    Server(hp::EventLoop& loop, Keeper& keeper, Options options);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

private:
    struct Client {
        uint64_t number;
        Caller caller;
        std::unique_ptr<hp::JsonConnection> connection;
    };
    struct Waiter {
        uint64_t client;
        nlohmann::json id;
        std::function<std::optional<nlohmann::json>()> look;  // the answer, once there is one
        hp::EventLoop::Handle deadline;
    };
    using Answer = Outcome<nlohmann::json>;
    using Work = std::function<Answer(Books&)>;

    void take_client(hp::Fd socket);
    void take_line(uint64_t number, hp::Result<nlohmann::json> line);
    void answer(uint64_t client, const nlohmann::json& id, const Answer& answer);
    /// Nothing: the answer comes later.
    std::optional<Answer> handle(const Client& client, const nlohmann::json& request);
    std::optional<Answer> read(const Client& client, const std::string& verb,
                               const nlohmann::json& request);
    Answer change(const Caller& caller, const nlohmann::json& request, const Work& work);
    Work work_of(const Caller& caller, const std::string& verb, const nlohmann::json& request);
    std::optional<Answer> events(const Client& client, const nlohmann::json& request);
    std::optional<Answer> wait(const Client& client, const nlohmann::json& request);
    std::optional<Answer> await(const Client& client, const nlohmann::json& request,
                                std::function<std::optional<nlohmann::json>()> look,
                                std::function<std::string()> otherwise);
    std::optional<Answer> doctor(const Client& client, const nlohmann::json& request);
    void examine();
    void answer_waiters();
    void changed();
    void write_views();

    hp::EventLoop& loop_;
    Keeper& keeper_;
    Options options_;
    uint64_t next_client_ = 1;
    std::list<Client> clients_;
    std::list<Waiter> waiters_;
    // Who asks for the doctor while he is at work gets his next answer, and all who do the same.
    uint64_t examinations_wanted_ = 0;
    uint64_t examinations_begun_ = 0;
    uint64_t examinations_done_ = 0;
    Keeper::Findings findings_;
    std::unique_ptr<hp::Acceptor> acceptor_;
};

}  // namespace gpupool
