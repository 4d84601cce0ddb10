// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of VfMailbox, with the guest's half of the handshake as in mxgpu_nv.c.
// Thread: the test's.
// Does not model: nothing.
#include "gpu-emu/ip/vf_mailbox.h"

#include <gtest/gtest.h>

#include <string>

#include "gpu-emu/testing/test_memory.h"

namespace gpuemu {
namespace {

constexpr uint32_t TRN_DW0 = 0xe56, RCV_DW0 = 0xe5a, CONTROL = 0xe5e, INT_CNTL = 0xe5f;

class VfMailboxTest : public testing::Test {
protected:
    VfMailboxTest() { mailbox.reset(ResetKind::cold); }

    /// A byte write, as the device merges it into the register.
    void write_byte(unsigned byte, uint32_t value) {
        const uint32_t stored = registers.raw(CONTROL) & ~(0xffu << 8 * byte);
        registers.write(CONTROL, stored | value << 8 * byte);
    }
    bool acknowledged() { return (registers.read(CONTROL) & 2) != 0; }
    uint32_t event() { return registers.read(RCV_DW0); }

    /// xgpu_nv_mailbox_trans_msg().
    void send(uint32_t request) {
        write_byte(0, 0);
        ASSERT_FALSE(acknowledged());
        registers.write(TRN_DW0, request);
        write_byte(0, 1);
        ASSERT_TRUE(acknowledged());
        write_byte(0, 0);
    }

    const Profile& profile = *find_profile("mi300x-vf");
    RegisterFile registers{2u << 20};
    int resets = 0;
    Mutator mutator;
    RecordingSink interrupts;
    VfMailbox mailbox{profile, registers, interrupts, [this] { ++resets; }, mutator};
};

TEST_F(VfMailboxTest, InitDataSaysLayoutOne) {
    send(6);
    ASSERT_EQ(event(), 7u);
    write_byte(1, 2);  // acknowledge
    EXPECT_EQ(event(), 0u);
    EXPECT_EQ(registers.read(RCV_DW0 + 1), 1u);  // read after the acknowledgement
}

TEST_F(VfMailboxTest, AccessIsGrantedAndReleased) {
    for (const uint32_t request : {1u, 3u}) {
        send(request);
        EXPECT_EQ(event(), 1u);
        EXPECT_NE(registers.read(CONTROL) & 0x100, 0u);
        write_byte(1, 2);
        EXPECT_EQ(registers.read(CONTROL) & 0xff00, 0u);
        send(request + 1);
        EXPECT_EQ(event(), 0u);
    }
    EXPECT_EQ(resets, 0);
}

TEST_F(VfMailboxTest, TheGuestCannotAnswerForTheHost) {
    send(6);
    registers.write(RCV_DW0, 17);
    EXPECT_EQ(event(), 7u);
    registers.write(CONTROL, 0x2);  // the host's acknowledgement
    EXPECT_FALSE(acknowledged());
    EXPECT_NE(registers.read(CONTROL) & 0x100, 0u) << "the event still waits";
}

TEST_F(VfMailboxTest, RequestIsTakenOnceWhileValidStays) {
    registers.write(TRN_DW0, 5);
    write_byte(0, 1);
    write_byte(0, 1);
    write_byte(1, 2);
    EXPECT_EQ(resets, 1);
}

TEST_F(VfMailboxTest, ResetAnswerSurvivesTheReset) {
    send(5);
    EXPECT_EQ(resets, 1);
    registers.clear();
    mailbox.reset(ResetKind::host);
    EXPECT_EQ(event(), 1u);
    mailbox.reset(ResetKind::flr);
    EXPECT_EQ(event(), 0u);
    EXPECT_EQ(registers.read(CONTROL), 0u);
}

TEST_F(VfMailboxTest, HostResetsTheFunctionWhenTheGuestIsReady) {
    registers.write(INT_CNTL, 3);
    mailbox.notify(HostNotification::flr);
    EXPECT_EQ(event(), 2u);
    EXPECT_NE(registers.read(CONTROL) & 0x100, 0u);
    ASSERT_EQ(interrupts.entries.size(), 1u);
    EXPECT_EQ(interrupts.entries[0].client_id, 3);
    EXPECT_EQ(interrupts.entries[0].source_id, 135);
    EXPECT_EQ(resets, 0) << "it waits for the guest";

    send(201);
    EXPECT_EQ(resets, 1);
    registers.clear();
    mailbox.reset(ResetKind::host);
    EXPECT_EQ(event(), 3u);
    send(1);
    EXPECT_EQ(event(), 1u);

    send(201);
    EXPECT_EQ(resets, 1) << "nobody has asked";
}

TEST_F(VfMailboxTest, HostThatGaveUpGrantsNothing) {
    mailbox.notify(HostNotification::unrecoverable_error);
    EXPECT_TRUE(interrupts.entries.empty()) << "the guest has not asked for them";
    EXPECT_EQ(event(), 17u);
    write_byte(1, 2);
    EXPECT_EQ(event(), 0u);
    for (const uint32_t request : {1u, 3u, 5u, 201u}) {
        send(request);
        EXPECT_EQ(event(), 17u);
    }
    EXPECT_EQ(resets, 0);
    mailbox.reset(ResetKind::flr);
    send(1);
    EXPECT_EQ(event(), 17u);
    mailbox.reset(ResetKind::cold);
    send(1);
    EXPECT_EQ(event(), 1u) << "another board";
}

TEST_F(VfMailboxTest, HostThatGivesUpAtAccessAnswersUntilThen) {
    mailbox.notify(HostNotification::unrecoverable_at_access);
    EXPECT_EQ(event(), 0u);
    send(6);
    EXPECT_EQ(event(), 7u) << "data is given";
    send(1);
    EXPECT_EQ(event(), 17u);
    send(6);
    EXPECT_EQ(event(), 17u) << "and from then on nothing";
    mailbox.reset(ResetKind::cold);
    send(1);
    EXPECT_EQ(event(), 1u) << "another board";
}

TEST_F(VfMailboxTest, UnknownRequestIsAcknowledgedOnly) {
    send(203);
    EXPECT_EQ(event(), 0u);
}

TEST_F(VfMailboxTest, AHostileHostLiesInMessageAndControl) {
    mutator.start(1, std::array{Surface::mailbox}, 1);
    registers.write(TRN_DW0, 6);
    write_byte(0, 1);
    const uint32_t honest[] = {7, 1, 0, 0, 0x103};
    for (uint32_t dword = 0; dword < std::size(honest); ++dword) {
        EXPECT_NE(registers.read(RCV_DW0 + dword), honest[dword]) << dword;
    }
    mutator.stop();
    mailbox.reset(ResetKind::host);
    EXPECT_EQ(event(), 7u) << "it does not believe its own lies";
}

TEST(HostNotification, UnknownNamesAreOneClearError) {
    EXPECT_EQ(parse_host_notification("flr"), HostNotification::flr);
    const auto unknown = parse_host_notification("bad_pages");
    ASSERT_FALSE(unknown);
    EXPECT_NE(unknown.error().message.find("'bad_pages'"), std::string::npos);
}

}  // namespace
}  // namespace gpuemu
