// SPDX-License-Identifier: GPL-2.0
// Purpose: all scenarios of a folder, and the rows that a selection of ids and tags makes of them.
// Thread: values.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "hotplug/scenario/scenario.h"
#include "lib/result.h"

namespace hotplug {

/// One line of the verdict table. `scenario` points into the catalogue.
struct Row {
    const Scenario* scenario = nullptr;
    const Variant* variant = nullptr;  // null: the scenario has none
    unsigned cycle = 0;                // from 1; 0: not repeated
    uint64_t seed = 0;                 // of what the scenario leaves open
    bool last_cycle = false;
    uint64_t access = 0;                               // LossOptions::access of a loss at_access
    unsigned attempt = 0;                              // from 1; 0: tried once
    std::optional<std::chrono::milliseconds> watch{};  // in place of the scenario's Limits::watch

    /// "surprise/busy", "cycles/7", "sweep/probe@345", and of one that is tried more than once
    /// "surprise/busy~2".
    std::string id() const {
        return attempt == 0 ? name() : name() + "~" + std::to_string(attempt);
    }
    /// The id without the attempt: what select() knows.
    std::string name() const;
    /// The name without cycle and access: the same failures are known for each.
    std::string expected_key() const;
    const std::vector<std::string>& tags() const;
    /// The setup, the variant's steps, then the scenario's. A loss that is drawn from a list is
    /// drawn: in as many cycles as the list is long each comes once, in an order of the seed. A
    /// device that is made hostile without a seed gets one, another in each cycle.
    std::vector<Step> steps() const;
    /// The slot of the GPU that is lost: it changes with each cycle.
    size_t victim_slot() const { return cycle == 0 ? 0 : (cycle - 1) % 2; }
    size_t bystander_slot() const { return 1 - victim_slot(); }
    /// Damage is meant to add up over the cycles: a complaint does not cost the guest.
    bool soak() const { return cycle != 0 && !scenario->alone; }
};

class ScenarioCatalogue {
public:
    /// Reads all *.json of `folder` in the order of their names. Two scenarios with one id are an
    /// error.
    static hp::Result<ScenarioCatalogue> load(const std::filesystem::path& folder);
    explicit ScenarioCatalogue(std::vector<Scenario> scenarios)
        : scenarios_(std::move(scenarios)) {}

    const std::vector<Scenario>& scenarios() const { return scenarios_; }

    /// Rows for `wanted`: row ids, scenario ids or tags. Each row once, in the order of the first
    /// word that names it; the rows of one word are in the catalogue's order. `cycles` replaces the
    /// scenarios' own number. A word that selects nothing is an error.
    hp::Result<std::vector<Row>> select(std::span<const std::string> wanted,
                                        std::optional<unsigned> cycles, uint64_t seed = 0) const;

    /// Takes out of `rows` what is named by one of `patterns`: rows, scenarios or tags, with *, ?
    /// and [] as in fnmatch(3); a * stands for a slash, too. A pattern that names nothing at all is
    /// an error.
    hp::Result<void> exclude(std::vector<Row>& rows, std::span<const std::string> patterns) const;

    /// All that select() knows, but for single cycles.
    std::vector<std::string> words() const;

private:
    std::vector<Scenario> scenarios_;
};

/// The order of a run: as selected for seed 0, else shuffled by it. The cycles of a scenario keep
/// their order.
void order_rows(std::vector<Row>& rows, uint64_t seed);

/// Each row `attempts` times, all of them once before any for the second time; each round in an
/// order of its own if `seed` is not 0.
std::vector<Row> repeat_rows(std::vector<Row> rows, unsigned attempts, uint64_t seed);

}  // namespace hotplug
