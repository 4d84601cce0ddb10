// SPDX-License-Identifier: GPL-2.0
// Purpose: tables and answers as in mmsch_v4_0.h and mmsch_v4_0_3.h. Thread: device loop only.
#include "gpu-emu/ip/vcn/mmsch.h"

#include <algorithm>
#include <array>

#include "gpu-emu/ip/queue/port.h"
#include "gpu-emu/ip/regs/vcn_4_0_3.h"

namespace gpuemu {
namespace {

constexpr uint32_t MMSCH_VF_ENGINE_STATUS__PASS = 0x1;
enum Response : uint32_t {
    MMSCH_VF_MAILBOX_RESP__OK = 0x1,
    MMSCH_VF_MAILBOX_RESP__FAILED = 0x3,
    MMSCH_VF_MAILBOX_RESP__FAILED_SMALL_CTX_SIZE = 0x4,
    MMSCH_VF_MAILBOX_RESP__UNKNOWN_CMD = 0x5,
};
constexpr uint32_t initialize = 0x1;  // what vcn_v4_0_3_start_sriov() puts into MAILBOX_HOST

using COMMAND_TYPE = Field<31, 28>;
using REG_OFFSET = Field<27, 0>;
enum Command : uint32_t {
    MMSCH_COMMAND__DIRECT_REG_WRITE = 0,
    MMSCH_COMMAND__DIRECT_REG_POLLING = 2,
    MMSCH_COMMAND__DIRECT_REG_READ_MODIFY_WRITE = 3,
    MMSCH_COMMAND__END = 0xf,
};

// struct mmsch_v4_0_3_init_header, in dwords: version, total size, and for the engine and each
// decoder of JPEG a struct mmsch_v4_0_table_info.
constexpr uint32_t first_info = 2, info_dwords = 3;
constexpr uint32_t info_status = 0, info_offset = 1, info_size = 2;
// The driver has a page for it.
constexpr uint32_t most_dwords = 1024;

// struct amdgpu_vcn4_fw_shared and its struct amdgpu_fw_shared_rb_setup, in bytes.
constexpr uint32_t AMDGPU_VCN_VF_RB_SETUP_FLAG = 1u << 14;
constexpr uint64_t present_flag_0 = 0, rb_setup = 68;
constexpr std::size_t rb_enabled_flags = 0, rb_addr_lo = 1, rb_addr_hi = 2, rb_size = 3;

// The doorbells of an instance, from a place for each instance on, in dwords: vcn_v4_0_3_sw_init()
// and jpeg_v4_0_3_sw_init() count on them. Assumed: the host has set them before the guest runs.
constexpr uint32_t first_doorbell = 0x1b0 << 1, doorbells_of_instance = 32;
constexpr uint32_t doorbell_of_ring(uint32_t ring) {
    return ring == 0 ? 0 : ring <= 4 ? 3 + ring : 7 + ring;
}

}  // namespace

Mmsch::Mmsch(const EngineContext& context, const VcnLayout& layout, VcnEngine& vcn,
             JpegEngine& jpeg)
    : context_(context),
      layout_(*layout.mmsch),
      place_(layout.place),
      cores_(layout.jpeg.cores),
      vcn_(vcn),
      jpeg_(jpeg) {
    context_.registers.declare(
        layout_.mailbox_host, 1,
        {.written = [this](uint32_t, uint32_t command) { mailbox(command); }});
}

void Mmsch::reset() {
    using vcn_4_0_3::VCN_DB_CTRL__EN, vcn_4_0_3::VCN_DB_CTRL__OFFSET;
    for (uint32_t ring = 0; ring < layout_.db.size(); ++ring) {
        const uint32_t doorbell =
            first_doorbell + doorbells_of_instance * place_.instance + doorbell_of_ring(ring);
        const bool unset = context_.profile.opposites.has(Opposite::mmsch_doorbells_unset);
        raw(layout_.db[ring]) =
            unset ? 0 : VCN_DB_CTRL__OFFSET::set(VCN_DB_CTRL__EN::set(0, 1), doorbell);
    }
    raw(layout_.mailbox_host) = raw(layout_.mailbox_resp) = 0;
}

void Mmsch::mailbox(uint32_t command) {
    raw(layout_.mailbox_resp) =
        command == initialize ? carry_out() : MMSCH_VF_MAILBOX_RESP__UNKNOWN_CMD;
}

uint32_t Mmsch::carry_out() {
    const auto infos = static_cast<uint32_t>(1 + cores_.size());
    const uint32_t header_dwords = first_info + infos * info_dwords;
    const uint32_t size = raw(layout_.ctx_size);
    if (size < header_dwords || size > most_dwords) {
        return MMSCH_VF_MAILBOX_RESP__FAILED_SMALL_CTX_SIZE;
    }
    std::vector<uint32_t> context(size);
    const Port port{context_.memory, place_.hub, 0};
    const uint64_t address = context_.registers.raw64(layout_.ctx_addr);
    if (!port.read(address, std::as_writable_bytes(std::span(context)))) {
        return MMSCH_VF_MAILBOX_RESP__FAILED;
    }
    for (uint32_t engine = 0; engine < infos; ++engine) {
        const uint32_t info = first_info + engine * info_dwords;
        const uint32_t offset = context[info + info_offset], length = context[info + info_size];
        if (length == 0) {
            continue;
        }
        if (offset > size || length > size - offset) {
            return MMSCH_VF_MAILBOX_RESP__FAILED;
        }
        // The tables of all decoders name the registers of the first.
        const uint32_t core =
            engine == 0 ? 0
                        : cores_[engine - 1].window.first_dword - cores_.front().window.first_dword;
        if (!run(Table(context).subspan(offset, length), layout_.from_first + core)) {
            return MMSCH_VF_MAILBOX_RESP__FAILED;
        }
        engine == 0 ? start_vcn() : jpeg_.start(engine - 1);
        port.write32(address + uint64_t{info + info_status} * 4, MMSCH_VF_ENGINE_STATUS__PASS);
    }
    return MMSCH_VF_MAILBOX_RESP__OK;
}

/// False: it makes no sense. `offset` of the registers that it means from those that it names.
bool Mmsch::run(Table table, uint32_t offset) {
    while (!table.empty()) {
        const uint32_t command = COMMAND_TYPE::get(table[0]);
        if (command == MMSCH_COMMAND__END) {
            return true;
        }
        const bool writes = command == MMSCH_COMMAND__DIRECT_REG_WRITE;
        const std::size_t dwords = writes ? 2 : 3;
        if (table.size() < dwords) {
            return false;
        }
        const uint32_t dword = REG_OFFSET::get(table[0]) + offset;
        RegisterFile& registers = context_.registers;
        if (writes) {
            registers.write(dword, table[1]);
        } else if (command == MMSCH_COMMAND__DIRECT_REG_READ_MODIFY_WRITE) {
            registers.write(dword, (registers.read(dword) & table[2]) | table[1]);
        } else if (command != MMSCH_COMMAND__DIRECT_REG_POLLING ||
                   (registers.read(dword) & table[1]) != table[2]) {
            return false;  // what it waits for is there at once, or never
        }
        table = table.subspan(dwords);
    }
    return true;
}

/// The ring of a virtual function is told to the firmware in memory.
void Mmsch::start_vcn() {
    const Port port{context_.memory, place_.hub, 0};
    const uint64_t shared = context_.registers.raw64(layout_.nc0_bar);
    std::array<uint32_t, 4> setup{};
    if ((port.read32(shared + present_flag_0).value_or(0) & AMDGPU_VCN_VF_RB_SETUP_FLAG) != 0 &&
        port.read(shared + rb_setup, std::as_writable_bytes(std::span(setup))) &&
        (setup[rb_enabled_flags] & 1) != 0) {
        vcn_.start(join(setup[rb_addr_lo], setup[rb_addr_hi]), setup[rb_size]);
    }
}

}  // namespace gpuemu
