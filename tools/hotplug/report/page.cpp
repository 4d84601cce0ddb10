// SPDX-License-Identifier: GPL-2.0
// Purpose: see page.h.
// Thread: pure functions.
#include "hotplug/report/page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "hotplug/judge/findings.h"
#include "hotplug/report/json_report.h"
#include "hotplug/report/markup.h"
#include "hotplug/report/matrix.h"
#include "hotplug/report/page_row.h"
#include "hotplug/report/repeats.h"
#include "hotplug/report/soak.h"
#include "page_parts.h"

namespace hotplug {

namespace {

using json = nlohmann::ordered_json;

constexpr size_t most_with_bars = 2;  ///< more kernels have a table

std::vector<PageRow> rows_of(std::span<const LoadedRun> runs) {
    std::vector<PageRow> rows;
    for (size_t at = 0; at < runs.size(); ++at) {
        for (size_t i = 0; i < runs[at].rows.size(); ++i) {
            const LoadedRun::Row& row = runs[at].rows[i];
            auto found = std::find_if(rows.begin(), rows.end(),
                                      [&](const PageRow& known) { return known.id == row.id; });
            if (found == rows.end()) {
                rows.push_back({row.id, {}});
                for (const LoadedRun& run : runs) {
                    rows.back().cells.push_back({.of = &run});
                }
                found = rows.end() - 1;
            }
            found->cells[at].run = &row.run;
            found->cells[at].told = &runs[at].results["rows"][i];
        }
    }
    return rows;
}

// --- the headline

/// What the rows of one run add up to.
struct Sum {
    unsigned judged = 0;
    unsigned skipped = 0;
    unsigned failed = 0;
    unsigned excused = 0;  ///< failed, but on the list of known failures or in quarantine
    unsigned open = 0;     ///< removals that nobody saw return
    double slowest = 0;    ///< of the others
    double accesses = -1;  ///< the most of a row; -1: none counts them
};

Sum sum_of(std::span<const PageRow> rows, size_t run, bool alone) {
    Sum sum;
    for (const PageRow& row : rows) {
        const PageCell& cell = row.cells[run];
        if (!cell.judged()) {
            sum.skipped += cell.run != nullptr;
            continue;
        }
        ++sum.judged;
        const std::string_view style = look_of(cell, alone).style;
        sum.failed += style == "fail";
        sum.excused += style == "known" || style == "quarantined";
        if (const ComparedCheck* removed = cell.run->find(Check::removed)) {
            const auto figure = figure_of(removed->value);
            sum.open += figure && figure->open;
            sum.slowest = std::max(sum.slowest, figure && !figure->open ? figure->value : 0);
        }
        if (const ComparedCheck* accesses = cell.run->find(Check::no_access)) {
            const auto figure = figure_of(accesses->value);
            sum.accesses = std::max(sum.accesses, figure ? figure->value : 0);
        }
    }
    return sum;
}

/// "stock fails 11 of 18 rows: 6 removals do not return, and ..."
std::string clause(const std::string& name, const Sum& sum) {
    std::vector<std::string> facts;
    if (sum.open != 0) {
        facts.push_back(sum.open == 1 ? "<b>1 removal does not return</b>"
                                      : fmt::format("<b>{} removals do not return</b>", sum.open));
    } else if (sum.slowest > 0) {
        facts.push_back(fmt::format("the slowest removal takes <b>{:.1f} s</b>", sum.slowest));
    }
    if (sum.accesses >= 0) {
        facts.push_back(fmt::format(
            "an absent GPU is accessed <b>{}{}</b>", sum.accesses > 0 ? "up to " : "",
            sum.accesses > 0 ? grouped(static_cast<uint64_t>(sum.accesses)) + " times" : "never"));
    }
    const std::string verdict =
        sum.judged == 0   ? "has no verdict on any row"
        : sum.failed != 0 ? fmt::format("fails <b>{} of {}</b> rows", sum.failed, sum.judged)
        : sum.excused != 0
            ? fmt::format("passes <b>{} of {}</b> rows", sum.judged - sum.excused, sum.judged)
            : fmt::format("passes <b>all {}</b> rows", sum.judged);
    std::vector<std::string> asides;
    if (sum.excused != 0) {
        asides.push_back(
            fmt::format("{}{} excused", sum.failed == 0 ? "" : "besides ", sum.excused));
    }
    if (sum.skipped != 0) {
        asides.push_back(fmt::format("{} skipped", sum.skipped));
    }
    return fmt::format("{} {}{}{}{}", name, verdict,
                       asides.empty() ? "" : fmt::format(" ({})", fmt::join(asides, ", ")),
                       facts.empty() || sum.judged == 0 ? "" : ": ", fmt::join(facts, ", and "));
}

std::string headline(std::span<const LoadedRun> runs, std::span<const PageRow> rows) {
    if (runs.size() <= most_with_bars) {
        std::string text;
        for (size_t run = 0; run < runs.size(); ++run) {
            const std::string& name = runs[run].kernel.name;
            text += (run == 0 ? "" : "; ") +
                    clause(runs.size() == 1 ? "Linux " + escape_markup(name) : escape_markup(name),
                           sum_of(rows, run, runs.size() == 1));
        }
        return text + ".";
    }
    size_t differ = 0, everywhere = 0;
    for (const PageRow& row : rows) {
        size_t judged = 0, failed = 0;
        for (const PageCell& cell : row.cells) {
            judged += cell.judged();
            failed += cell.judged() && !cell.run->passed();
        }
        differ += failed != 0 && failed != judged;
        everywhere += failed != 0 && failed == judged;
    }
    return fmt::format(
        "Of {} rows on {} kernels, <b>{}</b> {} on some and pass{} on others; <b>{}</b> fail{} on "
        "all of them.",
        rows.size(), runs.size(), differ, differ == 1 ? "fails" : "fail", differ == 1 ? "es" : "",
        everywhere, everywhere == 1 ? "s" : "");
}

// --- the lines of the rows

bool fails(const PageRow& row) {
    return std::any_of(row.cells.begin(), row.cells.end(),
                       [](const PageCell& cell) { return cell.judged() && !cell.run->passed(); });
}

bool differs(const PageRow& row) {
    return std::any_of(row.cells.begin(), row.cells.end(), [&](const PageCell& cell) {
        const PageCell& first = row.cells.front();
        return cell.judged() != first.judged() ||
               (cell.judged() && cell.run->passed() != first.run->passed());
    });
}

std::string_view style_of(const ComparedCheck& check) {
    return check.passed ? "pass" : "fail";
}

/// A bar on an axis, and its figure beside it.
std::string bar(const ComparedCheck* check, const LogAxis& axis) {
    if (check == nullptr) {
        return "<span class=\"bar\"></span><span class=\"num none\">–</span>";
    }
    const auto figure = figure_of(check->value);
    const double length = figure ? axis.length(*figure) : 0;
    const bool open = figure && figure->open;
    return fmt::format("<span class=\"bar\">{}</span><span class=\"num {}\">{}</span>",
                       length == 0 ? ""
                                   : fmt::format("<i class=\"{}{}\" style=\"width:{:.1f}%\">{}</i>",
                                                 style_of(*check), open ? " open" : "",
                                                 100 * length, open ? "not returned" : ""),
                       style_of(*check), escape_markup(readable(check->value)));
}

/// How many there are of what there should be none of.
std::string count(const ComparedCheck* check, std::string_view what) {
    if (check == nullptr) {
        return "<span class=\"num none\">–</span>";
    }
    const auto figure = figure_of(check->value);
    const std::string shown = check->passed ? "0"
                              : figure      ? grouped(static_cast<uint64_t>(figure->value))
                                            : escape_markup(check->value);
    return fmt::format("<span class=\"num {}\">{}<span class=\"what\"> {}{}</span></span>",
                       style_of(*check), shown, what, shown == "1" ? "" : "s");
}

struct Axes {
    LogAxis removal = {.first = 0.1};
    LogAxis accesses = {.first = 1};
};

Axes axes_of(std::span<const PageRow> rows) {
    Axes axes;
    const auto include = [](LogAxis& axis, const ComparedCheck* check) {
        const auto figure = check == nullptr ? std::nullopt : figure_of(check->value);
        axis.include(figure ? figure->value : 0);
    };
    for (const PageRow& row : rows) {
        for (const PageCell& cell : row.cells) {
            if (cell.judged()) {
                include(axes.removal, cell.run->find(Check::removed));
                include(axes.accesses, cell.run->find(Check::no_access));
            }
        }
    }
    return axes;
}

std::string cell_line(const PageCell& cell, const Axes& axes, bool alone) {
    const Look look = look_of(cell, alone);
    std::string text = fmt::format(
        "<span class=\"line {}\"><span class=\"who\"><i class=\"mark\" title=\"{}\">{}</i> "
        "{}</span>",
        look.style, look.word, look.mark,
        alone ? std::string(look.word) : escape_markup(cell.of->kernel.name));
    if (!cell.judged()) {
        return text +
               fmt::format("<span class=\"rest\">{}{}</span></span>\n", look.word,
                           cell.run == nullptr ? "" : ": " + escape_markup(cell.run->skip_reason));
    }
    const ComparedRun& run = *cell.run;
    return text + bar(run.find(Check::removed), axes.removal) +
           bar(run.find(Check::no_access), axes.accesses) +
           fmt::format("<span class=\"broken\">{}</span>",
                       escape_markup(fmt::format("{}", fmt::join(broken(cell), ", ")))) +
           count(run.find(Check::no_leak), "leak") +
           count(run.find(Check::log_clean), "complaint") + "</span>\n";
}

std::string ticks(const LogAxis& axis, std::string_view unit) {
    std::string text;
    const int step = axis.decades > 4 ? 2 : 1;  // there is room for so many
    for (int decade = 0; decade <= axis.decades; decade += step) {
        text +=
            fmt::format("<span style=\"left:{:.1f}%\">{}{}</span>", 100.0 * decade / axis.decades,
                        axis.tick(decade), decade + step > axis.decades ? unit : "");
    }
    return text;
}

std::string id_markup(const std::string& id) {
    return fmt::format("<a class=\"id\" href=\"#{0}\">{0}</a>", escape_markup(id));
}

std::string bars(std::span<const LoadedRun> runs, std::span<const PageRow> rows,
                 const LogAxis& times) {
    const bool alone = runs.size() == 1;
    const Axes axes = axes_of(rows);
    std::string text = fmt::format(
        "<div class=\"rows bars{}\" style=\"--removal:{};--accesses:{};--runs:{}\">\n"
        "<div class=\"head\"><span>Row</span><span>{}</span>"
        "<span class=\"axis\">Removal takes<span class=\"ticks\">{}</span></span><span></span>"
        "<span class=\"axis\">Accesses to the absent device<span class=\"ticks\">{}</span></span>"
        "<span></span><span>Killed, disturbed, broken</span><span class=\"num\">Leaks</span>"
        "<span class=\"num\">Complaints</span></div>\n",
        alone ? " alone" : "", axes.removal.decades, axes.accesses.decades, runs.size(),
        alone ? "Verdict" : "Kernel", ticks(axes.removal, " s"), ticks(axes.accesses, ""));
    for (const PageRow& row : rows) {
        const bool red = alone && look_of(row.cells[0], true).style == "fail";
        text += fmt::format("<details class=\"row{}{}\" id=\"{}\"{}><summary>{}\n",
                            fails(row) ? " fails" : "", differs(row) ? " differs" : "",
                            escape_markup(row.id), red ? " open=\"open\"" : "", id_markup(row.id));
        for (const PageCell& cell : row.cells) {
            text += cell_line(cell, axes, alone);
        }
        text +=
            "</summary>\n<div class=\"body\">\n" + format_row(row, times) + "</div></details>\n";
    }
    return text + "</div>\n";
}

/// What a row does on a kernel in a few words: the first thing that failed, or how long the removal
/// took.
std::string brief(const PageCell& cell) {
    if (!cell.judged()) {
        return cell.run == nullptr ? "not run" : "skipped";
    }
    const auto& checks = cell.run->checks;
    const auto failed = std::find_if(checks.begin(), checks.end(),
                                     [](const ComparedCheck& check) { return !check.passed; });
    if (failed == checks.end()) {
        const ComparedCheck* removed = cell.run->find(Check::removed);
        return removed == nullptr ? "passes" : removed->value;
    }
    const auto more = std::count_if(failed + 1, checks.end(),
                                    [](const ComparedCheck& check) { return !check.passed; });
    return failure_text(*failed) + (more == 0 ? "" : fmt::format(" +{}", more));
}

std::string table(std::span<const LoadedRun> runs, std::span<const PageRow> rows,
                  const LogAxis& times) {
    Matrix matrix;
    for (const LoadedRun& run : runs) {
        matrix.add(run);
    }
    std::string text = fmt::format(
        "<div class=\"rows kernels\" style=\"--runs:{}\">\n<div class=\"head\"><span>Row</span>",
        runs.size());
    for (const LoadedRun& run : runs) {
        text += fmt::format("<span>{}<br/><small>{}</small></span>", escape_markup(run.kernel.name),
                            escape_markup(run.kernel.release));
    }
    text += "<span></span></div>\n";
    for (size_t at = 0; at < rows.size(); ++at) {
        const PageRow& row = rows[at];
        text += fmt::format("<details class=\"row{}{}\" id=\"{}\"><summary>{}\n",
                            fails(row) ? " fails" : "", differs(row) ? " differs" : "",
                            escape_markup(row.id), id_markup(row.id));
        for (const PageCell& cell : row.cells) {
            const Look look = look_of(cell, false);
            text += fmt::format(
                "<span class=\"cell {}\"><i class=\"mark\">{}</i> <span "
                "class=\"what\">{}: </span>{}</span>\n",
                look.style, look.mark, escape_markup(cell.of->kernel.name),
                escape_markup(brief(cell)));
        }
        text += fmt::format(
            "<span class=\"history\">{}</span></summary>\n<div "
            "class=\"body\">\n{}</div></details>\n",
            escape_markup(history(matrix, matrix.rows[at])), format_row(row, times));
    }
    return text + "</div>\n";
}

constexpr std::string_view filter_form = R"(<form class="filter">
<span class="search" hidden="hidden"><label for="find">Row</label> <input id="find" type="search" placeholder="surprise"/></span>
<input type="radio" name="show" id="show-all" checked="checked"/><label for="show-all">all</label>
{}<input type="radio" name="show" id="show-fails"/><label for="show-fails">only failures</label>
<button type="button" class="expand" hidden="hidden">Expand all</button>
</form>
)";
constexpr std::string_view only_differences =
    "<input type=\"radio\" name=\"show\" id=\"show-differs\"/><label "
    "for=\"show-differs\">only differences</label>\n";

// --- the runs themselves

/// One of a run's integrity: "The kernel lacks a detector: ..."
std::string entry_text(const json& entry) {
    const auto rules = integrity_rules();
    const auto rule = std::find_if(rules.begin(), rules.end(), [&](const IntegrityRule& one) {
        return one.name == text_of(entry, "kind");
    });
    const std::string row = text_of(entry, "row");
    const unsigned times = entry.value("count", 1U);
    return fmt::format("{}: <code>{}{}{}</code>",
                       rule == rules.end() ? std::string() : escape_markup(rule->meaning),
                       row.empty() ? "" : fmt::format("after {}: ", escape_markup(row)),
                       escape_markup(text_of(entry, "text")),
                       times > 1 ? fmt::format(" ({} times)", times) : "");
}

/// What runs have against themselves, or what nobody judged: each once, with the runs it is of. A
/// run that is known from compare.json has flaws only.
std::string integrity(std::span<const LoadedRun> runs, bool flaws) {
    std::vector<std::pair<std::string, std::string>> said;  // what, of whom
    const auto say = [&](const LoadedRun& run, const std::string& what) {
        auto found = std::find_if(said.begin(), said.end(),
                                  [&](const auto& known) { return known.first == what; });
        if (found == said.end()) {
            found = said.insert(said.end(), {what, ""});
        }
        found->second += (found->second.empty() ? "" : ", ") + escape_markup(run.kernel.name);
    };
    for (const LoadedRun& run : runs) {
        const json& entries = list_of(run.results, "integrity");
        for (const json& entry : entries) {
            if ((text_of(entry, "severity") == to_string(Severity::note)) != flaws) {
                say(run, entry_text(entry));
            }
        }
        if (flaws && entries.empty()) {
            for (const std::string& flaw : run.kernel.flaws) {
                say(run, escape_markup(flaw));
            }
        }
    }
    std::string text;
    for (const auto& [what, of] : said) {
        text += runs.size() == 1 ? fmt::format("<li>{}</li>\n", what)
                                 : fmt::format("<li><b>{}</b>: {}</li>\n", of, what);
    }
    return text;
}

std::string section(std::string_view title, std::string_view style, const std::string& list) {
    return list.empty() ? ""
                        : fmt::format(
                              "<section class=\"{}\">\n<h2>{}</h2>\n<ul>\n{}</ul>\n"
                              "</section>\n",
                              style, title, list);
}

std::string facts(const LoadedRun& run) {
    const json& results = run.results;
    std::string text = fmt::format(
        "<section class=\"facts\">\n<h2>{}</h2>\n<dl>\n<dt>kernel</dt><dd>{} ({})</dd>\n"
        "<dt>GPU</dt><dd>{}</dd>\n<dt>started</dt><dd>{}</dd>\n",
        escape_markup(run.kernel.name), escape_markup(run.kernel.release),
        escape_markup(run.kernel.flavour), escape_markup(run.kernel.profile),
        escape_markup(run.kernel.started));
    if (results.contains("boots")) {
        const double duration = results.value("duration_s", 0.0);  // none while the run goes on
        text += fmt::format("<dt>guests</dt><dd>{} booted{}</dd>\n<dt>seed</dt><dd>{}</dd>\n",
                            results.value("boots", 0),
                            duration > 0 ? fmt::format(", in {:.0f} s", duration) : "",
                            results.value("seed", uint64_t{0}));
    }
    if (const double rate = results.value("cycles_per_hour", 0.0); rate > 0) {
        text += fmt::format("<dt>cycles</dt><dd>{:.0f} an hour</dd>\n", rate);
    }
    if (const auto versions = results.find("versions"); versions != results.end()) {
        for (const auto& [what, version] : versions->items()) {
            text += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_markup(what),
                                escape_markup(text_of(*versions, what.c_str())));
        }
    }
    text += "</dl>\n";
    if (const auto words = texts_of(list_of(results, "command")); !words.empty()) {
        text += format_command("", words);
    }
    if (const auto packages = results.find("packages"); packages != results.end()) {
        for (const auto& [what, list] : packages->items()) {
            text += fmt::format(
                "<details><summary>{}: {} Debian packages</summary><pre>{}</pre></details>\n",
                escape_markup(what), list.size(),
                escape_markup(fmt::format("{}", fmt::join(texts_of(list), "\n"))));
        }
    }
    return text + "</section>\n";
}

constexpr std::string_view marks = R"(<section class="marks">
<h2>Marks</h2>
<dl>
<dt class="pass"><i class="mark">✓</i></dt><dd>Every check of the row passed, and the kernel had nothing to complain of.</dd>
<dt class="fail"><i class="mark">✕</i></dt><dd>A check failed. Its figure is bold, its bar orange; what passed is blue.</dd>
<dt class="known"><i class="mark">✕</i></dt><dd>Hatched: it fails as the list of known failures of this kernel says.</dd>
<dt class="fail"><i class="mark">!</i></dt><dd>It is on that list, and passed: the list is out of date, or something hides the failure.</dd>
<dt class="quarantined"><i class="mark">✕</i></dt><dd>Grey: in quarantine. It runs, and its failure does not fail the run.</dd>
<dt class="skip"><i class="mark">–</i></dt><dd>Grey: not judged. Skipped for want of something, not run, or the row has no such check.</dd>
<dt class="fail open"><i class="bar"></i></dt><dd>No end was seen: “never” when the driver came to a standstill, “&gt; 60.0 s” when it was still at work after so long. The bar goes to the end of the axis, whatever that is.</dd>
</dl>
<p>Bars and times are logarithmic: each line of the grid is ten times the one before. A click on a row shows when each thing happened, the
evidence of each failure, and the command that runs the row again. Documentation/harness/checks.md says what each check wants.</p>
</section>
)";

std::string verdict_text(const LoadedRun& run) {
    const std::string verdict = text_of(run.results, "verdict");
    return verdict == to_string(RunVerdict::pass)   ? "This run passed."
           : verdict == to_string(RunVerdict::fail) ? "This run failed."
                                                    : "This run has no verdict.";
}

/// "stock 7.3.4 (fast), series 7.3.4 (fast)"
std::string kernels_text(std::span<const LoadedRun> runs) {
    if (runs.size() > most_with_bars) {
        return "rows by kernels";
    }
    std::vector<std::string> kernels;
    for (const LoadedRun& run : runs) {
        const ComparedKernel& kernel = run.kernel;
        kernels.push_back(runs.size() == 1 ? fmt::format("{} ({})", kernel.release, kernel.flavour)
                                           : kernel_text(kernel));
    }
    return fmt::format("{}", fmt::join(kernels, ", "));
}

std::string header(std::span<const LoadedRun> runs, std::span<const PageRow> rows) {
    const ComparedKernel& last = runs.back().kernel;
    std::string text =
        fmt::format("<header>\n<p class=\"over\">amdgpu hot-plug · {} · {} · {}</p>\n<h1>{}</h1>\n",
                    escape_markup(kernels_text(runs)), escape_markup(last.profile),
                    escape_markup(last.started.substr(0, 10)), headline(runs, rows));
    if (runs.size() == 1) {
        text += fmt::format("<p class=\"verdict\">{}</p>\n", verdict_text(runs[0]));
    }
    return text + section("The run itself", "flaws", integrity(runs, true)) + "</header>\n";
}

std::string page(std::span<const LoadedRun> runs, const std::string& more) {
    const std::vector<PageRow> rows = rows_of(runs);
    const LogAxis times = timeline_axis(rows);
    std::string text = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width\"/>\n"
        "<title>amdgpu hot-plug: {}</title>\n<style>\n{}</style>\n</head>\n<body>\n",
        escape_markup(kernels_text(runs)), page_style);
    text += header(runs, rows) + "<main>\n" +
            fmt::format(filter_form, runs.size() == 1 ? "" : only_differences) +
            (runs.size() <= most_with_bars ? bars(runs, rows, times) : table(runs, rows, times)) +
            "</main>\n";
    text += section("Not judged, and other notes", "notes", integrity(runs, false)) + more;
    text += std::string(marks) + "<div class=\"runs\">\n";
    for (const LoadedRun& run : runs) {
        text += facts(run);
    }
    return text + fmt::format("</div>\n<script>\n{}</script>\n</body>\n</html>\n", page_script);
}

}  // namespace

std::string format_page(std::span<const LoadedRun> runs) {
    return page(runs, "");
}

std::string format_page(const RunReport& report) {
    std::string more;
    for (const Soak& soak : summarize_soaks(report.rows)) {
        more += format_soak(soak) + "\n";
    }
    for (const Repeats& repeats : summarize_repeats(report.rows)) {
        more += format_repeats(repeats) + "\n";
    }
    more += format_findings(report);
    const LoadedRun run = read_run(to_json(report), report.info.kernel);
    return page({&run, 1}, more.empty()
                               ? ""
                               : fmt::format("<section>\n<h2>Cycles and tries</h2>\n<pre>{}</pre>\n"
                                             "</section>\n",
                                             escape_markup(more)));
}

}  // namespace hotplug
