// SPDX-License-Identifier: GPL-2.0
// Purpose: that a client lives through SIGBUS and counts it.
// Thread: one.
#include "hotplug/in_guest/clients/signals.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hotplug/in_guest/clients/mapping.h"
#include "lib/fd.h"

namespace hp::clients {
namespace {

TEST(Signals, AnAccessToMemoryThatIsGoneReadsZeroAndIsCounted) {
    handle_signals();
    const Fd file(::memfd_create("gone", MFD_CLOEXEC));
    ASSERT_TRUE(file);
    ASSERT_EQ(::ftruncate(file.get(), 4096), 0);
    const Mapping mapping(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0),
                          4096);
    mapping.dwords()[8] = 77;
    ASSERT_EQ(::ftruncate(file.get(), 0), 0);

    const auto before = sigbus_count();
    EXPECT_EQ(mapping.dwords()[8], 0u);
    EXPECT_EQ(sigbus_count().faults, before.faults + 1);
    EXPECT_EQ(sigbus_count().last_address, mapping.address() + 32);
    mapping.dwords()[8] = 5;
    EXPECT_EQ(mapping.dwords()[8], 5u);
    EXPECT_EQ(sigbus_count().faults, before.faults + 1);
}

TEST(Signals, ASigbusSomeoneSentIsNoFault) {
    handle_signals();
    const auto before = sigbus_count();
    ASSERT_EQ(::kill(::getpid(), SIGBUS), 0);
    EXPECT_EQ(sigbus_count().sent, before.sent + 1);
    EXPECT_EQ(sigbus_count().faults, before.faults);
}

}  // namespace
}  // namespace hp::clients
