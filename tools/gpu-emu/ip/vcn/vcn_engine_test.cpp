// SPDX-License-Identifier: GPL-2.0
// Purpose: VCN as vcn_v3_0.c and vcn_v4_0_3.c drive it: power, rings, packets, buffers.
#include "gpu-emu/ip/vcn/vcn_engine.h"

#include <gtest/gtest.h>

#include "gpu-emu/ip/regs/vcn_3_0_0.h"
#include "gpu-emu/ip/regs/vcn_4_0_3.h"
#include "gpu-emu/testing/cp_bench.h"

namespace gpuemu {
namespace {

constexpr uint32_t ring_base = 0x1000, ring_dwords = 256, ib = 0x4000, message = 0x5000;
constexpr uint32_t clk_en = 1u << 9, blk_rst = 1u << 28, pg_mode = 1u << 2;

class VcnTest : public testing::Test, protected test::Surroundings {
protected:
    explicit VcnTest(const char* name, unsigned instance = 0)
        : Surroundings(name),
          layout(vcn_layouts(profile).at(instance)),
          ip(profile.ip(HwId::VCN, instance)),
          engine(context, layout) {
        engine.reset();
    }

    uint32_t reg(Reg reg) { return registers.read(at(ip, reg)); }
    void set(Reg reg, uint32_t value) { registers.write(at(ip, reg), value); }
    Engine::Turn run(Budget budget = {}) {
        for (int turn = 0; turn < 100'000; ++turn) {
            Budget left = budget;
            if (const auto result = engine.run(left); result != Engine::Turn::more) {
                return result;
            }
        }
        return Engine::Turn::more;
    }

    const VcnLayout layout;
    const IpInstance& ip;
    test::Ring ring{memory, ring_base, ring_dwords};
    VcnEngine engine;
};

class Vcn4Test : public VcnTest {
protected:
    explicit Vcn4Test(const char* name = "mi300x", unsigned instance = 0)
        : VcnTest(name, instance) {}

    static constexpr uint32_t doorbell = 0x360;

    /// vcn_v4_0_3_start_dpg_mode().
    void start() {
        using namespace vcn_4_0_3;
        set(regVCN_RB1_DB_CTRL, doorbell << 2 | 1u << 30);
        set(regUVD_POWER_STATUS, 1 | pg_mode);
        const uint32_t vcpu_cntl = 0x196 - 0xc0;
        const std::array<uint32_t, 4> image = {vcpu_cntl, clk_en | blk_rst, vcpu_cntl, clk_en};
        engine.load_sram(image);
        set(regUVD_DPG_PAUSE, 1u << 2);
        set(regUVD_RB_BASE_LO, ring_base);
        set(Reg{0x00eb, 1}, 0);
        set(regUVD_RB_SIZE, ring_dwords);
        set(regUVD_RB_RPTR, 0);
        set(regUVD_RB_WPTR, 0);
        set(regVCN_RB_ENABLE, 1);
    }
    Engine::Turn submit() {
        EXPECT_TRUE(engine.ring_doorbell(doorbell, ring.wptr() % ring_dwords));
        return run();
    }
    /// amdgpu_vcn_dec_sw_send_msg(): signature, engine, decode buffer.
    void put_decode_buffer(uint32_t message_type, uint32_t handle, unsigned vmid) {
        memory.put(message, {0x28, 0x38, 1, message_type, handle, 0}, vmid);
        std::array<uint32_t, 72> buffer{0x10,   0x30000002, 0, 39, 0x10, 0x30000001, 3,
                                        39 * 4, 140,        1, 1,  0,    message};
        memory.put(ib, buffer, vmid);
    }
};

TEST_F(Vcn4Test, TellsOfItsPowerWhatTheDriverWaitsFor) {
    using namespace vcn_4_0_3;
    set(regUVD_PGFSM_CONFIG, 2 | 1u << 2 | 2u << 6);
    EXPECT_EQ(reg(regUVD_PGFSM_STATUS), 2 | 2u << 6);
    set(regUVD_POWER_STATUS, pg_mode);
    EXPECT_EQ(reg(regUVD_POWER_STATUS) & 3, 1u) << "tiles off";
    set(regUVD_DPG_PAUSE, 1u << 2);
    EXPECT_NE(reg(regUVD_DPG_PAUSE) & 1u << 3, 0u) << "acknowledged";
    EXPECT_EQ(reg(regUVD_POWER_STATUS) & 3, 2u);
    set(regUVD_DPG_PAUSE, 0);
    EXPECT_EQ(reg(regUVD_DPG_PAUSE) & 1u << 3, 0u);
    EXPECT_EQ(reg(regUVD_POWER_STATUS) & 3, 1u);
    EXPECT_EQ(reg(regUVD_STATUS) & 2, 0u) << "the VCPU is held";
    set(regUVD_VCPU_CNTL, clk_en);
    EXPECT_EQ(reg(regUVD_STATUS), 2u);
    EXPECT_EQ(reg(regUVD_LMI_STATUS) & 0xf, 0xfu);
}

TEST_F(Vcn4Test, RunsItsRingOnceTheVcpuRunsAndTheRingIsEnabled) {
    using namespace vcn_4_0_3;
    start();
    ring.put({1});  // VCN_ENC_CMD_END
    set(regVCN_RB_ENABLE, 0);
    submit();
    EXPECT_EQ(reg(regUVD_RB_RPTR), 0u);
    set(regVCN_RB_ENABLE, 1);
    EXPECT_TRUE(kicker.kicked.contains(&engine));
    run();
    EXPECT_EQ(reg(regUVD_RB_RPTR), 1u);
    EXPECT_EQ(reg(regUVD_STATUS), 2u) << "idle";
    EXPECT_FALSE(engine.ring_doorbell(doorbell + 1, 0));
}

TEST_F(Vcn4Test, AStalledInstanceFetchesNothing) {
    using namespace vcn_4_0_3;
    start();
    set(regUVD_POWER_STATUS, pg_mode | 1u << 31);
    ring.put({1});
    submit();
    EXPECT_EQ(reg(regUVD_RB_RPTR), 0u);
    set(regUVD_POWER_STATUS, pg_mode);
    run();
    EXPECT_EQ(reg(regUVD_RB_RPTR), 1u);
}

TEST_F(Vcn4Test, FencesTrapsAndReachesRegisters) {
    start();
    const uint32_t request = 0x18000 + 0x6e3;
    ring.put({0xb, request << 2, 0x12345});         // REG_WRITE
    ring.put({0xc, request << 2, 0xffff, 0x2345});  // REG_WAIT: mask, value
    ring.put({0, 0, 3, 0x2000, 0, 77, 4, 1});       // NO_OP, FENCE, TRAP, END
    EXPECT_EQ(submit(), Engine::Turn::idle);
    EXPECT_EQ(registers.read(request), 0x12345u);
    EXPECT_EQ(memory.at32(0x2000), 77u);
    ASSERT_EQ(interrupts.entries.size(), 1u);
    EXPECT_EQ(interrupts.entries[0].client_id, 0x10);
    EXPECT_EQ(interrupts.entries[0].source_id, 0x77);
    EXPECT_EQ(memory.hubs_used.count(Hub::mm), 1u);
}

TEST_F(Vcn4Test, AWaitParksUntilTheRegisterChanges) {
    start();
    ring.put({0xc, 0x18700u << 2, 1, 1}).put({3, 0x2000, 0, 5});
    EXPECT_EQ(submit(), Engine::Turn::parked);
    EXPECT_EQ(memory.at32(0x2000), 0u);
    EXPECT_NE(reg(vcn_4_0_3::regUVD_STATUS), 2u) << "busy";
    registers.write(0x18700, 1);
    EXPECT_EQ(run(), Engine::Turn::idle);
    EXPECT_EQ(memory.at32(0x2000), 5u);
}

TEST_F(Vcn4Test, TheIbTestOpensAndClosesASession) {
    start();
    constexpr unsigned vmid = 3;
    put_decode_buffer(0, 1, vmid);
    ring.put({2, vmid, ib, 0, 64});
    submit();
    EXPECT_EQ(engine.sessions().open(), 1u);
    EXPECT_NE(engine.describe().find("sessions: 1"), std::string::npos);
    put_decode_buffer(2, 1, vmid);
    ring.put({2, vmid, ib, 0, 64});
    submit();
    EXPECT_EQ(engine.sessions().open(), 0u);
    EXPECT_EQ(engine.unhandled_packets().describe(), "");
}

TEST_F(Vcn4Test, BuffersThatMakeNoSenseEnd) {
    start();
    memory.put(ib, {6, 1, 0, 0});
    ring.put({2, 0, ib, 0, 4});
    memory.put(ib + 0x100, {400, 1});
    ring.put({2, 0, ib + 0x100, 0, 2}).put({2, 0, 0xfffff000, 7, 100}).put({99, 3, 0x2000, 0, 9});
    submit();
    EXPECT_EQ(memory.at32(0x2000), 9u);
    EXPECT_EQ(engine.unhandled_packets().count("vcn_package_of_wrong_size", 2), 2u);
    EXPECT_EQ(engine.unhandled_packets().count("vcn_indirect_buffer_fault", 2), 1u);
    EXPECT_EQ(engine.unhandled_packets().count("vcn_unknown_command", 99), 1u);
}

TEST_F(Vcn4Test, SessionsAreBounded) {
    start();
    for (uint32_t handle = 0; handle < 300; ++handle) {
        put_decode_buffer(0, handle, 0);
        ring.put({2, 0, ib, 0, 64});
        submit();
    }
    EXPECT_EQ(engine.sessions().open(), 256u);
}

TEST_F(Vcn4Test, LongBuffersAreReadInSeveralTurns) {
    start();
    for (uint32_t package = 0; package < 100; ++package) {
        memory.put(ib + package * 8, {8, 0x77});
    }
    ring.put({2, 0, ib, 0, 200}).put({3, 0x2000, 0, 6});
    engine.ring_doorbell(doorbell, static_cast<uint32_t>(ring.wptr()));
    EXPECT_EQ(run({.packets = 3, .bytes = 1 << 20}), Engine::Turn::idle);
    EXPECT_EQ(memory.at32(0x2000), 6u);
}

TEST_F(Vcn4Test, WithoutPowerItForgets) {
    using namespace vcn_4_0_3;
    start();
    put_decode_buffer(0, 1, 0);
    ring.put({2, 0, ib, 0, 64});
    submit();
    set(regUVD_DPG_PAUSE, 1u << 2);
    engine.set_power(false);
    EXPECT_EQ(reg(regUVD_RB_BASE_LO), 0u);
    EXPECT_EQ(reg(regUVD_RB_RPTR), 0u);
    EXPECT_EQ(reg(regVCN_RB_ENABLE), 0u);
    EXPECT_EQ(reg(regUVD_DPG_PAUSE), 0xcu) << "always on";
    EXPECT_EQ(engine.sessions().open(), 0u);
    ring.put({1});
    submit();
    EXPECT_EQ(reg(regUVD_RB_RPTR), 0u);
}

/// jpeg and VCN packets of the second AID say 0x8000 for its hub.
class Vcn4OfAnotherAidTest : public Vcn4Test {
protected:
    Vcn4OfAnotherAidTest() : Vcn4Test("mi308x", 1) {}
};

TEST_F(Vcn4OfAnotherAidTest, ReachesTheHubOfItsOwnAid) {
    start();
    ring.put({0xb, (0x8000u + 0x6e3) << 2, 42}).put({4});
    submit();
    EXPECT_EQ(registers.read(0x28000 + 0x6e3), 42u);
    ASSERT_EQ(interrupts.entries.size(), 1u);
    EXPECT_EQ(interrupts.entries[0].node_id, 4);
}

class Vcn3Test : public VcnTest {
protected:
    Vcn3Test() : VcnTest("navi21") {}

    static constexpr uint32_t doorbells = 0x310;
    // mmUVD_*_INTERNAL_OFFSET of vcn_v3_0.c.
    static constexpr uint32_t cmd = 0xf, data0 = 0x10, data1 = 0x11, context_id = 0x27, nop = 0x29,
                              scratch8 = 0x66, scratch9 = 0xc01d, ib_size = 0x25c,
                              ib_bar_low = 0x3b4, ib_bar_high = 0x3b5, ib_vmid = 0x431;

    /// vcn_v3_0_start_dpg_mode().
    void start() {
        using namespace vcn_3_0_0;
        registers.write(0xd20 + 0x1d3, doorbells << 2 | 8u << 16);
        set(mmUVD_POWER_STATUS, 1 | pg_mode);
        const std::array<uint32_t, 2> image = {0x156 - 0x80, clk_en};
        engine.load_sram(image);
        set(mmUVD_RBC_RB_CNTL, 10 | 1u << 8 | 1u << 16 | 1u << 24 | 1u << 28);  // 1 KiB
        set(mmUVD_LMI_RBC_RB_64BIT_BAR_LOW, ring_base);
        set(Reg{0x0433, 1}, 0);
        set(mmUVD_RBC_RB_RPTR, 0);
        set(mmUVD_RBC_RB_WPTR, 0);
    }
    void put(std::initializer_list<std::pair<uint32_t, uint32_t>> writes) {
        for (const auto& [reg, value] : writes) {
            ring.put({reg, value});  // PACKET0(reg, 0)
        }
    }
    Engine::Turn submit() {
        EXPECT_TRUE(engine.ring_doorbell(doorbells, ring.wptr() % ring_dwords));
        return run();
    }
    static constexpr uint32_t kernel(uint32_t command) { return 1u << 31 | command << 1; }
};

TEST_F(Vcn3Test, TheRingTestWritesScratch9) {
    start();
    put({{scratch9, 0xdeadbeef}});
    EXPECT_EQ(submit(), Engine::Turn::idle);
    EXPECT_EQ(reg(Reg{0x001d, 1}), 0xdeadbeefu);
    EXPECT_EQ(reg(vcn_3_0_0::mmUVD_RBC_RB_RPTR), 2u);
}

TEST_F(Vcn3Test, CommandsFenceTrapAndReachRegisters) {
    start();
    const uint32_t request = 0x1a000 + 0x6e3;
    put({{data0, 0}, {cmd, kernel(0xa)}});
    put({{data0, request << 2}, {data1, 0x12345}, {cmd, kernel(4)}});
    put({{data0, request << 2}, {data1, 0x2345}, {scratch8, 0xffff}, {cmd, kernel(6)}});
    put({{context_id, 88}, {data0, 0x2000}, {data1, 0}, {cmd, kernel(0)}, {cmd, kernel(1)}});
    put({{nop, 0}, {cmd, kernel(0xb)}});
    EXPECT_EQ(submit(), Engine::Turn::idle);
    EXPECT_EQ(registers.read(request), 0x12345u);
    EXPECT_EQ(memory.at32(0x2000), 88u);
    ASSERT_EQ(interrupts.entries.size(), 1u);
    EXPECT_EQ(interrupts.entries[0].source_id, 124);
    EXPECT_EQ(engine.unhandled_packets().describe(), "");
}

TEST_F(Vcn3Test, AWaitParks) {
    start();
    put({{data0, 0x1a700u << 2}, {data1, 1}, {scratch8, 1}, {cmd, kernel(6)}});
    put({{scratch9, 7}});
    EXPECT_EQ(submit(), Engine::Turn::parked);
    registers.write(0x1a700, 1);
    EXPECT_EQ(run(), Engine::Turn::idle);
    EXPECT_EQ(reg(Reg{0x001d, 1}), 7u);
}

TEST_F(Vcn3Test, TheIbTestOpensAndClosesASession) {
    start();
    constexpr unsigned vmid = 2;
    for (const uint32_t type : {0u, 2u}) {
        memory.put(message, {0x28, 0x38, 1, type, 1, 0}, vmid);
        memory.put(ib, {data0, message, data1, 0, cmd, 0, nop, 0}, vmid);
        put({{ib_vmid, vmid}, {ib_bar_low, ib}, {ib_bar_high, 0}, {ib_size, 8}});
        EXPECT_EQ(submit(), Engine::Turn::idle);
        EXPECT_EQ(engine.sessions().open(), type == 0 ? 1u : 0u);
    }
    EXPECT_EQ(engine.unhandled_packets().describe(), "");
}

TEST_F(Vcn3Test, AUsersBufferReachesNoRegisterAndGivesNoOrders) {
    start();
    memory.put(ib, {scratch9, 5, data0, 0x1a700u << 2, data1, 9, cmd, kernel(4)}, 2);
    put({{ib_vmid, 2}, {ib_bar_low, ib}, {ib_bar_high, 0}, {ib_size, 8}});
    EXPECT_EQ(submit(), Engine::Turn::idle);
    EXPECT_EQ(reg(Reg{0x001d, 1}), 0u);
    EXPECT_EQ(registers.read(0x1a700), 0u);
    EXPECT_EQ(engine.unhandled_packets().count("vcn_command_refused", 4), 1u);
}

TEST_F(Vcn3Test, ABufferThatBreaksOffInAPacketIsGivenUp) {
    start();
    memory.break_page(2, 0x5000);
    memory.put(0x4ffc, {scratch8 | 3u << 16}, 2);  // PACKET0 of four, which lie behind the break
    put({{ib_vmid, 2}, {ib_bar_low, 0x4ffc}, {ib_bar_high, 0}, {ib_size, 5}, {scratch9, 8}});
    EXPECT_EQ(submit(), Engine::Turn::idle);
    EXPECT_EQ(reg(Reg{0x001d, 1}), 8u);
    EXPECT_EQ(engine.unhandled_packets().count("vcn_indirect_buffer_fault", 0), 1u);
}

TEST_F(Vcn3Test, ALongPacketTakesSeveralTurnsAndKeepsItsBuffer) {
    start();
    memory.put(ib, {context_id, 5}, 0);
    put({{ib_bar_low, ib}, {ib_bar_high, 0}, {ib_vmid, 0}});
    ring.put({ib_size | 1u << 16, 2, 0});  // PACKET0 of two from IB_SIZE on
    EXPECT_TRUE(engine.ring_doorbell(doorbells, static_cast<uint32_t>(ring.wptr())));
    EXPECT_EQ(run({.packets = 1, .bytes = 4096}), Engine::Turn::idle);
    EXPECT_EQ(reg(vcn_3_0_0::mmUVD_CONTEXT_ID), 5u);
}

/// "Only set DPG pause for VCN3 or below" (amdgpu_vcn_ring_begin_use()).
TEST_F(Vcn3Test, EncodingRingsAreLookedAtWhilePaused) {
    using namespace vcn_3_0_0;
    start();
    test::Ring enc(memory, 0x3000, 64);
    set(mmUVD_RB_BASE_LO, 0x3000);
    set(mmUVD_RB_SIZE, 64);
    enc.put({1});
    EXPECT_TRUE(engine.ring_doorbell(doorbells + 2, 1));
    run();
    EXPECT_EQ(reg(mmUVD_RB_RPTR), 0u);
    set(mmUVD_DPG_PAUSE, 1u << 2);
    run();
    EXPECT_EQ(reg(mmUVD_RB_RPTR), 1u);
    // amdgpu_vcn_enc_get_create_msg().
    memory.put(ib, {0x18, 1, 7, 0, 0x6000, 0, 0x14, 2, 0x1c, 0, 0, 8, 0x08000001});
    enc.put({2, 0, ib, 0, 16, 3, 0x2000, 0, 3, 4});
    EXPECT_TRUE(engine.ring_doorbell(doorbells + 2, static_cast<uint32_t>(enc.wptr())));
    run();
    EXPECT_EQ(engine.sessions().open(), 1u);
    EXPECT_EQ(memory.at32(0x2000), 3u);
    ASSERT_EQ(interrupts.entries.size(), 1u);
    EXPECT_EQ(interrupts.entries[0].source_id, 119);
}

TEST_F(Vcn3Test, WritesThroughTheLocalMemoryAccess) {
    using namespace vcn_3_0_0;
    set(mmUVD_DPG_LMA_DATA, clk_en);
    set(mmUVD_DPG_LMA_CTL, (0x156u - 0x80) << 16 | 1);
    EXPECT_EQ(reg(mmUVD_VCPU_CNTL), clk_en);
    set(mmUVD_DPG_LMA_DATA, 0);
    set(mmUVD_DPG_LMA_CTL, (0x156u - 0x80) << 16);
    EXPECT_EQ(reg(mmUVD_DPG_LMA_DATA), clk_en);
}

}  // namespace
}  // namespace gpuemu
