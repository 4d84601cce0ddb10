// SPDX-License-Identifier: GPL-2.0
// Purpose: gpupoold, which keeps the books of a machine's GPUs. It may end at any moment; VMs and
// boards stay, and the next one goes on with them.
// Thread: main is the loop.
#include <signal.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

#include "gpupool/daemon/keeper.h"
#include "gpupool/daemon/server.h"
#include "gpupool/driver/fake_driver.h"
#include "gpupool/driver/qemu_driver.h"
#include "gpupool/ledger/ledger.h"
#include "lib/event_loop.h"
#include "lib/log.h"

namespace {

namespace fs = std::filesystem;

struct Options {
    std::string state = "/var/lib/gpupool";
    std::string run = "/run/gpupool";
    std::string socket;
    std::string driver = "qemu";
    std::string metrics;
    std::string map;
    std::string log = "info";
};

void declare(CLI::App& app, Options& options) {
    app.add_option("--state", options.state, "folder of the ledger, which has to last")
        ->capture_default_str();
    app.add_option("--run", options.run, "folder of what ends with the machine: sockets, logs")
        ->capture_default_str();
    app.add_option("--socket", options.socket, "for gpupool; else RUN/socket");
    app.add_option("--driver", options.driver,
                   "qemu: emulated boards, and QEMU's VMs; fake: files stand for both")
        ->check(CLI::IsMember({"qemu", "fake"}))
        ->capture_default_str();
    app.add_option("--metrics", options.metrics, "keep this file in Prometheus's text format");
    app.add_option("--map", options.map, "keep this file as a page of VMs, slots and GPUs");
    app.add_option("--log", options.log, "trace, debug, info, warning, error or off")
        ->capture_default_str();
}

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
    auto driver = gpupool::QemuDriver::make(options.run);
    if (!driver) {
        throw std::runtime_error(driver.error().message);
    }
    return std::move(*driver);
}

void run(const Options& options) {
    make_folder(options.state);
    make_folder(options.run);
    hp::EventLoop loop;
    const auto signals = loop.on_signals({SIGTERM, SIGINT}, [&](int) { loop.stop(); });
    auto ledger = gpupool::Ledger::open(fs::path(options.state) / "ledger");
    if (!ledger) {
        throw std::runtime_error(ledger.error().message);
    }
    gpupool::Keeper keeper(loop, std::move(*ledger), make_driver(options), boot_id());
    const std::string socket =
        options.socket.empty() ? (fs::path(options.run) / "socket").string() : options.socket;
    const gpupool::Server server(
        loop, keeper, {.socket = socket, .metrics = options.metrics, .map = options.map});
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
