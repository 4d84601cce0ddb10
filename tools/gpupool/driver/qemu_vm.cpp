// SPDX-License-Identifier: GPL-2.0
// Purpose: see qemu_vm.h.
// Thread: see qemu_vm.h.
#include "gpupool/driver/qemu_vm.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "hotplug/base/detached_process.h"
#include "hotplug/base/log_tail.h"
#include "hotplug/machine/host_memory.h"
#include "hotplug/machine/hot_add.h"
#include "hotplug/machine/qemu_arguments.h"

namespace gpupool {

namespace {

namespace fs = std::filesystem;
using hotplug::Deadline;
using nlohmann::json;

constexpr std::chrono::seconds boot_deadline{180};
constexpr std::chrono::seconds find_deadline{10};
constexpr std::chrono::seconds quit_grace{5};
constexpr std::chrono::seconds agent_deadline{30};
constexpr std::chrono::seconds slot_deadline{30};
constexpr std::chrono::seconds probe_deadline{120};
constexpr std::chrono::milliseconds look_interval{50};
constexpr const char* peripherals = "/machine/peripheral";

fs::path lock_of(const fs::path& folder, const QemuVm::Id& id) {
    return folder / id.folder_name() / "lock";
}

std::chrono::milliseconds since(Deadline::Clock::time_point start) {
    return std::chrono::round<std::chrono::milliseconds>(Deadline::Clock::now() - start);
}

tl::unexpected<StepFailure> failed(Blame blame, std::string message) {
    return tl::unexpected<StepFailure>(StepFailure{blame, std::move(message)});
}

/// A member that has to be of T's kind if it is there.
template <typename T>
T value_or(const json& object, const char* name, T otherwise) {
    const auto found = object.find(name);
    return found == object.end() ? otherwise : found->get<T>();
}

}  // namespace

hp::Result<hotplug::MachineConfig> machine_of(const std::string& definition) {
    hotplug::MachineConfig config;
    config.slots.clear();
    try {
        const json wanted = json::parse(definition);
        config.kernel = wanted.at("kernel").get<std::string>();
        config.initrd = wanted.at("initrd").get<std::string>();
        config.extra_cmdline = value_or<std::string>(wanted, "cmdline", "");
        config.memory_mib = value_or(wanted, "memory_mib", config.memory_mib);
        config.cpus = value_or(wanted, "cpus", config.cpus);
        config.accelerator =
            value_or(wanted, "kvm", false) ? hotplug::Accelerator::kvm : hotplug::Accelerator::tcg;
    } catch (const json::exception& error) {
        return hp::fail(fmt::format("the definition of the vm: {}", error.what()));
    }
    for (const auto& file : {config.kernel, config.initrd}) {
        std::error_code error;
        if (!file.is_absolute() || !fs::is_regular_file(file, error)) {
            return hp::fail(fmt::format(
                "the definition of the vm: '{}' is no file with an absolute path", file.string()));
        }
    }
    return config;
}

std::string QemuVm::Id::folder_name() const {
    return fmt::format("{}@{}", name, incarnation);
}

std::optional<QemuVm::Id> QemuVm::Id::parse(const std::string& folder_name) {
    const size_t at = folder_name.rfind('@');
    if (at == std::string::npos) {
        return std::nullopt;
    }
    Id id{.name = folder_name.substr(0, at)};
    const char* const end = folder_name.data() + folder_name.size();
    const auto [stop, error] = std::from_chars(folder_name.data() + at + 1, end, id.incarnation);
    return error == std::errc() && stop == end ? std::optional(id) : std::nullopt;
}

hp::Result<std::unique_ptr<QemuVm>> QemuVm::start(const fs::path& folder, const Id& id,
                                                  const hotplug::MachineConfig& wanted,
                                                  unsigned slots) {
    hotplug::MachineConfig config = wanted;
    config.slots.assign(slots, {.device = hotplug::SlotDevice::empty, .gpu = {}});
    config.log_dir = folder / id.folder_name();
    std::error_code error;
    fs::create_directories(config.log_dir, error);
    if (error) {
        return hp::fail(
            fmt::format("{} cannot be made: {}", config.log_dir.string(), error.message()));
    }
    const Deadline deadline = Deadline::after(boot_deadline);
    const fs::path lock = lock_of(folder, id);
    if (!hotplug::detached_process(lock)) {
        if (auto fits = hotplug::check_memory(config); !fits) {
            return tl::unexpected(fits.error());
        }
        std::vector<std::string> devices;
        for (unsigned slot = 0; slot < slots; ++slot) {
            const hotplug::GpuSlot empty(slot, config.slots.at(slot), {});
            const auto own = empty.qemu_devices(slots);
            devices.insert(devices.end(), own.begin(), own.end());
        }
        hotplug::Command command = config.qemu.command;
        const auto arguments = hotplug::qemu_arguments(config, config.log_dir, devices);
        command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
        auto started = hotplug::start_detached(command, config.log_dir / "qemu.log", lock);
        if (!started) {
            return tl::unexpected(started.error());
        }
    }
    std::unique_ptr<QemuVm> vm(new QemuVm(config.log_dir, id));
    auto up = vm->connect(slots, deadline).and_then([&]() -> hp::Result<void> {
        auto agent = hotplug::AgentClient::connect((vm->folder_ / "agent").string(), deadline);
        if (!agent) {
            return tl::unexpected(agent.error());
        }
        auto hello = (*agent)->wait_hello(deadline);
        return hello ? hp::Result<void>() : tl::unexpected(hello.error());
    });
    if (!up) {
        const std::string last = hotplug::last_line(config.log_dir / "qemu.log");
        return hp::fail(fmt::format("{}; QEMU: {}; console: {} (see {})", up.error().message,
                                    last.empty() ? "nothing" : last,
                                    hotplug::last_line(config.log_dir / "console.log"),
                                    config.log_dir.string()));
    }
    return vm;
}

hp::Result<std::unique_ptr<QemuVm>> QemuVm::find(const fs::path& folder, const Id& id,
                                                 unsigned slots) {
    if (!hotplug::detached_process(lock_of(folder, id))) {
        return std::unique_ptr<QemuVm>();
    }
    std::unique_ptr<QemuVm> vm(new QemuVm(folder / id.folder_name(), id));
    return vm->connect(slots, Deadline::after(find_deadline)).map([&] { return std::move(vm); });
}

std::vector<QemuVm::Id> QemuVm::all(const fs::path& folder) {
    std::vector<Id> found;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none)) {
        const auto id = Id::parse(entry.path().filename().string());
        if (id && hotplug::detached_process(entry.path() / "lock")) {
            found.push_back(*id);
        }
    }
    return found;
}

hp::Result<void> QemuVm::stop(const fs::path& folder, const Id& id) {
    const fs::path lock = lock_of(folder, id);
    if (!hotplug::detached_process(lock)) {
        return {};
    }
    const fs::path own = folder / id.folder_name();
    auto qmp = hotplug::QmpClient::connect((own / "qmp").string(), own / "qmp.log",
                                           Deadline::after(quit_grace));
    if (qmp) {
        (*qmp)->quit();
        hotplug::wait_for_end(lock, Deadline::after(quit_grace));
    }
    return end(folder, id);
}

hp::Result<void> QemuVm::end(const fs::path& folder, const Id& id) {
    return hotplug::end_detached(lock_of(folder, id), quit_grace);
}

hp::Result<void> QemuVm::connect(unsigned slots, Deadline deadline) {
    const fs::path lock = folder_ / "lock";
    // Short turns: a QEMU that ended is noticed before the deadline.
    while (!qmp_) {
        auto qmp = hotplug::QmpClient::connect((folder_ / "qmp").string(), folder_ / "qmp.log",
                                               deadline.within(std::chrono::milliseconds(500)));
        if (qmp) {
            qmp_ = std::move(*qmp);
        } else if (!hotplug::detached_process(lock)) {
            return hp::fail("QEMU ended");
        } else if (deadline.expired()) {
            return tl::unexpected(qmp.error());
        }
    }
    auto qtest = hotplug::QtestClient::connect((folder_ / "qtest").string(), deadline);
    if (!qtest) {
        return tl::unexpected(qtest.error());
    }
    qtest_ = std::move(*qtest);
    for (unsigned slot = 0; slot < slots; ++slot) {
        slots_.push_back(std::make_unique<hotplug::GpuSlot>(
            slot, hotplug::SlotConfig{.device = hotplug::SlotDevice::empty, .gpu = {}},
            hotplug::GpuSlot::Environment{}));
        slots_.back()->attach(*qmp_, *qtest_);
    }
    // Whoever stopped its CPUs for a moment may have ended in that moment.
    return qmp_->execute("cont").map([](const json&) {});
}

/// For who is at work: the agent talks to one client, whose connection keeps all that the guest's
/// kernel ever said.
hp::Result<std::shared_ptr<hotplug::AgentClient>> QemuVm::agent(Deadline deadline) {
    const std::lock_guard lock(agent_mutex_);
    if (auto shared = agent_.lock(); shared && shared->connected()) {
        return shared;
    }
    auto connected = hotplug::AgentClient::connect((folder_ / "agent").string(), deadline);
    if (!connected) {
        return tl::unexpected(connected.error());
    }
    std::shared_ptr<hotplug::AgentClient> agent = std::move(*connected);
    if (auto hello = agent->request("hello", json::object(), deadline); !hello) {
        return tl::unexpected(hello.error());
    }
    agent_ = agent;
    return agent;
}

hp::Result<std::map<std::string, unsigned>> QemuVm::boards() {
    auto devices = qmp_->execute("qom-list", {{"path", peripherals}});
    if (!devices) {
        return tl::unexpected(devices.error());
    }
    std::map<std::string, unsigned> found;
    for (const json& device : *devices) {
        const auto name = device.value("name", "");
        if (!BoardId::parse(name)) {
            continue;
        }
        auto bus = qmp_->execute("qom-get", {{"path", fmt::format("{}/{}", peripherals, name)},
                                             {"property", "parent_bus"}});
        if (!bus) {
            continue;  // it has gone meanwhile
        }
        const auto path = bus->get<std::string>();  // /machine/peripheral/rp0/rp0
        const auto slot = std::ranges::find_if(slots_, [&](const auto& candidate) {
            return path.ends_with("/" + candidate->port_id());
        });
        if (slot != slots_.end()) {
            found.emplace(name, (*slot)->index());
        }
    }
    return found;
}

tl::expected<std::string, StepFailure> QemuVm::plug(const EmulatedBoard& board, unsigned slot) {
    const auto begin = Deadline::Clock::now();
    auto there = boards();
    if (!there) {
        return failed(Blame::vm, there.error().message);
    }
    hotplug::GpuSlot& place = *slots_.at(slot);
    if (!there->contains(board.id().name())) {
        if (auto away = wait_put_away(slot); !away) {
            return failed(Blame::vm, away.error().message);
        }
        bool plugged = false;
        const std::lock_guard lock(hands_);
        auto added =
            hotplug::hot_add(*qmp_, place.port(),
                             {hotplug::vfio_user_device(board.id().name(), place.port_id(),
                                                        board.vfio_user_socket().string())},
                             plugged);
        if (!added) {
            return failed(Blame::board, added.error().message);
        }
    }
    const auto added_in = since(begin);
    auto agent_client = agent(Deadline::after(agent_deadline));
    if (!agent_client) {
        return failed(Blame::vm, agent_client.error().message);
    }
    if (auto ready = wait_ready(board, slot, **agent_client); !ready) {
        return tl::unexpected(ready.error());
    }
    return fmt::format("add {} ms, probe {} ms", added_in.count(),
                       (since(begin) - added_in).count());
}

/// The guest switches a slot off at the end of a removal, a second after it has let go of the board
/// that is torn out: what is plugged before that goes out with it.
hp::Result<void> QemuVm::wait_put_away(unsigned slot) {
    const Deadline deadline = Deadline::after(slot_deadline);
    while (true) {
        const auto off = [&] {
            const std::lock_guard lock(hands_);
            return slots_.at(slot)->port().powered_off();
        }();
        if (!off) {
            return tl::unexpected(off.error());
        }
        if (*off) {
            return {};
        }
        if (deadline.expired()) {
            return hp::fail(deadline.missed("the guest to switch the slot off"));
        }
        deadline.pause(look_interval);
    }
}

tl::expected<void, StepFailure> QemuVm::wait_ready(const EmulatedBoard& board, unsigned slot,
                                                   hotplug::AgentClient& agent) {
    const Deadline deadline = Deadline::after(probe_deadline);
    while (true) {
        const auto bdf = [&] {
            const std::lock_guard lock(hands_);
            return slots_.at(slot)->bdf();
        }();
        // Until the guest has seen the board its port may have no bus number.
        if (bdf) {
            auto state = agent.state(Deadline::after(agent_deadline));
            if (!state) {
                return failed(Blame::vm, state.error().message);
            }
            if (state->gpu_ready(*bdf)) {
                return {};
            }
        }
        if (auto failure = board.failure()) {
            return failed(Blame::board, *failure);
        }
        // A daemon that died while it plugged the board has left the button pressed; and a guest
        // may do what it likes.
        if (auto there = boards(); !there || !there->contains(board.id().name())) {
            return failed(Blame::vm,
                          there ? "the guest has switched the slot off" : there.error().message);
        }
        if (deadline.expired()) {
            return failed(Blame::board,
                          deadline.missed("the guest to have a driver, a render node and a KFD "
                                          "node for it"));
        }
        deadline.pause(look_interval);
    }
}

hp::Result<void> QemuVm::wait_gone(const std::string& board, Deadline deadline) {
    while (true) {
        auto there = boards();
        if (!there) {
            return tl::unexpected(there.error());
        }
        if (!there->contains(board)) {
            return {};
        }
        if (deadline.expired()) {
            return hp::fail(deadline.missed("the guest to let go of it"));
        }
        deadline.pause(look_interval);
    }
}

hp::Result<void> QemuVm::unplug(const std::string& board, unsigned slot,
                                std::chrono::seconds patience) {
    auto there = boards();
    if (!there) {
        return tl::unexpected(there.error());
    }
    if (!there->contains(board)) {
        return {};
    }
    const Deadline deadline = Deadline::after(patience);
    // What an administrator of the guest types; device_del would press the attention button, upon
    // which the guest waits 5 s for a second thought.
    auto agent_client = agent(deadline);
    if (!agent_client) {
        return tl::unexpected(agent_client.error());
    }
    auto write =
        (*agent_client)
            ->start_write(fmt::format("/sys/bus/pci/slots/{}/power", slots_.at(slot)->slot_name()),
                          "0", std::chrono::duration_cast<std::chrono::milliseconds>(patience));
    if (!write) {
        return tl::unexpected(write.error());
    }
    auto gone = wait_gone(board, deadline);
    if (const auto written = write->poll();
        !gone && written && *written && (*written)->error != 0) {
        return hp::fail(
            fmt::format("{}; its kernel says: {}", gone.error().message, (*written)->error_text));
    }
    return gone;
}

hp::Result<void> QemuVm::tear_out(const std::string& board, unsigned slot) {
    auto there = boards();
    if (!there) {
        return tl::unexpected(there.error());
    }
    if (!there->contains(board)) {
        return {};
    }
    {
        const std::lock_guard lock(hands_);
        if (auto out = slots_.at(slot)->port().surprise_removal(hotplug::Restore::yes); !out) {
            return out;
        }
    }
    return wait_gone(board, Deadline::after(find_deadline));
}

}  // namespace gpupool
