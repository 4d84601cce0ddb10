/* SPDX-License-Identifier: MIT */
#ifndef __KFD_ARRIVAL_H__
#define __KFD_ARRIVAL_H__

#include <linux/types.h>

struct kfd_process;
struct kfd_process_device;

struct kfd_process_device *kfd_arrival_add_device(struct kfd_process *p,
						  u32 gpu_id);

#endif
