// SPDX-License-Identifier: GPL-2.0
// Purpose: how an IP block raises an interrupt: an IH ring entry (OSSSYS 4.x layout,
// drivers/gpu/drm/amd/amdgpu/soc15_ih_clientid.h). Thread: device loop only.
#pragma once

#include <array>
#include <cstdint>

namespace gpuemu {

struct InterruptEntry {
    uint8_t client_id = 0;
    uint8_t source_id = 0;
    uint8_t ring_id = 0;
    uint8_t vmid = 0;
    uint8_t vmid_src = 0;  // whose VMID: 0 of the GC hub, 1 of the MM hub
    uint16_t pasid = 0;
    uint8_t node_id = 0;
    std::array<uint32_t, 4> data{};
};

class InterruptSink {
public:
    virtual ~InterruptSink() = default;
    virtual void raise(const InterruptEntry& entry) = 0;
};

}  // namespace gpuemu
