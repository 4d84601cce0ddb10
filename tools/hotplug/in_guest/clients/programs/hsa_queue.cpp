// SPDX-License-Identifier: GPL-2.0
// Purpose: hsa_queue, a client with a user queue of its own: AQL barrier packets, one after the
// other, each waited for. Thread: one. Not modelled: dispatches, several packets in flight.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <limits>
#include <new>
#include <optional>
#include <string>

#include "hotplug/in_guest/clients/aql_queue.h"
#include "hotplug/in_guest/clients/kfd_device.h"
#include "hotplug/in_guest/clients/kfd_topology.h"
#include "hotplug/in_guest/clients/program.h"
#include "hotplug/in_guest/clients/report.h"
#include "hotplug/in_guest/clients/signals.h"

namespace hp::clients {
namespace {

const Description self{
    .name = "hsa_queue",
    .purpose = "Keeps a user queue of a GPU busy with AQL barrier packets",
    .worker = true,
    .states = {{"closing", "why it ends; its queue goes now"}},
};

using Clock = std::chrono::steady_clock;

/// One slice of waiting; between slices the client looks whether it shall end.
constexpr std::chrono::milliseconds wait_slice{500};
/// A packet that takes longer is reported, and waited for further.
constexpr std::chrono::seconds slow{5};

struct Options {
    std::uint32_t gpu_id = 0;
    std::uint64_t count = std::numeric_limits<std::uint64_t>::max();
    double seconds = 1e9;
    unsigned pause_ms = 0;
    std::string wait = "both";
    bool ignore_sigbus = false;
    std::string cgroup;
};

/// The end of the client's work, if it is not an error of a call.
using Reason = const char*;

class Worker {
public:
    static IoResult<Worker> create(const KfdNode& node, const Options& options);

    IoResult<Reason> run(Reporter& report);
    IoResult<void> close() { return queue_.destroy(); }
    std::uint32_t queue_id() const { return queue_.id(); }

private:
    struct Signals {
        KfdMemory own_memory;     ///< this process's pages: what the GPU completes
        KfdMemory device_memory;  ///< VRAM: what the GPU waits for
    };

    Worker(const Options& options, KfdDevice device, Signals signals, AqlQueue queue,
           SignalEvent event)
        : options_(options),
          device_(std::move(device)),
          signals_(std::move(signals)),
          queue_(std::move(queue)),
          event_(event) {}

    AmdSignal& completion() { return *signals_.own_memory.at<AmdSignal>(0); }
    std::int64_t value() {
        return std::atomic_ref(completion().value).load(std::memory_order_acquire);
    }
    void submit(bool by_event);
    IoResult<std::optional<Reason>> wait(Reporter& report, bool by_event);
    IoResult<std::optional<Reason>> wait_slice_by_event(std::chrono::milliseconds patience);
    void wait_slice_by_polling();
    bool must_end_for_sigbus(Reporter& report) const;

    const Options& options_;
    KfdDevice device_;
    Signals signals_;
    AqlQueue queue_;
    SignalEvent event_;
};

IoResult<Worker> Worker::create(const KfdNode& node, const Options& options) {
    auto device = KfdDevice::open(node);
    if (!device) {
        return tl::unexpected(device.error());
    }
    const auto event = device->create_signal_event();
    if (!event) {
        return tl::unexpected(event.error());
    }
    auto own_memory = device->allocate(MemoryKind::userptr, 4096);
    if (!own_memory) {
        return tl::unexpected(own_memory.error());
    }
    auto device_memory = device->allocate(MemoryKind::vram, 4096);
    if (!device_memory) {
        return tl::unexpected(device_memory.error());
    }
    auto queue = AqlQueue::create(*device, node);
    if (!queue) {
        return tl::unexpected(queue.error());
    }
    new (device_memory->at<AmdSignal>(0))
        AmdSignal{.kind = AMD_SIGNAL_KIND_USER};  // value 0: always satisfied
    return Worker(options, std::move(*device),
                  Signals{std::move(*own_memory), std::move(*device_memory)}, std::move(*queue),
                  *event);
}

IoResult<Reason> Worker::run(Reporter& report) {
    const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                          std::chrono::duration<double>(options_.seconds));
    while (report.done_count() < options_.count && Clock::now() < until) {
        const bool by_event =
            options_.wait == "both" ? report.done_count() % 2 == 0 : options_.wait == "event";
        submit(by_event);
        const auto ended = wait(report, by_event);
        if (!ended) {
            return tl::unexpected(ended.error());
        }
        if (*ended) {
            return **ended;
        }
        report.done(value() == 0);
        if (options_.pause_ms != 0) {
            wait_unless_stopped({}, std::chrono::milliseconds(options_.pause_ms));
        }
        if (stop_wanted()) {
            return "signal";
        }
    }
    return "done";
}

void Worker::submit(bool by_event) {
    AmdSignal signal{.kind = AMD_SIGNAL_KIND_USER, .value = 1};
    if (by_event) {  // else the GPU shall raise no interrupt
        signal.event_mailbox_ptr = event_.mailbox;
        signal.event_id = event_.id;
    }
    completion() = signal;
    queue_.submit_barrier(signals_.device_memory.address(), signals_.own_memory.address());
}

/// Nothing when the packet has completed.
IoResult<std::optional<Reason>> Worker::wait(Reporter& report, bool by_event) {
    const auto started = Clock::now();
    while (value() > 0) {
        if (stop_wanted()) {
            return "signal";
        }
        if (must_end_for_sigbus(report)) {
            return "sigbus";
        }
        if (!by_event) {
            wait_slice_by_polling();
        }
        // Who polls looks, too: that the GPU is gone is told by an event, and by nothing else.
        const auto ended =
            wait_slice_by_event(by_event ? wait_slice : std::chrono::milliseconds{0});
        if (!ended || *ended) {
            return ended;
        }
        if (value() > 0 && Clock::now() - started > slow) {
            report.error({"AQL barrier", ETIME}, {{"read_index", queue_.read_index()},
                                                  {"write_index", queue_.write_index()}});
        }
    }
    return std::nullopt;
}

IoResult<std::optional<Reason>> Worker::wait_slice_by_event(std::chrono::milliseconds patience) {
    return device_.wait_event(event_, patience).map([](EventWait result) -> std::optional<Reason> {
        switch (result) {
            case EventWait::hardware_exception: return "hw_exception";
            case EventWait::memory_exception: return "memory_exception";
            case EventWait::timeout:
            case EventWait::fired: break;
        }
        return std::nullopt;
    });
}

void Worker::wait_slice_by_polling() {
    const auto until = Clock::now() + wait_slice;
    while (value() > 0 && !stop_wanted() && Clock::now() < until) {
    }
}

bool Worker::must_end_for_sigbus(Reporter& report) const {
    const auto sigbus = sigbus_count();
    if (sigbus.faults + sigbus.sent == 0) {
        return false;
    }
    report.error({"SIGBUS", EFAULT}, {{"faults", sigbus.faults}, {"sent", sigbus.sent}});
    return !options_.ignore_sigbus;
}

/// Before /dev/kfd is opened: KFD looks then which GPUs the process may have.
IoResult<void> join_cgroup(const std::string& folder) {
    std::ofstream processes(folder + "/cgroup.procs");
    processes << "0\n";
    return processes.flush() ? IoResult<void>() : io_fail("write of cgroup.procs", EIO);
}

int run_client(const Options& options) {
    Reporter report(self);
    if (!options.cgroup.empty()) {
        if (const auto joined = join_cgroup(options.cgroup); !joined) {
            return report.end("system", joined.error());
        }
    }
    const auto node = find_kfd_node("/sys/class/kfd/kfd/topology", options.gpu_id);
    if (!node) {
        return report.end("device", {"no such gpu_id in the topology", ENODEV});
    }
    auto worker = Worker::create(*node, options);
    if (!worker) {
        return report.end("device", worker.error());
    }
    report.ready({{"gpu_id", options.gpu_id}, {"queue", worker->queue_id()}});
    const auto reason = worker->run(report);
    // Said before the queue is destroyed: on a lost GPU that call may take long.
    report.say("closing", {{"reason", reason ? *reason : "device"}});
    if (const auto closed = worker->close(); !closed) {
        report.error(closed.error());
    }
    return reason ? report.end(*reason) : report.end("device", reason.error());
}

}  // namespace
}  // namespace hp::clients

int main(int argc, char** argv) {
    hp::clients::Program program(hp::clients::self);
    hp::clients::Options options;
    program.add_gpu_id(options.gpu_id).required();
    program.add_option("--count", options.count, "PACKETS", "end after so many packets");
    program.add_option("--seconds", options.seconds, "s", "end after so long").within(0.0, 1e9);
    program.add_option("--pause", options.pause_ms, "ms", "milliseconds between packets")
        .within(0, 60'000);
    program
        .add_option("--wait", options.wait, "HOW",
                    "how to wait for a packet: event, poll, or both in turn")
        .one_of({"event", "poll", "both"});
    program.add_flag("--ignore-sigbus", options.ignore_sigbus,
                     "go on after the SIGBUS of a lost GPU");
    program.add_option("--cgroup", options.cgroup, "FOLDER", "folder of a cgroup to join");
    if (const auto status = program.parse(argc, argv)) {
        return *status;
    }
    hp::clients::handle_signals();
    return hp::clients::run_client(options);
}
