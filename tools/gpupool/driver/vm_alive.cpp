// SPDX-License-Identifier: GPL-2.0
// Purpose: see vm_alive.h.
// Thread: see vm_alive.h.
#include "gpupool/driver/vm_alive.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "gpupool/driver/qemu_vm.h"

namespace gpupool {

bool vm_alive(const std::filesystem::path& run, const std::string& name) {
    const auto runs_in = [&](const std::filesystem::path& folder) {
        return std::ranges::any_of(QemuVm::all(folder),
                                   [&](const QemuVm::Id& id) { return id.name == name; });
    };
    if (runs_in(run / "vms") || runs_in(run / "fake/processes")) {
        return true;
    }
    // A fake one of which the file is all.
    std::ifstream file(run / "fake/vms" / name);
    const auto vm = nlohmann::json::parse(file, nullptr, false);
    return vm.is_object() && !vm.value("process", false);
}

}  // namespace gpupool
