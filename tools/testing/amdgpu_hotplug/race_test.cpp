// SPDX-License-Identifier: GPL-2.0
// Threads that race on one GPU's state. Under ThreadSanitizer the plain variables judge as well:
// what the state machine says to exclude, or to order, must be seen so by it. Each round is a GPU's
// life.
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <functional>
#include <thread>
#include <vector>

#include "testing/amdgpu_hotplug/state_calls.h"

namespace hp {
namespace {

constexpr const hotplug_calls& calls = hotplug_state_calls;
constexpr int rounds = 300;

/// Runs the threads side by side, all begin each round together; `judge` looks at what a round
/// left, `renew` is before the next.
void race(const std::vector<std::function<void()>>& bodies,
          const std::function<void()>& judge_and_renew) {
    std::barrier together(static_cast<std::ptrdiff_t>(bodies.size()));
    std::barrier apart(static_cast<std::ptrdiff_t>(bodies.size()),
                       [&]() noexcept { judge_and_renew(); });
    std::vector<std::jthread> threads;
    for (const auto& body : bodies) {
        threads.emplace_back([&] {
            for (int round = 0; round < rounds; ++round) {
                together.arrive_and_wait();
                body();
                apart.arrive_and_wait();
            }
        });
    }
}

TEST(HotplugRace, LossResetRemovalAndClients) {
    int word = 0;
    int hardware =
        0;  // plain: resets and teardown write it, and nothing but the state keeps them apart
    int removed = 0;
    std::atomic<int> announced = 0;
    std::atomic<int> admitted_late = 0;
    std::atomic<bool> tearing_down = false;
    int lost_rounds = 0, orderly_rounds = 0;

    const auto lose = [&] { announced += calls.lose(&word); };
    const auto reset = [&] {
        if (calls.reset_begin(&word)) {
            ++hardware;
            calls.reset_end(&word);
        }
    };
    const auto remove = [&] {
        EXPECT_NE(calls.remove_begin(&word), HOTPLUG_PRESENT);
        while (calls.resetting(&word)) {
            std::this_thread::yield();
        }
        tearing_down = true;
        hardware = -1;
        removed += calls.remove_end(&word);
    };
    const auto client = [&] {
        const bool late = tearing_down;
        admitted_late += late && calls.admits(&word);
    };
    race({lose, lose, reset, reset, remove, client, client}, [&] {
        EXPECT_EQ(word, HOTPLUG_GONE);
        EXPECT_EQ(hardware, -1);
        EXPECT_EQ(removed, 1);
        EXPECT_LE(announced, 1);
        EXPECT_EQ(admitted_late, 0);
        ++(announced == 1 ? lost_rounds : orderly_rounds);
        word = hardware = removed = 0;
        announced = 0;
        tearing_down = false;
    });
    EXPECT_EQ(lost_rounds + orderly_rounds, rounds);
    EXPECT_GT(lost_rounds, 0);
}

TEST(HotplugRace, WhoSeesTheLossSeesWhatCameBeforeIt) {
    int word = 0;
    int reason = 0;  // plain: written before the loss, read after it
    int seen = 0;
    race({[&] {
              reason = 42;
              EXPECT_EQ(calls.lose(&word), 1);
          },
          [&] {
              while (calls.may_access(&word)) {
                  std::this_thread::yield();
              }
              seen = reason;
          }},
         [&] {
             EXPECT_EQ(seen, 42);
             word = reason = seen = 0;
         });
}

TEST(HotplugRace, RemovalSeesWhatTheResetDid) {
    int word = 0;
    int hardware = 0;
    int resets = 0, seen = 0;
    race({[&] {
              if (calls.reset_begin(&word)) {
                  hardware = 7;
                  EXPECT_NE(calls.reset_end(&word), HOTPLUG_GONE);
                  ++resets;
              }
          },
          [&] {
              EXPECT_EQ(calls.remove_begin(&word), HOTPLUG_REMOVING);
              while (calls.resetting(&word)) {
                  std::this_thread::yield();
              }
              seen = hardware;
              EXPECT_EQ(calls.remove_end(&word), 1);
          }},
         [&] {
             EXPECT_EQ(seen, resets * 7);
             word = hardware = resets = seen = 0;
         });
}

}  // namespace
}  // namespace hp
