// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of PeerVram and Presence, with both sides in one process, and of what a peer that
// means harm may hand over.
// Thread: the test's.
// Does not model: nothing.
#include "gpu-emu/peers/peer_vram.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "gpu-emu/mem/vram.h"
#include "gpu-emu/peers/presence.h"

namespace gpuemu {
namespace {

constexpr uint64_t mib = 1u << 20;

/// As it arrives over a socket.
hp::Fd copy(int fd) {
    return hp::Fd(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
}

hp::Fd memfd(uint64_t bytes, int seals) {
    hp::Fd fd(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    EXPECT_EQ(::ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
    EXPECT_EQ(::fcntl(fd.get(), F_ADD_SEALS, seals), 0);
    return fd;
}

TEST(PeerVram, IsTheMemoryOfTheOtherSide) {
    Vram vram(4 * mib);
    Presence presence;
    auto peer = PeerVram::map(copy(vram.fd()), copy(presence.fd()), 16 * mib);
    ASSERT_TRUE(peer) << peer.error().message;
    vram.window(3 * mib, 1)[0] = std::byte{0x5a};
    EXPECT_EQ(peer->window(3 * mib, 1)[0], std::byte{0x5a});
    peer->window(3 * mib, 1)[0] = std::byte{0xa5};
    EXPECT_EQ(vram.window(3 * mib, 1)[0], std::byte{0xa5});
    EXPECT_EQ(peer->window(4 * mib - 8, 64).size(), 8u);
    EXPECT_TRUE(peer->window(4 * mib, 1).empty());
    EXPECT_TRUE(peer->window(~0ull, 1).empty());
    Vram::Fill fill;
    EXPECT_TRUE(vram.fill_resident_with_ones(fill, ~uint64_t{0}));
    EXPECT_EQ(peer->window(3 * mib, 1)[0], std::byte{0xff});
    vram.lose_contents();
    EXPECT_EQ(peer->window(3 * mib, 1)[0], std::byte{0}) << "a hole is no end of the file";
}

TEST(PeerVram, ComingAndGoingIsSeenAtOnce) {
    const Vram vram(mib);
    Presence presence;
    auto peer = PeerVram::map(copy(vram.fd()), copy(presence.fd()), mib);
    ASSERT_TRUE(peer) << peer.error().message;
    EXPECT_FALSE(peer->present());
    presence.set(true);
    EXPECT_TRUE(peer->present());
    PeerVram moved = std::move(*peer);
    presence.set(false);
    EXPECT_FALSE(moved.present());
}

TEST(PeerVram, OutlivesTheOtherSide) {
    std::optional<PeerVram> peer;
    {
        const Vram vram(mib);
        Presence presence;
        auto mapped = PeerVram::map(copy(vram.fd()), copy(presence.fd()), mib);
        ASSERT_TRUE(mapped) << mapped.error().message;
        peer.emplace(std::move(*mapped));
    }
    EXPECT_FALSE(peer->present());
    EXPECT_EQ(peer->window(mib - 1, 1)[0], std::byte{0});
}

TEST(PeerVram, NobodyButItsOwnerWritesPresence) {
    const Presence presence;
    EXPECT_EQ(::mmap(nullptr, presence_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, presence.fd(), 0),
              MAP_FAILED);
    EXPECT_EQ(::pwrite(presence.fd(), "\1", 1, 0), -1);
    EXPECT_EQ(::ftruncate(presence.fd(), 0), -1);
}

TEST(PeerVram, VramCannotBeShortened) {
    const Vram vram(mib);
    EXPECT_EQ(::ftruncate(vram.fd(), 4096), -1);
    EXPECT_EQ(::ftruncate(vram.fd(), 2 * mib), -1);
}

TEST(PeerVram, WhatCouldBeASignalLaterIsRefused) {
    const Vram vram(mib);
    const Presence presence;
    const hp::Fd good_vram = copy(vram.fd()), good_presence = copy(presence.fd());
    ASSERT_TRUE(PeerVram::map(good_vram, good_presence, mib));
    EXPECT_FALSE(PeerVram::map(good_vram, good_presence, mib - 1)) << "more than a segment";
    EXPECT_FALSE(PeerVram::map(memfd(mib, F_SEAL_GROW), good_presence, mib));
    EXPECT_FALSE(PeerVram::map(memfd(0, F_SEAL_SHRINK), good_presence, mib));
    EXPECT_FALSE(PeerVram::map(good_vram, memfd(presence_bytes, F_SEAL_GROW), mib));
    EXPECT_FALSE(PeerVram::map(good_vram, memfd(8, F_SEAL_SHRINK), mib));
    const hp::Fd null(::open("/dev/zero", O_RDWR | O_CLOEXEC));
    EXPECT_FALSE(PeerVram::map(null, good_presence, mib));
    EXPECT_FALSE(PeerVram::map(good_vram, null, mib));
    // Memory that may not be written is none.
    EXPECT_FALSE(PeerVram::map(memfd(mib, F_SEAL_SHRINK | F_SEAL_WRITE), good_presence, mib));
}

TEST(PeerVram, NoPeerFillsTheAddressSpace) {
    constexpr uint64_t tib = 1ull << 40;
    const Presence presence;
    const hp::Fd good_presence = copy(presence.fd());
    EXPECT_TRUE(PeerVram::map(memfd(tib, F_SEAL_SHRINK), good_presence, UINT64_MAX));
    EXPECT_FALSE(PeerVram::map(memfd(2 * tib, F_SEAL_SHRINK), good_presence, UINT64_MAX));
}

}  // namespace
}  // namespace gpuemu
