// SPDX-License-Identifier: GPL-2.0
// Purpose: see guest_facts.h.
// Thread: functions that read files.
#include "hotplug/run/guest_facts.h"

#include <fmt/format.h>

#include <fstream>
#include <string_view>

namespace hotplug {

namespace {

namespace fs = std::filesystem;

constexpr const char* kmemleak_option = "CONFIG_DEBUG_KMEMLEAK";

struct Detector {
    const char* option;
    std::string_view finds;
};

constexpr Detector detectors[] = {
    {"CONFIG_KASAN", "uses of freed memory and accesses out of bounds"},
    {"CONFIG_PROVE_LOCKING", "locks taken in an order that can deadlock"},
    {kmemleak_option, "memory that nothing points to"},
    {"CONFIG_DMA_API_DEBUG", "DMA mappings that are leaked or misused"},
    {"CONFIG_DETECT_HUNG_TASK", "tasks that hang"},
};

}  // namespace

std::string GuestFacts::flavour() const {
    if (options_from.empty()) {
        return "unknown";
    }
    return options.contains("CONFIG_KASAN") ? "debug" : "fast";
}

std::optional<fs::path> find_kernel_config(const fs::path& image, const std::string& release) {
    const std::string name = "config-" + release;
    std::vector<fs::path> places;
    if (image.parent_path().filename() == "boot" && image.filename() == "bzImage") {
        // TREE/arch/x86/boot/bzImage
        places.push_back(image.parent_path().parent_path().parent_path().parent_path() / ".config");
    }
    places.push_back(image.parent_path() / name);
    places.push_back(fs::path("/boot") / name);
    places.push_back(fs::path("/lib/modules") / release / "build/.config");
    for (const fs::path& place : places) {
        std::error_code error;
        if (fs::is_regular_file(place, error) && !options_in(place).empty()) {
            return place;
        }
    }
    return std::nullopt;
}

std::set<std::string> options_in(const fs::path& config) {
    std::set<std::string> options;
    std::ifstream in(config);
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("CONFIG_") && (line.ends_with("=y") || line.ends_with("=m"))) {
            options.insert(line.substr(0, line.size() - 2));
        }
    }
    return options;
}

void note_unjudged(const GuestFacts& facts, Integrity& integrity) {
    if (facts.options_from.empty()) {
        integrity.add(IntegrityKind::options_unknown,
                      fmt::format("no /proc/config.gz in the guest, and no config-{} beside the "
                                  "kernel or in /boot: put one there",
                                  facts.release));
    } else {
        for (const Detector& detector : detectors) {
            if (!facts.options.contains(detector.option)) {
                integrity.add(
                    IntegrityKind::not_judged,
                    fmt::format("no {}: {} are not found", detector.option, detector.finds));
            }
        }
    }
    if (!facts.translates_dma) {
        integrity.add(
            IntegrityKind::not_judged,
            "no IOMMU (--iommu): DMA to memory that the driver has unmapped is not found");
    }
    if (!facts.counts_slabs && !facts.options.contains(kmemleak_option)) {
        integrity.add(IntegrityKind::leaks_unseen,
                      fmt::format("neither /proc/slabinfo nor {}", kmemleak_option));
    }
    for (const std::string& what : facts.image_lacks) {
        integrity.add(IntegrityKind::image_incomplete, what);
    }
}

}  // namespace hotplug
