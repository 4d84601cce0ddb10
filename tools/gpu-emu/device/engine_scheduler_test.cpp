// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/device/engine_scheduler.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>

namespace gpuemu {
namespace {

using Idle = hp::EventLoop::Idle;

class ScriptedEngine : public Engine {
public:
    Turn run(Budget&) override {
        ++runs;
        if (during_run) {
            during_run();
        }
        return answer;
    }
    const char* name() const override { return called; }
    bool outlives_a_hang() const override { return is_firmware; }

    Turn answer = Turn::idle;
    int runs = 0;
    bool is_firmware = false;
    const char* called = "scripted";
    std::function<void()> during_run;
};

TEST(EngineScheduler, AnEngineRunsWhenKickedAndNotOtherwise) {
    EngineScheduler scheduler;
    ScriptedEngine engine;
    EXPECT_EQ(scheduler.turn(), Idle::done);
    scheduler.kick(engine);
    scheduler.kick(engine);
    EXPECT_EQ(scheduler.turn(), Idle::done);
    EXPECT_EQ(engine.runs, 1);
    EXPECT_EQ(scheduler.turn(), Idle::done);
    EXPECT_EQ(engine.runs, 1);
}

TEST(EngineScheduler, AnEngineWithMoreWorkComesAgain) {
    EngineScheduler scheduler;
    ScriptedEngine engine;
    engine.answer = Engine::Turn::more;
    scheduler.kick(engine);
    EXPECT_EQ(scheduler.turn(), Idle::more);
    engine.answer = Engine::Turn::idle;
    EXPECT_EQ(scheduler.turn(), Idle::done);
    EXPECT_EQ(engine.runs, 2);
}

TEST(EngineScheduler, AParkedEngineIsAskedEveryTurnUntilItGoesOn) {
    EngineScheduler scheduler;
    ScriptedEngine parked;
    ScriptedEngine busy;
    parked.answer = Engine::Turn::parked;
    busy.answer = Engine::Turn::more;
    scheduler.kick(parked);
    scheduler.kick(busy);
    EXPECT_EQ(scheduler.turn(), Idle::more) << "work goes before waiting";
    busy.answer = Engine::Turn::idle;
    EXPECT_EQ(scheduler.turn(), Idle::parked);
    parked.answer = Engine::Turn::idle;
    EXPECT_EQ(scheduler.turn(), Idle::done);
    EXPECT_EQ(parked.runs, 3);
    EXPECT_EQ(busy.runs, 2);
}

TEST(EngineScheduler, AKickInTheMiddleOfATurnIsNotLost) {
    EngineScheduler scheduler;
    ScriptedEngine first;
    ScriptedEngine second;
    first.during_run = [&] {
        if (first.runs == 1) {
            scheduler.kick(first);
            scheduler.kick(second);
        }
    };
    scheduler.kick(first);
    EXPECT_EQ(scheduler.turn(), Idle::more);
    EXPECT_EQ(second.runs, 0);
    EXPECT_EQ(scheduler.turn(), Idle::done);
    EXPECT_EQ(first.runs, 2);
    EXPECT_EQ(second.runs, 1);
}

TEST(EngineScheduler, WhilePausedNothingRunsAndNothingIsForgotten) {
    EngineScheduler scheduler;
    ScriptedEngine first;
    ScriptedEngine second;
    first.during_run = [&] { scheduler.set_pause(EngineScheduler::Pause::all); };
    scheduler.kick(first);
    scheduler.kick(second);
    EXPECT_EQ(scheduler.turn(), Idle::done) << "a paused loop must not spin";
    EXPECT_EQ(first.runs, 1);
    EXPECT_EQ(second.runs, 0);
    EXPECT_EQ(scheduler.turn(), Idle::done);
    EXPECT_EQ(second.runs, 0);
    scheduler.set_pause(EngineScheduler::Pause::none);
    EXPECT_EQ(scheduler.turn(), Idle::done);
    EXPECT_EQ(second.runs, 1);
}

TEST(EngineScheduler, ALateEngineBeginsLate) {
    using Clock = hp::EventLoop::Clock;
    constexpr std::chrono::milliseconds late(20);
    EngineScheduler scheduler;
    ScriptedEngine engine;
    ScriptedEngine firmware;
    firmware.is_firmware = true;
    scheduler.set_lateness(late);
    const auto kicked = Clock::now();
    scheduler.kick(engine);
    scheduler.kick(firmware);
    EXPECT_EQ(scheduler.turn(), Idle::parked) << "there is something to come back for";
    EXPECT_EQ(firmware.runs, 1);
    scheduler.kick(engine);  // which does not put it off
    engine.during_run = [&] { EXPECT_GE(Clock::now() - kicked, late); };
    while (scheduler.turn() == Idle::parked) {
    }
    EXPECT_EQ(engine.runs, 1);
    EXPECT_EQ(scheduler.turn(), Idle::done);
    engine.answer = Engine::Turn::more;
    scheduler.set_lateness(std::chrono::microseconds(0));
    scheduler.kick(engine);
    EXPECT_EQ(scheduler.turn(), Idle::more);
    EXPECT_EQ(engine.runs, 2);
}

TEST(EngineScheduler, OnlyTheEnginesThatAreNamedAreLate) {
    EngineScheduler scheduler;
    ScriptedEngine copies;
    ScriptedEngine computes;
    copies.called = "sdma1";
    computes.called = "mec0";
    scheduler.set_lateness(std::chrono::hours(1), "sdma");
    scheduler.kick(copies);
    scheduler.kick(computes);
    EXPECT_EQ(scheduler.turn(), Idle::parked);
    EXPECT_EQ(copies.runs, 0);
    EXPECT_EQ(computes.runs, 1);
    scheduler.set_lateness(std::chrono::hours(1));
    scheduler.kick(computes);
    EXPECT_EQ(scheduler.turn(), Idle::parked);
    EXPECT_EQ(computes.runs, 1) << "nobody is named: that is all of them";
}

TEST(EngineScheduler, ALateEngineThatAnotherOneKicksIsNotForgotten) {
    EngineScheduler scheduler;
    ScriptedEngine first;
    ScriptedEngine second;
    scheduler.kick(first);
    scheduler.set_lateness(std::chrono::hours(1));
    first.during_run = [&] { scheduler.kick(second); };
    EXPECT_EQ(scheduler.turn(), Idle::parked);
    EXPECT_EQ(second.runs, 0);
    scheduler.set_lateness(std::chrono::hours(0));
    EXPECT_EQ(scheduler.turn(), Idle::done);
    EXPECT_EQ(second.runs, 1);
}

TEST(EngineScheduler, FirmwareOutlivesAHang) {
    EngineScheduler scheduler;
    ScriptedEngine engine;
    ScriptedEngine firmware;
    firmware.is_firmware = true;
    scheduler.set_pause(EngineScheduler::Pause::hung);
    scheduler.kick(engine);
    scheduler.kick(firmware);
    EXPECT_EQ(scheduler.turn(), Idle::done) << "who hangs makes no work";
    EXPECT_EQ(firmware.runs, 1);
    EXPECT_EQ(engine.runs, 0);
    scheduler.set_pause(EngineScheduler::Pause::none);
    EXPECT_EQ(scheduler.turn(), Idle::done);
    EXPECT_EQ(engine.runs, 1);
}

}  // namespace
}  // namespace gpuemu
