// SPDX-License-Identifier: GPL-2.0
// Purpose: try every order in which the steps of a set of actors can come, breadth first, each
// state once, until an invariant breaks or nothing is left. Thread: the caller's. Not modelled:
// fairness; an order in which an actor never moves again is one of those tried.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "testing/amdgpu_hotplug/protocol.h"

namespace hp::model {

struct Cast {
    RoleId role;
    std::uint8_t gpu = 0;
};

/// An invariant that broke, and the shortest schedule that breaks it, a step a line.
struct Violation {
    std::string invariant;
    std::string schedule;
};

struct Exploration {
    std::size_t states = 0;
    std::size_t steps = 0;
    std::size_t at_rest = 0;  // states in which nothing that has begun can go on
    std::optional<Violation> violation;
};

/// The first GPU is there from the beginning. Actors of the same role at the same GPU are
/// interchangeable, and are not told apart.
Exploration explore(const std::vector<Role>& roles, const std::vector<Cast>& cast);

}  // namespace hp::model
