// SPDX-License-Identifier: GPL-2.0
// Purpose: ten thousand things happen to a pool, and after each of them the books are sound and
// true of the hardware; with crashes before and behind commits. And a process that is killed in the
// middle of it leaves the books of its last commit.
// Thread: the test's, and a child process.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "gpupool/ledger/ledger.h"
#include "gpupool/ledger/random_pool_for_test.h"
#include "gpupool/placement/invariants.h"
#include "lib/fd.h"
#include "lib/temp_tree.h"

namespace gpupool {
namespace {

void expect_same(const Books& found, const Books& wanted) {
    EXPECT_EQ(found.pools, wanted.pools);
    EXPECT_EQ(found.gpus, wanted.gpus);
    EXPECT_EQ(found.vms, wanted.vms);
    EXPECT_EQ(found.leases, wanted.leases);
    EXPECT_EQ(found.next_lease, wanted.next_lease);
    EXPECT_EQ(found.boot_id, wanted.boot_id);
}

/// What leases there are has to follow from what was told.
class LeaseCount {
public:
    void take(const std::vector<Event>& events) {
        for (const Event& event : events) {
            if (event.what == "lease-queued") {
                EXPECT_TRUE(open_.insert(event.lease).second);
            } else if (event.what == "lease-closed" || event.what == "lease-lost") {
                EXPECT_EQ(open_.erase(event.lease), 1u) << "lease " << event.lease;
            } else if (event.what == "gpu-attaching") {
                EXPECT_TRUE(tenancies_.insert({event.gpu, event.epoch}).second)
                    << event.gpu << " without a scrub in between";
            }
        }
    }
    void compare(const Books& books) const {
        EXPECT_EQ(books.leases.size(), open_.size()) << "a lease was lost, or made up";
    }
    size_t tenancies() const { return tenancies_.size(); }

private:
    std::set<LeaseId> open_;
    std::set<std::pair<std::string, uint64_t>> tenancies_;
};

TEST(Property, TenThousandThingsHappenAndTheBooksStayTrue) {
    hp::TempTree folder;
    const auto file = folder.root() / "ledger";
    auto ledger = Ledger::open(file);
    ASSERT_TRUE(ledger) << ledger.error().message;
    RandomPool pool(1);
    FakeHardware hardware;
    LeaseCount count;
    size_t gpus = 0;
    uint64_t now = 0;
    std::map<GpuState, unsigned> seen;
    for (unsigned i = 0; i < 10'000 && !testing::Test::HasFailure(); ++i) {
        Books books = ledger->books();
        books.now_us = now;
        pool.happen(books, hardware);
        now = books.now_us;
        ASSERT_EQ(wrong_in(books), std::vector<std::string>()) << "operation " << i;
        ASSERT_GE(books.gpus.size(), gpus) << "a GPU was lost";
        const unsigned fate = pool.below(50);
        if (fate == 0) {  // it crashes with nothing written down
            const Books before = ledger->books();
            ledger = hp::fail("closed");
            ledger = Ledger::open(file);
            ASSERT_TRUE(ledger) << ledger.error().message;
            expect_same(ledger->books(), before);
            continue;
        }
        const auto events = books.events;
        auto written = ledger->commit(std::move(books));
        ASSERT_TRUE(written) << written.error().message;
        if (fate == 1) {  // and with all of it
            const Books before = ledger->books();
            ledger = hp::fail("closed");
            ledger = Ledger::open(file);
            ASSERT_TRUE(ledger) << ledger.error().message;
            expect_same(ledger->books(), before);
        }
        count.take(events);
        count.compare(ledger->books());
        hardware.compare(ledger->books());
        ASSERT_EQ(hardware.wrong, std::vector<std::string>()) << "operation " << i;
        gpus = ledger->books().gpus.size();
        for (const auto& [name, gpu] : ledger->books().gpus) {
            ++seen[gpu.state];
        }
    }
    // It would be easy if nothing came of it.
    EXPECT_GT(count.tenancies(), 200u);
    for (const auto state : {GpuState::scrubbing, GpuState::free, GpuState::reserved,
                             GpuState::attaching, GpuState::leased, GpuState::detaching,
                             GpuState::failed, GpuState::quarantined, GpuState::retired}) {
        EXPECT_GT(seen[state], 0u) << name_of(state);
    }
}

/// The books after `steps` operations, which depend on nothing but the seed.
Books replay(uint64_t seed, uint64_t steps) {
    RandomPool pool(seed);
    FakeHardware hardware;
    Books books;
    for (uint64_t i = 0; i < steps; ++i) {
        pool.happen(books, hardware);
        books.events.clear();
        std::erase_if(books.leases, [](const auto& entry) { return is_over(entry.second.state); });
    }
    return books;
}

/// Never returns. Says a byte after each commit.
[[noreturn]] void write_for_ever(const std::filesystem::path& file, uint64_t seed, int says) {
    auto ledger = Ledger::open(file);
    RandomPool pool(seed);
    FakeHardware hardware;
    uint64_t now = 0;
    while (ledger) {
        Books books = ledger->books();
        books.now_us = now;
        pool.happen(books, hardware);
        now = books.now_us;
        if (!ledger->commit(std::move(books)) || ::write(says, "c", 1) != 1) {
            break;
        }
    }
    ::_exit(1);
}

TEST(Property, AWriterThatIsKilledLeavesTheBooksOfItsLastCommit) {
    constexpr uint64_t kills = 20;
    for (uint64_t seed = 1; seed <= kills && !testing::Test::HasFailure(); ++seed) {
        hp::TempTree folder;
        const auto file = folder.root() / "ledger";
        int ends[2];
        ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
        const hp::Fd hears(ends[0]);
        hp::Fd says(ends[1]);
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            write_for_ever(file, seed, says.get());
        }
        says.reset();
        // Between two commits or in the middle of one: nobody knows.
        uint64_t heard = 0;
        char byte;
        while (heard < 7 * seed && ::read(hears.get(), &byte, 1) == 1) {
            ++heard;
        }
        ::kill(child, SIGKILL);
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status)) << "it ended by itself";
        while (::read(hears.get(), &byte, 1) == 1) {
            ++heard;
        }
        auto ledger = Ledger::open(file);
        ASSERT_TRUE(ledger) << ledger.error().message;
        EXPECT_EQ(wrong_in(ledger->books()), std::vector<std::string>());
        // What was committed is there; at most one commit more, of which it did not get to tell.
        const Books told = replay(seed, heard);
        const Books& found = ledger->books();
        const bool one_more = found.gpus != told.gpus || found.leases != told.leases ||
                              found.vms != told.vms || found.pools != told.pools ||
                              found.boot_id != told.boot_id;
        const Books wanted = one_more ? replay(seed, heard + 1) : told;
        EXPECT_EQ(found.gpus, wanted.gpus) << "seed " << seed << ", " << heard << " commits";
        EXPECT_EQ(found.leases, wanted.leases);
        EXPECT_EQ(found.vms, wanted.vms);
        EXPECT_EQ(found.pools, wanted.pools);
    }
}

}  // namespace
}  // namespace gpupool
