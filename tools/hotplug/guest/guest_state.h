// SPDX-License-Identifier: GPL-2.0
// Purpose: what the guest agent's `state` request answers, as types.
// Thread: values.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lib/result.h"

namespace hotplug {

struct DrmNode {
    std::string minor;  // "renderD128", "card0"
    std::string kind;   // "render", "card"
    std::string bdf;    // "0000:01:00.0"
};

/// A DRM node that is open although its device is gone: its minor is taken until the last close.
struct OrphanedNode {
    std::string minor;                 // "renderD128"
    std::vector<std::string> holders;  // "sh (31)"
};

struct KfdNode {
    unsigned id = 0;
    uint32_t gpu_id = 0;  // 0: a CPU node
    std::string name;
    unsigned simd_count = 0;
    int render_minor = 0;
    /// bus << 8 | device << 3 | partition: kfd_topology.c puts it where the function would be,
    /// which is 0 of a GPU.
    uint32_t location_id = 0;
    uint32_t domain = 0;
    unsigned io_links = 0;
    std::vector<unsigned> io_link_targets;

    /// The PCI address of a GPU node, as sysfs spells it.
    std::string bdf() const;
};

/// How long the queues of a process were evicted from a GPU, in evictions that are over.
struct KfdEviction {
    int pid = 0;
    uint32_t gpu_id = 0;
    uint64_t evicted_ms = 0;
};

struct PciDevice {
    std::string bdf;
    uint32_t vendor = 0;
    uint32_t device = 0;
    uint32_t class_code = 0;
    std::string driver;  // empty: none is bound
};

struct BlockedProcess {
    int pid = 0;
    std::string comm;
    std::string wchan;
    std::string stack;
};

struct GuestState {
    uint64_t taint = 0;
    uint64_t uptime_us = 0;
    std::vector<DrmNode> drm;
    std::vector<KfdNode> kfd_nodes;
    uint64_t kfd_generation = 0;
    std::vector<PciDevice> pci;
    std::map<std::string, uint64_t> slab;  // cache -> active objects
    uint64_t slab_total_kib = 0;
    uint64_t memory_available_kib = 0;
    std::vector<BlockedProcess> processes_d_state;
    uint64_t drm_minor_max = 0;
    std::vector<OrphanedNode> drm_orphans;
    /// Who has /dev/kfd open, "kfd_monitor (31)": a user of all GPUs, also of those that go.
    std::vector<std::string> kfd_users;

    std::vector<KfdEviction> kfd_evictions;

    const PciDevice* find_pci(const std::string& bdf) const;
    /// Null when the GPU at `bdf` has no node of that kind.
    const DrmNode* find_drm(const std::string& bdf, const std::string& kind = "render") const;
    const KfdNode* find_kfd(const std::string& bdf) const;
    /// Nothing for a process that KFD does not know.
    std::optional<uint64_t> evicted_ms(int pid, uint32_t gpu_id) const;
    /// A driver is bound to the GPU at `bdf`, a render node and a KFD node of it exist.
    bool gpu_ready(const std::string& bdf) const;
};

/// Fails when a member is missing or has another type: the agent in the image is of another
/// version.
hp::Result<GuestState> parse_guest_state(const nlohmann::json& answer);

}  // namespace hotplug
