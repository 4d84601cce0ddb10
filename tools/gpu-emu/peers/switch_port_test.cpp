// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of SwitchPort: two GPUs as far as a switch can tell, on one loop.
// Thread: the test's.
// Does not model: nothing.
#include "gpu-emu/peers/switch_port.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>

#include "lib/run_until.h"
#include "lib/temp_tree.h"

namespace gpuemu {
namespace {

constexpr uint64_t mib = 1u << 20;
constexpr uint64_t guest_memory = 0x1000;
constexpr uint64_t first_bar = 0x38'0000'0000, second_bar = 0x39'0000'0000;

/// The guest's side: a page of memory, and the messages.
class Guest : public PciHost {
public:
    std::span<std::byte> dma(uint64_t iova, uint64_t length, DmaAccess) override {
        if (iova - guest_memory >= page.size()) {
            return {};
        }
        const auto rest = std::span(page).subspan(iova - guest_memory);
        return rest.first(std::min<uint64_t>(length, rest.size()));
    }
    bool raise_msi(unsigned vector) override {
        last_msi = vector;
        return true;
    }

    std::array<std::byte, 4096> page{};
    unsigned last_msi = 0;
};

/// Configuration space that remembers, and a host that is handed on.
class Function : public PciFunction {
public:
    RegionInfo region_info(Region) const override { return {.size = 256}; }
    unsigned msi_vectors() const override { return 4; }
    void read(Region, uint64_t offset, std::span<std::byte> out) override {
        std::memcpy(out.data(), config.data() + offset, out.size());
    }
    void write(Region, uint64_t offset, std::span<const std::byte> in) override {
        std::memcpy(config.data() + offset, in.data(), in.size());
    }
    void attach(PciHost& given) override { host = &given; }
    void detach() override { host = nullptr; }
    void reset() override { config.fill(std::byte{0}); }
    bool asleep() const override { return true; }

    std::array<std::byte, 256> config{};
    PciHost* host = nullptr;
};

struct Member {
    Member(hp::EventLoop& loop, const std::string& directory, unsigned node)
        : vram(mib), port(function, function, loop, directory, node) {
        port.open(vram);
        port.attach(guest);
        port.set_present(true);
    }

    template <typename T>
    void write_config(uint64_t offset, T value) {
        port.write(Region::config, offset, std::as_bytes(std::span(&value, 1)));
    }
    void place_at(uint64_t bar0) {
        write_config<uint16_t>(4, 0);
        write_config<uint32_t>(0x10, static_cast<uint32_t>(bar0) | 0xc);
        write_config<uint32_t>(0x14, static_cast<uint32_t>(bar0 >> 32));
        write_config<uint16_t>(4, 6);
    }
    std::span<std::byte> dma(uint64_t address, uint64_t length,
                             DmaAccess access = DmaAccess::read) {
        return function.host->dma(address, length, access);
    }

    Vram vram;
    Guest guest;
    Function function;
    SwitchPort port;
};

class SwitchPortTest : public testing::Test {
protected:
    void SetUp() override {
        first = std::make_unique<Member>(loop, directory, 0);
        second = std::make_unique<Member>(loop, directory, 1);
        ASSERT_TRUE(they_meet());
        first->place_at(first_bar);
        second->place_at(second_bar);
    }

    bool they_meet() {
        return hp::run_until(loop, [&] {
            return first->port.present_peers() == std::vector{1u} &&
                   second->port.present_peers() == std::vector{0u};
        });
    }

    const hp::TempTree folder;
    const std::string directory = folder.root();
    hp::EventLoop loop;
    std::unique_ptr<Member> first, second;
};

TEST_F(SwitchPortTest, OneReachesTheOthersVramAtItsAddress) {
    const auto there = first->dma(second_bar + mib - 8, 64, DmaAccess::write);
    ASSERT_EQ(there.size(), 8u) << "cut at the end of the BAR";
    there[3] = std::byte{0x77};
    EXPECT_EQ(second->vram.window(mib - 5, 1)[0], std::byte{0x77});
    EXPECT_TRUE(first->dma(second_bar + mib, 1).empty()) << "nobody is there";
    EXPECT_TRUE(first->dma(second_bar - 1, 1).empty());
    EXPECT_EQ(first->port.traffic().writes, 1u);
    EXPECT_EQ(first->port.traffic().reads, 0u);
    EXPECT_EQ(second->port.traffic().reads, 0u);
}

TEST_F(SwitchPortTest, TheGuestsMemoryComesFirst) {
    first->dma(guest_memory, 1, DmaAccess::write)[0] = std::byte{0x11};
    EXPECT_EQ(first->guest.page[0], std::byte{0x11});
    second->place_at(guest_memory);
    EXPECT_EQ(first->dma(guest_memory, 1).data(), first->guest.page.data());
    EXPECT_EQ(first->port.traffic().reads + first->port.traffic().writes, 0u);
}

TEST_F(SwitchPortTest, WhereOneWasThereAreOnes) {
    first->dma(second_bar, 4, DmaAccess::write)[0] = std::byte{0x55};
    second->port.set_present(false);
    EXPECT_EQ(first->dma(second_bar, 1)[0], std::byte{0xff});
    first->dma(second_bar, 4, DmaAccess::write)[0] = std::byte{0x66};
    EXPECT_EQ(second->vram.window(0, 1)[0], std::byte{0x55}) << "the write is lost";
    EXPECT_EQ(first->dma(second_bar, 1)[0], std::byte{0xff});
    EXPECT_EQ(first->port.traffic().absent, 3u);
}

TEST_F(SwitchPortTest, TheAddressOutlivesAResetThatTakesTheBar) {
    second->port.reset();
    second->write_config<uint16_t>(4, 6);  // all that a guest restores that reads BARs from QEMU
    EXPECT_EQ(first->dma(second_bar, 4).size(), 4u);
    second->place_at(second_bar + mib);
    EXPECT_TRUE(first->dma(second_bar, 4).empty()) << "a new address counts";
    EXPECT_EQ(first->dma(second_bar + mib, 4).size(), 4u);
}

TEST_F(SwitchPortTest, ASuccessorAtTheAddressIsReached) {
    second.reset();
    second = std::make_unique<Member>(loop, directory, 1);
    ASSERT_TRUE(they_meet());
    EXPECT_TRUE(first->dma(second_bar, 1).empty()) << "it has no address yet";
    second->place_at(second_bar);
    first->dma(second_bar + 16, 1, DmaAccess::write)[0] = std::byte{0x99};
    EXPECT_EQ(second->vram.window(16, 1)[0], std::byte{0x99});
}

TEST_F(SwitchPortTest, OneThatMovesIsFoundAtItsNewAddress) {
    second->place_at(second_bar + 16 * mib);
    EXPECT_TRUE(first->dma(second_bar, 1).empty());
    EXPECT_EQ(first->dma(second_bar + 16 * mib, 1).size(), 1u);
}

/// As when the guest asks for the size of the BAR, or has reset it.
TEST_F(SwitchPortTest, WithMemorySpaceDisabledTheOldAddressStays) {
    second->write_config<uint16_t>(4, 0);
    second->write_config<uint32_t>(0x10, UINT32_MAX);
    second->write_config<uint32_t>(0x14, UINT32_MAX);
    EXPECT_EQ(first->dma(second_bar, 1).size(), 1u);
    second->port.reset();
    EXPECT_EQ(first->dma(second_bar, 1).size(), 1u);
}

TEST_F(SwitchPortTest, AllElseIsHandedOn) {
    EXPECT_EQ(first->port.region_info(Region::bar0).size, 256u);
    EXPECT_EQ(first->port.msi_vectors(), 4u);
    EXPECT_TRUE(first->port.asleep());
    first->function.host->raise_msi(3);
    EXPECT_EQ(first->guest.last_msi, 3u);
    std::array<std::byte, 2> command{};
    first->port.read(Region::config, 4, command);
    EXPECT_EQ(command[0], std::byte{6});
    first->port.detach();
    EXPECT_EQ(first->function.host, nullptr);
}

}  // namespace
}  // namespace gpuemu
