// SPDX-License-Identifier: GPL-2.0
// Purpose: see figures.h.
// Thread: one.
#include "hotplug/bench/figures.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>

namespace hotplug {

void print_figure(const std::string& what, const std::string& value) {
    fmt::print("{:<58} {}\n", what, value);
    std::fflush(stdout);  // a bench takes minutes, and somebody watches it
}

hp::Result<void> write_figures(const std::filesystem::path& file,
                               const nlohmann::ordered_json& figures) {
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    std::ofstream out(file);
    out << figures.dump(2) << '\n';
    if (!out.flush()) {
        return hp::fail(fmt::format("cannot write {}", file.string()));
    }
    return {};
}

}  // namespace hotplug
