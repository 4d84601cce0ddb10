// SPDX-License-Identifier: GPL-2.0
// Purpose: see configuration.h.
// Thread: see configuration.h.
#include "gpupool/daemon/configuration.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "gpupool/placement/operations.h"
#include "lib/json_text.h"
#include "lib/serial_number.h"

namespace gpupool {

namespace {

using json = nlohmann::ordered_json;

/// What is wrong with a member. Caught where the file is read.
struct Wrong : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// An object of the file, read member by member; a member that nobody knows is a slip of the pen.
class Table {
public:
    Table(const json& object, std::string where, std::initializer_list<std::string_view> members)
        : object_(object), where_(std::move(where)) {
        if (!object.is_object()) {
            throw Wrong((where_.empty() ? "/" : where_) + ": has to be an object");
        }
        for (const auto& [name, value] : object.items()) {
            if (std::find(members.begin(), members.end(), name) == members.end()) {
                throw Wrong(fmt::format("{}/{}: there is no such member, there are {}", where_,
                                        name, fmt::join(members, ", ")));
            }
        }
    }

    bool has(const char* name) const { return object_.contains(name); }
    std::string path(const char* name) const { return where_ + "/" + name; }

    const json& at(const char* name) const {
        const auto found = object_.find(name);
        if (found == object_.end()) {
            throw Wrong(path(name) + ": is missing");
        }
        return *found;
    }
    /// Each has a name; none when the member is missing.
    json objects(const char* name) const {
        if (!has(name)) {
            return json::object();
        }
        if (!at(name).is_object()) {
            throw Wrong(path(name) + ": has to be an object");
        }
        return at(name);
    }
    std::string text(const char* name) const {
        if (!at(name).is_string()) {
            throw Wrong(path(name) + ": has to be a text");
        }
        return at(name).get<std::string>();
    }
    uint64_t number_or(const char* name, uint64_t most, uint64_t otherwise) const {
        if (!has(name)) {
            return otherwise;
        }
        if (!at(name).is_number_unsigned() || at(name).get<uint64_t>() > most) {
            throw Wrong(fmt::format("{}: has to be a number from 0 to {}", path(name), most));
        }
        return at(name).get<uint64_t>();
    }

private:
    const json& object_;
    std::string where_;
};

Pool pool_of(const std::string& name, const json& value) {
    const Table table(value, "/pools/" + name,
                      {"profile", "vram_mib", "spares", "on_failure", "give_up_s"});
    const std::string on_failure = table.has("on_failure") ? table.text("on_failure") : "replace";
    if (on_failure != "replace" && on_failure != "wait") {
        throw Wrong(table.path("on_failure") + ": is replace or wait");
    }
    return {
        .name = name,
        .profile = table.text("profile"),
        .vram_mib = table.number_or("vram_mib", 1 << 24, 0),
        .spares = static_cast<unsigned>(table.number_or("spares", 1 << 16, 0)),
        .replace = on_failure == "replace",
        .owner = ::geteuid(),
        .give_up_s = static_cast<unsigned>(table.number_or("give_up_s", longest_patience_s, 0))};
}

Configuration::Board board_of(const std::string& where, const json& value) {
    const Table table(value, where, {"pool", "serial"});
    const auto serial = hp::parse_serial(table.text("serial"));
    if (!serial) {
        throw Wrong(table.path("serial") + ": " + serial.error().message);
    }
    return {table.text("pool"), *serial};
}

Vm vm_of(const std::string& name, const json& value) {
    const Table table(value, "/vms/" + name, {"gpus", "owner", "definition"});
    return {.name = name,
            .gpus = static_cast<unsigned>(table.number_or("gpus", 1 << 16, 1)),
            .definition = table.at("definition").dump(),
            .owner = static_cast<uid_t>(table.number_or("owner", INT32_MAX, ::geteuid()))};
}

Configuration configuration_of(const json& whole) {
    const Table table(whole, "", {"pools", "gpus", "vms", "cluster"});
    Configuration read;
    const std::string cluster = table.has("cluster") ? table.text("cluster") : "none";
    if (cluster != "none" && cluster != "pacemaker") {
        throw Wrong(table.path("cluster") + ": is none or pacemaker");
    }
    read.clustered = cluster == "pacemaker";
    const json pools = table.objects("pools");
    for (const auto& [name, value] : pools.items()) {
        read.pools.push_back(pool_of(name, value));
    }
    if (table.has("gpus")) {
        if (!table.at("gpus").is_array()) {
            throw Wrong("/gpus: has to be a list");
        }
        for (const json& value : table.at("gpus")) {
            read.gpus.push_back(board_of(fmt::format("/gpus/{}", read.gpus.size()), value));
        }
    }
    const json vms = table.objects("vms");
    for (const auto& [name, value] : vms.items()) {
        read.vms.push_back(vm_of(name, value));
    }
    return read;
}

/// The reason of a refusal is for people here: there is nobody to read the code.
template <typename T>
hp::Result<void> as_result(const Outcome<T>& outcome) {
    return outcome ? hp::Result<void>() : hp::fail(outcome.error().message);
}

hp::Result<void> apply_pool(const Pool& wanted, const Driver& driver, Books& books) {
    const auto found = books.pools.find(wanted.name);
    if (found == books.pools.end()) {
        return driver.check_profile(wanted.profile).and_then([&] {
            return as_result(create_pool(books, {.uid = wanted.owner, .admin = true}, wanted));
        });
    }
    Pool& pool = found->second;
    if (pool.profile != wanted.profile || pool.vram_mib != wanted.vram_mib) {
        return hp::fail(fmt::format("pool {} is of {} with {} MiB, and stays so: name another pool",
                                    pool.name, pool.profile, pool.vram_mib));
    }
    pool.spares = wanted.spares;
    pool.replace = wanted.replace;
    pool.give_up_s = wanted.give_up_s;
    return {};
}

hp::Result<void> apply_board(const Configuration::Board& wanted, const Caller& admin,
                             Books& books) {
    const auto found = std::ranges::find_if(
        books.gpus, [&](const auto& entry) { return entry.second.serial == wanted.serial; });
    if (found == books.gpus.end()) {
        return as_result(add_gpu(books, admin, wanted.pool, wanted.serial, ""));
    }
    if (found->second.pool != wanted.pool) {
        return hp::fail(fmt::format("{} ({:#x}) is in pool {}, and stays there", found->second.name,
                                    wanted.serial, found->second.pool));
    }
    return {};
}

hp::Result<void> apply_vm(const Vm& wanted, const Caller& admin, const Driver& driver,
                          Books& books) {
    if (auto good = driver.check_definition(wanted.definition); !good) {
        return hp::fail(fmt::format("vm {}: {}", wanted.name, good.error().message));
    }
    if (auto good = check_vm(wanted); !good) {
        return as_result(good);
    }
    const auto found = books.vms.find(wanted.name);
    if (found == books.vms.end()) {
        return as_result(declare_vm(books, admin, wanted));
    }
    Vm& vm = found->second;
    if (vm.state == VmState::stopped) {
        vm.gpus = wanted.gpus;
        vm.definition = wanted.definition;
        vm.owner = wanted.owner;
    }
    return {};
}

}  // namespace

hp::Result<Configuration> parse_configuration(std::string_view text, const std::string& file) {
    const auto whole = hp::parse_json_text(text, file);
    if (!whole) {
        return tl::unexpected(whole.error());
    }
    try {
        return configuration_of(*whole);
    } catch (const Wrong& wrong) {
        return hp::fail(fmt::format("{}: {}", file, wrong.what()));
    }
}

hp::Result<Configuration> read_configuration(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) {
        return hp::fail(file.string() + " cannot be read");
    }
    return parse_configuration(text.str(), file.string());
}

hp::Result<void> apply(const Configuration& wanted, const Driver& driver, Books& books) {
    const Caller admin{.uid = ::geteuid(), .admin = true};
    for (const Pool& pool : wanted.pools) {
        if (auto done = apply_pool(pool, driver, books); !done) {
            return done;
        }
    }
    for (const Configuration::Board& board : wanted.gpus) {
        if (auto done = apply_board(board, admin, books); !done) {
            return done;
        }
    }
    for (const Vm& vm : wanted.vms) {
        if (auto done = apply_vm(vm, admin, driver, books); !done) {
            return done;
        }
    }
    settle(books);  // a pool may have fewer spares than before
    return {};
}

}  // namespace gpupool
