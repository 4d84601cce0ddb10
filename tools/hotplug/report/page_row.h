// SPDX-License-Identifier: GPL-2.0
// Purpose: what the page shows of one row: what its verdicts look like, and below the row's line,
// the timelines of all its runs on one axis and each run's evidence. Thread: pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hotplug/report/compare.h"
#include "hotplug/report/figure.h"

namespace hotplug {

/// A row on one of the kernels; without `run`: it was not run there.
struct PageCell {
    const LoadedRun* of = nullptr;
    const ComparedRun* run = nullptr;
    const nlohmann::ordered_json* told = nullptr;  ///< the row in results.json

    bool judged() const { return run != nullptr && run->skip_reason.empty(); }
};

struct PageRow {
    std::string id;
    std::vector<PageCell> cells;  ///< by run
};

/// `style` is a class of page.css. Neither mark nor word is told by colour alone.
struct Look {
    std::string_view style;
    std::string_view mark;
    std::string_view word;
};

/// Of a page with one run the list of known failures has a say; beside each other, a check passed
/// or it did not.
Look look_of(const PageCell& cell, bool alone);

/// "/dev/kfd unusable", "replug to job never": a check that failed.
std::string failure_text(const ComparedCheck& check);
/// What of a run's row broke besides the figures: "client killed by SIGBUS", "steps fail".
std::vector<std::string> broken(const PageCell& cell);

/// Times on the axis of all timelines of a page.
LogAxis timeline_axis(std::span<const PageRow> rows);
std::string format_row(const PageRow& row, const LogAxis& axis);
/// What hpctl was told or is to be told, for a shell, and a button that copies it.
std::string format_command(std::string_view before, const std::vector<std::string>& words);

/// What is there of a JSON object, as the files of an earlier hpctl may lack it.
std::string text_of(const nlohmann::ordered_json& object, const char* key);
const nlohmann::ordered_json& list_of(const nlohmann::ordered_json& object, const char* key);
std::vector<std::string> texts_of(const nlohmann::ordered_json& list);

}  // namespace hotplug
