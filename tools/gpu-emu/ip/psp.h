// SPDX-License-Identifier: GPL-2.0
// Purpose: the PSP (MP0 13.0.6): the bootloader mailbox that takes firmware, the sign of life of
// the secure OS, and the GPCOM ring of commands, for bare metal and for a virtual function.
// Thread: device loop only.
// Does not model: running or checking firmware, trusted applications (their commands succeed and
// change nothing) but that for XGMI in a hive (xgmi_ta.h), the RBI ring, memory training,
// interrupts to the driver.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>

#include "gpu-emu/device/engine.h"
#include "gpu-emu/device/register_file.h"
#include "gpu-emu/hostile/mutator.h"
#include "gpu-emu/ip/ip_block.h"
#include "gpu-emu/ip/regs/registers.h"
#include "gpu-emu/ip/xgmi_ta.h"
#include "gpu-emu/mem/gpu_memory.h"
#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

class Psp : public IpBlock, public Engine {
public:
    struct Context {
        const Profile& profile;
        RegisterFile& registers;
        GpuMemory& memory;
        EngineKicker& kicker;
        std::function<void()> mode1_reset;  // may be carried out later
        Mutator& mutator;
        /// As many compute partitions; false: it cannot be. Null: nothing is divided.
        std::function<bool(uint32_t)> divide = nullptr;
        /// An image for the SRAM of a VCN instance, which DPG loads: Engines::load_vcn_sram().
        /// Null: there is no VCN.
        std::function<bool(unsigned, std::span<const uint32_t>)> load_vcn_sram = nullptr;
    };

    explicit Psp(Context context);

    void reset(ResetKind kind) override;

    /// The commands of the ring, each as a packet.
    Turn run(Budget& budget) override;
    const char* name() const override { return "psp"; }
    bool outlives_a_hang() const override { return true; }

    /// The boot loader takes that many commands without effect and answer. A cold reset ends it.
    void ignore(uint64_t commands) { ignored_ = commands; }

    bool sos_alive() const { return sos_ == Sos::alive; }
    uint64_t commands() const { return commands_; }

private:
    enum class Sos { absent, starting, alive };

    /// A loaded application.
    struct Session {
        /// Of the application for XGMI: what it shares with the driver.
        std::optional<uint64_t> xgmi_buffer;
    };

    /// The driver loads about ten; the memory of the secure OS is not without end.
    static constexpr std::size_t most_sessions = 32;
    static constexpr uint32_t frame_dwords = 16;
    static constexpr std::size_t command_dwords = 256;

    void bootloader_command(uint32_t command);
    uint32_t read_sign_of_life();
    void ring_command(Reg mailbox, uint32_t command);
    void create_ring(uint64_t address, uint32_t bytes);
    void consume(uint32_t wptr);
    void run_frame(uint64_t address);
    void load(std::span<const uint32_t> payload, std::span<uint32_t> response);
    void execute(std::array<uint32_t, command_dwords>& command);
    bool load_ip_firmware(std::span<const uint32_t> payload);
    Session load_application(std::span<const uint32_t> payload);
    bool run_application(const Session& session, uint32_t command);
    void program_register(uint32_t id, uint32_t value);
    uint32_t& reg(Reg reg) { return context_.registers.raw(at(ip_, reg)); }
    uint64_t reg64(Reg low) { return context_.registers.raw64(at(ip_, low)); }

    Context context_;
    const IpInstance& ip_;
    Sos sos_ = Sos::absent;
    uint64_t ring_address_ = 0;
    uint32_t ring_dwords_ = 0;  // 0: no ring
    uint32_t rptr_ = 0;         // dwords
    uint32_t wptr_ = 0;         // the same; less than ring_dwords_
    uint32_t next_session_ = 1;
    std::map<uint32_t, Session> sessions_;
    XgmiTa xgmi_;
    uint64_t commands_ = 0;
    uint64_t ignored_ = 0;  // commands of the boot loader to come
};

}  // namespace gpuemu
