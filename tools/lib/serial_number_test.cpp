// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of how serial numbers are read.
// Thread: the test's.
#include "lib/serial_number.h"

#include <gtest/gtest.h>

namespace hp {
namespace {

TEST(SerialNumber, ReadsAll64Bits) {
    EXPECT_EQ(parse_serial("3585").value(), 0xe01u);
    EXPECT_EQ(parse_serial("0xe01").value(), 0xe01u);
    EXPECT_EQ(parse_serial("0XFFFFFFFFFFFFFFFF").value(), UINT64_MAX);
    EXPECT_EQ(parse_serial("18446744073709551615").value(), UINT64_MAX);
}

TEST(SerialNumber, RefusesWhatIsNone) {
    for (const char* text : {"", "0", "0x0", "0x", "-1", "+1", "e01", " 1", "1 ", "1.5",
                             "0x10000000000000000", "18446744073709551616", "0x-1"}) {
        EXPECT_FALSE(parse_serial(text)) << text;
    }
}

}  // namespace
}  // namespace hp
