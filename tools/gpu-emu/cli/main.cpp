// SPDX-License-Identifier: GPL-2.0
// Purpose: amdgpu-emu, an emulated AMD GPU as a vfio-user device on a UNIX socket: reads the
// command line, makes the board, runs the device loop. Thread: main is the device loop.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <exception>
#include <iostream>
#include <stdexcept>

#include "gpu-emu/board/board.h"
#include "gpu-emu/cli/emulator_options.h"
#include "gpu-emu/profiles/profile.h"
#include "lib/event_loop.h"
#include "lib/log.h"

namespace {

/// The kernel ends us with the parent; a parent that was faster than this call has given us another
/// one already.
void die_with_parent(pid_t parent) {
    if (::prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || ::getppid() != parent) {
        throw std::runtime_error("the parent process is gone");
    }
}

void list_profiles() {
    for (const gpuemu::Profile* profile : gpuemu::all_profiles()) {
        std::cout << profile->name << "\t" << profile->description << "\n";
    }
}

void list_opposites() {
    for (const gpuemu::OppositeInfo& opposite : gpuemu::all_opposites()) {
        std::cout << opposite.name << "\t" << opposite.description << "\n";
    }
}

void run(const gpuemu::EmulatorOptions& options) {
    hp::EventLoop loop;
    const auto signals = loop.on_signals({SIGTERM, SIGINT}, [&](int) { loop.stop(); });
    loop.set_spin(std::chrono::microseconds(options.spin_us));
    const gpuemu::Board board(loop, gpuemu::board_options(options));
    hp::log::info("ready", {{"profile", options.profile}, {"socket", options.socket}});
    loop.run();
    hp::log::info("shut down");
}

}  // namespace

int main(int argc, char** argv) {
    const pid_t parent = ::getppid();
    gpuemu::EmulatorOptions options;
    CLI::App app("Emulated AMD GPU for QEMU's vfio-user-pci", "amdgpu-emu");
    gpuemu::declare(app, options);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 1;
    }
    try {
        if (options.list_profiles) {
            list_profiles();
            return 0;
        }
        if (options.list_opposites) {
            list_opposites();
            return 0;
        }
        hp::log::set_up("amdgpu-emu", options.log);
        if (options.die_with_parent) {
            die_with_parent(parent);
        }
        run(options);
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "amdgpu-emu: " << error.what() << "\n";
        return 1;
    }
}
