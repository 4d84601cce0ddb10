// SPDX-License-Identifier: GPL-2.0
// Purpose: see fake_driver.h.
// Thread: see fake_driver.h.
#include "gpupool/driver/fake_driver.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <vector>

#include "gpupool/driver/qemu_vm.h"
#include "hotplug/base/detached_process.h"
#include "lib/fd.h"

namespace gpupool {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int look_for_stop_ms = 100;
constexpr std::chrono::seconds end_grace{5};

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

fs::path lock_of(const fs::path& folder, const std::string& vm, uint64_t incarnation) {
    return folder / "processes" / QemuVm::Id{vm, incarnation}.folder_name() / "lock";
}

/// What the VM is to run beside its file; nothing: the file is all.
std::optional<std::vector<std::string>> program_of(const json& definition) {
    if (!definition.is_object() || !definition.contains("run")) {
        return std::nullopt;
    }
    return definition.at("run").get<std::vector<std::string>>();
}

tl::unexpected<StepFailure> failed(Blame blame, std::string message) {
    return tl::unexpected<StepFailure>(StepFailure{blame, std::move(message)});
}

}  // namespace

void FakeDriver::begin(const Books& books, Watcher watcher) {
    fs::create_directories(folder_ / "boards");
    fs::create_directories(folder_ / "vms");
    fs::create_directories(folder_ / "processes");
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
        }
        compare();  // the end of a process changes no folder
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
            const bool missing = !runs(entry.first, entry.second);
            if (missing) {
                gone.vms.insert(entry);
            }
            return missing;
        });
        for (const auto& [name, incarnation] : gone.vms) {
            std::error_code absent;
            fs::remove(folder_ / "vms" / name, absent);
            (void)end_process(name);  // one that stays is seen by whoever starts it again
            forget_vm(name);
        }
    }
    for (const auto& [name, incarnation] : gone.vms) {
        watcher_.vm_ended(name, incarnation, "its file or process is gone");
    }
    for (const auto& [serial, board] : gone.boards) {
        watcher_.board_failed(serial, board.epoch, "its file is gone");
    }
}

bool FakeDriver::runs(const std::string& name, uint64_t incarnation) const {
    const auto vm = read_file(folder_ / "vms" / name);
    return vm && (!vm->value("process", false) ||
                  hotplug::detached_process(lock_of(folder_, name, incarnation)));
}

hp::Result<void> FakeDriver::start_process(const Step& step) const {
    const auto program = program_of(json::parse(step.definition));
    if (!program) {
        return {};
    }
    const fs::path lock = lock_of(folder_, step.vm, step.incarnation);
    fs::create_directories(lock.parent_path());
    return hotplug::start_detached({.argv = *program, .environment = {}},
                                   lock.parent_path() / "log", lock);
}

/// In whatever incarnation.
hp::Result<void> FakeDriver::end_process(const std::string& name) const {
    for (const QemuVm::Id& id : QemuVm::all(folder_ / "processes")) {
        if (id.name == name) {
            if (auto ended =
                    hotplug::end_detached(lock_of(folder_, name, id.incarnation), end_grace);
                !ended) {
                return ended;
            }
        }
    }
    return {};
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
    const json value = json::parse(definition, nullptr, false);
    if (value.is_discarded()) {
        return hp::fail("a definition is a JSON value");
    }
    if (value.is_object() && value.contains("run")) {
        const json& run = value.at("run");
        const bool fits =
            run.is_array() && !run.empty() && std::ranges::all_of(run, [](const json& word) {
                return word.is_string() && !word.get<std::string>().empty();
            });
        if (!fits) {
            return hp::fail("'run' is a program and its arguments");
        }
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
            if (auto started = start_process(step); !started) {
                return failed(Blame::board, started.error().message);
            }
            write_file(vm_file,
                       {{"incarnation", step.incarnation},
                        {"process", program_of(json::parse(step.definition)).has_value()}});
            known_.vms[step.vm] = step.incarnation;
            break;
        case StepKind::stop_vm: {
            known_.vms.erase(step.vm);
            if (auto ended = end_process(step.vm); !ended) {
                return failed(Blame::vm, ended.error().message);
            }
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
        const auto vm = read_file(entry.path());
        const std::string name = entry.path().filename();
        if (vm && runs(name, vm->at("incarnation").get<uint64_t>())) {
            found.vms.emplace(name, vm->at("incarnation").get<uint64_t>());
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
