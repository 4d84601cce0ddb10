// SPDX-License-Identifier: GPL-2.0
#include "testing/amdgpu_hotplug/state_module.h"

#include <dlfcn.h>

#include <stdexcept>

namespace hp::model {

StateModule::StateModule(const std::string& name)
    : handle_(::dlopen((HOTPLUG_STATE_MODULES "/" + name + ".so").c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) {
        throw std::runtime_error(::dlerror());
    }
    calls_ = static_cast<const hotplug_calls*>(::dlsym(handle_.get(), "hotplug_state_calls"));
    if (calls_ == nullptr) {
        throw std::runtime_error(::dlerror());
    }
}

void StateModule::Unload::operator()(void* handle) const {
    ::dlclose(handle);
}

}  // namespace hp::model
