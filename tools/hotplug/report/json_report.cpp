// SPDX-License-Identifier: GPL-2.0
// Purpose: see json_report.h.
// Thread: pure functions.
#include "hotplug/report/json_report.h"

#include <algorithm>

#include "hotplug/judge/findings.h"
#include "hotplug/report/repeats.h"
#include "hotplug/report/soak.h"

namespace hotplug {

namespace {

using json = nlohmann::ordered_json;

json seconds(const std::optional<std::chrono::microseconds>& time) {
    return time ? json(static_cast<double>(time->count()) / 1e6) : json(nullptr);
}

json to_json(const CheckResult& check) {
    return {{"check", std::string(to_string(check.check))},
            {"passed", check.passed},
            {"outcome", std::string(to_string(check.outcome))},
            {"value", check.value},
            {"evidence", check.evidence},
            {"reason", check.reason}};
}

json to_json(const AbsentAccesses& accesses, std::chrono::steady_clock::time_point loss) {
    json first = json::array();
    for (const LateAccess& access : accesses.first) {
        const std::chrono::duration<double> after_loss = access.time - loss;
        first.push_back({{"after_loss_s", after_loss.count()},
                         {"kind", access.kind},
                         {"region", access.region},
                         {"offset", access.offset},
                         {"name", access.name}});
    }
    return {{"server", accesses.server}, {"black_hole", accesses.black_hole}, {"first", first}};
}

json to_json(const std::vector<FailedFence>& fences) {
    json list = json::array();
    for (const FailedFence& fence : fences) {
        list.push_back({{"client", fence.client},
                        {"signalled_ms", static_cast<double>(fence.after.count()) / 1e3},
                        {"status", fence.status}});
    }
    return list;
}

json to_json(const std::vector<VictimClient>& clients) {
    json list = json::array();
    for (const VictimClient& client : clients) {
        list.push_back({{"client", client.name},
                        {"ended_s", seconds(client.ended)},
                        {"goes_on", client.goes_on},
                        {"signal", client.signal ? json(*client.signal) : json(nullptr)},
                        {"reason", client.reason},
                        {"errno", client.error},
                        {"bad", client.bad},
                        {"last_line", client.last_line}});
    }
    return list;
}

json to_json(const Episode& episode) {
    const LossTimeline& loss = episode.loss;
    json result = {{"loss", std::string(to_string(loss.loss))},
                   {"bdf", loss.bdf},
                   {"event_guest_us", loss.event_guest_us},
                   {"announced_s", seconds(loss.announced)},
                   {"notified_s", seconds(loss.notified)},
                   {"notified_line", loss.notified_line},
                   {"clients", to_json(episode.clients)},
                   {"clients_released_s", seconds(episode.clients_released())},
                   {"fences", to_json(episode.fences)},
                   {"remove_returned_s", seconds(loss.remove_returned)},
                   {"device_deleted_s", seconds(loss.device_deleted)},
                   {"stuck", loss.stuck},
                   {"given_up_s", seconds(loss.given_up)},
                   {"refused", loss.refused},
                   {"accesses", to_json(episode.accesses, loss.event)}};
    if (episode.replug) {
        const ReplugTimeline& replug = *episode.replug;
        result["replug"] = {{"bdf", replug.bdf},
                            {"event_guest_us", replug.event_guest_us},
                            {"enumerated_s", seconds(replug.enumerated)},
                            {"driver_bound_s", seconds(replug.driver_bound)},
                            {"ready_s", seconds(replug.ready)},
                            {"first_job_s", seconds(episode.first_job)},
                            {"stuck", replug.stuck},
                            {"refused", replug.refused}};
    }
    return result;
}

json to_json(const std::optional<Hang>& hang) {
    return hang ? json{{"reason", hang->reason}, {"blocked", hang->blocked}, {"note", hang->note}}
                : json(nullptr);
}

json to_json(const TestResult& test) {
    return {{"test", test.name},
            {"outcome", std::string(to_string(test.outcome))},
            {"note", test.note}};
}

json to_json(const Complaint& complaint) {
    return {{"kind", std::string(to_string(complaint.kind))},
            {"title", complaint.title},
            {"time_s", static_cast<double>(complaint.time_us) / 1e6},
            {"count", complaint.count},
            {"lines", complaint.lines},
            {"stack", complaint.stack}};
}

json to_json(const KernelNote& note) {
    return {{"time_s", static_cast<double>(note.time_us) / 1e6},
            {"count", note.count},
            {"text", note.text}};
}

json to_json(const IntegrityEntry& entry) {
    return {{"kind", std::string(rule_of(entry.kind).name)},
            {"severity", std::string(to_string(entry.severity))},
            {"text", entry.text},
            {"guest", entry.guest},
            {"row", entry.row},
            {"count", entry.count}};
}

template <typename T>
json array_of(const std::vector<T>& elements) {
    json list = json::array();
    for (const T& element : elements) {
        list.push_back(to_json(element));
    }
    return list;
}

}  // namespace

json to_json(const RowResult& row) {
    return {{"id", row.id},
            {"name", row.name},
            {"outcome", std::string(to_string(row.outcome))},
            {"description", row.description},
            {"skip_reason", row.skip_reason},
            {"quarantine", row.quarantine},
            {"attempt", row.attempt},
            {"started", row.started},
            {"duration_s", static_cast<double>(row.duration.count()) / 1e3},
            {"fresh_boot", row.fresh_boot},
            {"guest_unfit", row.unfit},
            {"mutations", row.mutations ? json(*row.mutations) : json(nullptr)},
            {"reached", row.reached},
            {"bundle", row.bundle},
            {"hang", to_json(row.hang)},
            {"checks", array_of(row.checks)},
            {"episodes", array_of(row.episodes)},
            {"tests", array_of(row.tests)},
            {"cut_output", row.cut_output},
            {"complaints", array_of(row.kernel_log.complaints)},
            {"notes", array_of(row.kernel_log.notes)}};
}

json to_json(const RunReport& report) {
    const RunInfo& info = report.info;
    const Tally sum = tally(report.rows);
    return {{"started", info.started},
            {"duration_s", static_cast<double>(info.duration.count()) / 1e3},
            {"seed", info.seed},
            {"kernel", info.kernel},
            {"flavour", info.flavour},
            {"kernel_options_from", info.options_from},
            {"profile", info.profile},
            {"command", info.command},
            {"versions", info.versions},
            {"packages", info.packages},
            {"boots", info.boots},
            {"interrupted", info.interrupted},
            {"out_of_time", info.out_of_time},
            {"error", info.error},
            {"passed", sum.passed},
            {"failed", sum.failed},
            {"skipped", sum.skipped},
            {"quarantined", sum.quarantined},
            {"known_failures", sum.known},
            {"verdict", std::string(to_string(verdict_of(report)))},
            {"integrity", array_of(report.integrity.entries())},
            {"cycles_per_hour", cycles_per_hour(report)},
            {"soaks", array_of(summarize_soaks(report.rows))},
            {"repeats", array_of(summarize_repeats(report.rows))},
            {"findings", findings_json(report)},
            {"rows", array_of(report.rows)},
            {"not_run", report.not_run}};
}

std::string dump(const json& json) {
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

double cycles_per_hour(const RunReport& report) {
    const auto cycles = std::count_if(report.rows.begin(), report.rows.end(), [](const auto& row) {
        return row.cycle != 0 && row.outcome != Outcome::skip;
    });
    const double hours = static_cast<double>(report.info.duration.count()) / 3.6e6;
    return hours > 0 ? static_cast<double>(cycles) / hours : 0;
}

}  // namespace hotplug
