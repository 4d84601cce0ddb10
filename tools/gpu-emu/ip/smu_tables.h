// SPDX-License-Identifier: GPL-2.0
// Purpose: the tables that SMU 13.0.6 firmware and driver exchange, after
// drivers/gpu/drm/amd/pm/swsmu/inc/pmfw_if/smu_v13_0_6_pmfw.h and smu13_driver_if_v13_0_6.h.
// Thread: values.
#pragma once

#include <cstdint>

namespace gpuemu::smu_13_0_6 {

inline constexpr uint32_t SMU_METRICS_TABLE_VERSION = 0x11;

/// MetricsTableV0_t. Frequencies, temperatures and power are fixed point with ten fraction bits.
struct __attribute__((packed, aligned(4))) MetricsTableV0 {
    uint32_t AccumulationCounter;
    uint32_t MaxSocketTemperature, MaxVrTemperature, MaxHbmTemperature;
    uint64_t MaxSocketTemperatureAcc, MaxVrTemperatureAcc, MaxHbmTemperatureAcc;
    uint32_t SocketPowerLimit, MaxSocketPowerLimit, SocketPower;
    uint64_t Timestamp;
    uint64_t SocketEnergyAcc, CcdEnergyAcc, XcdEnergyAcc, AidEnergyAcc, HbmEnergyAcc;
    uint32_t CclkFrequencyLimit, GfxclkFrequencyLimit, FclkFrequency, UclkFrequency;
    uint32_t SocclkFrequency[4], VclkFrequency[4], DclkFrequency[4], LclkFrequency[4];
    uint64_t GfxclkFrequencyAcc[8], CclkFrequencyAcc[96];
    uint32_t MaxCclkFrequency, MinCclkFrequency, MaxGfxclkFrequency, MinGfxclkFrequency;
    uint32_t FclkFrequencyTable[4], UclkFrequencyTable[4], SocclkFrequencyTable[4];
    uint32_t VclkFrequencyTable[4], DclkFrequencyTable[4], LclkFrequencyTable[4];
    uint32_t MaxLclkDpmRange, MinLclkDpmRange;
    uint32_t XgmiWidth, XgmiBitrate;
    uint64_t XgmiReadBandwidthAcc[8], XgmiWriteBandwidthAcc[8];
    uint32_t SocketC0Residency, SocketGfxBusy, DramBandwidthUtilization;
    uint64_t SocketC0ResidencyAcc, SocketGfxBusyAcc, DramBandwidthAcc;
    uint32_t MaxDramBandwidth;
    uint64_t DramBandwidthUtilizationAcc, PcieBandwidthAcc[4];
    uint32_t ProchotResidencyAcc, PptResidencyAcc, SocketThmResidencyAcc, VrThmResidencyAcc;
    uint32_t HbmThmResidencyAcc, GfxLockXCDMak;
    uint32_t GfxclkFrequency[8];
    uint64_t PublicSerialNumber_AID[4], PublicSerialNumber_XCD[8], PublicSerialNumber_CCD[12];
    uint64_t XgmiReadDataSizeAcc[8], XgmiWriteDataSizeAcc[8];
    uint32_t PcieBandwidth[4];
    uint32_t PCIeL0ToRecoveryCountAcc, PCIenReplayAAcc, PCIenReplayARolloverCountAcc;
    uint32_t PCIeNAKSentCountAcc, PCIeNAKReceivedCountAcc;
    uint32_t VcnBusy[4], JpegBusy[32];
    uint32_t PCIeLinkSpeed, PCIeLinkWidth;
    uint32_t GfxBusy[8];
    uint64_t GfxBusyAcc[8];
    uint32_t PCIeOtherEndRecoveryAcc;
    uint64_t GfxclkBelowHostLimitPptAcc[8], GfxclkBelowHostLimitThmAcc[8];
    uint64_t GfxclkBelowHostLimitTotalAcc[8], GfxclkLowUtilizationAcc[8];
};

inline constexpr unsigned MAX_SW_I2C_COMMANDS = 24;
inline constexpr uint8_t CMDCONFIG_READWRITE_MASK = 1 << 2;  // set: write

struct SwI2cCmd {
    uint8_t ReadWriteData;
    uint8_t CmdConfig;
};

struct SwI2cRequest {
    uint8_t I2CcontrollerPort, I2CSpeed;
    uint8_t SlaveAddress;  // as on the wire: the 7-bit address in the upper bits
    uint8_t NumCmds;
    SwI2cCmd SwI2cCmds[MAX_SW_I2C_COMMANDS];
};

}  // namespace gpuemu::smu_13_0_6
