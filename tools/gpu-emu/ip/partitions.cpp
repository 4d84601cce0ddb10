// SPDX-License-Identifier: GPL-2.0
// Purpose: the modes of aqua_vanjaram.c, as the PSP sets them for psp_spatial_partition().
// Thread: device loop only.
#include "gpu-emu/ip/partitions.h"

#include <optional>

#include "gpu-emu/ip/regs/gc_9_4_3.h"
#include "gpu-emu/ip/regs/nbio_7_9_0.h"

namespace gpuemu {
namespace {

namespace gc = gc_9_4_3;
namespace nbio = nbio_7_9_0;

// enum amdgpu_gfx_partition.
constexpr uint32_t SPX = 0, DPX = 1, TPX = 2, QPX = 3, CPX = 4;

/// The mode with as many partitions, of which each has as many XCCs.
std::optional<uint32_t> mode_of(uint32_t xccs, uint32_t partitions) {
    if (partitions == 0 || xccs % partitions != 0) {
        return std::nullopt;
    }
    if (partitions == 1) {
        return SPX;
    }
    if (partitions == xccs) {
        return CPX;
    }
    switch (partitions) {
        case 2: return DPX;
        case 3: return TPX;
        case 4: return QPX;
        default: return std::nullopt;
    }
}

}  // namespace

Partitions::Partitions(const Profile& profile, RegisterFile& registers)
    : profile_(profile),
      registers_(registers),
      xccs_(static_cast<uint32_t>(profile.working(HwId::GC).size())) {}

bool Partitions::divide(uint32_t partitions) {
    if (!mode_of(xccs_, partitions)) {
        return false;
    }
    partitions_ = partitions;
    publish();
    return true;
}

void Partitions::reset(ResetKind kind) {
    if (kind == ResetKind::cold || kind == ResetKind::flr) {
        partitions_ = 1;
    }
    publish();
}

void Partitions::publish() {
    const IpInstance& nbif = profile_.ip(HwId::NBIF);
    uint32_t capabilities = 0;
    for (uint32_t partitions = 1; partitions <= xccs_; ++partitions) {
        if (const auto mode = mode_of(xccs_, partitions)) {
            capabilities |= 1u << *mode;
        }
    }
    registers_.raw(at(nbif, nbio::regBIF_BX_PF0_PARTITION_COMPUTE_CAP)) = capabilities;
    registers_.raw(at(nbif, nbio::regBIF_BX_PF0_PARTITION_COMPUTE_STATUS)) =
        nbio::PARTITION_COMPUTE_STATUS__PARTITION_MODE::set(0, mode_of(xccs_, partitions_).value());

    const uint32_t each = xccs_ / partitions_;
    uint32_t virtual_id = 0;
    for (const IpInstance* ip : profile_.working(HwId::GC)) {
        uint32_t control = gc::CP_HYP_XCP_CTL__NUM_XCC_IN_XCP::set(0, each);
        control = gc::CP_HYP_XCP_CTL__VIRTUAL_XCC_ID::set(control, virtual_id);
        registers_.raw(at(*ip, gc::regCP_HYP_XCP_CTL)) = control;
        virtual_id = (virtual_id + 1) % each;
    }
}

}  // namespace gpuemu
