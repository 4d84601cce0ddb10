// SPDX-License-Identifier: GPL-2.0
// Purpose: drm_submitter, a client that keeps a GPU's compute (or graphics) and SDMA rings busy
// through GPUVM and compares results. Thread: one. Not modelled: shaders.
#include <poll.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

#include "hotplug/in_guest/clients/command_buffer.h"
#include "hotplug/in_guest/clients/drm_device.h"
#include "hotplug/in_guest/clients/program.h"
#include "hotplug/in_guest/clients/report.h"
#include "hotplug/in_guest/clients/signals.h"
#include "hotplug/in_guest/clients/submission.h"

namespace hp::clients {
namespace {

const Description self{
    .name = "drm_submitter",
    .purpose = "Keeps a GPU's compute and SDMA rings busy and compares the results",
    .worker = true,
    .states = {{"fence", "a fence that ended with an error"}},
};

using Clock = std::chrono::steady_clock;

/// One slice of waiting for the GPU; between slices the client looks whether it shall end.
constexpr std::chrono::milliseconds wait_slice{500};
/// A submission that takes longer is reported, and waited for further.
constexpr std::chrono::seconds slow{5};

constexpr std::uint64_t buffer_size = 1u << 20;
constexpr std::uint32_t copy_bytes = 8192;
constexpr unsigned copy_dwords = copy_bytes / 4;
/// Dword offsets of what SDMA writes, away from what compute writes at the start.
constexpr unsigned fill_at = 1024;
constexpr unsigned copy_at = 16384;

class Submitter {
public:
    /// Ends by itself after so much work or time.
    struct Limits {
        std::uint64_t count;
        Clock::time_point until;
        std::chrono::milliseconds pause;  // between two rounds
    };

    /// How it learns that a submission was executed: by the driver's own call, which ends with the
    /// device, or by the fence alone, which has to be signalled by somebody.
    enum class Wait { driver, fence };

    /// `pm4_ip`: whose rings get the PM4 jobs, AMDGPU_HW_IP_COMPUTE or _GFX.
    static IoResult<Submitter> create(DrmDevice& device, Wait wait, std::uint32_t pm4_ip);

    /// Works until a limit, the wish to stop, or the first error of the device.
    IoResult<const char*> run(Reporter& report, const Limits& limits);

private:
    Submitter(DrmDevice& device, Wait wait, std::uint32_t context, std::uint32_t pm4_ip,
              unsigned pm4_rings, unsigned dma_rings, BufferObject ib, BufferObject vram,
              BufferObject gtt)
        : device_(device),
          wait_(wait),
          context_(context),
          pm4_ip_(pm4_ip),
          pm4_rings_(pm4_rings),
          dma_rings_(dma_rings),
          ib_(std::move(ib)),
          vram_(std::move(vram)),
          gtt_(std::move(gtt)) {}

    IoResult<bool> write(Reporter& report, std::uint32_t round);
    IoResult<bool> copy(Reporter& report, std::uint32_t round);
    IoResult<void> execute(Reporter& report, RingId ring, unsigned size_dw);
    IoResult<void> wait_driver(Reporter& report, const abi::Fence& fence);
    IoResult<void> wait_alone(Reporter& report, const abi::Fence& fence);

    DrmDevice& device_;
    Wait wait_;
    std::uint32_t context_;
    std::uint32_t pm4_ip_;
    unsigned pm4_rings_;
    unsigned dma_rings_;
    BufferObject ib_;
    BufferObject vram_;
    BufferObject gtt_;
};

IoResult<Submitter> Submitter::create(DrmDevice& device, Wait wait, std::uint32_t pm4_ip) {
    const auto context = device.create_context();
    const auto pm4_rings = device.ring_count(pm4_ip);
    const auto dma_rings = device.ring_count(abi::AMDGPU_HW_IP_DMA);
    for (const IoError* error :
         {context ? nullptr : &context.error(), pm4_rings ? nullptr : &pm4_rings.error(),
          dma_rings ? nullptr : &dma_rings.error()}) {
        if (error != nullptr) {
            return tl::unexpected(*error);
        }
    }
    if (*pm4_rings == 0 || *dma_rings == 0) {
        return io_fail("AMDGPU_INFO", ENODEV);
    }
    auto ib = device.create_buffer(4096, abi::AMDGPU_GEM_DOMAIN_GTT);
    auto vram = device.create_buffer(buffer_size, abi::AMDGPU_GEM_DOMAIN_VRAM);
    auto gtt = device.create_buffer(buffer_size, abi::AMDGPU_GEM_DOMAIN_GTT);
    if (!ib || !vram || !gtt) {
        return tl::unexpected(!ib ? ib.error() : !vram ? vram.error() : gtt.error());
    }
    return Submitter(device, wait, *context, pm4_ip, *pm4_rings, *dma_rings, std::move(*ib),
                     std::move(*vram), std::move(*gtt));
}

IoResult<const char*> Submitter::run(Reporter& report, const Limits& limits) {
    for (std::uint32_t round = 0; !stop_wanted(); ++round) {
        if (report.done_count() >= limits.count || Clock::now() >= limits.until) {
            return "done";
        }
        auto good = write(report, round);
        if (good && !*good) {
            // Memory of a GPU that is gone reads as ones: before the result is called wrong, the
            // device has to do the job once more.
            good = write(report, round).map([](bool) { return false; });
        }
        if (good) {
            report.done(*good);
            good = copy(report, round);
        }
        if (!good) {
            return stop_wanted() ? IoResult<const char*>("signal") : tl::unexpected(good.error());
        }
        report.done(*good);
        if (limits.pause.count() != 0) {
            // A signal ends the sleep, and the round after it is not begun.
            (void)::poll(nullptr, 0, static_cast<int>(limits.pause.count()));
        }
    }
    return "signal";
}

IoResult<bool> Submitter::write(Reporter& report, std::uint32_t round) {
    const std::uint32_t value = 0xc0de0000u + round;
    vram_.dwords()[0] = 0;
    gtt_.dwords()[0] = 0;
    CommandBuffer commands(ib_.dwords());
    commands.pm4_write_data(vram_.gpu_address(), value);
    commands.pm4_write_data(gtt_.gpu_address(), ~value);
    commands.pm4_pad();
    return execute(report, {pm4_ip_, round % pm4_rings_}, commands.size()).map([&] {
        return vram_.dwords()[0] == value && gtt_.dwords()[0] == ~value;
    });
}

IoResult<bool> Submitter::copy(Reporter& report, std::uint32_t round) {
    const std::uint32_t value = 0xf1110000u + round;
    gtt_.dwords()[copy_at + copy_dwords] = ~value;
    CommandBuffer commands(ib_.dwords());
    commands.sdma_fill(vram_.gpu_address() + fill_at * 4, value, copy_bytes);
    commands.sdma_copy(vram_.gpu_address() + fill_at * 4, gtt_.gpu_address() + copy_at * 4,
                       copy_bytes);
    commands.sdma_pad();
    return execute(report, {abi::AMDGPU_HW_IP_DMA, round % dma_rings_}, commands.size()).map([&] {
        bool good = gtt_.dwords()[copy_at + copy_dwords] == ~value;  // not one dword too many
        for (unsigned i = 0; i < copy_dwords; ++i) {
            good = good && gtt_.dwords()[copy_at + i] == value;
        }
        return good;
    });
}

IoResult<void> Submitter::execute(Reporter& report, RingId ring, unsigned size_dw) {
    const auto fence = submit(device_, context_, ring, ib_, size_dw, {&ib_, &vram_, &gtt_});
    if (!fence) {
        return tl::unexpected(fence.error());
    }
    return wait_ == Wait::driver ? wait_driver(report, *fence) : wait_alone(report, *fence);
}

IoResult<void> Submitter::wait_driver(Reporter& report, const abi::Fence& fence) {
    const auto started = Clock::now();
    while (!stop_wanted()) {
        const auto done = wait_fence(device_, fence, wait_slice);
        if (!done) {
            return tl::unexpected(done.error());
        }
        if (*done) {
            return {};
        }
        if (Clock::now() - started > slow) {
            report.error({"AMDGPU_WAIT_CS", ETIME},
                         {{"ring", fence.ring}, {"ip_type", fence.ip_type}});
        }
    }
    return io_fail("AMDGPU_WAIT_CS", EINTR);
}

IoResult<void> Submitter::wait_alone(Reporter& report, const abi::Fence& fence) {
    const auto sync_file = export_sync_file(device_, fence);
    if (!sync_file) {
        return tl::unexpected(sync_file.error());
    }
    while (!stop_wanted()) {
        const auto status = wait_sync_file(*sync_file, wait_slice);
        if (!status) {
            return tl::unexpected(status.error());
        }
        if (*status > 0) {
            return {};
        }
        if (*status < 0) {
            report.say("fence", {{"status", *status}});
            return io_fail("fence", -*status);
        }
    }
    return io_fail("poll", EINTR);
}

int run_client(const std::string& node, std::uint64_t count, double seconds,
               std::chrono::milliseconds pause, bool watch_fences, bool graphics) {
    Reporter report(self);
    auto device = DrmDevice::open(node);
    if (!device) {
        return report.end("device", device.error());
    }
    auto submitter =
        Submitter::create(*device, watch_fences ? Submitter::Wait::fence : Submitter::Wait::driver,
                          graphics ? abi::AMDGPU_HW_IP_GFX : abi::AMDGPU_HW_IP_COMPUTE);
    if (!submitter) {
        return report.end("device", submitter.error());
    }
    report.ready({{"node", node}});
    const auto span =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    const auto reason = submitter->run(report, {count, Clock::now() + span, pause});
    if (const auto sigbus = sigbus_count(); sigbus.faults + sigbus.sent != 0) {
        report.error({"SIGBUS", EFAULT}, {{"faults", sigbus.faults}, {"sent", sigbus.sent}});
    }
    return reason ? report.end(*reason) : report.end("device", reason.error());
}

}  // namespace
}  // namespace hp::clients

int main(int argc, char** argv) {
    hp::clients::Program program(hp::clients::self);
    std::string node;
    std::uint64_t count = std::numeric_limits<std::uint64_t>::max();
    double seconds = 1e9;
    unsigned pause_ms = 0;
    bool watch_fences = false;
    bool graphics = false;
    program.add_node(node);
    program.add_option("--count", count, "SUBMISSIONS", "end after so many submissions");
    program.add_option("--seconds", seconds, "s", "end after so long").within(0.0, 1e9);
    program
        .add_option("--pause", pause_ms, "ms",
                    "milliseconds between rounds of a compute and a copy job")
        .within(0, 60'000);
    program.add_flag("--watch-fences", watch_fences,
                     "wait for each submission by its sync_file, and say when one fails");
    program.add_flag("--graphics", graphics, "use the graphics rings instead of the compute rings");
    if (const auto status = program.parse(argc, argv)) {
        return *status;
    }
    hp::clients::handle_signals();
    return hp::clients::run_client(node, count, seconds, std::chrono::milliseconds(pause_ms),
                                   watch_fences, graphics);
}
