// SPDX-License-Identifier: GPL-2.0
// Purpose: the trusted application of the PSP that knows the XGMI topology: the driver writes a
// command into a shared buffer, has the PSP run it, and reads the answer there (ta_xgmi_if.h).
// Thread: device loop only.
// Does not model: links that are down, sharing that is switched off, a second half of long lists
// (flag_extend_link_record), which the driver asks for of MP0 13.0.2 only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "gpu-emu/mem/hive_seat.h"

namespace gpuemu {

/// How the synthetic image of the application begins: it tells the PSP which one was loaded.
inline constexpr std::string_view xgmi_ta_mark = "EMU XGMI TA";

class XgmiTa {
public:
    /// struct ta_xgmi_shared_memory.
    static constexpr std::size_t shared_bytes = 3104;

    /// `seat` outlives the application. All pairs of nodes have a link.
    explicit XgmiTa(const HiveSeat& seat) : seat_(seat) {}

    /// Identifiers as the driver shows them; never 0, which it takes for "in no hive".
    static uint64_t hive_id();
    static uint64_t node_id(unsigned node);

    /// A new session.
    void load() { initialized_ = false; }
    /// Runs `command` on `shared`, which has shared_bytes.
    void run(uint32_t command, std::span<std::byte> shared);

private:
    uint32_t execute(uint32_t command, std::span<std::byte> shared);
    uint32_t topology(std::span<std::byte> shared) const;
    uint32_t links(std::span<std::byte> shared, bool ports) const;

    const HiveSeat& seat_;
    bool initialized_ = false;
};

}  // namespace gpuemu
