// SPDX-License-Identifier: GPL-2.0
// Purpose: what a run tells while it goes on: a redrawn status line on a terminal (which row of how
// many, what it is at, how long the rest will take), plain lines in a pipe. Thread: any; each guest
// of a run has one.
#pragma once

#include <chrono>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "hotplug/judge/verdict.h"
#include "hotplug/run/time_left.h"

namespace hotplug {

class Progress {
public:
    virtual ~Progress() = default;
    virtual void run_started(size_t rows) = 0;
    virtual void booting() = 0;
    virtual void row_started(const std::string& id) = 0;
    virtual void step_started(const std::string& row, const std::string& what) = 0;
    virtual void row_finished(const RowResult& row) = 0;
    /// Something worth a line of its own.
    virtual void note(const std::string& text) = 0;
};

/// Writes to `out`. On a terminal the last line is the step begun last and is written over.
class TextProgress final : public Progress {
public:
    using Now = std::function<TimeLeft::Clock::time_point()>;

    TextProgress(std::FILE* out, bool terminal, TimeLeft time_left = {},
                 Now now = TimeLeft::Clock::now)
        : out_(out), terminal_(terminal), time_left_(std::move(time_left)), now_(std::move(now)) {}
    ~TextProgress() override;
    TextProgress(const TextProgress&) = delete;
    TextProgress& operator=(const TextProgress&) = delete;

    void run_started(size_t rows) override;
    void booting() override;
    void row_started(const std::string& id) override;
    void step_started(const std::string& row, const std::string& what) override;
    void row_finished(const RowResult& row) override;
    void note(const std::string& text) override;

private:
    void status(const std::string& text);
    void line(const std::string& text);

    std::mutex lock_;  ///< of all below
    std::FILE* out_;
    bool terminal_;
    bool status_shown_ = false;
    TimeLeft time_left_;
    Now now_;
    size_t rows_ = 0;
    size_t done_ = 0;
};

}  // namespace hotplug
