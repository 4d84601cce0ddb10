// SPDX-License-Identifier: GPL-2.0
// Purpose: see markup.h.
// Thread: pure functions.
#include "hotplug/report/markup.h"

#include <cstdint>

namespace hotplug {

namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

/// The length of the well-formed UTF-8 sequence at the start of `text` (RFC 3629) that XML allows;
/// 0: there is none.
size_t character_length(std::string_view text) {
    const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
    const uint8_t first = byte(0);
    if (first < 0x80) {
        return first >= 0x20 || first == '\t' || first == '\n' || first == '\r' ? 1 : 0;
    }
    const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < length) {
        return 0;
    }
    uint32_t code = first & (0xff >> (length + 1));
    for (size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | (byte(i) & 0x3f);
    }
    const bool overlong = code < (length == 2 ? 0x80U : length == 3 ? 0x800U : 0x10000U);
    const bool surrogate = code >= 0xd800 && code <= 0xdfff;
    return overlong || surrogate || code > 0x10ffff || code == 0xfffe || code == 0xffff ? 0
                                                                                        : length;
}

}  // namespace

std::string escape_markup(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const size_t length = character_length(text);
        if (length == 0) {
            out += replacement;
            text.remove_prefix(1);
            continue;
        }
        switch (text.front()) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            case '\'': out += "&#39;"; break;
            default: out += text.substr(0, length);
        }
        text.remove_prefix(length);
    }
    return out;
}

}  // namespace hotplug
