// SPDX-License-Identifier: GPL-2.0
// Purpose: JPEG as jpeg_v2_0.c and jpeg_v4_0_3.c drive it.
#include "gpu-emu/ip/vcn/jpeg_engine.h"

#include <gtest/gtest.h>

#include "gpu-emu/testing/cp_bench.h"

namespace gpuemu {
namespace {

constexpr uint32_t ring_base = 0x1000, ring_dwords = 256, ib = 0x4000;
constexpr uint32_t external_reg = 0x1bfff, external_access = 0x18000;

constexpr uint32_t packetj(uint32_t reg, uint32_t condition, uint32_t type) {
    return reg | condition << 24 | type << 28;
}

/// What differs between versions, as the driver has it.
struct Version {
    const char* profile;
    unsigned core;
    uint32_t wptr, rptr, cntl, size, bar, rb_vmid, status;  // MMIO dwords
    uint32_t data0, mem_wr, ib_vmid, ib_bar;                // *_INTERNAL_OFFSET
    uint32_t test, test_dword;                              // what the ring test writes
    uint8_t source;
};

class JpegTest : public testing::TestWithParam<Version>, protected test::Surroundings {
protected:
    JpegTest() : Surroundings(GetParam().profile) { engine.reset(); }

    static constexpr uint32_t doorbell = 0x362;

    /// jpeg_v4_0_3_start_jrbc(), jpeg_v3_0_start().
    void start() {
        const Version& v = GetParam();
        const VideoDoorbell& bell = layout.cores.at(v.core).ring.doorbell;
        if (bell.kind == VideoDoorbell::Kind::own) {
            registers.write(bell.dword, doorbell << 2 | 1u << 30);
        } else {
            registers.write(bell.dword, (doorbell - bell.place) << 2 | 8u << 16);
        }
        registers.write(layout.jmi_cntl, 0);
        registers.write(v.rb_vmid, 0);
        registers.write(v.cntl, 3);
        registers.write(v.bar, ring_base);
        registers.write(v.bar + 1, 0);
        registers.write(v.rptr, 0);
        registers.write(v.wptr, 0);
        registers.write(v.cntl, 2);
        registers.write(v.size, ring_dwords);
    }
    void write(uint32_t reg, uint32_t value) { ring.put({packetj(reg, 0, 0), value}); }
    Engine::Turn submit() {
        EXPECT_TRUE(engine.ring_doorbell(doorbell, ring.wptr() % ring_dwords));
        return run();
    }
    Engine::Turn run() {
        for (int turn = 0; turn < 10'000; ++turn) {
            Budget budget;
            if (const auto result = engine.run(budget); result != Engine::Turn::more) {
                return result;
            }
        }
        return Engine::Turn::more;
    }

    const JpegLayout layout = vcn_layouts(profile).at(0).jpeg;
    test::Ring ring{memory, ring_base, ring_dwords};
    JpegEngine engine{context, layout};
};

TEST_P(JpegTest, TheRingTestWritesARegister) {
    start();
    EXPECT_EQ(registers.read(GetParam().status) & 3, 3u) << "jobs are done";
    write(GetParam().test, 0xabadcafe);
    EXPECT_EQ(submit(), Engine::Turn::idle);
    EXPECT_EQ(registers.read(GetParam().test_dword), 0xabadcafeu);
    EXPECT_EQ(registers.read(GetParam().rptr), 2u);
}

TEST_P(JpegTest, TheIbTestRunsABufferAndWaitsForIt) {
    const Version& v = GetParam();
    start();
    memory.put(ib, {packetj(v.test, 0, 0), 0xdeadbeef, packetj(0, 0, 6), 0}, 3);
    write(v.ib_vmid, 0x333);
    write(v.ib_bar, ib);
    write(v.ib_bar + 1, 0);
    write(0x4082, 4);
    ring.put({packetj(0, 0, 2), 0});
    write(0x4085, 0x01400200);
    write(0x4084, 2);
    ring.put({packetj(0x4089, 3, 3), 2});  // JRBC_STATUS has IB_JOB_DONE
    EXPECT_EQ(submit(), Engine::Turn::idle);
    EXPECT_EQ(registers.read(v.test_dword), 0xdeadbeefu);
    EXPECT_EQ(engine.unhandled_packets().describe(), "");
}

TEST_P(JpegTest, FencesAndTraps) {
    const Version& v = GetParam();
    start();
    write(v.data0, 99);
    write(v.data0 + 1, 99);
    write(v.mem_wr, 0x2000);
    write(v.mem_wr + 1, 0);
    write(v.data0 - 1, 8);
    ring.put({packetj(v.data0 - 1, 0, 4), 0, packetj(0, 0, 6), 0, packetj(0, 0, 7), 0});
    EXPECT_EQ(submit(), Engine::Turn::idle);
    EXPECT_EQ(memory.at32(0x2000), 99u);
    ASSERT_EQ(interrupts.entries.size(), 1u);
    EXPECT_EQ(interrupts.entries[0].client_id, 0x10);
    EXPECT_EQ(interrupts.entries[0].source_id, v.source);
    mutator.shift(jpeg_fence, 1, 1);
    ring.put({packetj(v.data0 - 1, 0, 4), 0, packetj(0, 0, 6), 0});
    EXPECT_EQ(submit(), Engine::Turn::idle);
    EXPECT_EQ(memory.at32(0x2000), 100u) << "a scripted lie";
}

TEST_P(JpegTest, ReachesOtherRegistersAndWaitsForThem) {
    start();
    const uint32_t far = profile.ip(HwId::MMHUB).bases.at(0) + 0x700;
    write(external_reg, far << 2);
    write(external_access, 41);
    write(0x4084, 42);
    write(external_reg, far << 2);
    ring.put({packetj(external_access, 0, 3), 0xff});
    write(GetParam().test, 1);
    EXPECT_EQ(submit(), Engine::Turn::parked);
    EXPECT_EQ(registers.read(far), 41u);
    EXPECT_EQ(registers.read(GetParam().status) & 1, 0u) << "busy";
    registers.write(far, 0x742);
    registers.write(far, 0x7000 | 42);
    EXPECT_EQ(run(), Engine::Turn::idle);
    EXPECT_EQ(registers.read(GetParam().test_dword), 1u);
}

TEST_P(JpegTest, AUsersBufferReachesNoOtherRegister) {
    const Version& v = GetParam();
    start();
    const uint32_t far = profile.ip(HwId::MMHUB).bases.at(0) + 0x700;
    memory.put(ib, {external_reg, far << 2, external_access, 5, packetj(external_access, 0, 3), 1},
               3);
    write(v.ib_vmid, 3);
    write(v.ib_bar, ib);
    write(v.ib_bar + 1, 0);
    write(0x4082, 6);
    EXPECT_EQ(submit(), Engine::Turn::idle);
    EXPECT_EQ(registers.read(far), 0u);
    EXPECT_EQ(engine.unhandled_packets().count("jpeg_register_refused", 0), 2u);
}

TEST_P(JpegTest, RubbishEnds) {
    const Version& v = GetParam();
    start();
    ring.put({packetj(0, 0, 9), 0, packetj(0x4089, 5, 3), 1, packetj(0x30000, 0, 0), 1});
    memory.put(ib, {1, 2, 3}, 0);
    write(v.ib_vmid, 0);
    write(v.ib_bar, ib);
    write(v.ib_bar + 1, 0);
    write(0x4082, 3);  // half a packet is left
    write(GetParam().test, 1);
    EXPECT_EQ(submit(), Engine::Turn::idle);
    EXPECT_EQ(registers.read(GetParam().test_dword), 1u);
    EXPECT_EQ(engine.unhandled_packets().count("jpeg_unknown_packet", 9), 1u);
    EXPECT_EQ(engine.unhandled_packets().count("jpeg_unknown_condition", 5), 1u);
}

TEST_P(JpegTest, ASoftResetOfItsMemoryInterfaceStopsIt) {
    start();
    registers.write(layout.jmi_cntl, 1);
    write(GetParam().test, 1);
    submit();
    EXPECT_EQ(registers.read(GetParam().rptr), 0u);
    registers.write(layout.jmi_cntl, 0);
    run();
    EXPECT_EQ(registers.read(GetParam().rptr), 2u);
}

INSTANTIATE_TEST_SUITE_P(Versions, JpegTest,
                         testing::Values(Version{.profile = "navi21",
                                                 .core = 0,
                                                 .wptr = 0x7900,
                                                 .rptr = 0x790a,
                                                 .cntl = 0x7901,
                                                 .size = 0x7913,
                                                 .bar = 0x7966,
                                                 .rb_vmid = 0x7950,
                                                 .status = 0x7909,
                                                 .data0 = 0x402a,
                                                 .mem_wr = 0x40ea,
                                                 .ib_vmid = 0x40cf,
                                                 .ib_bar = 0x40e8,
                                                 .test = 0x401f,
                                                 .test_dword = 0x789f,
                                                 .source = 0x99},
                                         Version{.profile = "mi300x",
                                                 .core = 2,
                                                 .wptr = 0x7840,
                                                 .rptr = 0x784a,
                                                 .cntl = 0x7841,
                                                 .size = 0x7853,
                                                 .bar = 0x7869,
                                                 .rb_vmid = 0x7865,
                                                 .status = 0x7849,
                                                 .data0 = 0x404e,
                                                 .mem_wr = 0x40ab,
                                                 .ib_vmid = 0x40a4,
                                                 .ib_bar = 0x40b6,
                                                 .test = 0x4094,
                                                 .test_dword = 0x7854,
                                                 .source = 0x97}),
                         [](const auto& info) { return std::string(info.param.profile); });

/// jpeg_v4_0_3_core_stall_reset().
TEST(Jpeg, OneDecoderIsResetAlone) {
    test::Surroundings given("mi300x");
    RegisterFile& registers = given.registers;
    const JpegLayout layout = vcn_layouts(given.profile).at(0).jpeg;
    JpegEngine engine{given.context, layout};
    engine.reset();
    constexpr uint32_t scratch0 = 0x8454, scratch3 = 0x7894, stall3 = 0x78ba, clean3 = 0x78bb;
    registers.write(scratch0, 5);
    registers.write(scratch3, 6);
    registers.write(stall3, 0x1f);
    EXPECT_EQ(registers.read(clean3), 0x1fu);
    registers.write(0x7e00 + 0x72e, 1u << 3);
    EXPECT_EQ(registers.read(scratch0), 5u);
    EXPECT_EQ(registers.read(scratch3), 0u);
}

}  // namespace
}  // namespace gpuemu
