// SPDX-License-Identifier: GPL-2.0
// Purpose: what `hpctl sweep` and `hpctl hostile` have in common: many rows that one command goes
// through with in several calls, and that are told as groups of failures, each with its replay.
// Thread: one.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "hotplug/cli/options.h"
#include "hotplug/run/runner.h"
#include "hotplug/sweep/journal_file.h"

namespace hotplug {

/// What is known, for people.
struct CampaignText {
    std::string name;  ///< "sweep": of the file
    std::string text;
    std::vector<std::string> replays;  ///< a command for each try that failed
};

/// Where its file is, in the folder of results.
std::filesystem::path journal_of(const std::filesystem::path& results, const std::string& name);
/// The same for folders that are to be added up; a file stands for itself.
std::vector<std::filesystem::path> journals_of(const std::vector<std::string>& named,
                                               const std::string& name);

hp::Result<std::filesystem::path> make_results(const std::string& results);

hp::Result<JournalIdentity> identity_of(const MachineOptions& options, const MachineConfig& machine,
                                        uint64_t seed, uint64_t amount);

/// Prints it, writes it into `results`.
hp::Result<CommandStatus> conclude(const CampaignText& text, const std::filesystem::path& results);

/// Runs the rows, with a bundle for the first failure of each kind; `text` says what came of them.
hp::Result<CommandStatus> run_campaign(MachineConfig machine, RowSource& rows, RunInfo info,
                                       const std::filesystem::path& results,
                                       const std::function<CampaignText()>& text);

}  // namespace hotplug
