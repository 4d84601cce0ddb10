// SPDX-License-Identifier: GPL-2.0
// Purpose: hsa_copy, a program as ROCm's users write it, on the distribution's ROCr: barrier
// packets in an AQL queue, and copies by SDMA from system memory to VRAM and back, each of which
// waits for the one before by a signal. No wait is without bound: when the GPU is lost it says what
// ROCr told of it, gives back all that it had, and ends. That another GPU is lost it only counts.
// Thread: one, besides ROCr's.
// Not modelled: dispatches, several rounds in flight.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "hotplug/in_guest/clients/hsa_runtime.h"
#include "hotplug/in_guest/clients/line_input.h"
#include "hotplug/in_guest/clients/program.h"
#include "hotplug/in_guest/clients/report.h"
#include "hotplug/in_guest/clients/signals.h"

namespace hp::clients {
namespace {

const Description self{
    .name = "hsa_copy",
    .purpose = "Runs barrier packets and SDMA copies through ROCr, without end",
    .worker = true,
    .states = {{"lost", "ROCr has told of the loss"},
               {"closing", "why it ends; what it has goes now"}},
    .needs = {"libhsa-runtime64.so.1"},
};

using Clock = std::chrono::steady_clock;

/// One slice of waiting; between slices the client looks what ROCr has told it.
constexpr std::chrono::milliseconds wait_slice{200};
constexpr std::uint32_t queue_packets = 64;
/// ROCr cuts smaller ones out of memory that it has already.
constexpr std::size_t own_allocation = 4u << 20;

struct Options {
    hsa::GpuName gpu;
    std::uint64_t count = std::numeric_limits<std::uint64_t>::max();
    std::size_t size_kib = 64;
    unsigned patience_s = 20;
    bool unhandled = false;
};

/// The end of the client's work, if no call failed.
using Reason = const char*;

/// The steps of a round, in the order in which they wait for each other.
enum Stage { first_barrier, to_device, from_device, last_barrier, stages };
constexpr std::array<const char*, stages> stage_names = {"first barrier", "copy to the device",
                                                         "copy from the device", "last barrier"};

/// In ROCr's thread.
void on_queue_error(hsa::hsa_status_t status, hsa::hsa_queue_t*, void* data) {
    static_cast<hsa::Events*>(data)->queue_error = status;
}

class Worker {
public:
    static hsa::Result<Worker> create(hsa::Runtime& runtime, const Options& options);

    hsa::Result<Reason> run(Reporter& report);
    /// What ROCr says of the GPU when it is lost, and of a call that wants it.
    void tell_of_loss(Reporter& report) const;
    /// Gives back all and ends ROCr.
    bool close(Reporter& report);
    std::uint64_t queue_id() const { return queue_->id; }

private:
    Worker(hsa::Runtime& runtime, const Options& options) : runtime_(runtime), options_(options) {}

    hsa::Result<void> find();
    hsa::Result<void> allocate();
    hsa::Result<void> create_queue();
    void submit_barrier(hsa::hsa_signal_t dependency, hsa::hsa_signal_t completion);
    hsa::Result<void> submit_round();
    std::optional<Reason> wait(Reporter& report, Stage stage);
    std::optional<Reason> trouble(Reporter& report) const;
    bool right(Reporter& report) const;
    bool told_to_end();
    std::span<std::uint32_t> words(void* memory) const {
        return {static_cast<std::uint32_t*>(memory), size() / sizeof(std::uint32_t)};
    }
    std::size_t size() const { return options_.size_kib * 1024; }
    hsa::Events& events() const { return runtime_.events(); }

    hsa::Runtime& runtime_;
    const Options& options_;
    hsa::hsa_agent_t gpu_{};
    hsa::hsa_agent_t cpu_{};
    hsa::hsa_amd_memory_pool_t vram_{};
    std::uint64_t ticks_per_second_ = 0;
    void* source_ = nullptr;
    void* device_ = nullptr;
    void* destination_ = nullptr;
    hsa::hsa_queue_t* queue_ = nullptr;
    std::array<hsa::hsa_signal_t, stages> signals_{};
    bool input_open_ = true;
    std::uint64_t round_ = 0;
};

hsa::Result<Worker> Worker::create(hsa::Runtime& runtime, const Options& options) {
    Worker worker(runtime, options);
    for (const auto step : {&Worker::find, &Worker::allocate, &Worker::create_queue}) {
        if (auto done = (worker.*step)(); !done) {
            return tl::unexpected(done.error());
        }
    }
    return worker;
}

hsa::Result<void> Worker::find() {
    const auto gpu = runtime_.find_gpu(options_.gpu);
    if (!gpu) {
        return tl::unexpected(gpu.error());
    }
    const auto cpu = runtime_.find_cpu();
    if (!cpu) {
        return tl::unexpected(cpu.error());
    }
    const auto vram = runtime_.find_pool(*gpu, hsa::HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
    if (!vram) {
        return tl::unexpected(vram.error());
    }
    gpu_ = *gpu;
    cpu_ = *cpu;
    vram_ = *vram;
    return runtime_.check(runtime_.api().system_get_info(hsa::HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY,
                                                         &ticks_per_second_),
                          "hsa_system_get_info");
}

hsa::Result<void> Worker::allocate() {
    const hsa::Api& api = runtime_.api();
    const auto system = runtime_.find_pool(cpu_, hsa::HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED);
    if (!system) {
        return tl::unexpected(system.error());
    }
    for (const auto& [pool, memory] :
         {std::pair(*system, &source_), std::pair(*system, &destination_),
          std::pair(vram_, &device_)}) {
        if (auto done = runtime_.check(api.amd_memory_pool_allocate(pool, size(), 0, memory),
                                       "hsa_amd_memory_pool_allocate");
            !done) {
            return done;
        }
    }
    for (const void* memory : {source_, destination_}) {
        if (auto done = runtime_.check(api.amd_agents_allow_access(1, &gpu_, nullptr, memory),
                                       "hsa_amd_agents_allow_access");
            !done) {
            return done;
        }
    }
    return {};
}

hsa::Result<void> Worker::create_queue() {
    const hsa::Api& api = runtime_.api();
    constexpr auto unknown = std::numeric_limits<std::uint32_t>::max();
    if (auto done =
            runtime_.check(api.queue_create(gpu_, queue_packets, hsa::HSA_QUEUE_TYPE_MULTI,
                                            on_queue_error, &events(), unknown, unknown, &queue_),
                           "hsa_queue_create");
        !done) {
        return done;
    }
    for (hsa::hsa_signal_t& signal : signals_) {
        if (auto done =
                runtime_.check(api.signal_create(1, 0, nullptr, &signal), "hsa_signal_create");
            !done) {
            return done;
        }
    }
    return {};
}

/// The round before has completed, so that there is always room.
void Worker::submit_barrier(hsa::hsa_signal_t dependency, hsa::hsa_signal_t completion) {
    const std::uint64_t index = runtime_.api().queue_add_write_index_relaxed(queue_, 1);
    auto& packet =
        static_cast<hsa::hsa_barrier_and_packet_t*>(queue_->base_address)[index % queue_->size];
    std::ranges::fill(packet.dep_signal, hsa::hsa_signal_t{});
    packet.dep_signal[0] = dependency;
    packet.completion_signal = completion;
    constexpr auto header = static_cast<std::uint16_t>(
        hsa::HSA_PACKET_TYPE_BARRIER_AND | 1u << hsa::HSA_PACKET_HEADER_BARRIER |
        hsa::HSA_FENCE_SCOPE_SYSTEM << hsa::HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
        hsa::HSA_FENCE_SCOPE_SYSTEM << hsa::HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
    // The header makes the packet the GPU's: last, and in one store.
    std::atomic_ref(packet.header).store(header, std::memory_order_release);
    runtime_.api().signal_store_screlease(queue_->doorbell_signal,
                                          static_cast<hsa::hsa_signal_value_t>(index));
}

/// SDMA waits for the queue, SDMA for SDMA, and the queue for SDMA.
hsa::Result<void> Worker::submit_round() {
    const hsa::Api& api = runtime_.api();
    ++round_;
    std::uint32_t word = static_cast<std::uint32_t>(round_) * 0x9e3779b9u;
    for (std::uint32_t& place : words(source_)) {
        place = word++;
    }
    std::ranges::fill(words(destination_), 0u);
    for (const hsa::hsa_signal_t signal : signals_) {
        api.signal_store_screlease(signal, 1);
    }
    submit_barrier({}, signals_[first_barrier]);
    if (auto done =
            runtime_.check(api.amd_memory_async_copy(device_, gpu_, source_, cpu_, size(), 1,
                                                     &signals_[first_barrier], signals_[to_device]),
                           "hsa_amd_memory_async_copy to the device");
        !done) {
        return done;
    }
    if (auto done =
            runtime_.check(api.amd_memory_async_copy(destination_, cpu_, device_, gpu_, size(), 1,
                                                     &signals_[to_device], signals_[from_device]),
                           "hsa_amd_memory_async_copy from the device");
        !done) {
        return done;
    }
    submit_barrier(signals_[from_device], signals_[last_barrier]);
    return {};
}

/// What ends the work although nobody asked for it.
std::optional<Reason> Worker::trouble(Reporter& report) const {
    if (events().hw_exception) {
        return "hw_exception";
    }
    if (events().memory_fault) {
        report.error({"HSA_AMD_GPU_MEMORY_FAULT_EVENT", EFAULT},
                     {{"address", events().fault_address.load()}});
        return "memory_exception";
    }
    if (const auto status = events().queue_error.load(); status != hsa::HSA_STATUS_SUCCESS) {
        report.error({"queue", EIO},
                     {{"hsa_status", status}, {"hsa_error", runtime_.describe(status)}});
        return "queue_error";
    }
    const auto sigbus = sigbus_count();
    if (sigbus.faults + sigbus.sent != 0) {
        report.error({"SIGBUS", EFAULT}, {{"faults", sigbus.faults}, {"sent", sigbus.sent}});
        return "sigbus";
    }
    return std::nullopt;
}

/// Nothing when the stage has completed.
std::optional<Reason> Worker::wait(Reporter& report, Stage stage) {
    const auto until = Clock::now() + std::chrono::seconds(options_.patience_s);
    const std::uint64_t ticks = ticks_per_second_ * wait_slice.count() / 1000;
    while (runtime_.api().signal_wait_scacquire(signals_[stage], hsa::HSA_SIGNAL_CONDITION_LT, 1,
                                                ticks, hsa::HSA_WAIT_STATE_BLOCKED) > 0) {
        if (const auto why = trouble(report)) {
            return why;
        }
        if (Clock::now() > until) {
            report.error({stage_names[stage], ETIME},
                         {{"read_index", runtime_.api().queue_load_read_index_relaxed(queue_)},
                          {"patience_s", options_.patience_s}});
            return "timeout";
        }
    }
    return std::nullopt;
}

bool Worker::right(Reporter& report) const {
    const auto sent = words(source_), back = words(destination_);
    const auto differs = std::ranges::mismatch(sent, back);
    if (differs.in1 == sent.end()) {
        return true;
    }
    report.error({"comparison of the bytes", EILSEQ},
                 {{"at", (differs.in1 - sent.begin()) * sizeof(std::uint32_t)},
                  {"sent", *differs.in1},
                  {"back", *differs.in2}});
    return false;
}

/// Who closes the input says nothing by that.
bool Worker::told_to_end() {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (!input_open_ || ::poll(&input, 1, 0) <= 0) {
        return false;
    }
    const auto line = LineInput().next();
    input_open_ = line.has_value();
    return line == "end";
}

hsa::Result<Reason> Worker::run(Reporter& report) {
    while (report.done_count() < options_.count && !told_to_end()) {
        if (stop_wanted()) {
            return "signal";
        }
        if (auto submitted = submit_round(); !submitted) {
            return tl::unexpected(submitted.error());
        }
        for (const Stage stage : {first_barrier, to_device, from_device, last_barrier}) {
            if (const auto why = wait(report, stage)) {
                return *why;
            }
        }
        report.done(right(report));
    }
    return "done";
}

void Worker::tell_of_loss(Reporter& report) const {
    void* memory = nullptr;
    const auto status = runtime_.api().amd_memory_pool_allocate(vram_, own_allocation, 0, &memory);
    report.say("lost", {{"event", "HSA_AMD_GPU_HW_EXCEPTION_EVENT"},
                        {"reset_cause", events().reset_cause.load()},
                        {"queue_error", runtime_.describe(events().queue_error)},
                        {"allocate", runtime_.describe(status)}});
}

bool Worker::close(Reporter& report) {
    bool good = true;
    const auto give_back = [&](hsa::hsa_status_t status, const char* op) {
        if (status != hsa::HSA_STATUS_SUCCESS) {
            report.error({op, EIO},
                         {{"hsa_status", status}, {"hsa_error", runtime_.describe(status)}});
            good = false;
        }
    };
    const hsa::Api& api = runtime_.api();
    give_back(api.queue_destroy(queue_), "hsa_queue_destroy");
    for (const hsa::hsa_signal_t signal : signals_) {
        give_back(api.signal_destroy(signal), "hsa_signal_destroy");
    }
    for (void* memory : {source_, destination_, device_}) {
        give_back(api.amd_memory_pool_free(memory), "hsa_amd_memory_pool_free");
    }
    give_back(api.shut_down(), "hsa_shut_down");
    return good;
}

void tell(Reporter& report, const hsa::Error& error) {
    report.error({error.op, EIO}, {{"hsa_status", error.status}, {"hsa_error", error.text}});
}

int run_client(const Options& options) {
    Reporter report(self);
    auto runtime = hsa::Runtime::open(!options.unhandled);
    if (!runtime) {
        tell(report, runtime.error());
        return report.end("device", {runtime.error().op, EIO});
    }
    auto worker = Worker::create(*runtime, options);
    if (!worker) {  // what it has so far is given back with the process
        tell(report, worker.error());
        return report.end("device", {worker.error().op, EIO});
    }
    report.ready({{"queue", worker->queue_id()}, {"size_kib", options.size_kib}});
    const auto ended = worker->run(report);
    if (!ended) {
        tell(report, ended.error());
    }
    if (runtime->events().hw_exception) {
        worker->tell_of_loss(report);
    }
    const Reason reason = ended ? *ended : "device";
    report.say("closing",
               {{"reason", reason}, {"others_lost", runtime->events().others_lost.load()}});
    return worker->close(report) ? report.end(reason) : report.end("close");
}

}  // namespace
}  // namespace hp::clients

int main(int argc, char** argv) {
    hp::clients::Program program(hp::clients::self);
    hp::clients::Options options;
    program.add_gpu_id_or_bdf(options.gpu.gpu_id, options.gpu.bdf);
    program.add_option("--count", options.count, "ROUNDS", "end after so many rounds");
    program.add_option("--size-kib", options.size_kib, "KiB", "of a copy").within(1, 1 << 20);
    program.add_option("--patience", options.patience_s, "s",
                       "end when a round's step takes more seconds");
    program.add_flag("--unhandled", options.unhandled,
                     "leave it to ROCr what the loss of a GPU does");
    if (const auto status = program.parse(argc, argv)) {
        return *status;
    }
    hp::clients::handle_signals();
    return hp::clients::run_client(options);
}
