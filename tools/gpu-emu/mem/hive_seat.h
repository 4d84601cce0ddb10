// SPDX-License-Identifier: GPL-2.0
// Purpose: which of the GPUs of an XGMI hive a GPU is.
// Thread: values.
#pragma once

#include <cstdint>

namespace gpuemu {

/// The memory of a hive is one address space: that of node N begins at N segments.
struct HiveSeat {
    unsigned nodes = 1;  // 1: in no hive
    unsigned node = 0;
    uint64_t segment_bytes = 0;

    bool in_hive() const { return nodes > 1; }
};

}  // namespace gpuemu
