// SPDX-License-Identifier: GPL-2.0
// Purpose: see hsa_runtime.h.
// Thread: one calls; the two callbacks run in ROCr's.
#include "hotplug/in_guest/clients/hsa_runtime.h"

#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <utility>

namespace hp::clients::hsa {

namespace {

constexpr const char* library = "libhsa-runtime64.so.1";

template <typename Function>
bool resolve(void* handle, const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(::dlsym(handle, name));
    return function != nullptr;
}

/// What the loader says, for errors that have no status of ROCr's.
tl::unexpected<Error> loader_error(const char* op) {
    const char* text = ::dlerror();
    return tl::unexpected(Error{op, HSA_STATUS_SUCCESS, text != nullptr ? text : ""});
}

/// Never unloaded: ROCr's threads and its handlers at exit are in it.
Result<Api> load() {
    void* handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        return loader_error("dlopen");
    }
    Api api{};
    const bool complete =
        resolve(handle, "hsa_init", api.init) && resolve(handle, "hsa_shut_down", api.shut_down) &&
        resolve(handle, "hsa_status_string", api.status_string) &&
        resolve(handle, "hsa_system_get_info", api.system_get_info) &&
        resolve(handle, "hsa_iterate_agents", api.iterate_agents) &&
        resolve(handle, "hsa_agent_get_info", api.agent_get_info) &&
        resolve(handle, "hsa_queue_create", api.queue_create) &&
        resolve(handle, "hsa_queue_destroy", api.queue_destroy) &&
        resolve(handle, "hsa_queue_add_write_index_relaxed", api.queue_add_write_index_relaxed) &&
        resolve(handle, "hsa_queue_load_read_index_relaxed", api.queue_load_read_index_relaxed) &&
        resolve(handle, "hsa_signal_create", api.signal_create) &&
        resolve(handle, "hsa_signal_destroy", api.signal_destroy) &&
        resolve(handle, "hsa_signal_store_screlease", api.signal_store_screlease) &&
        resolve(handle, "hsa_signal_wait_scacquire", api.signal_wait_scacquire) &&
        resolve(handle, "hsa_amd_agent_iterate_memory_pools", api.amd_agent_iterate_memory_pools) &&
        resolve(handle, "hsa_amd_memory_pool_get_info", api.amd_memory_pool_get_info) &&
        resolve(handle, "hsa_amd_memory_pool_allocate", api.amd_memory_pool_allocate) &&
        resolve(handle, "hsa_amd_memory_pool_free", api.amd_memory_pool_free) &&
        resolve(handle, "hsa_amd_agents_allow_access", api.amd_agents_allow_access) &&
        resolve(handle, "hsa_amd_memory_async_copy", api.amd_memory_async_copy) &&
        resolve(handle, "hsa_amd_register_system_event_handler",
                api.amd_register_system_event_handler);
    return complete ? Result<Api>(api) : loader_error("dlsym");
}

template <typename Item>
hsa_status_t collect(Item item, void* data) {
    static_cast<std::vector<Item>*>(data)->push_back(item);
    return HSA_STATUS_SUCCESS;
}

std::uint32_t gpu_id_of_node(std::uint32_t node) {
    std::ifstream file("/sys/class/kfd/kfd/topology/nodes/" + std::to_string(node) + "/gpu_id");
    std::uint32_t gpu_id = 0;
    file >> gpu_id;
    return gpu_id;
}

}  // namespace

hsa_status_t on_system_event(const hsa_amd_event_t* event, void* data) {
    Events& events = *static_cast<Events*>(data);
    if (event->event_type == HSA_AMD_GPU_HW_EXCEPTION_EVENT) {
        if (event->hw_exception.agent.handle == events.own) {
            events.reset_cause = event->hw_exception.reset_cause;
            events.hw_exception = true;
        } else {
            ++events.others_lost;
        }
    } else if (event->event_type == HSA_AMD_GPU_MEMORY_FAULT_EVENT) {
        events.fault_address = event->memory_fault.virtual_address;
        events.memory_fault = true;
    }
    return HSA_STATUS_SUCCESS;
}

std::string bdf_of(std::uint32_t domain, std::uint32_t bdfid) {
    std::array<char, 32> text;
    std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.%x", domain, bdfid >> 8 & 0xff,
                  bdfid >> 3 & 0x1f, bdfid & 0x7);
    return text.data();
}

Result<Runtime> Runtime::open(bool handle_events) {
    const auto api = load();
    if (!api) {
        return tl::unexpected(api.error());
    }
    Runtime runtime(*api);
    if (auto done = runtime.check(api->init(), "hsa_init"); !done) {
        return tl::unexpected(done.error());
    }
    if (handle_events) {
        auto done = runtime.check(
            api->amd_register_system_event_handler(on_system_event, runtime.events_.get()),
            "hsa_amd_register_system_event_handler");
        if (!done) {
            return tl::unexpected(done.error());
        }
    }
    return runtime;
}

std::string Runtime::describe(hsa_status_t status) const {
    const char* text = nullptr;
    if (api_.status_string(status, &text) != HSA_STATUS_SUCCESS || text == nullptr) {
        return {};
    }
    return text;
}

Result<void> Runtime::check(hsa_status_t status, const char* op) const {
    if (status == HSA_STATUS_SUCCESS) {
        return {};
    }
    return tl::unexpected(Error{op, status, describe(status)});
}

Result<bool> Runtime::is_gpu(hsa_agent_t agent, const GpuName& name) const {
    std::uint32_t type = 0, node = 0, domain = 0, bdfid = 0;
    for (const auto& [what, value] : {std::pair(HSA_AGENT_INFO_DEVICE, &type),
                                      std::pair(HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, &node),
                                      std::pair(HSA_AMD_AGENT_INFO_BDFID, &bdfid),
                                      std::pair(HSA_AMD_AGENT_INFO_DOMAIN, &domain)}) {
        if (auto done = check(api_.agent_get_info(agent, what, value), "hsa_agent_get_info");
            !done) {
            return tl::unexpected(done.error());
        }
    }
    if (type != HSA_DEVICE_TYPE_GPU) {
        return false;
    }
    return name.bdf.empty() ? gpu_id_of_node(node) == name.gpu_id
                            : bdf_of(domain, bdfid) == name.bdf;
}

Result<std::vector<hsa_agent_t>> Runtime::agents() const {
    std::vector<hsa_agent_t> agents;
    auto done = check(api_.iterate_agents(collect<hsa_agent_t>, &agents), "hsa_iterate_agents");
    return done ? Result<std::vector<hsa_agent_t>>(std::move(agents))
                : tl::unexpected(done.error());
}

Result<hsa_agent_t> Runtime::find_gpu(const GpuName& name) {
    const auto all = agents();
    if (!all) {
        return tl::unexpected(all.error());
    }
    for (const hsa_agent_t agent : *all) {
        const auto found = is_gpu(agent, name);
        if (!found) {
            return tl::unexpected(found.error());
        }
        if (*found) {
            events_->own = agent.handle;
            return agent;
        }
    }
    return tl::unexpected(Error{"hsa_iterate_agents", HSA_STATUS_SUCCESS, "no such GPU"});
}

Result<hsa_agent_t> Runtime::find_cpu() const {
    const auto all = agents();
    if (!all) {
        return tl::unexpected(all.error());
    }
    for (const hsa_agent_t agent : *all) {
        std::uint32_t type = 0;
        if (auto done = check(api_.agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type),
                              "hsa_agent_get_info");
            !done) {
            return tl::unexpected(done.error());
        }
        if (type == HSA_DEVICE_TYPE_CPU) {
            return agent;
        }
    }
    return tl::unexpected(Error{"hsa_iterate_agents", HSA_STATUS_SUCCESS, "no CPU"});
}

Result<hsa_amd_memory_pool_t> Runtime::find_pool(hsa_agent_t agent,
                                                 std::uint32_t global_flag) const {
    std::vector<hsa_amd_memory_pool_t> pools;
    if (auto done = check(
            api_.amd_agent_iterate_memory_pools(agent, collect<hsa_amd_memory_pool_t>, &pools),
            "hsa_amd_agent_iterate_memory_pools");
        !done) {
        return tl::unexpected(done.error());
    }
    for (const hsa_amd_memory_pool_t pool : pools) {
        std::uint32_t segment = 0, flags = 0;
        bool allowed = false;
        const std::array<std::pair<std::uint32_t, void*>, 3> wanted = {{
            {HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment},
            {HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags},
            {HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &allowed},
        }};
        // The flags are those of the global segment, and no other has any.
        for (const auto& [what, value] : wanted) {
            if (segment != HSA_AMD_SEGMENT_GLOBAL) {
                break;
            }
            if (auto done = check(api_.amd_memory_pool_get_info(pool, what, value),
                                  "hsa_amd_memory_pool_get_info");
                !done) {
                return tl::unexpected(done.error());
            }
        }
        if (segment == HSA_AMD_SEGMENT_GLOBAL && allowed && (flags & global_flag) != 0) {
            return pool;
        }
    }
    return tl::unexpected(Error{"hsa_amd_agent_iterate_memory_pools", HSA_STATUS_SUCCESS,
                                "no memory of the kind wanted"});
}

}  // namespace hp::clients::hsa
