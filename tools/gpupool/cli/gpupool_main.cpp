// SPDX-License-Identifier: GPL-2.0
// Purpose: gpupool, what the sysadmin types. Exit status: 0 done, 1 refused (or, of doctor, not in
// order), 2 nobody can tell. Thread: one.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "gpupool/cli/pool_client.h"
#include "gpupool/cli/print.h"
#include "gpupool/driver/vm_alive.h"

namespace {

using gpupool::PoolClient;
using nlohmann::json;

constexpr int refused = 1, cannot_tell = 2;
constexpr const char* default_socket = "/run/gpupool/socket";
constexpr const char* default_run = "/run/gpupool";
constexpr uint64_t follow_patience_ms = 24ull * 3600 * 1000;
constexpr double cluster_patience_s = 300;
// A monitor of a busy host answers late.
constexpr uint64_t doctor_patience_ms = 60ull * 1000;

struct Options {
    std::string socket = default_socket;
    bool as_json = false;
    std::string key;
    double wait_s = -1;
};

/// Says what is wrong and with what status the program ends.
struct Failure {
    int status;
    std::string line;
};

class Session {
public:
    explicit Session(const Options& options) : options_(options) {}

    /// The answer to a request that was carried out. `tell`: a refusal, to who wants JSON.
    json ask(json request, bool tell = true) {
        if (!client_) {
            auto connected = PoolClient::connect(options_.socket);
            if (!connected) {
                throw Failure{cannot_tell, connected.error().message};
            }
            client_ = std::move(*connected);
        }
        request["id"] = ++id_;
        auto answer = client_->ask(request);
        if (!answer) {
            throw Failure{cannot_tell, answer.error().message};
        }
        if (!answer->value("ok", false)) {
            if (options_.as_json && tell) {
                std::cout << answer->dump() << "\n";
            }
            throw Failure{answer->value("code", "") == "ledger" ? cannot_tell : refused,
                          answer->value("code", "?") + ": " + answer->value("error", "?")};
        }
        return *answer;
    }

    /// The same for what changes something: with the key, if one was given.
    json change(json request) {
        if (!options_.key.empty()) {
            request["request"] = options_.key;
        }
        return ask(std::move(request));
    }

    /// Until something has happened after that event, or the time is over.
    void wait_for_event(uint64_t after, uint64_t timeout_ms) {
        try {
            ask({{"do", "events"}, {"after", after}, {"most", 1}, {"timeout_ms", timeout_ms}},
                false);
        } catch (const Failure& failure) {
            if (failure.status != refused) {
                throw;
            }
        }
    }

    /// As JSON if that is wanted, else `text`.
    void show(const json& answer, const std::string& text) const {
        std::cout << (options_.as_json ? answer.dump() + "\n" : text);
    }

    /// Until what `named` names is in a state that is `wanted`, if somebody wants to wait. Fails as
    /// soon as it is in one that says that nothing will come of it.
    void wait_for(json named, const std::vector<std::string>& wanted,
                  const std::vector<std::string>& in_vain = {}) {
        if (options_.wait_s < 0) {
            return;
        }
        std::vector<std::string> until = wanted;
        until.insert(until.end(), in_vain.begin(), in_vain.end());
        named["do"] = "wait";
        named["until"] = until;
        named["timeout_ms"] = static_cast<uint64_t>(options_.wait_s * 1000);
        const json answer = ask(named);
        const auto state = answer.at("state").get<std::string>();
        const bool over = state == "over" && std::ranges::find(wanted, "closed") != wanted.end();
        if (!over && std::ranges::find(wanted, state) == wanted.end()) {
            throw Failure{refused, "bad-state: it is " + state + ", see 'gpupool events'"};
        }
    }

private:
    const Options& options_;
    std::optional<PoolClient> client_;
    int id_ = 0;
};

/// `DEFINITION` is a file, or `-`.
json read_definition(const std::string& file) {
    if (file.empty()) {
        return json::object();
    }
    std::ifstream stream;
    if (file != "-") {
        stream.open(file);
        if (!stream) {
            throw Failure{refused, "bad-request: " + file + " cannot be read"};
        }
    }
    json value = json::parse(file == "-" ? std::cin : stream, nullptr, false);
    if (value.is_discarded()) {
        throw Failure{refused, "bad-request: " + file + " is no JSON"};
    }
    return value;
}

/// {"mi": "mi300x"} of "mi:mi300x".
json expectations(const std::vector<std::string>& words) {
    json expected = json::object();
    for (const std::string& word : words) {
        const size_t colon = word.find(':');
        if (colon == std::string::npos) {
            throw Failure{refused, "bad-request: '" + word + "' is not POOL:PROFILE"};
        }
        expected[word.substr(0, colon)] = word.substr(colon + 1);
    }
    return expected;
}

void follow_events(Session& session, uint64_t most, bool follow) {
    json request{{"do", "events"}, {"most", most}};
    while (true) {
        const json answer = session.ask(request);
        for (const json& event : answer.at("events")) {
            session.show(event, gpupool::event_text(event));
            request["after"] = event.at("number");
        }
        std::cout << std::flush;
        if (!follow) {
            return;
        }
        request.erase("most");
        request["timeout_ms"] = follow_patience_ms;
        if (!request.contains("after")) {
            request["after"] = 0;
        }
    }
}

/// The row of a table of the status; a refusal when there is none of that name.
json row_of(const json& table, const std::string& name, const char* code) {
    const auto found =
        std::ranges::find_if(table, [&](const json& row) { return row.at("name") == name; });
    if (found == table.end()) {
        throw Failure{refused, std::string(code) + ": there is no '" + name + "'"};
    }
    return *found;
}

std::string state_of_vm(Session& session, const std::string& vm) {
    const json status = session.ask({{"do", "status"}});
    return row_of(status.at("vms"), vm, "unknown-vm").at("state").get<std::string>();
}

/// The VM runs and has leases of so many GPUs of the pool, each of which has one: what is missing
/// of that is begun, and waited for. For a cluster, which asks again when it is not sure.
int have_running(Session& session, const std::string& vm, const std::string& pool, uint64_t gpus) {
    if (state_of_vm(session, vm) == "stopping") {
        session.wait_for({{"vm", vm}}, {"stopped"});
    }
    if (state_of_vm(session, vm) == "stopped") {
        session.ask({{"do", "start"}, {"vm", vm}, {"cluster", true}});
    }
    session.wait_for({{"vm", vm}}, {"running"}, {"stopped"});
    const json status = session.ask({{"do", "status"}, {"pool", pool}});
    uint64_t leased = 0;
    std::vector<json> awaited;
    for (const json& lease : status.at("leases")) {
        const auto state = lease.at("state").get<std::string>();
        if (lease.at("vm") == vm && state != "returning") {
            ++leased;
            // One that lost its GPU is the pool's to repair: the VM goes on meanwhile.
            if (state == "queued" || state == "attaching") {
                awaited.push_back(lease.at("lease"));
            }
        }
    }
    if (leased < gpus) {
        const json answer =
            session.ask({{"do", "lease"}, {"pool", pool}, {"vm", vm}, {"count", gpus - leased}});
        for (const json& made : answer.at("leases")) {
            awaited.push_back(made.at("lease"));
        }
    }
    for (const json& lease : awaited) {
        session.wait_for({{"lease", lease}}, {"active"});
    }
    return 0;
}

/// The VM does not run, and will not be started by what is in the books.
int have_stopped(Session& session, const std::string& vm) {
    const std::string state = state_of_vm(session, vm);
    if (state == "running" || state == "starting") {
        session.ask({{"do", "stop"}, {"vm", vm}, {"cluster", true}});
    }
    session.wait_for({{"vm", vm}}, {"stopped"});
    return 0;
}

/// The status, anew each time that something happens; at least as often as `refresh_ms`, for what
/// it says of time.
int show_top(Session& session, uint64_t screens) {
    constexpr uint64_t refresh_ms = 2000;
    constexpr const char* clear = "\033[H\033[2J";
    const bool terminal = ::isatty(STDOUT_FILENO) != 0;
    uint64_t after = 0;
    for (uint64_t shown = 0; screens == 0 || shown < screens; ++shown) {
        const json last = session.ask({{"do", "events"}, {"most", 8}});
        const json& events = last.at("events");
        const json status = session.ask({{"do", "status"}});
        std::string text = gpupool::status_text(status) + "\n";
        for (const json& event : events) {
            text += gpupool::event_text(event);
            after = event.at("number").get<uint64_t>();
        }
        std::cout << (terminal ? clear : "");
        session.show(status, text);
        std::cout << std::flush;
        if (shown + 1 != screens) {
            session.wait_for_event(after, refresh_ms);
        }
    }
    return 0;
}

/// Declares all verbs; the one that was typed leaves what to do in `todo`.
class CommandLine {
public:
    CommandLine() : app_("GPUs that are leased to VMs by hot-plug", "gpupool") {
        app_.add_option("--socket", options_.socket, "socket of gpupoold")
            ->envname("GPUPOOL_SOCKET")
            ->capture_default_str();
        app_.add_flag("--json", options_.as_json, "print gpupoold's answers unchanged");
        app_.add_option("--request", options_.key,
                        "key of this request: a repeated key is carried out once");
        app_.require_subcommand(1);
        app_.fallthrough();
        declare_pools();
        declare_vms();
        declare_leases();
        declare_views();
    }

    int run(int argc, char** argv) {
        try {
            app_.parse(argc, argv);
        } catch (const CLI::ParseError& error) {
            return app_.exit(error) == 0 ? 0 : refused;
        }
        try {
            Session session(options_);
            return todo_(session);
        } catch (const Failure& failure) {
            std::cerr << "gpupool: " << failure.line << "\n";
            return failure.status;
        } catch (const json::exception& error) {
            std::cerr << "gpupool: gpupoold answers what this gpupool does not know: "
                      << error.what() << "\n";
            return cannot_tell;
        }
    }

private:
    using Todo = std::function<int(Session&)>;

    CLI::App* verb(CLI::App& parent, const char* name, const char* help, Todo todo) {
        CLI::App* const command = parent.add_subcommand(name, help);
        command->callback([this, todo = std::move(todo)] { todo_ = todo; });
        return command;
    }
    /// One that changes something, and says nothing when it is done.
    CLI::App* quiet(CLI::App& parent, const char* name, const char* help,
                    std::function<json()> request, std::function<void(Session&)> then = {}) {
        return verb(parent, name, help, [request = std::move(request), then](Session& session) {
            const json answer = session.change(request());
            session.show(answer, "");
            if (then) {
                then(session);
            }
            return 0;
        });
    }
    void add_wait(CLI::App* command) {
        command
            ->add_option("--wait", options_.wait_s, "seconds to wait for the end of the operation")
            ->check(CLI::Range(0.0, 86400.0));
    }

    void declare_pools() {
        auto* create = quiet(app_, "create", "creates a pool of GPUs of one kind", [this] {
            return json{{"do", "create"},         {"pool", pool_},     {"profile", profile_},
                        {"vram_mib", vram_mib_},  {"spares", spares_}, {"on_failure", on_failure_},
                        {"give_up_s", give_up_s_}};
        });
        create->add_option("POOL", pool_)->required();
        create->add_option("--profile", profile_, "the kind of its GPUs: mi300x")->required();
        create->add_option("--vram-mib", vram_mib_, "VRAM of each GPU; default: the profile's");
        create->add_option("--spares", spares_, "GPUs reserved for leases that lose theirs");
        create
            ->add_option("--on-failure", on_failure_,
                         "replace a failed GPU, or wait for an administrator")
            ->check(CLI::IsMember({"replace", "wait"}))
            ->capture_default_str();

        create->add_option("--give-up-s", give_up_s_,
                           "seconds without a GPU after which a lease is not waited for; 0: never");

        auto* add = verb(app_, "add", "adds GPUs to a pool", [this](Session& session) {
            for (const std::string& serial : serials_) {
                json request{{"do", "add"}, {"pool", pool_}, {"serial", serial}};
                if (!profile_.empty()) {
                    request["profile"] = profile_;
                }
                if (!options_.key.empty()) {  // each is a request of its own
                    request["request"] = options_.key + "/" + serial;
                }
                const json answer = session.ask(request);
                session.show(answer, answer.at("gpu").get<std::string>() + "\n");
            }
            return 0;
        });
        add->add_option("POOL", pool_)->required();
        add->add_option("SERIAL", serials_, "serial number of the board, such as 0xe01")
            ->required();
        add->add_option("--profile", profile_, "refuse if the pool is of another kind");

        auto* fail = quiet(app_, "fail", "declares a GPU broken", [this] {
            json request{{"do", "fail"}, {"gpu", gpu_}};
            if (!reason_.empty()) {
                request["reason"] = reason_;
            }
            if (epoch_) {
                request["epoch"] = *epoch_;
            }
            return request;
        });
        fail->add_option("GPU", gpu_)->required();
        fail->add_option("--reason", reason_);
        fail->add_option("--epoch", epoch_, "refuse if this tenancy has ended");

        auto* replace =
            verb(app_, "replace", "replaces a leased GPU by another one", [this](Session& s) {
                json request{{"do", "replace"}, {"gpu", gpu_}};
                if (!with_.empty()) {
                    request["with"] = with_;
                }
                const json answer = s.change(request);
                s.show(answer, answer.at("by").get<std::string>() + "\n");
                s.wait_for({{"gpu", answer.at("by")}}, {"leased"});
                return 0;
            });
        replace->add_option("GPU", gpu_)->required();
        replace->add_option("WITH", with_, "another GPU of the pool; default: any free one");
        add_wait(replace);

        auto* offline = quiet(app_, "offline", "stops leasing a GPU", [this] {
            return json{{"do", "offline"}, {"gpu", gpu_}, {"retire", retire_}};
        });
        offline->add_option("GPU", gpu_)->required();
        offline->add_flag("--retire", retire_, "for good; only from quarantine");

        auto* online = quiet(
            app_, "online", "leases a GPU again, after a test if it is in quarantine",
            [this] {
                return json{{"do", "online"}, {"gpu", gpu_}};
            },
            [this](Session& s) {
                s.wait_for({{"gpu", gpu_}}, {"free", "leased"}, {"quarantined"});
            });
        online->add_option("GPU", gpu_)->required();
        add_wait(online);
    }

    /// What a cluster asks for is waited for in any case.
    void be_patient() {
        if (options_.wait_s < 0) {
            options_.wait_s = cluster_patience_s;
        }
    }

    void declare_vms() {
        auto* vm = app_.add_subcommand("vm", "declares, starts and stops VMs");
        vm->require_subcommand(1);
        vm->fallthrough();
        auto* declare = quiet(*vm, "declare", "defines a VM", [this] {
            json request{{"do", "declare"},
                         {"vm", vm_},
                         {"gpus", gpus_},
                         {"definition", read_definition(definition_)}};
            if (owner_) {
                request["owner"] = *owner_;
            }
            return request;
        });
        declare->add_option("VM", vm_)->required();
        declare->add_option("DEFINITION", definition_, "file with kernel, initrd ...; - for stdin");
        declare->add_option("--gpus", gpus_, "most GPUs that it may have at a time")
            ->capture_default_str();
        declare->add_option("--owner", owner_, "uid that may start it and lease for it");
        auto* start = quiet(
            *vm, "start", "starts it",
            [this] {
                return json{{"do", "start"}, {"vm", vm_}};
            },
            [this](Session& s) {
                s.wait_for({{"vm", vm_}}, {"running"}, {"stopped"});
            });
        auto* stop = verb(*vm, "stop", "stops it; its leases are lost, its GPUs scrubbed",
                          [this](Session& session) {
                              if (by_cluster_) {
                                  be_patient();
                                  return have_stopped(session, vm_);
                              }
                              session.show(session.change({{"do", "stop"}, {"vm", vm_}}), "");
                              session.wait_for({{"vm", vm_}}, {"stopped"});
                              return 0;
                          });
        stop->add_flag("--by-cluster", by_cluster_,
                       "for the cluster's agent only: succeeds if the VM does not run");
        auto* run = verb(*vm, "run", "starts it and leases for it; for the cluster's agent only",
                         [this](Session& session) {
                             be_patient();
                             return have_running(session, vm_, pool_, gpus_);
                         });
        run->add_option("--pool", pool_)->required();
        run->add_option("--gpus", gpus_, "number of leases")->capture_default_str();
        auto* alive = verb(*vm, "alive", "exits with 0 if it runs, without asking gpupoold",
                           [this](Session&) { return gpupool::vm_alive(run_, vm_) ? 0 : refused; });
        alive->add_option("--run", run_, "gpupoold's --run folder")->capture_default_str();
        alive->add_option("VM", vm_)->required();
        run->add_option("VM", vm_)->required();
        add_wait(run);
        for (auto* command : {start, stop}) {
            command->add_option("VM", vm_)->required();
            add_wait(command);
        }
    }

    void declare_leases() {
        auto* lease = verb(app_, "lease", "leases GPUs for a running VM", [this](Session& session) {
            const json answer = session.change({{"do", "lease"},
                                                {"pool", pool_},
                                                {"vm", vm_},
                                                {"count", count_},
                                                {"queue", !no_queue_}});
            std::string text;
            for (const json& made : answer.at("leases")) {
                text += made.at("lease").dump() + "\n";
            }
            session.show(answer, text);
            std::cout << std::flush;
            for (const json& made : answer.at("leases")) {
                session.wait_for({{"lease", made.at("lease")}}, {"active"});
            }
            return 0;
        });
        lease->add_option("POOL", pool_)->required();
        lease->add_option("VM", vm_)->required();
        lease->add_option("--count", count_, "number of leases, all or none")
            ->capture_default_str();
        lease->add_flag("--no-queue", no_queue_, "refuse if no GPU is free");
        add_wait(lease);
        auto* give_back = quiet(
            app_, "return", "ends a lease",
            [this] {
                return json{{"do", "return"}, {"lease", lease_}};
            },
            [this](Session& s) {
                s.wait_for({{"lease", lease_}}, {"closed"});
            });
        give_back->add_option("LEASE", lease_)->required();
        add_wait(give_back);
    }

    void declare_views() {
        auto* status =
            verb(app_, "status", "shows pools, GPUs and leases", [this](Session& session) {
                json request{{"do", "status"}};
                if (!pool_.empty()) {
                    request["pool"] = pool_;
                }
                const json answer = session.ask(request);
                session.show(answer, gpupool::status_text(answer));
                return 0;
            });
        status->add_option("POOL", pool_);
        auto* plan =
            verb(app_, "plan", "shows what would replace each GPU that fails", [this](Session& s) {
                const json answer = s.ask({{"do", "plan"}, {"pool", pool_}});
                s.show(answer, gpupool::plan_text(answer));
                return 0;
            });
        plan->add_option("POOL", pool_)->required();
        auto* events = verb(app_, "events", "prints the latest events", [this](Session& session) {
            follow_events(session, most_, follow_);
            return 0;
        });
        events->add_option("--most", most_, "number of past events")->capture_default_str();
        events->add_flag("--follow", follow_, "and print new ones as they come");
        auto* top = verb(app_, "top", "shows status and latest events, and follows changes",
                         [this](Session& session) { return show_top(session, screens_); });
        top->add_option("--screens", screens_, "end after this many screens; 0: never")
            ->capture_default_str();
        auto* capacity =
            verb(app_, "capacity", "prints how many GPUs of a pool a cluster may rely on",
                 [this](Session& s) {
                     const json pool = s.ask({{"do", "status"}, {"pool", pool_}}).at("pools").at(0);
                     if (!profile_.empty() && pool.at("profile") != profile_) {
                         throw Failure{refused, "heterogeneous: pool " + pool_ + " is of " +
                                                    pool.at("profile").get<std::string>() +
                                                    ", not of " + profile_};
                     }
                     std::cout << pool.at("capacity") << "\n";
                     return 0;
                 });
        capacity->add_option("POOL", pool_)->required();
        capacity->add_option("--profile", profile_, "refuse if the pool is of another kind");
        auto* note = quiet(app_, "note", "adds an event that happened elsewhere", [this] {
            return json{{"do", "note"}, {"what", what_}, {"detail", reason_}};
        });
        note->add_option("WHAT", what_, "cluster-node, cluster-fencing ...")->required();
        note->add_option("DETAIL", reason_);
        verb(app_, "map", "prints an HTML page of VMs, slots and GPUs", [](Session& session) {
            const json answer = session.ask({{"do", "map"}});
            session.show(answer, answer.at("html").get<std::string>());
            return 0;
        });
        verb(app_, "metrics", "prints metrics in Prometheus's text format", [](Session& session) {
            const json answer = session.ask({{"do", "metrics"}});
            session.show(answer, answer.at("text").get<std::string>());
            return 0;
        });
        auto* doctor = verb(
            app_, "doctor", "checks whether books, VMs and boards agree", [this](Session& session) {
                const json answer = session.ask({{"do", "doctor"},
                                                 {"timeout_ms", doctor_patience_ms},
                                                 {"expect", expectations(expected_)}});
                std::string text;
                for (const json& finding : answer.at("findings")) {
                    text += finding.get<std::string>() + "\n";
                }
                session.show(answer, text.empty() ? "all is as the books say\n" : text);
                return text.empty() ? 0 : refused;
            });
        doctor->add_option("--expect", expected_, "POOL:PROFILE, as on each node of a cluster");
    }

    CLI::App app_;
    Options options_;
    Todo todo_;
    std::string pool_, profile_, gpu_, vm_, with_, reason_, definition_;
    std::string what_, run_ = default_run;
    std::string on_failure_ = "replace";
    std::vector<std::string> serials_, expected_;
    std::optional<uint64_t> epoch_, owner_;
    uint64_t vram_mib_ = 0, spares_ = 0, gpus_ = 1, count_ = 1, lease_ = 0, most_ = 100;
    uint64_t screens_ = 0, give_up_s_ = 0;
    bool retire_ = false, no_queue_ = false, follow_ = false, by_cluster_ = false;
};

}  // namespace

int main(int argc, char** argv) {
    return CommandLine().run(argc, argv);
}
