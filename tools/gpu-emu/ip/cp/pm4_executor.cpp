// SPDX-License-Identifier: GPL-2.0
// Thread: device loop only.
#include "gpu-emu/ip/cp/pm4_executor.h"

#include "gpu-emu/ip/cp/xcc_group.h"
#include "gpu-emu/ip/queue/memory_ops.h"
#include "gpu-emu/ip/regs/gc_9_4_3.h"

namespace gpuemu {

namespace gc = gc_9_4_3;

namespace {

// ivsrcid/gfx/irqsrcs_gfx_9_0.h.
constexpr uint8_t GFX_9_0__SRCID__CP_IB2_INTERRUPT_PKT = 178;
constexpr uint8_t GFX_9_0__SRCID__CP_PRIV_REG_FAULT = 184;

}  // namespace

Pm4Executor::Pm4Executor(const EngineContext& context, UnhandledPackets& unhandled)
    : context_(context), unhandled_(unhandled), gc_(gc_layout(context.profile, context.xcc)) {
    using enum pm4::Opcode;
    for (const pm4::Opcode no_effect :
         {PACKET3_NOP, PACKET3_SET_BASE, PACKET3_CLEAR_STATE, PACKET3_DISPATCH_DIRECT,
          PACKET3_DISPATCH_INDIRECT, PACKET3_CONTEXT_CONTROL, PACKET3_INDIRECT_BUFFER_CNST,
          PACKET3_PFP_SYNC_ME, PACKET3_EVENT_WRITE, PACKET3_PREAMBLE_CNTL, PACKET3_ACQUIRE_MEM,
          PACKET3_SWITCH_BUFFER, PACKET3_FRAME_CONTROL, PACKET3_INVALIDATE_TLBS,
          PACKET3_RUN_CLEANER_SHADER, PACKET3_RUN_CLEANER_SHADER_9_0}) {
        add(no_effect, &Pm4Executor::nop, 0);
    }
    add(PACKET3_SET_CONFIG_REG, &Pm4Executor::set_config_reg, 2, true);
    add(PACKET3_SET_CONTEXT_REG, &Pm4Executor::set_context_reg, 2);
    add(PACKET3_SET_CONTEXT_REG_INDEX, &Pm4Executor::set_context_reg, 2);
    add(PACKET3_SET_SH_REG, &Pm4Executor::set_sh_reg, 2);
    add(PACKET3_SET_SH_REG_INDEX, &Pm4Executor::set_sh_reg, 2);
    add(PACKET3_SET_UCONFIG_REG, &Pm4Executor::set_uconfig_reg, 2);
    add(PACKET3_SET_UCONFIG_REG_INDEX, &Pm4Executor::set_uconfig_reg, 2);
    add(PACKET3_WRITE_DATA, &Pm4Executor::write_data, 4);
    add(PACKET3_WAIT_REG_MEM, &Pm4Executor::wait_reg_mem, 6);
    add(PACKET3_INDIRECT_BUFFER, &Pm4Executor::indirect_buffer, 3);
    add(PACKET3_COPY_DATA, &Pm4Executor::copy_data, 5);
    add(PACKET3_RELEASE_MEM, &Pm4Executor::release_mem, 7);
    add(PACKET3_DMA_DATA, &Pm4Executor::dma_data, 6);
    add(PACKET3_ATOMIC_MEM, &Pm4Executor::atomic_mem, 8);
    add(PACKET3_COND_EXEC, &Pm4Executor::cond_exec, 4);
    add(PACKET3_PRED_EXEC, &Pm4Executor::pred_exec, 1);
}

Pm4Executor::Pm4Executor(const EngineContext& context, Hws& hws, UnhandledPackets& unhandled)
    : Pm4Executor(context, unhandled) {
    using enum pm4::Opcode;
    hws_ = &hws;
    add(PACKET3_SET_RESOURCES, &Pm4Executor::set_resources, 7, true);
    add(PACKET3_MAP_PROCESS, &Pm4Executor::map_process, 3, true);
    add(PACKET3_MAP_QUEUES, &Pm4Executor::map_queues, 6, true);
    add(PACKET3_UNMAP_QUEUES, &Pm4Executor::unmap_queues, 5, true);
    add(PACKET3_QUERY_STATUS, &Pm4Executor::query_status, 6, true);
    add(PACKET3_RUN_LIST, &Pm4Executor::run_list, 3, true);
    add(PACKET3_INVALIDATE_TLBS, &Pm4Executor::invalidate_tlbs, 1, true);
}

void Pm4Executor::add(pm4::Opcode opcode, Handler handler, uint32_t body_dwords, bool privileged) {
    table_[opcode] = {handler, body_dwords, privileged};
}

Step Pm4Executor::step(ComputeQueue& queue, Budget& budget) {
    budget.packets -= 1;
    uint32_t header = 0;
    if (!queue.stream.fetch(context_.memory, context_.gfx_hub(), 0, {&header, 1})) {
        return fetch_failed(queue);
    }
    const uint32_t dwords = pm4::packet_dwords(header);
    if (dwords > queue.stream.available()) {
        if (queue.stream.drop_if_endless(dwords)) {
            unhandled_.note("pm4_packet_beyond_buffer", pm4::PACKET_OPCODE::get(header));
            return Step::done;
        }
        return Step::wait;
    }
    const auto packet = std::span(packet_).first(dwords);
    if (!queue.stream.fetch(context_.memory, context_.gfx_hub(), 0, packet)) {
        return fetch_failed(queue);
    }
    budget.bytes -= dwords * sizeof(uint32_t);

    skip_behind_ = 0;
    enter_behind_.reset();
    comes_back_ = false;
    const uint32_t epoch = queue.epoch();
    const Step step = execute(queue, header, packet.subspan(1), budget);
    if (step == Step::done && queue.epoch() == epoch) {
        queue.progress = 0;
        queue.stream.skip(uint64_t{dwords} + skip_behind_);
        if (enter_behind_) {
            comes_back_ ? queue.stream.call(*enter_behind_) : queue.stream.enter(*enter_behind_);
        }
    }
    return step;
}

/// A buffer out of reach is given up, as the hardware reads zeroes there; a ring is tried again.
Step Pm4Executor::fetch_failed(ComputeQueue& queue) {
    if (!queue.stream.in_ib()) {
        return Step::wait;
    }
    unhandled_.note("pm4_indirect_buffer_fault", pm4::PACKET3_INDIRECT_BUFFER);
    queue.stream.leave_ib();
    return Step::done;
}

Step Pm4Executor::execute(ComputeQueue& queue, uint32_t header, Body body, Budget& budget) {
    const uint32_t type = pm4::PACKET_TYPE::get(header);
    const auto opcode = static_cast<uint8_t>(pm4::PACKET_OPCODE::get(header));
    if (type != pm4::PACKET_TYPE3) {
        // Type 2 is padding. Type 0 is not a GFX9 packet: what looks like it is zeroed memory.
        return Step::done;
    }
    const Entry& entry = table_[opcode];
    if (entry.handler == nullptr) {
        unhandled_.note("pm4_unknown_opcode", opcode);
        return Step::done;
    }
    if (body.size() < entry.body_dwords) {
        unhandled_.note("pm4_short_packet", opcode);
        return Step::done;
    }
    if (entry.privileged && queue.stream.vmid() != 0) {
        unhandled_.note("pm4_privileged_packet", opcode);
        return Step::done;
    }
    return (this->*entry.handler)(queue, body, budget);
}

Step Pm4Executor::nop(ComputeQueue&, Body, Budget&) {
    return Step::done;
}

Step Pm4Executor::set_config_reg(ComputeQueue& queue, Body body, Budget& budget) {
    set_registers(queue, pm4::config_space, body, pm4::PACKET3_SET_CONFIG_REG, budget);
    return Step::done;
}

Step Pm4Executor::set_context_reg(ComputeQueue& queue, Body body, Budget& budget) {
    set_registers(queue, pm4::context_space, body, pm4::PACKET3_SET_CONTEXT_REG, budget);
    return Step::done;
}

Step Pm4Executor::set_sh_reg(ComputeQueue& queue, Body body, Budget& budget) {
    set_registers(queue, pm4::sh_space, body, pm4::PACKET3_SET_SH_REG, budget);
    return Step::done;
}

Step Pm4Executor::set_uconfig_reg(ComputeQueue& queue, Body body, Budget& budget) {
    set_registers(queue, pm4::uconfig_space, body, pm4::PACKET3_SET_UCONFIG_REG, budget);
    return Step::done;
}

Step Pm4Executor::write_data(ComputeQueue& queue, Body body, Budget& budget) {
    const uint64_t address = join(body[1], body[2]) & ~uint64_t{3};
    const Body data = body.subspan(3);
    const bool one_address = pm4::WRITE_DATA__WR_ONE_ADDR::get(body[0]) != 0;
    switch (pm4::WRITE_DATA__DST_SEL::get(body[0])) {
        case pm4::MEM_MAPPED_REGISTER: {
            const uint32_t first = pm4::REGISTER_ADDRESS::get(body[1]);
            while (queue.progress < data.size()) {
                const auto index = static_cast<uint32_t>(queue.progress);
                const uint32_t dword = first + (one_address ? 0 : index);
                if (index != 0 && budget.spent()) {
                    return Step::again;
                }
                if (!write_register(queue, dword, data[index], pm4::PACKET3_WRITE_DATA, budget)) {
                    break;
                }
                ++queue.progress;
            }
            break;
        }
        case pm4::MEMORY_SYNC:
        case pm4::TC_L2:
        case pm4::MEMORY_DST:
            if (one_address || data.size() == 1) {
                // The KIQ's fence, among others.
                const Port memory = port(queue);
                memory.write32(address,
                               mutated(context_.mutator, memory, compute_fence, data.back()));
            } else {
                port(queue).write(address, std::as_bytes(data));
            }
            break;
        default: unhandled_.note("pm4_unsupported_dst_sel", pm4::PACKET3_WRITE_DATA); break;
    }
    return Step::done;
}

Step Pm4Executor::wait_reg_mem(ComputeQueue& queue, Body body, Budget& budget) {
    uint32_t reference = body[3];
    const uint32_t mask = body[4];
    uint32_t value = 0;
    if (pm4::WAIT_REG_MEM__MEM_SPACE::get(body[0]) != 0) {
        const auto read = port(queue).read32(join(body[1], body[2]) & ~uint64_t{3});
        if (!read) {
            return Step::wait;
        }
        value = *read;
    } else {
        const bool write_first = pm4::WAIT_REG_MEM__OPERATION::get(body[0]) ==
                                 pm4::WAIT_REG_MEM__OPERATION__WR_WAIT_WR_REG;
        const uint32_t poll = pm4::REGISTER_ADDRESS::get(write_first ? body[2] : body[1]);
        if (!may_access(queue, poll)) {
            refuse_register(queue, pm4::PACKET3_WAIT_REG_MEM);
            return Step::done;
        }
        if (write_first && queue.progress == 0) {
            write_register(queue, pm4::REGISTER_ADDRESS::get(body[1]), reference,
                           pm4::PACKET3_WAIT_REG_MEM, budget);
            queue.progress = 1;
        }
        if (write_first) {
            // What is written is a request, of which the mask names the part to be acknowledged:
            // gmc_v10_0_emit_flush_gpu_tlb() waits for one VMID and asks for more than that bit.
            reference &= mask;
        }
        value = read_register(poll);
    }
    return compare(pm4::WAIT_REG_MEM__FUNCTION::get(body[0]), value & mask, reference) ? Step::done
                                                                                       : Step::wait;
}

Step Pm4Executor::indirect_buffer(ComputeQueue& queue, Body body, Budget&) {
    const bool calls = queue.stream.in_ib() && pm4::INDIRECT_BUFFER__CHAIN::get(body[2]) == 0;
    // Only ME0 has a second level: Mesa's drivers call what does not change from the buffer of a
    // frame.
    if (calls && (queue.me() != 0 || queue.stream.in_ib2())) {
        unhandled_.note("pm4_nested_indirect_buffer", pm4::PACKET3_INDIRECT_BUFFER);
        return Step::done;
    }
    // A user's queue cannot name another VMID, nor can a buffer that runs in one.
    const unsigned own = queue.stream.vmid();
    enter_behind_ = {join(body[0], body[1]) & pm4::ib_address_mask,
                     pm4::INDIRECT_BUFFER__IB_SIZE::get(body[2]),
                     own != 0 ? own : pm4::INDIRECT_BUFFER__VMID::get(body[2])};
    comes_back_ = calls;
    return Step::done;
}

Step Pm4Executor::copy_data(ComputeQueue& queue, Body body, Budget& budget) {
    const bool wide = pm4::COPY_DATA__COUNT_SEL::get(body[0]) != 0;
    const uint64_t alignment = wide ? ~uint64_t{7} : ~uint64_t{3};
    const uint64_t source = join(body[1], body[2]);
    const uint64_t destination = join(body[3], body[4]) & alignment;
    uint64_t value = 0;
    switch (pm4::COPY_DATA__SRC_SEL::get(body[0])) {
        case pm4::MEM_MAPPED_REGISTER: {
            const uint32_t dword = pm4::REGISTER_ADDRESS::get(body[1]);
            if (!may_access(queue, dword) || (wide && !may_access(queue, dword + 1))) {
                refuse_register(queue, pm4::PACKET3_COPY_DATA);
                return Step::done;
            }
            value = join(read_register(dword), wide ? read_register(dword + 1) : 0);
            break;
        }
        case pm4::MEMORY_SYNC:
        case pm4::TC_L2:
            value = wide ? port(queue).read64(source & alignment).value_or(0)
                         : port(queue).read32(source & alignment).value_or(0);
            break;
        case pm4::IMMEDIATE_DATA_SRC: value = source; break;
        case pm4::GPU_CLOCK_COUNT_SRC: value = context_.gpu_clock(); break;
        default:
            unhandled_.note("pm4_unsupported_src_sel", pm4::PACKET3_COPY_DATA);
            return Step::done;
    }
    const auto low = static_cast<uint32_t>(value);
    switch (pm4::COPY_DATA__DST_SEL::get(body[0])) {
        case pm4::MEM_MAPPED_REGISTER: {
            const uint32_t dword = pm4::REGISTER_ADDRESS::get(body[3]);
            if (write_register(queue, dword, low, pm4::PACKET3_COPY_DATA, budget) && wide) {
                write_register(queue, dword + 1, static_cast<uint32_t>(value >> 32),
                               pm4::PACKET3_COPY_DATA, budget);
            }
            break;
        }
        case pm4::MEMORY_SYNC:
        case pm4::TC_L2:
        case pm4::MEMORY_DST:
            wide ? port(queue).write64(destination, value) : port(queue).write32(destination, low);
            break;
        default: unhandled_.note("pm4_unsupported_dst_sel", pm4::PACKET3_COPY_DATA); break;
    }
    return Step::done;
}

Step Pm4Executor::release_mem(ComputeQueue& queue, Body body, Budget&) {
    const uint64_t address = join(body[2], body[3]);
    const Port memory = port(queue);
    switch (pm4::RELEASE_MEM__DATA_SEL::get(body[1])) {
        case pm4::DATA_SEL_NONE: break;
        case pm4::DATA_SEL_SEND_32_BIT_LOW:
            memory.write32(address & ~uint64_t{3},
                           mutated_fence(context_.mutator, memory, compute_fence, body[4]));
            break;
        case pm4::DATA_SEL_SEND_64_BIT_DATA:
            memory.write64(address & ~uint64_t{7}, mutated(context_.mutator, memory, compute_fence,
                                                           join(body[4], body[5])));
            break;
        case pm4::DATA_SEL_SEND_GPU_CLOCK_COUNTER:
            memory.write64(address & ~uint64_t{7}, context_.gpu_clock());
            break;
        default: unhandled_.note("pm4_unsupported_data_sel", pm4::PACKET3_RELEASE_MEM); break;
    }
    switch (pm4::RELEASE_MEM__INT_SEL::get(body[1])) {
        case pm4::INT_SEL_NONE:
        case pm4::INT_SEL_SEND_DATA_AFTER_WRITE_CONFIRM: break;
        case pm4::INT_SEL_SEND_INTERRUPT_ONLY:
        case pm4::INT_SEL_SEND_INTERRUPT_AFTER_WRITE_CONFIRM:
        case pm4::INT_SEL_UNCONDITIONALLY_SEND_INT_CTXID:
            context_.interrupts.raise(queue.interrupt(GFX_9_0__SRCID__CP_EOP_INTERRUPT, body[6]));
            break;
        default: unhandled_.note("pm4_unsupported_int_sel", pm4::PACKET3_RELEASE_MEM); break;
    }
    return Step::done;
}

Step Pm4Executor::dma_data(ComputeQueue& queue, Body body, Budget& budget) {
    const uint32_t source_sel = pm4::DMA_DATA__SRC_SEL::get(body[0]);
    const uint32_t destination_sel = pm4::DMA_DATA__DST_SEL::get(body[0]);
    if (source_sel == pm4::DMA_DATA__SEL__GDS || destination_sel == pm4::DMA_DATA__SEL__GDS ||
        pm4::DMA_DATA__ADDRESS_MODES::get(body[5]) != 0) {
        unhandled_.note("pm4_unsupported_dma_data", pm4::PACKET3_DMA_DATA);
        return Step::done;
    }
    if (destination_sel == pm4::DMA_DATA__DST_SEL__NOWHERE) {
        return Step::done;  // a prefetch
    }
    const uint64_t destination = join(body[3], body[4]);
    const uint64_t bytes = pm4::DMA_DATA__BYTE_COUNT::get(body[5]);
    if (source_sel == pm4::DMA_DATA__SRC_SEL__DATA) {
        return fill_bytes(port(queue), destination, body[1], bytes, queue.progress, budget);
    }
    return copy_bytes(port(queue), join(body[1], body[2]), destination, bytes, queue.progress,
                      budget);
}

Step Pm4Executor::atomic_mem(ComputeQueue& queue, Body body, Budget&) {
    const uint32_t op = pm4::ATOMIC_MEM__ATOMIC::get(body[0]);
    if (!is_integer_atomic(op)) {
        unhandled_.note("pm4_unsupported_atomic", pm4::PACKET3_ATOMIC_MEM);
        return Step::done;
    }
    const uint64_t comparand = join(body[5], body[6]);
    const auto old =
        atomic(port(queue), op, join(body[1], body[2]), join(body[3], body[4]), comparand);
    const bool loops = pm4::ATOMIC_MEM__COMMAND::get(body[0]) ==
                       pm4::ATOMIC_MEM__COMMAND__LOOP_UNTIL_COMPARE_SATISFIED;
    return loops && old && !is_satisfied(op, *old, comparand) ? Step::wait : Step::done;
}

Step Pm4Executor::cond_exec(ComputeQueue& queue, Body body, Budget&) {
    const auto condition = port(queue).read32(join(body[0], body[1]) & ~uint64_t{3});
    if (condition.value_or(0) == 0) {
        skip_behind_ = pm4::COND_EXEC__EXEC_COUNT::get(body[3]);
    }
    return Step::done;
}

Step Pm4Executor::pred_exec(ComputeQueue&, Body body, Budget&) {
    const unsigned own = xcc_place(gc_, context_.registers, context_.xcc).virtual_id;
    if ((pm4::PRED_EXEC__VIRTUAL_XCC_ID_SELECT::get(body[0]) >> own & 1) == 0) {
        skip_behind_ = pm4::PRED_EXEC__EXEC_COUNT::get(body[0]);
    }
    return Step::done;
}

Step Pm4Executor::set_resources(ComputeQueue&, Body body, Budget&) {
    hws_->set_resources(body);
    return Step::done;
}

Step Pm4Executor::map_process(ComputeQueue&, Body body, Budget&) {
    hws_->map_process(body);
    return Step::done;
}

Step Pm4Executor::map_queues(ComputeQueue&, Body body, Budget&) {
    hws_->map_queues(body);
    return Step::done;
}

Step Pm4Executor::unmap_queues(ComputeQueue&, Body body, Budget&) {
    hws_->unmap_queues(body);
    return Step::done;
}

Step Pm4Executor::query_status(ComputeQueue& queue, Body body, Budget&) {
    hws_->query_status(queue, body);
    return Step::done;
}

Step Pm4Executor::run_list(ComputeQueue& queue, Body body, Budget&) {
    if (queue.stream.in_ib()) {
        // An over-subscribed list ends with a chain to itself (pm_create_runlist_ib()): the next
        // time slice.
        unhandled_.note("hws_oversubscribed_run_list", pm4::PACKET3_RUN_LIST);
        return Step::done;
    }
    hws_->begin_run_list();
    enter_behind_ = {join(body[0], body[1]) & pm4::ib_address_mask,
                     pm4::RUN_LIST__IB_SIZE::get(body[2]), queue.vmid()};
    return Step::done;
}

Step Pm4Executor::invalidate_tlbs(ComputeQueue&, Body body, Budget& budget) {
    budget.packets -= static_cast<int>(hws_->invalidate_tlbs(body));
    return Step::done;
}

void Pm4Executor::set_registers(ComputeQueue& queue, const pm4::RegisterSpace& space, Body body,
                                pm4::Opcode opcode, Budget& budget) {
    uint32_t dword = space.first + pm4::SET_REG__OFFSET::get(body[0]);
    for (const uint32_t value : body.subspan(1)) {
        if (!space.contains(dword)) {
            refuse_register(queue, opcode);
            return;
        }
        if (!write_register(queue, dword++, value, opcode, budget)) {
            return;
        }
    }
}

bool Pm4Executor::may_access(const ComputeQueue& queue, uint32_t dword) const {
    return queue.stream.vmid() == 0 || pm4::sh_space.contains(dword) ||
           pm4::context_space.contains(dword) || pm4::user_uconfig_space.contains(dword);
}

/// False when the packet has to end with it.
bool Pm4Executor::write_register(ComputeQueue& queue, uint32_t dword, uint32_t value,
                                 pm4::Opcode opcode, Budget& budget) {
    if (!may_access(queue, dword)) {
        return refuse_register(queue, opcode);
    }
    const uint32_t meant = gc_.of_packet(dword);
    if (meant == at(gc_.ip, gc_.CPC_INT_STATUS)) {
        // The KIQ has no RELEASE_MEM: gfx_v9_4_3_ring_emit_fence_kiq() sets this bit to be heard.
        if (gc::CPC_INT_STATUS__GENERIC2_INT_STATUS::get(value)) {
            budget.packets -= 1;
            context_.interrupts.raise(queue.interrupt(GFX_9_0__SRCID__CP_IB2_INTERRUPT_PKT, 0));
        }
        return true;
    }
    const uint32_t epoch = queue.epoch();
    if (context_.registers.has_effect(meant)) {
        budget.packets -= 1;  // whatever it does may take as long as a packet
    }
    context_.registers.write(meant, value);
    return queue.epoch() == epoch;
}

uint32_t Pm4Executor::read_register(uint32_t dword) const {
    return context_.registers.read(gc_.of_packet(dword));
}

bool Pm4Executor::refuse_register(const ComputeQueue& queue, pm4::Opcode opcode) {
    unhandled_.note("pm4_register_refused", opcode);
    if (queue.stream.vmid() == 0) {
        return false;
    }
    context_.interrupts.raise(queue.interrupt(GFX_9_0__SRCID__CP_PRIV_REG_FAULT, 0));
    return false;
}

Port Pm4Executor::port(const ComputeQueue& queue) const {
    return {context_.memory, context_.gfx_hub(), queue.stream.vmid()};
}

}  // namespace gpuemu
