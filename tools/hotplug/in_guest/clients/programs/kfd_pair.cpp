// SPDX-License-Identifier: GPL-2.0
// Purpose: kfd_pair, one process with queues on two GPUs, of which it may lose the other one. Its
// progress is that of the first GPU alone: a packet after the other, each waited for. The other
// GPU's packets run beside, until an event tells that it is lost. Told "end" it ends, well if that
// was told, KFD refuses memory there with ENODEV, and new memory of the first GPU can be mapped on
// all GPUs of the process, the lost one first in the list. With --peer-memory the first GPU also
// reads memory of the other one, once while that is there; when it is lost that has to fault.
// Thread: one. Not modelled: memory that both GPUs write.
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "hotplug/in_guest/clients/aql_queue.h"
#include "hotplug/in_guest/clients/command_buffer.h"
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
    .states = {{"verified", "whether it was told of the loss, and what KFD answers to memory"},
               {"peer", "whether the first GPU could read memory of the lost one"}},
};

/// One slice of waiting; between slices the client looks whether it shall end.
constexpr std::chrono::milliseconds wait_slice{500};
constexpr std::chrono::seconds fault_patience{10};

struct Options {
    std::uint32_t gpu_id = 0;
    std::uint32_t other_id = 0;
    bool peer_memory = false;
};

/// What the process has on one GPU. Each opens /dev/kfd, which is the same process to KFD.
class Side {
public:
    static IoResult<Side> create(std::uint32_t gpu_id);

    KfdDevice& device() { return device_; }
    void submit(const SignalEvent* event);
    void submit_commands(std::uint64_t address, std::uint32_t dwords, const SignalEvent& event);
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

    void expect(const SignalEvent* event);

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
void Side::expect(const SignalEvent* event) {
    AmdSignal signal{.kind = AMD_SIGNAL_KIND_USER, .value = 1};
    if (event != nullptr) {
        signal.event_mailbox_ptr = event->mailbox;
        signal.event_id = event->id;
    }
    completion() = signal;
}

void Side::submit(const SignalEvent* event) {
    expect(event);
    queue_.submit_barrier(signals_.address() + dependency_at, signals_.address());
}

void Side::submit_commands(std::uint64_t address, std::uint32_t dwords, const SignalEvent& event) {
    expect(&event);
    queue_.submit_pm4(address, dwords, signals_.address());
}

/// Memory of the other GPU that the first one reads, as GPUs of a hive do without importing it.
class PeerMemory {
public:
    static IoResult<PeerMemory> create(Side& first, Side& other, const Options& options);

    void submit_read(Side& first, const SignalEvent& event);
    bool was_read() const {
        return std::atomic_ref(result()).load(std::memory_order_acquire) == content;
    }

private:
    PeerMemory(KfdMemory memory, KfdMemory commands)
        : memory_(std::move(memory)), commands_(std::move(commands)) {}

    static constexpr std::uint32_t content = 0x600dda7a;
    static constexpr std::size_t result_at = 2048;

    std::uint32_t& result() const { return *commands_.at<std::uint32_t>(result_at); }

    KfdMemory memory_;
    KfdMemory commands_;  // and their result
};

IoResult<PeerMemory> PeerMemory::create(Side& first, Side& other, const Options& options) {
    auto memory = other.device().allocate(MemoryKind::vram, 4096);
    if (!memory) {
        return tl::unexpected(memory.error());
    }
    const std::array reader{options.gpu_id};
    if (const auto mapped = other.device().map_on(*memory, reader); !mapped) {
        return tl::unexpected(mapped.error());
    }
    auto commands = first.device().allocate(MemoryKind::gtt, 4096);
    if (!commands) {
        return tl::unexpected(commands.error());
    }
    *memory->at<volatile std::uint32_t>(0) = content;
    return PeerMemory(std::move(*memory), std::move(*commands));
}

void PeerMemory::submit_read(Side& first, const SignalEvent& event) {
    CommandBuffer commands(commands_.at<volatile std::uint32_t>(0));
    commands.pm4_copy(memory_.address(), commands_.address() + result_at);
    commands.pm4_pad();
    std::atomic_ref(result()).store(0);
    first.submit_commands(commands_.address(), commands.size(), event);
}

class Pair {
public:
    Pair(const Options& options, Side first, Side other, std::optional<PeerMemory> peer,
         SignalEvent event)
        : options_(options),
          first_(std::move(first)),
          other_(std::move(other)),
          peer_(std::move(peer)),
          event_(event) {}

    /// Until a line of standard input, a signal, or the loss of the first GPU.
    IoResult<const char*> run(Reporter& report);
    void verify(Reporter& report);

    /// Whether the first GPU can read memory of the other one.
    IoResult<bool> reads_peer(Reporter& report);

private:
    IoResult<const char*> wait(Reporter& report);
    IoResult<bool> fault_follows();

    const Options& options_;
    Side first_;
    Side other_;
    std::optional<PeerMemory> peer_;
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

IoResult<bool> Pair::reads_peer(Reporter& report) {
    peer_->submit_read(first_, event_);
    const auto reason = wait(report);
    if (!reason) {
        return tl::unexpected(reason.error());
    }
    if (*reason == nullptr) {
        return peer_->was_read() ? IoResult<bool>(true) : fault_follows();
    }
    if (std::string_view(*reason) != "memory_exception") {
        return io_fail(*reason, EINTR);
    }
    return false;
}

/// False. An engine goes on after a fault, so that its end may be seen before the interrupt that
/// tells of the fault.
IoResult<bool> Pair::fault_follows() {
    const auto until = std::chrono::steady_clock::now() + fault_patience;
    while (std::chrono::steady_clock::now() < until) {
        const auto waited = first_.device().wait_event(event_, wait_slice);
        if (!waited) {
            return tl::unexpected(waited.error());
        }
        if (*waited == EventWait::memory_exception) {
            return false;
        }
    }
    return io_fail("wrong data", EILSEQ);
}

/// 0 or an errno.
template <typename T>
int error_of(const IoResult<T>& result) {
    return result ? 0 : result.error().error;
}

void Pair::verify(Reporter& report) {
    const int refused = error_of(other_.device().allocate(MemoryKind::gtt, 4096));
    const auto memory = first_.device().allocate(MemoryKind::gtt, 4096);
    const std::array all{options_.other_id, options_.gpu_id};
    const int shared =
        memory ? error_of(first_.device().map_on(*memory, all)) : memory.error().error;
    report.say("verified", {{"told", other_lost_}, {"errno", refused}, {"shared", shared}});
    report.done(other_lost_);
    report.done(refused == ENODEV);
    report.done(shared == 0);
    if (peer_) {
        const auto read = reads_peer(report);
        report.say("peer", {{"read", read && *read}, {"errno", error_of(read)}});
        report.done(read && !*read);
    }
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
    std::optional<PeerMemory> peer;
    if (options.peer_memory) {
        auto created = PeerMemory::create(*first, *other, options);
        if (!created) {
            return report.end("device", created.error());
        }
        peer.emplace(std::move(*created));
    }
    Pair pair(options, std::move(*first), std::move(*other), std::move(peer), *event);
    if (options.peer_memory) {
        const auto read = pair.reads_peer(report);
        if (!read || !*read) {
            return report.end("peer", read ? IoError{"memory_exception", EFAULT} : read.error());
        }
    }
    report.ready({{"gpu_id", options.gpu_id}, {"other", options.other_id}});
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
    program.add_flag("--peer-memory", options.peer_memory,
                     "read memory of that GPU, which is of the same hive");
    if (const auto status = program.parse(argc, argv)) {
        return *status;
    }
    hp::clients::handle_signals();
    return hp::clients::run_client(options);
}
