// SPDX-License-Identifier: GPL-2.0
// Purpose: reads the serial number of a board, as PCI's Device Serial Number has room for.
// Thread: a pure function.
#pragma once

#include <cstdint>
#include <string>

#include "lib/result.h"

namespace hp {

/// 1 to 2^64 - 1, decimal or, with 0x, hexadecimal.
Result<uint64_t> parse_serial(const std::string& text);

}  // namespace hp
