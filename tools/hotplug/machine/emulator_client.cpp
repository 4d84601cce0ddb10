// SPDX-License-Identifier: GPL-2.0
// Purpose: see emulator_client.h.
// Thread: see emulator_client.h.
#include "hotplug/machine/emulator_client.h"

#include <fmt/format.h>

namespace hotplug {

namespace {

using nlohmann::json;

// The emulator answers from its event loop, which never blocks; the time is for a starved host.
constexpr std::chrono::seconds answer_deadline{10};

AccessCounts parse_counts(const json& value) {
    AccessCounts counts;
    counts.mmio_reads = value.at("mmio_reads").get<uint64_t>();
    counts.mmio_writes = value.at("mmio_writes").get<uint64_t>();
    counts.doorbell_writes = value.at("doorbell_writes").get<uint64_t>();
    counts.vram_reads = value.at("vram_reads").get<uint64_t>();
    counts.vram_writes = value.at("vram_writes").get<uint64_t>();
    counts.config_reads = value.at("config_reads").get<uint64_t>();
    counts.config_writes = value.at("config_writes").get<uint64_t>();
    counts.dma_reads = value.at("dma_reads").get<uint64_t>();
    counts.dma_writes = value.at("dma_writes").get<uint64_t>();
    counts.interrupts = value.at("interrupts").get<uint64_t>();
    return counts;
}

LateAccess parse_late_access(const json& value) {
    LateAccess access;
    // Both ends read the same clock: steady_clock is CLOCK_MONOTONIC.
    access.time = Deadline::Clock::time_point(
        std::chrono::microseconds(value.at("monotonic_us").get<int64_t>()));
    access.kind = value.at("kind").get<std::string>();
    access.region = value.at("region").get<unsigned>();
    access.offset = value.at("offset").get<uint64_t>();
    access.name = value.value("name", "");
    return access;
}

StrayDma parse_stray_dma(const json& value) {
    StrayDma stray;
    stray.count = value.at("count").get<uint64_t>();
    for (const json& dma : value.at("first")) {
        stray.first.push_back({.time = Deadline::Clock::time_point(std::chrono::microseconds(
                                   dma.at("monotonic_us").get<int64_t>())),
                               .kind = dma.at("kind").get<std::string>(),
                               .address = dma.at("address").get<uint64_t>(),
                               .length = dma.at("length").get<uint64_t>()});
    }
    return stray;
}

EmulatorCounters parse_counters(const json& answer) {
    EmulatorCounters counters;
    counters.total = parse_counts(answer.at("total"));
    counters.after_loss = parse_counts(answer.at("after_loss"));
    for (const json& access : answer.at("first_after_loss")) {
        counters.first_after_loss.push_back(parse_late_access(access));
    }
    counters.stray_dma = parse_stray_dma(answer.at("stray_dma"));
    return counters;
}

std::string describe_access(const json& access) {
    const auto name = access.at("name").get<std::string>();
    const auto kind = access.at("kind").get<std::string>();
    if (kind.starts_with("dma")) {
        return kind;  // where it went is the guest's choice
    }
    return name.empty() ? fmt::format("{} of region {} offset {:#x}", kind,
                                      access.at("region").get<unsigned>(),
                                      access.at("offset").get<uint64_t>())
                        : fmt::format("{} of {}", kind, name);
}

Vanishing parse_vanishing(const json& event) {
    Vanishing vanishing;
    if (const auto prefix = event.find("prefix"); prefix != event.end()) {
        prefix->at("accesses").get_to(vanishing.accesses);
        prefix->at("digest").get_to(vanishing.digest);
        prefix->at("cpu_digest").get_to(vanishing.cpu_digest);
    }
    if (const auto at = event.find("at"); at != event.end()) {
        vanishing.at = describe_access(*at);
    }
    return vanishing;
}

EmulatorStatus parse_status(const json& answer) {
    EmulatorStatus status;
    status.profile = answer.at("profile").get<std::string>();
    status.state = answer.at("state").get<std::string>();
    status.attached = answer.at("attached").get<bool>();
    status.attachments = answer.at("attachments").get<uint64_t>();
    status.unknown_registers = answer.at("unknown_registers").get<uint64_t>();
    status.lies.count = answer.at("mutations").get<uint64_t>();
    if (const auto lies = answer.find("lies"); lies != answer.end()) {
        for (const auto& [surface, places] : lies->items()) {
            status.lies.surfaces[surface] = {places.at("asked").get<uint64_t>(),
                                             places.at("told").get<std::set<uint32_t>>()};
        }
    }
    status.engines = answer.at("engines").get<std::string>();
    return status;
}

hp::Result<void> no_members(const hp::Result<json>& answer) {
    if (!answer) {
        return tl::unexpected(answer.error());
    }
    return {};
}

template <typename T>
hp::Result<T> parsed(const hp::Result<json>& answer, T (*parse)(const json&)) {
    if (!answer) {
        return tl::unexpected(answer.error());
    }
    try {
        return parse(*answer);
    } catch (const json::exception& error) {
        return hp::fail(
            fmt::format("the emulator's answer is not as the protocol says: {}", error.what()));
    }
}

}  // namespace

hp::Result<std::unique_ptr<EmulatorClient>> EmulatorClient::connect(const std::string& socket_path,
                                                                    std::string name,
                                                                    Deadline deadline) {
    std::unique_ptr<EmulatorClient> client(new EmulatorClient);
    client->name_ = std::move(name);
    auto on_event = [raw = client.get()](const json& event) {
        std::lock_guard lock(raw->mutex_);
        const auto name = event.at("event").get<std::string>();
        ++raw->events_[name];
        if (name == "vanished") {
            raw->vanished_ = event;
        }
        raw->changed_.notify_all();
    };
    auto conversation = JsonConversation::connect(socket_path, client->name_, nullptr,
                                                  std::move(on_event), deadline);
    if (!conversation) {
        return tl::unexpected(conversation.error());
    }
    client->conversation_ = std::move(*conversation);
    return client;
}

hp::Result<json> EmulatorClient::request(std::string_view verb, json members) {
    members["do"] = verb;
    return accept_answer(conversation_->ask(std::move(members), fmt::format("'{}'", verb),
                                            Deadline::for_cleanup(answer_deadline)),
                         fmt::format("{}: {}", name_, verb));
}

hp::Result<EmulatorStatus> EmulatorClient::status() {
    return parsed(request("status"), parse_status);
}

hp::Result<EmulatorCounters> EmulatorClient::counters(bool reset) {
    return parsed(request("counters", {{"reset", reset}}), parse_counters);
}

hp::Result<void> EmulatorClient::vanish() {
    return no_members(request("vanish"));
}

hp::Result<void> EmulatorClient::restore() {
    return no_members(request("restore"));
}

hp::Result<void> EmulatorClient::hang() {
    return no_members(request("hang_for_good"));
}

hp::Result<void> EmulatorClient::resume() {
    return no_members(request("resume"));
}

hp::Result<void> EmulatorClient::flaky(std::chrono::milliseconds time) {
    return no_members(request("flaky", {{"ms", time.count()}}));
}

hp::Result<void> EmulatorClient::drop_irq(unsigned count) {
    return no_members(request("drop_irq", {{"count", count}}));
}

hp::Result<void> EmulatorClient::duplicate_irq(unsigned count) {
    return no_members(request("duplicate_irq", {{"count", count}}));
}

hp::Result<void> EmulatorClient::delay(std::chrono::microseconds per_access) {
    return no_members(request("delay", {{"us", per_access.count()}}));
}

hp::Result<void> EmulatorClient::vanish_after(uint64_t accesses) {
    return no_members(request("vanish_after", {{"accesses", accesses}}));
}

hp::Result<void> EmulatorClient::ras(std::string_view block, std::string_view severity) {
    return no_members(request("ras", {{"block", block}, {"severity", severity}}));
}

hp::Result<void> EmulatorClient::mark(std::string_view label) {
    return no_members(request("mark", {{"label", label}}));
}

hp::Result<void> EmulatorClient::shutdown() {
    return no_members(request("shutdown"));
}

uint64_t EmulatorClient::event_count(const std::string& name) const {
    std::lock_guard lock(mutex_);
    auto found = events_.find(name);
    return found == events_.end() ? 0 : found->second;
}

hp::Result<void> EmulatorClient::wait_event(const std::string& name, uint64_t more_than,
                                            Deadline deadline) const {
    std::unique_lock lock(mutex_);
    auto count = [&] {
        auto found = events_.find(name);
        return found == events_.end() ? 0 : found->second;
    };
    auto awaited = fmt::format("{}'s event '{}'", name_, name);
    if (!deadline.wait(changed_, lock,
                       [&] { return count() > more_than || !conversation_->connected(); })) {
        return hp::fail(deadline.missed(awaited));
    }
    if (count() <= more_than) {
        return hp::fail(fmt::format("{} ended while waiting for {}", name_, awaited));
    }
    return {};
}

hp::Result<Vanishing> EmulatorClient::last_vanishing() const {
    std::lock_guard lock(mutex_);
    if (vanished_.is_null()) {
        return hp::fail(fmt::format("{} has not vanished", name_));
    }
    return parsed(hp::Result<json>(vanished_), parse_vanishing);
}

}  // namespace hotplug
