// SPDX-License-Identifier: GPL-2.0
// Purpose: see catalogue.h.
// Thread: values.
#include "hotplug/scenario/catalogue.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <functional>
#include <set>

#include "hotplug/scenario/parameters.h"
#include "hotplug/scenario/parser.h"
#include "lib/nearest.h"

namespace hotplug {

namespace {

// Not std::shuffle: its result differs between standard libraries, and a seed must replay anywhere.
template <typename T>
void shuffle(std::vector<T>& elements, std::mt19937_64 random) {
    for (size_t i = elements.size(); i > 1; --i) {
        std::swap(elements[i - 1], elements[random() % i]);
    }
}

/// One of `losses` for a cycle, which counts from 1.
Loss draw(std::vector<Loss> losses, uint64_t seed, unsigned cycle) {
    const size_t index = cycle == 0 ? 0 : cycle - 1;
    const size_t turn = index / losses.size();
    std::seed_seq words{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32),
                        static_cast<uint32_t>(turn)};
    shuffle(losses, std::mt19937_64(words));
    return losses[index % losses.size()];
}

/// Of a hostile device: another one in each cycle.
uint32_t draw_seed(uint64_t seed, unsigned cycle) {
    std::seed_seq words{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32), cycle};
    return static_cast<uint32_t>(std::mt19937_64(words)());
}

std::vector<Row> rows_of(const Scenario& scenario, std::optional<unsigned> cycles, uint64_t seed) {
    std::vector<const Variant*> variants;
    for (const Variant& variant : scenario.variants) {
        variants.push_back(&variant);
    }
    if (variants.empty()) {
        variants.push_back(nullptr);
    }
    std::vector<Row> rows;
    for (const Variant* variant : variants) {
        if (scenario.cycles == 0) {
            rows.push_back({&scenario, variant, 0, seed});
            continue;
        }
        const unsigned last = cycles.value_or(scenario.cycles);
        for (unsigned cycle = 1; cycle <= last; ++cycle) {
            rows.push_back({&scenario, variant, cycle, seed, cycle == last});
        }
    }
    return rows;
}

/// One of the words that a row answers to.
bool any_word(const Row& row, const std::function<bool(const std::string&)>& holds) {
    const auto& tags = row.tags();
    return holds(row.scenario->id) || holds(row.expected_key()) || holds(row.name()) ||
           std::any_of(tags.begin(), tags.end(), holds);
}

bool selects(const std::string& word, const Row& row) {
    return any_word(row, [&](const std::string& known) { return known == word; });
}

bool matches(const std::string& pattern, const std::string& word) {
    return ::fnmatch(pattern.c_str(), word.c_str(), 0) == 0;
}

}  // namespace

std::string Row::expected_key() const {
    return variant == nullptr ? scenario->id : fmt::format("{}/{}", scenario->id, variant->name);
}

std::string Row::name() const {
    if (access != 0) {
        return fmt::format("{}@{}", expected_key(), access);
    }
    return cycle == 0 ? expected_key() : fmt::format("{}/{}", expected_key(), cycle);
}

const std::vector<std::string>& Row::tags() const {
    return variant != nullptr && variant->tags ? *variant->tags : scenario->tags;
}

std::vector<Step> Row::steps() const {
    std::vector<Step> steps = steps_of(*scenario, variant);
    for (Step& step : steps) {
        if (auto* lose = std::get_if<LoseStep>(&step); lose && !lose->drawn_from.empty()) {
            *lose = LoseStep{draw(lose->drawn_from, seed, cycle)};
        }
        if (auto* emulate = std::get_if<EmulateStep>(&step);
            emulate && emulate->hostile() && !emulate->request.contains("seed")) {
            emulate->request["seed"] = draw_seed(seed, cycle);
        }
    }
    return steps;
}

hp::Result<ScenarioCatalogue> ScenarioCatalogue::load(const std::filesystem::path& folder) {
    std::error_code error;
    std::vector<std::filesystem::path> files;
    for (auto entry = std::filesystem::directory_iterator(folder, error);
         !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        if (entry->path().extension() == ".json") {
            files.push_back(entry->path());
        }
    }
    if (error || files.empty()) {
        return hp::fail(fmt::format("{}: no scenario there{}", folder.string(),
                                    error ? ": " + error.message() : ""));
    }
    std::sort(files.begin(), files.end());
    std::vector<Scenario> scenarios;
    std::set<std::string> ids;
    for (const auto& file : files) {
        auto scenario = load_scenario(file);
        if (!scenario) {
            return tl::unexpected(scenario.error());
        }
        if (!ids.insert(scenario->id).second) {
            return hp::fail(fmt::format("{}: /id: '{}' is the id of another scenario, too",
                                        file.string(), scenario->id));
        }
        scenarios.push_back(std::move(*scenario));
    }
    return ScenarioCatalogue(std::move(scenarios));
}

std::vector<std::string> ScenarioCatalogue::words() const {
    std::vector<std::string> words;
    for (const Scenario& scenario : scenarios_) {
        words.push_back(scenario.id);
        for (const Row& row : rows_of(scenario, 1, 0)) {
            words.push_back(row.expected_key());
            words.insert(words.end(), row.tags().begin(), row.tags().end());
        }
    }
    return words;
}

hp::Result<std::vector<Row>> ScenarioCatalogue::select(std::span<const std::string> wanted,
                                                       std::optional<unsigned> cycles,
                                                       uint64_t seed) const {
    // The rows of each word, that nobody named before it.
    std::vector<std::vector<Row>> rows_of_word(wanted.size());
    std::vector<bool> used(wanted.size(), false);
    for (const Scenario& scenario : scenarios_) {
        for (const Row& row : rows_of(scenario, cycles, seed)) {
            bool taken = false;
            for (size_t i = 0; i < wanted.size(); ++i) {
                if (!selects(wanted[i], row)) {
                    continue;
                }
                used[i] = true;
                if (!taken) {
                    rows_of_word[i].push_back(row);
                    taken = true;
                }
            }
        }
    }
    std::vector<Row> rows;
    for (size_t i = 0; i < wanted.size(); ++i) {
        if (!used[i]) {
            const std::string meant = hp::nearest(wanted[i], words());
            return hp::fail(fmt::format(
                "'{}' is no row, scenario or tag: {}", wanted[i],
                meant.empty() ? "hpctl list shows them" : fmt::format("did you mean {}?", meant)));
        }
        rows.insert(rows.end(), rows_of_word[i].begin(), rows_of_word[i].end());
    }
    return rows;
}

hp::Result<void> ScenarioCatalogue::exclude(std::vector<Row>& rows,
                                            std::span<const std::string> patterns) const {
    const std::vector<std::string> known = words();
    for (const std::string& pattern : patterns) {
        const auto named = [&](const std::string& word) { return matches(pattern, word); };
        const size_t taken =
            std::erase_if(rows, [&](const Row& row) { return any_word(row, named); });
        if (taken == 0 && std::none_of(known.begin(), known.end(), named)) {
            const std::string meant = hp::nearest(pattern, known);
            return hp::fail(fmt::format(
                "--exclude '{}' names no row, scenario or tag: {}", pattern,
                meant.empty() ? "hpctl list shows them" : fmt::format("did you mean {}?", meant)));
        }
    }
    return {};
}

void order_rows(std::vector<Row>& rows, uint64_t seed) {
    if (seed == 0) {
        return;
    }
    shuffle(rows, std::mt19937_64(seed));
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row& a, const Row& b) { return a.cycle < b.cycle; });
}

std::vector<Row> repeat_rows(std::vector<Row> rows, unsigned attempts, uint64_t seed) {
    if (attempts == 1) {
        order_rows(rows, seed);
        return rows;
    }
    std::vector<Row> all;
    for (unsigned attempt = 1; attempt <= attempts; ++attempt) {
        std::vector<Row> round = rows;
        order_rows(round, seed == 0 ? 0 : seed + attempt - 1);
        for (Row& row : round) {
            row.attempt = attempt;
            all.push_back(row);
        }
    }
    return all;
}

}  // namespace hotplug
