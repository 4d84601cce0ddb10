// SPDX-License-Identifier: GPL-2.0
// Purpose: VramClient against the emulator's own server, with a function whose BAR0 is 16 GiB of
// Vram, and what that costs. Thread: the test is the client and blocks; the server runs its loop in
// a thread.
#include "hotplug/bench/vram_client.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <stop_token>
#include <thread>

#include "gpu-emu/mem/vram.h"
#include "gpu-emu/testing/toy_function.h"
#include "gpu-emu/transport/vfio_user_server.h"
#include "hotplug/base/temporary_directory.h"

namespace hotplug {
namespace {

using namespace std::chrono_literals;

class Board : public gpuemu::ToyFunction {
public:
    gpuemu::RegionInfo region_info(gpuemu::Region) const override {
        return {.size = vram.size(), .writable = true, .mmap_fd = vram.fd()};
    }
    void read(gpuemu::Region region, uint64_t offset, std::span<std::byte> out) override {
        if (!memory_enabled || region != gpuemu::Region::bar0) {
            std::ranges::fill(out, std::byte{0xff});
            return;
        }
        const auto window = vram.window(offset, out.size());
        std::memcpy(out.data(), window.data(), window.size());
    }
    void write(gpuemu::Region region, uint64_t offset, std::span<const std::byte> in) override {
        if (region == gpuemu::Region::config) {
            memory_enabled = offset == 4 && in[0] == std::byte{2};
            return;
        }
        const auto window = vram.window(offset, in.size());
        std::memcpy(window.data(), in.data(), window.size());
    }

    gpuemu::Vram vram{16ull << 30};
    bool memory_enabled = false;
};

TEST(VramClientTest, WritesAndReadsAtBothEndsOfVram) {
    const TemporaryDirectory directory = TemporaryDirectory::make().value();
    const auto socket = directory.path() / "gpu";
    hp::EventLoop loop;
    Board board;
    gpuemu::VfioUserServer server(loop, board, socket);
    std::jthread serving([&loop](const std::stop_token& token) {
        const std::stop_callback end(token, [&loop] { loop.stop(); });
        loop.run();
    });
    auto client = VramClient::connect(socket, 10s);
    ASSERT_TRUE(client) << client.error().message;
    const uint64_t last = board.vram.size() - 4;
    EXPECT_TRUE(client->write(0, 0x11111111));
    EXPECT_TRUE(client->write(last, 0x22222222));
    EXPECT_EQ(client->read(0).value(), 0x11111111u);
    EXPECT_EQ(client->read(last).value(), 0x22222222u);
    EXPECT_EQ(client->read(last / 8 * 4).value(), 0u);
    const auto refused = client->write(last + 4, 0);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("refused command 10"), std::string::npos);
    EXPECT_TRUE(client->write(last, 0)) << "a refusal ends nothing";
}

TEST(VramClientTest, NobodyIsThere) {
    const TemporaryDirectory directory = TemporaryDirectory::make().value();
    EXPECT_FALSE(VramClient::connect(directory.path() / "gpu", 1ms));
}

}  // namespace
}  // namespace hotplug
