// SPDX-License-Identifier: GPL-2.0
// Purpose: `hpctl bisect`: what `git bisect run` calls in a kernel tree. Building a kernel is the
// business of the scripts, so this is scripts/bisect-run, found beside that for
// guest images. Thread: one; becomes the script.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "hotplug/cli/commands.h"

namespace hotplug {

namespace fs = std::filesystem;

hp::Result<CommandStatus> bisect_command(const BisectOptions& options) {
    const auto scripts = script_folder();
    if (!scripts) {
        return tl::unexpected(scripts.error());
    }
    const std::string script = *scripts / "bisect-run";
    std::vector<std::string> words = {script};
    words.insert(words.end(), options.rows.begin(), options.rows.end());
    if (options.repeat != 1) {
        words.insert(words.end(), {"--repeat", std::to_string(options.repeat)});
    }
    std::vector<char*> arguments;
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    ::setenv("FLAVOUR", options.flavour.c_str(), 1);
    ::execv(script.c_str(), arguments.data());
    return hp::fail(fmt::format("{}: {}", script, std::strerror(errno)));
}

}  // namespace hotplug
