// SPDX-License-Identifier: GPL-2.0
// Purpose: puts the IP blocks of a profile together and dispatches the accesses of the host to
// them.
// Thread: device loop only.
#include "gpu-emu/board/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "gpu-emu/board/engines.h"
#include "gpu-emu/board/register_names.h"
#include "gpu-emu/ip/atom_image.h"
#include "gpu-emu/ip/discovery.h"
#include "gpu-emu/ip/eeprom.h"
#include "gpu-emu/ip/fru.h"
#include "gpu-emu/ip/fuse_type.h"
#include "gpu-emu/ip/ih.h"
#include "gpu-emu/ip/nbio.h"
#include "gpu-emu/ip/partitions.h"
#include "gpu-emu/ip/psp.h"
#include "gpu-emu/ip/rlc.h"
#include "gpu-emu/ip/rlcg.h"
#include "gpu-emu/ip/smu.h"
#include "gpu-emu/ip/smu_11_0_7.h"
#include "gpu-emu/ip/smu_13_0_12.h"
#include "gpu-emu/ip/smuio.h"
#include "gpu-emu/ip/vm_hub.h"
#include "gpu-emu/ip/xgmi.h"
#include "gpu-emu/mem/frame_buffer.h"
#include "gpu-emu/mem/gpu_vm.h"
#include "gpu-emu/mem/vram.h"
#include "gpu-emu/pci/bus_master.h"
#include "gpu-emu/pci/config_space.h"
#include "lib/clock.h"
#include "lib/log.h"

namespace gpuemu {
namespace {

constexpr unsigned vram_bar = 0, doorbell_bar = 2, register_bar = 5;
constexpr unsigned msi_vector = 0;

/// The reference clock of the ASIC: 100 MHz.
uint64_t gpu_clock() {
    return hp::monotonic_ns() / 10;
}

std::vector<VmHubRegisters> all_gfx_hubs(const Profile& profile) {
    std::vector<VmHubRegisters> hubs;
    for (unsigned xcc = 0; xcc < profile.working(HwId::GC).size(); ++xcc) {
        hubs.push_back(walk_registers(gfx_hub_layout(profile, xcc)));
    }
    return hubs;
}

std::vector<VmHubRegisters> all_mm_hubs(const Profile& profile) {
    std::vector<VmHubRegisters> hubs;
    for (unsigned aid = 0; aid < profile.aids(); ++aid) {
        hubs.push_back(walk_registers(mm_hub_layout(profile, aid)));
    }
    return hubs;
}

/// Which read-only registers were written, for people: the first ones.
std::string read_only_writes(const Profile& profile, const RegisterFile& registers) {
    std::size_t left = 8;
    std::string line;
    for (const auto& [address, times] : registers.read_only_writes()) {
        if (left-- == 0) {
            break;
        }
        line += fmt::format(" {:#x} {} ({})", address,
                            Gpu::register_name(profile, static_cast<uint32_t>(address / 4)), times);
    }
    return line.empty() ? line : "read-only registers written:" + line + "\n";
}

void fill_with_ones(std::span<std::byte> out) {
    std::ranges::fill(out, std::byte{0xff});
}

}  // namespace

struct Gpu::Impl {
    Impl(const Profile& profile, Options options, EngineKicker& kicker);

    std::unique_ptr<SmuMailbox> make_smu();
    void make_blocks_of_dies();
    void power_on();
    void reset(ResetKind kind);
    void ask_for_mode1_reset();
    void tell_of_reset();
    void run_pending_resets();
    void go_away_for(std::chrono::milliseconds time);
    /// Nothing does in the middle of a reset. BARs do so while memory space is enabled. Whether the
    /// ROM is enabled the client minds, which reads it once and for all.
    bool answers(Region region) const {
        return !in_reset &&
               (region == Region::config || region == Region::rom || config.memory_enabled());
    }
    void place_boot_data();
    void place(uint64_t offset, const std::vector<std::byte>& data);
    void place_discovery();
    hp::Result<void> falsify_discovery(DiscoveryField field, uint16_t value);
    void place_pf2vf();

    void read_registers(uint64_t offset, std::span<std::byte> out);
    void write_registers(uint64_t offset, std::span<const std::byte> in);
    void write_doorbell(uint64_t offset, std::span<const std::byte> in);
    void raise_msi();

    const Profile profile;  // a copy: the caller's may be a modified one of its own
    const Options options;
    ConfigSpace config;
    std::vector<std::byte> rom;  // behind its BAR; empty: there is none
    Mutator mutator;
    RegisterFile registers;
    Vram vram;
    FrameBuffer frame_buffer;
    GpuVm vm;
    Ih ih;
    Engines engines;
    Nbio nbio;
    std::vector<std::unique_ptr<VmHub>> gfx_hubs;  // by XCC
    std::vector<std::unique_ptr<VmHub>> mm_hubs;   // by AID
    Eeprom eeprom;
    Ras ras;
    std::unique_ptr<SmuMailbox> smu;         // of the profile's version
    std::unique_ptr<Partitions> partitions;  // null: there is one XCC
    Psp psp;
    std::vector<std::unique_ptr<Rlc>> rlcs;             // by XCC
    std::vector<std::unique_ptr<IpBlock>> more_blocks;  // that not all profiles have
    std::vector<IpBlock*> blocks;                       // all of them, in the order of reset
    VfMailbox* vf_mailbox = nullptr;                    // one of more_blocks, of a virtual function

    ResetWitness reset_witness;
    BusMaster host{config};
    uint64_t unowned_doorbells = 0;
    uint64_t stopped_doorbells = 0;  // at the closed aperture

    // A reset may be asked for by a packet in the middle of an engine's turn, or from within a
    // register handler: it is carried out when neither is on the stack.
    std::optional<ResetKind> pending_reset;
    bool pending_engine_reset = false;
    uint32_t pending_sdma_reset = 0, pending_vcn_reset = 0;  // instances

    std::optional<Vram::Fill> turning_to_ones;  // VRAM does, and has come so far

    bool awaits_reset = false;  // the SMU has been asked for mode 1
    bool in_reset = false;
    hp::EventLoop::Handle reset_timer;  // until either is over
};

Gpu::Impl::Impl(const Profile& profile_in, Options options_in, EngineKicker& kicker)
    : profile(profile_in),
      options(std::move(options_in)),
      config({.vendor = profile.vendor_id,
              .device = profile.device_id,
              .subsystem_vendor = profile.subsystem_vendor_id,
              .subsystem = profile.subsystem_id,
              .revision = profile.revision_id,
              .class_code = profile.class_code,
              .serial = profile.serial},
             [this] { pending_reset = ResetKind::flr; }),
      registers(profile.register_bar_bytes),
      vram(profile.vram_bytes),
      frame_buffer(vram, profile.hive, options.peers),
      vm(registers, frame_buffer, all_gfx_hubs(profile), all_mm_hubs(profile)),
      ih({profile, registers, vm, [this] { raise_msi(); }, gpu_clock, mutator}),
      engines({profile, registers, vm, ih, kicker, gpu_clock, mutator}),
      nbio(profile, registers, vram),
      eeprom(options.eeprom_path, build_fru_image(profile.product)),
      ras({ih,
           [this] {
               nbio.latch_fatal_error();
               raise_msi();
           }}),
      smu(make_smu()),
      partitions(profile.working(HwId::GC).size() > 1
                     ? std::make_unique<Partitions>(profile, registers)
                     : nullptr),
      psp({profile, registers, vm, kicker, [this] { pending_reset = ResetKind::mode1; }, mutator,
           [this](uint32_t count) { return partitions == nullptr || partitions->divide(count); },
           [this](unsigned instance, std::span<const uint32_t> pairs) {
               return engines.load_vcn_sram(instance, pairs);
           }}),
      blocks{&nbio, &ih, smu.get(), &psp} {
    registers.declare(smu->answer_register(), 1, {.read = [this](uint32_t dword) {
                          const uint32_t answer = registers.raw(dword);
                          if (awaits_reset && answer != 0) {
                              pending_reset = ResetKind::mode1;
                          }
                          return answer;
                      }});
    vm.set_tlb_use(options.tlb);
    vm.set_tlb_before_context(profile.opposites.has(Opposite::tlb_before_context));
    make_blocks_of_dies();
    config.set_bar(vram_bar, profile.vram_bytes, true, true);
    config.set_bar(doorbell_bar, profile.doorbell_bar_bytes, true, true);
    config.set_bar(register_bar, profile.register_bar_bytes, false, false);
    if (profile.virtual_function) {
        more_blocks.push_back(std::make_unique<Rlcg>(profile, registers));
        auto mailbox = std::make_unique<VfMailbox>(
            profile, registers, ih, [this] { pending_reset = ResetKind::host; }, mutator);
        vf_mailbox = mailbox.get();
        more_blocks.push_back(std::move(mailbox));
    }
    if (profile.rom_bar) {
        rom = build_video_bios(profile);
        rom.resize(std::bit_ceil(rom.size()), std::byte{0xff});  // erased flash
        config.set_rom(rom.size());
    } else if (profile.video_bios) {
        more_blocks.push_back(
            std::make_unique<Smuio>(profile, registers, build_video_bios(profile), gpu_clock));
    }
    if (profile.hive.in_hive()) {
        more_blocks.push_back(std::make_unique<Xgmi>(profile, registers));
    }
    for (const auto& block : more_blocks) {
        blocks.push_back(block.get());
    }
    vm.on_fault([this](const VmFault& fault) {
        (fault.hub.kind == Hub::Kind::gfx ? gfx_hubs : mm_hubs)
            .at(fault.hub.instance)
            ->report(fault);
    });
    power_on();
}

/// What each XCC and each AID has of its own.
void Gpu::Impl::make_blocks_of_dies() {
    const VmHub::Context context{profile, registers, ih, gpu_clock};
    for (unsigned xcc = 0; xcc < profile.working(HwId::GC).size(); ++xcc) {
        gfx_hubs.push_back(
            std::make_unique<VmHub>(context, gfx_hub_layout(profile, xcc),
                                    vm.tlb({Hub::Kind::gfx, static_cast<uint8_t>(xcc)})));
        rlcs.push_back(std::make_unique<Rlc>(gc_layout(profile, xcc), fuse_type(profile), registers,
                                             gpu_clock));
        blocks.push_back(gfx_hubs.back().get());
        blocks.push_back(rlcs.back().get());
    }
    for (unsigned aid = 0; aid < profile.aids(); ++aid) {
        mm_hubs.push_back(
            std::make_unique<VmHub>(context, mm_hub_layout(profile, aid),
                                    vm.tlb({Hub::Kind::mm, static_cast<uint8_t>(aid)})));
        blocks.push_back(mm_hubs.back().get());
    }
    if (partitions) {
        blocks.push_back(partitions.get());
    }
}

/// The SMU of the profile's version.
std::unique_ptr<SmuMailbox> Gpu::Impl::make_smu() {
    const auto mode1_reset = [this] { ask_for_mode1_reset(); };
    const IpInstance& mp1 = profile.ip(HwId::MP1);
    if (mp1.major == 11) {
        return std::make_unique<Smu11>(
            SmuMailbox::Context{profile, registers, vm, mutator}, mode1_reset,
            Smu11::VideoPower{
                [this](unsigned instance, bool on) { engines.power_vcn(instance, on); },
                [this](bool on) { engines.power_jpeg(on); }});
    }
    Smu::Context context{profile,
                         registers,
                         vm,
                         eeprom,
                         ras,
                         mode1_reset,
                         [this] { pending_engine_reset = true; },
                         [this] { pending_reset = ResetKind::link; },
                         [this](uint32_t instances) { pending_sdma_reset |= instances; },
                         [this](uint32_t instances) { pending_vcn_reset |= instances; },
                         gpu_clock,
                         mutator};
    if (mp1.revision == 12) {
        return std::make_unique<Smu13_0_12>(std::move(context));
    }
    return std::make_unique<Smu>(std::move(context));
}

void Gpu::Impl::power_on() {
    reset_timer.cancel();
    in_reset = false;
    config.reset();
    eeprom.power_on();
    ras.power_on();
    reset(ResetKind::cold);
}

void Gpu::Impl::reset(ResetKind kind) {
    pending_reset.reset();
    pending_engine_reset = false;
    pending_sdma_reset = pending_vcn_reset = 0;
    if (std::exchange(awaits_reset, false)) {
        reset_timer.cancel();
    }
    const Opposites& opposites = profile.opposites;
    if ((kind == ResetKind::mode1 && !opposites.has(Opposite::mode1_keeps_config)) ||
        (kind == ResetKind::host && opposites.has(Opposite::vf_reset_as_flr))) {
        config.reset();
    }
    registers.clear();
    engines.reset();
    vm.reset();
    for (IpBlock* const block : blocks) {
        block->reset(kind);
    }
    if (kind == ResetKind::flr) {
        ras.power_on();
    }
    if (kind != ResetKind::link) {
        turning_to_ones.reset();
        vram.lose_contents();  // the memory is trained again
    }
    place_boot_data();
}

/// Asked of the SMU, which answers first: the driver takes a reset whose answer it could not read
/// for failed. Assumed: when it begins. Here that is once the answer was read, or after as long as
/// the reset takes.
void Gpu::Impl::ask_for_mode1_reset() {
    if (options.loop == nullptr || profile.opposites.has(Opposite::mode1_at_once)) {
        pending_reset = ResetKind::mode1;
        return;
    }
    awaits_reset = true;
    tell_of_reset();
    reset_timer = options.loop->after(options.reset_time, [this] {
        pending_reset = ResetKind::mode1;
        run_pending_resets();
    });
}

void Gpu::Impl::tell_of_reset() {
    if (reset_witness.asked) {
        reset_witness.asked();
    }
}

/// Gone, for its host, for that long.
void Gpu::Impl::go_away_for(std::chrono::milliseconds time) {
    if (options.loop == nullptr || time.count() == 0) {
        return;
    }
    in_reset = true;
    reset_timer = options.loop->after(time, [this] {
        reset_timer.cancel();
        in_reset = false;
    });
}

void Gpu::Impl::run_pending_resets() {
    if (pending_reset) {
        const ResetKind kind = *pending_reset;
        const bool told = kind == ResetKind::mode1 && awaits_reset;
        hp::log::info("reset", {{"kind", kind == ResetKind::flr     ? "flr"
                                         : kind == ResetKind::mode1 ? "mode1"
                                         : kind == ResetKind::link  ? "mode4"
                                                                    : "host"}});
        reset(kind);
        // Assumed: mode 4, a reset of the link that the SMU makes, takes from the chip what one by
        // the port does, but no time and no configuration space. amdgpu_device_link_reset() looks
        // for the boot loader as soon as it has the SMU's answer, and restores nothing.
        if (kind == ResetKind::link) {
            if (profile.opposites.has(Opposite::mode4_loses_config)) {
                config.reset();
            }
        } else if (kind != ResetKind::host || profile.opposites.has(Opposite::vf_reset_as_flr)) {
            go_away_for(options.reset_time);
        }
        if (!told) {
            tell_of_reset();
        }
        if (reset_witness.done) {
            reset_witness.done();
        }
    } else if (std::exchange(pending_engine_reset, false)) {
        hp::log::info("reset", {{"kind", "mode2"}});
        pending_sdma_reset = pending_vcn_reset = 0;
        engines.reset();
        if (!profile.opposites.has(Opposite::mode2_keeps_translations)) {
            vm.invalidate_all();
        }
        if (profile.opposites.has(Opposite::mode2_loses_config)) {
            config.reset();
        }
    } else if (const uint32_t instances = std::exchange(pending_sdma_reset, 0); instances != 0) {
        hp::log::info("reset", {{"kind", "sdma"}, {"instances", instances}});
        engines.reset_sdma(instances);
    } else if (const uint32_t instances = std::exchange(pending_vcn_reset, 0); instances != 0) {
        hp::log::info("reset", {{"kind", "vcn"}, {"instances", instances}});
        engines.reset_vcn(instances);
    }
}

/// What the boot firmware, or the host of a virtual function, leaves in VRAM.
void Gpu::Impl::place_boot_data() {
    place_discovery();
    if (profile.virtual_function) {
        place(vf_vbios_offset, build_atom_image());
        place_pf2vf();
    }
}

void Gpu::Impl::place(uint64_t offset, const std::vector<std::byte>& data) {
    std::ranges::copy(data, vram.window(offset, data.size()).begin());
}

void Gpu::Impl::place_discovery() {
    std::vector<std::byte> binary = build_discovery_binary(profile);
    if (mutator.on(Surface::discovery)) {
        mutator.table(Surface::discovery, 0, binary);
        seal_discovery_binary(binary);
    }
    place(vram.size() - discovery_offset_from_end, binary);
}

hp::Result<void> Gpu::Impl::falsify_discovery(DiscoveryField field, uint16_t value) {
    std::vector<std::byte> binary = build_discovery_binary(profile);
    return set_discovery_field(binary, field, value).map([&] {
        place(vram.size() - discovery_offset_from_end, binary);
    });
}

void Gpu::Impl::place_pf2vf() {
    std::vector<std::byte> block = build_pf2vf(profile);
    if (mutator.on(Surface::mailbox)) {
        mutator.table(Surface::mailbox, pf2vf_place, block);
        seal_pf2vf(block);
    }
    place(vf_pf2vf_offset, block);
}

void Gpu::Impl::read_registers(uint64_t offset, std::span<std::byte> out) {
    while (!out.empty()) {
        const uint64_t in_dword = offset % 4;
        const std::size_t length = std::min<std::size_t>(4 - in_dword, out.size());
        const auto dword = static_cast<uint32_t>(offset / 4);
        const uint32_t truth = registers.read(dword);
        const uint32_t value =
            nbio.shows_vram(dword) ? truth : mutator.word(Surface::registers, dword, truth);
        std::memcpy(out.data(), reinterpret_cast<const std::byte*>(&value) + in_dword, length);
        out = out.subspan(length);
        offset += length;
    }
}

void Gpu::Impl::write_registers(uint64_t offset, std::span<const std::byte> in) {
    while (!in.empty()) {
        const auto dword = static_cast<uint32_t>(offset / 4);
        const uint64_t in_dword = offset % 4;
        const std::size_t length = std::min<std::size_t>(4 - in_dword, in.size());
        // Bytes that are not written keep what is stored, without the effects of a read.
        uint32_t value = length == 4 ? 0 : std::as_const(registers).raw(dword);
        std::memcpy(reinterpret_cast<std::byte*>(&value) + in_dword, in.data(), length);
        registers.write(dword, value);
        in = in.subspan(length);
        offset += length;
    }
}

void Gpu::Impl::write_doorbell(uint64_t offset, std::span<const std::byte> in) {
    uint64_t value = 0;
    if ((in.size() != sizeof(uint32_t) && in.size() != sizeof value) || offset % 4 != 0) {
        return;  // the doorbell block takes dwords and quadwords only
    }
    std::memcpy(&value, in.data(), in.size());
    if (!nbio.doorbells_pass()) {
        ++stopped_doorbells;
        return;
    }
    const auto index = static_cast<uint32_t>(offset / 4);
    const std::optional<DoorbellRoute> route = nbio.route_of(index);
    const bool may_be_ih = !route || route->block == DoorbellRoute::Block::ih;
    if (!engines.ring_doorbell(index, value, route) &&
        !(may_be_ih && ih.ring_doorbell(index, value))) {
        ++unowned_doorbells;
    }
}

void Gpu::Impl::raise_msi() {
    host.raise_msi(msi_vector);
}

Gpu::Gpu(const Profile& profile, Options options, EngineKicker& kicker)
    : impl_(std::make_unique<Impl>(profile, std::move(options), kicker)) {}

Gpu::~Gpu() = default;

RegionInfo Gpu::region_info(Region region) const {
    switch (region) {
        case Region::bar0:
            return {.size = impl_->profile.vram_bytes,
                    .mmap_fd = impl_->options.map_vram ? impl_->vram.fd() : -1};
        case Region::bar2: return {.size = impl_->profile.doorbell_bar_bytes};
        case Region::bar5: return {.size = impl_->profile.register_bar_bytes};
        case Region::rom: return {.size = impl_->rom.size(), .writable = false};
        case Region::config: return {.size = ConfigSpace::size};
        default: return {};
    }
}

unsigned Gpu::msi_vectors() const {
    return 1;
}

void Gpu::read(Region region, uint64_t offset, std::span<std::byte> out) {
    if (out.empty()) {
        return;
    }
    impl_->run_pending_resets();
    const uint64_t size = region_info(region).size;
    if (!impl_->answers(region) || offset >= size || out.size() > size - offset) {
        fill_with_ones(out);
        return;
    }
    switch (region) {
        case Region::bar0:
            std::memcpy(out.data(), impl_->vram.window(offset, out.size()).data(), out.size());
            break;
        case Region::bar2: std::ranges::fill(out, std::byte{0}); break;  // write-only
        case Region::bar5: impl_->read_registers(offset, out); break;
        case Region::rom:
            std::ranges::copy(std::span(impl_->rom).subspan(offset, out.size()), out.begin());
            break;
        case Region::config: impl_->config.read(offset, out); break;
        default: fill_with_ones(out); break;
    }
    impl_->run_pending_resets();
}

void Gpu::write(Region region, uint64_t offset, std::span<const std::byte> in) {
    impl_->run_pending_resets();
    const uint64_t size = region_info(region).size;
    if (in.empty() || !impl_->answers(region) || offset >= size || in.size() > size - offset) {
        return;
    }
    switch (region) {
        case Region::bar0:
            std::memcpy(impl_->vram.window(offset, in.size()).data(), in.data(), in.size());
            break;
        case Region::bar2: impl_->write_doorbell(offset, in); break;
        case Region::bar5: impl_->write_registers(offset, in); break;
        case Region::config: impl_->config.write(offset, in); break;
        default: break;
    }
    impl_->run_pending_resets();
}

void Gpu::attach(PciHost& host) {
    impl_->host.set_host(&host);
    impl_->vm.set_host(&impl_->host);
    impl_->power_on();
}

void Gpu::detach() {
    impl_->engines.reset();  // nothing may run on memory that is gone
    impl_->vm.set_host(nullptr);
    impl_->host.set_host(nullptr);
}

void Gpu::reset() {
    impl_->config.reset();
    impl_->reset(ResetKind::link);
}

bool Gpu::asleep() const {
    return impl_->config.in_d3hot();
}

const Profile& Gpu::profile() const {
    return impl_->profile;
}

RegisterFile& Gpu::registers() {
    return impl_->registers;
}

const Vram& Gpu::vram() const {
    return impl_->vram;
}

hp::Result<void> Gpu::inject(RasBlock block, RasSeverity severity) {
    if (impl_->profile.virtual_function) {
        return hp::fail("a virtual function has no RAS of its own: its host handles the errors");
    }
    if (impl_->profile.ip(HwId::MP1).major != 13) {
        return hp::fail("no RAS is modelled of " + impl_->profile.name);
    }
    impl_->ras.inject(block, severity);
    return {};
}

hp::Result<void> Gpu::notify_guest(HostNotification what) {
    if (impl_->vf_mailbox == nullptr) {
        return hp::fail("only a virtual function has a host");
    }
    impl_->vf_mailbox->notify(what);
    return {};
}

hp::Result<void> Gpu::make_hostile(uint64_t seed, std::span<const Surface> surfaces,
                                   uint64_t rate) {
    const bool mailbox = std::ranges::count(surfaces, Surface::mailbox) != 0;
    if (mailbox && !impl_->profile.virtual_function) {
        return hp::fail("only a virtual function has a mailbox");
    }
    impl_->mutator.start(seed, surfaces, rate);
    // The rest of the memory is the driver's by now.
    if (std::ranges::count(surfaces, Surface::discovery) != 0) {
        impl_->place_discovery();
    }
    if (mailbox) {
        impl_->place_pf2vf();
    }
    return {};
}

void Gpu::shift_fences(WriteBack fence, uint32_t more, uint64_t count) {
    impl_->mutator.shift(fence, more, count);
}

hp::Result<void> Gpu::falsify_discovery(DiscoveryField field, uint16_t value) {
    return impl_->falsify_discovery(field, value);
}

void Gpu::silence_smu(uint64_t messages) {
    impl_->smu->ignore(messages);
}

void Gpu::silence_boot_loader(uint64_t commands) {
    impl_->psp.ignore(commands);
}

void Gpu::falsify_wptr(uint32_t value) {
    impl_->ih.falsify_wptr(value);
}

void Gpu::make_honest() {
    impl_->mutator.stop();
}

uint64_t Gpu::mutations() const {
    return impl_->mutator.mutations();
}

Places Gpu::lied_about(Surface surface) const {
    return impl_->mutator.places(surface);
}

void Gpu::set_mutation_witness(Mutator::Witness witness) {
    impl_->mutator.set_witness(std::move(witness));
}

void Gpu::set_reset_witness(ResetWitness witness) {
    impl_->reset_witness = std::move(witness);
}

void Gpu::interrupt(const InterruptEntry& entry) {
    impl_->ih.raise(entry);
}

void Gpu::poison_vram() {
    impl_->vram.set_poisoned(true);
}

void Gpu::turn_vram_to_ones(std::chrono::milliseconds at_once) {
    impl_->turning_to_ones.emplace();
    const auto end = std::chrono::steady_clock::now() + at_once;
    while (fill_vram() && std::chrono::steady_clock::now() < end) {
    }
}

bool Gpu::fill_vram() {
    constexpr uint64_t piece = 2u << 20;  // a millisecond, or less
    if (impl_->turning_to_ones &&
        impl_->vram.fill_resident_with_ones(*impl_->turning_to_ones, piece)) {
        impl_->turning_to_ones.reset();
    }
    return impl_->turning_to_ones.has_value();
}

std::string Gpu::register_name(const Profile& profile, uint32_t dword) {
    // Profiles of one name have the same IPs at the same bases, whatever else was changed in them.
    static std::map<std::string, RegisterNames> by_profile;
    return by_profile.try_emplace(profile.name, profile).first->second.name(dword);
}

std::string Gpu::describe() const {
    const Impl& gpu = *impl_;
    return fmt::format(
        "IH: {} delivered, {} lost\nPSP: sOS {}, {} commands\nSMU: {} messages\n"
        "VM: {} faults, {} walks, {} stale translations used\ndoorbells without owner: {}, "
        "stopped: {}\n{}{}",
        gpu.ih.delivered(), gpu.ih.lost(), gpu.psp.sos_alive() ? "alive" : "not alive",
        gpu.psp.commands(), gpu.smu->messages(), gpu.vm.fault_count(), gpu.vm.walks(),
        gpu.vm.stale_uses(), gpu.unowned_doorbells, gpu.stopped_doorbells,
        read_only_writes(gpu.profile, gpu.registers), gpu.engines.describe());
}

}  // namespace gpuemu
