// SPDX-License-Identifier: GPL-2.0
// Purpose: the file of a long series of tries, as JSON lines: it can be broken off and go on, and
// says which files are of one series, so that those of several shards make one result.
// Thread: one at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "hotplug/judge/findings.h"
#include "lib/result.h"

namespace hotplug {

/// What has to be the same for results to be added up.
struct JournalIdentity {
    std::string kernel;  ///< its content: kernel_identity()
    std::string profile;
    unsigned cpus = 0;
    uint64_t seed = 0;
    uint64_t amount = 0;  ///< of tries that were asked for, as JournalKind::amount counts them

    bool operator==(const JournalIdentity&) const = default;
};

struct JournalKind {
    std::string_view name;    ///< in a file's first line, {"sweep": {..., "points": 100}}
    std::string_view noun;    ///< in messages: "a sweep"
    std::string_view amount;  ///< in a file's first line
};

class JournalFile {
public:
    /// Takes in a line behind the first one; throws nlohmann::json::exception at what is none.
    using Take = std::function<void(const nlohmann::ordered_json&)>;

    /// Of nothing yet.
    JournalFile() = default;

    /// Reads what is there and goes on writing behind it. Fails when it is of another series. A
    /// last line that was cut off is dropped.
    static hp::Result<JournalFile> open(const JournalKind& kind, const std::filesystem::path& file,
                                        const JournalIdentity& identity,
                                        const std::vector<std::string>& command, const Take& take);
    /// Only for reading.
    static hp::Result<JournalFile> read(const JournalKind& kind, const std::filesystem::path& file,
                                        const Take& take);

    const JournalIdentity& identity() const { return identity_; }
    /// Arguments of hpctl that a replay needs.
    const std::vector<std::string>& command() const { return command_; }
    /// Fails when the two are not of one series.
    hp::Result<void> adds_up_with(const JournalFile& other) const;
    /// On the disk when it returns: what is known of a kernel that takes the machine down with it
    /// counts.
    hp::Result<void> append(const nlohmann::ordered_json& line) const;

private:
    JournalFile(const JournalKind& kind, std::filesystem::path file)
        : kind_(kind), file_(std::move(file)) {}
    hp::Result<void> load(const Take& take);
    nlohmann::ordered_json header() const;

    JournalKind kind_;
    std::filesystem::path file_;
    JournalIdentity identity_;
    std::vector<std::string> command_;
};

/// What failed in a try, as its line has it.
nlohmann::ordered_json to_json(const std::vector<Finding>& failures);
std::vector<Finding> read_failures(const nlohmann::ordered_json& list);

}  // namespace hotplug
