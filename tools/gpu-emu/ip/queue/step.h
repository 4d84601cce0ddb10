// SPDX-License-Identifier: GPL-2.0
// Purpose: how far a packet got. Packets keep no state of their own: what is not done is fetched
// and looked at again, and goes on at the queue's progress counter. Thread: values.
#pragma once

#include <cstdint>

namespace gpuemu {

enum class Step : uint8_t {
    done,   // over: go on behind it
    again,  // budget spent in the middle of it
    wait,   // its condition does not hold yet: park
};

}  // namespace gpuemu
