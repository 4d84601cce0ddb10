// SPDX-License-Identifier: GPL-2.0
// Purpose: peer, a client that lets one GPU work on a buffer of another one: the first GPU's buffer
// is imported into the address space of the second, whose SDMA copies from it. Asked after the
// first GPU's loss, it tells whether the second has lost the buffer: a submission that names it
// fails with ENODEV, and one that does not name it, as user queues do not, finds nothing at its
// address. With --unnamed no submission names it at all. Thread: one. Not modelled: which page
// tables there are, only what they lead to.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string>

#include "hotplug/in_guest/clients/command_buffer.h"
#include "hotplug/in_guest/clients/drm_device.h"
#include "hotplug/in_guest/clients/line_input.h"
#include "hotplug/in_guest/clients/program.h"
#include "hotplug/in_guest/clients/report.h"
#include "hotplug/in_guest/clients/signals.h"
#include "hotplug/in_guest/clients/submission.h"

namespace hp::clients {
namespace {

const Description self{
    .name = "peer",
    .purpose = "Makes a GPU work on a buffer of another one, and reports later what is left of it",
    .states = {{"gone", "the buffer is something else now"},
               {"named", "what a submission gave that named the buffer"},
               {"unnamed", "what a copy gave that did not"},
               {"not_shared", "the copy before the loss was wrong"}},
};

constexpr std::uint64_t buffer_size = 1u << 20;
constexpr std::uint32_t pattern = 0x600d600d;
constexpr std::uint32_t untouched = 0xdeadbeef;

struct Options {
    std::string owner;
    std::string peer;
    std::uint64_t domain = abi::AMDGPU_GEM_DOMAIN_GTT;
    bool unnamed = false;
    bool until_gone = false;
};

struct Pair {
    DrmDevice owner;
    BufferObject shared;
    Fd dma_buf;
    DrmDevice peer;
    std::uint32_t context;
    BufferObject imported;
    BufferObject copy;
    BufferObject commands;
    unsigned size_dw;
};

IoResult<Pair> make_pair(const Options& options) {
    auto owner = DrmDevice::open(options.owner);
    auto peer = owner ? DrmDevice::open(options.peer) : tl::unexpected(owner.error());
    if (!peer) {
        return tl::unexpected(peer.error());
    }
    auto shared = owner->create_buffer(buffer_size, options.domain);
    if (!shared) {
        return tl::unexpected(shared.error());
    }
    std::fill_n(shared->dwords(), buffer_size / sizeof(std::uint32_t), pattern);
    auto dma_buf = owner->export_dma_buf(*shared);
    if (!dma_buf) {
        return tl::unexpected(dma_buf.error());
    }
    auto imported = peer->import_dma_buf(*dma_buf, buffer_size);
    if (!imported) {
        return tl::unexpected(imported.error());
    }
    auto copy = peer->create_buffer(4096, abi::AMDGPU_GEM_DOMAIN_GTT);
    if (!copy) {
        return tl::unexpected(copy.error());
    }
    auto commands = peer->create_buffer(4096, abi::AMDGPU_GEM_DOMAIN_GTT);
    if (!commands) {
        return tl::unexpected(commands.error());
    }
    const auto context = peer->create_context();
    if (!context) {
        return tl::unexpected(context.error());
    }
    CommandBuffer copying(commands->dwords());
    copying.sdma_copy(imported->gpu_address(), copy->gpu_address(), sizeof(std::uint32_t));
    copying.sdma_pad();
    return Pair{std::move(*owner), std::move(*shared),   std::move(*dma_buf), std::move(*peer),
                *context,          std::move(*imported), std::move(*copy),    std::move(*commands),
                copying.size()};
}

/// What the peer finds at the buffer's address; `named`: the submission lists the buffer.
IoResult<std::uint32_t> look(const Pair& pair, bool named) {
    constexpr std::chrono::seconds patience{30};
    constexpr RingId sdma{abi::AMDGPU_HW_IP_DMA, 0};
    *pair.copy.dwords() = untouched;
    const auto fence = named ? submit(pair.peer, pair.context, sdma, pair.commands, pair.size_dw,
                                      {&pair.commands, &pair.copy, &pair.imported})
                             : submit(pair.peer, pair.context, sdma, pair.commands, pair.size_dw,
                                      {&pair.commands, &pair.copy});
    if (!fence) {
        return tl::unexpected(fence.error());
    }
    const auto done = wait_fence(pair.peer, *fence, patience);
    if (!done || !*done) {
        return done ? io_fail("AMDGPU_WAIT_CS", ETIME) : tl::unexpected(done.error());
    }
    return *pair.copy.dwords();
}

/// Looks again and again, for as long as it finds what the owner has written.
IoResult<void> look_until_gone(Reporter& report, const Pair& pair, bool named) {
    std::uint64_t looks = 0;
    std::uint32_t value = pattern;
    while (value == pattern && !stop_wanted()) {
        const auto found = look(pair, named);
        if (!found) {
            return tl::unexpected(found.error());
        }
        value = *found;
        ++looks;
    }
    if (value == pattern) {
        return {};  // told to end
    }
    report.say("gone", {{"looks", looks}, {"value", value}});
    return {};
}

IoResult<void> verify(Reporter& report, const Pair& pair, bool named_too) {
    if (named_too) {
        const auto named = look(pair, true);
        report.say("named",
                   {{"errno", named ? 0 : named.error().error}, {"value", named.value_or(0)}});
        report.done(!named && named.error().error == ENODEV);
    }
    const auto unnamed = look(pair, false);
    if (!unnamed) {
        return tl::unexpected(unnamed.error());
    }
    report.say("unnamed", {{"value", *unnamed}});
    // Anything else was copied from somewhere: from the GPU that took the first one's place.
    report.done(*unnamed == untouched);
    return {};
}

int run_client(const Options& options) {
    Reporter report(self);
    auto pair = make_pair(options);
    if (!pair) {
        return report.end("device", pair.error());
    }
    const bool named = !options.unnamed;
    const auto found = look(*pair, named);
    if (!found) {
        return report.end("device", found.error());
    }
    if (*found != pattern) {
        report.say("not_shared", {{"value", *found}});
        return report.end("wrong memory");
    }
    report.ready();
    if (options.until_gone) {
        if (const auto looked = look_until_gone(report, *pair, named); !looked) {
            return report.end("device", looked.error());
        }
    }
    LineInput input;
    if (!input.next()) {
        return report.end("signal");
    }
    if (const auto verified = verify(report, *pair, named); !verified) {
        return report.end("system", verified.error());
    }
    return report.end("done");
}

}  // namespace
}  // namespace hp::clients

int main(int argc, char** argv) {
    using namespace hp::clients;
    Program program(self);
    Options options;
    program.add_node(options.owner);
    program.add_option("peer", options.peer, "NODE", "render node of the GPU that imports it")
        .required();
    program.add_choice<std::uint64_t>(
        "--domain", options.domain, "DOMAIN", "vram or gtt: where the buffer is",
        {{"vram", abi::AMDGPU_GEM_DOMAIN_VRAM}, {"gtt", abi::AMDGPU_GEM_DOMAIN_GTT}});
    program.add_flag("--unnamed", options.unnamed, "let no submission name the buffer");
    program.add_flag("--until-gone", options.until_gone,
                     "look again and again until the buffer is something else");
    if (const auto status = program.parse(argc, argv)) {
        return *status;
    }
    handle_signals();
    return run_client(options);
}
