// SPDX-License-Identifier: GPL-2.0
// Purpose: the list of profiles, and looking into one.
// Thread: immutable after construction.
// Does not model: nothing.
#include "gpu-emu/profiles/profile.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "gpu-emu/profiles/mi300x.h"
#include "gpu-emu/profiles/mi308x.h"
#include "gpu-emu/profiles/mi350x.h"
#include "gpu-emu/profiles/navi21.h"

namespace gpuemu {
namespace {

const std::array<Profile, 6>& table() {
    static const std::array<Profile, 6> profiles{make_mi300x(),    make_mi300x_hive(),
                                                 make_mi300x_vf(), make_mi308x(),
                                                 make_mi350x(),    make_navi21()};
    return profiles;
}

}  // namespace

const IpInstance& Profile::ip(HwId hw_id, unsigned instance) const {
    const auto found = std::ranges::find_if(
        ips, [&](const IpInstance& ip) { return ip.hw_id == hw_id && ip.instance == instance; });
    if (found == ips.end()) {
        throw std::out_of_range("profile " + name + " has no IP " +
                                std::to_string(static_cast<unsigned>(hw_id)) + " instance " +
                                std::to_string(instance));
    }
    return *found;
}

std::vector<const IpInstance*> Profile::working(HwId hw_id) const {
    std::vector<const IpInstance*> found;
    for (const IpInstance& ip : ips) {
        const auto is_this = [&](const HarvestedIp& gone) {
            return gone.hw_id == ip.hw_id && gone.instance == ip.instance;
        };
        if (ip.hw_id == hw_id && std::ranges::none_of(harvested, is_this)) {
            found.push_back(&ip);
        }
    }
    return found;
}

unsigned Profile::aids() const {
    return static_cast<unsigned>(std::ranges::count(ips, HwId::MMHUB, &IpInstance::hw_id));
}

const Profile* find_profile(const std::string& name) {
    const auto found = std::ranges::find(table(), name, &Profile::name);
    return found == table().end() ? nullptr : &*found;
}

std::vector<const Profile*> all_profiles() {
    std::vector<const Profile*> all;
    for (const Profile& profile : table()) {
        all.push_back(&profile);
    }
    return all;
}

}  // namespace gpuemu
