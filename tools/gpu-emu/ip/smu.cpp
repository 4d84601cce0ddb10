// SPDX-License-Identifier: GPL-2.0
// Purpose: the messages of smu_v13_0_6_ppsmc.h, as smu_v13_0_6_ppt.c sends them.
// Thread: device loop only.
#include "gpu-emu/ip/smu.h"

#include <algorithm>
#include <span>
#include <utility>

#include "gpu-emu/ip/smu_tables.h"

namespace gpuemu {
namespace {

namespace tables = smu_13_0_6;

enum PpsmcMessage : uint32_t {
    PPSMC_MSG_TestMessage = 0x1,
    PPSMC_MSG_GetSmuVersion = 0x2,
    PPSMC_MSG_GfxDriverReset = 0x3,
    PPSMC_MSG_GetDriverIfVersion = 0x4,
    PPSMC_MSG_EnableAllSmuFeatures = 0x5,
    PPSMC_MSG_DisableAllSmuFeatures = 0x6,
    PPSMC_MSG_RequestI2cTransaction = 0x7,
    PPSMC_MSG_GetMetricsVersion = 0x8,
    PPSMC_MSG_GetMetricsTable = 0x9,
    PPSMC_MSG_GetEnabledSmuFeaturesLow = 0xB,
    PPSMC_MSG_GetEnabledSmuFeaturesHigh = 0xC,
    PPSMC_MSG_SetDriverDramAddrHigh = 0xD,
    PPSMC_MSG_SetDriverDramAddrLow = 0xE,
    PPSMC_MSG_SetToolsDramAddrHigh = 0xF,
    PPSMC_MSG_SetToolsDramAddrLow = 0x10,
    PPSMC_MSG_SetSystemVirtualDramAddrHigh = 0x11,
    PPSMC_MSG_SetSystemVirtualDramAddrLow = 0x12,
    PPSMC_MSG_SetSoftMinByFreq = 0x13,
    PPSMC_MSG_SetSoftMaxByFreq = 0x14,
    PPSMC_MSG_GetMinDpmFreq = 0x15,
    PPSMC_MSG_GetMaxDpmFreq = 0x16,
    PPSMC_MSG_GetDpmFreqByIndex = 0x17,
    PPSMC_MSG_SetPptLimit = 0x18,
    PPSMC_MSG_GetPptLimit = 0x19,
    PPSMC_MSG_DramLogSetDramAddrHigh = 0x1A,
    PPSMC_MSG_DramLogSetDramAddrLow = 0x1B,
    PPSMC_MSG_DramLogSetDramSize = 0x1C,
    PPSMC_MSG_HeavySBR = 0x1E,
    PPSMC_MSG_SetNumBadHbmPagesRetired = 0x1F,
    PPSMC_MSG_DFCstateControl = 0x20,
    PPSMC_MSG_SetGmiPwrDnHyst = 0x22,
    PPSMC_MSG_GmiPwrDnControl = 0x23,
    PPSMC_MSG_EnableDeterminism = 0x26,
    PPSMC_MSG_DisableDeterminism = 0x27,
    PPSMC_MSG_GfxDriverResetRecovery = 0x2E,
    PPSMC_MSG_SetSoftMinGfxClk = 0x30,
    PPSMC_MSG_SetSoftMaxGfxClk = 0x31,
    PPSMC_MSG_GetMinGfxDpmFreq = 0x32,
    PPSMC_MSG_GetMaxGfxDpmFreq = 0x33,
    PPSMC_MSG_PrepareForDriverUnload = 0x34,
    PPSMC_MSG_ReadThrottlerLimit = 0x35,
    PPSMC_MSG_QueryValidMcaCount = 0x36,
    PPSMC_MSG_McaBankDumpDW = 0x37,
    PPSMC_MSG_GetCTFLimit = 0x38,
    PPSMC_MSG_ClearMcaOnRead = 0x39,
    PPSMC_MSG_QueryValidMcaCeCount = 0x3A,
    PPSMC_MSG_McaBankCeDumpDW = 0x3B,
    PPSMC_MSG_SelectPLPDMode = 0x40,
    PPSMC_MSG_RmaDueToBadPageThreshold = 0x43,
    PPSMC_MSG_SetThrottlingPolicy = 0x44,
    PPSMC_MSG_ResetSDMA = 0x4D,
    PPSMC_MSG_ResetVCN = 0x5B,
};

enum PpsmcResetType : uint32_t {
    PPSMC_RESET_TYPE_DRIVER_MODE_1_RESET = 0x1,
    PPSMC_RESET_TYPE_DRIVER_MODE_2_RESET = 0x2,
    SMU_RESET_MODE_4 = 0x4,  // amdgpu_smu.h: smu_v13_0_6_ppsmc.h has no name for it
};

// 85.121.0: from this version on the driver uses driver-side mode-2 resets for poison.
constexpr uint32_t firmware_version = 0x00557900;
constexpr uint32_t driver_interface_version = 8;

// What is on, in FEATURE_LIST_e bits. Not all ones: the driver takes that as "everything",
// including an EEPROM behind the firmware instead of I2C.
constexpr uint32_t features_low = 0x3f8fffff;
constexpr uint32_t features_high = 0x000001e8;

constexpr uint32_t power_limit_watts = 750;
constexpr uint32_t min_gfx_mhz = 132, max_gfx_mhz = 2100;
constexpr uint32_t throttle_celsius = 100, shutdown_celsius = 110;
constexpr uint32_t dpm_levels = 4;

constexpr uint32_t q10(uint32_t value) {
    return value << 10;
}

}  // namespace

Smu::Smu(Context context)
    : SmuMailbox({context.profile, context.registers, context.memory, context.mutator}),
      context_(std::move(context)) {}

SmuMailbox::Answer Smu::answer(uint32_t message, uint32_t argument) {
    switch (message) {
        case PPSMC_MSG_TestMessage: return argument + 1;
        case PPSMC_MSG_GetSmuVersion: return firmware_version;
        case PPSMC_MSG_GetDriverIfVersion: return driver_interface_version;
        case PPSMC_MSG_GfxDriverReset: return done(reset_asic(argument & 0xffff));
        case PPSMC_MSG_RequestI2cTransaction: return done(transfer_i2c());
        case PPSMC_MSG_GetMetricsVersion: return tables::SMU_METRICS_TABLE_VERSION;
        case PPSMC_MSG_GetMetricsTable: return done(export_metrics());
        case PPSMC_MSG_GetEnabledSmuFeaturesLow: return features_low;
        case PPSMC_MSG_GetEnabledSmuFeaturesHigh: return features_high;
        case PPSMC_MSG_SetDriverDramAddrHigh: set_driver_table_high(argument); return 0;
        case PPSMC_MSG_SetDriverDramAddrLow: set_driver_table_low(argument); return 0;
        case PPSMC_MSG_GetMinDpmFreq: return 500;
        case PPSMC_MSG_GetMaxDpmFreq: return max_gfx_mhz;
        case PPSMC_MSG_GetDpmFreqByIndex: return dpm_frequency(argument);
        case PPSMC_MSG_GetPptLimit: return power_limit_watts;
        case PPSMC_MSG_GetMinGfxDpmFreq: return min_gfx_mhz;
        case PPSMC_MSG_GetMaxGfxDpmFreq: return max_gfx_mhz;
        case PPSMC_MSG_ReadThrottlerLimit: return throttle_celsius;
        case PPSMC_MSG_GetCTFLimit: return shutdown_celsius;
        case PPSMC_MSG_QueryValidMcaCount: return context_.ras.uncorrected().query();
        case PPSMC_MSG_McaBankDumpDW: return context_.ras.uncorrected().dump(argument);
        case PPSMC_MSG_QueryValidMcaCeCount: return context_.ras.corrected().query();
        case PPSMC_MSG_McaBankCeDumpDW: return context_.ras.corrected().dump(argument);
        case PPSMC_MSG_ResetSDMA: return done(reset_sdma(argument));
        case PPSMC_MSG_ResetVCN: return done(reset_vcn(argument));
        case PPSMC_MSG_EnableAllSmuFeatures:  // from here on settings without an effect here
        case PPSMC_MSG_DisableAllSmuFeatures:
        case PPSMC_MSG_SetToolsDramAddrHigh:
        case PPSMC_MSG_SetToolsDramAddrLow:
        case PPSMC_MSG_SetSystemVirtualDramAddrHigh:
        case PPSMC_MSG_SetSystemVirtualDramAddrLow:
        case PPSMC_MSG_SetSoftMinByFreq:
        case PPSMC_MSG_SetSoftMaxByFreq:
        case PPSMC_MSG_SetPptLimit:
        case PPSMC_MSG_DramLogSetDramAddrHigh:
        case PPSMC_MSG_DramLogSetDramAddrLow:
        case PPSMC_MSG_DramLogSetDramSize:
        case PPSMC_MSG_HeavySBR:
        case PPSMC_MSG_SetNumBadHbmPagesRetired:
        case PPSMC_MSG_DFCstateControl:
        case PPSMC_MSG_SetGmiPwrDnHyst:
        case PPSMC_MSG_GmiPwrDnControl:
        case PPSMC_MSG_EnableDeterminism:
        case PPSMC_MSG_DisableDeterminism:
        case PPSMC_MSG_GfxDriverResetRecovery:
        case PPSMC_MSG_SetSoftMinGfxClk:
        case PPSMC_MSG_SetSoftMaxGfxClk:
        case PPSMC_MSG_PrepareForDriverUnload:
        case PPSMC_MSG_ClearMcaOnRead:
        case PPSMC_MSG_SelectPLPDMode:
        case PPSMC_MSG_RmaDueToBadPageThreshold:
        case PPSMC_MSG_SetThrottlingPolicy: return 0;
        default: return unknown_command();
    }
}

/// `argument`: clock in the upper half, level in the lower; level 0xff asks for the last one.
uint32_t Smu::dpm_frequency(uint32_t argument) {
    const uint32_t level = argument & 0xff;
    return level == 0xff ? dpm_levels - 1 : 900 + 100 * level;
}

bool Smu::reset_asic(uint32_t type) {
    switch (type) {
        case PPSMC_RESET_TYPE_DRIVER_MODE_1_RESET: context_.mode1_reset(); return true;
        case PPSMC_RESET_TYPE_DRIVER_MODE_2_RESET: context_.mode2_reset(); return true;
        case SMU_RESET_MODE_4: context_.mode4_reset(); return true;
        default: return false;
    }
}

bool Smu::reset_sdma(uint32_t instances) {
    const auto count = std::ranges::count(context_.profile.ips, HwId::SDMA0, &IpInstance::hw_id);
    if (instances == 0 || instances >> count != 0) {
        return false;
    }
    context_.sdma_reset(instances);
    return true;
}

bool Smu::reset_vcn(uint32_t instances) {
    const auto count = std::ranges::count(context_.profile.ips, HwId::VCN, &IpInstance::hw_id);
    if (instances == 0 || instances >> count != 0) {
        return false;
    }
    context_.vcn_reset(instances);
    return true;
}

bool Smu::export_metrics() {
    tables::MetricsTableV0 metrics{};
    metrics.AccumulationCounter = ++accumulation_counter_;  // zero would mean "not yet filled"
    metrics.MaxSocketTemperature = q10(40);
    metrics.MaxVrTemperature = q10(40);
    metrics.MaxHbmTemperature = q10(38);
    metrics.SocketPowerLimit = q10(power_limit_watts);
    metrics.MaxSocketPowerLimit = q10(power_limit_watts);
    metrics.SocketPower = q10(120);
    metrics.Timestamp = context_.gpu_clock();
    metrics.GfxclkFrequencyLimit = q10(max_gfx_mhz);
    metrics.FclkFrequency = q10(1800);
    metrics.UclkFrequency = q10(900);
    metrics.MaxGfxclkFrequency = q10(max_gfx_mhz);
    metrics.MinGfxclkFrequency = q10(min_gfx_mhz);
    for (uint32_t level = 0; level < dpm_levels; ++level) {
        metrics.FclkFrequencyTable[level] = q10(1200 + 200 * level);
        metrics.UclkFrequencyTable[level] = q10(900 + 133 * level);
        metrics.SocclkFrequencyTable[level] = q10(800 + 100 * level);
        metrics.VclkFrequencyTable[level] = q10(500 + 100 * level);
        metrics.DclkFrequencyTable[level] = q10(500 + 100 * level);
        metrics.LclkFrequencyTable[level] = q10(600 + 100 * level);
    }
    metrics.XgmiWidth = 16;
    metrics.XgmiBitrate = 32;
    for (const IpInstance* xcc : context_.profile.working(HwId::GC)) {
        metrics.GfxclkFrequency[xcc->instance] = q10(min_gfx_mhz);
    }
    // The driver's unique_id is that of AID 0.
    for (unsigned aid = 0; aid < context_.profile.aids(); ++aid) {
        metrics.PublicSerialNumber_AID[aid] = context_.profile.serial;
    }
    metrics.PCIeLinkSpeed = 4;
    metrics.PCIeLinkWidth = 16;
    return write_table(PPSMC_MSG_GetMetricsTable, std::as_writable_bytes(std::span(&metrics, 1)));
}

bool Smu::transfer_i2c() {
    tables::SwI2cRequest request{};
    const auto bytes = std::as_writable_bytes(std::span(&request, 1));
    if (!read_table(bytes) || request.NumCmds > tables::MAX_SW_I2C_COMMANDS) {
        return false;
    }
    if (!context_.eeprom.start(request.SlaveAddress >> 1)) {
        return false;
    }
    for (tables::SwI2cCmd& command : std::span(request.SwI2cCmds).first(request.NumCmds)) {
        if ((command.CmdConfig & tables::CMDCONFIG_READWRITE_MASK) != 0) {
            context_.eeprom.put(command.ReadWriteData);
        } else {
            command.ReadWriteData = context_.eeprom.get();
        }
    }
    return write_table(PPSMC_MSG_RequestI2cTransaction, bytes);
}

}  // namespace gpuemu
