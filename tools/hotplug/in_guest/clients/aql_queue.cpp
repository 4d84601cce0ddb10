// SPDX-License-Identifier: GPL-2.0
// Purpose: a user queue of AQL packets (HSA system architecture, section 2.9) and the signals they
// complete. Thread: not synchronised; the client's one thread owns it. The GPU works on the same
// memory. Not modelled: kernel dispatch packets.
#include "hotplug/in_guest/clients/aql_queue.h"

#include <atomic>
#include <utility>

#include "hotplug/in_guest/clients/mapping.h"

namespace hp::clients {

namespace {

constexpr std::uint32_t ring_size = 4096;
constexpr std::uint64_t ring_packets = ring_size / sizeof(AqlBarrierAnd);
/// In the page of pointers, on different cache lines.
constexpr std::size_t write_pointer_at = 0;
constexpr std::size_t read_pointer_at = 128;

constexpr std::uint16_t HSA_PACKET_TYPE_VENDOR_SPECIFIC = 0;
constexpr std::uint16_t HSA_PACKET_TYPE_INVALID = 1;
constexpr std::uint16_t HSA_PACKET_TYPE_BARRIER_AND = 3;
constexpr std::uint16_t barrier_bit = 1u << 8;
constexpr std::uint16_t acquire_system = 2u << 9;
constexpr std::uint16_t release_system = 2u << 11;

constexpr std::uint16_t AMD_AQL_FORMAT_PM4_IB = 1;
constexpr std::uint32_t PACKET3_INDIRECT_BUFFER = 3u << 30 | 2u << 16 | 0x3fu << 8;
constexpr std::uint32_t INDIRECT_BUFFER_VALID = 1u << 23;

constexpr std::uint32_t full_share = 100;
constexpr std::uint32_t normal_priority = 7;

}  // namespace

IoResult<AqlQueue::Buffers> AqlQueue::allocate_buffers(KfdDevice& device, const KfdNode& node) {
    auto ring = device.allocate(MemoryKind::gtt, ring_size);
    if (!ring) {
        return tl::unexpected(ring.error());
    }
    auto pointers = device.allocate(MemoryKind::gtt, page_size);
    if (!pointers) {
        return tl::unexpected(pointers.error());
    }
    auto eop = device.allocate(MemoryKind::device, node.eop_buffer_size());
    if (!eop) {
        return tl::unexpected(eop.error());
    }
    auto save_area = device.allocate(MemoryKind::userptr, node.save_area_total_size());
    if (!save_area) {
        return tl::unexpected(save_area.error());
    }
    for (std::uint64_t i = 0; i < ring_packets; ++i) {
        ring->at<AqlBarrierAnd>(i * sizeof(AqlBarrierAnd))->header = HSA_PACKET_TYPE_INVALID;
    }
    return Buffers{std::move(*ring), std::move(*pointers), std::move(*eop), std::move(*save_area)};
}

IoResult<AqlQueue> AqlQueue::create(KfdDevice& device, const KfdNode& node) {
    auto buffers = allocate_buffers(device, node);
    if (!buffers) {
        return tl::unexpected(buffers.error());
    }
    abi::CreateQueue request{};
    request.ring_base_address = buffers->ring.address();
    request.ring_size = ring_size;
    request.write_pointer_address = buffers->pointers.address() + write_pointer_at;
    request.read_pointer_address = buffers->pointers.address() + read_pointer_at;
    request.gpu_id = device.gpu_id();
    request.queue_type = abi::KFD_IOC_QUEUE_TYPE_COMPUTE_AQL;
    request.queue_percentage = full_share;
    request.queue_priority = normal_priority;
    request.eop_buffer_address = buffers->eop.address();
    request.eop_buffer_size = node.eop_buffer_size();
    request.ctx_save_restore_address = buffers->save_area.address();
    request.ctx_save_restore_size = node.save_area_size();
    request.ctl_stack_size = node.control_stack_size();
    const auto created =
        io_call(device.fd(), abi::AMDKFD_IOC_CREATE_QUEUE, &request, "KFD_CREATE_QUEUE");
    if (!created) {
        return tl::unexpected(created.error());
    }
    // The offset within the process's doorbells is in the low bits of the mmap offset.
    auto doorbells = device.map_doorbells(request.doorbell_offset);
    if (!doorbells) {
        abi::DestroyQueue destroy{request.queue_id, 0};
        (void)io_call(device.fd(), abi::AMDKFD_IOC_DESTROY_QUEUE, &destroy, "KFD_DESTROY_QUEUE");
        return tl::unexpected(doorbells.error());
    }
    const std::uint64_t offset = request.doorbell_offset % doorbells->size();
    return AqlQueue(device.fd(), request.queue_id, std::move(*buffers), std::move(*doorbells),
                    offset);
}

AqlQueue::AqlQueue(AqlQueue&& other) noexcept
    : kfd_fd_(other.kfd_fd_),
      queue_id_(other.queue_id_),
      alive_(std::exchange(other.alive_, false)),
      buffers_(std::move(other.buffers_)),
      doorbells_(std::move(other.doorbells_)),
      doorbell_offset_(other.doorbell_offset_),
      write_index_(other.write_index_) {}

AqlQueue::~AqlQueue() {
    if (alive_) {
        (void)destroy();
    }
}

IoResult<void> AqlQueue::destroy() {
    alive_ = false;
    abi::DestroyQueue request{queue_id_, 0};
    return io_call(kfd_fd_, abi::AMDKFD_IOC_DESTROY_QUEUE, &request, "KFD_DESTROY_QUEUE");
}

template <typename Packet>
Packet* AqlQueue::next_packet() const {
    static_assert(sizeof(Packet) == sizeof(AqlBarrierAnd));
    return buffers_.ring.at<Packet>(write_index_ % ring_packets * sizeof(Packet));
}

/// The header makes the packet the GPU's: last, and in one store.
void AqlQueue::publish(std::uint16_t& header, std::uint16_t type) {
    const std::uint64_t index = write_index_++;
    const auto value =
        static_cast<std::uint16_t>(type | barrier_bit | acquire_system | release_system);
    std::atomic_ref(header).store(value, std::memory_order_release);
    std::atomic_ref(*buffers_.pointers.at<std::uint64_t>(write_pointer_at)).store(write_index_);
    *doorbells_.at<volatile std::uint64_t>(doorbell_offset_) = index;
}

void AqlQueue::submit_barrier(std::uint64_t dependency, std::uint64_t completion) {
    auto* packet = next_packet<AqlBarrierAnd>();
    for (std::uint64_t& unused : packet->dep_signal) {
        unused = 0;
    }
    packet->dep_signal[0] = dependency;
    packet->completion_signal = completion;
    publish(packet->header, HSA_PACKET_TYPE_BARRIER_AND);
}

void AqlQueue::submit_pm4(std::uint64_t commands, std::uint32_t dwords, std::uint64_t completion) {
    auto* packet = next_packet<AqlPm4Ib>();
    packet->vendor_header = AMD_AQL_FORMAT_PM4_IB;
    packet->ib_jump_command[0] = PACKET3_INDIRECT_BUFFER;
    packet->ib_jump_command[1] = static_cast<std::uint32_t>(commands);
    packet->ib_jump_command[2] = static_cast<std::uint32_t>(commands >> 32);
    packet->ib_jump_command[3] = dwords | INDIRECT_BUFFER_VALID;
    packet->dwords_remaining = 10;  // of this packet, behind the jump
    for (std::uint32_t& unused : packet->reserved) {
        unused = 0;
    }
    packet->completion_signal = completion;
    publish(packet->header, HSA_PACKET_TYPE_VENDOR_SPECIFIC);
}

std::uint64_t AqlQueue::read_index() const {
    return std::atomic_ref(*buffers_.pointers.at<std::uint64_t>(read_pointer_at)).load();
}

}  // namespace hp::clients
