// SPDX-License-Identifier: GPL-2.0
// Purpose: a whole GPU with its gate, its engines and its control socket, in front of memory that
// is the fuzzer's, and the steps of a driver that make its parts work: without them no input would
// get far. Thread: single-threaded. Does not model: the socket of the client, and so its messages
// (fuzz_vfio_user), VRAM that it has mapped.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "gpu-emu/board/gpu.h"
#include "gpu-emu/control/control_server.h"
#include "gpu-emu/control/controllable.h"
#include "gpu-emu/device/engine_scheduler.h"
#include "gpu-emu/fuzz/guest_memory.h"
#include "gpu-emu/ip/gc_layout.h"
#include "gpu-emu/ip/regs/registers.h"
#include "gpu-emu/ip/vcn/vcn_layout.h"
#include "gpu-emu/loss/loss_gate.h"
#include "gpu-emu/mem/peer_memory.h"
#include "gpu-emu/profiles/profile.h"
#include "lib/event_loop.h"

namespace gpuemu::fuzz {

class WholeGpu : private Controllable {
public:
    // Where things are in the guest's memory, which VMID 0 of all hubs sees from address 0 on.
    static constexpr uint32_t kiq_ring = 0x1000, kiq_dwords = 1024, sdma_ring = 0x2000,
                              psp_ring = 0x3000, psp_command = 0x4000, ih_ring = 0x5000,
                              report = 0x6000, mqd = 0x7000, user_ring = 0x8000,
                              video_ring = 0x9000, buffer = 0xa000;
    static constexpr uint64_t vram_bytes = 16u << 20, page_table = 1u << 20;

    enum class Part : uint8_t { doorbells, translation, interrupts, kiq, sdma, psp, video, users };
    static constexpr unsigned parts = 8;
    /// Queues that a submission can go to.
    enum class Queue : uint8_t { kiq, user_buffer, user_aql, sdma, video };
    static constexpr unsigned queues = 5;

    WholeGpu(const Profile& profile, const std::string& control_socket);
    ~WholeGpu() override;

    static Profile small(const std::string& name);

    /// Another board in another guest: nothing is left of what was before. Attached, and enabled as
    /// pci_enable_device() and pci_set_master() do it.
    void begin();

    /// What the driver does to have this part of the GPU at work.
    void set_up(Part part);
    /// Puts packets behind those that are there, and says so.
    void submit(Queue queue, std::span<const uint32_t> packets);
    /// A command of the PSP's ring; what is missing of it is zero.
    void command_psp(std::span<const uint32_t> command);
    void doorbell(uint32_t index, uint64_t value, bool wide);
    void write_register(uint32_t dword, uint32_t value);
    /// Of configuration space: bus_master, memory_space.
    void set_command(uint16_t command);
    static constexpr uint16_t memory_space = 2, bus_master = 4;
    void set_page(uint32_t index, uint64_t entry);

    /// So many rounds of turns of the engines.
    void run(unsigned turns);
    /// What is due on the loop, timers of resets among it, without turns of the engines.
    void pass_time();
    /// One request of the control socket.
    void ask(const nlohmann::json& request);
    void reattach();

    PciFunction& function() { return gate_; }
    GuestMemory& memory() { return memory_; }
    /// Dwords of the registers with an effect when they are written, and of what is behind them.
    std::span<const uint32_t> registers() const { return registers_; }

private:
    class OnePagePeers : public PeerMemory {
    public:
        std::span<std::byte> window(unsigned, uint64_t offset, uint64_t length, bool) override;
        void clear() { std::ranges::fill(page_, std::byte{0}); }

    private:
        std::vector<std::byte> page_ = std::vector<std::byte>(4096);
    };

    LossGate& gate() override { return gate_; }
    AccessTrace* trace() override { return nullptr; }
    const std::string& profile_name() const override { return gpu_.profile().name; }
    bool is_black_hole() const override { return false; }
    std::string register_name(uint32_t dword) const override;
    DeviceStatus device_status() const override;
    hp::Result<void> inject(RasBlock block, RasSeverity severity) override;
    void interrupt(const InterruptEntry& entry) override { gpu_.interrupt(entry); }
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

    bool may_reach_host() const;
    void open_doorbells();
    void write_far(uint32_t dword, uint32_t value);
    void set_up_translation();
    void set_up_interrupts();
    void start_kiq();
    void start_psp();
    void start_video();
    void map_users();
    void put(uint32_t address, std::initializer_list<uint32_t> dwords);
    void fill_ring(uint32_t base, uint32_t ring_dwords, uint32_t& wptr,
                   std::span<const uint32_t> dwords);
    uint32_t hqd(Reg reg) const;

    hp::EventLoop loop_;
    EngineScheduler engines_;
    OnePagePeers peers_;
    Gpu gpu_;
    LossGate gate_;
    ControlServer control_;
    GuestMemory memory_;
    GcLayout gc_;
    std::vector<VcnLayout> vcn_;
    uint32_t sdma_queue_;
    std::vector<uint32_t> registers_;
    uint32_t kiq_wptr_ = 0, sdma_wptr_ = 0, psp_wptr_ = 0, user_wptr_ = 0, video_wptr_ = 0;
};

}  // namespace gpuemu::fuzz
