// SPDX-License-Identifier: GPL-2.0
// Purpose: see kvm_probe.h.
// Thread: see kvm_probe.h.
#include "hotplug/machine/kvm_probe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>

#include "hotplug/base/deadline.h"
#include "hotplug/machine/host_memory.h"

namespace hotplug {

namespace {

namespace fs = std::filesystem;

// TCG needs 5 to 10 seconds on an idle host, and KVM is there to be faster.
constexpr std::chrono::seconds boot_deadline{10};
// Under KVM a kernel says its name within a second.
constexpr std::chrono::seconds console_deadline{4};
constexpr std::string_view of_use = "of use";

std::string first_line(const fs::path& file) {
    std::string line;
    std::getline(std::ifstream(file), line);
    return line;
}

/// A folder where scripts/lib.sh has the cache, too.
fs::path memory_folder() {
    const char* cache = std::getenv("XDG_CACHE_HOME");
    const char* home = std::getenv("HOME");
    const fs::path folder =
        cache && *cache ? fs::path(cache) : fs::path(home ? home : "") / ".cache";
    return folder / "amdgpu-hotplug/kvm";
}

}  // namespace

KvmMemory::KvmMemory(fs::path file, std::string subject)
    : file_(std::move(file)), subject_(std::move(subject)) {}

hp::Result<void> KvmMemory::recall_or(const std::function<hp::Result<void>()>& ask) const {
    std::ifstream in(file_);
    std::string subject, answer;
    if (std::getline(in, subject) && std::getline(in, answer) && subject == subject_) {
        return answer == of_use ? hp::Result<void>() : hp::fail(answer);
    }
    hp::Result<void> asked = ask();
    if (Deadline::interrupted()) {
        return asked;  // nobody knows what the answer would have been
    }
    answer = asked ? of_use : asked.error().message;
    std::replace(answer.begin(), answer.end(), '\n', ' ');
    std::error_code error;
    fs::create_directories(file_.parent_path(), error);
    // Whole or not at all, whoever else asks.
    const fs::path fresh = fmt::format("{}.{}", file_.string(), ::getpid());
    if (std::ofstream(fresh) << subject_ << '\n' << answer << '\n') {
        fs::rename(fresh, file_, error);
    }
    fs::remove(fresh, error);
    return asked;
}

hp::Result<void> kvm_is_of_use(MachineConfig config) {
    if (::access("/dev/kvm", R_OK | W_OK) != 0) {
        return hp::fail("/dev/kvm cannot be opened");
    }
    if (auto fits = check_memory(config); !fits) {
        return fits;  // of this moment: nothing to remember
    }
    const std::string subject = fmt::format("{} {}", first_line("/proc/sys/kernel/random/boot_id"),
                                            fmt::join(config.qemu.command.argv, " "));
    const fs::path folder = memory_folder();
    return KvmMemory(folder / "answer", subject).recall_or([&]() -> hp::Result<void> {
        config.accelerator = Accelerator::kvm;
        config.slots.clear();
        config.behind_switch = false;
        config.load_driver = false;
        config.boot_deadline = boot_deadline;
        config.console_deadline = console_deadline;
        config.extra_cmdline += " ignore_loglevel";
        config.log_dir = folder;  // the answer names its files
        return Machine::start(std::move(config)).map([](const auto&) {});
    });
}

}  // namespace hotplug
