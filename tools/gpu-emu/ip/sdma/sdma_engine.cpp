// SPDX-License-Identifier: GPL-2.0
// Thread: device loop only.
#include "gpu-emu/ip/sdma/sdma_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "gpu-emu/ip/queue/memory_ops.h"
#include "gpu-emu/ip/queue/take_turns.h"
#include "gpu-emu/ip/vm_hub.h"

namespace gpuemu {

namespace regs = sdma_4_4_2;

namespace {

constexpr uint8_t SDMA0_4_0__SRCID__SDMA_TRAP = 224;

constexpr unsigned rlc_queues = 8;
constexpr size_t first_rlc = 2;  // behind GFX and PAGE
// RING_ID of interrupts; sdma_v4_4_2_process_trap_irq() looks at these two.
constexpr uint8_t ring_id_gfx = 0;
constexpr uint8_t ring_id_page = 1;
constexpr uint8_t ring_id_rlc = 2;

}  // namespace

SdmaEngine::SdmaEngine(const EngineContext& context, unsigned instance, const SdmaLayout& layout)
    : context_(context),
      layout_(layout),
      name_(fmt::format("sdma{}", instance)),
      unhandled_(name_) {
    RegisterFile& registers = context.registers;
    const auto add = [&](Reg first, unsigned index, std::string name, uint8_t ring_id) {
        const uint32_t dword = layout_.first_dword + first.offset + index * regs::queue_stride;
        queues_.emplace_back(registers, dword, layout_.hub, std::move(name), ring_id);
    };
    add(regs::regSDMA_GFX_RB_CNTL, 0, "gfx", ring_id_gfx);
    add(regs::regSDMA_PAGE_RB_CNTL, 0, "page", ring_id_page);
    for (unsigned rlc = 0; rlc < rlc_queues; ++rlc) {
        add(regs::regSDMA_RLC0_RB_CNTL, rlc, fmt::format("rlc{}", rlc), ring_id_rlc);
    }
    for (SdmaQueue& queue : queues_) {
        claim(queue);
    }
    registers.declare(layout_.first_dword + regs::regSDMA_STATUS_REG.offset, 1,
                      {.type = read_only, .read = [this](uint32_t) {
                           return regs::SDMA_STATUS_REG__IDLE::set(0, idle());
                       }});
}

void SdmaEngine::claim(SdmaQueue& queue) {
    const uint32_t status = queue.first_dword() + regs::CONTEXT_STATUS;
    const uint32_t end = queue.first_dword() + regs::queue_stride;
    const Register changes{.written = [this, &queue](uint32_t dword, uint32_t) {
        queue.written(dword);
        context_.kicker.kick(*this);
    }};
    context_.registers.declare(queue.first_dword(), status - queue.first_dword(), changes);
    context_.registers.declare(status + 1, end - status - 1, changes);
    // SELECTED is how sdma_v4_4_2_stop_queue() finds the queue that hangs.
    context_.registers.declare(status, 1, {.type = read_only, .read = [&queue](uint32_t) {
                                               return queue.has_work()
                                                          ? regs::CONTEXT_STATUS__SELECTED::mask
                                                          : regs::CONTEXT_STATUS__IDLE::mask;
                                           }});
}

Engine::Turn SdmaEngine::run(Budget& budget) {
    return take_turns(std::span(queues_), next_, budget, context_.memory, context_.mutator,
                      [&](SdmaQueue& queue) { return step(queue, budget); });
}

Step SdmaEngine::step(SdmaQueue& queue, Budget& budget) {
    budget.packets -= 1;
    std::array<uint32_t, sdma::max_fixed_dwords> begin{};
    const auto prefix =
        std::span(begin).first(std::min<uint64_t>(begin.size(), queue.stream.available()));
    if (!queue.stream.fetch(context_.memory, layout_.hub, 0, prefix)) {
        return fetch_failed(queue);
    }
    const auto length = sdma::length(prefix);
    const uint64_t needed = length ? length->total() : prefix.size() + 1;
    if (needed > queue.stream.available()) {
        if (queue.stream.drop_if_endless(needed)) {
            unhandled_.note("sdma_packet_beyond_buffer", sdma::OP::get(begin[0]));
            return Step::done;
        }
        return Step::wait;
    }
    budget.bytes -= length->fixed * sizeof(uint32_t);

    skip_behind_ = 0;
    enter_behind_.reset();
    const uint32_t epoch = queue.epoch();
    const Step result = execute(queue, prefix.first(length->fixed), length->payload, budget);
    if (result == Step::done && queue.epoch() == epoch) {
        queue.progress = 0;
        queue.stream.skip(needed + skip_behind_);
        if (enter_behind_) {
            queue.stream.enter(*enter_behind_);
        }
    }
    return result;
}

/// A buffer out of reach is given up, as the hardware reads zeroes there; a ring is tried again.
Step SdmaEngine::fetch_failed(SdmaQueue& queue) {
    if (!queue.stream.in_ib()) {
        return Step::wait;
    }
    unhandled_.note("sdma_indirect_buffer_fault", sdma::SDMA_OP_INDIRECT);
    queue.stream.leave_ib();
    return Step::done;
}

Step SdmaEngine::execute(SdmaQueue& queue, Packet packet, uint32_t payload_dwords, Budget& budget) {
    const uint32_t header = packet[0];
    switch (sdma::OP::get(header)) {
        case sdma::SDMA_OP_NOP:
        case sdma::SDMA_OP_PRE_EXE:  // selects among devices; this is the only one
        case sdma::SDMA_OP_GCR_REQ:  // no cache holds anything
        case sdma::SDMA_OP_DUMMY_TRAP: return Step::done;
        case sdma::SDMA_OP_COPY: return copy(queue, packet, budget);
        case sdma::SDMA_OP_WRITE: return write(queue, packet, payload_dwords, budget);
        case sdma::SDMA_OP_INDIRECT: return indirect(queue, packet);
        case sdma::SDMA_OP_FENCE: return fence(queue, packet);
        case sdma::SDMA_OP_TRAP: return trap(queue, packet);
        case sdma::SDMA_OP_POLL_REGMEM: return poll_regmem(queue, packet);
        case sdma::SDMA_OP_COND_EXE: return cond_exe(queue, packet);
        case sdma::SDMA_OP_ATOMIC: return atomic_op(queue, packet);
        case sdma::SDMA_OP_CONST_FILL: return const_fill(queue, packet, budget);
        case sdma::SDMA_OP_PTEPDE: return ptepde(queue, packet, budget);
        case sdma::SDMA_OP_TIMESTAMP: return timestamp(queue, packet);
        case sdma::SDMA_OP_SRBM_WRITE: return srbm_write(queue, packet);
        default: return unsupported(packet);
    }
}

Step SdmaEngine::fence(const SdmaQueue& queue, Packet packet) {
    const Port memory = port(queue);
    memory.write32(join(packet[1], packet[2]) & ~uint64_t{3},
                   mutated(context_.mutator, memory, sdma_fence, packet[3]));
    return Step::done;
}

Step SdmaEngine::copy(SdmaQueue& queue, Packet packet, Budget& budget) {
    if (sdma::SUB_OP::get(packet[0]) != sdma::SDMA_SUBOP_COPY_LINEAR ||
        sdma::COPY_BROADCAST::get(packet[0]) != 0) {
        return unsupported(packet);
    }
    return copy_bytes(port(queue), join(packet[3], packet[4]), join(packet[5], packet[6]),
                      uint64_t{sdma::BYTE_COUNT::get(packet[1])} + 1, queue.progress, budget);
}

/// The data is in the packet: progress counts its dwords.
Step SdmaEngine::write(SdmaQueue& queue, Packet packet, uint32_t payload_dwords, Budget& budget) {
    if (sdma::SUB_OP::get(packet[0]) != sdma::SDMA_SUBOP_WRITE_LINEAR) {
        return unsupported(packet);
    }
    const uint64_t address = join(packet[1], packet[2]) & ~uint64_t{3};
    std::array<uint32_t, 64> buffer{};
    while (queue.progress < payload_dwords) {
        const auto data = std::span(buffer).first(
            std::min<uint64_t>(buffer.size(), payload_dwords - queue.progress));
        if (!queue.stream.fetch(context_.memory, layout_.hub, packet.size() + queue.progress,
                                data)) {
            return Step::done;
        }
        const uint64_t destination = address + queue.progress * sizeof(uint32_t);
        const bool written = data.size() == 1 ? port(queue).write32(destination, data[0])
                                              : port(queue).write(destination, std::as_bytes(data));
        if (!written) {
            return Step::done;
        }
        queue.progress += data.size();
        budget.bytes -= static_cast<int64_t>(data.size_bytes());
        if (budget.bytes <= 0 && queue.progress < payload_dwords) {
            return Step::again;
        }
    }
    return Step::done;
}

Step SdmaEngine::indirect(SdmaQueue& queue, Packet packet) {
    if (queue.stream.in_ib()) {
        unhandled_.note("sdma_nested_indirect_buffer", sdma::SDMA_OP_INDIRECT);
        return Step::done;
    }
    // A user's queue cannot name another VMID.
    const unsigned vmid = queue.vmid() != 0 ? queue.vmid() : sdma::INDIRECT_VMID::get(packet[0]);
    enter_behind_ = {join(packet[1], packet[2]) & sdma::ib_base_mask, sdma::IB_SIZE::get(packet[3]),
                     vmid};
    return Step::done;
}

Step SdmaEngine::trap(const SdmaQueue& queue, Packet packet) {
    context_.interrupts.raise({.client_id = layout_.ih_client,
                               .source_id = SDMA0_4_0__SRCID__SDMA_TRAP,
                               .ring_id = queue.ring_id(),
                               .vmid = static_cast<uint8_t>(queue.stream.vmid()),
                               .pasid = queue.owner().pasid,
                               .node_id = layout_.ih_node,
                               .data = {sdma::INT_CONTEXT::get(packet[1]), 0, 0, 0}});
    return Step::done;
}

Step SdmaEngine::poll_regmem(SdmaQueue& queue, Packet packet) {
    if (sdma::SUB_OP::get(packet[0]) == sdma::SDMA_SUBOP_VM_INVALIDATION) {
        return vm_invalidation(queue, packet);
    }
    if (sdma::SUB_OP::get(packet[0]) != sdma::SDMA_SUBOP_POLL_REGMEM) {
        return unsupported(packet);
    }
    const uint32_t reference = packet[3];
    uint32_t value = 0;
    if (sdma::POLL_MEM_POLL::get(packet[0])) {
        const auto read = port(queue).read32(join(packet[1], packet[2]) & ~uint64_t{3});
        if (!read) {
            return Step::wait;
        }
        value = *read;
    } else if (join(packet[1], packet[2]) == sdma::hdp_flush_address) {
        return Step::done;  // no write through the BAR is on its way
    } else if (queue.stream.vmid() != 0) {
        unhandled_.note("sdma_register_refused", sdma::SDMA_OP_POLL_REGMEM);
        return Step::done;
    } else {
        // A flush first asks: sdma_v4_4_2_ring_emit_hdp_flush() names the DONE register, then the
        // REQ register.
        if (sdma::POLL_HDP_FLUSH::get(packet[0]) && queue.progress == 0) {
            context_.registers.write(sdma::SRBM_ADDR::get(packet[2] >> 2), reference);
            queue.progress = 1;
        }
        value = context_.registers.read(sdma::SRBM_ADDR::get(packet[1] >> 2));
    }
    return compare(sdma::POLL_FUNC::get(packet[0]), value & packet[4], reference) ? Step::done
                                                                                  : Step::wait;
}

/// Asks an engine of the hub for what sdma_v5_2_ring_emit_vm_flush() says. There is no wait for it
/// here: it is acknowledged at once.
Step SdmaEngine::vm_invalidation(const SdmaQueue& queue, Packet packet) {
    if (queue.stream.vmid() != 0) {
        unhandled_.note("sdma_register_refused", sdma::SDMA_OP_POLL_REGMEM);
        return Step::done;
    }
    const auto ask = [&](const VmHubLayout& hub, uint32_t engine) {
        if (engine < VmHub::invalidation_engines) {  // else there is none
            context_.registers.write(at(hub.ip, hub.VM_INVALIDATE_ENG0_REQ) + engine, packet[1]);
        }
    };
    ask(gfx_hub_layout(context_.profile), sdma::VM_INVALIDATION_GFX_ENG_ID::get(packet[0]));
    ask(mm_hub_layout(context_.profile), sdma::VM_INVALIDATION_MM_ENG_ID::get(packet[0]));
    return Step::done;
}

Step SdmaEngine::cond_exe(const SdmaQueue& queue, Packet packet) {
    if (port(queue).read32(join(packet[1], packet[2]) & ~uint64_t{3}) != packet[3]) {
        skip_behind_ = sdma::EXEC_COUNT::get(packet[4]);
    }
    return Step::done;
}

Step SdmaEngine::atomic_op(const SdmaQueue& queue, Packet packet) {
    const uint32_t op = sdma::ATOMIC_OP::get(packet[0]);
    if (!is_integer_atomic(op)) {
        return unsupported(packet);
    }
    const uint64_t comparand = join(packet[5], packet[6]);
    const auto old =
        atomic(port(queue), op, join(packet[1], packet[2]), join(packet[3], packet[4]), comparand);
    const bool loops = sdma::ATOMIC_LOOP::get(packet[0]) != 0;
    return loops && old && !is_satisfied(op, *old, comparand) ? Step::wait : Step::done;
}

Step SdmaEngine::const_fill(SdmaQueue& queue, Packet packet, Budget& budget) {
    if (sdma::SUB_OP::get(packet[0]) != sdma::SDMA_SUBOP_CONST_FILL) {
        return unsupported(packet);
    }
    // The driver leaves FILLSIZE at 0 and means dwords (sdma_v4_4_2_emit_fill_buffer()).
    const Port memory = port(queue);
    const uint32_t value =
        memory.vmid == 0 ? packet[3] : context_.mutator.word(Surface::fills, 0, packet[3]);
    return fill_bytes(memory, join(packet[1], packet[2]), value,
                      uint64_t{sdma::BYTE_COUNT::get(packet[4])} + 1, queue.progress, budget);
}

/// Writes page table entries that count up; progress counts them.
Step SdmaEngine::ptepde(SdmaQueue& queue, Packet packet, Budget& budget) {
    if (sdma::SUB_OP::get(packet[0]) != sdma::SDMA_SUBOP_PTEPDE_GEN) {
        return unsupported(packet);
    }
    const uint64_t table = join(packet[1], packet[2]) & ~uint64_t{7};
    const uint64_t flags = join(packet[3], packet[4]);
    const uint64_t first = join(packet[5], packet[6]);
    const uint64_t increment = join(packet[7], packet[8]);
    const uint64_t count = uint64_t{sdma::PTEPDE_COUNT::get(packet[9])} + 1;
    while (queue.progress < count) {
        const uint64_t entry = (first + queue.progress * increment) | flags;
        if (!port(queue).write64(table + queue.progress * sizeof(entry), entry)) {
            return Step::done;
        }
        queue.progress += 1;
        budget.bytes -= sizeof(entry);
        if (budget.bytes <= 0 && queue.progress < count) {
            return Step::again;
        }
    }
    return Step::done;
}

Step SdmaEngine::timestamp(const SdmaQueue& queue, Packet packet) {
    // SET loads the local counter, which nothing reads here; both GETs give the one clock.
    if (sdma::SUB_OP::get(packet[0]) != sdma::SDMA_SUBOP_TIMESTAMP_SET) {
        port(queue).write64(join(packet[1], packet[2]) & ~uint64_t{7}, context_.gpu_clock());
    }
    return Step::done;
}

Step SdmaEngine::srbm_write(const SdmaQueue& queue, Packet packet) {
    if (queue.stream.vmid() != 0) {
        unhandled_.note("sdma_register_refused", sdma::SDMA_OP_SRBM_WRITE);
        return Step::done;
    }
    uint32_t mask = 0;
    for (unsigned byte = 0; byte < 4; ++byte) {
        mask |= (sdma::SRBM_BYTE_EN::get(packet[0]) >> byte & 1) * (0xffu << (8 * byte));
    }
    const uint32_t dword = sdma::SRBM_ADDR::get(packet[1]);
    const uint32_t kept = mask == ~0u ? 0 : context_.registers.read(dword) & ~mask;
    context_.registers.write(dword, kept | (packet[2] & mask));
    return Step::done;
}

Step SdmaEngine::unsupported(Packet packet) {
    unhandled_.note("sdma_unsupported_packet", static_cast<uint8_t>(sdma::OP::get(packet[0])));
    return Step::done;
}

Port SdmaEngine::port(const SdmaQueue& queue) const {
    return {context_.memory, layout_.hub, queue.stream.vmid()};
}

bool SdmaEngine::ring_doorbell(uint32_t index, uint64_t value) {
    bool owned = false;
    for (SdmaQueue& queue : queues_) {
        owned = queue.ring(index, value) || owned;
    }
    if (owned) {
        context_.kicker.kick(*this);
    }
    return owned;
}

bool SdmaEngine::map_queue(const MapRequest& request) {
    const auto rlc = std::span(queues_).subspan(first_rlc);
    const auto free = std::ranges::find(rlc, false, &SdmaQueue::active);
    if (free == rlc.end() || !free->map(context_.memory, request)) {
        return false;
    }
    context_.kicker.kick(*this);
    return true;
}

void SdmaEngine::unmap_queues(const QueueSelector& selected) {
    for (SdmaQueue& queue : std::span(queues_).subspan(first_rlc)) {
        if (queue.active() && selected(queue.owner(), queue.doorbell())) {
            queue.unmap(context_.memory);
        }
    }
}

void SdmaEngine::reset() {
    for (SdmaQueue& queue : queues_) {
        queue.reset();
    }
    const uint32_t end =
        queues_.front().first_dword() + static_cast<uint32_t>(queues_.size()) * regs::queue_stride;
    context_.registers.clear(layout_.first_dword, end - layout_.first_dword);
    next_ = 0;
}

std::string SdmaEngine::describe() const {
    std::string lines;
    for (const SdmaQueue& queue : queues_) {
        if (queue.active()) {
            lines += fmt::format("{} {} vmid {} doorbell {:#x} rptr {} wptr {}\n", name_,
                                 queue.name(), queue.vmid(), queue.doorbell().value_or(0),
                                 queue.stream.rptr(), queue.stream.wptr());
        }
    }
    return lines + unhandled_.describe();
}

bool SdmaEngine::idle() const {
    return std::ranges::none_of(queues_, &SdmaQueue::has_work);
}

}  // namespace gpuemu
