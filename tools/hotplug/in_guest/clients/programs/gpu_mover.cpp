// SPDX-License-Identifier: GPL-2.0
// Purpose: gpu_mover, a client that does one job in one process on two GPUs: on the first until
// that is lost (or, if asked, until another one arrives), then on the one that has arrived, without
// opening /dev/kfd again. Each step is a packet of a user queue, waited for by an event; its result
// must be what the CPU computes. A job of a given length can be gone on with by another process,
// where the kernel ends this one with its GPU. Thread: one. Not modelled: several packets in
// flight.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "hotplug/in_guest/clients/aql_queue.h"
#include "hotplug/in_guest/clients/kfd_device.h"
#include "hotplug/in_guest/clients/kfd_topology.h"
#include "hotplug/in_guest/clients/pm4_job.h"
#include "hotplug/in_guest/clients/program.h"
#include "hotplug/in_guest/clients/report.h"
#include "hotplug/in_guest/clients/signals.h"
#include "hotplug/in_guest/clients/uevents.h"

namespace hp::clients {
namespace {

const Description self{
    .name = "gpu_mover",
    .purpose = "Begins a job on one GPU, and finishes it on one that arrives later",
    .states = {{"lost", "its GPU is gone"},
               {"uevent", "a GPU has arrived"},
               {"moved", "it goes on with that one"},
               {"result", "that of the job, and whether it is right"}},
};

using nlohmann::json;

constexpr const char* topology = "/sys/class/kfd/kfd/topology";
/// Minor version of the ioctls from which on a process can use a GPU that arrives. Before, the
/// client tries, and ends with the kernel's refusal.
constexpr std::uint32_t arrival_version = 26;
/// One slice of waiting; between slices the client looks whether it shall end.
constexpr std::chrono::milliseconds wait_slice{500};
/// Steps between two checkpoints: so many are done again by who goes on with the job.
constexpr std::uint64_t checkpoint_interval = 16;

struct Options {
    std::uint32_t gpu_id = 0;
    std::uint64_t steps_after = 200;
    std::uint64_t steps = 0;
    std::string checkpoint;
    bool on_arrival = false;
};

/// How far a job is.
struct Checkpoint {
    std::uint64_t step = 0;
    JobState state = first_job_state();
};

/// The beginning when there is no such file.
IoResult<Checkpoint> read_checkpoint(const std::string& file) {
    Checkpoint read;
    std::ifstream in(file);
    if (!in) {
        return read;
    }
    in >> read.step;
    for (std::uint32_t& word : read.state) {
        in >> word;
    }
    return in ? IoResult<Checkpoint>(read) : io_fail("read of the checkpoint", EINVAL);
}

/// Whole or not at all.
IoResult<void> write_checkpoint(const std::string& file, const Checkpoint& reached) {
    const std::string fresh = file + ".new";
    std::ofstream out(fresh);
    out << reached.step;
    for (const std::uint32_t word : reached.state) {
        out << ' ' << word;
    }
    out.close();
    std::error_code error;
    if (out) {
        std::filesystem::rename(fresh, file, error);
    }
    return out && !error ? IoResult<void>() : io_fail("write of the checkpoint", EIO);
}

/// Why a step, or a wait, is over.
enum class Outcome { done, lost, stopped, sigbus };

/// What the process has on one GPU.
class Placement {
public:
    static IoResult<Placement> create(KfdDevice& device, const KfdNode& node,
                                      const JobState& state);

    /// Runs a step; `done`: `state` is the GPU's result.
    IoResult<Outcome> run(KfdDevice& device, std::uint64_t step, JobState& state);

private:
    static constexpr std::size_t state_at = 0;
    static constexpr std::size_t scratch_at = 64;
    static constexpr std::size_t signal_at = 0;
    static constexpr std::size_t result_at = 64;

    Placement(SignalEvent event, KfdMemory vram, KfdMemory commands, KfdMemory own, AqlQueue queue)
        : event_(event),
          vram_(std::move(vram)),
          commands_(std::move(commands)),
          own_(std::move(own)),
          queue_(std::move(queue)) {}

    IoResult<Outcome> wait(KfdDevice& device);
    std::int64_t signal_value() const {
        return std::atomic_ref(own_.at<AmdSignal>(signal_at)->value)
            .load(std::memory_order_acquire);
    }

    SignalEvent event_;
    KfdMemory vram_;      ///< the state that the GPU works on, lost with it
    KfdMemory commands_;  ///< of one step
    KfdMemory own_;       ///< this process's page: the signal, and the result of each step
    AqlQueue queue_;      ///< last: it goes before the memory it uses
};

IoResult<Placement> Placement::create(KfdDevice& device, const KfdNode& node,
                                      const JobState& state) {
    const auto event = device.create_signal_event();
    if (!event) {
        return tl::unexpected(event.error());
    }
    auto vram = device.allocate(MemoryKind::vram, 4096);
    if (!vram) {
        return tl::unexpected(vram.error());
    }
    auto commands = device.allocate(MemoryKind::gtt, 4096);
    if (!commands) {
        return tl::unexpected(commands.error());
    }
    auto own = device.allocate(MemoryKind::userptr, 4096);
    if (!own) {
        return tl::unexpected(own.error());
    }
    auto queue = AqlQueue::create(device, node);
    if (!queue) {
        return tl::unexpected(queue.error());
    }
    for (std::size_t i = 0; i < state.size(); ++i) {
        *vram->at<volatile std::uint32_t>(state_at + 4 * i) = state[i];
    }
    return Placement(*event, std::move(*vram), std::move(*commands), std::move(*own),
                     std::move(*queue));
}

IoResult<Outcome> Placement::run(KfdDevice& device, std::uint64_t step, JobState& state) {
    CommandBuffer commands(commands_.at<volatile std::uint32_t>(0));
    write_job_step(commands,
                   {.state = vram_.address() + state_at,
                    .scratch = vram_.address() + scratch_at,
                    .result = own_.address() + result_at},
                   step);
    new (own_.at<AmdSignal>(signal_at)) AmdSignal{.kind = AMD_SIGNAL_KIND_USER,
                                                  .value = 1,
                                                  .event_mailbox_ptr = event_.mailbox,
                                                  .event_id = event_.id};
    queue_.submit_pm4(commands_.address(), commands.size(), own_.address() + signal_at);
    const auto outcome = wait(device);
    if (outcome && *outcome == Outcome::done) {
        for (std::size_t i = 0; i < state.size(); ++i) {
            state[i] = *own_.at<volatile std::uint32_t>(result_at + 4 * i);
        }
    }
    return outcome;
}

IoResult<Outcome> Placement::wait(KfdDevice& device) {
    while (signal_value() > 0) {
        if (stop_wanted()) {
            return Outcome::stopped;
        }
        if (const auto sigbus = sigbus_count(); sigbus.faults + sigbus.sent != 0) {
            return Outcome::sigbus;
        }
        const auto waited = device.wait_event(event_, wait_slice);
        if (!waited) {
            return tl::unexpected(waited.error());
        }
        // The process still has the GPU that it moved away from, and is told when that goes.
        if (*waited == EventWait::hardware_exception &&
            device.hardware_exception().gpu_id == device.gpu_id()) {
            return Outcome::lost;
        }
        if (*waited == EventWait::memory_exception) {
            return io_fail("the GPU's access to memory", EFAULT);
        }
    }
    return Outcome::done;
}

/// The whole job, computed at once and by the CPU alone.
JobState compute(std::uint64_t steps) {
    JobState state = first_job_state();
    for (std::uint64_t step = 0; step < steps; ++step) {
        state = job_step(state, step);
    }
    return state;
}

class Mover {
public:
    Mover(const Options& options, Reporter& report, Uevents uevents, std::set<std::uint32_t> known,
          const Checkpoint& begin)
        : options_(options),
          report_(report),
          uevents_(std::move(uevents)),
          known_(std::move(known)),
          state_(begin.state),
          step_(begin.step) {
        if (options.steps != 0) {
            last_step_ = options.steps;
        }
    }

    IoResult<const char*> run(const KfdNode& first);

private:
    IoResult<void> place(const KfdNode& node);
    IoResult<Outcome> move(std::chrono::milliseconds patience);
    bool is_arrival(const Uevent& event) const;
    std::optional<KfdNode> arrived() const;
    IoResult<void> finish_step();

    const Options& options_;
    Reporter& report_;
    Uevents uevents_;
    std::set<std::uint32_t>
        known_;                  ///< GPUs that were there when the client began, or were moved to
    bool kernel_tells_ = false;  ///< it takes GPUs that arrive, and tells when
    std::optional<KfdDevice> device_;
    std::unique_ptr<Placement> placement_;  ///< goes before the device
    JobState state_;                        ///< after the last step that is done, as the GPU says
    JobState wanted_ = state_;              ///< as the CPU computes it
    std::uint64_t step_;
    bool told_ready_ = false;
    bool moved_ = false;
    std::uint64_t last_step_ = std::numeric_limits<std::uint64_t>::max();
};

IoResult<void> Mover::place(const KfdNode& node) {
    auto placement = Placement::create(*device_, node, state_);
    if (!placement) {
        return tl::unexpected(placement.error());
    }
    placement_ = std::make_unique<Placement>(std::move(*placement));
    return {};
}

/// A GPU that was not there at the beginning and has its render node.
std::optional<KfdNode> Mover::arrived() const {
    for (const std::uint32_t id : kfd_gpu_ids(topology)) {
        if (!known_.contains(id)) {
            return find_kfd_node(topology, id);
        }
    }
    return std::nullopt;
}

/// Does the event say that there may be a GPU which can be used?
bool Mover::is_arrival(const Uevent& event) const {
    if (kernel_tells_) {
        return member(event, "GPU_EVENT") == "arrived";
    }
    return member(event, "SUBSYSTEM") == "drm" && member(event, "ACTION") == "add" &&
           member(event, "DEVNAME").starts_with("dri/renderD");
}

/// Waits for uevents, and moves the job to a GPU that has arrived. Not done when there is none yet.
IoResult<Outcome> Mover::move(std::chrono::milliseconds patience) {
    while (!stop_wanted()) {
        const auto event = uevents_.next(patience);
        if (!event) {
            return tl::unexpected(event.error());
        }
        if (!*event) {
            if (patience == std::chrono::milliseconds{0}) {
                return Outcome::lost;
            }
            continue;
        }
        const auto node = is_arrival(**event) ? arrived() : std::nullopt;
        if (!node) {
            continue;
        }
        report_.say("uevent", {{"subsystem", member(**event, "SUBSYSTEM")},
                               {"action", member(**event, "ACTION")},
                               {"gpu_event", member(**event, "GPU_EVENT")},
                               {"gpu_id", member(**event, "GPU_ID")}});
        if (const auto moved = device_->move_to(*node); !moved) {
            return tl::unexpected(moved.error());
        }
        placement_.reset();
        return place(*node).map([&] {
            report_.say("moved", {{"gpu_id", node->gpu_id()}, {"steps", step_}});
            if (options_.steps == 0) {
                last_step_ = step_ + options_.steps_after;
            }
            moved_ = true;
            known_.insert(node->gpu_id());  // the next one to move to is another
            return Outcome::done;
        });
    }
    return Outcome::stopped;
}

IoResult<void> Mover::finish_step() {
    wanted_ = job_step(wanted_, step_++);
    report_.done(state_ == wanted_);
    if (!told_ready_) {
        told_ready_ = true;
        report_.ready({{"gpu_id", device_->gpu_id()}, {"steps", step_}});
    }
    if (!options_.checkpoint.empty() && step_ % checkpoint_interval == 0) {
        return write_checkpoint(options_.checkpoint, {step_, state_});
    }
    return {};
}

IoResult<const char*> Mover::run(const KfdNode& first) {
    auto device = KfdDevice::open(first);
    if (!device) {
        return tl::unexpected(device.error());
    }
    device_.emplace(std::move(*device));
    const auto version = device_->version();
    if (!version) {
        return tl::unexpected(version.error());
    }
    kernel_tells_ = version->major_version == 1 && version->minor_version >= arrival_version;
    if (const auto placed = place(first); !placed) {
        return tl::unexpected(placed.error());
    }
    while (step_ < last_step_) {
        auto outcome = placement_->run(*device_, step_, state_);
        if (outcome && *outcome == Outcome::lost) {
            const auto& exception = device_->hardware_exception();
            report_.say(
                "lost",
                {{"gpu_id", exception.gpu_id}, {"cause", exception.reset_cause}, {"steps", step_}});
            if (exception.reset_cause != abi::KFD_HW_EXCEPTION_DEVICE_LOST) {
                return "hw_exception";
            }
            outcome = move(wait_slice);
            if (outcome && *outcome == Outcome::done) {
                continue;  // the step that was under way is done again
            }
        }
        if (!outcome) {
            return tl::unexpected(outcome.error());
        }
        if (*outcome != Outcome::done) {
            return *outcome == Outcome::sigbus ? "sigbus" : "signal";
        }
        if (const auto finished = finish_step(); !finished) {
            return tl::unexpected(finished.error());
        }
        if (options_.on_arrival && !moved_) {
            if (const auto moved = move(std::chrono::milliseconds{0}); !moved) {
                return tl::unexpected(moved.error());
            }
        }
    }
    const bool same = state_ == compute(step_);
    report_.say("result", {{"steps", step_}, {"words", state_}, {"same", same}});
    return same ? "done" : "wrong result";
}

int run_client(const Options& options) {
    Reporter report(self);
    auto uevents = Uevents::open();
    if (!uevents) {
        return report.end("system", uevents.error());
    }
    auto known = kfd_gpu_ids(topology);
    const auto node = find_kfd_node(topology, options.gpu_id);
    if (!node) {
        return report.end("device", {"no such gpu_id in the topology", ENODEV});
    }
    const auto begin = read_checkpoint(options.checkpoint);
    if (!begin) {
        return report.end("system", begin.error());
    }
    Mover mover(options, report, std::move(*uevents), std::move(known), *begin);
    const auto reason = mover.run(*node);
    return reason ? report.end(*reason) : report.end("device", reason.error());
}

}  // namespace
}  // namespace hp::clients

int main(int argc, char** argv) {
    hp::clients::Program program(hp::clients::self);
    hp::clients::Options options;
    program.add_gpu_id(options.gpu_id).required();
    program.add_option("--steps-after", options.steps_after, "STEPS", "steps on the second GPU")
        .within(1, 1000000);
    program
        .add_option("--steps", options.steps, "STEPS",
                    "steps of the whole job, however many GPUs it takes")
        .within(1, 10000000);
    program.add_option("--checkpoint", options.checkpoint, "FILE",
                       "how far the job is: written as it goes on, and begun with if it is there");
    program.add_flag("--on-arrival", options.on_arrival,
                     "move although the first GPU is still there");
    if (const auto status = program.parse(argc, argv)) {
        return *status;
    }
    hp::clients::handle_signals();
    return hp::clients::run_client(options);
}
