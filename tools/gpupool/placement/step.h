// SPDX-License-Identifier: GPL-2.0
// Purpose: what the driver has to do next: read off the books, never written down beside them.
// Thread: values and a pure function.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gpupool/placement/books.h"

namespace gpupool {

enum class StepKind : uint8_t {
    scrub,   // cold reset: a board of this epoch, with nothing in it
    attach,  // into the slot of the VM
    detach,  // out of it, with the guest's consent
    pull,    // out of it in any case, if it is in one, and without power
    start_vm,
    stop_vm,
};

struct Step {
    StepKind kind = StepKind::scrub;
    std::string gpu{};  // of the first four
    uint64_t serial = 0;
    uint64_t epoch = 0;
    std::string profile{};
    uint64_t vram_mib = 0;
    std::string vm{};  // empty: the board is in none
    uint64_t incarnation = 0;
    unsigned slot = 0;
    unsigned slots = 0;        // of the VM, of the last two
    std::string definition{};  // likewise
    bool operator==(const Step&) const = default;
};

std::string_view name_of(StepKind kind);

/// "attach gpu3 epoch 5 to train"
std::string describe(const Step& step);

/// All that is due, in no order: a GPU or VM has at most one.
std::vector<Step> due_steps(const Books& books);

}  // namespace gpupool
