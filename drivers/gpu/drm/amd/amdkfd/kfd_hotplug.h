/* SPDX-License-Identifier: MIT */
#ifndef __KFD_HOTPLUG_H__
#define __KFD_HOTPLUG_H__

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/workqueue.h>

struct kfd_dev;
struct kfd_node;
struct kfd_process;
struct kfd_process_device;
struct vm_area_struct;

/**
 * struct kfd_hotplug - what the KFD part of a GPU needs to be lost or removed
 *
 * @users: the driver, until the GPU is detached, and whoever holds a reference
 *	of kfd_node_get()
 * @unused: there is none of @users any more
 * @lock: serializes kfd_hotplug_detach(), which may be called by who finds out
 *	about the loss and by the removal
 * @detached: the GPU is gone for KFD; under @lock, never reset
 * @unplugged: the driver is being unbound, and not only KFD set up anew
 * @map_lock: held for reading while a page of the GPU's BARs is mapped
 * @map_generation: counts the resets; mappings older than the last one are dead
 * @unlock_work: gives back the locks of KFD that were taken for the GPU; has a
 *	reference while it is queued
 *
 * Embedded in struct kfd_dev, which lives as long as its struct amdgpu_device, or
 * until a switch of the partition mode.
 */
struct kfd_hotplug {
	struct kref users;
	struct completion unused;
	struct mutex lock; /* serializes kfd_hotplug_detach() */
	bool detached;
	bool unplugged;
	struct rw_semaphore map_lock;
	unsigned long map_generation;
	struct work_struct unlock_work;
};

void kfd_hotplug_init(struct kfd_dev *kfd);
void kfd_hotplug_fini(struct kfd_dev *kfd);
void kfd_hotplug_detach(struct kfd_dev *kfd);
void kfd_hotplug_unmap(struct kfd_dev *kfd);
void kfd_hotplug_clear_peers(struct amdgpu_device *adev, unsigned long end);

struct kfd_node *kfd_node_get(struct kfd_node *node);
void kfd_node_put(struct kfd_node *node);

int kfd_hotplug_check_ioctl(struct kfd_process *p, unsigned int nr,
			    const void *args);
int kfd_hotplug_mmap(struct kfd_node *node, struct vm_area_struct *vma);

#endif
