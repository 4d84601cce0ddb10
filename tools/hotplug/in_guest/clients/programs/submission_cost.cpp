// SPDX-License-Identifier: GPL-2.0
// Purpose: submission_cost, a client that tells what an AMDGPU_CS ioctl costs its thread. It
// submits in bursts that no other thread of the one CPU interrupts (SCHED_FIFO), and leaves out the
// first of each: whether that finds the driver's worker awake depends on the host's time, and the
// others find its work queued. In a guest whose clock counts instructions (QEMU -icount shift=0) a
// nanosecond is one instruction. Thread: one. Not modelled: what the driver does in other threads.
#include <sched.h>
#include <sys/personality.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "hotplug/in_guest/clients/program.h"
#include "hotplug/in_guest/clients/report.h"
#include "hotplug/in_guest/clients/signals.h"
#include "hotplug/in_guest/clients/submission.h"

namespace hp::clients {
namespace {

const Description self{
    .name = "submission_cost",
    .purpose = "Measures what a submission costs its thread",
    .states = {{"result", "what submissions of a round cost"}},
};

constexpr std::chrono::seconds patience{60};
/// Submissions in a burst; fewer than a ring or a context takes without waiting.
constexpr unsigned burst = 8;
/// Submissions before the first that counts: page tables, slabs and lazily made state.
constexpr unsigned warm_up = 100;

struct Options {
    std::string node;
    unsigned count = 400;
    unsigned rounds = 8;
};

std::int64_t thread_time_ns() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

std::int64_t percentile(std::vector<std::int64_t> values, unsigned percent) {
    const auto at = static_cast<std::ptrdiff_t>((values.size() - 1) * percent / 100);
    std::nth_element(values.begin(), values.begin() + at, values.end());
    return values[static_cast<std::size_t>(at)];
}

/// What reading the clock twice costs by itself.
std::int64_t clock_cost(unsigned count) {
    std::vector<std::int64_t> times;
    for (unsigned i = 0; i < count; ++i) {
        const auto start = thread_time_ns();
        times.push_back(thread_time_ns() - start);
    }
    return percentile(std::move(times), 50);
}

/// Adds the thread's time in each AMDGPU_CS of a burst but the first.
IoResult<void> submit_burst(const SmallJob& job, std::vector<std::int64_t>& costs) {
    abi::Fence last{};
    for (unsigned i = 0; i < burst; ++i) {
        const auto start = thread_time_ns();
        const auto fence = job.submit();
        const auto cost = thread_time_ns() - start;
        if (!fence) {
            return tl::unexpected(fence.error());
        }
        if (i != 0) {
            costs.push_back(cost);
        }
        last = *fence;
    }
    const auto done = wait_fence(job.device(), last, patience);
    if (!done) {
        return tl::unexpected(done.error());
    }
    return *done ? IoResult<void>() : io_fail("AMDGPU_WAIT_CS", ETIME);
}

IoResult<std::vector<std::int64_t>> measure(const SmallJob& job, unsigned count) {
    std::vector<std::int64_t> costs;
    while (costs.size() < count && !stop_wanted()) {
        if (const auto done = submit_burst(job, costs); !done) {
            return tl::unexpected(done.error());
        }
    }
    return costs;
}

int run_client(const Options& options) {
    Reporter report(self);
    const sched_param priority{.sched_priority = 1};
    if (::sched_setscheduler(0, SCHED_FIFO, &priority) != 0) {
        return report.end("system", {"sched_setscheduler", errno});
    }
    report.ready({{"node", options.node}});
    for (unsigned round = 0; round < options.rounds; ++round) {
        // A file and a context of its own: where the driver puts them is part of the cost.
        const auto job = SmallJob::create(options.node);
        if (!job) {
            return report.end("device", job.error());
        }
        if (const auto warm = measure(*job, warm_up); !warm) {
            return report.end("device", warm.error());
        }
        const auto clock = clock_cost(options.count);
        const auto costs = measure(*job, options.count);
        if (!costs) {
            return report.end("device", costs.error());
        }
        if (stop_wanted()) {
            return report.end("signal");
        }
        report.say("result", {{"round", round},
                              {"count", costs->size()},
                              {"median_ns", percentile(*costs, 50) - clock},
                              {"p10_ns", percentile(*costs, 10) - clock},
                              {"p90_ns", percentile(*costs, 90) - clock},
                              {"clock_ns", clock}});
    }
    return report.end("done");
}

}  // namespace
}  // namespace hp::clients

namespace {

/// Starts this program again without randomised addresses: copies between user space and kernel
/// take more or fewer instructions with the alignment of the stack. Returns when that is done.
void fix_addresses(char** argv) {
    const int now = ::personality(0xffffffff);
    if (now >= 0 && (now & ADDR_NO_RANDOMIZE) == 0 &&
        ::personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) >= 0) {
        ::execv("/proc/self/exe", argv);
    }
}

}  // namespace

int main(int argc, char** argv) {
    fix_addresses(argv);
    hp::clients::Program program(hp::clients::self);
    hp::clients::Options options;
    program.add_node(options.node);
    program.add_option("--count", options.count, "SUBMISSIONS", "submissions in a round")
        .within(1, 100000);
    program.add_option("--rounds", options.rounds, "ROUNDS", "rounds, each with a result")
        .within(1, 1000);
    if (const auto status = program.parse(argc, argv)) {
        return *status;
    }
    hp::clients::handle_signals();
    return hp::clients::run_client(options);
}
