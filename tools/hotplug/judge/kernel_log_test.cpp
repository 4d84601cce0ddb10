// SPDX-License-Identifier: GPL-2.0
// Purpose: the kernel log classifier against excerpts of real logs and against every kind of
// report. Thread: one.
#include "hotplug/judge/kernel_log.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

namespace hotplug {
namespace {

/// Lines as dmesg prints them: "[   62.695402] text".
std::vector<KernelLine> records(const std::string& log, int level = 4) {
    std::vector<KernelLine> all;
    std::istringstream in(log);
    for (std::string line; std::getline(in, line);) {
        const size_t bracket = line.find("] ");
        if (bracket == std::string::npos) {
            continue;
        }
        const double seconds = std::stod(line.substr(1, bracket - 1));
        all.push_back({level, all.size(), static_cast<uint64_t>(std::llround(seconds * 1e6)),
                       line.substr(bracket + 2)});
    }
    return all;
}

TEST(KernelLog, WarningOfAModuleIsOneComplaint) {
    const auto summary = classify(records(R"([   62.695402] ------------[ cut here ]------------
[   62.695483] Feature mask is not cleared
[   62.695565] WARNING: drivers/gpu/drm/amd/amdgpu/amdgpu_ras.c:4006 at amdgpu_ras_fini+0x27b/0x2c5 [amdgpu], CPU#0: irq/24-pciehp/39
[   62.698493] Modules linked in: amdgpu amdxcp gpu_sched
[   62.701530] CPU: 0 UID: 0 PID: 39 Comm: irq/24-pciehp Not tainted 7.3.4 #1 PREEMPTLAZY
[   62.703258] RIP: 0010:amdgpu_ras_fini+0x27b/0x2c5 [amdgpu]
[   62.713180] Call Trace:
[   62.713641]  <TASK>
[   62.714370]  amdgpu_device_fini_sw+0x1b0/0x319 [amdgpu]
[   62.724017]  pci_stop_bus_device+0x3c/0x6c
[   62.725107]  ? irq_finalize_oneshot+0xa2/0xa2
[   62.731084]  </TASK>
[   62.731428] ---[ end trace 0000000000000000 ]---
[   62.731500] amdgpu 0000:01:00.0: amdgpu: ttm finalized
)"));
    ASSERT_EQ(summary.complaints.size(), 1U);
    const Complaint& complaint = summary.complaints[0];
    EXPECT_EQ(complaint.kind, ComplaintKind::warning);
    EXPECT_EQ(complaint.title,
              "WARNING in amdgpu_ras_fini: Feature mask is not cleared from amdgpu_device_fini_sw");
    EXPECT_EQ(complaint.time_us, 62695402U);
    EXPECT_EQ(complaint.stack,
              (std::vector<std::string>{"amdgpu_device_fini_sw", "pci_stop_bus_device"}));
}

TEST(KernelLog, OlderWarningFormatNamesTheSameFunction) {
    const auto summary = classify(records(R"([    1.000000] ------------[ cut here ]------------
[    1.000001] WARNING: CPU: 0 PID: 39 at drivers/gpu/drm/amd/amdgpu/amdgpu_ras.c:4006 amdgpu_ras_fini+0x27b/0x2c5 [amdgpu]
[    1.000002] ---[ end trace 0000000000000000 ]---
)"));
    ASSERT_EQ(summary.complaints.size(), 1U);
    EXPECT_EQ(summary.complaints[0].title, "WARNING in amdgpu_ras_fini");
}

TEST(KernelLog, EqualReportsAreCounted) {
    const std::string warning = R"([   44.456515] ------------[ cut here ]------------
[   44.456764] WARNING: fs/kernfs/dir.c:1785 at kernfs_remove_by_name_ns+0x22/0xb9, CPU#0: cs/104
[   44.487923] ---[ end trace 0000000000000000 ]---
)";
    const auto summary = classify(records(warning + warning));
    ASSERT_EQ(summary.complaints.size(), 1U);
    EXPECT_EQ(summary.complaints[0].count, 2);
}

TEST(KernelLog, KasanReportNamesTheDriversFrame) {
    const auto summary = classify(records(
        R"([   82.958847] BUG: KASAN: slab-use-after-free in _raw_spin_lock+0x34/0x50
[   82.959537] Read of size 1 at addr ff11000109f420f8 by task kworker/u8:0/11
[   82.960399] Workqueue: kfd_process_wq kfd_process_wq_release [amdgpu]
[   82.961713] Call Trace:
[   82.961814]  <TASK>
[   82.961991]  dump_stack_lvl+0x6f/0xa0
[   82.962216]  ? _raw_spin_lock+0x34/0x50
[   82.962390]  drm_gem_handle_delete+0x36/0xb0
[   82.962422]  amdgpu_amdkfd_gpuvm_free_memory_of_gpu+0x8bf/0x1210 [amdgpu]
[   82.968048]  </TASK>
[   82.968155] Allocated by task 75:
[   82.968520]  amdgpu_amdkfd_drm_client_create+0x93/0x100 [amdgpu]
[   82.971063] Freed by task 41:
[   82.971269]  amdgpu_pci_remove+0x5f/0x90 [amdgpu]
)"));
    ASSERT_EQ(summary.complaints.size(), 1U);
    EXPECT_EQ(summary.complaints[0].kind, ComplaintKind::kasan);
    EXPECT_EQ(summary.complaints[0].title,
              "KASAN: slab-use-after-free in _raw_spin_lock from "
              "amdgpu_amdkfd_gpuvm_free_memory_of_gpu");
    EXPECT_EQ(summary.complaints[0].stack.size(), 3U) << "only the first stack belongs to it";
}

TEST(KernelLog, OopsTakesTheFunctionOfRip) {
    const auto summary = classify(
        records(R"([   10.000000] BUG: kernel NULL pointer dereference, address: 0000000000000008
[   10.000001] #PF: supervisor read access in kernel mode
[   10.000002] Oops: Oops: 0000 [#1] SMP
[   10.000003] CPU: 0 UID: 0 PID: 1 Comm: modprobe Not tainted 7.3.4 #1
[   10.000004] RIP: 0010:atom_get_vbios_pn+0x40/0x90 [amdgpu]
[   10.000005] Call Trace:
[   10.000006]  amdgpu_atom_parse+0x11/0x22 [amdgpu]
[   10.000007] ---[ end trace 0000000000000000 ]---
)"));
    ASSERT_EQ(summary.complaints.size(), 1U);
    EXPECT_EQ(summary.complaints[0].kind, ComplaintKind::bug);
    EXPECT_EQ(summary.complaints[0].title,
              "BUG: kernel NULL pointer dereference in atom_get_vbios_pn from amdgpu_atom_parse");
}

TEST(KernelLog, MessageWithABareStackIsATrace) {
    const auto summary = classify(records(
        R"([    5.000000] sysfs: cannot create duplicate filename '/devices/pci0000:00/ras'
[    5.000001] CPU: 1 UID: 0 PID: 70 Comm: sh Not tainted 7.3.4 #1
[    5.000002] Call Trace:
[    5.000003]  <TASK>
[    5.000004]  sysfs_warn_dup+0x56/0x70
[    5.000005]  amdgpu_ras_fs_init+0x10/0x20 [amdgpu]
)"));
    ASSERT_EQ(summary.complaints.size(), 1U);
    EXPECT_EQ(summary.complaints[0].kind, ComplaintKind::trace);
    EXPECT_EQ(summary.complaints[0].title,
              "sysfs: cannot create duplicate filename '/devices/pci0000:00/ras' from "
              "amdgpu_ras_fs_init");
}

struct OneLine {
    const char* text;
    ComplaintKind kind;
    const char* title;
};

class KernelLogOneLine : public testing::TestWithParam<OneLine> {};

TEST_P(KernelLogOneLine, IsAComplaint) {
    const std::vector<KernelLine> log = {{4, 0, 1'000'000, GetParam().text}};
    const auto summary = classify(log);
    ASSERT_EQ(summary.complaints.size(), 1U);
    EXPECT_EQ(summary.complaints[0].kind, GetParam().kind);
    EXPECT_EQ(summary.complaints[0].title, GetParam().title);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, KernelLogOneLine,
    testing::Values(
        OneLine{"WARNING: possible circular locking dependency detected", ComplaintKind::lockdep,
                "WARNING: possible circular locking dependency detected"},
        OneLine{"WARNING: suspicious RCU usage", ComplaintKind::lockdep,
                "WARNING: suspicious RCU usage"},
        OneLine{"[ BUG: Invalid wait context ]", ComplaintKind::lockdep,
                "BUG: Invalid wait context"},
        OneLine{"INFO: task cs:104 blocked for more than 120 seconds.", ComplaintKind::hung_task,
                "hung task: cs"},
        OneLine{"watchdog: BUG: soft lockup - CPU#0 stuck for 26s! [irq/25-pciehp:40]",
                ComplaintKind::lockup, "soft lockup: irq/25-pciehp"},
        OneLine{"rcu: INFO: rcu_preempt self-detected stall on CPU", ComplaintKind::rcu_stall,
                "RCU stall"},
        OneLine{"kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)",
                ComplaintKind::kmemleak, "kmemleak: suspected memory leaks"},
        OneLine{"hpctl: records of the kernel log are missing (7)", ComplaintKind::log_gap,
                "hpctl: records of the kernel log are missing"},
        OneLine{"BUG kmalloc-64 (Not tainted): Poison overwritten", ComplaintKind::slub,
                "SLUB: Poison overwritten in kmalloc-64"},
        OneLine{"list_del corruption. prev->next should be ff1100, but was dead0",
                ComplaintKind::list_corruption, "list_del corruption"},
        OneLine{"refcount_t: underflow; use-after-free.", ComplaintKind::refcount,
                "refcount_t: underflow; use-after-free."},
        OneLine{"UBSAN: array-index-out-of-bounds in drivers/gpu/drm/a.c:1:2", ComplaintKind::ubsan,
                "UBSAN: array-index-out-of-bounds"},
        OneLine{"BUG: KFENCE: use-after-free read in f+0x1/0x2", ComplaintKind::kfence,
                "KFENCE: use-after-free read in f"},
        OneLine{"BUG: sleeping function called from invalid context at kernel/a.c:1",
                ComplaintKind::bug,
                "BUG: sleeping function called from invalid context at kernel/a.c:1"},
        OneLine{"irq 24: nobody cared (try booting with the \"irqpoll\" option)",
                ComplaintKind::bug, "irq: nobody cared"},
        OneLine{"Kernel panic - not syncing: Fatal exception", ComplaintKind::panic,
                "Kernel panic - not syncing: Fatal exception"}));

TEST(KernelLog, DmaApiWinsOverTheWarningThatCarriesIt) {
    const auto summary = classify(records(R"([    7.000000] ------------[ cut here ]------------
[    7.000001] DMA-API: amdgpu 0000:01:00.0: device driver tries to free DMA memory it has not allocated [device address=0x0000000000001000] [size=4096 bytes]
[    7.000002] WARNING: kernel/dma/debug.c:973 at check_unmap+0x1/0x2, CPU#0: sh/70
[    7.000003] ---[ end trace 0000000000000000 ]---
)"));
    ASSERT_EQ(summary.complaints.size(), 1U);
    EXPECT_EQ(summary.complaints[0].kind, ComplaintKind::dma_api);
    EXPECT_EQ(summary.complaints[0].title,
              "DMA-API: device driver tries to free DMA memory it has not allocated");
}

TEST(KernelLog, DriverErrorsAreNotesAndInformationIsNothing) {
    const auto summary = classify(std::vector<KernelLine>{
        {6, 0, 1, "amdgpu 0000:01:00.0: RAS INFO: ras initialized successfully"},
        {6, 0, 2, "DMA-API: debugging enabled by kernel config"},
        {6, 0, 3, "kmemleak: Kernel memory leak detector initialized (mem pool available: 15)"},
        {3, 0, 4, "amdgpu 0000:01:00.0: [drm] *ERROR* ring kiq test failed (-110)"},
        {3, 0, 5, "amdgpu 0000:01:00.0: [drm] *ERROR* ring kiq test failed (-110)"},
        {4, 0, 6, "amdgpu 0000:01:00.0: finishing device."}});
    EXPECT_TRUE(summary.complaints.empty());
    ASSERT_EQ(summary.notes.size(), 1U);
    EXPECT_EQ(summary.notes[0].count, 2);
}

TEST(KernelLog, LaterReportIsNotSwallowedByAnUnfinishedOne) {
    const auto summary = classify(std::vector<KernelLine>{
        {4, 0, 1'000'000, "INFO: task cs:104 blocked for more than 120 seconds."},
        {4, 0, 9'000'000, "amdgpu 0000:01:00.0: unrelated"},
        {4, 0, 9'100'000, "WARNING: a/b.c:1 at f+0x1/0x2, CPU#0: sh/1"}});
    ASSERT_EQ(summary.complaints.size(), 2U);
    EXPECT_EQ(summary.complaints[1].title, "WARNING in f");
}

TEST(KernelLog, ReportsWithoutAStackAreNotOneReport) {
    const auto summary = classify(std::vector<KernelLine>{
        {4, 0, 1'000'000, "INFO: task cs:104 blocked for more than 120 seconds."},
        {4, 0, 1'500'000, "INFO: task sh:105 blocked for more than 120 seconds."},
        {4, 0, 1'900'000, "refcount_t: underflow; use-after-free."},
        {4, 0, 2'000'000, "irq 24: nobody cared (try booting with the \"irqpoll\" option)"}});
    ASSERT_EQ(summary.complaints.size(), 4U);
    EXPECT_EQ(summary.complaints[0].title, "hung task: cs");
    EXPECT_EQ(summary.complaints[1].title, "hung task: sh");
    EXPECT_EQ(summary.complaints[3].title, "irq: nobody cared");
}

TEST(KernelLog, SecondWarningIsNotSwallowedByOneWithoutAStack) {
    const auto summary = classify(records(R"([    1.000000] ------------[ cut here ]------------
[    1.000001] refcount_t: underflow; use-after-free.
[    1.000002] WARNING: lib/refcount.c:28 at refcount_warn_saturate+0x1/0x2, CPU#0: sh/70
[    1.000003] WARNING: suspicious RCU usage
)"));
    ASSERT_EQ(summary.complaints.size(), 2U);
    EXPECT_EQ(summary.complaints[0].kind, ComplaintKind::refcount);
    EXPECT_EQ(summary.complaints[1].title, "WARNING: suspicious RCU usage");
}

TEST(KernelLog, BugAndItsOopsAreOneReport) {
    const auto summary = classify(records(R"([    1.000000] ------------[ cut here ]------------
[    1.000001] kernel BUG at lib/list_debug.c:59!
[    1.000002] Oops: invalid opcode: 0000 [#1] SMP
[    1.000003] RIP: 0010:__list_del_entry_valid_or_report+0x8a/0xd0
)"));
    ASSERT_EQ(summary.complaints.size(), 1U);
    EXPECT_EQ(summary.complaints[0].title, "kernel BUG in __list_del_entry_valid_or_report");
}

TEST(KernelLog, RecordsPrintAsOnTheConsole) {
    EXPECT_EQ(format_record(62695402, "x"), "[   62.695402] x");
}

}  // namespace
}  // namespace hotplug
