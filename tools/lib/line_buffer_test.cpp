// SPDX-License-Identifier: GPL-2.0
// Purpose: that lines are whole whatever the chunks, and that a line over the limit is refused or
// cut. Thread: one.
#include "lib/line_buffer.h"

#include <gtest/gtest.h>

namespace hp {
namespace {

using Overlong = LineBuffer::Overlong;

TEST(LineBuffer, JoinsPiecesIntoLines) {
    for (const Overlong overlong : {Overlong::cut, Overlong::refuse}) {
        LineBuffer lines(100, overlong);
        lines.append("on");
        EXPECT_EQ(lines.next(), std::nullopt);
        lines.append("e\ntwo\n\nrest");
        EXPECT_EQ(lines.next(), "one");
        EXPECT_EQ(lines.next(), "two");
        lines.append(" of it");
        EXPECT_EQ(lines.next(), "");
        EXPECT_EQ(lines.next(), std::nullopt);
        EXPECT_EQ(lines.take_rest(), "rest of it");
        EXPECT_EQ(lines.take_rest(), "");
        EXPECT_FALSE(lines.error());
    }
}

TEST(LineBuffer, CutsALineOverTheLimit) {
    LineBuffer lines(4, Overlong::cut);
    lines.append("abcdefghi\nxy\n");
    EXPECT_EQ(lines.next(), "abcd");
    EXPECT_EQ(lines.next(), "efgh");
    EXPECT_EQ(lines.next(), "i");
    EXPECT_EQ(lines.next(), "xy");
    EXPECT_EQ(lines.next(), std::nullopt);
}

TEST(LineBuffer, ALineOfExactlyTheLimitIsOneLine) {
    for (const Overlong overlong : {Overlong::cut, Overlong::refuse}) {
        LineBuffer lines(4, overlong);
        lines.append("abcd\nef\n");
        EXPECT_EQ(lines.next(), "abcd");
        EXPECT_EQ(lines.next(), "ef");
    }
}

TEST(LineBuffer, RefusesALineOverTheLimit) {
    for (const char* text : {"abcde\nef\n", "abcde"}) {
        LineBuffer lines(4, Overlong::refuse);
        lines.append(text);
        EXPECT_EQ(lines.next(), std::nullopt);
        ASSERT_TRUE(lines.error()) << text;
        EXPECT_EQ(lines.error()->message, "a line of more than 4 bytes");
        lines.append("\nxy\n");
        EXPECT_EQ(lines.next(), std::nullopt) << "nobody knows where a line begins";
        lines.clear();
        lines.append("xy\n");
        EXPECT_EQ(lines.next(), "xy");
    }
}

}  // namespace
}  // namespace hp
