// SPDX-License-Identifier: GPL-2.0
// Purpose: Eeprom as a memory mapping, shared with a file or anonymous: the kernel writes it back,
// the device loop never waits for a disk.
// Thread: device loop only.
#include "gpu-emu/ip/eeprom.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace gpuemu {
namespace {

constexpr uint8_t first_device = 0x50;  // 1010b, then bits 18 to 16 of the memory address
constexpr uint8_t device_mask = 0x78;
constexpr int blank = 0xff;

[[noreturn]] void throw_error(int error, const std::string& path) {
    throw std::system_error(error, std::generic_category(), "RAS EEPROM file " + path);
}

std::byte* map(int fd, int flags, const std::string& path) {
    void* mapped = ::mmap(nullptr, Eeprom::bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (mapped == MAP_FAILED) {
        throw_error(errno, path);
    }
    return static_cast<std::byte*>(mapped);
}

}  // namespace

Eeprom::Eeprom(const std::string& path, std::vector<std::byte> fru) : fru_(std::move(fru)) {
    if (path.empty()) {
        data_ = map(-1, MAP_PRIVATE | MAP_ANONYMOUS, "(memory)");
        power_on();
        return;
    }
    file_.reset(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    struct stat status {};
    if (!file_ || ::fstat(file_.get(), &status) != 0) {
        throw_error(errno, path);
    }
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size != 0 && size != bytes) {
        throw std::system_error(EINVAL, std::generic_category(),
                                "RAS EEPROM file " + path + " is not 512 KiB");
    }
    // Reserved now: a full disk is an error here, not a signal in the middle of a write.
    if (const int error = ::posix_fallocate(file_.get(), 0, bytes); error != 0) {
        throw_error(error, path);
    }
    data_ = map(file_.get(), MAP_SHARED, path);
    if (size == 0) {
        std::memset(data_, blank, bytes);
    }
}

Eeprom::~Eeprom() {
    ::munmap(data_, bytes);
}

void Eeprom::power_on() {
    if (!file_) {
        std::memset(data_, blank, bytes);
    }
    address_ = 0;
    address_bytes_seen_ = 0;
}

bool Eeprom::start(uint8_t device_address) {
    fru_selected_ = device_address == fru_device && !fru_.empty();
    if (!fru_selected_ && (device_address & device_mask) != first_device) {
        return false;
    }
    address_ = (device_address & 7u) << 16 | (address_ & 0xffff);
    address_bytes_seen_ = 0;
    return true;
}

void Eeprom::put(uint8_t value) {
    if (address_bytes_seen_ < address_bytes) {
        ++address_bytes_seen_;
        address_ = (address_ & 0x70000) | (address_ << 8 & 0xff00) | value;
        return;
    }
    if (!fru_selected_) {
        data_[address_] = static_cast<std::byte>(value);
    }
    constexpr uint32_t in_page = page_bytes - 1;
    address_ = (address_ & ~in_page) | ((address_ + 1) & in_page);
}

uint8_t Eeprom::get() {
    uint8_t value = blank;
    if (!fru_selected_) {
        value = std::to_integer<uint8_t>(data_[address_]);
    } else if (address_ < fru_.size()) {
        value = std::to_integer<uint8_t>(fru_[address_]);
    }
    address_ = (address_ + 1) % bytes;
    return value;
}

}  // namespace gpuemu
