// SPDX-License-Identifier: GPL-2.0
#include "hotplug/in_guest/agent/line_buffer.h"

#include <gtest/gtest.h>

namespace hp::agent {
namespace {

TEST(LineBuffer, JoinsPiecesIntoLines) {
    LineBuffer lines(100);
    lines.append("on");
    EXPECT_EQ(lines.next(), std::nullopt);
    lines.append("e\ntwo\n\nrest");
    EXPECT_EQ(lines.next(), "one");
    EXPECT_EQ(lines.next(), "two");
    EXPECT_EQ(lines.next(), "");
    EXPECT_EQ(lines.next(), std::nullopt);
    EXPECT_EQ(lines.take_rest(), "rest");
    EXPECT_EQ(lines.take_rest(), "");
}

TEST(LineBuffer, CutsALineOverTheLimit) {
    LineBuffer lines(4);
    lines.append("abcdefghi\nxy\n");
    EXPECT_EQ(lines.next(), "abcd");
    EXPECT_EQ(lines.next(), "efgh");
    EXPECT_EQ(lines.next(), "i");
    EXPECT_EQ(lines.next(), "xy");
    EXPECT_EQ(lines.next(), std::nullopt);
}

TEST(LineBuffer, ALineOfExactlyTheLimitIsOneLine) {
    LineBuffer lines(4);
    lines.append("abcd\nef\n");
    EXPECT_EQ(lines.next(), "abcd");
    EXPECT_EQ(lines.next(), "ef");
}

}  // namespace
}  // namespace hp::agent
