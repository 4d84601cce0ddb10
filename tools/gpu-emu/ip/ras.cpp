// SPDX-License-Identifier: GPL-2.0
// Purpose: banks as drivers/gpu/drm/amd/ras/core/aca_v1_0.c takes them apart.
// Thread: device loop only.
#include "gpu-emu/ip/ras.h"

#include <string>
#include <utility>

namespace gpuemu {
namespace {

// Registers of a bank (ACA_REG_IDX__*).
constexpr std::size_t STATUS = 1, ADDR = 2, MISC0 = 3, IPID = 5, SYND = 6;

constexpr uint64_t STATUS_VAL = 1ull << 63;
constexpr uint64_t STATUS_UC = 1ull << 61;
constexpr uint64_t STATUS_EN = 1ull << 60;
constexpr uint64_t STATUS_MISCV = 1ull << 59;
constexpr uint64_t STATUS_ADDRV = 1ull << 58;
constexpr uint64_t STATUS_PCC = 1ull << 57;
constexpr uint64_t STATUS_SYNDV = 1ull << 53;
constexpr uint64_t STATUS_CECC = 1ull << 46;
constexpr uint64_t STATUS_UECC = 1ull << 45;
constexpr uint64_t STATUS_DEFERRED = 1ull << 44;
constexpr uint64_t STATUS_POISON = 1ull << 43;

constexpr uint64_t MISC0_VALID = 1ull << 63;
constexpr uint64_t MISC0_ONE_ERROR = 1ull << 32;  // ERRCNT

constexpr uint64_t ipid(uint16_t mca_type, uint16_t hardware_id, uint32_t instance) {
    return uint64_t{mca_type} << 48 | uint64_t{hardware_id} << 32 | instance;
}
constexpr uint64_t ipid_umc0 = ipid(0x0, 0x96, 0);
constexpr uint64_t ipid_smu_xcd0 = ipid(0x1, 0x01, 0x36430400);  // mmSMNAID_XCD0_MCA_SMU: gfx
constexpr uint64_t ipid_smu_aid0 =
    ipid(0x1, 0x01, 0x03b30400);  // mmSMNAID_AID0_MCA_SMU: sdma, mmhub

constexpr uint64_t synd_CODE_SDMA0 = 33;  // ERR_CODE_e (smu13_driver_if_v13_0_6.h)

// Each umc error is in another row of the first bank, within the first 256 MiB of a VRAM of any
// size.
constexpr unsigned MCA_UMC_ROW_SHIFT = 10;
constexpr uint64_t umc_rows = 64;

// Interrupts of the blocks (soc15_ih_clientid.h, irqsrcs_sdma0_4_0.h).
constexpr uint8_t SOC15_IH_CLIENTID_SDMA0 = 0x08;
constexpr uint8_t SOC15_IH_CLIENTID_DF = 0x17;
constexpr uint8_t SDMA0_4_0__SRCID__SDMA_SRAM_ECC = 228;

uint64_t status_bits(RasSeverity severity) {
    constexpr uint64_t common = STATUS_VAL | STATUS_EN | STATUS_MISCV | STATUS_SYNDV;
    switch (severity) {
        case RasSeverity::correctable: return common | STATUS_CECC;
        case RasSeverity::uncorrectable: return common | STATUS_UC | STATUS_PCC | STATUS_UECC;
        case RasSeverity::poison: return common | STATUS_UECC | STATUS_DEFERRED;
    }
    return common;
}

AcaBank make_bank(uint64_t bank_ipid, RasSeverity severity) {
    AcaBank bank{};
    bank[STATUS] = status_bits(severity);
    bank[MISC0] = MISC0_VALID | MISC0_ONE_ERROR;
    bank[IPID] = bank_ipid;
    return bank;
}

}  // namespace

hp::Result<RasBlock> parse_ras_block(std::string_view name) {
    if (name == "umc") {
        return RasBlock::umc;
    }
    if (name == "gfx") {
        return RasBlock::gfx;
    }
    if (name == "sdma") {
        return RasBlock::sdma;
    }
    return hp::fail("unknown RAS block '" + std::string(name) + "': use umc, gfx or sdma");
}

hp::Result<RasSeverity> parse_ras_severity(std::string_view name) {
    if (name == "correctable") {
        return RasSeverity::correctable;
    }
    if (name == "uncorrectable") {
        return RasSeverity::uncorrectable;
    }
    if (name == "poison") {
        return RasSeverity::poison;
    }
    return hp::fail("unknown RAS severity '" + std::string(name) +
                    "': use correctable, uncorrectable or poison");
}

void AcaBankList::add(const AcaBank& bank) {
    if (pending_.size() == max_pending) {
        pending_.pop_front();  // nobody reads: the oldest are overwritten, as in the hardware
    }
    pending_.push_back(bank);
}

uint32_t AcaBankList::query() {
    taken_.clear();
    while (!pending_.empty() && taken_.size() < max_per_query) {
        taken_.push_back(pending_.front());
        pending_.pop_front();
    }
    return static_cast<uint32_t>(taken_.size());
}

uint32_t AcaBankList::dump(uint32_t argument) const {
    const std::size_t index = argument >> 16;
    const std::size_t offset = argument & 0xffff;
    if (index >= taken_.size() || offset >= sizeof(AcaBank)) {
        return 0;
    }
    const uint64_t value = taken_[index][offset / sizeof(uint64_t)];
    return static_cast<uint32_t>(offset % sizeof(uint64_t) < 4 ? value : value >> 32);
}

void AcaBankList::clear() {
    pending_.clear();
    taken_.clear();
}

Ras::Ras(Context context) : context_(std::move(context)) {}

void Ras::power_on() {
    corrected_.clear();
    uncorrected_.clear();
    injected_ = 0;
}

void Ras::inject(RasBlock block, RasSeverity severity) {
    const bool poison = severity == RasSeverity::poison;
    AcaBank bank{};
    switch (block) {
        case RasBlock::umc:
            bank = make_bank(ipid_umc0, severity);
            bank[STATUS] |= STATUS_ADDRV;
            bank[ADDR] = (1 + injected_ % umc_rows) << MCA_UMC_ROW_SHIFT;
            break;
        case RasBlock::gfx: bank = make_bank(ipid_smu_xcd0, severity); break;
        case RasBlock::sdma:
            bank = make_bank(ipid_smu_aid0, severity);
            bank[SYND] = synd_CODE_SDMA0;
            break;
    }
    if (poison && block != RasBlock::umc) {
        bank[STATUS] |= STATUS_POISON;  // consumed, not created
    }
    ++injected_;

    if (severity == RasSeverity::uncorrectable) {
        uncorrected_.add(bank);
        context_.fatal_error();
        return;
    }
    corrected_.add(bank);
    if (poison && block == RasBlock::umc) {
        context_.interrupts.raise({.client_id = SOC15_IH_CLIENTID_DF, .source_id = 0});
    } else if (poison && block == RasBlock::sdma) {
        context_.interrupts.raise(
            {.client_id = SOC15_IH_CLIENTID_SDMA0, .source_id = SDMA0_4_0__SRCID__SDMA_SRAM_ECC});
    }
}

}  // namespace gpuemu
