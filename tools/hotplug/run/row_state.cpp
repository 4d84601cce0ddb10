// SPDX-License-Identifier: GPL-2.0
// Purpose: see row_state.h.
// Thread: one at a time.
#include "hotplug/run/row_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace hotplug {

namespace {

/// Dentries and inodes that nobody uses go, and with them the kernfs nodes that they pin: reading
/// sysfs, as the harness does, makes such. Then the caches that the agent counts (system_state.cpp)
/// give back half-filled slabs, per-CPU lists and sheaves, and KASAN's quarantine of them. Merged
/// caches have no name of their own, and are not counted.
constexpr const char* give_back =
    "echo 2 > /proc/sys/vm/drop_caches && cd /sys/kernel/slab && "
    "for cache in *drm* *gpu* *kfd* *ttm* *sched_fence* *dma_buf* kernfs_node_cache mm_struct pid; "
    "do [ ! -e $cache/shrink ] || echo 1 > $cache/shrink || exit; done";
constexpr auto give_back_deadline = std::chrono::seconds(60);

void replace_all(std::string& text, const std::string& from, const std::string& to) {
    for (size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

}  // namespace

RowResult result_for(const Row& row) {
    RowResult result;
    result.started = utc_text(std::time(nullptr));
    result.id = row.id();
    result.name = row.name();
    result.expected_key = row.expected_key();
    result.cycle = row.cycle;
    result.attempt = row.attempt;
    result.scenario_file = row.scenario->file;
    result.description = row.scenario->description;
    return result;
}

RowState::RowState(Testbed& bed, const Row& row, GuestHistory& history)
    : bed(bed),
      row(row),
      scenario(*row.scenario),
      limits(bed.facts().flavour() == "debug" ? scenario.limits.doubled() : scenario.limits),
      history(history),
      result(result_for(row)) {
    victim.slot = row.victim_slot();
    bystander.slot = row.bystander_slot();
}

hp::Result<void> RowState::find_target(Target& target) {
    const auto bdf = bed.bdf(target.slot);
    if (!bdf) {
        return tl::unexpected(bdf.error());
    }
    const auto state = bed.state();
    if (!state) {
        return tl::unexpected(state.error());
    }
    target.gpu = {*bdf, "", 0};
    if (const DrmNode* node = state->find_drm(*bdf)) {
        target.gpu.node = "/dev/dri/" + node->minor;
    }
    if (const KfdNode* node = state->find_kfd(*bdf)) {
        target.gpu.gpu_id = node->gpu_id;
    }
    return {};
}

std::string RowState::expand(std::string text) const {
    // The longer names first: $VICTIM is the beginning of $VICTIM_NODE.
    replace_all(text, "$VICTIM_NODE", victim_at_start.node);
    replace_all(text, "$VICTIM_ID", std::to_string(victim_at_start.gpu_id));
    replace_all(text, "$VICTIM", victim_at_start.bdf);
    replace_all(text, "$BYSTANDER_NODE", bystander.gpu.node);
    replace_all(text, "$BYSTANDER", bystander.gpu.bdf);
    return text;
}

GuestClient* RowState::find_client(const std::string& name) {
    // The last of that name: one that was awaited may be followed by another.
    const auto found =
        std::find_if(clients.rbegin(), clients.rend(),
                     [&](const GuestClient& client) { return client.name() == name; });
    return found == clients.rend() ? nullptr : &*found;
}

void RowState::mark_unfit(const std::string& why) {
    if (result.unfit.empty()) {
        result.unfit = why;
    }
}

hp::Result<GuestState> rested_state(Testbed& bed) {
    const auto done = bed.run({"sh", "-c", give_back}, give_back_deadline);
    if (!done) {
        return tl::unexpected(done.error());
    }
    if (done->status != 0 || done->timed_out) {
        return hp::fail("the caches of the guest could not be shrunk: " + output_of(*done));
    }
    return bed.state();
}

std::string output_of(const RunResult& run) {
    std::string text = run.out + run.err;
    text.erase(text.find_last_not_of(" \n") + 1);
    return text;
}

}  // namespace hotplug
