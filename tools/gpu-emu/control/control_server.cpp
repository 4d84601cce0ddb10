// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/control/control_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu-emu/pci/config_space.h"
#include "lib/log.h"

namespace gpuemu {
namespace {

using nlohmann::json;

constexpr uint64_t longest_flaky_ms = 3'600'000;
constexpr uint64_t longest_delay_us = 10'000'000;
constexpr uint64_t latest_us = 600'000'000;
constexpr uint64_t any_count = ~0ull;
constexpr uint64_t last_config_byte = ConfigSpace::size - 1;

hp::UnixListener open_or_throw(const std::string& path) {
    auto listener = hp::UnixListener::open(path);
    if (!listener) {
        throw std::runtime_error(listener.error().message);
    }
    return std::move(*listener);
}

hp::Result<uint64_t> number(const json& request, const char* member, uint64_t largest) {
    const auto found = request.find(member);
    const bool natural = found != request.end() && found->is_number_integer() &&
                         (found->is_number_unsigned() || found->get<int64_t>() >= 0);
    if (natural && found->get<uint64_t>() <= largest) {
        return found->get<uint64_t>();
    }
    return hp::fail(largest == any_count
                        ? fmt::format("'{}' has to be a number, 0 or more", member)
                        : fmt::format("'{}' has to be a number from 0 to {}", member, largest));
}

hp::Result<std::string> text(const json& request, const char* member) {
    const auto found = request.find(member);
    if (found == request.end() || !found->is_string()) {
        return hp::fail(fmt::format("'{}' has to be a text", member));
    }
    return found->get<std::string>();
}

/// Member `surface`: a list of names.
hp::Result<std::vector<Surface>> surfaces(const json& request) {
    std::vector<Surface> found;
    const auto names = request.find("surface");
    if (names != request.end() && names->is_array()) {
        for (const json& name : *names) {
            if (const auto known =
                    name.is_string() ? parse_surface(name.get<std::string>()) : std::nullopt) {
                found.push_back(*known);
            }
        }
    }
    if (found.empty() || found.size() != names->size()) {
        std::string known;
        for (size_t i = 0; i < surface_count; ++i) {
            known += fmt::format("{}{}", i == 0 ? "" : ", ",
                                 surface_name(Surface{static_cast<uint8_t>(i)}));
        }
        return hp::fail(fmt::format("'surface' has to be a list of some of: {}", known));
    }
    return found;
}

const char* state_name(LossGate::State state) {
    switch (state) {
        case LossGate::State::present: return "present";
        case LossGate::State::ones: return "ones";
        case LossGate::State::hung: return "hung";
    }
    return "";
}

json counter_object(const AccessCounters& counters) {
    static constexpr std::array<const char*, access_kinds> names = {
        "mmio_reads",   "mmio_writes",   "doorbell_writes", "vram_reads", "vram_writes",
        "config_reads", "config_writes", "dma_reads",       "dma_writes", "interrupts",
    };
    json object = json::object();
    for (size_t i = 0; i < names.size(); ++i) {
        object[names[i]] = counters[i];
    }
    return object;
}

json stray_object(const LossGate::StrayDma& stray) {
    json first = json::array();
    for (const LossGate::StrayDma::First& dma : stray.first) {
        first.push_back({{"monotonic_us", dma.time_ns / 1000},
                         {"kind", kind_name(dma.access == DmaAccess::write ? TraceKind::dma_write
                                                                           : TraceKind::dma_read)},
                         {"address", dma.address},
                         {"length", dma.length}});
    }
    return {{"count", stray.count}, {"first", std::move(first)}};
}

json peer_object(const PeerStatus& status) {
    return {{"node", status.node},
            {"peers", status.peers},
            {"reads", status.traffic.reads},
            {"writes", status.traffic.writes},
            {"absent", status.traffic.absent}};
}

/// The answer to a request that asks for nothing back.
hp::Result<json> plain(const hp::Result<void>& done) {
    if (!done) {
        return tl::unexpected(done.error());
    }
    return json::object();
}

}  // namespace

ControlServer::ControlServer(hp::EventLoop& loop, const std::string& socket_path,
                             Controllable& device)
    : loop_(loop),
      device_(device),
      acceptor_(loop, open_or_throw(socket_path), "control client",
                [this](hp::Fd socket) { add_client(std::move(socket)); }) {
    device_.gate().set_observer(this);
}

ControlServer::~ControlServer() {
    device_.gate().set_observer(nullptr);
}

void ControlServer::add_client(hp::Fd socket) {
    if (clients_.size() >= most_clients) {
        hp::log::warning("control client sent away: there are enough");
        return;
    }
    const auto client = clients_.emplace(clients_.end());
    *client = std::make_unique<hp::JsonConnection>(
        loop_, std::move(socket),
        hp::JsonConnection::Handlers{
            .on_line = [this, client](const hp::Result<json>& line) { on_line(**client, line); },
            .on_end =
                [this, client](const std::string& reason) {
                    if (!reason.empty()) {
                        hp::log::warning("control client dropped", {{"reason", reason}});
                    }
                    clients_.erase(client);
                },
        });
}

void ControlServer::on_line(hp::JsonConnection& client, const hp::Result<json>& line) {
    if (!line) {
        client.send({{"ok", false}, {"error", line.error().message}});
        return;
    }
    json answer = handle(*line);
    if (line->is_object() && line->contains("id")) {
        answer["id"] = line->at("id");
    }
    client.send(answer);
}

void ControlServer::vanished(const Vanishing& how) {
    json event{{"event", "vanished"}, {"accesses", how.accesses}};
    if (how.prefix) {
        event["prefix"] = {{"accesses", how.prefix->accesses},
                           {"digest", fmt::format("{:016x}", how.prefix->digest)},
                           {"cpu_digest", fmt::format("{:016x}", how.prefix->cpu_digest)}};
    }
    if (how.at) {
        event["at"] = {{"kind", kind_name(how.at->kind)},
                       {"region", how.at->region},
                       {"offset", how.at->offset},
                       {"name", name_of(how.at->region, how.at->offset)}};
    }
    broadcast(event);
}

/// The register's name; empty where there is none.
std::string ControlServer::name_of(uint8_t region, uint64_t offset) const {
    return region == static_cast<uint8_t>(Region::bar5)
               ? device_.register_name(static_cast<uint32_t>(offset / 4))
               : std::string();
}

void ControlServer::broadcast(const json& event) {
    thread_.check();
    for (const auto& client : clients_) {
        client->send(event);
    }
}

json ControlServer::handle(const json& request) {
    thread_.check();
    Answer answer = hp::fail("a request is an object with a text 'do'");
    if (request.is_object()) {
        if (const auto verb = text(request, "do")) {
            answer = dispatch(*verb, request);
        }
    }
    if (!answer) {
        return {{"ok", false}, {"error", answer.error().message}};
    }
    (*answer)["ok"] = true;
    return std::move(*answer);
}

ControlServer::Answer ControlServer::dispatch(const std::string& verb, const json& request) {
    if (verb == "status") {
        return status();
    }
    if (verb == "counters") {
        return counters(request);
    }
    if (verb == "mark") {
        return mark(request);
    }
    if (verb == "shutdown") {
        return shut_down();
    }
    if (verb == "ras") {
        return ras(request);
    }
    if (verb == "interrupt") {
        return interrupt(request);
    }
    if (verb == "host_notification") {
        return host_notification(request);
    }
    if (verb == "hostile") {
        return hostile(request);
    }
    if (verb == "false_fences") {
        return false_fences(request);
    }
    if (verb == "false_discovery") {
        return false_discovery(request);
    }
    if (verb == "silent_smu") {
        return silent_smu(request);
    }
    if (verb == "silent_boot_loader") {
        return silent_boot_loader(request);
    }
    if (verb == "false_wptr") {
        return false_wptr(request);
    }
    if (verb == "vram_poison") {
        return plain(device_.poison_vram());
    }
    if (verb == "vram_count") {
        return count_in_vram(request);
    }
    return change_loss(verb, request);
}

ControlServer::Answer ControlServer::change_loss(const std::string& verb, const json& request) {
    using Change = hp::Result<void> (*)(LossGate&, uint64_t argument);
    struct Verb {
        std::string_view name;
        const char* argument;  // null: none
        uint64_t largest;
        Change change;
    };
    static constexpr std::array<Verb, 17> verbs = {{
        {"vanish", nullptr, 0,
         [](LossGate& gate, uint64_t) {
             gate.vanish();
             return hp::Result<void>();
         }},
        {"restore", nullptr, 0,
         [](LossGate& gate, uint64_t) {
             gate.restore();
             return hp::Result<void>();
         }},
        {"hang", nullptr, 0, [](LossGate& gate, uint64_t) { return gate.hang(); }},
        {"hang_for_good", nullptr, 0, [](LossGate& gate, uint64_t) { return gate.hang(true); }},
        {"resume", nullptr, 0, [](LossGate& gate, uint64_t) { return gate.resume(); }},
        {"flaky", "ms", longest_flaky_ms,
         [](LossGate& gate, uint64_t ms) { return gate.flaky(std::chrono::milliseconds(ms)); }},
        {"not_ready", "ms", longest_flaky_ms,
         [](LossGate& gate, uint64_t ms) { return gate.not_ready(std::chrono::milliseconds(ms)); }},
        {"drop_irq", "count", any_count,
         [](LossGate& gate, uint64_t count) {
             gate.loss().drop_interrupts(count);
             return hp::Result<void>();
         }},
        {"duplicate_irq", "count", any_count,
         [](LossGate& gate, uint64_t count) {
             gate.loss().duplicate_interrupts(count);
             return hp::Result<void>();
         }},
        {"delay", "us", longest_delay_us,
         [](LossGate& gate, uint64_t us) {
             gate.loss().set_delay(std::chrono::microseconds(us));
             return hp::Result<void>();
         }},
        {"late", "us", latest_us,
         [](LossGate& gate, uint64_t us) {
             gate.set_lateness(std::chrono::microseconds(us));
             return hp::Result<void>();
         }},
        {"late_sdma", "us", latest_us,
         [](LossGate& gate, uint64_t us) {
             gate.set_lateness(std::chrono::microseconds(us), "sdma");
             return hp::Result<void>();
         }},
        {"vanish_after", "accesses", any_count,
         [](LossGate& gate, uint64_t accesses) {
             gate.triggers().vanish_after(accesses);
             return hp::Result<void>();
         }},
        {"vanish_after_reset", "accesses", any_count,
         [](LossGate& gate, uint64_t accesses) {
             gate.triggers().vanish_after_reset(accesses);
             return hp::Result<void>();
         }},
        {"vanish_at_read", "offset", any_count,
         [](LossGate& gate, uint64_t offset) {
             gate.triggers().vanish_at_read(offset);
             return hp::Result<void>();
         }},
        {"vanish_asleep", nullptr, 0,
         [](LossGate& gate, uint64_t) {
             gate.vanish_asleep();
             return hp::Result<void>();
         }},
        {"vanish_after_config", "offset", last_config_byte,
         [](LossGate& gate, uint64_t offset) {
             gate.triggers().vanish_after_config(offset);
             return hp::Result<void>();
         }},
    }};
    for (const Verb& known : verbs) {
        if (known.name != verb) {
            continue;
        }
        if (device_.is_black_hole()) {
            return hp::fail(fmt::format("a black hole is gone for ever, '{}' means nothing", verb));
        }
        uint64_t argument = 0;
        if (known.argument != nullptr) {
            const auto given = number(request, known.argument, known.largest);
            if (!given) {
                return tl::unexpected(given.error());
            }
            argument = *given;
        }
        return plain(known.change(device_.gate(), argument));
    }
    return hp::fail(fmt::format("unknown request '{}'", verb));
}

ControlServer::Answer ControlServer::status() const {
    const DeviceStatus device = device_.device_status();
    const LossGate& gate = device_.gate();
    json answer{
        {"profile", device_.profile_name()},
        {"state", state_name(gate.state())},
        {"attached", gate.attached()},
        {"attachments", gate.attachments()},
        {"unknown_registers", device.unknown_registers},
        {"read_only_writes", device.read_only_writes},
        {"engines", device.engines},
        {"mutations", device.mutations},
    };
    for (size_t i = 0; i < surface_count; ++i) {
        if (const Places& places = device.lied_about[i]; places.asked != 0) {
            answer["lies"][surface_name(Surface{static_cast<uint8_t>(i)})] = {
                {"asked", places.asked}, {"told", places.told}};
        }
    }
    if (device.hive) {
        answer["hive"] = peer_object(*device.hive);
    }
    if (device.pcie_switch) {
        answer["switch"] = peer_object(*device.pcie_switch);
    }
    return answer;
}

ControlServer::Answer ControlServer::counters(const json& request) {
    json first = json::array();
    for (const LossGate::FirstAccess& access : device_.gate().first_after_loss()) {
        first.push_back(
            {{"t_us", access.since_loss_ns / 1000},
             {"monotonic_us", (device_.gate().loss().lost_at_ns() + access.since_loss_ns) / 1000},
             {"kind", kind_name(access.kind)},
             {"region", access.region},
             {"offset", access.offset},
             {"name", name_of(access.region, access.offset)}});
    }
    json answer{{"total", counter_object(device_.gate().total())},
                {"after_loss", counter_object(device_.gate().after_loss())},
                {"first_after_loss", std::move(first)},
                {"stray_dma", stray_object(device_.gate().stray_dma())}};
    const auto reset = request.find("reset");
    if (reset != request.end()) {
        if (!reset->is_boolean()) {
            return hp::fail("'reset' has to be true or false");
        }
        if (reset->get<bool>()) {
            device_.gate().reset_counters();
        }
    }
    return answer;
}

hp::Result<void> ControlServer::device_is_there() const {
    if (device_.is_black_hole()) {
        return hp::fail("a black hole has no device behind it");
    }
    return device_.gate().loss().is_there();
}

ControlServer::Answer ControlServer::ras(const json& request) {
    const auto block_name = text(request, "block");
    const auto severity_name = text(request, "severity");
    if (!block_name || !severity_name) {
        return hp::fail("'block' and 'severity' have to be texts");
    }
    const auto block = parse_ras_block(*block_name);
    if (!block) {
        return tl::unexpected(block.error());
    }
    const auto severity = parse_ras_severity(*severity_name);
    if (!severity) {
        return tl::unexpected(severity.error());
    }
    return plain(device_is_there().and_then([&] { return device_.inject(*block, *severity); }));
}

ControlServer::Answer ControlServer::interrupt(const json& request) {
    const auto client = number(request, "client", 0xff);
    const auto source = number(request, "source", 0xff);
    const auto ring = number(request, "ring", 0xff);
    const auto or_zero = [&request](const char* member, uint64_t largest) {
        return request.contains(member) ? number(request, member, largest)
                                        : hp::Result<uint64_t>(0);
    };
    const auto node = or_zero("node", 0xff);
    const auto vmid = or_zero("vmid", 0xf);
    for (const auto* given : {&client, &source, &ring, &node, &vmid}) {
        if (!*given) {
            return tl::unexpected(given->error());
        }
    }
    const auto vanish = request.find("vanish");
    if (vanish != request.end() && !vanish->is_boolean()) {
        return hp::fail("'vanish' has to be true or false");
    }
    const InterruptEntry entry{.client_id = static_cast<uint8_t>(*client),
                               .source_id = static_cast<uint8_t>(*source),
                               .ring_id = static_cast<uint8_t>(*ring),
                               .vmid = static_cast<uint8_t>(*vmid),
                               .node_id = static_cast<uint8_t>(*node)};
    if (const auto there = device_is_there(); !there) {
        return tl::unexpected(there.error());
    }
    device_.interrupt(entry);
    if (vanish != request.end() && vanish->get<bool>()) {
        device_.gate().vanish();
    }
    return json::object();
}

ControlServer::Answer ControlServer::host_notification(const json& request) {
    const auto name = text(request, "what");
    if (!name) {
        return tl::unexpected(name.error());
    }
    const auto what = parse_host_notification(*name);
    if (!what) {
        return tl::unexpected(what.error());
    }
    return plain(device_is_there().and_then([&] { return device_.notify_guest(*what); }));
}

ControlServer::Answer ControlServer::hostile(const json& request) {
    const auto seed = number(request, "seed", any_count);
    const auto rate = number(request, "rate", any_count);
    const auto wanted = surfaces(request);
    if (!seed || !rate || !wanted) {
        return tl::unexpected(!seed ? seed.error() : !rate ? rate.error() : wanted.error());
    }
    return plain(
        device_is_there().and_then([&] { return device_.make_hostile(*seed, *wanted, *rate); }));
}

ControlServer::Answer ControlServer::false_fences(const json& request) {
    const auto queue = text(request, "queue");
    const auto more = number(request, "more", UINT32_MAX);
    const auto count = number(request, "count", any_count);
    if (!queue || !more || !count) {
        return tl::unexpected(!queue ? queue.error() : !more ? more.error() : count.error());
    }
    static constexpr std::pair<std::string_view, WriteBack> queues[] = {
        {"compute", compute_fence}, {"video", video_fence}, {"jpeg", jpeg_fence}};
    const auto* const known =
        std::ranges::find(queues, *queue, [](const auto& entry) { return entry.first; });
    if (known == std::end(queues)) {
        return hp::fail("'queue' has to be compute, video or jpeg");
    }
    return plain(device_is_there().map(
        [&] { device_.shift_fences(known->second, static_cast<uint32_t>(*more), *count); }));
}

ControlServer::Answer ControlServer::false_discovery(const json& request) {
    const auto name = text(request, "field");
    const auto value = number(request, "value", UINT16_MAX);
    if (!name || !value) {
        return tl::unexpected(!name ? name.error() : value.error());
    }
    const auto field = parse_discovery_field(*name);
    if (!field) {
        return tl::unexpected(field.error());
    }
    return plain(device_is_there().and_then(
        [&] { return device_.falsify_discovery(*field, static_cast<uint16_t>(*value)); }));
}

ControlServer::Answer ControlServer::silent_smu(const json& request) {
    const auto count = number(request, "count", any_count);
    if (!count) {
        return tl::unexpected(count.error());
    }
    return plain(device_is_there().map([&] { device_.silence_smu(*count); }));
}

ControlServer::Answer ControlServer::silent_boot_loader(const json& request) {
    const auto count = number(request, "count", any_count);
    if (!count) {
        return tl::unexpected(count.error());
    }
    return plain(device_is_there().map([&] { device_.silence_boot_loader(*count); }));
}

ControlServer::Answer ControlServer::false_wptr(const json& request) {
    const auto value = number(request, "value", UINT32_MAX);
    if (!value) {
        return tl::unexpected(value.error());
    }
    return plain(
        device_is_there().map([&] { device_.falsify_wptr(static_cast<uint32_t>(*value)); }));
}

ControlServer::Answer ControlServer::count_in_vram(const json& request) {
    const auto value = number(request, "value", UINT32_MAX);
    if (!value) {
        return tl::unexpected(value.error());
    }
    const auto count = device_.count_in_vram(static_cast<uint32_t>(*value));
    if (!count) {
        return tl::unexpected(count.error());
    }
    return json{{"count", *count}};
}

ControlServer::Answer ControlServer::mark(const json& request) {
    const auto label = text(request, "label");
    if (!label) {
        return tl::unexpected(label.error());
    }
    if (device_.trace() == nullptr) {
        return hp::fail("no trace is written; start the emulator with --trace");
    }
    device_.trace()->mark(*label);
    return json::object();
}

ControlServer::Answer ControlServer::shut_down() {
    device_.shut_down();
    return json::object();
}

}  // namespace gpuemu
