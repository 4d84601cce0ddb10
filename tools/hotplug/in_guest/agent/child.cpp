// SPDX-License-Identifier: GPL-2.0
// Purpose: starts a program with pipes on its three standard streams, in a session of its own.
// Thread: any; a Child has one owner.
#include "hotplug/in_guest/agent/child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

namespace hp::agent {

namespace {

std::string reason(const std::string& what, int error) {
    return what + ": " + std::strerror(error);
}

struct Pipe {
    Fd read_end;
    Fd write_end;
};

Result<Pipe> make_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        return fail(reason("cannot make a pipe", errno));
    }
    return Pipe{Fd(ends[0]), Fd(ends[1])};
}

/// posix_spawn's two attribute objects, which must be destroyed.
class SpawnPlan {
public:
    SpawnPlan() {
        posix_spawn_file_actions_init(&actions_);
        posix_spawnattr_init(&attributes_);
        sigset_t none;
        sigset_t all;
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_setsigmask(&attributes_, &none);
        posix_spawnattr_setsigdefault(&attributes_, &all);
        posix_spawnattr_setflags(
            &attributes_, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    SpawnPlan(const SpawnPlan&) = delete;
    SpawnPlan& operator=(const SpawnPlan&) = delete;
    ~SpawnPlan() {
        posix_spawn_file_actions_destroy(&actions_);
        posix_spawnattr_destroy(&attributes_);
    }

    void give(const Fd& fd, int as) { posix_spawn_file_actions_adddup2(&actions_, fd.get(), as); }
    const posix_spawn_file_actions_t* actions() const { return &actions_; }
    const posix_spawnattr_t* attributes() const { return &attributes_; }

private:
    posix_spawn_file_actions_t actions_;
    posix_spawnattr_t attributes_;
};

std::vector<std::string> environment(const std::map<std::string, std::string>& extra) {
    std::vector<std::string> all;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        if (!extra.contains(text.substr(0, text.find('=')))) {
            all.push_back(text);
        }
    }
    for (const auto& [key, value] : extra) {
        all.push_back(key + "=" + value);
    }
    return all;
}

std::vector<char*> c_array(std::vector<std::string>& texts) {
    std::vector<char*> array;
    for (std::string& text : texts) {
        array.push_back(text.data());
    }
    array.push_back(nullptr);
    return array;
}

/// The agent is exempt from the OOM killer (init's doing); what it starts is not. A child that is
/// gone needs nothing.
void allow_oom_kill(pid_t pid) {
    std::ofstream("/proc/" + std::to_string(pid) + "/oom_score_adj") << 0;
}

}  // namespace

Result<Child> start_child(const std::vector<std::string>& argv,
                          const std::map<std::string, std::string>& env) {
    auto input = make_pipe();
    auto output = make_pipe();
    auto errors = make_pipe();
    if (!input || !output || !errors) {
        return fail("cannot start " + argv[0] + ": no more file descriptors");
    }
    SpawnPlan plan;
    plan.give(input->read_end, STDIN_FILENO);
    plan.give(output->write_end, STDOUT_FILENO);
    plan.give(errors->write_end, STDERR_FILENO);
    std::vector<std::string> arguments = argv;
    std::vector<std::string> variables = environment(env);

    Child child;
    const int error = posix_spawnp(&child.pid, argv[0].c_str(), plan.actions(), plan.attributes(),
                                   c_array(arguments).data(), c_array(variables).data());
    if (error != 0) {
        return fail(reason("cannot start " + argv[0], error));
    }
    allow_oom_kill(child.pid);
    child.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, child.pid, 0)));
    if (!child.pidfd) {
        const int pidfd_error = errno;
        ::kill(child.pid, SIGKILL);
        ::waitpid(child.pid, nullptr, 0);
        return fail(reason("cannot watch " + argv[0], pidfd_error));
    }
    child.input = std::move(input->write_end);
    child.output = std::move(output->read_end);
    child.errors = std::move(errors->read_end);
    for (const Fd* fd : {&child.input, &child.output, &child.errors}) {
        ::fcntl(fd->get(), F_SETFL, O_NONBLOCK);
    }
    return child;
}

Result<int> reap(const Child& child) {
    int status = 0;
    if (::waitpid(child.pid, &status, WNOHANG) != child.pid) {
        return fail("pid " + std::to_string(child.pid) + " has not ended");
    }
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace hp::agent
