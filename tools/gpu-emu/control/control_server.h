// SPDX-License-Identifier: GPL-2.0
// Purpose: the emulator's control socket: JSON lines as Documentation/harness/protocols.md lists
// them, for several clients at once. Thread: device loop only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "gpu-emu/control/controllable.h"
#include "gpu-emu/loss/loss_gate.h"
#include "lib/acceptor.h"
#include "lib/event_loop.h"
#include "lib/fd.h"
#include "lib/json_connection.h"
#include "lib/result.h"
#include "lib/thread_rule.h"

namespace gpuemu {

class ControlServer : public LossObserver {
public:
    /// Who comes when so many are there is sent away.
    static constexpr size_t most_clients = 32;

    /// Listens at once; throws std::runtime_error with one clear line when it cannot (start-up).
    /// Becomes the gate's observer. `loop` and `device` outlive it.
    ControlServer(hp::EventLoop& loop, const std::string& socket_path, Controllable& device);
    ~ControlServer() override;

    /// Carries out one request; the answer has no `id` yet. Public as the unit of the protocol.
    nlohmann::json handle(const nlohmann::json& request);

    void attached() override { broadcast({{"event", "attached"}}); }
    void detached() override { broadcast({{"event", "detached"}}); }
    void vanished(const Vanishing& how) override;
    void restored() override { broadcast({{"event", "restored"}}); }

private:
    using Answer = hp::Result<nlohmann::json>;

    void add_client(hp::Fd socket);
    void on_line(hp::JsonConnection& client, const hp::Result<nlohmann::json>& line);
    void broadcast(const nlohmann::json& event);

    Answer dispatch(const std::string& verb, const nlohmann::json& request);
    Answer change_loss(const std::string& verb, const nlohmann::json& request);
    Answer status() const;
    std::string name_of(uint8_t region, uint64_t offset) const;
    Answer counters(const nlohmann::json& request);
    Answer ras(const nlohmann::json& request);
    Answer interrupt(const nlohmann::json& request);
    Answer host_notification(const nlohmann::json& request);
    Answer hostile(const nlohmann::json& request);
    Answer false_fences(const nlohmann::json& request);
    Answer false_discovery(const nlohmann::json& request);
    Answer silent_smu(const nlohmann::json& request);
    Answer silent_boot_loader(const nlohmann::json& request);
    Answer false_wptr(const nlohmann::json& request);
    Answer count_in_vram(const nlohmann::json& request);
    Answer mark(const nlohmann::json& request);
    Answer shut_down();
    hp::Result<void> device_is_there() const;

    hp::EventLoop& loop_;
    Controllable& device_;
    std::list<std::unique_ptr<hp::JsonConnection>> clients_;
    hp::Acceptor acceptor_;
    hp::ThreadRule thread_;
};

}  // namespace gpuemu
