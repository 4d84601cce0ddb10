// SPDX-License-Identifier: MIT

#include <linux/debugfs.h>
#include <linux/pci.h>
#include <linux/wait_bit.h>

#include <drm/drm_drv.h>

#include "amdgpu.h"
#include "amdgpu_display.h"
#include "amdgpu_hotplug.h"
#include "amdgpu_reset.h"
#include "amdgpu_ras.h"
#include "amdgpu_trace.h"

/**
 * DOC: loss and removal of a GPU
 *
 * One decision, "the device is gone", is taken from PCI configuration space or
 * from the PCI core, never from the value of one register, and latched in
 * amdgpu_hotplug_mark_lost(). From then on no access is made, each loop that
 * polls the hardware ends, all fences signal with -ENODEV, nothing new is
 * admitted, no reset begins, and the removal leaves the hardware alone. See
 * Documentation/gpu/amdgpu/hotplug.rst for what user space sees of it.
 *
 * The word of the PCI core is final. Silence of configuration space is not: the
 * link may be down for a moment, for DPC, which the PCI core learns of later, or
 * because somebody resets the bus. A silent GPU is suspected
 * (amdgpu_hotplug_look()): registers and doorbells are left alone, reads give all
 * ones as they do without a link, and nothing else changes. Each further look at
 * configuration space either takes the suspicion back, or finds that the silence
 * has lasted for %AMDGPU_HOTPLUG_SILENCE_MS, and latches the loss. A GPU that says
 * that it is not ready yet has %AMDGPU_HOTPLUG_READY_MS. What was sent
 * meanwhile is lost as it is on a link that is down; jobs that wait for it time
 * out, and the GPU is reset.
 */

/*
 * How long a removal waits at most for the jobs that are executed: the default of
 * lockup_timeout, after which a job is taken for one that never ends. So much time
 * passes at least; what is counted are the looks, one each jiffy.
 */
#define AMDGPU_HOTPLUG_JOB_MS	2000

/*
 * At most one read of configuration space in this time by those who poll, and one
 * look that counts at hardware that is not finished
 */
#define AMDGPU_HOTPLUG_POLL_MS	10

/*
 * How long a device may not answer for a reason that nobody knows: as long as it
 * may after a reset (PCIe r6.0, sec 6.6.1), which it also goes through when its
 * link has been down.
 */
#define AMDGPU_HOTPLUG_SILENCE_MS	1000

/*
 * How long a device may say that it is not ready (Request Retry Status): as long as
 * the PCI core waits for one that was reset. Only below a port that lets software
 * see that status.
 */
#define AMDGPU_HOTPLUG_READY_MS		60000

/*
 * Whatever the GPU still does must not reach memory, nor its interrupts those who
 * share the line: MSI are writes to memory, INTx is not.
 */
static void amdgpu_hotplug_cut_off(struct amdgpu_device *adev)
{
	pci_clear_master(adev->pdev);
	pci_intx(adev->pdev, 0);
}

static void amdgpu_hotplug_lost_work(struct work_struct *work)
{
	struct amdgpu_device *adev =
		container_of(work, struct amdgpu_device, hotplug.lost_work);

	/* Probe fails, and cleans up, or queues this again when it is done. */
	if (!adev_to_drm(adev)->registered)
		return;

	/* A reset stops and starts the schedulers, too: after it. */
	wait_var_event(&adev->hotplug.state,
		       !amdgpu_hotplug_state_resetting(&adev->hotplug.state));

	/* A device that only failed must not do DMA into what is freed now. */
	if (pci_device_is_present(adev->pdev))
		amdgpu_hotplug_cut_off(adev);

	amdgpu_hotplug_complete_fences(adev);
	amdgpu_display_end_flips(adev);

	/* What user space maps of the BARs is dummy pages from now on. */
	unmap_mapping_range(adev_to_drm(adev)->anon_inode->i_mapping, 0, 0, 1);
	amdgpu_device_detach_users(adev);

	/* Only another device in its place, or a rescan, helps. */
	drm_dev_wedged_event(adev_to_drm(adev), DRM_WEDGE_RECOVERY_BUS_RESET,
			     NULL);
}

/**
 * amdgpu_hotplug_give_up - go on with a removal without the hardware
 * @adev: amdgpu device that is being removed and hangs
 * @reason: how it hangs, for the log; a string that stays
 *
 * What its engines still run is cut off from memory before that is freed.
 *
 * Context: any.
 */
void amdgpu_hotplug_give_up(struct amdgpu_device *adev, const char *reason)
{
	amdgpu_hotplug_cut_off(adev);
	amdgpu_hotplug_mark_lost(adev, reason);
}

static void amdgpu_hotplug_suspect_work(struct work_struct *work);

/**
 * amdgpu_hotplug_init - prepare a GPU for being lost or removed
 * @adev: amdgpu device
 *
 * Context: probe, before the first access to the hardware.
 */
void amdgpu_hotplug_init(struct amdgpu_device *adev)
{
	INIT_WORK(&adev->hotplug.lost_work, amdgpu_hotplug_lost_work);
	INIT_DELAYED_WORK(&adev->hotplug.suspect_work,
			  amdgpu_hotplug_suspect_work);
	spin_lock_init(&adev->hotplug.silence_lock);
	adev->hotplug.next_check = jiffies;
	adev->hotplug.next_awake = jiffies;
	adev->hotplug.next_look = jiffies;
	spin_lock_init(&adev->hotplug.attach_lock);
	INIT_LIST_HEAD(&adev->hotplug.attachments);
}

/**
 * amdgpu_hotplug_settled - probe has reset and posted the GPU
 * @adev: amdgpu device
 *
 * From here on a GPU that does not answer is gone. The PCI core may learn of it
 * late: in a hot-plug slot it is the thread that is told of the removal that
 * probes, and each wait for the hardware holds up the slot until it ends.
 *
 * Context: probe, before the IP blocks are set up.
 */
void amdgpu_hotplug_settled(struct amdgpu_device *adev)
{
	WRITE_ONCE(adev->hotplug.settled, true);
}

/**
 * amdgpu_hotplug_registered - probe is done
 * @adev: amdgpu device
 *
 * A loss that was found while the GPU had no users yet is told to them now.
 *
 * Context: probe, after the DRM device was registered.
 */
void amdgpu_hotplug_registered(struct amdgpu_device *adev)
{
	/* The work reads it after the phase has changed, this the other way round */
	smp_mb();
	if (amdgpu_hotplug_state_phase(&adev->hotplug.state) ==
	    AMDGPU_HOTPLUG_LOST)
		queue_work(system_dfl_wq, &adev->hotplug.lost_work);
}

/**
 * amdgpu_hotplug_mark_lost - latch that the hardware is gone
 * @adev: amdgpu device
 * @reason: how it was found out, for the log; a string that stays
 *
 * What sleeps is left to a work, which the removal waits for.
 *
 * Context: any, and any number of times.
 */
void amdgpu_hotplug_mark_lost(struct amdgpu_device *adev, const char *reason)
{
	bool removing;

	/*
	 * amdgpu_hotplug_remove_begin() waits for the end of this section before
	 * it flushes the work. Who comes later finds the GPU being removed, or
	 * lost, and queues nothing.
	 */
	guard(rcu)();
	removing = amdgpu_hotplug_state_phase(&adev->hotplug.state) ==
		   AMDGPU_HOTPLUG_REMOVING;

	/* Those who look at nothing but these stop before the state tells. */
	adev->no_hw_access = true;
	/* Loops that poll count to this, and evaluate it in each iteration. */
	WRITE_ONCE(adev->usec_timeout, 1);

	if (!amdgpu_hotplug_state_lose(&adev->hotplug.state))
		return;

	/* A mode-1 reset may have cleared it before it could see the phase */
	adev->no_hw_access = true;
	adev->hotplug.reason = reason;
	trace_amdgpu_hotplug(adev, "lost", reason);
	dev_err(adev->dev, "device lost: %s\n", reason);
	/* The removal completes the fences itself, and there is no one to tell. */
	if (!removing)
		queue_work(system_dfl_wq, &adev->hotplug.lost_work);
}

/**
 * amdgpu_hotplug_restore_access - use the hardware again after a failure or reset
 * @adev: amdgpu device
 *
 * Takes @adev->no_hw_access back, unless the GPU is lost.
 *
 * Context: process, with the reset domain locked.
 */
void amdgpu_hotplug_restore_access(struct amdgpu_device *adev)
{
	adev->no_hw_access = false;

	/* A loss meanwhile sets it after the phase */
	smp_mb();
	if (amdgpu_hotplug_lost(adev))
		adev->no_hw_access = true;
}

/**
 * amdgpu_hotplug_lost - is the hardware known to be gone?
 * @adev: amdgpu device
 *
 * What the PCI core knows counts before the driver is told of it, which may take
 * as long as removals in other slots, and is latched by whoever asks first.
 *
 * Context: any.
 * Return: true if the hardware must not be touched any more.
 */
bool amdgpu_hotplug_lost(struct amdgpu_device *adev)
{
	if (amdgpu_hotplug_state_phase(&adev->hotplug.state) >=
	    AMDGPU_HOTPLUG_LOST)
		return true;
	if (likely(!pci_dev_is_disconnected(adev->pdev)))
		return false;

	amdgpu_hotplug_mark_lost(adev, "disconnected");

	return true;
}

/**
 * amdgpu_hotplug_admits - may user space start something new?
 * @adev: amdgpu device
 *
 * Context: any.
 * Return: true if the GPU is neither lost nor being removed.
 */
bool amdgpu_hotplug_admits(struct amdgpu_device *adev)
{
	return !amdgpu_hotplug_lost(adev) &&
	       amdgpu_hotplug_state_admits(&adev->hotplug.state);
}

/**
 * amdgpu_hotplug_may_access - may registers and doorbells be touched?
 * @adev: amdgpu device
 *
 * Context: any.
 * Return: false if the GPU is lost, or suspected of being gone.
 */
bool amdgpu_hotplug_may_access(struct amdgpu_device *adev)
{
	if (likely(amdgpu_hotplug_state_may_access(&adev->hotplug.state) &&
		   !pci_dev_is_disconnected(adev->pdev)))
		return true;

	/* With interrupts off nobody else takes the suspicion back */
	return !amdgpu_hotplug_ask(adev) &&
	       amdgpu_hotplug_state_may_access(&adev->hotplug.state);
}

/**
 * amdgpu_hotplug_no_value - what a register reads as that was not accessed
 * @adev: amdgpu device
 *
 * Context: any.
 * Return: all ones while the GPU is suspected of being gone, as from a link that
 * is down; 0 if it is lost, as ever without access to the hardware.
 */
u32 amdgpu_hotplug_no_value(struct amdgpu_device *adev)
{
	return amdgpu_hotplug_state_suspected(&adev->hotplug.state) ? U32_MAX : 0;
}

/* What explains that hardware that is well does not answer */
enum amdgpu_hotplug_excuse {
	AMDGPU_HOTPLUG_NO_EXCUSE,
	/* It is reset, or asleep: it does not have to answer before that is over */
	AMDGPU_HOTPLUG_NOT_AWAKE,
	/* The PCI core recovers the link */
	AMDGPU_HOTPLUG_FROZEN,
};

static enum amdgpu_hotplug_excuse
amdgpu_hotplug_excuse(struct amdgpu_device *adev)
{
	if (pci_channel_offline(adev->pdev))
		return AMDGPU_HOTPLUG_FROZEN;

	/* Probe resets the GPU without ado */
	if (amdgpu_hotplug_state_admits(&adev->hotplug.state) &&
	    !READ_ONCE(adev->hotplug.settled))
		return AMDGPU_HOTPLUG_NOT_AWAKE;

	if (adev->in_suspend || amdgpu_in_reset(adev) ||
	    amdgpu_hotplug_state_resetting(&adev->hotplug.state))
		return AMDGPU_HOTPLUG_NOT_AWAKE;

	return AMDGPU_HOTPLUG_NO_EXCUSE;
}

static bool amdgpu_hotplug_may_be_silent(struct amdgpu_device *adev, bool awake)
{
	enum amdgpu_hotplug_excuse excuse = amdgpu_hotplug_excuse(adev);

	return excuse == AMDGPU_HOTPLUG_FROZEN ||
	       (excuse == AMDGPU_HOTPLUG_NOT_AWAKE && !awake);
}

/* What configuration space says of the hardware */
enum amdgpu_hotplug_answer {
	AMDGPU_HOTPLUG_SILENT,
	/* It is there, but was reset and has not started yet */
	AMDGPU_HOTPLUG_NOT_READY,
	AMDGPU_HOTPLUG_ANSWERS,
};

static enum amdgpu_hotplug_answer
amdgpu_hotplug_answer(struct amdgpu_device *adev)
{
	u32 id;

	if (pci_device_is_present(adev->pdev))
		return AMDGPU_HOTPLUG_ANSWERS;

	if (!pci_read_config_dword(pci_physfn(adev->pdev), PCI_VENDOR_ID, &id) &&
	    (id & 0xffff) == PCI_VENDOR_ID_PCI_SIG)
		return AMDGPU_HOTPLUG_NOT_READY;

	return AMDGPU_HOTPLUG_SILENT;
}

static void amdgpu_hotplug_start_clocks(struct amdgpu_hotplug *hotplug)
{
	hotplug->suspected_since = jiffies;
	hotplug->silent_since = hotplug->suspected_since;
}

/*
 * Configuration space did not answer, or is @not_ready. Returns true if that has
 * lasted for too long by now, which @asked is, in jiffies. Who does not know that the
 * hardware is @awake concludes nothing from its silence, and does not stop the clock
 * of who does.
 */
static bool amdgpu_hotplug_silence(struct amdgpu_device *adev, bool awake,
				   bool not_ready, unsigned long asked,
				   const char *reason)
{
	enum amdgpu_hotplug_excuse excuse = amdgpu_hotplug_excuse(adev);
	struct amdgpu_hotplug *hotplug = &adev->hotplug;

	lockdep_assert_held(&hotplug->silence_lock);
	if (excuse == AMDGPU_HOTPLUG_FROZEN) {
		amdgpu_hotplug_start_clocks(hotplug);
		return false;
	}
	if (excuse == AMDGPU_HOTPLUG_NOT_AWAKE && !awake)
		return false;

	if (!amdgpu_hotplug_state_suspected(&hotplug->state)) {
		amdgpu_hotplug_start_clocks(hotplug);
		if (amdgpu_hotplug_state_suspect(&hotplug->state)) {
			trace_amdgpu_hotplug(adev, "suspected", reason);
			queue_delayed_work(system_dfl_wq, &hotplug->suspect_work,
					   msecs_to_jiffies(AMDGPU_HOTPLUG_POLL_MS));
		}
		return false;
	}

	if (not_ready) {
		hotplug->silent_since = jiffies;
		return time_after_eq(asked, hotplug->suspected_since +
				     msecs_to_jiffies(AMDGPU_HOTPLUG_READY_MS));
	}

	return time_after_eq(asked, hotplug->silent_since +
			     msecs_to_jiffies(AMDGPU_HOTPLUG_SILENCE_MS));
}

/*
 * Read configuration space once, and see what follows: nothing; a suspicion; its
 * end; or, when that lasts for too long, a loss. With @awake
 * the hardware must answer although it is reset or resumed.
 */
static void amdgpu_hotplug_look(struct amdgpu_device *adev, bool awake,
				const char *reason)
{
	struct amdgpu_hotplug *hotplug = &adev->hotplug;
	unsigned long asked = jiffies;
	enum amdgpu_hotplug_answer answer;
	bool gone = false;

	if (!amdgpu_hotplug_state_suspected(&hotplug->state) &&
	    amdgpu_hotplug_may_be_silent(adev, awake))
		return;

	answer = amdgpu_hotplug_answer(adev);

	scoped_guard(spinlock_irqsave, &hotplug->silence_lock) {
		if (answer != AMDGPU_HOTPLUG_ANSWERS)
			gone = amdgpu_hotplug_silence(adev, awake,
						      answer == AMDGPU_HOTPLUG_NOT_READY,
						      asked, reason);
		else if (amdgpu_hotplug_state_trust(&hotplug->state))
			trace_amdgpu_hotplug(adev, "answers", "");
	}

	if (gone)
		amdgpu_hotplug_mark_lost(adev, reason);
}

/* Look at a suspected GPU until it answers or is lost, whoever else does so */
static void amdgpu_hotplug_suspect_work(struct work_struct *work)
{
	struct amdgpu_device *adev =
		container_of(work, struct amdgpu_device,
			     hotplug.suspect_work.work);

	if (amdgpu_hotplug_lost(adev))
		return;

	amdgpu_hotplug_look(adev, false, "no answer");
	/* In its sleep it does not answer; resume looks again */
	if (amdgpu_hotplug_state_suspected(&adev->hotplug.state) &&
	    !adev->in_suspend)
		queue_delayed_work(system_dfl_wq, &adev->hotplug.suspect_work,
				   msecs_to_jiffies(AMDGPU_HOTPLUG_POLL_MS));
}

/* Look until it is certain whether the hardware is there */
static int amdgpu_hotplug_make_sure(struct amdgpu_device *adev, bool awake,
				    const char *reason)
{
	if (amdgpu_hotplug_lost(adev))
		return -ENODEV;

	/* What was suspected before it slept has the whole time to wake up */
	if (awake) {
		scoped_guard(spinlock_irqsave, &adev->hotplug.silence_lock)
			amdgpu_hotplug_start_clocks(&adev->hotplug);
	}

	amdgpu_hotplug_look(adev, awake, reason);
	while (amdgpu_hotplug_state_suspected(&adev->hotplug.state) &&
	       !amdgpu_hotplug_lost(adev) &&
	       !amdgpu_hotplug_may_be_silent(adev, awake)) {
		msleep(AMDGPU_HOTPLUG_POLL_MS);
		amdgpu_hotplug_look(adev, awake, reason);
	}

	return amdgpu_hotplug_lost(adev) ? -ENODEV : 0;
}

/**
 * amdgpu_hotplug_check - make sure whether the hardware is still there
 * @adev: amdgpu device
 * @reason: what made the caller ask, for the log; a string that stays
 *
 * Waits for hardware that does not answer until it does so, or is lost, that is
 * for a second. While a reset, a PCI error recovery or the first part of probe
 * runs, see amdgpu_hotplug_settled(), or the GPU is asleep, nothing may answer for
 * a while, so that only the word of the PCI core counts then.
 *
 * Context: process.
 * Return: 0 if the GPU is there, -ENODEV if not.
 */
int amdgpu_hotplug_check(struct amdgpu_device *adev, const char *reason)
{
	return amdgpu_hotplug_make_sure(adev, false, reason);
}

/**
 * amdgpu_hotplug_awake - make sure that hardware that must answer does so
 * @adev: amdgpu device
 *
 * As amdgpu_hotplug_check(), for a device that was asleep or reset and must
 * answer now.
 *
 * Context: process, after the PCI core has powered the device.
 * Return: 0 if the GPU is there, -ENODEV if not.
 */
int amdgpu_hotplug_awake(struct amdgpu_device *adev)
{
	return amdgpu_hotplug_make_sure(adev, true, "absent though awake");
}

static bool amdgpu_hotplug_poll_due(unsigned long *next)
{
	unsigned long now = jiffies;

	/* What seems to be more than an hour away is long past: jiffies are cyclic */
	if (READ_ONCE(*next) - now - 1 < 3600UL * HZ)
		return false;
	WRITE_ONCE(*next, now + msecs_to_jiffies(AMDGPU_HOTPLUG_POLL_MS));

	return true;
}

/**
 * amdgpu_hotplug_finished - the hardware has finished what the caller waited for
 * @hotplug: of the GPU
 *
 * A removal counts anew, if it was the caller who looked. That the firmware answers
 * somebody else says nothing of an engine that the removal waits for.
 *
 * Context: any.
 */
void amdgpu_hotplug_finished(struct amdgpu_hotplug *hotplug)
{
	if (READ_ONCE(hotplug->looker) == current)
		amdgpu_hotplug_goes_on(hotplug);
}

/*
 * Loops that wait for hung hardware wait for long, because a reset follows. None
 * follows in a removal, or in the reset that one waits for: give it up then. What
 * holds a removal up without a look at the hardware, a busy machine, a lock, another
 * device, brings the GPU no nearer to that.
 */
static void amdgpu_hotplug_unfinished(struct amdgpu_device *adev)
{
	struct amdgpu_hotplug *hotplug = &adev->hotplug;

	if (amdgpu_hotplug_state_phase(&hotplug->state) !=
	    AMDGPU_HOTPLUG_REMOVING ||
	    !amdgpu_hotplug_poll_due(&hotplug->next_look))
		return;

	WRITE_ONCE(hotplug->looker, current);
	if (atomic_inc_return(&hotplug->looks) >= AMDGPU_HOTPLUG_LOOKS)
		amdgpu_hotplug_give_up(adev, "hangs at removal");
}

/**
 * amdgpu_hotplug_note_read - note in a removal what a register was read as
 * @adev: amdgpu device
 * @reg: the register
 * @value: what it was read as
 *
 * Most loops that wait for the hardware poll a register. They are known by equal
 * reads in a row: the hardware has not finished. If the value changes after that it
 * has. What else is read, however slowly, counts for nothing. Racy: reads of
 * several threads can hide a loop, which then ends by itself.
 *
 * Context: any.
 */
void amdgpu_hotplug_note_read(struct amdgpu_device *adev, u32 reg, u32 value)
{
	struct amdgpu_hotplug *hotplug = &adev->hotplug;
	unsigned int polls = READ_ONCE(hotplug->polls);

	if (READ_ONCE(hotplug->polled) != reg) {
		WRITE_ONCE(hotplug->polled, reg);
		polls = 0;
	} else if (READ_ONCE(hotplug->value) != value) {
		if (polls >= AMDGPU_HOTPLUG_POLLS)
			amdgpu_hotplug_finished(hotplug);
		polls = 0;
	} else if (polls < AMDGPU_HOTPLUG_POLLS) {
		polls++;
	} else {
		amdgpu_hotplug_unfinished(adev);
	}
	WRITE_ONCE(hotplug->value, value);
	WRITE_ONCE(hotplug->polls, polls);
}

/**
 * amdgpu_hotplug_ask - ask while something other than this GPU is waited for
 * @adev: amdgpu device
 *
 * For loops that would otherwise wait for an absent device for long: for the host
 * of a virtual function, or with a limit of their own; and for who has read all
 * ones from a register. Reads configuration space, but not more often than each 10
 * ms. While the GPU is only suspected of being gone the loop goes on, and reads
 * ones.
 *
 * Context: any.
 * Return: true if the loop has to end because the GPU is lost.
 */
bool amdgpu_hotplug_ask(struct amdgpu_device *adev)
{
	if (amdgpu_hotplug_lost(adev))
		return true;

	if (amdgpu_hotplug_poll_due(&adev->hotplug.next_check))
		amdgpu_hotplug_look(adev, false, "no answer");

	return amdgpu_hotplug_lost(adev);
}

/**
 * amdgpu_hotplug_poll - ask in a loop that waits for the hardware
 * @adev: amdgpu device
 *
 * As amdgpu_hotplug_ask(). In a removal it is a look at hardware that has not
 * finished; who finds that it has calls amdgpu_hotplug_finished().
 *
 * Context: any.
 * Return: true if the loop has to end because the GPU is lost.
 */
bool amdgpu_hotplug_poll(struct amdgpu_device *adev)
{
	amdgpu_hotplug_unfinished(adev);

	return amdgpu_hotplug_ask(adev);
}

/**
 * amdgpu_hotplug_poll_awake - ask in a loop that waits for a running engine
 * @adev: amdgpu device
 *
 * As amdgpu_hotplug_ask(), but also in a reset and in probe: an engine that is
 * tested has been started, so that the hardware must answer. With interrupts or
 * preemption off it is only by this that a loss can become known. It has turns of
 * its own: a read of all ones takes one of amdgpu_hotplug_ask(), which may not
 * judge then.
 *
 * Context: any.
 * Return: true if the loop has to end because the GPU is lost.
 */
bool amdgpu_hotplug_poll_awake(struct amdgpu_device *adev)
{
	if (amdgpu_hotplug_lost(adev))
		return true;

	if (amdgpu_hotplug_poll_due(&adev->hotplug.next_awake))
		amdgpu_hotplug_look(adev, true, "absent though awake");

	return amdgpu_hotplug_lost(adev);
}

/**
 * amdgpu_hotplug_reset_begin - ask to reset a GPU
 * @adev: amdgpu device
 *
 * A switch of the partition mode counts as one.
 *
 * Context: process, with the write side of the reset domain's semaphore held, or
 * for a switch the read side.
 * Return: true if the reset may begin and has to be ended with
 * amdgpu_hotplug_reset_end(), false if the GPU is lost or being removed, or if it
 * is switched and @adev is to be switched again.
 */
bool amdgpu_hotplug_reset_begin(struct amdgpu_device *adev)
{
	return !amdgpu_hotplug_lost(adev) &&
	       amdgpu_hotplug_state_reset_begin(&adev->hotplug.state);
}

/**
 * amdgpu_hotplug_reset_end - a reset has ended, well or badly
 * @adev: amdgpu device
 *
 * Lets the removal and the work of a loss go on that waited for it.
 *
 * Context: process.
 */
void amdgpu_hotplug_reset_end(struct amdgpu_device *adev)
{
	amdgpu_hotplug_state_reset_end(&adev->hotplug.state);
	wake_up_var(&adev->hotplug.state);
}

/**
 * amdgpu_hotplug_schedule_reset - queue a reset of a GPU
 * @adev: amdgpu device
 * @work: the work that resets it
 *
 * amdgpu_hotplug_remove_begin() waits for the read side before it cancels, so
 * that no reset is queued after it.
 *
 * Context: any.
 * Return: false if @work was queued already; true if it was queued, or dropped
 * because the GPU is lost or being removed.
 */
bool amdgpu_hotplug_schedule_reset(struct amdgpu_device *adev,
				   struct work_struct *work)
{
	guard(rcu)();

	return !amdgpu_hotplug_admits(adev) ||
	       amdgpu_reset_domain_schedule(adev->reset_domain, work);
}

/* Works are initialized with the parts of the driver that use them */
static void amdgpu_hotplug_cancel_work(struct work_struct *work)
{
	if (work->func)
		cancel_work_sync(work);
}

static void amdgpu_hotplug_cancel_resets(struct amdgpu_device *adev)
{
	struct amdgpu_ras *ras = amdgpu_ras_get_context(adev);

	amdgpu_hotplug_cancel_work(&adev->reset_work);
	amdgpu_hotplug_cancel_work(&adev->kfd.reset_work);
	amdgpu_hotplug_cancel_work(&adev->virt.flr_work);
	if (ras)
		amdgpu_hotplug_cancel_work(&ras->recovery_work);
	/* The others of the hive wait for it at a barrier: it ends soon, with them */
	if (adev->xgmi_reset_work.func)
		flush_work(&adev->xgmi_reset_work);
}

/**
 * amdgpu_hotplug_step - note a step of the removal for the timeline
 * @adev: amdgpu device
 * @step: the step that begins; a string that stays
 *
 * Context: process.
 */
void amdgpu_hotplug_step(struct amdgpu_device *adev, const char *step)
{
	trace_amdgpu_hotplug(adev, "step", step);
}

/**
 * amdgpu_hotplug_remove_begin - the driver is to be unbound from a GPU
 * @adev: amdgpu device
 *
 * Finds out whether the hardware still answers, lets nothing new begin and
 * waits for a running reset, so that what follows has the GPU for itself. A reset
 * may take its time. One that hangs ends because its own loops find that.
 *
 * Context: process, with the device lock held; no lock that a reset takes.
 */
void amdgpu_hotplug_remove_begin(struct amdgpu_device *adev)
{
	adev->hotplug.removal_started = ktime_get();

	/* Now, so that a reset that runs ends soon */
	amdgpu_hotplug_check(adev, "absent at removal");
	amdgpu_hotplug_state_remove_begin(&adev->hotplug.state);
	trace_amdgpu_hotplug(adev, "removing", adev->hotplug.reason ?: "");
	amdgpu_pci_recovery_leave(adev);

	wait_var_event(&adev->hotplug.state,
		       !amdgpu_hotplug_state_resetting(&adev->hotplug.state));
	amdgpu_hotplug_goes_on(&adev->hotplug);
	/* In its sleep it may be silent, and nobody wakes it up any more */
	if (amdgpu_hotplug_check(adev, "absent at removal") == 0 &&
	    !pci_device_is_present(adev->pdev))
		amdgpu_hotplug_mark_lost(adev, "absent at removal");
	/* A reset that failed leaves it bus master, or has made it that again */
	else if (amdgpu_hotplug_lost(adev))
		amdgpu_hotplug_cut_off(adev);
	/* Lost in its sleep: it does not wake up any more */
	if (amdgpu_hotplug_lost(adev))
		adev->in_suspend = false;

	/* See amdgpu_hotplug_schedule_reset() and amdgpu_hotplug_mark_lost() */
	synchronize_rcu();
	amdgpu_hotplug_cancel_resets(adev);
	flush_work(&adev->hotplug.lost_work);
}

/* The ring at @i of @adev->rings if it has fences, else NULL */
static struct amdgpu_ring *amdgpu_hotplug_ring(struct amdgpu_device *adev, int i)
{
	struct amdgpu_ring *ring = adev->rings[i];

	return ring && ring->fence_drv.initialized ? ring : NULL;
}

static bool amdgpu_hotplug_has_sched(struct amdgpu_ring *ring)
{
	return ring && ring->sched.ops && !ring->no_scheduler;
}

/*
 * Give the GPU a moment to finish what it executes; nothing else is sent to it.
 * Does not rely on interrupts. Returns false if the GPU has not finished.
 */
static bool amdgpu_hotplug_drain(struct amdgpu_device *adev)
{
	struct amdgpu_ring *ring;
	long limit, looks = 0;
	int i;

	for (i = 0; i < AMDGPU_MAX_RINGS; i++) {
		ring = amdgpu_hotplug_ring(adev, i);
		if (!amdgpu_hotplug_has_sched(ring))
			continue;

		limit = min_t(long, ring->sched.timeout,
			      msecs_to_jiffies(AMDGPU_HOTPLUG_JOB_MS));
		amdgpu_fence_process(ring);
		while (amdgpu_fence_count_emitted(ring)) {
			if (amdgpu_hotplug_ask(adev) || looks++ > limit)
				return false;
			schedule_timeout_uninterruptible(1);
			amdgpu_fence_process(ring);
		}
	}

	return true;
}

static void amdgpu_hotplug_reset_alone(struct amdgpu_device *adev)
{
	if (amdgpu_sriov_vf(adev) || adev->gmc.xgmi.num_physical_nodes > 1)
		return;

	amdgpu_device_lock_reset_domain(adev->reset_domain);
	/* What it restores of configuration space is as it was cut off */
	if (amdgpu_asic_reset(adev))
		dev_warn(adev->dev, "not reset, engines may still run\n");
	amdgpu_device_unlock_reset_domain(adev->reset_domain);
}

/**
 * amdgpu_hotplug_stop - stop engines that do not end what they execute
 * @adev: amdgpu device that is being removed
 * @reason: what does not end, for the log; a string that stays
 *
 * A job or a queue that does not end may still be executed. Nothing of it may reach
 * memory that is freed, nor when the next driver makes the GPU bus master: reset it.
 * A member of a hive is not reset alone, nor a virtual function by its guest. What
 * is left of the removal does without the hardware, which knows of nothing any more.
 *
 * Context: process, when no reset runs, without the reset domain.
 */
void amdgpu_hotplug_stop(struct amdgpu_device *adev, const char *reason)
{
	if (amdgpu_hotplug_check(adev, "absent at removal"))
		return;

	amdgpu_hotplug_cut_off(adev);
	amdgpu_hotplug_reset_alone(adev);
	amdgpu_hotplug_give_up(adev, reason);
}

/**
 * amdgpu_hotplug_runs_on - queues do not stop, for which the GPU is to be reset
 * @adev: amdgpu device that is being removed
 *
 * Where amdgpu_hotplug_stop() can't be called yet. What the queues still do does not
 * reach memory from now on.
 *
 * Context: any.
 */
void amdgpu_hotplug_runs_on(struct amdgpu_device *adev)
{
	amdgpu_hotplug_cut_off(adev);
	WRITE_ONCE(adev->hotplug.runs_on, true);
}

/**
 * amdgpu_hotplug_complete_fences - signal all fences of a GPU with -ENODEV
 * @adev: amdgpu device
 *
 * Waits for the handling of a job timeout. The schedulers run on, until the GPU's
 * last reference is dropped: a job that becomes ready later fails in
 * amdgpu_job_run() and is freed as any other. User queues lose the hardware, see
 * amdgpu_userq_remove().
 *
 * Context: process, when no reset runs. The phase is not
 * %AMDGPU_HOTPLUG_PRESENT, therefore no job is emitted after the schedulers
 * were stopped once.
 */
void amdgpu_hotplug_complete_fences(struct amdgpu_device *adev)
{
	struct amdgpu_ring *ring;
	int i;

	/* What a job works on is freed when its fence signals */
	if (!amdgpu_hotplug_lost(adev) && !amdgpu_hotplug_drain(adev))
		amdgpu_hotplug_stop(adev, "hangs at removal");

	/* A job that waits for a free slot would not let its scheduler stop */
	for (i = 0; i < AMDGPU_MAX_RINGS; i++) {
		ring = amdgpu_hotplug_ring(adev, i);
		if (ring)
			amdgpu_fence_driver_force_completion(ring, NULL);
	}

	for (i = 0; i < AMDGPU_MAX_RINGS; i++) {
		ring = amdgpu_hotplug_ring(adev, i);
		if (!amdgpu_hotplug_has_sched(ring))
			continue;

		drm_sched_wqueue_stop(&ring->sched);
		/* From now on it finds that there is nothing to recover */
		cancel_delayed_work_sync(&ring->sched.work_tdr);
	}

	/* All is processed, so that those who do it now do it for the last time */
	if (adev->irq.installed) {
		synchronize_irq(adev->irq.irq);
		flush_work(&adev->irq.ih1_work);
		flush_work(&adev->irq.ih2_work);
		flush_work(&adev->irq.ih_soft_work);
	}

	for (i = 0; i < AMDGPU_MAX_RINGS; i++) {
		ring = amdgpu_hotplug_ring(adev, i);
		if (!ring)
			continue;

		timer_delete_sync(&ring->fence_drv.fallback_timer);
		amdgpu_fence_driver_force_completion(ring, NULL);
		if (amdgpu_hotplug_has_sched(ring))
			drm_sched_wqueue_start(&ring->sched);
	}

	/* Before the unplug, which waits for who closes a file and waits for these */
	amdgpu_userq_remove(adev);

	amdgpu_hotplug_step(adev, "fences signalled");
}

/**
 * amdgpu_hotplug_remove_end - the driver is unbound from a GPU
 * @adev: amdgpu device
 *
 * What open files still keep is memory; nothing of it may touch the BARs, which
 * the next device may own already.
 *
 * Context: process, with the device lock held.
 */
void amdgpu_hotplug_remove_end(struct amdgpu_device *adev)
{
	adev->no_hw_access = true;
	WRITE_ONCE(adev->usec_timeout, 1);
	amdgpu_hotplug_state_remove_end(&adev->hotplug.state);
	/* From now on it is not queued any more */
	cancel_delayed_work_sync(&adev->hotplug.suspect_work);
	trace_amdgpu_hotplug(adev, "gone", "");
	dev_info(adev->dev, "removed in %lld ms\n",
		 ktime_ms_delta(ktime_get(), adev->hotplug.removal_started));
}

/**
 * amdgpu_hotplug_fini - the last reference to a GPU is dropped
 * @adev: amdgpu device
 *
 * Context: process.
 */
void amdgpu_hotplug_fini(struct amdgpu_device *adev)
{
	amdgpu_hotplug_cancel_work(&adev->hotplug.lost_work);
	/* Of a probe that failed */
	if (adev->hotplug.suspect_work.work.func)
		cancel_delayed_work_sync(&adev->hotplug.suspect_work);
}

static const char * const amdgpu_hotplug_phases[] = {
	[AMDGPU_HOTPLUG_PRESENT] = "present",
	[AMDGPU_HOTPLUG_REMOVING] = "removing",
	[AMDGPU_HOTPLUG_LOST] = "lost",
	[AMDGPU_HOTPLUG_GONE] = "gone",
};

static ssize_t amdgpu_hotplug_inject_read(struct file *file, char __user *buf,
					  size_t size, loff_t *pos)
{
	struct amdgpu_device *adev = file->private_data;
	char text[16];
	int len;

	len = scnprintf(text, sizeof(text), "%s\n",
			amdgpu_hotplug_phases[amdgpu_hotplug_state_phase(&adev->hotplug.state)]);

	return simple_read_from_buffer(buf, size, pos, text, len);
}

static ssize_t amdgpu_hotplug_inject_write(struct file *file,
					   const char __user *buf,
					   size_t size, loff_t *pos)
{
	struct amdgpu_device *adev = file->private_data;
	char text[16] = {};

	if (size >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, size))
		return -EFAULT;
	if (!sysfs_streq(text, "lost"))
		return -EINVAL;

	amdgpu_hotplug_mark_lost(adev, "injected through debugfs");

	return size;
}

static const struct file_operations amdgpu_hotplug_inject_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = amdgpu_hotplug_inject_read,
	.write = amdgpu_hotplug_inject_write,
	.llseek = default_llseek,
};

/**
 * amdgpu_hotplug_debugfs_init - let the loss of a GPU be injected
 * @adev: amdgpu device
 *
 * Creates amdgpu_hotplug in the debugfs folder of the DRM device. It tells the
 * phase; "lost" written to it makes the driver treat the GPU as lost. Does
 * nothing without CONFIG_DRM_AMDGPU_HOTPLUG_INJECT.
 *
 * Context: process, probe.
 */
void amdgpu_hotplug_debugfs_init(struct amdgpu_device *adev)
{
	if (!IS_ENABLED(CONFIG_DRM_AMDGPU_HOTPLUG_INJECT))
		return;

	debugfs_create_file("amdgpu_hotplug", 0600,
			    adev_to_drm(adev)->primary->debugfs_root, adev,
			    &amdgpu_hotplug_inject_fops);
}
