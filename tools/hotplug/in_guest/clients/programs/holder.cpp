// SPDX-License-Identifier: GPL-2.0
// Purpose: holder, a client that does nothing but keep what a GPU gave it: an open node, a mapped
// buffer, a dma-buf of it, and a sync_file; over the GPU's loss, and until told to let go. Thread:
// one.
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/sync_file.h>
#include <sys/mman.h>

#include <cstdint>
#include <optional>
#include <string>

#include "hotplug/in_guest/clients/command_buffer.h"
#include "hotplug/in_guest/clients/drm_device.h"
#include "hotplug/in_guest/clients/line_input.h"
#include "hotplug/in_guest/clients/mapping.h"
#include "hotplug/in_guest/clients/program.h"
#include "hotplug/in_guest/clients/report.h"
#include "hotplug/in_guest/clients/signals.h"
#include "hotplug/in_guest/clients/submission.h"

namespace hp::clients {
namespace {

const Description self{
    .name = "holder",
    .purpose = "Keeps an open node, a mapped buffer, a dma-buf and a sync_file of a GPU",
    .states = {{"read", "what was read through both mappings"},
               {"status", "the status of the fence"},
               {"closed", "what it has let go of"}},
};

using nlohmann::json;

constexpr std::uint64_t buffer_size = 1u << 20;
constexpr std::uint32_t pattern = 0x600d600d;

struct Held {
    DrmDevice device;
    BufferObject buffer;
    Fd dma_buf;
    Mapping dma_buf_mapping;
    Fd sync_file;
};

IoResult<Mapping> map_dma_buf(const Fd& dma_buf) {
    void* address =
        ::mmap(nullptr, buffer_size, PROT_READ | PROT_WRITE, MAP_SHARED, dma_buf.get(), 0);
    if (address == MAP_FAILED) {
        return io_fail("mmap of the dma-buf");
    }
    return Mapping(address, buffer_size);
}

/// A sync_file of a real submission: SDMA fills the buffer with the pattern.
IoResult<Fd> fill_buffer(DrmDevice& device, const BufferObject& buffer) {
    const auto context = device.create_context();
    if (!context) {
        return tl::unexpected(context.error());
    }
    const auto ib = device.create_buffer(4096, abi::AMDGPU_GEM_DOMAIN_GTT);
    if (!ib) {
        return tl::unexpected(ib.error());
    }
    CommandBuffer commands(ib->dwords());
    commands.sdma_fill(buffer.gpu_address(), pattern, buffer_size);
    commands.sdma_pad();
    const auto fence =
        submit(device, *context, {abi::AMDGPU_HW_IP_DMA, 0}, *ib, commands.size(), {&*ib, &buffer});
    if (!fence) {
        return tl::unexpected(fence.error());
    }
    auto sync_file = export_sync_file(device, *fence);
    constexpr std::chrono::seconds patience{30};
    const auto done = wait_fence(device, *fence, patience);
    if (!done || !*done) {
        return done ? io_fail("AMDGPU_WAIT_CS", ETIME) : tl::unexpected(done.error());
    }
    return sync_file;
}

IoResult<Held> take_hold(const std::string& node) {
    auto device = DrmDevice::open(node);
    if (!device) {
        return tl::unexpected(device.error());
    }
    auto buffer = device->create_buffer(buffer_size, abi::AMDGPU_GEM_DOMAIN_VRAM);
    if (!buffer) {
        return tl::unexpected(buffer.error());
    }
    auto sync_file = fill_buffer(*device, *buffer);
    if (!sync_file) {
        return tl::unexpected(sync_file.error());
    }
    auto dma_buf = device->export_dma_buf(*buffer);
    if (!dma_buf) {
        return tl::unexpected(dma_buf.error());
    }
    auto mapping = map_dma_buf(*dma_buf);
    if (!mapping) {
        return tl::unexpected(mapping.error());
    }
    return Held{std::move(*device), std::move(*buffer), std::move(*dma_buf), std::move(*mapping),
                std::move(*sync_file)};
}

struct Read {
    bool faulted;  ///< there was no memory behind the mapping any more
    std::uint32_t value;

    /// What was written, or, of a GPU that is gone, nothing: never what is someone else's.
    bool good() const { return !faulted && (value == pattern || value == 0); }
    json members() const {
        return {{"faulted", faulted}, {"value", value}, {"as_written", value == pattern}};
    }
};

/// One read through a mapping.
Read read_through(volatile std::uint32_t* dwords) {
    const auto before = sigbus_count().faults;
    const std::uint32_t value = dwords[0];
    return {sigbus_count().faults != before, value};
}

/// The fence's status as the kernel tells it: 1 signalled, 0 not yet, negative errno: signalled
/// with that error.
IoResult<int> fence_status(const Fd& sync_file) {
    sync_file_info info{};
    return io_call(sync_file.get(), SYNC_IOC_FILE_INFO, &info, "SYNC_IOC_FILE_INFO").map([&] {
        return info.status;
    });
}

void say_read(Reporter& report, const Held& held) {
    const Read bo = read_through(held.buffer.dwords());
    const Read dma_buf = read_through(held.dma_buf_mapping.dwords());
    report.say("read", {{"bo", bo.members()}, {"dma_buf", dma_buf.members()}});
    report.done(bo.good() && dma_buf.good());
}

void say_status(Reporter& report, const Held& held) {
    dma_buf_sync sync{DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ};
    if (const auto synced =
            io_call(held.dma_buf.get(), DMA_BUF_IOCTL_SYNC, &sync, "DMA_BUF_IOCTL_SYNC");
        !synced) {
        report.error(synced.error());
    } else {
        sync.flags = DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ;
        if (const auto ended =
                io_call(held.dma_buf.get(), DMA_BUF_IOCTL_SYNC, &sync, "DMA_BUF_IOCTL_SYNC");
            !ended) {
            report.error(ended.error());
        }
    }
    const auto status = fence_status(held.sync_file);
    if (!status) {
        report.error(status.error());
        return;
    }
    report.say("status", {{"fence", *status}});
}

/// The order in which user space usually lets go: users of the buffer first, the node last.
void let_go(Reporter& report, Held& held) {
    held.sync_file.reset();
    report.say("closed", {{"what", "sync_file"}});
    held.dma_buf_mapping.reset();
    held.dma_buf.reset();
    report.say("closed", {{"what", "dma_buf"}});
    held.buffer.unmap();
    if (const auto closed = held.buffer.close(); !closed) {
        report.error(closed.error());
    }
    report.say("closed", {{"what", "bo"}});
    held.device.close();
    report.say("closed", {{"what", "node"}});
}

int run_client(const std::string& node) {
    Reporter report(self);
    auto held = take_hold(node);
    if (!held) {
        return report.end("device", held.error());
    }
    report.ready({{"node", node}});
    LineInput input;
    const char* reason = "signal";
    while (const auto line = input.next()) {
        if (*line == "read") {
            say_read(report, *held);
        } else if (*line == "status") {
            say_status(report, *held);
        } else if (*line == "close") {
            reason = "done";
            break;
        } else {
            report.say(
                "error",
                {{"op", "stdin"}, {"errno", EINVAL}, {"error", "want read, status or close"}});
        }
    }
    let_go(report, *held);
    return report.end(reason);
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
