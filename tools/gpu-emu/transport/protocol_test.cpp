// SPDX-License-Identifier: GPL-2.0
// Purpose: the server as a client sees it, over a real socket. The client here is a second
// implementation of the protocol, written from its specification (docs/interop/vfio-user.rst of
// QEMU) with structures and numbers of its own: it includes nothing of ours but the server. Thread:
// the test is the client and blocks; the server runs its loop in a thread.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gpu-emu/transport/vfio_user_server.h"
#include "lib/fd_passing.h"
#include "lib/log.h"
#include "lib/temp_tree.h"

namespace gpuemu {
namespace {

using namespace std::chrono_literals;

// ---------------------------------------------------------------- the client

#pragma pack(push, 1)
struct WireHeader {
    uint16_t message_id;
    uint16_t command;
    uint32_t message_size;
    uint32_t flags;
    uint32_t error;
};
struct WireDmaMap {
    uint32_t argsz, flags;
    uint64_t offset, address, size;
};
struct WireRegion {
    uint32_t argsz, flags, index, cap_offset;
    uint64_t size, offset;
};
struct WireAccess {
    uint64_t offset;
    uint32_t region, count;
};
#pragma pack(pop)

using Bytes = std::vector<uint8_t>;

template <typename T>
Bytes bytes_of(const T& value) {
    Bytes bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

struct WireReply {
    WireHeader header{};
    Bytes payload;
    hp::Fd fd;

    template <typename T>
    T as() const {
        T value{};
        EXPECT_GE(payload.size(), sizeof value);
        std::memcpy(&value, payload.data(), std::min(payload.size(), sizeof value));
        return value;
    }
};

/// Blocking, with a deadline on every read so that a fault of the server fails the test instead of
/// hanging it.
class Client {
public:
    explicit Client(const std::string& path) {
        auto connected = hp::connect_unix(path, 5s);
        EXPECT_TRUE(connected);
        if (connected) {
            socket_ = std::move(*connected);
        }
        const timeval limit{.tv_sec = 10, .tv_usec = 0};
        ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    }

    int socket() const { return socket_.get(); }
    void disconnect() { socket_.reset(); }

    bool send_raw(const Bytes& bytes, const std::vector<int>& fds = {}) {
        return hp::send_with_fds(socket_.get(), std::as_bytes(std::span(bytes)), fds, 0) ==
               static_cast<ssize_t>(bytes.size());
    }

    static Bytes frame(uint16_t id, uint16_t command, const Bytes& payload, uint32_t flags = 0) {
        Bytes all = bytes_of(WireHeader{
            id, command, static_cast<uint32_t>(sizeof(WireHeader) + payload.size()), flags, 0});
        all.insert(all.end(), payload.begin(), payload.end());
        return all;
    }

    /// Empty at the end of the stream.
    std::optional<WireReply> receive() {
        WireReply reply;
        const auto room = std::as_writable_bytes(std::span(&reply.header, 1));
        hp::ReceivedWithFds received = hp::receive_with_fds(socket_.get(), room, MSG_WAITALL, 1);
        if (received.bytes != sizeof reply.header) {
            return std::nullopt;
        }
        if (!received.fds.empty()) {
            reply.fd = std::move(received.fds.front());
        }
        reply.payload.resize(reply.header.message_size - sizeof reply.header);
        if (!reply.payload.empty() &&
            ::recv(socket_.get(), reply.payload.data(), reply.payload.size(), MSG_WAITALL) !=
                static_cast<ssize_t>(reply.payload.size())) {
            return std::nullopt;
        }
        return reply;
    }

    /// Sends a command and checks the frame of its reply.
    WireReply call(uint16_t command, const Bytes& payload, const std::vector<int>& fds = {}) {
        const uint16_t id = next_id_++;
        EXPECT_TRUE(send_raw(frame(id, command, payload), fds));
        auto reply = receive();
        if (!reply) {
            ADD_FAILURE() << "no reply to command " << command;
            return {};
        }
        EXPECT_EQ(reply->header.message_id, id);
        EXPECT_EQ(reply->header.command, command);
        EXPECT_EQ(reply->header.flags & 0xf, 1u);
        if ((reply->header.flags & 0x20) != 0) {
            EXPECT_NE(reply->header.error, 0u);
            EXPECT_TRUE(reply->payload.empty());
        } else {
            EXPECT_EQ(reply->header.error, 0u);
        }
        return std::move(*reply);
    }

    /// The error of a command, 0 for none.
    uint32_t error_of(uint16_t command, const Bytes& payload, const std::vector<int>& fds = {}) {
        return call(command, payload, fds).header.error;
    }

    WireReply hello() {
        Bytes payload{0, 0, 0, 0};
        const std::string json = R"({"capabilities":{"max_msg_fds":8}})";
        payload.insert(payload.end(), json.begin(), json.end());
        payload.push_back(0);
        return call(1, payload);
    }

    uint32_t read32(uint32_t region, uint64_t offset) {
        const WireReply reply = call(9, bytes_of(WireAccess{offset, region, 4}));
        EXPECT_EQ(reply.payload.size(), sizeof(WireAccess) + 4);
        uint32_t value = 0;
        if (reply.payload.size() >= sizeof(WireAccess) + 4) {
            std::memcpy(&value, reply.payload.data() + sizeof(WireAccess), 4);
        }
        return value;
    }

    template <typename T>
    static Bytes write_payload(uint32_t region, uint64_t offset, T value) {
        Bytes payload = bytes_of(WireAccess{offset, region, sizeof value});
        const Bytes data = bytes_of(value);
        payload.insert(payload.end(), data.begin(), data.end());
        return payload;
    }

    template <typename T>
    uint32_t write(uint32_t region, uint64_t offset, T value) {
        return error_of(10, write_payload(region, offset, value));
    }

private:
    hp::Fd socket_;
    uint16_t next_id_ = 100;
};

// ---------------------------------------------------------------- the device

constexpr uint64_t dma_address_register = 0x10;  // bus address, 8 bytes
constexpr uint64_t dma_start_register =
    0x18;  // value to write there; reads back how many bytes were granted
constexpr uint64_t msi_register = 0x20;

/// Memory as QEMU's memory-backend-memfd offers it: its size is sealed.
hp::Fd guest_memory(off_t bytes) {
    hp::Fd fd(::memfd_create("guest", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    EXPECT_EQ(::ftruncate(fd.get(), bytes), 0);
    EXPECT_EQ(::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
    return fd;
}

class ToyFunction : public PciFunction {
public:
    ToyFunction() : memory_(::memfd_create("toy", MFD_CLOEXEC)) {
        EXPECT_EQ(::ftruncate(memory_.get(), 65536), 0);
    }

    RegionInfo region_info(Region region) const override {
        switch (region) {
            case Region::bar0: return {.size = 65536, .writable = true, .mmap_fd = memory_.get()};
            case Region::bar5: return {.size = storage_.size(), .writable = true, .mmap_fd = -1};
            case Region::config: return {.size = 4096, .writable = true, .mmap_fd = -1};
            default: return {};
        }
    }
    unsigned msi_vectors() const override { return 1; }

    void read(Region region, uint64_t offset, std::span<std::byte> out) override {
        if (region == Region::bar5) {
            std::memcpy(out.data(), storage_.data() + offset, out.size());
        } else {
            std::fill(out.begin(), out.end(), std::byte{0xff});
        }
    }

    void write(Region region, uint64_t offset, std::span<const std::byte> in) override {
        if (region != Region::bar5) {
            return;
        }
        std::memcpy(storage_.data() + offset, in.data(), in.size());
        if (offset == dma_start_register) {
            uint64_t address = 0;
            std::memcpy(&address, storage_.data() + dma_address_register, sizeof address);
            const auto window = host_->dma(address, in.size(), DmaAccess::write);
            std::copy_n(in.begin(), window.size(), window.begin());
            const auto granted = static_cast<uint32_t>(window.size());
            std::memcpy(storage_.data() + offset, &granted, sizeof granted);
        } else if (offset == msi_register) {
            host_->raise_msi(0);
        }
    }

    void attach(PciHost& host) override {
        host_ = &host;
        storage_.fill(std::byte{0});
        ++attachments;
    }
    void detach() override { ++detachments; }
    void reset() override { ++resets; }
    bool asleep() const override { return false; }

    std::atomic<int> attachments = 0;
    std::atomic<int> detachments = 0;
    std::atomic<int> resets = 0;

private:
    hp::Fd memory_;
    PciHost* host_ = nullptr;
    std::array<std::byte, 4096> storage_{};
};

class ProtocolTest : public testing::Test {
protected:
    void SetUp() override { hp::log::set_up("test", "off"); }

    void start(VfioUserConnection::Options options = {}) {
        server_ = std::make_unique<VfioUserServer>(loop, function, path, std::move(options));
        thread_ = std::thread([this] { loop.run(); });
    }

    void TearDown() override {
        if (thread_.joinable()) {
            loop.stop();
            thread_.join();
        }
        server_.reset();
    }

    /// For what the server does without telling the client: a second client's greeting is answered
    /// after it.
    void expect_detachments(int wanted) {
        const auto deadline = std::chrono::steady_clock::now() + 10s;
        while (function.detachments != wanted && std::chrono::steady_clock::now() < deadline) {
            std::this_thread::yield();
        }
        EXPECT_EQ(function.detachments, wanted);
    }

    const hp::TempTree folder;
    const std::string path = folder.root() / "s";
    hp::EventLoop loop;
    ToyFunction function;

private:
    std::unique_ptr<VfioUserServer> server_;
    std::thread thread_;
};

// ---------------------------------------------------------------- what a good client does

TEST_F(ProtocolTest, VersionIsNegotiated) {
    start();
    Client client(path);
    const WireReply reply = client.hello();
    ASSERT_GT(reply.payload.size(), 4u);
    EXPECT_EQ(reply.payload[0] | reply.payload[1] << 8, 0) << "major";
    EXPECT_EQ(reply.payload.back(), 0) << "the JSON text ends with a NUL";
    const std::string json(reinterpret_cast<const char*>(reply.payload.data()) + 4);
    EXPECT_NE(json.find("\"max_data_xfer_size\":1048576"), std::string::npos) << json;
    EXPECT_EQ(function.attachments, 1);
}

TEST_F(ProtocolTest, AVersionWithoutCapabilitiesIsFine) {
    start();
    Client client(path);
    EXPECT_EQ(client.error_of(1, {0, 0, 0, 0}), 0u);
}

TEST_F(ProtocolTest, DeviceRegionsAndInterruptsAreDescribed) {
    start();
    Client client(path);
    client.hello();
    const auto info = client.call(4, bytes_of(std::array<uint32_t, 4>{16, 0, 0, 0}))
                          .as<std::array<uint32_t, 4>>();
    EXPECT_EQ(info, (std::array<uint32_t, 4>{16, 3, 9, 5})) << "resettable PCI device";

    WireReply bar0 = client.call(5, bytes_of(WireRegion{32, 0, 0, 0, 0, 0}));
    EXPECT_EQ(bar0.as<WireRegion>().size, 65536u);
    EXPECT_EQ(bar0.as<WireRegion>().flags, 7u) << "read, write, mmap";
    ASSERT_TRUE(bar0.fd);
    void* memory = ::mmap(nullptr, 65536, PROT_READ, MAP_SHARED, bar0.fd.get(), 0);
    ASSERT_NE(memory, MAP_FAILED);
    ::munmap(memory, 65536);

    const WireReply bar5 = client.call(5, bytes_of(WireRegion{32, 0, 5, 0, 0, 0}));
    EXPECT_EQ(bar5.as<WireRegion>().flags, 3u);
    EXPECT_FALSE(bar5.fd);
    EXPECT_EQ(client.call(5, bytes_of(WireRegion{32, 0, 7, 0, 0, 0})).as<WireRegion>().size, 4096u);
    const WireReply none = client.call(5, bytes_of(WireRegion{32, 0, 3, 0, 0, 0}));
    EXPECT_EQ(none.as<WireRegion>().size, 0u);
    EXPECT_EQ(none.as<WireRegion>().flags, 0u);
    EXPECT_EQ(client.error_of(5, bytes_of(WireRegion{32, 0, 9, 0, 0, 0})), uint32_t{EINVAL});

    for (const auto& [index, count] : {std::pair{0u, 1u}, {1u, 1u}, {2u, 0u}, {3u, 1u}, {4u, 1u}}) {
        const auto irq = client.call(7, bytes_of(std::array<uint32_t, 4>{16, 0, index, 0}))
                             .as<std::array<uint32_t, 4>>();
        EXPECT_EQ(irq[3], count) << "index " << index;
        EXPECT_EQ(irq[1] & 1, 1u) << "by eventfd";
    }
}

TEST_F(ProtocolTest, RegionsAreReadAndWritten) {
    start();
    Client client(path);
    client.hello();
    EXPECT_EQ(client.write(5, 0x200, uint32_t{0xcafe1234}), 0u);
    EXPECT_EQ(client.read32(5, 0x200), 0xcafe1234u);
    EXPECT_EQ(client.read32(5, 0x202), 0x0000cafeu);
}

TEST_F(ProtocolTest, PostedWritesAreNotAnsweredAndKeepTheirOrder) {
    start();
    Client client(path);
    client.hello();
    Bytes burst;
    for (uint32_t i = 1; i <= 500; ++i) {
        const Bytes one = Client::frame(9, 10, Client::write_payload(5, 0x200, i), 0x10);
        burst.insert(burst.end(), one.begin(), one.end());
    }
    ASSERT_TRUE(client.send_raw(burst));
    EXPECT_EQ(client.read32(5, 0x200), 500u);
}

TEST_F(ProtocolTest, AMessageInPiecesIsOneMessage) {
    start();
    Client client(path);
    client.hello();
    const Bytes whole = Client::frame(55, 10, Client::write_payload(5, 0x200, uint32_t{77}));
    for (uint8_t byte : whole) {
        ASSERT_TRUE(client.send_raw({byte}));
    }
    const auto reply = client.receive();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->header.message_id, 55);
    EXPECT_EQ(client.read32(5, 0x200), 77u);
}

TEST_F(ProtocolTest, TheDeviceWritesIntoTheClientsMemory) {
    start();
    Client client(path);
    client.hello();
    const hp::Fd memory = guest_memory(16384);
    ASSERT_EQ(
        client.error_of(2, bytes_of(WireDmaMap{32, 3, 4096, 0x80000000, 8192}), {memory.get()}),
        0u);
    client.write(5, dma_address_register, uint64_t{0x80000000 + 0x40});
    client.write(5, dma_start_register, uint32_t{0xfeedface});
    EXPECT_EQ(client.read32(5, dma_start_register), 4u);
    uint32_t seen = 0;
    ASSERT_EQ(::pread(memory.get(), &seen, 4, 4096 + 0x40), 4);
    EXPECT_EQ(seen, 0xfeedfaceu);

    ASSERT_EQ(client.error_of(3, bytes_of(std::array<uint64_t, 3>{24, 0x80000000, 8192})), 0u);
    client.write(5, dma_start_register, uint32_t{1});
    EXPECT_EQ(client.read32(5, dma_start_register), 0u) << "nothing is there any more";
}

TEST_F(ProtocolTest, MemoryThatTheClientCouldTakeAwayIsRefused) {
    start();
    Client client(path);
    client.hello();
    const hp::Fd memory(::memfd_create("guest", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    ASSERT_EQ(::ftruncate(memory.get(), 4096), 0);
    const Bytes map = bytes_of(WireDmaMap{32, 3, 0, 0x1000, 4096});
    EXPECT_EQ(client.error_of(2, map, {memory.get()}), uint32_t{EPERM});
    ASSERT_EQ(::ftruncate(memory.get(), 0), 0);
    client.write(5, dma_address_register, uint64_t{0x1000});
    client.write(5, dma_start_register, uint32_t{1});
    EXPECT_EQ(client.read32(5, dma_start_register), 0u) << "the server lives, and reached nothing";

    ASSERT_EQ(::ftruncate(memory.get(), 4096), 0);
    ASSERT_EQ(::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
    EXPECT_EQ(client.error_of(2, map, {memory.get()}), 0u);
    EXPECT_EQ(::ftruncate(memory.get(), 0), -1);
    client.write(5, dma_start_register, uint32_t{1});
    EXPECT_EQ(client.read32(5, dma_start_register), 4u);
}

TEST_F(ProtocolTest, ReadOnlyAndFilelessMemoryIsNotWritten) {
    start();
    Client client(path);
    client.hello();
    const hp::Fd memory = guest_memory(4096);
    ASSERT_EQ(client.error_of(2, bytes_of(WireDmaMap{32, 1, 0, 0x1000, 4096}), {memory.get()}), 0u);
    ASSERT_EQ(client.error_of(2, bytes_of(WireDmaMap{32, 3, 0, 0x2000, 4096})), 0u);
    for (const uint64_t address : {0x1000ull, 0x2000ull}) {
        client.write(5, dma_address_register, address);
        client.write(5, dma_start_register, uint32_t{1});
        EXPECT_EQ(client.read32(5, dma_start_register), 0u);
    }
}

TEST_F(ProtocolTest, MsiArrivesAtTheEventfd) {
    start();
    Client client(path);
    client.hello();
    const hp::Fd event(::eventfd(0, EFD_CLOEXEC));
    constexpr uint32_t eventfd_trigger = 4 | 32;
    ASSERT_EQ(client.error_of(8, bytes_of(std::array<uint32_t, 5>{20, eventfd_trigger, 1, 0, 1}),
                              {event.get()}),
              0u);
    client.write(5, msi_register, uint32_t{1});
    pollfd ready{event.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&ready, 1, 10'000), 1);
    uint64_t count = 0;
    ASSERT_EQ(::read(event.get(), &count, 8), 8);
    EXPECT_EQ(count, 1u);

    constexpr uint32_t none_trigger = 1 | 32;
    ASSERT_EQ(client.error_of(8, bytes_of(std::array<uint32_t, 5>{20, none_trigger, 1, 0, 0})), 0u);
    client.write(5, msi_register, uint32_t{1});
    EXPECT_EQ(::poll(&ready, 1, 0), 0);
}

TEST_F(ProtocolTest, BoolsTriggerTheInterruptsTheyName) {
    start();
    Client client(path);
    client.hello();
    const hp::Fd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    constexpr uint32_t eventfd_trigger = 4 | 32;
    constexpr uint32_t bool_trigger = 2 | 32;
    constexpr uint32_t bool_unmask = 2 | 16;
    const auto with_bool = [](uint32_t flags, uint32_t index, uint8_t value) {
        Bytes payload = bytes_of(std::array<uint32_t, 5>{21, flags, index, 0, 1});
        payload.push_back(value);
        return payload;
    };
    ASSERT_EQ(client.error_of(8, bytes_of(std::array<uint32_t, 5>{20, eventfd_trigger, 1, 0, 1}),
                              {event.get()}),
              0u);
    uint64_t count = 0;
    EXPECT_EQ(client.error_of(8, with_bool(bool_trigger, 1, 0)), 0u);
    EXPECT_EQ(::read(event.get(), &count, 8), -1);
    EXPECT_EQ(client.error_of(8, with_bool(bool_trigger, 1, 1)), 0u);
    ASSERT_EQ(::read(event.get(), &count, 8), 8);
    EXPECT_EQ(count, 1u);
    EXPECT_EQ(client.error_of(8, with_bool(bool_unmask, 0, 1)), 0u);
    EXPECT_EQ(client.error_of(8, bytes_of(std::array<uint32_t, 5>{21, bool_trigger, 1, 0, 1})),
              uint32_t{EINVAL})
        << "the bool is missing";
}

TEST_F(ProtocolTest, ResetReachesTheDevice) {
    start();
    Client client(path);
    client.hello();
    EXPECT_EQ(client.error_of(13, {}), 0u);
    EXPECT_EQ(function.resets, 1);
}

TEST_F(ProtocolTest, AClientMayGoAndAnotherMayCome) {
    start();
    const hp::Fd memory = guest_memory(4096);
    for (int cycle = 1; cycle <= 20; ++cycle) {
        Client client(path);
        client.hello();
        ASSERT_EQ(function.attachments, cycle);
        // The same place every time: maps of the last client are gone.
        ASSERT_EQ(client.error_of(2, bytes_of(WireDmaMap{32, 3, 0, 0, 4096}), {memory.get()}), 0u);
        EXPECT_EQ(client.read32(5, 0x200), 0u) << "cold";
        client.write(5, 0x200, uint32_t{1});
        client.disconnect();
    }
    expect_detachments(20);
}

TEST_F(ProtocolTest, AClientThatLeavesInTheMiddleOfAMessageIsForgotten) {
    start();
    {
        Client client(path);
        client.hello();
        ASSERT_TRUE(client.send_raw(Bytes(10, 1)));
    }
    Client next(path);
    EXPECT_EQ(next.hello().header.error, 0u);
    EXPECT_EQ(function.detachments, 1);
}

TEST_F(ProtocolTest, ADelayedReplyComesLateAndInOrder) {
    start({.bar_delay = [] { return 20ms; }});
    Client client(path);
    client.hello();
    const auto begin = std::chrono::steady_clock::now();
    Bytes both = Client::frame(1, 10, Client::write_payload(5, 0x200, uint32_t{5}));
    const Bytes second = Client::frame(2, 9, bytes_of(WireAccess{0x200, 5, 4}));
    both.insert(both.end(), second.begin(), second.end());
    ASSERT_TRUE(client.send_raw(both));
    const auto first_reply = client.receive();
    const auto second_reply = client.receive();
    ASSERT_TRUE(first_reply && second_reply);
    EXPECT_EQ(first_reply->header.message_id, 1);
    EXPECT_EQ(second_reply->header.message_id, 2);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 40ms);
}

TEST_F(ProtocolTest, AnAccessToConfigSpaceIsNotDelayed) {
    start({.bar_delay = [] { return 1h; }});
    Client client(path);
    client.hello();
    EXPECT_EQ(client.error_of(9, bytes_of(WireAccess{0, 7, 4})), 0u);
}

TEST_F(ProtocolTest, AClientMayLeaveWhileItsReplyIsDelayed) {
    start({.bar_delay = [] { return 10s; }});
    {
        Client client(path);
        client.hello();
        ASSERT_TRUE(client.send_raw(Client::frame(1, 9, bytes_of(WireAccess{0, 5, 4}))));
    }
    expect_detachments(1);
    Client next(path);
    EXPECT_EQ(next.hello().header.error, 0u);
}

// ---------------------------------------------------------------- what a bad client does

TEST_F(ProtocolTest, VersionComesFirstAndOnce) {
    start();
    Client client(path);
    EXPECT_EQ(client.error_of(9, bytes_of(WireAccess{0, 5, 4})), uint32_t{EINVAL});
    EXPECT_EQ(client.error_of(13, {}), uint32_t{EINVAL});
    EXPECT_EQ(function.attachments, 0);
    EXPECT_EQ(client.error_of(1, {1, 0, 0, 0}), uint32_t{EINVAL}) << "major version 1";
    EXPECT_EQ(client.error_of(1, {0, 0, 0, 0, '{'}), uint32_t{EINVAL}) << "no NUL";
    EXPECT_EQ(client.error_of(1, {0, 0, 0, 0, '{', 0}), uint32_t{EINVAL}) << "no JSON";
    EXPECT_EQ(client.error_of(1, {0}), uint32_t{EINVAL});
    client.hello();
    EXPECT_EQ(client.hello().header.error, uint32_t{EINVAL});
    EXPECT_EQ(function.attachments, 1);
}

TEST_F(ProtocolTest, BadRequestsAreAnsweredAndTheSessionGoesOn) {
    start();
    Client client(path);
    client.hello();
    const uint32_t invalid = EINVAL;
    EXPECT_EQ(client.error_of(200, {}), uint32_t{ENOTSUP}) << "no such command";
    EXPECT_EQ(client.error_of(6, Bytes(16)), uint32_t{ENOTSUP});
    EXPECT_EQ(client.error_of(4, {}), invalid);
    EXPECT_EQ(client.error_of(4, bytes_of(std::array<uint32_t, 4>{8, 0, 0, 0})), invalid);
    EXPECT_EQ(client.error_of(5, bytes_of(WireRegion{16, 0, 0, 0, 0, 0})), invalid);
    EXPECT_EQ(client.error_of(7, bytes_of(std::array<uint32_t, 4>{16, 0, 5, 0})), invalid);
    EXPECT_EQ(client.error_of(8, bytes_of(std::array<uint32_t, 5>{4, 33, 1, 0, 0})), invalid);
    EXPECT_EQ(client.error_of(2, bytes_of(WireDmaMap{4, 3, 0, 0, 4096})), invalid);
    EXPECT_EQ(client.error_of(2, Bytes(31)), invalid);
    EXPECT_EQ(client.error_of(2, bytes_of(WireDmaMap{32, 3, 0, ~0ull - 4095, 8192})), invalid);
    EXPECT_EQ(client.error_of(3, bytes_of(std::array<uint64_t, 3>{24, 0, 4096})), 0u)
        << "nothing is mapped there";
    EXPECT_EQ(client.read32(5, 0x200), 0u);
}

TEST_F(ProtocolTest, AccessesBeyondARegionAreRefused) {
    start();
    Client client(path);
    client.hello();
    const uint32_t invalid = EINVAL;
    EXPECT_EQ(client.error_of(9, bytes_of(WireAccess{4093, 5, 4})), invalid);
    EXPECT_EQ(client.error_of(9, bytes_of(WireAccess{~0ull, 5, 4})), invalid);
    EXPECT_EQ(client.error_of(9, bytes_of(WireAccess{0, 5, 0})), invalid);
    EXPECT_EQ(client.error_of(9, bytes_of(WireAccess{0, 5, ~0u})), invalid);
    EXPECT_EQ(client.error_of(9, bytes_of(WireAccess{0, 9, 4})), invalid);
    EXPECT_EQ(client.error_of(9, bytes_of(WireAccess{0, 1, 4})), invalid) << "a BAR of no size";
    EXPECT_EQ(client.error_of(9, Bytes(17)), invalid);
    EXPECT_EQ(client.write(5, 4096, uint32_t{0}), invalid);
    EXPECT_EQ(client.error_of(10, bytes_of(WireAccess{0, 5, 4})), invalid) << "no data";
    EXPECT_EQ(client.read32(5, 4092), 0u);
}

TEST_F(ProtocolTest, AFloodOfDescriptorsIsRefusedAndClosed) {
    start();
    Client client(path);
    client.hello();
    const hp::Fd event(::eventfd(0, EFD_CLOEXEC));
    const auto open_files = [] {
        return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
    };
    const auto before = open_files();
    for (int i = 0; i < 50; ++i) {
        const std::vector<int> fds(200, event.get());
        EXPECT_EQ(client.error_of(8, bytes_of(std::array<uint32_t, 5>{20, 36, 1, 0, 1}), fds),
                  uint32_t{EINVAL});
        EXPECT_EQ(client.error_of(13, {}, {event.get()}), 0u) << "one nobody wants";
    }
    EXPECT_EQ(open_files(), before);
}

TEST_F(ProtocolTest, BrokenFramingEndsTheClientAndNotTheServer) {
    start();
    int attachments = 0;
    for (const uint32_t size : {0u, 15u, 1u << 30, ~0u}) {
        Client client(path);
        client.hello();
        EXPECT_EQ(function.attachments, ++attachments);
        ASSERT_TRUE(client.send_raw(bytes_of(WireHeader{1, 9, size, 0, 0})));
        EXPECT_FALSE(client.receive()) << "the end of the stream";
        char byte = 0;
        EXPECT_EQ(::recv(client.socket(), &byte, 1, 0), 0) << "and no reset";
    }
}

TEST_F(ProtocolTest, AReplyToNothingIsNotAnswered) {
    start();
    Client client(path);
    client.hello();
    ASSERT_TRUE(client.send_raw(Client::frame(1, 9, bytes_of(WireAccess{0, 5, 4}), 1)));
    EXPECT_EQ(client.read32(5, 0x200), 0u) << "the next answer is to this one";
}

TEST_F(ProtocolTest, ASecondClientIsToldThatTheDeviceIsBusy) {
    start();
    Client first(path);
    first.hello();
    Client second(path);
    EXPECT_EQ(second.hello().header.error, uint32_t{EBUSY});
    EXPECT_FALSE(second.receive());
    EXPECT_EQ(first.read32(5, 0x200), 0u) << "the first one does not notice";
    EXPECT_EQ(function.attachments, 1);
    first.disconnect();
    Client third(path);
    EXPECT_EQ(third.hello().header.error, 0u);
}

TEST_F(ProtocolTest, AClientThatDoesNotReadIsDropped) {
    start({.bar_delay = {}, .stall_limit = 50ms});
    Client client(path);
    client.hello();
    // Replies of 4 KiB to requests of 32 bytes fill the socket soon; then the server stops reading,
    // and at last lets go.
    const Bytes request = Client::frame(1, 9, bytes_of(WireAccess{0, 5, 4096}));
    Bytes burst;
    for (int i = 0; i < 1000; ++i) {
        burst.insert(burst.end(), request.begin(), request.end());
    }
    client.send_raw(burst);
    expect_detachments(1);
    Client next(path);
    EXPECT_EQ(next.hello().header.error, 0u);
}

TEST_F(ProtocolTest, ALargeReadThatDoesNotFitTheSocketArrivesWhole) {
    start();
    Client client(path);
    client.hello();
    const Bytes request = Client::frame(1, 9, bytes_of(WireAccess{0, 0, 65536}));
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(client.send_raw(request));
    }
    for (int i = 0; i < 20; ++i) {
        const auto reply = client.receive();
        ASSERT_TRUE(reply);
        ASSERT_EQ(reply->payload.size(), sizeof(WireAccess) + 65536);
    }
}

TEST(VfioUserServer, ASocketInUseIsAClearError) {
    const hp::TempTree folder;
    const std::string path = folder.root() / "s";
    hp::EventLoop loop;
    ToyFunction function;
    const VfioUserServer server(loop, function, path);
    try {
        const VfioUserServer second(loop, function, path);
        ADD_FAILURE() << "two servers on one path";
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), (path + " is in use by a running server").c_str());
    }
}

/// Engines have a turn behind each message: who sends many at once may not keep the loop.
TEST_F(ProtocolTest, AFloodOfPostedWritesLeavesTheLoopItsTurns) {
    constexpr uint32_t posted = 1u << 4;
    constexpr int writes = 1000;
    const hp::Fd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    std::atomic<int> turns = 0;
    std::atomic<int> turns_before_event = 0;
    const auto watch = loop.watch(event.get(), EPOLLIN, [&](uint32_t) {
        uint64_t count = 0;
        ASSERT_EQ(::read(event.get(), &count, sizeof count), ssize_t{sizeof count});
        turns_before_event = turns.load();
    });
    std::atomic<bool> counting = false;
    loop.set_idle_work([&] {
        const uint64_t one = 1;
        if (counting && turns++ == 0) {
            EXPECT_EQ(::write(event.get(), &one, sizeof one), ssize_t{sizeof one});
        }
        return hp::EventLoop::Idle::done;
    });
    start();
    Client client(path);
    client.hello();
    Bytes flood;
    for (int count = 0; count < writes; ++count) {
        const Bytes one =
            Client::frame(1, 10, Client::write_payload(5, 0x100, uint32_t{7}), posted);
        flood.insert(flood.end(), one.begin(), one.end());
    }
    counting = true;
    ASSERT_TRUE(client.send_raw(flood));
    EXPECT_EQ(client.read32(5, 0x100), 7u) << "all of them were served, in order";
    EXPECT_GE(turns, writes);
    EXPECT_LE(turns_before_event, 200) << "messages until another event had its turn";
}

}  // namespace
}  // namespace gpuemu
