// SPDX-License-Identifier: GPL-2.0
// Purpose: for tests of reports: a run with a row of each kind, which has hostile text wherever a
// guest can put some, and a reader that knows whether a report is well-formed. Thread: one.
#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hotplug/judge/verdict.h"

namespace hotplug {

inline constexpr const char* nasty = "<b a=\"1\">&'#\n\x01\xff]]> </pre></script><img onerror=x>";

inline bool has(const std::string& report, std::string_view text) {
    return report.find(text) != std::string::npos;
}

/// A minimal XML reader: knows tags, attributes, entities and text. Returns what is wrong; empty:
/// well-formed.
class MarkupReader {
public:
    explicit MarkupReader(std::string_view text) : rest_(text) {}

    std::string check() {
        while (!rest_.empty()) {
            const bool fine = rest_.starts_with('<') ? tag() : text();
            if (!fine) {
                return error_ + " at: " + std::string(rest_.substr(0, 40));
            }
        }
        return open_.empty() ? "" : "never closed: " + open_.back();
    }

private:
    bool wrong(std::string what) {
        error_ = std::move(what);
        return false;
    }
    std::string_view take_until(std::string_view end) {
        const size_t at = rest_.find(end);
        const std::string_view taken = rest_.substr(0, at);
        rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at + end.size());
        return taken;
    }
    bool characters(std::string_view text) {
        for (size_t i = 0; i < text.size(); ++i) {
            const unsigned char c = static_cast<unsigned char>(text[i]);
            if (c < 0x20 && c != '\n' && c != '\t' && c != '\r') {
                return wrong("control character");
            }
            if (c == '&') {
                const std::string_view entity = text.substr(i, text.find(';', i) - i);
                if (entity != "&amp" && entity != "&lt" && entity != "&gt" && entity != "&quot" &&
                    entity != "&#39") {
                    return wrong("entity " + std::string(entity));
                }
            }
        }
        return true;
    }
    bool text() {
        const std::string_view content = rest_.substr(0, rest_.find('<'));
        rest_.remove_prefix(content.size());
        return characters(content);
    }
    bool tag() {
        rest_.remove_prefix(1);
        if (rest_.starts_with('?') || rest_.starts_with('!')) {
            take_until(">");
            return true;
        }
        const bool closing = rest_.starts_with('/');
        if (closing) {
            rest_.remove_prefix(1);
        }
        const std::string name = take_name();
        if (name.empty()) {
            return wrong("tag without name");
        }
        if (closing) {
            if (open_.empty() || open_.back() != name) {
                return wrong("unbalanced </" + name + ">");
            }
            open_.pop_back();
            return take_until(">").empty() || wrong("attributes in a closing tag");
        }
        return attributes(name);
    }
    std::string take_name() {
        size_t length = 0;
        while (length < rest_.size() &&
               (std::isalnum(static_cast<unsigned char>(rest_[length])) || rest_[length] == '-')) {
            ++length;
        }
        const std::string name(rest_.substr(0, length));
        rest_.remove_prefix(length);
        return name;
    }
    bool attributes(const std::string& name) {
        while (true) {
            while (rest_.starts_with(' ') || rest_.starts_with('\n')) {
                rest_.remove_prefix(1);
            }
            if (rest_.starts_with("/>")) {
                rest_.remove_prefix(2);
                return true;
            }
            if (rest_.starts_with('>')) {
                rest_.remove_prefix(1);
                open_.push_back(name);
                return true;
            }
            if (take_name().empty() || !rest_.starts_with("=\"")) {
                return wrong("attribute of <" + name + ">");
            }
            rest_.remove_prefix(2);
            const std::string_view value = take_until("\"");
            if (value.find('<') != std::string_view::npos || !characters(value)) {
                return wrong("value of an attribute of <" + name + ">");
            }
        }
    }

    std::string_view rest_;
    std::vector<std::string> open_;
    std::string error_;
};

inline RunReport report() {
    RunReport made;
    made.info.kernel = "7.3.4";
    made.info.flavour = "fast";
    made.info.seed = 7;
    made.info.command = {"run", "flagship"};
    made.info.versions = {{"QEMU", nasty}};
    made.info.packages = {{"guest image", {"busybox-static_1.37_amd64", nasty}}};
    made.info.duration = std::chrono::hours(1);

    RowResult good;
    good.id = good.name = good.expected_key = "slot-power/idle";
    good.description = "does it";
    good.checks = {{.check = Check::removed, .value = "1.1 s"}};

    RowResult known = good;
    known.id = known.expected_key = "surprise/idle";
    known.checks = {
        {.check = Check::removed, .passed = false, .value = "64.6 s", .evidence = {nasty}},
        {.check = Check::replug, .value = "3.0 s"}};
    Episode episode;
    episode.loss.loss = Loss::surprise;
    episode.loss.bdf = "0000:01:00.0";
    episode.loss.notified = std::chrono::milliseconds(50);
    episode.loss.remove_returned = std::chrono::milliseconds(64'600);
    episode.clients = {{.name = nasty}};
    episode.fences = {{"drm_submitter@victim", std::chrono::microseconds(12'500), -19},
                      {nasty, std::chrono::microseconds(40'000), -62}};
    // The black hole runs for minutes before the loss; what counts is the time since the loss.
    episode.loss.event = std::chrono::steady_clock::time_point(std::chrono::minutes(10));
    LateAccess late;
    late.time = episode.loss.event + std::chrono::milliseconds(250);
    late.name = nasty;
    episode.accesses.first = {late};
    episode.replug.emplace();
    episode.replug->ready = std::chrono::seconds(2);
    known.episodes = {episode};

    RowResult bad = good;
    bad.id = bad.expected_key = "hang/busy";
    bad.checks = {
        {.check = Check::kfd_usable, .passed = false, .value = "no", .evidence = {nasty}}};
    bad.kernel_log.complaints = {
        {.kind = ComplaintKind::kasan, .title = nasty, .lines = {nasty}, .stack = {"f"}}};
    bad.kernel_log.notes = {{nasty, 5, 2}};
    bad.bundle = "results/failed/hang-busy";
    known.tests = {{"suite.late", TestOutcome::fail, "timeout"},
                   {"suite.ring", TestOutcome::skip, "no ring"}};
    bad.tests = {{"suite.good", TestOutcome::pass}, {nasty, TestOutcome::fail, "late"}};

    RowResult skipped = good;
    skipped.id = skipped.expected_key = "debug-only";
    skipped.checks.clear();
    skipped.skip_reason = "needs a kernel with CONFIG_KASAN";

    made.rows = {good, known, bad, skipped};
    for (RowResult& row : made.rows) {
        judge(row, ExpectedFailures({{"surprise/idle", Check::removed, "C12", {nasty}}}));
    }
    made.integrity.add(IntegrityKind::late_complaint, nasty, 2, "hang/busy");
    made.integrity.add(IntegrityKind::not_judged, "no CONFIG_KASAN: much is not found");
    return made;
}

}  // namespace hotplug
