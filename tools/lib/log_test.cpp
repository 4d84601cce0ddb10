// SPDX-License-Identifier: GPL-2.0
// Purpose: that a log line can be taken apart again.
// Thread: one.
#include "lib/log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace hp::log {
namespace {

TEST(Log, LinesAreKeysAndValues) {
    EXPECT_EQ(format_line("client attached", {{"pid", 12}, {"socket", "/run/gpu0"}}),
              "msg=\"client attached\" pid=12 socket=/run/gpu0");
}

TEST(Log, ValuesThatWouldBreakALineAreQuoted) {
    EXPECT_EQ(format_line("x", {{"a", "two words"}, {"b", ""}, {"c", "q\"\n\x01"}, {"d", "k=v"}}),
              "msg=\"x\" a=\"two words\" b=\"\" c=\"q\\\"\\n\\x01\" d=\"k=v\"");
}

TEST(Log, AnUnknownLevelIsAnError) {
    EXPECT_THROW(set_up("test", "loud"), std::invalid_argument);
    EXPECT_NO_THROW(set_up("test", "off"));
}

/// What a guest or a client can cause may be said, and not as often as it likes.
TEST(Log, AFloodOfOneEventIsCut) {
    testing::internal::CaptureStderr();
    set_up("test", "info");
    for (int count = 0; count < 10'000; ++count) {
        warning("flood", {{"count", count}});
    }
    warning("another");
    const std::string text = testing::internal::GetCapturedStderr();
    set_up("test", "off");
    EXPECT_GE(std::ranges::count(text, '\n'), 11);
    EXPECT_LE(std::ranges::count(text, '\n'), 40);
    EXPECT_NE(text.find("msg=\"another\""), std::string::npos) << "each event for itself";
}

}  // namespace
}  // namespace hp::log
