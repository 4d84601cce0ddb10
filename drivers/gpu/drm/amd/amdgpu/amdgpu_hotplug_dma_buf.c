// SPDX-License-Identifier: MIT

#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include <drm/drm_exec.h>

#include "amdgpu.h"
#include "amdgpu_dma_buf.h"
#include "amdgpu_hotplug.h"
#include "amdgpu_hotplug_dma_buf.h"
#include "amdgpu_vm.h"

/**
 * DOC: exported buffers of a GPU that is lost or removed
 *
 * Other devices work on what a GPU exports. When it is lost or removed all of its
 * exports are revoked, for good:
 *
 * - Nobody can attach to them, pin or map them any more: -ENODEV.
 * - Importers that can be told are told, and have stopped when
 *   amdgpu_hotplug_revoke_dma_bufs() returns. The bus addresses of VRAM may be
 *   given to another device after that.
 * - Importers that can't be told have system memory, which is neither freed nor
 *   reused before they have unmapped it: the dma-buf keeps the BO, and that its
 *   pages, see ttm_pool_unmap_dma().
 */

/*
 * How long other devices may keep the removal waiting in all. A job that hangs on
 * another GPU has timed out by then.
 */
#define AMDGPU_HOTPLUG_REVOKE_MS	3000

/* Attachment of a device to a buffer of ours; under the buffer's reservation lock */
struct amdgpu_hotplug_attach {
	unsigned int mappings;
	/* Those of them which name bus addresses of the GPU */
	bool vram;
};

/* Counts mappings that were given back, for those who wait for one of them */
static DECLARE_WAIT_QUEUE_HEAD(amdgpu_hotplug_unmap_wait);
static atomic_t amdgpu_hotplug_unmaps = ATOMIC_INIT(0);

static struct amdgpu_bo *amdgpu_hotplug_exported(struct dma_buf *dmabuf)
{
	return gem_to_amdgpu_bo(dmabuf->priv);
}

/**
 * amdgpu_hotplug_dma_buf_attach - a device attaches to an exported buffer
 * @attach: the attachment
 *
 * Context: process, without the reservation lock.
 * Return: 0 or -ENOMEM.
 */
int amdgpu_hotplug_dma_buf_attach(struct dma_buf_attachment *attach)
{
	struct amdgpu_hotplug_attach *state = kzalloc_obj(*state);

	if (!state)
		return -ENOMEM;
	attach->priv = state;

	return 0;
}

/**
 * amdgpu_hotplug_dma_buf_detach - undo amdgpu_hotplug_dma_buf_attach()
 * @attach: the attachment, which has no mapping and is not listed any more
 *
 * Context: process.
 */
void amdgpu_hotplug_dma_buf_detach(struct dma_buf_attachment *attach)
{
	kfree(attach->priv);
	attach->priv = NULL;
}

/**
 * amdgpu_hotplug_dma_buf_mapped - a mapping was made for an importer
 * @attach: its attachment
 *
 * Context: process, with the reservation lock held since amdgpu_hotplug_admits()
 * was asked: a revocation that begins later finds the mapping.
 */
void amdgpu_hotplug_dma_buf_mapped(struct dma_buf_attachment *attach)
{
	struct amdgpu_bo *bo = amdgpu_hotplug_exported(attach->dmabuf);
	struct amdgpu_hotplug_attach *state = attach->priv;

	dma_resv_assert_held(attach->dmabuf->resv);
	state->mappings++;
	state->vram = bo->tbo.resource->mem_type != TTM_PL_TT;
}

/**
 * amdgpu_hotplug_dma_buf_unmapped - an importer has given a mapping back
 * @attach: its attachment
 *
 * Context: process, with the reservation lock held.
 */
void amdgpu_hotplug_dma_buf_unmapped(struct dma_buf_attachment *attach)
{
	struct amdgpu_hotplug_attach *state = attach->priv;

	dma_resv_assert_held(attach->dmabuf->resv);
	state->mappings--;
	atomic_inc(&amdgpu_hotplug_unmaps);
	wake_up_all(&amdgpu_hotplug_unmap_wait);
}

static long amdgpu_hotplug_left(unsigned long end)
{
	return max(1L, (long)(end - jiffies));
}

/* Lock a buffer, and the address spaces of other GPUs that it is mapped in */
static int amdgpu_hotplug_lock(struct dma_buf *dmabuf, struct drm_exec *exec)
{
	struct dma_buf_attachment *attach;
	struct amdgpu_vm_bo_base *base;
	struct amdgpu_bo *bo;
	int r;

	drm_exec_until_all_locked(exec) {
		r = drm_exec_lock_obj(exec, dmabuf->priv);
		drm_exec_retry_on_contention(exec);
		if (r)
			return r;

		list_for_each_entry(attach, &dmabuf->attachments, node) {
			bo = amdgpu_dma_buf_importer(attach);
			if (!bo)
				continue;

			for (base = bo->vm_bo; base; base = base->next) {
				r = amdgpu_vm_lock_pd(base->vm, exec, 0);
				drm_exec_retry_on_contention(exec);
				if (r)
					return r;
			}
		}
	}

	return 0;
}

/* Take a revoked buffer out of the page tables of one GPU that imported it */
static void amdgpu_hotplug_clear_ptes(struct amdgpu_bo *bo, unsigned long end)
{
	struct amdgpu_device *adev = amdgpu_ttm_adev(bo->tbo.bdev);
	struct amdgpu_vm_bo_base *base;
	long r;

	if (!amdgpu_hotplug_admits(adev))
		return;

	for (base = bo->vm_bo; base; base = base->next) {
		struct amdgpu_vm *vm = base->vm;

		r = amdgpu_vm_clear_freed(adev, vm, NULL);
		/* Without the ticket, so that the entries are cleared */
		if (!r)
			r = amdgpu_vm_handle_moved(adev, vm, NULL);
		if (!r)
			r = dma_fence_wait_timeout(vm->last_update, false,
						   amdgpu_hotplug_left(end));
		else if (r == -EBUSY)
			/* Evicted: nothing runs there before it is updated */
			continue;
		if (r <= 0)
			dev_err(adev->dev,
				"page tables still have a buffer of a GPU that is gone (%ld)\n",
				r);
	}
}

/* Tell the importers of a buffer. Returns false if it could not be locked. */
static bool amdgpu_hotplug_invalidate(struct dma_buf *dmabuf, unsigned long end)
{
	struct dma_buf_attachment *attach;
	struct drm_exec exec;
	struct amdgpu_bo *bo;
	int r;

	/* Several GPUs, or several times the same address space */
	drm_exec_init(&exec, DRM_EXEC_IGNORE_DUPLICATES, 0);
	r = amdgpu_hotplug_lock(dmabuf, &exec);
	/* Waiting for the fences of what nobody imported would only evict queues */
	if (!r && !list_empty(&dmabuf->attachments)) {
		dma_buf_invalidate_mappings(dmabuf);

		list_for_each_entry(attach, &dmabuf->attachments, node) {
			bo = amdgpu_dma_buf_importer(attach);
			if (bo)
				amdgpu_hotplug_clear_ptes(bo, end);
		}

		dma_resv_wait_timeout(dmabuf->resv, DMA_RESV_USAGE_BOOKKEEP,
				      false, amdgpu_hotplug_left(end));
	}
	drm_exec_fini(&exec);

	return !r;
}

/*
 * How many mappings there are which must be given back before the GPU goes: of
 * those who were told, and of its own addresses.
 */
static unsigned int amdgpu_hotplug_mappings(struct dma_buf *dmabuf)
{
	struct dma_buf_attachment *attach;
	unsigned int mappings = 0;

	dma_resv_lock(dmabuf->resv, NULL);
	list_for_each_entry(attach, &dmabuf->attachments, node) {
		struct amdgpu_hotplug_attach *state = attach->priv;

		if (state->vram || dma_buf_attach_revocable(attach))
			mappings += state->mappings;
	}
	dma_resv_unlock(dmabuf->resv);

	return mappings;
}

/*
 * Wait for importers who give mappings back later than they are told to. Returns
 * how many mappings are left.
 */
static unsigned int amdgpu_hotplug_wait_unmapped(struct dma_buf *dmabuf,
						 unsigned long end)
{
	unsigned int mappings;
	int unmaps;

	for (;;) {
		unmaps = atomic_read(&amdgpu_hotplug_unmaps);
		mappings = amdgpu_hotplug_mappings(dmabuf);
		if (!mappings || time_after_eq(jiffies, end))
			return mappings;

		wait_event_timeout(amdgpu_hotplug_unmap_wait,
				   atomic_read(&amdgpu_hotplug_unmaps) != unmaps,
				   amdgpu_hotplug_left(end));
	}
}

/**
 * amdgpu_hotplug_revoke_dma_bufs - revoke the exported buffers of a GPU
 * @adev: amdgpu device, which is gone or being removed
 *
 * See the overview above. The buffers are found in the list of all dma-bufs: who
 * exports one while this runs finds that nobody can map it. Importers that keep
 * what they were told to give back are waited for, and in the end complained of.
 *
 * Context: process, any number of times, when the fences of the GPU are
 * signalled. Takes reservation locks.
 */
void amdgpu_hotplug_revoke_dma_bufs(struct amdgpu_device *adev)
{
	unsigned long end = jiffies + msecs_to_jiffies(AMDGPU_HOTPLUG_REVOKE_MS);
	unsigned int mappings = 0;
	struct dma_buf *dmabuf;
	bool done = true;

	for (dmabuf = dma_buf_iter_begin(); dmabuf;
	     dmabuf = dma_buf_iter_next(dmabuf)) {
		struct amdgpu_bo *bo;

		if (dmabuf->ops != &amdgpu_dmabuf_ops)
			continue;

		bo = amdgpu_hotplug_exported(dmabuf);
		if (amdgpu_ttm_adev(bo->tbo.bdev) != adev)
			continue;

		done &= amdgpu_hotplug_invalidate(dmabuf, end);
		mappings += amdgpu_hotplug_wait_unmapped(dmabuf, end);
	}

	if (mappings)
		dev_err(adev->dev,
			"other devices keep %u mappings of its exported buffers\n",
			mappings);
	if (!done)
		dev_err(adev->dev, "exported buffers were not revoked\n");

	amdgpu_hotplug_step(adev, "exports revoked");
}
