// SPDX-License-Identifier: GPL-2.0
// Purpose: a user queue of AQL packets (HSA system architecture, section 2.9) and the signals they
// complete. Thread: not synchronised; the client's one thread owns it. The GPU works on the same
// memory. Not modelled: kernel dispatch packets.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hotplug/in_guest/clients/io.h"
#include "hotplug/in_guest/clients/kfd_device.h"

namespace hp::clients {

/// amd_signal_t of ROCr's ABI (amd_hsa_signal.h).
struct alignas(64) AmdSignal {
    std::int64_t kind = 0;
    std::int64_t value = 0;
    std::uint64_t event_mailbox_ptr = 0;
    std::uint32_t event_id = 0;
    std::uint32_t reserved1 = 0;
    std::uint64_t start_ts = 0;
    std::uint64_t end_ts = 0;
    std::uint64_t queue_ptr = 0;
    std::uint32_t reserved3[2] = {};
};
static_assert(sizeof(AmdSignal) == 64 && offsetof(AmdSignal, event_id) == 24);

constexpr std::int64_t AMD_SIGNAL_KIND_USER = 1;

struct alignas(64) AqlBarrierAnd {
    std::uint16_t header;
    std::uint16_t reserved0;
    std::uint32_t reserved1;
    std::uint64_t dep_signal[5];
    std::uint64_t reserved2;
    std::uint64_t completion_signal;
};
static_assert(sizeof(AqlBarrierAnd) == 64 && offsetof(AqlBarrierAnd, completion_signal) == 56);

/// AMD's vendor-specific packet that jumps to PM4 commands (amd_aql_pm4_ib of ROCr).
struct alignas(64) AqlPm4Ib {
    std::uint16_t header;
    std::uint16_t vendor_header;
    std::uint32_t ib_jump_command[4];
    std::uint32_t dwords_remaining;
    std::uint32_t reserved[8];
    std::uint64_t completion_signal;
};
static_assert(sizeof(AqlPm4Ib) == 64 && offsetof(AqlPm4Ib, completion_signal) == 56);

class AqlQueue {
public:
    static IoResult<AqlQueue> create(KfdDevice& device, const KfdNode& node);

    AqlQueue(AqlQueue&& other) noexcept;
    AqlQueue& operator=(AqlQueue&&) = delete;
    /// Destroys the queue, if destroy() has not been called.
    ~AqlQueue();

    std::uint32_t id() const { return queue_id_; }

    /// Submits a packet that waits for the signal `dependency` to be 0 and then decrements
    /// `completion`. The caller keeps fewer packets in flight than the ring holds.
    void submit_barrier(std::uint64_t dependency, std::uint64_t completion);

    /// Submits a packet that runs `dwords` dwords of PM4 commands and then decrements `completion`.
    void submit_pm4(std::uint64_t commands, std::uint32_t dwords, std::uint64_t completion);

    /// Packets the GPU says it has taken.
    std::uint64_t read_index() const;
    std::uint64_t write_index() const { return write_index_; }

    IoResult<void> destroy();

private:
    struct Buffers {
        KfdMemory ring;
        KfdMemory pointers;
        KfdMemory eop;
        KfdMemory save_area;
    };

    AqlQueue(int kfd_fd, std::uint32_t queue_id, Buffers buffers, KfdMemory doorbells,
             std::uint64_t doorbell_offset)
        : kfd_fd_(kfd_fd),
          queue_id_(queue_id),
          alive_(true),
          buffers_(std::move(buffers)),
          doorbells_(std::move(doorbells)),
          doorbell_offset_(doorbell_offset) {}

    template <typename Packet>
    Packet* next_packet() const;
    void publish(std::uint16_t& header, std::uint16_t type);

    static IoResult<Buffers> allocate_buffers(KfdDevice& device, const KfdNode& node);

    int kfd_fd_;
    std::uint32_t queue_id_;
    bool alive_;
    Buffers buffers_;
    KfdMemory doorbells_;
    std::uint64_t doorbell_offset_;
    std::uint64_t write_index_ = 0;
};

}  // namespace hp::clients
