// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of what vulkan_device.h makes of a driver's results. Without a device. Thread:
// one.
#include "hotplug/in_guest/clients/vulkan_device.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace hp::clients {
namespace {

TEST(VulkanDevice, OnlyALostOrAbsentDeviceIsENODEV) {
    EXPECT_EQ(io_error({"vkQueueSubmit", VK_ERROR_DEVICE_LOST}).error, ENODEV);
    EXPECT_EQ(io_error({"vkEnumeratePhysicalDevices", VK_ERROR_INCOMPATIBLE_DRIVER}).error, ENODEV);
    for (const VkResult other :
         {VK_ERROR_UNKNOWN, VK_ERROR_INITIALIZATION_FAILED, VK_ERROR_OUT_OF_DEVICE_MEMORY,
          VK_ERROR_FEATURE_NOT_PRESENT, VK_TIMEOUT}) {
        EXPECT_NE(io_error({"vkQueueSubmit", other}).error, ENODEV) << result_name(other);
        EXPECT_NE(io_error({"vkQueueSubmit", other}).error, 0) << result_name(other);
    }
    EXPECT_EQ(io_error({"vkWaitForFences", VK_TIMEOUT}).error, ETIME);
    EXPECT_STREQ(io_error({"vkWaitForFences", VK_TIMEOUT}).op, "vkWaitForFences");
}

TEST(VulkanDevice, ResultsHaveTheirNames) {
    EXPECT_EQ(result_name(VK_ERROR_DEVICE_LOST), "VK_ERROR_DEVICE_LOST");
    EXPECT_EQ(result_name(VK_TIMEOUT), "VK_TIMEOUT");
    EXPECT_EQ(result_name(VK_ERROR_TOO_MANY_OBJECTS), "VkResult -10");
}

}  // namespace
}  // namespace hp::clients
