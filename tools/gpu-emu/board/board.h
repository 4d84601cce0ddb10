// SPDX-License-Identifier: GPL-2.0
// Purpose: an emulated board in its slot: a GPU, or the black hole where one was, with the gate and
// the witness around it, the links to its peers, the control socket, and the vfio-user server that
// offers it. Its end takes all of it away, in the right order. Thread: device loop only; the trace
// has a writer thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "gpu-emu/board/gpu.h"
#include "gpu-emu/control/control_server.h"
#include "gpu-emu/control/controllable.h"
#include "gpu-emu/device/engine_scheduler.h"
#include "gpu-emu/loss/black_hole.h"
#include "gpu-emu/loss/loss_gate.h"
#include "gpu-emu/peers/hive_port.h"
#include "gpu-emu/peers/switch_port.h"
#include "gpu-emu/profiles/profile.h"
#include "gpu-emu/transport/vfio_user_server.h"
#include "gpu-emu/witness/access_trace.h"
#include "lib/event_loop.h"
#include "lib/result.h"

namespace gpuemu {

class Board : private Controllable {
public:
    struct Options {
        Profile profile;  // its seat in the hive included
        std::string socket;
        std::string control;      // empty: none
        std::string trace;        // empty: none is written
        std::string eeprom;       // as Gpu::Options::eeprom_path
        std::string hive;         // for a profile that is in one: where its GPUs meet
        std::string pcie_switch;  // empty: behind none; else where those behind it meet
        unsigned node = 0;        // behind the switch
        std::chrono::milliseconds reset_time = Gpu::default_reset_time;
        bool map_vram = true;
        Tlb::Use tlb = Tlb::Use::on;
        bool black_hole = false;
    };

    /// Listens at once, the vfio-user server last: who can connect to it finds all the rest at
    /// work. Start-up; throws an exception whose text is one clear line. `loop` outlives the board,
    /// whose engines are its idle work.
    Board(hp::EventLoop& loop, Options options);
    ~Board() override;
    Board(const Board&) = delete;
    Board& operator=(const Board&) = delete;

private:
    void make_device();
    LossGate::Options gate_options();

    LossGate& gate() override { return *gate_; }
    AccessTrace* trace() override { return trace_ ? &*trace_ : nullptr; }
    const std::string& profile_name() const override { return options_.profile.name; }
    bool is_black_hole() const override { return options_.black_hole; }
    std::string register_name(uint32_t dword) const override;
    DeviceStatus device_status() const override;
    hp::Result<void> inject(RasBlock block, RasSeverity severity) override;
    void interrupt(const InterruptEntry& entry) override;
    hp::Result<void> notify_guest(HostNotification what) override;
    hp::Result<void> make_hostile(uint64_t seed, std::span<const Surface> surfaces,
                                  uint64_t rate) override;
    void shift_fences(WriteBack fence, uint32_t more, uint64_t count) override;
    hp::Result<void> falsify_discovery(DiscoveryField field, uint16_t value) override;
    void silence_smu(uint64_t messages) override;
    void silence_boot_loader(uint64_t commands) override;
    void falsify_wptr(uint32_t value) override;
    hp::Result<void> poison_vram() override;
    hp::Result<uint64_t> count_in_vram(uint32_t word) override;
    void shut_down() override { loop_.stop(); }

    hp::EventLoop& loop_;
    const Options options_;
    EngineScheduler engines_;
    std::optional<AccessTrace> trace_;
    std::optional<HivePort> hive_;
    std::unique_ptr<Gpu> gpu_;  // one of these two
    std::unique_ptr<BlackHole> black_hole_;
    std::optional<LossGate> gate_;
    std::optional<SwitchPort> switch_port_;
    std::optional<ControlServer> control_;
    std::optional<VfioUserServer> server_;
};

}  // namespace gpuemu
