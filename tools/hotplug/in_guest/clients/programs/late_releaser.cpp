// SPDX-License-Identifier: GPL-2.0
// Purpose: late_releaser, a client that lets go of its buffers while the driver takes the GPU down:
// it keeps GTT buffers by dma-bufs only, and closes them, the oldest first, from the moment on that
// ioctls say the GPU is gone. Write-combined ones: TTM clears their pages when it gets them back,
// so that nearly all of the time one buffer is on its way out. Thread: one.
#include <sched.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <vector>

#include "hotplug/in_guest/clients/drm_device.h"
#include "hotplug/in_guest/clients/program.h"
#include "hotplug/in_guest/clients/report.h"
#include "hotplug/in_guest/clients/signals.h"

namespace hp::clients {
namespace {

const Description self{
    .name = "late_releaser",
    .purpose = "Releases GTT buffers once their GPU is gone",
    .states = {{"releasing", "the GPU is gone, and its buffers go"}},
};

struct Options {
    std::string node;
    unsigned count = 24;
    unsigned size_mib = 32;
};

IoResult<std::vector<Fd>> allocate(DrmDevice& device, const Options& options) {
    std::vector<Fd> buffers;
    for (unsigned i = 0; i < options.count; ++i) {
        // The object's handle ends here, the dma-buf keeps it.
        const auto object =
            device.create_object(std::uint64_t{options.size_mib} << 20, abi::AMDGPU_GEM_DOMAIN_GTT,
                                 abi::AMDGPU_GEM_CREATE_CPU_GTT_USWC);
        if (!object) {
            return tl::unexpected(object.error());
        }
        auto exported = device.export_dma_buf(*object);
        if (!exported) {
            return tl::unexpected(exported.error());
        }
        buffers.push_back(std::move(*exported));
    }
    return buffers;
}

int run_client(const Options& options) {
    Reporter report(self);
    auto device = DrmDevice::open(options.node);
    if (!device) {
        return report.end("device", device.error());
    }
    auto buffers = allocate(*device, options);
    if (!buffers) {
        return report.end("device", buffers.error());
    }
    report.ready({{"buffers", options.count}, {"mib_each", options.size_mib}});
    // Nothing tells a client of the loss: asking, without a pause, is the way to be early.
    auto rings = device->ring_count(abi::AMDGPU_HW_IP_COMPUTE);
    for (; rings; rings = device->ring_count(abi::AMDGPU_HW_IP_COMPUTE)) {
        if (stop_wanted()) {
            return report.end("signal");
        }
        ::sched_yield();
    }
    if (rings.error().error != ENODEV) {
        return report.end("device", rings.error());
    }
    report.say("releasing");
    for (Fd& buffer : *buffers) {
        buffer.reset();
        report.done(true);
    }
    return report.end("done");
}

}  // namespace
}  // namespace hp::clients

int main(int argc, char** argv) {
    hp::clients::Program program(hp::clients::self);
    hp::clients::Options options;
    program.add_node(options.node);
    program.add_option("--count", options.count, "BUFFERS", "buffers").within(1, 4096);
    program.add_option("--size-mib", options.size_mib, "MiB", "size of each").within(1, 1024);
    if (const auto status = program.parse(argc, argv)) {
        return *status;
    }
    hp::clients::handle_signals();
    return hp::clients::run_client(options);
}
