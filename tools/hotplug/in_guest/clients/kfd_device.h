// SPDX-License-Identifier: GPL-2.0
// Purpose: one GPU through /dev/kfd: its memory, mapped at the same address for CPU and GPU, and
// its events. Thread: not synchronised; the client's one thread owns it. Not modelled: memory
// of several GPUs.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <utility>

#include "hotplug/in_guest/clients/io.h"
#include "hotplug/in_guest/clients/kfd_abi.h"
#include "hotplug/in_guest/clients/kfd_topology.h"
#include "hotplug/in_guest/clients/mapping.h"
#include "lib/fd.h"

namespace hp::clients {

/// Memory the GPU is mapped to; unmapped from it and freed at the end. Errors of that mean that the
/// GPU has gone.
class KfdMemory {
public:
    KfdMemory(int kfd_fd, std::uint32_t gpu_id, std::uint64_t handle, Mapping mapping)
        : kfd_fd_(kfd_fd), gpu_id_(gpu_id), handle_(handle), mapping_(std::move(mapping)) {}
    KfdMemory(KfdMemory&& other) noexcept;
    KfdMemory& operator=(KfdMemory&&) = delete;
    ~KfdMemory();

    std::uint64_t address() const { return mapping_.address(); }
    std::uint64_t handle() const { return handle_; }
    std::size_t size() const { return mapping_.size(); }
    template <typename T>
    T* at(std::size_t offset) const {
        return mapping_.at<T>(offset);
    }

private:
    friend class KfdDevice;

    /// Gives up the ownership of the GPU's side, which stays until the process ends.
    Mapping leave_to_process() {
        handle_ = 0;
        on_gpu_ = false;
        return std::move(mapping_);
    }

    int kfd_fd_;
    std::uint32_t gpu_id_;
    std::uint64_t handle_;
    Mapping mapping_;
    bool on_gpu_ = false;
};

/// The kinds of memory differ in who owns the pages.
enum class MemoryKind {
    gtt,      ///< system memory of the driver
    userptr,  ///< this process's own pages
    vram,     ///< on the GPU, seen by the CPU through the BAR
    device,   ///< on the GPU, not seen by the CPU
};

/// A signal event and where the GPU says that it has fired.
struct SignalEvent {
    std::uint32_t id;
    std::uint64_t mailbox;
};

/// What waiting for events came to.
enum class EventWait { timeout, fired, hardware_exception, memory_exception };

class KfdDevice {
public:
    /// Binds the process to the GPU: opens /dev/kfd and the render node, and joins their address
    /// spaces.
    static IoResult<KfdDevice> open(const KfdNode& node);

    /// Goes on with another GPU, by the same open file of /dev/kfd. What the process has of the GPU
    /// before is still to be given back. The events stay; the ones that the new GPU shall signal
    /// are created after this. If the GPU is refused nothing has changed.
    IoResult<void> move_to(const KfdNode& node);

    IoResult<abi::GetVersion> version() const;

    int fd() const { return kfd_.get(); }
    int drm_fd() const { return drm_.get(); }
    std::uint32_t gpu_id() const { return gpu_id_; }

    IoResult<KfdMemory> allocate(MemoryKind kind, std::uint64_t size);

    /// Maps memory on all GPUs of a list, as ROCm's runtime does with memory of the host: with one
    /// ioctl, of which every GPU of the process is a target. Fails at the first that fails.
    IoResult<void> map_on(const KfdMemory& memory, std::span<const std::uint32_t> gpu_ids);

    /// The doorbells of this process, for the GPU and for the CPU. `mmap_offset` is what
    /// CREATE_QUEUE returned.
    IoResult<KfdMemory> map_doorbells(std::uint64_t mmap_offset);

    /// Makes pages of this process managed memory (SVM) that the GPU uses, and moves them to VRAM.
    /// The CPU's next access to one of them moves it back.
    IoResult<void> move_to_vram(const Mapping& pages);

    /// Makes pages of this process managed memory (SVM) that the GPU uses where they are: they are
    /// mapped for its DMA.
    IoResult<void> map_pages(const Mapping& pages);

    IoResult<SignalEvent> create_signal_event();

    /// Waits for the event, or for the events by which KFD tells that the GPU was reset or faulted.
    IoResult<EventWait> wait_event(const SignalEvent& event, std::chrono::milliseconds patience);

    /// What KFD told with the last hardware exception.
    const abi::HardwareException& hardware_exception() const { return last_exception_; }

private:
    KfdDevice(Fd kfd, Fd drm, std::uint32_t gpu_id)
        : kfd_(std::move(kfd)), drm_(std::move(drm)), gpu_id_(gpu_id) {}

    static IoResult<Fd> acquire(int kfd_fd, const KfdNode& node);
    IoResult<Mapping> reserve(std::uint64_t size);
    IoResult<void> map_to_gpus(std::uint64_t handle, std::span<const std::uint32_t> gpu_ids);
    IoResult<void> map_to_gpu(std::uint64_t handle) { return map_to_gpus(handle, {&gpu_id_, 1}); }
    IoResult<std::uint32_t> create_event(std::uint32_t type, abi::CreateEvent& args);
    IoResult<void> create_exception_events();

    Fd kfd_;
    Fd drm_;
    std::uint32_t gpu_id_;
    Mapping event_page_;
    std::uint64_t event_page_handle_ = 0;
    abi::HardwareException last_exception_{};
    std::uint32_t hardware_exception_ = 0;
    std::uint32_t memory_exception_ = 0;
};

}  // namespace hp::clients
