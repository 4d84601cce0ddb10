// SPDX-License-Identifier: GPL-2.0
// Purpose: /etc/gpupool.json: pools, GPUs and VMs that somebody has written down, and how the books
// come to have them. What the file does not name stays as it is: commands make things, too.
// Thread: values and pure functions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "gpupool/driver/driver.h"
#include "gpupool/placement/books.h"
#include "lib/result.h"

namespace gpupool {

struct Configuration {
    struct Board {
        std::string pool{};
        uint64_t serial = 0;
        bool operator==(const Board&) const = default;
    };
    std::vector<Pool> pools{};
    std::vector<Board> gpus{};
    std::vector<Vm> vms{};
    bool clustered = false;  // Pacemaker starts and stops VMs
};

/// `file` stands in errors, which are one line: what is wrong, and where.
hp::Result<Configuration> parse_configuration(std::string_view text, const std::string& file);
hp::Result<Configuration> read_configuration(const std::filesystem::path& file);

/// Makes what is missing, and changes what may be changed: spares, on_failure, give_up_s, and of a
/// VM that is stopped all. Fails with the books half changed when something cannot be: they are a
/// draft.
hp::Result<void> apply(const Configuration& wanted, const Driver& driver, Books& books);

}  // namespace gpupool
