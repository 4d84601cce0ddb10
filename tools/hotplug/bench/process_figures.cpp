// SPDX-License-Identifier: GPL-2.0
// Purpose: see process_figures.h.
// Thread: see process_figures.h.
#include "hotplug/bench/process_figures.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>

namespace hotplug {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view memfd_prefix = "/memfd:";
constexpr uint64_t stat_block = 512;

/// "Rss:                 12 kB" -> 12
uint64_t number_in(std::string_view line) {
    const size_t begin = line.find_first_of("0123456789");
    uint64_t value = 0;
    if (begin != std::string_view::npos) {
        std::from_chars(line.data() + begin, line.data() + line.size(), value);
    }
    return value;
}

/// A mapping's first line begins with its addresses in hexadecimal, those of its figures with a
/// capital letter and a name that ends in a colon.
bool begins_mapping(std::string_view line) {
    return line.find('-') < line.find(' ') && line.find(':') > line.find(' ');
}

/// Bytes of the memfds that are open there. One that was opened twice counts once.
hp::Result<uint64_t> open_memfds(const fs::path& descriptors) {
    std::error_code error;
    std::set<std::pair<dev_t, ino_t>> seen;
    uint64_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(descriptors, error)) {
        // A descriptor may be closed meanwhile: then it names nothing.
        std::error_code closed;
        if (!fs::read_symlink(entry.path(), closed).native().starts_with(memfd_prefix)) {
            continue;
        }
        struct stat info {};
        if (::stat(entry.path().c_str(), &info) == 0 &&
            seen.emplace(info.st_dev, info.st_ino).second) {
            bytes += static_cast<uint64_t>(info.st_blocks) * stat_block;
        }
    }
    if (error) {
        return hp::fail(fmt::format("cannot read {}: {}", descriptors.string(), error.message()));
    }
    return bytes;
}

}  // namespace

ProcessMemory resident_in(std::string_view smaps) {
    ProcessMemory memory;
    bool memfd = false;
    while (!smaps.empty()) {
        const size_t end = std::min(smaps.find('\n'), smaps.size());
        const std::string_view line = smaps.substr(0, end);
        smaps.remove_prefix(std::min(end + 1, smaps.size()));
        if (begins_mapping(line)) {
            memfd = line.find(memfd_prefix) != std::string_view::npos;
        } else if (line.starts_with("Rss:")) {
            (memfd ? memory.borrowed : memory.own) += number_in(line) << 10;
        }
    }
    return memory;
}

hp::Result<ProcessMemory> process_memory(pid_t pid) {
    const fs::path process = fmt::format("/proc/{}", pid);
    std::ifstream file(process / "smaps");
    std::ostringstream smaps;
    smaps << file.rdbuf();
    if (!file || smaps.view().empty()) {
        return hp::fail(fmt::format("cannot read {}", (process / "smaps").string()));
    }
    ProcessMemory memory = resident_in(smaps.view());
    const auto held = open_memfds(process / "fd");
    if (!held) {
        return tl::unexpected(held.error());
    }
    memory.memfds = *held;
    return memory;
}

hp::Result<std::chrono::nanoseconds> process_cpu_time(pid_t pid) {
    clockid_t clock{};
    timespec time{};
    if (const int error = ::clock_getcpuclockid(pid, &clock)) {
        return hp::fail(fmt::format("no CPU clock of process {}: {}", pid, std::strerror(error)));
    }
    if (::clock_gettime(clock, &time) != 0) {
        return hp::fail(fmt::format("CPU time of process {}: {}", pid, std::strerror(errno)));
    }
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace hotplug
