// SPDX-License-Identifier: GPL-2.0
// Purpose: see ledger.h.
// Thread: see ledger.h.
#include "gpupool/ledger/ledger.h"

#include <fmt/format.h>

#include <algorithm>

#include "gpupool/placement/invariants.h"

namespace gpupool {

namespace {

// "GPUp", so that file(1) and we know the file for what it is.
constexpr int64_t application_id = 0x47505570;

constexpr const char* schema = R"(
CREATE TABLE pools (
    name TEXT PRIMARY KEY, profile TEXT NOT NULL, vram_mib INTEGER NOT NULL,
    spares INTEGER NOT NULL, replace INTEGER NOT NULL, owner INTEGER NOT NULL,
    give_up_s INTEGER NOT NULL DEFAULT 0, repairs INTEGER NOT NULL DEFAULT 0,
    repair_us INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE gpus (
    name TEXT PRIMARY KEY, pool TEXT NOT NULL, serial INTEGER NOT NULL UNIQUE,
    state TEXT NOT NULL, offline INTEGER NOT NULL, epoch INTEGER NOT NULL,
    lease INTEGER UNIQUE, vm TEXT, slot INTEGER, reason TEXT NOT NULL,
    since_us INTEGER NOT NULL, UNIQUE (vm, slot)) STRICT;
CREATE TABLE vms (
    name TEXT PRIMARY KEY, gpus INTEGER NOT NULL, definition TEXT NOT NULL,
    state TEXT NOT NULL, incarnation INTEGER NOT NULL, owner INTEGER NOT NULL) STRICT;
CREATE TABLE leases (
    id INTEGER PRIMARY KEY, pool TEXT NOT NULL, vm TEXT NOT NULL, state TEXT NOT NULL,
    gpu TEXT UNIQUE, owner INTEGER NOT NULL, since_us INTEGER NOT NULL,
    failed_us INTEGER NOT NULL DEFAULT 0, gave_up INTEGER NOT NULL DEFAULT 0) STRICT;
-- Who had which GPU after which scrub: nobody has it twice after one.
CREATE TABLE tenancies (
    gpu TEXT NOT NULL, epoch INTEGER NOT NULL, lease INTEGER NOT NULL, vm TEXT NOT NULL,
    begun_us INTEGER NOT NULL, PRIMARY KEY (gpu, epoch)) STRICT;
CREATE TABLE requests (
    number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE,
    fingerprint TEXT NOT NULL, answer TEXT NOT NULL) STRICT;
CREATE TABLE events (
    number INTEGER PRIMARY KEY AUTOINCREMENT, time_us INTEGER NOT NULL, what TEXT NOT NULL,
    pool TEXT NOT NULL, gpu TEXT NOT NULL, epoch INTEGER NOT NULL, vm TEXT NOT NULL,
    lease INTEGER NOT NULL, detail TEXT NOT NULL) STRICT;
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
)";

// What a ledger of version 1 lacks.
constexpr const char* from_1_to_2 = R"(
ALTER TABLE pools ADD COLUMN give_up_s INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pools ADD COLUMN repairs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pools ADD COLUMN repair_us INTEGER NOT NULL DEFAULT 0;
ALTER TABLE leases ADD COLUMN failed_us INTEGER NOT NULL DEFAULT 0;
ALTER TABLE leases ADD COLUMN gave_up INTEGER NOT NULL DEFAULT 0;
-- Since when is not known of what waits already: the state is as old as the loss, or younger.
UPDATE leases SET failed_us = since_us WHERE state IN ('degraded', 'replacing');
)";

// Serial numbers use all 64 bits, SQLite's numbers have a sign.
int64_t stored(uint64_t value) {
    return static_cast<int64_t>(value);
}

template <typename Value>
std::optional<int64_t> stored(const std::optional<Value>& value) {
    return value ? std::optional(static_cast<int64_t>(*value)) : std::nullopt;
}

/// Those of `now` that are not, or not so, in `before`.
template <typename Key, typename Value>
std::vector<const Value*> changed_rows(const std::map<Key, Value>& before,
                                       const std::map<Key, Value>& now) {
    std::vector<const Value*> rows;
    for (const auto& [key, value] : now) {
        const auto old = before.find(key);
        if (old == before.end() || !(old->second == value)) {
            rows.push_back(&value);
        }
    }
    return rows;
}

/// Runs `sql` once for each row, with what `bind` binds.
template <typename Row, typename Bind>
hp::Result<void> for_each_row(const Database& database, const char* sql,
                              const std::vector<const Row*>& rows, Bind bind) {
    if (rows.empty()) {
        return {};
    }
    auto statement = database.prepare(sql);
    if (!statement) {
        return tl::unexpected(statement.error());
    }
    for (const Row* row : rows) {
        bind(*statement, *row);
        if (auto done = statement->run(); !done) {
            return done;
        }
    }
    return {};
}

template <typename Read>
hp::Result<void> read_rows(const Database& database, const char* sql, Read read) {
    auto statement = database.prepare(sql);
    if (!statement) {
        return tl::unexpected(statement.error());
    }
    while (true) {
        auto row = statement->step();
        if (!row) {
            return tl::unexpected(row.error());
        }
        if (!*row) {
            return {};
        }
        if (auto good = read(*statement); !good) {
            return good;
        }
    }
}

hp::Result<std::vector<NumberedEvent>> read_events(Statement statement) {
    std::vector<NumberedEvent> events;
    while (true) {
        auto row = statement.step();
        if (!row) {
            return tl::unexpected(row.error());
        }
        if (!*row) {
            return events;
        }
        events.push_back({.number = static_cast<uint64_t>(statement.number(0)),
                          .event = {.time_us = static_cast<uint64_t>(statement.number(1)),
                                    .what = statement.text(2),
                                    .pool = statement.text(3),
                                    .gpu = statement.text(4),
                                    .epoch = static_cast<uint64_t>(statement.number(5)),
                                    .vm = statement.text(6),
                                    .lease = static_cast<LeaseId>(statement.number(7)),
                                    .detail = statement.text(8)}});
    }
}

}  // namespace

hp::Result<Ledger> Ledger::open(const std::filesystem::path& file) {
    auto database = Database::open(file);
    if (!database) {
        return tl::unexpected(database.error());
    }
    Ledger ledger(std::move(*database));
    // Whoever is refused finds the file as it was.
    return ledger.prepare_schema()
        .and_then([&] { return ledger.read_books(); })
        .and_then([&] { return ledger.database_.take_over(); })
        .map([&] { return std::move(ledger); });
}

hp::Result<void> Ledger::prepare_schema() {
    const std::string name = database_.file().string();
    auto sound = read_rows(database_, "PRAGMA quick_check(1)", [&](const Statement& row) {
        return row.text(0) == "ok"
                   ? hp::Result<void>()
                   : hp::fail(fmt::format("the ledger {} is damaged ({}): put a backup in its "
                                          "place, or move it and its -wal away and begin with an "
                                          "empty pool",
                                          name, row.text(0)));
    });
    if (!sound) {
        return sound;
    }
    auto found = database_.number("PRAGMA user_version");
    auto whose = database_.number("PRAGMA application_id");
    auto tables = database_.number("SELECT COUNT(*) FROM sqlite_schema");
    if (!found || !whose || !tables) {
        return tl::unexpected(!found ? found.error() : !whose ? whose.error() : tables.error());
    }
    if (*tables == 0) {
        auto transaction = Transaction::begin(database_);
        if (!transaction) {
            return tl::unexpected(transaction.error());
        }
        return database_
            .execute(fmt::format("{} PRAGMA application_id = {}; PRAGMA user_version = {};", schema,
                                 application_id, version))
            .and_then([&] { return transaction->commit(); });
    }
    if (*whose != application_id) {
        return hp::fail(
            fmt::format("{} is a database, but no ledger of gpupoold: see --state", name));
    }
    if (*found > version) {
        return hp::fail(
            fmt::format("the ledger {} is of version {}, and this gpupoold knows up to "
                        "{}: install a later one",
                        name, *found, version));
    }
    return bring_up_to_date(*found);
}

hp::Result<void> Ledger::bring_up_to_date(int64_t found) {
    if (found == version) {
        return {};
    }
    auto transaction = Transaction::begin(database_);
    if (!transaction) {
        return tl::unexpected(transaction.error());
    }
    return database_.execute(fmt::format("{} PRAGMA user_version = {};", from_1_to_2, version))
        .and_then([&] { return transaction->commit(); });
}

hp::Result<void> Ledger::read_books() {
    const auto unknown = [this](const std::string& what, const std::string& state) {
        return hp::fail(
            fmt::format("the ledger {} is damaged ({} is '{}'): put a backup in its "
                        "place",
                        database_.file().string(), what, state));
    };
    Books books;
    auto read =
        read_rows(database_,
                  "SELECT name, profile, vram_mib, spares, replace, owner, give_up_s, repairs, "
                  "repair_us FROM pools",
                  [&](const Statement& row) -> hp::Result<void> {
                      books.pools.emplace(row.text(0),
                                          Pool{.name = row.text(0),
                                               .profile = row.text(1),
                                               .vram_mib = static_cast<uint64_t>(row.number(2)),
                                               .spares = static_cast<unsigned>(row.number(3)),
                                               .replace = row.number(4) != 0,
                                               .owner = static_cast<uid_t>(row.number(5)),
                                               .give_up_s = static_cast<unsigned>(row.number(6)),
                                               .repairs = static_cast<uint64_t>(row.number(7)),
                                               .repair_us = static_cast<uint64_t>(row.number(8))});
                      return {};
                  })
            .and_then([&] {
                return read_rows(
                    database_,
                    "SELECT name, pool, serial, state, offline, epoch, lease, vm, slot, reason, "
                    "since_us FROM gpus",
                    [&](const Statement& row) -> hp::Result<void> {
                        const auto state = gpu_state(row.text(3));
                        if (!state) {
                            return unknown(row.text(0), row.text(3));
                        }
                        Gpu gpu{.name = row.text(0),
                                .pool = row.text(1),
                                .serial = static_cast<uint64_t>(row.number(2)),
                                .state = *state,
                                .offline = row.number(4) != 0,
                                .epoch = static_cast<uint64_t>(row.number(5)),
                                .vm = row.text(7),
                                .reason = row.text(9),
                                .since_us = static_cast<uint64_t>(row.number(10))};
                        if (const auto lease = row.number_or_nothing(6)) {
                            gpu.lease = static_cast<LeaseId>(*lease);
                        }
                        if (const auto slot = row.number_or_nothing(8)) {
                            gpu.slot = static_cast<unsigned>(*slot);
                        }
                        books.gpus.emplace(row.text(0), std::move(gpu));
                        return {};
                    });
            })
            .and_then([&] {
                return read_rows(
                    database_, "SELECT name, gpus, definition, state, incarnation, owner FROM vms",
                    [&](const Statement& row) -> hp::Result<void> {
                        const auto state = vm_state(row.text(3));
                        if (!state) {
                            return unknown(row.text(0), row.text(3));
                        }
                        books.vms.emplace(row.text(0),
                                          Vm{.name = row.text(0),
                                             .gpus = static_cast<unsigned>(row.number(1)),
                                             .definition = row.text(2),
                                             .state = *state,
                                             .incarnation = static_cast<uint64_t>(row.number(4)),
                                             .owner = static_cast<uid_t>(row.number(5))});
                        return {};
                    });
            })
            .and_then([&] {
                return read_rows(database_,
                                 "SELECT id, pool, vm, state, gpu, owner, since_us, failed_us, "
                                 "gave_up FROM leases WHERE state NOT IN ('closed', 'lost')",
                                 [&](const Statement& row) -> hp::Result<void> {
                                     const auto state = lease_state(row.text(3));
                                     if (!state) {
                                         return unknown(fmt::format("lease {}", row.number(0)),
                                                        row.text(3));
                                     }
                                     Lease lease{.id = static_cast<LeaseId>(row.number(0)),
                                                 .pool = row.text(1),
                                                 .vm = row.text(2),
                                                 .state = *state,
                                                 .owner = static_cast<uid_t>(row.number(5)),
                                                 .since_us = static_cast<uint64_t>(row.number(6)),
                                                 .failed_us = static_cast<uint64_t>(row.number(7)),
                                                 .gave_up = row.number(8) != 0};
                                     if (auto gpu = row.text(4); !gpu.empty()) {
                                         lease.gpu = std::move(gpu);
                                     }
                                     books.leases.emplace(lease.id, std::move(lease));
                                     return {};
                                 });
            })
            .and_then([&] {
                return read_rows(database_, "SELECT value FROM facts WHERE name = 'boot_id'",
                                 [&](const Statement& row) -> hp::Result<void> {
                                     books.boot_id = row.text(0);
                                     return {};
                                 });
            });
    if (!read) {
        return read;
    }
    auto last = database_.number("SELECT COALESCE(MAX(id), 0) FROM leases");
    if (!last) {
        return tl::unexpected(last.error());
    }
    books.next_lease = static_cast<LeaseId>(*last) + 1;
    if (const auto wrong = wrong_in(books); !wrong.empty()) {
        return unknown("its books, where", wrong.front());
    }
    books_ = std::move(books);
    return {};
}

hp::Result<void> Ledger::commit(Books changed, const std::optional<AnsweredRequest>& request) {
    auto transaction = Transaction::begin(database_);
    if (!transaction) {
        return tl::unexpected(transaction.error());
    }
    auto written =
        write(changed)
            .and_then([&] { return write_tenancies(changed); })
            .and_then([&] { return write_events(changed); })
            .and_then([&] { return request ? write_request(*request) : hp::Result<void>(); })
            .and_then([&] { return transaction->commit(); });
    if (!written) {
        return written;
    }
    std::erase_if(changed.leases, [](const auto& entry) { return is_over(entry.second.state); });
    changed.events.clear();
    books_ = std::move(changed);
    return {};
}

hp::Result<void> Ledger::write(const Books& changed) const {
    const auto pools = changed_rows(books_.pools, changed.pools);
    const auto gpus = changed_rows(books_.gpus, changed.gpus);
    const auto vms = changed_rows(books_.vms, changed.vms);
    const auto leases = changed_rows(books_.leases, changed.leases);
    // What is unique may go from one row to another: all that changes goes before anything comes.
    const auto by_name = [](Statement& statement, const auto& row) { statement.bind(row.name); };
    return for_each_row(database_, "DELETE FROM pools WHERE name = ?", pools, by_name)
        .and_then([&] {
            return for_each_row(database_, "DELETE FROM gpus WHERE name = ?", gpus, by_name);
        })
        .and_then(
            [&] { return for_each_row(database_, "DELETE FROM vms WHERE name = ?", vms, by_name); })
        .and_then([&] {
            return for_each_row(
                database_, "DELETE FROM leases WHERE id = ?", leases,
                [](Statement& statement, const Lease& lease) { statement.bind(stored(lease.id)); });
        })
        .and_then([&] {
            return for_each_row(database_, "INSERT INTO pools VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                                pools, [](Statement& statement, const Pool& pool) {
                                    statement.bind(pool.name)
                                        .bind(pool.profile)
                                        .bind(stored(pool.vram_mib))
                                        .bind(int64_t{pool.spares})
                                        .bind(int64_t{pool.replace})
                                        .bind(int64_t{pool.owner})
                                        .bind(int64_t{pool.give_up_s})
                                        .bind(stored(pool.repairs))
                                        .bind(stored(pool.repair_us));
                                });
        })
        .and_then([&] {
            return for_each_row(database_,
                                "INSERT INTO gpus VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", gpus,
                                [](Statement& statement, const Gpu& gpu) {
                                    statement.bind(gpu.name)
                                        .bind(gpu.pool)
                                        .bind(stored(gpu.serial))
                                        .bind(name_of(gpu.state))
                                        .bind(int64_t{gpu.offline})
                                        .bind(stored(gpu.epoch))
                                        .bind(stored(gpu.lease))
                                        .bind_or_null(gpu.vm)
                                        .bind(stored(gpu.slot))
                                        .bind(gpu.reason)
                                        .bind(stored(gpu.since_us));
                                });
        })
        .and_then([&] {
            return for_each_row(database_, "INSERT INTO vms VALUES (?, ?, ?, ?, ?, ?)", vms,
                                [](Statement& statement, const Vm& vm) {
                                    statement.bind(vm.name)
                                        .bind(int64_t{vm.gpus})
                                        .bind(vm.definition)
                                        .bind(name_of(vm.state))
                                        .bind(stored(vm.incarnation))
                                        .bind(int64_t{vm.owner});
                                });
        })
        .and_then([&] {
            return for_each_row(database_, "INSERT INTO leases VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                                leases, [](Statement& statement, const Lease& lease) {
                                    statement.bind(stored(lease.id))
                                        .bind(lease.pool)
                                        .bind(lease.vm)
                                        .bind(name_of(lease.state))
                                        .bind_or_null(lease.gpu.value_or(""))
                                        .bind(int64_t{lease.owner})
                                        .bind(stored(lease.since_us))
                                        .bind(stored(lease.failed_us))
                                        .bind(int64_t{lease.gave_up});
                                });
        })
        .and_then([&]() -> hp::Result<void> {
            if (changed.boot_id == books_.boot_id) {
                return {};
            }
            auto statement =
                database_.prepare("INSERT OR REPLACE INTO facts VALUES ('boot_id', ?)");
            if (!statement) {
                return tl::unexpected(statement.error());
            }
            return statement->bind(changed.boot_id).run();
        });
}

hp::Result<void> Ledger::write_tenancies(const Books& changed) const {
    std::vector<const Gpu*> begun;
    for (const Gpu* gpu : changed_rows(books_.gpus, changed.gpus)) {
        const auto old = books_.gpus.find(gpu->name);
        const bool before = old != books_.gpus.end() && old->second.epoch == gpu->epoch &&
                            old->second.state == GpuState::attaching;
        if (gpu->state == GpuState::attaching && !before) {
            begun.push_back(gpu);
        }
    }
    return for_each_row(database_, "INSERT INTO tenancies VALUES (?, ?, ?, ?, ?)", begun,
                        [](Statement& statement, const Gpu& gpu) {
                            statement.bind(gpu.name)
                                .bind(stored(gpu.epoch))
                                .bind(stored(gpu.lease))
                                .bind(gpu.vm)
                                .bind(stored(gpu.since_us));
                        });
}

hp::Result<void> Ledger::write_events(const Books& changed) const {
    std::vector<const Event*> events;
    for (const Event& event : changed.events) {
        events.push_back(&event);
    }
    return for_each_row(database_,
                        "INSERT INTO events (time_us, what, pool, gpu, epoch, vm, lease, detail) "
                        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                        events,
                        [](Statement& statement, const Event& event) {
                            statement.bind(stored(event.time_us))
                                .bind(event.what)
                                .bind(event.pool)
                                .bind(event.gpu)
                                .bind(stored(event.epoch))
                                .bind(event.vm)
                                .bind(stored(event.lease))
                                .bind(event.detail);
                        })
        .and_then([&] {
            return database_.execute(
                fmt::format("DELETE FROM events WHERE number <= (SELECT MAX(number) FROM events) - "
                            "{}",
                            most_events));
        });
}

hp::Result<void> Ledger::write_request(const AnsweredRequest& request) const {
    auto statement =
        database_.prepare("INSERT INTO requests (key, fingerprint, answer) VALUES (?, ?, ?)");
    if (!statement) {
        return tl::unexpected(statement.error());
    }
    statement->bind(request.key).bind(request.fingerprint).bind(request.answer);
    return statement->run().and_then([&] {
        return database_.execute(fmt::format(
            "DELETE FROM requests WHERE number <= (SELECT MAX(number) FROM requests) - {}",
            most_requests));
    });
}

hp::Result<std::optional<AnsweredRequest>> Ledger::find_request(const std::string& key) const {
    auto statement = database_.prepare("SELECT fingerprint, answer FROM requests WHERE key = ?");
    if (!statement) {
        return tl::unexpected(statement.error());
    }
    return statement->bind(key).step().map([&](bool row) {
        return row ? std::optional(AnsweredRequest{key, statement->text(0), statement->text(1)})
                   : std::nullopt;
    });
}

hp::Result<std::vector<NumberedEvent>> Ledger::events_after(uint64_t number, unsigned most) const {
    auto statement =
        database_.prepare("SELECT * FROM events WHERE number > ? ORDER BY number LIMIT ?");
    if (!statement) {
        return tl::unexpected(statement.error());
    }
    statement->bind(stored(number)).bind(int64_t{most});
    return read_events(std::move(*statement));
}

hp::Result<std::vector<NumberedEvent>> Ledger::last_events(unsigned most) const {
    auto statement = database_.prepare(
        "SELECT * FROM (SELECT * FROM events ORDER BY number DESC LIMIT ?) ORDER BY number");
    if (!statement) {
        return tl::unexpected(statement.error());
    }
    statement->bind(int64_t{most});
    return read_events(std::move(*statement));
}

}  // namespace gpupool
