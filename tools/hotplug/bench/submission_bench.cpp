// SPDX-License-Identifier: GPL-2.0
// Purpose: what AMDGPU_CS costs in guest instructions, on one kernel or
// on two in turns. The guest has one CPU and a clock that counts instructions, so the figure does
// not depend on the host or on what else it does. Thread: one.
#include "hotplug/bench/submission_bench.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "hotplug/bench/figures.h"
#include "hotplug/bench/submission_cost.h"
#include "hotplug/bench/times.h"
#include "hotplug/machine/machine.h"

namespace hotplug {

namespace {

namespace fs = std::filesystem;

/// A guest that counts instructions is several times slower.
constexpr int slowness = 4;
constexpr auto measuring_deadline = std::chrono::minutes(20);

/// Boots the kernel of `config` once and measures there.
hp::Result<double> measure(MachineConfig config, const SubmissionBench& bench,
                           const fs::path& log_dir) {
    config.slots.resize(1);
    config.slots[0].gpu.trace = false;
    config.cpus = 1;
    config.accelerator = Accelerator::tcg;
    config.count_instructions = true;
    config.extra_cmdline += " nokaslr";  // alignments count
    config.boot_deadline *= slowness;
    config.probe_deadline *= slowness;
    config.log_dir = log_dir;
    auto machine = Machine::start(std::move(config));
    if (!machine) {
        return tl::unexpected(machine.error());
    }
    AgentClient& agent = (*machine)->agent();
    const auto bdf = (*machine)->slot(0).bdf();
    const auto state = agent.state(Deadline::after(answer_deadline));
    if (!bdf || !state) {
        return tl::unexpected(bdf ? state.error() : bdf.error());
    }
    const DrmNode* node = state->find_drm(*bdf);
    if (node == nullptr) {
        return hp::fail(fmt::format("{} has no render node", *bdf));
    }
    const auto ran =
        agent.run({"submission_cost", "/dev/dri/" + node->minor, "--count",
                   std::to_string(bench.count), "--rounds", std::to_string(bench.rounds)},
                  measuring_deadline);
    if (!ran) {
        return tl::unexpected((*machine)->explain(ran.error()));
    }
    std::ofstream(log_dir / "submission_cost.jsonl") << ran->out;
    const auto costs = read_costs(ran->out);
    if (!costs) {
        return tl::unexpected(costs.error());
    }
    return cost_of_boot(*costs);
}

nlohmann::ordered_json to_json(const std::string& kernel, const CostOfKernel& cost) {
    return {{"kernel", kernel},
            {"instructions", cost.median()},
            {"spread", cost.spread()},
            {"boots", cost.boots}};
}

void print(const std::string& kernel, const CostOfKernel& cost) {
    fmt::print("{:.0f} instructions a submission, spread {:.3f} % over {} boots ({:.0f}): {}\n",
               cost.median(), cost.spread() * 100, cost.boots.size(), fmt::join(cost.boots, ", "),
               kernel);
    std::fflush(stdout);
}

}  // namespace

hp::Result<bool> run_submission_bench(const SubmissionBench& bench, const fs::path& results) {
    const auto& kernels = bench.kernels;
    std::vector<CostOfKernel> costs(kernels.size());
    for (unsigned boot = 1; boot <= bench.boots; ++boot) {
        for (size_t i = 0; i < kernels.size(); ++i) {
            const auto cost =
                measure(kernels[i].config, bench, results / fmt::format("cost-{}-{}", i + 1, boot));
            if (!cost) {
                return tl::unexpected(cost.error());
            }
            costs[i].boots.push_back(*cost);
        }
    }
    nlohmann::ordered_json figures = {{"kernels", nlohmann::ordered_json::array()}};
    for (size_t i = 0; i < kernels.size(); ++i) {
        print(kernels[i].name, costs[i]);
        figures["kernels"].push_back(to_json(kernels[i].name, costs[i]));
    }
    bool within_limit = true;
    if (costs.size() == 2) {
        const CostRatio ratio = compare_costs(costs[0], costs[1]);
        fmt::print(
            "ratio of the second to the first: {:.5f} (pairs of boots: {:.5f} to {:.5f}); a "
            "difference of {} % is allowed\n",
            ratio.median, ratio.least, ratio.most, bench.limit_percent);
        figures["ratio"] = {{"median", ratio.median}, {"least", ratio.least}, {"most", ratio.most}};
        within_limit = std::abs(ratio.median - 1) * 100 <= bench.limit_percent;
    }
    if (const auto written = write_figures(results / "bench-submission.json", figures); !written) {
        return tl::unexpected(written.error());
    }
    for (const CostOfKernel& cost : costs) {
        if (cost.spread() > cost_repeatable) {
            return hp::fail(
                fmt::format("boots of one kernel differ by {:.2f} %, more than the {:.2f} "
                            "% at which a comparison means something",
                            cost.spread() * 100, cost_repeatable * 100));
        }
    }
    return within_limit;
}

}  // namespace hotplug
