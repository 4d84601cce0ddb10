// SPDX-License-Identifier: GPL-2.0
// Purpose: requests of the agent protocol, parsed and checked, and the shape of their answers.
// Thread: values, no state.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "lib/result.h"

namespace hp::agent {

/// One request. Members are checked when they are asked for: each kind of request has its own.
class Request {
public:
    static Result<Request> parse(std::string_view line);

    /// Null when the request had none: the answer says so rather than the request being lost.
    const nlohmann::json& id() const { return id_; }
    const std::string& what() const { return what_; }

    Result<std::string> text(const char* member) const;
    Result<std::uint64_t> number(const char* member) const;
    Result<std::uint64_t> number_or(const char* member, std::uint64_t fallback) const;
    Result<std::vector<std::string>> texts(const char* member) const;
    /// An object of texts; absent means empty.
    Result<std::map<std::string, std::string>> table(const char* member) const;

private:
    nlohmann::json id_;
    std::string what_;
    nlohmann::json body_;
};

nlohmann::json success(nlohmann::json members = nlohmann::json::object());
nlohmann::json failure(std::string error);
nlohmann::json with_id(const nlohmann::json& id, nlohmann::json answer);

}  // namespace hp::agent
