// SPDX-License-Identifier: GPL-2.0
// Purpose: see views.h.
// Thread: see views.h.
#include "gpupool/daemon/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "gpupool/placement/operations.h"
#include "gpupool/placement/rules.h"

namespace gpupool {

namespace {

using nlohmann::json;

json gpu_json(const Gpu& gpu) {
    json view{{"name", gpu.name},
              {"serial", fmt::format("{:#x}", gpu.serial)},
              {"state", name_of(gpu.state)},
              {"offline", gpu.offline},
              {"epoch", gpu.epoch},
              {"since_us", gpu.since_us}};
    if (!gpu.vm.empty()) {
        view["vm"] = gpu.vm;
    }
    if (gpu.slot) {
        view["slot"] = *gpu.slot;
    }
    if (gpu.lease) {
        view["lease"] = *gpu.lease;
    }
    if (!gpu.reason.empty()) {
        view["reason"] = gpu.reason;
    }
    return view;
}

json lease_json(const Lease& lease) {
    json view{{"lease", lease.id},    {"pool", lease.pool},
              {"vm", lease.vm},       {"state", name_of(lease.state)},
              {"owner", lease.owner}, {"since_us", lease.since_us}};
    if (lease.gpu) {
        view["gpu"] = *lease.gpu;
    }
    if (lease.gave_up) {
        view["gave_up"] = true;
    }
    return view;
}

unsigned count_gpus(const Books& books, const std::string& pool, GpuState state) {
    return static_cast<unsigned>(std::ranges::count_if(books.gpus, [&](const auto& entry) {
        return entry.second.pool == pool && entry.second.state == state;
    }));
}

unsigned count_leases(const Books& books, const std::string& pool, LeaseState state) {
    return static_cast<unsigned>(std::ranges::count_if(books.leases, [&](const auto& entry) {
        return entry.second.pool == pool && entry.second.state == state;
    }));
}

template <typename Count>
json counts(std::span<const std::string_view> names, Count count) {
    json view = json::object();
    for (const auto name : names) {
        view[std::string(name)] = count(name);
    }
    return view;
}

std::string escaped(const std::string& text) {
    std::string safe;
    for (const char letter : text) {
        switch (letter) {
            case '&': safe += "&amp;"; break;
            case '<': safe += "&lt;"; break;
            case '>': safe += "&gt;"; break;
            case '"': safe += "&quot;"; break;
            default: safe += letter;
        }
    }
    return safe;
}

/// A label's value in Prometheus's text format.
std::string label(const std::string& text) {
    std::string safe;
    for (const char letter : text) {
        if (letter == '\n') {
            safe += "\\n";
            continue;
        }
        if (letter == '"' || letter == '\\') {
            safe += '\\';
        }
        safe += letter;
    }
    return safe;
}

constexpr std::array<std::string_view, 11> gpu_states{
    "new",       "scrubbing", "free",   "reserved",    "attaching", "leased",
    "detaching", "failed",    "pulled", "quarantined", "retired"};
constexpr std::array<std::string_view, 6> lease_states{"queued",   "attaching", "active",
                                                       "degraded", "replacing", "returning"};

std::string gpu_box(const Gpu& gpu) {
    return fmt::format(
        "<div class=\"gpu {}\"><b>{}</b> {}{}<br><small>{:#x} epoch {}{}{}</small></div>",
        name_of(gpu.state), escaped(gpu.name), name_of(gpu.state), gpu.offline ? ", offline" : "",
        gpu.serial, gpu.epoch, gpu.lease ? fmt::format(", lease {}", *gpu.lease) : "",
        gpu.reason.empty() ? "" : "<br>" + escaped(gpu.reason));
}

constexpr const char* map_head = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>GPU pool</title><style>
body { font: 15px/1.4 system-ui, sans-serif; margin: 2em; color: #1c2733; background: #fff; }
section { border: 1px solid #b8c2cc; border-radius: 6px; padding: .6em 1em; margin: 1em 0; }
h2 { font-size: 1.05em; margin: .2em 0 .5em; }
.row { display: flex; flex-wrap: wrap; gap: .6em; }
.gpu, .slot { border-radius: 4px; padding: .4em .7em; min-width: 11em; background: #e8ecf0; }
.slot { background: none; border: 1px dashed #b8c2cc; color: #66727e; }
.leased { background: #cfe8d5; } .free { background: #dbe9f7; }
.attaching, .detaching, .reserved, .scrubbing { background: #fbeecb; }
.failed, .pulled, .quarantined { background: #f6d0cc; } .retired { color: #66727e; }
</style></head><body>
)";

}  // namespace

json status_view(const Books& books, const std::optional<std::string>& pool) {
    json view{{"pools", json::array()}, {"vms", json::array()}, {"leases", json::array()}};
    for (const auto& [name, pool_row] : books.pools) {
        const Pool& row = pool_row;
        if (pool && *pool != name) {
            continue;
        }
        json gpus = json::array();
        for (const auto& [gpu_name, gpu] : books.gpus) {
            if (gpu.pool == name) {
                gpus.push_back(gpu_json(gpu));
            }
        }
        view["pools"].push_back(
            {{"name", name},
             {"profile", row.profile},
             {"vram_mib", row.vram_mib},
             {"spares", row.spares},
             {"on_failure", row.replace ? "replace" : "wait"},
             {"give_up_s", row.give_up_s},
             {"capacity", capacity_of(books, name)},
             {"health", name_of(health_of(books, name))},
             {"counts",
              counts(gpu_states,
                     [&](auto state) { return count_gpus(books, row.name, *gpu_state(state)); })},
             {"lease_counts", counts(lease_states,
                                     [&](auto state) {
                                         return count_leases(books, row.name, *lease_state(state));
                                     })},
             {"gpus", std::move(gpus)}});
    }
    for (const auto& [name, vm] : books.vms) {
        view["vms"].push_back({{"name", name},
                               {"state", name_of(vm.state)},
                               {"gpus", vm.gpus},
                               {"incarnation", vm.incarnation},
                               {"owner", vm.owner}});
    }
    for (const auto& [id, lease] : books.leases) {
        if (!pool || lease.pool == *pool) {
            view["leases"].push_back(lease_json(lease));
        }
    }
    return view;
}

json event_view(const NumberedEvent& numbered) {
    const Event& event = numbered.event;
    json view{{"number", numbered.number}, {"time_us", event.time_us}, {"what", event.what}};
    for (const auto& [key, value] :
         {std::pair("pool", &event.pool), std::pair("gpu", &event.gpu), std::pair("vm", &event.vm),
          std::pair("detail", &event.detail)}) {
        if (!value->empty()) {
            view[key] = *value;
        }
    }
    if (event.epoch != 0) {
        view["epoch"] = event.epoch;
    }
    if (event.lease != 0) {
        view["lease"] = event.lease;
    }
    return view;
}

json plan_view(const Books& books, const std::string& pool) {
    json failures = json::array();
    for (const auto& [name, gpu] : books.gpus) {
        if (gpu.pool != pool || gpu.state != GpuState::leased) {
            continue;
        }
        Books what_if = books;
        if (!board_failed(what_if, name, gpu.epoch, "planned")) {
            continue;
        }
        const Lease& lease = what_if.leases.at(*gpu.lease);
        json line{{"gpu", name}, {"vm", gpu.vm}, {"lease", lease.id}};
        if (lease.gpu) {
            line["by"] = *lease.gpu;
        }
        failures.push_back(std::move(line));
    }
    const auto available = available_gpus(books, pool);
    const unsigned spares = books.pools.at(pool).spares;
    return {{"failures", std::move(failures)},
            {"to_give", available.size() > spares ? available.size() - spares : 0}};
}

std::string metrics_view(const Books& books) {
    std::string text =
        "# HELP gpupool_gpus GPUs of a pool in a state.\n# TYPE gpupool_gpus gauge\n";
    for (const auto& [name, pool] : books.pools) {
        for (const auto state : gpu_states) {
            text += fmt::format("gpupool_gpus{{pool=\"{}\",profile=\"{}\",state=\"{}\"}} {}\n",
                                label(name), label(pool.profile), state,
                                count_gpus(books, name, *gpu_state(state)));
        }
    }
    text += "# HELP gpupool_leases Leases of a pool in a state.\n# TYPE gpupool_leases gauge\n";
    for (const auto& [name, pool] : books.pools) {
        for (const auto state : lease_states) {
            text += fmt::format("gpupool_leases{{pool=\"{}\",state=\"{}\"}} {}\n", label(name),
                                state, count_leases(books, name, *lease_state(state)));
        }
    }
    text += "# HELP gpupool_health 0 online, 1 degraded, 2 faulted.\n# TYPE gpupool_health gauge\n";
    for (const auto& [name, pool] : books.pools) {
        text += fmt::format("gpupool_health{{pool=\"{}\"}} {}\n", label(name),
                            static_cast<int>(health_of(books, name)));
    }
    text +=
        "# HELP gpupool_capacity GPUs of a pool that VMs have or could have.\n"
        "# TYPE gpupool_capacity gauge\n";
    for (const auto& [name, pool] : books.pools) {
        text += fmt::format("gpupool_capacity{{pool=\"{}\"}} {}\n", label(name),
                            capacity_of(books, name));
    }
    text +=
        "# HELP gpupool_repair_seconds From the failure of a leased GPU until another one is in "
        "its place.\n"
        "# TYPE gpupool_repair_seconds summary\n";
    for (const auto& [name, pool] : books.pools) {
        text += fmt::format(
            "gpupool_repair_seconds_sum{{pool=\"{0}\"}} {1:.6f}\n"
            "gpupool_repair_seconds_count{{pool=\"{0}\"}} {2}\n",
            label(name), static_cast<double>(pool.repair_us) / 1e6, pool.repairs);
    }
    text +=
        "# HELP gpupool_repairs_given_up Leases without a GPU for longer than the pool's "
        "give_up_s.\n"
        "# TYPE gpupool_repairs_given_up gauge\n";
    for (const auto& [name, pool] : books.pools) {
        text += fmt::format("gpupool_repairs_given_up{{pool=\"{}\"}} {}\n", label(name),
                            std::ranges::count_if(books.leases, [&](const auto& entry) {
                                return entry.second.pool == name && entry.second.gave_up;
                            }));
    }
    text +=
        "# HELP gpupool_scrubs_total Cold resets of a GPU.\n"
        "# TYPE gpupool_scrubs_total counter\n";
    for (const auto& [name, gpu] : books.gpus) {
        text += fmt::format("gpupool_scrubs_total{{pool=\"{}\",gpu=\"{}\"}} {}\n", label(gpu.pool),
                            label(name), gpu.epoch);
    }
    return text;
}

std::string map_view(const Books& books, const std::string& host) {
    std::string page = map_head;
    page += fmt::format("<h1>GPUs of {}</h1>\n", escaped(host));
    for (const auto& [name, vm_row] : books.vms) {
        const Vm& vm = vm_row;
        page += fmt::format("<section><h2>vm {} ({})</h2><div class=\"row\">\n", escaped(name),
                            name_of(vm.state));
        for (unsigned slot = 0; slot < vm.slots(); ++slot) {
            const auto in_it = std::ranges::find_if(books.gpus, [&](const auto& entry) {
                return entry.second.vm == vm.name && entry.second.slot == slot;
            });
            page += in_it == books.gpus.end()
                        ? fmt::format("<div class=\"slot\">slot {}</div>\n", slot)
                        : gpu_box(in_it->second) + "\n";
        }
        page += "</div></section>\n";
    }
    for (const auto& [name, pool] : books.pools) {
        page += fmt::format("<section><h2>pool {}: {}, {}</h2><div class=\"row\">\n", escaped(name),
                            escaped(pool.profile), name_of(health_of(books, name)));
        for (const auto& [gpu_name, gpu] : books.gpus) {
            if (gpu.pool == name && !gpu.slot) {
                page += gpu_box(gpu) + "\n";
            }
        }
        page += "</div></section>\n";
    }
    std::string waiting;
    for (const auto& [id, lease] : books.leases) {
        if (!lease.gpu) {
            waiting += fmt::format("<li>lease {} of {} for vm {}: {}</li>\n", id,
                                   escaped(lease.pool), escaped(lease.vm), name_of(lease.state));
        }
    }
    if (!waiting.empty()) {
        page += "<section><h2>waiting</h2><ul>\n" + waiting + "</ul></section>\n";
    }
    return page + "</body></html>\n";
}

}  // namespace gpupool
