// SPDX-License-Identifier: GPL-2.0
// Purpose: how long a removal takes with one KFD process and with fifty that
// do not go away, in turns in one guest: what counts is the ratio. It fails when a removal does not
// return or a process does not live through it. Thread: one.
#include "hotplug/bench/removal_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "hotplug/bench/figures.h"
#include "hotplug/bench/median.h"
#include "hotplug/bench/times.h"
#include "hotplug/loss/loss.h"
#include "hotplug/machine/machine.h"
#include "hotplug/run/runner_client.h"

namespace hotplug {

namespace {

namespace fs = std::filesystem;

constexpr unsigned repeats = 5;
constexpr std::array<unsigned, 2> process_counts = {1, 50};
/// As many as run at a time on the GPU; the others only have /dev/kfd open.
constexpr unsigned most_queues = 7;

/// kfd_crowd (protocols.md) on the GPU, in the state it shall be in.
hp::Result<JobId> gather(Machine& machine, unsigned processes) {
    AgentClient& agent = machine.agent();
    const auto bdf = machine.slot(0).bdf();
    const auto state = agent.state(Deadline::after(answer_deadline));
    if (!bdf || !state) {
        return tl::unexpected(bdf ? state.error() : bdf.error());
    }
    const KfdNode* node = state->find_kfd(*bdf);
    if (node == nullptr) {
        return hp::fail(fmt::format("{} has no KFD node", *bdf));
    }
    const auto job =
        agent.spawn("kfd_crowd", {"kfd_crowd", "--gpu-id", std::to_string(node->gpu_id), "--count",
                                  std::to_string(processes), "--queues",
                                  std::to_string(std::min(processes, most_queues))});
    if (!job) {
        return job;
    }
    const auto ready = agent.wait_output(
        *job, 0, [](const std::string& line) { return parse_client_line(line).state == "ready"; },
        "kfd_crowd to be ready", Deadline::after(answer_deadline));
    return ready ? job : tl::unexpected(ready.error());
}

/// Asks all of them whether they live and answer, and ends them.
hp::Result<void> disperse(AgentClient& agent, JobId crowd) {
    for (const char* line : {"check", "end"}) {
        if (const auto told = agent.job_input(crowd, line); !told) {
            return told;
        }
    }
    const auto end = agent.wait_exit(crowd, Deadline::after(answer_deadline));
    if (!end) {
        return tl::unexpected(end.error());
    }
    const JobView view = agent.job(crowd);
    return end->status == 0
               ? hp::Result<void>()
               : hp::fail(fmt::format("kfd_crowd ended with status {}: {}", end->status,
                                      view.lines.empty() ? "" : view.lines.back().text));
}

/// Seconds until the removal returned; the GPU is back afterwards.
hp::Result<double> remove_and_return(Machine& machine, Loss loss, unsigned processes) {
    const auto crowd = gather(machine, processes);
    if (!crowd) {
        return tl::unexpected(crowd.error());
    }
    const auto lost = lose(machine, machine.slot(0), loss, Deadline::after(removal_deadline));
    if (!lost) {
        return tl::unexpected(lost.error());
    }
    if (!lost->remove_returned) {
        return hp::fail(
            fmt::format("{} with {} processes: {}", to_string(loss), processes, lost->stuck));
    }
    if (const auto ended = disperse(machine.agent(), *crowd); !ended) {
        return tl::unexpected(ended.error());
    }
    const auto back = recover(machine, machine.slot(0), loss, {}, Deadline::after(replug_deadline));
    if (!back) {
        return tl::unexpected(back.error());
    }
    if (!back->stuck.empty() || !back->refused.empty()) {
        return hp::fail(
            fmt::format("replug after {}: {}{}", to_string(loss), back->stuck, back->refused));
    }
    return std::chrono::duration<double>(*lost->remove_returned).count();
}

}  // namespace

hp::Result<void> run_removal_bench(MachineConfig config, const fs::path& results) {
    config.slots.resize(1);
    config.slots[0].gpu.trace = false;
    config.log_dir = results / "removal";
    auto machine = Machine::start(std::move(config));
    if (!machine) {
        return tl::unexpected(machine.error());
    }
    nlohmann::ordered_json figures;
    for (const Loss loss : {Loss::slot_power, Loss::sysfs_remove, Loss::surprise}) {
        std::array<std::vector<double>, process_counts.size()> times;
        for (unsigned i = 0; i < repeats; ++i) {
            for (size_t k = 0; k < process_counts.size(); ++k) {
                const auto time = remove_and_return(**machine, loss, process_counts[k]);
                if (!time) {
                    return tl::unexpected((*machine)->explain(time.error()));
                }
                times[k].push_back(*time);
            }
        }
        const double one = median_of(times[0]), many = median_of(times[1]);
        fmt::print("{}: removal returned, {} / {} KFD processes: {:.2f} s / {:.2f} s = {:.2f}\n",
                   to_string(loss), process_counts[1], process_counts[0], many, one, many / one);
        std::fflush(stdout);
        figures[std::string(to_string(loss))] = {
            {"one_s", times[0]}, {"fifty_s", times[1]}, {"ratio", many / one}};
    }
    return write_figures(results / "bench-removal.json", figures);
}

}  // namespace hotplug
