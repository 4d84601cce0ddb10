// SPDX-License-Identifier: GPL-2.0
// Thread: device loop only.
#include "gpu-emu/ip/vcn/vcn_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gpu-emu/ip/fuse_type.h"
#include "gpu-emu/ip/queue/take_turns.h"
#include "gpu-emu/ip/regs/vcn_4_0_3.h"
#include "gpu-emu/ip/vcn/vcn_packets.h"

namespace gpuemu {

namespace regs = vcn_4_0_3;

using namespace vcn_packets;

namespace {

// UVD_POWER_STATUS: what of the instance has power.
constexpr uint32_t tiles_off = 1, tiles_on = 2;

}  // namespace

VcnEngine::VcnEngine(const EngineContext& context, const VcnLayout& layout)
    : context_(context),
      layout_(layout),
      name_(fmt::format("vcn{}", layout.place.instance)),
      unhandled_(name_) {
    for (const VideoRing::Layout& ring : layout_.rings) {
        rings_.emplace_back(context_.registers, ring);
    }
    for (VideoRing& ring : rings_) {
        ring.claim([this] { update(); });
    }
    const Register changes{.written = [this](uint32_t, uint32_t) { update(); }};
    RegisterFile& registers = context_.registers;
    registers.declare(layout_.vcpu_cntl, 1, changes);
    if (layout_.rb_enable) {
        registers.declare(*layout_.rb_enable, 1, changes);
    }
    registers.declare(layout_.status, 1, {.read = [this](uint32_t dword) {
                          const bool busy = std::ranges::any_of(rings_, &VideoRing::has_work);
                          return regs::UVD_STATUS__RBC_BUSY::set(
                              regs::UVD_STATUS__VCPU_RUNS::set(raw(dword), vcpu_runs()), busy);
                      }});
    registers.declare(layout_.lmi_status, 1, {.type = read_only, .read = [](uint32_t) {
                                                  return regs::UVD_LMI_STATUS_clean;
                                              }});
    if (layout_.harvesting) {
        registers.declare(*layout_.harvesting, 1, {.type = fuse_type(context_.profile)});
    }
    claim_power();
    claim_dpg();
}

void VcnEngine::claim_power() {
    RegisterFile& registers = context_.registers;
    if (layout_.pgfsm_status) {
        const auto status_of_tiles = [this](uint32_t) {
            uint32_t status = 0;
            for (uint32_t tile = 0; tile < regs::pgfsm_tiles; ++tile) {
                const uint32_t config =
                    regs::PGFSM_FIELD::get(raw(*layout_.pgfsm_config) >> 2 * tile);
                status |= (config == regs::pgfsm_power_off ? config : 0) << 2 * tile;
            }
            return status;
        };
        registers.declare(*layout_.pgfsm_status, 1, {.type = read_only, .read = status_of_tiles});
    }
    // In DPG the instance takes power when it has something to do, and that is over before anybody
    // can look; it keeps it while that is paused.
    const auto power = [this](uint32_t dword) {
        const uint32_t value = raw(dword);
        return regs::UVD_POWER_STATUS__UVD_PG_MODE::get(value) == 0
                   ? value
                   : regs::UVD_POWER_STATUS__UVD_POWER_STATUS::set(value,
                                                                   paused() ? tiles_on : tiles_off);
    };
    registers.declare(layout_.power_status, 1,
                      {.read = power, .written = [this](uint32_t, uint32_t) { update(); }});
}

void VcnEngine::claim_dpg() {
    RegisterFile& registers = context_.registers;
    const auto pause = [this](uint32_t dword, uint32_t value) {
        raw(dword) = regs::UVD_DPG_PAUSE__NJ_PAUSE_DPG_ACK::set(
            raw(dword), regs::UVD_DPG_PAUSE__NJ_PAUSE_DPG_REQ::get(value));
        update();
    };
    registers.declare(
        layout_.dpg_pause, 1,
        {.type = with_read_only(regs::UVD_DPG_PAUSE__NJ_PAUSE_DPG_ACK::mask), .written = pause});
    registers.declare(layout_.dpg_lma_ctl, 1, {.written = [this](uint32_t, uint32_t control) {
                          const uint32_t reg = control >> layout_.dpg_lma_address_shift;
                          if (regs::UVD_DPG_LMA_CTL__READ_WRITE::get(control) != 0) {
                              write_internal(reg, raw(layout_.dpg_lma_data));
                          } else if (const auto dword = layout_.dword(reg)) {
                              raw(layout_.dpg_lma_data) = raw(*dword);
                          }
                      }});
}

bool VcnEngine::vcpu_runs() const {
    const uint32_t control = raw(layout_.vcpu_cntl);
    return regs::UVD_VCPU_CNTL__CLK_EN::get(control) != 0 &&
           regs::UVD_VCPU_CNTL__BLK_RST::get(control) == 0;
}

bool VcnEngine::paused() const {
    return regs::UVD_DPG_PAUSE__NJ_PAUSE_DPG_ACK::get(raw(layout_.dpg_pause)) != 0;
}

void VcnEngine::update() {
    const uint32_t power = raw(layout_.power_status);
    const bool runs = vcpu_runs() && regs::UVD_POWER_STATUS__STALL_DPG_POWER_UP::get(power) == 0;
    const bool dynamic = regs::UVD_POWER_STATUS__UVD_PG_MODE::get(power) != 0;
    for (VideoRing& ring : rings_) {
        const bool is_rbc = layout_.rbc && &ring == &rings_.front();
        // Beside an RBC the rings for encoding are looked at only while DPG is paused.
        const bool awake = is_rbc || !layout_.rbc || !dynamic || paused();
        const bool enabled =
            !layout_.rb_enable || (raw(*layout_.rb_enable) & layout_.rb_enable_mask) != 0;
        ring.enable(runs && awake && enabled, is_rbc ? raw(layout_.rbc->rb_vmid) & 0xf : 0);
    }
    if (std::ranges::any_of(rings_, &VideoRing::has_work)) {
        context_.kicker.kick(*this);
    }
}

/// What packets and SRAM images name that is not in the windows has no meaning here.
void VcnEngine::write_internal(uint32_t reg, uint32_t value) {
    if (const auto dword = layout_.dword(reg); dword && *dword != layout_.dpg_lma_ctl) {
        context_.registers.write(*dword, value);
    }
}

void VcnEngine::load_sram(std::span<const uint32_t> pairs) {
    for (; pairs.size() >= 2; pairs = pairs.subspan(2)) {
        write_internal(pairs[0], pairs[1]);
    }
}

void VcnEngine::set_power(bool on) {
    if (on) {
        return;
    }
    for (VideoRing& ring : rings_) {
        ring.reset();
    }
    context_.registers.clear(layout_.video_first, layout_.video_end - layout_.video_first);
    for (const VideoRing::Layout& ring : layout_.rings) {
        raw(ring.rptr) = raw(ring.wptr) = 0;
    }
    if (layout_.rb_enable) {
        raw(*layout_.rb_enable) = 0;
    }
    sessions_.clear();
}

void VcnEngine::start(uint64_t ring, uint32_t dwords) {
    const VideoRing::Layout& unified = layout_.rings.front();
    raw(unified.base) = static_cast<uint32_t>(ring);
    raw(unified.base + 1) = static_cast<uint32_t>(ring >> 32);
    raw(unified.size) = dwords;
    raw(unified.rptr) = raw(unified.wptr) = 0;
    raw(*layout_.rb_enable) = layout_.rb_enable_mask;
    raw(layout_.vcpu_cntl) = regs::UVD_VCPU_CNTL__CLK_EN::set(0, 1);
    rings_.front().reset();
    update();
}

void VcnEngine::reset() {
    set_power(false);
    raw(layout_.power_status) = 0;
    raw(layout_.dpg_pause) = 0;
    if (layout_.pgfsm_config) {
        raw(*layout_.pgfsm_config) = 0;
    }
    if (layout_.harvesting) {
        raw(*layout_.harvesting) = 0;  // nothing is fused off
    }
}

bool VcnEngine::ring_doorbell(uint32_t index, uint32_t wptr) {
    bool owned = false;
    for (VideoRing& ring : rings_) {
        owned = ring.ring(index, wptr) || owned;
    }
    if (owned) {
        context_.kicker.kick(*this);
    }
    return owned;
}

Engine::Turn VcnEngine::run(Budget& budget) {
    const bool holds = context_.profile.opposites.has(Opposite::video_ring_holds_up_others);
    bool held_up = false;
    return take_turns(std::span(rings_), next_, budget, context_.memory, context_.mutator,
                      [&](VideoRing& ring) {
                          const Step result = held_up ? Step::wait : step(ring, budget);
                          held_up = holds && result == Step::wait;
                          return result;
                      });
}

Step VcnEngine::step(VideoRing& ring, Budget& budget) {
    return layout_.rbc && &ring == &rings_.front() ? rbc_step(ring, budget)
                                                   : firmware_step(ring, budget);
}

/// A ring that the firmware fetches. Its buffers are no packets: VcnSessions reads them.
Step VcnEngine::firmware_step(VideoRing& ring, Budget& budget) {
    std::array<uint32_t, 5> packet{};
    if (!ring.stream.fetch(context_.memory, layout_.place.hub, 0, std::span(packet).first(1))) {
        return Step::wait;
    }
    const uint32_t dwords = enc_cmd_dwords(packet[0]);
    if (dwords > ring.stream.available()) {
        return Step::wait;  // the rest may still be written
    }
    const auto whole = std::span(packet).first(dwords);
    if (!ring.stream.fetch(context_.memory, layout_.place.hub, 0, whole)) {
        return Step::wait;
    }
    const uint32_t epoch = ring.epoch();
    const int packets = budget.packets;
    const Step result = execute(ring, whole, budget);
    if (budget.packets == packets) {
        budget.packets -= 1;  // a buffer has paid for each of its packages
    }
    if (result == Step::done && ring.epoch() == epoch) {
        ring.progress = 0;
        ring.stream.skip(dwords);
    }
    return result;
}

Step VcnEngine::execute(VideoRing& ring, Packet packet, Budget& budget) {
    switch (packet[0]) {
        case VCN_ENC_CMD_NO_OP:
        case VCN_ENC_CMD_END: return Step::done;
        case VCN_ENC_CMD_IB: {
            const PacketStream::Ib ib{join(packet[2], packet[3]), packet[4], packet[1] & 0xf};
            const Port port{context_.memory, layout_.place.hub, ib.vmid};
            return sessions_.run(port, ib, !layout_.rbc, ring.progress, budget);
        }
        case VCN_ENC_CMD_FENCE: return fence(ring, join(packet[1], packet[2]), packet[3]);
        case VCN_ENC_CMD_TRAP: return trap(ring);
        case VCN_ENC_CMD_REG_WRITE: return write_register(ring, packet[1], packet[2]);
        case VCN_ENC_CMD_REG_WAIT: return wait_register(ring, packet[1], packet[3], packet[2]);
        default:
            unhandled_.note("vcn_unknown_command", static_cast<uint8_t>(packet[0]));
            return Step::done;
    }
}

Step VcnEngine::fence(const VideoRing& ring, uint64_t address, uint32_t value) {
    const Port memory = port(ring);
    memory.write32(address & ~uint64_t{3},
                   mutated_fence(context_.mutator, memory, video_fence, value));
    return Step::done;
}

Step VcnEngine::trap(const VideoRing& ring) {
    context_.interrupts.raise({.client_id = layout_.place.ih_client,
                               .source_id = ring.layout().ih_source,
                               .vmid = static_cast<uint8_t>(ring.stream.vmid()),
                               .vmid_src = 1,
                               .node_id = layout_.place.ih_node});
    return Step::done;
}

/// Registers in a row, of which some are commands; progress counts those that are written.
Step VcnEngine::rbc_step(VideoRing& ring, Budget& budget) {
    std::array<uint32_t, 1> header{};
    if (!ring.stream.fetch(context_.memory, layout_.place.hub, 0, header)) {
        return fetch_failed(ring);
    }
    const uint32_t type = PACKET_TYPE::get(header[0]);
    if (type != PACKET_TYPE0) {
        budget.packets -= 1;
        if (type != PACKET_TYPE2) {
            unhandled_.note("vcn_unknown_packet", static_cast<uint8_t>(type));
        }
        ring.stream.skip(1);
        return Step::done;
    }
    const uint32_t count = PACKET0_COUNT::get(header[0]) + 1;
    if (count + 1 > ring.stream.available()) {
        return ring.stream.drop_if_endless(count + 1) ? Step::done : Step::wait;
    }
    if (ring.progress == 0) {
        enter_behind_.reset();
    }
    const uint32_t epoch = ring.epoch();
    while (ring.progress < count) {
        std::array<uint32_t, 1> value{};
        if (!ring.stream.fetch(context_.memory, layout_.place.hub, 1 + ring.progress, value)) {
            return fetch_failed(ring);
        }
        const auto reg = PACKET0_REG::get(header[0]) + static_cast<uint32_t>(ring.progress);
        const Step result = rbc_write(ring, reg, value[0]);
        if (result != Step::done || ring.epoch() != epoch) {
            return result;
        }
        ring.progress += 1;
        budget.packets -= 1;
        if (budget.spent() && ring.progress < count) {
            return Step::again;
        }
    }
    ring.progress = 0;
    ring.stream.skip(count + 1);
    if (enter_behind_) {
        ring.stream.enter(*enter_behind_);
    }
    return Step::done;
}

/// A buffer out of reach is given up; a ring is tried again.
Step VcnEngine::fetch_failed(VideoRing& ring) {
    if (!ring.stream.in_ib()) {
        return Step::wait;
    }
    unhandled_.note("vcn_indirect_buffer_fault", PACKET_TYPE0);
    ring.stream.leave_ib();
    ring.progress = 0;
    return Step::done;
}

Step VcnEngine::rbc_write(VideoRing& ring, uint32_t reg, uint32_t value) {
    const RbcLayout& rbc = *layout_.rbc;
    const auto dword = layout_.dword(reg);
    if (!dword) {
        unhandled_.note("vcn_unknown_register", static_cast<uint8_t>(reg));
        return Step::done;
    }
    if (*dword == rbc.gpcom_cmd) {
        return gpcom(ring, value);
    }
    if (*dword == rbc.ib_size) {
        if (ring.stream.in_ib()) {
            unhandled_.note("vcn_nested_indirect_buffer", PACKET_TYPE0);
        } else {
            enter_behind_ = {context_.registers.raw64(rbc.ib_bar), value, raw(rbc.ib_vmid) & 0xf};
        }
        return Step::done;
    }
    // What a user's buffer may write is what the commands work with.
    const bool harmless = *dword == rbc.gpcom_data0 || *dword == rbc.gpcom_data1 ||
                          *dword == rbc.context_id || *dword == rbc.gp_scratch8;
    if (harmless || ring.stream.vmid() == 0) {
        write_internal(reg, value);
    }
    return Step::done;
}

Step VcnEngine::gpcom(const VideoRing& ring, uint32_t command) {
    const RbcLayout& rbc = *layout_.rbc;
    const uint32_t data0 = raw(rbc.gpcom_data0), data1 = raw(rbc.gpcom_data1);
    const uint32_t what = DEC_CMD::get(command);
    if (DEC_KMD_CMD::get(command) == 0) {
        // The other buffers hold pictures and bitstreams.
        if (what == RDECODE_CMD_MSG_BUFFER && ring.stream.in_ib()) {
            sessions_.message(port(ring), join(data0, data1));
        }
        return Step::done;
    }
    if (ring.stream.vmid() != 0) {
        unhandled_.note("vcn_command_refused", static_cast<uint8_t>(what));
        return Step::done;
    }
    switch (what) {
        case VCN_DEC_CMD_FENCE: return fence(ring, join(data0, data1), raw(rbc.context_id));
        case VCN_DEC_CMD_TRAP: return trap(ring);
        case VCN_DEC_CMD_WRITE_REG: return write_register(ring, data0, data1);
        case VCN_DEC_CMD_REG_READ_COND_WAIT:
            return wait_register(ring, data0, data1, raw(rbc.gp_scratch8));
        case VCN_DEC_CMD_PACKET_START:
        case VCN_DEC_CMD_PACKET_END: return Step::done;
        default:
            unhandled_.note("vcn_unknown_command", static_cast<uint8_t>(what));
            return Step::done;
    }
}

/// `address` in bytes, as the driver writes it: reg << 2.
Step VcnEngine::write_register(const VideoRing& ring, uint32_t address, uint32_t value) {
    if (may_reach_registers(ring, VCN_ENC_CMD_REG_WRITE)) {
        context_.registers.write(layout_.place.of_packet(address >> 2), value);
    }
    return Step::done;
}

Step VcnEngine::wait_register(const VideoRing& ring, uint32_t address, uint32_t value,
                              uint32_t mask) {
    if (!may_reach_registers(ring, VCN_ENC_CMD_REG_WAIT)) {
        return Step::done;
    }
    const uint32_t found = context_.registers.read(layout_.place.of_packet(address >> 2));
    return (found & mask) == (value & mask) ? Step::done : Step::wait;
}

bool VcnEngine::may_reach_registers(const VideoRing& ring, uint8_t opcode) {
    if (ring.stream.vmid() == 0) {
        return true;
    }
    unhandled_.note("vcn_register_refused", opcode);
    return false;
}

Port VcnEngine::port(const VideoRing& ring) const {
    return {context_.memory, layout_.place.hub, ring.stream.vmid()};
}

std::string VcnEngine::describe() const {
    std::string lines;
    for (const VideoRing& ring : rings_) {
        if (ring.enabled()) {
            lines +=
                fmt::format("{} {} doorbell {:#x} rptr {} wptr {}\n", name_, ring.layout().name,
                            ring.layout().doorbell.index(context_.registers).value_or(0),
                            ring.stream.rptr(), ring.stream.wptr());
        }
    }
    if (sessions_.open() != 0) {
        lines += fmt::format("{} sessions: {}\n", name_, sessions_.open());
    }
    return lines + unhandled_.describe();
}

}  // namespace gpuemu
