// SPDX-License-Identifier: GPL-2.0
// Purpose: the IH ring, as vega20_ih.c and amdgpu_ih.c set it up and read it.
// Thread: device loop only; the guest reads the ring and the written-back pointer at any time.
#include "gpu-emu/ip/ih.h"

#include <array>
#include <atomic>
#include <cstring>
#include <optional>
#include <utility>

#include "gpu-emu/ip/pasid_luts.h"
#include "gpu-emu/ip/regs/osssys_4_4_2.h"
#include "lib/log.h"

namespace gpuemu {
namespace {

namespace oss = osssys_4_4_2;

constexpr uint32_t MC_SPACE_BUS_ADDRESS = 1;  // else an address of the MM hub, VMID 0

// Places of Surface::interrupts: the dwords of an entry, then the pointer.
constexpr uint32_t entry_place = 0, wptr_place = 8;

}  // namespace

Ih::Ih(Context context) : context_(std::move(context)), ip_(context_.profile.ip(HwId::OSSSYS)) {
    const auto declare = [this](Reg reg, uint32_t count, Register what) {
        context_.registers.declare(at(ip_, reg), count, std::move(what));
    };
    declare(oss::regIH_RB_CNTL, 1, {.written = [this](uint32_t, uint32_t value) {
                if (oss::IH_RB_CNTL__WPTR_OVERFLOW_CLEAR::get(value) != 0) {
                    overflow_ = false;
                }
            }});
    declare(oss::regIH_VMID_0_LUT, lut_dwords,
            {.read = [this](uint32_t dword) { return lut_entry(dword); },
             .written = [this](uint32_t dword, uint32_t value) { lut_entry(dword) = value; }});
    declare(oss::regIH_RB_WPTR, 1,
            {.written = [this](uint32_t, uint32_t value) { wptr_ = value & ~3u; }});
    declare(oss::regIH_RB_RPTR, 1,
            {.written = [this](uint32_t, uint32_t value) { set_rptr(value); }});
}

void Ih::reset(ResetKind) {
    wptr_ = 0;
    overflow_ = false;
    false_wptr_.reset();
    luts_ = {};
    for (const Reg zero : {oss::regIH_RB_CNTL, oss::regIH_RB_RPTR, oss::regIH_RB_WPTR,
                           oss::regIH_RB_CNTL_RING1, oss::regIH_CHICKEN}) {
        reg(zero) = 0;
    }
    if (const auto index = PasidLuts::index(ip_)) {
        reg(*index) = 0;
    }
}

uint32_t& Ih::lut_entry(uint32_t dword) {
    const auto index = PasidLuts::index(ip_);
    const uint32_t node = index ? oss::IH_VMID_LUT_INDEX__INDEX::get(reg(*index)) : 0;
    return luts_[node].at(dword - at(ip_, oss::regIH_VMID_0_LUT));
}

/// Size of the ring, 0 when it cannot take an entry.
uint32_t Ih::ring_bytes() {
    const uint32_t control = reg(oss::regIH_RB_CNTL);
    const uint32_t log2_dwords = oss::IH_RB_CNTL__RB_SIZE::get(control);
    const bool usable =
        oss::IH_RB_CNTL__RB_ENABLE::get(control) != 0 && log2_dwords >= 4 && log2_dwords < 28;
    return usable ? 4u << log2_dwords : 0;
}

std::span<std::byte> Ih::window(uint64_t address, uint64_t length) {
    const uint32_t space = oss::IH_RB_CNTL__MC_SPACE::get(reg(oss::regIH_RB_CNTL));
    const auto found = space == MC_SPACE_BUS_ADDRESS
                           ? context_.memory.bus_window(address, length, true)
                           : context_.memory.window(Hub::mm, 0, address, length, true);
    return found.size() == length ? found : std::span<std::byte>{};
}

void Ih::raise(const InterruptEntry& entry) {
    // A VM fault of the ring itself, met while an entry is written, has no ring to be told in.
    const bool nested = std::exchange(raising_, true);
    const bool written = !nested && write_entry(entry);
    if (written) {
        advance();
        publish_wptr();
    }
    raising_ = nested;
    if (!written) {
        if (lost_++ == 0) {
            hp::log::warning("interrupt lost: no usable IH ring",
                             {{"client", entry.client_id}, {"source", entry.source_id}});
        }
        return;
    }
    ++delivered_;
    if (oss::IH_RB_CNTL__ENABLE_INTR::get(reg(oss::regIH_RB_CNTL)) != 0) {
        context_.raise_msi();
    }
}

bool Ih::write_entry(const InterruptEntry& entry) {
    const uint32_t size = ring_bytes();
    if (size == 0) {
        return false;
    }
    const uint64_t base =
        uint64_t{reg(oss::regIH_RB_BASE)} << 8 | uint64_t{reg(oss::regIH_RB_BASE_HI) & 0xff} << 40;
    const auto target = window(base + (wptr_ & (size - 1) & ~(entry_bytes - 1)), entry_bytes);
    if (target.empty()) {
        return false;
    }
    const uint64_t time = context_.gpu_clock();
    std::array<uint32_t, entry_bytes / 4> dwords = {
        entry.client_id | uint32_t{entry.source_id} << 8 | uint32_t{entry.ring_id} << 16 |
            uint32_t{entry.vmid} << 24 | uint32_t{entry.vmid_src} << 31,
        static_cast<uint32_t>(time),
        static_cast<uint32_t>(time >> 32) & 0xffff,
        entry.pasid | uint32_t{entry.node_id} << 16,
        entry.data[0],
        entry.data[1],
        entry.data[2],
        entry.data[3]};
    context_.mutator.table(Surface::interrupts, entry_place,
                           std::as_writable_bytes(std::span(dwords)));
    std::memcpy(target.data(), dwords.data(), entry_bytes);
    return true;
}

void Ih::advance() {
    const uint32_t mask = ring_bytes() - 1;
    wptr_ = (wptr_ + entry_bytes) & mask;
    // The entry just written was the last free one when the pointers meet. What the hardware does
    // then is to go on over the oldest, and to say so if it was told to.
    if (wptr_ == (reg(oss::regIH_RB_RPTR) & mask)) {
        overflow_ = oss::IH_RB_CNTL__WPTR_OVERFLOW_ENABLE::get(reg(oss::regIH_RB_CNTL)) != 0;
    }
}

void Ih::publish_wptr() {
    const uint32_t truth = oss::IH_RB_WPTR__RB_OVERFLOW::set(wptr_, overflow_);
    const uint32_t value = std::exchange(false_wptr_, std::nullopt).value_or(truth);
    reg(oss::regIH_RB_WPTR) = value;
    if (oss::IH_RB_CNTL__WPTR_WRITEBACK_ENABLE::get(reg(oss::regIH_RB_CNTL)) == 0) {
        return;
    }
    const uint64_t address =
        reg(oss::regIH_RB_WPTR_ADDR_LO) | uint64_t{reg(oss::regIH_RB_WPTR_ADDR_HI) & 0xffff} << 32;
    const auto target = window(address, sizeof(uint32_t));
    if (target.empty() || reinterpret_cast<uintptr_t>(target.data()) % alignof(uint32_t) != 0) {
        return;
    }
    // The guest reads the ring after it saw the pointer: the entry must be there first.
    std::atomic_ref<uint32_t>(*reinterpret_cast<uint32_t*>(target.data()))
        .store(context_.mutator.word(Surface::interrupts, wptr_place, value),
               std::memory_order_release);
}

void Ih::set_rptr(uint32_t value) {
    reg(oss::regIH_RB_RPTR) = value;
    const uint32_t size = ring_bytes();
    const uint32_t control = reg(oss::regIH_RB_CNTL);
    // An entry that came while the guest was busy with the earlier ones must not wait for the next.
    if (size != 0 && oss::IH_RB_CNTL__ENABLE_INTR::get(control) != 0 &&
        (value & (size - 1)) != wptr_) {
        if (context_.mutator.on(Surface::interrupts)) {
            publish_wptr();  // or one lie would be an interrupt for ever
        }
        context_.raise_msi();
    }
}

bool Ih::ring_doorbell(uint32_t index, uint64_t value) {
    const uint32_t control = reg(oss::regIH_DOORBELL_RPTR);
    if (oss::IH_DOORBELL_RPTR__ENABLE::get(control) == 0 ||
        oss::IH_DOORBELL_RPTR__OFFSET::get(control) != index) {
        return false;
    }
    set_rptr(static_cast<uint32_t>(value));
    return true;
}

}  // namespace gpuemu
