// SPDX-License-Identifier: GPL-2.0
// Purpose: the ways a running machine loses a GPU: one row of a table for each, with all that is
// told of it anywhere. Another way is a line of the enum and a row in loss_kind.cpp; only one that
// announces itself as none does yet needs code, in loss/removal.cpp. Thread: values.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hotplug {

/// loss_kind.cpp says what each is.
enum class Loss {
    device_del,
    slot_power,
    sysfs_remove,
    driver_unbind,
    surprise,
    surprise_without_restore,
    silent_death,
    hang,
    aer_fatal,
    aer_fatal_above,
    aer_nonfatal,
    link_down,
    link_down_fatal,
    bus_reset,
    at_access,
};

/// What happens to the board before anybody tells the guest.
enum class BoardFailure {
    none,
    vanishes,   // reads are all ones
    hangs,      // engines stop, registers answer
    link_down,  // reads are all ones for a while, then as before
    at_access,  // vanishes when the guest has touched it so often
};

/// What tells the guest that the GPU goes. Between the board's failure and this passes the time
/// LossOptions::ones_before_event for an event of the slot or the link, LossOptions::unnoticed for
/// a write.
enum class Announcement {
    button,               // QMP device_del: attention button, 5 s of grace
    guest_write,          // a file of the guest's sysfs
    slot_event,           // presence drops, and nobody pressed the button
    slot_event_left_off,  // as that, and Slot Control is left "off"
    link_error,           // an AER error of the port: LossKind::link_error
    nothing,
};

/// What brings a GPU back.
enum class Comeback {
    new_board,    // the slot is empty: any board can be plugged in
    guest_write,  // the board never left: a file of the guest's sysfs
    by_itself,    // the device never left
};

/// A file of the guest's sysfs and what is written there; "{bdf}" and "{slot}" (the slot's name
/// below /sys/bus/pci/slots) are filled in.
struct GuestFile {
    std::string_view path;
    std::string_view data;
};

/// What QEMU's pcie_aer_inject_error is told. A recovery that resets nothing may fail, because a
/// function of the board has no error handlers, and take nothing from the others. `above`: the
/// error is that of the root port above the switch, and all boards behind it take part.
struct LinkError {
    std::string_view name;
    bool may_fail;
    bool above = false;
};

struct LossKind {
    Loss loss;
    std::string_view name;     ///< in scenarios and reports
    std::string_view meaning;  ///< one line, for documentation and schema
    BoardFailure failure = BoardFailure::none;
    Announcement announcement;
    GuestFile asks = {};        ///< Announcement::guest_write
    LinkError link_error = {};  ///< Announcement::link_error
    Comeback comeback;
    GuestFile brings_back = {};  ///< Comeback::guest_write
    /// No other device than an emulated GPU can be lost like this.
    bool needs_gpu = false;
    /// The guest keeps the device: no directory below /sys/bus/pci/devices goes.
    bool device_stays = false;
    bool ends_clients = true;
    /// Parts of the error lines that a right driver, or the bus, may write for it, each once; see
    /// fill_in().
    std::span<const std::string_view> may_log = {};
};

/// All of them, in the order of the enum.
std::span<const LossKind> all_loss_kinds();
const LossKind& kind_of(Loss loss);

/// A text of the table with the slot's name and the board's address filled in.
std::string fill_in(std::string_view pattern, std::string_view slot_name, std::string_view bdf);

std::string_view to_string(Loss loss);
std::optional<Loss> parse_loss(std::string_view name);
/// Does the loss leave the slot empty, so that another board can be put in?
bool empties_slot(Loss loss);
/// Is the GPU gone for whoever has it open? After a recovery its clients may go on.
bool ends_clients(Loss loss);

}  // namespace hotplug
