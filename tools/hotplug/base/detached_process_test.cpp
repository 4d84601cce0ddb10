// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of programs that outlive who started them.
// Thread: the test's, and processes.
#include "hotplug/base/detached_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "lib/fd.h"
#include "lib/temp_tree.h"

namespace hotplug {
namespace {

using namespace std::chrono_literals;

class DetachedProcessTest : public testing::Test {
protected:
    ~DetachedProcessTest() override { (void)end_detached(lock, 0s); }

    hp::Result<void> start(std::vector<std::string> argv) {
        return start_detached({.argv = std::move(argv), .environment = {}}, log, lock);
    }

    hp::TempTree folder;
    const std::filesystem::path log = folder.root() / "log";
    const std::filesystem::path lock = folder.root() / "lock";
};

TEST_F(DetachedProcessTest, OutlivesTheOneWhoStartedIt) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        ::_exit(start({"sleep", "1000"}) ? 0 : 1);
    }
    int status = 1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    const auto pid = detached_process(lock);
    ASSERT_TRUE(pid);
    EXPECT_EQ(::kill(*pid, 0), 0);
    EXPECT_NE(::getsid(*pid), ::getsid(0)) << "a signal for our terminal is not for it";
    ASSERT_TRUE(end_detached(lock, 5s));
    EXPECT_FALSE(detached_process(lock));
}

TEST_F(DetachedProcessTest, StartsNoSecondOne) {
    ASSERT_TRUE(start({"sleep", "1000"}));
    const auto first = detached_process(lock);
    ASSERT_TRUE(start({"sleep", "1001"}));
    EXPECT_EQ(detached_process(lock), first);
}

TEST_F(DetachedProcessTest, ItsEndIsTheEndOfTheLock) {
    ASSERT_TRUE(start({"true"}));
    EXPECT_TRUE(wait_for_end(lock, Deadline::after(10s)));
    EXPECT_FALSE(detached_process(lock)) << "the number is still in the file";
    EXPECT_TRUE(end_detached(lock, 0s));
    ASSERT_TRUE(start({"sleep", "1000"})) << "and another one may begin";
    EXPECT_TRUE(detached_process(lock));
    EXPECT_FALSE(wait_for_end(lock, Deadline::after(10ms)));
}

TEST_F(DetachedProcessTest, KillsWhatDoesNotWantToEnd) {
    ASSERT_TRUE(start({"sh", "-c", "trap '' TERM; exec sleep 1000"}));
    ASSERT_TRUE(end_detached(lock, 100ms));
    EXPECT_FALSE(detached_process(lock));
}

TEST_F(DetachedProcessTest, WhoCannotBeFoundHasNotEnded) {
    const hp::Fd file(::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    flock whole{};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    ASSERT_EQ(::fcntl(file.get(), F_OFD_SETLK, &whole), 0);
    ASSERT_EQ(::pwrite(file.get(), "2147483647", 10, 0), 10) << "no process has that number";
    EXPECT_FALSE(end_detached(lock, 0s));
    EXPECT_FALSE(wait_for_end(lock, Deadline::after(10ms)));
}

TEST_F(DetachedProcessTest, SaysThatThereIsNoSuchProgram) {
    const auto started = start({"/nowhere/program"});
    ASSERT_FALSE(started);
    EXPECT_NE(started.error().message.find("/nowhere/program"), std::string::npos);
    EXPECT_FALSE(detached_process(lock));
}

}  // namespace
}  // namespace hotplug
