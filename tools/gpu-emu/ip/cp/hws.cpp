// SPDX-License-Identifier: GPL-2.0
// Thread: device loop only.
#include "gpu-emu/ip/cp/hws.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gpu-emu/ip/cp/compute_queue.h"
#include "gpu-emu/ip/cp/me.h"
#include "gpu-emu/ip/cp/pm4.h"
#include "gpu-emu/ip/queue/port.h"
#include "gpu-emu/ip/regs/osssys_4_4_2.h"
#include "gpu-emu/ip/sdma/sdma_engine.h"
#include "gpu-emu/ip/vm_hub.h"

namespace gpuemu {

namespace {

constexpr unsigned vmids = 16;

// struct v9_mqd (drivers/gpu/drm/amd/include/v9_structs.h), in bytes: what is behind the HQD part,
// and what says that it is a queue of AQL.
constexpr uint64_t pm4_target_xcc_in_xcp = 225 * 4, cp_mqd_stride_size = 226 * 4;
constexpr uint64_t cp_hqd_aql_control =
    4 * (128 + gc_9_4_3::regCP_HQD_AQL_CONTROL.offset - gc_9_4_3::regCP_MQD_BASE_ADDR.offset);

// asic_reg/athub/athub_{1_8_0,2_1_0}_{offset,sh_mask}.h; nothing else of ATHUB has a meaning here.
constexpr Reg regATC_VMID0_PASID_MAPPING{0x003f, 0};
constexpr Reg mmATC_VMID0_PASID_MAPPING{0x0047, 0};
constexpr uint32_t ATC_VMID0_PASID_MAPPING__VALID_MASK = 0x80000000;

const IpInstance* find_ip(const Profile& profile, HwId hw_id) {
    const auto found = std::ranges::find(profile.ips, hw_id, &IpInstance::hw_id);
    return found == profile.ips.end() ? nullptr : &*found;
}

}  // namespace

Hws::Hws(const EngineContext& context, const XccGroup& xccs, ComputeSlots& slots, Me* me,
         std::span<SdmaEngine* const> sdma, UnhandledPackets& unhandled)
    : context_(context),
      xccs_(xccs),
      slots_(slots),
      me_(me),
      sdma_(sdma.begin(), sdma.end()),
      unhandled_(unhandled) {
    const auto add_hub = [this](const VmHubLayout& hub) {
        hubs_.push_back({.page_table_base = at(hub.ip, hub.VM_CONTEXT0_PAGE_TABLE_BASE_ADDR_LO32),
                         .invalidate_request = at(hub.ip, hub.VM_INVALIDATE_ENG0_REQ),
                         .invalidate_levels = hub.invalidation_of(0)});
    };
    const GcLayout gc = gc_layout(context.profile, context.xcc);
    const unsigned aid = gc.ip.instance / 2;
    gfx_node_ = gc.ih_node;
    mm_node_ = ih_node_of_aid(aid);
    add_hub(gfx_hub_layout(context.profile, context.xcc));
    if (aid < context.profile.aids()) {
        add_hub(mm_hub_layout(context.profile, aid));
    }
    if (const IpInstance* athub = find_ip(context.profile, HwId::ATHUB)) {
        pasid_mapping_dword_ =
            at(*athub, athub->major == 2 ? mmATC_VMID0_PASID_MAPPING : regATC_VMID0_PASID_MAPPING);
    }
    if (const IpInstance* osssys = find_ip(context.profile, HwId::OSSSYS)) {
        pasid_luts_.emplace(*osssys, context.registers);
    }
}

void Hws::set_resources(Body body) {
    // The KIQ says its own queues with type 0; the scheduler has no use for them.
    if (pm4::SET_RESOURCES__QUEUE_TYPE::get(body[0]) == pm4::SET_RESOURCES__QUEUE_TYPE__HIQ) {
        vmid_mask_ = pm4::SET_RESOURCES__VMID_MASK::get(body[0]);
        queue_mask_ = join(body[1], body[2]);
    }
}

void Hws::begin_run_list() {
    unmap_if([](const QueueOwner& owner, auto) { return owner.scheduled; });
    previous_ = std::exchange(processes_, {});
    current_.reset();
}

void Hws::map_process(Body body) {
    const auto pasid = static_cast<uint16_t>(pm4::MAP_PROCESS__PASID::get(body[0]));
    auto listed = std::ranges::find(processes_, pasid, &Process::pasid);
    if (listed == processes_.end()) {
        const auto vmid = free_vmid();
        if (!vmid) {
            current_.reset();
            unhandled_.note("hws_no_free_vmid", pm4::PACKET3_MAP_PROCESS);
            return;
        }
        listed = processes_.insert(listed, {pasid, *vmid, 0});
    }
    listed->page_table_base = join(body[1], body[2]);
    current_ = *listed;
    program_vmid(*listed);
}

void Hws::map_queues(Body body) {
    if (pm4::MAP_QUEUES__QUEUE_SEL::get(body[0]) == pm4::MAP_QUEUES__QUEUE_SEL__SPECIFIED_SLOTS) {
        map_specified(body);
    } else {
        map_scheduled(body);
    }
}

void Hws::map_specified(Body body) {
    const uint32_t engine = pm4::MAP_QUEUES__ENGINE_SEL::get(body[0]);
    MapRequest request;
    request.owner.mqd = join(body[2], body[3]);
    request.owner.hub = context_.gfx_hub();
    if (engine == pm4::ENGINE_HIQ) {
        request.owner.role = role();  // one ring for all XCCs of the partition
    }
    request.doorbell = pm4::MAP_QUEUES__DOORBELL_OFFSET::get(body[1]);
    if (engine == pm4::ENGINE_SDMA0 || engine == pm4::ENGINE_SDMA1) {
        map_sdma(engine - pm4::ENGINE_SDMA0, request);
        return;
    }
    if (engine == pm4::ENGINE_GFX && me_ != nullptr) {
        map_graphics(body, request);
        return;
    }
    const unsigned slot =
        HqdBank::slot(pm4::MAP_QUEUES__ME::get(body[0]) + 1, pm4::MAP_QUEUES__PIPE::get(body[0]),
                      pm4::MAP_QUEUES__QUEUE::get(body[0]));
    if ((engine != pm4::ENGINE_COMPUTE && engine != pm4::ENGINE_HIQ) ||
        !slots_.map(slot, request)) {
        unhandled_.note("map_queues_failed", pm4::PACKET3_MAP_QUEUES);
    }
}

void Hws::map_scheduled(Body body) {
    if (!current_) {
        unhandled_.note("hws_queue_without_process", pm4::PACKET3_MAP_QUEUES);
        return;
    }
    const uint32_t type = pm4::MAP_QUEUES__QUEUE_TYPE::get(body[0]);
    const uint32_t engine = pm4::MAP_QUEUES__ENGINE_SEL::get(body[0]);
    const uint32_t extended = pm4::MAP_QUEUES__EXTENDED_ENGINE_SEL::get(body[0]);
    MapRequest request;
    request.doorbell = pm4::MAP_QUEUES__DOORBELL_OFFSET::get(body[1]);
    request.vmid = current_->vmid;
    request.wptr_address = join(body[4], body[5]);
    request.owner = {
        .mqd = join(body[2], body[3]),
        .pasid = current_->pasid,
        .scheduled = true,
        .is_static = type == pm4::MAP_QUEUES__QUEUE_TYPE__NORMAL_LATENCY_STATIC_QUEUE ||
                     type == pm4::MAP_QUEUES__QUEUE_TYPE__LOW_LATENCY_STATIC_QUEUE,
        .hub = context_.gfx_hub()};

    if (extended != pm4::LEGACY_ENGINE_SEL) {
        map_sdma(engine + (extended == pm4::SDMA8_TO_15_SEL ? 8 : 0), request);
    } else if (engine == pm4::ENGINE_SDMA0 || engine == pm4::ENGINE_SDMA1) {
        map_sdma(engine - pm4::ENGINE_SDMA0, request);
    } else if (const auto slot = free_slot(); !slot) {
        unhandled_.note("hws_no_free_slot", pm4::PACKET3_MAP_QUEUES);
    } else {
        map_compute(*slot, request);
    }
}

/// A user's queue is one for all XCCs of the partition if it is of AQL, else it is one XCC's. Each
/// XCC has its MQD behind that of the leader (init_mqd_v9_4_3()).
void Hws::map_compute(unsigned slot, MapRequest request) {
    const XccPlace place = xccs_.place(context_.xcc);
    if (place.count > 1) {
        const Port port{context_.memory, context_.gfx_hub(), 0};
        const uint64_t mqd = request.owner.mqd;
        const auto stride = port.read32(mqd + cp_mqd_stride_size);
        const auto aql_control = port.read32(mqd + cp_hqd_aql_control);
        const auto target = port.read32(mqd + pm4_target_xcc_in_xcp);
        if (!stride || !aql_control || !target) {
            unhandled_.note("map_queues_failed", pm4::PACKET3_MAP_QUEUES);
            return;
        }
        if (gc_9_4_3::CP_HQD_AQL_CONTROL__CONTROL0::get(*aql_control) != 0) {
            request.owner.role = role();
        } else if (*target != place.virtual_id) {
            if (*target >= place.count && place.virtual_id == 0) {
                unhandled_.note("pm4_queue_of_no_xcc", pm4::PACKET3_MAP_QUEUES);
            }
            return;
        }
        request.owner.mqd += uint64_t{*stride} * place.virtual_id;
    }
    if (!slots_.map(slot, request)) {
        unhandled_.note("map_queues_failed", pm4::PACKET3_MAP_QUEUES);
    }
}

QueueRole Hws::role() const {
    const XccPlace place = xccs_.place(context_.xcc);
    if (place.count == 1) {
        return QueueRole::alone;
    }
    return place.virtual_id == 0 ? QueueRole::leader : QueueRole::follower;
}

void Hws::map_graphics(Body body, const MapRequest& request) {
    if (!me_->map(pm4::MAP_QUEUES__PIPE::get(body[0]), pm4::MAP_QUEUES__QUEUE::get(body[0]),
                  request)) {
        unhandled_.note("map_graphics_queue_failed", pm4::PACKET3_MAP_QUEUES);
    }
}

/// `instance`: counted within the partition.
void Hws::map_sdma(unsigned instance, const MapRequest& request) {
    const auto engines = own_sdma();
    if (role() != QueueRole::follower &&
        (instance >= engines.size() || !engines[instance]->map_queue(request))) {
        unhandled_.note("map_sdma_queue_failed", pm4::PACKET3_MAP_QUEUES);
    }
}

/// The SDMA instances are dealt out in order (__aqua_vanjaram_get_xcp_ip_info()).
std::span<SdmaEngine* const> Hws::own_sdma() const {
    const XccPlace place = xccs_.place(context_.xcc);
    if (place.virtual_id != 0) {
        return {};  // the leader's
    }
    const std::size_t xccs = context_.profile.working(HwId::GC).size();
    const std::size_t partitions = std::max<std::size_t>(xccs / place.count, 1);
    const std::size_t each = (sdma_.size() + partitions - 1) / partitions;
    const std::size_t first = std::min(each * place.partition, sdma_.size());
    return std::span(sdma_).subspan(first, std::min(each, sdma_.size() - first));
}

void Hws::unmap_queues(Body body) {
    if (pm4::UNMAP_QUEUES__ACTION::get(body[0]) == pm4::PREEMPT_QUEUES_NO_UNMAP) {
        // The queue stays and only says how far it is: the trailing fence of
        // gfx_v9_4_3_kiq_unmap_queues().
        const Port port{context_.memory, context_.gfx_hub(), 0};
        port.write32(join(body[2], body[3]),
                     mutated(context_.mutator, port, scheduler_fence, body[4]));
        return;
    }
    switch (pm4::UNMAP_QUEUES__QUEUE_SEL::get(body[0])) {
        case pm4::SPECIFIED_QUEUES: {
            const uint32_t count = std::min(pm4::UNMAP_QUEUES__NUM_QUEUES::get(body[0]), 4u);
            for (const uint32_t dword : body.subspan(1, count)) {
                const uint32_t wanted = pm4::UNMAP_QUEUES__DOORBELL_OFFSET::get(dword);
                unmap_if([wanted](const QueueOwner& owner, auto doorbell) {
                    return owner.mqd != 0 && doorbell == wanted;
                });
            }
            break;
        }
        case pm4::PASID_QUEUES:
            unmap_if(
                [pasid = pm4::UNMAP_QUEUES__PASID::get(body[1])](const QueueOwner& owner, auto) {
                    return owner.scheduled && owner.pasid == pasid;
                });
            break;
        case pm4::ALL_QUEUES:
            unmap_if([](const QueueOwner& owner, auto) { return owner.scheduled; });
            break;
        case pm4::ALL_NON_STATIC_QUEUES:
            unmap_if(
                [](const QueueOwner& owner, auto) { return owner.scheduled && !owner.is_static; });
            break;
    }
}

void Hws::query_status(const ComputeQueue& issuer, Body body) {
    if (issuer.owner().role == QueueRole::follower) {
        return;  // the leader says it when all are done
    }
    const uint32_t command = pm4::QUERY_STATUS__COMMAND::get(body[0]);
    if (command != pm4::INTERRUPT_ONLY) {
        const Port port{context_.memory, context_.gfx_hub(), issuer.vmid()};
        port.write64(join(body[2], body[3]),
                     mutated(context_.mutator, port, scheduler_fence, join(body[4], body[5])));
    }
    if (command == pm4::INTERRUPT_ONLY || command == pm4::FENCE_WAIT_FOR_WRITE_ACK_SEND_INTERRUPT) {
        context_.interrupts.raise(issuer.interrupt(GFX_9_0__SRCID__CP_EOP_INTERRUPT,
                                                   pm4::QUERY_STATUS__CONTEXT_ID::get(body[0])));
    }
}

void Hws::unmap_if(const QueueSelector& selected) {
    for (const ComputeQueue& queue : slots_.queues()) {
        if (queue.active() && selected(queue.owner(), queue.doorbell())) {
            slots_.unmap(queue.slot());
        }
    }
    if (me_ != nullptr) {
        me_->unmap_queues(selected);
    }
    for (SdmaEngine* engine : own_sdma()) {
        engine->unmap_queues(selected);
    }
}

std::optional<unsigned> Hws::free_vmid() const {
    for (unsigned vmid = 1; vmid < vmids; ++vmid) {
        const bool taken = std::ranges::find(processes_, vmid, &Process::vmid) != processes_.end();
        if ((vmid_mask_ >> vmid & 1) != 0 && !taken) {
            return vmid;
        }
    }
    return std::nullopt;
}

std::optional<unsigned> Hws::free_slot() const {
    // Bits of the queue mask count from the first micro engine
    // (amdgpu_queue_mask_bit_to_set_resource_bit()).
    for (const ComputeQueue& queue : slots_.queues()) {
        const unsigned bit = queue.slot() - HqdBank::slots_per_me;
        if ((queue_mask_ >> bit & 1) != 0 && !queue.active()) {
            return queue.slot();
        }
    }
    return std::nullopt;
}

/// Assumed: a VMID that the run list before had for another process, or for none, begins without
/// translations. Who keeps his has to ask for that.
void Hws::program_vmid(const Process& process) {
    const bool as_before = std::ranges::count(previous_, process) != 0;
    for (const HubRegisters& hub : hubs_) {
        const uint32_t dword = hub.page_table_base + 2 * process.vmid;
        context_.registers.write(dword, static_cast<uint32_t>(process.page_table_base));
        context_.registers.write(dword + 1, static_cast<uint32_t>(process.page_table_base >> 32));
        if (!as_before && !context_.profile.opposites.has(Opposite::hws_keeps_translations)) {
            invalidate(hub, process.vmid);
        }
    }
    if (pasid_mapping_dword_) {
        context_.registers.write(*pasid_mapping_dword_ + process.vmid,
                                 ATC_VMID0_PASID_MAPPING__VALID_MASK | process.pasid);
    }
    if (pasid_luts_) {
        namespace oss = osssys_4_4_2;
        pasid_luts_->write(gfx_node_, oss::regIH_VMID_0_LUT, process.vmid, process.pasid);
        pasid_luts_->write(mm_node_, oss::regIH_VMID_0_LUT_MM, process.vmid, process.pasid);
    }
}

void Hws::invalidate(const HubRegisters& hub, unsigned vmid) {
    constexpr uint32_t engine_of_firmware = 2;  // not in AMDGPU_VMHUB_INV_ENG_BITMAP
    context_.registers.write(hub.invalidate_request + engine_of_firmware,
                             hub.invalidate_levels | 1u << vmid);
}

unsigned Hws::invalidate_tlbs(Body body) {
    if (pm4::INVALIDATE_TLBS__DST_SEL::get(body[0]) != pm4::INVALIDATE_TLBS__DST_SEL__PASID) {
        unhandled_.note("invalidate_tlbs_of_no_process", pm4::PACKET3_INVALIDATE_TLBS);
        return 0;
    }
    const auto pasid = static_cast<uint16_t>(pm4::INVALIDATE_TLBS__PASID::get(body[0]));
    const bool all_hubs = pm4::INVALIDATE_TLBS__ALL_HUB::get(body[0]) != 0;
    unsigned count = 0;
    for (unsigned vmid = 1; vmid < vmids; ++vmid) {
        if (!is_of(vmid, pasid)) {
            continue;
        }
        for (const HubRegisters& hub : std::span(hubs_).first(all_hubs ? hubs_.size() : 1)) {
            invalidate(hub, vmid);
            ++count;
        }
    }
    return count;
}

/// By the run list, or as the driver has written it into ATHUB for a VMID of its own.
bool Hws::is_of(unsigned vmid, uint16_t pasid) const {
    const auto scheduled = std::ranges::find(processes_, vmid, &Process::vmid);
    if (scheduled != processes_.end()) {
        return scheduled->pasid == pasid;
    }
    return pasid_mapping_dword_ &&
           std::as_const(context_.registers).raw(*pasid_mapping_dword_ + vmid) ==
               (ATC_VMID0_PASID_MAPPING__VALID_MASK | pasid);
}

void Hws::reset() {
    vmid_mask_ = 0;
    queue_mask_ = 0;
    processes_.clear();
    previous_.clear();
    current_.reset();
}

std::string Hws::describe() const {
    std::string lines;
    for (const Process& process : processes_) {
        lines += fmt::format("hws pasid {:#x} vmid {}\n", process.pasid, process.vmid);
    }
    return lines;
}

}  // namespace gpuemu
