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

}  // namespace
}  // namespace hp
