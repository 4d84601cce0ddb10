// SPDX-License-Identifier: GPL-2.0
// Purpose: what amdkfd's topology in sysfs tells about a GPU, and the sizes a queue's buffers must
// have on it. Thread: values, no state.
#include "hotplug/in_guest/clients/kfd_topology.h"

#include <algorithm>
#include <fstream>
#include <system_error>

#include "hotplug/in_guest/clients/mapping.h"

namespace hp::clients {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t gfx10_1 = 100100;

std::uint64_t align(std::uint64_t value, std::uint64_t to) {
    return (value + to - 1) / to * to;
}

}  // namespace

std::uint64_t KfdNode::property(const char* name) const {
    const auto it = properties_.find(name);
    return it == properties_.end() ? 0 : it->second;
}

std::string KfdNode::render_node() const {
    return "/dev/dri/renderD" + std::to_string(property("drm_render_minor"));
}

std::uint64_t KfdNode::compute_units() const {
    const std::uint64_t xccs = std::max<std::uint64_t>(property("num_xcc"), 1);
    return property("simd_count") / std::max<std::uint64_t>(property("simd_per_cu"), 1) / xccs;
}

std::uint64_t KfdNode::waves() const {
    const std::uint64_t xccs = std::max<std::uint64_t>(property("num_xcc"), 1);
    const std::uint64_t arrays = property("array_count") / xccs;
    const std::uint64_t engines =
        arrays / std::max<std::uint64_t>(property("simd_arrays_per_engine"), 1);
    return property("gfx_target_version") < gfx10_1 ? std::min(compute_units() * 40, engines * 512)
                                                    : compute_units() * 32;
}

// Kernels of before 6.18 do not tell these two, and refuse what is not what they reckon: as
// kfd_queue_ctx_save_restore_size() of kfd_queue.c did then.
std::uint32_t KfdNode::control_stack_size() const {
    if (const std::uint64_t told = property("ctl_stack_size"); told != 0) {
        return static_cast<std::uint32_t>(told);
    }
    constexpr std::uint64_t header_bytes = 40 + 8, gfx10_most = 0x7000;
    const std::uint64_t version = property("gfx_target_version");
    const std::uint64_t bytes =
        align(header_bytes + waves() * (version < gfx10_1 ? 8 : 12), page_size);
    return static_cast<std::uint32_t>(version / 10000 == 10 ? std::min(bytes, gfx10_most) : bytes);
}

std::uint32_t KfdNode::save_area_size() const {
    if (const std::uint64_t told = property("cwsr_size"); told != 0) {
        return static_cast<std::uint32_t>(told);
    }
    const std::uint64_t version = property("gfx_target_version");
    const bool instinct =
        version / 100 == 904 || version == 90500 || version == 90010 || version == 90008;
    const bool large = version == 110000 || version == 110001 || version / 10000 == 12;
    const std::uint64_t vgprs = instinct ? 0x80000 : large ? 0x60000 : 0x40000;
    const std::uint64_t lds = version == 90500 ? property("lds_size_in_kb") << 10 : 0x10000;
    constexpr std::uint64_t sgprs = 0x4000, hardware_registers = 0x1000;
    return static_cast<std::uint32_t>(
        control_stack_size() +
        align(compute_units() * (vgprs + sgprs + lds + hardware_registers), page_size));
}

std::uint64_t KfdNode::save_area_total_size() const {
    // The debugger's part is not in sysfs: kfd_queue_ctx_save_restore_size() and get_num_waves() of
    // kfd_queue.c.
    constexpr std::uint64_t debugger_bytes_per_wave = 32;
    const std::uint64_t xccs = std::max<std::uint64_t>(property("num_xcc"), 1);
    const std::uint64_t debugger = align(waves() * debugger_bytes_per_wave, 64);
    return align((save_area_size() + debugger) * xccs, page_size);
}

std::set<std::uint32_t> kfd_gpu_ids(const fs::path& topology) {
    std::set<std::uint32_t> ids;
    std::error_code error;
    fs::directory_iterator nodes(topology / "nodes", error);
    for (; !error && nodes != fs::directory_iterator(); nodes.increment(error)) {
        std::uint32_t id = 0;
        std::ifstream(nodes->path() / "gpu_id") >> id;
        if (id != 0) {  // a CPU has none
            ids.insert(id);
        }
    }
    return ids;
}

std::optional<KfdNode> find_kfd_node(const fs::path& topology, std::uint32_t gpu_id) {
    std::error_code error;
    fs::directory_iterator nodes(topology / "nodes", error);
    for (; !error && nodes != fs::directory_iterator(); nodes.increment(error)) {
        std::uint32_t id = 0;
        std::ifstream(nodes->path() / "gpu_id") >> id;
        if (id == 0 || id != gpu_id) {
            continue;
        }
        std::map<std::string, std::uint64_t> properties;
        std::ifstream file(nodes->path() / "properties");
        std::string name;
        std::uint64_t value = 0;
        while (file >> name >> value) {
            properties[name] = value;
        }
        return KfdNode(gpu_id, std::move(properties));
    }
    return std::nullopt;
}

}  // namespace hp::clients
