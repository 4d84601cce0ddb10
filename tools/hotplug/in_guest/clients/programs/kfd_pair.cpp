// SPDX-License-Identifier: GPL-2.0
// Purpose: kfd_pair, one process with queues on two GPUs, of which it may lose the other one. Its
// progress is that of the first GPU alone: a packet after the other, each waited for. The other
// GPU's packets run beside, until an event tells that it is lost. Told "end" it ends, well if that
// was told and KFD refuses memory there with ENODEV.
// Thread: one. Not modelled: memory that both GPUs use.
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <new>
#include <string_view>
#include <utility>

#include "hotplug/in_guest/clients/aql_queue.h"
#include "hotplug/in_guest/clients/kfd_device.h"
#include "hotplug/in_guest/clients/kfd_topology.h"
#include "hotplug/in_guest/clients/line_input.h"
#include "hotplug/in_guest/clients/program.h"
#include "hotplug/in_guest/clients/report.h"
#include "hotplug/in_guest/clients/signals.h"

namespace hp::clients {
namespace {

const Description self{
    .name = "kfd_pair",
    .purpose = "Keeps queues of two GPUs busy, and goes on with one when it loses the other",
    .worker = true,
    .states = {{"verified", "whether it was told of the loss, and what the lost GPU answers"}},
};

/// One slice of waiting; between slices the client looks whether it shall end.
constexpr std::chrono::milliseconds wait_slice{500};

struct Options {
    std::uint32_t gpu_id = 0;
    std::uint32_t other_id = 0;
};

/// What the process has on one GPU. Each opens /dev/kfd, which is the same process to KFD.
class Side {
public:
    static IoResult<Side> create(std::uint32_t gpu_id);

    KfdDevice& device() { return device_; }
    void submit(const SignalEvent* event);
    bool completed() const { return value() <= 0; }
    /// Whether a packet that has completed did so once.
    bool right() const { return value() == 0; }

private:
    Side(KfdDevice device, KfdMemory signals, AqlQueue queue)
        : device_(std::move(device)), signals_(std::move(signals)), queue_(std::move(queue)) {
        new (signals_.at<AmdSignal>(0)) AmdSignal{.kind = AMD_SIGNAL_KIND_USER};
        new (signals_.at<AmdSignal>(dependency_at)) AmdSignal{.kind = AMD_SIGNAL_KIND_USER};
    }

    static constexpr std::size_t dependency_at = 64;

    std::int64_t value() const {
        return std::atomic_ref(completion().value).load(std::memory_order_acquire);
    }
    AmdSignal& completion() const { return *signals_.at<AmdSignal>(0); }

    KfdDevice device_;
    KfdMemory signals_;
    AqlQueue queue_;
};

IoResult<Side> Side::create(std::uint32_t gpu_id) {
    const auto node = find_kfd_node("/sys/class/kfd/kfd/topology", gpu_id);
    if (!node) {
        return io_fail("no such gpu_id in the topology", ENODEV);
    }
    auto device = KfdDevice::open(*node);
    if (!device) {
        return tl::unexpected(device.error());
    }
    auto signals = device->allocate(MemoryKind::userptr, 4096);
    if (!signals) {
        return tl::unexpected(signals.error());
    }
    auto queue = AqlQueue::create(*device, *node);
    if (!queue) {
        return tl::unexpected(queue.error());
    }
    return Side(std::move(*device), std::move(*signals), std::move(*queue));
}

/// Without an event the GPU raises no interrupt.
void Side::submit(const SignalEvent* event) {
    AmdSignal signal{.kind = AMD_SIGNAL_KIND_USER, .value = 1};
    if (event != nullptr) {
        signal.event_mailbox_ptr = event->mailbox;
        signal.event_id = event->id;
    }
    completion() = signal;
    queue_.submit_barrier(signals_.address() + dependency_at, signals_.address());
}

class Pair {
public:
    Pair(const Options& options, Side first, Side other, SignalEvent event)
        : options_(options), first_(std::move(first)), other_(std::move(other)), event_(event) {}

    /// Until a line of standard input, a signal, or the loss of the first GPU.
    IoResult<const char*> run(Reporter& report);
    void verify(Reporter& report);

private:
    IoResult<const char*> wait(Reporter& report);

    const Options& options_;
    Side first_;
    Side other_;
    SignalEvent event_;
    bool other_lost_ = false;
};

bool line_is_there() {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    return ::poll(&input, 1, 0) > 0;
}

IoResult<const char*> Pair::run(Reporter& report) {
    while (!stop_wanted()) {
        if (line_is_there()) {
            return LineInput().next() ? "done" : "signal";
        }
        if (!other_lost_ && other_.completed()) {
            other_.submit(nullptr);
        }
        first_.submit(&event_);
        const auto reason = wait(report);
        if (!reason || *reason != nullptr) {
            return reason;
        }
        report.done(first_.right());
    }
    return "signal";
}

/// Null when the packet of the first GPU has completed.
IoResult<const char*> Pair::wait(Reporter& report) {
    while (!first_.completed()) {
        if (stop_wanted()) {
            return "signal";
        }
        if (const auto sigbus = sigbus_count(); sigbus.faults + sigbus.sent != 0) {
            report.error({"SIGBUS", EFAULT}, {{"faults", sigbus.faults}, {"sent", sigbus.sent}});
            return "sigbus";
        }
        const auto waited = first_.device().wait_event(event_, wait_slice);
        if (!waited) {
            return tl::unexpected(waited.error());
        }
        if (*waited == EventWait::memory_exception) {
            return "memory_exception";
        }
        if (*waited == EventWait::hardware_exception) {
            const auto& exception = first_.device().hardware_exception();
            if (exception.gpu_id != options_.other_id ||
                exception.reset_cause != abi::KFD_HW_EXCEPTION_DEVICE_LOST) {
                return "hw_exception";
            }
            other_lost_ = true;
        }
    }
    return nullptr;
}

void Pair::verify(Reporter& report) {
    const auto memory = other_.device().allocate(MemoryKind::gtt, 4096);
    const int error = memory ? 0 : memory.error().error;
    report.say("verified", {{"told", other_lost_}, {"errno", error}});
    report.done(other_lost_);
    report.done(error == ENODEV);
}

int run_client(const Options& options) {
    Reporter report(self);
    auto first = Side::create(options.gpu_id);
    if (!first) {
        return report.end("device", first.error());
    }
    auto other = Side::create(options.other_id);
    if (!other) {
        return report.end("device", other.error());
    }
    const auto event = first->device().create_signal_event();
    if (!event) {
        return report.end("device", event.error());
    }
    report.ready({{"gpu_id", options.gpu_id}, {"other", options.other_id}});
    Pair pair(options, std::move(*first), std::move(*other), *event);
    const auto reason = pair.run(report);
    if (!reason) {
        return report.end("device", reason.error());
    }
    if (std::string_view(*reason) == "done") {
        pair.verify(report);
    }
    return report.end(*reason);
}

}  // namespace
}  // namespace hp::clients

int main(int argc, char** argv) {
    hp::clients::Program program(hp::clients::self);
    hp::clients::Options options;
    program.add_gpu_id(options.gpu_id).required();
    program.add_option("--other", options.other_id, "ID", "gpu_id of the GPU that may be lost")
        .required();
    if (const auto status = program.parse(argc, argv)) {
        return *status;
    }
    hp::clients::handle_signals();
    return hp::clients::run_client(options);
}
