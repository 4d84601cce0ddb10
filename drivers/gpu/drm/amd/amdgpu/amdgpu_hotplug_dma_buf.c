// SPDX-License-Identifier: MIT

#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

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
 * - GPUs of the same hive, which KFD lets map VRAM without importing it, have lost
 *   it from their page tables.
 * - Importers that can't be told have system memory, which is neither freed nor
 *   reused before they have unmapped it: the dma-buf keeps the BO, and that its
 *   pages, see ttm_pool_unmap_dma().
 *
 * Each GPU lists the attachments to its exports, from attach to detach. The importer
 * has a reference of the dma-buf for as long, so that another can be taken of what is
 * listed. What nobody has attached to needs no revocation.
 */

/*
 * How long other devices may keep the removal waiting in all. A job that hangs on
 * another GPU has timed out by then.
 */
#define AMDGPU_HOTPLUG_REVOKE_MS	3000

/* Attachment of a device to a buffer of ours; under &amdgpu_hotplug.attach_lock */
struct amdgpu_hotplug_attach {
	/* In &amdgpu_hotplug.attachments, or in what a revocation has still to do */
	struct list_head node;
	struct dma_buf_attachment *attach;
	unsigned int mappings;
	/* They name bus addresses of the GPU */
	bool vram;
};

static struct amdgpu_bo *amdgpu_hotplug_exported(struct dma_buf *dmabuf)
{
	return gem_to_amdgpu_bo(dmabuf->priv);
}

static struct amdgpu_hotplug *amdgpu_hotplug_exporter(struct dma_buf *dmabuf)
{
	struct amdgpu_bo *bo = amdgpu_hotplug_exported(dmabuf);

	return &amdgpu_ttm_adev(bo->tbo.bdev)->hotplug;
}

/**
 * amdgpu_hotplug_dma_buf_attach - a device attaches to an exported buffer
 * @attach: the attachment
 *
 * Context: process, without the reservation lock. The caller has a reference of
 * the dma-buf, and keeps one until it has detached.
 * Return: 0 or -ENOMEM.
 */
int amdgpu_hotplug_dma_buf_attach(struct dma_buf_attachment *attach)
{
	struct amdgpu_hotplug *hotplug = amdgpu_hotplug_exporter(attach->dmabuf);
	struct amdgpu_hotplug_attach *state = kzalloc_obj(*state);

	if (!state)
		return -ENOMEM;
	state->attach = attach;
	attach->priv = state;

	guard(spinlock)(&hotplug->attach_lock);
	list_add_tail(&state->node, &hotplug->attachments);

	return 0;
}

/**
 * amdgpu_hotplug_dma_buf_detach - undo amdgpu_hotplug_dma_buf_attach()
 * @attach: the attachment, which has no mapping and is not in the list of the
 *	dma-buf
 *
 * Context: process. Possibly long after the GPU is gone; the dma-buf keeps the
 * device.
 */
void amdgpu_hotplug_dma_buf_detach(struct dma_buf_attachment *attach)
{
	struct amdgpu_hotplug *hotplug = amdgpu_hotplug_exporter(attach->dmabuf);
	struct amdgpu_hotplug_attach *state = attach->priv;

	scoped_guard(spinlock, &hotplug->attach_lock)
		list_del(&state->node);
	kfree(state);
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
	struct amdgpu_hotplug *hotplug = amdgpu_hotplug_exporter(attach->dmabuf);
	struct amdgpu_bo *bo = amdgpu_hotplug_exported(attach->dmabuf);
	struct amdgpu_hotplug_attach *state = attach->priv;

	dma_resv_assert_held(attach->dmabuf->resv);
	guard(spinlock)(&hotplug->attach_lock);
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
	struct amdgpu_hotplug *hotplug = amdgpu_hotplug_exporter(attach->dmabuf);
	struct amdgpu_hotplug_attach *state = attach->priv;

	dma_resv_assert_held(attach->dmabuf->resv);
	guard(spinlock)(&hotplug->attach_lock);
	state->mappings--;
	wake_up_var_locked(&hotplug->attachments, &hotplug->attach_lock);
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
	struct amdgpu_hotplug *hotplug = amdgpu_hotplug_exporter(dmabuf);
	struct amdgpu_hotplug_attach *state;
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

			/* Once for all attachments to the buffer */
			state = attach->priv;
			scoped_guard(spinlock, &hotplug->attach_lock)
				list_move(&state->node, &hotplug->attachments);
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
static unsigned int amdgpu_hotplug_mappings(struct amdgpu_hotplug *hotplug)
{
	struct amdgpu_hotplug_attach *state;
	unsigned int mappings = 0;

	guard(spinlock)(&hotplug->attach_lock);
	list_for_each_entry(state, &hotplug->attachments, node)
		if (state->vram || dma_buf_attach_revocable(state->attach))
			mappings += state->mappings;

	return mappings;
}

/* Take the next buffer off the list of attachments whose buffers are to be revoked */
static struct dma_buf *amdgpu_hotplug_next(struct amdgpu_hotplug *hotplug,
					   struct list_head *todo)
{
	struct amdgpu_hotplug_attach *state;
	struct dma_buf *dmabuf;

	guard(spinlock)(&hotplug->attach_lock);
	state = list_first_entry_or_null(todo, typeof(*state), node);
	if (!state)
		return NULL;

	list_move(&state->node, &hotplug->attachments);
	dmabuf = state->attach->dmabuf;
	/* The importer has one until it has detached */
	get_dma_buf(dmabuf);

	return dmabuf;
}

/**
 * amdgpu_hotplug_revoke_dma_bufs - revoke the exported buffers of a GPU
 * @adev: amdgpu device, which is gone or being removed
 *
 * See the overview above. Who exports or attaches to a buffer while this runs
 * finds that nobody can map it. Importers may give mappings back later than they
 * are told to: they are waited for, and in the end complained of.
 *
 * Context: process, any number of times, but one at a time, when the fences of
 * the GPU are signalled. Takes reservation locks.
 */
void amdgpu_hotplug_revoke_dma_bufs(struct amdgpu_device *adev)
{
	unsigned long end = jiffies + msecs_to_jiffies(AMDGPU_HOTPLUG_REVOKE_MS);
	struct amdgpu_hotplug *hotplug = &adev->hotplug;
	unsigned int mappings;
	struct dma_buf *dmabuf;
	bool done = true;
	LIST_HEAD(todo);

	/* What is attached from now on can't be mapped */
	scoped_guard(spinlock, &hotplug->attach_lock)
		list_splice_init(&hotplug->attachments, &todo);

	while ((dmabuf = amdgpu_hotplug_next(hotplug, &todo))) {
		done &= amdgpu_hotplug_invalidate(dmabuf, end);
		dma_buf_put(dmabuf);
	}

	kgd2kfd_clear_peer_mappings(adev, end);

	wait_var_event_timeout(&hotplug->attachments,
			       !amdgpu_hotplug_mappings(hotplug),
			       amdgpu_hotplug_left(end));
	mappings = amdgpu_hotplug_mappings(hotplug);
	if (mappings)
		dev_err(adev->dev,
			"other devices keep %u mappings of its exported buffers\n",
			mappings);
	if (!done)
		dev_err(adev->dev, "exported buffers were not revoked\n");

	amdgpu_hotplug_step(adev, "exports revoked");
}
