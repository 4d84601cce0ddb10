// SPDX-License-Identifier: GPL-2.0
// Purpose: what amdkfd's topology in sysfs tells about a GPU, and the sizes a queue's buffers must
// have on it. Thread: values, no state.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace hp::clients {

class KfdNode {
public:
    KfdNode(std::uint32_t gpu_id, std::map<std::string, std::uint64_t> properties)
        : gpu_id_(gpu_id), properties_(std::move(properties)) {}

    std::uint32_t gpu_id() const { return gpu_id_; }
    std::string render_node() const;

    // kfd_queue_acquire_buffers() of amdkfd refuses a queue whose buffers have other sizes.
    std::uint32_t eop_buffer_size() const { return 4096; }
    std::uint32_t control_stack_size() const;
    /// Of one XCC, control stack included.
    std::uint32_t save_area_size() const;
    /// Of all XCCs, with the debugger's part.
    std::uint64_t save_area_total_size() const;

private:
    std::uint64_t property(const char* name) const;
    /// Of one XCC, both.
    std::uint64_t compute_units() const;
    std::uint64_t waves() const;

    std::uint32_t gpu_id_;
    std::map<std::string, std::uint64_t> properties_;
};

/// The GPUs that there are.
std::set<std::uint32_t> kfd_gpu_ids(const std::filesystem::path& topology);

/// `topology` is /sys/class/kfd/kfd/topology but in tests.
std::optional<KfdNode> find_kfd_node(const std::filesystem::path& topology, std::uint32_t gpu_id);

}  // namespace hp::clients
