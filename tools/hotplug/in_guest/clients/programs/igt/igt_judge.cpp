// SPDX-License-Identifier: GPL-2.0
// Purpose: igt_judge, which runs tests of IGT (igt-gpu-tools) by igt_runner, each in a process of
// its own, and prints what came of them in KTAP, for a scenario's step `shell`. igt_verdict.h says
// what counts. IGT does not see the nodes of a GPU's partitions. Exit status: 0 no test failed, 1
// one did, 2 IGT could not be run.
// Thread: one. Not modelled: IGT's own choice of tests; the scenario names them.
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "hotplug/in_guest/clients/drm_device.h"
#include "hotplug/in_guest/clients/igt_verdict.h"
#include "hotplug/in_guest/clients/program.h"
#include "lib/fd.h"

namespace hp::clients {
namespace {

const Description self{
    .name = "igt_judge",
    .purpose = "Runs tests of IGT and prints their results as KTAP",
    .needs = {"image part igt"},
};

constexpr const char* test_root = "/usr/libexec/igt-gpu-tools";
constexpr const char* test_list = "/tmp/igt-tests";
constexpr const char* results = "/tmp/igt-results";
constexpr const char* dri = "/dev/dri";
constexpr int status_failed = 1;
constexpr int status_not_run = 2;

struct Options {
    std::string node;
    std::string device;
    unsigned timeout_s = 120;
    std::vector<std::string> requests;
};

int not_run(const std::string& why) {
    std::fprintf(stderr, "igt_judge: %s\n", why.c_str());
    return status_not_run;
}

IoResult<bool> has_gfx_ring(const std::string& node) {
    auto device = DrmDevice::open(node);
    if (!device) {
        return tl::unexpected(device.error());
    }
    return device->ring_count(abi::AMDGPU_HW_IP_GFX).map([](unsigned count) { return count > 0; });
}

unsigned long memory_mib() {
    constexpr int mib_shift = 20;
    const auto pages = static_cast<unsigned long>(::sysconf(_SC_PHYS_PAGES));
    return (pages * static_cast<unsigned long>(::sysconf(_SC_PAGESIZE))) >> mib_shift;
}

/// What there is of the kernel's log, record by record.
std::vector<std::string> kernel_records() {
    const Fd log(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    std::vector<std::string> records;
    std::array<char, 8192> buffer{};
    while (log) {
        const ssize_t size = ::read(log.get(), buffer.data(), buffer.size());
        if (size > 0) {
            records.emplace_back(buffer.data(), static_cast<std::size_t>(size));
        } else if (size == 0 || (errno != EPIPE && errno != EINTR)) {  // EPIPE: some were lost
            break;
        }
    }
    return records;
}

/// IGT's tests of amdgpu look at the first four DRM devices that they find, for one on the PCI bus.
/// A GPU with partitions has eight, of which all but one are on the platform bus. From here on
/// those are /dev/null, for this process and what it starts. 0 or an error number.
int hide_partitions() {
    namespace fs = std::filesystem;
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
        return errno;
    }
    for (const auto& entry : fs::directory_iterator(dri)) {
        const fs::path bus = "/sys/class/drm" / entry.path().filename() / "device/subsystem";
        std::error_code no_device;
        if (fs::read_symlink(bus, no_device).filename() == "platform" &&
            ::mount("/dev/null", entry.path().c_str(), nullptr, MS_BIND, nullptr) != 0) {
            return errno;
        }
    }
    return 0;
}

/// Its standard output is not KTAP, and becomes standard error. Its status tells nothing that its
/// results do not.
int run_igt_runner(unsigned timeout_s) {
    const std::string timeout = std::to_string(timeout_s);
    const char* const argv[] = {"igt_runner",
                                "--overwrite",
                                "--log-level",
                                "quiet",
                                "--abort-on-monitored-error=taint,lockdep",
                                "--per-test-timeout",
                                timeout.c_str(),
                                "--test-list",
                                test_list,
                                test_root,
                                results,
                                nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    pid_t child = -1;
    const int error =
        ::posix_spawnp(&child, argv[0], &actions, nullptr, const_cast<char* const*>(argv), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        return error;
    }
    while (::waitpid(child, nullptr, 0) < 0) {
        if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

int run(const Options& options) {
    std::vector<IgtRequest> requests;
    for (const std::string& text : options.requests) {
        auto request = parse_igt_request(text);
        if (!request) {
            return not_run(request.error());
        }
        requests.push_back(std::move(*request));
    }
    const auto gfx = has_gfx_ring(options.node);
    if (!gfx) {
        return not_run(options.node + ": " + gfx.error().op + ": " +
                       std::strerror(gfx.error().error));
    }
    const IgtMachine machine{*gfx, memory_mib()};
    const MessageShapes usual = boot_warnings(kernel_records());
    nlohmann::json said = nlohmann::json::object();
    if (const std::string list = igt_test_list(requests, machine); !list.empty()) {
        std::ofstream out(test_list);
        if (!(out << list).flush()) {
            return not_run(std::string(test_list) + ": cannot write");
        }
        if (!options.device.empty()) {
            ::setenv("IGT_DEVICE", ("pci:slot=" + options.device).c_str(), 1);
        }
        const std::string file = std::string(results) + "/results.json";
        // Those of an earlier run are not this one's.
        if (::unlink(file.c_str()) != 0 && errno != ENOENT) {
            return not_run(file + ": " + std::strerror(errno));
        }
        if (const int error = hide_partitions(); error != 0) {
            return not_run(std::string(dri) + ": " + std::strerror(error));
        }
        if (const int error = run_igt_runner(options.timeout_s); error != 0) {
            return not_run(std::string("igt_runner: ") + std::strerror(error));
        }
        std::ifstream in(file);
        said = nlohmann::json::parse(in, nullptr, false);
        if (said.is_discarded()) {
            return not_run(file + ": igt_runner left no results there");
        }
    }
    const auto verdicts = judge_igt(said, requests, machine, usual);
    std::fputs(format_ktap(verdicts).c_str(), stdout);
    const bool failed = std::any_of(verdicts.begin(), verdicts.end(), [](const IgtVerdict& one) {
        return one.outcome == IgtVerdict::Outcome::fail;
    });
    return failed ? status_failed : 0;
}

}  // namespace
}  // namespace hp::clients

int main(int argc, char** argv) {
    hp::clients::Program program(hp::clients::self);
    hp::clients::Options options;
    program.add_node(options.node);
    program
        .add_option(
            "requests", options.requests, "TEST",
            "BINARY@SUBTEST[|gfx|blind-gfx|memory=MIB|may-skip=TEXT|never=TEXT|shows=TEXT]...")
        .required();
    program.add_option("--device", options.device, "BDF",
                       "PCI address of the GPU that IGT shall take; else it takes any");
    program.add_option("--timeout", options.timeout_s, "s", "seconds that a test may take");
    if (const auto status = program.parse(argc, argv)) {
        return *status;
    }
    try {
        return hp::clients::run(options);
    } catch (const std::exception& error) {
        return hp::clients::not_run(error.what());
    }
}
