// SPDX-License-Identifier: GPL-2.0
// Purpose: the mailboxes as psp_v13_0.c uses them, the ring and its commands as in psp_gfx_if.h.
// Thread: device loop only; the guest polls on fences in its memory.
#include "gpu-emu/ip/psp.h"

#include <algorithm>
#include <span>
#include <utility>

#include "gpu-emu/ip/regs/mp_13_0_6.h"
#include "gpu-emu/ip/regs/osssys_4_4_2.h"
#include "lib/log.h"

namespace gpuemu {
namespace {

namespace mp = mp_13_0_6;

constexpr uint32_t response_flag = 0x80000000;  // GFX_FLAG_RESPONSE and the bootloader's "ready"
constexpr uint32_t PSP_BL__LOAD_SOSDRV = 0x20000;
constexpr uint32_t sos_version = 0x00360001;

// The ring of a virtual function has a fixed size (PSP_RING_SIZE of amdgpu_psp.h allocates 4 KiB).
constexpr uint32_t vf_ring_bytes = 0x1000;

using GFX_CMD_ID = Field<19, 16>;
enum PspGfxCtrlCmdId : uint32_t {
    GFX_CTRL_CMD_ID_INIT_GPCOM_RING = 0x2,
    GFX_CTRL_CMD_ID_DESTROY_RINGS = 0x3,
    GFX_CTRL_CMD_ID_MODE1_RST = 0x7,
    GFX_CTRL_CMD_ID_CONSUME_CMD = 0x9,
    GFX_CTRL_CMD_ID_DESTROY_GPCOM_RING = 0xC,
};

enum PspGfxCmdId : uint32_t {
    GFX_CMD_ID_LOAD_TA = 0x1,
    GFX_CMD_ID_UNLOAD_TA = 0x2,
    GFX_CMD_ID_INVOKE_CMD = 0x3,
    GFX_CMD_ID_LOAD_ASD = 0x4,
    GFX_CMD_ID_SETUP_TMR = 0x5,
    GFX_CMD_ID_LOAD_IP_FW = 0x6,
    GFX_CMD_ID_DESTROY_TMR = 0x7,
    GFX_CMD_ID_PROG_REG = 0xB,
    GFX_CMD_ID_LOAD_TOC = 0x20,
    GFX_CMD_ID_AUTOLOAD_RLC = 0x21,
    GFX_CMD_ID_BOOT_CFG = 0x22,
    GFX_CMD_ID_SRIOV_SPATIAL_PART = 0x27,
    GFX_CMD_ID_CONFIG_SQ_PERFMON = 0x46,
    GFX_CMD_ID_PERF_HW = 0x4C,
    GFX_CMD_ID_FB_FW_RESERV_ADDR = 0x50,
    GFX_CMD_ID_FB_FW_RESERV_EXT_ADDR = 0x51,
};

enum PspRegProgId : uint32_t {  // amdgpu_psp.h
    PSP_REG_IH_RB_CNTL = 0,
    PSP_REG_IH_RB_CNTL_RING1 = 1,
};

constexpr uint32_t PSP_ERR_UNKNOWN_COMMAND = 0x100;
constexpr uint32_t TEE_ERROR_BAD_PARAMETERS = 0xFFFF0006;
constexpr uint32_t TEE_ERROR_ITEM_NOT_FOUND = 0xFFFF0008;
constexpr uint32_t TEE_ERROR_OUT_OF_MEMORY = 0xFFFF000C;

// struct psp_gfx_rb_frame, in dwords.
constexpr std::size_t frame_cmd_buf_addr = 0, frame_fence_addr = 3, frame_fence_value = 5;

// struct psp_gfx_cmd_resp, in dwords.
constexpr std::size_t cmd_id = 2, cmd_payload = 7, cmd_resp = 216, resp_dwords = 24;
// struct psp_gfx_cmd_load_ta, in dwords.
constexpr std::size_t ta_app_addr = 0, ta_app_len = 2, ta_buffer_addr = 3, ta_buffer_len = 5;
// struct psp_gfx_resp.
constexpr std::size_t resp_status = 0, resp_session_id = 1, resp_fw_addr_lo = 2,
                      resp_fw_addr_hi = 3, resp_tmr_size = 4;

constexpr uint32_t tmr_bytes = 16u << 20;

// struct psp_gfx_cmd_load_ip_fw, in dwords.
constexpr std::size_t ip_fw_addr = 0, ip_fw_size = 2, ip_fw_type = 3;
constexpr uint32_t GFX_FW_TYPE_VCN0_RAM = 49, GFX_FW_TYPE_VCN1_RAM = 50;
// What is no register in an image for the SRAM of a VCN: its value says for which AID it is.
constexpr uint32_t select_aid = 0xdeadbeef;
constexpr std::size_t sram_dwords = 512;  // the driver has room for 128

/// Where the response to a command begins on Surface::firmware, which the SMU shares.
constexpr uint32_t response_place(uint32_t command) {
    return (command & 0xff) << 8;
}

uint64_t join(std::span<const uint32_t> dwords, std::size_t low) {
    return dwords[low] | uint64_t{dwords[low + 1]} << 32;
}

}  // namespace

Psp::Psp(Context context)
    : context_(std::move(context)),
      ip_(context_.profile.ip(HwId::MP0)),
      xgmi_(context_.profile.hive) {
    RegisterFile& registers = context_.registers;
    registers.declare(
        at(ip_, mp::regMP0_SMN_C2PMSG_35), 1,
        {.written = [this](uint32_t, uint32_t command) { bootloader_command(command); }});
    registers.declare(at(ip_, mp::regMP0_SMN_C2PMSG_81), 1,
                      {.read = [this](uint32_t) { return read_sign_of_life(); }});
    const bool vf = context_.profile.virtual_function;
    const Reg mailbox = vf ? mp::regMP0_SMN_C2PMSG_101 : mp::regMP0_SMN_C2PMSG_64;
    registers.declare(at(ip_, mailbox), 1, {.written = [this, mailbox](uint32_t, uint32_t command) {
                          ring_command(mailbox, command);
                      }});
    if (!vf) {  // a virtual function says CONSUME_CMD instead
        registers.declare(at(ip_, mp::regMP0_SMN_C2PMSG_67), 1,
                          {.written = [this](uint32_t, uint32_t wptr) { consume(wptr); }});
    }
}

void Psp::reset(ResetKind kind) {
    // Assumed: the secure OS lives through the reset of the link. amdgpu_pci_slot_reset() counts on
    // it: the first thing it asks of the device is UNLOAD_TA on the ring it made at probe.
    if (kind != ResetKind::link || context_.profile.opposites.has(Opposite::link_reset_loses_sos)) {
        sos_ = Sos::absent;
        ring_dwords_ = 0;
        rptr_ = wptr_ = 0;
        sessions_.clear();
    }
    if (kind == ResetKind::cold) {
        ignored_ = 0;
    }
    const bool alive = sos_ == Sos::alive;
    reg(mp::regMP0_SMN_C2PMSG_33) = response_flag;
    reg(mp::regMP0_SMN_C2PMSG_35) = response_flag;
    reg(mp::regMP0_SMN_C2PMSG_58) = alive ? sos_version : 0;
    reg(mp::regMP0_SMN_C2PMSG_64) = alive ? response_flag : 0;
    reg(mp::regMP0_SMN_C2PMSG_67) = rptr_;
    reg(mp::regMP0_SMN_C2PMSG_101) = alive ? response_flag : 0;
    reg(mp::regMP0_SMN_C2PMSG_102) = rptr_;
    reg(mp::regMP0_SMN_C2PMSG_127) = context_.profile.ras_capabilities;
}

void Psp::bootloader_command(uint32_t command) {
    if (ignored_ != 0) {
        --ignored_;
        return;
    }
    if (command == PSP_BL__LOAD_SOSDRV) {
        sos_ = Sos::starting;
        reg(mp::regMP0_SMN_C2PMSG_58) = sos_version;
        reg(mp::regMP0_SMN_C2PMSG_64) = response_flag;
    }
    reg(mp::regMP0_SMN_C2PMSG_35) = response_flag;  // done, no error in the low byte
}

uint32_t Psp::read_sign_of_life() {
    if (sos_ == Sos::starting) {
        // Assumed: sOS is never faster than the driver, which samples the register once after it
        // started sOS and then waits for it to change: it would never see one that was.
        sos_ = Sos::alive;
        return context_.profile.opposites.has(Opposite::sos_up_at_once) ? 1 : 0;
    }
    return sos_ == Sos::alive ? 1 : 0;
}

void Psp::ring_command(Reg mailbox, uint32_t command) {
    const bool vf = context_.profile.virtual_function;
    switch (GFX_CMD_ID::get(command)) {
        case GFX_CTRL_CMD_ID_INIT_GPCOM_RING:
            if (vf) {
                create_ring(reg64(mp::regMP0_SMN_C2PMSG_102), vf_ring_bytes);
                reg(mp::regMP0_SMN_C2PMSG_102) = 0;  // from now on the write pointer
            } else {
                create_ring(reg64(mp::regMP0_SMN_C2PMSG_69), reg(mp::regMP0_SMN_C2PMSG_71));
                reg(mp::regMP0_SMN_C2PMSG_67) = 0;
            }
            break;
        case GFX_CTRL_CMD_ID_DESTROY_RINGS:
        case GFX_CTRL_CMD_ID_DESTROY_GPCOM_RING: ring_dwords_ = 0; break;
        case GFX_CTRL_CMD_ID_CONSUME_CMD:
            if (vf) {
                consume(reg(mp::regMP0_SMN_C2PMSG_102));
            }
            break;
        case GFX_CTRL_CMD_ID_MODE1_RST:
            if (!vf) {
                context_.mode1_reset();
            }
            break;
        default: hp::log::debug("PSP control command ignored", {{"command", command}}); break;
    }
    reg(mailbox) = response_flag;
}

void Psp::create_ring(uint64_t address, uint32_t bytes) {
    constexpr uint32_t max_ring_bytes = 64u << 10;  // the driver makes one of 4 KiB
    const uint32_t frames = std::min(bytes, max_ring_bytes) / (frame_dwords * 4);
    ring_address_ = address;
    ring_dwords_ = frames * frame_dwords;
    rptr_ = wptr_ = 0;
}

void Psp::consume(uint32_t wptr) {
    if (ring_dwords_ == 0 || wptr > ring_dwords_ || wptr % frame_dwords != 0) {
        hp::log::debug("PSP ring write pointer ignored",
                       {{"wptr", wptr}, {"ring_dwords", ring_dwords_}});
        return;
    }
    wptr_ = wptr % ring_dwords_;
    if (rptr_ != wptr_) {
        context_.kicker.kick(*this);
    }
}

Engine::Turn Psp::run(Budget& budget) {
    while (ring_dwords_ != 0 && rptr_ != wptr_) {
        if (budget.spent()) {
            return Turn::more;
        }
        budget.packets -= 1;
        budget.bytes -= (frame_dwords + command_dwords) * sizeof(uint32_t);
        run_frame(ring_address_ + uint64_t{rptr_} * 4);
        rptr_ = (rptr_ + frame_dwords) % ring_dwords_;
    }
    return Turn::idle;
}

void Psp::run_frame(uint64_t address) {
    std::array<uint32_t, frame_dwords> frame{};
    std::array<uint32_t, command_dwords> command{};
    GpuMemory& memory = context_.memory;
    if (!memory.read(Hub::mm, 0, address, std::as_writable_bytes(std::span(frame)))) {
        return;
    }
    const uint64_t buffer = join(frame, frame_cmd_buf_addr);
    if (!memory.read(Hub::mm, 0, buffer, std::as_writable_bytes(std::span(command)))) {
        return;
    }
    ++commands_;
    execute(command);
    const auto response = std::span(command).subspan(cmd_resp, resp_dwords);
    context_.mutator.table(Surface::firmware, response_place(command[cmd_id]),
                           std::as_writable_bytes(response));
    // The driver reads the response once it sees the fence: in this order. No response, no fence.
    if (memory.write(Hub::mm, 0, buffer + cmd_resp * 4, std::as_bytes(response))) {
        const uint32_t value = context_.mutator.word(Surface::write_backs, WriteBack::psp_fence,
                                                     frame[frame_fence_value]);
        memory.write32(Hub::mm, 0, join(frame, frame_fence_addr), value);
    }
}

void Psp::load(std::span<const uint32_t> payload, std::span<uint32_t> response) {
    if (sessions_.size() >= most_sessions) {
        response[resp_status] = TEE_ERROR_OUT_OF_MEMORY;
        return;
    }
    sessions_[next_session_] = load_application(payload);
    response[resp_session_id] = next_session_++;
}

void Psp::execute(std::array<uint32_t, command_dwords>& command) {
    const auto payload = std::span<const uint32_t>(command).subspan(cmd_payload);
    const auto response = std::span(command).subspan(cmd_resp, resp_dwords);
    std::ranges::fill(response, 0u);
    switch (command[cmd_id]) {
        case GFX_CMD_ID_LOAD_TA:
        case GFX_CMD_ID_LOAD_ASD: load(payload, response); break;
        case GFX_CMD_ID_UNLOAD_TA:
            if (sessions_.erase(payload[0]) == 0) {
                response[resp_status] = TEE_ERROR_ITEM_NOT_FOUND;
            }
            break;
        case GFX_CMD_ID_INVOKE_CMD:
            if (const auto session = sessions_.find(payload[0]); session == sessions_.end()) {
                response[resp_status] = TEE_ERROR_ITEM_NOT_FOUND;
            } else if (!run_application(session->second, payload[1])) {
                response[resp_status] = TEE_ERROR_BAD_PARAMETERS;
            }
            break;
        case GFX_CMD_ID_LOAD_IP_FW:
            response[resp_fw_addr_lo] = payload[0];  // it stays where it is
            response[resp_fw_addr_hi] = payload[1];
            if (!load_ip_firmware(payload)) {
                response[resp_status] = TEE_ERROR_BAD_PARAMETERS;
            }
            break;
        case GFX_CMD_ID_LOAD_TOC: response[resp_tmr_size] = tmr_bytes; break;
        case GFX_CMD_ID_PROG_REG: program_register(payload[1], payload[0]); break;
        case GFX_CMD_ID_SRIOV_SPATIAL_PART:
            if (context_.divide && !context_.divide(payload[0])) {
                response[resp_status] = TEE_ERROR_BAD_PARAMETERS;
            }
            break;
        case GFX_CMD_ID_SETUP_TMR:
        case GFX_CMD_ID_DESTROY_TMR:
        case GFX_CMD_ID_AUTOLOAD_RLC:
        case GFX_CMD_ID_BOOT_CFG:
        case GFX_CMD_ID_CONFIG_SQ_PERFMON:
        case GFX_CMD_ID_PERF_HW:
        case GFX_CMD_ID_FB_FW_RESERV_ADDR:  // nothing is reserved: size 0
        case GFX_CMD_ID_FB_FW_RESERV_EXT_ADDR: break;
        default:
            hp::log::debug("unknown PSP command", {{"command", command[cmd_id]}});
            response[resp_status] = PSP_ERR_UNKNOWN_COMMAND;
            break;
    }
}

/// False when an image for SRAM is out of reach, too long, or for an instance that is not there.
/// Of other firmware it does not matter what it is.
bool Psp::load_ip_firmware(std::span<const uint32_t> payload) {
    const uint32_t type = payload[ip_fw_type];
    if (type != GFX_FW_TYPE_VCN0_RAM && type != GFX_FW_TYPE_VCN1_RAM) {
        return true;
    }
    std::array<uint32_t, sram_dwords> image{};
    const std::size_t dwords = payload[ip_fw_size] / sizeof(uint32_t);
    if (!context_.load_vcn_sram || dwords > image.size()) {
        return false;
    }
    auto pairs = std::span(image).first(dwords);
    if (!context_.memory.read(Hub::mm, 0, join(payload, ip_fw_addr),
                              std::as_writable_bytes(pairs))) {
        return false;
    }
    unsigned instance = type - GFX_FW_TYPE_VCN0_RAM;
    if (pairs.size() >= 2 && pairs[0] == select_aid) {
        instance = pairs[1];
        pairs = pairs.subspan(2);
    }
    return context_.load_vcn_sram(instance, pairs);
}

/// Only in a hive does it matter which application it is: its image says so.
Psp::Session Psp::load_application(std::span<const uint32_t> payload) {
    std::array<char, xgmi_ta_mark.size()> mark{};
    if (!context_.profile.hive.in_hive() || payload[ta_app_len] < mark.size() ||
        payload[ta_buffer_len] < XgmiTa::shared_bytes ||
        !context_.memory.read(Hub::mm, 0, join(payload, ta_app_addr),
                              std::as_writable_bytes(std::span(mark))) ||
        std::string_view(mark.data(), mark.size()) != xgmi_ta_mark) {
        return {};
    }
    xgmi_.load();
    return {.xgmi_buffer = join(payload, ta_buffer_addr)};
}

/// False when its buffer is out of reach. The buffers of other applications are left as they are:
/// in each of them a status of zero is success.
bool Psp::run_application(const Session& session, uint32_t command) {
    if (!session.xgmi_buffer) {
        return true;
    }
    std::array<std::byte, XgmiTa::shared_bytes> shared{};
    if (!context_.memory.read(Hub::mm, 0, *session.xgmi_buffer, shared)) {
        return false;
    }
    xgmi_.run(command, shared);
    return context_.memory.write(Hub::mm, 0, *session.xgmi_buffer, shared);
}

void Psp::program_register(uint32_t id, uint32_t value) {
    const IpInstance& osssys = context_.profile.ip(HwId::OSSSYS);
    switch (id) {
        case PSP_REG_IH_RB_CNTL:
            context_.registers.write(at(osssys, osssys_4_4_2::regIH_RB_CNTL), value);
            break;
        case PSP_REG_IH_RB_CNTL_RING1:
            context_.registers.write(at(osssys, osssys_4_4_2::regIH_RB_CNTL_RING1), value);
            break;
        default: break;  // registers without a meaning here
    }
}

}  // namespace gpuemu
