// SPDX-License-Identifier: GPL-2.0
// Purpose: how long the rest of a run will take: by what its rows took in an earlier one, held
// against what those that have ended took now; without an earlier run, by these alone. Thread: the
// runner's. Not modelled: which of the rows to come will cost their guest.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hotplug/base/deadline.h"

namespace hotplug {

class TimeLeft {
public:
    using Clock = Deadline::Clock;
    using Seconds = std::chrono::duration<double>;

    TimeLeft() = default;
    /// `earlier`: results.json of an earlier run, which need not be there. `rows`: ids of those to
    /// come.
    TimeLeft(const std::filesystem::path& earlier, std::vector<std::string> rows);

    void begin(size_t rows, Clock::time_point now);
    void finished(const std::string& row, Clock::time_point now);
    /// Nothing: there is nothing to go by.
    std::optional<Seconds> left(Clock::time_point now) const;

private:
    std::optional<Seconds> expected(const std::string& row) const;

    std::map<std::string, Seconds> earlier_;  ///< by row, with the boot before it
    std::vector<std::string> to_come_;        ///< shorter than the run where nobody knows
    size_t count_ = 0;                        ///< of rows to come
    size_t done_ = 0;
    Seconds took_{0};            ///< what is done
    Seconds took_known_{0};      ///< those of it that are in earlier_
    Seconds expected_known_{0};  ///< what these took then
    Clock::time_point since_{};  ///< when the last row ended
};

/// "40 s", "3 min", "2 h 05 min"
std::string rough_text(TimeLeft::Seconds time);

}  // namespace hotplug
