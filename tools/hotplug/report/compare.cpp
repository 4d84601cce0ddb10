// SPDX-License-Identifier: GPL-2.0
// Purpose: see compare.h.
// Thread: pure functions.
#include "hotplug/report/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>

#include "hotplug/judge/integrity.h"

namespace hotplug {

namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

hp::Result<json> read_json(const fs::path& file) {
    std::ifstream in(file);
    json value = json::parse(in, nullptr, false);
    if (value.is_discarded()) {
        return hp::fail(fmt::format("{}: no JSON file can be read there", file.string()));
    }
    return value;
}

ComparedCheck read_check(const json& value) {
    const auto name = value.at("check").get<std::string>();
    const auto check = parse_check(name);
    if (!check) {
        throw std::invalid_argument(fmt::format("no check is called '{}'", name));
    }
    return {*check, value.at("passed").get<bool>(), value.at("value").get<std::string>()};
}

TestResult read_test(const json& value) {
    const auto name = value.at("outcome").get<std::string>();
    for (const TestOutcome outcome : {TestOutcome::pass, TestOutcome::fail, TestOutcome::skip}) {
        if (name == to_string(outcome)) {
            return {value.at("test").get<std::string>(), outcome,
                    value.at("note").get<std::string>()};
        }
    }
    throw std::invalid_argument(fmt::format("no outcome of a test is called '{}'", name));
}

const TestResult* find_test(const ComparedRun& run, const std::string& name) {
    const auto found = std::find_if(run.tests.begin(), run.tests.end(),
                                    [&](const TestResult& test) { return test.name == name; });
    return found == run.tests.end() ? nullptr : &*found;
}

/// A test may have run several times: a failure is what counts, then a skip.
void add_test(ComparedRun& run, TestResult test) {
    const auto weight = [](const TestResult& one) {
        return one.outcome == TestOutcome::fail ? 2 : one.outcome == TestOutcome::skip ? 1 : 0;
    };
    for (TestResult& known : run.tests) {
        if (known.name == test.name) {
            if (weight(test) > weight(known)) {
                known = std::move(test);
            }
            return;
        }
    }
    run.tests.push_back(std::move(test));
}

ComparedRun read_row(const json& row) {
    ComparedRun run;
    run.skip_reason = row.at("skip_reason").get<std::string>();
    for (const json& check : row.at("checks")) {
        run.checks.push_back(read_check(check));
    }
    for (const json& test : row.at("tests")) {
        add_test(run, read_test(test));
    }
    return run;
}

/// Of results.json, where each episode has its fences.
std::optional<double> last_signalled(const json& row) {
    std::optional<double> last;
    for (const json& episode : row.at("episodes")) {
        for (const json& fence : episode.at("fences")) {
            const double after = fence.at("signalled_ms").get<double>();
            last = std::max(last.value_or(after), after);
        }
    }
    return last;
}

ComparedRow& row_of(Comparison& comparison, const std::string& id) {
    auto& rows = comparison.rows;
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [&](const ComparedRow& row) { return row.id == id; });
    return found == rows.end() ? rows.emplace_back(ComparedRow{id, {}, {}}) : *found;
}

ComparedKernel read_kernel(const json& value, std::string name) {
    return {std::move(name), value.at("kernel").get<std::string>(),
            value.at("flavour").get<std::string>(), value.at("profile").get<std::string>(),
            value.at("started").get<std::string>()};
}

/// Throws when the run goes on or was killed.
void refuse_unfinished(const json& results) {
    for (const json& entry : results.at("integrity")) {
        if (entry.at("kind").get<std::string>() == rule_of(IntegrityKind::unfinished).name) {
            throw std::invalid_argument(entry.at("text").get<std::string>());
        }
    }
}

/// Of results.json.
std::vector<std::string> read_flaws(const json& results) {
    std::vector<std::string> flaws;
    for (const json& entry : results.at("integrity")) {
        if (entry.at("severity").get<std::string>() != to_string(Severity::note)) {
            flaws.push_back(fmt::format("{}: {}", entry.at("kind").get<std::string>(),
                                        entry.at("text").get<std::string>()));
        }
    }
    return flaws;
}

/// What scripts/guest/kernel says beside a kernel that it built; such a folder is for one source.
std::string read_source(const json& results) {
    const fs::path image = results.at("versions").value("kernel image", std::string());
    const fs::path tree = image.parent_path().parent_path().parent_path().parent_path();
    if (image != tree / "arch/x86/boot/bzImage") {
        return {};
    }
    std::string source;
    std::ifstream in(tree / ".source");
    std::getline(in, source);
    return source;
}

fs::path results_file(const fs::path& path) {
    std::error_code error;
    return fs::is_directory(path, error) ? path / "results.json" : path;
}

/// One of the two runs of a comparison: its rows as they were kept.
LoadedRun read_side(const json& comparison, const char* side) {
    const json& kernel = comparison.at(side);
    LoadedRun loaded = {read_kernel(kernel, kernel.at("name").get<std::string>()), {}, kernel};
    // A comparison of before there were sources, or flaws, has none.
    loaded.kernel.source = kernel.value("source", std::string());
    loaded.kernel.flaws = kernel.value("flaws", std::vector<std::string>());
    loaded.results["rows"] = json::array();
    for (const json& row : comparison.at("rows")) {
        const json& kept = row.at(side);
        if (kept.is_null()) {
            continue;
        }
        ComparedRun run = read_row(kept);
        if (const json& fences = kept.at("fences_ms"); !fences.is_null()) {
            run.fences_ms = fences.get<double>();
        }
        loaded.rows.push_back({row.at("id").get<std::string>(), std::move(run)});
        loaded.results["rows"].push_back(kept);
    }
    return loaded;
}

unsigned count(const Comparison& comparison, bool wanted) {
    return static_cast<unsigned>(
        std::count_if(comparison.rows.begin(), comparison.rows.end(), [&](const ComparedRow& row) {
            const bool skipped = row.after && !row.after->skip_reason.empty();
            return !skipped && (row.after && row.after->passed()) == wanted;
        }));
}

/// What makes either run worth less than its rows say.
std::vector<std::string> flaws_of(const Comparison& comparison) {
    std::vector<std::string> texts;
    for (const ComparedKernel* kernel : {&comparison.before, &comparison.after}) {
        for (const std::string& flaw : kernel->flaws) {
            texts.push_back(fmt::format("the run of {} fails: {}", kernel->name, flaw));
        }
    }
    return texts;
}

}  // namespace

std::string kernel_text(const ComparedKernel& kernel) {
    return fmt::format("{} {} ({})", kernel.name, kernel.release, kernel.flavour);
}

std::string escape_cell(std::string text) {
    for (size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) {
        text.replace(at, 1, "\\|");
    }
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

bool ComparedRun::passed() const {
    return skip_reason.empty() && std::all_of(checks.begin(), checks.end(),
                                              [](const ComparedCheck& c) { return c.passed; });
}

const ComparedCheck* ComparedRun::find(Check check) const {
    const auto found = std::find_if(checks.begin(), checks.end(),
                                    [&](const ComparedCheck& one) { return one.check == check; });
    return found == checks.end() ? nullptr : &*found;
}

unsigned Comparison::passed() const {
    return count(*this, true);
}

unsigned Comparison::failed() const {
    return count(*this, false);
}

LoadedRun read_run(json results, std::string name) {
    LoadedRun loaded = {read_kernel(results, std::move(name)), {}, {}};
    loaded.kernel.source = read_source(results);
    loaded.kernel.flaws = read_flaws(results);
    for (const json& row : results.at("rows")) {
        ComparedRun run = read_row(row);
        run.fences_ms = last_signalled(row);
        loaded.rows.push_back({row.at("id").get<std::string>(), std::move(run)});
    }
    loaded.results = std::move(results);
    return loaded;
}

hp::Result<LoadedRun> load_run(const fs::path& path, std::string name) {
    const fs::path file = results_file(path);
    auto results = read_json(file);
    if (!results) {
        return tl::unexpected(results.error());
    }
    try {
        refuse_unfinished(*results);
        return read_run(std::move(*results), std::move(name));
    } catch (const std::exception& error) {
        return hp::fail(fmt::format("{}: not the results of a run of this hpctl: {}", file.string(),
                                    error.what()));
    }
}

LoadedRun no_run(std::string name, std::string why) {
    LoadedRun nothing;
    nothing.kernel.name = std::move(name);
    nothing.kernel.flaws.push_back(std::move(why));
    nothing.results["rows"] = json::array();
    return nothing;
}

Comparison compare_runs(const LoadedRun& before, const LoadedRun& after) {
    Comparison comparison = {before.kernel, after.kernel, {}};
    for (const LoadedRun::Row& row : before.rows) {
        row_of(comparison, row.id).before = row.run;
    }
    for (const LoadedRun::Row& row : after.rows) {
        row_of(comparison, row.id).after = row.run;
    }
    return comparison;
}

json to_json(const ComparedKernel& kernel) {
    return {{"name", kernel.name},       {"kernel", kernel.release},  {"flavour", kernel.flavour},
            {"profile", kernel.profile}, {"started", kernel.started}, {"source", kernel.source},
            {"flaws", kernel.flaws}};
}

json to_json(const std::optional<ComparedRun>& run) {
    if (!run) {
        return nullptr;
    }
    json checks = json::array();
    for (const ComparedCheck& check : run->checks) {
        checks.push_back({{"check", std::string(to_string(check.check))},
                          {"passed", check.passed},
                          {"value", check.value}});
    }
    json tests = json::array();
    for (const TestResult& test : run->tests) {
        tests.push_back({{"test", test.name},
                         {"outcome", std::string(to_string(test.outcome))},
                         {"note", test.note}});
    }
    return {{"skip_reason", run->skip_reason},
            {"checks", checks},
            {"tests", tests},
            {"fences_ms", run->fences_ms ? json(*run->fences_ms) : json(nullptr)}};
}

json to_json(const Comparison& comparison) {
    json rows = json::array();
    for (const ComparedRow& row : comparison.rows) {
        rows.push_back(
            {{"id", row.id}, {"before", to_json(row.before)}, {"after", to_json(row.after)}});
    }
    return {{"before", to_json(comparison.before)},
            {"after", to_json(comparison.after)},
            {"passed", comparison.passed()},
            {"failed", comparison.failed()},
            {"rows", rows}};
}

hp::Result<std::array<LoadedRun, 2>> load_comparison(const fs::path& file) {
    const auto value = read_json(file);
    if (!value) {
        return tl::unexpected(value.error());
    }
    try {
        return std::array{read_side(*value, "before"), read_side(*value, "after")};
    } catch (const std::exception& error) {
        return hp::fail(
            fmt::format("{}: no comparison of two runs: {}", file.string(), error.what()));
    }
}

std::string summarize(const std::optional<ComparedRun>& run, std::string_view open,
                      std::string_view close) {
    if (!run) {
        return "not run";
    }
    if (!run->skip_reason.empty()) {
        return "skipped: " + run->skip_reason;
    }
    std::vector<std::string> figures;
    for (const ComparedCheck& check : run->checks) {
        std::string text = fmt::format("{} {}", info(check.check).heading, check.value);
        text.erase(text.find_last_not_of(' ') + 1);
        if (!check.passed) {
            figures.push_back(fmt::format("{}{}{}", open, text, close));
        } else if (check.check == Check::removed) {
            figures.push_back(std::move(text));
        }
    }
    if (run->fences_ms) {
        figures.push_back(fmt::format("fences signalled {:.0f} ms", *run->fences_ms));
    }
    return fmt::format("{}{}{}", run->passed() ? "passes" : "fails", figures.empty() ? "" : ": ",
                       fmt::join(figures, ", "));
}

std::string summarize_test(const std::optional<ComparedRun>& run, const std::string& name,
                           std::string_view open, std::string_view close) {
    const TestResult* test = run ? find_test(*run, name) : nullptr;
    if (test == nullptr) {
        return "not run";
    }
    const std::string note = test->note.empty() ? "" : ": " + test->note;
    switch (test->outcome) {
        case TestOutcome::pass: return "passes";
        case TestOutcome::fail: return fmt::format("{}fails{}{}", open, note, close);
        case TestOutcome::skip: return "skipped" + note;
    }
    return "?";
}

std::vector<std::string> test_names(const ComparedRow& row) {
    std::vector<std::string> names;
    for (const auto* run : {&row.before, &row.after}) {
        if (!*run) {
            continue;
        }
        for (const TestResult& test : (*run)->tests) {
            if (std::find(names.begin(), names.end(), test.name) == names.end()) {
                names.push_back(test.name);
            }
        }
    }
    return names;
}

std::string format_table(const Comparison& comparison) {
    size_t width = 3;
    for (const ComparedRow& row : comparison.rows) {
        width = std::max(width, row.id.size());
        for (const std::string& name : test_names(row)) {
            width = std::max(width, name.size() + 2);
        }
    }
    // Lines below each other: both together are wider than a terminal.
    std::string text;
    for (const ComparedRow& row : comparison.rows) {
        text += fmt::format("{:<{}}  {:<8}{}\n", row.id, width, comparison.before.name,
                            summarize(row.before, "", " !"));
        text += fmt::format("{:<{}}  {:<8}{}\n", "", width, comparison.after.name,
                            summarize(row.after, "", " !"));
        for (const std::string& name : test_names(row)) {
            text += fmt::format("  {:<{}}  {:<8}{}\n", name, width - 2, comparison.before.name,
                                summarize_test(row.before, name, "", " !"));
            text += fmt::format("{:<{}}  {:<8}{}\n", "", width, comparison.after.name,
                                summarize_test(row.after, name, "", " !"));
        }
    }
    for (const std::string& flaw : flaws_of(comparison)) {
        text += flaw + "\n";
    }
    return text + fmt::format("\n! a check or a test that failed; {}: {} rows pass, {} do not\n",
                              comparison.after.name, comparison.passed(), comparison.failed());
}

std::string format_markdown(const Comparison& comparison) {
    std::string text = fmt::format("| row | {} | {} |\n|---|---|---|\n",
                                   escape_cell(kernel_text(comparison.before)),
                                   escape_cell(kernel_text(comparison.after)));
    for (const ComparedRow& row : comparison.rows) {
        text += fmt::format("| `{}` | {} | {} |\n", row.id,
                            escape_cell(summarize(row.before, "**", "**")),
                            escape_cell(summarize(row.after, "**", "**")));
        for (const std::string& name : test_names(row)) {
            text += fmt::format("| &nbsp; `{}` | {} | {} |\n", escape_cell(name),
                                escape_cell(summarize_test(row.before, name, "**", "**")),
                                escape_cell(summarize_test(row.after, name, "**", "**")));
        }
    }
    for (const std::string& flaw : flaws_of(comparison)) {
        text += fmt::format("\n**{}**\n", escape_cell(flaw));
    }
    return text;
}

hp::Result<std::string> with_table(std::string_view text, std::string_view table) {
    const size_t begin = text.find(table_begin);
    const size_t end = text.find(table_end);
    const bool once = begin != std::string_view::npos && begin == text.rfind(table_begin) &&
                      end != std::string_view::npos && end == text.rfind(table_end);
    if (!once || end < begin) {
        return hp::fail(
            fmt::format("the table stands between one line '{}' and one line '{}', which "
                        "are not there like that",
                        table_begin, table_end));
    }
    return fmt::format("{}\n{}{}", text.substr(0, begin + table_begin.size()), table,
                       text.substr(end));
}

}  // namespace hotplug
