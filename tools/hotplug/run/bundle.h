// SPDX-License-Identifier: GPL-2.0
// Purpose: what a failed row leaves: a folder with the guest's kernel log, what its boot's logs and
// traces tell of the loss, the scenario, the verdict, and how to run it again. Thread: one at a
// time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "hotplug/guest/agent_client.h"
#include "hotplug/judge/verdict.h"
#include "lib/result.h"

namespace hotplug {

/// dmesg.txt in `boot_dir`.
hp::Result<void> write_kernel_log(const std::vector<KernelLine>& log,
                                  const std::filesystem::path& boot_dir);

/// What a bundle takes at most of its boot's logs and traces.
inline constexpr uint64_t bundle_bytes = 24u << 20;

/// Makes results_dir/failed/<row> with excerpts of what is in boot_dir, and moves what is in
/// `hang_dir` into it (HangExaminer; empty: there is nothing). Returns the folder's path.
hp::Result<std::string> write_bundle(const RowResult& row, const RunInfo& info,
                                     const std::filesystem::path& boot_dir,
                                     const std::filesystem::path& results_dir,
                                     const std::filesystem::path& hang_dir = {});

/// What `hpctl replay` needs of a bundle (its replay.json).
struct Replay {
    std::string row;
    uint64_t seed = 0;
    std::vector<std::string> command;  ///< hpctl's arguments of the run that failed
};

hp::Result<Replay> read_replay(const std::filesystem::path& bundle);

}  // namespace hotplug
