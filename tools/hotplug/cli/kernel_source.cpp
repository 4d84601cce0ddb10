// SPDX-License-Identifier: GPL-2.0
// Purpose: see kernel_source.h.
// Thread: one.
#include "hotplug/cli/kernel_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "hotplug/base/child_process.h"
#include "hotplug/machine/host_tools.h"

namespace hotplug {

namespace {

namespace fs = std::filesystem;

constexpr auto git_deadline = std::chrono::seconds(30);

/// Without the newline; nothing: git says no.
std::optional<std::string> git(const fs::path& tree, std::vector<std::string> arguments) {
    std::vector<std::string> command = {"git", "-C", tree.string()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    auto out = run_and_capture(Command{std::move(command), {}}, Deadline::after(git_deadline));
    if (!out) {
        return std::nullopt;
    }
    out->erase(out->find_last_not_of('\n') + 1);
    return *out;
}

}  // namespace

nlohmann::ordered_json describe_source(const fs::path& tree) {
    nlohmann::ordered_json known = nlohmann::ordered_json::object();
    std::error_code error;
    if (!fs::is_directory(tree, error)) {
        return known;
    }
    const auto commit =
        fs::exists(tree / ".git", error) ? git(tree, {"rev-parse", "HEAD"}) : std::nullopt;
    if (commit) {
        const auto changes = git(tree, {"status", "--porcelain", "--untracked-files=no"});
        if (!changes || !changes->empty()) {
            known["comment"] = fmt::format("commit {} and changes beside it", *commit);
            return known;
        }
        known["git_commit_hash"] = *commit;
        known["patchset_hash"] = "";
        if (const auto name = git(tree, {"describe", "--always"})) {
            known["git_commit_name"] = *name;
        }
        if (const auto url = git(tree, {"remote", "get-url", "origin"});
            url && url->starts_with("https://")) {
            known["git_repository_url"] = *url;
        }
        return known;
    }
    // scripts/guest/kernel leaves these beside what it built.
    if (const auto packages = read_packages(tree / ".packages"); !packages.empty()) {
        known["comment"] = fmt::format("Debian's {}", fmt::join(packages, ", "));
    }
    std::string patches;
    if (std::ifstream in(tree / ".patchset"); std::getline(in, patches)) {
        known["patchset_hash"] = patches;
    }
    return known;
}

}  // namespace hotplug
