// SPDX-License-Identifier: GPL-2.0
// Purpose: the agent's requests on files: read, write, list, kmemleak. Each returns the answer
// without its id. Thread: any; each call may block as long as the kernel pleases, so they run on
// Workers.
#include "hotplug/in_guest/agent/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "hotplug/in_guest/agent/clock.h"
#include "hotplug/in_guest/agent/request.h"
#include "lib/fd.h"

namespace hp::agent {

namespace {

using nlohmann::json;

json errno_failure(const std::string& path, int error) {
    json answer = failure(path + ": " + std::strerror(error));
    answer["errno"] = error;
    return answer;
}

}  // namespace

json read_file(const std::string& path, std::size_t limit) {
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) {
        return errno_failure(path, errno);
    }
    std::string data(limit, '\0');
    std::size_t size = 0;
    while (size < limit) {
        const ssize_t n = ::read(fd.get(), data.data() + size, limit - size);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return errno_failure(path, errno);
        }
        if (n == 0) {
            break;
        }
        size += static_cast<std::size_t>(n);
    }
    data.resize(size);
    return success({{"data", std::move(data)}});
}

json write_file(const std::string& path, const std::string& data) {
    const Fd fd(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
    if (!fd) {
        return errno_failure(path, errno);
    }
    const auto started = Clock::now();
    const ssize_t n = ::write(fd.get(), data.data(), data.size());
    const int error = errno;
    const auto elapsed_us = to_us(Clock::now() - started);
    json answer = success();
    if (n < 0) {
        answer = errno_failure(path, error);
    } else if (static_cast<std::size_t>(n) != data.size()) {
        answer = failure(path + " took only " + std::to_string(n) + " bytes");
    }
    answer["elapsed_us"] = elapsed_us;
    return answer;
}

json list_directory(const std::string& path) {
    std::error_code error;
    std::filesystem::directory_iterator entries(path, error);
    std::vector<std::string> names;
    // Explicit increments: an entry may vanish under the iteration, which must not throw.
    for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
        names.push_back(entries->path().filename().string());
    }
    if (error) {
        return errno_failure(path, error.value());
    }
    std::sort(names.begin(), names.end());
    return success({{"names", std::move(names)}});
}

std::vector<std::string> split_kmemleak(std::string_view text) {
    constexpr std::string_view heading = "unreferenced object";
    std::vector<std::string> reports;
    std::size_t start = text.find(heading);
    while (start != std::string_view::npos) {
        const std::size_t next = text.find(heading, start + heading.size());
        reports.emplace_back(text.substr(start, next - start));
        start = next;
    }
    return reports;
}

json kmemleak(const std::filesystem::path& root) {
    constexpr std::size_t report_limit = 128u << 10;
    const std::string path = root / "sys/kernel/debug/kmemleak";
    // Twice: the first scan only notes the checksum of an object it finds white, the second reports
    // it (mm/kmemleak.c). Objects younger than 5 s are never reported: whoever asks lets the guest
    // settle first. What was allocated last from a cache is missed too: SLUB's per-CPU sheaves keep
    // stale pointers to it, which kmemleak takes for references.
    for (int scan = 0; scan < 2; ++scan) {
        json answer = write_file(path, "scan");
        if (!answer["ok"].get<bool>()) {
            return answer;
        }
    }
    json answer = read_file(path, report_limit);
    if (!answer["ok"].get<bool>()) {
        return answer;
    }
    const auto& text = answer["data"].get_ref<const std::string&>();
    const auto reports = split_kmemleak(text);
    const bool cut = text.size() == report_limit;
    if (!reports.empty()) {
        json cleared = write_file(path, "clear");  // so that each leak is told once
        if (!cleared["ok"].get<bool>()) {
            return cleared;
        }
    }
    return success({{"reports", reports}, {"cut", cut}});
}

}  // namespace hp::agent
