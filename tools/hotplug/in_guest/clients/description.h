// SPDX-License-Identifier: GPL-2.0
// Purpose: what a client says of itself. The rest of the project knows a client by nothing else.
// Thread: values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hp::clients {

struct State {
    std::string_view name;
    std::string_view meaning;  ///< completes "the client says this when ..." or "of what ..."
};

struct Description {
    std::string_view name;     ///< that of its file
    std::string_view purpose;  ///< one line without a full stop
    /// Works without end, reports progress, and has to end when its GPU is lost.
    bool worker = false;
    /// What it reports beside common_states.
    std::vector<State> states{};
    /// What has to be in the guest: "module dma_buf_importer", "libhsa-runtime64.so.1".
    std::vector<std::string_view> needs{};
};

/// What every client may report.
inline const std::vector<State> common_states = {
    {"ready", "it works, or holds what it has to hold"},
    {"progress", "results so far, at most ten times a second"},
    {"error", "an error that it sees for the first time; it goes on where it can"},
    {"end", "its last line"},
};

/// Whether a client of that description may report it.
bool reports(const Description& description, std::string_view state);

}  // namespace hp::clients
