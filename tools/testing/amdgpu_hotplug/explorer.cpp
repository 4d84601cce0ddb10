// SPDX-License-Identifier: GPL-2.0
#include "testing/amdgpu_hotplug/explorer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <unordered_set>

namespace hp::model {
namespace {

static_assert(std::has_unique_object_representations_v<State>, "hashed by its bytes");

struct Node {
    State state;
    std::uint32_t parent = 0;
    Actor moved;  // who came from the parent, as it was before
};

class Explorer {
public:
    Explorer(const std::vector<Role>& roles, const std::vector<Cast>& cast);

    Exploration run();

private:
    std::optional<Violation> expand(std::uint32_t index);
    bool enabled(const State& state, const Actor& actor) const;
    Complaint move(State& state, Actor& actor) const;
    void remember(const State& state, std::uint32_t parent, const Actor& moved);
    Violation violation(Complaint complaint, std::uint32_t index, const Actor* last) const;
    std::string line(const Actor& actor, const State& before) const;

    // States are looked up by their place in nodes_.
    struct Hash {
        const std::vector<Node>* nodes;
        std::size_t operator()(std::uint32_t index) const {
            const auto* bytes = reinterpret_cast<const char*>(&(*nodes)[index].state);
            return std::hash<std::string_view>{}({bytes, sizeof(State)});
        }
    };
    struct Equal {
        const std::vector<Node>* nodes;
        bool operator()(std::uint32_t a, std::uint32_t b) const {
            return (*nodes)[a].state == (*nodes)[b].state;
        }
    };

    const std::vector<Role>& roles_;
    std::vector<Node> nodes_;
    std::unordered_set<std::uint32_t, Hash, Equal> known_{1 << 16, Hash{&nodes_}, Equal{&nodes_}};
    Exploration result_;
};

Explorer::Explorer(const std::vector<Role>& roles, const std::vector<Cast>& cast) : roles_(roles) {
    if (cast.size() > max_actors) {
        throw std::invalid_argument("more actors than a state has room for");
    }
    State start;
    start.gpus[0].probed = true;
    for (const Cast& one : cast) {
        start.actors[start.actor_count++] = Actor{one.role, one.gpu, 0, 0, {}};
    }
    remember(start, 0, {});
}

Exploration Explorer::run() {
    for (std::uint32_t index = 0; index < nodes_.size() && !result_.violation; ++index) {
        result_.violation = expand(index);
    }
    result_.states = nodes_.size();
    return result_;
}

std::optional<Violation> Explorer::expand(std::uint32_t index) {
    const State before = nodes_[index].state;
    bool at_rest = true;
    for (std::uint8_t i = 0; i < before.actor_count; ++i) {
        const Actor& mover = before.actors[i];
        if (!enabled(before, mover)) {
            continue;
        }
        State after = before;
        auto complaint = move(after, after.actors[i]);
        if (complaint.empty()) {
            complaint = check_step(before, after, mover.gpu);
        }
        ++result_.steps;
        if (!complaint.empty()) {
            return violation(complaint, index, &mover);
        }
        if (after == before) {
            continue;  // it waits
        }
        const bool up_to_user = next_step(roles_, mover)->optional && !mover.in_call();
        at_rest = at_rest && (!mover.begun() || up_to_user);
        remember(after, index, mover);
    }
    if (at_rest) {
        ++result_.at_rest;
        const auto complaint = check_rest(before, roles_);
        if (!complaint.empty()) {
            return violation(complaint, index, nullptr);
        }
    }
    return std::nullopt;
}

bool Explorer::enabled(const State& state, const Actor& actor) const {
    const Step* step = next_step(roles_, actor);
    return step != nullptr && (step->enabled == nullptr || step->enabled(state, actor));
}

Complaint Explorer::move(State& state, Actor& actor) const {
    const Step& next = *next_step(roles_, actor);
    Gpu& gpu = state.gpus[actor.gpu];
    int result = 0;
    if (next.call != nullptr) {
        if (!actor.in_call()) {
            actor.entry_word = gpu.word;
        }
        int word = gpu.word;
        const auto ended = step(next.call, word, actor.observed);
        gpu.word = static_cast<std::int8_t>(word);
        gpu.was_lost = gpu.was_lost || (word & HOTPLUG_PHASE_MASK) == HOTPLUG_LOST;
        if (!ended) {
            return actor.observed.count == Observed::limit
                       ? Complaint("a call ends after a few atomic operations")
                       : Complaint();
        }
        result = *ended;
    }
    const auto complaint = next.then(state, actor, result);
    actor.entry_word = 0;
    return complaint;
}

void Explorer::remember(const State& state, std::uint32_t parent, const Actor& moved) {
    nodes_.push_back({state, parent, moved});
    auto& actors = nodes_.back().state.actors;
    const auto same = [](const Actor& a, const Actor& b) {
        return a.role == b.role && a.gpu == b.gpu;
    };
    for (auto first = actors.begin(); first != actors.begin() + state.actor_count;) {
        const auto end = std::find_if_not(first, actors.begin() + state.actor_count,
                                          [&](const Actor& other) { return same(*first, other); });
        std::sort(first, end);
        first = end;
    }
    if (!known_.insert(static_cast<std::uint32_t>(nodes_.size() - 1)).second) {
        nodes_.pop_back();
    }
}

Violation Explorer::violation(Complaint complaint, std::uint32_t index, const Actor* last) const {
    std::vector<std::string> lines;
    if (last != nullptr) {
        lines.push_back(line(*last, nodes_[index].state));
    }
    for (; index != 0; index = nodes_[index].parent) {
        lines.push_back(line(nodes_[index].moved, nodes_[nodes_[index].parent].state));
    }
    std::string schedule;
    for (auto one = lines.rbegin(); one != lines.rend(); ++one) {
        schedule += *one;
    }
    return {std::string(complaint), schedule};
}

std::string Explorer::line(const Actor& actor, const State& before) const {
    return fmt::format("  gpu {} word {}: {}: {}, operation {}\n", actor.gpu,
                       before.gpus[actor.gpu].word, roles_[actor.role].name,
                       next_step(roles_, actor)->name, actor.observed.count + 1);
}

}  // namespace

Exploration explore(const std::vector<Role>& roles, const std::vector<Cast>& cast) {
    return Explorer(roles, cast).run();
}

}  // namespace hp::model
