/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's atomics for threads of user space, each with the order that Documentation/atomic_t.txt promises and not
 * more, so that ThreadSanitizer objects to code that relies on more: a conditional operation that fails orders nothing.
 */
#ifndef _HOTPLUG_SHIM_LINUX_ATOMIC_H
#define _HOTPLUG_SHIM_LINUX_ATOMIC_H

#include <linux/types.h>

static inline int atomic_read(const atomic_t *v)
{
	return __atomic_load_n(&v->counter, __ATOMIC_RELAXED);
}

/* The seeded bug is what the race test has to find. */
static inline int atomic_read_acquire(const atomic_t *v)
{
#ifdef HOTPLUG_SEED_UNORDERED_READ
	return atomic_read(v);
#else
	return __atomic_load_n(&v->counter, __ATOMIC_ACQUIRE);
#endif
}

static inline bool atomic_try_cmpxchg(atomic_t *v, int *old, int new)
{
	return __atomic_compare_exchange_n(&v->counter, old, new, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_RELAXED);
}

static inline int atomic_fetch_andnot(int i, atomic_t *v)
{
	return __atomic_fetch_and(&v->counter, ~i, __ATOMIC_SEQ_CST);
}

#endif
