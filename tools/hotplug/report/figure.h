// SPDX-License-Identifier: GPL-2.0
// Purpose: what the values of checks measure, and where that stands on a logarithmic axis: for what
// is drawn. Thread: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hotplug {

struct Figure {
    double value = 0;
    bool open = false;  ///< at least so much: nobody saw the end
};

/// Of "64.6 s", "> 60.0 s", "never", "1303517" or "2 complaints"; nothing: the value is no number.
std::optional<Figure> figure_of(std::string_view value);

/// From `first` on in powers of ten.
struct LogAxis {
    double first = 1;
    int decades = 3;

    /// Makes it longer until it has the value.
    void include(double value);
    /// 0 to 1. What is below the axis stands at its beginning.
    double position(double value) const;
    /// How much of the axis a bar takes: one that is open all of it, nothing nothing, and what is
    /// below its beginning as much as can be seen.
    double length(const Figure& figure) const;
    /// The value at its n-th power of ten: "0.1", "10k".
    std::string tick(int decade) const;
};

/// "1,303,517"
std::string grouped(uint64_t number);
/// A check's value as people read it: a number that is all of it is grouped.
std::string readable(std::string_view value);

}  // namespace hotplug
