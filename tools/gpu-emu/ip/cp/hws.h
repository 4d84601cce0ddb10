// SPDX-License-Identifier: GPL-2.0
// Purpose: the hardware scheduler: the MEC firmware's side of SET_RESOURCES, RUN_LIST, MAP_PROCESS,
// MAP_QUEUES, UNMAP_QUEUES, QUERY_STATUS and INVALIDATE_TLBS, as the KIQ and amdkfd's HIQ send them
// (amdkfd/kfd_packet_manager_v9.c). It owns the VMIDs and queue slots that SET_RESOURCES gave it.
// The XCCs of a partition have one each, which see the same packets; SDMA queues and fences are the
// leader's.
// Thread: device loop only.
// Does not model: time slicing. Of an over-subscribed run list, what finds no VMID or slot waits
// until a later run list has room. GWS, GDS, debugger VMIDs, quanta. Preemption is immediate, so
// that no fence is ever late.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu-emu/ip/cp/compute_slots.h"
#include "gpu-emu/ip/cp/xcc_group.h"
#include "gpu-emu/ip/pasid_luts.h"
#include "gpu-emu/ip/queue/context.h"
#include "gpu-emu/ip/queue/unhandled_packets.h"

namespace gpuemu {

class Me;
class SdmaEngine;

class Hws {
public:
    /// Packet behind its header.
    using Body = std::span<const uint32_t>;

    /// `me`: whose queues the KIQ maps; null: there is none.
    Hws(const EngineContext& context, const XccGroup& xccs, ComputeSlots& slots, Me* me,
        std::span<SdmaEngine* const> sdma, UnhandledPackets& unhandled);

    void set_resources(Body body);

    /// A new run list begins: what the last one mapped is taken off.
    void begin_run_list();
    void map_process(Body body);

    /// A slot named by the KIQ, or one that the scheduler picks for the current process of the run
    /// list.
    void map_queues(Body body);
    void unmap_queues(Body body);
    void query_status(const ComputeQueue& issuer, Body body);

    /// The translations of a process, in the hub of this XCC or in that of its AID as well. Answers
    /// with the number of invalidations.
    unsigned invalidate_tlbs(Body body);

    void reset();
    std::string describe() const;

private:
    struct Process {
        uint16_t pasid;
        unsigned vmid;
        uint64_t page_table_base;

        bool operator==(const Process&) const = default;
    };
    /// Registers of a hub, VMID 0's or engine 0's.
    struct HubRegisters {
        uint32_t page_table_base, invalidate_request;
        uint32_t invalidate_levels;  // what a request has besides the VMIDs
    };

    void unmap_if(const QueueSelector& selected);
    void map_specified(Body body);
    void map_scheduled(Body body);
    void map_graphics(Body body, const MapRequest& request);
    void map_compute(unsigned slot, MapRequest request);
    void map_sdma(unsigned instance, const MapRequest& request);
    QueueRole role() const;  // of this XCC in a queue of all XCCs of its partition
    std::span<SdmaEngine* const> own_sdma() const;
    std::optional<unsigned> free_vmid() const;
    std::optional<unsigned> free_slot() const;
    void program_vmid(const Process& process);
    void invalidate(const HubRegisters& hub, unsigned vmid);
    bool is_of(unsigned vmid, uint16_t pasid) const;

    const EngineContext& context_;
    const XccGroup& xccs_;
    ComputeSlots& slots_;
    Me* me_;
    std::vector<SdmaEngine*> sdma_;
    UnhandledPackets& unhandled_;
    std::vector<HubRegisters> hubs_;               // of the XCC, then of its AID
    std::optional<uint32_t> pasid_mapping_dword_;  // VMID 0's, in ATHUB
    std::optional<PasidLuts> pasid_luts_;          // nothing: there is no OSSSYS
    uint8_t gfx_node_ = 0, mm_node_ = 0;           // of the interrupts of both hubs
    uint32_t vmid_mask_ = 0;
    uint64_t queue_mask_ = 0;
    std::vector<Process> processes_;  // of the current run list
    std::vector<Process> previous_;   // of that before it
    std::optional<Process> current_;  // whose queues follow
};

}  // namespace gpuemu
