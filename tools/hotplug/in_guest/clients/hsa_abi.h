// SPDX-License-Identifier: GPL-2.0
// Purpose: the part of ROCr's public C API that the clients use (hsa.h and hsa_ext_amd.h of
// Debian's libhsa-runtime-dev), so that the tools build on a machine without it. Names and values
// are those of the headers. Thread: types and constants only. Not modelled: what no client calls.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hp::clients::hsa {

using hsa_status_t = std::uint32_t;
constexpr hsa_status_t HSA_STATUS_SUCCESS = 0x0;
constexpr hsa_status_t HSA_STATUS_INFO_BREAK = 0x1;  ///< of a callback: ends the iteration

struct hsa_agent_t {
    std::uint64_t handle;
};
struct hsa_signal_t {
    std::uint64_t handle;
};
struct hsa_amd_memory_pool_t {
    std::uint64_t handle;
};
using hsa_signal_value_t = std::int64_t;

// hsa_system_info_t
constexpr std::uint32_t HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY = 3;

// hsa_agent_info_t and hsa_amd_agent_info_t
constexpr std::uint32_t HSA_AGENT_INFO_DEVICE = 17;
constexpr std::uint32_t HSA_AMD_AGENT_INFO_DRIVER_NODE_ID = 0xA004;
constexpr std::uint32_t HSA_AMD_AGENT_INFO_BDFID = 0xA006;
constexpr std::uint32_t HSA_AMD_AGENT_INFO_DOMAIN = 0xA00F;

// hsa_device_type_t
constexpr std::uint32_t HSA_DEVICE_TYPE_CPU = 0;
constexpr std::uint32_t HSA_DEVICE_TYPE_GPU = 1;

// hsa_amd_memory_pool_info_t
constexpr std::uint32_t HSA_AMD_MEMORY_POOL_INFO_SEGMENT = 0;
constexpr std::uint32_t HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS = 1;
constexpr std::uint32_t HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED = 5;

constexpr std::uint32_t HSA_AMD_SEGMENT_GLOBAL = 0;
constexpr std::uint32_t HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED = 2;
constexpr std::uint32_t HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED = 4;

// hsa_queue_type_t
constexpr std::uint32_t HSA_QUEUE_TYPE_MULTI = 0;

// hsa_signal_condition_t, hsa_wait_state_t
constexpr std::uint32_t HSA_SIGNAL_CONDITION_LT = 2;
constexpr std::uint32_t HSA_WAIT_STATE_BLOCKED = 0;

struct hsa_queue_t {
    std::uint32_t type;
    std::uint32_t features;
    void* base_address;
    hsa_signal_t doorbell_signal;
    std::uint32_t size;  ///< in packets
    std::uint32_t reserved1;
    std::uint64_t id;
};
static_assert(sizeof(hsa_queue_t) == 40 && offsetof(hsa_queue_t, size) == 24);

struct hsa_barrier_and_packet_t {
    std::uint16_t header;
    std::uint16_t reserved0;
    std::uint32_t reserved1;
    hsa_signal_t dep_signal[5];  ///< 0: none
    std::uint64_t reserved2;
    hsa_signal_t completion_signal;
};
static_assert(sizeof(hsa_barrier_and_packet_t) == 64);
static_assert(offsetof(hsa_barrier_and_packet_t, completion_signal) == 56);

// hsa_packet_type_t, and the places in a packet's header
constexpr std::uint16_t HSA_PACKET_TYPE_BARRIER_AND = 3;
constexpr unsigned HSA_PACKET_HEADER_BARRIER = 8;
constexpr unsigned HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE = 9;
constexpr unsigned HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE = 11;
constexpr std::uint16_t HSA_FENCE_SCOPE_SYSTEM = 2;

// hsa_amd_event_type_t
constexpr std::uint32_t HSA_AMD_GPU_MEMORY_FAULT_EVENT = 0;
constexpr std::uint32_t HSA_AMD_GPU_HW_EXCEPTION_EVENT = 1;

struct hsa_amd_gpu_memory_fault_info_t {
    hsa_agent_t agent;
    std::uint64_t virtual_address;
    std::uint32_t fault_reason_mask;
};

struct hsa_amd_gpu_hw_exception_info_t {
    hsa_agent_t agent;
    std::uint32_t reset_type;
    std::uint32_t reset_cause;
};

struct hsa_amd_event_t {
    std::uint32_t event_type;
    union {
        hsa_amd_gpu_memory_fault_info_t memory_fault;
        hsa_amd_gpu_hw_exception_info_t hw_exception;
    };
};
static_assert(sizeof(hsa_amd_event_t) == 32 && offsetof(hsa_amd_event_t, hw_exception) == 8);

/// The functions, by their names without "hsa_".
struct Api {
    hsa_status_t (*init)();
    hsa_status_t (*shut_down)();
    hsa_status_t (*status_string)(hsa_status_t, const char**);
    hsa_status_t (*system_get_info)(std::uint32_t, void*);
    hsa_status_t (*iterate_agents)(hsa_status_t (*)(hsa_agent_t, void*), void*);
    hsa_status_t (*agent_get_info)(hsa_agent_t, std::uint32_t, void*);

    hsa_status_t (*queue_create)(hsa_agent_t, std::uint32_t, std::uint32_t,
                                 void (*)(hsa_status_t, hsa_queue_t*, void*), void*, std::uint32_t,
                                 std::uint32_t, hsa_queue_t**);
    hsa_status_t (*queue_destroy)(hsa_queue_t*);
    std::uint64_t (*queue_add_write_index_relaxed)(const hsa_queue_t*, std::uint64_t);
    std::uint64_t (*queue_load_read_index_relaxed)(const hsa_queue_t*);

    hsa_status_t (*signal_create)(hsa_signal_value_t, std::uint32_t, const hsa_agent_t*,
                                  hsa_signal_t*);
    hsa_status_t (*signal_destroy)(hsa_signal_t);
    void (*signal_store_screlease)(hsa_signal_t, hsa_signal_value_t);
    hsa_signal_value_t (*signal_wait_scacquire)(hsa_signal_t, std::uint32_t, hsa_signal_value_t,
                                                std::uint64_t, std::uint32_t);

    hsa_status_t (*amd_agent_iterate_memory_pools)(hsa_agent_t,
                                                   hsa_status_t (*)(hsa_amd_memory_pool_t, void*),
                                                   void*);
    hsa_status_t (*amd_memory_pool_get_info)(hsa_amd_memory_pool_t, std::uint32_t, void*);
    hsa_status_t (*amd_memory_pool_allocate)(hsa_amd_memory_pool_t, std::size_t, std::uint32_t,
                                             void**);
    hsa_status_t (*amd_memory_pool_free)(void*);
    hsa_status_t (*amd_agents_allow_access)(std::uint32_t, const hsa_agent_t*, const std::uint32_t*,
                                            const void*);
    hsa_status_t (*amd_memory_async_copy)(void*, hsa_agent_t, const void*, hsa_agent_t, std::size_t,
                                          std::uint32_t, const hsa_signal_t*, hsa_signal_t);
    hsa_status_t (*amd_register_system_event_handler)(hsa_status_t (*)(const hsa_amd_event_t*,
                                                                       void*),
                                                      void*);
};

}  // namespace hp::clients::hsa
