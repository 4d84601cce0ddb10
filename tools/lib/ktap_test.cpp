// SPDX-License-Identifier: GPL-2.0
// Purpose: that KTAP lines are written as ktap.rst has them, and read as others write them.
// Thread: one.
#include "lib/ktap.h"

#include <gtest/gtest.h>

namespace hp::ktap {
namespace {

TEST(Ktap, ResultsAreWritten) {
    EXPECT_EQ(format_result({true, 1, "a@b"}), "ok 1 a@b");
    EXPECT_EQ(format_result({false, 2, "c", Directive::none, "line one\nof #2"}),
              "not ok 2 c # line one of  2");
    EXPECT_EQ(format_result({true, 3, "d", Directive::skip, "no ring"}),
              "ok 3 d # SKIP no ring");
    EXPECT_EQ(format_result({true, 4, "e", Directive::skip}), "ok 4 e # SKIP");
    EXPECT_EQ(format_result({true, 5, "f", Directive::xfail, "hung"}), "ok 5 f # XFAIL hung");
    EXPECT_EQ(format_plan(12), "1..12");
    EXPECT_EQ(format_comment("a\r\nb # c"), "# a  b   c");
}

TEST(Ktap, ResultsAreReadAsWritten) {
    for (const Result& written :
         {Result{true, 1, "a name"}, Result{false, 2, "b", Directive::none, "5 ms"},
          Result{true, 3, "c", Directive::skip, "why"}, Result{true, 4, "", Directive::skip, "why"},
          Result{true, 5, "d", Directive::xfail, "known"}, Result{false, 6, "e", Directive::skip}}) {
        const std::string line = format_result(written);
        const auto read = parse_result(line);
        ASSERT_TRUE(read) << line;
        EXPECT_EQ(read->ok, written.ok) << line;
        EXPECT_EQ(read->number, written.number) << line;
        EXPECT_EQ(read->name, written.name) << line;
        EXPECT_EQ(read->directive, written.directive) << line;
        EXPECT_EQ(read->note, written.note) << line;
    }
}

TEST(Ktap, ADashBeforeTheNameIsNoneOfIt) {
    const auto read = parse_result("not ok 2 - ttm_device.clear # 5 ms");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->name, "ttm_device.clear");
    EXPECT_EQ(read->note, "5 ms");
}

TEST(Ktap, OtherTextIsNoResult) {
    for (const char* text : {"", "ok", "ok ", "ok 1", "ok 1 ", "ok 1 - ", "ok one two", "okay 1 two",
                             "not ok", "it is ok 1 two", "ok 12two", "    ok 1 subtest", "1..4",
                             "ok 99999999999999999999 two", "ok -1 two", "ok 1 # note"}) {
        EXPECT_FALSE(parse_result(text)) << text;
    }
}

TEST(Ktap, PlansVersionsAndBailOuts) {
    EXPECT_EQ(parse_plan("1..4"), 4U);
    EXPECT_EQ(parse_plan("1..0 # SKIP no such bus"), 0U);
    for (const char* text : {"1..", "1..x", "1..4x", "2..4", " 1..4", "1..-1"}) {
        EXPECT_EQ(parse_plan(text), std::nullopt) << text;
    }
    EXPECT_EQ(parse_bail_out("Bail out! no GPU"), "no GPU");
    EXPECT_EQ(parse_bail_out("Bail out!"), "");
    EXPECT_EQ(parse_bail_out("# Bail out!"), std::nullopt);
    EXPECT_TRUE(is_version_line(version_line));
    EXPECT_TRUE(is_version_line("TAP version 13"));
    EXPECT_FALSE(is_version_line("ok 1 KTAP version 1"));
}

}  // namespace
}  // namespace hp::ktap
