// SPDX-License-Identifier: GPL-2.0
// Purpose: always_valid, a client that keeps buffers of its VM's bulk move (VM_ALWAYS_VALID) until
// standard input ends. Closing the node frees them in the order of their handles; the newest one
// gets the lowest handle, so that the last on the LRU list is freed first.
// Thread: one.
#include <string>
#include <vector>

#include "hotplug/in_guest/clients/drm_device.h"
#include "hotplug/in_guest/clients/line_input.h"
#include "hotplug/in_guest/clients/program.h"
#include "hotplug/in_guest/clients/report.h"
#include "hotplug/in_guest/clients/signals.h"

namespace hp::clients {
namespace {

const Description self{
    .name = "always_valid",
    .purpose = "Keeps buffers of the bulk move of a GPU's address space",
};

constexpr unsigned kept = 4;
constexpr std::uint64_t buffer_size = 1u << 20;

IoResult<BufferObject> create(DrmDevice& device) {
    return device.create_object(buffer_size, abi::AMDGPU_GEM_DOMAIN_GTT,
                                abi::AMDGPU_GEM_CREATE_VM_ALWAYS_VALID);
}

IoResult<std::vector<BufferObject>> create_in_awkward_order(DrmDevice& device) {
    std::vector<BufferObject> buffers;
    auto lowest_handle = create(device);
    if (!lowest_handle) {
        return tl::unexpected(lowest_handle.error());
    }
    while (buffers.size() + 1 < kept) {
        auto buffer = create(device);
        if (!buffer) {
            return tl::unexpected(buffer.error());
        }
        buffers.push_back(std::move(*buffer));
    }
    if (const auto closed = lowest_handle->close(); !closed) {
        return tl::unexpected(closed.error());
    }
    auto last = create(device);
    if (!last) {
        return tl::unexpected(last.error());
    }
    buffers.push_back(std::move(*last));
    return buffers;
}

int run_client(const std::string& node) {
    Reporter report(self);
    auto device = DrmDevice::open(node);
    if (!device) {
        return report.end("device", device.error());
    }
    const auto buffers = create_in_awkward_order(*device);
    if (!buffers) {
        return report.end("device", buffers.error());
    }
    report.ready({{"buffers", kept}, {"last_handle", buffers->back().handle()}});
    LineInput input;
    while (input.next()) {
    }
    device->close();
    return report.end("done");
}

}  // namespace
}  // namespace hp::clients

int main(int argc, char** argv) {
    hp::clients::Program program(hp::clients::self);
    std::string node;
    program.add_node(node);
    if (const auto status = program.parse(argc, argv)) {
        return *status;
    }
    hp::clients::handle_signals();
    return hp::clients::run_client(node);
}
