// SPDX-License-Identifier: GPL-2.0
// Purpose: why the pool says no: a code for programs, which never changes its meaning, and a line
// for people. Thread: values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace gpupool {

enum class Code : uint8_t {
    bad_request,  // not a request of the protocol, or one with a member that cannot be
    unknown_verb,
    unknown_pool,
    unknown_gpu,
    unknown_vm,
    unknown_lease,
    exists,          // already, under that name or with that serial number
    heterogeneous,   // GPUs of two kinds in a pool or a VM
    exhausted,       // no GPU is free, and the caller does not want to wait
    vm_full,         // it has as many GPUs as it was declared with
    vm_unreachable,  // it does not run
    clustered,       // a cluster says where VMs run, and nobody else
    bad_state,       // what is asked for cannot happen to it now
    not_yet,         // what somebody waited for has not come in time
    stale_epoch,     // it was said of an earlier tenancy of the GPU
    request_reused,  // the same key for something else
    not_owner,       // of the lease, the VM or the pool
    ledger,          // the books cannot be written; nothing has happened
};

/// "vm-unreachable"
std::string_view name_of(Code code);

struct Refusal {
    Code code;
    std::string message{};
};

template <typename T>
using Outcome = tl::expected<T, Refusal>;

inline tl::unexpected<Refusal> refuse(Code code, std::string message) {
    return tl::unexpected<Refusal>(Refusal{code, std::move(message)});
}

}  // namespace gpupool
