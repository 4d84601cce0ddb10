// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/pci/config_space.h"

#include <linux/pci_regs.h>

#include <bit>
#include <stdexcept>
#include <utility>

namespace gpuemu {
namespace {

// Where the capabilities lie. Any place in 0x40..0xff will do; the chain links them in this order.
constexpr unsigned pm_cap = 0x50;
constexpr unsigned exp_cap = 0x64;
constexpr unsigned msi_cap = 0xa0;
constexpr unsigned vsec_cap = PCI_CFG_SPACE_SIZE;  // the extended space begins here

constexpr uint32_t vsec_length = 0x10;
constexpr unsigned dsn_cap = vsec_cap + vsec_length;

constexpr uint32_t d3hot = 3;  // of PMCSR's PowerState

}  // namespace

ConfigSpace::ConfigSpace(Identity identity, std::function<void()> on_flr)
    : identity_(identity), on_flr_(std::move(on_flr)) {
    reset();
}

void ConfigSpace::set_bar(unsigned index, uint64_t bytes, bool is64, bool prefetchable) {
    const unsigned slots = is64 ? 2 : 1;
    if (index + slots > bar_count || bytes < 16 || !std::has_single_bit(bytes) ||
        (!is64 && bytes > (1ull << 31))) {
        throw std::invalid_argument("config space: impossible BAR");
    }
    const uint64_t address_bits = ~(bytes - 1);
    bars_[index].flags = (is64 ? PCI_BASE_ADDRESS_MEM_TYPE_64 : PCI_BASE_ADDRESS_MEM_TYPE_32) |
                         (prefetchable ? PCI_BASE_ADDRESS_MEM_PREFETCH : 0);
    bars_[index].writable = static_cast<uint32_t>(address_bits);
    if (is64) {
        bars_[index + 1] = {.flags = 0, .writable = static_cast<uint32_t>(address_bits >> 32)};
    }
    reset();
}

void ConfigSpace::set_rom(uint64_t bytes) {
    if (bytes < 2048 || !std::has_single_bit(bytes) || bytes > (1u << 24)) {
        throw std::invalid_argument("config space: impossible ROM");
    }
    rom_writable_ = static_cast<uint32_t>(~(bytes - 1)) | PCI_ROM_ADDRESS_ENABLE;
    reset();
}

void ConfigSpace::read(uint64_t offset, std::span<std::byte> out) const {
    for (std::byte& byte : out) {
        byte = offset < size ? std::byte{value_[offset]} : std::byte{0xff};
        ++offset;
    }
}

void ConfigSpace::write(uint64_t offset, std::span<const std::byte> in) {
    constexpr unsigned flr_byte = exp_cap + PCI_EXP_DEVCTL + 1;
    constexpr uint8_t flr_bit = PCI_EXP_DEVCTL_BCR_FLR >> 8;
    bool start_flr = false;
    for (std::byte byte : in) {
        if (offset >= size) {
            break;
        }
        const auto written = std::to_integer<uint8_t>(byte);
        uint8_t& value = value_[offset];
        value = static_cast<uint8_t>((value & ~writable_[offset]) | (written & writable_[offset]));
        value = static_cast<uint8_t>(value & ~(written & write_one_clear_[offset]));
        start_flr = start_flr || (offset == flr_byte && (written & flr_bit) != 0);
        ++offset;
    }
    if (start_flr) {
        reset_function();
        if (on_flr_) {
            on_flr_();
        }
    }
}

/// As reset(), but for what a function-level reset has to leave alone, of the registers that are
/// here: the payload size, which those at the other end of the link count on, all of Link Control,
/// and the target speed, which is sticky (PCI Express Base 6.0, 6.6.2).
void ConfigSpace::reset_function() {
    struct Kept {
        unsigned offset;
        uint32_t mask;
    };
    constexpr std::array<Kept, 3> all_kept = {{
        {.offset = exp_cap + PCI_EXP_DEVCTL, .mask = PCI_EXP_DEVCTL_PAYLOAD},
        {.offset = exp_cap + PCI_EXP_LNKCTL, .mask = 0xffff},
        {.offset = exp_cap + PCI_EXP_LNKCTL2, .mask = PCI_EXP_LNKCTL2_TLS},
    }};
    std::array<uint32_t, all_kept.size()> before{};
    for (std::size_t i = 0; i < all_kept.size(); ++i) {
        before[i] = get(all_kept[i].offset, 2) & all_kept[i].mask;
    }
    reset();
    for (std::size_t i = 0; i < all_kept.size(); ++i) {
        const auto [offset, mask] = all_kept[i];
        const uint32_t value = (get(offset, 2) & ~mask) | before[i];
        value_[offset] = static_cast<uint8_t>(value);
        value_[offset + 1] = static_cast<uint8_t>(value >> 8);
    }
}

void ConfigSpace::reset() {
    value_.fill(0);
    writable_.fill(0);
    write_one_clear_.fill(0);

    set(PCI_VENDOR_ID, 2, identity_.vendor);
    set(PCI_DEVICE_ID, 2, identity_.device);
    set(PCI_COMMAND, 2, 0,
        PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_PARITY | PCI_COMMAND_SERR |
            PCI_COMMAND_INTX_DISABLE);
    set(PCI_STATUS, 2, PCI_STATUS_CAP_LIST);
    write_one_clear_[PCI_STATUS + 1] = 0xf9;  // parity, abort and system error bits
    set(PCI_CLASS_REVISION, 4, identity_.class_code << 8 | identity_.revision);
    set(PCI_CACHE_LINE_SIZE, 1, 0, 0xff);
    for (unsigned i = 0; i < bar_count; ++i) {
        set(PCI_BASE_ADDRESS_0 + 4 * i, 4, bars_[i].flags, bars_[i].writable);
    }
    set(PCI_SUBSYSTEM_VENDOR_ID, 2, identity_.subsystem_vendor);
    set(PCI_SUBSYSTEM_ID, 2, identity_.subsystem);
    set(PCI_ROM_ADDRESS, 4, 0, rom_writable_);
    set(PCI_CAPABILITY_LIST, 1, pm_cap);
    set(PCI_INTERRUPT_LINE, 1, 0, 0xff);
    set(PCI_INTERRUPT_PIN, 1, 1);  // INTA

    // PCI Power Management 1.2. No soft reset: going from D3hot to D0 keeps the device as it is.
    set(pm_cap + PCI_CAP_LIST_ID, 1, PCI_CAP_ID_PM);
    set(pm_cap + PCI_CAP_LIST_NEXT, 1, exp_cap);
    set(pm_cap + PCI_PM_PMC, 2, 3);
    set(pm_cap + PCI_PM_CTRL, 2, PCI_PM_CTRL_NO_SOFT_RESET, PCI_PM_CTRL_STATE_MASK);

    // PCI Express capability, version 2: endpoint, 256 byte payload, gen 4 x16.
    constexpr uint32_t link = PCI_EXP_LNKCAP_SLS_16_0GB | 16u << 4;
    set(exp_cap + PCI_CAP_LIST_ID, 1, PCI_CAP_ID_EXP);
    set(exp_cap + PCI_CAP_LIST_NEXT, 1, msi_cap);
    set(exp_cap + PCI_EXP_FLAGS, 2, 2 | PCI_EXP_TYPE_ENDPOINT << 4);
    set(exp_cap + PCI_EXP_DEVCAP, 4, 1 | PCI_EXP_DEVCAP_RBER | PCI_EXP_DEVCAP_FLR);
    set(exp_cap + PCI_EXP_DEVCTL, 2, PCI_EXP_DEVCTL_RELAX_EN | PCI_EXP_DEVCTL_READRQ_512B,
        0xffffu & ~PCI_EXP_DEVCTL_BCR_FLR);
    write_one_clear_[exp_cap + PCI_EXP_DEVSTA] = 0x0f;  // error-detected bits
    set(exp_cap + PCI_EXP_LNKCAP, 4, link | 1u << 22);  // ASPM optionality compliance
    set(exp_cap + PCI_EXP_LNKCTL, 2, 0,
        PCI_EXP_LNKCTL_ASPMC | PCI_EXP_LNKCTL_RCB | PCI_EXP_LNKCTL_CCC | PCI_EXP_LNKCTL_ES);
    set(exp_cap + PCI_EXP_LNKSTA, 2, link);
    set(exp_cap + PCI_EXP_DEVCAP2, 4,
        PCI_EXP_DEVCAP2_COMP_TMOUT_DIS | 0xf | PCI_EXP_DEVCAP2_ATOMIC_COMP32 |
            PCI_EXP_DEVCAP2_ATOMIC_COMP64);
    set(exp_cap + PCI_EXP_DEVCTL2, 2, 0, 0xffff);
    set(exp_cap + PCI_EXP_LNKCAP2, 4,
        PCI_EXP_LNKCAP2_SLS_2_5GB | PCI_EXP_LNKCAP2_SLS_5_0GB | PCI_EXP_LNKCAP2_SLS_8_0GB |
            PCI_EXP_LNKCAP2_SLS_16_0GB);
    set(exp_cap + PCI_EXP_LNKCTL2, 2, PCI_EXP_LNKCTL2_TLS_16_0GT, PCI_EXP_LNKCTL2_TLS);

    // MSI, 64 bit addresses, one vector. QEMU emulates it; kept here so that it reads back from the
    // device too.
    set(msi_cap + PCI_CAP_LIST_ID, 1, PCI_CAP_ID_MSI);
    set(msi_cap + PCI_CAP_LIST_NEXT, 1, 0);
    set(msi_cap + PCI_MSI_FLAGS, 2, PCI_MSI_FLAGS_64BIT,
        PCI_MSI_FLAGS_ENABLE | PCI_MSI_FLAGS_QSIZE);
    set(msi_cap + PCI_MSI_ADDRESS_LO, 4, 0, 0xfffffffc);
    set(msi_cap + PCI_MSI_ADDRESS_HI, 4, 0, 0xffffffff);
    set(msi_cap + PCI_MSI_DATA_64, 2, 0, 0xffff);

    // One extended capability in any case, vendor-specific as the hardware has:
    // amdgpu_device_resize_fb_bar() takes a space without one for unreachable and says so in the
    // log.
    const uint32_t behind_vsec = identity_.serial != 0 ? dsn_cap : 0;
    set(vsec_cap, 4, PCI_EXT_CAP_ID_VNDR | 1u << 16 | behind_vsec << 20);
    set(vsec_cap + PCI_VNDR_HEADER, 4, 1u | 1u << 16 | vsec_length << 20);
    if (identity_.serial != 0) {
        set(dsn_cap, 4, PCI_EXT_CAP_ID_DSN | 1u << 16);
        set(dsn_cap + 4, 4, static_cast<uint32_t>(identity_.serial));
        set(dsn_cap + 8, 4, static_cast<uint32_t>(identity_.serial >> 32));
    }
}

bool ConfigSpace::memory_enabled() const {
    return (get(PCI_COMMAND, 2) & PCI_COMMAND_MEMORY) != 0;
}

bool ConfigSpace::bus_master() const {
    return (get(PCI_COMMAND, 2) & PCI_COMMAND_MASTER) != 0;
}

bool ConfigSpace::in_d3hot() const {
    return (get(pm_cap + PCI_PM_CTRL, 2) & PCI_PM_CTRL_STATE_MASK) == d3hot;
}

void ConfigSpace::set(unsigned offset, unsigned bytes, uint32_t value, uint32_t writable) {
    for (unsigned i = 0; i < bytes; ++i) {
        value_[offset + i] = static_cast<uint8_t>(value >> (8 * i));
        writable_[offset + i] = static_cast<uint8_t>(writable >> (8 * i));
    }
}

uint32_t ConfigSpace::get(unsigned offset, unsigned bytes) const {
    uint32_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) {
        value |= uint32_t{value_[offset + i]} << (8 * i);
    }
    return value;
}

}  // namespace gpuemu
