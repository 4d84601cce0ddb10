// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of Psp: the order of psp_v13_0.c, commands in shared memory.
// Thread: the test's.
// Does not model: nothing.
#include "gpu-emu/ip/psp.h"

#include <gtest/gtest.h>

#include "gpu-emu/device/engine_scheduler.h"
#include "gpu-emu/ip/regs/mp_13_0_6.h"
#include "gpu-emu/ip/regs/osssys_4_4_2.h"
#include "gpu-emu/testing/test_memory.h"

namespace gpuemu {
namespace {

namespace mp = mp_13_0_6;

constexpr uint64_t ring = 0x40000, command_buffer = 0x50000, fence = 0x60000;
constexpr uint32_t ring_bytes = 0x1000, response_flag = 0x80000000;

class PspTest : public testing::Test {
protected:
    explicit PspTest(const char* profile_name = "mi300x") : profile(*find_profile(profile_name)) {
        psp.reset(ResetKind::cold);
    }

    uint32_t address(Reg reg) const { return at(profile.ip(HwId::MP0), reg); }
    uint32_t get(Reg reg) { return registers.read(address(reg)); }
    void set(Reg reg, uint32_t value) { registers.write(address(reg), value); }

    void run() {
        while (engines.turn() == hp::EventLoop::Idle::more) {
        }
    }
    void start_sos() {
        set(mp::regMP0_SMN_C2PMSG_35, 0x20000);
        get(mp::regMP0_SMN_C2PMSG_81);
    }
    void create_ring() {
        set(mp::regMP0_SMN_C2PMSG_69, static_cast<uint32_t>(ring));
        set(mp::regMP0_SMN_C2PMSG_70, static_cast<uint32_t>(ring >> 32));
        set(mp::regMP0_SMN_C2PMSG_71, ring_bytes);
        set(mp::regMP0_SMN_C2PMSG_64, 2 << 16);
    }

    /// Frame `index` of the ring: `command` with arguments in the command buffer, fence `value`.
    void put_frame(uint32_t index, uint32_t value, uint64_t buffer = command_buffer) {
        memory.put<uint64_t>(ring + 64 * index, buffer);
        memory.put<uint64_t>(ring + 64 * index + 12, fence);
        memory.put<uint32_t>(ring + 64 * index + 20, value);
    }
    void put_command(uint32_t id, std::initializer_list<uint32_t> payload,
                     uint64_t buffer = command_buffer) {
        memory.put<uint32_t>(buffer + 8, id);
        uint64_t position = buffer + 28;
        for (const uint32_t dword : payload) {
            memory.put<uint32_t>(position, dword);
            position += 4;
        }
        memory.put<uint32_t>(buffer + 864, 0xdeadbeef);
    }
    uint32_t response(unsigned dword, uint64_t buffer = command_buffer) const {
        return memory.get<uint32_t>(buffer + 864 + 4 * dword);
    }
    /// Submits one command at the current end of the ring; true when its fence came.
    bool submit(uint32_t id, std::initializer_list<uint32_t> payload = {}) {
        put_command(id, payload);
        put_frame(next, ++fences);
        next = (next + 1) % (ring_bytes / 64);
        set(mp::regMP0_SMN_C2PMSG_67, next * 16);
        run();
        return memory.get<uint32_t>(fence) == fences;
    }

    const Profile& profile;
    RegisterFile registers{2u << 20};
    TestMemory memory;
    int mode1 = 0;
    Mutator mutator;
    EngineScheduler engines;
    std::vector<std::pair<unsigned, std::vector<uint32_t>>> srams;  // instance, image
    Psp psp{{profile, registers, memory, engines, [this] { ++mode1; }, mutator, nullptr,
             [this](unsigned instance, std::span<const uint32_t> pairs) {
                 srams.emplace_back(instance, std::vector(pairs.begin(), pairs.end()));
                 return instance < 2;
             }}};
    uint32_t next = 0, fences = 0;
};

TEST_F(PspTest, ColdDeviceIsReadyAndSosIsNot) {
    EXPECT_EQ(registers.read(0x16061), response_flag);  // where the driver looks before the table
    EXPECT_EQ(get(mp::regMP0_SMN_C2PMSG_35), response_flag);
    EXPECT_EQ(get(mp::regMP0_SMN_C2PMSG_81), 0u);
    EXPECT_EQ(get(mp::regMP0_SMN_C2PMSG_127), 0x100002fu);
}

TEST_F(PspTest, BootLoaderIsSilentUntilPowerOn) {
    psp.ignore(2);
    psp.reset(ResetKind::mode1);
    EXPECT_EQ(get(mp::regMP0_SMN_C2PMSG_35), response_flag);  // ready for a command
    set(mp::regMP0_SMN_C2PMSG_35, 0x80000);
    EXPECT_EQ(get(mp::regMP0_SMN_C2PMSG_35), 0x80000u);
    psp.reset(ResetKind::cold);
    set(mp::regMP0_SMN_C2PMSG_35, 0x80000);
    EXPECT_EQ(get(mp::regMP0_SMN_C2PMSG_35), response_flag);

    psp.ignore(1);
    start_sos();
    EXPECT_FALSE(psp.sos_alive());
    start_sos();
    EXPECT_TRUE(psp.sos_alive());
}

TEST_F(PspTest, SignOfLifeChangesAfterTheFirstSample) {
    set(mp::regMP0_SMN_C2PMSG_36, 0x8001);
    set(mp::regMP0_SMN_C2PMSG_35, 0x80000);  // key database
    EXPECT_EQ(get(mp::regMP0_SMN_C2PMSG_35), response_flag);
    EXPECT_EQ(get(mp::regMP0_SMN_C2PMSG_81), 0u);
    EXPECT_FALSE(psp.sos_alive());
    set(mp::regMP0_SMN_C2PMSG_35, 0x20000);
    const uint32_t sample = get(mp::regMP0_SMN_C2PMSG_81);
    EXPECT_NE(get(mp::regMP0_SMN_C2PMSG_81), sample);
    EXPECT_TRUE(psp.sos_alive());
    EXPECT_NE(get(mp::regMP0_SMN_C2PMSG_58), 0u);
    EXPECT_EQ(get(mp::regMP0_SMN_C2PMSG_64), response_flag);
}

TEST_F(PspTest, CommandsGetResponseAndFence) {
    start_sos();
    create_ring();
    EXPECT_EQ(get(mp::regMP0_SMN_C2PMSG_64), response_flag);
    EXPECT_EQ(get(mp::regMP0_SMN_C2PMSG_67), 0u);
    ASSERT_TRUE(submit(0x6, {0x11110000, 0x80, 4096, 4}));  // LOAD_IP_FW
    EXPECT_EQ(response(0), 0u);
    EXPECT_EQ(response(2), 0x11110000u);
    EXPECT_EQ(response(3), 0x80u);
    ASSERT_TRUE(submit(0x20));  // LOAD_TOC
    EXPECT_GT(response(4), 0u);
    EXPECT_EQ(psp.commands(), 2u);
}

/// amdgpu_vcn_psp_update_sram(): VCN 3 has a type for each instance, later ones say it in front.
TEST_F(PspTest, ImagesForTheSramOfVcnAreHandedOn) {
    constexpr uint32_t image = 0x30000, vcn0_ram = 49, vcn1_ram = 50;
    start_sos();
    create_ring();
    const auto put = [&](std::initializer_list<uint32_t> dwords) {
        uint32_t offset = 0;
        for (const uint32_t dword : dwords) {
            memory.put<uint32_t>(image + 4 * offset++, dword);
        }
    };
    const auto load = [&](uint32_t dwords, uint32_t type) {
        EXPECT_TRUE(submit(0x6, {image, 0, dwords * 4, type}));
        return response(0);
    };
    put({7, 70, 8, 80});
    EXPECT_EQ(load(4, vcn1_ram), 0u);
    put({0xdeadbeef, 1, 9, 90});
    EXPECT_EQ(load(4, vcn0_ram), 0u);
    using Sram = std::pair<unsigned, std::vector<uint32_t>>;
    EXPECT_EQ(srams, (std::vector<Sram>{{1, {7, 70, 8, 80}}, {1, {9, 90}}}));
    put({0xdeadbeef, 2, 9, 90});
    EXPECT_NE(load(4, vcn0_ram), 0u) << "no such instance";
    srams.clear();
    EXPECT_NE(load(513, vcn0_ram), 0u) << "too long";
    ASSERT_TRUE(submit(0x6, {0xfffff000, 7, 16, vcn0_ram}));
    EXPECT_NE(response(0), 0u) << "out of reach";
    EXPECT_TRUE(srams.empty());
}

TEST_F(PspTest, SessionsAreKnownUntilUnloaded) {
    start_sos();
    create_ring();
    ASSERT_TRUE(submit(0x1));
    const uint32_t session = response(1);
    ASSERT_TRUE(submit(0x4));
    EXPECT_NE(response(1), session);
    ASSERT_TRUE(submit(0x3, {session, 7}));
    EXPECT_EQ(response(0), 0u);
    ASSERT_TRUE(submit(0x2, {session}));
    EXPECT_EQ(response(0), 0u);
    ASSERT_TRUE(submit(0x3, {session, 7}));
    EXPECT_NE(response(0), 0u);
}

TEST_F(PspTest, UnknownCommandsSaySo) {
    start_sos();
    create_ring();
    ASSERT_TRUE(submit(0x77));
    EXPECT_EQ(response(0), 0x100u);
}

TEST_F(PspTest, SeveralFramesAndTheWrapAround) {
    start_sos();
    create_ring();
    for (uint32_t count = 0; count < ring_bytes / 64 - 1; ++count) {
        ASSERT_TRUE(submit(0x5));
    }
    // Two frames with one write of the pointer, the second at the start of the ring again.
    put_command(0x5, {});
    put_frame(ring_bytes / 64 - 1, 1000);
    put_frame(0, 1001);
    set(mp::regMP0_SMN_C2PMSG_67, 16);
    EXPECT_LT(memory.get<uint32_t>(fence), 1000u) << "the write does not wait for the commands";
    run();
    EXPECT_EQ(memory.get<uint32_t>(fence), 1001u);
    EXPECT_EQ(psp.commands(), ring_bytes / 64 + 1);
}

TEST_F(PspTest, RubbishPointersAndAddressesAreHarmless) {
    start_sos();
    set(mp::regMP0_SMN_C2PMSG_67, 16);  // no ring yet
    create_ring();
    set(mp::regMP0_SMN_C2PMSG_67, 7);
    set(mp::regMP0_SMN_C2PMSG_67, 0x7fffffff);
    run();
    EXPECT_EQ(psp.commands(), 0u);
    put_frame(0, 5, 0xffff'ffff'0000);
    set(mp::regMP0_SMN_C2PMSG_67, 16);
    run();
    EXPECT_EQ(memory.get<uint32_t>(fence), 0u);  // no response, no fence
    set(mp::regMP0_SMN_C2PMSG_71, 0xffffffff);
    set(mp::regMP0_SMN_C2PMSG_64, 2 << 16);
    set(mp::regMP0_SMN_C2PMSG_67, 0x3fff0);  // the ring is not that large, whatever was asked for
    run();
    EXPECT_EQ(psp.commands(), 0u);
}

TEST_F(PspTest, DestroyedRingTakesNothing) {
    start_sos();
    create_ring();
    set(mp::regMP0_SMN_C2PMSG_64, 3 << 16);
    EXPECT_EQ(get(mp::regMP0_SMN_C2PMSG_64), response_flag);
    EXPECT_FALSE(submit(0x5));
}

TEST_F(PspTest, Mode1ResetIsAskedFor) {
    start_sos();
    set(mp::regMP0_SMN_C2PMSG_64, 7 << 16);
    EXPECT_EQ(mode1, 1);
    psp.reset(ResetKind::mode1);
    EXPECT_FALSE(psp.sos_alive());
}

/// psp_spatial_partition().
TEST_F(PspTest, PartitionsAreAskedForAndRefused) {
    std::vector<uint32_t> asked;
    RegisterFile own_registers{2u << 20};
    Psp with_xccs{{profile, own_registers, memory, engines, [] {}, mutator,
                   [&](uint32_t count) {
                       asked.push_back(count);
                       return count != 3;
                   }}};
    with_xccs.reset(ResetKind::cold);
    const auto write = [&](Reg reg, uint32_t value) { own_registers.write(address(reg), value); };
    write(mp::regMP0_SMN_C2PMSG_35, 0x20000);
    own_registers.read(address(mp::regMP0_SMN_C2PMSG_81));
    write(mp::regMP0_SMN_C2PMSG_69, static_cast<uint32_t>(ring));
    write(mp::regMP0_SMN_C2PMSG_70, static_cast<uint32_t>(ring >> 32));
    write(mp::regMP0_SMN_C2PMSG_71, ring_bytes);
    write(mp::regMP0_SMN_C2PMSG_64, 2 << 16);
    put_command(0x27, {4});
    put_frame(0, 1);
    write(mp::regMP0_SMN_C2PMSG_67, 16);
    run();
    EXPECT_EQ(response(0), 0u);
    put_command(0x27, {3});
    put_frame(1, 2);
    write(mp::regMP0_SMN_C2PMSG_67, 32);
    run();
    EXPECT_NE(response(0), 0u);
    EXPECT_EQ(asked, (std::vector<uint32_t>{4, 3}));
}

class VfPspTest : public PspTest {
protected:
    VfPspTest() : PspTest("mi300x-vf") {}
};

TEST_F(VfPspTest, RingOfAVirtualFunction) {
    set(mp::regMP0_SMN_C2PMSG_101, 0xC << 16);
    EXPECT_EQ(get(mp::regMP0_SMN_C2PMSG_101), response_flag);
    set(mp::regMP0_SMN_C2PMSG_102, static_cast<uint32_t>(ring));
    set(mp::regMP0_SMN_C2PMSG_103, static_cast<uint32_t>(ring >> 32));
    set(mp::regMP0_SMN_C2PMSG_101, 2 << 16);
    EXPECT_EQ(get(mp::regMP0_SMN_C2PMSG_101), response_flag);
    EXPECT_EQ(get(mp::regMP0_SMN_C2PMSG_102), 0u);  // the write pointer from now on
    put_command(0xB, {0x00020101, 0});              // PROG_REG IH_RB_CNTL
    put_frame(0, 9);
    set(mp::regMP0_SMN_C2PMSG_102, 16);
    run();
    EXPECT_EQ(memory.get<uint32_t>(fence), 0u);
    set(mp::regMP0_SMN_C2PMSG_101, 9 << 16);  // CONSUME_CMD
    run();
    EXPECT_EQ(memory.get<uint32_t>(fence), 9u);
    EXPECT_EQ(registers.read(at(profile.ip(HwId::OSSSYS), osssys_4_4_2::regIH_RB_CNTL)),
              0x00020101u);
    set(mp::regMP0_SMN_C2PMSG_101, 7 << 16);
    EXPECT_EQ(mode1, 0);  // not for a virtual function to ask for
}

class HivePspTest : public PspTest {
protected:
    static constexpr uint64_t image = 0x70000, buffer = 0x80000;
    static constexpr uint32_t image_bytes = 4096, buffer_bytes = 0x4000;

    explicit HivePspTest(const char* profile_name = "mi300x-hive") : PspTest(profile_name) {
        start_sos();
        create_ring();
    }

    /// LOAD_TA of what is at `image`; returns its session.
    uint32_t load(uint64_t shared = buffer, uint32_t length = buffer_bytes) {
        EXPECT_TRUE(submit(
            0x1, {static_cast<uint32_t>(image), 0, image_bytes, static_cast<uint32_t>(shared),
                  static_cast<uint32_t>(shared >> 32), length}));
        return response(1);
    }
    void put_mark() {
        for (std::size_t index = 0; index < xgmi_ta_mark.size(); ++index) {
            memory.put<char>(image + index, xgmi_ta_mark[index]);
        }
    }
    uint64_t hive_id(uint32_t session, uint64_t shared = buffer) {
        EXPECT_TRUE(submit(0x3, {session, 0}));  // INITIALIZE
        EXPECT_EQ(response(0), 0u);
        EXPECT_TRUE(submit(0x3, {session, 2}));  // GET_HIVE_ID
        EXPECT_EQ(response(0), 0u);
        return memory.get<uint64_t>(shared + 1048);
    }
};

TEST_F(HivePspTest, RunsTheApplicationForXgmi) {
    put_mark();
    EXPECT_EQ(hive_id(load()), XgmiTa::hive_id());
    EXPECT_EQ(memory.get<uint32_t>(buffer + XgmiTa::shared_bytes), 0u) << "and nothing behind it";
}

TEST_F(HivePspTest, ItsBufferMayBeAnywhere) {
    put_mark();
    EXPECT_EQ(hive_id(load(0), 0), XgmiTa::hive_id());
}

TEST_F(HivePspTest, OtherApplicationsChangeNothing) {
    EXPECT_EQ(hive_id(load()), 0u);
    put_mark();
    EXPECT_EQ(hive_id(load(buffer, XgmiTa::shared_bytes - 1)), 0u) << "its buffer is too short";
}

TEST_F(HivePspTest, ABufferOutOfReachIsAnError) {
    put_mark();
    const uint32_t session = load(0xffff'ffff'0000);
    ASSERT_TRUE(submit(0x3, {session, 0}));
    EXPECT_NE(response(0), 0u);
}

class LonelyPspTest : public HivePspTest {
protected:
    LonelyPspTest() : HivePspTest("mi300x") {}
};

TEST_F(LonelyPspTest, OutsideOfAHiveItIsAnApplicationLikeOthers) {
    put_mark();
    EXPECT_EQ(hive_id(load()), 0u);
}

TEST_F(PspTest, AHostileFirmwareLiesInItsResponse) {
    start_sos();
    create_ring();
    mutator.start(1, std::array{Surface::firmware}, 1);
    ASSERT_TRUE(submit(0x1)) << "the fence is a write-back";
    EXPECT_NE(response(0), 0u);
    EXPECT_NE(response(1), 1u);
    EXPECT_EQ(mutator.mutations(), 24u) << "the response, all of it";
    EXPECT_EQ(memory.get<uint32_t>(command_buffer + 864 + 96), 0u) << "and nothing behind it";
    mutator.stop();
    ASSERT_TRUE(submit(0x2, {1}));
    EXPECT_EQ(response(0), 0u) << "the session is what it was";
}

TEST_F(PspTest, AHostileDeviceLiesInTheFence) {
    start_sos();
    create_ring();
    mutator.start(1, std::array{Surface::write_backs}, 1);
    EXPECT_FALSE(submit(0x5));
    EXPECT_EQ(response(0), 0u);
    EXPECT_EQ(mutator.mutations(), 1u);
}

TEST_F(PspTest, ApplicationsHaveAnEnd) {
    start_sos();
    create_ring();
    uint32_t loaded = 0;
    uint32_t session = 0;
    for (int attempt = 0; attempt < 1000; ++attempt) {
        ASSERT_TRUE(submit(0x1));
        if (response(0) == 0) {
            session = response(1);
            ++loaded;
        }
    }
    EXPECT_GE(loaded, 16u) << "the driver has about ten";
    EXPECT_LE(loaded, 64u);
    ASSERT_TRUE(submit(0x2, {session}));
    ASSERT_TRUE(submit(0x1));
    EXPECT_EQ(response(0), 0u) << "who unloads one may load another";
}

/// A ring of 1,024 frames, and a pointer that is written again and again, as a packet can do it.
TEST_F(PspTest, ATurnIsAFewCommands) {
    start_sos();
    set(mp::regMP0_SMN_C2PMSG_69, static_cast<uint32_t>(ring));
    set(mp::regMP0_SMN_C2PMSG_71, 64u << 10);
    set(mp::regMP0_SMN_C2PMSG_64, 2 << 16);
    put_command(0x5, {});
    for (uint32_t index = 0; index < 1024; ++index) {
        put_frame(index, index + 1);
    }
    for (int count = 0; count < 100; ++count) {
        set(mp::regMP0_SMN_C2PMSG_67, 1023 * 16);
    }
    EXPECT_EQ(psp.commands(), 0u) << "the write does not wait for them";
    Budget budget;
    EXPECT_EQ(psp.run(budget), Engine::Turn::more);
    EXPECT_EQ(psp.commands(), 64u);
    run();
    EXPECT_EQ(psp.commands(), 1023u);
    EXPECT_EQ(memory.get<uint32_t>(fence), 1023u);
}

}  // namespace
}  // namespace gpuemu
