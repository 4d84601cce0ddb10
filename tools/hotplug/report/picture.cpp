// SPDX-License-Identifier: GPL-2.0
// Purpose: see picture.h.
// Thread: pure functions.
#include "hotplug/report/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "hotplug/report/figure.h"
#include "hotplug/report/markup.h"

namespace hotplug {

namespace {

using Run = std::optional<ComparedRun>;

constexpr int margin = 16;
constexpr int label_width = 160;

// The colours of page.css. A picture in a text does not know what it stands on: it has its paper
// with it.
constexpr std::string_view style =
    "text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:#1b1f24}"
    ".paper{fill:#fff}.soft{fill:#59626d}.end{text-anchor:end}.mid{text-anchor:middle}"
    ".grid{stroke:#e6e9ed}.pass{fill:#1f66ad}.fail{fill:#b8400a}.skip{fill:#59626d}"
    "rect.skip{fill:#e6e9ed}"
    "text.fail{font-weight:600}.small{font-size:10px;font-weight:600}.on{fill:#fff}"
    "@media(prefers-color-scheme:dark){text{fill:#e4e7eb}.paper{fill:#14171b}.soft{fill:#9ba5b0}"
    ".grid{stroke:#2a2f36}.pass{fill:#69b0f5}.fail{fill:#ff9152}.skip{fill:#9ba5b0}"
    "rect.skip{fill:#2a2f36}"
    ".on{fill:#14171b}}";

std::string text(double x, double y, std::string_view classes, std::string_view content) {
    return fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\"{}>{}</text>\n", x, y,
                       classes.empty() ? "" : fmt::format(" class=\"{}\"", classes),
                       escape_markup(content));
}

std::string picture(int width, int height, const std::string& title, const std::string& content) {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
        "height=\"{1}\" role=\"img\">\n<title>{2}</title>\n<style>{3}</style>\n"
        "<rect class=\"paper\" width=\"{0}\" height=\"{1}\" rx=\"6\"/>\n{4}</svg>\n",
        width, height, escape_markup(title), style, content);
}

std::string_view style_of(const Run& run) {
    return !run || !run->skip_reason.empty() ? "skip" : run->passed() ? "pass" : "fail";
}

std::string_view mark_of(const Run& run) {
    const std::string_view style = style_of(run);
    return style == "skip" ? "–" : style == "pass" ? "✓" : "✕";
}

/// The day on which the run started.
std::string date_of(const ComparedKernel& kernel) {
    return kernel.started.substr(0, 10);
}

constexpr int head_height = 64;

/// A column of bars on a logarithmic axis.
struct Panel {
    Check check;
    std::string_view title;
    std::string_view unit;
    LogAxis axis;
    int left;
    int width;

    void include(const Run& run) {
        const ComparedCheck* found = run ? run->find(check) : nullptr;
        const auto figure = found == nullptr ? std::nullopt : figure_of(found->value);
        axis.include(figure ? figure->value : 0);
    }

    std::string head(int bottom) const {
        std::string all = text(left, margin + 12, "", title);
        const int step = axis.decades > 4 ? 2 : 1;
        for (int decade = 0; decade <= axis.decades; ++decade) {
            const double x = left + 1.0 * width * decade / axis.decades;
            all += fmt::format("<path class=\"grid\" d=\"M{0:.1f} {1}V{2}\"/>\n", x,
                               head_height - 8, bottom);
            if (decade % step == 0) {
                all += text(x, head_height - 14, decade == 0 ? "soft" : "soft mid",
                            fmt::format("{}{}", axis.tick(decade),
                                        decade + step > axis.decades ? unit : ""));
            }
        }
        return all;
    }

    std::string bar(const Run& run, int top) const {
        constexpr int height = 9;
        const ComparedCheck* found = run ? run->find(check) : nullptr;
        if (found == nullptr) {
            return "";
        }
        const auto figure = figure_of(found->value);
        const std::string_view style = found->passed ? "pass" : "fail";
        const double length = figure ? width * axis.length(*figure) : 0;
        const bool open = figure && figure->open;
        std::string all;
        if (length > 0) {
            all = open ? fmt::format(
                             "<path class=\"{0}\" d=\"M{1} {2}h{3:.1f}l6 {4}l-6 {4}H{1}z\"/>\n",
                             style, left, top, length - 6, height / 2.0)
                       : fmt::format(
                             "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{:.1f}\" "
                             "height=\"{}\"/>\n",
                             style, left, top, length, height);
        }
        if (open) {
            all += text(left + length - 10, top + 8, "small on end", "not returned");
        }
        return all + text(left + width + 62, top + 9, found->passed ? "soft end" : "fail end",
                          readable(found->value));
    }
};

}  // namespace

std::string format_picture(const Comparison& comparison) {
    constexpr int pitch = 29;
    constexpr int bar_pitch = 12;
    constexpr int names = margin + label_width;
    constexpr int width = 880;
    const int bottom = head_height + pitch * static_cast<int>(comparison.rows.size());
    Panel panels[] = {
        {Check::removed, "Removal takes", " s", {.first = 0.1}, names + 70, 260},
        {Check::no_access, "Accesses to the absent device", "", {.first = 1}, names + 416, 200}};
    for (Panel& panel : panels) {
        for (const ComparedRow& row : comparison.rows) {
            panel.include(row.before);
            panel.include(row.after);
        }
    }
    std::string all;
    for (const Panel& panel : panels) {
        all += panel.head(bottom);
    }
    int top = head_height;
    for (const ComparedRow& row : comparison.rows) {
        all += fmt::format("<path class=\"grid\" d=\"M{} {}H{}\"/>\n", margin, top - 4,
                           width - margin);
        all += text(margin, top + 9, "", row.id);
        int line = top;
        for (const auto& [run, kernel] : {std::pair(&row.before, &comparison.before),
                                          std::pair(&row.after, &comparison.after)}) {
            all += text(names, line + 9, style_of(*run), mark_of(*run)) +
                   text(names + 15, line + 9, "soft", kernel->name);
            for (const Panel& panel : panels) {
                all += panel.bar(*run, line);
            }
            line += bar_pitch;
        }
        top += pitch;
    }
    const std::string before = kernel_text(comparison.before);
    const std::string after = kernel_text(comparison.after);
    // What is cut out of a text and sent on says of itself what it shows.
    all += text(margin, bottom + 14, "soft",
                "✕ a check of the row failed, drawn here or not. Orange: this check failed. "
                "Not returned: when the row gave up waiting.");
    all += text(margin, bottom + 30, "soft",
                fmt::format("{}, run on {}; {}, run on {}; {}", before, date_of(comparison.before),
                            after, date_of(comparison.after), comparison.after.profile));
    return picture(width, bottom + 30 + margin, fmt::format("{} and {}, row by row", before, after),
                   all);
}

std::string format_picture(const Matrix& matrix) {
    constexpr int pitch = 22;
    constexpr int cell_width = 84;
    constexpr int history_width = 300;
    constexpr int cells_top = margin + 24;
    const int kernels = static_cast<int>(matrix.kernels.size());
    const int first = margin + label_width;
    std::string all;
    for (int kernel = 0; kernel < kernels; ++kernel) {
        all += text(first + cell_width * kernel, cells_top - 10, "",
                    matrix.kernels[static_cast<size_t>(kernel)].name);
    }
    int top = cells_top;
    for (const MatrixRow& row : matrix.rows) {
        all += text(margin, top + 13, "", row.id);
        for (int kernel = 0; kernel < kernels; ++kernel) {
            const Run& run = row.runs[static_cast<size_t>(kernel)];
            const int left = first + cell_width * kernel;
            all += fmt::format(
                "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
                "rx=\"2\"/>\n",
                style_of(run), left, top, cell_width - 4, pitch - 4);
            const auto failed =
                !run ? 0
                     : std::count_if(run->checks.begin(), run->checks.end(),
                                     [](const auto& check) { return !check.passed; });
            const ComparedCheck* removed = run ? run->find(Check::removed) : nullptr;
            const std::string_view style = style_of(run);
            all += text(left + 6, top + 13, style == "skip" ? "small soft" : "small on",
                        fmt::format("{} {}", mark_of(run),
                                    style == "skip" ? (run ? "skipped" : "not run")
                                    : style == "fail"
                                        ? fmt::format("{} check{}", failed, failed == 1 ? "" : "s")
                                    : removed == nullptr ? ""
                                                         : removed->value));
        }
        all += text(first + cell_width * kernels + 8, top + 13, "soft", history(matrix, row));
        top += pitch;
    }
    return picture(first + cell_width * kernels + history_width, top + margin - 4,
                   "Rows by kernels", all);
}

}  // namespace hotplug
