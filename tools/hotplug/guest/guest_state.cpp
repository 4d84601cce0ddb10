// SPDX-License-Identifier: GPL-2.0
// Purpose: see guest_state.h.
// Thread: values.
#include "hotplug/guest/guest_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace hotplug {

namespace {

using nlohmann::json;

DrmNode drm_node(const json& value) {
    return {value.at("minor").get<std::string>(), value.at("kind").get<std::string>(),
            value.at("bdf").get<std::string>()};
}

std::string process(const json& value) {
    return fmt::format("{} ({})", value.at("comm").get<std::string>(), value.at("pid").get<int>());
}

OrphanedNode orphaned_node(const json& value) {
    OrphanedNode node{value.at("minor").get<std::string>(), {}};
    for (const json& holder : value.at("holders")) {
        node.holders.push_back(process(holder));
    }
    return node;
}

KfdNode kfd_node(const json& value) {
    KfdNode node;
    node.id = value.at("id").get<unsigned>();
    node.gpu_id = value.at("gpu_id").get<uint32_t>();
    node.name = value.at("name").get<std::string>();
    node.simd_count = value.at("simd_count").get<unsigned>();
    node.render_minor = value.at("render_minor").get<int>();
    node.location_id = value.at("location_id").get<uint32_t>();
    node.domain = value.at("domain").get<uint32_t>();
    node.io_links = value.at("io_links").get<unsigned>();
    node.io_link_targets = value.at("io_link_targets").get<std::vector<unsigned>>();
    return node;
}

KfdEviction kfd_eviction(const json& value) {
    return {value.at("pid").get<int>(), value.at("gpu_id").get<uint32_t>(),
            value.at("evicted_ms").get<uint64_t>()};
}

PciDevice pci_device(const json& value) {
    PciDevice device;
    device.bdf = value.at("bdf").get<std::string>();
    device.vendor = value.at("vendor").get<uint32_t>();
    device.device = value.at("device").get<uint32_t>();
    device.class_code = value.at("class").get<uint32_t>();
    device.driver = value.at("driver").get<std::string>();
    return device;
}

BlockedProcess blocked_process(const json& value) {
    return {value.at("pid").get<int>(), value.at("comm").get<std::string>(),
            value.at("wchan").get<std::string>(), value.at("stack").get<std::string>()};
}

template <typename T>
std::vector<T> list_of(const json& values, T (*parse)(const json&)) {
    std::vector<T> list;
    std::transform(values.begin(), values.end(), std::back_inserter(list), parse);
    return list;
}

GuestState parse_state(const json& answer) {
    GuestState state;
    state.taint = answer.at("taint").get<uint64_t>();
    state.uptime_us = answer.at("uptime_us").get<uint64_t>();
    state.drm = list_of(answer.at("drm"), drm_node);
    state.kfd_nodes = list_of(answer.at("kfd_nodes"), kfd_node);
    state.kfd_generation = answer.at("kfd_generation").get<uint64_t>();
    state.kfd_evictions = list_of(answer.at("kfd_evictions"), kfd_eviction);
    state.pci = list_of(answer.at("pci"), pci_device);
    state.slab = answer.at("slab").get<std::map<std::string, uint64_t>>();
    state.slab_total_kib = answer.at("slab_total_kib").get<uint64_t>();
    state.memory_available_kib = answer.at("memory_available_kib").get<uint64_t>();
    state.processes_d_state = list_of(answer.at("processes_d_state"), blocked_process);
    state.drm_minor_max = answer.at("drm_minor_max").get<uint64_t>();
    state.drm_orphans = list_of(answer.at("drm_orphans"), orphaned_node);
    state.kfd_users = list_of(answer.at("kfd_users"), process);
    return state;
}

template <typename List, typename Predicate>
auto find_or_null(const List& list, Predicate wanted) -> const typename List::value_type* {
    auto found = std::find_if(list.begin(), list.end(), wanted);
    return found == list.end() ? nullptr : &*found;
}

}  // namespace

std::string KfdNode::bdf() const {
    return fmt::format("{:04x}:{:02x}:{:02x}.0", domain, location_id >> 8 & 0xff,
                       location_id >> 3 & 0x1f);
}

const PciDevice* GuestState::find_pci(const std::string& bdf) const {
    return find_or_null(pci, [&](const PciDevice& device) { return device.bdf == bdf; });
}

const DrmNode* GuestState::find_drm(const std::string& bdf, const std::string& kind) const {
    return find_or_null(drm,
                        [&](const DrmNode& node) { return node.bdf == bdf && node.kind == kind; });
}

const KfdNode* GuestState::find_kfd(const std::string& bdf) const {
    return find_or_null(kfd_nodes,
                        [&](const KfdNode& node) { return node.gpu_id && node.bdf() == bdf; });
}

std::optional<uint64_t> GuestState::evicted_ms(int pid, uint32_t gpu_id) const {
    const auto* found = find_or_null(kfd_evictions, [&](const KfdEviction& eviction) {
        return eviction.pid == pid && eviction.gpu_id == gpu_id;
    });
    return found ? std::optional(found->evicted_ms) : std::nullopt;
}

bool GuestState::gpu_ready(const std::string& bdf) const {
    const PciDevice* device = find_pci(bdf);
    return device && !device->driver.empty() && find_drm(bdf) && find_kfd(bdf);
}

hp::Result<GuestState> parse_guest_state(const json& answer) {
    try {
        return parse_state(answer);
    } catch (const json::exception& error) {
        return hp::fail(
            fmt::format("the agent's state is not as the protocol says: {}", error.what()));
    }
}

}  // namespace hotplug
