// SPDX-License-Identifier: GPL-2.0
// Purpose: dumps of a guest's memory by a fake QEMU: completed, failed, refused, late, no room.
// Thread: the fake's and the client's own.
#include "hotplug/machine/memory_dump.h"

#include <gtest/gtest.h>

#include <fstream>

#include "hotplug/base/fake_server_for_test.h"
#include "lib/temp_tree.h"

namespace hotplug {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

const std::string greeting = R"({"QMP":{"version":{"qemu":{"major":11}},"capabilities":[]}})"
                             "\r\n";

std::string completed(const json& data) {
    return json{{"event", "DUMP_COMPLETED"}, {"data", data}}.dump() + "\r\n";
}

/// Writes a file as soon as it is asked for a dump, as QEMU does, and says `end` of it.
class DumpTest : public testing::Test {
protected:
    hp::Result<MemoryDump> dump(const std::string& end, const MemoryDumpLimits& limits = {},
                                uint64_t guest_bytes = 4096, bool refused = false) {
        FakeServer server(
            [&](const std::string& line) {
                const json request = json::parse(line);
                json answer{{"id", request["id"]}, {"return", json::object()}};
                if (request["execute"] != "dump-guest-memory") {
                    return answer.dump() + "\r\n";
                }
                asked_ = request["arguments"];
                if (refused) {
                    answer.erase("return");
                    answer["error"] = {{"desc", "dump is in progress"}};
                    return answer.dump() + "\r\n";
                }
                std::ofstream(file()) << "KDUMP";
                return answer.dump() + "\r\n" + end;
            },
            [] { return greeting; });
        auto client = QmpClient::connect(server.path(), tree_.root() / "qmp.log",
                                         Deadline::after(std::chrono::seconds(10)));
        return dump_memory(**client, guest_bytes, file(), limits);
    }
    std::filesystem::path file() const { return tree_.root() / "vmcore"; }

    hp::TempTree tree_;
    json asked_;
};

TEST_F(DumpTest, Completes) {
    const auto made = dump(completed({{"result", {{"status", "completed"}}}}));
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->bytes, 5);
    EXPECT_EQ(asked_["protocol"], "file:" + file().string());
    EXPECT_EQ(asked_["format"], "kdump-raw-zlib");
    EXPECT_EQ(asked_["detach"], true);
    EXPECT_EQ(asked_["paging"], false);
}

TEST_F(DumpTest, LeavesNothingOfOneThatFails) {
    const auto made = dump(completed({{"result", {{"status", "failed"}}}, {"error", "disk full"}}));
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().message, "QEMU could not dump the guest's memory: disk full");
    EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(DumpTest, SaysWhatQemuSaysWhenItRefuses) {
    const auto made = dump("", {}, 4096, true);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().message, "QEMU refused dump-guest-memory: dump is in progress");
}

TEST_F(DumpTest, GivesUpAtItsLimit) {
    const auto made = dump("", {.time = milliseconds(50), .spare_bytes = 0});
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().message.find("for QEMU to dump the guest's memory"), std::string::npos)
        << made.error().message;
    EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(DumpTest, IsRefusedWithoutRoom) {
    const auto made = dump("", {}, uint64_t(1) << 60);
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().message.find("no room to dump the guest's memory"), std::string::npos);
    EXPECT_TRUE(asked_.is_null());
    EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(DumpTest, LeavesTheDiskItsSpareRoom) {
    const auto made = dump(completed({{"result", {{"status", "completed"}}}}),
                           {.spare_bytes = uint64_t(1) << 60});
    ASSERT_FALSE(made);
    EXPECT_TRUE(asked_.is_null());
}

}  // namespace
}  // namespace hotplug
