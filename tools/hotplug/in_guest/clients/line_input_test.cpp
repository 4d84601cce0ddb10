// SPDX-License-Identifier: GPL-2.0
#include "hotplug/in_guest/clients/line_input.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "lib/fd.h"

namespace hp::clients {
namespace {

TEST(LineInput, HandsOutLinesUntilTheEnd) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const Fd saved(::dup(STDIN_FILENO));
    ASSERT_EQ(::dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    ::close(ends[0]);
    ASSERT_EQ(::write(ends[1], "read\nclose\nrest", 15), 15);
    ::close(ends[1]);

    LineInput input;
    EXPECT_EQ(input.next(), "read");
    EXPECT_EQ(input.next(), "close");
    EXPECT_EQ(input.next(), std::nullopt);
    ASSERT_EQ(::dup2(saved.get(), STDIN_FILENO), STDIN_FILENO);
}

}  // namespace
}  // namespace hp::clients
