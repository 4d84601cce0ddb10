/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel's <linux/types.h> gives to the files under test. */
#ifndef _HOTPLUG_SHIM_LINUX_TYPES_H
#define _HOTPLUG_SHIM_LINUX_TYPES_H

#include <stdbool.h>

typedef struct {
	int counter;
} atomic_t;

#endif
