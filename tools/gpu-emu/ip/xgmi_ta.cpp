// SPDX-License-Identifier: GPL-2.0
// Purpose: the commands, in the order in which amdgpu_xgmi_add_device() has psp_xgmi_initialize(),
// psp_xgmi_get_hive_id() ... of amdgpu_psp.c send them.
// Thread: device loop only.
#include "gpu-emu/ip/xgmi_ta.h"

#include <cstring>
#include <optional>

#include "lib/log.h"

namespace gpuemu {
namespace {

enum TaCommandXgmi : uint32_t {
    TA_COMMAND_XGMI__INITIALIZE = 0x00,
    TA_COMMAND_XGMI__GET_NODE_ID = 0x01,
    TA_COMMAND_XGMI__GET_HIVE_ID = 0x02,
    TA_COMMAND_XGMI__GET_TOPOLOGY_INFO = 0x03,
    TA_COMMAND_XGMI__SET_TOPOLOGY_INFO = 0x04,
    TA_COMMAND_XGMI__GET_PEER_LINKS = 0x0B,
    TA_COMMAND_XGMI__GET_EXTEND_PEER_LINKS = 0x0C,
};

enum TaXgmiStatus : uint32_t {
    TA_XGMI_STATUS__SUCCESS = 0x00,
    TA_XGMI_STATUS__INVALID_PARAMETER = 0x03,
    TA_XGMI_STATUS__NOT_INITIALIZED = 0x04,
    TA_XGMI_STATUS__INVALID_NODE_NUM = 0x05,
    TA_XGMI_STATUS__INVALID_NODE_ID = 0x06,
};

constexpr uint32_t TA_XGMI__MAX_CONNECTED_NODES = 64;
constexpr uint8_t EXTEND_PEER_LINK_INFO_CMD_FLAG = 1;
constexpr uint32_t TA_XGMI_ASSIGNED_SDMA_ENGINE__NOT_ASSIGNED = ~0u;

// struct ta_xgmi_shared_memory, in bytes.
constexpr std::size_t resp_id = 4, xgmi_status = 8, caps_flag = 13, in_message = 16,
                      out_message = 1048;
// A list of nodes: how many, then the nodes.
constexpr std::size_t list_nodes = 8;
// struct ta_xgmi_node_info.
constexpr std::size_t node_info_bytes = 16, info_num_hops = 8, info_is_sharing_enabled = 9,
                      info_sdma_engine = 12;
// struct ta_xgmi_peer_link_info and ta_xgmi_extend_peer_link_info.
constexpr std::size_t link_info_bytes = 16, extend_link_info_bytes = 32, link_num_links = 8,
                      link_port_num = 9;

// num_hops: the type of the link (xGMI3) in bits 7 and 6, hops in bits 2 to 0.
constexpr uint8_t one_hop = 1 << 6 | 1;

template <typename T>
T get(std::span<const std::byte> bytes, std::size_t offset) {
    T value{};
    std::memcpy(&value, bytes.subspan(offset, sizeof value).data(), sizeof value);
    return value;
}

template <typename T>
void put(std::span<std::byte> bytes, std::size_t offset, T value) {
    std::memcpy(bytes.subspan(offset, sizeof value).data(), &value, sizeof value);
}

/// Which node of the hive has that identifier; none: a stranger.
std::optional<unsigned> find_node(const HiveSeat& seat, uint64_t id) {
    for (unsigned node = 0; node < seat.nodes; ++node) {
        if (XgmiTa::node_id(node) == id) {
            return node;
        }
    }
    return std::nullopt;
}

/// The port of `from` at which its link to `to` begins: the others in their order.
uint8_t port(unsigned from, unsigned to) {
    return static_cast<uint8_t>(to < from ? to : to - 1);
}

}  // namespace

uint64_t XgmiTa::hive_id() {
    return 0x454d'5500'0000'0001;
}

uint64_t XgmiTa::node_id(unsigned node) {
    return 0x454d'5500'0001'0000 + node;
}

void XgmiTa::run(uint32_t command, std::span<std::byte> shared) {
    put(shared, resp_id, command);
    put(shared, xgmi_status, execute(command, shared));
}

uint32_t XgmiTa::execute(uint32_t command, std::span<std::byte> shared) {
    if (!initialized_ && command != TA_COMMAND_XGMI__INITIALIZE) {
        return TA_XGMI_STATUS__NOT_INITIALIZED;
    }
    switch (command) {
        case TA_COMMAND_XGMI__INITIALIZE:
            initialized_ = true;
            put(shared, caps_flag, EXTEND_PEER_LINK_INFO_CMD_FLAG);
            put<uint32_t>(shared, out_message, TA_XGMI_STATUS__SUCCESS);
            return TA_XGMI_STATUS__SUCCESS;
        case TA_COMMAND_XGMI__GET_NODE_ID:
            put(shared, out_message, node_id(seat_.node));
            return TA_XGMI_STATUS__SUCCESS;
        case TA_COMMAND_XGMI__GET_HIVE_ID:
            put(shared, out_message, hive_id());
            return TA_XGMI_STATUS__SUCCESS;
        case TA_COMMAND_XGMI__GET_TOPOLOGY_INFO: return topology(shared);
        case TA_COMMAND_XGMI__SET_TOPOLOGY_INFO:  // the links are there whatever the driver knows
            return get<uint32_t>(shared, in_message) <= TA_XGMI__MAX_CONNECTED_NODES
                       ? TA_XGMI_STATUS__SUCCESS
                       : TA_XGMI_STATUS__INVALID_NODE_NUM;
        case TA_COMMAND_XGMI__GET_PEER_LINKS: return links(shared, false);
        case TA_COMMAND_XGMI__GET_EXTEND_PEER_LINKS: return links(shared, true);
        default:
            hp::log::debug("unknown XGMI command", {{"command", command}});
            return TA_XGMI_STATUS__INVALID_PARAMETER;
    }
}

/// The nodes asked for are in the input, what is known of them goes into the output.
uint32_t XgmiTa::topology(std::span<std::byte> shared) const {
    const auto in = shared.subspan(in_message), out = shared.subspan(out_message);
    const auto count = get<uint32_t>(in, 0);
    if (count > TA_XGMI__MAX_CONNECTED_NODES) {
        return TA_XGMI_STATUS__INVALID_NODE_NUM;
    }
    put(out, 0, count);
    for (uint32_t index = 0; index < count; ++index) {
        const std::size_t place = list_nodes + index * node_info_bytes;
        const auto id = get<uint64_t>(in, place);
        const auto node = find_node(seat_, id);
        if (!node) {
            return TA_XGMI_STATUS__INVALID_NODE_ID;
        }
        put(out, place, id);
        put<uint8_t>(out, place + info_num_hops, *node == seat_.node ? 0 : one_hop);
        put<uint8_t>(out, place + info_is_sharing_enabled, 1);
        put(out, place + info_sdma_engine, TA_XGMI_ASSIGNED_SDMA_ENGINE__NOT_ASSIGNED);
    }
    return TA_XGMI_STATUS__SUCCESS;
}

/// Here also the nodes asked for are in the output; psp_xgmi_get_topology_info() says so.
uint32_t XgmiTa::links(std::span<std::byte> shared, bool ports) const {
    const auto out = shared.subspan(out_message);
    const auto count = get<uint32_t>(out, 0);
    if (count > TA_XGMI__MAX_CONNECTED_NODES) {
        return TA_XGMI_STATUS__INVALID_NODE_NUM;
    }
    for (uint32_t index = 0; index < count; ++index) {
        const std::size_t place =
            list_nodes + index * (ports ? extend_link_info_bytes : link_info_bytes);
        const auto node = find_node(seat_, get<uint64_t>(out, place));
        if (!node) {
            return TA_XGMI_STATUS__INVALID_NODE_ID;
        }
        const bool is_peer = *node != seat_.node;
        put<uint8_t>(out, place + link_num_links, is_peer ? 1 : 0);
        if (ports && is_peer) {  // struct xgmi_connected_port_num: destination, source
            put(out, place + link_port_num, port(*node, seat_.node));
            put(out, place + link_port_num + 1, port(seat_.node, *node));
        }
    }
    return TA_XGMI_STATUS__SUCCESS;
}

}  // namespace gpuemu
