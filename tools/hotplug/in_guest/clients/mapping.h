// SPDX-License-Identifier: GPL-2.0
// Purpose: ownership of a memory mapping, and addresses as ioctls have them.
// Thread: not synchronised; one owner.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace hp::clients {

/// Of x86, in bytes: what KFD aligns and counts in.
inline constexpr std::uint64_t page_size = 4096;

/// A pointer as a member of an ioctl's argument.
inline std::uint64_t address_of(const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
}

/// Unmaps what it owns. Moves, never copies.
class Mapping {
public:
    Mapping() = default;
    Mapping(void* address, std::size_t size) : address_(address), size_(size) {}
    Mapping(Mapping&& other) noexcept
        : address_(std::exchange(other.address_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    Mapping& operator=(Mapping&& other) noexcept {
        if (this != &other) {
            reset();
            address_ = std::exchange(other.address_, nullptr);
            size_ = std::exchange(other.size_, 0);
        }
        return *this;
    }
    ~Mapping() { reset(); }

    void reset() {
        if (address_ != nullptr) {
            ::munmap(std::exchange(address_, nullptr), size_);
        }
    }

    std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(address_); }
    std::size_t size() const { return size_; }

    /// Volatile, because a device reads and writes it too.
    volatile std::uint32_t* dwords() const {
        return static_cast<volatile std::uint32_t*>(address_);
    }
    template <typename T>
    T* at(std::size_t offset) const {
        return reinterpret_cast<T*>(static_cast<std::byte*>(address_) + offset);
    }

private:
    void* address_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace hp::clients
