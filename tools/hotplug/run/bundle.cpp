// SPDX-License-Identifier: GPL-2.0
// Purpose: see bundle.h.
// Thread: one at a time.
#include "hotplug/run/bundle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "hotplug/judge/kernel_log.h"
#include "hotplug/report/excerpt.h"
#include "hotplug/report/json_report.h"

namespace hotplug {

namespace {

namespace fs = std::filesystem;

hp::Result<void> write_text(const fs::path& file, const std::string& text) {
    std::ofstream out(file);
    out << text;
    if (!out.flush()) {
        return hp::fail(fmt::format("{}: cannot write", file.string()));
    }
    return {};
}

/// The row's last loss, or now; CLOCK_MONOTONIC, as in the traces.
uint64_t moment_of(const RowResult& row) {
    const auto moment =
        row.episodes.empty() ? Deadline::Clock::now() : row.episodes.back().loss.event;
    return static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(moment.time_since_epoch()).count());
}

/// Excerpts of the most recently written files, as many as the bundle's limit allows; the names of
/// the others.
hp::Result<std::vector<std::string>> copy_excerpts(const fs::path& from, const fs::path& to,
                                                   uint64_t moment_ns) {
    std::error_code error;
    std::vector<std::pair<fs::file_time_type, fs::path>> files;
    for (auto entry = fs::directory_iterator(from, error);
         !error && entry != fs::directory_iterator(); entry.increment(error)) {
        files.emplace_back(entry->last_write_time(error), entry->path());
    }
    if (error) {
        return hp::fail(fmt::format("{}: cannot keep what is in {}: {}", to.string(), from.string(),
                                    error.message()));
    }
    std::sort(files.rbegin(), files.rend());
    std::vector<std::string> left_out;
    for (size_t i = 0; i < files.size(); ++i) {
        const fs::path& file = files[i].second;
        if (i >= bundle_bytes / excerpt_bytes) {
            left_out.push_back(file.filename());
            continue;
        }
        const fs::path copy = to / file.filename();
        const auto copied = file.extension() == ".trace" ? copy_trace_around(file, copy, moment_ns)
                                                         : copy_log_end(file, copy);
        if (!copied) {
            return tl::unexpected(copied.error());
        }
    }
    return left_out;
}

/// All of it, on the same disk.
hp::Result<void> move_into(const fs::path& from, const fs::path& to) {
    std::error_code error;
    for (auto entry = fs::directory_iterator(from, error);
         !error && entry != fs::directory_iterator(); entry.increment(error)) {
        fs::rename(entry->path(), to / entry->path().filename(), error);
    }
    return error ? hp::fail(fmt::format("{}: cannot keep what is in {}: {}", to.string(),
                                        from.string(), error.message()))
                 : hp::Result<void>();
}

/// For the README.
std::string describe(const Hang& hang, const fs::path& folder) {
    std::string text = fmt::format("\nIt hung: {}\n", hang.reason);
    std::error_code error;
    if (fs::exists(folder / "tasks.txt", error)) {
        text += "tasks.txt says which tasks are blocked, by what, and who holds it.\n";
    }
    std::ifstream in(folder / "open");
    text += std::string(std::istreambuf_iterator<char>(in), {});
    fs::remove(folder / "open", error);
    if (!hang.note.empty()) {
        text += hang.note + "\n";
    }
    return text;
}

}  // namespace

hp::Result<void> write_kernel_log(const std::vector<KernelLine>& log, const fs::path& boot_dir) {
    std::error_code error;
    fs::create_directories(boot_dir, error);
    std::string text;
    for (const KernelLine& line : log) {
        text += format_record(line.time_us, line.text) + "\n";
    }
    return write_text(boot_dir / "dmesg.txt", text);
}

hp::Result<std::string> write_bundle(const RowResult& row, const RunInfo& info,
                                     const fs::path& boot_dir, const fs::path& results_dir,
                                     const fs::path& hang_dir) {
    std::string name = row.id;
    std::replace(name.begin(), name.end(), '/', '-');
    const auto folder = results_dir / "failed" / name;
    std::error_code error;
    fs::remove_all(folder, error);
    fs::create_directories(folder, error);
    if (!error) {
        fs::copy_file(row.scenario_file, folder / "scenario.json", error);
    }
    if (error) {
        return hp::fail(fmt::format("{}: cannot keep what '{}' left: {}", folder.string(), row.id,
                                    error.message()));
    }
    const auto left_out = copy_excerpts(boot_dir, folder, moment_of(row));
    if (!left_out) {
        return tl::unexpected(left_out.error());
    }
    if (!hang_dir.empty()) {
        if (auto moved = move_into(hang_dir, folder); !moved) {
            return tl::unexpected(moved.error());
        }
    }
    const nlohmann::ordered_json replay = {
        {"row", row.name}, {"seed", info.seed}, {"command", info.command}};
    const std::string how = fmt::format(
        "Run it again:  hpctl replay {}\nIt was run by: hpctl {}\nSeed: {}\n"
        "Logs are cut to their last MiB, traces to the MiB around the loss and the lies told "
        "before: all of them are in {}.\n{}{}",
        folder.string(), fmt::join(info.command, " "), info.seed, boot_dir.string(),
        left_out->empty() ? "" : fmt::format("Left out: {}\n", fmt::join(*left_out, ", ")),
        row.hang ? describe(*row.hang, folder) : "");
    for (auto written : {write_text(folder / "replay.json", dump(replay)),
                         write_text(folder / "row.json", dump(to_json(row))),
                         write_text(folder / "README", how)}) {
        if (!written) {
            return tl::unexpected(written.error());
        }
    }
    return folder.string();
}

hp::Result<Replay> read_replay(const fs::path& bundle) {
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
