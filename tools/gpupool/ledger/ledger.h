// SPDX-License-Identifier: GPL-2.0
// Purpose: the books on the disk. Whoever changes them takes a copy, changes that, and has it
// written down: all of it or nothing. What the books must never say, SQLite refuses too: a GPU with
// two leases, two GPUs in a slot, a tenancy that is not the first of its epoch (which is a scrub
// left out). Thread: one owner. Not modelled: a second writer; the file is locked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "gpupool/ledger/database.h"
#include "gpupool/placement/books.h"
#include "lib/result.h"

namespace gpupool {

/// The answer to a request with a key, for whoever sends it again.
struct AnsweredRequest {
    std::string key;
    std::string fingerprint;  // of what was asked for, and by whom
    std::string answer;       // JSON
};

struct NumberedEvent {
    uint64_t number = 0;  // grows, and never comes twice
    Event event;
};

class Ledger {
public:
    static constexpr int version = 2;
    /// So many are kept.
    static constexpr int64_t most_requests = 10'000;
    static constexpr int64_t most_events = 100'000;

    /// Reads the books, or begins empty ones. Fails for a file that is locked, damaged, from a
    /// later version, somebody else's, or with books that are wrong in themselves.
    static hp::Result<Ledger> open(const std::filesystem::path& file);

    const Books& books() const { return books_; }

    /// Writes down how `changed` differs from books(), its events, and the answer. When it fails,
    /// neither the file nor books() has changed.
    hp::Result<void> commit(Books changed, const std::optional<AnsweredRequest>& request = {});

    hp::Result<std::optional<AnsweredRequest>> find_request(const std::string& key) const;
    /// Those behind `number`, oldest first.
    hp::Result<std::vector<NumberedEvent>> events_after(uint64_t number, unsigned most) const;
    /// The last ones, oldest first.
    hp::Result<std::vector<NumberedEvent>> last_events(unsigned most) const;

private:
    explicit Ledger(Database database) : database_(std::move(database)) {}
    hp::Result<void> prepare_schema();
    hp::Result<void> bring_up_to_date(int64_t found);
    hp::Result<void> read_books();
    hp::Result<void> write(const Books& changed) const;
    hp::Result<void> write_events(const Books& changed) const;
    hp::Result<void> write_tenancies(const Books& changed) const;
    hp::Result<void> write_request(const AnsweredRequest& request) const;

    Database database_;
    Books books_;
};

}  // namespace gpupool
