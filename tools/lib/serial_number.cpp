// SPDX-License-Identifier: GPL-2.0
// Purpose: see serial_number.h.
// Thread: see serial_number.h.
#include "lib/serial_number.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <system_error>

namespace hp {

Result<uint64_t> parse_serial(const std::string& text) {
    std::string_view digits = text;
    int base = 10;
    if (digits.starts_with("0x") || digits.starts_with("0X")) {
        digits.remove_prefix(2);
        base = 16;
    }
    uint64_t serial = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, serial, base);
    if (error != std::errc() || stop != end || serial == 0) {
        return fail(fmt::format("'{}' is no serial number: want 1 to 2^64 - 1, as 0xe01", text));
    }
    return serial;
}

}  // namespace hp
