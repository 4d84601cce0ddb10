// SPDX-License-Identifier: GPL-2.0
// Purpose: says what an object of a scenario file may contain, once, for both who reads it and who
// writes a JSON Schema of it. Thread: values, constant once made.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "hotplug/scenario/node.h"

namespace hotplug {

/// A kind of value: how it is read, and what JSON Schema says of it.
template <typename V>
struct Kind {
    nlohmann::ordered_json schema;
    std::function<V(const Node&)> read;
};

Kind<std::string> text_kind();
/// a-z, 0-9 and -.
Kind<std::string> name_kind();
Kind<bool> boolean_kind();
Kind<int64_t> integer_kind(int64_t least, int64_t most);
Kind<std::chrono::milliseconds> seconds_kind();

template <typename V>
Kind<std::vector<V>> list_kind(const Kind<V>& element) {
    return {{{"type", "array"}, {"items", element.schema}}, [element](const Node& node) {
                std::vector<V> values;
                for (const Node& each : node.elements()) {
                    values.push_back(element.read(each));
                }
                return values;
            }};
}

/// A member of an object that becomes a T.
template <typename T>
struct Member {
    std::string name;
    bool required;
    std::string meaning;
    nlohmann::ordered_json schema;
    std::function<void(const Node&, T&)> read;
};

template <typename T, typename V, typename Field>
Member<T> member(std::string name, bool required, Field T::*field, const Kind<V>& kind,
                 std::string meaning) {
    return {std::move(name), required, std::move(meaning), kind.schema,
            [field, kind](const Node& node, T& into) {
                into.*field = static_cast<Field>(kind.read(node));
            }};
}

template <typename T, typename V, typename Field>
Member<T> needs(std::string name, Field T::*field, const Kind<V>& kind, std::string meaning) {
    return member(std::move(name), true, field, kind, std::move(meaning));
}

template <typename T, typename V, typename Field>
Member<T> may(std::string name, Field T::*field, const Kind<V>& kind, std::string meaning) {
    return member(std::move(name), false, field, kind, std::move(meaning));
}

template <typename T>
struct Object {
    struct Dependency {
        std::string member;
        std::string needs;
    };

    std::vector<Member<T>> members;
    /// Members that mean nothing without another one.
    std::vector<Dependency> dependencies = {};
    /// Refuses what one member says of another.
    std::function<void(const Node&, const T&)> rule = {};
    /// The same in JSON Schema, as far as that can say it.
    nlohmann::ordered_json rule_schema = nlohmann::ordered_json::object();

    T read(const Node& node) const {
        std::vector<std::string> names;
        for (const Member<T>& member : members) {
            names.push_back(member.name);
        }
        node.allow(names);
        for (const Dependency& dependency : dependencies) {
            if (node.has(dependency.member) && !node.has(dependency.needs)) {
                node.refuse("'" + dependency.member + "' belongs to '" + dependency.needs + "'");
            }
        }
        T value;
        for (const Member<T>& member : members) {
            if (member.required || node.has(member.name)) {
                member.read(node.at(member.name), value);
            }
        }
        if (rule) {
            rule(node, value);
        }
        return value;
    }

    nlohmann::ordered_json schema() const {
        nlohmann::ordered_json schema = {{"type", "object"}, {"additionalProperties", false}};
        for (const Member<T>& member : members) {
            auto& property = schema["properties"][member.name];
            property = member.schema;
            property["description"] = member.meaning;
            if (member.required) {
                schema["required"].push_back(member.name);
            }
        }
        for (const Dependency& dependency : dependencies) {
            schema["dependentRequired"][dependency.member].push_back(dependency.needs);
        }
        schema.update(rule_schema);
        return schema;
    }

    Kind<T> kind() const {
        return {schema(), [object = *this](const Node& node) { return object.read(node); }};
    }
};

}  // namespace hotplug
