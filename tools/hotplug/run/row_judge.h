// SPDX-License-Identifier: GPL-2.0
// Purpose: makes check results of what a row has seen, asking the guest for what only its state
// tells: the bystander, /dev/kfd, leaks. Thread: one at a time.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hotplug/run/row_observer.h"
#include "hotplug/run/row_state.h"

namespace hotplug {

/// For a shell: opens the character device `path` as its users do, to read and write. One that is
/// not there is an error; `<>` alone would make a file of it, and succeed.
std::string open_command(std::string_view path);

class RowJudge {
public:
    RowJudge(RowState& state, RowObserver& observer) : state_(state), observer_(observer) {}

    /// Adds the results of the checks as things stand to those of before.
    void judge(std::span<const Check> checks);
    /// Steps that failed.
    void judge_steps();
    /// After the last step and the checks: ends the clients, and adds leaks, steps and kernel log.
    void judge_end();

private:
    CheckResult judge_now(Check check);
    CheckResult judge_bystander();
    std::vector<std::string> find_evictions();
    CheckResult judge_kfd();
    bool device_lied() const;
    CheckResult judge_error_lines();
    CheckResult judge_stray_dma();
    std::vector<std::string> find_row_leaks();
    bool kmemleak_is_due() const;

    RowState& state_;
    RowObserver& observer_;
};

}  // namespace hotplug
