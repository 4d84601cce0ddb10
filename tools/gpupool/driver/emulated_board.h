// SPDX-License-Identifier: GPL-2.0
// Purpose: a board with power, which is an amdgpu-emu that outlives the daemon. Its name is its
// serial number and epoch, and so are those of its sockets and of the device in QEMU: what is meant
// for an earlier tenancy finds nothing.
// Thread: one at a time; failure() from any.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hotplug/machine/emulator_client.h"
#include "hotplug/machine/emulator_process.h"
#include "lib/result.h"

namespace gpupool {

struct BoardId {
    uint64_t serial = 0;
    uint64_t epoch = 0;

    /// "gp-E01-5"
    std::string name() const;
    static std::optional<BoardId> parse(const std::string& name);
    bool operator==(const BoardId&) const = default;
};

class EmulatedBoard {
public:
    struct Environment {
        std::filesystem::path emulator;
        std::filesystem::path folder;  // of sockets, locks and logs
    };

    /// Gives it power, if it has none.
    static hp::Result<std::unique_ptr<EmulatedBoard>> power_on(const Environment& environment,
                                                               BoardId id,
                                                               const std::string& profile,
                                                               uint64_t vram_mib);
    /// Nothing when it has no power.
    static hp::Result<std::unique_ptr<EmulatedBoard>> find(const Environment& environment,
                                                           BoardId id);
    /// All that have power.
    static std::vector<BoardId> all(const Environment& environment);
    /// Its registers are ones from now on, as those of a board without power. Fails when it has no
    /// emulator any more, which comes to the same.
    static hp::Result<void> go_dark(const Environment& environment, BoardId id);
    /// Takes it away, if it has any.
    static hp::Result<void> power_off(const Environment& environment, BoardId id);

    const BoardId& id() const { return id_; }
    std::filesystem::path vfio_user_socket() const;
    /// Why it is not to be trusted any more; nothing while it is.
    std::optional<std::string> failure() const;

private:
    EmulatedBoard(BoardId id, std::filesystem::path socket,
                  std::unique_ptr<hotplug::EmulatorClient> control)
        : id_(id), socket_(std::move(socket)), control_(std::move(control)) {}

    BoardId id_;
    std::filesystem::path socket_;
    std::unique_ptr<hotplug::EmulatorClient> control_;
    bool absent_ = false;  // when it was found
};

}  // namespace gpupool
