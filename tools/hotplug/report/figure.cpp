// SPDX-License-Identifier: GPL-2.0
// Purpose: see figure.h.
// Thread: pure functions.
#include "hotplug/report/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace hotplug {

namespace {

constexpr double shortest_bar = 0.015;

}  // namespace

std::optional<Figure> figure_of(std::string_view value) {
    Figure figure;
    if (value == "never") {
        figure.open = true;
        return figure;
    }
    if (value.starts_with("> ")) {
        figure.open = true;
        value.remove_prefix(2);
    }
    const auto read = std::from_chars(value.data(), value.data() + value.size(), figure.value);
    return read.ec == std::errc() ? std::optional(figure) : std::nullopt;
}

void LogAxis::include(double value) {
    while (value > first * std::pow(10.0, decades)) {
        ++decades;
    }
}

double LogAxis::position(double value) const {
    return value <= first ? 0 : std::min(1.0, std::log10(value / first) / decades);
}

double LogAxis::length(const Figure& figure) const {
    if (figure.open) {
        return 1;
    }
    return figure.value <= 0 ? 0 : std::max(shortest_bar, position(figure.value));
}

std::string LogAxis::tick(int decade) const {
    const double value = first * std::pow(10.0, decade);
    return value >= 1e6   ? fmt::format("{:.0f}M", value / 1e6)
           : value >= 1e3 ? fmt::format("{:.0f}k", value / 1e3)
                          : fmt::format("{:.{}f}", value,
                                        value < 0.09  ? 2
                                        : value < 0.9 ? 1
                                                      : 0);
}

std::string grouped(uint64_t number) {
    std::string text = std::to_string(number);
    for (size_t at = text.size(); at > 3;) {
        at -= 3;
        text.insert(at, ",");
    }
    return text;
}

std::string readable(std::string_view value) {
    uint64_t number = 0;
    const char* end = value.data() + value.size();
    const auto read = std::from_chars(value.data(), end, number);
    return read.ec == std::errc() && read.ptr == end ? grouped(number) : std::string(value);
}

}  // namespace hotplug
