/* SPDX-License-Identifier: MIT */
#ifndef __AMDGPU_POLL_H__
#define __AMDGPU_POLL_H__

#include <linux/delay.h>
#include <linux/ktime.h>

/**
 * amdgpu_poll - read until a condition holds, for a limited time
 * @adev: amdgpu device, for its usec_timeout
 * @val: variable for what was read
 * @read: expression that reads, normally a register
 * @cond: the condition, of @val
 *
 * The limit is one of time, however long a read takes. It is twice usec_timeout: as
 * many rounds of a delay of a microsecond and a fast read take that. For what counts
 * the delays alone, see poll_timeout_us_atomic().
 *
 * Context: Any. It does not sleep.
 *
 * Return: whether the condition holds. When the time is up, @read is evaluated once
 * more, as the caller may have been preempted.
 */
#define amdgpu_poll(adev, val, read, cond)					\
({										\
	ktime_t __end = ktime_add_us(ktime_get(), 2ULL * (adev)->usec_timeout);	\
	bool __late, __holds;							\
										\
	for (;;) {								\
		__late = ktime_after(ktime_get(), __end);			\
		(val) = (read);							\
		__holds = (cond);						\
		if (__holds || __late)						\
			break;							\
		udelay(1);							\
	}									\
	__holds;								\
})

#endif
