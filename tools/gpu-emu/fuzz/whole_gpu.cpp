// SPDX-License-Identifier: GPL-2.0
// Purpose: the driver's steps, from the functions of amdgpu that are named at each.
// Thread: single-threaded.
#include "gpu-emu/fuzz/whole_gpu.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "gpu-emu/ip/cp/pm4.h"
#include "gpu-emu/ip/regs/gc_9_4_3.h"
#include "gpu-emu/ip/regs/mp_13_0_6.h"
#include "gpu-emu/ip/regs/nbio_2_3.h"
#include "gpu-emu/ip/regs/nbio_7_9_0.h"
#include "gpu-emu/ip/regs/osssys_4_4_2.h"
#include "gpu-emu/ip/regs/sdma_4_4_2.h"
#include "gpu-emu/ip/sdma/sdma_layout.h"
#include "gpu-emu/ip/vm_hub.h"

namespace gpuemu::fuzz {
namespace {

namespace gc = gc_9_4_3;
namespace mp = mp_13_0_6;
namespace nbio = nbio_7_9_0;
namespace oss = osssys_4_4_2;

constexpr uint64_t command_register = 4;
constexpr uint32_t kiq_doorbell = 0, user_doorbell = 0x1000, sdma_doorbell = 0x1e0,
                   ih_doorbell = 0x1e8;
constexpr unsigned user_vmid = 8, contexts = 16;
constexpr uint32_t sdma_dwords = 1024, user_dwords = 1024, video_dwords = 1024,
                   psp_frame_dwords = 16, psp_ring_dwords = 1024;
constexpr uint64_t pte_valid = 1, pte_system = 2, pte_writeable = 0x40;
constexpr std::chrono::milliseconds reset_time{1};

const std::vector<uint32_t>& registers_with_effect(const std::string& profile,
                                                   const RegisterFile& file, uint64_t bytes) {
    static std::map<std::string, std::vector<uint32_t>> known;  // the same each time
    auto& registers = known[profile];
    if (registers.empty()) {
        for (uint32_t dword = 0; dword < bytes / 4; ++dword) {
            if (file.has_effect(dword)) {
                registers.push_back(dword);
            }
        }
    }
    return registers;
}

}  // namespace

std::span<std::byte> WholeGpu::OnePagePeers::window(unsigned, uint64_t offset, uint64_t length,
                                                    bool) {
    if (offset >= page_.size()) {
        return {};
    }
    return std::span(page_).subspan(offset, std::min(length, page_.size() - offset));
}

Profile WholeGpu::small(const std::string& name) {
    Profile profile = *find_profile(name);
    profile.vram_bytes = vram_bytes;
    if (profile.working(HwId::GC).size() == 1) {
        profile.register_bar_bytes = 512u << 10;  // enough for one: a reset clears all of them
    }
    return profile;
}

WholeGpu::WholeGpu(const Profile& profile, const std::string& control_socket)
    : gpu_(profile, {.eeprom_path = {}, .peers = &peers_, .loop = &loop_, .reset_time = reset_time},
           engines_),
      gate_(gpu_, engines_, loop_,
            {.on_vanish = [this] { gpu_.turn_vram_to_ones(); },
             .on_restore = [this] { gpu_.make_honest(); }}),
      control_(loop_, control_socket, *this),
      memory_([this] { return may_reach_host(); }),
      gc_(gc_layout(gpu_.profile())),
      vcn_(vcn_layouts(gpu_.profile())),
      sdma_queue_(sdma_layouts(gpu_.profile()).at(0).first_dword +
                  sdma_4_4_2::regSDMA_GFX_RB_CNTL.offset),
      registers_(registers_with_effect(gpu_.profile().name, gpu_.registers(),
                                       gpu_.profile().register_bar_bytes)) {
    gpu_.set_reset_witness({.asked = [this] { gate_.function_reset_asked(); },
                            .done = [this] { gate_.function_reset_done(); }});
    gate_.attach(memory_);
}

void WholeGpu::begin() {
    memory_.clear();
    peers_.clear();
    gate_.vanish();  // which ends all that was waited for
    gate_.loss().drop_interrupts(0);
    gate_.loss().duplicate_interrupts(0);
    gate_.restore();
    kiq_wptr_ = sdma_wptr_ = psp_wptr_ = user_wptr_ = video_wptr_ = 0;
    set_command(memory_space | bus_master);
}

WholeGpu::~WholeGpu() {
    gate_.detach();
}

bool WholeGpu::may_reach_host() const {
    uint16_t command = 0;
    // Its own, not what the gate shows.
    const_cast<Gpu&>(gpu_).read(Region::config, command_register,
                                std::as_writable_bytes(std::span(&command, 1)));
    return gate_.attached() && gate_.state() != LossGate::State::ones && command != 0xffff &&
           (command & bus_master) != 0;
}

void WholeGpu::set_command(uint16_t command) {
    gate_.write(Region::config, command_register, std::as_bytes(std::span(&command, 1)));
}

void WholeGpu::set_up(Part part) {
    switch (part) {
        case Part::doorbells: open_doorbells(); break;
        case Part::translation: set_up_translation(); break;
        case Part::interrupts: set_up_interrupts(); break;
        case Part::kiq: start_kiq(); break;
        case Part::sdma:  // sdma_v4_4_2_gfx_resume()
            for (const auto& [reg, value] : {std::pair{sdma_4_4_2::RB_RPTR_ADDR_LO, report},
                                             {sdma_4_4_2::RB_BASE, sdma_ring >> 8},
                                             {sdma_4_4_2::DOORBELL, 1u << 28},
                                             {sdma_4_4_2::DOORBELL_OFFSET, sdma_doorbell << 2},
                                             {sdma_4_4_2::RB_CNTL, 1u << 12 | 10u << 1 | 1}}) {
                write_register(sdma_queue_ + reg, value);
            }
            break;
        case Part::psp: start_psp(); break;
        case Part::video: start_video(); break;
        case Part::users: map_users(); break;
    }
}

/// As gart_enable() of each hub, with one flat table for all VMIDs.
void WholeGpu::set_up_translation() {
    const Profile& profile = gpu_.profile();
    for (uint32_t index = 0; index < GuestMemory::bytes / GuestMemory::page; ++index) {
        set_page(index, (GuestMemory::base + index * GuestMemory::page) | pte_valid | pte_system |
                            pte_writeable);
    }
    std::vector<VmHubLayout> hubs;
    for (unsigned xcc = 0; xcc < profile.working(HwId::GC).size(); ++xcc) {
        hubs.push_back(gfx_hub_layout(profile, xcc));
    }
    for (unsigned aid = 0; aid < profile.aids(); ++aid) {
        hubs.push_back(mm_hub_layout(profile, aid));
    }
    constexpr uint32_t enabled_with_interrupts = 1 | 1u << 9 | 1u << 11 | 1u << 15 | 1u << 19;
    for (const VmHubLayout& hub : hubs) {
        for (unsigned vmid = 0; vmid < contexts; ++vmid) {
            write_register(at(hub.ip, hub.VM_CONTEXT0_PAGE_TABLE_BASE_ADDR_LO32) + 2 * vmid,
                           page_table | pte_valid);
            write_register(at(hub.ip, hub.VM_CONTEXT0_CNTL) + vmid, enabled_with_interrupts);
        }
    }
}

/// nbio_v7_9_enable_doorbell_aperture(), and the ranges of SDMA and IH, or those of nbio_v2_3.c.
void WholeGpu::open_doorbells() {
    const IpInstance& ip = gpu_.profile().ip(HwId::NBIF);
    write_register(at(ip, nbio::regRCC_DEV0_EPF0_RCC_DOORBELL_APER_EN), 1);
    if (gpu_.profile().virtual_function) {
        return;
    }
    if (ip.major == 7) {
        const uint32_t entry = at(ip, nbio::regDOORBELL0_CTRL_ENTRY_0);
        write_far(entry, ih_doorbell | 8u << 10);
        write_far(entry + 1, sdma_doorbell | 8u << 10);
    } else {
        write_register(at(ip, nbio_2_3::mmBIF_IH_DOORBELL_RANGE), ih_doorbell << 2 | 2u << 16);
        write_register(at(ip, nbio_2_3::mmBIF_SDMA0_DOORBELL_RANGE), sdma_doorbell << 2 | 8u << 16);
    }
}

/// vega20_ih_enable_ring()
void WholeGpu::set_up_interrupts() {
    const IpInstance& ip = gpu_.profile().ip(HwId::OSSSYS);
    const uint64_t ring = GuestMemory::base + ih_ring, wptr = GuestMemory::base + report + 64;
    for (const auto& [reg, value] :
         {std::pair{oss::regIH_RB_BASE, static_cast<uint32_t>(ring >> 8)},
          {oss::regIH_RB_WPTR_ADDR_LO, static_cast<uint32_t>(wptr)},
          {oss::regIH_RB_WPTR_ADDR_HI, static_cast<uint32_t>(wptr >> 32)},
          {oss::regIH_DOORBELL_RPTR, 1u << 28 | ih_doorbell},
          {oss::regIH_RB_CNTL, 1u << 28 | 1u << 17 | 1u << 16 | 1u << 8 | 9u << 1 | 1}}) {
        write_register(at(ip, reg), value);
    }
}

uint32_t WholeGpu::hqd(Reg reg) const {
    return at(gc_.ip, gc_.CP_MQD_BASE_ADDR) + reg.offset - gc::regCP_MQD_BASE_ADDR.offset;
}

/// gfx_v9_4_3_xcc_kiq_init_register()
void WholeGpu::start_kiq() {
    const uint32_t select = at(gc_.ip, gc_.GRBM_GFX_CNTL);
    write_register(select, 2u << 2 | 1);
    write_register(hqd(gc::regCP_HQD_PQ_BASE), kiq_ring >> 8);
    write_register(hqd(gc::regCP_HQD_PQ_CONTROL), 9);
    write_register(hqd(gc::regCP_HQD_PQ_RPTR_REPORT_ADDR), report + 8);
    write_register(hqd(gc::regCP_HQD_PQ_DOORBELL_CONTROL), 1u << 30 | kiq_doorbell << 2);
    write_register(hqd(gc::regCP_HQD_ACTIVE), 1);
    write_register(select, 0);
}

/// psp_v13_0_bootloader_load_sos() and psp_v13_0_ring_create()
void WholeGpu::start_psp() {
    const IpInstance& ip = gpu_.profile().ip(HwId::MP0);
    constexpr uint32_t load_sos = 0x20000, init_ring = 2u << 16;
    write_register(at(ip, mp::regMP0_SMN_C2PMSG_35), load_sos);
    for (int look = 0; look < 2; ++look) {
        uint32_t sign_of_life = 0;
        gate_.read(Region::bar5, uint64_t{at(ip, mp::regMP0_SMN_C2PMSG_81)} * 4,
                   std::as_writable_bytes(std::span(&sign_of_life, 1)));
    }
    const bool vf = gpu_.profile().virtual_function;
    write_register(at(ip, vf ? mp::regMP0_SMN_C2PMSG_102 : mp::regMP0_SMN_C2PMSG_69), psp_ring);
    write_register(at(ip, mp::regMP0_SMN_C2PMSG_71), psp_ring_dwords * 4);
    write_register(at(ip, vf ? mp::regMP0_SMN_C2PMSG_101 : mp::regMP0_SMN_C2PMSG_64), init_ring);
}

/// The first ring of the first instance.
void WholeGpu::start_video() {
    if (vcn_.empty()) {
        return;
    }
    const VcnLayout& vcn = vcn_.front();
    const VideoRing::Layout& ring = vcn.rings.front();
    write_register(ring.base, video_ring);
    write_register(ring.size, ring.size_in == VideoRing::SizeIn::dwords ? video_dwords : 12);
    if (vcn.rb_enable) {
        write_register(*vcn.rb_enable, vcn.rb_enable_mask);
    }
    write_register(vcn.vcpu_cntl, 1u << 9);
}

/// A process with a queue of AQL, as the hardware scheduler is told of one.
void WholeGpu::map_users() {
    const auto mqd_dword = [](Reg reg) {
        return mqd + (128 + reg.offset - gc::regCP_MQD_BASE_ADDR.offset) * 4;
    };
    put(mqd_dword(gc::regCP_HQD_PQ_BASE), {user_ring >> 8});
    put(mqd_dword(gc::regCP_HQD_PQ_CONTROL), {9});
    put(mqd_dword(gc::regCP_HQD_PQ_RPTR_REPORT_ADDR), {report + 16});
    put(mqd_dword(gc::regCP_HQD_AQL_CONTROL), {1});
    using pm4::header;
    std::array<uint32_t, 16> process{header(pm4::PACKET3_MAP_PROCESS, 15), 0x8001,
                                     page_table | pte_valid};
    std::vector<uint32_t> packets{
        header(pm4::PACKET3_SET_RESOURCES, 7), 0xff00 | 1u << 29, ~0u, ~0u, 0, 0, 0, 0};
    packets.insert(packets.end(), process.begin(), process.end());
    const auto queue = {header(pm4::PACKET3_MAP_QUEUES, 6),
                        1u << 4 | 1u << 29,
                        user_doorbell << 2,
                        mqd,
                        0u,
                        report + 24,
                        0u};
    packets.insert(packets.end(), queue.begin(), queue.end());
    submit(Queue::kiq, packets);
}

void WholeGpu::submit(Queue queue, std::span<const uint32_t> packets) {
    switch (queue) {
        case Queue::kiq:
            fill_ring(kiq_ring, kiq_dwords, kiq_wptr_, packets);
            doorbell(kiq_doorbell, kiq_wptr_, true);
            break;
        case Queue::user_buffer:
            memory_.put(buffer, std::as_bytes(packets));
            submit(Queue::kiq, std::array{pm4::header(pm4::PACKET3_INDIRECT_BUFFER, 3), buffer, 0u,
                                          static_cast<uint32_t>(packets.size()) | user_vmid << 24});
            break;
        case Queue::user_aql: {
            constexpr uint32_t aql_dwords = 16;
            fill_ring(user_ring, user_dwords, user_wptr_, packets);
            user_wptr_ = (user_wptr_ + aql_dwords - 1) / aql_dwords * aql_dwords;
            put(report + 24, {user_wptr_ / aql_dwords});
            doorbell(user_doorbell, user_wptr_ / aql_dwords, true);
            break;
        }
        case Queue::sdma:
            fill_ring(sdma_ring, sdma_dwords, sdma_wptr_, packets);
            doorbell(sdma_doorbell, uint64_t{sdma_wptr_} * 4, true);
            break;
        case Queue::video:
            if (!vcn_.empty()) {
                fill_ring(video_ring, video_dwords, video_wptr_, packets);
                write_register(vcn_.front().rings.front().wptr, video_wptr_ % video_dwords);
            }
            break;
    }
}

void WholeGpu::command_psp(std::span<const uint32_t> command) {
    memory_.put(psp_command, std::as_bytes(command));
    put(psp_ring + psp_wptr_ % psp_ring_dwords * 4, {psp_command, 0, 0, report + 32, 0, 1});
    psp_wptr_ += psp_frame_dwords;
    const IpInstance& ip = gpu_.profile().ip(HwId::MP0);
    if (gpu_.profile().virtual_function) {
        constexpr uint32_t consume = 9u << 16;
        write_register(at(ip, mp::regMP0_SMN_C2PMSG_102), psp_wptr_ % psp_ring_dwords);
        write_register(at(ip, mp::regMP0_SMN_C2PMSG_101), consume);
    } else {
        write_register(at(ip, mp::regMP0_SMN_C2PMSG_67), psp_wptr_ % psp_ring_dwords);
    }
}

void WholeGpu::put(uint32_t address, std::initializer_list<uint32_t> dwords) {
    memory_.put(address, std::as_bytes(std::span(dwords.begin(), dwords.size())));
}

void WholeGpu::fill_ring(uint32_t base, uint32_t ring_dwords, uint32_t& wptr,
                         std::span<const uint32_t> dwords) {
    for (const uint32_t dword : dwords) {
        put(base + wptr++ % ring_dwords * 4, {dword});
    }
}

void WholeGpu::doorbell(uint32_t index, uint64_t value, bool wide) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    gate_.write(Region::bar2, uint64_t{index} * 4, bytes.first(wide ? 8 : 4));
}

void WholeGpu::write_register(uint32_t dword, uint32_t value) {
    gate_.write(Region::bar5, uint64_t{dword} * 4, std::as_bytes(std::span(&value, 1)));
}

/// Through PCIE_INDEX2.
void WholeGpu::write_far(uint32_t dword, uint32_t value) {
    const IpInstance& ip = gpu_.profile().ip(HwId::NBIF);
    write_register(at(ip, nbio::regBIF_BX0_PCIE_INDEX2), dword * 4);
    write_register(at(ip, nbio::regBIF_BX0_PCIE_DATA2), value);
}

void WholeGpu::set_page(uint32_t index, uint64_t entry) {
    gate_.write(Region::bar0, page_table + uint64_t{index} * 8,
                std::as_bytes(std::span(&entry, 1)));
}

void WholeGpu::run(unsigned turns) {
    while (turns-- > 0 && engines_.turn() != hp::EventLoop::Idle::done) {
    }
}

void WholeGpu::pass_time() {
    const auto end = loop_.after(reset_time, [this] { loop_.stop(); });
    loop_.run();
}

void WholeGpu::ask(const nlohmann::json& request) {
    control_.handle(request);
}

void WholeGpu::reattach() {
    gate_.detach();
    gate_.attach(memory_);
    set_command(memory_space | bus_master);
}

std::string WholeGpu::register_name(uint32_t dword) const {
    return Gpu::register_name(gpu_.profile(), dword);
}

DeviceStatus WholeGpu::device_status() const {
    DeviceStatus status;
    status.engines = gpu_.describe();
    return status;
}

hp::Result<void> WholeGpu::inject(RasBlock block, RasSeverity severity) {
    return gpu_.inject(block, severity);
}

hp::Result<void> WholeGpu::notify_guest(HostNotification what) {
    return gpu_.notify_guest(what);
}

hp::Result<void> WholeGpu::make_hostile(uint64_t seed, std::span<const Surface> surfaces,
                                        uint64_t rate) {
    return gpu_.make_hostile(seed, surfaces, rate);
}

void WholeGpu::shift_fences(WriteBack fence, uint32_t more, uint64_t count) {
    gpu_.shift_fences(fence, more, count);
}

hp::Result<void> WholeGpu::falsify_discovery(DiscoveryField field, uint16_t value) {
    return gpu_.falsify_discovery(field, value);
}

void WholeGpu::silence_smu(uint64_t messages) {
    gpu_.silence_smu(messages);
}

void WholeGpu::silence_boot_loader(uint64_t commands) {
    gpu_.silence_boot_loader(commands);
}

void WholeGpu::falsify_wptr(uint32_t value) {
    gpu_.falsify_wptr(value);
}

hp::Result<void> WholeGpu::poison_vram() {
    gpu_.poison_vram();
    return {};
}

hp::Result<uint64_t> WholeGpu::count_in_vram(uint32_t word) {
    return gpu_.vram().count_resident(word);
}

}  // namespace gpuemu::fuzz
