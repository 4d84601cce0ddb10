// SPDX-License-Identifier: MIT

#include "kfd_priv.h"
#include "kfd_arrival.h"
#include "kfd_hotplug.h"
#include "kfd_svm.h"

/**
 * DOC: arrival of a GPU with KFD processes
 *
 * A process gets its process devices when it opens /dev/kfd. A GPU that arrives
 * later is not forced upon it: the process names it in AMDKFD_IOC_ACQUIRE_VM,
 * which a process that knows nothing of arrivals does not do, and gets the process
 * device then. It goes to the end of the process's list. What the process has done
 * for all of its GPUs before is done for it, too, before others can find it.
 *
 * Process devices of GPUs that are gone stay, so that one process can have at most
 * %MAX_GPU_INSTANCE GPUs in its life.
 */

/* May the process have a GPU that it did not find when it opened /dev/kfd? */
static int kfd_arrival_check(struct kfd_process *p, struct kfd_node *node)
{
	/* As any GPU that the process does not see */
	if (!READ_ONCE(node->kfd->announced) ||
	    kfd_devcgroup_check_permission(node))
		return -EINVAL;

	/* It is known by another id, which a restored process had given it. */
	if (kfd_get_process_device_data(node, p))
		return -EINVAL;

	if (kfd_node_gone(node))
		return -ENODEV;

	/* Its reset or partitioning, or the debugger, counts on who has it. */
	if (kfd_is_locked(node->kfd) || p->debug_trap_enabled)
		return -EBUSY;

	if (p->xnack_enabled && !kfd_node_xnack_mode(node, true))
		return -EOPNOTSUPP;

	if (p->n_pdds >= MAX_GPU_INSTANCE)
		return -ENOSPC;

	return 0;
}

/**
 * kfd_arrival_add_device - give a process a GPU that has arrived
 * @p: the process
 * @gpu_id: id of a GPU of which @p has no process device
 *
 * The process device has no VM yet.
 *
 * Context: process, of @p, with its mutex held. Takes kfd_processes_mutex, so
 * that who looks for users of a GPU finds all or keeps new ones out. The GPU may
 * be lost or removed at any moment, as with any process device.
 *
 * Return: the process device, or -EINVAL for a GPU that there is not, or not for
 * this process, -ENODEV for one that is gone, -EBUSY if it, or the process, can't
 * change now, -EOPNOTSUPP if it can't work with the XNACK mode of the process,
 * -ENOSPC, -ENOMEM.
 */
struct kfd_process_device *kfd_arrival_add_device(struct kfd_process *p,
						  u32 gpu_id)
{
	struct kfd_process_device *pdd;
	struct kfd_node *node;
	bool svm;
	int ret;

	lockdep_assert_held(&p->mutex);

	node = kfd_topology_get_node(gpu_id);
	if (!node)
		return ERR_PTR(-EINVAL);

	mutex_lock(&kfd_processes_mutex);

	ret = kfd_arrival_check(p, node);
	if (ret)
		goto out_unlock;

	pdd = kfd_create_process_device_data(node, p);
	if (!pdd) {
		ret = -ENOMEM;
		goto out_unlock;
	}

	ret = kfd_init_device_apertures(pdd);
	if (!ret)
		ret = kfd_runtime_enable_device(pdd);
	if (ret) {
		kfd_process_device_destroy(pdd);
		goto out_unlock;
	}

	kfd_process_publish_device(pdd);
	mutex_unlock(&kfd_processes_mutex);

	/* Waits for migrations, and these for a reset, which takes that mutex */
	svm = svm_range_list_add_device(pdd);
	kfd_process_device_create_sysfs(pdd, svm);
	kfd_node_put(node);

	return pdd;

out_unlock:
	mutex_unlock(&kfd_processes_mutex);
	kfd_node_put(node);

	return ERR_PTR(ret);
}
