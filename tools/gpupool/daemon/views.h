// SPDX-License-Identifier: GPL-2.0
// Purpose: the books as others want to see them: JSON for programs and for gpupool, Prometheus's
// text format, a map in HTML. Thread: pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "gpupool/ledger/ledger.h"
#include "gpupool/placement/books.h"

namespace gpupool {

/// `pools`, each with its `gpus`; `vms`; `leases`. Of one pool, or of all.
nlohmann::json status_view(const Books& books, const std::optional<std::string>& pool);
nlohmann::json event_view(const NumberedEvent& event);
/// What would be done now if one GPU after the other failed, and for the next one who wants one.
nlohmann::json plan_view(const Books& books, const std::string& pool);
std::string metrics_view(const Books& books);
/// One page, nothing to load: VMs with their slots, and the GPUs that are in none.
std::string map_view(const Books& books, const std::string& host);

}  // namespace gpupool
