// SPDX-License-Identifier: GPL-2.0
// Purpose: requests of the agent protocol, parsed and checked, and the shape of their answers.
// Thread: values, no state.
#include "hotplug/in_guest/agent/request.h"

#include <utility>

#include "lib/json_line.h"

namespace hp::agent {

using nlohmann::json;

Result<Request> Request::parse(std::string_view line) {
    auto parsed = parse_json_line(line);
    if (!parsed || !parsed->is_object()) {
        return fail("a request is one JSON object on one line");
    }
    json body = std::move(*parsed);
    Request request;
    request.id_ = body.value("id", json());
    const auto what = body.find("do");
    if (what == body.end() || !what->is_string()) {
        return fail("a request needs the text member 'do'");
    }
    request.what_ = what->get<std::string>();
    request.body_ = std::move(body);
    return request;
}

Result<std::string> Request::text(const char* member) const {
    const auto it = body_.find(member);
    if (it == body_.end() || !it->is_string()) {
        return fail("'" + what_ + "' needs the text member '" + member + "'");
    }
    return it->get<std::string>();
}

Result<std::uint64_t> Request::number(const char* member) const {
    const auto it = body_.find(member);
    if (it == body_.end() || !it->is_number_unsigned()) {
        return fail("'" + what_ + "' needs the member '" + member +
                    "', a whole number not below 0");
    }
    return it->get<std::uint64_t>();
}

Result<std::uint64_t> Request::number_or(const char* member, std::uint64_t fallback) const {
    return body_.contains(member) ? number(member) : fallback;
}

Result<std::vector<std::string>> Request::texts(const char* member) const {
    const auto it = body_.find(member);
    if (it == body_.end() || !it->is_array() || it->empty()) {
        return fail("'" + what_ + "' needs the member '" + member + "', a list of texts");
    }
    std::vector<std::string> texts;
    for (const json& item : *it) {
        if (!item.is_string()) {
            return fail("every item of '" + std::string(member) + "' must be a text");
        }
        texts.push_back(item.get<std::string>());
    }
    return texts;
}

Result<std::map<std::string, std::string>> Request::table(const char* member) const {
    std::map<std::string, std::string> table;
    const auto it = body_.find(member);
    if (it == body_.end()) {
        return table;
    }
    if (!it->is_object()) {
        return fail("the member '" + std::string(member) + "' must be an object of texts");
    }
    for (const auto& [key, value] : it->items()) {
        if (!value.is_string()) {
            return fail("'" + std::string(member) + "." + key + "' must be a text");
        }
        table.emplace(key, value.get<std::string>());
    }
    return table;
}

json success(json members) {
    members["ok"] = true;
    return members;
}

json failure(std::string error) {
    return {{"ok", false}, {"error", std::move(error)}};
}

json with_id(const json& id, json answer) {
    answer["id"] = id;
    return answer;
}

}  // namespace hp::agent
