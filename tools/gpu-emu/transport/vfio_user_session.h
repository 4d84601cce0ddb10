// SPDX-License-Identifier: GPL-2.0
// Purpose: what a vfio-user message means: one client's conversation with one PCI function. Knows
// nothing of sockets; takes a message, leaves a reply. Thread: device loop only; never blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu-emu/pci/pci_function.h"
#include "gpu-emu/transport/dma_map.h"
#include "gpu-emu/transport/irq_sink.h"
#include "gpu-emu/transport/message_framer.h"
#include "gpu-emu/transport/vfio_user_protocol.h"
#include "lib/thread_rule.h"

namespace gpuemu {

/// A reply as it goes on the wire. Reused from message to message.
struct Reply {
    std::vector<std::byte> bytes;  // empty: the client wants none
    int fd = -1;                   // goes along; the function's
};

class VfioUserSession : public PciHost {
public:
    /// `function` outlives the session.
    explicit VfioUserSession(PciFunction& function);
    ~VfioUserSession() override { end(); }

    /// Carries out `message` and overwrites `reply`. The first one of a client has to be VERSION:
    /// that attaches the function.
    void handle(MessageFramer::Message& message, Reply& reply);

    /// The client is gone: the function is detached, maps and interrupts are dropped. The next
    /// message begins anew.
    void end();

    bool attached() const { return attached_; }

    /// An access to a BAR, the kind of message whose answer can be delayed.
    static bool is_bar_access(const MessageFramer::Message& message);

    std::span<std::byte> dma(uint64_t iova, uint64_t length, DmaAccess access) override;
    bool raise_msi(unsigned vector) override;

private:
    class ReplyWriter;

    int dispatch(MessageFramer::Message& message, ReplyWriter& out);
    int version(std::span<const std::byte> payload, ReplyWriter& out);
    int dma_map(MessageFramer::Message& message);
    int dma_unmap(std::span<const std::byte> payload, ReplyWriter& out);
    int get_info(std::span<const std::byte> payload, ReplyWriter& out);
    int get_region_info(std::span<const std::byte> payload, ReplyWriter& out);
    int get_irq_info(std::span<const std::byte> payload, ReplyWriter& out);
    int set_irqs(MessageFramer::Message& message);
    int region_read(std::span<const std::byte> payload, ReplyWriter& out);
    int region_write(std::span<const std::byte> payload, ReplyWriter& out);
    bool in_region(const vfio_user::RegionAccess& access) const;

    PciFunction& function_;
    DmaMap dma_map_;
    IrqSink irqs_;
    bool attached_ = false;
    hp::ThreadRule thread_;
};

}  // namespace gpuemu
