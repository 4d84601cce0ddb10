// SPDX-License-Identifier: GPL-2.0
// Purpose: the SMU (MP1 13.0.6): the message mailbox, the metrics table, I2C transfers to the
// EEPROM, the read-out of ACA banks, resets.
// Thread: device loop only.
// Does not model: changing clocks and power (limits are accepted and forgotten), the static
// metrics table, tools and log tables, FW RAS EEPROM.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "gpu-emu/core/mutator.h"
#include "gpu-emu/core/register_file.h"
#include "gpu-emu/ip/eeprom.h"
#include "gpu-emu/ip/ip_block.h"
#include "gpu-emu/ip/ras.h"
#include "gpu-emu/ip/registers.h"
#include "gpu-emu/mem/gpu_memory.h"
#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

class Smu : public IpBlock {
public:
    struct Context {
        const Profile& profile;
        RegisterFile& registers;
        GpuMemory& memory;
        Eeprom& eeprom;
        Ras& ras;
        std::function<void()> mode1_reset;         // the whole ASIC; may be carried out later
        std::function<void()> mode2_reset;         // GC and SDMA; may be carried out later
        std::function<void(uint32_t)> sdma_reset;  // mask of instances; may be carried out later
        std::function<uint64_t()> gpu_clock;
        Mutator& mutator;
    };

    explicit Smu(Context context);

    void reset(ResetKind kind) override;

    uint64_t messages() const { return messages_; }

private:
    void handle_message(uint32_t message);
    /// The value for the argument register; nothing: the message failed.
    std::optional<uint32_t> answer(uint32_t message, uint32_t argument);
    std::optional<uint32_t> answer_dpm_frequency(uint32_t argument) const;
    /// Into the memory that is shared with the driver.
    bool write_table(uint32_t message, std::span<std::byte> table);
    bool export_metrics();
    bool transfer_i2c();
    bool reset_asic(uint32_t type);
    bool reset_sdma(uint32_t instances);
    uint32_t& reg(Reg reg) { return context_.registers.raw(at(ip_, reg)); }

    Context context_;
    const IpInstance& ip_;
    uint64_t driver_table_ = 0;  // address of the table shared with the driver, MM hub, VMID 0
    uint32_t accumulation_counter_ = 0;
    uint64_t messages_ = 0;
};

}  // namespace gpuemu
