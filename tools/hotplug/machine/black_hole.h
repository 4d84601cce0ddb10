// SPDX-License-Identifier: GPL-2.0
// Purpose: lays the black hole, a device that answers ones and counts, under the BARs of a board.
// While the board is in its slot the root port's windows hide the hole; from the instant QEMU lets
// go of the board it shows through. On q35 an address nobody claims would read as zero, which no
// real machine does. Thread: one at a time. The guest's CPUs must be stopped during lay_under():
// the hole is on top for a moment.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "hotplug/machine/qtest_client.h"
#include "hotplug/machine/slot_port.h"
#include "lib/result.h"

namespace hotplug {

/// The six base address registers, flags included.
using BaseAddresses = std::array<uint32_t, 6>;

class BlackHole {
public:
    /// The hole is 00:`device`.`function`.
    BlackHole(QtestClient& qtest, unsigned device, unsigned function = 0)
        : qtest_(&qtest), device_(device), function_(function) {}

    /// Those of the device at `bus`:0.0; fails when the guest has not given it addresses.
    hp::Result<BaseAddresses> addresses_of(unsigned bus);
    bool lies_under(const BaseAddresses& addresses) const { return addresses == lies_under_; }
    /// Moves the hole, then raises the windows of all `ports`: a hole larger than its board,
    /// aligned to its own size, reaches below other windows, too.
    hp::Result<void> lay_under(const BaseAddresses& addresses, const std::vector<SlotPort*>& ports);

private:
    QtestClient* qtest_;
    unsigned device_;
    unsigned function_;
    std::optional<BaseAddresses> lies_under_;
};

}  // namespace hotplug
