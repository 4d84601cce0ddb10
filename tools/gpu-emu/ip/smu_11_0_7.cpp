// SPDX-License-Identifier: GPL-2.0
// Purpose: the messages of smu_v11_0_7_ppsmc.h and the tables of smu11_driver_if_sienna_cichlid.h,
// as sienna_cichlid_ppt.c uses them. Thread: device loop only.
#include "gpu-emu/ip/smu_11_0_7.h"

#include <array>
#include <cstddef>
#include <span>
#include <utility>

namespace gpuemu {
namespace {

enum PpsmcMessage : uint32_t {
    PPSMC_MSG_TestMessage = 0x1,
    PPSMC_MSG_GetSmuVersion = 0x2,
    PPSMC_MSG_GetDriverIfVersion = 0x3,
    PPSMC_MSG_SetAllowedFeaturesMaskLow = 0x4,
    PPSMC_MSG_SetAllowedFeaturesMaskHigh = 0x5,
    PPSMC_MSG_EnableAllSmuFeatures = 0x6,
    PPSMC_MSG_DisableAllSmuFeatures = 0x7,
    PPSMC_MSG_EnableSmuFeaturesLow = 0x8,
    PPSMC_MSG_EnableSmuFeaturesHigh = 0x9,
    PPSMC_MSG_DisableSmuFeaturesLow = 0xA,
    PPSMC_MSG_DisableSmuFeaturesHigh = 0xB,
    PPSMC_MSG_GetRunningSmuFeaturesLow = 0xC,
    PPSMC_MSG_GetRunningSmuFeaturesHigh = 0xD,
    PPSMC_MSG_SetDriverDramAddrHigh = 0xE,
    PPSMC_MSG_SetDriverDramAddrLow = 0xF,
    PPSMC_MSG_SetToolsDramAddrHigh = 0x10,
    PPSMC_MSG_SetToolsDramAddrLow = 0x11,
    PPSMC_MSG_TransferTableSmu2Dram = 0x12,
    PPSMC_MSG_TransferTableDram2Smu = 0x13,
    PPSMC_MSG_UseDefaultPPTable = 0x14,
    PPSMC_MSG_SetSoftMinByFreq = 0x19,
    PPSMC_MSG_SetSoftMaxByFreq = 0x1A,
    PPSMC_MSG_SetHardMinByFreq = 0x1B,
    PPSMC_MSG_SetHardMaxByFreq = 0x1C,
    PPSMC_MSG_GetMinDpmFreq = 0x1D,
    PPSMC_MSG_GetMaxDpmFreq = 0x1E,
    PPSMC_MSG_GetDpmFreqByIndex = 0x1F,
    PPSMC_MSG_OverridePcieParameters = 0x20,
    PPSMC_MSG_DramLogSetDramAddrHigh = 0x21,
    PPSMC_MSG_SetWorkloadMask = 0x22,
    PPSMC_MSG_SetUclkFastSwitch = 0x23,
    PPSMC_MSG_SetVideoFps = 0x25,
    PPSMC_MSG_GetDcModeMaxDpmFreq = 0x26,
    PPSMC_MSG_DramLogSetDramAddrLow = 0x27,
    PPSMC_MSG_AllowGfxOff = 0x28,
    PPSMC_MSG_DisallowGfxOff = 0x29,
    PPSMC_MSG_PowerUpVcn = 0x2A,
    PPSMC_MSG_PowerDownVcn = 0x2B,
    PPSMC_MSG_PowerUpJpeg = 0x2C,
    PPSMC_MSG_PowerDownJpeg = 0x2D,
    PPSMC_MSG_PrepareMp1ForUnload = 0x2E,
    PPSMC_MSG_DramLogSetDramSize = 0x2F,
    PPSMC_MSG_Mode1Reset = 0x30,
    PPSMC_MSG_SetSystemVirtualDramAddrHigh = 0x31,
    PPSMC_MSG_SetPptLimit = 0x32,
    PPSMC_MSG_GetPptLimit = 0x33,
    PPSMC_MSG_ReenableAcDcInterrupt = 0x34,
    PPSMC_MSG_NotifyPowerSource = 0x35,
    PPSMC_MSG_RunDcBtc = 0x36,
    PPSMC_MSG_SetSystemVirtualDramAddrLow = 0x38,
    PPSMC_MSG_SetMGpuFanBoostLimitRpm = 0x43,
    PPSMC_MSG_SetNumBadHbmPagesRetired = 0x44,
    PPSMC_MSG_SetGpoFeaturePMask = 0x45,
    PPSMC_MSG_DisallowGpo = 0x56,
    PPSMC_MSG_Enable2ndUSB20Port = 0x57,
};

enum Table : uint32_t {
    TABLE_SMU_METRICS = 5,
    TABLE_DRIVER_SMU_CONFIG = 6,
    TABLE_OVERDRIVE = 8,
};

enum Ppclk : uint32_t { PPCLK_GFXCLK = 0, PPCLK_SOCCLK = 1, PPCLK_UCLK = 2, PPCLK_COUNT = 13 };

// 58.41.0: knows the reset in MODE1, and its metrics are SmuMetrics_t, not one of the later forms.
constexpr uint32_t firmware_version = 0x003a2900;
constexpr uint32_t driver_interface_version = 0x40;

// FEATURE_*_BIT of what runs: DPM of all clocks but the display's, deep sleep, MM_DPM_PG, PPT, TDC,
// FW_CTF; THERMAL, DF_CSTATE. No GFXOFF, no BACO, no fan.
constexpr uint32_t features_low = 0x8342f0fb;
constexpr uint32_t features_high = 0x00002002;

constexpr uint32_t power_limit_watts = 300;
constexpr uint32_t dpm_levels = 4, count_levels = 0xff;

/// The clocks of a level, in MHz: GFXCLK up to 2100, UCLK up to 1000, all others up to 1200.
uint32_t megahertz(uint32_t clock, uint32_t level) {
    switch (clock) {
        case PPCLK_GFXCLK: return 500 + level * 1600 / (dpm_levels - 1);
        case PPCLK_UCLK: return 96 + level * 904 / (dpm_levels - 1);
        default: return 480 + level * 720 / (dpm_levels - 1);
    }
}

/// SmuMetrics_t at the beginning of SmuMetricsExternal_t.
struct SmuMetrics {
    std::array<uint32_t, PPCLK_COUNT> CurrClock;
    uint16_t AverageGfxclkFrequencyPreDs, AverageGfxclkFrequencyPostDs;
    uint16_t AverageFclkFrequencyPreDs, AverageFclkFrequencyPostDs;
    uint16_t AverageUclkFrequencyPreDs, AverageUclkFrequencyPostDs;
    uint16_t AverageGfxActivity, AverageUclkActivity;
    uint8_t CurrSocVoltageOffset, CurrGfxVoltageOffset, CurrMemVidOffset, Padding8;
    uint16_t AverageSocketPower, TemperatureEdge, TemperatureHotspot, TemperatureMem;
    std::array<std::byte, 50> not_filled;  // other sensors, throttling, fan, BACO counts, video
    uint8_t PcieRate, PcieWidth;
    std::array<std::byte, 68> end;
};
static_assert(offsetof(SmuMetrics, AverageSocketPower) == 72);
static_assert(offsetof(SmuMetrics, PcieRate) == 130);
static_assert(sizeof(SmuMetrics) == 200);

SmuMetrics idle_metrics() {
    SmuMetrics metrics{};
    for (uint32_t clock = 0; clock < PPCLK_COUNT; ++clock) {
        metrics.CurrClock[clock] = megahertz(clock, 0);
    }
    metrics.AverageGfxclkFrequencyPreDs = static_cast<uint16_t>(megahertz(PPCLK_GFXCLK, 0));
    metrics.AverageGfxclkFrequencyPostDs = metrics.AverageGfxclkFrequencyPreDs;
    metrics.AverageUclkFrequencyPreDs = static_cast<uint16_t>(megahertz(PPCLK_UCLK, 0));
    metrics.AverageUclkFrequencyPostDs = metrics.AverageUclkFrequencyPreDs;
    metrics.AverageSocketPower = 40;
    metrics.TemperatureEdge = 40;
    metrics.TemperatureHotspot = 42;
    metrics.TemperatureMem = 44;
    metrics.PcieRate = 4;
    metrics.PcieWidth = 6;  // x16
    return metrics;
}

}  // namespace

Smu11::Smu11(Context context, std::function<void()> mode1_reset, VideoPower video_power)
    : SmuMailbox(context),
      mode1_reset_(std::move(mode1_reset)),
      video_power_(std::move(video_power)) {}

SmuMailbox::Answer Smu11::answer(uint32_t message, uint32_t argument) {
    const uint32_t clock = argument >> 16, level = argument & 0xffff;
    switch (message) {
        case PPSMC_MSG_TestMessage: return argument + 1;
        case PPSMC_MSG_GetSmuVersion: return firmware_version;
        case PPSMC_MSG_GetDriverIfVersion: return driver_interface_version;
        case PPSMC_MSG_GetRunningSmuFeaturesLow: return features_low;
        case PPSMC_MSG_GetRunningSmuFeaturesHigh: return features_high;
        case PPSMC_MSG_SetDriverDramAddrHigh: set_driver_table_high(argument); return 0;
        case PPSMC_MSG_SetDriverDramAddrLow: set_driver_table_low(argument); return 0;
        case PPSMC_MSG_TransferTableSmu2Dram: return done(transfer_to_dram(argument & 0xffff));
        case PPSMC_MSG_GetMinDpmFreq: return megahertz(clock, 0);
        case PPSMC_MSG_GetMaxDpmFreq:
        case PPSMC_MSG_GetDcModeMaxDpmFreq: return megahertz(clock, dpm_levels - 1);
        case PPSMC_MSG_GetDpmFreqByIndex:
            if (level == count_levels) {
                return dpm_levels;
            }
            return level < dpm_levels ? Answer(megahertz(clock, level)) : failed();
        case PPSMC_MSG_PowerUpVcn: video_power_.vcn(clock, true); return 0;
        case PPSMC_MSG_PowerDownVcn: video_power_.vcn(clock, false); return 0;
        case PPSMC_MSG_PowerUpJpeg: video_power_.jpeg(true); return 0;
        case PPSMC_MSG_PowerDownJpeg: video_power_.jpeg(false); return 0;
        case PPSMC_MSG_Mode1Reset: mode1_reset_(); return 0;
        case PPSMC_MSG_GetPptLimit: return power_limit_watts;
        case PPSMC_MSG_SetAllowedFeaturesMaskLow:  // from here on settings without an effect here
        case PPSMC_MSG_SetAllowedFeaturesMaskHigh:
        case PPSMC_MSG_EnableAllSmuFeatures:
        case PPSMC_MSG_DisableAllSmuFeatures:
        case PPSMC_MSG_EnableSmuFeaturesLow:
        case PPSMC_MSG_EnableSmuFeaturesHigh:
        case PPSMC_MSG_DisableSmuFeaturesLow:
        case PPSMC_MSG_DisableSmuFeaturesHigh:
        case PPSMC_MSG_SetToolsDramAddrHigh:
        case PPSMC_MSG_SetToolsDramAddrLow:
        case PPSMC_MSG_TransferTableDram2Smu:
        case PPSMC_MSG_UseDefaultPPTable:
        case PPSMC_MSG_SetSoftMinByFreq:
        case PPSMC_MSG_SetSoftMaxByFreq:
        case PPSMC_MSG_SetHardMinByFreq:
        case PPSMC_MSG_SetHardMaxByFreq:
        case PPSMC_MSG_OverridePcieParameters:
        case PPSMC_MSG_DramLogSetDramAddrHigh:
        case PPSMC_MSG_DramLogSetDramAddrLow:
        case PPSMC_MSG_DramLogSetDramSize:
        case PPSMC_MSG_SetWorkloadMask:
        case PPSMC_MSG_SetUclkFastSwitch:
        case PPSMC_MSG_SetVideoFps:
        case PPSMC_MSG_AllowGfxOff:
        case PPSMC_MSG_DisallowGfxOff:
        case PPSMC_MSG_PrepareMp1ForUnload:
        case PPSMC_MSG_SetSystemVirtualDramAddrHigh:
        case PPSMC_MSG_SetSystemVirtualDramAddrLow:
        case PPSMC_MSG_SetPptLimit:
        case PPSMC_MSG_ReenableAcDcInterrupt:
        case PPSMC_MSG_NotifyPowerSource:
        case PPSMC_MSG_RunDcBtc:
        case PPSMC_MSG_SetMGpuFanBoostLimitRpm:
        case PPSMC_MSG_SetNumBadHbmPagesRetired:
        case PPSMC_MSG_SetGpoFeaturePMask:
        case PPSMC_MSG_DisallowGpo:
        case PPSMC_MSG_Enable2ndUSB20Port: return 0;
        default: return unknown_command();
    }
}

bool Smu11::transfer_to_dram(uint32_t table) {
    switch (table) {
        case TABLE_SMU_METRICS: {
            SmuMetrics metrics = idle_metrics();
            return write_table(PPSMC_MSG_TransferTableSmu2Dram,
                               std::as_writable_bytes(std::span(&metrics, 1)));
        }
        case TABLE_DRIVER_SMU_CONFIG:
        case TABLE_OVERDRIVE: {
            std::array<std::byte, 128> defaults{};  // as large as the larger of them
            return write_table(PPSMC_MSG_TransferTableSmu2Dram, defaults);
        }
        default: return false;
    }
}

}  // namespace gpuemu
