// SPDX-License-Identifier: GPL-2.0
// Purpose: see kcidb.h.
// Thread: pure functions.
#include "hotplug/report/kcidb.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hotplug/report/json_report.h"
#include "hotplug/report/repeats.h"

namespace hotplug {

namespace {

using json = nlohmann::ordered_json;

constexpr std::string_view suite = "amdgpu_hotplug";
constexpr size_t longest_excerpt = 16384;

bool is_lower_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool may_be_in_path(char c) {
    return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

/// No text there may have a NUL.
std::string without_nul(std::string text) {
    std::erase(text, '\0');
    return text;
}

/// The beginning, without the half of a character.
std::string excerpt_of(std::string text) {
    text = without_nul(std::move(text));
    if (text.size() > longest_excerpt) {
        size_t end = longest_excerpt;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) {
            --end;
        }
        text.resize(end);
    }
    return text;
}

std::string_view status_of(Outcome outcome) {
    switch (outcome) {
        case Outcome::pass:
        case Outcome::fixed: return "PASS";
        case Outcome::known:
        case Outcome::fail:
        case Outcome::quarantined: return "FAIL";
        case Outcome::skip: return "SKIP";
    }
    return "";
}

std::string_view status_of(TestOutcome outcome) {
    switch (outcome) {
        case TestOutcome::pass: return "PASS";
        case TestOutcome::fail: return "FAIL";
        case TestOutcome::skip: return "SKIP";
    }
    return "";
}

std::string_view status_of(const Integrity& integrity) {
    return integrity.count(Severity::error) != 0 ? "ERROR" : integrity.sound() ? "PASS" : "FAIL";
}

/// What explains a row: its checks, and then the kernel's complaints as they were printed.
std::string log_of(const RowResult& row) {
    std::string text = fmt::format("{}\n", fmt::join(explain(row), "\n"));
    for (const Complaint& complaint : row.kernel_log.complaints) {
        text += fmt::format("{}\n", fmt::join(complaint.lines, "\n"));
    }
    return text;
}

class Submission {
public:
    Submission(const RunReport& report, const KcidbSource& source)
        : report_(report),
          source_(source),
          build_(source.build.empty() ? fmt::format("{}:{}", source.origin, source.kernel)
                                      : source.build) {}

    json made() {
        json all = {{"version", {{"major", 5}, {"minor", 3}}}};
        if (source_.build.empty()) {
            all["checkouts"] = json::array({checkout()});
            all["builds"] = json::array({build()});
        }
        for (const RowResult& row : report_.rows) {
            add(row);
        }
        for (const std::string& id : report_.not_run) {
            json& test = add_test(id, id.substr(0, id.find('~')), "MISS");
            test["comment"] = "not run";
        }
        for (const Repeats& repeats : summarize_repeats(report_.rows)) {
            json& test =
                add_test(repeats.row + ":failure_rate", repeats.row + "/failure_rate", "DONE");
            test["comment"] = format_repeats(repeats);
            test["number"] = {{"value", repeats.rate()}};
        }
        json& integrity = add_test("integrity", "integrity", status_of(report_.integrity));
        if (const std::string text = format_integrity_lines(); !text.empty()) {
            integrity["log_excerpt"] = excerpt_of(text);
        }
        all["tests"] = std::move(tests_);
        return all;
    }

private:
    json checkout() const {
        json made = {{"id", build_}, {"origin", source_.origin}};
        made.update(source_.checkout);
        made["valid"] = true;
        return made;
    }

    json build() const {
        const RunInfo& info = report_.info;
        json made = {{"checkout_id", build_},
                     {"id", build_},
                     {"origin", source_.origin},
                     {"architecture", "x86_64"},
                     {"status", "PASS"}};
        if (const auto packages = info.packages.find("kernel"); packages != info.packages.end()) {
            made["misc"] = {{"packages", packages->second}};
        }
        if (!info.kernel.empty()) {  // a guest has told
            made["comment"] = without_nul(fmt::format("Linux {}", info.kernel));
            made["config_name"] = without_nul(info.flavour);
        }
        return made;
    }

    json environment() const {
        json misc = {{"profile", report_.info.profile}};
        for (const auto& [what, version] : report_.info.versions) {
            // The others are paths of this host.
            if (what == "hpctl" || what == "QEMU" || what == "accelerator") {
                misc[what] = version;
            }
        }
        return {{"comment", "QEMU guest with emulated AMD GPUs"}, {"misc", misc}};
    }

    /// `id`: of this run. `name`: of the row or of what is below it.
    json& add_test(const std::string& id, std::string_view name, std::string_view status) {
        tests_.push_back(
            {{"build_id", build_},
             {"id", without_nul(fmt::format("{}:{}:{}", source_.origin, source_.run, id))},
             {"origin", source_.origin},
             {"environment", environment()},
             {"path", kcidb_path(name)},
             {"status", std::string(status)}});
        return tests_.back();
    }

    void add(const RowResult& row) {
        json& test = add_test(row.id, row.expected_key, status_of(row.outcome));
        test["comment"] =
            without_nul(row.outcome == Outcome::skip ? row.skip_reason : row.description);
        if (!row.started.empty()) {
            test["start_time"] = row.started;
        }
        test["duration"] = static_cast<double>(row.duration.count()) / 1e3;
        test["misc"] = {{"outcome", std::string(to_string(row.outcome))}, {"name", row.name}};
        if (!row.quarantine.empty()) {
            test["misc"]["quarantine"] = row.quarantine;
        }
        if (row.outcome != Outcome::pass && row.outcome != Outcome::skip) {
            test["log_excerpt"] = excerpt_of(log_of(row));
        }
        for (const CheckResult& check : row.checks) {
            add(row, check);
        }
        for (size_t i = 0; i < row.tests.size(); ++i) {
            const TestResult& sub = row.tests[i];
            json& added = add_test(fmt::format("{}:{}", row.id, i + 1),
                                   row.expected_key + "/" + sub.name, status_of(sub.outcome));
            if (!sub.note.empty()) {
                added["log_excerpt"] = excerpt_of(sub.note);
            }
        }
    }

    void add(const RowResult& row, const CheckResult& check) {
        const std::string name(to_string(check.check));
        json& test = add_test(row.id + ":" + name, row.expected_key + "/" + name,
                              check.passed ? "PASS" : "FAIL");
        test["misc"] = {{"outcome", std::string(to_string(check.outcome))}};
        for (const auto& [what, text] :
             {std::pair("value", check.value), std::pair("known", check.reason)}) {
            if (!text.empty()) {
                test["misc"][what] = text;
            }
        }
        if (!check.evidence.empty()) {
            test["log_excerpt"] = excerpt_of(fmt::format("{}\n", fmt::join(check.evidence, "\n")));
        }
    }

    std::string format_integrity_lines() const {
        std::string text;
        for (const IntegrityEntry& entry : report_.integrity.entries()) {
            text += fmt::format("{} {}: {}\n", to_string(entry.severity), rule_of(entry.kind).name,
                                describe(entry));
        }
        return text;
    }

    const RunReport& report_;
    const KcidbSource& source_;
    const std::string build_;
    json tests_ = json::array();
};

}  // namespace

bool is_kcidb_origin(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(),
                                        [](char c) { return is_lower_or_digit(c) || c == '_'; });
}

bool is_kcidb_id(std::string_view text) {
    const size_t colon = text.find(':');
    return colon != std::string_view::npos && is_kcidb_origin(text.substr(0, colon)) &&
           text.find('\0') == std::string_view::npos;
}

std::string kcidb_path(std::string_view name) {
    std::string path(suite);
    bool separate = true;
    for (const char c : name) {
        if (c == '/' || c == '.') {
            separate = true;
            continue;
        }
        path += separate ? "." : "";
        path += may_be_in_path(c) ? c : '_';
        separate = false;
    }
    return path;
}

std::string format_kcidb(const RunReport& report, const KcidbSource& source) {
    return dump(Submission(report, source).made());
}

}  // namespace hotplug
