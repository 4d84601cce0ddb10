// SPDX-License-Identifier: GPL-2.0
// Purpose: tests for progress.h.
// Thread: one.
#include "hotplug/run/progress.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace hotplug {
namespace {

std::string progress_text(bool terminal) {
    std::FILE* file = std::tmpfile();
    TimeLeft::Clock::time_point now{};
    {
        TextProgress progress(file, terminal, {}, [&now] { return now; });
        RowResult good;
        good.id = "slot-power/idle";
        RowResult skipped;
        skipped.id = "debug-only";
        skipped.skip_reason = "needs a kernel with CONFIG_KASAN";
        skipped.outcome = Outcome::skip;
        progress.run_started(2);
        progress.booting();
        progress.row_started(good.id);
        progress.step_started(good.id, "lose slot_power");
        now += std::chrono::seconds(10);
        progress.row_finished(good);
        progress.booting();
        progress.row_finished(skipped);
    }
    std::string text(4096, '\0');
    std::rewind(file);
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    return text;
}

TEST(ProgressText, PipeGetsPlainLinesOfFinishedRows) {
    EXPECT_EQ(progress_text(false),
              "[1/2] slot-power/idle pass (0.0 s)\n"
              "[2/2] debug-only skip (0.0 s)\n"
              "    skip debug-only: needs a kernel with CONFIG_KASAN\n");
}

TEST(ProgressText, TerminalGetsAStatusLineThatIsErased) {
    const std::string text = progress_text(true);
    EXPECT_NE(text.find("\r\x1b[2K[1/2] slot-power/idle: lose slot_power\r\x1b[2K[1/2]"),
              std::string::npos);
    EXPECT_NE(text.find("\r\x1b[2K[2/2, 10 s left] booting the guest"), std::string::npos);
}

}  // namespace
}  // namespace hotplug
