// SPDX-License-Identifier: GPL-2.0
// Purpose: the NBIO registers, as nbio_v7_9.c, nbio_v2_3.c and amdgpu_discovery.c use them.
// Thread: device loop only.
#include "gpu-emu/ip/nbio.h"

#include <array>
#include <cstring>
#include <utility>

#include "gpu-emu/ip/fuse_type.h"
#include "gpu-emu/ip/regs/nbio_2_3.h"
#include "gpu-emu/ip/regs/nbio_7_9_0.h"

namespace gpuemu {
namespace {

namespace nbio = nbio_7_9_0;

constexpr uint32_t spx_mode = 0;       // PARTITION_COMPUTE_STATUS: one partition of all XCCs
constexpr uint32_t nps1_mode_bit = 1;  // one bit per NPS mode, in PARTITION_MEM_CAP and _STATUS

// DOORBELL0_CTRL_ENTRY_n, as nbio_v7_9_ih_, _sdma_ and _vcn_doorbell_range() deal them out.
constexpr unsigned ih_entry = 0, first_sdma_entry = 1, sdma_entries = 16, first_video_entry = 17,
                   video_entries = 4, doorbell_entries = first_video_entry + video_entries;
// nbio_v2_3_sdma_doorbell_range().
constexpr std::array sdma_ranges = {
    nbio_2_3::mmBIF_SDMA0_DOORBELL_RANGE, nbio_2_3::mmBIF_SDMA1_DOORBELL_RANGE,
    nbio_2_3::mmBIF_SDMA2_DOORBELL_RANGE, nbio_2_3::mmBIF_SDMA3_DOORBELL_RANGE};
constexpr std::array video_ranges = {nbio_2_3::mmBIF_MMSCH0_DOORBELL_RANGE,
                                     nbio_2_3::mmBIF_MMSCH1_DOORBELL_RANGE};

}  // namespace

Nbio::Nbio(const Profile& profile, RegisterFile& registers, const Vram& vram)
    : profile_(profile), ip_(profile.ip(HwId::NBIF)), registers_(registers), vram_(vram) {
    claim_vram_window();
    claim_smn_window();
    if (ip_.major == 7) {
        claim_ras_status();
    }
    declare_identity();
}

void Nbio::declare_identity() {
    registers_.declare(at(ip_, nbio::regBIF_BX_PF0_GPU_HDP_FLUSH_DONE), 1, {.type = read_only});
    const auto declare = [this](Reg reg) {
        registers_.declare(at(ip_, reg), 1, {.type = fuse_type(profile_)});
    };
    declare(nbio::regRCC_DEV0_EPF0_RCC_CONFIG_MEMSIZE);
    declare(nbio::regRCC_DEV0_EPF0_RCC_IOV_FUNC_IDENTIFIER);
    if (ip_.major == 7) {
        declare(nbio::regRCC_STRAP0_RCC_DEV0_EPF0_STRAP0);
        declare(nbio::regBIF_BX_PF0_PARTITION_COMPUTE_CAP);
        declare(nbio::regBIF_BX_PF0_PARTITION_COMPUTE_STATUS);
        declare(nbio::regBIF_BX_PF0_PARTITION_MEM_CAP);
        declare(nbio::regBIF_BX_PF0_PARTITION_MEM_STATUS);
    } else {
        declare(nbio_2_3::mmRCC_DEV0_EPF0_STRAP0);
    }
}

void Nbio::reset(ResetKind) {
    const auto preset = [&](Reg reg, uint32_t value) { registers_.raw(at(ip_, reg)) = value; };
    // Memory behind the host data path is coherent here: a flush is done when it is asked for.
    preset(nbio::regBIF_BX_PF0_GPU_HDP_FLUSH_DONE, ~0u);
    preset(nbio::regRCC_DEV0_EPF0_RCC_CONFIG_MEMSIZE,
           static_cast<uint32_t>(profile_.vram_bytes >> 20));
    preset(nbio::regRCC_DEV0_EPF0_RCC_IOV_FUNC_IDENTIFIER,
           nbio::RCC_IOV_FUNC_IDENTIFIER__FUNC_IDENTIFIER::set(0, profile_.virtual_function));
    // Revision 0 is an A0 part, which the driver refuses on some ASICs ("Unsupported A0").
    constexpr uint32_t revision_1 =
        nbio::RCC_STRAP0_RCC_DEV0_EPF0_STRAP0__STRAP_ATI_REV_ID_DEV0_F0::set(0, 1);
    if (ip_.major == 7) {
        for (unsigned entry = 0; entry < doorbell_entries; ++entry) {
            registers_.preset_far(doorbell_entry(entry), 0);
        }
        preset(nbio::regRCC_STRAP0_RCC_DEV0_EPF0_STRAP0, revision_1);
        preset(nbio::regBIF_BX_PF0_PARTITION_COMPUTE_CAP, 1u << spx_mode);
        preset(nbio::regBIF_BX_PF0_PARTITION_COMPUTE_STATUS, spx_mode);
        preset(nbio::regBIF_BX_PF0_PARTITION_MEM_CAP, nps1_mode_bit);
        preset(nbio::regBIF_BX_PF0_PARTITION_MEM_STATUS,
               nbio::PARTITION_MEM_STATUS__NPS_MODE::set(0, nps1_mode_bit));
    } else {
        preset(nbio_2_3::mmRCC_DEV0_EPF0_STRAP0, revision_1);
    }
    if (profile_.video_bios) {
        // A board that is plugged in while the machine runs is posted by its own PSP.
        preset(nbio_2_3::mmBIOS_SCRATCH_7, nbio_2_3::ATOM_S7_ASIC_INIT_COMPLETE::set(0, 1));
    }
    for (const IpInstance* die : profile_.working(HwId::NBIF)) {
        registers_.raw(at(*die, nbio::regBIF_BX0_BACO_CNTL)) = 0;  // looked at on each AID
    }
    for (const Reg zero_after_reset :
         {nbio::regBIF_BX_PF0_MM_INDEX, nbio::regBIF_BX_PF0_MM_INDEX_HI,
          nbio::regBIF_BX0_PCIE_INDEX2, nbio::regBIF_BX0_PCIE_INDEX2_HI,
          nbio::regBIF_BX0_INTERRUPT_CNTL, nbio::regBIF_BX0_BIF_DOORBELL_INT_CNTL,
          nbio::regRCC_DEV0_EPF0_RCC_DOORBELL_APER_EN}) {
        preset(zero_after_reset, 0);
    }
}

bool Nbio::shows_vram(uint32_t dword) const {
    return dword == at(ip_, nbio::regBIF_BX_PF0_MM_DATA);
}

void Nbio::claim_vram_window() {
    const uint32_t index = at(ip_, nbio::regBIF_BX_PF0_MM_INDEX);
    const uint32_t index_high = at(ip_, nbio::regBIF_BX_PF0_MM_INDEX_HI);
    const uint32_t data = at(ip_, nbio::regBIF_BX_PF0_MM_DATA);
    // Without MM_APER the window would reach registers: no driver of this ASIC uses that.
    const auto target = [this, index, index_high]() -> std::span<std::byte> {
        const uint32_t low = registers_.raw(index);
        if (nbio::BIF_BX_PF0_MM_INDEX__MM_APER::get(low) == 0) {
            return {};
        }
        const uint64_t address = nbio::BIF_BX_PF0_MM_INDEX__MM_OFFSET::get(low) |
                                 uint64_t{registers_.raw(index_high)} << 31;
        const auto found = vram_.window(address & ~3ull, sizeof(uint32_t));
        return found.size() == sizeof(uint32_t) ? found : std::span<std::byte>{};
    };
    registers_.declare(data, 1,
                       {.read =
                            [target](uint32_t) {
                                uint32_t value = 0;
                                if (const auto source = target(); !source.empty()) {
                                    std::memcpy(&value, source.data(), sizeof value);
                                }
                                return value;
                            },
                        .written =
                            [target](uint32_t, uint32_t value) {
                                if (const auto destination = target(); !destination.empty()) {
                                    std::memcpy(destination.data(), &value, sizeof value);
                                }
                            }});
}

uint64_t Nbio::smn_address() const {
    return (registers_.raw(at(ip_, nbio::regBIF_BX0_PCIE_INDEX2)) & ~3u) |
           uint64_t{registers_.raw(at(ip_, nbio::regBIF_BX0_PCIE_INDEX2_HI)) & 0xff} << 32;
}

void Nbio::claim_smn_window() {
    const uint32_t data = at(ip_, nbio::regBIF_BX0_PCIE_DATA2);
    // SMN addresses below the size of BAR5 are the window itself, and with it these two registers:
    // an index that names the data register would call itself without end.
    const uint64_t own_address = uint64_t{data} * 4;
    registers_.declare(data, 1,
                       {.read =
                            [this, own_address](uint32_t) {
                                const uint64_t address = smn_address();
                                return address == own_address ? 0 : registers_.read_far(address);
                            },
                        .written =
                            [this, own_address](uint32_t, uint32_t value) {
                                if (const uint64_t address = smn_address();
                                    address != own_address) {
                                    registers_.write_far(address, value);
                                }
                            }});
}

void Nbio::claim_ras_status() {
    using AthubStatus = nbio::BIF_DOORBELL_INT_CNTL__RAS_ATHUB_ERR_EVENT_INTERRUPT_STATUS;
    using AthubClear = nbio::BIF_DOORBELL_INT_CNTL__RAS_ATHUB_ERR_EVENT_INTERRUPT_CLEAR;
    using CntlrStatus = nbio::BIF_DOORBELL_INT_CNTL__RAS_CNTLR_INTERRUPT_STATUS;
    using CntlrClear = nbio::BIF_DOORBELL_INT_CNTL__RAS_CNTLR_INTERRUPT_CLEAR;
    constexpr uint32_t clears = AthubClear::mask | CntlrClear::mask;
    constexpr RegisterType type{
        .writable = ~(clears | AthubStatus::mask | CntlrStatus::mask),
        .self_clearing = clears,
    };
    const auto written = [this](uint32_t dword, uint32_t value) {
        if (AthubClear::get(value) != 0) {
            registers_.raw(dword) &= ~AthubStatus::mask;
        }
    };
    registers_.declare(at(ip_, nbio::regBIF_BX0_BIF_DOORBELL_INT_CNTL), 1,
                       {.type = type, .written = written});
}

bool Nbio::doorbells_pass() const {
    return nbio::RCC_DOORBELL_APER_EN__BIF_DOORBELL_APER_EN::get(
               std::as_const(registers_)
                   .raw(at(ip_, nbio::regRCC_DEV0_EPF0_RCC_DOORBELL_APER_EN))) != 0;
}

uint64_t Nbio::doorbell_entry(unsigned entry) const {
    return (uint64_t{at(ip_, nbio::regDOORBELL0_CTRL_ENTRY_0)} + entry) * 4;
}

Nbio::Range Nbio::far_range(unsigned entry) const {
    const uint32_t value = registers_.read_far(doorbell_entry(entry));
    return {nbio::DOORBELL0_CTRL_ENTRY__BIF_DOORBELL0_RANGE_OFFSET_ENTRY::get(value),
            nbio::DOORBELL0_CTRL_ENTRY__BIF_DOORBELL0_RANGE_SIZE_ENTRY::get(value)};
}

Nbio::Range Nbio::near_range(Reg reg) const {
    const uint32_t value = std::as_const(registers_).raw(at(ip_, reg));
    return {nbio_2_3::BIF_DOORBELL_RANGE__OFFSET::get(value),
            nbio_2_3::BIF_DOORBELL_RANGE__SIZE::get(value)};
}

std::optional<DoorbellRoute> Nbio::route_of(uint32_t doorbell) const {
    using Block = DoorbellRoute::Block;
    if (profile_.virtual_function || profile_.opposites.has(Opposite::unrouted_doorbells)) {
        return std::nullopt;
    }
    constexpr uint32_t doorbells_of_page = 1024;
    const uint32_t in_page = doorbell % doorbells_of_page;
    const auto lies_in = [in_page](const Range& range) {
        return in_page >= range.first && in_page - range.first < range.count;
    };
    const bool far = ip_.major == 7;
    if (lies_in(far ? far_range(ih_entry) : near_range(nbio_2_3::mmBIF_IH_DOORBELL_RANGE))) {
        return DoorbellRoute{.block = Block::ih};
    }
    for (unsigned sdma = 0; sdma < (far ? sdma_entries : sdma_ranges.size()); ++sdma) {
        if (lies_in(far ? far_range(first_sdma_entry + sdma) : near_range(sdma_ranges[sdma]))) {
            return DoorbellRoute{.block = Block::sdma, .instance = sdma};
        }
    }
    for (unsigned video = 0; video < (far ? video_entries : video_ranges.size()); ++video) {
        if (lies_in(far ? far_range(first_video_entry + video) : near_range(video_ranges[video]))) {
            return DoorbellRoute{.block = Block::video};
        }
    }
    return DoorbellRoute{};
}

void Nbio::latch_fatal_error() {
    using AthubStatus = nbio::BIF_DOORBELL_INT_CNTL__RAS_ATHUB_ERR_EVENT_INTERRUPT_STATUS;
    registers_.raw(at(ip_, nbio::regBIF_BX0_BIF_DOORBELL_INT_CNTL)) |= AthubStatus::mask;
}

}  // namespace gpuemu
