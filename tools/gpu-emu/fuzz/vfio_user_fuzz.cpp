// SPDX-License-Identifier: GPL-2.0
// Purpose: libFuzzer target: a byte stream of a client, cut into reads, through framer and session.
// Checks what holds for every stream: replies are well formed, accesses stay inside regions, DMA
// windows stay inside maps. Input: pieces of a 2 byte header (bits 0-13 length, bit 14 a memory
// file comes along, bit 15 an eventfd) and their bytes.
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "gpu-emu/transport/message_framer.h"
#include "gpu-emu/transport/vfio_user_session.h"

namespace {

using gpuemu::DmaAccess;
using gpuemu::MessageFramer;
using gpuemu::Region;
namespace wire = gpuemu::vfio_user;

constexpr uint64_t region_size = 4096;
constexpr size_t file_size = 16 * 4096;

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

/// Uses every byte it is given and every window it gets.
class GreedyFunction : public gpuemu::PciFunction {
public:
    gpuemu::RegionInfo region_info(Region region) const override {
        const bool there = region == Region::bar5 || region == Region::config;
        return {.size = there ? region_size : 0, .writable = true, .mmap_fd = -1};
    }
    unsigned msi_vectors() const override { return 1; }
    void read(Region, uint64_t offset, std::span<std::byte> out) override {
        require(offset <= region_size && out.size() <= region_size - offset);
        std::copy_n(storage_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(),
                    out.begin());
    }
    void write(Region, uint64_t offset, std::span<const std::byte> in) override {
        require(offset <= region_size && in.size() <= region_size - offset);
        std::copy(in.begin(), in.end(), storage_.begin() + static_cast<std::ptrdiff_t>(offset));
        uint64_t address = 0;
        std::memcpy(&address, storage_.data(), sizeof address);
        const auto readable = host_->dma(address, 64, DmaAccess::read);
        require(readable.size() <= 64);
        std::copy(readable.begin(), readable.end(), storage_.begin() + 64);
        const auto writable = host_->dma(address, 64, DmaAccess::write);
        std::fill(writable.begin(), writable.end(), std::byte{1});
        host_->raise_msi(0);
    }
    void attach(gpuemu::PciHost& host) override {
        require(host_ == nullptr);
        host_ = &host;
    }
    void detach() override {
        require(host_ != nullptr);
        host_ = nullptr;
    }
    void reset() override { storage_.fill(std::byte{0}); }
    bool asleep() const override { return false; }

private:
    gpuemu::PciHost* host_ = nullptr;
    std::array<std::byte, region_size> storage_{};
};

void check_reply(const wire::Header& request, const gpuemu::Reply& reply) {
    if (reply.bytes.empty()) {
        return;
    }
    wire::Header header{};
    require(reply.bytes.size() >= sizeof header && reply.bytes.size() <= wire::max_message);
    std::memcpy(&header, reply.bytes.data(), sizeof header);
    require(header.id == request.id && header.command == request.command);
    require(header.size == reply.bytes.size());
    require((header.flags & wire::header_type) == wire::header_type_reply);
    require(((header.flags & wire::header_error) != 0) == (header.error != 0));
}

std::vector<hp::Fd> descriptors(uint16_t piece, const hp::Fd& file) {
    std::vector<hp::Fd> fds;
    if ((piece & 0x4000) != 0) {
        fds.emplace_back(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0));
    }
    if ((piece & 0x8000) != 0) {
        fds.emplace_back(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    }
    return fds;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const hp::Fd file = [] {
        hp::Fd fd(::memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING));
        require(::ftruncate(fd.get(), file_size) == 0);
        require(::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK) == 0);
        return fd;
    }();
    GreedyFunction function;
    gpuemu::VfioUserSession session(function);
    static MessageFramer framer;  // its buffer is larger than all an input can be: made once
    framer.clear();
    MessageFramer::Message message;
    gpuemu::Reply reply;
    std::span<const uint8_t> input(data, size);
    while (input.size() > 2) {
        uint16_t piece = 0;
        std::memcpy(&piece, input.data(), sizeof piece);
        input = input.subspan(2);
        const auto space = framer.space();
        const size_t length = std::min({size_t{piece & 0x3fffu}, input.size(), space.size()});
        std::copy_n(std::as_bytes(input).begin(), length, space.begin());
        input = input.subspan(length);
        framer.commit(length, descriptors(piece, file));
        MessageFramer::Next next{};
        while ((next = framer.next(message)) == MessageFramer::Next::message) {
            const wire::Header request = message.header;
            session.handle(message, reply);
            check_reply(request, reply);
        }
        if (next == MessageFramer::Next::broken) {
            break;
        }
    }
    session.end();
    require(!session.attached());
    return 0;
}
