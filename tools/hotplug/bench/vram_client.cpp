// SPDX-License-Identifier: GPL-2.0
// Purpose: see vram_client.h.
// Thread: see vram_client.h.
#include "hotplug/bench/vram_client.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "gpu-emu/transport/vfio_user_protocol.h"
#include "lib/unix_socket.h"

namespace hotplug {

namespace {

namespace wire = gpuemu::vfio_user;

constexpr uint32_t vram_region = 0, config_region = 7;
constexpr uint64_t command_register = 4;
constexpr uint16_t memory_space = 2;

std::vector<std::byte> message(wire::Command command, uint16_t id,
                               std::span<const std::byte> payload) {
    std::vector<std::byte> bytes(sizeof(wire::Header) + payload.size());
    const wire::Header header{.id = id,
                              .command = command,
                              .size = static_cast<uint32_t>(bytes.size()),
                              .flags = wire::header_type_command,
                              .error = 0};
    std::memcpy(bytes.data(), &header, sizeof header);
    std::copy(payload.begin(), payload.end(), bytes.begin() + sizeof header);
    return bytes;
}

wire::RegionAccess word_at(uint64_t offset) {
    return {.offset = offset, .region = vram_region, .count = sizeof(uint32_t)};
}

}  // namespace

hp::Result<VramClient> VramClient::connect(const std::filesystem::path& socket,
                                           std::chrono::milliseconds patience) {
    auto connected = hp::connect_unix(socket, patience);
    if (!connected) {
        return tl::unexpected(connected.error());
    }
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(patience);
    const timeval limit{.tv_sec = whole.count(),
                        .tv_usec = std::chrono::microseconds(patience - whole).count()};
    ::setsockopt(connected->get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(connected->get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    VramClient client(std::move(*connected));
    const wire::Version ours{.major = 0, .minor = 0};
    if (const auto hello = client.ask(static_cast<uint16_t>(wire::Command::version),
                                      std::as_bytes(std::span(&ours, 1)));
        !hello) {
        return tl::unexpected(hello.error());
    }
    if (const auto enabled = client.enable_memory(); !enabled) {
        return tl::unexpected(enabled.error());
    }
    return client;
}

/// As a guest does it before it touches a BAR.
hp::Result<void> VramClient::enable_memory() {
    const wire::RegionAccess access{
        .offset = command_register, .region = config_region, .count = sizeof memory_space};
    std::array<std::byte, sizeof access + sizeof memory_space> request{};
    std::memcpy(request.data(), &access, sizeof access);
    std::memcpy(request.data() + sizeof access, &memory_space, sizeof memory_space);
    const auto done = ask(static_cast<uint16_t>(wire::Command::region_write), request);
    return done ? hp::Result<void>() : tl::unexpected(done.error());
}

hp::Result<void> VramClient::write(uint64_t offset, uint32_t value) {
    const wire::RegionAccess access = word_at(offset);
    std::vector<std::byte> request(sizeof access + sizeof value);
    std::memcpy(request.data(), &access, sizeof access);
    std::memcpy(request.data() + sizeof access, &value, sizeof value);
    const auto done = ask(static_cast<uint16_t>(wire::Command::region_write), request);
    return done ? hp::Result<void>() : tl::unexpected(done.error());
}

hp::Result<uint32_t> VramClient::read(uint64_t offset) {
    const wire::RegionAccess access = word_at(offset);
    const auto answer = ask(static_cast<uint16_t>(wire::Command::region_read),
                            std::as_bytes(std::span(&access, 1)));
    if (!answer) {
        return tl::unexpected(answer.error());
    }
    uint32_t value = 0;
    if (answer->size() != sizeof access + sizeof value) {
        return hp::fail("the emulator answered a read with something else");
    }
    std::memcpy(&value, answer->data() + sizeof access, sizeof value);
    return value;
}

hp::Result<std::vector<std::byte>> VramClient::ask(uint16_t command,
                                                   std::span<const std::byte> request) {
    const uint16_t id = next_id_++;
    const auto bytes = message(static_cast<wire::Command>(command), id, request);
    if (::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(bytes.size())) {
        return hp::fail(fmt::format("cannot write to the emulator: {}", std::strerror(errno)));
    }
    wire::Header header{};
    if (const auto got = receive(std::as_writable_bytes(std::span(&header, 1))); !got) {
        return tl::unexpected(got.error());
    }
    if (header.id != id || header.size < sizeof header || header.size > wire::max_message) {
        return hp::fail("what the emulator sent is no reply of vfio-user");
    }
    std::vector<std::byte> payload(header.size - sizeof header);
    if (const auto got = receive(payload); !got) {
        return tl::unexpected(got.error());
    }
    if ((header.flags & wire::header_error) != 0) {
        return hp::fail(fmt::format("the emulator refused command {}: {}", command,
                                    std::strerror(static_cast<int>(header.error))));
    }
    return payload;
}

hp::Result<void> VramClient::receive(std::span<std::byte> bytes) {
    if (bytes.empty()) {
        return {};
    }
    const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_WAITALL);
    if (got != static_cast<ssize_t>(bytes.size())) {
        return hp::fail(fmt::format("no answer of the emulator: {}",
                                    got < 0 ? std::strerror(errno) : "the stream has ended"));
    }
    return {};
}

}  // namespace hotplug
