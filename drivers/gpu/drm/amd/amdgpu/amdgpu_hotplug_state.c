// SPDX-License-Identifier: MIT

#include "amdgpu_hotplug_state.h"

/**
 * DOC: phases of a GPU that can be removed
 *
 * ::
 *
 *	          remove_begin            remove_end
 *	PRESENT ---------------> REMOVING ----------> GONE
 *	   |                         |                 ^
 *	   |          lose           | lose            | remove_end
 *	   +-------------------------+-----> LOST -----+
 *
 * A GPU that is PRESENT or REMOVING can be suspected of being gone. That is no
 * phase: it can be taken back, and ends with a loss or with the next reset.
 *
 * This file knows nothing of the device and nothing of the kernel but its
 * atomics, so that it can be tested in user space in all its interleavings.
 */

/*
 * Raise the phase to @to if it is in [@from, @below). Fully ordered if it does;
 * if not, nothing is ordered. Who is lost or gone is suspected no more. Returns
 * the word found, with which it was decided.
 */
static int amdgpu_hotplug_state_raise(struct amdgpu_hotplug_state *state,
				      enum amdgpu_hotplug_phase from,
				      enum amdgpu_hotplug_phase below,
				      enum amdgpu_hotplug_phase to)
{
	int clear = AMDGPU_HOTPLUG_PHASE_MASK;
	int old = atomic_read(&state->word);
	enum amdgpu_hotplug_phase phase;

	if (to >= AMDGPU_HOTPLUG_LOST)
		clear |= AMDGPU_HOTPLUG_SUSPECT;

	do {
		phase = old & AMDGPU_HOTPLUG_PHASE_MASK;
		if (phase < from || phase >= below)
			break;
	} while (!atomic_try_cmpxchg(&state->word, &old,
				     (old & ~clear) | to));

	return old;
}

/**
 * amdgpu_hotplug_state_lose - latch that the hardware is gone
 * @state: state of the GPU
 *
 * A running reset is not waited for; it ends by itself because nothing answers
 * it, and no other one is admitted.
 *
 * Context: any.
 * Return: true to the one caller that has to announce the loss, false if it was
 * known or if the driver is unbound already.
 */
bool amdgpu_hotplug_state_lose(struct amdgpu_hotplug_state *state)
{
	int old = amdgpu_hotplug_state_raise(state, AMDGPU_HOTPLUG_PRESENT,
					     AMDGPU_HOTPLUG_LOST,
					     AMDGPU_HOTPLUG_LOST);

	return (old & AMDGPU_HOTPLUG_PHASE_MASK) < AMDGPU_HOTPLUG_LOST;
}

/**
 * amdgpu_hotplug_state_suspect - stop accesses to hardware that does not answer
 * @state: state of the GPU
 *
 * Context: any.
 * Return: true to the one caller that has to watch the GPU until the suspicion
 * ends, false if there was one, or if the GPU is lost or gone.
 */
bool amdgpu_hotplug_state_suspect(struct amdgpu_hotplug_state *state)
{
	int old = atomic_read(&state->word);

	do {
		if (old & AMDGPU_HOTPLUG_SUSPECT ||
		    (old & AMDGPU_HOTPLUG_PHASE_MASK) >= AMDGPU_HOTPLUG_LOST)
			return false;
	} while (!atomic_try_cmpxchg(&state->word, &old,
				     old | AMDGPU_HOTPLUG_SUSPECT));

	return true;
}

/**
 * amdgpu_hotplug_state_trust - the hardware answers after all
 * @state: state of the GPU
 *
 * Context: any.
 * Return: true if the GPU was suspected, and is no more.
 */
bool amdgpu_hotplug_state_trust(struct amdgpu_hotplug_state *state)
{
	return atomic_fetch_andnot(AMDGPU_HOTPLUG_SUSPECT, &state->word) &
	       AMDGPU_HOTPLUG_SUSPECT;
}

/**
 * amdgpu_hotplug_state_remove_begin - the driver is to be unbound
 * @state: state of the GPU
 *
 * From here on no reset begins. The caller has to wait until
 * amdgpu_hotplug_state_resetting() is false before it tears anything down.
 *
 * Context: any; the waiting that has to follow sleeps.
 * Return: the phase in which the removal starts: %AMDGPU_HOTPLUG_REMOVING, or
 * %AMDGPU_HOTPLUG_LOST if the hardware must not be touched.
 */
enum amdgpu_hotplug_phase
amdgpu_hotplug_state_remove_begin(struct amdgpu_hotplug_state *state)
{
	amdgpu_hotplug_state_raise(state, AMDGPU_HOTPLUG_PRESENT,
				   AMDGPU_HOTPLUG_REMOVING,
				   AMDGPU_HOTPLUG_REMOVING);

	return amdgpu_hotplug_state_phase(state);
}

/**
 * amdgpu_hotplug_state_remove_end - the driver is unbound
 * @state: state of the GPU
 *
 * Context: any, after amdgpu_hotplug_state_remove_begin() and the teardown.
 * Return: true to the one caller that ended the removal; false, without any
 * effect, if none was begun (unless the hardware is lost) or it was ended.
 */
bool amdgpu_hotplug_state_remove_end(struct amdgpu_hotplug_state *state)
{
	int old = amdgpu_hotplug_state_raise(state, AMDGPU_HOTPLUG_REMOVING,
					     AMDGPU_HOTPLUG_GONE,
					     AMDGPU_HOTPLUG_GONE);
	enum amdgpu_hotplug_phase phase = old & AMDGPU_HOTPLUG_PHASE_MASK;

	return phase == AMDGPU_HOTPLUG_REMOVING || phase == AMDGPU_HOTPLUG_LOST;
}

/**
 * amdgpu_hotplug_state_reset_begin - ask to reset the GPU
 * @state: state of the GPU
 *
 * Ends a suspicion: what is reset may be silent.
 *
 * Context: any.
 * Return: true if the reset may begin; the caller has to end it with
 * amdgpu_hotplug_state_reset_end(). False if another one runs, or if the GPU is
 * being removed or lost.
 */
bool amdgpu_hotplug_state_reset_begin(struct amdgpu_hotplug_state *state)
{
	int old = atomic_read(&state->word);

	do {
		if ((old & ~AMDGPU_HOTPLUG_SUSPECT) != AMDGPU_HOTPLUG_PRESENT)
			return false;
	} while (!atomic_try_cmpxchg(&state->word, &old,
				     AMDGPU_HOTPLUG_PRESENT |
				     AMDGPU_HOTPLUG_RESETTING));

	return true;
}

/**
 * amdgpu_hotplug_state_reset_end - the reset has ended, well or badly
 * @state: state of the GPU
 *
 * The caller then wakes who waits for amdgpu_hotplug_state_resetting() to become
 * false.
 *
 * Context: any, once for each reset that was admitted.
 * Return: the phase in which the reset leaves the GPU.
 */
enum amdgpu_hotplug_phase
amdgpu_hotplug_state_reset_end(struct amdgpu_hotplug_state *state)
{
	return atomic_fetch_andnot(AMDGPU_HOTPLUG_RESETTING, &state->word) &
	       AMDGPU_HOTPLUG_PHASE_MASK;
}
