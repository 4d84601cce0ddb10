// SPDX-License-Identifier: GPL-2.0
// Purpose: a Vulkan device as a client of the guest uses it: the GPU behind a render node, a queue
// of it with graphics, a command buffer with a fence, and buffers in a chosen memory.
// Thread: one. Not modelled: shaders, images, several submissions in flight.
#pragma once

#include <sys/types.h>
#include <vulkan/vulkan.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <type_traits>

#include "hotplug/in_guest/clients/io.h"

namespace hp::clients {

struct VulkanError {
    const char* op;   ///< the Vulkan function
    VkResult result;  ///< what it returned
};

template <typename T>
using VulkanResult = tl::expected<T, VulkanError>;

/// "VK_ERROR_DEVICE_LOST"; a number for what no client here can get.
std::string result_name(VkResult result);
/// The nearest errno, for the lines that all clients print: ENODEV is a lost device.
IoError io_error(const VulkanError& error);

/// Memory and a buffer that is all of it.
class VulkanBuffer {
public:
    /// Empty unless the memory is visible to the CPU.
    std::span<std::byte> bytes() const { return bytes_; }
    VkBuffer handle() const { return buffer_.get(); }

private:
    friend class VulkanDevice;

    struct Free {
        using pointer = VkDeviceMemory;
        VkDevice device;
        void operator()(VkDeviceMemory memory) const { vkFreeMemory(device, memory, nullptr); }
    };
    struct Destroy {
        using pointer = VkBuffer;
        VkDevice device;
        void operator()(VkBuffer buffer) const { vkDestroyBuffer(device, buffer, nullptr); }
    };

    std::unique_ptr<VkDeviceMemory, Free> memory_{nullptr, Free{}};
    std::unique_ptr<VkBuffer, Destroy> buffer_{nullptr, Destroy{}};
    std::span<std::byte> bytes_;
};

class VulkanDevice {
public:
    /// The GPU whose render node has this device number. VK_ERROR_INCOMPATIBLE_DRIVER: no Vulkan
    /// driver found it.
    static VulkanResult<VulkanDevice> open(dev_t render_node);

    const std::string& name() const { return name_; }
    const std::string& driver() const { return driver_; }

    /// In a memory that has all of `wanted` and nothing of `unwanted`.
    VulkanResult<VulkanBuffer> create_buffer(VkDeviceSize size, VkMemoryPropertyFlags wanted,
                                             VkMemoryPropertyFlags unwanted) const;

    /// The command buffer, empty.
    VulkanResult<VkCommandBuffer> begin();
    /// Executes it. VK_TIMEOUT: it was not done after `patience`, and is still in use.
    VulkanResult<void> execute(std::chrono::nanoseconds patience);

    /// VK_ERROR_DEVICE_LOST when the driver finds out by a submission that it is. Nothing is made
    /// or reset for it: such a call fails of something else when the device is gone.
    VulkanResult<void> check(std::chrono::nanoseconds patience) const;

private:
    struct DestroyInstance {
        void operator()(VkInstance instance) const { vkDestroyInstance(instance, nullptr); }
    };
    struct DestroyDevice {
        void operator()(VkDevice device) const { vkDestroyDevice(device, nullptr); }
    };
    template <typename Handle, void (*destroy)(VkDevice, Handle, const VkAllocationCallbacks*)>
    struct DestroyChild {
        using pointer = Handle;
        VkDevice device;
        void operator()(Handle child) const { destroy(device, child, nullptr); }
    };
    using DestroyPool = DestroyChild<VkCommandPool, &vkDestroyCommandPool>;
    using DestroyFence = DestroyChild<VkFence, &vkDestroyFence>;

    VulkanResult<void> queue_submit(VkCommandBuffer commands, VkFence fence) const;
    VulkanResult<void> submit(VkCommandBuffer commands, VkFence fence,
                              std::chrono::nanoseconds patience) const;
    VulkanResult<void> find_gpu(dev_t render_node);
    VulkanResult<void> create_device();
    VulkanResult<void> create_commands(std::uint32_t family);

    // In the order in which they are made; they go in the opposite one.
    std::unique_ptr<std::remove_pointer_t<VkInstance>, DestroyInstance> instance_;
    VkPhysicalDevice gpu_ = nullptr;
    std::unique_ptr<std::remove_pointer_t<VkDevice>, DestroyDevice> device_;
    VkQueue queue_ = nullptr;
    std::unique_ptr<VkCommandPool, DestroyPool> pool_{nullptr, DestroyPool{}};
    VkCommandBuffer commands_ = nullptr;
    VkCommandBuffer nothing_ = nullptr;
    std::unique_ptr<VkFence, DestroyFence> fence_{nullptr, DestroyFence{}};
    std::unique_ptr<VkFence, DestroyFence> check_fence_{nullptr, DestroyFence{}};
    std::string name_;
    std::string driver_;
};

}  // namespace hp::clients
