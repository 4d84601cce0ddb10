// SPDX-License-Identifier: GPL-2.0
// Purpose: what is kept of a guest that hangs: its memory, and who waits for which lock held by
// whom; where that cannot be had, what the guest says itself. Thread: one at a time.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "hotplug/judge/verdict.h"
#include "hotplug/machine/memory_dump.h"
#include "hotplug/run/testbed.h"

namespace hotplug {

/// Of which rows the guest's memory is dumped.
enum class DumpOf { none, hangs, failures };

std::optional<DumpOf> parse_dump_of(std::string_view name);

struct HangExaminerConfig {
    DumpOf dump = DumpOf::none;
    /// Dumps that a run keeps; of the others the list of tasks stays.
    unsigned kept = 3;
    MemoryDumpLimits limits = {};
    std::filesystem::path script;  ///< scripts/guest/blocked-tasks
    std::filesystem::path kernel;  ///< as MachineConfig has it
};

class HangExaminer {
public:
    HangExaminer() = default;
    explicit HangExaminer(HangExaminerConfig config) : config_(std::move(config)) {}

    bool looks_at_anything() const { return config_.dump != DumpOf::none; }
    /// `reason`: of find_hang().
    bool wants(const std::string& reason) const;
    /// Leaves tasks.txt in `folder`, and what of vmcore, vmlinux, vmcoreinfo and types.o there is.
    Hang examine(Testbed& bed, const std::string& reason, const std::filesystem::path& folder);

private:
    /// Or what was found in it alone, when the run has as many as it keeps.
    void keep_memory(const std::filesystem::path& folder, Hang& hang);
    hp::Result<void> examine_memory(Testbed& bed, const std::filesystem::path& folder);
    hp::Result<void> ask_guest(Testbed& bed, const std::filesystem::path& folder) const;

    HangExaminerConfig config_;
    unsigned kept_ = 0;
};

}  // namespace hotplug
