// SPDX-License-Identifier: GPL-2.0
// Purpose: see smi_events.h.
// Thread: pure functions.
#include "hotplug/in_guest/clients/smi_events.h"

#include <sstream>
#include <string>

#include "hotplug/in_guest/clients/kfd_abi.h"

namespace hp::clients {

bool tells_of_loss(std::string_view events, std::uint32_t gpu_id) {
    std::istringstream lines{std::string(events)};
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::uint32_t event = 0;
        std::uint32_t about = 0;
        if (words >> std::hex >> event >> about && event == abi::KFD_SMI_EVENT_GPU_GONE &&
            about == gpu_id) {
            return true;
        }
    }
    return false;
}

}  // namespace hp::clients
