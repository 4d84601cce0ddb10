// SPDX-License-Identifier: GPL-2.0
// Purpose: SQLite: a database that is open, statements, a transaction that is rolled back unless it
// was committed. Errors are one line that names the file and says what to do.
// Thread: one owner.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lib/result.h"

namespace gpupool {

class Database;

/// Once prepared, run any number of times. Reading and binding cannot fail: SQLite remembers.
class Statement {
public:
    /// Parameters are bound in their order, then the next row is asked for.
    Statement& bind(int64_t value);
    Statement& bind(std::string_view value);
    /// NULL for nothing.
    Statement& bind(const std::optional<int64_t>& value);
    Statement& bind_or_null(const std::string& value);  // NULL for an empty one

    /// True: there is a row. At the end, or after run(), the next bind() is the first parameter's.
    hp::Result<bool> step();
    /// To its end; rows are thrown away.
    hp::Result<void> run();

    int64_t number(int column) const;
    std::string text(int column) const;
    std::optional<int64_t> number_or_nothing(int column) const;

private:
    friend class Database;
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };
    Statement(const Database& database, sqlite3_stmt* statement)
        : database_(&database), statement_(statement) {}
    void begin_binding();

    const Database* database_;
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
    int bound_ = 0;
    bool stepped_ = false;
};

class Database {
public:
    /// Makes the file when it is not there. Nobody else writes to it from the first access on.
    /// Reading changes no byte of it, nor of a write-ahead log that it has.
    static hp::Result<Database> open(const std::filesystem::path& file);
    /// It is what was looked for: it gets a write-ahead log, which is merged in the end.
    hp::Result<void> take_over() const;

    hp::Result<Statement> prepare(std::string_view sql) const;
    hp::Result<void> execute(const std::string& sql) const;
    hp::Result<int64_t> number(std::string_view sql) const;
    /// The line for what SQLite said last.
    hp::Error error() const;
    const std::filesystem::path& file() const { return file_; }

private:
    struct Close {
        void operator()(sqlite3* database) const { sqlite3_close(database); }
    };
    Database(std::filesystem::path file, sqlite3* database)
        : file_(std::move(file)), database_(database) {}

    std::filesystem::path file_;
    std::unique_ptr<sqlite3, Close> database_;
};

class Transaction {
public:
    static hp::Result<Transaction> begin(const Database& database);
    Transaction(Transaction&& other) noexcept
        : database_(std::exchange(other.database_, nullptr)) {}
    Transaction& operator=(Transaction&&) = delete;
    ~Transaction();
    /// On the disk when it returns well; nothing of it is there otherwise.
    hp::Result<void> commit();

private:
    explicit Transaction(const Database& database) : database_(&database) {}
    const Database* database_;
};

}  // namespace gpupool
