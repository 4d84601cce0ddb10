// SPDX-License-Identifier: GPL-2.0
// Purpose: what the `state` request answers, read from procfs and sysfs.
// Thread: any; no state. May block where the kernel does, so it runs on Workers.
// Not modelled: a consistent snapshot. Devices may come and go between two files.
#include "hotplug/in_guest/agent/system_state.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "hotplug/in_guest/agent/clock.h"

namespace hp::agent {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kfd_file = "/dev/kfd";

/// Empty when the file is not there (any more): a device that vanished between listing and reading
/// is no error. Nor is one that vanished after the opening: its read(2) fails, which a streambuf
/// throws and a stream takes for the end.
std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    std::string text;
    std::getline(file, text, '\0');
    while (!text.empty() && text.back() == '\n') {
        text.pop_back();
    }
    return text;
}

/// Reads "0x1002" as well as "4098".
std::uint64_t number_of(std::string_view text) {
    const bool hex = text.starts_with("0x");
    text.remove_prefix(hex ? 2 : 0);
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
    return value;
}

std::vector<std::string> names_in(const fs::path& directory) {
    std::vector<std::string> names;
    std::error_code error;
    fs::directory_iterator entries(directory, error);
    for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
        names.push_back(entries->path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

/// The last part of what a link of sysfs points to; empty without the link.
std::string link_target(const fs::path& link) {
    std::error_code error;
    const fs::path target = fs::read_symlink(link, error);
    return error ? std::string() : target.filename().string();
}

/// "renderD128" with the prefix "renderD" is 128; other names are none.
std::optional<unsigned> number_after(std::string_view name, std::string_view prefix) {
    if (!name.starts_with(prefix)) {
        return std::nullopt;
    }
    const std::string_view digits = name.substr(prefix.size());
    unsigned value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) {
        return std::nullopt;
    }
    return value;
}

/// "name value" lines, as KFD's topology writes them.
std::map<std::string, std::uint64_t> properties_of(const fs::path& path) {
    std::map<std::string, std::uint64_t> properties;
    std::ifstream file(path);
    std::string name;
    std::uint64_t value = 0;
    while (file >> name >> value) {
        properties[name] = value;
    }
    return properties;
}

json io_link_targets(const fs::path& links) {
    json targets = json::array();
    for (const std::string& link : names_in(links)) {
        targets.push_back(properties_of(links / link / "properties")["node_to"]);
    }
    return targets;
}

fs::path topology(const fs::path& root) {
    return root / "sys/class/kfd/kfd/topology";
}

std::uint64_t meminfo_kib(const fs::path& root, const std::string& wanted) {
    std::ifstream file(root / "proc/meminfo");
    std::string line;
    while (std::getline(file, line)) {
        std::istringstream words(line);
        std::string name;
        std::uint64_t kib = 0;
        if (words >> name >> kib && name == wanted + ":") {
            return kib;
        }
    }
    return 0;
}

/// Caches that grow when a device, its files or its users are leaked; all others only add noise.
bool cache_of_interest(std::string_view name) {
    constexpr std::array substrings = {"amdgpu", "drm",         "gpu",    "kfd",
                                       "ttm",    "sched_fence", "dma_buf"};
    constexpr std::array whole = {"kernfs_node_cache", "mm_struct", "pid"};
    const auto within = [&](std::string_view part) { return name.find(part) != name.npos; };
    return std::any_of(substrings.begin(), substrings.end(), within) ||
           std::find(whole.begin(), whole.end(), name) != whole.end();
}

/// The state letter stands behind the command's name, which may itself hold blanks and brackets
/// (proc(5)).
bool is_blocked(const std::string& stat) {
    const auto bracket = stat.rfind(')');
    return bracket != std::string::npos && stat.compare(bracket + 1, 3, " D ") == 0;
}

/// Of an open file that `state` tells of: "/dev/kfd", or "renderD128" for a node that devtmpfs has
/// removed.
std::optional<std::string> file_of_interest(const fs::path& file) {
    constexpr std::string_view folder = "/dev/dri/";
    constexpr std::string_view removed = " (deleted)";
    std::error_code error;
    const std::string target = fs::read_symlink(file, error).string();
    if (error) {
        return std::nullopt;
    }
    if (target == kfd_file) {
        return target;
    }
    if (!target.starts_with(folder) || !target.ends_with(removed)) {
        return std::nullopt;
    }
    return target.substr(folder.size(), target.size() - folder.size() - removed.size());
}

/// Which processes have the files of interest open, each of them once.
std::map<std::string, json> holders_of_files(const fs::path& root) {
    const fs::path proc = root / "proc";
    std::map<std::string, json> holders;
    for (const std::string& pid : names_in(proc)) {
        if (!number_after(pid, "")) {
            continue;
        }
        const fs::path files = proc / pid / "fd";
        std::set<std::string> held;
        for (const std::string& file : names_in(files)) {
            if (const auto name = file_of_interest(files / file)) {
                held.insert(*name);
            }
        }
        for (const std::string& name : held) {
            holders[name].push_back(
                {{"pid", number_of(pid)}, {"comm", text_of(proc / pid / "comm")}});
        }
    }
    return holders;
}

std::uint64_t highest_minor(const json& drm) {
    std::uint64_t highest = 0;
    for (const json& node : drm) {
        highest = std::max(highest, node["number"].get<std::uint64_t>());
    }
    return highest;
}

}  // namespace

json read_drm_minors(const fs::path& root) {
    const fs::path drm = root / "sys/class/drm";
    json minors = json::array();
    for (const std::string& name : names_in(drm)) {
        for (const auto& [prefix, kind] :
             {std::pair{"card", "card"}, std::pair{"renderD", "render"}}) {
            if (const auto number = number_after(name, prefix)) {
                minors.push_back({{"minor", name},
                                  {"kind", kind},
                                  {"number", *number},
                                  {"bdf", link_target(drm / name / "device")}});
            }
        }
    }
    return minors;
}

json read_open_files(const fs::path& root) {
    json orphans = json::array();
    json kfd_users = json::array();
    for (auto& [name, processes] : holders_of_files(root)) {
        if (name == kfd_file) {
            kfd_users = std::move(processes);
        } else {
            orphans.push_back({{"minor", name}, {"holders", std::move(processes)}});
        }
    }
    return {{"drm_orphans", std::move(orphans)}, {"kfd_users", std::move(kfd_users)}};
}

json read_kfd_evictions(const fs::path& root) {
    const fs::path processes = root / "sys/class/kfd/kfd/proc";
    json answer = json::array();
    for (const std::string& pid : names_in(processes)) {
        for (const std::string& name : names_in(processes / pid)) {
            const auto gpu_id = number_after(name, "stats_");
            const std::string text = text_of(processes / pid / name / "evicted_ms");
            if (gpu_id && !text.empty()) {
                answer.push_back({{"pid", number_of(pid)},
                                  {"gpu_id", *gpu_id},
                                  {"evicted_ms", number_of(text)}});
            }
        }
    }
    return answer;
}

json read_kfd_nodes(const fs::path& root) {
    const fs::path nodes = topology(root) / "nodes";
    json answer = json::array();
    for (const std::string& name : names_in(nodes)) {
        const fs::path node = nodes / name;
        auto properties = properties_of(node / "properties");
        const json targets = io_link_targets(node / "io_links");
        answer.push_back({{"id", number_of(name)},
                          {"gpu_id", number_of(text_of(node / "gpu_id"))},
                          {"name", text_of(node / "name")},
                          {"simd_count", properties["simd_count"]},
                          {"render_minor", properties["drm_render_minor"]},
                          {"location_id", properties["location_id"]},
                          {"domain", properties["domain"]},
                          {"io_links", targets.size()},
                          {"io_link_targets", targets}});
    }
    return answer;
}

json read_pci_devices(const fs::path& root) {
    const fs::path devices = root / "sys/bus/pci/devices";
    json answer = json::array();
    for (const std::string& bdf : names_in(devices)) {
        const fs::path device = devices / bdf;
        answer.push_back({{"bdf", bdf},
                          {"vendor", number_of(text_of(device / "vendor"))},
                          {"device", number_of(text_of(device / "device"))},
                          {"class", number_of(text_of(device / "class"))},
                          {"driver", link_target(device / "driver")}});
    }
    return answer;
}

json read_slab(const fs::path& root) {
    json caches = json::object();
    std::ifstream file(root / "proc/slabinfo");
    std::string line;
    while (std::getline(file, line)) {
        std::istringstream words(line);
        std::string name;
        std::uint64_t active = 0;
        if (words >> name >> active && cache_of_interest(name)) {
            caches[name] = active;
        }
    }
    return caches;
}

json read_blocked_tasks(const fs::path& root) {
    const fs::path proc = root / "proc";
    json blocked = json::array();
    for (const std::string& pid : names_in(proc)) {
        if (!number_after(pid, "")) {
            continue;
        }
        const fs::path tasks = proc / pid / "task";
        for (const std::string& tid : names_in(tasks)) {
            const fs::path task = tasks / tid;
            if (is_blocked(text_of(task / "stat"))) {
                blocked.push_back({{"pid", number_of(tid)},
                                   {"comm", text_of(task / "comm")},
                                   {"wchan", text_of(task / "wchan")},
                                   {"stack", text_of(task / "stack")}});
            }
        }
    }
    return blocked;
}

json read_state(const fs::path& root) {
    const json drm = read_drm_minors(root);
    json state = {{"taint", number_of(text_of(root / "proc/sys/kernel/tainted"))},
                  {"uptime_us", uptime_us()},
                  {"drm", drm},
                  {"drm_minor_max", highest_minor(drm)},
                  {"kfd_evictions", read_kfd_evictions(root)},
                  {"kfd_nodes", read_kfd_nodes(root)},
                  {"kfd_generation", number_of(text_of(topology(root) / "generation_id"))},
                  {"pci", read_pci_devices(root)},
                  {"slab", read_slab(root)},
                  {"slab_total_kib", meminfo_kib(root, "Slab")},
                  {"memory_available_kib", meminfo_kib(root, "MemAvailable")},
                  {"processes_d_state", read_blocked_tasks(root)}};
    state.update(read_open_files(root));
    return state;
}

}  // namespace hp::agent
