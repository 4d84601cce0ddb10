// SPDX-License-Identifier: GPL-2.0
// Purpose: the agent's requests on files: read, write, list, kmemleak. Each returns the answer
// without its id. Thread: any; each call may block as long as the kernel pleases, so they run on
// Workers.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace hp::agent {

nlohmann::json read_file(const std::string& path, std::size_t limit);

/// One write(2), as sysfs wants it. The file must exist: a mistyped attribute is an error.
nlohmann::json write_file(const std::string& path, const std::string& data);

nlohmann::json list_directory(const std::string& path);

/// Scans and answers what the kernel believes leaked since the last time. `root` is "/" but in
/// tests.
nlohmann::json kmemleak(const std::filesystem::path& root);

/// One text per leaked object.
std::vector<std::string> split_kmemleak(std::string_view text);

}  // namespace hp::agent
