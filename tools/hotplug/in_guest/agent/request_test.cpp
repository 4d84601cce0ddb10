// SPDX-License-Identifier: GPL-2.0
// Purpose: that a request says what is wrong with it.
// Thread: one.
#include "hotplug/in_guest/agent/request.h"

#include <gtest/gtest.h>

namespace hp::agent {
namespace {

using nlohmann::json;

TEST(Request, KeepsIdAndKind) {
    const auto request = Request::parse(R"({"id": 4, "do": "hello", "unknown": [1]})");
    ASSERT_TRUE(request);
    EXPECT_EQ(request->id(), 4);
    EXPECT_EQ(request->what(), "hello");
}

TEST(Request, WithoutIdHasNull) {
    const auto request = Request::parse(R"({"do": "hello"})");
    ASSERT_TRUE(request);
    EXPECT_TRUE(request->id().is_null());
}

TEST(Request, RefusesWhatIsNotARequest) {
    for (const char* line : {"", "{", "[]", "3", "{}", R"({"do": 1})", "\xff"}) {
        EXPECT_FALSE(Request::parse(line)) << line;
    }
}

TEST(Request, ChecksMembersWhenAsked) {
    const auto request = Request::parse(
        R"({"do": "x", "text": "t", "n": 5, "negative": -1, "list": ["a", "b"], "mixed": ["a", 1],)"
        R"( "empty": [], "env": {"A": "1"}, "bad_env": {"A": 1}})");
    ASSERT_TRUE(request);
    EXPECT_EQ(request->text("text").value(), "t");
    EXPECT_FALSE(request->text("n"));
    EXPECT_FALSE(request->text("absent"));
    EXPECT_EQ(request->number("n").value(), 5u);
    EXPECT_FALSE(request->number("negative"));
    EXPECT_EQ(request->number_or("absent", 9).value(), 9u);
    EXPECT_FALSE(request->number_or("text", 9));
    EXPECT_EQ(request->texts("list").value(), (std::vector<std::string>{"a", "b"}));
    EXPECT_FALSE(request->texts("mixed"));
    EXPECT_FALSE(request->texts("empty"));
    EXPECT_FALSE(request->texts("absent"));
    EXPECT_EQ(request->table("env").value().at("A"), "1");
    EXPECT_TRUE(request->table("absent").value().empty());
    EXPECT_FALSE(request->table("bad_env"));
    EXPECT_FALSE(request->table("n"));
}

TEST(Request, ErrorsNameTheMember) {
    const auto request = Request::parse(R"({"do": "write"})");
    ASSERT_TRUE(request);
    EXPECT_EQ(request->text("path").error().message, "'write' needs the text member 'path'");
}

TEST(Answer, CarriesIdAndVerdict) {
    EXPECT_EQ(with_id(3, success({{"x", 1}})), (json{{"id", 3}, {"ok", true}, {"x", 1}}));
    EXPECT_EQ(with_id("a", failure("no")), (json{{"id", "a"}, {"ok", false}, {"error", "no"}}));
}

}  // namespace
}  // namespace hp::agent
