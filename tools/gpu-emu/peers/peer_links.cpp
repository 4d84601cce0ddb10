// SPDX-License-Identifier: GPL-2.0
// Purpose: see peer_links.h. A connection is one message in each direction, an introduction with
// two descriptors, and then its end. Each node listens, and connects to those that were there
// before it; two that come at the same time may have two connections, of which either is as good.
// Thread: device loop only.
#include "gpu-emu/peers/peer_links.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <span>
#include <stdexcept>
#include <utility>

#include "lib/fd_passing.h"
#include "lib/log.h"
#include "lib/unix_socket.h"

namespace gpuemu {
namespace {

struct Introduction {
    uint32_t magic;
    uint32_t node;
    uint32_t nodes;
    uint32_t reserved;
    uint64_t largest_vram;
};
constexpr uint32_t magic = 0x52454550;  // "PEER"
constexpr std::size_t vram_fd = 0, presence_fd = 1, fd_count = 2;

}  // namespace

std::span<std::byte> NobodysMemory::window(uint64_t offset, uint64_t length, bool write) {
    if (write) {
        lost_.fill(std::byte{0xff});  // an atomic reads it, too
    }
    const auto rest = std::span(write ? lost_ : ones_).subspan(offset % page_size);
    return rest.first(std::min<uint64_t>(length, rest.size()));
}

PeerLinks::PeerLinks(hp::EventLoop& loop, PeerGroup group)
    : loop_(loop), group_(std::move(group)) {}

std::string PeerLinks::path_of(unsigned node) const {
    return fmt::format("{}/node{}.{}", group_.directory, node, group_.link);
}

void PeerLinks::open(const Vram& vram) {
    vram_ = &vram;
    auto listener = hp::UnixListener::open(path_of(group_.node));
    if (!listener) {
        throw std::runtime_error(listener.error().message);
    }
    acceptor_.emplace(loop_, std::move(*listener), "peer by " + group_.link,
                      [this](hp::Fd socket) { add(std::move(socket)); });
    for (unsigned node = 0; node < group_.nodes; ++node) {
        if (node == group_.node) {
            continue;
        }
        auto socket = hp::try_connect_unix(path_of(node));
        if (!socket) {  // its backlog may be full: no reason for this GPU not to start
            hp::log::warning(
                "no link",
                {{"link", group_.link}, {"node", node}, {"reason", socket.error().message}});
        } else if (*socket) {
            add(std::move(*socket));
        }
    }
}

void PeerLinks::add(hp::Fd socket) {
    thread_.check();
    make_room();
    if (const auto sent = introduce_to(socket); !sent) {
        hp::log::warning("a connection given up",
                         {{"link", group_.link}, {"reason", sent.error().message}});
        return;
    }
    const auto connection =
        connections_.insert(connections_.end(), Connection{.socket = std::move(socket)});
    connection->watch = loop_.watch(connection->socket.get(), EPOLLIN,
                                    [this, connection](uint32_t) { receive(connection); });
}

/// Who connects and says nothing may not keep the others out: the oldest of them goes.
void PeerLinks::make_room() {
    const auto unused = [this](const Connection& connection) {
        return !connection.vram || find(connection.node) != &*connection.vram;
    };
    if (std::ranges::count_if(connections_, unused) >= std::ptrdiff_t{max_unused}) {
        hp::log::warning("a connection dropped: too many", {{"link", group_.link}});
        connections_.erase(std::ranges::find_if(connections_, unused));
    }
}

void PeerLinks::receive(std::list<Connection>::iterator connection) {
    thread_.check();
    if (!connection->vram) {
        const auto taken = take_introduction(*connection);
        if (taken) {
            hp::log::info("link up", {{"link", group_.link}, {"node", connection->node}});
            return;
        }
        hp::log::warning("a connection given up",
                         {{"link", group_.link}, {"reason", taken.error().message}});
    } else {
        // Nothing more was to come: whatever it is, it is the end.
        hp::log::info("link down", {{"link", group_.link}, {"node", connection->node}});
    }
    connections_.erase(connection);
}

hp::Result<void> PeerLinks::introduce_to(const hp::Fd& socket) const {
    const Introduction words{magic, group_.node, group_.nodes, 0, group_.largest_vram};
    std::array<int, fd_count> fds{};
    fds[vram_fd] = vram_->fd();
    fds[presence_fd] = presence_.fd();
    const auto bytes = std::as_bytes(std::span(&words, 1));
    if (hp::send_with_fds(socket.get(), bytes, fds, MSG_DONTWAIT) != sizeof words) {
        return hp::fail(fmt::format("cannot say who is here: {}", std::strerror(errno)));
    }
    return {};
}

hp::Result<void> PeerLinks::take_introduction(Connection& connection) {
    Introduction words{};
    const auto room = std::as_writable_bytes(std::span(&words, 1));
    const hp::ReceivedWithFds received =
        hp::receive_with_fds(connection.socket.get(), room, MSG_DONTWAIT, fd_count);
    if (received.bytes < 0) {
        return hp::fail(fmt::format("it did not say who it is: {}", std::strerror(errno)));
    }
    const std::vector<hp::Fd>& fds = received.fds;
    if (received.bytes != sizeof words || words.magic != magic || fds.size() != fd_count ||
        received.fds_missing) {
        return hp::fail("it did not say who it is");
    }
    if (words.nodes != group_.nodes || words.largest_vram != group_.largest_vram ||
        words.node >= group_.nodes || words.node == group_.node) {
        return hp::fail(fmt::format("node {} of {} does not belong here", words.node, words.nodes));
    }
    auto vram = PeerVram::map(fds[vram_fd], fds[presence_fd], group_.largest_vram);
    if (!vram) {
        return tl::unexpected(vram.error());
    }
    connection.node = words.node;
    connection.vram.emplace(std::move(*vram));
    return {};
}

/// The latest that says it is that node: one that was replaced may not have ended yet.
const PeerVram* PeerLinks::find(unsigned node) const {
    const auto latest = std::find_if(connections_.rbegin(), connections_.rend(),
                                     [node](const Connection& connection) {
                                         return connection.vram && connection.node == node;
                                     });
    return latest == connections_.rend() ? nullptr : &*latest->vram;
}

std::vector<unsigned> PeerLinks::present_peers() const {
    std::vector<unsigned> nodes;
    for (unsigned node = 0; node < group_.nodes; ++node) {
        const PeerVram* const peer = find(node);
        if (peer != nullptr && peer->present()) {
            nodes.push_back(node);
        }
    }
    return nodes;
}

}  // namespace gpuemu
