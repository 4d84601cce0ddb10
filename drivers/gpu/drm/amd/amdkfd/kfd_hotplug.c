// SPDX-License-Identifier: MIT

#include <linux/mm.h>
#include <linux/pci.h>
#include <linux/wait_bit.h>

#include <drm/drm_drv.h>

#include "kfd_priv.h"
#include "kfd_events.h"
#include "kfd_hotplug.h"
#include "kfd_migrate.h"
#include "kfd_smi_events.h"
#include "amdgpu_hotplug.h"
#include "amdgpu_reset.h"
#include "amdgpu_xgmi.h"

/**
 * DOC: loss and removal of a GPU with KFD processes
 *
 * A process opens /dev/kfd for all GPUs, and lives on when one of them is lost
 * or removed. kfd_hotplug_detach() takes the GPU from it: it leaves the topology,
 * what is mapped of its BARs is replaced by dummy pages, its queues are preempted,
 * if it still answers, and who waits for an event of it is told. It waits for no
 * process, and takes no lock that one may hold while it sleeps for long.
 *
 * What processes still have of the GPU are lists and memory. These, struct
 * kfd_node and struct amdgpu_device live until the last user has put its
 * reference, see kfd_node_get().
 */

/* How long the policy of killing waits for the killed */
#define KFD_HOTPLUG_KILL_MS	5000

/* How long a removal waits for the PCI error recovery of other GPUs of the hive */
#define KFD_HOTPLUG_RECOVERY_MS	500

/* The client has the buffers of the processes, and a reference of the device. */
static void kfd_hotplug_unused(struct kref *users)
{
	struct kfd_dev *kfd = container_of(users, struct kfd_dev, hotplug.users);

	if (kfd->hotplug.unplugged)
		amdgpu_amdkfd_drm_client_release(kfd->adev);
	/* Who waits for it frees the device at once */
	complete(&kfd->hotplug.unused);
}

static void kfd_hotplug_get(struct kfd_dev *kfd)
{
	kref_get(&kfd->hotplug.users);
	drm_dev_get(adev_to_drm(kfd->adev));
}

static void kfd_hotplug_put(struct kfd_dev *kfd)
{
	struct drm_device *ddev = adev_to_drm(kfd->adev);

	kref_put(&kfd->hotplug.users, kfd_hotplug_unused);
	drm_dev_put(ddev);
}

static void kfd_hotplug_unlock_work(struct work_struct *work)
{
	kgd2kfd_unlock_work(work);
	/* With the last reference goes the work */
	kfd_hotplug_put(container_of(work, struct kfd_dev, hotplug.unlock_work));
}

/**
 * kfd_hotplug_init - prepare the KFD part of a GPU for being lost or removed
 * @kfd: KFD part of the GPU
 *
 * Context: probe.
 */
void kfd_hotplug_init(struct kfd_dev *kfd)
{
	struct kfd_hotplug *hotplug = &kfd->hotplug;

	kref_init(&hotplug->users);
	init_completion(&hotplug->unused);
	mutex_init(&hotplug->lock);
	init_rwsem(&hotplug->map_lock);
	INIT_WORK(&hotplug->unlock_work, kfd_hotplug_unlock_work);
}

/**
 * kfd_hotplug_fini - the KFD part of a GPU is freed
 * @kfd: KFD part of the GPU
 *
 * Context: process, with no user left.
 */
void kfd_hotplug_fini(struct kfd_dev *kfd)
{
	mutex_destroy(&kfd->hotplug.lock);
}

/**
 * kfd_node_get - take a reference of a node
 * @node: node which can't go away meanwhile: it is in the topology, and that is
 *	locked, or it is referenced already
 *
 * The node, its queue manager and topology data, its struct kfd_dev and struct
 * amdgpu_device stay until kfd_node_put(); the hardware may go at any time.
 *
 * Return: @node
 */
struct kfd_node *kfd_node_get(struct kfd_node *node)
{
	kfd_hotplug_get(node->kfd);

	return node;
}

/**
 * kfd_node_put - give a reference of a node back
 * @node: the node, or NULL
 *
 * Context: process. Can free the device, and with it the node, unless
 * kfd_processes_mutex is held since the node was found: see kfd_hotplug_detach().
 */
void kfd_node_put(struct kfd_node *node)
{
	if (node)
		kfd_hotplug_put(node->kfd);
}

/* Where the arguments of an ioctl name a GPU */
static const struct {
	/* Bytes from their begin */
	u16 offset;
	enum {
		KFD_HOTPLUG_NAMES_NONE,
		KFD_HOTPLUG_NAMES_GPU,
		/* Memory of a GPU */
		KFD_HOTPLUG_NAMES_HANDLE,
		/* Attributes of managed memory, some of which are GPUs */
		KFD_HOTPLUG_NAMES_SVM,
		/* All that the process has, but for some operations */
		KFD_HOTPLUG_NAMES_CRIU,
	} what;
} kfd_hotplug_ioctls[AMDKFD_COMMAND_END] = {
#define KFD_HOTPLUG_IOCTL(_cmd, _args, _member, _what)			\
	[_IOC_NR(AMDKFD_IOC_##_cmd)] = {				\
		.offset = offsetof(struct kfd_ioctl_##_args, _member),	\
		.what = KFD_HOTPLUG_NAMES_##_what,			\
	}
	KFD_HOTPLUG_IOCTL(CREATE_QUEUE, create_queue_args, gpu_id, GPU),
	KFD_HOTPLUG_IOCTL(SET_MEMORY_POLICY, set_memory_policy_args, gpu_id,
			  GPU),
	KFD_HOTPLUG_IOCTL(GET_CLOCK_COUNTERS, get_clock_counters_args, gpu_id,
			  GPU),
	KFD_HOTPLUG_IOCTL(CREATE_EVENT, create_event_args, event_page_offset,
			  HANDLE),
	KFD_HOTPLUG_IOCTL(SET_SCRATCH_BACKING_VA, set_scratch_backing_va_args,
			  gpu_id, GPU),
	KFD_HOTPLUG_IOCTL(GET_TILE_CONFIG, get_tile_config_args, gpu_id, GPU),
	KFD_HOTPLUG_IOCTL(SET_TRAP_HANDLER, set_trap_handler_args, gpu_id, GPU),
	KFD_HOTPLUG_IOCTL(ACQUIRE_VM, acquire_vm_args, gpu_id, GPU),
	KFD_HOTPLUG_IOCTL(ALLOC_MEMORY_OF_GPU, alloc_memory_of_gpu_args, gpu_id,
			  GPU),
	KFD_HOTPLUG_IOCTL(MAP_MEMORY_TO_GPU, map_memory_to_gpu_args, handle,
			  HANDLE),
	KFD_HOTPLUG_IOCTL(IMPORT_DMABUF, import_dmabuf_args, gpu_id, GPU),
	KFD_HOTPLUG_IOCTL(EXPORT_DMABUF, export_dmabuf_args, handle, HANDLE),
	KFD_HOTPLUG_IOCTL(SMI_EVENTS, smi_events_args, gpuid, GPU),
	KFD_HOTPLUG_IOCTL(SVM, svm_args, start_addr, SVM),
	KFD_HOTPLUG_IOCTL(CRIU_OP, criu_args, op, CRIU),
	KFD_HOTPLUG_IOCTL(AVAILABLE_MEMORY, get_available_memory_args, gpu_id,
			  GPU),
#undef KFD_HOTPLUG_IOCTL
};

static bool kfd_hotplug_id_gone(struct kfd_process *p, u32 gpu_id)
{
	struct kfd_process_device *pdd;

	pdd = kfd_process_device_data_by_id(p, gpu_id);

	return pdd && kfd_node_gone(pdd->dev);
}

/* Do attributes of managed memory ask for a GPU that is gone, or about it? */
static bool kfd_hotplug_svm_gone(struct kfd_process *p,
				 const struct kfd_ioctl_svm_args *args)
{
	u32 i;

	for (i = 0; i < args->nattr; i++) {
		switch (args->attrs[i].type) {
		case KFD_IOCTL_SVM_ATTR_PREFERRED_LOC:
		case KFD_IOCTL_SVM_ATTR_PREFETCH_LOC:
			/* What KFD_IOCTL_SVM_OP_GET_ATTR writes to */
			if (args->op != KFD_IOCTL_SVM_OP_SET_ATTR)
				break;
			fallthrough;
		case KFD_IOCTL_SVM_ATTR_ACCESS:
		case KFD_IOCTL_SVM_ATTR_ACCESS_IN_PLACE:
			if (kfd_hotplug_id_gone(p, args->attrs[i].value))
				return true;
			break;
		}
	}

	return false;
}

/*
 * Is the process to be saved or restored with a GPU that is gone? Of what it had
 * there only a part is left, and nobody can say which part the process needs.
 */
static bool kfd_hotplug_criu_gone(struct kfd_process *p, u32 op)
{
	unsigned int i;

	switch (op) {
	case KFD_CRIU_OP_PROCESS_INFO:
	case KFD_CRIU_OP_CHECKPOINT:
	case KFD_CRIU_OP_RESTORE:
		for (i = 0; i < kfd_process_num_devices(p); i++)
			if (kfd_node_gone(p->pdds[i]->dev))
				return true;
		break;
	}

	return false;
}

/**
 * kfd_hotplug_check_ioctl - does an ioctl name a GPU that is gone?
 * @p: the calling process
 * @nr: number of the ioctl
 * @args: its arguments, which are complete
 *
 * What only gives something back counts as naming none. An ioctl that was admitted
 * may find the GPU gone at any later moment: ask again if it has failed.
 *
 * Context: process. The process devices of @p can only become more.
 * Return: 0, or -ENODEV. Never -EAGAIN, with which user space tries for ever.
 */
int kfd_hotplug_check_ioctl(struct kfd_process *p, unsigned int nr,
			    const void *args)
{
	const void *name;
	bool gone;

	if (nr >= ARRAY_SIZE(kfd_hotplug_ioctls))
		return 0;

	name = args + kfd_hotplug_ioctls[nr].offset;
	switch (kfd_hotplug_ioctls[nr].what) {
	case KFD_HOTPLUG_NAMES_GPU:
		gone = kfd_hotplug_id_gone(p, *(const u32 *)name);
		break;
	case KFD_HOTPLUG_NAMES_HANDLE:
		gone = kfd_hotplug_id_gone(p, GET_GPU_ID(*(const u64 *)name));
		break;
	case KFD_HOTPLUG_NAMES_SVM:
		gone = kfd_hotplug_svm_gone(p, args);
		break;
	case KFD_HOTPLUG_NAMES_CRIU:
		gone = kfd_hotplug_criu_gone(p, *(const u32 *)name);
		break;
	default:
		return 0;
	}

	return gone ? -ENODEV : 0;
}

/* The process device whose BARs @vma maps; it lives as long as the file */
static struct kfd_process_device *kfd_hotplug_vma_pdd(struct vm_area_struct *vma)
{
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;

	return kfd_process_device_data_by_id(vma->vm_file->private_data,
					     KFD_MMAP_GET_GPU_ID(offset));
}

/* The physical address behind a page of a mapping, 0 if there is none */
static phys_addr_t kfd_hotplug_address(struct kfd_process_device *pdd,
				       pgoff_t pgoff)
{
	u64 offset = (u64)pgoff << PAGE_SHIFT;
	phys_addr_t base;
	u64 size;

	if ((offset & KFD_MMAP_TYPE_MASK) == KFD_MMAP_TYPE_DOORBELL) {
		base = kfd_get_process_doorbells(pdd);
		size = kfd_doorbell_process_slice(pdd->dev->kfd);
	} else {
		base = pdd->dev->adev->rmmio_remap.bus_addr;
		size = PAGE_SIZE;
	}

	offset &= ~(KFD_MMAP_TYPE_MASK | KFD_MMAP_GPU_ID_MASK);

	return base && offset < size ? base + offset : 0;
}

/* What is written to it is lost. It is not shared with other processes. */
static struct page *kfd_hotplug_dummy_page(struct kfd_process_device *pdd)
{
	struct page *page = READ_ONCE(pdd->dummy_page), *old;

	if (page)
		return page;

	page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!page)
		return NULL;

	old = cmpxchg(&pdd->dummy_page, NULL, page);
	if (!old)
		return page;

	__free_page(page);

	return old;
}

static vm_fault_t kfd_hotplug_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct kfd_process_device *pdd = kfd_hotplug_vma_pdd(vma);
	struct kfd_hotplug *hotplug;
	struct page *dummy;
	phys_addr_t address;
	vm_fault_t ret;

	if (!pdd)
		return VM_FAULT_SIGBUS;

	hotplug = &pdd->dev->kfd->hotplug;
	down_read(&hotplug->map_lock);
	if (kfd_node_gone(pdd->dev)) {
		dummy = kfd_hotplug_dummy_page(pdd);
		if (dummy)
			ret = vmf_insert_pfn(vma, vmf->address,
					     page_to_pfn(dummy));
		else
			ret = VM_FAULT_OOM;
	} else if ((unsigned long)vma->vm_private_data !=
		   hotplug->map_generation) {
		/* As ever after a reset: the queue behind it is dead */
		ret = VM_FAULT_SIGBUS;
	} else {
		address = kfd_hotplug_address(pdd, vmf->pgoff);
		if (address)
			ret = vmf_insert_pfn(vma, vmf->address,
					     PHYS_PFN(address));
		else
			ret = VM_FAULT_SIGBUS;
	}
	up_read(&hotplug->map_lock);

	return ret;
}

static const struct vm_operations_struct kfd_hotplug_vm_ops = {
	.fault = kfd_hotplug_fault,
};

/**
 * kfd_hotplug_mmap - map doorbells or registers of a GPU to user space
 * @node: node of the GPU, of whom the process has a process device
 * @vma: the mapping, of the right size
 *
 * The pages are mapped when they are touched. Only what is mapped after the
 * mapping has become known to the address space is found by those who take it
 * away when the GPU is lost or reset.
 *
 * Context: mmap().
 * Return: 0, -ENODEV if the GPU is gone, -EINVAL.
 */
int kfd_hotplug_mmap(struct kfd_node *node, struct vm_area_struct *vma)
{
	struct kfd_hotplug *hotplug = &node->kfd->hotplug;
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;

	if (kfd_node_gone(node))
		return -ENODEV;

	if (offset & ~(KFD_MMAP_TYPE_MASK | KFD_MMAP_GPU_ID_MASK))
		return -EINVAL;

	/* Copy-on-write of a register */
	if (!(vma->vm_flags & VM_SHARED) && vma->vm_flags & VM_MAYWRITE)
		return -EINVAL;

	vm_flags_set(vma, VM_IO | VM_DONTCOPY | VM_DONTEXPAND | VM_NORESERVE |
		     VM_DONTDUMP | VM_PFNMAP);
	vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);
	vma->vm_ops = &kfd_hotplug_vm_ops;

	down_read(&hotplug->map_lock);
	vma->vm_private_data = (void *)hotplug->map_generation;
	up_read(&hotplug->map_lock);

	return 0;
}

static void kfd_hotplug_unmap_id(struct kfd_dev *kfd, u32 gpu_id)
{
	kfd_dev_unmap_mapping_range(KFD_MMAP_TYPE_DOORBELL |
				    KFD_MMAP_GPU_ID(gpu_id),
				    kfd_doorbell_process_slice(kfd));
	kfd_dev_unmap_mapping_range(KFD_MMAP_TYPE_MMIO |
				    KFD_MMAP_GPU_ID(gpu_id), PAGE_SIZE);
}

/**
 * kfd_hotplug_unmap - take doorbells and registers of a GPU from user space
 * @kfd: KFD part of the GPU
 *
 * For a GPU that is gone, or about to be reset. Other GPUs that have an id which
 * a restored process has given this one lose their mappings, too; a fault brings
 * these back.
 *
 * Context: process.
 */
void kfd_hotplug_unmap(struct kfd_dev *kfd)
{
	struct kfd_process *p;
	unsigned int temp, i;
	int idx;

	down_write(&kfd->hotplug.map_lock);
	kfd->hotplug.map_generation++;
	up_write(&kfd->hotplug.map_lock);

	for (i = 0; i < kfd->num_nodes; i++)
		kfd_hotplug_unmap_id(kfd, kfd->nodes[i]->id);

	idx = srcu_read_lock(&kfd_processes_srcu);
	hash_for_each_rcu(kfd_processes_table, temp, p, kfd_processes) {
		for (i = 0; i < kfd_process_num_devices(p); i++) {
			struct kfd_process_device *pdd = p->pdds[i];

			if (pdd->dev->kfd == kfd &&
			    pdd->user_gpu_id != pdd->dev->id)
				kfd_hotplug_unmap_id(kfd, pdd->user_gpu_id);
		}
	}
	srcu_read_unlock(&kfd_processes_srcu, idx);
}

/**
 * kfd_hotplug_clear_peers - take a GPU's memory from others of its hive
 * @adev: amdgpu device, which is gone or being removed
 * @end: until when to wait for the page tables of the others, in jiffies
 *
 * GPUs of a hive map memory of each other without importing it. What a process
 * still does there faults afterwards, and does not reach the GPU that takes the
 * place of this one.
 *
 * Context: process. Takes the reservation locks of page directories.
 */
void kfd_hotplug_clear_peers(struct amdgpu_device *adev, unsigned long end)
{
	struct kfd_process *p;
	unsigned int temp, i;
	int idx, r;

	idx = srcu_read_lock(&kfd_processes_srcu);
	hash_for_each_rcu(kfd_processes_table, temp, p, kfd_processes) {
		for (i = 0; i < kfd_process_num_devices(p); i++) {
			struct kfd_process_device *pdd = p->pdds[i];
			void *drm_priv = READ_ONCE(pdd->drm_priv);

			if (!drm_priv || kfd_node_gone(pdd->dev) ||
			    pdd->dev->adev == adev ||
			    !amdgpu_xgmi_same_hive(pdd->dev->adev, adev))
				continue;

			r = amdgpu_amdkfd_gpuvm_clear_gone(pdd->dev->adev, drm_priv,
							   max(1L, (long)(end - jiffies)));
			if (r)
				dev_err(pdd->dev->adev->dev,
					"page tables still have memory of a GPU that is gone (%d)\n",
					r);
			else
				kfd_flush_tlb(pdd);
		}
	}
	srcu_read_unlock(&kfd_processes_srcu, idx);
}

/* Tell the processes that use a node, and end what waits for its interrupts */
static void kfd_hotplug_tell(struct kfd_node *node)
{
	struct kfd_process *p;
	unsigned int temp;
	int idx;

	kfd_signal_lost_event(node);

	idx = srcu_read_lock(&kfd_processes_srcu);
	hash_for_each_rcu(kfd_processes_table, temp, p, kfd_processes) {
		if (kfd_get_process_device_data(node, p))
			wake_up_all(&p->wait_irq_drain);
	}
	srcu_read_unlock(&kfd_processes_srcu, idx);
}

/* Not the default: what was done until there was another way */
static void kfd_hotplug_kill(struct kfd_dev *kfd)
{
	struct kfd_process *p;
	unsigned int temp, i;
	int idx;

	idx = srcu_read_lock(&kfd_processes_srcu);
	hash_for_each_rcu(kfd_processes_table, temp, p, kfd_processes) {
		for (i = 0; i < kfd_process_num_devices(p); i++) {
			if (p->pdds[i]->dev->kfd != kfd)
				continue;

			kfd_signal_process_terminate_event(p);
			break;
		}
	}
	srcu_read_unlock(&kfd_processes_srcu, idx);

	if (!wait_var_event_timeout(&kfd->kfd_processes_count,
				    !atomic_read(&kfd->kfd_processes_count),
				    msecs_to_jiffies(KFD_HOTPLUG_KILL_MS)))
		dev_warn(kfd->adev->dev,
			 "killed processes still hold %d of its KFD contexts\n",
			 atomic_read(&kfd->kfd_processes_count));
}

/*
 * The reset of a hive leaves a GPU out that is being removed, but shares its lock
 * with it, without which no queue is preempted. It ends by itself. The recovery from
 * a PCI error may have to wait for the lock of this device, which the removal has.
 */
static void kfd_hotplug_wait_for_reset(struct amdgpu_device *adev)
{
	unsigned long parked = 0;

	while (!amdgpu_hotplug_admits(adev) && !amdgpu_hotplug_lost(adev)) {
		if (amdgpu_reset_domain_read_trylock(adev->reset_domain)) {
			amdgpu_reset_domain_read_unlock(adev->reset_domain);
			break;
		}
		if (READ_ONCE(adev->reset_domain->parked) &&
		    parked++ > msecs_to_jiffies(KFD_HOTPLUG_RECOVERY_MS))
			break;
		schedule_timeout_uninterruptible(1);
	}
}

/**
 * kfd_hotplug_detach - take a lost or removed GPU from all KFD processes
 * @kfd: KFD part of the GPU
 *
 * See the overview above. Ends within the time that the preemption of the queues,
 * and the reset of other GPUs of the hive, may take, which is none for a GPU that
 * is known to be lost, whatever the processes do. Nothing of KFD touches the
 * hardware afterwards.
 *
 * Context: process, any number of times; the GPU does not admit anything new.
 */
void kfd_hotplug_detach(struct kfd_dev *kfd)
{
	unsigned int i;

	guard(mutex)(&kfd->hotplug.lock);

	if (kfd->hotplug.detached) {
		/* What was under way when it was detached */
		svm_migrate_evacuate(kfd->adev);
		/* The client may have been created when the last user had gone */
		if (kfd->hotplug.unplugged && !kref_read(&kfd->hotplug.users))
			amdgpu_amdkfd_drm_client_release(kfd->adev);
		return;
	}
	WRITE_ONCE(kfd->hotplug.detached, true);

	for (i = 0; i < kfd->num_nodes; i++)
		kfd_topology_remove_device(kfd->nodes[i]);

	kfd_hotplug_unmap(kfd);

	kfd_hotplug_wait_for_reset(kfd->adev);
	for (i = 0; i < kfd->num_nodes; i++) {
		if (device_queue_manager_detach(kfd->nodes[i]->dqm) &&
		    kfd->init_complete)
			amdgpu_hotplug_runs_on(kfd->adev);
	}

	for (i = 0; i < kfd->num_nodes; i++)
		kfd_interrupt_stop(kfd->nodes[i]);

	svm_migrate_evacuate(kfd->adev);

	for (i = 0; i < kfd->num_nodes; i++) {
		kfd_hotplug_tell(kfd->nodes[i]);
		kfd_smi_event_close(kfd->nodes[i]);
	}

	/*
	 * Locked for a reset or a suspend that nobody ends? It may take a while.
	 * The work has a reference until it has had kfd_processes_mutex, so that
	 * the last one is not put by who finds a node while it holds that.
	 */
	if (kfd->init_complete) {
		kfd_hotplug_get(kfd);
		queue_work(kfd_release_wq, &kfd->hotplug.unlock_work);
	}

	if (amdgpu_kfd_lost_policy == AMDGPU_KFD_LOST_POLICY_KILL)
		kfd_hotplug_kill(kfd);

	kref_put(&kfd->hotplug.users, kfd_hotplug_unused);
}
