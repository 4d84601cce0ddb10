// SPDX-License-Identifier: GPL-2.0
// Purpose: each assumption of the model, and the variant that does the opposite: that it differs.
// Thread: the test's.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gpu-emu/board/gpu.h"
#include "gpu-emu/ip/cp/pm4.h"
#include "gpu-emu/ip/gc_layout.h"
#include "gpu-emu/ip/regs/gc_9_4_3.h"
#include "gpu-emu/ip/regs/nbio_7_9_0.h"
#include "gpu-emu/ip/regs/vcn_3_0_0.h"
#include "gpu-emu/ip/vcn/mmsch.h"
#include "gpu-emu/ip/vm_hub.h"
#include "gpu-emu/profiles/opposite.h"
#include "gpu-emu/testing/cp_bench.h"
#include "gpu-emu/testing/driver_side.h"
#include "lib/run_until.h"

namespace gpuemu {
namespace {

constexpr uint64_t mib = 1u << 20;
constexpr uint64_t bar5_address = 0x24;
constexpr uint32_t nobody = 0xffffffff;

constexpr uint32_t MP0_C2PMSG_35 = 0x16063, MP0_C2PMSG_81 = 0x16091;
constexpr uint32_t MP1_C2PMSG_66 = 0x16282, MP1_C2PMSG_82 = 0x16292, MP1_C2PMSG_90 = 0x1629a;
constexpr uint32_t IH_RB_CNTL = 0x1120, IH_RB_BASE = 0x1121;

Profile variant(const std::string& name, std::optional<Opposite> opposite) {
    Profile profile = *find_profile(name);
    profile.vram_bytes = 64 * mib;
    if (opposite) {
        profile.opposites.add(*opposite);
    }
    return profile;
}

struct NoKicker : EngineKicker {
    void kick(Engine&) override {}
};

struct Memory : PciHost {
    std::span<std::byte> dma(uint64_t iova, uint64_t length, DmaAccess) override {
        return iova >= bytes.size()
                   ? std::span<std::byte>()
                   : std::span(bytes).subspan(iova, std::min(length, bytes.size() - iova));
    }
    bool raise_msi(unsigned) override { return true; }

    std::vector<std::byte> bytes = std::vector<std::byte>(64 * 1024);
};

/// A GPU that the driver has enabled.
class DrivenBoard : public test::DriverSide {
public:
    explicit DrivenBoard(std::optional<Opposite> opposite, const std::string& name = "mi300x")
        : profile(variant(name, opposite)) {
        gpu.attach(memory);
        enable();
    }

    void start_sos() { set(MP0_C2PMSG_35, 0x20000); }
    /// GfxDriverReset: 1 is mode 1, 2 is mode 2, 4 is mode 4.
    void reset_by_smu(uint32_t mode) {
        set(MP1_C2PMSG_90, 0);
        set(MP1_C2PMSG_82, mode);
        set(MP1_C2PMSG_66, 3);
    }

    /// An IH ring at an address that the MM hub translates.
    void start_interrupts() {
        set(at(hub.ip, hub.VM_CONTEXT0_PAGE_TABLE_BASE_ADDR_LO32), mib | 1);
        set(at(hub.ip, hub.VM_CONTEXT0_CNTL), 1);
        set(IH_RB_BASE, 0x1000 >> 8);
        set(IH_RB_CNTL, 1 | 8 << 1);
    }
    /// With that page of the host behind the ring: the pages that have an entry then.
    std::set<uint64_t> raise(uint64_t page) {
        constexpr uint64_t valid_system_writeable = 1 | 2 | 1 << 6;
        put<uint64_t>(Region::bar0, mib + 8, page | valid_system_writeable);
        std::ranges::fill(memory.bytes, std::byte{0});
        gpu.interrupt({.client_id = 0x14});
        std::set<uint64_t> written;
        for (uint64_t byte = 0; byte < memory.bytes.size(); ++byte) {
            if (memory.bytes[byte] != std::byte{0}) {
                written.insert(byte & ~uint64_t{0xfff});
            }
        }
        return written;
    }

    const Profile profile;
    const VmHubLayout hub = mm_hub_layout(profile);
    NoKicker kicker;
    Memory memory;
    hp::EventLoop loop;
    Gpu gpu{profile,
            {.eeprom_path = {}, .loop = &loop, .reset_time = std::chrono::milliseconds(5)},
            kicker};

private:
    PciFunction& function() override { return gpu; }
};

TEST(Opposites, EachHasANameOfItsOwn) {
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < all_opposites().size(); ++i) {
        const OppositeInfo& info = all_opposites()[i];
        EXPECT_EQ(static_cast<std::size_t>(info.opposite), i) << info.name;
        EXPECT_EQ(parse_opposite(info.name), info.opposite);
        EXPECT_FALSE(info.description.empty());
        names.insert(info.name);
    }
    EXPECT_EQ(names.size(), opposite_count);
    EXPECT_FALSE(parse_opposite("nothing"));
}

TEST(Opposites, LinkResetLosesSos) {
    const auto alive_behind_it = [](std::optional<Opposite> opposite) {
        DrivenBoard board(opposite);
        board.start_sos();
        board.reg(MP0_C2PMSG_81);
        EXPECT_EQ(board.reg(MP0_C2PMSG_81), 1u);
        board.gpu.reset();
        board.enable();
        return board.reg(MP0_C2PMSG_81);
    };
    EXPECT_EQ(alive_behind_it({}), 1u);
    EXPECT_EQ(alive_behind_it(Opposite::link_reset_loses_sos), 0u);
}

TEST(Opposites, SosUpAtOnce) {
    const auto first_look = [](std::optional<Opposite> opposite) {
        DrivenBoard board(opposite);
        board.start_sos();
        return board.reg(MP0_C2PMSG_81);
    };
    EXPECT_EQ(first_look({}), 0u);
    EXPECT_EQ(first_look(Opposite::sos_up_at_once), 1u);
}

TEST(Opposites, Mode1KeepsConfig) {
    const auto bar_behind_it = [](std::optional<Opposite> opposite) {
        DrivenBoard board(opposite);
        board.put(Region::config, bar5_address, 0xfaa00000u);
        board.reset_by_smu(1);
        EXPECT_EQ(board.reg(MP1_C2PMSG_90), 1u);
        EXPECT_TRUE(
            hp::run_until(board.loop, [&] { return board.get(Region::config, 0) != nobody; }));
        return board.get(Region::config, bar5_address);
    };
    EXPECT_EQ(bar_behind_it({}), 0u);
    EXPECT_EQ(bar_behind_it(Opposite::mode1_keeps_config), 0xfaa00000u);
}

TEST(Opposites, Mode1AtOnce) {
    const auto answer = [](std::optional<Opposite> opposite) {
        DrivenBoard board(opposite);
        board.reset_by_smu(1);
        return board.reg(MP1_C2PMSG_90);
    };
    EXPECT_EQ(answer({}), 1u);
    EXPECT_EQ(answer(Opposite::mode1_at_once), nobody);
}

TEST(Opposites, Mode2LosesConfig) {
    const auto command_behind_it = [](std::optional<Opposite> opposite) {
        DrivenBoard board(opposite);
        board.reset_by_smu(2);
        return board.get<uint16_t>(Region::config, DrivenBoard::command);
    };
    EXPECT_EQ(command_behind_it({}), DrivenBoard::memory_space | DrivenBoard::bus_master);
    EXPECT_EQ(command_behind_it(Opposite::mode2_loses_config), 0);
}

TEST(Opposites, Mode2KeepsTranslations) {
    const auto written_behind_it = [](std::optional<Opposite> opposite) {
        DrivenBoard board(opposite);
        board.start_interrupts();
        EXPECT_EQ(board.raise(0x1000), std::set<uint64_t>{0x1000});
        board.reset_by_smu(2);
        return board.raise(0x2000);
    };
    EXPECT_EQ(written_behind_it({}), std::set<uint64_t>{0x2000});
    EXPECT_EQ(written_behind_it(Opposite::mode2_keeps_translations), std::set<uint64_t>{0x1000});
}

TEST(Opposites, Mode4LosesConfig) {
    const auto command_behind_it = [](std::optional<Opposite> opposite) {
        DrivenBoard board(opposite);
        board.reset_by_smu(4);
        return board.get<uint16_t>(Region::config, DrivenBoard::command);
    };
    EXPECT_EQ(command_behind_it({}), DrivenBoard::memory_space | DrivenBoard::bus_master);
    EXPECT_EQ(command_behind_it(Opposite::mode4_loses_config), 0);
}

TEST(Opposites, VfResetAsFlr) {
    const auto behind_it = [](std::optional<Opposite> opposite) {
        constexpr uint32_t TRN_DW0 = 0xe56, CONTROL = 0xe5e, request_reset_access = 5;
        DrivenBoard board(opposite, "mi300x-vf");
        board.set(TRN_DW0, request_reset_access);
        board.set(CONTROL, 1);
        const bool there = board.get(Region::config, 0) != nobody;
        EXPECT_TRUE(
            hp::run_until(board.loop, [&] { return board.get(Region::config, 0) != nobody; }));
        return std::pair(there, board.get<uint16_t>(Region::config, DrivenBoard::command));
    };
    EXPECT_EQ(behind_it({}),
              std::pair(true, uint16_t{DrivenBoard::memory_space | DrivenBoard::bus_master}));
    EXPECT_EQ(behind_it(Opposite::vf_reset_as_flr), std::pair(false, uint16_t{0}));
}

TEST(Opposites, LateAcknowledge) {
    const auto looks = [](std::optional<Opposite> opposite) {
        constexpr uint32_t engine = 17;
        DrivenBoard board(opposite);
        const uint32_t acknowledge = at(board.hub.ip, board.hub.VM_INVALIDATE_ENG0_ACK) + engine;
        board.set(at(board.hub.ip, board.hub.VM_INVALIDATE_ENG0_REQ) + engine,
                  board.hub.invalidation_of(1 << 3));
        const uint32_t first = board.reg(acknowledge);
        return std::array{first, board.reg(acknowledge)};
    };
    EXPECT_EQ(looks({}), (std::array{8u, 8u}));
    EXPECT_EQ(looks(Opposite::late_acknowledge), (std::array{0u, 8u}));
}

TEST(Opposites, TlbBeforeContext) {
    const auto written_when_disabled = [](std::optional<Opposite> opposite) {
        DrivenBoard board(opposite);
        board.start_interrupts();
        EXPECT_EQ(board.raise(0x1000), std::set<uint64_t>{0x1000});
        board.set(at(board.hub.ip, board.hub.VM_CONTEXT0_CNTL), 0);
        return board.raise(0x1000);
    };
    EXPECT_EQ(written_when_disabled({}), std::set<uint64_t>{});
    EXPECT_EQ(written_when_disabled(Opposite::tlb_before_context), std::set<uint64_t>{0x1000});
}

TEST(Opposites, HwsKeepsTranslations) {
    const auto asked_of_the_hub = [](std::optional<Opposite> opposite) {
        test::Bench bench;
        if (opposite) {
            bench.profile.opposites.add(*opposite);
        }
        bench.start_kiq();
        using pm4::header;
        std::array<uint32_t, 20> process{header(pm4::PACKET3_MAP_PROCESS, 19), 0x8001, 0x5001};
        bench.kiq.put(
            {header(pm4::PACKET3_SET_RESOURCES, 7), 0xff00 | 1u << 29, ~0u, ~0u, 0, 0, 0, 0});
        bench.kiq.put(process);
        bench.run_kiq();
        constexpr uint32_t engine_of_firmware = 2;
        const VmHubLayout hub = gfx_hub_layout(bench.profile);
        const uint32_t request = at(hub.ip, hub.VM_INVALIDATE_ENG0_REQ) + engine_of_firmware;
        return bench.registers.raw(request) & 0xffff;
    };
    EXPECT_EQ(asked_of_the_hub({}), 1u << 8);
    EXPECT_EQ(asked_of_the_hub(Opposite::hws_keeps_translations), 0u);
}

TEST(Opposites, UnroutedDoorbells) {
    const auto unowned = [](std::optional<Opposite> opposite) {
        constexpr uint32_t RCC_DOORBELL_APER_EN = 0xd20 + 0xc0, IH_DOORBELL_RPTR = 0x1127;
        constexpr uint32_t index = 0x1e8, enable = 1u << 28;
        DrivenBoard board(opposite);
        board.set(RCC_DOORBELL_APER_EN, 1);
        board.set(IH_DOORBELL_RPTR, enable | index);  // and no range for IH
        board.put<uint32_t>(Region::bar2, index * 4, 0);
        return board.gpu.describe().find("doorbells without owner: 1") != std::string::npos;
    };
    EXPECT_TRUE(unowned({}));
    EXPECT_FALSE(unowned(Opposite::unrouted_doorbells));
}

TEST(Opposites, MecDoorbellRange) {
    const auto owned = [](std::optional<Opposite> opposite, uint32_t first, uint32_t last) {
        test::Bench bench;
        if (opposite) {
            bench.profile.opposites.add(*opposite);
        }
        bench.start_kiq();
        bench.registers.write(bench.dword(gc_9_4_3::regCP_MEC_DOORBELL_RANGE_LOWER), first << 2);
        bench.registers.write(bench.dword(gc_9_4_3::regCP_MEC_DOORBELL_RANGE_UPPER), last << 2);
        return bench.mec.ring_doorbell(test::Bench::kiq_doorbell, 0);
    };
    EXPECT_TRUE(owned({}, 1, 9));
    EXPECT_TRUE(owned(Opposite::mec_doorbell_range, 0, 9));
    EXPECT_FALSE(owned(Opposite::mec_doorbell_range, 1, 9));
}

TEST(Opposites, MmschDoorbellsUnset) {
    const auto first_doorbell = [](std::optional<Opposite> opposite) {
        test::Surroundings given(variant("mi300x-vf", opposite));
        const VcnLayout layout = vcn_layouts(given.profile).at(0);
        VcnEngine vcn{given.context, layout};
        JpegEngine jpeg{given.context, layout.jpeg};
        Mmsch mmsch{given.context, layout, vcn, jpeg};
        mmsch.reset();
        return given.registers.read(layout.mmsch->db.at(0));
    };
    EXPECT_NE(first_doorbell({}), 0u);
    EXPECT_EQ(first_doorbell(Opposite::mmsch_doorbells_unset), 0u);
}

/// vcn_v3_0_start_dpg_mode(): a decoder's ring that waits, an encoder's behind it.
TEST(Opposites, VideoRingHoldsUpOthers) {
    const auto read_by_the_encoder = [](std::optional<Opposite> opposite) {
        using namespace vcn_3_0_0;
        constexpr uint32_t doorbells = 0x310, clk_en = 1u << 9, pg_mode = 1u << 2;
        constexpr uint32_t cmd = 0xf, data0 = 0x10, data1 = 0x11, scratch8 = 0x66;
        constexpr uint32_t wait_for_register = 1u << 31 | 6 << 1;
        test::Surroundings given(variant("navi21", opposite));
        const VcnLayout layout = vcn_layouts(given.profile).at(0);
        VcnEngine engine{given.context, layout};
        engine.reset();
        const IpInstance& ip = given.profile.ip(HwId::VCN);
        const auto set = [&](Reg reg, uint32_t value) {
            given.registers.write(at(ip, reg), value);
        };
        given.registers.write(0xd20 + 0x1d3, doorbells << 2 | 8u << 16);
        set(mmUVD_POWER_STATUS, 1 | pg_mode);
        engine.load_sram(std::array<uint32_t, 2>{0x156 - 0x80, clk_en});
        set(mmUVD_RBC_RB_CNTL, 10 | 1u << 8 | 1u << 16 | 1u << 24 | 1u << 28);
        set(mmUVD_LMI_RBC_RB_64BIT_BAR_LOW, 0x1000);
        set(mmUVD_RBC_RB_RPTR, 0);
        set(mmUVD_RBC_RB_WPTR, 0);
        set(mmUVD_RB_BASE_LO, 0x3000);
        set(mmUVD_RB_SIZE, 64);
        set(mmUVD_DPG_PAUSE, 1u << 2);
        given.memory.put(0x1000,
                         {data0, 0x1a700u << 2, data1, 1, scratch8, 1, cmd, wait_for_register});
        given.memory.put(0x3000, {1});
        EXPECT_TRUE(engine.ring_doorbell(doorbells, 8));
        EXPECT_TRUE(engine.ring_doorbell(doorbells + 2, 1));
        Budget budget;
        engine.run(budget);
        return given.registers.read(at(ip, mmUVD_RB_RPTR));
    };
    EXPECT_EQ(read_by_the_encoder({}), 1u);
    EXPECT_EQ(read_by_the_encoder(Opposite::video_ring_holds_up_others), 0u);
}

/// jpeg_v4_0_3_start_jrbc(), and the wait behind its ring test.
TEST(Opposites, JpegCondition3Unequal) {
    const auto passes = [](std::optional<Opposite> opposite) {
        constexpr uint32_t doorbell = 0x362;
        constexpr uint32_t reference_of_ring = 0x4084, status = 0x4089, job_done = 2;
        test::Surroundings given(variant("mi300x", opposite));
        const VcnLayout layout = vcn_layouts(given.profile).at(0);
        JpegEngine engine{given.context, layout.jpeg};
        engine.reset();
        const JpegCoreLayout& core = layout.jpeg.cores.at(0);
        RegisterFile& registers = given.registers;
        registers.write(core.ring.doorbell.dword, doorbell << 2 | 1u << 30);
        registers.write(core.rb_cntl, 3);
        registers.write(core.ring.base, 0x1000);
        registers.write(core.ring.base + 1, 0);
        registers.write(core.ring.rptr, 0);
        registers.write(core.ring.wptr, 0);
        registers.write(core.rb_cntl, 2);
        registers.write(core.ring.size, 256);
        given.memory.put(0x1000,
                         {reference_of_ring, job_done, status | 3u << 24 | 3u << 28, job_done});
        EXPECT_TRUE(engine.ring_doorbell(doorbell, 4));
        Budget budget;
        return engine.run(budget) == Engine::Turn::idle;
    };
    EXPECT_TRUE(passes({}));
    EXPECT_FALSE(passes(Opposite::jpeg_condition_3_unequal));
}

TEST(Opposites, WritableFuses) {
    const auto keeps = [](DrivenBoard& board, uint32_t fuse) {
        const uint32_t written = ~board.reg(fuse);
        board.set(fuse, written);
        return board.reg(fuse) == written;
    };
    for (const auto& [opposite, kept] :
         {std::pair{std::optional<Opposite>(), false}, {Opposite::writable_fuses, true}}) {
        DrivenBoard instinct(opposite);
        const IpInstance& nbif = instinct.profile.ip(HwId::NBIF);
        const GcLayout gc = gc_layout(instinct.profile);
        for (const uint32_t fuse : {at(nbif, nbio_7_9_0::regRCC_STRAP0_RCC_DEV0_EPF0_STRAP0),
                                    at(nbif, nbio_7_9_0::regRCC_DEV0_EPF0_RCC_CONFIG_MEMSIZE),
                                    at(nbif, nbio_7_9_0::regBIF_BX_PF0_PARTITION_COMPUTE_CAP),
                                    at(gc.ip, gc.CC_GC_SHADER_ARRAY_CONFIG)}) {
            EXPECT_EQ(keeps(instinct, fuse), kept) << std::hex << fuse;
        }
        DrivenBoard navi(opposite, "navi21");
        EXPECT_EQ(keeps(navi, vcn_layouts(navi.profile).at(0).harvesting.value()), kept);
    }
}

}  // namespace
}  // namespace gpuemu
