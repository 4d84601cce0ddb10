// SPDX-License-Identifier: GPL-2.0
// Purpose: see leak.h.
// Thread: pure functions.
#include "hotplug/judge/leak.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace hotplug {

namespace {

/// Nodes of compute partitions hang below platform devices (amdgpu_xcp_0, ...), which are numbered
/// anew each time.
constexpr const char* partitions = "compute partitions";

bool is_pci(const std::string& device) {
    return device.find(':') != std::string::npos;
}

bool is_of_system(const std::string& cache) {
    return cache == "kernfs_node_cache" || cache == "mm_struct" || cache == "pid";
}

std::map<std::string, int> drm_nodes(const GuestState& state) {
    std::map<std::string, int> count;
    for (const DrmNode& node : state.drm) {
        ++count[is_pci(node.bdf) ? node.bdf : partitions];
    }
    return count;
}

std::map<std::string, int> kfd_gpu_nodes(const GuestState& state) {
    std::map<std::string, int> count;
    for (const KfdNode& node : state.kfd_nodes) {
        if (node.gpu_id != 0) {
            ++count[node.bdf()];
        }
    }
    return count;
}

void compare_nodes(const char* kind, const std::map<std::string, int>& before,
                   const std::map<std::string, int>& after, const GuestState& state,
                   std::vector<std::string>& leaks) {
    for (const auto& [device, count] : after) {
        const auto old = before.find(device);
        if (is_pci(device) && state.find_pci(device) == nullptr) {
            leaks.push_back(
                fmt::format("{} {} node(s) of {}, which is not there", count, kind, device));
        } else if (old != before.end() && count > old->second) {
            leaks.push_back(
                fmt::format("{} {} nodes of {}, {} before", count, kind, device, old->second));
        }
    }
}

std::vector<std::string> lost_devices(const GuestState& before, const GuestState& after) {
    std::vector<std::string> differences;
    for (const PciDevice& device : before.pci) {
        const PciDevice* now = after.find_pci(device.bdf);
        if (now == nullptr) {
            differences.push_back(fmt::format("{} is gone", device.bdf));
        } else if (now->driver != device.driver || now->device != device.device) {
            differences.push_back(
                fmt::format("{} is {:04x} with driver '{}', {:04x} with '{}' before", device.bdf,
                            now->device, now->driver, device.device, device.driver));
        } else if (before.gpu_ready(device.bdf) && !after.gpu_ready(device.bdf)) {
            differences.push_back(fmt::format("{} has no longer all of its nodes", device.bdf));
        }
    }
    return differences;
}

std::vector<std::string> blocked_processes(const GuestState& state) {
    std::vector<std::string> blocked;
    for (const BlockedProcess& process : state.processes_d_state) {
        blocked.push_back(fmt::format("process {} ({}) is in D state in {}", process.pid,
                                      process.comm, process.wchan));
    }
    return blocked;
}

void append(std::vector<std::string>& lines, const std::vector<std::string>& more) {
    lines.insert(lines.end(), more.begin(), more.end());
}

}  // namespace

uint64_t highest_allowed_minor(const GuestState& before, const Orphans& orphans) {
    std::map<std::string, std::string> device_of;  // of a node's name
    std::set<std::string> gpus;
    uint64_t nodes = 0;
    for (const DrmNode& node : before.drm) {
        device_of[node.minor] = is_pci(node.bdf) ? node.bdf : partitions;
        if (node.kind == "render") {
            ++nodes;
            gpus.insert(is_pci(node.bdf) ? node.bdf : "");
        }
    }
    gpus.erase("");
    // Several nodes of one instance, or /dev/kfd beside them, are one instance that is held. A
    // name that was not there before is of an instance that came since.
    std::set<std::string> instances;
    for (const std::string& name : orphans) {
        const auto device = device_of.find(name);
        instances.insert(device == device_of.end() ? name : device->second);
    }
    const uint64_t nodes_each = gpus.empty() ? nodes : (nodes + gpus.size() - 1) / gpus.size();
    return before.drm_minor_max + instances.size() * nodes_each;
}

std::vector<std::string> find_leaks(const GuestState& before, const GuestState& after,
                                    const Orphans& orphans) {
    std::vector<std::string> leaks;
    compare_nodes("DRM", drm_nodes(before), drm_nodes(after), after, leaks);
    compare_nodes("KFD", kfd_gpu_nodes(before), kfd_gpu_nodes(after), after, leaks);
    if (after.drm_minor_max > highest_allowed_minor(before, orphans)) {
        leaks.push_back(fmt::format("highest DRM minor {}, {} before: an old minor is still taken",
                                    after.drm_minor_max, before.drm_minor_max));
    }
    for (const OrphanedNode& node : after.drm_orphans) {
        leaks.push_back(fmt::format("{} of a GPU that is gone is still held open by {}", node.minor,
                                    fmt::join(node.holders, ", ")));
    }
    for (const auto& [cache, objects] : after.slab) {
        const auto old = before.slab.find(cache);
        const uint64_t had = old == before.slab.end() ? 0 : old->second;
        const uint64_t tolerance =
            is_of_system(cache) ? slab_tolerance_system : slab_tolerance_driver;
        if (objects > had + tolerance && !counts_free_memory(cache)) {
            leaks.push_back(fmt::format("slab {}: {} objects, {} before", cache, objects, had));
        }
    }
    append(leaks, blocked_processes(after));
    return leaks;
}

std::vector<std::string> find_obstacles(const GuestState& before, const GuestState& after) {
    std::vector<std::string> obstacles = lost_devices(before, after);
    append(obstacles, blocked_processes(after));
    return obstacles;
}

std::vector<std::string> find_differences(const GuestState& before, const GuestState& after,
                                          const Orphans& orphans) {
    std::vector<std::string> differences = find_leaks(before, after, orphans);
    if (after.taint != before.taint) {
        differences.push_back(fmt::format("taint {:#x}, {:#x} before", after.taint, before.taint));
    }
    append(differences, lost_devices(before, after));
    return differences;
}

}  // namespace hotplug
