// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of HivePort: ports that meet, come and go, on one loop, and clients that are none.
// Thread: the test's.
// Does not model: nothing.
#include "gpu-emu/peers/hive_port.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>

#include "lib/fd_passing.h"
#include "lib/run_until.h"
#include "lib/temp_tree.h"

namespace gpuemu {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t mib = 1u << 20;
constexpr uint64_t segment = 16 * mib;

/// A GPU as far as its peers can tell.
struct Member {
    Member(hp::EventLoop& loop, const std::string& directory, unsigned node, unsigned nodes = 2,
           uint64_t vram_bytes = mib)
        : vram(vram_bytes),
          port(loop, directory, {.nodes = nodes, .node = node, .segment_bytes = segment}) {
        port.open(vram);
        port.set_present(true);
    }

    Vram vram;
    HivePort port;
};

class HivePortTest : public testing::Test {
protected:
    std::unique_ptr<Member> join(unsigned node, unsigned nodes = 2, uint64_t vram_bytes = mib) {
        return std::make_unique<Member>(loop, directory, node, nodes, vram_bytes);
    }

    bool wait_until(const std::function<bool()>& condition) {
        return hp::run_until(loop, condition);
    }

    static std::vector<unsigned> nodes(std::initializer_list<unsigned> list) { return list; }

    hp::Fd stranger(unsigned node) const {
        auto socket = hp::connect_unix(directory + "/node" + std::to_string(node) + ".xgmi", 10s);
        EXPECT_TRUE(socket) << socket.error().message;
        return socket ? std::move(*socket) : hp::Fd();
    }
    /// Waits until the port has accepted the connection.
    bool is_accepted(const hp::Fd& socket) {
        return wait_until([&] {
            std::byte first{};
            return ::recv(socket.get(), &first, 1, MSG_DONTWAIT | MSG_PEEK) == 1;
        });
    }
    /// Waits until the port has ended the connection.
    bool is_thrown_out(const hp::Fd& socket) {
        return wait_until([&] {
            std::array<char, 64> bytes{};
            ssize_t got = 0;
            while ((got = ::recv(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT)) > 0) {
            }
            return got == 0 || errno == ECONNRESET;
        });
    }

    const hp::TempTree folder;
    const std::string directory = folder.root();
    hp::EventLoop loop;
};

TEST_F(HivePortTest, MembersReachEachOthersMemory) {
    const auto first = join(0);
    EXPECT_EQ(first->port.present_peers(), nodes({}));
    const auto second = join(1, 2, 2 * mib);
    ASSERT_TRUE(wait_until([&] {
        return first->port.present_peers() == nodes({1}) &&
               second->port.present_peers() == nodes({0});
    }));
    const auto there = first->port.window(1, 2 * mib - 8, 64, true);
    ASSERT_EQ(there.size(), 8u);
    there[3] = std::byte{0x77};
    EXPECT_EQ(second->vram.window(2 * mib - 5, 1)[0], std::byte{0x77});
    EXPECT_TRUE(first->port.window(1, 2 * mib, 1, false).empty());
    first->vram.window(0x1234, 1)[0] = std::byte{0x11};
    EXPECT_EQ(second->port.window(0, 0x1234, 1, false)[0], std::byte{0x11});
    EXPECT_EQ(second->port.traffic().reads, 1u);
    EXPECT_EQ(first->port.traffic().writes, 1u);
    EXPECT_EQ(first->port.traffic().absent, 0u);
}

TEST_F(HivePortTest, OneThatVanishesIsOnesFromThatMoment) {
    const auto first = join(0), second = join(1);
    ASSERT_TRUE(wait_until([&] { return first->port.present_peers() == nodes({1}); }));
    second->vram.window(0x2000, 1)[0] = std::byte{0x42};
    second->port.set_present(false);  // no turn of the loop from here on
    const auto read = first->port.window(1, 0x2000, 64, false);
    ASSERT_EQ(read.size(), 64u);
    EXPECT_TRUE(std::ranges::all_of(read, [](std::byte byte) { return byte == std::byte{0xff}; }));
    const auto write = first->port.window(1, 0x2000, 64, true);
    ASSERT_EQ(write.size(), 64u);
    EXPECT_NE(write.data(), read.data()) << "a copy between two of them has a source and a target";
    std::ranges::fill(write, std::byte{0x13});
    EXPECT_EQ(second->vram.window(0x2000, 1)[0], std::byte{0x42});
    EXPECT_EQ(first->port.window(1, 0x2000, 1, false)[0], std::byte{0xff});
    EXPECT_EQ(first->port.window(1, 0x2000, 1, true)[0], std::byte{0xff}) << "an atomic reads too";
    EXPECT_EQ(first->port.traffic().absent, 4u);
    second->port.set_present(true);
    EXPECT_EQ(first->port.window(1, 0x2000, 1, false)[0], std::byte{0x42});
}

TEST_F(HivePortTest, WhereNobodyIsWindowsKeepTheirAlignment) {
    const auto first = join(0);
    const auto at_end = first->port.window(1, 0x1ff8, 64, false);
    EXPECT_EQ(at_end.size(), 8u) << "cut at the page";
    EXPECT_EQ(reinterpret_cast<uintptr_t>(at_end.data()) % 4096, 0xff8u);
    EXPECT_EQ(first->port.window(1, segment - 1, 1, false).size(), 1u);
}

TEST_F(HivePortTest, OneThatEndsIsGoneAndItsSuccessorIsFound) {
    const auto first = join(0);
    auto second = join(1);
    ASSERT_TRUE(wait_until([&] { return first->port.present_peers() == nodes({1}); }));
    second.reset();
    EXPECT_EQ(first->port.window(1, 0, 1, false)[0], std::byte{0xff}) << "before the loop knows";
    second = join(1, 2, 4 * mib);
    second->vram.window(3 * mib, 1)[0] = std::byte{0x99};
    ASSERT_TRUE(wait_until([&] { return first->port.present_peers() == nodes({1}); }));
    EXPECT_EQ(first->port.window(1, 3 * mib, 1, false)[0], std::byte{0x99});
    ASSERT_TRUE(wait_until([&] { return second->port.present_peers() == nodes({0}); }));
}

TEST_F(HivePortTest, AHiveMayHaveMoreThanTwo) {
    const auto a = join(0, 3), b = join(1, 3), c = join(2, 3);
    ASSERT_TRUE(wait_until([&] {
        return a->port.present_peers() == nodes({1, 2}) &&
               b->port.present_peers() == nodes({0, 2}) && c->port.present_peers() == nodes({0, 1});
    }));
    b->port.set_present(false);
    EXPECT_EQ(a->port.present_peers(), nodes({2}));
}

TEST_F(HivePortTest, ASeatIsTakenOnce) {
    const auto first = join(0);
    EXPECT_THROW(join(0), std::runtime_error);
    EXPECT_TRUE(std::filesystem::exists(directory + "/node0.xgmi"));
}

TEST_F(HivePortTest, StartsBesideOneWhoDoesNotAccept) {
    auto busy = hp::UnixListener::open(directory + "/node0.xgmi");
    ASSERT_TRUE(busy) << busy.error().message;
    std::vector<hp::Fd> waiting;
    auto socket = hp::try_connect_unix(busy->path());
    while (socket && waiting.size() < 4096) {
        waiting.push_back(std::move(*socket));
        socket = hp::try_connect_unix(busy->path());
    }
    ASSERT_FALSE(socket) << "its backlog is full";
    const auto second = join(1, 3);
    const auto third = join(2, 3);
    EXPECT_TRUE(wait_until([&] { return second->port.present_peers() == nodes({2}); }));
}

TEST_F(HivePortTest, ThoseOfAnotherHiveAreNoPeers) {
    const auto first = join(0);
    const auto other = join(1, 3);  // connects to the first
    ASSERT_EQ(other->port.connections(), 1u);
    // Each of the two hears the other, finds it a stranger, and ends the connection.
    std::vector<unsigned> met;
    ASSERT_TRUE(wait_until([&] {
        for (const auto& member : {first.get(), other.get()}) {
            const auto peers = member->port.present_peers();
            met.insert(met.end(), peers.begin(), peers.end());
        }
        return other->port.connections() == 0 && first->port.connections() == 0;
    }));
    EXPECT_EQ(met, nodes({}));
}

TEST_F(HivePortTest, StrangersAreThrownOutAndTheRestGoesOn) {
    const auto first = join(0);
    const auto silent = stranger(0);  // may stay, as somebody who has not spoken yet
    const auto short_of_words = stranger(0);
    ASSERT_EQ(::send(short_of_words.get(), "XGM", 3, 0), 3);
    EXPECT_TRUE(is_thrown_out(short_of_words));
    const auto garbage = stranger(0);
    const std::array<char, 4096> zeros{};
    ASSERT_EQ(::send(garbage.get(), zeros.data(), zeros.size(), 0),
              static_cast<ssize_t>(zeros.size()));
    EXPECT_TRUE(is_thrown_out(garbage));
    { const auto goes_at_once = stranger(0); }
    const auto second = join(1);
    EXPECT_TRUE(wait_until([&] { return first->port.present_peers() == nodes({1}); }));
}

TEST_F(HivePortTest, ManyWhoSayNothingKeepNobodyOut) {
    const auto first = join(0, 3), second = join(1, 3);
    ASSERT_TRUE(wait_until([&] { return first->port.present_peers() == nodes({1}); }));
    std::vector<hp::Fd> silent;
    for (int count = 0; count < 100; ++count) {
        silent.push_back(stranger(0));
        if (count % 5 == 4) {  // the backlog is short
            ASSERT_TRUE(is_accepted(silent.back()));
        }
    }
    EXPECT_TRUE(is_thrown_out(silent.front())) << "the oldest";
    const auto third = join(2, 3);
    EXPECT_TRUE(wait_until([&] {
        return first->port.present_peers() == nodes({1, 2});
    })) << "who speaks is kept, and let in";
}

/// An introduction that is right but for its words or its descriptors.
class LiarTest : public HivePortTest {
protected:
    struct Words {
        uint32_t magic = 0x52454550, node = 1, nodes = 2, reserved = 0;
        uint64_t segment_bytes = segment;
    };

    bool is_believed(const Words& words, const std::vector<int>& fds) {
        const auto first = join(0);
        const hp::Fd socket = stranger(0);
        const auto bytes = std::as_bytes(std::span(&words, 1));
        EXPECT_EQ(hp::send_with_fds(socket.get(), bytes, fds, 0), ssize_t{sizeof words});
        presence.set(true);
        bool believed = false;
        EXPECT_TRUE(wait_until([&] {
            believed = first->port.present_peers() == nodes({1});
            std::array<char, 64> bytes{};
            return believed ||
                   (::recv(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) == 0);
        }));
        return believed;
    }

    Vram vram{mib};
    Presence presence;
};

TEST_F(LiarTest, TheTruthIsBelieved) {
    EXPECT_TRUE(is_believed({}, {vram.fd(), presence.fd()}));
}

TEST_F(LiarTest, NothingElseIs) {
    const std::vector<int> good{vram.fd(), presence.fd()};
    EXPECT_FALSE(is_believed({.magic = 1}, good));
    EXPECT_FALSE(is_believed({.node = 0}, good)) << "the place of who is asked";
    EXPECT_FALSE(is_believed({.node = 2}, good));
    EXPECT_FALSE(is_believed({.nodes = 8}, good));
    EXPECT_FALSE(is_believed({.segment_bytes = mib}, good));
    EXPECT_FALSE(is_believed({}, {}));
    EXPECT_FALSE(is_believed({}, {vram.fd()}));
    EXPECT_FALSE(is_believed({}, {vram.fd(), presence.fd(), presence.fd()}));
    EXPECT_FALSE(is_believed({}, {presence.fd(), vram.fd()}));
    Vram large(2 * segment);
    EXPECT_FALSE(is_believed({}, {large.fd(), presence.fd()}));
}

}  // namespace
}  // namespace gpuemu
