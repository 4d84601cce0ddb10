// SPDX-License-Identifier: GPL-2.0
// Purpose: see emulated_board.h.
// Thread: see emulated_board.h.
#include "gpupool/driver/emulated_board.h"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

#include "hotplug/base/detached_process.h"
#include "hotplug/base/log_tail.h"

namespace gpupool {

namespace {

namespace fs = std::filesystem;
using hotplug::Deadline;

constexpr std::chrono::seconds start_deadline{20};
constexpr std::chrono::seconds end_grace{5};
constexpr const char* lock_suffix = ".lock";

fs::path lock_of(const EmulatedBoard::Environment& environment, BoardId id) {
    return environment.folder / (id.name() + lock_suffix);
}

fs::path log_of(const EmulatedBoard::Environment& environment, BoardId id) {
    return environment.folder / (id.name() + ".log");
}

hotplug::EmulatorSpec spec_of(const EmulatedBoard::Environment& environment, BoardId id) {
    hotplug::EmulatorSpec spec;
    spec.name = id.name();
    spec.program = environment.emulator;
    spec.socket_dir = environment.folder;
    spec.log_dir = environment.folder;
    spec.gpu.trace = false;
    spec.gpu.serial = id.serial;
    spec.die_with_parent = false;
    return spec;
}

template <typename Number>
bool read_number(std::string_view text, int base, Number& number) {
    const auto [stop, error] =
        std::from_chars(text.data(), text.data() + text.size(), number, base);
    return error == std::errc() && stop == text.data() + text.size();
}

}  // namespace

std::string BoardId::name() const {
    return fmt::format("gp-{:X}-{}", serial, epoch);
}

std::optional<BoardId> BoardId::parse(const std::string& name) {
    const std::string_view text(name);
    const size_t dash = text.rfind('-');
    BoardId id;
    if (!text.starts_with("gp-") || dash < 3 || dash == std::string_view::npos ||
        !read_number(text.substr(3, dash - 3), 16, id.serial) ||
        !read_number(text.substr(dash + 1), 10, id.epoch) || id.name() != name) {
        return std::nullopt;
    }
    return id;
}

hp::Result<std::unique_ptr<EmulatedBoard>> EmulatedBoard::power_on(const Environment& environment,
                                                                   BoardId id,
                                                                   const std::string& profile,
                                                                   uint64_t vram_mib) {
    hotplug::EmulatorSpec spec = spec_of(environment, id);
    spec.gpu.profile = profile;
    if (vram_mib != 0) {
        spec.gpu.vram_mib = vram_mib;
    }
    const auto started = hotplug::start_detached(hotplug::emulator_command(spec),
                                                 log_of(environment, id), lock_of(environment, id));
    if (!started) {
        return tl::unexpected(started.error());
    }
    auto board = find(environment, id);
    if (board && !*board) {
        return hp::fail(fmt::format("the emulator {} ended: {} (see {})", id.name(),
                                    hotplug::last_line(log_of(environment, id)),
                                    log_of(environment, id).string()));
    }
    return board;
}

hp::Result<std::unique_ptr<EmulatedBoard>> EmulatedBoard::find(const Environment& environment,
                                                               BoardId id) {
    const hotplug::EmulatorSpec spec = spec_of(environment, id);
    const Deadline deadline = Deadline::after(start_deadline);
    // Short turns: one that ended is noticed before the deadline.
    while (hotplug::detached_process(lock_of(environment, id))) {
        auto control = hotplug::EmulatorClient::connect(
            hotplug::emulator_control_socket(spec), "the emulator " + id.name(),
            deadline.within(std::chrono::milliseconds(200)));
        if (!control) {
            if (deadline.expired()) {
                return tl::unexpected(control.error());
            }
            continue;
        }
        auto status = (*control)->status();
        if (!status) {
            return tl::unexpected(status.error());
        }
        std::unique_ptr<EmulatedBoard> board(
            new EmulatedBoard(id, hotplug::emulator_device_socket(spec), std::move(*control)));
        board->absent_ = status->state != "present";
        return board;
    }
    return std::unique_ptr<EmulatedBoard>();
}

std::vector<BoardId> EmulatedBoard::all(const Environment& environment) {
    std::vector<BoardId> found;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(environment.folder, none)) {
        const auto id = BoardId::parse(entry.path().stem().string());
        if (entry.path().extension() == lock_suffix && id &&
            hotplug::detached_process(entry.path())) {
            found.push_back(*id);
        }
    }
    return found;
}

hp::Result<void> EmulatedBoard::go_dark(const Environment& environment, BoardId id) {
    return hotplug::EmulatorClient::connect(
               hotplug::emulator_control_socket(spec_of(environment, id)),
               "the emulator " + id.name(), Deadline::after(end_grace))
        .and_then([](const auto& control) { return control->vanish(); });
}

hp::Result<void> EmulatedBoard::power_off(const Environment& environment, BoardId id) {
    const fs::path lock = lock_of(environment, id);
    if (hotplug::detached_process(lock)) {
        auto control = hotplug::EmulatorClient::connect(
            hotplug::emulator_control_socket(spec_of(environment, id)), "the emulator " + id.name(),
            Deadline::after(end_grace));
        if (control) {
            // Refused or not, the process's end is what counts.
            (void)(*control)->shutdown();
            hotplug::wait_for_end(lock, Deadline::after(end_grace));
        }
        if (auto ended = hotplug::end_detached(lock, end_grace); !ended) {
            return ended;
        }
    }
    std::error_code ignored;  // a file that stays names a process that is not there
    fs::remove(lock, ignored);
    return {};
}

fs::path EmulatedBoard::vfio_user_socket() const {
    return socket_;
}

std::optional<std::string> EmulatedBoard::failure() const {
    if (!control_->connected()) {
        return "its emulator has ended";
    }
    if (absent_ || control_->event_count("vanished") > 0) {
        return "it does not answer any more";
    }
    return std::nullopt;
}

}  // namespace gpupool
