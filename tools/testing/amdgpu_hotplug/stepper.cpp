// SPDX-License-Identifier: GPL-2.0
#include "testing/amdgpu_hotplug/stepper.h"

#include <csetjmp>

namespace hp::model {
namespace {

/// The call that runs. A jump out of it crosses frames of C, and of hotplug_model_observe(), which
/// have nothing to destroy.
struct Running {
    Observed* observed = nullptr;  // nullptr: a whole call, nothing to come between
    std::uint8_t position = 0;
    bool live = true;  // the last operation was done, not repeated
    std::jmp_buf leave;
} running;

}  // namespace

extern "C" int hotplug_model_observe(const int* counter) {
    if (running.observed == nullptr) {
        return *counter;
    }
    Observed& observed = *running.observed;
    if (running.position < observed.count) {
        return observed.values[running.position++];
    }
    if (running.live || observed.count == Observed::limit) {
        std::longjmp(running.leave, 1);
    }
    running.live = true;
    ++running.position;
    return observed.values[observed.count++] = static_cast<std::int8_t>(*counter);
}

extern "C" void hotplug_model_store(int* counter, int value) {
    if (running.live) {
        *counter = value;
    }
}

std::optional<int> step(Function function, int& word, Observed& observed) {
    running.observed = &observed;
    running.position = 0;
    running.live = false;
    if (setjmp(running.leave) != 0) {
        return std::nullopt;
    }
    const int result = function(&word);
    observed = {};
    return result;
}

int whole(Function function, int& word) {
    running.observed = nullptr;
    running.live = true;
    return function(&word);
}

}  // namespace hp::model
