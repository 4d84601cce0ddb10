/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's atomics for the model check: each is one step of a schedule. It tells what it found, and stores what it
 * leaves; hotplug_model_observe() does not return when the step of somebody else comes first.
 */
#ifndef _HOTPLUG_MODEL_LINUX_ATOMIC_H
#define _HOTPLUG_MODEL_LINUX_ATOMIC_H

#include <linux/types.h>

int hotplug_model_observe(const int *counter);
void hotplug_model_store(int *counter, int value);

static inline int atomic_read(const atomic_t *v)
{
	return hotplug_model_observe(&v->counter);
}

static inline int atomic_read_acquire(const atomic_t *v)
{
	return hotplug_model_observe(&v->counter);
}

static inline bool atomic_try_cmpxchg(atomic_t *v, int *old, int new)
{
	int found = hotplug_model_observe(&v->counter);

	if (found != *old) {
		*old = found;
		return false;
	}
	hotplug_model_store(&v->counter, new);
	return true;
}

static inline int atomic_fetch_andnot(int i, atomic_t *v)
{
	int found = hotplug_model_observe(&v->counter);

	hotplug_model_store(&v->counter, found & ~i);
	return found;
}

/* Not used by the driver: seeded bugs do. */
static inline void atomic_set(atomic_t *v, int i)
{
	hotplug_model_observe(&v->counter);
	hotplug_model_store(&v->counter, i);
}

static inline int atomic_fetch_or(int i, atomic_t *v)
{
	int found = hotplug_model_observe(&v->counter);

	hotplug_model_store(&v->counter, found | i);
	return found;
}

#endif
