// SPDX-License-Identifier: GPL-2.0
// Purpose: gpupoold, which keeps the books of a machine's GPUs. It may end at any moment; VMs and
// boards stay, and the next one goes on with them.
// Thread: main is the loop.
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "gpupool/daemon/configuration.h"
#include "gpupool/daemon/keeper.h"
#include "gpupool/daemon/server.h"
#include "gpupool/driver/fake_driver.h"
#include "gpupool/driver/qemu_driver.h"
#include "gpupool/ledger/ledger.h"
#include "lib/event_loop.h"
#include "lib/log.h"

namespace {

namespace fs = std::filesystem;

constexpr const char* default_configuration = "/etc/gpupool.json";

struct Options {
    std::string configuration;
    std::string state = "/var/lib/gpupool";
    std::string run = "/run/gpupool";
    std::string socket;
    std::string driver = "qemu";
    std::string toolroot;
    std::string metrics;
    std::string map;
    std::string log = "info";
    uint64_t die_at = 0;
};

void declare(CLI::App& app, Options& options) {
    app.add_option("--config", options.configuration,
                   "file of pools, GPUs and VMs; default: /etc/gpupool.json if it exists");
    app.add_option("--state", options.state, "folder of the ledger, kept across reboots")
        ->capture_default_str();
    app.add_option("--run", options.run, "folder of sockets and logs, lost at a reboot")
        ->capture_default_str();
    app.add_option("--socket", options.socket, "socket for gpupool; default: RUN/socket");
    app.add_option("--driver", options.driver,
                   "qemu: emulated boards and QEMU VMs; fake: files in their place")
        ->check(CLI::IsMember({"qemu", "fake"}))
        ->capture_default_str();
    app.add_option("--toolroot", options.toolroot,
                   "Debian root with a QEMU to use instead of the host's");
    app.add_option("--metrics", options.metrics, "maintain this file in Prometheus's text format");
    app.add_option("--map", options.map, "maintain this page of VMs, slots and GPUs");
    app.add_option("--log", options.log, "trace, debug, info, warning, error or off")
        ->capture_default_str();
    app.add_option(
        "--die-at", options.die_at,
        "for tests: SIGKILL itself the N-th time that a commit or a step begins or ends");
}

/// Counts how often the process could have ended at a bad moment, and ends it the N-th time.
class Fate {
public:
    explicit Fate(uint64_t die_at) : left_(die_at) {}
    void operator()() {
        if (left_ != 0 && left_.fetch_sub(1) == 1) {
            ::raise(SIGKILL);
        }
    }

private:
    std::atomic<uint64_t> left_;  // 0: never
};

void make_folder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) {
        throw std::runtime_error(folder.string() + " cannot be made: " + error.message() +
                                 "; see --state and --run");
    }
}

std::string boot_id() {
    std::string id;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), id);
    if (id.empty()) {
        throw std::runtime_error("/proc/sys/kernel/random/boot_id cannot be read");
    }
    return id;
}

std::unique_ptr<gpupool::Driver> make_driver(const Options& options) {
    if (options.driver == "fake") {
        return std::make_unique<gpupool::FakeDriver>(fs::path(options.run) / "fake");
    }
    auto driver = gpupool::QemuDriver::make(
        options.run,
        options.toolroot.empty() ? std::nullopt : std::optional<fs::path>(options.toolroot));
    if (!driver) {
        throw std::runtime_error(driver.error().message);
    }
    return std::move(*driver);
}

/// The file that was named, or the usual one where there is one.
std::optional<gpupool::Configuration> configuration(const Options& options) {
    std::error_code error;
    if (options.configuration.empty() && !fs::exists(default_configuration, error)) {
        return std::nullopt;
    }
    auto read = gpupool::read_configuration(options.configuration.empty() ? default_configuration
                                                                          : options.configuration);
    if (!read) {
        throw std::runtime_error(read.error().message);
    }
    return std::move(*read);
}

/// As whom its alert agents run; nothing where it is not installed.
std::optional<uid_t> user_of_pacemaker() {
    const passwd* const user = ::getpwnam("hacluster");
    return user == nullptr ? std::nullopt : std::optional(user->pw_uid);
}

void apply(const gpupool::Configuration& wanted, gpupool::Keeper& keeper) {
    gpupool::Books books = keeper.draft();
    if (auto done = gpupool::apply(wanted, keeper.driver(), books); !done) {
        throw std::runtime_error("the configuration: " + done.error().message);
    }
    if (auto written = keeper.commit(std::move(books)); !written) {
        throw std::runtime_error(written.error().message);
    }
}

void run(const Options& options) {
    const auto wanted = configuration(options);
    make_folder(options.state);
    make_folder(options.run);
    hp::EventLoop loop;
    const auto signals = loop.on_signals({SIGTERM, SIGINT}, [&](int) { loop.stop(); });
    auto ledger = gpupool::Ledger::open(fs::path(options.state) / "ledger");
    if (!ledger) {
        throw std::runtime_error(ledger.error().message);
    }
    Fate fate(options.die_at);
    gpupool::Keeper keeper(loop, std::move(*ledger), make_driver(options), boot_id(),
                           std::ref(fate));
    if (wanted) {
        apply(*wanted, keeper);
    }
    const std::string socket =
        options.socket.empty() ? (fs::path(options.run) / "socket").string() : options.socket;
    const gpupool::Server server(
        loop, keeper,
        {.socket = socket,
         .metrics = options.metrics,
         .map = options.map,
         .clustered = wanted && wanted->clustered,
         .cluster_user = wanted && wanted->clustered ? user_of_pacemaker() : std::nullopt});
    hp::log::info("ready", {{"socket", socket}});
    loop.run();
    hp::log::info("ends; VMs and boards stay");
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Leases GPUs to VMs by hot-plug", "gpupoold");
    declare(app, options);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 1;
    }
    try {
        ::signal(SIGPIPE, SIG_IGN);
        hp::log::set_up("gpupoold", options.log);
        run(options);
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "gpupoold: " << error.what() << "\n";
        return 1;
    }
}
