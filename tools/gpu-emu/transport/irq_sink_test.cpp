// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/transport/irq_sink.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/vfio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <limits>
#include <span>
#include <vector>

namespace gpuemu {
namespace {

constexpr uint32_t eventfd_trigger = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;
constexpr uint32_t none_trigger = VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER;
constexpr uint32_t bool_trigger = VFIO_IRQ_SET_DATA_BOOL | VFIO_IRQ_SET_ACTION_TRIGGER;

class IrqSinkTest : public testing::Test {
protected:
    static vfio_user::IrqSet request(uint32_t index, uint32_t flags, uint32_t start,
                                     uint32_t count) {
        return {.argsz = sizeof(vfio_user::IrqSet),
                .flags = flags,
                .index = index,
                .start = start,
                .count = count};
    }

    /// A duplicate, as the client's descriptor arrives.
    std::vector<hp::Fd> fds(int fd) {
        std::vector<hp::Fd> result;
        result.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
        return result;
    }

    int set(const vfio_user::IrqSet& request, std::vector<hp::Fd> fds,
            const std::vector<std::byte>& data = {}) {
        return sink.set(request, data, std::move(fds));
    }

    uint64_t pending() {
        uint64_t count = 0;
        return ::read(event.get(), &count, sizeof count) == sizeof count ? count : 0;
    }

    hp::Fd event{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    IrqSink sink{1};
};

TEST_F(IrqSinkTest, MsiReachesTheEventfdUntilItIsSwitchedOff) {
    EXPECT_FALSE(sink.raise_msi(0));
    ASSERT_EQ(set(request(VFIO_PCI_MSI_IRQ_INDEX, eventfd_trigger, 0, 1), fds(event.get())), 0);
    EXPECT_TRUE(sink.raise_msi(0));
    EXPECT_EQ(pending(), 1u);
    EXPECT_FALSE(sink.raise_msi(1));
    ASSERT_EQ(set(request(VFIO_PCI_MSI_IRQ_INDEX, none_trigger, 0, 0), {}), 0);
    EXPECT_FALSE(sink.raise_msi(0));
    EXPECT_EQ(pending(), 0u);
}

TEST_F(IrqSinkTest, EventfdDataWithoutDescriptorsTakesThemAway) {
    ASSERT_EQ(set(request(VFIO_PCI_MSI_IRQ_INDEX, eventfd_trigger, 0, 1), fds(event.get())), 0);
    ASSERT_EQ(set(request(VFIO_PCI_MSI_IRQ_INDEX, eventfd_trigger, 0, 1), {}), 0);
    EXPECT_FALSE(sink.raise_msi(0));
}

TEST_F(IrqSinkTest, TheClientCanTriggerItself) {
    ASSERT_EQ(set(request(VFIO_PCI_MSI_IRQ_INDEX, eventfd_trigger, 0, 1), fds(event.get())), 0);
    EXPECT_EQ(set(request(VFIO_PCI_MSI_IRQ_INDEX, none_trigger, 0, 1), {}), 0);
    EXPECT_EQ(pending(), 1u);
}

TEST_F(IrqSinkTest, BoolsSayWhichInterruptsAreTriggered) {
    IrqSink two(2);
    const hp::Fd other(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    std::vector<hp::Fd> both = fds(event.get());
    both.emplace_back(::fcntl(other.get(), F_DUPFD_CLOEXEC, 0));
    ASSERT_EQ(two.set(request(VFIO_PCI_MSI_IRQ_INDEX, eventfd_trigger, 0, 2), {}, std::move(both)),
              0);
    vfio_user::IrqSet trigger = request(VFIO_PCI_MSI_IRQ_INDEX, bool_trigger, 0, 2);
    trigger.argsz += 2;
    const std::vector<std::byte> second_only{std::byte{0}, std::byte{1}};
    EXPECT_EQ(two.set(trigger, second_only, {}), 0);
    EXPECT_EQ(pending(), 0u);
    uint64_t count = 0;
    EXPECT_EQ(::read(other.get(), &count, sizeof count), 8);

    EXPECT_EQ(two.set(trigger, std::span(second_only).first(1), {}), EINVAL);
    trigger.argsz -= 1;
    EXPECT_EQ(two.set(trigger, second_only, {}), EINVAL);
    trigger.count = 0;
    EXPECT_EQ(two.set(trigger, {}, {}), 0);
    EXPECT_TRUE(two.raise_msi(0)) << "none triggered is not switched off";
}

TEST_F(IrqSinkTest, BoolsMaskTheLineOnly) {
    constexpr uint32_t bool_mask = VFIO_IRQ_SET_DATA_BOOL | VFIO_IRQ_SET_ACTION_MASK;
    vfio_user::IrqSet mask = request(VFIO_PCI_INTX_IRQ_INDEX, bool_mask, 0, 1);
    mask.argsz += 1;
    EXPECT_EQ(set(mask, {}, {std::byte{1}}), 0);
    mask.index = VFIO_PCI_MSI_IRQ_INDEX;
    EXPECT_EQ(set(mask, {}, {std::byte{1}}), EINVAL);
}

TEST_F(IrqSinkTest, VectorsThatDoNotExistAreRefused) {
    EXPECT_EQ(sink.vectors(VFIO_PCI_MSIX_IRQ_INDEX), 0u);
    EXPECT_EQ(sink.vectors(17), 0u);
    EXPECT_EQ(set(request(17, none_trigger, 0, 0), {}), EINVAL);
    EXPECT_EQ(set(request(VFIO_PCI_MSI_IRQ_INDEX, eventfd_trigger, 1, 1), fds(event.get())),
              EINVAL);
    EXPECT_EQ(set(request(VFIO_PCI_MSI_IRQ_INDEX, eventfd_trigger, 0, 2), fds(event.get())),
              EINVAL);
    constexpr uint32_t most = std::numeric_limits<uint32_t>::max();
    EXPECT_EQ(set(request(VFIO_PCI_MSI_IRQ_INDEX, eventfd_trigger, most, most), {}), EINVAL);
    EXPECT_EQ(set(request(VFIO_PCI_MSIX_IRQ_INDEX, eventfd_trigger, 0, 1), fds(event.get())),
              EINVAL);
}

TEST_F(IrqSinkTest, FlagsThatMakeNoSenseAreRefused) {
    EXPECT_EQ(set(request(VFIO_PCI_MSI_IRQ_INDEX, 0, 0, 1), {}), EINVAL);
    EXPECT_EQ(
        set(request(VFIO_PCI_MSI_IRQ_INDEX, none_trigger | bool_trigger, 0, 1), {}, {std::byte{1}}),
        EINVAL);
    EXPECT_EQ(set(request(VFIO_PCI_INTX_IRQ_INDEX,
                          VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_UNMASK, 0, 1),
                  fds(event.get())),
              ENOTSUP);
    EXPECT_EQ(set(request(VFIO_PCI_MSI_IRQ_INDEX, none_trigger | 0x100, 0, 1), {}), EINVAL);
    EXPECT_EQ(set(request(VFIO_PCI_MSI_IRQ_INDEX, VFIO_IRQ_SET_DATA_NONE, 0, 1), {}), EINVAL);
    EXPECT_EQ(set(request(VFIO_PCI_MSI_IRQ_INDEX, VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_MASK,
                          0, 1),
                  {}),
              EINVAL);
    EXPECT_EQ(set(request(VFIO_PCI_INTX_IRQ_INDEX,
                          VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_UNMASK, 0, 1),
                  {}),
              0);
}

TEST_F(IrqSinkTest, OnlyEventfdsAreTaken) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const hp::Fd read_end(ends[0]);
    const hp::Fd write_end(ends[1]);
    EXPECT_EQ(set(request(VFIO_PCI_MSI_IRQ_INDEX, eventfd_trigger, 0, 1), fds(write_end.get())),
              EINVAL);
    EXPECT_FALSE(sink.raise_msi(0));
}

TEST_F(IrqSinkTest, AFullBlockingEventfdDoesNotBlock) {
    const hp::Fd blocking(::eventfd(0, EFD_CLOEXEC));
    const uint64_t nearly_all = std::numeric_limits<uint64_t>::max() - 1;
    ASSERT_EQ(::write(blocking.get(), &nearly_all, sizeof nearly_all), 8);
    ASSERT_EQ(set(request(VFIO_PCI_MSI_IRQ_INDEX, eventfd_trigger, 0, 1), fds(blocking.get())), 0);
    EXPECT_FALSE(sink.raise_msi(0));
}

}  // namespace
}  // namespace gpuemu
