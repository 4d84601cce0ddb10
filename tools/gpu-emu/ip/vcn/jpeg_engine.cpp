// SPDX-License-Identifier: GPL-2.0
// Thread: device loop only.
#include "gpu-emu/ip/vcn/jpeg_engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "gpu-emu/ip/queue/port.h"
#include "gpu-emu/ip/queue/take_turns.h"
#include "gpu-emu/ip/regs/vcn_4_0_3.h"
#include "gpu-emu/ip/vcn/vcn_packets.h"

namespace gpuemu {

namespace regs = vcn_4_0_3;

using namespace vcn_packets;

JpegEngine::JpegEngine(const EngineContext& context, const JpegLayout& layout)
    : context_(context),
      layout_(layout),
      name_(fmt::format("jpeg{}", layout.place.instance)),
      unhandled_(name_) {
    for (const JpegCoreLayout& core : layout_.cores) {
        cores_.emplace_back(context_.registers, core);
    }
    for (Core& core : cores_) {
        claim(core);
    }
    RegisterFile& registers = context_.registers;
    registers.declare(layout_.jmi_cntl, 1, {.written = [this](uint32_t, uint32_t) { update(); }});
    if (layout_.core_rst_ctrl) {
        registers.declare(*layout_.core_rst_ctrl, 1, {.written = [this](uint32_t, uint32_t value) {
            for (std::size_t core = 0; core < cores_.size(); ++core) {
                if ((value >> core & 1) != 0) {
                    reset(cores_[core]);
                }
            }
        }});
    }
}

void JpegEngine::claim(Core& core) {
    RegisterFile& registers = context_.registers;
    core.ring.claim([this] { update(); });
    registers.declare(core.layout.rb_cntl, 1,
                      {.written = [this](uint32_t, uint32_t) { update(); }});
    const auto status = [&core](uint32_t) {
        using regs::UVD_JRBC_STATUS__IB_JOB_DONE, regs::UVD_JRBC_STATUS__RB_JOB_DONE;
        return UVD_JRBC_STATUS__IB_JOB_DONE::set(
            UVD_JRBC_STATUS__RB_JOB_DONE::set(0, !core.has_work()), !core.ring.stream.in_ib());
    };
    registers.declare(core.layout.status, 1, {.type = read_only, .read = status});
    if (core.layout.client_clean_status) {
        // Nothing is on its way: who is stalled is clean.
        registers.declare(*core.layout.client_clean_status, 1,
                          {.type = read_only, .read = [this, &core](uint32_t) {
                               return raw(*core.layout.client_stall);
                           }});
    }
}

void JpegEngine::update() {
    const bool held = regs::UVD_JMI_CNTL__SOFT_RESET::get(raw(layout_.jmi_cntl)) != 0;
    for (Core& core : cores_) {
        const bool fetches =
            regs::UVD_JRBC_RB_CNTL__RB_NO_FETCH::get(raw(core.layout.rb_cntl)) == 0;
        core.ring.enable(fetches && !held, raw(core.layout.rb_vmid) & 0xf);
        if (core.has_work()) {
            context_.kicker.kick(*this);
        }
    }
}

void JpegEngine::start(unsigned core) {
    const JpegCoreLayout& layout = cores_.at(core).layout;
    cores_.at(core).ring.reset();
    raw(layout.ring.rptr) = raw(layout.ring.wptr) = 0;
    raw(layout.rb_cntl) = 0;
    update();
}

void JpegEngine::reset(Core& core) {
    core.ring.reset();
    context_.registers.clear(core.layout.window.first_dword, core.layout.window.dwords);
    core.external_reg = 0;
    core.registers.fill(0);
    raw(core.layout.rb_cntl) = regs::UVD_JRBC_RB_CNTL__RB_NO_FETCH::set(0, 1);
}

void JpegEngine::reset() {
    for (Core& core : cores_) {
        reset(core);
    }
    raw(layout_.jmi_cntl) = 0;
}

bool JpegEngine::ring_doorbell(uint32_t index, uint32_t wptr) {
    bool owned = false;
    for (Core& core : cores_) {
        owned = core.ring.ring(index, wptr) || owned;
    }
    if (owned) {
        context_.kicker.kick(*this);
    }
    return owned;
}

Engine::Turn JpegEngine::run(Budget& budget) {
    return take_turns(std::span(cores_), next_, budget, context_.memory, context_.mutator,
                      [&](Core& core) { return step(core, budget); });
}

Step JpegEngine::step(Core& core, Budget& budget) {
    budget.packets -= 1;
    constexpr uint32_t dwords = 2;
    PacketStream& stream = core.ring.stream;
    if (stream.available() < dwords) {
        return stream.drop_if_endless(dwords) ? Step::done : Step::wait;
    }
    std::array<uint32_t, dwords> packet{};
    if (!stream.fetch(context_.memory, layout_.place.hub, 0, packet)) {
        if (!stream.in_ib()) {
            return Step::wait;
        }
        unhandled_.note("jpeg_indirect_buffer_fault", PACKETJ_TYPE0);
        stream.leave_ib();
        return Step::done;
    }
    enter_behind_.reset();
    const uint32_t epoch = core.ring.epoch();
    const Step result = execute(core, packet[0], packet[1]);
    if (result == Step::done && core.ring.epoch() == epoch) {
        stream.skip(dwords);
        if (enter_behind_) {
            stream.enter(*enter_behind_);
        }
    }
    return result;
}

Step JpegEngine::execute(Core& core, uint32_t header, uint32_t value) {
    switch (PACKETJ_TYPE::get(header)) {
        case PACKETJ_TYPE0: return write(core, PACKETJ_REG::get(header), value);
        case PACKETJ_TYPE3: return wait(core, header, value);
        case PACKETJ_TYPE4: return write_memory(core);
        case PACKETJ_TYPE2:
        case PACKETJ_TYPE6: return Step::done;
        case PACKETJ_TYPE7: return trap(core);
        default:
            unhandled_.note("jpeg_unknown_packet", static_cast<uint8_t>(PACKETJ_TYPE::get(header)));
            return Step::done;
    }
}

Step JpegEngine::write(Core& core, uint32_t reg, uint32_t value) {
    PacketStream& stream = core.ring.stream;
    if (reg == JRBC_EXTERNAL_REG) {
        core.external_reg = value;
    } else if (reg == JRBC_DEC_EXTERNAL_REG_WRITE_ADDR) {
        if (may_reach_registers(core)) {
            context_.registers.write(layout_.place.of_packet(core.external_reg >> 2), value);
        }
    } else if (reg == JRBC_IB_SIZE) {
        if (stream.in_ib()) {
            unhandled_.note("jpeg_nested_indirect_buffer", PACKETJ_TYPE0);
        } else {
            enter_behind_ = {
                join(read_internal(core, layout_.ib_bar), read_internal(core, layout_.ib_bar + 1)),
                value, read_internal(core, layout_.ib_vmid) & 0xf};
        }
    } else if (const auto dword = core.layout.window.dword(reg)) {
        context_.registers.write(*dword, value);
    } else if (const uint32_t index = reg - first_internal; index < internal_dwords) {
        core.registers[index] = value;
    } else {
        unhandled_.note("jpeg_unknown_register", PACKETJ_TYPE0);
    }
    return Step::done;
}

Step JpegEngine::wait(Core& core, uint32_t header, uint32_t mask) {
    const uint32_t condition = PACKETJ_CONDITION::get(header);
    if (condition != PACKETJ_CONDITION_CHECK0 && condition != PACKETJ_CONDITION_CHECK3) {
        unhandled_.note("jpeg_unknown_condition", static_cast<uint8_t>(condition));
        return Step::done;
    }
    const uint32_t reg = PACKETJ_REG::get(header);
    uint32_t value = 0;
    if (reg == JRBC_DEC_EXTERNAL_REG_WRITE_ADDR) {
        if (!may_reach_registers(core)) {
            return Step::done;
        }
        value = context_.registers.read(layout_.place.of_packet(core.external_reg >> 2));
    } else {
        value = read_internal(core, reg);
    }
    const uint32_t reference = read_internal(
        core, core.ring.stream.in_ib() ? uint32_t{JRBC_IB_REF_DATA} : uint32_t{JRBC_RB_REF_DATA});
    const bool equal = (value & mask) == (reference & mask);
    const bool wants_unequal = condition == PACKETJ_CONDITION_CHECK3 &&
                               context_.profile.opposites.has(Opposite::jpeg_condition_3_unequal);
    return equal != wants_unequal ? Step::done : Step::wait;
}

Step JpegEngine::write_memory(Core& core) {
    if (core.ring.stream.in_ib()) {
        return Step::done;  // of pictures
    }
    const Port memory{context_.memory, layout_.place.hub, core.ring.stream.vmid()};
    const uint64_t address =
        join(read_internal(core, layout_.mem_wr_bar), read_internal(core, layout_.mem_wr_bar + 1));
    memory.write32(address & ~uint64_t{3}, mutated_fence(context_.mutator, memory, jpeg_fence,
                                                         read_internal(core, layout_.gpcom_data0)));
    return Step::done;
}

Step JpegEngine::trap(const Core& core) {
    context_.interrupts.raise({.client_id = layout_.place.ih_client,
                               .source_id = core.layout.ring.ih_source,
                               .vmid = static_cast<uint8_t>(core.ring.stream.vmid()),
                               .vmid_src = 1,
                               .node_id = layout_.place.ih_node});
    return Step::done;
}

uint32_t JpegEngine::read_internal(const Core& core, uint32_t reg) const {
    if (const auto dword = core.layout.window.dword(reg)) {
        return context_.registers.read(*dword);
    }
    const uint32_t index = reg - first_internal;
    return index < internal_dwords ? core.registers[index] : 0;
}

bool JpegEngine::may_reach_registers(const Core& core) {
    if (core.ring.stream.vmid() == 0) {
        return true;
    }
    unhandled_.note("jpeg_register_refused", PACKETJ_TYPE0);
    return false;
}

std::string JpegEngine::describe() const {
    std::string lines;
    for (const Core& core : cores_) {
        if (core.ring.enabled() && core.ring.stream.ring_dwords() != 0) {
            lines +=
                fmt::format("{} {} doorbell {:#x} rptr {} wptr {}\n", name_, core.layout.ring.name,
                            core.layout.ring.doorbell.index(context_.registers).value_or(0),
                            core.ring.stream.rptr(), core.ring.stream.wptr());
        }
    }
    return lines + unhandled_.describe();
}

}  // namespace gpuemu
