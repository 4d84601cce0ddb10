// SPDX-License-Identifier: GPL-2.0
#include "lib/log.h"

#include <gtest/gtest.h>

#include <stdexcept>

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

}  // namespace
}  // namespace hp::log
