// SPDX-License-Identifier: GPL-2.0
// Purpose: what the `state` request answers, read from procfs and sysfs.
// Thread: any; no state. May block where the kernel does, so it runs on Workers.
// Not modelled: a consistent snapshot. Devices may come and go between two files.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace hp::agent {

/// `root` is "/" but in tests, which make a tree of their own.
nlohmann::json read_drm_minors(const std::filesystem::path& root);
/// "drm_orphans": DRM nodes that are open although their device is gone: the file keeps the minor.
/// Each name once, with the processes that have it open. A mapping whose file was closed, and a
/// dma-buf, are not seen. "kfd_users": the processes that have /dev/kfd open: {"pid","comm"}. One
/// pass over the files of all processes, for which a guest with a crowd needs seconds.
nlohmann::json read_open_files(const std::filesystem::path& root);
/// How long the queues of each KFD process were evicted from each of its GPUs, as far as that is
/// over: {"pid","gpu_id","evicted_ms"}.
nlohmann::json read_kfd_evictions(const std::filesystem::path& root);
nlohmann::json read_kfd_nodes(const std::filesystem::path& root);
nlohmann::json read_pci_devices(const std::filesystem::path& root);
nlohmann::json read_slab(const std::filesystem::path& root);
nlohmann::json read_blocked_tasks(const std::filesystem::path& root);

/// All members of the answer.
nlohmann::json read_state(const std::filesystem::path& root);

}  // namespace hp::agent
