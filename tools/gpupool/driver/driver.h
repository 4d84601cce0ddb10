// SPDX-License-Identifier: GPL-2.0
// Purpose: the hardware as the pool sees it: boards that get power, go into slots of VMs and come
// out of them. Every call looks first and does what is still missing: to ask twice is to ask once,
// and a driver that begins finds what an earlier one left behind. Thread: each call from any
// thread; the daemon has one at work for a GPU and one for a VM, and any number for others.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "gpupool/placement/books.h"
#include "gpupool/placement/operations.h"
#include "gpupool/placement/step.h"
#include "lib/result.h"

namespace gpupool {

struct StepFailure {
    Blame blame = Blame::board;
    std::string message{};
};

/// What is there, whatever the books say.
struct Inventory {
    struct Board {
        uint64_t epoch = 0;
        std::string vm{};  // empty: in none
        unsigned slot = 0;
        bool operator==(const Board&) const = default;
    };
    std::map<uint64_t, Board> boards{};     // those with power, by serial number
    std::map<std::string, uint64_t> vms{};  // those that run, and their incarnations
};

/// Called from a thread of the driver's; what is said twice does no harm.
struct Watcher {
    std::function<void(uint64_t serial, uint64_t epoch, std::string reason)> board_failed{};
    std::function<void(std::string vm, uint64_t incarnation, std::string reason)> vm_ended{};
};

class Driver {
public:
    virtual ~Driver() = default;

    /// Looks for what the books say is there, and tells the watcher of it from then on: at once of
    /// what is not. Once, before all other calls.
    virtual void begin(const Books& books, Watcher watcher) = 0;

    /// Fails with one line when no VM can be made of that definition (JSON).
    virtual hp::Result<void> check_definition(const std::string& definition) const = 0;
    /// Likewise of a kind of GPU.
    virtual hp::Result<void> check_profile(const std::string& profile) const = 0;

    /// Returns what is worth telling of it: "probe 1.2 s".
    virtual tl::expected<std::string, StepFailure> carry_out(const Step& step) = 0;

    virtual hp::Result<Inventory> look() = 0;
};

}  // namespace gpupool
