// SPDX-License-Identifier: GPL-2.0
// Purpose: mapper, a client whose work is page-table updates: it makes a buffer, maps it for the
// GPU, and lets go of it, again and again. amdgpu writes the page tables of such a client with
// SDMA. Thread: one.
#include <cstdint>
#include <string>

#include "hotplug/in_guest/clients/drm_device.h"
#include "hotplug/in_guest/clients/program.h"
#include "hotplug/in_guest/clients/report.h"
#include "hotplug/in_guest/clients/signals.h"

namespace hp::clients {
namespace {

const Description self{
    .name = "mapper",
    .purpose = "Maps and unmaps buffers for a GPU, one after the other",
};

struct Options {
    std::string node;
    std::uint64_t count = 0;
    unsigned size_mib = 4;
};

int run_client(const Options& options) {
    Reporter report(self);
    auto device = DrmDevice::open(options.node);
    if (!device) {
        return report.end("device", device.error());
    }
    report.ready({{"node", options.node}});
    while (!stop_wanted()) {
        if (options.count != 0 && report.done_count() == options.count) {
            return report.end("done");
        }
        // System memory: its pages lie apart, so that each has an entry of its own to be written.
        auto buffer = device->create_buffer(std::uint64_t{options.size_mib} << 20,
                                            abi::AMDGPU_GEM_DOMAIN_GTT);
        if (!buffer) {
            return report.end("device", buffer.error());
        }
        buffer->unmap();
        if (const auto closed = buffer->close(); !closed) {
            return report.end("device", closed.error());
        }
        report.done(true);
    }
    return report.end("signal");
}

}  // namespace
}  // namespace hp::clients

int main(int argc, char** argv) {
    hp::clients::Program program(hp::clients::self);
    hp::clients::Options options;
    program.add_node(options.node);
    program.add_option("--count", options.count, "BUFFERS", "end after so many buffers; 0: never");
    program.add_option("--size-mib", options.size_mib, "MiB", "size of each").within(1, 1024);
    if (const auto status = program.parse(argc, argv)) {
        return *status;
    }
    hp::clients::handle_signals();
    return hp::clients::run_client(options);
}
