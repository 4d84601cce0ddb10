// SPDX-License-Identifier: GPL-2.0
// Purpose: the state machine out of a shared object, so that one program can hold it as it is and
// with each seeded bug. Thread: any. Not modelled: nothing.
#pragma once

#include <memory>
#include <string>

#include "testing/amdgpu_hotplug/state_calls.h"

namespace hp::model {

class StateModule {
public:
    /// Throws std::runtime_error when there is no such module.
    explicit StateModule(const std::string& name);

    const hotplug_calls& calls() const { return *calls_; }

private:
    struct Unload {
        void operator()(void* handle) const;
    };
    std::unique_ptr<void, Unload> handle_;
    const hotplug_calls* calls_;
};

}  // namespace hp::model
