// SPDX-License-Identifier: GPL-2.0
// Purpose: the same rows on several kernels, oldest first: one table from which it can be read with
// which kernel a defect came or went. As in compare.h, a check passed or it did not. Thread: pure
// functions.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "hotplug/report/compare.h"

namespace hotplug {

struct MatrixRow {
    std::string id;
    std::vector<std::optional<ComparedRun>> runs;  ///< by kernel; nothing: was not run there
};

struct Matrix {
    std::vector<ComparedKernel> kernels;
    std::vector<MatrixRow> rows;  ///< in the order in which they came first

    /// The next column. A row that came several times counts with its last time.
    void add(const LoadedRun& run);
};

/// "fails up to 6.17, passes from 6.18 on"; kernels that judged nothing are left out.
std::string history(const Matrix& matrix, const MatrixRow& row);

nlohmann::ordered_json to_json(const Matrix& matrix);
std::string format_table(const Matrix& matrix);
std::string format_markdown(const Matrix& matrix);

}  // namespace hotplug
