/* SPDX-License-Identifier: MIT */
#ifndef __AMDGPU_HOTPLUG_STATE_H__
#define __AMDGPU_HOTPLUG_STATE_H__

#include <linux/atomic.h>
#include <linux/types.h>

/**
 * enum amdgpu_hotplug_phase - what is left of a GPU
 *
 * @AMDGPU_HOTPLUG_PRESENT: the hardware answers and the driver uses it
 * @AMDGPU_HOTPLUG_REMOVING: the driver is being unbound from hardware that
 *	still answers; the removal may touch it, nothing new is admitted
 * @AMDGPU_HOTPLUG_LOST: the hardware is gone for good; nothing touches it
 * @AMDGPU_HOTPLUG_GONE: the driver is unbound; what is left is memory kept by
 *	open files. Final: a GPU that comes back is a new device.
 *
 * A phase is only ever followed by a higher one.
 */
enum amdgpu_hotplug_phase {
	AMDGPU_HOTPLUG_PRESENT,
	AMDGPU_HOTPLUG_REMOVING,
	AMDGPU_HOTPLUG_LOST,
	AMDGPU_HOTPLUG_GONE,
};

/**
 * struct amdgpu_hotplug_state - phase and reset admission of one GPU
 *
 * @word: the phase, %AMDGPU_HOTPLUG_RESETTING while a reset runs, and
 *	%AMDGPU_HOTPLUG_SUSPECT while the hardware does not answer and may yet
 *
 * All are in one word, so that a reset is admitted or refused at the same
 * instant at which the phase changes. Zeroed memory is a present GPU that no
 * reset runs on. There is no lock: each function is one atomic operation, may
 * be called from any context and never sleeps. The struct lives as long as its
 * GPU's struct amdgpu_device, which open files may keep after the removal.
 */
struct amdgpu_hotplug_state {
	atomic_t word;
};

#define AMDGPU_HOTPLUG_PHASE_MASK	0x3
#define AMDGPU_HOTPLUG_RESETTING	0x4
#define AMDGPU_HOTPLUG_SUSPECT		0x8

/**
 * amdgpu_hotplug_state_phase - read the phase
 * @state: state of the GPU
 *
 * Who sees a phase also sees what was written before it was entered.
 *
 * Return: the phase; a later call may return a higher one.
 */
static inline enum amdgpu_hotplug_phase
amdgpu_hotplug_state_phase(const struct amdgpu_hotplug_state *state)
{
	return atomic_read_acquire(&state->word) & AMDGPU_HOTPLUG_PHASE_MASK;
}

/**
 * amdgpu_hotplug_state_admits - may user space start something new?
 * @state: state of the GPU
 *
 * Asked at open and at the begin of each ioctl. Who was admitted is not waited
 * for: a GPU may be lost in the midst of any ioctl, which ends with what the
 * loss makes of its fences and its accesses.
 *
 * Return: true if the GPU is present.
 */
static inline bool
amdgpu_hotplug_state_admits(const struct amdgpu_hotplug_state *state)
{
	return amdgpu_hotplug_state_phase(state) == AMDGPU_HOTPLUG_PRESENT;
}

/**
 * amdgpu_hotplug_state_may_access - may the driver touch the hardware?
 * @state: state of the GPU
 *
 * Return: true if the GPU is present, or being removed while it answers, and not
 * suspected of being gone.
 */
static inline bool
amdgpu_hotplug_state_may_access(const struct amdgpu_hotplug_state *state)
{
	int word = atomic_read_acquire(&state->word);

	return !(word & AMDGPU_HOTPLUG_SUSPECT) &&
	       (word & AMDGPU_HOTPLUG_PHASE_MASK) < AMDGPU_HOTPLUG_LOST;
}

/**
 * amdgpu_hotplug_state_suspected - may the hardware be gone?
 * @state: state of the GPU
 *
 * Return: true between amdgpu_hotplug_state_suspect() and the end of what it says.
 */
static inline bool
amdgpu_hotplug_state_suspected(const struct amdgpu_hotplug_state *state)
{
	return atomic_read_acquire(&state->word) & AMDGPU_HOTPLUG_SUSPECT;
}

/**
 * amdgpu_hotplug_state_resetting - does a reset run?
 * @state: state of the GPU
 *
 * What removal and loss wait for to become false. It stays false from then on:
 * no reset is admitted once the GPU has left %AMDGPU_HOTPLUG_PRESENT.
 *
 * Return: true between amdgpu_hotplug_state_reset_begin() and
 * amdgpu_hotplug_state_reset_end().
 */
static inline bool
amdgpu_hotplug_state_resetting(const struct amdgpu_hotplug_state *state)
{
	return atomic_read_acquire(&state->word) & AMDGPU_HOTPLUG_RESETTING;
}

bool amdgpu_hotplug_state_lose(struct amdgpu_hotplug_state *state);
bool amdgpu_hotplug_state_suspect(struct amdgpu_hotplug_state *state);
bool amdgpu_hotplug_state_trust(struct amdgpu_hotplug_state *state);
enum amdgpu_hotplug_phase
amdgpu_hotplug_state_remove_begin(struct amdgpu_hotplug_state *state);
bool amdgpu_hotplug_state_remove_end(struct amdgpu_hotplug_state *state);
bool amdgpu_hotplug_state_reset_begin(struct amdgpu_hotplug_state *state);
enum amdgpu_hotplug_phase
amdgpu_hotplug_state_reset_end(struct amdgpu_hotplug_state *state);

#endif
