// SPDX-License-Identifier: GPL-2.0
// Purpose: see bundle.h.
// Thread: one at a time.
#include "hotplug/report/bundle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "hotplug/kernel_log.h"
#include "hotplug/report/json_report.h"

namespace hotplug {

namespace {

hp::Result<void> write_text(const std::filesystem::path& file, const std::string& text) {
    std::ofstream out(file);
    out << text;
    if (!out.flush()) {
        return hp::fail(fmt::format("{}: cannot write", file.string()));
    }
    return {};
}

}  // namespace

hp::Result<void> write_kernel_log(const std::vector<KernelLine>& log,
                                  const std::filesystem::path& boot_dir) {
    std::error_code error;
    std::filesystem::create_directories(boot_dir, error);
    std::string text;
    for (const KernelLine& line : log) {
        text += format_record(line.time_us, line.text) + "\n";
    }
    return write_text(boot_dir / "dmesg.txt", text);
}

hp::Result<std::string> write_bundle(const RowResult& row, const RunInfo& info,
                                     const std::filesystem::path& boot_dir,
                                     const std::filesystem::path& results_dir) {
    std::string name = row.id;
    std::replace(name.begin(), name.end(), '/', '-');
    const auto folder = results_dir / "failed" / name;
    std::error_code error;
    std::filesystem::remove_all(folder, error);
    std::filesystem::create_directories(folder, error);
    if (!error) {
        std::filesystem::copy(boot_dir, folder, std::filesystem::copy_options::recursive, error);
    }
    if (!error) {
        std::filesystem::copy_file(row.scenario_file, folder / "scenario.json", error);
    }
    if (error) {
        return hp::fail(fmt::format("{}: cannot keep what '{}' left: {}", folder.string(), row.id,
                                    error.message()));
    }
    const nlohmann::ordered_json replay = {
        {"row", row.id}, {"seed", info.seed}, {"command", info.command}};
    const std::string how =
        fmt::format("Run it again:  hpctl replay {}\nIt was run by: hpctl {}\nSeed: {}\n",
                    folder.string(), fmt::join(info.command, " "), info.seed);
    for (auto written : {write_text(folder / "replay.json", dump(replay)),
                         write_text(folder / "row.json", dump(to_json(row))),
                         write_text(folder / "README", how)}) {
        if (!written) {
            return tl::unexpected(written.error());
        }
    }
    return folder.string();
}

hp::Result<Replay> read_replay(const std::filesystem::path& bundle) {
    const auto file = bundle / "replay.json";
    std::ifstream in(file);
    const auto json = nlohmann::json::parse(in, nullptr, false);
    Replay replay;
    try {
        json.at("row").get_to(replay.row);
        json.at("seed").get_to(replay.seed);
        json.at("command").get_to(replay.command);
    } catch (const nlohmann::json::exception&) {
        return hp::fail(fmt::format("{}: not the folder of a failed row (no usable replay.json)",
                                    bundle.string()));
    }
    return replay;
}

}  // namespace hotplug
