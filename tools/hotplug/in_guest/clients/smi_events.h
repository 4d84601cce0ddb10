// SPDX-License-Identifier: GPL-2.0
// Purpose: the text that a file of KFD's SMI events gives: a line for each, its number in hex and
// what the event is about. Thread: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace hp::clients {

/// Is there an event which says that this GPU is gone (KFD_SMI_EVENT_GPU_GONE)?
bool tells_of_loss(std::string_view events, std::uint32_t gpu_id);

}  // namespace hp::clients
