// SPDX-License-Identifier: GPL-2.0
// Thread: device loop only.
#include "gpu-emu/ip/vcn/vcn_sessions.h"

#include <array>
#include <span>

#include "gpu-emu/ip/vcn/vcn_packets.h"

namespace gpuemu {

using namespace vcn_packets;

namespace {

constexpr uint32_t package_header_bytes = 8;
constexpr int64_t package_read_bytes = 64;  // of a package and what it points to, at most

}  // namespace

Step VcnSessions::run(const Port& port, const PacketStream::Ib& ib, bool names_engine,
                      uint64_t& progress, Budget& budget) {
    if (progress == 0) {
        decodes_ = false;
        encoder_ = 0;
    }
    while (progress + package_header_bytes / 4 <= ib.dwords) {
        const uint64_t address = ib.address + progress * 4;
        const auto header = port.read64(address);
        if (!header) {
            unhandled_.note("vcn_indirect_buffer_fault", VCN_ENC_CMD_IB);
            break;
        }
        const auto bytes = static_cast<uint32_t>(*header);
        if (bytes == 0) {
            break;  // padding
        }
        if (bytes < package_header_bytes || bytes % 4 != 0 || bytes / 4 > ib.dwords - progress) {
            unhandled_.note("vcn_package_of_wrong_size", VCN_ENC_CMD_IB);
            break;
        }
        const auto id = static_cast<uint32_t>(*header >> 32);
        if (names_engine && id == RADEON_VCN_ENGINE_INFO) {
            decodes_ = port.read32(address + package_header_bytes) == RADEON_VCN_ENGINE_TYPE_DECODE;
        } else {
            package(port, address + package_header_bytes, id, bytes - package_header_bytes);
        }
        progress += bytes / 4;
        budget.packets -= 1;
        budget.bytes -= package_read_bytes;
        if (budget.spent() && progress < ib.dwords) {
            return Step::again;
        }
    }
    return Step::done;
}

void VcnSessions::package(const Port& port, uint64_t address, uint32_t id, uint32_t bytes) {
    std::array<uint32_t, 3> begin{};
    const auto has = [&](std::size_t dwords) {
        return bytes >= dwords * 4 &&
               port.read(address, std::as_writable_bytes(std::span(begin).first(dwords)));
    };
    if (decodes_) {
        if (id == RDECODE_IB_PARAM_DECODE_BUFFER && has(3) &&
            (begin[0] & RDECODE_CMDBUF_FLAGS_MSG_BUFFER) != 0) {
            message(port, join(begin[2], begin[1]));
        }
        return;
    }
    switch (id) {
        case RENCODE_IB_PARAM_SESSION_INFO:
            if (has(1)) {
                encoder_ = begin[0];
            }
            break;
        case RENCODE_IB_OP_INITIALIZE: open(encoder_); break;
        case RENCODE_IB_OP_CLOSE_SESSION: open_.erase(encoder_); break;
        default: break;  // of what is encoded, and how
    }
}

void VcnSessions::message(const Port& port, uint64_t address) {
    std::array<uint32_t, message_header_dwords> header{};
    if (!port.read(address, std::as_writable_bytes(std::span(header)))) {
        unhandled_.note("vcn_message_fault", RDECODE_CMD_MSG_BUFFER);
        return;
    }
    switch (header[message_type]) {
        case RDECODE_MSG_CREATE: open(header[message_handle]); break;
        case RDECODE_MSG_DESTROY: open_.erase(header[message_handle]); break;
        case RDECODE_MSG_DECODE: break;
        default: unhandled_.note("vcn_message_unknown", RDECODE_CMD_MSG_BUFFER); break;
    }
}

void VcnSessions::open(uint32_t handle) {
    if (open_.size() < most_sessions) {
        open_.insert(handle);
    } else {
        unhandled_.note("vcn_session_refused", RDECODE_CMD_MSG_BUFFER);
    }
}

void VcnSessions::clear() {
    open_.clear();
}

}  // namespace gpuemu
