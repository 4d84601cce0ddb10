// SPDX-License-Identifier: GPL-2.0
// Purpose: see page_row.h.
// Thread: pure functions.
#include "hotplug/report/page_row.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <optional>
#include <utility>

#include "hotplug/judge/verdict.h"
#include "hotplug/report/markup.h"

namespace hotplug {

namespace {

using json = nlohmann::ordered_json;

constexpr size_t kernels_drawn = 2;  // more in one line cannot be told apart
constexpr double axis_begin = 0.01;

std::optional<double> number_of(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? std::optional(found->get<double>())
                                                       : std::nullopt;
}

const json* object_of(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_object() ? &*found : nullptr;
}

/// What happened when, after a loss or a replug.
struct Milestone {
    std::string name;
    std::vector<std::optional<Figure>> times;  ///< by run; nothing: it was not waited for there
};

/// One loss of a row on all of its runs: two groups of milestones, each with a zero of its own.
struct Timeline {
    std::string loss;
    std::vector<Milestone> after_loss;
    std::vector<Milestone> after_replug;
};

std::optional<double> last_fence(const json& episode) {
    std::optional<double> last;
    for (const json& fence : list_of(episode, "fences")) {
        const double after = number_of(fence, "signalled_ms").value_or(0) / 1e3;
        last = std::max(last.value_or(after), after);
    }
    return last;
}

/// A time that should have come, and one that is shown where it came.
Figure awaited(const json& object, const char* key, const json* given_up = nullptr) {
    const auto time = number_of(object, key);
    const auto seen = given_up == nullptr ? std::nullopt : number_of(*given_up, "given_up_s");
    return time ? Figure{*time, false} : Figure{seen.value_or(0), true};
}

std::optional<Figure> if_seen(std::optional<double> time) {
    return time ? std::optional(Figure{*time, false}) : std::nullopt;
}

void add(std::vector<Milestone>& all, size_t runs, size_t run, const char* name,
         std::optional<Figure> time) {
    auto found = std::find_if(all.begin(), all.end(),
                              [&](const Milestone& milestone) { return milestone.name == name; });
    if (found == all.end()) {
        all.push_back({name, std::vector<std::optional<Figure>>(runs)});
        found = all.end() - 1;
    }
    found->times[run] = time;
}

void add(Timeline& line, size_t runs, size_t run, const json& episode) {
    const std::string loss = text_of(episode, "loss");
    line.loss = loss;
    const auto after_loss = [&](const char* name, std::optional<Figure> time) {
        add(line.after_loss, runs, run, name, time);
    };
    const auto kind = parse_loss(loss);
    after_loss("event announced", if_seen(number_of(episode, "announced_s")));
    after_loss("kernel notified", awaited(episode, "notified_s"));
    after_loss("fences signalled", if_seen(last_fence(episode)));
    const bool clients = !list_of(episode, "clients").empty();
    after_loss("clients released", clients && kind && ends_clients(*kind)
                                       ? awaited(episode, "clients_released_s")
                                       : if_seen(number_of(episode, "clients_released_s")));
    after_loss("removal returned", awaited(episode, "remove_returned_s", &episode));
    if (kind && empties_slot(*kind)) {
        after_loss("slot empty", awaited(episode, "device_deleted_s"));
    }
    if (const json* replug = object_of(episode, "replug")) {
        const std::pair<const char*, const char*> steps[] = {{"enumerated", "enumerated_s"},
                                                             {"driver bound", "driver_bound_s"},
                                                             {"nodes there", "ready_s"},
                                                             {"first job done", "first_job_s"}};
        for (const auto& [name, key] : steps) {
            add(line.after_replug, runs, run, name, awaited(*replug, key));
        }
    }
}

void drop_unseen(std::vector<Milestone>& all) {
    std::erase_if(all, [](const Milestone& milestone) {
        return std::none_of(milestone.times.begin(), milestone.times.end(),
                            [](const auto& time) { return time.has_value(); });
    });
}

std::vector<Timeline> timelines(const PageRow& row) {
    std::vector<Timeline> all;
    for (size_t run = 0; run < row.cells.size(); ++run) {
        if (!row.cells[run].judged()) {
            continue;
        }
        const json& episodes = list_of(*row.cells[run].told, "episodes");
        for (size_t at = 0; at < episodes.size(); ++at) {
            if (at == all.size()) {
                all.emplace_back();
            }
            add(all[at], row.cells.size(), run, episodes[at]);
        }
    }
    for (Timeline& line : all) {
        drop_unseen(line.after_loss);
    }
    return all;
}

std::string time_text(const std::optional<Figure>& time) {
    if (!time) {
        return "";
    }
    if (!time->open) {
        return fmt::format("{:.3f} s", time->value);
    }
    return time->value > 0 ? fmt::format("&gt; {:.0f} s", time->value) : "not seen";
}

std::string plot(const Milestone& milestone, const LogAxis& axis) {
    std::string text;
    std::vector<double> places;
    for (size_t run = 0; run < milestone.times.size(); ++run) {
        const auto& time = milestone.times[run];
        if (!time) {
            continue;
        }
        const double at = 100 * (time->open ? 1 : axis.position(time->value));
        places.push_back(at);
        text += fmt::format("<i class=\"dot of{}{}\" style=\"left:{:.1f}%\"></i>", run,
                            time->open ? " open" : "", at);
    }
    if (places.size() == 2) {
        const auto [from, to] = std::minmax(places[0], places[1]);
        text = fmt::format("<i class=\"span\" style=\"left:{:.1f}%;width:{:.1f}%\"></i>", from,
                           to - from) +
               text;
    }
    return text;
}

std::string format_milestones(const std::vector<Milestone>& all, std::string_view after,
                              const PageRow& row, const LogAxis& axis) {
    if (all.empty()) {
        return "";
    }
    const bool drawn = row.cells.size() <= kernels_drawn;
    std::string text = fmt::format("<tr><th scope=\"col\">{}</th>", after);
    if (drawn) {
        text += "<th class=\"plot\">";
        for (int decade = 0; decade <= axis.decades; ++decade) {
            text += fmt::format("<span style=\"left:{:.1f}%\">{}{}</span>",
                                100.0 * decade / axis.decades, axis.tick(decade),
                                decade == axis.decades ? " s" : "");
        }
        text += "</th>";
    }
    for (size_t run = 0; run < row.cells.size(); ++run) {
        text += fmt::format(
            "<th scope=\"col\" class=\"num\">{}{}</th>",
            drawn && row.cells.size() > 1 ? fmt::format("<i class=\"dot of{}\"></i> ", run) : "",
            escape_markup(row.cells[run].of->kernel.name));
    }
    text += "</tr>\n";
    for (const Milestone& milestone : all) {
        text += fmt::format("<tr><th scope=\"row\">{}</th>", milestone.name);
        if (drawn) {
            text += fmt::format("<td class=\"plot\"><div>{}</div></td>", plot(milestone, axis));
        }
        for (const auto& time : milestone.times) {
            text += fmt::format("<td class=\"num{}\">{}</td>", time && time->open ? " fail" : "",
                                time_text(time));
        }
        text += "</tr>\n";
    }
    return text;
}

std::string format_timelines(const PageRow& row, const LogAxis& axis) {
    std::string text;
    for (const Timeline& line : timelines(row)) {
        text += fmt::format(
            "<table class=\"times\" style=\"--decades:{}\">\n{}{}</table>\n", axis.decades,
            format_milestones(line.after_loss, "after the loss: " + escape_markup(line.loss), row,
                              axis),
            format_milestones(line.after_replug, "after the replug", row, axis));
    }
    return text;
}

// --- evidence

std::string folded(const std::string& summary, const std::string& text) {
    return fmt::format("<details><summary>{}</summary><pre>{}</pre></details>\n",
                       escape_markup(summary), escape_markup(text));
}

std::string lines_of(const json& list) {
    return fmt::format("{}", fmt::join(texts_of(list), "\n"));
}

std::string format_checks(const PageCell& cell) {
    std::string failed;
    std::vector<std::string> passed;
    const json& told = list_of(*cell.told, "checks");
    for (size_t at = 0; at < told.size(); ++at) {
        const ComparedCheck& check = cell.run->checks[at];
        if (check.passed) {
            const bool fixed = text_of(told[at], "outcome") == to_string(Outcome::fixed);
            passed.push_back(fmt::format("{}{}{}{}", info(check.check).heading,
                                         check.value.empty() ? "" : " ", escape_markup(check.value),
                                         fixed ? " (on the list of known failures)" : ""));
            continue;
        }
        const std::string reason = text_of(told[at], "reason");
        const json& evidence = list_of(told[at], "evidence");
        failed += fmt::format(
            "<li><b>{}</b>{}{}</li>\n", escape_markup(failure_text(check)),
            reason.empty() ? "" : fmt::format("<p>Known: {}</p>", escape_markup(reason)),
            evidence.empty() ? ""
                             : fmt::format("<pre>{}</pre>", escape_markup(lines_of(evidence))));
    }
    return (failed.empty() ? "" : "<ul class=\"failed\">\n" + failed + "</ul>\n") +
           (passed.empty() ? "" : fmt::format("<p>Passed: {}.</p>\n", fmt::join(passed, "; ")));
}

std::string format_fences(const json& row) {
    std::string text;
    for (const json& episode : list_of(row, "episodes")) {
        for (const json& fence : list_of(episode, "fences")) {
            text +=
                fmt::format("{}: fence signalled {:.1f} ms after the loss, with {}\n",
                            text_of(fence, "client"), number_of(fence, "signalled_ms").value_or(0),
                            number_of(fence, "status").value_or(0));
        }
    }
    return text.empty() ? text : folded("Fences that failed", text);
}

std::string format_accesses(const json& row) {
    std::string text;
    for (const json& episode : list_of(row, "episodes")) {
        const json* accesses = object_of(episode, "accesses");
        if (accesses == nullptr) {
            continue;
        }
        for (const json& access : list_of(*accesses, "first")) {
            const std::string name = text_of(access, "name");
            text +=
                fmt::format("{:9.6f} s  {:<14} {}\n", number_of(access, "after_loss_s").value_or(0),
                            text_of(access, "kind"),
                            name.empty() ? fmt::format("region {} offset {:#x}",
                                                       number_of(access, "region").value_or(0),
                                                       access.value("offset", uint64_t{0}))
                                         : name);
        }
    }
    return text.empty() ? text : folded("First accesses to the absent device", text);
}

/// What the row's programs reported. There may be hundreds.
std::string format_tests(const json& row) {
    const json& tests = list_of(row, "tests");
    std::string list;
    size_t failed = 0;
    for (const json& test : tests) {
        const std::string outcome = text_of(test, "outcome");
        const std::string note = text_of(test, "note");
        const bool fails = outcome == to_string(TestOutcome::fail);
        failed += fails;
        list += fmt::format("<li{}>{}: {}{}</li>\n", fails ? " class=\"fail\"" : "",
                            escape_markup(text_of(test, "test")), escape_markup(outcome),
                            note.empty() ? "" : ", " + escape_markup(note));
    }
    return tests.empty() ? ""
                         : fmt::format(
                               "<details{}><summary>{} tests, {} failed</summary>\n<ul>\n"
                               "{}</ul></details>\n",
                               failed != 0 ? " open=\"open\"" : "", tests.size(), failed, list);
}

std::string format_kernel_log(const json& row) {
    std::string text;
    for (const json& complaint : list_of(row, "complaints")) {
        text += folded(
            fmt::format("{} ({} times)", text_of(complaint, "title"), complaint.value("count", 1)),
            fmt::format("{}\n\nStack:\n{}", lines_of(list_of(complaint, "lines")),
                        lines_of(list_of(complaint, "stack"))));
    }
    std::string notes;
    for (const json& note : list_of(row, "notes")) {
        notes += fmt::format("[{:12.6f}] {} ({} times)\n", number_of(note, "time_s").value_or(0),
                             text_of(note, "text"), note.value("count", 1));
    }
    return text + (notes.empty() ? "" : folded("Error lines of drivers", notes));
}

/// Who waits for what in a guest that hung.
std::string format_hang(const json& row) {
    const json* hang = object_of(row, "hang");
    if (hang == nullptr) {
        return "";
    }
    const std::string note = text_of(*hang, "note");
    return fmt::format("<p>Looked into: {}.{}</p>\n<pre>{}</pre>\n",
                       escape_markup(text_of(*hang, "reason")),
                       note.empty() ? "" : " " + escape_markup(note),
                       escape_markup(lines_of(list_of(*hang, "blocked"))));
}

/// A word for a shell.
std::string quoted(const std::string& word) {
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+:,./@%~";
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
        return word;
    }
    std::string text = "'";
    for (const char c : word) {
        text += c == '\'' ? "'\\''" : std::string(1, c);
    }
    return text + "'";
}

/// What hpctl is told to run the row again.
std::vector<std::string> words_again(const PageCell& cell) {
    if (const std::string bundle = text_of(*cell.told, "bundle"); !bundle.empty()) {
        return {"replay", bundle};
    }
    const std::vector<std::string> run = texts_of(list_of(cell.of->results, "command"));
    if (run.empty()) {
        return {};
    }
    std::vector<std::string> words = {"run", text_of(*cell.told, "name")};
    // The run's own rows come first.
    words.insert(words.end(),
                 std::find_if(run.begin(), run.end(),
                              [](const std::string& word) { return word.starts_with("--"); }),
                 run.end());
    return words;
}

std::string format_cell(const PageCell& cell, bool alone) {
    const Look look = look_of(cell, alone);
    std::string text =
        fmt::format("<section class=\"run {}\">\n<h3><i class=\"mark\">{}</i> {}{}{}", look.style,
                    look.mark, alone ? "" : escape_markup(cell.of->kernel.name) + ": ", look.word,
                    cell.told == nullptr || !number_of(*cell.told, "duration_s")
                        ? ""
                        : fmt::format(" <small>{:.1f} s in all</small>",
                                      number_of(*cell.told, "duration_s").value_or(0)));
    text += "</h3>\n";
    if (cell.run == nullptr) {
        return text + "</section>\n";
    }
    if (!cell.run->skip_reason.empty()) {
        return text + fmt::format("<p>Skipped: {}</p>\n</section>\n",
                                  escape_markup(cell.run->skip_reason));
    }
    const json& row = *cell.told;
    if (const std::string quarantine = text_of(row, "quarantine"); !quarantine.empty()) {
        text += fmt::format("<p>In quarantine {}</p>\n", escape_markup(quarantine));
    }
    text += format_checks(cell) + format_hang(row) + format_tests(row) + format_kernel_log(row) +
            format_fences(row) + format_accesses(row);
    if (const auto words = words_again(cell); !words.empty()) {
        text += format_command("Run it again: ", words);
    }
    return text + "</section>\n";
}

/// "killed by SIGBUS" of the clients that a signal ended, or that caught one.
std::string killed(const PageCell& cell) {
    unsigned clients = 0;
    int signal = 0;
    for (const json& episode : list_of(*cell.told, "episodes")) {
        for (const json& client : list_of(episode, "clients")) {
            if (const auto by = number_of(client, "signal")) {
                ++clients;
                signal = static_cast<int>(*by);
            }
        }
    }
    const char* name = ::sigabbrev_np(signal);
    return clients == 0 ? ""
                        : fmt::format("{} killed by {}",
                                      clients == 1 ? "client" : fmt::format("{} clients", clients),
                                      name == nullptr ? fmt::format("signal {}", signal)
                                                      : fmt::format("SIG{}", name));
}

}  // namespace

std::string text_of(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

const json& list_of(const json& object, const char* key) {
    static const json nothing = json::array();
    const auto found = object.find(key);
    return found != object.end() && found->is_array() ? *found : nothing;
}

std::vector<std::string> texts_of(const json& list) {
    std::vector<std::string> texts;
    for (const json& one : list) {
        texts.push_back(one.is_string() ? one.get<std::string>() : "");
    }
    return texts;
}

Look look_of(const PageCell& cell, bool alone) {
    if (cell.run == nullptr) {
        return {"skip", "–", "not run"};
    }
    if (!cell.judged()) {
        return {"skip", "–", "skipped"};
    }
    const std::string outcome = text_of(*cell.told, "outcome");
    if (outcome == to_string(Outcome::quarantined)) {
        return {"quarantined", "✕", "in quarantine"};
    }
    if (alone && outcome == to_string(Outcome::known)) {
        return {"known", "✕", "known to fail"};
    }
    if (alone && outcome == to_string(Outcome::fixed)) {
        return {"fail", "!", "unexpected pass"};
    }
    return cell.run->passed() ? Look{"pass", "✓", "passes"} : Look{"fail", "✕", "fails"};
}

std::string failure_text(const ComparedCheck& check) {
    const bool told = !check.value.empty() && check.value != "no";
    return fmt::format("{} {}", info(check.check).heading,
                       told                               ? check.value
                       : check.check == Check::kfd_usable ? "unusable"
                                                          : "fail");
}

std::vector<std::string> broken(const PageCell& cell) {
    std::vector<std::string> all;
    for (const ComparedCheck& check : cell.run->checks) {
        if (check.passed) {
            continue;
        }
        switch (check.check) {
            case Check::removed:
            case Check::no_access:
            case Check::log_clean:
            case Check::no_leak: continue;  // columns of their own
            case Check::clients_released:
                if (const std::string how = killed(cell); !how.empty()) {
                    all.push_back(how);
                    continue;
                }
                break;
            default: break;
        }
        all.push_back(failure_text(check));
    }
    return all;
}

LogAxis timeline_axis(std::span<const PageRow> rows) {
    LogAxis axis = {.first = axis_begin};
    for (const PageRow& row : rows) {
        for (const Timeline& line : timelines(row)) {
            for (const auto* group : {&line.after_loss, &line.after_replug}) {
                for (const Milestone& milestone : *group) {
                    for (const auto& time : milestone.times) {
                        axis.include(time ? time->value : 0);
                    }
                }
            }
        }
    }
    return axis;
}

std::string format_row(const PageRow& row, const LogAxis& axis) {
    std::string text;
    for (const PageCell& cell : row.cells) {
        const std::string what = cell.told == nullptr ? "" : text_of(*cell.told, "description");
        if (!what.empty()) {
            text += fmt::format("<p>This scenario {}.</p>\n", escape_markup(what));
            break;
        }
    }
    text += format_timelines(row, axis) + "<div class=\"runs\">\n";
    for (const PageCell& cell : row.cells) {
        text += format_cell(cell, row.cells.size() == 1);
    }
    return text + "</div>\n";
}

std::string format_command(std::string_view before, const std::vector<std::string>& words) {
    std::string command = "hpctl";
    for (const std::string& word : words) {
        command += " " + quoted(word);
    }
    return fmt::format(
        "<p class=\"again\">{}<code>{}</code> <button type=\"button\" class=\"copy\" "
        "hidden=\"hidden\">Copy</button></p>\n",
        before, escape_markup(command));
}

}  // namespace hotplug
