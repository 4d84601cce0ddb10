// SPDX-License-Identifier: GPL-2.0
// Purpose: what QemuVm finds of a VM that runs: a process that holds the lock, and behind three
// sockets QEMU's monitor, its qtest and the agent, with one set of devices behind all of them. Also
// a board: a lock and a control socket. Thread: the fakes' and the test's.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gpupool/driver/emulated_board.h"
#include "gpupool/driver/qemu_vm.h"
#include "hotplug/base/detached_process.h"
#include "hotplug/base/fake_server_for_test.h"
#include "hotplug/machine/fake_pci_for_test.h"
#include "lib/temp_tree.h"

namespace gpupool {

class FakeVm {
public:
    FakeVm() {
        using hotplug::ecam_address;
        const auto port = [](unsigned offset) { return ecam_address(0, 4, offset); };
        pci_.poke(port(0x19), 1, 1);       // its bus
        pci_.poke(port(0x34), 0x54, 1);    // capabilities begin there,
        pci_.poke(port(0x54), 0x0010, 2);  // with that of PCI Express
        pci_.poke(slot_control, switched_off, 2);
        const auto own = folder_.root() / id.folder_name();
        folder_.link((id.folder_name() + "/qmp"), qmp_.path());
        folder_.link((id.folder_name() + "/qtest"), qtest_.path());
        folder_.link((id.folder_name() + "/agent"), agent_.path());
        folder_.link(board.name() + ".ctl", control_.path());
        hold(own / "lock");
        hold(folder() / (board.name() + ".lock"));
    }
    ~FakeVm() {
        for (const auto& lock : locks_) {
            EXPECT_TRUE(hotplug::end_detached(lock, std::chrono::seconds(5)));
        }
    }
    FakeVm(const FakeVm&) = delete;
    FakeVm& operator=(const FakeVm&) = delete;

    std::filesystem::path folder() const { return folder_.root(); }
    std::filesystem::path lock() const { return locks_.front(); }
    void add(const std::string& device, const std::string& bus) {
        const std::lock_guard lock(mutex_);
        devices_[device] = bus;
        pci_.poke(slot_control, switched_on, 2);
    }
    /// The guest has done with a board that was torn out.
    void put_away() {
        const std::lock_guard lock(mutex_);
        devices_.clear();
        pci_.poke(slot_control, switched_off, 2);
    }
    /// What was asked of anybody and changes something, in its order.
    std::vector<std::string> done() const {
        const std::lock_guard lock(mutex_);
        return done_;
    }
    void lose_monitor() { qmp_.close(); }
    void lose_board() { control_.say("{\"event\": \"vanished\"}\n"); }

    const QemuVm::Id id{"train", 3};
    const BoardId board{.serial = 0xe01, .epoch = 5};
    // What the guest does.
    std::atomic<bool> answers = true;
    std::atomic<bool> lets_go = true;
    std::atomic<bool> puts_away = true;
    std::atomic<bool> has_driver = true;

private:
    using json = nlohmann::json;
    static constexpr uint64_t slot_control = hotplug::ecam_address(0, 4, 0x54 + 0x18);
    static constexpr uint16_t switched_on = 0x01f1, switched_off = 0x07f1;

    void hold(const std::filesystem::path& lock) {
        const auto started = hotplug::start_detached({.argv = {"sleep", "1000"}, .environment = {}},
                                                     folder() / "log", lock);
        EXPECT_TRUE(started) << started.error().message;
        locks_.push_back(lock);
    }

    std::string monitor(const std::string& line) {
        const json request = json::parse(line);
        const auto command = request.at("execute").get<std::string>();
        const json arguments = request.value("arguments", json::object());
        const std::lock_guard lock(mutex_);
        json answer{{"id", request.at("id")}};
        json& result = answer["return"] = json::object();
        if (command == "qom-list") {
            result = json::array({{{"name", "rp0"}, {"type", "child<pcie-root-port>"}}});
            for (const auto& [device, bus] : devices_) {
                result.push_back({{"name", device}, {"type", "child<vfio-user-pci>"}});
            }
        } else if (command == "qom-get") {
            const auto path = arguments.at("path").get<std::string>();
            const auto device = devices_.find(path.substr(path.rfind('/') + 1));
            if (device == devices_.end()) {  // it went while somebody was looking
                answer.erase("return");
                answer["error"] = {{"class", "DeviceNotFound"}, {"desc", "no such device"}};
            } else {
                result = "/machine/peripheral/" + device->second + "/" + device->second;
            }
        } else {
            if (command == "device_add") {
                devices_[arguments.at("id")] = arguments.at("bus");
                pci_.poke(slot_control, switched_on, 2);
            }
            done_.push_back(command);
        }
        return answer.dump() + "\r\n";
    }

    std::string memory(const std::string& line) {
        const std::lock_guard lock(mutex_);
        if (line.starts_with("write")) {
            done_.push_back(line.substr(0, line.rfind(' ')));
            if (line.find(fmt::format("{:#x}", slot_control)) != std::string::npos) {
                devices_.clear();
            }
        }
        std::string answer = pci_.answer(line);
        if (devices_.empty() && puts_away) {
            pci_.poke(slot_control, switched_off, 2);
        }
        return answer;
    }

    std::string guest(const std::string& line) {
        const json request = json::parse(line);
        if (!answers) {
            return "";
        }
        json answer{{"id", request.at("id")}, {"ok", true}};
        const std::lock_guard lock(mutex_);
        if (request.at("do") == "state") {
            answer.update(state());
        } else if (request.at("do") == "write") {
            done_.push_back("guest writes " + request.at("data").get<std::string>() + " to " +
                            request.at("path").get<std::string>());
            answer["elapsed_us"] = 1;
            if (lets_go) {
                devices_.clear();
                pci_.poke(slot_control, switched_off, 2);
            } else {
                answer.update({{"ok", false}, {"errno", 16}, {"error", "Device busy"}});
            }
        }
        return answer.dump() + "\n";
    }

    json state() const {
        const json none = json::array();
        json found{{"taint", 0},
                   {"uptime_us", 1},
                   {"drm", none},
                   {"kfd_nodes", none},
                   {"kfd_evictions", none},
                   {"kfd_generation", 1},
                   {"pci", none},
                   {"slab", json::object()},
                   {"slab_total_kib", 1},
                   {"memory_available_kib", 1},
                   {"processes_d_state", none},
                   {"drm_minor_max", 1},
                   {"drm_orphans", none},
                   {"kfd_users", none}};
        if (!devices_.empty() && has_driver) {
            found["pci"].push_back({{"bdf", "0000:01:00.0"},
                                    {"vendor", 0x1002},
                                    {"device", 0x74a1},
                                    {"class", 0x120000},
                                    {"driver", "amdgpu"}});
            found["drm"].push_back(
                {{"minor", "renderD128"}, {"kind", "render"}, {"bdf", "0000:01:00.0"}});
            found["kfd_nodes"].push_back({{"id", 1},
                                          {"gpu_id", 54321},
                                          {"name", "aqua"},
                                          {"simd_count", 1216},
                                          {"render_minor", 128},
                                          {"location_id", 256},
                                          {"domain", 0},
                                          {"io_links", 0},
                                          {"io_link_targets", none}});
        }
        return found;
    }

    std::string board_control(const std::string& line) {
        return json{{"id", json::parse(line).at("id")},
                    {"ok", true},
                    {"profile", "mi300x"},
                    {"state", "present"},
                    {"attached", false},
                    {"attachments", 0},
                    {"unknown_registers", 0},
                    {"mutations", 0},
                    {"engines", "idle"}}
                   .dump() +
               "\n";
    }

    hp::TempTree folder_;
    std::vector<std::filesystem::path> locks_;
    mutable std::mutex mutex_;
    std::map<std::string, std::string> devices_;  // and the buses that they are on
    std::vector<std::string> done_;
    hotplug::FakePci pci_;
    // Last: their threads use the members above.
    hotplug::FakeServer qmp_{
        [this](const std::string& line) { return monitor(line); },
        [] {
            return std::string(
                "{\"QMP\":{\"version\":{\"qemu\":{\"major\":10}},\"capabilities\":[]}}\r\n");
        }};
    hotplug::FakeServer qtest_{[this](const std::string& line) { return memory(line); }};
    hotplug::FakeServer agent_{[this](const std::string& line) { return guest(line); }};
    hotplug::FakeServer control_{[this](const std::string& line) { return board_control(line); }};
};

}  // namespace gpupool
