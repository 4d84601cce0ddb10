// SPDX-License-Identifier: GPL-2.0
// Purpose: the mailbox of a virtual function, and the host driver that answers at its other end.
// Thread: device loop only.
// Does not model: messages the host sends of itself (FLR and RAS notifications) and the mailbox
// interrupts: the guest polls for every answer that is given here.
#pragma once

#include <cstdint>
#include <functional>

#include "gpu-emu/core/mutator.h"
#include "gpu-emu/core/register_file.h"
#include "gpu-emu/ip/ip_block.h"
#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

/// Where the PF2VF block begins on Surface::mailbox, behind the message and its control register.
inline constexpr uint32_t pf2vf_place = 5;

class VfMailbox : public IpBlock {
public:
    /// `reset_function` is called when the guest asks the host for a reset of the function.
    VfMailbox(const Profile& profile, RegisterFile& registers, std::function<void()> reset_function,
              Mutator& mutator);

    /// A reset that the guest asked the host for does not touch the mailbox: the answer is in it.
    void reset(ResetKind kind) override;

private:
    void control_written(uint32_t value);
    void handle_request(uint32_t request);
    void send(uint32_t event, uint32_t data1);
    void publish();

    const IpInstance& ip_;
    RegisterFile& registers_;
    std::function<void()> reset_function_;
    Mutator& mutator_;
    bool request_valid_ = false;  // TRN_MSG_VALID as the guest last wrote it; it is also the ack
    bool event_valid_ = false;    // RCV_MSG_VALID: an event waits for the guest's acknowledgement
    uint32_t event_ = 0;
    uint32_t event_data1_ = 0;
};

}  // namespace gpuemu
