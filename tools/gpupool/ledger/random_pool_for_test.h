// SPDX-License-Identifier: GPL-2.0
// Purpose: a pool at which anything happens at any time, and the boards and VMs that it believes to
// have: what the driver is told to do is done to them, and they notice what must not happen.
// Thread: the test's.
#pragma once

#include <fmt/format.h>

#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gpupool/placement/operations.h"
#include "gpupool/placement/step.h"

namespace gpupool {

/// The hardware. Steps may come twice, and in any order that the books allow.
class FakeHardware {
public:
    struct Place {
        std::string vm;
        uint64_t incarnation;
        unsigned slot;
        auto operator<=>(const Place&) const = default;
    };
    struct Board {
        uint64_t epoch = 0;  // of its last scrub
        bool powered = false;
        std::optional<Place> used_by;  // since then
        std::optional<Place> place;
    };

    void carry_out(const Step& step) {
        Board& board = boards_[step.gpu];
        const Place place{step.vm, step.incarnation, step.slot};
        switch (step.kind) {
            case StepKind::scrub:
                expect(!board.place, step, "it is in a VM");
                expect(step.epoch > board.epoch || !board.used_by, step, "it has been used since");
                board = {.epoch = step.epoch, .powered = true, .used_by = {}, .place = {}};
                break;
            case StepKind::attach:
                expect(board.powered && board.epoch == step.epoch, step, "no scrub came before");
                expect(!board.place || board.place == place, step, "it is in another slot");
                expect(!board.used_by || board.used_by == place, step, "somebody has used it");
                if (running_.contains({step.vm, step.incarnation})) {
                    for (const auto& [name, other] : boards_) {
                        expect(name == step.gpu || other.place != place, step, "the slot is full");
                    }
                    board.place = place;
                    board.used_by = place;
                }
                break;
            case StepKind::detach: board.place.reset(); break;
            case StepKind::pull:
                board.place.reset();
                board.powered = false;
                break;
            case StepKind::start_vm: running_.insert({step.vm, step.incarnation}); break;
            case StepKind::stop_vm: end_vm(step.vm); break;
        }
    }

    void end_vm(const std::string& vm) {
        std::erase_if(running_, [&](const auto& entry) { return entry.first == vm; });
        for (auto& [name, board] : boards_) {
            if (board.place && board.place->vm == vm) {
                board.place.reset();
            }
        }
    }

    /// Known by another `boot` from here on.
    void restart(std::string boot) {
        boot_ = std::move(boot);
        running_.clear();
        for (auto& [name, board] : boards_) {
            board.place.reset();
            board.powered = false;
        }
    }

    const std::string& boot() const { return boot_; }

    /// What the books say of those who have a GPU has to be so.
    void compare(const Books& books) {
        for (const auto& [name, gpu] : books.gpus) {
            const Board& board = boards_[name];
            if (gpu.state == GpuState::leased) {
                const uint64_t incarnation = books.vms.at(gpu.vm).incarnation;
                if (running_.contains({gpu.vm, incarnation}) &&
                    board.place != Place{gpu.vm, incarnation, *gpu.slot}) {
                    wrong.push_back(name + " is leased, and not where the books say");
                }
            }
            const bool nobodys = gpu.state == GpuState::free || gpu.state == GpuState::reserved ||
                                 gpu.state == GpuState::quarantined;
            if (nobodys && board.place) {
                wrong.push_back(
                    fmt::format("{} is {}, and in {}", name, name_of(gpu.state), board.place->vm));
            }
            if (gpu.state == GpuState::free && board.used_by) {
                wrong.push_back(name + " is free, and was not scrubbed");
            }
        }
    }

    std::vector<std::string> wrong;

private:
    void expect(bool holds, const Step& step, const char* otherwise) {
        if (!holds) {
            wrong.push_back(describe(step) + ": " + otherwise);
        }
    }

    std::string boot_;
    std::map<std::string, Board> boards_;
    std::set<std::pair<std::string, uint64_t>> running_;
};

/// Does one thing to the books, and to the hardware where that comes first.
class RandomPool {
public:
    explicit RandomPool(uint64_t seed) : random_(seed) {}

    /// Mostly people and the driver; what is refused is part of it.
    void happen(Books& books, FakeHardware& hardware) {
        ++books.now_us;
        // As the daemon at its start: a restart of which nothing was written down is noticed again.
        if (books.boot_id != hardware.boot()) {
            machine_restarted(books, hardware.boot());
            return;
        }
        switch (below(24)) {
            case 0: create(books); break;
            case 1: (void)add_gpu(books, root, pool_name(), 1 + below(30), ""); break;
            case 2:
                (void)declare_vm(books, root,
                                 {.name = vm_name(), .gpus = 1 + below(3), .definition = "{}"});
                break;
            case 3: (void)start_vm(books, root, vm_name()); break;
            case 4:
                if (below(4) == 0) {
                    (void)stop_vm(books, root, vm_name());
                }
                break;
            case 5:
            case 6:
            case 7:
                (void)lease(books, root, pool_name(), vm_name(),
                            {.count = 1 + below(2), .queue = below(3) != 0});
                break;
            case 8:
            case 9: (void)give_back(books, root, lease_id(books)); break;
            case 10: (void)fail_gpu(books, root, gpu_name(), 1 + below(20), "a test"); break;
            case 11:
                (void)replace_gpu(books, root, gpu_name(), below(2) == 0 ? "" : gpu_name());
                break;
            case 12: (void)take_offline(books, root, gpu_name()); break;
            case 13:
            case 14: (void)bring_online(books, root, gpu_name()); break;
            case 15:
                if (below(20) == 0) {
                    (void)retire_gpu(books, root, gpu_name());
                }
                break;
            case 16: break_board(books); break;
            case 17: lose_vm(books, hardware); break;
            case 18:
                if (below(20) == 0) {
                    hardware.restart(fmt::format("boot {}", books.now_us));
                    machine_restarted(books, hardware.boot());
                }
                break;
            default: drive(books, hardware); break;
        }
    }

    unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }

private:
    const Caller root{.uid = 0, .admin = true};

    std::string pool_name() { return below(4) == 0 ? "nv" : "mi"; }
    std::string vm_name() { return fmt::format("vm{}", below(5)); }
    std::string gpu_name() { return fmt::format("gpu{}", below(31)); }
    LeaseId lease_id(const Books& books) {
        if (books.leases.empty() || below(5) == 0) {
            return below(200);
        }
        auto chosen = books.leases.begin();
        std::advance(chosen, below(static_cast<unsigned>(books.leases.size())));
        return chosen->first;
    }

    void create(Books& books) {
        const std::string name = pool_name();
        (void)create_pool(books, root,
                          {.name = name,
                           .profile = name == "mi" ? "mi300x" : "navi21",
                           .spares = below(3),
                           .replace = name == "mi"});
    }

    void break_board(Books& books) {
        const std::string name = gpu_name();
        const auto gpu = books.gpus.find(name);
        if (gpu != books.gpus.end()) {
            (void)board_failed(books, name, gpu->second.epoch - below(2), "it is gone");
        }
    }

    void lose_vm(Books& books, FakeHardware& hardware) {
        const auto vm = books.vms.find(vm_name());
        if (vm == books.vms.end() || vm->second.state == VmState::stopped || below(5) != 0) {
            return;
        }
        hardware.end_vm(vm->first);
        (void)vm_ended(books, vm->first, vm->second.incarnation - below(2), "it crashed");
    }

    /// A step succeeds; fails, with or without its effect; or has its effect, and nobody learns it.
    void drive(Books& books, FakeHardware& hardware) {
        const auto steps = due_steps(books);
        if (steps.empty()) {
            return;
        }
        const Step& step = steps[below(static_cast<unsigned>(steps.size()))];
        const unsigned way = below(10);
        if (way != 0) {
            hardware.carry_out(step);
        }
        if (way <= 1) {
            (void)step_failed(books, step, below(3) == 0 ? Blame::vm : Blame::board, "a test");
        } else if (way != 2) {
            (void)step_done(books, step, "");
        }
    }

    std::mt19937_64 random_;
};

}  // namespace gpupool
