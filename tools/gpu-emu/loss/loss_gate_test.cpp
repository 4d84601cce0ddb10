// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/loss/loss_gate.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "gpu-emu/testing/toy_function.h"
#include "gpu-emu/witness/trace_reader.h"
#include "lib/clock.h"
#include "lib/temp_tree.h"

namespace gpuemu {
namespace {

using namespace std::chrono_literals;

constexpr uint32_t ones = ~0u;
constexpr uint32_t alive = 0x5a5a5a5a;

class Watcher : public LossObserver {
public:
    void attached() override { seen.push_back("attached"); }
    void detached() override { seen.push_back("detached"); }
    void vanished(const Vanishing& how) override {
        seen.push_back("vanished " + std::to_string(how.accesses));
        last = how;
    }
    void restored() override { seen.push_back("restored"); }

    std::vector<std::string> seen;
    Vanishing last;
};

class LossGateTest : public testing::Test {
protected:
    LossGateTest() {
        gate.set_observer(&watcher);
        gate.attach(host);
        device_side = function.host;
    }

    uint32_t read(Region region, uint64_t offset = 0) {
        std::array<std::byte, 4> raw{};
        gate.read(region, offset, raw);
        uint32_t value = 0;
        std::memcpy(&value, raw.data(), sizeof value);
        return value;
    }
    void write(Region region, uint64_t offset = 0) {
        const std::array<std::byte, 4> raw{};
        gate.write(region, offset, raw);
    }
    uint64_t total(TraceKind kind) const { return gate.total()[static_cast<size_t>(kind)]; }
    uint64_t late(TraceKind kind) const { return gate.after_loss()[static_cast<size_t>(kind)]; }

    hp::EventLoop loop;
    EngineScheduler engines;
    ToyFunction function;
    ToyHost host;
    Watcher watcher;
    int vanish_calls = 0;
    LossGate gate{
        function,
        engines,
        loop,
        {.trace = nullptr, .on_vanish = [this] { ++vanish_calls; }, .config_survives = false}};
    PciHost* device_side = nullptr;
};

TEST_F(LossGateTest, APresentDeviceIsReachedAndCounted) {
    EXPECT_EQ(read(Region::bar5), alive);
    EXPECT_EQ(read(Region::bar0), alive);
    EXPECT_EQ(read(Region::config), alive);
    write(Region::bar5, 8);
    write(Region::bar2, 16);
    write(Region::bar0, 24);
    write(Region::config, 32);
    EXPECT_EQ(function.written, (std::vector<uint64_t>{8, 16, 24, 32}));
    EXPECT_EQ(device_side->dma(0, 8, DmaAccess::read).size(), 8u);
    EXPECT_EQ(device_side->dma(0, 8, DmaAccess::write).size(), 8u);
    device_side->raise_msi(0);
    for (size_t kind = 0; kind < access_kinds; ++kind) {
        EXPECT_EQ(gate.total()[kind], 1u) << kind_name(static_cast<TraceKind>(kind));
        EXPECT_EQ(gate.after_loss()[kind], 0u);
    }
}

TEST_F(LossGateTest, DmaToWhereNothingIsMappedIsRemembered) {
    EXPECT_EQ(device_side->dma(0x1000, 8, DmaAccess::write).size(), 8u);
    host.offers = false;
    EXPECT_TRUE(device_side->dma(0x2000, 8, DmaAccess::write).empty());
    EXPECT_TRUE(device_side->dma(0x3000, 64, DmaAccess::read).empty());
    EXPECT_TRUE(device_side->dma(0x3000, 0, DmaAccess::read).empty());
    gate.reset_counters();
    ASSERT_EQ(gate.stray_dma().count, 2u);
    EXPECT_EQ(gate.stray_dma().first[0].address, 0x2000u);
    EXPECT_EQ(gate.stray_dma().first[0].access, DmaAccess::write);
    EXPECT_EQ(gate.stray_dma().first[1].length, 64u);
    for (int i = 0; i < 100; ++i) {
        device_side->dma(0x2000, 8, DmaAccess::write);
    }
    EXPECT_EQ(gate.stray_dma().count, 102u);
    EXPECT_EQ(gate.stray_dma().first.size(), LossGate::first_accesses_kept);
    gate.vanish();
    device_side->dma(0x2000, 8, DmaAccess::write);
    EXPECT_EQ(gate.stray_dma().count, 102u) << "who is gone does none";
}

TEST_F(LossGateTest, WhatIsGoneAlreadyIsMeasuredFromTheResetOfItsCounters) {
    gate.vanish();
    for (int access = 0; access < 10'000; ++access) {
        read(Region::bar5);
    }
    const uint64_t before = hp::monotonic_ns();
    gate.reset_counters();
    read(Region::bar5);
    ASSERT_EQ(gate.first_after_loss().size(), 1u);
    EXPECT_LE(gate.first_after_loss()[0].since_loss_ns, hp::monotonic_ns() - before);
}

TEST_F(LossGateTest, ABoardIsMadeAnotherBeforeItIsPutBack) {
    std::vector<int> attachments;
    LossGate other(function, engines, loop,
                   {.trace = nullptr,
                    .on_vanish = {},
                    .on_restore = [&] { attachments.push_back(function.attachments); },
                    .config_survives = false});
    other.attach(host);
    const int before = function.attachments;
    other.vanish();
    EXPECT_TRUE(attachments.empty());
    other.restore();
    EXPECT_EQ(attachments, std::vector{before});
    EXPECT_EQ(function.attachments, before + 1);
    ASSERT_TRUE(other.flaky(2ms));
    auto stop = loop.after(20ms, [this] { loop.stop(); });
    loop.run();
    EXPECT_EQ(other.state(), LossGate::State::present);

    EXPECT_EQ(attachments.size(), 1u) << "the same board, which was away";
}

/// What the peers of a hive are told: nothing before there is a host, and no change twice.
TEST_F(LossGateTest, OthersFindItWhileItIsAttachedAndNotGone) {
    std::vector<std::string> told;
    LossGate shared{function,
                    engines,
                    loop,
                    {.on_vanish = [&] { told.push_back("ones"); },
                     .on_presence = [&](bool present) { told.push_back(present ? "in" : "out"); }}};
    const auto news = [&] { return std::exchange(told, {}); };
    using News = std::vector<std::string>;
    shared.vanish();
    shared.restore();
    EXPECT_EQ(news(), News{"ones"});
    shared.attach(host);
    EXPECT_EQ(news(), News{"in"});
    ASSERT_TRUE(shared.hang());
    ASSERT_TRUE(shared.resume());
    EXPECT_EQ(news(), News{}) << "its memory answers while its engines stand still";
    shared.vanish();
    EXPECT_EQ(news(), (News{"out", "ones"}))
        << "no copy that a peer begins may write what was made ones";
    shared.detach();
    shared.attach(host);
    EXPECT_EQ(news(), News{}) << "still gone";
    shared.restore();
    EXPECT_EQ(news(), News{"in"});
    shared.detach();
    EXPECT_EQ(news(), News{"out"}) << "a board that was taken out in order has no power";
}

TEST_F(LossGateTest, AVanishedDeviceIsOnesInEveryDirection) {
    gate.vanish();
    EXPECT_EQ(gate.state(), LossGate::State::ones);
    EXPECT_EQ(engines.pause(), EngineScheduler::Pause::all);
    EXPECT_EQ(vanish_calls, 1);
    EXPECT_EQ(read(Region::bar5), ones);
    EXPECT_EQ(read(Region::bar0), ones);
    EXPECT_EQ(read(Region::config), ones);
    write(Region::bar5);
    write(Region::bar2);
    write(Region::config);
    EXPECT_EQ(function.reads, 0);
    EXPECT_TRUE(function.written.empty());
    EXPECT_TRUE(device_side->dma(0, 8, DmaAccess::write).empty());
    device_side->raise_msi(0);
    EXPECT_EQ(host.windows, 0);
    EXPECT_EQ(host.interrupts, 0);
    gate.reset();
    EXPECT_EQ(function.resets, 0);
}

TEST_F(LossGateTest, WhoStillAsksIsNamed) {
    read(Region::bar5, 4);
    gate.vanish();
    read(Region::config, 0);
    read(Region::bar5, 8);
    write(Region::bar2, 12);
    EXPECT_EQ(late(TraceKind::mmio_read), 1u);
    EXPECT_EQ(late(TraceKind::doorbell_write), 1u);
    EXPECT_EQ(late(TraceKind::config_read), 1u);
    EXPECT_EQ(total(TraceKind::mmio_read), 2u);
    ASSERT_EQ(gate.first_after_loss().size(), 2u) << "config space is only counted";
    EXPECT_EQ(gate.first_after_loss()[0].kind, TraceKind::mmio_read);
    EXPECT_EQ(gate.first_after_loss()[0].offset, 8u);
    EXPECT_EQ(gate.first_after_loss()[1].region, 2);
    for (int i = 0; i < 100; ++i) {
        read(Region::bar5);
    }
    EXPECT_EQ(gate.first_after_loss().size(), LossGate::first_accesses_kept);

    gate.restore();
    read(Region::bar5);
    EXPECT_EQ(late(TraceKind::mmio_read), 101u) << "the new board is none of it";
    gate.vanish();
    EXPECT_EQ(late(TraceKind::mmio_read), 0u);
    gate.reset_counters();
    EXPECT_EQ(total(TraceKind::mmio_read), 0u);
}

TEST_F(LossGateTest, ARestoredDeviceIsColdAndPresent) {
    gate.vanish();
    gate.restore();
    EXPECT_EQ(function.detachments, 1);
    EXPECT_EQ(function.attachments, 2);
    EXPECT_EQ(engines.pause(), EngineScheduler::Pause::none);
    EXPECT_EQ(read(Region::bar5), alive);
    EXPECT_EQ(watcher.seen, (std::vector<std::string>{"attached", "vanished 0", "restored"}));
}

TEST_F(LossGateTest, LossOutlivesTheClient) {
    gate.vanish();
    gate.detach();
    EXPECT_FALSE(gate.attached());
    ToyHost next;
    gate.attach(next);
    EXPECT_EQ(read(Region::bar5), ones);
    gate.detach();
    gate.restore();
    EXPECT_EQ(function.attachments, 2) << "nobody to reset it for";
    gate.attach(next);
    EXPECT_EQ(read(Region::bar5), alive);
    EXPECT_EQ(gate.attachments(), 3u);
}

TEST_F(LossGateTest, ItVanishesExactlyBeforeTheAccessNamed) {
    gate.triggers().vanish_after(4);
    EXPECT_EQ(read(Region::bar5), alive);                            // 1
    EXPECT_EQ(read(Region::config), alive);                          // does not count
    EXPECT_EQ(read(Region::bar0), alive);                            // does not count
    write(Region::bar2, 2);                                          // 2
    EXPECT_EQ(device_side->dma(0, 8, DmaAccess::read).size(), 8u);   // does not count
    EXPECT_EQ(device_side->dma(0, 8, DmaAccess::write).size(), 8u);  // 3
    EXPECT_EQ(gate.state(), LossGate::State::present);
    write(Region::bar5, 4);  // 4
    EXPECT_EQ(gate.state(), LossGate::State::ones);
    EXPECT_EQ(function.written, std::vector<uint64_t>{2});
    EXPECT_EQ(late(TraceKind::mmio_write), 1u);
    EXPECT_EQ(watcher.seen.back(), "vanished 3");
}

TEST_F(LossGateTest, ItVanishesSoManyAccessesBehindAReset) {
    gate.function_reset_asked();
    gate.triggers().vanish_after_reset(2);
    for (int access = 0; access < 10; ++access) {
        read(Region::bar5);
    }
    EXPECT_EQ(gate.state(), LossGate::State::present) << "no reset yet";
    gate.function_reset_asked();
    EXPECT_EQ(read(Region::bar5), alive);
    EXPECT_EQ(read(Region::bar5), ones);
    EXPECT_EQ(watcher.last.prefix->accesses, 1u);

    gate.restore();
    gate.function_reset_asked();
    for (int access = 0; access < 10; ++access) {
        read(Region::bar5);
    }
    EXPECT_EQ(gate.state(), LossGate::State::present) << "asked for once";
}

TEST_F(LossGateTest, ALossEndsTheWaitForAReset) {
    gate.triggers().vanish_after_reset(1);
    gate.vanish();
    gate.restore();
    gate.function_reset_asked();
    EXPECT_EQ(read(Region::bar5), alive);
    gate.triggers().vanish_after_reset(1);
    gate.triggers().vanish_after_reset(0);
    gate.function_reset_asked();
    EXPECT_EQ(read(Region::bar5), alive);
}

TEST_F(LossGateTest, TheAccessThatFoundNobodyIsNamed) {
    read(Region::bar5, 4);
    gate.triggers().vanish_after(3);
    read(Region::bar5, 8);
    write(Region::bar2, 16);
    write(Region::bar5, 12);
    ASSERT_TRUE(watcher.last.at && watcher.last.prefix);
    EXPECT_EQ(watcher.last.at->kind, TraceKind::mmio_write);
    EXPECT_EQ(watcher.last.at->region, static_cast<uint8_t>(Region::bar5));
    EXPECT_EQ(watcher.last.at->offset, 12u);
    EXPECT_EQ(watcher.last.prefix->accesses, 2u) << "those before vanish_after() do not count";

    gate.restore();
    gate.vanish();
    EXPECT_FALSE(watcher.last.at || watcher.last.prefix) << "nobody had asked for an access";
}

TEST_F(LossGateTest, EqualDigestsAreEqualSequences) {
    const auto digests = [&](auto&& work) {
        gate.triggers().vanish_after(1000);
        work();
        gate.vanish();
        gate.restore();
        device_side = function.host;
        return std::pair(watcher.last.prefix->digest, watcher.last.prefix->cpu_digest);
    };
    const auto a = [&] { read(Region::bar5, 4); };
    const auto b = [&] { write(Region::bar5, 4); };
    const auto c = [&] { read(Region::bar5, 8); };
    const auto dma = [&](uint64_t iova) { device_side->dma(iova, 8, DmaAccess::write); };
    const auto first = digests([&] { a(), dma(0), b(); });
    EXPECT_EQ(digests([&] { a(), dma(64), b(); }), first) << "addresses are the guest's choice";
    const auto later = digests([&] { a(), b(), dma(0); });
    EXPECT_NE(later.first, first.first);
    EXPECT_EQ(later.second, first.second) << "the CPU's accesses are the same";
    EXPECT_NE(digests([&] { b(), a(); }).second, first.second);
    EXPECT_NE(digests([&] { a(), c(); }).second, first.second);
    EXPECT_NE(digests([&] { a(), b(), b(); }).second, first.second);
}

/// A queue that waits is asked again by a timer: how often it has looked is chance.
TEST_F(LossGateTest, WhatAWaitingEngineReadsIsNoStep) {
    gate.triggers().vanish_after(3);
    read(Region::bar5, 4);
    for (int poll = 0; poll < 1000; ++poll) {
        EXPECT_FALSE(device_side->dma(0, 8, DmaAccess::read).empty());
    }
    EXPECT_FALSE(device_side->dma(0, 8, DmaAccess::write).empty());
    EXPECT_EQ(gate.state(), LossGate::State::present);
    EXPECT_EQ(total(TraceKind::dma_read), 1000u) << "it is seen all the same";
    read(Region::bar5, 8);
    EXPECT_EQ(gate.state(), LossGate::State::ones);
    EXPECT_EQ(watcher.last.prefix->accesses, 2u);
}

TEST_F(LossGateTest, ItCanVanishUnderADmaOfItsOwn) {
    gate.triggers().vanish_after(1);
    EXPECT_TRUE(device_side->dma(0, 8, DmaAccess::write).empty());
    EXPECT_EQ(gate.state(), LossGate::State::ones);
    EXPECT_EQ(host.windows, 0);
    EXPECT_EQ(total(TraceKind::dma_write), 0u);
}

TEST_F(LossGateTest, ItCanVanishWhenTheHostPutsItToSleep) {
    gate.vanish_asleep();
    write(Region::config, 4);
    EXPECT_EQ(gate.state(), LossGate::State::present) << "it is awake";
    function.sleeps = true;
    EXPECT_EQ(read(Region::bar5), alive);
    write(Region::config, 4);
    EXPECT_EQ(gate.state(), LossGate::State::ones);
    EXPECT_EQ(function.written, (std::vector<uint64_t>{4, 4})) << "the write arrived";
    EXPECT_EQ(late(TraceKind::config_write), 0u) << "it was made before the loss";

    gate.restore();
    write(Region::config, 4);
    EXPECT_EQ(gate.state(), LossGate::State::present) << "asked for once";
}

TEST_F(LossGateTest, OneThatSleepsVanishesAtOnce) {
    function.sleeps = true;
    gate.vanish_asleep();
    EXPECT_EQ(read(Region::bar5), ones);
    EXPECT_EQ(vanish_calls, 1);
}

TEST_F(LossGateTest, ItCanVanishBehindAReadOfConfigSpace) {
    gate.triggers().vanish_after_config(0x3c);
    EXPECT_EQ(read(Region::config, 0x38), alive);
    EXPECT_EQ(read(Region::bar5, 0x3c), alive);
    EXPECT_EQ(gate.state(), LossGate::State::present);
    EXPECT_EQ(read(Region::config, 0x3c), alive) << "this one is answered";
    EXPECT_EQ(gate.state(), LossGate::State::ones);
    EXPECT_EQ(late(TraceKind::config_read), 0u);

    gate.restore();
    EXPECT_EQ(read(Region::config, 0x3c), alive);
    EXPECT_EQ(gate.state(), LossGate::State::present) << "asked for once";
}

TEST_F(LossGateTest, VanishesAtTheReadOfARegister) {
    gate.triggers().vanish_at_read(0x40);
    EXPECT_EQ(read(Region::bar5, 0x44), alive);
    EXPECT_EQ(read(Region::config, 0x40), alive);
    EXPECT_EQ(read(Region::bar0, 0x40), alive);
    EXPECT_EQ(gate.state(), LossGate::State::present);
    EXPECT_EQ(read(Region::bar5, 0x40), ones);
    EXPECT_EQ(gate.state(), LossGate::State::ones);

    gate.restore();
    EXPECT_EQ(read(Region::bar5, 0x40), alive) << "asked for once";
}

TEST_F(LossGateTest, ZeroDisarms) {
    gate.triggers().vanish_after(1);
    gate.triggers().vanish_after(0);
    EXPECT_EQ(read(Region::bar5), alive);
}

TEST_F(LossGateTest, AHungDeviceAnswersAndDoesNothing) {
    ASSERT_TRUE(gate.hang());
    EXPECT_EQ(engines.pause(), EngineScheduler::Pause::hung);
    EXPECT_EQ(read(Region::bar5), alive);
    ASSERT_TRUE(gate.resume());
    EXPECT_EQ(engines.pause(), EngineScheduler::Pause::none);
    gate.vanish();
    EXPECT_FALSE(gate.hang());
    EXPECT_FALSE(gate.resume());
    EXPECT_FALSE(gate.flaky(1ms));
    EXPECT_EQ(gate.state(), LossGate::State::ones);
}

TEST_F(LossGateTest, AResetThatWasCarriedOutEndsAHang) {
    ASSERT_TRUE(gate.hang());
    gate.function_reset_asked();
    EXPECT_EQ(engines.pause(), EngineScheduler::Pause::hung) << "not with the question";
    gate.function_reset_done();
    EXPECT_EQ(gate.state(), LossGate::State::present);
    EXPECT_EQ(engines.pause(), EngineScheduler::Pause::none);
    ASSERT_TRUE(gate.hang(true));
    gate.function_reset_done();
    EXPECT_EQ(engines.pause(), EngineScheduler::Pause::hung) << "for good";
    ASSERT_TRUE(gate.resume());
    ASSERT_TRUE(gate.hang());
    gate.vanish();
    gate.function_reset_done();
    EXPECT_EQ(gate.state(), LossGate::State::ones) << "who is gone stays gone";
}

TEST_F(LossGateTest, AnotherBoardIsNotLate) {
    class : public Engine {
        Turn run(Budget&) override { return Turn::idle; }
        const char* name() const override { return "idle"; }
    } engine;
    gate.set_lateness(1h);
    engines.kick(engine);
    EXPECT_EQ(engines.turn(), hp::EventLoop::Idle::parked);
    gate.restore();
    EXPECT_EQ(engines.turn(), hp::EventLoop::Idle::done);
}

TEST_F(LossGateTest, AFlakyDeviceComesBackAsItWas) {
    ASSERT_TRUE(gate.hang());
    ASSERT_TRUE(gate.flaky(2ms));
    EXPECT_EQ(read(Region::bar5), ones);
    auto stop = loop.after(20ms, [this] { loop.stop(); });
    loop.run();
    EXPECT_EQ(read(Region::bar5), alive);
    EXPECT_EQ(gate.state(), LossGate::State::hung);
    EXPECT_EQ(function.attachments, 1) << "no cold reset";
    EXPECT_EQ(vanish_calls, 0) << "VRAM is kept";
}

TEST_F(LossGateTest, ADeviceThatIsNotReadySaysSo) {
    const auto config = [this](uint64_t offset, size_t size) {
        std::vector<std::byte> out(size);
        gate.read(Region::config, offset, out);
        return out;
    };
    const auto bytes = [](std::initializer_list<int> values) {
        std::vector<std::byte> made;
        for (const int value : values) {
            made.push_back(static_cast<std::byte>(value));
        }
        return made;
    };
    ASSERT_TRUE(gate.not_ready(2ms));
    EXPECT_EQ(config(0, 4), bytes({0x01, 0x00, 0xff, 0xff}));
    EXPECT_EQ(config(0, 2), bytes({0x01, 0x00}));
    EXPECT_EQ(config(0, 1), bytes({0xff})) << "not both bytes of the Vendor ID";
    EXPECT_EQ(config(4, 4), bytes({0xff, 0xff, 0xff, 0xff}));
    EXPECT_EQ(read(Region::bar5), ones);
    auto stop = loop.after(20ms, [this] { loop.stop(); });
    loop.run();
    EXPECT_EQ(read(Region::bar5), alive);

    ASSERT_TRUE(gate.not_ready(1h));
    gate.vanish();
    EXPECT_EQ(config(0, 4), bytes({0xff, 0xff, 0xff, 0xff})) << "taken away for good";
    gate.restore();
    ASSERT_TRUE(gate.flaky(1h));
    EXPECT_EQ(config(0, 4), bytes({0xff, 0xff, 0xff, 0xff})) << "silent";
}

TEST_F(LossGateTest, AFlakyDeviceCanBeTakenAwayForGood) {
    ASSERT_TRUE(gate.flaky(2ms));
    gate.vanish();
    auto stop = loop.after(20ms, [this] { loop.stop(); });
    loop.run();
    EXPECT_EQ(gate.state(), LossGate::State::ones);
    EXPECT_EQ(vanish_calls, 1);
}

TEST_F(LossGateTest, InterruptsAreLostAndDoubled) {
    gate.loss().drop_interrupts(2);
    gate.loss().duplicate_interrupts(1);
    for (int i = 0; i < 4; ++i) {
        device_side->raise_msi(0);
    }
    EXPECT_EQ(host.interrupts, 3) << "two lost, one twice, one as it should be";
}

TEST_F(LossGateTest, AnInterruptThatNobodyReceivesIsNone) {
    host.listens = false;
    EXPECT_FALSE(device_side->raise_msi(0));
    EXPECT_EQ(total(TraceKind::interrupt), 0u);
    host.listens = true;
    gate.loss().drop_interrupts(1);
    EXPECT_FALSE(device_side->raise_msi(0)) << "dropped on its way";
    EXPECT_EQ(total(TraceKind::interrupt), 0u);
    EXPECT_TRUE(device_side->raise_msi(0));
    EXPECT_EQ(total(TraceKind::interrupt), 1u);
}

TEST_F(LossGateTest, WhatSurvivesInABlackHoleIsItsConfigSpace) {
    LossGate hole(function, engines, loop,
                  {.trace = nullptr, .on_vanish = {}, .config_survives = true});
    hole.vanish();
    hole.attach(host);
    std::array<std::byte, 4> raw{};
    hole.read(Region::config, 0, raw);
    EXPECT_EQ(raw[0], ToyFunction::pattern);
    hole.read(Region::bar5, 0, raw);
    EXPECT_EQ(raw[0], std::byte{0xff});
    ASSERT_EQ(hole.first_after_loss().size(), 1u);
}

TEST_F(LossGateTest, TheTraceTellsTheStoryInOrder) {
    const hp::TempTree tree;
    const std::string path = tree.root() / "trace";
    {
        AccessTrace trace(path, "toy");
        LossGate traced(function, engines, loop,
                        {.trace = &trace, .on_vanish = {}, .config_survives = false});
        traced.attach(host);
        std::array<std::byte, 4> raw{};
        traced.read(Region::bar5, 0x40, raw);
        traced.write(Region::bar2, 8, raw);
        function.host->dma(0x1000, 100, DmaAccess::read);
        traced.vanish();
        traced.restore();
        traced.detach();
    }
    auto reader = TraceReader::open(path);
    ASSERT_TRUE(reader);
    std::vector<TraceRecord> records;
    while (const auto record = reader->next()) {
        records.push_back(*record);
    }
    ASSERT_EQ(records.size(), 7u);
    EXPECT_EQ(records[0].kind, TraceKind::attached);
    EXPECT_EQ(records[1].kind, TraceKind::mmio_read);
    EXPECT_EQ(records[1].offset, 0x40u);
    EXPECT_EQ(records[1].value, alive);
    EXPECT_EQ(records[2].kind, TraceKind::doorbell_write);
    EXPECT_EQ(records[3].kind, TraceKind::dma_read);
    EXPECT_EQ(records[3].value, 100u) << "asked for";
    EXPECT_EQ(records[3].size, 64u) << "granted";
    EXPECT_EQ(records[4].kind, TraceKind::vanished);
    EXPECT_EQ(records[5].kind, TraceKind::restored);
    EXPECT_EQ(records[6].kind, TraceKind::detached);
}

}  // namespace
}  // namespace gpuemu
