/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions of amdgpu_hotplug_state.{c,h} as a table. C++ cannot read that header, and the
 * model check loads the functions once for each seeded bug. Each takes the word of a GPU's state
 * and returns what the function returns.
 */
#ifndef HOTPLUG_STATE_CALLS_H
#define HOTPLUG_STATE_CALLS_H

#ifdef __cplusplus
extern "C" {
#endif

enum hotplug_phase { HOTPLUG_PRESENT, HOTPLUG_REMOVING, HOTPLUG_LOST, HOTPLUG_GONE };

#define HOTPLUG_PHASE_MASK 0x3
#define HOTPLUG_RESETTING 0x4
#define HOTPLUG_SUSPECT 0x8

struct hotplug_calls {
    int (*phase)(int* word);
    int (*admits)(int* word);
    int (*may_access)(int* word);
    int (*resetting)(int* word);
    int (*suspected)(int* word);
    int (*lose)(int* word);
    int (*suspect)(int* word);
    int (*trust)(int* word);
    int (*remove_begin)(int* word);
    int (*remove_end)(int* word);
    int (*reset_begin)(int* word);
    int (*reset_end)(int* word);
};

extern const struct hotplug_calls hotplug_state_calls;

#ifdef __cplusplus
}
#endif

#endif
