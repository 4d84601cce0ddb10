// SPDX-License-Identifier: GPL-2.0
/* Built once with the driver's amdgpu_hotplug_state.h, and once with each mutated copy of it. */
#include "amdgpu_hotplug_state.h"
#include "state_calls.h"

_Static_assert(sizeof(struct amdgpu_hotplug_state) == sizeof(int), "the state is more than one word");
_Static_assert((int)AMDGPU_HOTPLUG_PRESENT == (int)HOTPLUG_PRESENT, "PRESENT");
_Static_assert((int)AMDGPU_HOTPLUG_REMOVING == (int)HOTPLUG_REMOVING, "REMOVING");
_Static_assert((int)AMDGPU_HOTPLUG_LOST == (int)HOTPLUG_LOST, "LOST");
_Static_assert((int)AMDGPU_HOTPLUG_GONE == (int)HOTPLUG_GONE, "GONE");
_Static_assert(AMDGPU_HOTPLUG_PHASE_MASK == HOTPLUG_PHASE_MASK, "PHASE_MASK");
_Static_assert(AMDGPU_HOTPLUG_RESETTING == HOTPLUG_RESETTING, "RESETTING");
_Static_assert(AMDGPU_HOTPLUG_SUSPECT == HOTPLUG_SUSPECT, "SUSPECT");

#define CALL(name)                                                                 \
	static int call_##name(int *word)                                          \
	{                                                                          \
		return amdgpu_hotplug_state_##name((struct amdgpu_hotplug_state *)word); \
	}

CALL(phase)
CALL(admits)
CALL(may_access)
CALL(resetting)
CALL(suspected)
CALL(lose)
CALL(suspect)
CALL(trust)
CALL(remove_begin)
CALL(remove_end)
CALL(reset_begin)
CALL(reset_end)

const struct hotplug_calls hotplug_state_calls = {
	.phase = call_phase,
	.admits = call_admits,
	.may_access = call_may_access,
	.resetting = call_resetting,
	.suspected = call_suspected,
	.lose = call_lose,
	.suspect = call_suspect,
	.trust = call_trust,
	.remove_begin = call_remove_begin,
	.remove_end = call_remove_end,
	.reset_begin = call_reset_begin,
	.reset_end = call_reset_end,
};
