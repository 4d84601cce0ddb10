// SPDX-License-Identifier: GPL-2.0
// Purpose: see client_table.h.
// Thread: see client_table.h.
#include "hotplug/guest/client_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace hotplug {

extern const char* const client_descriptions;  // made by the build: in_guest/clients/describe.cmake

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 4> common_states = {"ready", "progress", "error", "end"};

ClientDescription::Gpu parse_gpu(const std::string& word) {
    if (word == "node") {
        return ClientDescription::Gpu::node;
    }
    return word == "gpu_id" ? ClientDescription::Gpu::gpu_id : ClientDescription::Gpu::none;
}

ClientDescription parse_client(const json& said) {
    ClientDescription client{said.at("name").get<std::string>(),
                             parse_gpu(said.at("gpu").get<std::string>()),
                             said.at("worker").get<bool>(),
                             {},
                             {}};
    for (const json& argument : said.at("arguments")) {
        client.arguments.push_back(argument.at("name").get<std::string>());
    }
    for (const json& state : said.at("states")) {
        client.states.push_back(state.at("state").get<std::string>());
    }
    return client;
}

const std::vector<ClientDescription>& table() {
    static const std::vector<ClientDescription> clients = [] {
        auto parsed = parse_client_descriptions(client_descriptions);
        if (!parsed) {
            throw std::logic_error(parsed.error().message);  // the build's: a test holds it
        }
        return std::move(*parsed);
    }();
    return clients;
}

template <typename List>
bool contains(const List& list, std::string_view word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

}  // namespace

bool ClientDescription::takes(std::string_view argument) const {
    return !argument.starts_with("--") ||
           contains(arguments, argument.substr(0, argument.find('=')));
}

bool ClientDescription::reports(std::string_view state) const {
    return contains(common_states, state) || contains(states, state);
}

const ClientDescription* find_client(std::string_view name) {
    const auto& clients = table();
    const auto found = std::find_if(clients.begin(), clients.end(),
                                    [&](const ClientDescription& one) { return one.name == name; });
    return found == clients.end() ? nullptr : &*found;
}

std::vector<std::string> client_names() {
    std::vector<std::string> names;
    for (const ClientDescription& client : table()) {
        names.push_back(client.name);
    }
    return names;
}

hp::Result<std::vector<ClientDescription>> parse_client_descriptions(std::string_view text) {
    try {
        std::vector<ClientDescription> clients;
        for (const json& said : json::parse(text)) {
            clients.push_back(parse_client(said));
        }
        return clients;
    } catch (const json::exception& error) {
        return hp::fail(fmt::format("the clients' descriptions: {}", error.what()));
    }
}

}  // namespace hotplug
