// SPDX-License-Identifier: GPL-2.0
// Purpose: see fake_driver.h.
// Thread: see fake_driver.h.
#include "gpupool/driver/fake_driver.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "lib/fd.h"

namespace gpupool {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int look_for_stop_ms = 100;

fs::path board_file(const fs::path& folder, uint64_t serial) {
    return folder / "boards" / fmt::format("{:016x}", serial);
}

/// Whole or not at all: whoever looks sees the old text or the new one.
void write_file(const fs::path& file, const json& value) {
    const fs::path fresh = file.parent_path().parent_path() / ("." + file.filename().string());
    std::ofstream(fresh) << value.dump();
    fs::rename(fresh, file);
}

std::optional<json> read_file(const fs::path& file) {
    std::ifstream stream(file);
    if (!stream) {
        return std::nullopt;
    }
    return json::parse(stream);
}

tl::unexpected<StepFailure> failed(Blame blame, std::string message) {
    return tl::unexpected<StepFailure>(StepFailure{blame, std::move(message)});
}

}  // namespace

void FakeDriver::begin(const Books& books, Watcher watcher) {
    fs::create_directories(folder_ / "boards");
    fs::create_directories(folder_ / "vms");
    watcher_ = std::move(watcher);
    for (const auto& [name, vm] : books.vms) {
        if (vm.state == VmState::running) {
            known_.vms.emplace(name, vm.incarnation);
        }
    }
    for (const auto& [name, gpu] : books.gpus) {
        if (is_held(gpu.state) || gpu.state == GpuState::free) {
            known_.boards.emplace(gpu.serial, Inventory::Board{.epoch = gpu.epoch, .vm = {}});
        }
    }
    thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

void FakeDriver::watch(const std::stop_token& stop) {
    const hp::Fd changes(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    for (const char* part : {"boards", "vms"}) {
        ::inotify_add_watch(changes.get(), (folder_ / part).c_str(), IN_DELETE);
    }
    compare();
    while (!stop.stop_requested()) {
        pollfd changed{changes.get(), POLLIN, 0};
        if (::poll(&changed, 1, look_for_stop_ms) > 0) {
            std::array<char, 4096> events;
            while (::read(changes.get(), events.data(), events.size()) > 0) {
            }
            compare();
        }
    }
}

/// Tells of what was there, and is not.
void FakeDriver::compare() {
    Inventory gone;
    {
        const std::lock_guard lock(mutex_);
        std::erase_if(known_.boards, [&](const auto& entry) {
            const bool missing = !fs::exists(board_file(folder_, entry.first));
            if (missing) {
                gone.boards.insert(entry);
            }
            return missing;
        });
        std::erase_if(known_.vms, [&](const auto& entry) {
            const bool missing = !fs::exists(folder_ / "vms" / entry.first);
            if (missing) {
                gone.vms.insert(entry);
            }
            return missing;
        });
        for (const auto& [name, incarnation] : gone.vms) {
            forget_vm(name);
        }
    }
    for (const auto& [name, incarnation] : gone.vms) {
        watcher_.vm_ended(name, incarnation, "its file is gone");
    }
    for (const auto& [serial, board] : gone.boards) {
        watcher_.board_failed(serial, board.epoch, "its file is gone");
    }
}

/// Boards that were in it are in none.
void FakeDriver::forget_vm(const std::string& name) {
    for (const auto& entry : fs::directory_iterator(folder_ / "boards")) {
        auto board = read_file(entry.path());
        if (board && board->at("vm") == name) {
            (*board)["vm"] = "";
            write_file(entry.path(), *board);
        }
    }
}

hp::Result<void> FakeDriver::check_definition(const std::string& definition) const {
    if (!json::accept(definition)) {
        return hp::fail("a definition is a JSON value");
    }
    return {};
}

/// Files are of any kind.
hp::Result<void> FakeDriver::check_profile(const std::string& /*profile*/) const {
    return {};
}

tl::expected<std::string, StepFailure> FakeDriver::carry_out(const Step& step) {
    const std::lock_guard lock(mutex_);
    const fs::path file = board_file(folder_, step.serial);
    const fs::path vm_file = folder_ / "vms" / step.vm;
    switch (step.kind) {
        case StepKind::scrub:
            write_file(file, {{"epoch", step.epoch}, {"vm", ""}, {"slot", 0}});
            known_.boards[step.serial] = {.epoch = step.epoch, .vm = {}};
            break;
        case StepKind::attach: {
            const auto board = read_file(file);
            if (!board || board->at("epoch") != step.epoch) {
                return failed(Blame::board, "it has no power");
            }
            const auto vm = read_file(vm_file);
            if (!vm || vm->at("incarnation") != step.incarnation) {
                return failed(Blame::vm, "the vm is gone");
            }
            write_file(file, {{"epoch", step.epoch},
                              {"vm", step.vm},
                              {"incarnation", step.incarnation},
                              {"slot", step.slot}});
            break;
        }
        case StepKind::detach: {
            // A board of a later epoch is somebody else's already.
            auto board = read_file(file);
            if (!board) {
                return failed(Blame::board, "it has no power");
            }
            if (board->at("epoch") == step.epoch) {
                (*board)["vm"] = "";
                write_file(file, *board);
            }
            break;
        }
        case StepKind::pull: {
            known_.boards.erase(step.serial);
            std::error_code absent;
            fs::remove(file, absent);
            break;
        }
        case StepKind::start_vm:
            if (const auto definition = json::parse(step.definition);
                definition.is_object() && definition.contains("fails")) {
                return failed(Blame::board, definition.at("fails").dump());
            }
            write_file(vm_file, {{"incarnation", step.incarnation}});
            known_.vms[step.vm] = step.incarnation;
            break;
        case StepKind::stop_vm: {
            known_.vms.erase(step.vm);
            std::error_code absent;
            fs::remove(vm_file, absent);
            forget_vm(step.vm);
            break;
        }
    }
    return "";
}

hp::Result<Inventory> FakeDriver::look() {
    const std::lock_guard lock(mutex_);
    Inventory found;
    for (const auto& entry : fs::directory_iterator(folder_ / "vms")) {
        if (const auto vm = read_file(entry.path())) {
            found.vms.emplace(entry.path().filename(), vm->at("incarnation").get<uint64_t>());
        }
    }
    for (const auto& entry : fs::directory_iterator(folder_ / "boards")) {
        const std::string name = entry.path().filename();
        uint64_t serial = 0;
        std::from_chars(name.data(), name.data() + name.size(), serial, 16);
        if (const auto board = read_file(entry.path())) {
            found.boards.emplace(serial,
                                 Inventory::Board{.epoch = board->at("epoch").get<uint64_t>(),
                                                  .vm = board->at("vm").get<std::string>(),
                                                  .slot = board->at("slot").get<unsigned>()});
        }
    }
    return found;
}

}  // namespace gpupool
