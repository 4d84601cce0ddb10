// SPDX-License-Identifier: GPL-2.0
// Purpose: see runner_client.h.
// Thread: one at a time.
#include "hotplug/run/runner_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>

#include "hotplug/guest/client_table.h"

namespace hotplug {

namespace {

constexpr auto ready_deadline = std::chrono::seconds(60);
constexpr auto stop_deadline = std::chrono::seconds(5);

/// The first arguments of the programs that need a GPU.
std::vector<std::string> gpu_arguments(const ClientDescription* client, const GpuTarget& target) {
    switch (client == nullptr ? ClientDescription::Gpu::none : client->gpu) {
        case ClientDescription::Gpu::node: return {target.node};
        case ClientDescription::Gpu::gpu_id: return {"--gpu-id", std::to_string(target.gpu_id)};
        case ClientDescription::Gpu::none: break;
    }
    return {};
}

bool says(const std::string& line, std::string_view state) {
    return parse_client_line(line).state == state;
}

}  // namespace

ClientLine parse_client_line(const std::string& text) {
    ClientLine line;
    line.text = text;
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object()) {
        return line;
    }
    const auto word = [&](const char* member) {
        const auto found = json.find(member);
        return found != json.end() && found->is_string() ? found->get<std::string>() : "";
    };
    line.state = word("state");
    line.op = word("op");
    line.reason = word("reason");
    const auto number = [&](const char* member) {
        const auto found = json.find(member);
        return found != json.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
    };
    line.done = number("done");
    line.bad = number("bad");
    line.time_us = number("time_us");
    const auto signed_number = [&](const char* member) {
        const auto found = json.find(member);
        return found != json.end() && found->is_number_integer() ? found->get<int>() : 0;
    };
    line.status = signed_number("status");
    line.error = signed_number("errno");
    return line;
}

GuestClient::GuestClient(Testbed& bed, const StartStep& step, bool worker, JobId job)
    : bed_(&bed), name_(step.name()), role_(step.on), worker_(worker), job_(job) {}

hp::Result<GuestClient> GuestClient::start(Testbed& bed, const StartStep& step,
                                           const GpuTarget& target,
                                           const std::vector<std::string>& options) {
    const ClientDescription* described = find_client(step.program);
    std::vector<std::string> argv = {step.program};
    for (const std::string& argument : gpu_arguments(described, target)) {
        argv.push_back(argument);
    }
    argv.insert(argv.end(), options.begin(), options.end());
    const auto job = bed.spawn(step.name(), argv);
    if (!job) {
        return tl::unexpected(job.error());
    }
    GuestClient client(bed, step, described != nullptr && described->worker, *job);
    const std::string_view awaited_state = client.worker_ ? "progress" : "ready";
    const auto started = bed.wait_output(
        *job, 0, [&](const std::string& line) { return says(line, awaited_state); },
        fmt::format("{} to be {}", step.name(), client.worker_ ? "at work" : "ready"),
        Deadline::after(ready_deadline));
    if (!started) {
        return hp::fail(
            fmt::format("{}; its last line: {}", started.error().message, client.last_line()));
    }
    return client;
}

hp::Result<void> GuestClient::tell(const std::string& line) {
    return bed_->job_input(job_, line);
}

hp::Result<ClientLine> GuestClient::ask(const std::string& line, const std::string& answer,
                                        Deadline deadline) {
    const size_t from = bed_->job(job_).lines.size();
    if (const auto told = tell(line); !told) {
        return tl::unexpected(told.error());
    }
    return bed_
        ->wait_output(
            job_, from, [&](const std::string& text) { return says(text, answer); },
            fmt::format("{} to answer '{}' with '{}'", name_, line, answer), deadline)
        .map([](const OutputLine& output) { return parse_client_line(output.text); });
}

hp::Result<JobExit> GuestClient::wait_end(Deadline deadline) {
    return bed_->wait_exit(job_, deadline);
}

hp::Result<void> GuestClient::signal(int signal) {
    return bed_->signal(job_, signal);
}

std::vector<std::string> stop_all(std::span<GuestClient> clients) {
    std::vector<std::string> stuck;
    for (const int signal : {SIGTERM, SIGKILL}) {
        stuck.clear();
        std::vector<std::pair<GuestClient*, hp::Result<void>>> told;
        for (GuestClient& client : clients) {
            if (!client.exit()) {
                told.emplace_back(&client, client.signal(signal));
            }
        }
        const Deadline deadline = Deadline::for_cleanup(stop_deadline);
        for (const auto& [client, sent] : told) {
            // A refusal is no reason to give up: it may have ended, and the news be on its way.
            if (!client->wait_end(deadline)) {
                stuck.push_back(sent ? fmt::format("{} did not end within {} s of SIGKILL",
                                                   client->name(), stop_deadline.count())
                                     : sent.error().message);
            }
        }
    }
    return stuck;
}

std::string GuestClient::last_line() const {
    const JobView view = bed_->job(job_);
    return view.lines.empty() ? "(it printed nothing)" : view.lines.back().text;
}

ClientLine GuestClient::last_word() const {
    const JobView view = bed_->job(job_);
    for (auto output = view.lines.rbegin(); output != view.lines.rend(); ++output) {
        if (ClientLine line = parse_client_line(output->text); line.state == "end") {
            return line;
        }
    }
    return {};
}

uint64_t GuestClient::bad() const {
    uint64_t most = 0;
    for (const OutputLine& output : bed_->job(job_).lines) {
        most = std::max(most, parse_client_line(output.text).bad);
    }
    return most;
}

std::optional<int> GuestClient::killed_by() const {
    const JobView view = bed_->job(job_);
    if (view.exit && view.exit->status < 0) {
        return -view.exit->status;
    }
    for (const OutputLine& output : view.lines) {
        if (parse_client_line(output.text).op == "SIGBUS") {
            return SIGBUS;
        }
    }
    return std::nullopt;
}

std::optional<ClientLine> GuestClient::failed_fence() const {
    for (const OutputLine& output : bed_->job(job_).lines) {
        if (says(output.text, "fence")) {
            return parse_client_line(output.text);
        }
    }
    return std::nullopt;
}

std::vector<std::string> GuestClient::troubles(Deadline::Clock::time_point from) const {
    std::vector<std::string> found;
    const JobView view = bed_->job(job_);
    for (const OutputLine& output : view.lines) {
        const ClientLine line = parse_client_line(output.text);
        const bool harmless = line.state == "ready" || line.state == "progress";
        if (output.received >= from && (!harmless || line.bad != 0)) {
            found.push_back(fmt::format("{}: {}", name_, line.text));
        }
    }
    if (view.exit) {
        found.push_back(fmt::format("{} ended with status {}, {:.3f} s after the guest's boot",
                                    name_, view.exit->status,
                                    static_cast<double>(view.exit->time_us) / 1e6));
    }
    return found;
}

std::chrono::milliseconds GuestClient::longest_stall(Deadline::Clock::time_point from) const {
    const JobView view = bed_->job(job_);
    // Before it has started it can't be said to stand still.
    auto last = view.lines.empty() ? from : std::max(from, view.lines.front().received);
    Deadline::Clock::duration longest{0};
    const auto look = [&](Deadline::Clock::time_point now) {
        longest = std::max(longest, now - last);
        last = now;
    };
    for (const OutputLine& output : view.lines) {
        if (output.received >= from && says(output.text, "progress")) {
            look(output.received);
        }
    }
    look(Deadline::Clock::now());
    return std::chrono::duration_cast<std::chrono::milliseconds>(longest);
}

hp::Result<void> GuestClient::wait_progress(Deadline deadline) {
    return bed_
        ->wait_output(
            job_, bed_->job(job_).lines.size(),
            [](const std::string& line) { return says(line, "progress"); },
            fmt::format("progress of {}", name_), deadline)
        .map([](const OutputLine&) {});
}

}  // namespace hotplug
