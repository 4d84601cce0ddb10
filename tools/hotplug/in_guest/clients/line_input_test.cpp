// SPDX-License-Identifier: GPL-2.0
// Purpose: that lines come one by one, and that no wish to end is missed. Thread: one.
#include "hotplug/in_guest/clients/line_input.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hotplug/in_guest/clients/signals.h"
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

/// A process of its own: the wish to end is never taken back. Status 0: it saw the wish.
pid_t start_waiter(int input) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(10);  // what misses the wish waits for ever
        ::dup2(input, STDIN_FILENO);
        handle_signals();
        ::raise(SIGTERM);
        ::_exit(LineInput().next() ? 1 : 0);
    }
    return child;
}

TEST(LineInput, AWishToEndThatCameBeforeTheWaitEndsIt) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const Fd out(ends[0]), in(ends[1]);
    int status = -1;
    const pid_t child = start_waiter(out.get());
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace hp::clients
