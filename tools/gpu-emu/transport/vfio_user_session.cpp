// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/transport/vfio_user_session.h"

#include <linux/vfio.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "lib/log.h"

namespace gpuemu {

using vfio_user::Command;
using vfio_user::Header;

namespace {

/// The structure at the beginning of a payload. False when the payload is too short for it.
template <typename T>
bool take(std::span<const std::byte> payload, T& out) {
    if (payload.size() < sizeof out) {
        return false;
    }
    std::memcpy(&out, payload.data(), sizeof out);
    return true;
}

std::string our_capabilities() {
    return nlohmann::json{{"capabilities",
                           {{"max_msg_fds", vfio_user::max_message_fds},
                            {"max_data_xfer_size", vfio_user::max_data_transfer},
                            {"max_dma_maps", vfio_user::max_dma_maps},
                            {"pgsizes", 4096}}}}
        .dump();
}

/// What a client says of itself must be JSON and end with a NUL; nothing of it matters to us, as we
/// send no requests.
bool well_formed_capabilities(std::span<const std::byte> text) {
    if (text.empty()) {
        return true;
    }
    const std::string_view json(reinterpret_cast<const char*>(text.data()), text.size() - 1);
    return text.back() == std::byte{0} && nlohmann::json::parse(json, nullptr, false).is_object();
}

}  // namespace

/// Builds a reply behind room for its header.
class VfioUserSession::ReplyWriter {
public:
    explicit ReplyWriter(Reply& reply) : reply_(reply) {
        reply_.bytes.resize(sizeof(Header));
        reply_.fd = -1;
    }

    template <typename T>
    void append(const T& value) {
        std::memcpy(append_space(sizeof value).data(), &value, sizeof value);
    }

    std::span<std::byte> append_space(size_t bytes) {
        const size_t at = reply_.bytes.size();
        reply_.bytes.resize(at + bytes);
        return std::span(reply_.bytes).subspan(at);
    }

    void attach(int fd) { reply_.fd = fd; }

    void finish(const Header& request, int error) {
        if (error != 0) {
            reply_.bytes.resize(sizeof(Header));
            reply_.fd = -1;
        }
        const Header header{
            .id = request.id,
            .command = request.command,
            .size = static_cast<uint32_t>(reply_.bytes.size()),
            .flags = vfio_user::header_type_reply | (error != 0 ? vfio_user::header_error : 0),
            .error = static_cast<uint32_t>(error)};
        std::memcpy(reply_.bytes.data(), &header, sizeof header);
    }

    void discard() { reply_.bytes.clear(); }

private:
    Reply& reply_;
};

VfioUserSession::VfioUserSession(PciFunction& function)
    : function_(function), irqs_(function.msi_vectors()) {}

void VfioUserSession::handle(MessageFramer::Message& message, Reply& reply) {
    thread_.check();
    ReplyWriter out(reply);
    const Header& header = message.header;
    if ((header.flags & vfio_user::header_type) != vfio_user::header_type_command) {
        // We never ask, so it answers nothing; to answer an answer could go on for ever.
        hp::log::warning("the client sent a reply to nothing",
                         {{"command", static_cast<unsigned>(header.command)}, {"id", header.id}});
        out.discard();
        return;
    }
    const int error = message.too_many_fds ? EINVAL : dispatch(message, out);
    if (error != 0) {
        hp::log::debug("request refused", {{"command", static_cast<unsigned>(header.command)},
                                           {"id", header.id},
                                           {"errno", std::strerror(error)}});
    }
    out.finish(header, error);
    if ((header.flags & vfio_user::header_no_reply) != 0) {
        out.discard();
    }
}

void VfioUserSession::end() {
    if (std::exchange(attached_, false)) {
        function_.detach();
    }
    dma_map_.clear();
    irqs_.clear();
}

bool VfioUserSession::is_bar_access(const MessageFramer::Message& message) {
    vfio_user::RegionAccess access{};
    const Command command = message.header.command;
    return (command == Command::region_read || command == Command::region_write) &&
           take(message.payload, access) && access.region <= static_cast<uint32_t>(Region::bar5);
}

std::span<std::byte> VfioUserSession::dma(uint64_t iova, uint64_t length, DmaAccess access) {
    return dma_map_.window(iova, length, access);
}

bool VfioUserSession::raise_msi(unsigned vector) {
    return irqs_.raise_msi(vector);
}

int VfioUserSession::dispatch(MessageFramer::Message& message, ReplyWriter& out) {
    if (attached_ == (message.header.command == Command::version)) {
        return EINVAL;  // VERSION comes first, and once
    }
    switch (message.header.command) {
        case Command::version: return version(message.payload, out);
        case Command::dma_map: return dma_map(message);
        case Command::dma_unmap: return dma_unmap(message.payload, out);
        case Command::device_get_info: return get_info(message.payload, out);
        case Command::device_get_region_info: return get_region_info(message.payload, out);
        case Command::device_get_irq_info: return get_irq_info(message.payload, out);
        case Command::device_set_irqs: return set_irqs(message);
        case Command::region_read: return region_read(message.payload, out);
        case Command::region_write: return region_write(message.payload, out);
        case Command::device_reset: function_.reset(); return 0;
        case Command::device_get_region_io_fds:
        case Command::dma_read:
        case Command::dma_write: return ENOTSUP;
    }
    return ENOTSUP;  // a number that is no command, or one of a later version
}

int VfioUserSession::version(std::span<const std::byte> payload, ReplyWriter& out) {
    vfio_user::Version client{};
    if (!take(payload, client) || client.major != 0 ||
        !well_formed_capabilities(payload.subspan(sizeof client))) {
        return EINVAL;
    }
    out.append(vfio_user::Version{.major = 0, .minor = 0});
    const std::string capabilities = our_capabilities();
    std::memcpy(out.append_space(capabilities.size() + 1).data(), capabilities.c_str(),
                capabilities.size() + 1);
    attached_ = true;
    function_.attach(*this);
    return 0;
}

int VfioUserSession::dma_map(MessageFramer::Message& message) {
    vfio_user::DmaMapRequest request{};
    if (message.payload.size() != sizeof request || !take(message.payload, request) ||
        message.fds.size() > 1) {
        return EINVAL;
    }
    return dma_map_.map(request, message.fds.empty() ? -1 : message.fds.front().get());
}

int VfioUserSession::dma_unmap(std::span<const std::byte> payload, ReplyWriter& out) {
    vfio_user::DmaUnmap request{};
    if (!take(payload, request)) {
        return EINVAL;
    }
    out.append(request);
    return dma_map_.unmap(request);
}

int VfioUserSession::get_info(std::span<const std::byte> payload, ReplyWriter& out) {
    vfio_user::DeviceInfo request{};
    if (!take(payload, request) || request.argsz < sizeof request) {
        return EINVAL;
    }
    out.append(vfio_user::DeviceInfo{.argsz = sizeof(vfio_user::DeviceInfo),
                                     .flags = VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI,
                                     .num_regions = region_count,
                                     .num_irqs = IrqSink::index_count});
    return 0;
}

int VfioUserSession::get_region_info(std::span<const std::byte> payload, ReplyWriter& out) {
    vfio_user::RegionInfoMessage request{};
    if (!take(payload, request) || request.argsz < sizeof request ||
        request.index >= region_count) {
        return EINVAL;
    }
    const RegionInfo region = function_.region_info(static_cast<Region>(request.index));
    uint32_t flags = 0;
    if (region.size != 0) {
        flags = VFIO_REGION_INFO_FLAG_READ | (region.writable ? VFIO_REGION_INFO_FLAG_WRITE : 0) |
                (region.mmap_fd >= 0 ? VFIO_REGION_INFO_FLAG_MMAP : 0);
    }
    out.append(vfio_user::RegionInfoMessage{.argsz = sizeof(vfio_user::RegionInfoMessage),
                                            .flags = flags,
                                            .index = request.index,
                                            .cap_offset = 0,
                                            .size = region.size,
                                            .offset = 0});
    out.attach(region.size != 0 ? region.mmap_fd : -1);
    return 0;
}

int VfioUserSession::get_irq_info(std::span<const std::byte> payload, ReplyWriter& out) {
    vfio_user::IrqInfo request{};
    if (!take(payload, request) || request.argsz < sizeof request ||
        request.index >= IrqSink::index_count) {
        return EINVAL;
    }
    const uint32_t flags =
        VFIO_IRQ_INFO_EVENTFD | (request.index == VFIO_PCI_INTX_IRQ_INDEX ? VFIO_IRQ_INFO_MASKABLE
                                                                          : VFIO_IRQ_INFO_NORESIZE);
    out.append(vfio_user::IrqInfo{.argsz = sizeof(vfio_user::IrqInfo),
                                  .flags = flags,
                                  .index = request.index,
                                  .count = irqs_.vectors(request.index)});
    return 0;
}

int VfioUserSession::set_irqs(MessageFramer::Message& message) {
    vfio_user::IrqSet request{};
    if (!take(message.payload, request)) {
        return EINVAL;
    }
    return irqs_.set(request, std::span(message.payload).subspan(sizeof request),
                     std::move(message.fds));
}

int VfioUserSession::region_read(std::span<const std::byte> payload, ReplyWriter& out) {
    vfio_user::RegionAccess access{};
    if (payload.size() != sizeof access || !take(payload, access) || !in_region(access)) {
        return EINVAL;
    }
    out.append(access);
    function_.read(static_cast<Region>(access.region), access.offset,
                   out.append_space(access.count));
    return 0;
}

int VfioUserSession::region_write(std::span<const std::byte> payload, ReplyWriter& out) {
    vfio_user::RegionAccess access{};
    if (!take(payload, access) || payload.size() - sizeof access != access.count ||
        !in_region(access)) {
        return EINVAL;
    }
    out.append(access);
    function_.write(static_cast<Region>(access.region), access.offset,
                    payload.subspan(sizeof access));
    return 0;
}

bool VfioUserSession::in_region(const vfio_user::RegionAccess& access) const {
    if (access.region >= region_count || access.count == 0 ||
        access.count > vfio_user::max_data_transfer) {
        return false;
    }
    const uint64_t size = function_.region_info(static_cast<Region>(access.region)).size;
    return access.offset <= size && access.count <= size - access.offset;
}

}  // namespace gpuemu
