// SPDX-License-Identifier: GPL-2.0
// Purpose: ROCr as a client uses it: the library, which is loaded when the client runs, the agents
// of the GPUs, their memory, and what ROCr tells of them from a thread of its own.
// Thread: one calls; events() may be asked at any time. Not modelled: code objects, dispatches.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "hotplug/in_guest/clients/hsa_abi.h"

namespace hp::clients::hsa {

struct Error {
    const char* op;       ///< the function's name
    hsa_status_t status;  ///< what it returned
    std::string text;     ///< the same in words
};

template <typename T>
using Result = tl::expected<T, Error>;

/// The GPU wanted: by KFD's id, or by its PCI address ("0000:01:00.0").
struct GpuName {
    std::uint32_t gpu_id = 0;
    std::string bdf;
};

/// What ROCr's thread has told.
struct Events {
    std::atomic<std::uint64_t> own{0};  ///< the agent that is ours
    std::atomic<bool> hw_exception{false};
    std::atomic<std::uint32_t> reset_cause{0};
    std::atomic<bool> memory_fault{false};
    std::atomic<std::uint64_t> fault_address{0};
    std::atomic<std::uint32_t> others_lost{0};  ///< hardware exceptions of other agents
    std::atomic<hsa_status_t> queue_error{HSA_STATUS_SUCCESS};
};

class Runtime {
public:
    /// hsa_init() and, unless ROCr's own answer to them is wanted, a handler of its events.
    static Result<Runtime> open(bool handle_events);

    const Api& api() const { return api_; }
    Events& events() { return *events_; }

    Result<hsa_agent_t> find_gpu(const GpuName& name);
    Result<hsa_agent_t> find_cpu() const;
    /// The first pool of the agent with this flag from which can be allocated.
    Result<hsa_amd_memory_pool_t> find_pool(hsa_agent_t agent, std::uint32_t global_flag) const;

    Result<void> check(hsa_status_t status, const char* op) const;
    std::string describe(hsa_status_t status) const;

private:
    explicit Runtime(const Api& api) : api_(api), events_(std::make_unique<Events>()) {}

    Result<std::vector<hsa_agent_t>> agents() const;
    Result<bool> is_gpu(hsa_agent_t agent, const GpuName& name) const;

    Api api_;
    std::unique_ptr<Events> events_;  ///< ROCr keeps its address
};

/// For hsa_amd_register_system_event_handler(), in ROCr's thread; `data` is the Events. Without a
/// handler that says it has dealt with the event, ROCr aborts, whichever GPU it is about.
hsa_status_t on_system_event(const hsa_amd_event_t* event, void* data);

/// "0000:01:00.0" of ROCr's two numbers.
std::string bdf_of(std::uint32_t domain, std::uint32_t bdfid);

}  // namespace hp::clients::hsa
