// SPDX-License-Identifier: GPL-2.0
// Purpose: see database.h.
// Thread: see database.h.
#include "gpupool/ledger/database.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

namespace gpupool {

namespace {

constexpr int busy_timeout_ms = 2000;

hp::Error explain(const std::filesystem::path& file, int code, const char* said) {
    const std::string name = file.string();
    switch (code & 0xff) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return {fmt::format(
                "the ledger {} is locked: another gpupoold or sqlite3 has it open; end that",
                name)};
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
            return {
                fmt::format("the ledger {} is damaged ({}): put a backup in its place, or move it "
                            "and its -wal away and begin with an empty pool",
                            name, said)};
        case SQLITE_FULL:
            return {fmt::format(
                "no space is left for the ledger {}: free some on its file system and repeat",
                name)};
        case SQLITE_CANTOPEN:
        case SQLITE_PERM:
        case SQLITE_READONLY:
        case SQLITE_AUTH:
            return {
                fmt::format("the ledger {} cannot be opened for writing ({}): gpupoold needs a "
                            "folder of its own, see --state",
                            name, said)};
        default: return {fmt::format("the ledger {}: {} ({})", name, said, code)};
    }
}

}  // namespace

// --- Statement ---

void Statement::begin_binding() {
    if (stepped_) {
        sqlite3_reset(statement_.get());
        sqlite3_clear_bindings(statement_.get());
        bound_ = 0;
        stepped_ = false;
    }
    ++bound_;
}

Statement& Statement::bind(int64_t value) {
    begin_binding();
    sqlite3_bind_int64(statement_.get(), bound_, value);
    return *this;
}

Statement& Statement::bind(std::string_view value) {
    begin_binding();
    sqlite3_bind_text(statement_.get(), bound_, value.data(), static_cast<int>(value.size()),
                      SQLITE_TRANSIENT);
    return *this;
}

Statement& Statement::bind(const std::optional<int64_t>& value) {
    if (value) {
        return bind(*value);
    }
    begin_binding();
    sqlite3_bind_null(statement_.get(), bound_);
    return *this;
}

Statement& Statement::bind_or_null(const std::string& value) {
    return value.empty() ? bind(std::optional<int64_t>()) : bind(value);
}

hp::Result<bool> Statement::step() {
    stepped_ = true;
    switch (sqlite3_step(statement_.get())) {
        case SQLITE_ROW: return true;
        case SQLITE_DONE: return false;
        default: return tl::unexpected(database_->error());
    }
}

hp::Result<void> Statement::run() {
    while (true) {
        auto row = step();
        if (!row) {
            sqlite3_reset(statement_.get());
            return tl::unexpected(row.error());
        }
        if (!*row) {
            sqlite3_reset(statement_.get());
            return {};
        }
    }
}

int64_t Statement::number(int column) const {
    return sqlite3_column_int64(statement_.get(), column);
}

std::string Statement::text(int column) const {
    const auto* bytes = sqlite3_column_text(statement_.get(), column);
    const auto size = sqlite3_column_bytes(statement_.get(), column);
    return bytes == nullptr
               ? std::string()
               : std::string(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
}

std::optional<int64_t> Statement::number_or_nothing(int column) const {
    if (sqlite3_column_type(statement_.get(), column) == SQLITE_NULL) {
        return std::nullopt;
    }
    return number(column);
}

// --- Database ---

hp::Result<Database> Database::open(const std::filesystem::path& file) {
    sqlite3* raw = nullptr;
    const int code =
        sqlite3_open_v2(file.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    Database database(file, raw);
    if (code != SQLITE_OK) {
        return tl::unexpected(
            explain(file, code, raw == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(raw)));
    }
    sqlite3_extended_result_codes(raw, 1);
    sqlite3_busy_timeout(raw, busy_timeout_ms);
    // An empty log, which reading makes, goes with the connection.
    std::error_code error;
    const auto log_size = std::filesystem::file_size(file.string() + "-wal", error);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !error && log_size > 0 ? 1 : 0,
                      nullptr);
    // A commit is on the disk when it returns: what follows it cannot be taken back. Exclusive: the
    // daemon knows the books by heart, and nobody may change them behind it.
    for (const char* pragma : {"PRAGMA locking_mode = EXCLUSIVE", "PRAGMA synchronous = FULL"}) {
        if (auto done = database.execute(pragma); !done) {
            return tl::unexpected(done.error());
        }
    }
    return database;
}

hp::Result<void> Database::take_over() const {
    sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
    return execute("PRAGMA journal_mode = WAL");
}

hp::Result<Statement> Database::prepare(std::string_view sql) const {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &statement,
                           nullptr) != SQLITE_OK) {
        return tl::unexpected(error());
    }
    return Statement(*this, statement);
}

hp::Result<void> Database::execute(const std::string& sql) const {
    if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
        return tl::unexpected(error());
    }
    return {};
}

hp::Result<int64_t> Database::number(std::string_view sql) const {
    auto statement = prepare(sql);
    if (!statement) {
        return tl::unexpected(statement.error());
    }
    return statement->step().and_then([&](bool row) -> hp::Result<int64_t> {
        return row ? statement->number(0) : hp::Result<int64_t>(0);
    });
}

hp::Error Database::error() const {
    return explain(file_, sqlite3_extended_errcode(database_.get()),
                   sqlite3_errmsg(database_.get()));
}

// --- Transaction ---

hp::Result<Transaction> Transaction::begin(const Database& database) {
    if (auto begun = database.execute("BEGIN IMMEDIATE"); !begun) {
        return tl::unexpected(begun.error());
    }
    return Transaction(database);
}

Transaction::~Transaction() {
    if (database_ != nullptr) {
        // SQLite may have rolled it back by itself, which makes this an error without a meaning.
        (void)database_->execute("ROLLBACK");
    }
}

hp::Result<void> Transaction::commit() {
    if (auto done = database_->execute("COMMIT"); !done) {
        return done;  // and rolled back by the destructor
    }
    database_ = nullptr;
    return {};
}

}  // namespace gpupool
