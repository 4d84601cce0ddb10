// SPDX-License-Identifier: GPL-2.0
// Purpose: hp-agent, the program in the guest through which the harness acts. Init starts it, and
// again if it ends. Thread: the main thread is the agent's loop.
#include <fcntl.h>
#include <signal.h>
#include <sys/reboot.h>

#include <chrono>
#include <cstdio>
#include <exception>

#include "hotplug/in_guest/agent/agent.h"
#include "hotplug/in_guest/agent/port.h"

int main() {
    ::signal(SIGPIPE, SIG_IGN);  // a job that closed its input is an error of one request
    try {
        auto port = hp::agent::open_port("/", "org.amdgpu-hotplug.agent", std::chrono::seconds(30));
        if (!port) {
            std::fprintf(stderr, "hp-agent: %s\n", port.error().message.c_str());
            return 1;
        }
        hp::Fd kmsg(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
        if (!kmsg) {
            std::perror("hp-agent: /dev/kmsg");
            return 1;
        }
        hp::agent::Agent agent(
            {std::move(*port), std::move(kmsg), "/", [] { ::reboot(RB_POWER_OFF); }});
        for (;;) {
            agent.step(std::chrono::hours(1));
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "hp-agent: %s\n", error.what());
        return 1;
    }
}
