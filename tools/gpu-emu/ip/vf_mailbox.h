// SPDX-License-Identifier: GPL-2.0
// Purpose: the mailbox of a virtual function, and the host driver at its other end, which answers
// and, when told to, speaks of itself. Thread: device loop only.
// Does not model: notifications of bad pages, the interrupt of an answer or an acknowledgement (the
// guest polls for both).
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "gpu-emu/device/register_file.h"
#include "gpu-emu/hostile/mutator.h"
#include "gpu-emu/ip/interrupt_sink.h"
#include "gpu-emu/ip/ip_block.h"
#include "gpu-emu/profiles/profile.h"
#include "lib/result.h"

namespace gpuemu {

/// Where the PF2VF block begins on Surface::mailbox, behind the message and its control register.
inline constexpr uint32_t pf2vf_place = 5;

/// What a host tells a guest without being asked.
enum class HostNotification {
    flr,                  // it is about to reset the function, and waits for the guest to be ready
    unrecoverable_error,  // it gives the function up: no request is granted any more
    unrecoverable_at_access,  // the same when the guest next asks for access to set the GPU up
};

/// By its name. One clear error for what is none.
hp::Result<HostNotification> parse_host_notification(std::string_view name);

class VfMailbox : public IpBlock {
public:
    /// `reset_function` is called when the guest asks the host for a reset of the function, or lets
    /// it go on with one.
    VfMailbox(const Profile& profile, RegisterFile& registers, InterruptSink& interrupts,
              std::function<void()> reset_function, Mutator& mutator);

    /// Leaves the message in the mailbox, in place of one that was not fetched, and interrupts the
    /// guest if it has asked for that; unrecoverable_at_access leaves nothing yet. Returns at once:
    /// what follows is up to the guest.
    void notify(HostNotification what);

    /// A reset that the guest asked the host for does not touch the mailbox: the answer is in it.
    void reset(ResetKind kind) override;

private:
    void control_written(uint32_t value);
    void handle_request(uint32_t request);
    void send(uint32_t event, uint32_t data1);
    void publish();

    const IpInstance& ip_;
    RegisterFile& registers_;
    InterruptSink& interrupts_;
    std::function<void()> reset_function_;
    Mutator& mutator_;
    bool request_valid_ = false;  // TRN_MSG_VALID as the guest last wrote it; it is also the ack
    bool event_valid_ = false;    // RCV_MSG_VALID: an event waits for the guest's acknowledgement
    uint32_t event_ = 0;
    uint32_t event_data1_ = 0;
    bool flr_announced_ = false;
    bool gives_up_at_access_ = false;
    bool given_up_ = false;
};

}  // namespace gpuemu
