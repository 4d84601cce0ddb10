// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of VmHub for both hubs.
// Thread: the test's.
// Does not model: nothing.
#include "gpu-emu/ip/vm_hub.h"

#include <gtest/gtest.h>

namespace gpuemu {
namespace {

class VmHubTest : public testing::TestWithParam<Hub> {
protected:
    VmHubTest() { hub.reset(ResetKind::cold); }

    uint32_t address(Reg reg) const { return at(layout.ip, reg); }

    const Profile& profile = *find_profile("mi300x");
    const VmHubLayout layout =
        GetParam() == Hub::gfx ? gfx_hub_layout(profile) : mm_hub_layout(profile);
    RegisterFile registers{2u << 20};
    VmHub hub{profile, layout, registers};
};

TEST_P(VmHubTest, FrameBufferIsWhereTheProfileSays) {
    EXPECT_EQ(registers.read(address(layout.MC_VM_FB_LOCATION_BASE)), 0x8000u);
    EXPECT_EQ(registers.read(address(layout.MC_VM_FB_LOCATION_TOP)), 0x803fu);
    EXPECT_EQ(registers.read(address(layout.MC_VM_FB_OFFSET)), 0u);
}

TEST_P(VmHubTest, InvalidationIsAlwaysDoneAndTheSemaphoreFree) {
    for (uint32_t engine = 0; engine < 18; ++engine) {
        EXPECT_EQ(registers.read(address(layout.VM_INVALIDATE_ENG0_ACK) + engine), 0xffffu);
        EXPECT_EQ(registers.read(address(layout.VM_INVALIDATE_ENG0_SEM) + engine), 1u);
    }
}

TEST_P(VmHubTest, FirstFaultIsLatchedUntilCleared) {
    const auto status = [&] {
        return registers.read(address(layout.VM_L2_PROTECTION_FAULT_STATUS));
    };
    hub.latch_fault({GetParam(), 8, 0x7f12'3456'7000, true, VmFault::Reason::not_valid});
    EXPECT_EQ(status() >> 20 & 0xf, 8u);
    EXPECT_EQ(status() >> 18 & 1, 1u);
    EXPECT_EQ(status() & 1, 0u);
    EXPECT_EQ(registers.raw64(address(layout.VM_L2_PROTECTION_FAULT_ADDR_LO32)), 0x7'f123'4567u);
    hub.latch_fault({GetParam(), 9, 0x1000, false, VmFault::Reason::no_context});
    EXPECT_EQ(status() >> 20 & 0xf, 8u);
    EXPECT_EQ(status() & 1, 1u);  // MORE_FAULTS
    registers.write(address(layout.VM_L2_PROTECTION_FAULT_CNTL), 1);
    EXPECT_EQ(status(), 0u);
    hub.latch_fault({GetParam(), 9, 0x1000, false, VmFault::Reason::no_memory});
    EXPECT_EQ(status() >> 20 & 0xf, 9u);
}

INSTANTIATE_TEST_SUITE_P(Hubs, VmHubTest, testing::Values(Hub::gfx, Hub::mm),
                         [](const auto& info) { return info.param == Hub::gfx ? "gfx" : "mm"; });

}  // namespace
}  // namespace gpuemu
