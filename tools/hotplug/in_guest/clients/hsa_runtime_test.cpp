// SPDX-License-Identifier: GPL-2.0
// Purpose: what ROCr's events and addresses are made of. Needs no ROCr.
// Thread: one.
#include "hotplug/in_guest/clients/hsa_runtime.h"

#include <gtest/gtest.h>

namespace hp::clients::hsa {
namespace {

constexpr std::uint64_t own = 0x1000, other = 0x2000;

hsa_amd_event_t hw_exception(std::uint64_t agent) {
    hsa_amd_event_t event{};
    event.event_type = HSA_AMD_GPU_HW_EXCEPTION_EVENT;
    event.hw_exception = {.agent = {agent}, .reset_type = 1, .reset_cause = 1};
    return event;
}

TEST(HsaEvents, TheLossOfTheOwnGpuIsNotThatOfAnother) {
    Events events;
    events.own = own;
    const auto others = hw_exception(other), ours = hw_exception(own);
    EXPECT_EQ(on_system_event(&others, &events), HSA_STATUS_SUCCESS) << "else ROCr aborts";
    EXPECT_FALSE(events.hw_exception);
    EXPECT_EQ(events.others_lost, 1u);
    EXPECT_EQ(on_system_event(&ours, &events), HSA_STATUS_SUCCESS);
    EXPECT_TRUE(events.hw_exception);
    EXPECT_EQ(events.reset_cause, 1u);
    EXPECT_EQ(events.others_lost, 1u);
}

TEST(HsaEvents, AMemoryFaultHasItsAddress) {
    Events events;
    hsa_amd_event_t event{};
    event.event_type = HSA_AMD_GPU_MEMORY_FAULT_EVENT;
    event.memory_fault = {.agent = {own}, .virtual_address = 0x7000, .fault_reason_mask = 1};
    EXPECT_EQ(on_system_event(&event, &events), HSA_STATUS_SUCCESS);
    EXPECT_TRUE(events.memory_fault);
    EXPECT_EQ(events.fault_address, 0x7000u);
    EXPECT_FALSE(events.hw_exception);
}

TEST(HsaAgents, AddressesAreThoseOfTheKernel) {
    EXPECT_EQ(bdf_of(0, 0x0100), "0000:01:00.0");
    EXPECT_EQ(bdf_of(0x10000, 0xfffb), "10000:ff:1f.3");
}

}  // namespace
}  // namespace hp::clients::hsa
