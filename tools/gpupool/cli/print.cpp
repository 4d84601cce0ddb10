// SPDX-License-Identifier: GPL-2.0
// Purpose: see print.h.
// Thread: see print.h.
#include "gpupool/cli/print.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

namespace gpupool {

namespace {

using nlohmann::json;

uint64_t count_of(const json& counts, std::initializer_list<const char*> states) {
    uint64_t sum = 0;
    for (const char* state : states) {
        sum += counts.at(state).get<uint64_t>();
    }
    return sum;
}

/// "DEGRADED: 1 failed, 1 spare, 2 waiting"
std::string headline(const json& pool) {
    const json& gpus = pool.at("counts");
    const json& leases = pool.at("lease_counts");
    const uint64_t free = count_of(gpus, {"free"});
    const uint64_t spare = std::min<uint64_t>(free, pool.at("spares").get<uint64_t>());
    std::vector<std::string> parts;
    const auto add = [&](uint64_t count, const char* what) {
        if (count > 0) {
            parts.push_back(fmt::format("{} {}", count, what));
        }
    };
    add(count_of(gpus, {"failed", "pulled", "quarantined"}), "failed");
    add(count_of(leases, {"degraded"}), "degraded");
    add(count_of(leases, {"replacing"}), "replacing");
    add(count_of(gpus, {"leased"}), "leased");
    add(free - spare, "free");
    add(spare, "spare");
    add(count_of(leases, {"queued"}), "waiting");
    return fmt::format("{}: {}", pool.at("health").get<std::string>(),
                       parts.empty() ? "no GPU" : fmt::format("{}", fmt::join(parts, ", ")));
}

double seconds_since(const json& thing) {
    const std::chrono::microseconds since(thing.at("since_us").get<int64_t>());
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch() -
                                         since)
        .count();
}

std::string gpu_line(const json& gpu, const std::map<uint64_t, json>& leases) {
    std::string notes;
    const auto note = [&](const std::string& text) { notes += "  " + text; };
    if (gpu.contains("vm")) {
        note("vm " + gpu.at("vm").get<std::string>());
    }
    if (gpu.contains("slot")) {
        note(fmt::format("slot {}", gpu.at("slot").get<uint64_t>()));
    }
    if (gpu.contains("lease")) {
        const auto id = gpu.at("lease").get<uint64_t>();
        const auto lease = leases.find(id);
        note(fmt::format(
            "lease {}{}", id,
            lease == leases.end() ? "" : " " + lease->second.at("state").get<std::string>()));
    }
    if (gpu.at("offline").get<bool>()) {
        note("offline");
    }
    // What takes its time: for how long already.
    for (const char* state : {"scrubbing", "reserved", "attaching", "detaching", "failed"}) {
        if (gpu.at("state") == state) {
            note(fmt::format("for {:.1f} s", seconds_since(gpu)));
        }
    }
    if (gpu.contains("reason")) {
        note(gpu.at("reason").get<std::string>());
    }
    return fmt::format("  {:<8}{:<12}{:<20}epoch {}{}\n", gpu.at("name").get<std::string>(),
                       gpu.at("state").get<std::string>(), gpu.at("serial").get<std::string>(),
                       gpu.at("epoch").get<uint64_t>(), notes);
}

/// What ZFS calls action: what somebody has to do.
std::string action(const json& pool) {
    std::string text;
    for (const json& gpu : pool.at("gpus")) {
        if (gpu.at("state") == "quarantined") {
            const auto name = gpu.at("name").get<std::string>();
            text += fmt::format(
                "action: test {} with 'gpupool online {}', or 'gpupool offline --retire {}'\n",
                name, name, name);
        }
    }
    if (count_of(pool.at("lease_counts"), {"degraded"}) > 0) {
        text +=
            "action: add a GPU with 'gpupool add', or return a lease: one waits for another "
            "GPU in place of a failed one\n";
    }
    return text;
}

}  // namespace

std::string status_text(const json& answer) {
    std::map<uint64_t, json> leases;
    for (const json& lease : answer.at("leases")) {
        leases.emplace(lease.at("lease").get<uint64_t>(), lease);
    }
    std::string text;
    for (const json& pool : answer.at("pools")) {
        text += fmt::format("pool {}  {}x {}  {}\n", pool.at("name").get<std::string>(),
                            pool.at("gpus").size(), pool.at("profile").get<std::string>(),
                            headline(pool));
        for (const json& gpu : pool.at("gpus")) {
            text += gpu_line(gpu, leases);
        }
        text += action(pool);
    }
    for (const json& vm : answer.at("vms")) {
        text += fmt::format("vm {}  {}\n", vm.at("name").get<std::string>(),
                            vm.at("state").get<std::string>());
    }
    for (const auto& [id, lease] : leases) {
        if (!lease.contains("gpu")) {
            text += fmt::format(
                "lease {}  {}{}  vm {}, pool {}\n", id, lease.at("state").get<std::string>(),
                lease.value("gave_up", false) ? ", given up" : "",
                lease.at("vm").get<std::string>(), lease.at("pool").get<std::string>());
        }
    }
    return text.empty() ? "no pools\n" : text;
}

std::string event_text(const json& event) {
    const auto us = event.at("time_us").get<uint64_t>();
    std::string text =
        fmt::format("{:%FT%T}.{:06}Z  {}", fmt::gmtime(static_cast<std::time_t>(us / 1'000'000)),
                    us % 1'000'000, event.at("what").get<std::string>());
    for (const char* key : {"pool", "gpu", "epoch", "vm", "lease"}) {
        if (const auto value = event.find(key); value != event.end()) {
            text += fmt::format("  {} {}", key,
                                value->is_string() ? value->get<std::string>() : value->dump());
        }
    }
    if (event.contains("detail")) {
        text += "  (" + event.at("detail").get<std::string>() + ")";
    }
    return text + "\n";
}

std::string plan_text(const json& answer) {
    std::string text;
    for (const json& failure : answer.at("failures")) {
        text +=
            fmt::format("if {} fails: lease {} (vm {}) {}\n", failure.at("gpu").get<std::string>(),
                        failure.at("lease").get<uint64_t>(), failure.at("vm").get<std::string>(),
                        failure.contains("by") ? "gets " + failure.at("by").get<std::string>()
                                               : "is degraded until a GPU is free");
    }
    return text + fmt::format("to give away now: {}\n", answer.at("to_give").get<uint64_t>());
}

}  // namespace gpupool
