// SPDX-License-Identifier: GPL-2.0
// Thread: device loop only.
#include "gpu-emu/ip/cp/aql.h"

#include <optional>
#include <span>

#include "gpu-emu/ip/cp/compute_queue.h"
#include "gpu-emu/ip/cp/pm4.h"
#include "gpu-emu/ip/queue/port.h"

namespace gpuemu {
namespace {

/// hsa_signal_condition32_t.
bool holds(uint32_t condition, int64_t value, int64_t reference) {
    switch (condition) {
        case 0: return value == reference;
        case 1: return value != reference;
        case 2: return value < reference;
        case 3: return value >= reference;
        default: return true;
    }
}

uint64_t dword_pair(const aql::Packet& packet, unsigned dword) {
    return join(packet[dword], packet[dword + 1]);
}

uint64_t front_address(const ComputeQueue& queue) {
    return queue.stream.base() + queue.stream.ring_position() * 4;
}

Port port_of(const EngineContext& context, const ComputeQueue& queue) {
    return {context.memory, context.gfx_hub(), queue.vmid()};
}

}  // namespace

Step AqlExecutor::step(ComputeQueue& queue, Budget& budget) {
    aql::Packet packet;
    budget.packets -= 1;
    budget.bytes -= aql::packet_bytes;
    if (!queue.stream.fetch(context_.memory, context_.gfx_hub(), 0, packet)) {
        return Step::wait;  // the ring itself is out of reach: nothing can be skipped
    }
    const Step step = execute(queue, packet);
    if (step == Step::done && !queue.stream.in_ib()) {
        complete(queue);
    }
    return step;
}

Step AqlExecutor::execute(ComputeQueue& queue, const aql::Packet& packet) {
    const uint8_t type = packet[0] & 0xff;
    switch (type) {
        case aql::INVALID: return Step::wait;  // reserved by its writer, not published yet
        case aql::BARRIER_AND: return barrier(queue, packet, true);
        case aql::BARRIER_OR: return barrier(queue, packet, false);
        case aql::VENDOR_SPECIFIC: return vendor_specific(queue, packet);
        case aql::KERNEL_DISPATCH:
        case aql::AGENT_DISPATCH: unhandled_.note("aql_dispatch_not_run", type); return Step::done;
        default: unhandled_.note("aql_unknown_type", type); return Step::done;
    }
}

Step AqlExecutor::barrier(const ComputeQueue& queue, const aql::Packet& packet, bool all) {
    const Port port = port_of(context_, queue);
    unsigned dependencies = 0;
    unsigned satisfied = 0;
    for (unsigned dword = 2; dword < 12; dword += 2) {
        const uint64_t handle = dword_pair(packet, dword);
        if (handle != 0) {
            ++dependencies;
            satisfied += port.read64(handle + aql::SIGNAL_VALUE) == uint64_t{0};
        }
    }
    const bool open = dependencies == 0 || (all ? satisfied == dependencies : satisfied > 0);
    return open ? Step::done : Step::wait;
}

Step AqlExecutor::barrier_value(const ComputeQueue& queue, const aql::Packet& packet) {
    const uint64_t handle = dword_pair(packet, 2);
    if (handle == 0) {
        return Step::done;
    }
    const auto value = port_of(context_, queue).read64(handle + aql::SIGNAL_VALUE);
    if (!value) {
        return Step::wait;
    }
    const auto masked = static_cast<int64_t>(*value & dword_pair(packet, 6));
    return holds(packet[8], masked, static_cast<int64_t>(dword_pair(packet, 4))) ? Step::done
                                                                                 : Step::wait;
}

Step AqlExecutor::vendor_specific(ComputeQueue& queue, const aql::Packet& packet) {
    const uint8_t format = packet[0] >> 16 & 0xff;
    switch (format) {
        case aql::AMD_AQL_FORMAT_PM4_IB:
            // ib_jump_cmd: a PACKET3_INDIRECT_BUFFER of four dwords.
            queue.stream.enter({dword_pair(packet, 2) & pm4::ib_address_mask,
                                pm4::INDIRECT_BUFFER__IB_SIZE::get(packet[4]), queue.vmid()});
            return Step::done;
        case aql::AMD_AQL_FORMAT_BARRIER_VALUE: return barrier_value(queue, packet);
        default: unhandled_.note("aql_unknown_vendor_format", format); return Step::done;
    }
}

void AqlExecutor::complete(ComputeQueue& queue) {
    if (queue.owner().role == QueueRole::follower) {
        queue.stream.skip(aql::packet_dwords);  // the leader tells everybody else
        return;
    }
    const Port port = port_of(context_, queue);
    const uint64_t address = front_address(queue);
    aql::Packet packet;
    const bool readable = port.read(address, std::as_writable_bytes(std::span(packet)));
    if (readable) {
        port.write32(address, (packet[0] & ~0xffu) | aql::INVALID);
    }
    queue.stream.skip(aql::packet_dwords);
    queue.report_rptr(context_.memory, context_.mutator);
    // Last: whoever waits for the signal may free the queue at once.
    if (const uint64_t handle = readable ? dword_pair(packet, 14) : 0; handle != 0) {
        signal(queue, handle);
    }
}

void AqlExecutor::signal(const ComputeQueue& queue, uint64_t handle) {
    const Port port = port_of(context_, queue);
    const uint64_t now = context_.gpu_clock();
    port.write64(handle + aql::SIGNAL_START_TS, now);
    port.write64(handle + aql::SIGNAL_END_TS, now);
    const auto mailbox = port.read64(handle + aql::SIGNAL_EVENT_MAILBOX_PTR);
    const auto event = port.read32(handle + aql::SIGNAL_EVENT_ID);
    // The value last: whoever sees it may free the signal.
    const auto old = context_.memory.fetch_add64(context_.gfx_hub(), queue.vmid(),
                                                 handle + aql::SIGNAL_VALUE, ~uint64_t{0});
    if (!old || !mailbox || !event || *mailbox == 0) {
        return;
    }
    port.write64(*mailbox, *event);
    context_.interrupts.raise(queue.interrupt(GFX_9_0__SRCID__CP_EOP_INTERRUPT, *event));
}

}  // namespace gpuemu
