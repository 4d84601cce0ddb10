// SPDX-License-Identifier: GPL-2.0
// Purpose: see progress.h.
// Thread: any.
#include "hotplug/run/progress.h"

#include <fmt/format.h>

namespace hotplug {

namespace {

constexpr std::string_view erase_line = "\r\x1b[2K";
constexpr size_t status_width = 78;  // a status line that wraps cannot be erased

std::string_view colour(Outcome outcome) {
    switch (outcome) {
        case Outcome::pass: return "\x1b[32m";
        case Outcome::known:
        case Outcome::quarantined: return "\x1b[33m";
        case Outcome::fixed:
        case Outcome::fail: return "\x1b[31m";
        case Outcome::skip: return "\x1b[2m";
    }
    return "";
}

}  // namespace

TextProgress::~TextProgress() {
    if (status_shown_) {
        fmt::print(out_, "{}", erase_line);
        std::fflush(out_);
    }
}

void TextProgress::run_started(size_t rows) {
    const std::lock_guard held(lock_);
    rows_ = rows;
    time_left_.begin(rows, now_());
}

void TextProgress::booting() {
    const std::lock_guard held(lock_);
    status("booting the guest");
}

void TextProgress::row_started(const std::string& id) {
    const std::lock_guard held(lock_);
    status(id);
}

void TextProgress::step_started(const std::string& row, const std::string& what) {
    const std::lock_guard held(lock_);
    status(fmt::format("{}: {}", row, what));
}

void TextProgress::row_finished(const RowResult& row) {
    const std::lock_guard held(lock_);
    ++done_;
    time_left_.finished(row.id, now_());
    const std::string word =
        terminal_ ? fmt::format("{}{}\x1b[0m", colour(row.outcome), to_string(row.outcome))
                  : std::string(to_string(row.outcome));
    line(fmt::format("[{}/{}] {} {} ({:.1f} s)", done_, rows_, row.id, word,
                     static_cast<double>(row.duration.count()) / 1000));
    if (row.outcome != Outcome::pass) {
        // The first words of the first few: all of it is in the reports and the failure bundle.
        constexpr size_t most = 24;
        const auto texts = explain(row);
        for (size_t i = 0; i < std::min(texts.size(), most); ++i) {
            line("    " + texts[i].substr(0, texts[i].find('\n')));
        }
        if (texts.size() > most) {
            line(fmt::format("    ... and {} more lines", texts.size() - most));
        }
    }
}

void TextProgress::note(const std::string& text) {
    const std::lock_guard held(lock_);
    line(text);
}

void TextProgress::status(const std::string& text) {
    if (!terminal_) {
        return;  // a pipe gets finished rows only: its reader keeps every line
    }
    const auto left = time_left_.left(now_());
    std::string shown = fmt::format("[{}/{}{}] {}", std::min(done_ + 1, rows_), rows_,
                                    left ? fmt::format(", {} left", rough_text(*left)) : "", text);
    shown.resize(std::min(shown.size(), status_width));
    fmt::print(out_, "{}{}", erase_line, shown);
    std::fflush(out_);
    status_shown_ = true;
}

void TextProgress::line(const std::string& text) {
    if (status_shown_) {
        fmt::print(out_, "{}", erase_line);
        status_shown_ = false;
    }
    fmt::print(out_, "{}\n", text);
    std::fflush(out_);
}

}  // namespace hotplug
