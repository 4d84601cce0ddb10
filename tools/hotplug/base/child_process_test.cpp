// SPDX-License-Identifier: GPL-2.0
// Purpose: child processes: how they end, that they are reaped, that they die with the harness.
// Thread: one.
#include "hotplug/base/child_process.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "hotplug/base/log_tail.h"
#include "hotplug/base/temporary_directory.h"

namespace hotplug {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Command shell(const std::string& script) {
    return {{"sh", "-c", script}, {}};
}

class ChildProcessTest : public testing::Test {
protected:
    hp::Result<ChildProcess> start(const Command& command) {
        return ChildProcess::start(command, log());
    }
    std::filesystem::path log() const { return directory_.path() / "log"; }

    TemporaryDirectory directory_ = TemporaryDirectory::make().value();
};

TEST_F(ChildProcessTest, ExitStatus) {
    auto child = start(shell("exit 7"));
    ASSERT_TRUE(child) << child.error().message;
    auto status = child->wait(Deadline::after(seconds(10)));
    ASSERT_TRUE(status);
    EXPECT_EQ(status->code, 7);
    EXPECT_FALSE(status->ok());
    EXPECT_EQ(status->describe(), "exit status 7");
}

TEST_F(ChildProcessTest, OomScoreOfTheChildAlone) {
    Command command = {{"cat", "/proc/self/oom_score_adj"}, {}};
    const auto own = run_and_capture(command, Deadline::after(seconds(10)));
    ASSERT_TRUE(own) << own.error().message;
    EXPECT_NE(*own, "1000\n");
    command.oom_score_adj = first_to_be_killed;
    const auto adjusted = run_and_capture(command, Deadline::after(seconds(10)));
    ASSERT_TRUE(adjusted) << adjusted.error().message;
    EXPECT_EQ(*adjusted, "1000\n");
}

TEST_F(ChildProcessTest, EndedBySignal) {
    auto child = start(shell("kill -ABRT $$"));
    ASSERT_TRUE(child);
    auto status = child->wait(Deadline::after(seconds(10)));
    ASSERT_TRUE(status);
    EXPECT_EQ(status->signal, SIGABRT);
    EXPECT_EQ(status->describe(), "signal 6 (Aborted)");
}

TEST_F(ChildProcessTest, ProgramThatIsNotThere) {
    auto child = start({{"/nonexistent/qemu"}, {}});
    ASSERT_FALSE(child);
    EXPECT_EQ(child.error().message, "cannot execute /nonexistent/qemu: No such file or directory");
}

TEST_F(ChildProcessTest, LogThatCannotBeWritten) {
    EXPECT_FALSE(ChildProcess::start(shell("true"), directory_.path() / "none/log"));
}

TEST_F(ChildProcessTest, OutputGoesToTheLogAndEnvironmentArrives) {
    auto child = start({{"sh", "-c", "echo out $WORD; echo err >&2; echo"}, {{"WORD", "hello"}}});
    ASSERT_TRUE(child);
    ASSERT_TRUE(child->wait(Deadline::after(seconds(10))));
    EXPECT_EQ(last_line(log()), "err");
    EXPECT_EQ(run_and_capture({{"sh", "-c", "echo $WORD"}, {{"WORD", "hello"}}},
                              Deadline::after(seconds(10)))
                  .value(),
              "hello\n");
}

TEST_F(ChildProcessTest, CaptureFailsWithThePrograms) {
    auto text = run_and_capture(shell("echo bad; exit 3"), Deadline::after(seconds(10)));
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().message, "sh ended with exit status 3: bad");
    EXPECT_FALSE(run_and_capture({{"sleep", "100"}, {}}, Deadline::after(milliseconds(20))));
}

TEST_F(ChildProcessTest, TerminateIsGentleThenNot) {
    auto gentle = start({{"sleep", "100"}, {}});
    ASSERT_TRUE(gentle);
    EXPECT_FALSE(gentle->poll());
    EXPECT_EQ(gentle->terminate(seconds(10)).signal, SIGTERM);

    // "exec" keeps the ignored signal: only SIGKILL ends it.
    auto deaf = start(shell("trap '' TERM; echo ready; exec sleep 100"));
    ASSERT_TRUE(deaf);
    Deadline deadline = Deadline::after(seconds(10));
    while (last_line(log()) != "ready" && !deadline.expired()) {
        deadline.pause(milliseconds(5));
    }
    EXPECT_EQ(deaf->terminate(milliseconds(50)).signal, SIGKILL);
}

TEST_F(ChildProcessTest, LeavesNoZombie) {
    pid_t pid;
    {
        auto child = start({{"sleep", "100"}, {}});
        ASSERT_TRUE(child);
        pid = child->pid();
    }
    EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
    EXPECT_EQ(::kill(pid, 0), -1);
}

TEST_F(ChildProcessTest, MovedFromOwnsNothing) {
    auto child = start({{"sleep", "100"}, {}});
    ASSERT_TRUE(child);
    ChildProcess owner(std::move(*child));
    child = hp::fail("gone");
    EXPECT_FALSE(owner.poll());
    EXPECT_EQ(owner.terminate(seconds(10)).signal, SIGTERM);
}

// A harness that is killed cannot put anything away: the kernel has to.
TEST_F(ChildProcessTest, DiesWithItsHarness) {
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    pid_t harness = ::fork();
    ASSERT_GE(harness, 0);
    if (harness == 0) {
        auto child = start({{"sleep", "100"}, {}});
        pid_t pid = child ? child->pid() : -1;
        bool told = ::write(pipe[1], &pid, sizeof(pid)) == sizeof(pid);
        while (told) {
            ::pause();
        }
        ::_exit(1);
    }
    pid_t child = -1;
    ASSERT_EQ(::read(pipe[0], &child, sizeof(child)), static_cast<ssize_t>(sizeof(child)));
    ::close(pipe[0]);
    ::close(pipe[1]);
    ASSERT_GT(child, 0);
    hp::Fd watched(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
    ASSERT_TRUE(watched);
    ASSERT_EQ(::kill(harness, SIGKILL), 0);
    ASSERT_EQ(::waitpid(harness, nullptr, 0), harness);
    pollfd ended{watched.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&ended, 1, 10000), 1) << "the child outlived its harness";
}

TEST(TemporaryDirectoryTest, OnlyThatOfADeadOwnerIsRemovedByTheNext) {
    const auto alive = TemporaryDirectory::make();
    ASSERT_TRUE(alive);
    const std::filesystem::path dead = alive->path().parent_path() / "hpctl-killed";
    std::filesystem::create_directory(dead);
    std::ofstream(dead / ".lock") << "";
    const auto next = TemporaryDirectory::make();
    ASSERT_TRUE(next);
    EXPECT_FALSE(std::filesystem::exists(dead));
    EXPECT_TRUE(std::filesystem::exists(alive->path()));
    EXPECT_TRUE(std::filesystem::exists(next->path()));
}

TEST(TemporaryDirectoryTest, IsShortAndRemoved) {
    std::filesystem::path path;
    {
        auto directory = TemporaryDirectory::make();
        ASSERT_TRUE(directory) << directory.error().message;
        path = directory->path();
        EXPECT_TRUE(std::filesystem::is_directory(path));
        EXPECT_LT((path / "hole0.vfu").string().size(), 108u);
        std::filesystem::create_directory(path / "below");
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace hotplug
