// SPDX-License-Identifier: GPL-2.0
// Purpose: the links of a GPU to others, each of which is a process of its own: they meet at
// sockets in one directory, and each gives the others its VRAM and its Presence as memfds. After
// that no message is needed: an access is a look at Presence and a copy.
//
// Who trusts whom: nobody. What comes over a socket is checked and else ends that connection; a
// process reaches the VRAM that a peer has given it and nothing more of the peer.
//
// Thread: device loop only. No call waits for a peer: sockets do not block, and a message is
// shorter than any socket's buffer. Does not model: see peers/presence.h; the training of the links
// when a board comes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu-emu/mem/vram.h"
#include "gpu-emu/peers/peer_vram.h"
#include "gpu-emu/peers/presence.h"
#include "lib/acceptor.h"
#include "lib/event_loop.h"
#include "lib/fd.h"
#include "lib/result.h"
#include "lib/thread_rule.h"

namespace gpuemu {

/// Those who meet.
struct PeerGroup {
    std::string directory;
    std::string link;  // "xgmi": the groups of a directory, and what a link is called
    unsigned nodes = 1;
    unsigned node = 0;  // this one
    uint64_t largest_vram = 0;
};

/// What stands for the memory of a peer that is not there: reads are ones, writes are lost.
class NobodysMemory {
public:
    NobodysMemory() { ones_.fill(std::byte{0xff}); }
    /// As of an address with that `offset`: at most to the end of its page.
    std::span<std::byte> window(uint64_t offset, uint64_t length, bool write);

private:
    static constexpr std::size_t page_size = 4096;
    using Page = std::array<std::byte, page_size>;

    // Two, as a copy may go from one to the other: nobody writes the first.
    alignas(page_size) Page ones_{};
    alignas(page_size) Page lost_{};
};

/// Windows that the engines of a GPU asked for in the memory of its peers.
struct PeerTraffic {
    uint64_t reads = 0;
    uint64_t writes = 0;
    uint64_t absent = 0;  // of both: there was nobody
};

/// Who is met, and what was asked of them.
struct PeerStatus {
    unsigned node = 0;            // this one
    std::vector<unsigned> peers;  // that are there
    PeerTraffic traffic;
};

class PeerLinks {
public:
    /// Nobody is met yet.
    PeerLinks(hp::EventLoop& loop, PeerGroup group);
    /// To the peers it is gone at once.
    ~PeerLinks() { presence_.set(false); }
    PeerLinks(const PeerLinks&) = delete;
    PeerLinks& operator=(const PeerLinks&) = delete;

    /// Sits down and meets who is there already; the others come by themselves. One that cannot be
    /// reached is no peer until one of the two starts again. Throws std::runtime_error when the
    /// seat is taken (start-up). `vram` outlives the links.
    void open(const Vram& vram);

    /// What the peers find, by the next window that they ask for; a copy that has its windows
    /// already is not stopped.
    Presence& presence() { return presence_; }

    const PeerGroup& group() const { return group_; }
    /// Null where nobody has come yet. Valid until the loop goes on.
    const PeerVram* find(unsigned node) const;
    /// The nodes that are there, itself apart.
    std::vector<unsigned> present_peers() const;
    /// Peers, whether they are there or not, and who has not been heard yet.
    std::size_t connections() const { return connections_.size(); }

private:
    /// Of those that no window goes through: they said nothing yet, or were replaced.
    static constexpr std::size_t max_unused = 32;

    struct Connection {
        hp::Fd socket;
        hp::EventLoop::Handle watch = {};
        unsigned node = 0;                  // once introduced
        std::optional<PeerVram> vram = {};  // nothing before
    };

    std::string path_of(unsigned node) const;
    void add(hp::Fd socket);
    void make_room();
    void receive(std::list<Connection>::iterator connection);
    hp::Result<void> introduce_to(const hp::Fd& socket) const;
    hp::Result<void> take_introduction(Connection& connection);

    hp::EventLoop& loop_;
    const PeerGroup group_;
    Presence presence_;
    const Vram* vram_ = nullptr;
    std::list<Connection> connections_;  // the latest last
    std::optional<hp::Acceptor> acceptor_;
    hp::ThreadRule thread_;
};

}  // namespace gpuemu
