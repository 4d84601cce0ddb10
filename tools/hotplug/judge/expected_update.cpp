// SPDX-License-Identifier: GPL-2.0
// Purpose: see expected_update.h.
// Thread: pure functions.
#include "hotplug/judge/expected_update.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace hotplug {

namespace {

using Key = std::pair<std::string, Check>;  // a row's id without the cycle

/// What became of one check of the rows of one id.
struct Tries {
    unsigned failed = 0;
    unsigned of = 0;
    std::string evidence;               // the first line
    std::vector<std::string> matching;  // what tells this evidence from other
    size_t last = 0;                    // of the rows
};

/// The longest piece without a figure: the same in the next run.
std::string_view stable_part(std::string_view line) {
    constexpr std::string_view digits = "0123456789";
    std::string_view longest;
    while (!line.empty()) {
        const size_t end = std::min(line.find_first_of(digits), line.size());
        if (end > longest.size()) {
            longest = line.substr(0, end);
        }
        line.remove_prefix(end);
        line.remove_prefix(std::min(line.find_first_not_of(digits), line.size()));
    }
    return longest;
}

void add(std::vector<std::string>& texts, std::string_view text) {
    if (!text.empty() && std::find(texts.begin(), texts.end(), text) == texts.end()) {
        texts.emplace_back(text);
    }
}

/// The titles of the kernel's complaints are made to be stable; other evidence has figures in it.
void add_evidence(Tries& tries, const RowResult& row, const CheckResult& check) {
    if (check.check == Check::log_clean) {
        for (const Complaint& complaint : row.kernel_log.complaints) {
            add(tries.matching, complaint.title);
        }
    } else {
        for (const std::string& line : check.evidence) {
            add(tries.matching, stable_part(line));
        }
    }
    if (tries.evidence.empty() && !check.evidence.empty()) {
        tries.evidence = check.evidence.front();
    }
}

std::map<Key, Tries> count_tries(const std::vector<RowResult>& rows) {
    std::map<Key, Tries> all;
    for (size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].outcome == Outcome::skip) {
            continue;
        }
        for (const CheckResult& check : rows[i].checks) {
            Tries& tries = all[{rows[i].expected_key, check.check}];
            ++tries.of;
            tries.last = i;
            if (!check.passed) {
                ++tries.failed;
                add_evidence(tries, rows[i], check);
            }
        }
    }
    return all;
}

ExpectedFailure entry_of(const Key& key, const Tries& tries, const ExpectedFailure* known) {
    ExpectedFailure entry = {key.first, key.second,
                             known != nullptr         ? known->reason
                             : tries.evidence.empty() ? "fails"
                                                      : tries.evidence,
                             tries.matching};
    const bool known_race = known != nullptr && known->sometimes;
    if (known_race || tries.failed < tries.of) {
        entry.sometimes = {tries.failed, tries.of, "fails in some tries only"};
    }
    if (known_race) {
        for (const std::string& text : known->matching) {
            add(entry.matching, text);
        }
        entry.sometimes->failed += known->sometimes->failed;
        entry.sometimes->of += known->sometimes->of;
        entry.sometimes->race = known->sometimes->race;
    }
    return entry;
}

}  // namespace

void judge_rates(std::vector<RowResult>& rows, const ExpectedFailures& expected) {
    const auto all = count_tries(rows);
    for (const ExpectedFailure& failure : expected.failures()) {
        const auto seen = all.find({failure.row, failure.check});
        if (!failure.sometimes || seen == all.end()) {
            continue;
        }
        const Tries& tries = seen->second;
        if (!failure.sometimes->contradicts(tries.failed, tries.of)) {
            continue;
        }
        RowResult& row = rows[tries.last];
        for (CheckResult& check : row.checks) {
            if (check.check == failure.check) {
                check.outcome = check.passed ? Outcome::fixed : Outcome::fail;
                check.evidence.push_back(fmt::format(
                    "failed {} of {} times, on record are {} of {}: {}", tries.failed, tries.of,
                    failure.sometimes->failed, failure.sometimes->of, failure.sometimes->race));
                row.outcome = std::max(row.outcome, check.outcome);
            }
        }
    }
}

ExpectedFailures updated(const ExpectedFailures& known, const std::vector<RowResult>& rows) {
    const auto all = count_tries(rows);
    std::set<std::string> ran;
    for (const auto& [key, tries] : all) {
        ran.insert(key.first);
    }
    std::vector<ExpectedFailure> list;
    for (const ExpectedFailure& old : known.failures()) {
        const auto seen = all.find({old.row, old.check});
        if (!ran.contains(old.row) || (old.sometimes && seen == all.end())) {
            list.push_back(old);
        } else if (old.sometimes && seen->second.failed == 0) {
            list.push_back(old);  // did not show this time, which counts as a try
            list.back().sometimes->of += seen->second.of;
        }
    }
    for (const auto& [key, tries] : all) {
        if (tries.failed != 0) {
            list.push_back(entry_of(key, tries, known.find(key.first, key.second)));
        }
    }
    return ExpectedFailures(std::move(list));
}

}  // namespace hotplug
