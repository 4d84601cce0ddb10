// SPDX-License-Identifier: GPL-2.0
// Purpose: the memory of the GPU: a memfd, mapped here and, if the client wants, by the client.
// Thread: device loop only; the client's mapping is written by its processors at any time.
// Does not model: ECC, channels, access time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lib/fd.h"

namespace gpuemu {

class Vram {
public:
    /// Throws std::system_error when there is no memory (start-up).
    explicit Vram(uint64_t bytes);
    ~Vram();
    Vram(const Vram&) = delete;
    Vram& operator=(const Vram&) = delete;

    uint64_t size() const { return size_; }
    int fd() const { return fd_.get(); }

    /// Window from `offset`, at most `length` bytes, cut at the end of VRAM, empty beyond it.
    std::span<std::byte> window(uint64_t offset, uint64_t length) const;

    /// Contents lost: every page reads as zero and takes no host memory, in all mappings. If
    /// poisoned, each page that was ever touched reads as a pattern instead, another one each time:
    /// the upper half of a word is poison_mark, the lower counts.
    void lose_contents();
    static constexpr uint32_t poison_mark = 0xbad00000;
    void set_poisoned(bool poisoned) { poisoned_ = poisoned; }

    /// Every page that was ever touched, by us or through another mapping, becomes all ones. Pages
    /// never touched stay as they are: filling them would take the whole size from the host. Does
    /// at most `bytes` at a time, from where it ended the last time. False: there is more.
    struct Fill {
        uint64_t next = 0;
        uint64_t data_end = 0;  // to look for it takes as long as there is data before it
    };
    bool fill_resident_with_ones(Fill& fill, uint64_t bytes);

    /// How many aligned words of the pages that were ever touched are `word`, now. Takes as long as
    /// a look at all of them.
    uint64_t count_resident(uint32_t word) const;

private:
    void discard();
    template <typename Visit>
    void for_each_resident(Visit visit) const;

    hp::Fd fd_;
    uint64_t size_;
    std::byte* base_ = nullptr;
    bool poisoned_ = false;
    uint16_t generation_ = 0;
};

}  // namespace gpuemu
