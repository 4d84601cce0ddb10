// SPDX-License-Identifier: GPL-2.0
// Purpose: see server.h.
// Thread: see server.h.
#include "gpupool/daemon/server.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "gpupool/daemon/views.h"
#include "gpupool/placement/operations.h"
#include "lib/log.h"
#include "lib/serial_number.h"
#include "lib/unix_socket.h"

namespace gpupool {

namespace {

using nlohmann::json;

constexpr unsigned most_events_at_once = 1000;
constexpr uint64_t longest_wait_ms = 24ull * 3600 * 1000;
constexpr size_t longest_key = 128;

/// A member of a request that is not what it has to be. Caught where requests are taken.
struct BadMember : std::runtime_error {
    using std::runtime_error::runtime_error;
};

template <typename T>
T needed(const json& request, const char* name, const char* kind) {
    const auto found = request.find(name);
    if (found == request.end()) {
        throw BadMember(fmt::format("'{}' is missing", name));
    }
    const bool fits = std::is_same_v<T, bool>          ? found->is_boolean()
                      : std::is_same_v<T, std::string> ? found->is_string()
                                                       : found->is_number_unsigned();
    if (!fits) {
        throw BadMember(fmt::format("'{}' has to be {}", name, kind));
    }
    return found->get<T>();
}

std::string text(const json& request, const char* name) {
    return needed<std::string>(request, name, "a text");
}
std::string text_or(const json& request, const char* name, const std::string& otherwise) {
    return request.contains(name) ? text(request, name) : otherwise;
}
uint64_t number(const json& request, const char* name, uint64_t most) {
    const auto value = needed<uint64_t>(request, name, "a number that is not negative");
    if (value > most) {
        throw BadMember(fmt::format("'{}' has to be at most {}", name, most));
    }
    return value;
}
uint64_t number_or(const json& request, const char* name, uint64_t most, uint64_t otherwise) {
    return request.contains(name) ? number(request, name, most) : otherwise;
}
bool flag_or(const json& request, const char* name, bool otherwise) {
    return request.contains(name) ? needed<bool>(request, name, "true or false") : otherwise;
}

/// A number, or a text with one in hexadecimal: 64 bits are more than some JSON libraries keep.
uint64_t serial_of(const json& request) {
    const auto found = request.find("serial");
    if (found != request.end() && found->is_string()) {
        const auto serial = hp::parse_serial(found->get<std::string>());
        if (!serial) {
            throw BadMember(serial.error().message);
        }
        return *serial;
    }
    return number(request, "serial", UINT64_MAX);
}

/// {"mi": "mi300x"}: the kinds of GPUs that somebody expects pools to be of.
std::map<std::string, std::string> expected_of(const json& request) {
    std::map<std::string, std::string> expected;
    const json given = request.value("expect", json::object());
    const bool fits = given.is_object() && std::ranges::all_of(given, [](const json& profile) {
                          return profile.is_string();
                      });
    if (!fits) {
        throw BadMember("'expect' has to be an object of pools and profiles");
    }
    for (const auto& [pool, profile] : given.items()) {
        expected.emplace(pool, profile.get<std::string>());
    }
    return expected;
}

json done(json members = json::object()) {
    return members;
}

template <typename T, typename Render>
Outcome<json> rendered(const Outcome<T>& outcome, Render render) {
    if (!outcome) {
        return tl::unexpected(outcome.error());
    }
    return render(*outcome);
}

Outcome<json> plain(const Outcome<void>& outcome) {
    if (!outcome) {
        return tl::unexpected(outcome.error());
    }
    return done();
}

Caller caller_of(int socket) {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
        throw std::runtime_error("the kernel does not say who it is");
    }
    return {.uid = peer.uid, .admin = peer.uid == 0 || peer.uid == ::geteuid()};
}

std::string host_name() {
    utsname names{};
    ::uname(&names);
    return names.nodename;
}

/// Whole or not at all; what is written to must not take the daemon down.
void write_whole(const std::filesystem::path& file, const std::string& content) {
    if (file.empty()) {
        return;
    }
    const std::filesystem::path fresh = file.string() + ".new";
    std::ofstream stream(fresh);
    stream << content;
    stream.close();
    std::error_code error;
    if (stream) {
        std::filesystem::rename(fresh, file, error);
    }
    if (!stream || error) {
        hp::log::warning("cannot be written", {{"file", file.string()}});
    }
}

/// The state of what a request names, for who waits for one.
Outcome<std::string> state_of(const Books& books, const json& request) {
    if (request.contains("lease")) {
        const LeaseId id = number(request, "lease", INT64_MAX);
        if (const auto lease = books.leases.find(id); lease != books.leases.end()) {
            return std::string(name_of(lease->second.state));
        }
        if (id == 0 || id >= books.next_lease) {
            return refuse(Code::unknown_lease, fmt::format("there was no lease {} yet", id));
        }
        return std::string("over");
    }
    if (request.contains("gpu")) {
        const std::string name = text(request, "gpu");
        if (const auto gpu = books.gpus.find(name); gpu != books.gpus.end()) {
            return std::string(name_of(gpu->second.state));
        }
        return refuse(Code::unknown_gpu, fmt::format("there is no GPU '{}'", name));
    }
    const std::string name = text(request, "vm");
    if (const auto vm = books.vms.find(name); vm != books.vms.end()) {
        return std::string(name_of(vm->second.state));
    }
    return refuse(Code::unknown_vm, fmt::format("there is no vm '{}'", name));
}

}  // namespace

Server::Server(hp::EventLoop& loop, Keeper& keeper, Options options)
    : loop_(loop), keeper_(keeper), options_(std::move(options)) {
    auto listener = hp::UnixListener::open(options_.socket);
    if (!listener) {
        throw std::runtime_error(listener.error().message);
    }
    // Everybody may ask; what may be done depends on who asks.
    if (::chmod(options_.socket.c_str(), 0666) != 0) {
        throw std::runtime_error(options_.socket + ": its mode cannot be set");
    }
    acceptor_ = std::make_unique<hp::Acceptor>(loop_, std::move(*listener), "client",
                                               [this](hp::Fd fd) { take_client(std::move(fd)); });
    keeper_.set_on_change([this] { changed(); });
    write_views();
}

Server::~Server() {
    keeper_.set_on_change({});
}

void Server::take_client(hp::Fd socket) {
    if (clients_.size() >= most_clients) {
        hp::log::warning("too many clients");
        return;
    }
    const uint64_t number = next_client_++;
    const Caller caller = caller_of(socket.get());
    clients_.push_back({.number = number, .caller = caller, .connection = nullptr});
    clients_.back().connection = std::make_unique<hp::JsonConnection>(
        loop_, std::move(socket),
        hp::JsonConnection::Handlers{
            .on_line = [this,
                        number](hp::Result<json> line) { take_line(number, std::move(line)); },
            .on_end =
                [this, number](const std::string&) {
                    std::erase_if(waiters_,
                                  [&](const Waiter& waiter) { return waiter.client == number; });
                    std::erase_if(clients_,
                                  [&](const Client& client) { return client.number == number; });
                }});
}

void Server::take_line(uint64_t number, hp::Result<json> line) {
    const auto client = std::ranges::find(clients_, number, &Client::number);
    if (client == clients_.end()) {
        return;
    }
    if (!line || !line->is_object()) {
        answer(number, nullptr,
               refuse(Code::bad_request,
                      line ? std::string("a request is a JSON object") : line.error().message));
        return;
    }
    const json id = line->value("id", json());
    std::optional<Answer> result;
    try {
        result = handle(*client, *line);
    } catch (const BadMember& bad) {
        result = refuse(Code::bad_request, bad.what());
    }
    if (result) {
        answer(number, id, *result);
    }
}

void Server::answer(uint64_t number, const json& id, const Answer& result) {
    const auto client = std::ranges::find(clients_, number, &Client::number);
    if (client == clients_.end()) {
        return;
    }
    json message = result ? *result : json::object();
    message["id"] = id;
    message["ok"] = result.has_value();
    if (!result) {
        message["code"] = name_of(result.error().code);
        message["error"] = result.error().message;
    }
    client->connection->send(message);
}

std::optional<Server::Answer> Server::handle(const Client& client, const json& request) {
    const std::string verb = text(request, "do");
    if (const Work work = work_of(client.caller, verb, request)) {
        return change(client.caller, request, work);
    }
    return read(client, verb, request);
}

/// What the verb does to the books; empty for one that only looks. Members are read at once: what
/// is wrong with them is said before anything happens.
Server::Work Server::work_of(const Caller& caller, const std::string& verb, const json& request) {
    if (verb == "create") {
        const std::string on_failure = text_or(request, "on_failure", "replace");
        if (on_failure != "replace" && on_failure != "wait") {
            throw BadMember("'on_failure' is replace or wait");
        }
        Pool pool{.name = text(request, "pool"),
                  .profile = text(request, "profile"),
                  .vram_mib = number_or(request, "vram_mib", 1 << 24, 0),
                  .spares = static_cast<unsigned>(number_or(request, "spares", 1 << 16, 0)),
                  .replace = on_failure == "replace",
                  .give_up_s = static_cast<unsigned>(
                      number_or(request, "give_up_s", longest_patience_s, 0))};
        return [=, this](Books& books) -> Answer {
            if (auto good = keeper_.driver().check_profile(pool.profile); !good) {
                return refuse(Code::bad_request, good.error().message);
            }
            return plain(create_pool(books, caller, pool));
        };
    }
    if (verb == "add") {
        return [=, pool = text(request, "pool"), serial = serial_of(request),
                profile = text_or(request, "profile", "")](Books& books) {
            return rendered(add_gpu(books, caller, pool, serial, profile),
                            [](const std::string& name) {
                                return done({{"gpu", name}});
                            });
        };
    }
    if (verb == "declare") {
        const json definition = request.value("definition", json::object());
        Vm vm{.name = text(request, "vm"),
              .gpus = static_cast<unsigned>(number_or(request, "gpus", 1 << 16, 1)),
              .definition = definition.dump(),
              .owner = static_cast<uid_t>(number_or(request, "owner", INT32_MAX, caller.uid))};
        return [=, this](Books& books) -> Answer {
            // First whether the caller may: the driver says which files are there.
            auto declared = plain(declare_vm(books, caller, vm));
            if (auto good = keeper_.driver().check_definition(vm.definition); declared && !good) {
                return refuse(Code::bad_request, good.error().message);
            }
            return declared;
        };
    }
    if ((verb == "start" || verb == "stop") && options_.clustered &&
        !flag_or(request, "cluster", false)) {
        return [](Books&) -> Answer {
            return refuse(Code::clustered,
                          "Pacemaker says where VMs run: crm_resource --ban, --clear, or "
                          "--meta --set-parameter target-role");
        };
    }
    if (verb == "start") {
        return [=, vm = text(request, "vm")](Books& books) {
            return plain(start_vm(books, caller, vm));
        };
    }
    if (verb == "stop") {
        return [=, vm = text(request, "vm")](Books& books) {
            return plain(stop_vm(books, caller, vm));
        };
    }
    if (verb == "lease") {
        return [=, pool = text(request, "pool"), vm = text(request, "vm"),
                options = LeaseOptions{
                    .count = static_cast<unsigned>(number_or(request, "count", 1 << 16, 1)),
                    .queue = flag_or(request, "queue", true)}](Books& books) {
            return rendered(lease(books, caller, pool, vm, options),
                            [&books](const std::vector<LeaseId>& ids) {
                                json leases = json::array();
                                for (const LeaseId id : ids) {
                                    const Lease& made = books.leases.at(id);
                                    leases.push_back({{"lease", id},
                                                      {"state", name_of(made.state)},
                                                      {"gpu", made.gpu.value_or("")}});
                                }
                                return done({{"leases", std::move(leases)}});
                            });
        };
    }
    if (verb == "return") {
        return [=, id = number(request, "lease", INT64_MAX)](Books& books) {
            return plain(give_back(books, caller, id));
        };
    }
    if (verb == "fail") {
        std::optional<uint64_t> epoch;
        if (request.contains("epoch")) {
            epoch = number(request, "epoch", INT64_MAX);
        }
        return [=, gpu = text(request, "gpu"), reason = text_or(request, "reason", "on request")](
                   Books& books) { return plain(fail_gpu(books, caller, gpu, epoch, reason)); };
    }
    if (verb == "replace") {
        return [=, gpu = text(request, "gpu"), with = text_or(request, "with", "")](Books& books) {
            return rendered(replace_gpu(books, caller, gpu, with), [](const std::string& name) {
                return done({{"by", name}});
            });
        };
    }
    if (verb == "offline") {
        return [=, gpu = text(request, "gpu"),
                retire = flag_or(request, "retire", false)](Books& books) {
            return plain(retire ? retire_gpu(books, caller, gpu)
                                : take_offline(books, caller, gpu));
        };
    }
    if (verb == "note") {
        const Caller writer{.uid = caller.uid,
                            .admin = caller.admin || caller.uid == options_.cluster_user};
        return [=, what = text(request, "what"), detail = text_or(request, "detail", "")](
                   Books& books) { return plain(note(books, writer, what, detail)); };
    }
    if (verb == "online") {
        return [=, gpu = text(request, "gpu")](Books& books) {
            return plain(bring_online(books, caller, gpu));
        };
    }
    return {};
}

/// Does the work on a copy, and has that written down with the answer. A request with a key is
/// carried out once, however often it comes.
Server::Answer Server::change(const Caller& caller, const json& request, const Work& work) {
    const std::string key = text_or(request, "request", "");
    if (key.size() > longest_key) {
        throw BadMember(fmt::format("'request' has to be at most {} bytes", longest_key));
    }
    std::string fingerprint;
    if (!key.empty()) {
        json wanted = request;
        wanted.erase("id");
        fingerprint = fmt::format("uid {}: {}", caller.uid, wanted.dump());
        const auto before = keeper_.ledger().find_request(key);
        if (!before) {
            return refuse(Code::ledger, before.error().message);
        }
        if (*before) {
            return (*before)->fingerprint == fingerprint
                       ? Answer(json::parse((*before)->answer))
                       : refuse(Code::request_reused,
                                fmt::format("the request '{}' was another one", key));
        }
    }
    Books books = keeper_.draft();
    auto result = work(books);
    if (!result) {
        return result;
    }
    std::optional<AnsweredRequest> answered;
    if (!key.empty()) {
        answered = {.key = key, .fingerprint = fingerprint, .answer = result->dump()};
    }
    if (auto written = keeper_.commit(std::move(books), answered); !written) {
        return tl::unexpected(written.error());
    }
    return result;
}

std::optional<Server::Answer> Server::read(const Client& client, const std::string& verb,
                                           const json& request) {
    const Books& books = keeper_.books();
    if (verb == "status" || verb == "plan") {
        std::optional<std::string> pool;
        if (verb == "plan" || request.contains("pool")) {
            pool = text(request, "pool");
            if (!books.pools.contains(*pool)) {
                return refuse(Code::unknown_pool, fmt::format("there is no pool '{}'", *pool));
            }
        }
        return verb == "status" ? status_view(books, pool) : plan_view(books, *pool);
    }
    if (verb == "events") {
        return events(client, request);
    }
    if (verb == "metrics") {
        return done({{"text", metrics_view(books)}});
    }
    if (verb == "map") {
        return done({{"html", map_view(books, host_name())}});
    }
    if (verb == "wait") {
        return wait(client, request);
    }
    if (verb == "doctor") {
        return doctor(client, request);
    }
    return refuse(Code::unknown_verb, fmt::format("'{}' is nothing that gpupoold does", verb));
}

std::optional<Server::Answer> Server::events(const Client& client, const json& request) {
    const auto most =
        static_cast<unsigned>(number_or(request, "most", most_events_at_once, most_events_at_once));
    const bool has_after = request.contains("after");
    const uint64_t after = number_or(request, "after", INT64_MAX, 0);
    const auto look = [this, most, has_after, after]() -> Answer {
        const auto found = has_after ? keeper_.ledger().events_after(after, most)
                                     : keeper_.ledger().last_events(most);
        if (!found) {
            return refuse(Code::ledger, found.error().message);
        }
        json list = json::array();
        for (const NumberedEvent& event : *found) {
            list.push_back(event_view(event));
        }
        return done({{"events", std::move(list)}});
    };
    Answer now = look();
    if (!now || !now->at("events").empty() || !request.contains("timeout_ms")) {
        return now;
    }
    return await(
        client, request,
        [look]() -> std::optional<json> {
            const Answer later = look();
            const bool come = later && !later->at("events").empty();
            return come ? std::optional(*later) : std::nullopt;
        },
        [] { return std::string("nothing has happened"); });
}

/// Answers when `look` has an answer; when it has none in time, refuses with what `otherwise` says.
std::optional<Server::Answer> Server::await(const Client& client, const json& request,
                                            std::function<std::optional<json>()> look,
                                            std::function<std::string()> otherwise) {
    if (std::ranges::count(waiters_, client.number, &Waiter::client) >=
        static_cast<std::ptrdiff_t>(most_waits)) {
        return refuse(Code::bad_state,
                      fmt::format("{} requests of this connection wait already", most_waits));
    }
    const auto timeout = std::chrono::milliseconds(
        number_or(request, "timeout_ms", longest_wait_ms, longest_wait_ms));
    waiters_.push_back({.client = client.number,
                        .id = request.value("id", json()),
                        .look = std::move(look),
                        .deadline = {}});
    const auto self = std::prev(waiters_.end());
    self->deadline = loop_.after(timeout, [this, self, timeout, otherwise = std::move(otherwise)] {
        answer(self->client, self->id,
               refuse(Code::not_yet, fmt::format("after {} ms: {}", timeout.count(), otherwise())));
        waiters_.erase(self);
    });
    return std::nullopt;
}

std::optional<Server::Answer> Server::wait(const Client& client, const json& request) {
    std::vector<std::string> until;
    const json states = request.value("until", json());
    if (!states.is_array() || states.empty()) {
        throw BadMember("'until' has to be a list of states");
    }
    for (const json& state : states) {
        if (!state.is_string()) {
            throw BadMember("'until' has to be a list of states");
        }
        until.push_back(state.get<std::string>());
    }
    if (auto state = state_of(keeper_.books(), request); !state) {
        return tl::unexpected(state.error());
    }
    const auto look = [this, request, until]() -> std::optional<json> {
        const auto state = state_of(keeper_.books(), request);
        const bool come =
            state && (*state == "over" || std::ranges::find(until, *state) != until.end());
        return come ? std::optional(json{{"state", *state}}) : std::nullopt;
    };
    if (auto now = look()) {
        return *now;
    }
    return await(client, request, look, [this, request] {
        const auto state = state_of(keeper_.books(), request);
        return "it is " + (state ? *state : "gone");
    });
}

std::optional<Server::Answer> Server::doctor(const Client& client, const json& request) {
    const uint64_t mine = examinations_begun_ + 1;
    auto refused = await(
        client, request,
        [this, mine, expected = expected_of(request)]() -> std::optional<json> {
            if (examinations_done_ < mine) {
                return std::nullopt;
            }
            Keeper::Findings findings = unlike(keeper_.books(), expected);
            findings.insert(findings.end(), findings_.begin(), findings_.end());
            return json{{"findings", std::move(findings)}};
        },
        [] { return std::string("the hardware is being looked at"); });
    if (!refused) {
        examinations_wanted_ = mine;
        examine();
    }
    return refused;
}

/// One at a time: each has a thread.
void Server::examine() {
    if (examinations_begun_ != examinations_done_ || examinations_wanted_ == examinations_done_) {
        return;
    }
    ++examinations_begun_;
    keeper_.examine([this](Keeper::Findings findings) {
        examinations_done_ = examinations_begun_;
        findings_ = std::move(findings);
        answer_waiters();
        examine();
    });
}

void Server::changed() {
    answer_waiters();
    write_views();
}

void Server::answer_waiters() {
    for (auto waiter = waiters_.begin(); waiter != waiters_.end();) {
        if (const auto come = waiter->look()) {
            answer(waiter->client, waiter->id, *come);
            waiter = waiters_.erase(waiter);
        } else {
            ++waiter;
        }
    }
}

void Server::write_views() {
    if (!options_.metrics.empty()) {
        write_whole(options_.metrics, metrics_view(keeper_.books()));
    }
    if (!options_.map.empty()) {
        write_whole(options_.map, map_view(keeper_.books(), host_name()));
    }
}

}  // namespace gpupool
