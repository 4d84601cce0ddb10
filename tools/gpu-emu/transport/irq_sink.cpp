// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/transport/irq_sink.h"

#include <fmt/format.h>
#include <linux/vfio.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <string_view>
#include <utility>

#include "lib/log.h"

namespace gpuemu {
namespace {

/// A pipe in place of an eventfd could block the loop for ever: look before taking it.
bool is_eventfd(const hp::Fd& fd) {
    std::array<char, 64> target{};
    const ssize_t length =
        ::readlink(fmt::format("/proc/self/fd/{}", fd.get()).c_str(), target.data(), target.size());
    return length > 0 &&
           std::string_view(target.data(), static_cast<size_t>(length)) == "anon_inode:[eventfd]";
}

/// No descriptors at all take those of the range away.
int assign(std::span<hp::Fd> range, std::vector<hp::Fd> fds) {
    if (fds.empty()) {
        std::generate(range.begin(), range.end(), [] { return hp::Fd(); });
        return 0;
    }
    if (fds.size() != range.size() || !std::all_of(fds.begin(), fds.end(), is_eventfd)) {
        return EINVAL;
    }
    std::move(fds.begin(), fds.end(), range.begin());
    return 0;
}

}  // namespace

IrqSink::IrqSink(unsigned msi_vectors) {
    eventfds_[VFIO_PCI_INTX_IRQ_INDEX].resize(1);
    eventfds_[VFIO_PCI_MSI_IRQ_INDEX].resize(msi_vectors);
    eventfds_[VFIO_PCI_ERR_IRQ_INDEX].resize(1);
    eventfds_[VFIO_PCI_REQ_IRQ_INDEX].resize(1);
}

uint32_t IrqSink::vectors(uint32_t index) const {
    return index < index_count ? static_cast<uint32_t>(eventfds_[index].size()) : 0;
}

int IrqSink::set(const vfio_user::IrqSet& request, std::span<const std::byte> data,
                 std::vector<hp::Fd> fds) {
    const uint32_t data_type = request.flags & VFIO_IRQ_SET_DATA_TYPE_MASK;
    const uint32_t action = request.flags & VFIO_IRQ_SET_ACTION_TYPE_MASK;
    const bool bools = data_type == VFIO_IRQ_SET_DATA_BOOL;
    if (request.argsz < sizeof request || request.index >= index_count ||
        request.flags != (data_type | action) || !std::has_single_bit(data_type)) {
        return EINVAL;
    }
    std::vector<hp::Fd>& all = eventfds_[request.index];
    if (request.start > all.size() || request.count > all.size() - request.start ||
        (bools && std::min(data.size(), request.argsz - sizeof request) < request.count)) {
        return EINVAL;
    }
    const std::span<hp::Fd> range = std::span(all).subspan(request.start, request.count);

    if (data_type == VFIO_IRQ_SET_DATA_EVENTFD) {
        return action == VFIO_IRQ_SET_ACTION_TRIGGER ? assign(range, std::move(fds)) : ENOTSUP;
    }
    switch (action) {
        case VFIO_IRQ_SET_ACTION_TRIGGER:
            if (!bools && request.count == 0) {  // VFIO's way to switch the whole index off
                return assign(all, {});
            }
            for (size_t vector = 0; vector < range.size(); ++vector) {
                if (!bools || data[vector] != std::byte{0}) {
                    signal(range[vector]);
                }
            }
            return 0;
        case VFIO_IRQ_SET_ACTION_MASK:
        case VFIO_IRQ_SET_ACTION_UNMASK:
            // Only INTx can be masked, and this device never raises it.
            return request.index == VFIO_PCI_INTX_IRQ_INDEX ? 0 : EINVAL;
        default: return EINVAL;
    }
}

bool IrqSink::signal(hp::Fd& eventfd) {
    if (!eventfd) {
        return false;
    }
    const EventfdWriter::Outcome outcome = writer_.signal(eventfd.get());
    if (outcome == EventfdWriter::Outcome::stuck) {
        hp::log::warning("an eventfd of the client cannot be written to: taken away");
        eventfd.reset();
    }
    return outcome == EventfdWriter::Outcome::signalled;
}

bool IrqSink::raise_msi(unsigned vector) {
    std::vector<hp::Fd>& msi = eventfds_[VFIO_PCI_MSI_IRQ_INDEX];
    return vector < msi.size() && signal(msi[vector]);
}

void IrqSink::clear() {
    for (std::vector<hp::Fd>& eventfds : eventfds_) {
        assign(eventfds, {});
    }
}

}  // namespace gpuemu
