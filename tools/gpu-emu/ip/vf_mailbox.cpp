// SPDX-License-Identifier: GPL-2.0
// Purpose: the handshake of drivers/gpu/drm/amd/amdgpu/mxgpu_nv.{h,c}.
// Thread: device loop only.
#include "gpu-emu/ip/vf_mailbox.h"

#include <array>
#include <span>
#include <string>
#include <utility>

#include "gpu-emu/ip/regs/nbio_7_9_0.h"
#include "lib/log.h"

namespace gpuemu {
namespace {

namespace nbio = nbio_7_9_0;

enum IdhRequest : uint32_t {
    IDH_REQ_GPU_INIT_ACCESS = 1,
    IDH_REL_GPU_INIT_ACCESS = 2,
    IDH_REQ_GPU_FINI_ACCESS = 3,
    IDH_REL_GPU_FINI_ACCESS = 4,
    IDH_REQ_GPU_RESET_ACCESS = 5,
    IDH_REQ_GPU_INIT_DATA = 6,
    IDH_READY_TO_RESET = 201,
};

enum IdhEvent : uint32_t {
    IDH_CLR_MSG_BUF = 0,
    IDH_READY_TO_ACCESS_GPU = 1,
    IDH_FLR_NOTIFICATION = 2,
    IDH_FLR_NOTIFICATION_CMPL = 3,
    IDH_REQ_GPU_INIT_DATA_READY = 7,
    IDH_UNRECOV_ERR_NOTIFICATION = 17,
};

constexpr uint8_t SOC15_IH_CLIENTID_BIF = 0x03;
constexpr uint8_t rcv_source = 135;  // xgpu_nv_mailbox_add_irq_id()

constexpr uint32_t message_dwords = 4;
constexpr uint32_t message_place = 0, control_place = message_dwords;
static_assert(control_place < pf2vf_place);

constexpr uint32_t GPU_CRIT_REGION_V1 = 1;  // fixed places in VRAM, see vf_data.h

}  // namespace

hp::Result<HostNotification> parse_host_notification(std::string_view name) {
    if (name == "flr") {
        return HostNotification::flr;
    }
    if (name == "unrecoverable_error") {
        return HostNotification::unrecoverable_error;
    }
    if (name == "unrecoverable_at_access") {
        return HostNotification::unrecoverable_at_access;
    }
    return hp::fail("unknown notification '" + std::string(name) +
                    "': a host sends flr, unrecoverable_error or unrecoverable_at_access");
}

VfMailbox::VfMailbox(const Profile& profile, RegisterFile& registers, InterruptSink& interrupts,
                     std::function<void()> reset_function, Mutator& mutator)
    : ip_(profile.ip(HwId::NBIF)),
      registers_(registers),
      interrupts_(interrupts),
      reset_function_(std::move(reset_function)),
      mutator_(mutator) {
    // Of control the guest sets one bit of its own message and acknowledges the host's.
    registers_.declare(at(ip_, nbio::mmMAILBOX_CONTROL), 1,
                       {.type = {.writable = nbio::MAILBOX_CONTROL__TRN_MSG_VALID::mask,
                                 .self_clearing = nbio::MAILBOX_CONTROL__RCV_MSG_ACK::mask},
                        .written = [this](uint32_t, uint32_t value) { control_written(value); }});
    registers_.declare(at(ip_, nbio::mmMAILBOX_MSGBUF_RCV_DW0), message_dwords,
                       {.type = read_only});
}

void VfMailbox::reset(ResetKind kind) {
    if (kind != ResetKind::host) {
        request_valid_ = false;
        event_valid_ = false;
        event_ = IDH_CLR_MSG_BUF;
        event_data1_ = 0;
        flr_announced_ = false;
    }
    if (kind == ResetKind::cold) {
        gives_up_at_access_ = false;  // another board
        given_up_ = false;
    }
    registers_.raw(at(ip_, nbio::mmMAILBOX_INT_CNTL)) = 0;
    publish();
}

void VfMailbox::notify(HostNotification what) {
    if (what == HostNotification::unrecoverable_at_access) {
        gives_up_at_access_ = true;
        return;
    }
    if (what == HostNotification::flr) {
        flr_announced_ = true;
        send(IDH_FLR_NOTIFICATION, 0);
    } else {
        given_up_ = true;
        send(IDH_UNRECOV_ERR_NOTIFICATION, 0);
    }
    publish();
    if (nbio::MAILBOX_INT_CNTL__VALID_INT_EN::get(
            registers_.raw(at(ip_, nbio::mmMAILBOX_INT_CNTL))) != 0) {
        interrupts_.raise({.client_id = SOC15_IH_CLIENTID_BIF, .source_id = rcv_source});
    }
}

void VfMailbox::control_written(uint32_t value) {
    if (nbio::MAILBOX_CONTROL__RCV_MSG_ACK::get(value) != 0) {
        event_valid_ = false;
        event_ = IDH_CLR_MSG_BUF;  // the data behind it stays: the driver reads it after the ack
    }
    const bool valid = nbio::MAILBOX_CONTROL__TRN_MSG_VALID::get(value) != 0;
    const bool is_new = valid && !request_valid_;
    request_valid_ = valid;
    if (is_new) {
        handle_request(registers_.raw(at(ip_, nbio::mmMAILBOX_MSGBUF_TRN_DW0)));
    }
    publish();
}

void VfMailbox::handle_request(uint32_t request) {
    if (request == IDH_REQ_GPU_INIT_ACCESS && gives_up_at_access_) {
        given_up_ = true;
    }
    if (given_up_) {
        send(IDH_UNRECOV_ERR_NOTIFICATION, 0);
        return;
    }
    switch (request) {
        case IDH_READY_TO_RESET:
            if (std::exchange(flr_announced_, false)) {
                reset_function_();  // assumed, here and below: it takes no time
                send(IDH_FLR_NOTIFICATION_CMPL, 0);
            }
            break;
        case IDH_REQ_GPU_INIT_DATA: send(IDH_REQ_GPU_INIT_DATA_READY, GPU_CRIT_REGION_V1); break;
        case IDH_REQ_GPU_RESET_ACCESS: reset_function_(); [[fallthrough]];
        case IDH_REQ_GPU_INIT_ACCESS:
        case IDH_REQ_GPU_FINI_ACCESS: send(IDH_READY_TO_ACCESS_GPU, 0); break;
        case IDH_REL_GPU_INIT_ACCESS:
        case IDH_REL_GPU_FINI_ACCESS: break;  // no answer but the acknowledgement
        default: hp::log::debug("mailbox request without an answer", {{"request", request}}); break;
    }
}

void VfMailbox::send(uint32_t event, uint32_t data1) {
    event_valid_ = true;
    event_ = event;
    event_data1_ = data1;
}

void VfMailbox::publish() {
    const uint32_t received = at(ip_, nbio::mmMAILBOX_MSGBUF_RCV_DW0);
    std::array<uint32_t, message_dwords> message = {event_, event_data1_};
    mutator_.table(Surface::mailbox, message_place, std::as_writable_bytes(std::span(message)));
    for (uint32_t dword = 0; dword < message_dwords; ++dword) {
        registers_.raw(received + dword) = message[dword];
    }
    uint32_t control = nbio::MAILBOX_CONTROL__TRN_MSG_VALID::set(0, request_valid_);
    control = nbio::MAILBOX_CONTROL__TRN_MSG_ACK::set(control, request_valid_);
    control = nbio::MAILBOX_CONTROL__RCV_MSG_VALID::set(control, event_valid_);
    registers_.raw(at(ip_, nbio::mmMAILBOX_CONTROL)) =
        mutator_.word(Surface::mailbox, control_place, control);
}

}  // namespace gpuemu
