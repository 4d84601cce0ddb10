// SPDX-License-Identifier: GPL-2.0
// Purpose: see refusal.h.
// Thread: see refusal.h.
#include "gpupool/placement/refusal.h"

namespace gpupool {

std::string_view name_of(Code code) {
    switch (code) {
        case Code::bad_request: return "bad-request";
        case Code::unknown_verb: return "unknown-verb";
        case Code::unknown_pool: return "unknown-pool";
        case Code::unknown_gpu: return "unknown-gpu";
        case Code::unknown_vm: return "unknown-vm";
        case Code::unknown_lease: return "unknown-lease";
        case Code::exists: return "exists";
        case Code::heterogeneous: return "heterogeneous";
        case Code::exhausted: return "exhausted";
        case Code::vm_full: return "vm-full";
        case Code::vm_unreachable: return "vm-unreachable";
        case Code::clustered: return "clustered";
        case Code::bad_state: return "bad-state";
        case Code::not_yet: return "not-yet";
        case Code::stale_epoch: return "stale-epoch";
        case Code::request_reused: return "request-reused";
        case Code::not_owner: return "not-owner";
        case Code::ledger: return "ledger";
    }
    return "unknown";
}

}  // namespace gpupool
