// SPDX-License-Identifier: GPL-2.0
// Purpose: boards and VMs that are files in a folder, as durable as real ones: for tests, and for
// who wants to try the commands without a guest. What happens to hardware is done to the files: a
// board that is removed has failed, a VM that is removed has ended. A VM whose definition has
// {"fails": "why"} does not start; one with {"run": ["/bin/program", ...]} is that process beside
// its file, and ends with either.
// Thread: see driver.h. Not modelled: time; nothing takes any.
#pragma once

#include <filesystem>
#include <mutex>
#include <thread>

#include "gpupool/driver/driver.h"

namespace gpupool {

/// FOLDER/boards/SERIAL: {"epoch":5,"vm":"train","incarnation":1,"slot":0}
/// FOLDER/vms/NAME: {"incarnation":1}
/// FOLDER/processes/NAME@INCARNATION/lock: of its process (hotplug/base/detached_process.h)
class FakeDriver : public Driver {
public:
    explicit FakeDriver(std::filesystem::path folder) : folder_(std::move(folder)) {}

    void begin(const Books& books, Watcher watcher) override;
    hp::Result<void> check_definition(const std::string& definition) const override;
    hp::Result<void> check_profile(const std::string& profile) const override;
    tl::expected<std::string, StepFailure> carry_out(const Step& step) override;
    hp::Result<Inventory> look() override;

private:
    void watch(const std::stop_token& stop);
    void compare();
    bool runs(const std::string& name, uint64_t incarnation) const;
    hp::Result<void> start_process(const Step& step) const;
    hp::Result<void> end_process(const std::string& name) const;
    void forget_vm(const std::string& name);

    std::filesystem::path folder_;
    std::mutex mutex_;
    Watcher watcher_;
    Inventory known_;
    std::jthread thread_;  // last: it uses the members above
};

}  // namespace gpupool
