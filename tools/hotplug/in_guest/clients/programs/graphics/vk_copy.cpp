// SPDX-License-Identifier: GPL-2.0
// Purpose: vk_copy, a client that fills, updates and copies buffers through a Vulkan driver and
// compares the bytes, until it is told to end or the driver says that the device is lost.
// Thread: one (the driver may have its own). Not modelled: shaders, which the short pieces of
// copy_pieces.h do without; transfer and compute queues.
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hotplug/in_guest/clients/copy_pieces.h"
#include "hotplug/in_guest/clients/program.h"
#include "hotplug/in_guest/clients/report.h"
#include "hotplug/in_guest/clients/signals.h"
#include "hotplug/in_guest/clients/vulkan_device.h"

namespace hp::clients {
namespace {

const Description self{
    .name = "vk_copy",
    .purpose = "Fills and copies buffers through Vulkan and compares the bytes",
    .worker = true,
    .needs = {"image part graphics"},
};

using Clock = std::chrono::steady_clock;

/// The GPU has no work that takes so long, not even under a debug kernel: the fence is lost.
constexpr std::chrono::seconds patience{30};

class Copier {
public:
    static VulkanResult<Copier> create(VulkanDevice& device);

    /// VRAM is written, copied to VRAM that the CPU can see, and that to system memory. False: some
    /// byte of these two is wrong.
    VulkanResult<bool> round(std::uint32_t number);

private:
    explicit Copier(VulkanDevice& device) : device_(device) {}

    void record(VkCommandBuffer commands, std::uint32_t number);
    bool is_right() const;

    VulkanDevice& device_;
    VulkanBuffer local_;
    VulkanBuffer visible_;
    VulkanBuffer host_;
    /// What visible_ and host_ have to contain.
    std::vector<std::byte> expected_ = std::vector<std::byte>(slots * slot_bytes);
};

VulkanResult<Copier> Copier::create(VulkanDevice& device) {
    constexpr VkMemoryPropertyFlags vram = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    constexpr VkMemoryPropertyFlags cpu =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    // A type of its own that a device has to be asked for.
    constexpr VkMemoryPropertyFlags special = VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD;
    auto local = device.create_buffer(slots * slot_bytes, vram, special | cpu);
    auto visible = device.create_buffer(slots * slot_bytes, vram | cpu, special);
    auto host = device.create_buffer(slots * slot_bytes, cpu, special | vram);
    for (const auto* buffer : {&local, &visible, &host}) {
        if (!*buffer) {
            return tl::unexpected(buffer->error());
        }
    }
    Copier copier(device);
    copier.local_ = std::move(*local);
    copier.visible_ = std::move(*visible);
    copier.host_ = std::move(*host);
    for (const VulkanBuffer* buffer : {&copier.visible_, &copier.host_}) {
        std::ranges::fill(buffer->bytes(), std::byte{0});
    }
    return copier;
}

VulkanResult<bool> Copier::round(std::uint32_t number) {
    const auto commands = device_.begin();
    if (!commands) {
        return tl::unexpected(commands.error());
    }
    record(*commands, number);
    return device_.execute(patience).map([&] { return is_right(); });
}

void Copier::record(VkCommandBuffer commands, std::uint32_t number) {
    const auto then = [&](VkAccessFlags reader, VkPipelineStageFlags stage) {
        VkMemoryBarrier barrier{};
        barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
        barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
        barrier.dstAccessMask = reader;
        vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, stage, 0, 1, &barrier, 0,
                             nullptr, 0, nullptr);
    };
    std::array<VkBufferCopy, slots> copies{};
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
        const Piece piece = piece_of(number, slot);
        copies[slot] = {piece.copy_offset, piece.copy_offset, piece.copy_size};
        std::array<std::uint32_t, slot_bytes / 4> data{};
        make_data(number, slot, data);
        if (piece.written == Written::filled) {
            data.fill(data[0]);
            vkCmdFillBuffer(commands, local_.handle(), piece.offset, piece.size, data[0]);
        } else {
            vkCmdUpdateBuffer(commands, local_.handle(), piece.offset, piece.size, data.data());
        }
        std::memcpy(expected_.data() + piece.copy_offset,
                    std::as_bytes(std::span(data)).data() + (piece.copy_offset - piece.offset),
                    piece.copy_size);
    }
    then(VK_ACCESS_TRANSFER_READ_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT);
    vkCmdCopyBuffer(commands, local_.handle(), visible_.handle(), slots, copies.data());
    then(VK_ACCESS_TRANSFER_READ_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT);
    vkCmdCopyBuffer(commands, visible_.handle(), host_.handle(), slots, copies.data());
    then(VK_ACCESS_HOST_READ_BIT, VK_PIPELINE_STAGE_HOST_BIT);
}

bool Copier::is_right() const {
    return std::ranges::equal(visible_.bytes(), expected_) &&
           std::ranges::equal(host_.bytes(), expected_);
}

void tell(Reporter& report, const VulkanError& error) {
    report.error(io_error(error), {{"result", result_name(error.result)}});
}

/// Ends by itself after so much work or time.
struct Limits {
    std::uint64_t count;
    Clock::time_point until;
    std::chrono::milliseconds pause;  // between two rounds
};

/// Works until a limit, the wish to stop, or the first error. A device that went in the middle of
/// a round shows as something else than its loss, too: RADV says VK_ERROR_UNKNOWN when a fence
/// cannot be waited for or reset, and a fence may signal although its work was not done. Whether
/// the device is lost it has to say at the next submission at the latest.
VulkanResult<const char*> run(const VulkanDevice& device, Copier& copier, Reporter& report,
                              const Limits& limits) {
    for (std::uint32_t number = 0; !stop_wanted(); ++number) {
        if (report.done_count() >= limits.count || Clock::now() >= limits.until) {
            return "done";
        }
        const auto good = copier.round(number);
        if (!good || !*good) {
            if (!good) {
                tell(report, good.error());
                if (good.error().result == VK_TIMEOUT) {
                    return tl::unexpected(good.error());
                }
            }
            if (const auto alive = device.check(patience); !alive) {
                tell(report, alive.error());
                return tl::unexpected(alive.error());
            }
            if (!good) {
                return tl::unexpected(good.error());
            }
        }
        report.done(*good);
        if (limits.pause.count() != 0) {
            // A signal ends the sleep, and the round after it is not begun.
            (void)::poll(nullptr, 0, static_cast<int>(limits.pause.count()));
        }
    }
    return "signal";
}

int run_client(const std::string& node, const Limits& limits, bool until_lost) {
    Reporter report(self);
    struct stat status {};
    if (::stat(node.c_str(), &status) != 0) {
        return report.end("device", {"stat", errno});
    }
    std::optional<VulkanError> error;
    const char* reason = "device";
    {
        auto device = VulkanDevice::open(status.st_rdev);
        auto copier =
            device ? Copier::create(*device) : VulkanResult<Copier>(tl::unexpected(device.error()));
        if (!copier) {
            tell(report, copier.error());
            return report.end("device", io_error(copier.error()));
        }
        report.ready({{"node", node}, {"gpu", device->name()}, {"driver", device->driver()}});
        if (const auto end = run(*device, *copier, report, limits)) {
            reason = *end;
        } else {
            error = end.error();
        }
        if (error && error->result != VK_ERROR_DEVICE_LOST) {
            // What may be in use must not be destroyed.
            std::_Exit(report.end(reason, io_error(*error)));
        }
    }
    // Everything is destroyed: of a lost device, too, that must neither fail nor take its time.
    if (const auto sigbus = sigbus_count(); sigbus.faults + sigbus.sent != 0) {
        report.error({"SIGBUS", EFAULT}, {{"faults", sigbus.faults}, {"sent", sigbus.sent}});
    }
    const bool lost = error && error->result == VK_ERROR_DEVICE_LOST;
    if (until_lost && std::strcmp(reason, "signal") != 0) {
        reason = lost ? "done" : error ? "device" : "wrong result";
    }
    return report.end(reason, error ? io_error(*error) : IoError{"", 0});
}

}  // namespace
}  // namespace hp::clients

int main(int argc, char** argv) {
    hp::clients::Program program(hp::clients::self);
    std::string node;
    std::uint64_t count = std::numeric_limits<std::uint64_t>::max();
    double seconds = 1e9;
    unsigned pause_ms = 0;
    bool until_lost = false;
    program.add_node(node);
    program.add_option("--count", count, "ROUNDS", "end after so many rounds");
    program.add_option("--seconds", seconds, "s", "end after so long").within(0.0, 1e9);
    program.add_option("--pause", pause_ms, "ms", "milliseconds between rounds").within(0, 60'000);
    program.add_flag("--until-lost", until_lost,
                     "end well when, and only when, the driver says VK_ERROR_DEVICE_LOST");
    if (const auto status = program.parse(argc, argv)) {
        return *status;
    }
    hp::clients::handle_signals();
    using Clock = hp::clients::Clock;
    const auto span =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    return hp::clients::run_client(
        node, {count, Clock::now() + span, std::chrono::milliseconds(pause_ms)}, until_lost);
}
