/* SPDX-License-Identifier: MIT */
#ifndef __AMDGPU_HOTPLUG_H__
#define __AMDGPU_HOTPLUG_H__

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "amdgpu_hotplug_state.h"

struct amdgpu_device;
struct task_struct;

/*
 * How often a removal may find that hardware which is present has not finished what
 * it waits for, since it last finished something: 10 ms are between two looks, so
 * that it has had three seconds at least. More than that it hangs.
 */
#define AMDGPU_HOTPLUG_LOOKS	300

/* So many equal reads of a register in a row are a loop that waits for it */
#define AMDGPU_HOTPLUG_POLLS	16

/**
 * struct amdgpu_hotplug - what a GPU needs to be lost or removed
 *
 * @state: the phase, and whether a reset runs
 * @lost_work: the part of a loss that sleeps: completes fences, tells user
 *	space
 * @suspect_work: looks at a GPU that does not answer until that ends
 * @silence_lock: makes one of what was seen of configuration space and what
 *	follows from it for the two times below and the suspicion
 * @suspected_since: in jiffies, when the GPU first did not answer, or was not ready,
 *	though it should; of use while it is suspected
 * @silent_since: as @suspected_since, but it has not said either that it is not
 *	ready yet
 * @runs_on: queues of processes did not stop, so that the GPU has to be reset;
 *	set in a removal
 * @settled: no step of probe that is still to come leaves the GPU silent for a
 *	while; set once, by probe
 * @reason: why the GPU was found lost, for the log; written once, by whom
 *	amdgpu_hotplug_state_lose() told to announce the loss
 * @next_check: in jiffies, when those who poll may next read
 *	configuration space. Racy, which costs at most one more read.
 * @next_awake: as @next_check, for those who poll an engine that runs
 * @next_look: as @next_check, when the next look at hardware that has not finished
 *	counts
 * @looks: how many did since the hardware last finished something; in a removal
 * @looker: who made the last one
 * @polled: the register that was last read in a removal
 * @value: what it was read as
 * @polls: how often in a row, up to %AMDGPU_HOTPLUG_POLLS
 * @removal_started: when amdgpu_hotplug_remove_begin() was called; owned by the
 *	removing thread
 * @attach_lock: protects @attachments and what the entries count; taken within
 *	reservation locks
 * @attachments: the attachments of other devices to exported buffers
 *
 * Embedded in struct amdgpu_device and of its lifetime.
 */
struct amdgpu_hotplug {
	struct amdgpu_hotplug_state state;
	struct work_struct lost_work;
	struct delayed_work suspect_work;
	/* Protects the two times below, and who is suspected */
	spinlock_t silence_lock;
	unsigned long suspected_since;
	unsigned long silent_since;
	bool runs_on;
	bool settled;
	const char *reason;
	unsigned long next_check;
	unsigned long next_awake;
	unsigned long next_look;
	atomic_t looks;
	struct task_struct *looker;
	u32 polled;
	u32 value;
	unsigned int polls;
	ktime_t removal_started;
	/* Protects the list and its entries */
	spinlock_t attach_lock;
	struct list_head attachments;
};

/**
 * amdgpu_hotplug_goes_on - the engines of the hardware have finished something
 * @hotplug: of the GPU
 *
 * A removal counts anew.
 *
 * Context: any.
 */
static inline void amdgpu_hotplug_goes_on(struct amdgpu_hotplug *hotplug)
{
	if (unlikely(atomic_read(&hotplug->looks)))
		atomic_set(&hotplug->looks, 0);
}

void amdgpu_hotplug_init(struct amdgpu_device *adev);
void amdgpu_hotplug_settled(struct amdgpu_device *adev);
void amdgpu_hotplug_registered(struct amdgpu_device *adev);
void amdgpu_hotplug_fini(struct amdgpu_device *adev);

bool amdgpu_hotplug_lost(struct amdgpu_device *adev);
bool amdgpu_hotplug_may_access(struct amdgpu_device *adev);
u32 amdgpu_hotplug_no_value(struct amdgpu_device *adev);
bool amdgpu_hotplug_admits(struct amdgpu_device *adev);
bool amdgpu_hotplug_ask(struct amdgpu_device *adev);
bool amdgpu_hotplug_poll(struct amdgpu_device *adev);
void amdgpu_hotplug_finished(struct amdgpu_hotplug *hotplug);
bool amdgpu_hotplug_poll_awake(struct amdgpu_device *adev);
int amdgpu_hotplug_check(struct amdgpu_device *adev, const char *reason);
int amdgpu_hotplug_awake(struct amdgpu_device *adev);
void amdgpu_hotplug_mark_lost(struct amdgpu_device *adev, const char *reason);
void amdgpu_hotplug_restore_access(struct amdgpu_device *adev);
void amdgpu_hotplug_give_up(struct amdgpu_device *adev, const char *reason);
void amdgpu_hotplug_stop(struct amdgpu_device *adev, const char *reason);
void amdgpu_hotplug_runs_on(struct amdgpu_device *adev);
void amdgpu_hotplug_note_read(struct amdgpu_device *adev, u32 reg, u32 value);

bool amdgpu_hotplug_reset_begin(struct amdgpu_device *adev);
void amdgpu_hotplug_reset_end(struct amdgpu_device *adev);
bool amdgpu_hotplug_schedule_reset(struct amdgpu_device *adev,
				   struct work_struct *work);

void amdgpu_hotplug_remove_begin(struct amdgpu_device *adev);
void amdgpu_hotplug_complete_fences(struct amdgpu_device *adev);
void amdgpu_hotplug_step(struct amdgpu_device *adev, const char *step);
void amdgpu_hotplug_remove_end(struct amdgpu_device *adev);
void amdgpu_hotplug_debugfs_init(struct amdgpu_device *adev);

#endif
