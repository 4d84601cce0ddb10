// SPDX-License-Identifier: GPL-2.0
#include "testing/amdgpu_hotplug/protocol.h"

namespace hp::model {
namespace {

constexpr std::uint8_t finished = 0xff;

int phase_of(int word) {
    return word & HOTPLUG_PHASE_MASK;
}

bool suspected(int word) {
    return (word & HOTPLUG_SUSPECT) != 0;
}

Gpu& gpu_of(State& state, const Actor& actor) {
    return state.gpus[actor.gpu];
}
const Gpu& gpu_of(const State& state, const Actor& actor) {
    return state.gpus[actor.gpu];
}

bool probed(const State& state, const Actor& actor) {
    return gpu_of(state, actor).probed;
}

Complaint next(Actor& actor) {
    ++actor.at;
    return {};
}

Complaint go_to(Actor& actor, std::uint8_t step) {
    actor.at = step;
    return {};
}

Complaint finish(Actor& actor) {
    return go_to(actor, finished);
}

// --- somebody finds out that the hardware is gone: an interrupt handler, AER, a poll loop
// ----------

Complaint after_lose(State& state, Actor& actor, int first) {
    const int found = phase_of(actor.entry_word);
    if (first != 0 && found >= HOTPLUG_LOST) {
        return "a loss is new only once";
    }
    if (phase_of(gpu_of(state, actor).word) < HOTPLUG_LOST) {
        return "a GPU that was lost is not usable";
    }
    return first != 0 ? next(actor) : finish(actor);
}

Complaint announce(State& state, Actor& actor, int) {
    Gpu& gpu = gpu_of(state, actor);
    if (++gpu.announced > 1) {
        return "a loss is announced once";
    }
    gpu.work = Work::queued;
    return finish(actor);
}

Role lost_role(const hotplug_calls& calls) {
    return {"lost",
            {{"lose", calls.lose, probed, after_lose}, {"announce", nullptr, nullptr, announce}}};
}

// --- the hardware does not answer: it does so after all, or never again
// ---------------------------------------------------------------------

Complaint after_suspect(State& state, Actor& actor, int first) {
    const int word = gpu_of(state, actor).word;
    if (!suspected(word) && phase_of(word) < HOTPLUG_LOST) {
        return "hardware that does not answer is suspected";
    }
    return first != 0 ? next(actor) : finish(actor);
}

Complaint after_trust(State& state, Actor& actor, int) {
    return suspected(gpu_of(state, actor).word) ? Complaint("a suspicion can be taken back")
                                                : finish(actor);
}

Role silence_ends_role(const hotplug_calls& calls) {
    return {"silence that ends",
            {{"suspect", calls.suspect, probed, after_suspect},
             {"trust", calls.trust, nullptr, after_trust}}};
}

Role silence_lasts_role(const hotplug_calls& calls) {
    return {"silence that lasts",
            {{"suspect", calls.suspect, probed, after_suspect},
             {"lose", calls.lose, nullptr, after_lose},
             {"announce", nullptr, nullptr, announce}}};
}

// --- the driver is unbound
// -------------------------------------------------------------------------

bool lock_is_free(const State& state, const Actor& actor) {
    return probed(state, actor) && !gpu_of(state, actor).device_lock;
}

/// Under it the driver core sees whether there is a driver to be called.
Complaint take_lock(State& state, Actor& actor, int) {
    Gpu& gpu = gpu_of(state, actor);
    if (gpu.removals > 0) {
        return finish(actor);
    }
    gpu.device_lock = true;
    return next(actor);
}

Complaint after_remove_begin(State& state, Actor& actor, int phase) {
    const int found = phase_of(actor.entry_word);
    if (phase != HOTPLUG_REMOVING && phase != HOTPLUG_LOST) {
        return "a removal begins in REMOVING or LOST";
    }
    if (found == HOTPLUG_LOST && phase != HOTPLUG_LOST) {
        return "a removal is told that the hardware is gone";
    }
    if (phase_of(gpu_of(state, actor).word) == HOTPLUG_PRESENT) {
        return "nothing is admitted once removal has begun";
    }
    gpu_of(state, actor).removal_begun = true;
    return next(actor);
}

/// To wait is a step that changes nothing.
Complaint after_wait(State& state, Actor& actor, int resetting) {
    if (resetting == 0) {
        return next(actor);
    }
    return gpu_of(state, actor).resets == 0 ? Complaint("nothing is waited for but a running reset")
                                            : Complaint();
}

Complaint flush_work(State& state, Actor& actor, int) {
    Gpu& gpu = gpu_of(state, actor);
    if (gpu.work == Work::running) {
        return {};
    }
    gpu.work = Work::idle;
    return next(actor);
}

Complaint begin_teardown(State& state, Actor& actor, int) {
    gpu_of(state, actor).tearing_down = true;
    return next(actor);
}

Complaint access_hardware(State& state, Actor& actor, int may_access) {
    if (may_access != 0 && phase_of(actor.entry_word) >= HOTPLUG_LOST) {
        return "nothing touches the hardware after its loss";
    }
    const int word = gpu_of(state, actor).word;
    if (may_access != 0 && suspected(word)) {
        return "nothing touches the hardware while it may be gone";
    }
    if (may_access == 0 && phase_of(word) < HOTPLUG_LOST && !suspected(word)) {
        return "hardware that answers may be used";
    }
    return next(actor);
}

Complaint end_teardown(State& state, Actor& actor, int) {
    gpu_of(state, actor).tearing_down = false;
    return next(actor);
}

Complaint after_remove_end(State& state, Actor& actor, int ended) {
    Gpu& gpu = gpu_of(state, actor);
    if (ended == 0) {
        return "a removal ends once";
    }
    if (gpu.word != HOTPLUG_GONE) {
        return "a removed GPU is GONE and not in reset";
    }
    ++gpu.removals;
    gpu.device_lock = false;
    return finish(actor);
}

Role removal_role(const hotplug_calls& calls) {
    return {"remove",
            {{"device_lock", nullptr, lock_is_free, take_lock},
             {"remove_begin", calls.remove_begin, nullptr, after_remove_begin},
             {"wait for reset", calls.resetting, nullptr, after_wait},
             {"flush loss work", nullptr, nullptr, flush_work},
             {"teardown begins", nullptr, nullptr, begin_teardown},
             {"may_access", calls.may_access, nullptr, access_hardware},
             {"teardown ends", nullptr, nullptr, end_teardown},
             {"remove_end", calls.remove_end, nullptr, after_remove_end}}};
}

// --- a job timeout, a user, or AER wants a reset
// ---------------------------------------------------

Complaint after_reset_begin(State& state, Actor& actor, int admitted) {
    Gpu& gpu = gpu_of(state, actor);
    if (admitted == 0) {
        return (gpu.word & ~HOTPLUG_SUSPECT) == HOTPLUG_PRESENT
                   ? Complaint("a present GPU may be reset")
                   : finish(actor);
    }
    if (suspected(gpu.word)) {
        return "a reset ends a suspicion";
    }
    if (phase_of(actor.entry_word) != HOTPLUG_PRESENT) {
        return "no reset begins once the GPU has left PRESENT";
    }
    if (++gpu.resets > 1) {
        return "one reset runs at a time";
    }
    return next(actor);
}

Complaint after_reset_end(State& state, Actor& actor, int phase) {
    Gpu& gpu = gpu_of(state, actor);
    --gpu.resets;
    if (phase != phase_of(gpu.word)) {
        return "the end of a reset tells the phase";
    }
    return finish(actor);
}

Role reset_role(const hotplug_calls& calls) {
    return {"reset",
            {{"reset_begin", calls.reset_begin, probed, after_reset_begin},
             {"may_access", calls.may_access, nullptr, access_hardware},
             {"reset_end", calls.reset_end, nullptr, after_reset_end}}};
}

// --- suspend and resume, under the device's lock; the second finds that the device has gone
// --------

Complaint give_lock_back(State& state, Actor& actor, int) {
    gpu_of(state, actor).device_lock = false;
    return finish(actor);
}

/// Here the next step comes whether the loss was new or known.
Complaint after_lose_in_resume(State& state, Actor& actor, int first) {
    const auto complaint = after_lose(state, actor, first);
    return complaint.empty() && first == 0 ? go_to(actor, 5) : complaint;
}

Complaint announce_in_resume(State& state, Actor& actor, int first) {
    const auto complaint = announce(state, actor, first);
    return complaint.empty() ? go_to(actor, 5) : complaint;
}

Role suspend_role(const hotplug_calls& calls) {
    return {"suspend",
            {{"device_lock", nullptr, lock_is_free, take_lock},
             {"suspend: may_access", calls.may_access, nullptr, access_hardware},
             {"resume: may_access", calls.may_access, nullptr, access_hardware},
             {"device_unlock", nullptr, nullptr, give_lock_back}}};
}

Role absent_at_resume_role(const hotplug_calls& calls) {
    return {"suspend",
            {{"device_lock", nullptr, lock_is_free, take_lock},
             {"suspend: may_access", calls.may_access, nullptr, access_hardware},
             {"resume: may_access", calls.may_access, nullptr, access_hardware},
             {"resume: lose", calls.lose, nullptr, after_lose_in_resume},
             {"resume: announce", nullptr, nullptr, announce_in_resume},
             {"device_unlock", nullptr, nullptr, give_lock_back}}};
}

// --- user space: open, an ioctl, close; it may stop before either of the last two
// -------------------

Complaint check_admission(const State& state, const Actor& actor, int admitted) {
    if (admitted != 0 && phase_of(actor.entry_word) != HOTPLUG_PRESENT) {
        return "nothing is admitted once the GPU has left PRESENT";
    }
    if (admitted == 0 && phase_of(gpu_of(state, actor).word) == HOTPLUG_PRESENT) {
        return "a present GPU admits";
    }
    return {};
}

Complaint after_open(State& state, Actor& actor, int admitted) {
    const auto complaint = check_admission(state, actor, admitted);
    if (!complaint.empty()) {
        return complaint;
    }
    if (admitted == 0) {
        return finish(actor);
    }
    ++gpu_of(state, actor).files;
    return next(actor);
}

Complaint after_ioctl_begins(State& state, Actor& actor, int admitted) {
    const auto complaint = check_admission(state, actor, admitted);
    if (!complaint.empty()) {
        return complaint;
    }
    if (admitted == 0) {
        return go_to(actor, 4);  // -ENODEV; what is left is to close
    }
    ++gpu_of(state, actor).sections;
    return next(actor);
}

Complaint end_ioctl(State& state, Actor& actor, int) {
    --gpu_of(state, actor).sections;
    return next(actor);
}

Complaint close_file(State& state, Actor& actor, int) {
    --gpu_of(state, actor).files;
    return finish(actor);
}

Role client_role(const hotplug_calls& calls) {
    return {"client",
            {{"open: admits", calls.admits, probed, after_open},
             {"ioctl: admits", calls.admits, nullptr, after_ioctl_begins, true},
             {"ioctl: may_access", calls.may_access, nullptr, access_hardware},
             {"ioctl ends", nullptr, nullptr, end_ioctl},
             {"close", nullptr, nullptr, close_file, true}}};
}

// --- another GPU comes to where the first one was
// ----------------------------------------------------

bool slot_is_empty(const State& state, const Actor&) {
    return state.gpus[0].removals > 0;
}

Complaint probe(State& state, Actor& actor, int) {
    gpu_of(state, actor).probed = true;
    return finish(actor);
}

Role replug_role() {
    return {"replug", {{"probe", nullptr, slot_is_empty, probe}}};
}

// --- the work that is queued for a loss
// --------------------------------------------------------------

bool work_is_queued(const State& state, const Actor& actor) {
    return gpu_of(state, actor).work == Work::queued;
}

Complaint begin_work(State& state, Actor& actor, int) {
    gpu_of(state, actor).work = Work::running;
    return next(actor);
}

Complaint begin_work_unless_removed(State& state, Actor& actor, int) {
    Gpu& gpu = gpu_of(state, actor);
    if (gpu.removal_begun) {
        gpu.work = Work::idle;
        return finish(actor);
    }
    return begin_work(state, actor, 0);
}

Complaint end_work(State& state, Actor& actor, int) {
    gpu_of(state, actor).work = Work::idle;
    return finish(actor);
}

Role loss_work_role(const hotplug_calls& calls, bool asks) {
    return {"loss work",
            {{"begins", nullptr, work_is_queued, asks ? begin_work_unless_removed : begin_work},
             {"wait for reset", calls.resetting, nullptr, after_wait},
             {"completes fences", nullptr, nullptr, end_work}}};
}

bool may_follow(int from, int to) {
    switch (from) {
        case HOTPLUG_PRESENT: return to == HOTPLUG_REMOVING || to == HOTPLUG_LOST;
        case HOTPLUG_REMOVING: return to == HOTPLUG_LOST || to == HOTPLUG_GONE;
        case HOTPLUG_LOST: return to == HOTPLUG_GONE;
        default: return false;
    }
}

}  // namespace

std::vector<Role> make_roles(const hotplug_calls& calls, bool work_asks) {
    return {lost_role(calls),
            silence_ends_role(calls),
            silence_lasts_role(calls),
            removal_role(calls),
            reset_role(calls),
            suspend_role(calls),
            absent_at_resume_role(calls),
            client_role(calls),
            replug_role(),
            loss_work_role(calls, work_asks)};
}

const Step* next_step(const std::vector<Role>& roles, const Actor& actor) {
    return actor.at == finished ? nullptr : &roles[actor.role].steps[actor.at];
}

Complaint check_step(const State& before, const State& after, std::uint8_t gpu) {
    const Gpu& now = after.gpus[gpu];
    const int from = phase_of(before.gpus[gpu].word);
    const int to = phase_of(now.word);
    if (before.gpus[1 - gpu] != after.gpus[1 - gpu]) {
        return "a GPU is another one's business in nothing";
    }
    if (from != to && from == HOTPLUG_GONE) {
        return "GONE is final";
    }
    if (from != to && !may_follow(from, to)) {
        return "a phase is followed by a higher one only";
    }
    if ((now.word & ~(HOTPLUG_PHASE_MASK | HOTPLUG_RESETTING | HOTPLUG_SUSPECT)) != 0) {
        return "the word has no other bits";
    }
    if (suspected(now.word) && to >= HOTPLUG_LOST) {
        return "who is lost is not suspected";
    }
    if (((now.word & HOTPLUG_RESETTING) != 0) != (now.resets > 0)) {
        return "RESETTING says that a reset runs";
    }
    if (now.tearing_down && now.resets > 0) {
        return "a reset never overlaps teardown";
    }
    if (now.tearing_down && now.work == Work::running) {
        return "the work for a loss never overlaps teardown";
    }
    return {};
}

Complaint check_rest(const State& state, const std::vector<Role>& roles) {
    for (std::uint8_t i = 0; i < state.actor_count; ++i) {
        const Step* step = next_step(roles, state.actors[i]);
        if (step != nullptr && state.actors[i].begun() && !step->optional) {
            return "what has begun ends, whatever user space does";
        }
    }
    for (const Gpu& gpu : state.gpus) {
        if (gpu.was_lost != (gpu.announced == 1)) {
            return "each loss is announced";
        }
        if (suspected(gpu.word)) {
            return "each suspicion ends";
        }
        if (gpu.sections != 0 || gpu.resets != 0 || gpu.tearing_down) {
            return "every section ends";
        }
    }
    return {};
}

}  // namespace hp::model
