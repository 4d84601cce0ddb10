// SPDX-License-Identifier: GPL-2.0
// Purpose: see matrix.h.
// Thread: pure functions.
#include "hotplug/report/matrix.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace hotplug {

namespace {

using json = nlohmann::ordered_json;

bool judged(const std::optional<ComparedRun>& run) {
    return run && run->skip_reason.empty();
}

MatrixRow& row_of(Matrix& matrix, const std::string& id) {
    const auto found = std::find_if(matrix.rows.begin(), matrix.rows.end(),
                                    [&](const MatrixRow& row) { return row.id == id; });
    return found == matrix.rows.end()
               ? matrix.rows.emplace_back(
                     MatrixRow{id, std::vector<std::optional<ComparedRun>>(matrix.kernels.size())})
               : *found;
}

/// Less than summarize() tells: there are many columns.
std::string brief(const std::optional<ComparedRun>& run) {
    if (!run) {
        return "not run";
    }
    if (!run->skip_reason.empty()) {
        return "skipped: " + run->skip_reason;
    }
    std::vector<std::string> failed;
    for (const ComparedCheck& check : run->checks) {
        if (!check.passed) {
            std::string text = fmt::format("{} {}", info(check.check).heading, check.value);
            text.erase(text.find_last_not_of(' ') + 1);
            failed.push_back(std::move(text));
        }
    }
    return failed.empty() ? "passes" : fmt::format("fails: {}", fmt::join(failed, ", "));
}

std::vector<std::string> flaws_of(const Matrix& matrix) {
    std::vector<std::string> texts;
    for (const ComparedKernel& kernel : matrix.kernels) {
        for (const std::string& flaw : kernel.flaws) {
            texts.push_back(fmt::format("the run on {} fails: {}", kernel.name, flaw));
        }
    }
    return texts;
}

}  // namespace

void Matrix::add(const LoadedRun& run) {
    kernels.push_back(run.kernel);
    for (MatrixRow& row : rows) {
        row.runs.emplace_back();
    }
    for (const LoadedRun::Row& row : run.rows) {
        row_of(*this, row.id).runs.back() = row.run;
    }
}

std::string history(const Matrix& matrix, const MatrixRow& row) {
    struct Stretch {
        bool passed;
        std::string first, last;
    };
    std::vector<Stretch> stretches;
    for (size_t kernel = 0; kernel < row.runs.size(); ++kernel) {
        if (!judged(row.runs[kernel])) {
            continue;
        }
        const bool passed = row.runs[kernel]->passed();
        const std::string& name = matrix.kernels[kernel].name;
        if (stretches.empty() || stretches.back().passed != passed) {
            stretches.push_back({passed, name, name});
        } else {
            stretches.back().last = name;
        }
    }
    const size_t judging = std::count_if(row.runs.begin(), row.runs.end(),
                                         [](const auto& run) { return judged(run); });
    std::vector<std::string> texts;
    for (size_t at = 0; at < stretches.size(); ++at) {
        const Stretch& stretch = stretches[at];
        const char* verdict = stretch.passed ? "passes" : "fails";
        if (judging == row.runs.size() && stretches.size() == 1) {
            texts.push_back(fmt::format("{} on all", verdict));
        } else if (at == 0 && stretches.size() > 1) {
            texts.push_back(fmt::format("{} up to {}", verdict, stretch.last));
        } else if (at > 0 && at + 1 == stretches.size()) {
            texts.push_back(fmt::format("{} from {} on", verdict, stretch.first));
        } else {
            texts.push_back(
                stretch.first == stretch.last
                    ? fmt::format("{} on {}", verdict, stretch.first)
                    : fmt::format("{} from {} to {}", verdict, stretch.first, stretch.last));
        }
    }
    return texts.empty() ? "not judged" : fmt::format("{}", fmt::join(texts, ", "));
}

json to_json(const Matrix& matrix) {
    json kernels = json::array();
    for (const ComparedKernel& kernel : matrix.kernels) {
        kernels.push_back(to_json(kernel));
    }
    json rows = json::array();
    for (const MatrixRow& row : matrix.rows) {
        json runs = json::array();
        for (const auto& run : row.runs) {
            runs.push_back(to_json(run));
        }
        rows.push_back({{"id", row.id}, {"history", history(matrix, row)}, {"runs", runs}});
    }
    return {{"kernels", kernels}, {"rows", rows}};
}

std::string format_table(const Matrix& matrix) {
    size_t width = 0;
    for (const ComparedKernel& kernel : matrix.kernels) {
        width = std::max(width, kernel.name.size());
    }
    // Lines below each other: columns would be wider than a terminal.
    std::string text;
    for (const MatrixRow& row : matrix.rows) {
        text += fmt::format("{}: {}\n", row.id, history(matrix, row));
        for (size_t kernel = 0; kernel < row.runs.size(); ++kernel) {
            text += fmt::format("  {:<{}}  {}\n", matrix.kernels[kernel].name, width,
                                brief(row.runs[kernel]));
        }
    }
    for (const std::string& flaw : flaws_of(matrix)) {
        text += flaw + "\n";
    }
    return text;
}

std::string format_markdown(const Matrix& matrix) {
    std::string text = "| row |";
    std::string rule = "|---|";
    for (const ComparedKernel& kernel : matrix.kernels) {
        text += fmt::format(" {} |", escape_cell(kernel.name));
        rule += "---|";
    }
    text += " |\n" + rule + "---|\n";
    for (const MatrixRow& row : matrix.rows) {
        text += fmt::format("| `{}` |", row.id);
        for (const auto& run : row.runs) {
            text += fmt::format(" {} |", escape_cell(brief(run)));
        }
        text += fmt::format(" {} |\n", escape_cell(history(matrix, row)));
    }
    for (const std::string& flaw : flaws_of(matrix)) {
        text += fmt::format("\n**{}**\n", escape_cell(flaw));
    }
    return text;
}

}  // namespace hotplug
