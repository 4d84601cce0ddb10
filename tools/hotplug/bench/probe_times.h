// SPDX-License-Identifier: GPL-2.0
// Purpose: how long amdgpu took to probe each GPU, in the guest's time, from its kernel log.
// Thread: pure function. Not modelled: what KFD and sysfs do after the driver's last line.
#pragma once

#include <chrono>
#include <map>
#include <span>
#include <string>

#include "hotplug/guest/agent_client.h"

namespace hotplug {

/// By PCI address; the last probe of each, as far as both its first and its last line are there.
std::map<std::string, std::chrono::microseconds> probe_times(std::span<const KernelLine> log);

}  // namespace hotplug
