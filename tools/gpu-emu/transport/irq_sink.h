// SPDX-License-Identifier: GPL-2.0
// Purpose: interrupts towards the client: the eventfds it gave for INTx, MSI, error and release
// request. Thread: device loop only. Does not model: MSI-X, level-triggered INTx with unmasking by
// eventfd.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu-emu/transport/eventfd_writer.h"
#include "gpu-emu/transport/vfio_user_protocol.h"
#include "lib/fd.h"

namespace gpuemu {

class IrqSink {
public:
    /// Index numbers are VFIO_PCI_*_IRQ_INDEX (linux/vfio.h).
    static constexpr uint32_t index_count = 5;

    explicit IrqSink(unsigned msi_vectors);

    /// Interrupts of an index that a client may set up; 0 when the index is none.
    uint32_t vectors(uint32_t index) const;

    /// Carries out SET_IRQS. `data` is what follows the request: with VFIO_IRQ_SET_DATA_BOOL a byte
    /// for each interrupt, else without a meaning. Returns 0 or the errno for the reply.
    int set(const vfio_user::IrqSet& request, std::span<const std::byte> data,
            std::vector<hp::Fd> fds);

    /// Signals MSI `vector`; false when the client did not set it up, or has filled it. An eventfd
    /// at which a write would not end is taken away.
    bool raise_msi(unsigned vector);

    void clear();

private:
    bool signal(hp::Fd& eventfd);

    std::array<std::vector<hp::Fd>, index_count> eventfds_;
    EventfdWriter writer_;
};

}  // namespace gpuemu
