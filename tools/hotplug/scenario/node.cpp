// SPDX-License-Identifier: GPL-2.0
// Purpose: see node.h.
// Thread: values.
#include "hotplug/scenario/node.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace hotplug {

void Node::refuse(const std::string& why) const {
    throw Refusal(fmt::format("{}: {}", pointer_.empty() ? "/" : pointer_, why));
}

void Node::allow(std::span<const std::string> members) const {
    if (!value_.is_object()) {
        refuse(fmt::format("expected an object with members from: {}", fmt::join(members, ", ")));
    }
    for (const auto& [name, unused] : value_.items()) {
        if (std::find(members.begin(), members.end(), name) == members.end()) {
            refuse(fmt::format("unknown member '{}', allowed: {}", name, fmt::join(members, ", ")));
        }
    }
}

Node Node::at(const std::string& member) const {
    if (!has(member)) {
        refuse(fmt::format("member '{}' is missing", member));
    }
    return Node(value_.at(member), fmt::format("{}/{}", pointer_, member));
}

std::vector<Node> Node::elements() const {
    if (!value_.is_array()) {
        refuse("expected a list");
    }
    std::vector<Node> nodes;
    for (size_t i = 0; i < value_.size(); ++i) {
        nodes.emplace_back(value_[i], fmt::format("{}/{}", pointer_, i));
    }
    return nodes;
}

std::vector<std::pair<std::string, Node>> Node::members() const {
    if (!value_.is_object()) {
        refuse("expected an object");
    }
    std::vector<std::pair<std::string, Node>> nodes;
    for (const auto& [name, value] : value_.items()) {
        nodes.emplace_back(name, Node(value, fmt::format("{}/{}", pointer_, name)));
    }
    return nodes;
}

std::string Node::text() const {
    if (!value_.is_string() || value_.get_ref<const std::string&>().empty()) {
        refuse("expected a text that is not empty");
    }
    return value_.get<std::string>();
}

bool Node::boolean() const {
    if (!value_.is_boolean()) {
        refuse("expected true or false");
    }
    return value_.get<bool>();
}

int64_t Node::integer(int64_t least, int64_t most) const {
    if (!value_.is_number_integer() || value_.get<int64_t>() < least ||
        value_.get<int64_t>() > most) {
        refuse(fmt::format("expected a whole number from {} to {}", least, most));
    }
    return value_.get<int64_t>();
}

nlohmann::json Node::scalar() const {
    if (!value_.is_string() && !value_.is_number_integer() && !value_.is_boolean()) {
        refuse("expected a text, a whole number, true or false");
    }
    return nlohmann::json::parse(value_.dump());
}

std::chrono::milliseconds Node::seconds() const {
    const double value = value_.is_number() ? value_.get<double>() : -1;
    if (value <= 0 || value > 3600) {
        refuse("expected seconds: a number above 0, at most 3600");
    }
    return std::chrono::milliseconds(std::llround(value * 1000));
}

uint16_t Node::device_id() const {
    const std::string text = this->text();
    uint16_t id = 0;
    const char* end = text.data() + text.size();
    if (!text.starts_with("0x") || text.size() > 6 ||
        std::from_chars(text.data() + 2, end, id, 16) != std::from_chars_result{end, {}}) {
        refuse(fmt::format("'{}' is no device id: write it as \"0x74a5\"", text));
    }
    return id;
}

nlohmann::json Node::request() const {
    if (!value_.is_object() || !value_.contains("do") || !value_.at("do").is_string()) {
        refuse("expected a request of the emulator's control socket: an object with a text 'do'");
    }
    return nlohmann::json::parse(value_.dump());
}

}  // namespace hotplug
