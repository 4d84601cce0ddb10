// SPDX-License-Identifier: GPL-2.0
// Purpose: the clients that this build has for the guest, as they describe themselves
// (protocols.md, "Guest clients"). Thread: any; what is returned never changes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/result.h"

namespace hotplug {

struct ClientDescription {
    /// How a client is told its GPU, before its own options.
    enum class Gpu { none, node, gpu_id };

    std::string name;
    Gpu gpu = Gpu::none;
    /// Works without end, reports progress, and has to end when its GPU is lost.
    bool worker = false;
    std::vector<std::string> arguments;  ///< "node", "--count"
    std::vector<std::string> states;     ///< beside ready, progress, error and end

    /// Whether `argument` is a value, or an option that the client has: "--count", "--count=3".
    bool takes(std::string_view argument) const;
    /// Whether it may say a line of that state.
    bool reports(std::string_view state) const;
};

/// Null for a program that is no client of ours.
const ClientDescription* find_client(std::string_view name);

std::vector<std::string> client_names();

/// Of a JSON list of what clients say to --describe. Fails when a member is missing or has another
/// type.
hp::Result<std::vector<ClientDescription>> parse_client_descriptions(std::string_view text);

}  // namespace hotplug
