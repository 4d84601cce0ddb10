// SPDX-License-Identifier: GPL-2.0
// Purpose: that a value is one line whatever is in it, and that what is none says so.
// Thread: one.
#include "lib/json_line.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace hp {
namespace {

TEST(JsonLine, AValueIsOneLineOfUtf8) {
    EXPECT_EQ(format_json_line({{"text", "a\nb"}}), R"({"text":"a\nb"})");
    EXPECT_EQ(format_json_line({{"text", "\xff"}}), "{\"text\":\"\xef\xbf\xbd\"}");
}

TEST(JsonLine, WhatIsNoValueIsTold) {
    EXPECT_EQ(parse_json_line("[3]").value().at(0), 3);
    for (const char* text : {"", "rubbish", "{", "{} {}", "\"\xff\""}) {
        EXPECT_FALSE(parse_json_line(text)) << text;
    }
    EXPECT_EQ(parse_json_line(std::string(100, 'x')).error().message,
              "not a JSON value: '" + std::string(80, 'x') + "'");
}

TEST(JsonLine, ALineThatWouldTakeTheStackDownIsRefused) {
    const auto nested = [](size_t depth) {
        return std::string(depth, '[') + std::string(depth, ']');
    };
    EXPECT_TRUE(parse_json_line(nested(json_depth_limit)));
    EXPECT_FALSE(parse_json_line(nested(json_depth_limit + 1)));
    EXPECT_FALSE(parse_json_line(nested(json_line_limit / 2)));
    EXPECT_FALSE(parse_json_line(R"(["\"\\",)" + nested(json_depth_limit) + "]"));
    const std::string text = "\"" + std::string(1000, '[') + R"(\"[\\")";
    EXPECT_TRUE(parse_json_line(text)) << "brackets in a text are none";
    std::string row = "[";
    for (int i = 0; i < 1000; ++i) {
        row += "[],";
    }
    EXPECT_TRUE(parse_json_line(row + "{}]")) << "beside each other, not inside";
}

}  // namespace
}  // namespace hp
