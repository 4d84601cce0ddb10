// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of Board: what is there from its first moment to its last.
// Thread: the test's.
#include "gpu-emu/board/board.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "lib/json_connection.h"
#include "lib/log.h"
#include "lib/run_until.h"
#include "lib/temp_tree.h"
#include "lib/unix_socket.h"

namespace gpuemu {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

class BoardTest : public testing::Test {
protected:
    BoardTest() { hp::log::set_up("test", "off"); }

    Board::Options options(const char* profile = "mi300x") const {
        Board::Options options{.profile = *find_profile(profile),
                               .socket = folder.root() / "device",
                               .control = folder.root() / "control",
                               .trace = {},
                               .eeprom = {},
                               .hive = folder.root(),
                               .pcie_switch = {},
                               .node = 0};
        options.profile.vram_bytes = 64u << 20;
        return options;
    }

    json ask(const json& request) {
        auto socket = hp::connect_unix(folder.root() / "control", 10s);
        std::optional<json> answer;
        if (socket) {
            hp::JsonConnection client(
                loop, std::move(*socket),
                {.on_line = [&](hp::Result<json> line) { answer = line.value_or(json()); },
                 .on_end = [](const std::string&) {}});
            client.send(request);
            EXPECT_TRUE(hp::run_until(loop, [&] { return answer.has_value(); }));
        }
        return answer.value_or(json());
    }

    const hp::TempTree folder;
    hp::EventLoop loop;
};

TEST_F(BoardTest, ABoardListensUntilItsEnd) {
    {
        const Board board(loop, options());
        EXPECT_TRUE(std::filesystem::exists(folder.root() / "device"));
        const json status = ask({{"do", "status"}});
        EXPECT_EQ(status["profile"], "mi300x");
        EXPECT_EQ(status["state"], "present");
        EXPECT_EQ(status["attached"], false);
        EXPECT_FALSE(status.contains("hive"));
        EXPECT_EQ(ask({{"do", "vram_count"}, {"value", 0x28211407}})["count"], 1)
            << "the discovery table";
    }
    EXPECT_FALSE(std::filesystem::exists(folder.root() / "device"));
    EXPECT_FALSE(std::filesystem::exists(folder.root() / "control"));
}

TEST_F(BoardTest, ABlackHoleHasNoGpu) {
    Board::Options hole = options();
    hole.black_hole = true;
    const Board board(loop, hole);
    EXPECT_EQ(ask({{"do", "status"}})["state"], "ones");
    EXPECT_EQ(ask({{"do", "vram_count"}, {"value", 1}})["error"], "this device has no VRAM");
    EXPECT_EQ(ask({{"do", "vram_poison"}})["error"], "this device has no VRAM");
    EXPECT_EQ(ask({{"do", "ras"}, {"block", "umc"}, {"severity", "poison"}})["error"],
              "a black hole has no device behind it");
}

TEST_F(BoardTest, MembersOfAHiveAndGpusBehindASwitchSitDown) {
    Board::Options member = options("mi300x-hive");
    member.pcie_switch = folder.root();
    const Board board(loop, member);
    EXPECT_TRUE(std::filesystem::exists(folder.root() / "node0.xgmi"));
    EXPECT_TRUE(std::filesystem::exists(folder.root() / "node0.pcie"));
    const json status = ask({{"do", "status"}});
    EXPECT_EQ(status["hive"]["node"], 0);
    EXPECT_EQ(status["switch"]["peers"], json::array());
}

TEST_F(BoardTest, ASocketThatIsTakenIsNotTakenAgain) {
    const Board board(loop, options());
    EXPECT_THROW(Board(loop, options()), std::runtime_error);
}

}  // namespace
}  // namespace gpuemu
