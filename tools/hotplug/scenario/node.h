// SPDX-License-Identifier: GPL-2.0
// Purpose: a value of a scenario file and where it stands: every member is read through a Node, so
// that what is wrong is refused with its JSON pointer. Thread: values.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hotplug {

/// Carries an error out of the parser's recursion; ends at parse_scenario().
struct Refusal : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// All members but refuse() throw a Refusal when the value is not what they return.
class Node {
public:
    using json = nlohmann::ordered_json;  // variants keep the order of the file

    Node(const json& value, std::string pointer) : value_(value), pointer_(std::move(pointer)) {}

    [[noreturn]] void refuse(const std::string& why) const;

    /// Refuses all but an object with some of these members.
    void allow(std::span<const std::string> members) const;
    bool is_list() const { return value_.is_array(); }
    bool has(const std::string& member) const { return value_.contains(member); }
    Node at(const std::string& member) const;
    std::vector<Node> elements() const;
    std::vector<std::pair<std::string, Node>> members() const;

    std::string text() const;
    bool boolean() const;
    int64_t integer(int64_t least, int64_t most) const;
    /// A text, a whole number, true or false.
    nlohmann::json scalar() const;
    std::chrono::milliseconds seconds() const;
    /// "0x74a5": ids are written as the kernel prints them.
    uint16_t device_id() const;
    /// A request to an emulator: what it may contain is the emulator's to know, and to refuse.
    nlohmann::json request() const;

private:
    const json& value_;
    std::string pointer_;
};

}  // namespace hotplug
