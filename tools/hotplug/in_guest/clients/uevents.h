// SPDX-License-Identifier: GPL-2.0
// Purpose: the kernel's uevents, as udev gets them.
// Thread: not synchronised; the client's one thread owns it.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "hotplug/in_guest/clients/io.h"
#include "lib/fd.h"

namespace hp::clients {

/// The members of a uevent: ACTION, SUBSYSTEM, DEVPATH and what the driver adds.
using Uevent = std::map<std::string, std::string>;

/// Nothing for what is no uevent of the kernel, as the messages of udevd. `message` is
/// "ACTION@DEVPATH", followed by "KEY=value" strings, each with its NUL.
std::optional<Uevent> parse_uevent(std::string_view message);

/// A member's value, empty if there is none.
std::string_view member(const Uevent& event, const std::string& key);

class Uevents {
public:
    /// From now on no uevent is missed, if the queue is read.
    static IoResult<Uevents> open();

    /// The next one; nothing when none came within `patience`, or a signal did. ENOBUFS as error:
    /// some were lost.
    IoResult<std::optional<Uevent>> next(std::chrono::milliseconds patience);

private:
    explicit Uevents(Fd socket) : socket_(std::move(socket)) {}

    Fd socket_;
};

}  // namespace hp::clients
