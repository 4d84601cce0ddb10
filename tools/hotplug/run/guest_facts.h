// SPDX-License-Identifier: GPL-2.0
// Purpose: what does not change while a guest runs, and what cannot be judged on it for that
// reason. Thread: values and functions that read files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hotplug/judge/integrity.h"

namespace hotplug {

struct GuestFacts {
    std::string release;             ///< uname -r
    std::set<std::string> options;   ///< "CONFIG_KASAN", built in or as module
    std::string options_from;        ///< where they were read; empty: nobody knows the options
    std::set<std::string> programs;  ///< of the guest image
    std::vector<std::string> image_lacks;  ///< what could not be put into it, with the reasons
    std::string profile;                   ///< of the emulated GPUs
    size_t gpus = 0;
    bool behind_switch = false;   ///< see pcie_switch.h
    bool translates_dma = false;  ///< by an IOMMU, for each GPU: see checks.md
    bool counts_slabs = false;    ///< it has /proc/slabinfo

    /// Which list of expected failures holds: a kernel with KASAN ("debug") finds what one without
    /// ("fast") does not. "unknown" when nobody knows the options.
    std::string flavour() const;
};

/// The file with the configuration of the kernel whose image this is: .config of the built tree it
/// is in, config-RELEASE beside it, or of /boot or the modules' build folder on this host. Nothing:
/// none of them is there.
std::optional<std::filesystem::path> find_kernel_config(const std::filesystem::path& image,
                                                        const std::string& release);

/// The options that are on in a configuration; none when it cannot be read.
std::set<std::string> options_in(const std::filesystem::path& config);

/// Adds what is not judged on such a guest.
void note_unjudged(const GuestFacts& facts, Integrity& integrity);

}  // namespace hotplug
