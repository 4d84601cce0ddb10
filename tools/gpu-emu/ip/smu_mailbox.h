// SPDX-License-Identifier: GPL-2.0
// Purpose: what the SMUs of all versions have in common: the message mailbox of MP1 and the table
// in memory that firmware and driver share. What a message means is the business of a version.
// Thread: device loop only.
// Does not model: the time that firmware takes; every answer is there at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tl/expected.hpp>

#include "gpu-emu/device/register_file.h"
#include "gpu-emu/hostile/mutator.h"
#include "gpu-emu/ip/ip_block.h"
#include "gpu-emu/ip/regs/registers.h"
#include "gpu-emu/mem/gpu_memory.h"
#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

class SmuMailbox : public IpBlock {
public:
    struct Context {
        const Profile& profile;
        RegisterFile& registers;
        GpuMemory& memory;
        Mutator& mutator;
    };

    explicit SmuMailbox(Context context);  // claims its registers

    void reset(ResetKind kind) override;

    uint64_t messages() const { return messages_; }
    /// The next `count` messages get no answer and have no effect. A reset ends it.
    void ignore(uint64_t count) { ignored_ = count; }
    /// Where the result of a message is read.
    uint32_t answer_register() const;

protected:
    /// Why there is no value, as the firmware says it (PPSMC_Result_* of each version's ppsmc.h).
    enum class Refusal : uint32_t {
        failed = 0xff,
        unknown_command = 0xfe,
    };
    /// The value for the argument register.
    using Answer = tl::expected<uint32_t, Refusal>;

    /// A message that the version does not name, or whose effect is not modelled and would be
    /// missed, is an unknown command.
    virtual Answer answer(uint32_t message, uint32_t argument) = 0;

    static Answer done(bool ok) { return ok ? Answer(0) : failed(); }
    static Answer failed() { return tl::unexpected(Refusal::failed); }
    static Answer unknown_command() { return tl::unexpected(Refusal::unknown_command); }

    void set_driver_table_high(uint32_t address);
    void set_driver_table_low(uint32_t address);

    /// The memory that is shared with the driver.
    bool read_table(std::span<std::byte> table);
    bool write_table(uint32_t message, std::span<std::byte> table);

private:
    void handle_message(uint32_t message);
    uint32_t& reg(Reg reg) { return mailbox_.registers.raw(at(ip_, reg)); }

    Context mailbox_;
    const IpInstance& ip_;
    uint64_t driver_table_ = 0;  // address of the table, MM hub, VMID 0
    uint64_t messages_ = 0;
    uint64_t ignored_ = 0;  // messages to come without an answer
};

}  // namespace gpuemu
