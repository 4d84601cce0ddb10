// SPDX-License-Identifier: GPL-2.0
// Purpose: the messages of smu_v13_0_12_ppsmc.h and the tables of smu_v13_0_12_pmfw.h, as
// smu_v13_0_12_ppt.c uses them. Thread: device loop only.
#include "gpu-emu/ip/smu_13_0_12.h"

#include <algorithm>
#include <span>
#include <string>

namespace gpuemu {
namespace {

enum PpsmcMessage : uint32_t {
    PPSMC_MSG_GetSmuVersion = 0x2,
    PPSMC_MSG_GetMetricsVersion = 0x8,
    PPSMC_MSG_GetMetricsTable = 0x9,
    PPSMC_MSG_GetEnabledSmuFeaturesLow = 0xB,
    PPSMC_MSG_GetEnabledSmuFeaturesHigh = 0xC,
    PPSMC_MSG_GetPptLimit = 0x19,
    PPSMC_MSG_GetMinGfxDpmFreq = 0x32,
    PPSMC_MSG_GetMaxGfxDpmFreq = 0x33,
    PPSMC_MSG_SetTimestamp = 0x53,
    PPSMC_MSG_SetTimestampHi = 0x54,
    PPSMC_MSG_GetStaticMetricsTable = 0x59,
    PPSMC_MSG_GetSystemMetricsTable = 0x5C,
    PPSMC_MSG_ResetVCN = 0x5E,
};

// What Smu takes for its own ResetVCN is no message here.
constexpr uint32_t not_reset_vcn = 0x5B;

// Program 4, 86.16.0: with everything that smu_v13_0_12_init_caps() knows.
constexpr uint32_t firmware_version = 0x04561000;
constexpr uint32_t SMU_METRICS_TABLE_VERSION = 0x15;

// FEATURE_LIST_e: all of DPM and deep sleep, APCC, PPT, TDC, THERMAL, FW_CTF, SMU_CG; GLOBAL_DPM.
// No HROM_EN.
constexpr uint32_t features_low = 0x181fffff;
constexpr uint32_t features_high = 0x00000080;

constexpr uint32_t power_limit_watts = 1000;
constexpr uint32_t min_gfx_mhz = 132, max_gfx_mhz = 2200;
constexpr uint32_t board_millivolts = 54000;
constexpr uint32_t dpm_levels = 4, aids = 4, xcds = 8, hbm_stacks = 8;
constexpr uint32_t xgmi_width = 16, xgmi_gigabits = 32;
constexpr uint32_t no_pldm_version = 0xffffffff;

constexpr uint32_t socket_celsius = 40, hbm_celsius = 38;
constexpr int16_t board_celsius = 35, no_sensor = -1;

constexpr uint32_t q10(uint32_t value) {
    return value << 10;
}

/// MetricsTable_t. Fixed point with ten fraction bits, but for the temperatures at its end.
struct __attribute__((packed, aligned(4))) MetricsTable {
    uint64_t AccumulationCounter;
    uint32_t MaxSocketTemperature, MaxVrTemperature, MaxHbmTemperature;
    uint64_t MaxSocketTemperatureAcc, MaxVrTemperatureAcc, MaxHbmTemperatureAcc;
    uint32_t SocketPowerLimit, SocketPower;
    uint64_t Timestamp;
    uint64_t SocketEnergyAcc, XcdEnergyAcc, AidEnergyAcc, HbmEnergyAcc;
    uint32_t GfxclkFrequencyLimit, FclkFrequency, UclkFrequency;
    uint32_t SocclkFrequency[4], VclkFrequency[4], DclkFrequency[4], LclkFrequency[4];
    uint64_t GfxclkFrequencyAcc[xcds];
    uint32_t MaxLclkDpmRange, MinLclkDpmRange;
    uint32_t XgmiWidth, XgmiBitrate;
    uint64_t XgmiReadBandwidthAcc[8], XgmiWriteBandwidthAcc[8];
    uint32_t SocketGfxBusy, DramBandwidthUtilization;
    uint64_t SocketGfxBusyAcc, DramBandwidthAcc;
    uint32_t MaxDramBandwidth;
    uint64_t DramBandwidthUtilizationAcc, PcieBandwidthAcc[4];
    uint32_t ProchotResidencyAcc, PptResidencyAcc, SocketThmResidencyAcc, VrThmResidencyAcc;
    uint32_t HbmThmResidencyAcc, GfxLockXCDMak;
    uint32_t GfxclkFrequency[xcds];
    uint64_t XgmiReadDataSizeAcc[8], XgmiWriteDataSizeAcc[8];
    uint32_t PcieBandwidth[4];
    uint32_t PCIeL0ToRecoveryCountAcc, PCIenReplayAAcc, PCIenReplayARolloverCountAcc;
    uint32_t PCIeNAKSentCountAcc, PCIeNAKReceivedCountAcc;
    uint32_t VcnBusy[4], JpegBusy[40];
    uint32_t PCIeLinkSpeed, PCIeLinkWidth;
    uint32_t GfxBusy[xcds];
    uint64_t GfxBusyAcc[xcds];
    uint32_t PCIeOtherEndRecoveryAcc;
    uint64_t GfxclkBelowHostLimitPptAcc[xcds], GfxclkBelowHostLimitThmAcc[xcds];
    uint64_t GfxclkBelowHostLimitTotalAcc[xcds], GfxclkLowUtilizationAcc[xcds];
    uint32_t AidTemperature[aids], XcdTemperature[xcds], HbmTemperature[hbm_stacks];
};
static_assert(sizeof(MetricsTable) == 1284);

/// StaticMetricsTable_t, beginning with FRUProductInfo_t.
struct __attribute__((packed, aligned(4))) StaticMetricsTable {
    char ModelNumber[20], Name[64], Serial[20], ManufacturerName[32], FruId[32];
    uint32_t MaxSocketPowerLimit;
    uint32_t MaxGfxclkFrequency, MinGfxclkFrequency;
    uint32_t FclkFrequencyTable[dpm_levels], UclkFrequencyTable[dpm_levels];
    uint32_t SocclkFrequencyTable[dpm_levels], VclkFrequencyTable[dpm_levels];
    uint32_t DclkFrequencyTable[dpm_levels], LclkFrequencyTable[dpm_levels];
    uint64_t PublicSerialNumber_AID[aids], PublicSerialNumber_XCD[xcds];
    uint32_t MaxXgmiWidth, MaxXgmiBitrate;
    uint32_t InputTelemetryVoltageInmV;
    uint32_t pldmVersion[2];
    uint32_t MaxNodePowerLimit;
    uint32_t PPT1Max, PPT1Min, PPT1Default;  // zero: there is no fast PPT limit
};
static_assert(sizeof(StaticMetricsTable) == 408);

/// SystemMetricsTable_t. Temperatures are whole degrees.
struct SystemMetricsTable {
    uint64_t AccumulationCounter;
    uint16_t LabelVersion, NodeIdentifier;
    int16_t SystemTemperatures[32], NodeTemperatures[12], VrTemperatures[13], spare[7];
    uint32_t NodePowerLimit, NodePower, GlobalPPTResidencyAcc;
    uint16_t SystemPower[4];  // of the base board: power, its threshold
};
static_assert(sizeof(SystemMetricsTable) == 160);

// Of NODE_TEMP_e only as many as have a name: the driver does not expect others.
constexpr std::size_t node_sensors = 6;

/// The field ends with a zero, whatever the length of the text.
template <std::size_t Size>
void put_text(char (&field)[Size], const std::string& text) {
    std::ranges::copy(text.substr(0, Size - 1), field);
}

}  // namespace

SmuMailbox::Answer Smu13_0_12::answer(uint32_t message, uint32_t argument) {
    switch (message) {
        case PPSMC_MSG_GetSmuVersion: return firmware_version;
        case PPSMC_MSG_GetMetricsVersion: return SMU_METRICS_TABLE_VERSION;
        case PPSMC_MSG_GetMetricsTable: return done(write_metrics());
        case PPSMC_MSG_GetEnabledSmuFeaturesLow: return features_low;
        case PPSMC_MSG_GetEnabledSmuFeaturesHigh: return features_high;
        case PPSMC_MSG_GetPptLimit: return power_limit_watts;
        case PPSMC_MSG_GetMinGfxDpmFreq: return min_gfx_mhz;
        case PPSMC_MSG_GetMaxGfxDpmFreq: return max_gfx_mhz;
        case PPSMC_MSG_GetStaticMetricsTable: return done(write_static_metrics());
        case PPSMC_MSG_GetSystemMetricsTable: return done(write_system_metrics());
        case PPSMC_MSG_ResetVCN: return done(reset_vcn(argument));
        case PPSMC_MSG_SetTimestamp:
        case PPSMC_MSG_SetTimestampHi: return 0;  // settings without an effect here
        case not_reset_vcn: return unknown_command();
        default: return Smu::answer(message, argument);
    }
}

bool Smu13_0_12::write_metrics() {
    MetricsTable metrics{};
    metrics.AccumulationCounter = ++accumulation_counter_;
    metrics.MaxSocketTemperature = q10(socket_celsius);
    metrics.MaxVrTemperature = q10(socket_celsius);
    metrics.MaxHbmTemperature = q10(hbm_celsius);
    metrics.SocketPowerLimit = q10(power_limit_watts);
    metrics.SocketPower = q10(140);
    metrics.Timestamp = context().gpu_clock();
    metrics.GfxclkFrequencyLimit = q10(max_gfx_mhz);
    metrics.FclkFrequency = q10(1800);
    metrics.UclkFrequency = q10(900);
    metrics.XgmiWidth = xgmi_width;
    metrics.XgmiBitrate = xgmi_gigabits;
    metrics.MaxDramBandwidth = q10(8000);
    for (const IpInstance* xcc : context().profile.working(HwId::GC)) {
        metrics.GfxclkFrequency[xcc->instance] = q10(min_gfx_mhz);
        metrics.XcdTemperature[xcc->instance] = socket_celsius;
    }
    for (unsigned aid = 0; aid < context().profile.aids(); ++aid) {
        metrics.AidTemperature[aid] = socket_celsius;
    }
    for (unsigned stack = 0; stack < hbm_stacks; ++stack) {
        metrics.HbmTemperature[stack] = hbm_celsius;
    }
    metrics.PCIeLinkSpeed = 5;
    metrics.PCIeLinkWidth = 16;
    return write_table(PPSMC_MSG_GetMetricsTable, std::as_writable_bytes(std::span(&metrics, 1)));
}

bool Smu13_0_12::write_static_metrics() {
    StaticMetricsTable metrics{};
    const ProductInfo& product = context().profile.product;
    put_text(metrics.ModelNumber, product.part_number);
    put_text(metrics.Name, product.name);
    put_text(metrics.Serial, product.serial);
    put_text(metrics.ManufacturerName, product.manufacturer);
    put_text(metrics.FruId, product.file_id);
    metrics.MaxSocketPowerLimit = q10(power_limit_watts);
    metrics.MaxGfxclkFrequency = q10(max_gfx_mhz);
    metrics.MinGfxclkFrequency = q10(min_gfx_mhz);
    for (uint32_t level = 0; level < dpm_levels; ++level) {
        metrics.FclkFrequencyTable[level] = q10(1200 + 200 * level);
        metrics.UclkFrequencyTable[level] = q10(900 + 200 * level);
        metrics.SocclkFrequencyTable[level] = q10(800 + 100 * level);
        metrics.VclkFrequencyTable[level] = q10(500 + 100 * level);
        metrics.DclkFrequencyTable[level] = q10(500 + 100 * level);
        metrics.LclkFrequencyTable[level] = q10(600 + 100 * level);
    }
    // The driver's unique_id is that of AID 0.
    for (unsigned aid = 0; aid < context().profile.aids(); ++aid) {
        metrics.PublicSerialNumber_AID[aid] = context().profile.serial;
    }
    metrics.MaxXgmiWidth = q10(xgmi_width);
    metrics.MaxXgmiBitrate = q10(xgmi_gigabits);
    metrics.InputTelemetryVoltageInmV = board_millivolts;
    metrics.pldmVersion[0] = metrics.pldmVersion[1] = no_pldm_version;
    metrics.MaxNodePowerLimit = q10(8 * power_limit_watts);
    return write_table(PPSMC_MSG_GetStaticMetricsTable,
                       std::as_writable_bytes(std::span(&metrics, 1)));
}

/// A board alone: nothing is known of the base board that carries eight of them.
bool Smu13_0_12::write_system_metrics() {
    SystemMetricsTable metrics{};
    metrics.AccumulationCounter = ++accumulation_counter_;
    std::ranges::fill(metrics.SystemTemperatures, no_sensor);
    std::ranges::fill(metrics.NodeTemperatures, no_sensor);
    std::ranges::fill_n(metrics.NodeTemperatures, node_sensors, board_celsius);
    std::ranges::fill(metrics.VrTemperatures, board_celsius);
    metrics.NodePowerLimit = q10(8 * power_limit_watts);
    metrics.NodePower = q10(140);
    return write_table(PPSMC_MSG_GetSystemMetricsTable,
                       std::as_writable_bytes(std::span(&metrics, 1)));
}

}  // namespace gpuemu
