// SPDX-License-Identifier: GPL-2.0
// Purpose: see vulkan_device.h.
// Thread: one.
#include "hotplug/in_guest/clients/vulkan_device.h"

#include <sys/sysmacros.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <vector>

namespace hp::clients {

namespace {

tl::unexpected<VulkanError> vulkan_fail(const char* op, VkResult result) {
    return tl::unexpected<VulkanError>(VulkanError{op, result});
}

/// The kind of queue that is a graphics ring of the GPU.
std::optional<std::uint32_t> find_graphics_family(VkPhysicalDevice gpu) {
    std::uint32_t count = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(gpu, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    vkGetPhysicalDeviceQueueFamilyProperties(gpu, &count, families.data());
    for (std::uint32_t family = 0; family < count; ++family) {
        if ((families[family].queueFlags & VK_QUEUE_GRAPHICS_BIT) != 0) {
            return family;
        }
    }
    return std::nullopt;
}

}  // namespace

std::string result_name(VkResult result) {
    switch (result) {
        case VK_SUCCESS: return "VK_SUCCESS";
        case VK_TIMEOUT: return "VK_TIMEOUT";
        case VK_ERROR_OUT_OF_HOST_MEMORY: return "VK_ERROR_OUT_OF_HOST_MEMORY";
        case VK_ERROR_OUT_OF_DEVICE_MEMORY: return "VK_ERROR_OUT_OF_DEVICE_MEMORY";
        case VK_ERROR_INITIALIZATION_FAILED: return "VK_ERROR_INITIALIZATION_FAILED";
        case VK_ERROR_DEVICE_LOST: return "VK_ERROR_DEVICE_LOST";
        case VK_ERROR_MEMORY_MAP_FAILED: return "VK_ERROR_MEMORY_MAP_FAILED";
        case VK_ERROR_FEATURE_NOT_PRESENT: return "VK_ERROR_FEATURE_NOT_PRESENT";
        case VK_ERROR_INCOMPATIBLE_DRIVER: return "VK_ERROR_INCOMPATIBLE_DRIVER";
        case VK_ERROR_UNKNOWN: return "VK_ERROR_UNKNOWN";
        default: return "VkResult " + std::to_string(result);
    }
}

IoError io_error(const VulkanError& error) {
    switch (error.result) {
        case VK_ERROR_DEVICE_LOST:
        case VK_ERROR_INCOMPATIBLE_DRIVER: return {error.op, ENODEV};
        case VK_ERROR_OUT_OF_HOST_MEMORY:
        case VK_ERROR_OUT_OF_DEVICE_MEMORY: return {error.op, ENOMEM};
        case VK_TIMEOUT: return {error.op, ETIME};
        case VK_ERROR_FEATURE_NOT_PRESENT: return {error.op, EOPNOTSUPP};
        default: return {error.op, EIO};
    }
}

VulkanResult<VulkanDevice> VulkanDevice::open(dev_t render_node) {
    VulkanDevice device;
    if (const auto found = device.find_gpu(render_node); !found) {
        return tl::unexpected(found.error());
    }
    if (const auto made = device.create_device(); !made) {
        return tl::unexpected(made.error());
    }
    return device;
}

VulkanResult<void> VulkanDevice::find_gpu(dev_t render_node) {
    VkApplicationInfo application{};
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.apiVersion = VK_API_VERSION_1_1;
    VkInstanceCreateInfo instance_info{};
    instance_info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    instance_info.pApplicationInfo = &application;
    VkInstance instance = nullptr;
    if (const auto result = vkCreateInstance(&instance_info, nullptr, &instance)) {
        return vulkan_fail("vkCreateInstance", result);
    }
    instance_.reset(instance);

    std::uint32_t count = 0;
    if (const auto result = vkEnumeratePhysicalDevices(instance, &count, nullptr)) {
        return vulkan_fail("vkEnumeratePhysicalDevices", result);
    }
    std::vector<VkPhysicalDevice> gpus(count);
    // VK_INCOMPLETE: one that has arrived since then, and that nobody asked for.
    const auto listed = vkEnumeratePhysicalDevices(instance, &count, gpus.data());
    if (listed < 0) {
        return vulkan_fail("vkEnumeratePhysicalDevices", listed);
    }
    gpus.resize(count);
    for (const VkPhysicalDevice gpu : gpus) {
        VkPhysicalDeviceDrmPropertiesEXT drm{};
        drm.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRM_PROPERTIES_EXT;
        VkPhysicalDeviceDriverProperties driver{};
        driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
        driver.pNext = &drm;
        VkPhysicalDeviceProperties2 properties{};
        properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
        properties.pNext = &driver;
        vkGetPhysicalDeviceProperties2(gpu, &properties);
        if (drm.hasRender == VK_TRUE && drm.renderMajor == major(render_node) &&
            drm.renderMinor == minor(render_node)) {
            gpu_ = gpu;
            name_ = properties.properties.deviceName;
            driver_ = driver.driverName;
            return {};
        }
    }
    return vulkan_fail("vkEnumeratePhysicalDevices", VK_ERROR_INCOMPATIBLE_DRIVER);
}

VulkanResult<void> VulkanDevice::create_device() {
    const auto family = find_graphics_family(gpu_);
    if (!family) {
        return vulkan_fail("vkGetPhysicalDeviceQueueFamilyProperties",
                           VK_ERROR_FEATURE_NOT_PRESENT);
    }
    const float priority = 1;
    VkDeviceQueueCreateInfo queue_info{};
    queue_info.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queue_info.queueFamilyIndex = *family;
    queue_info.queueCount = 1;
    queue_info.pQueuePriorities = &priority;
    VkDeviceCreateInfo device_info{};
    device_info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    device_info.queueCreateInfoCount = 1;
    device_info.pQueueCreateInfos = &queue_info;
    VkDevice device = nullptr;
    if (const auto result = vkCreateDevice(gpu_, &device_info, nullptr, &device)) {
        return vulkan_fail("vkCreateDevice", result);
    }
    device_.reset(device);
    vkGetDeviceQueue(device, *family, 0, &queue_);
    return create_commands(*family);
}

VulkanResult<void> VulkanDevice::create_commands(std::uint32_t family) {
    const VkDevice device = device_.get();
    VkCommandPoolCreateInfo pool_info{};
    pool_info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    // Each on its own, the one with nothing in it stays.
    pool_info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    pool_info.queueFamilyIndex = family;
    VkCommandPool pool = VK_NULL_HANDLE;
    if (const auto result = vkCreateCommandPool(device, &pool_info, nullptr, &pool)) {
        return vulkan_fail("vkCreateCommandPool", result);
    }
    pool_ = {pool, DestroyPool{device}};
    VkCommandBufferAllocateInfo commands_info{};
    commands_info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    commands_info.commandPool = pool;
    commands_info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    commands_info.commandBufferCount = 1;
    for (VkCommandBuffer* made : {&commands_, &nothing_}) {
        if (const auto result = vkAllocateCommandBuffers(device, &commands_info, made)) {
            return vulkan_fail("vkAllocateCommandBuffers", result);
        }
    }
    VkCommandBufferBeginInfo begin_info{};
    begin_info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    begin_info.flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;  // see check()
    if (const auto result = vkBeginCommandBuffer(nothing_, &begin_info)) {
        return vulkan_fail("vkBeginCommandBuffer", result);
    }
    if (const auto result = vkEndCommandBuffer(nothing_)) {
        return vulkan_fail("vkEndCommandBuffer", result);
    }
    for (auto* made : {&fence_, &check_fence_}) {
        VkFenceCreateInfo fence_info{};
        fence_info.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
        VkFence fence = VK_NULL_HANDLE;
        if (const auto result = vkCreateFence(device, &fence_info, nullptr, &fence)) {
            return vulkan_fail("vkCreateFence", result);
        }
        *made = {fence, DestroyFence{device}};
    }
    return {};
}

VulkanResult<VulkanBuffer> VulkanDevice::create_buffer(VkDeviceSize size,
                                                       VkMemoryPropertyFlags wanted,
                                                       VkMemoryPropertyFlags unwanted) const {
    VulkanBuffer made;
    VkBufferCreateInfo buffer_info{};
    buffer_info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    buffer_info.size = size;
    buffer_info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    VkBuffer buffer = VK_NULL_HANDLE;
    if (const auto result = vkCreateBuffer(device_.get(), &buffer_info, nullptr, &buffer)) {
        return vulkan_fail("vkCreateBuffer", result);
    }
    made.buffer_ = {buffer, VulkanBuffer::Destroy{device_.get()}};

    VkMemoryRequirements needed{};
    vkGetBufferMemoryRequirements(device_.get(), buffer, &needed);
    VkPhysicalDeviceMemoryProperties memories{};
    vkGetPhysicalDeviceMemoryProperties(gpu_, &memories);
    VkMemoryAllocateInfo memory_info{};
    memory_info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    memory_info.allocationSize = needed.size;
    const auto fits = [&](std::uint32_t type) {
        const VkMemoryPropertyFlags flags = memories.memoryTypes[type].propertyFlags;
        return (needed.memoryTypeBits >> type & 1) != 0 && (flags & wanted) == wanted &&
               (flags & unwanted) == 0;
    };
    while (memory_info.memoryTypeIndex < memories.memoryTypeCount &&
           !fits(memory_info.memoryTypeIndex)) {
        ++memory_info.memoryTypeIndex;
    }
    if (memory_info.memoryTypeIndex == memories.memoryTypeCount) {
        return vulkan_fail("vkGetPhysicalDeviceMemoryProperties", VK_ERROR_FEATURE_NOT_PRESENT);
    }
    VkDeviceMemory memory = VK_NULL_HANDLE;
    if (const auto result = vkAllocateMemory(device_.get(), &memory_info, nullptr, &memory)) {
        return vulkan_fail("vkAllocateMemory", result);
    }
    made.memory_ = {memory, VulkanBuffer::Free{device_.get()}};
    if (const auto result = vkBindBufferMemory(device_.get(), buffer, memory, 0)) {
        return vulkan_fail("vkBindBufferMemory", result);
    }
    if ((wanted & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0) {
        void* bytes = nullptr;
        if (const auto result = vkMapMemory(device_.get(), memory, 0, VK_WHOLE_SIZE, 0, &bytes)) {
            return vulkan_fail("vkMapMemory", result);
        }
        made.bytes_ = {static_cast<std::byte*>(bytes), size};
    }
    return made;
}

VulkanResult<VkCommandBuffer> VulkanDevice::begin() {
    VkCommandBufferBeginInfo begin_info{};
    begin_info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    begin_info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    if (const auto result = vkBeginCommandBuffer(commands_, &begin_info)) {
        return vulkan_fail("vkBeginCommandBuffer", result);
    }
    return commands_;
}

VulkanResult<void> VulkanDevice::execute(std::chrono::nanoseconds patience) {
    if (const auto result = vkEndCommandBuffer(commands_)) {
        return vulkan_fail("vkEndCommandBuffer", result);
    }
    return submit(commands_, fence_.get(), patience);
}

VulkanResult<void> VulkanDevice::check(std::chrono::nanoseconds patience) const {
    const auto done = submit(nothing_, check_fence_.get(), patience);
    if (done || done.error().result == VK_ERROR_DEVICE_LOST || done.error().result == VK_TIMEOUT) {
        return done;
    }
    // The device went in the middle of that. What is submitted now comes after it.
    const auto refused = queue_submit(nothing_, VK_NULL_HANDLE);
    return refused ? done : refused;
}

VulkanResult<void> VulkanDevice::submit(VkCommandBuffer commands, VkFence fence,
                                        std::chrono::nanoseconds patience) const {
    if (const auto submitted = queue_submit(commands, fence); !submitted) {
        return submitted;
    }
    const auto timeout = static_cast<std::uint64_t>(patience.count());
    if (const auto result = vkWaitForFences(device_.get(), 1, &fence, VK_TRUE, timeout)) {
        return vulkan_fail("vkWaitForFences", result);
    }
    if (const auto result = vkResetFences(device_.get(), 1, &fence)) {
        return vulkan_fail("vkResetFences", result);
    }
    return {};
}

VulkanResult<void> VulkanDevice::queue_submit(VkCommandBuffer commands, VkFence fence) const {
    VkSubmitInfo submit_info{};
    submit_info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    submit_info.commandBufferCount = 1;
    submit_info.pCommandBuffers = &commands;
    if (const auto result = vkQueueSubmit(queue_, 1, &submit_info, fence)) {
        return vulkan_fail("vkQueueSubmit", result);
    }
    return {};
}

}  // namespace hp::clients
