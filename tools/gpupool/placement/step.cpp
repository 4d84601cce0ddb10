// SPDX-License-Identifier: GPL-2.0
// Purpose: see step.h.
// Thread: see step.h.
#include "gpupool/placement/step.h"

#include <fmt/format.h>

#include <optional>

namespace gpupool {

namespace {

std::optional<StepKind> due_of(const Gpu& gpu) {
    switch (gpu.state) {
        case GpuState::scrubbing: return StepKind::scrub;
        case GpuState::attaching: return StepKind::attach;
        case GpuState::detaching: return StepKind::detach;
        case GpuState::failed: return StepKind::pull;
        default: return std::nullopt;
    }
}

std::optional<StepKind> due_of(const Vm& vm) {
    switch (vm.state) {
        case VmState::starting: return StepKind::start_vm;
        case VmState::stopping: return StepKind::stop_vm;
        default: return std::nullopt;
    }
}

}  // namespace

std::string_view name_of(StepKind kind) {
    switch (kind) {
        case StepKind::scrub: return "scrub";
        case StepKind::attach: return "attach";
        case StepKind::detach: return "detach";
        case StepKind::pull: return "pull";
        case StepKind::start_vm: return "start";
        case StepKind::stop_vm: return "stop";
    }
    return "";
}

std::string describe(const Step& step) {
    if (step.gpu.empty()) {
        return fmt::format("{} {}", name_of(step.kind), step.vm);
    }
    return fmt::format("{} {} epoch {}{}{}", name_of(step.kind), step.gpu, step.epoch,
                       step.vm.empty() ? "" : ", vm ", step.vm);
}

std::vector<Step> due_steps(const Books& books) {
    std::vector<Step> steps;
    for (const auto& [name, gpu] : books.gpus) {
        const auto kind = due_of(gpu);
        if (!kind) {
            continue;
        }
        const Pool& pool = books.pools.at(gpu.pool);
        Step step{.kind = *kind,
                  .gpu = name,
                  .serial = gpu.serial,
                  .epoch = gpu.epoch,
                  .profile = pool.profile,
                  .vram_mib = pool.vram_mib,
                  .vm = gpu.vm,
                  .slot = gpu.slot.value_or(0)};
        if (!gpu.vm.empty()) {
            step.incarnation = books.vms.at(gpu.vm).incarnation;
        }
        steps.push_back(std::move(step));
    }
    for (const auto& [name, vm] : books.vms) {
        if (const auto kind = due_of(vm)) {
            steps.push_back({.kind = *kind,
                             .vm = name,
                             .incarnation = vm.incarnation,
                             .slots = vm.slots(),
                             .definition = vm.definition});
        }
    }
    return steps;
}

}  // namespace gpupool
