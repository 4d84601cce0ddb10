// SPDX-License-Identifier: GPL-2.0
// Purpose: what the reader of JSON refuses, and where it says it is.
// Thread: one.
#include "lib/json_text.h"

#include <gtest/gtest.h>

namespace hp {
namespace {

std::string error_of(std::string_view text) {
    const auto value = parse_json_text(text, "x.json");
    return value ? std::string() : value.error().message;
}

TEST(JsonText, KeepsTheOrderAndTakesComments) {
    const auto value = parse_json_text("// why\n{\"b\": 1, \"a\": [{}, {\"b\": 2}]}", "x.json");
    ASSERT_TRUE(value) << value.error().message;
    EXPECT_EQ(value->dump(), R"({"b":1,"a":[{},{"b":2}]})");
}

TEST(JsonText, SaysWhereItIsNoJson) {
    EXPECT_EQ(error_of("{\n  \"id\": ]").find("x.json:2:9: syntax error"), 0U);
    EXPECT_EQ(error_of("").find("x.json:1:1: "), 0U);
}

TEST(JsonText, AMemberNamedTwiceIsRefusedWithItsPlace) {
    EXPECT_EQ(error_of(R"({"a": 1, "a": 1})"), "x.json: /a: named a second time");
    EXPECT_EQ(error_of(R"([1, [2], {"k": [{"x": 0}, {"x": 1, "y": {}, "x": 2}]}])"),
              "x.json: /2/k/1/x: named a second time");
}

TEST(JsonText, ObjectsBesideEachOtherMayUseTheSameNames) {
    EXPECT_EQ(error_of(R"([{"a": {"a": 1}}, {"a": {"a": 1}}])"), "");
}

}  // namespace
}  // namespace hp
