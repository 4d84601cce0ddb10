// SPDX-License-Identifier: GPL-2.0
// Purpose: that records are read whole and that gaps are told.
// Thread: one.
#include "hotplug/in_guest/agent/kmsg.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>

namespace hp::agent {
namespace {

TEST(KmsgRecord, Parses) {
    const auto record = parse_kmsg_record(
        "30,1234,5678901,-;amdgpu 0000:01:00.0: finishing device.\n SUBSYSTEM=pci\n "
        "DEVICE=+pci:x\n");
    ASSERT_TRUE(record);
    EXPECT_EQ(record->level, 6u);  // 30 is facility 3, level 6
    EXPECT_EQ(record->sequence, 1234u);
    EXPECT_EQ(record->time_us, 5678901u);
    EXPECT_EQ(record->text, "amdgpu 0000:01:00.0: finishing device.");
}

TEST(KmsgRecord, ParsesFurtherPrefixFields) {
    const auto record = parse_kmsg_record("4,1,2,-,caller=T17;a;b\n");
    ASSERT_TRUE(record);
    EXPECT_EQ(record->text, "a;b");
}

TEST(KmsgRecord, UndoesEscapes) {
    EXPECT_EQ(parse_kmsg_record("4,1,2,-;a\\x0ab\\x5cx41 \\xc3\\xa9\n")->text,
              "a\nb\\x41 \xc3\xa9");
    EXPECT_EQ(parse_kmsg_record("4,1,2,-;end\\x0a")->text, "end\n");
    EXPECT_EQ(parse_kmsg_record("4,1,2,-;odd \\xzz \\x4")->text, "odd \\xzz \\x4");
}

TEST(KmsgRecord, RefusesRubbish) {
    for (const char* raw : {"", "x", "1", "1,2", "1,2,3", "1,2,3,-", "a,2,3,-;t", "1,,3,-;t"}) {
        EXPECT_FALSE(parse_kmsg_record(raw)) << raw;
    }
}

class KmsgReaderTest : public ::testing::Test {
protected:
    void SetUp() override {
        int ends[2];  // record boundaries as /dev/kmsg has them
        ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
        kernel_.reset(ends[0]);
        reader_.emplace(Fd(ends[1]));
    }
    void say(const std::string& record) {
        ASSERT_EQ(::write(kernel_.get(), record.data(), record.size()),
                  static_cast<ssize_t>(record.size()));
    }

    Fd kernel_;
    std::optional<KmsgReader> reader_;
};

TEST_F(KmsgReaderTest, MakesEventsInOrder) {
    say("6,0,10,-;first\n");
    say("3,1,20,-;second\n");
    const auto events = reader_->read();
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(
        events[0],
        (nlohmann::json{
            {"event", "kmsg"}, {"level", 6}, {"seq", 0}, {"time_us", 10}, {"text", "first"}}));
    EXPECT_EQ(events[1]["text"], "second");
    EXPECT_TRUE(reader_->read().empty());
}

TEST_F(KmsgReaderTest, TellsHowManyRecordsWereLost) {
    say("6,0,10,-;first\n");
    say("6,5,20,-;sixth\n");
    const auto events = reader_->read();
    ASSERT_EQ(events.size(), 3u);
    EXPECT_EQ(events[1], (nlohmann::json{{"event", "kmsg_lost"}, {"count", 4}, {"time_us", 20}}));
    EXPECT_EQ(events[2]["text"], "sixth");
}

TEST_F(KmsgReaderTest, ALogThatCannotBeReadIsSaidOnce) {
    KmsgReader reader(Fd(::open("/", O_RDONLY)));
    const auto events = reader.read();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0]["event"], "kmsg_error");
    EXPECT_TRUE(reader.read().empty());
}

TEST_F(KmsgReaderTest, SaysSoWhenARecordMakesNoSense) {
    say("nonsense");
    const auto events = reader_->read();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0]["event"], "kmsg_error");
}

}  // namespace
}  // namespace hp::agent
