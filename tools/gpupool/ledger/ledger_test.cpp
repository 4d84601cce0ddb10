// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of the ledger: what it keeps, and what it says of a file that it cannot use.
// Thread: the test's.
#include "gpupool/ledger/ledger.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <stdexcept>

#include "gpupool/placement/operations.h"
#include "lib/temp_tree.h"

namespace gpupool {
namespace {

const Caller root{.uid = 0, .admin = true};

class LedgerTest : public testing::Test {
protected:
    Ledger open() {
        auto ledger = Ledger::open(file);
        if (!ledger) {
            throw std::runtime_error(ledger.error().message);
        }
        return std::move(*ledger);
    }
    /// What is said of the file, which stays as it is: so does a write-ahead log beside it.
    std::string refusal() {
        const auto before = files();
        auto ledger = Ledger::open(file);
        const std::string said = ledger ? "" : ledger.error().message;
        ledger = hp::fail("closed");
        EXPECT_TRUE(files() == before) << "a file that was refused was changed: " << said;
        return said;
    }
    std::map<std::string, std::string> files() const {
        std::map<std::string, std::string> found;
        for (const auto& entry : std::filesystem::directory_iterator(folder.root())) {
            std::ifstream in(entry.path(), std::ios::binary);
            found[entry.path().filename()] = {std::istreambuf_iterator<char>(in), {}};
        }
        return found;
    }
    void run_sql(const std::string& sql) {
        sqlite3* raw = nullptr;
        ASSERT_EQ(sqlite3_open(file.c_str(), &raw), SQLITE_OK);
        EXPECT_EQ(sqlite3_exec(raw, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
            << sqlite3_errmsg(raw);
        sqlite3_close(raw);
    }
    void tamper(const std::string& sql) {
        open();
        run_sql(sql);
    }
    Books with_pool(Books books) {
        EXPECT_TRUE(create_pool(books, root, {.name = "mi", .profile = "mi300x", .spares = 1}));
        EXPECT_TRUE(add_gpu(books, root, "mi", 0xffffffffffffffff, ""));
        return books;
    }

    hp::TempTree folder;
    std::filesystem::path file = folder.root() / "ledger";
};

TEST_F(LedgerTest, KeepsBooksEventsAndAnswers) {
    {
        Ledger ledger = open();
        Books books = with_pool(ledger.books());
        books.boot_id = "b";
        ASSERT_TRUE(ledger.commit(books, AnsweredRequest{"key", "print", "{}"}));
        EXPECT_TRUE(ledger.books().events.empty());
    }
    Ledger ledger = open();
    EXPECT_EQ(ledger.books().pools.at("mi").spares, 1u);
    EXPECT_EQ(ledger.books().gpus.at("gpu0").serial, 0xffffffffffffffff);
    EXPECT_EQ(ledger.books().gpus.at("gpu0").state, GpuState::scrubbing);
    EXPECT_EQ(ledger.books().boot_id, "b");
    const auto events = ledger.last_events(10);
    ASSERT_TRUE(events);
    ASSERT_EQ(events->size(), 3u);
    EXPECT_EQ(events->front().event.what, "pool-created");
    EXPECT_EQ(ledger.events_after(events->front().number, 10)->size(), 2u);
    EXPECT_EQ(ledger.find_request("key").value()->fingerprint, "print");
    EXPECT_FALSE(ledger.find_request("other").value());
}

TEST_F(LedgerTest, KeepsWhatIsKnownOfRepairs) {
    {
        Ledger ledger = open();
        Books books = with_pool(ledger.books());
        books.pools.at("mi").give_up_s = 60;
        books.pools.at("mi").repairs = 2;
        books.pools.at("mi").repair_us = 5;
        ASSERT_TRUE(declare_vm(books, root, {.name = "vm", .definition = "{}"}));
        books.leases.emplace(1, Lease{.id = 1,
                                      .pool = "mi",
                                      .vm = "vm",
                                      .state = LeaseState::degraded,
                                      .failed_us = 7,
                                      .gave_up = true});
        books.next_lease = 2;
        ASSERT_TRUE(ledger.commit(books));
    }
    const Ledger ledger = open();
    const Pool& pool = ledger.books().pools.at("mi");
    EXPECT_EQ(pool.give_up_s, 60U);
    EXPECT_EQ(pool.repairs, 2U);
    EXPECT_EQ(pool.repair_us, 5U);
    EXPECT_EQ(ledger.books().leases.at(1).failed_us, 7U);
    EXPECT_TRUE(ledger.books().leases.at(1).gave_up);
}

TEST_F(LedgerTest, TakesUpALedgerOfVersion1) {
    {
        Ledger ledger = open();
        Books books = with_pool(ledger.books());
        ASSERT_TRUE(declare_vm(books, root, {.name = "vm", .definition = "{}"}));
        books.leases.emplace(
            1,
            Lease{
                .id = 1, .pool = "mi", .vm = "vm", .state = LeaseState::degraded, .since_us = 42});
        books.next_lease = 2;
        ASSERT_TRUE(ledger.commit(books));
    }
    tamper(
        "ALTER TABLE pools DROP COLUMN give_up_s; ALTER TABLE pools DROP COLUMN repairs; "
        "ALTER TABLE pools DROP COLUMN repair_us; ALTER TABLE leases DROP COLUMN failed_us; "
        "ALTER TABLE leases DROP COLUMN gave_up; PRAGMA user_version = 1");
    {
        Ledger ledger = open();
        EXPECT_EQ(ledger.books().pools.at("mi").spares, 1U);
        EXPECT_EQ(ledger.books().leases.at(1).failed_us, 42U) << "as far as it is known";
        Books books = ledger.books();
        books.pools.at("mi").give_up_s = 5;
        ASSERT_TRUE(ledger.commit(books));
    }
    EXPECT_EQ(open().books().pools.at("mi").give_up_s, 5U);
}

TEST_F(LedgerTest, NumbersOfLeasesAreNotUsedTwice) {
    LeaseId last = 0;
    for (int i = 0; i < 2; ++i) {
        Ledger ledger = open();
        Books books = ledger.books();
        if (i == 0) {
            books = with_pool(books);
            ASSERT_TRUE(declare_vm(books, root, {.name = "vm", .definition = "{}"}));
            books.vms.at("vm").state = VmState::running;
        }
        const auto ids = lease(books, root, "mi", "vm", {});
        ASSERT_TRUE(ids) << ids.error().message;
        EXPECT_GT(ids->front(), last);
        last = ids->front();
        ASSERT_TRUE(give_back(books, root, last));
        ASSERT_TRUE(ledger.commit(books));
        EXPECT_TRUE(ledger.books().leases.empty()) << "what is over is on the disk only";
    }
}

TEST_F(LedgerTest, RefusesAGpuInTwoLeasesAndATenancyWithoutAScrub) {
    Ledger ledger = open();
    Books books = with_pool(ledger.books());
    ASSERT_TRUE(add_gpu(books, root, "mi", 2, ""));
    ASSERT_TRUE(ledger.commit(books));
    Books two = ledger.books();
    two.gpus.at("gpu0").lease = 7;
    two.gpus.at("gpu1").lease = 7;
    EXPECT_FALSE(ledger.commit(two));
    Books tenancy = ledger.books();
    tenancy.gpus.at("gpu0").state = GpuState::attaching;
    tenancy.gpus.at("gpu0").lease = 1;
    ASSERT_TRUE(ledger.commit(tenancy));
    tenancy.gpus.at("gpu0").state = GpuState::free;
    ASSERT_TRUE(ledger.commit(tenancy));
    tenancy.gpus.at("gpu0").state = GpuState::attaching;
    EXPECT_FALSE(ledger.commit(tenancy)) << "the same epoch again";
    EXPECT_EQ(ledger.books().gpus.at("gpu0").state, GpuState::free);
}

TEST_F(LedgerTest, SaysThatItIsLocked) {
    const Ledger first = open();
    EXPECT_NE(refusal().find("is locked"), std::string::npos) << refusal();
}

TEST_F(LedgerTest, SaysThatItIsDamaged) {
    folder.file("ledger", std::string(5000, 'x'));
    EXPECT_NE(refusal().find("is damaged"), std::string::npos) << refusal();
}

TEST_F(LedgerTest, SaysThatAPageIsDamaged) {
    {
        Ledger ledger = open();
        ASSERT_TRUE(ledger.commit(with_pool(ledger.books())));
    }
    std::fstream raw(file, std::ios::in | std::ios::out | std::ios::binary);
    raw.seekp(4096);
    raw << std::string(4096 * 4, '\x55');
    raw.close();
    EXPECT_NE(refusal().find("is damaged"), std::string::npos) << refusal();
}

TEST_F(LedgerTest, SaysThatItIsFromTheFuture) {
    tamper("PRAGMA user_version = 3");
    EXPECT_NE(refusal().find("of version 3"), std::string::npos) << refusal();
}

TEST_F(LedgerTest, SaysThatItIsSomebodyElses) {
    tamper("PRAGMA application_id = 1");
    EXPECT_NE(refusal().find("no ledger"), std::string::npos) << refusal();
}

TEST_F(LedgerTest, LeavesADatabaseThatIsNotItsOwnAsItIs) {
    run_sql("CREATE TABLE t (x)");  // with a rollback journal, which is SQLite's default
    EXPECT_NE(refusal().find("no ledger"), std::string::npos) << refusal();
}

TEST_F(LedgerTest, LeavesALogThatALaterVersionHasNotMergedAsItIs) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {  // ends without closing it
        sqlite3* raw = nullptr;
        const std::string sql = "PRAGMA journal_mode = WAL; CREATE TABLE t (x); PRAGMA " +
                                std::string("application_id = 1196447088; PRAGMA user_version = 9");
        ::_exit(sqlite3_open(file.c_str(), &raw) == SQLITE_OK &&
                        sqlite3_exec(raw, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK
                    ? 0
                    : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    std::filesystem::remove(folder.root() / "ledger-shm");
    ASSERT_GT(std::filesystem::file_size(folder.root() / "ledger-wal"), 0U);
    EXPECT_NE(refusal().find("of version 9"), std::string::npos) << refusal();
}

TEST_F(LedgerTest, SaysThatTheBooksAreWrong) {
    {
        Ledger ledger = open();
        ASSERT_TRUE(ledger.commit(with_pool(ledger.books())));
    }
    tamper("UPDATE gpus SET state = 'leased'");
    EXPECT_NE(refusal().find("gpu0 (leased)"), std::string::npos) << refusal();
}

TEST_F(LedgerTest, SaysThatAStateIsUnknown) {
    {
        Ledger ledger = open();
        ASSERT_TRUE(ledger.commit(with_pool(ledger.books())));
    }
    tamper("UPDATE gpus SET state = 'lunch'");
    EXPECT_NE(refusal().find("gpu0 is 'lunch'"), std::string::npos) << refusal();
}

TEST_F(LedgerTest, SaysThatItCannotBeMade) {
    file = folder.root() / "no" / "ledger";
    EXPECT_NE(refusal().find("--state"), std::string::npos) << refusal();
}

/// In a mount namespace of its own, with 512 KiB on `folder`. 0: as wanted; skipped: not allowed.
constexpr int skipped = 77;
int fill_the_disk(const std::filesystem::path& folder) {
    if ((::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", folder.c_str(), "tmpfs", 0, "size=512k") != 0) {
        return skipped;
    }
    auto ledger = Ledger::open(folder / "ledger");
    Books books;
    if (!ledger || !create_pool(books, root, {.name = "mi", .profile = "mi300x"}) ||
        !ledger->commit(books)) {
        return 1;
    }
    const auto filler = folder / "filler";
    std::ofstream(filler) << std::string(1 << 20, 'f');
    const Books before = ledger->books();
    books = before;
    for (uint64_t serial = 1; serial < 2000; ++serial) {
        (void)add_gpu(books, root, "mi", serial, "");
    }
    const auto refused = ledger->commit(books);
    if (refused || refused.error().message.find("no space is left") == std::string::npos) {
        std::cerr << (refused ? "it was written" : refused.error().message) << "\n";
        return 2;
    }
    if (ledger->books().gpus != before.gpus) {
        return 3;
    }
    std::filesystem::remove(filler);
    Books small = before;
    if (!add_gpu(small, root, "mi", 1, "") || !ledger->commit(small)) {
        return 4;
    }
    return 0;
}

TEST_F(LedgerTest, SaysThatTheDiskIsFullAndGoesOnOnceItIsNot) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        ::_exit(fill_the_disk(folder.root()));
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == skipped) {
        GTEST_SKIP() << "no file system may be mounted here";
    }
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace gpupool
