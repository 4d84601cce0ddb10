// SPDX-License-Identifier: GPL-2.0
// Purpose: the table of losses. Thread: pure functions.
#include "hotplug/values/loss_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace hotplug {

namespace {

constexpr GuestFile device_remove{"/sys/bus/pci/devices/{bdf}/remove", "1"};
constexpr GuestFile rescan{"/sys/bus/pci/rescan", "1"};

/// By whoever finds out first, which may be a message to the firmware whose answer is all ones.
constexpr std::string_view told_once[] = {
    "{bdf}: device lost: ", "{bdf}: SMU: bus error for message: ", "in params:",
    "{bdf}: Failed to enable gfxoff!"};
/// SDES: of an earlier surprise, which stays set in the port and is told again with the next error.
constexpr std::string_view told_by_port[] = {"PCIe Bus Error: severity=Uncorrectable (",
                                             " error status/mask=", "(First)", "] SDES  ",
                                             "AER:   TLP Header: "};

/// The job that hangs is reported, its ring and then the GPU are reset in vain, and KFD tries to
/// take its queues off.
constexpr std::string_view told_by_resets[] = {
    "{bdf}: SMU: No response msg_reg: ",
    "{bdf}: ring ",
    "{bdf}:  Process drm_submitter pid ",
    "{bdf}: Starting ",
    "{bdf}: Ring ",
    "{bdf}: kiq ring test failed after ring: ",
    "{bdf}: fail to remap queue",
    "{bdf}: GPU Recovery Failed: ",
    "{bdf}: qcm fence wait loop timeout expired",
    "{bdf}: The cp might be in an unrecoverable state due to an unsuccessful queues preemption",
    "amdgpu: Failed to evict process pid ",
    "{bdf}: [drm:amdgpu_ring_test_helper [amdgpu]] *ERROR* ring kiq_",
    "{bdf}: KCQ enable failed",
    "{bdf}: resume of IP block <gfx_v9_4_3> failed"};

template <std::size_t one, std::size_t other>
constexpr auto both(const std::string_view (&lines)[one], const std::string_view (&more)[other]) {
    std::array<std::string_view, one + other> all;
    std::ranges::copy(more, std::ranges::copy(lines, all.begin()).out);
    return all;
}

constexpr auto told_by_a_hang = both(told_once, told_by_resets);

constexpr LossKind kinds[] = {
    {
        .loss = Loss::device_del,
        .name = "device_del",
        .meaning = "QMP device_del: attention button, 5 s of grace, orderly removal",
        .announcement = Announcement::button,
        .comeback = Comeback::new_board,
    },
    {
        .loss = Loss::slot_power,
        .name = "slot_power",
        .meaning = "the guest switches the slot off: orderly, no grace",
        .announcement = Announcement::guest_write,
        .asks = {"/sys/bus/pci/slots/{slot}/power", "0"},
        .comeback = Comeback::new_board,
    },
    {
        .loss = Loss::sysfs_remove,
        .name = "sysfs_remove",
        .meaning = "the guest writes to the device's `remove`: no slot event, the board answers on",
        .announcement = Announcement::guest_write,
        .asks = device_remove,
        .comeback = Comeback::guest_write,
        .brings_back = rescan,
    },
    {
        .loss = Loss::driver_unbind,
        .name = "driver_unbind",
        .meaning = "the guest writes to the driver's `unbind`: the device stays",
        .announcement = Announcement::guest_write,
        .asks = {"/sys/bus/pci/devices/{bdf}/driver/unbind", "{bdf}"},
        .comeback = Comeback::guest_write,
        .brings_back = {"/sys/bus/pci/drivers/amdgpu/bind", "{bdf}"},
        .needs_gpu = true,
        .device_stays = true,
    },
    {
        .loss = Loss::surprise,
        .name = "surprise",
        .meaning = "all ones, then presence drops without a button: pciehp's surprise path",
        .failure = BoardFailure::vanishes,
        .announcement = Announcement::slot_event,
        .comeback = Comeback::new_board,
        .may_log = told_once,
    },
    {
        .loss = Loss::surprise_without_restore,
        .name = "surprise_without_restore",
        .meaning = "negative control: as surprise, but Slot Control is left off, and pciehp keeps "
                   "a dead device for ever",
        .failure = BoardFailure::vanishes,
        .announcement = Announcement::slot_event_left_off,
        .comeback = Comeback::new_board,
        .may_log = told_once,
    },
    {
        .loss = Loss::silent_death,
        .name = "silent_death",
        .meaning = "all ones and no event; after 3 s an administrator removes it through sysfs",
        .failure = BoardFailure::vanishes,
        .announcement = Announcement::guest_write,
        .asks = device_remove,
        .comeback = Comeback::guest_write,
        .brings_back = rescan,
        .needs_gpu = true,
        .may_log = told_once,
    },
    {
        .loss = Loss::hang,
        .name = "hang",
        .meaning = "engines stop, registers answer; after 3 s an administrator removes it through "
                   "sysfs",
        .failure = BoardFailure::hangs,
        .announcement = Announcement::guest_write,
        .asks = device_remove,
        .comeback = Comeback::guest_write,
        .brings_back = rescan,
        .needs_gpu = true,
        .may_log = told_by_a_hang,
    },
    {
        .loss = Loss::aer_fatal,
        .name = "aer_fatal",
        .meaning = "fatal error of the link: pci_error_handlers run, the device stays",
        .announcement = Announcement::link_error,
        .link_error = {"SDN", false},  // Surprise Down Error Status
        .comeback = Comeback::by_itself,
        .device_stays = true,
        .ends_clients = false,
        .may_log = told_by_port,
    },
    {
        .loss = Loss::aer_fatal_above,
        .name = "aer_fatal_above",
        .meaning = "as aer_fatal, of the link above the PCIe switch: both GPUs take part",
        .announcement = Announcement::link_error,
        .link_error = {"SDN", false, true},
        .comeback = Comeback::by_itself,
        .device_stays = true,
        .ends_clients = false,
        .may_log = told_by_port,
    },
    {
        .loss = Loss::aer_nonfatal,
        .name = "aer_nonfatal",
        .meaning = "non-fatal error of the link: the drivers are told, and nothing is reset",
        .announcement = Announcement::link_error,
        .link_error = {"POISON_TLP", true},
        .comeback = Comeback::by_itself,
        .device_stays = true,
        .ends_clients = false,
        .may_log = told_by_port,
    },
    {
        .loss = Loss::link_down,
        .name = "link_down",
        .meaning = "all ones for a while, and nobody is told",
        .failure = BoardFailure::link_down,
        .announcement = Announcement::nothing,
        .comeback = Comeback::by_itself,
        .needs_gpu = true,
        .device_stays = true,
        .ends_clients = false,
    },
    {
        .loss = Loss::link_down_fatal,
        .name = "link_down_fatal",
        .meaning = "all ones for a while, then as aer_fatal: what the hardware of DPC does before "
                   "the kernel hears of it",
        .failure = BoardFailure::link_down,
        .announcement = Announcement::link_error,
        .link_error = {"SDN", false},
        .comeback = Comeback::by_itself,
        .needs_gpu = true,
        .device_stays = true,
        .ends_clients = false,
        .may_log = told_by_port,
    },
    {
        .loss = Loss::bus_reset,
        .name = "bus_reset",
        .meaning = "the guest writes to the device's `reset`: the driver stays bound",
        .announcement = Announcement::guest_write,
        .asks = {"/sys/bus/pci/devices/{bdf}/reset", "1"},
        .comeback = Comeback::by_itself,
        .device_stays = true,
        .ends_clients = false,
    },
    {
        .loss = Loss::at_access,
        .name = "at_access",
        .meaning = "all ones from an access on that something under way makes, then as surprise",
        .failure = BoardFailure::at_access,
        .announcement = Announcement::slot_event,
        .comeback = Comeback::new_board,
        .needs_gpu = true,
        .may_log = told_once,
    },
};

constexpr bool in_order = [] {
    for (size_t i = 0; i < std::size(kinds); ++i) {
        if (kinds[i].loss != Loss(i)) {
            return false;
        }
    }
    return true;
}();
static_assert(in_order, "the rows stand in the order of the enum");

}  // namespace

std::span<const LossKind> all_loss_kinds() {
    return kinds;
}

const LossKind& kind_of(Loss loss) {
    return kinds[static_cast<size_t>(loss)];
}

std::string fill_in(std::string_view pattern, std::string_view slot_name, std::string_view bdf) {
    return fmt::format(fmt::runtime(pattern), fmt::arg("slot", slot_name), fmt::arg("bdf", bdf));
}

std::string_view to_string(Loss loss) {
    return kind_of(loss).name;
}

std::optional<Loss> parse_loss(std::string_view name) {
    const auto* found = std::find_if(std::begin(kinds), std::end(kinds),
                                     [&](const LossKind& kind) { return kind.name == name; });
    return found == std::end(kinds) ? std::nullopt : std::optional(found->loss);
}

bool empties_slot(Loss loss) {
    return kind_of(loss).comeback == Comeback::new_board;
}

bool ends_clients(Loss loss) {
    return kind_of(loss).ends_clients;
}

}  // namespace hotplug
