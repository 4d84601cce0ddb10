// SPDX-License-Identifier: GPL-2.0
// Purpose: text that goes into XML or HTML.
// Thread: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace hotplug {

/// Escapes markup in content and in quoted attributes; what is no character of XML 1.0
/// (section 2.2: controls, broken UTF-8) becomes U+FFFD. Guests print anything.
std::string escape_markup(std::string_view text);

}  // namespace hotplug
