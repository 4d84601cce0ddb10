// SPDX-License-Identifier: GPL-2.0
// Purpose: the mailbox as smu_cmn.c uses it.
// Thread: device loop only.
#include "gpu-emu/ip/smu_mailbox.h"

#include "gpu-emu/ip/regs/mp_13_0_6.h"
#include "lib/log.h"

namespace gpuemu {
namespace {

namespace mp = mp_13_0_6;  // MP1 11.0 has them at the same places

constexpr uint32_t PPSMC_Result_OK = 0x1;

// Places of Surface::firmware, behind the responses of the PSP: argument and result of the answer
// to a message, and the table that comes with it, if one does.
constexpr uint32_t argument_place = 0, result_place = 1;
constexpr uint32_t answer_place(uint32_t message) {
    return 1u << 16 | (message & 0xff) << 8;
}
constexpr uint32_t table_place(uint32_t message) {
    return 1u << 24 | (message & 0xff) << 16;
}

}  // namespace

SmuMailbox::SmuMailbox(Context context) : mailbox_(context), ip_(context.profile.ip(HwId::MP1)) {
    mailbox_.registers.declare(
        at(ip_, mp::regMP1_SMN_C2PMSG_66), 1,
        {.written = [this](uint32_t, uint32_t message) { handle_message(message); }});
}

void SmuMailbox::reset(ResetKind) {
    driver_table_ = 0;
    ignored_ = 0;
    reg(mp::regMP1_SMN_C2PMSG_66) = 0;
    reg(mp::regMP1_SMN_C2PMSG_82) = 0;
    reg(mp::regMP1_SMN_C2PMSG_90) = PPSMC_Result_OK;  // idle
    mailbox_.registers.preset_far(
        ip_.major == 11 ? mp::smnMP1_FIRMWARE_FLAGS_11_0 : mp::smnMP1_FIRMWARE_FLAGS, 1);
}

uint32_t SmuMailbox::answer_register() const {
    return at(ip_, mp::regMP1_SMN_C2PMSG_90);
}

void SmuMailbox::handle_message(uint32_t message) {
    ++messages_;
    if (ignored_ != 0) {
        --ignored_;
        return;
    }
    const Answer result = answer(message, reg(mp::regMP1_SMN_C2PMSG_82));
    const uint32_t code = result ? PPSMC_Result_OK : static_cast<uint32_t>(result.error());
    if (!result) {
        hp::log::debug(
            "SMU message refused",
            {{"message", message}, {"argument", reg(mp::regMP1_SMN_C2PMSG_82)}, {"code", code}});
    }
    const auto mutated = [&](uint32_t place, uint32_t value) {
        return mailbox_.mutator.word(Surface::firmware, answer_place(message) + place, value);
    };
    reg(mp::regMP1_SMN_C2PMSG_82) = mutated(argument_place, result.value_or(0));
    reg(mp::regMP1_SMN_C2PMSG_90) = mutated(result_place, code);
}

void SmuMailbox::set_driver_table_high(uint32_t address) {
    driver_table_ = (driver_table_ & 0xffffffff) | uint64_t{address} << 32;
}

void SmuMailbox::set_driver_table_low(uint32_t address) {
    driver_table_ = (driver_table_ & ~uint64_t{0xffffffff}) | address;
}

bool SmuMailbox::read_table(std::span<std::byte> table) {
    return mailbox_.memory.read(Hub::mm, 0, driver_table_, table);
}

bool SmuMailbox::write_table(uint32_t message, std::span<std::byte> table) {
    mailbox_.mutator.table(Surface::firmware, table_place(message), table);
    return mailbox_.memory.write(Hub::mm, 0, driver_table_, table);
}

}  // namespace gpuemu
