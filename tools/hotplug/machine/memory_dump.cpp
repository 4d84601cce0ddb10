// SPDX-License-Identifier: GPL-2.0
// Purpose: see memory_dump.h.
// Thread: one at a time.
#include "hotplug/machine/memory_dump.h"

#include <fmt/format.h>

#include <string>

namespace hotplug {

namespace {

namespace fs = std::filesystem;

using Clock = Deadline::Clock;

constexpr uint64_t mib = uint64_t(1) << 20;

hp::Result<void> check_room(const fs::path& folder, uint64_t wanted) {
    std::error_code error;
    const auto space = fs::space(folder, error);
    if (error) {
        return hp::fail(fmt::format("{}: {}", folder.string(), error.message()));
    }
    if (space.available < wanted) {
        return hp::fail(
            fmt::format("no room to dump the guest's memory: {} has {} MiB free, {} are wanted",
                        folder.string(), space.available / mib, wanted / mib));
    }
    return {};
}

/// From the start of the dump to its end; `from`: the first event that may tell of that.
hp::Result<void> wait_dumped(QmpClient& qmp, size_t from, std::chrono::milliseconds time) {
    const auto done = qmp.wait_event(
        from, [](const QmpEvent& event) { return event.name == "DUMP_COMPLETED"; },
        "QEMU to dump the guest's memory", Deadline::after(time));
    if (!done) {
        return tl::unexpected(done.error());
    }
    const auto result = done->data.value("result", nlohmann::json::object());
    if (result.value("status", "") != "completed") {
        return hp::fail("QEMU could not dump the guest's memory: " +
                        done->data.value("error", result.dump()));
    }
    return {};
}

}  // namespace

hp::Result<MemoryDump> dump_memory(QmpClient& qmp, uint64_t guest_bytes, const fs::path& file,
                                   const MemoryDumpLimits& limits) {
    if (auto room = check_room(file.parent_path(), guest_bytes + limits.spare_bytes); !room) {
        return tl::unexpected(room.error());
    }
    const auto start = Clock::now();
    const size_t from = qmp.event_count();
    // "raw": not as the stream that makedumpfile writes into a pipe, which drgn does not read.
    auto dumped =
        qmp.execute("dump-guest-memory", {{"paging", false},
                                          {"protocol", "file:" + file.string()},
                                          {"detach", true},
                                          {"format", "kdump-raw-zlib"}})
            .and_then([&](const nlohmann::json&) { return wait_dumped(qmp, from, limits.time); });
    std::error_code error;
    MemoryDump dump;
    if (dumped) {
        dump.bytes = fs::file_size(file, error);
        if (error) {
            dumped = hp::fail(fmt::format("{}: {}", file.string(), error.message()));
        }
    }
    if (!dumped) {
        fs::remove(file, error);
        return tl::unexpected(dumped.error());
    }
    dump.took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
    return dump;
}

}  // namespace hotplug
