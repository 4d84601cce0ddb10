// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/loss/black_hole.h"

#include <algorithm>

namespace gpuemu {

BlackHole::BlackHole(const Profile& profile)
    : vram_bytes_(profile.vram_bytes),
      doorbell_bytes_(profile.doorbell_bar_bytes),
      register_bytes_(profile.register_bar_bytes),
      config_({.vendor = vendor_id,
               .device = device_id,
               .subsystem_vendor = vendor_id,
               .subsystem = device_id,
               .revision = 0,
               .class_code = class_code}) {
    config_.set_bar(0, vram_bytes_, true, true);
    config_.set_bar(2, doorbell_bytes_, true, true);
    config_.set_bar(5, register_bytes_, false, false);
}

RegionInfo BlackHole::region_info(Region region) const {
    switch (region) {
        case Region::bar0: return {.size = vram_bytes_, .writable = true, .mmap_fd = -1};
        case Region::bar2: return {.size = doorbell_bytes_, .writable = true, .mmap_fd = -1};
        case Region::bar5: return {.size = register_bytes_, .writable = true, .mmap_fd = -1};
        case Region::config: return {.size = ConfigSpace::size, .writable = true, .mmap_fd = -1};
        default: return {};
    }
}

void BlackHole::read(Region region, uint64_t offset, std::span<std::byte> out) {
    if (region == Region::config) {
        config_.read(offset, out);
    } else {
        std::fill(out.begin(), out.end(), std::byte{0xff});
    }
}

void BlackHole::write(Region region, uint64_t offset, std::span<const std::byte> in) {
    if (region == Region::config) {
        config_.write(offset, in);
    }
}

}  // namespace gpuemu
