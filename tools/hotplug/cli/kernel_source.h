// SPDX-License-Identifier: GPL-2.0
// Purpose: what can be told of the source of a kernel by looking at the tree that it was built in:
// the commit, or the package and the patches. Thread: one; runs git.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace hotplug {

/// Members of a checkout as KCIDB has them, but for id and origin; empty for an image that came
/// without its tree. A commit is named only when the tree has no changes beside it.
nlohmann::ordered_json describe_source(const std::filesystem::path& tree);

}  // namespace hotplug
