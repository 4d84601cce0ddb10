// SPDX-License-Identifier: GPL-2.0
// Purpose: finds what the guest kernel complained about: BUG, WARNING, Oops, KASAN, KFENCE, UBSAN,
// lockdep, hung task, lockup, RCU stall, kmemleak, DMA-API, SLUB, list and refcount corruption, any
// other stack trace, and gaps in the log, in which each of these may have been. Thread: pure
// functions. Not modelled: the meaning of a driver's own messages. Error lines without a stack are
// notes, never complaints.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hotplug/guest/kernel_line.h"

namespace hotplug {

enum class ComplaintKind {
    log_gap,  // not the kernel's: records are missing
    trace,    // a stack trace under a message that none of the others claims
    warning,
    bug,
    lockdep,
    refcount,
    list_corruption,
    dma_api,
    slub,
    ubsan,
    kfence,
    kasan,
    hung_task,
    lockup,
    rcu_stall,
    kmemleak,
    panic,
};

std::string_view to_string(ComplaintKind kind);
/// The kernel is beyond use after it: a task died, with whatever locks it held.
bool is_fatal(ComplaintKind kind);

/// One report of the kernel, however many lines it had. Equal titles are one complaint with a
/// count.
struct Complaint {
    ComplaintKind kind = ComplaintKind::trace;
    std::string title;  ///< the same from one run to the next: no address, no pid, no line number
    uint64_t time_us = 0;
    int count = 1;
    std::vector<std::string> lines;  ///< the first lines as they were printed
    std::vector<std::string> stack;  ///< functions of the first stack, innermost first
};

/// An error line of a driver; repeated ones are counted.
struct KernelNote {
    std::string text;
    uint64_t time_us = 0;
    int count = 1;
};

struct KernelLogSummary {
    std::vector<Complaint> complaints;
    std::vector<KernelNote> notes;
};

/// Reads the records in order. Depends on the shape of reports (first words, markers, stack
/// frames), not on the wording of one kernel version.
KernelLogSummary classify(std::span<const KernelLine> records);

/// "[   62.695402] text", as the console prints it.
std::string format_record(uint64_t time_us, std::string_view text);

}  // namespace hotplug
