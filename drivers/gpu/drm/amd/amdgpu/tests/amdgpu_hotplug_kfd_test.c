// SPDX-License-Identifier: MIT
/*
 * KUnit tests for KFD with GPUs that are lost, removed, reset or partitioned anew
 *
 * For the moments that no client can choose. The GPU is a mock: it has the phases
 * of a GPU that can be removed, a node that is not in the topology, and no queue
 * manager but where a test makes one.
 */

#include <kunit/device.h>
#include <kunit/test.h>

#include <linux/delay.h>
#include <linux/pci.h>

#include <drm/drm_kunit_helpers.h>

#include "amdgpu.h"
#include "amdgpu_hotplug.h"
#include "kfd_device_queue_manager.h"
#include "kfd_hotplug.h"
#include "kfd_priv.h"

#define MOCK_GPUS	2

/* How long to look for what must not happen */
#define MOCK_IDLE_MS	50

struct mock_kfd {
	struct pci_dev pdev;
	struct amdgpu_device *adev;
	struct kfd_dev *kfd;
	struct kfd_node node;

	/* For who detaches or frees @kfd */
	struct work_struct exit_work;
	struct completion exited;
};

static void mock_idle_work(struct work_struct *work)
{
}

static void mock_kfd_fini(void *data)
{
	struct mock_kfd *gpu = data;

	/* Not freed by kgd2kfd_device_exit(), which some tests call */
	if (gpu->kfd) {
		flush_work(&gpu->kfd->hotplug.unlock_work);
		kfd_hotplug_fini(gpu->kfd);
		kfree(gpu->kfd);
	}
	amdgpu_hotplug_fini(gpu->adev);
}

static struct kfd_dev *mock_kfd_dev(struct kunit *test, struct mock_kfd *gpu)
{
	struct kfd_dev *kfd = kzalloc_obj(*kfd);

	KUNIT_ASSERT_NOT_NULL(test, kfd);
	kfd->adev = gpu->adev;
	kfd->init_complete = true;
	mutex_init(&kfd->profiler_lock);
	kfd_hotplug_init(kfd);
	gpu->node.kfd = kfd;

	return kfd;
}

static struct mock_kfd *mock_kfd(struct kunit *test, const char *name)
{
	struct amdgpu_device *adev;
	struct drm_device *drm;
	struct mock_kfd *gpu;
	struct device *dev;

	gpu = kunit_kzalloc(test, sizeof(*gpu), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, gpu);
	gpu->pdev.error_state = pci_channel_io_normal;
	gpu->pdev.dev.init_name = name;
	init_completion(&gpu->exited);

	dev = kunit_device_register(test, name);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	drm = __drm_kunit_helper_alloc_drm_device(test, dev, sizeof(*adev),
						  offsetof(struct amdgpu_device, ddev),
						  DRIVER_GEM);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, drm);

	adev = drm_to_adev(drm);
	adev->dev = dev;
	adev->pdev = &gpu->pdev;
	mutex_init(&adev->kfd.dev_lock);
	amdgpu_hotplug_init(adev);
	INIT_WORK(&adev->hotplug.lost_work, mock_idle_work);
	gpu->adev = adev;
	gpu->node.adev = adev;
	gpu->kfd = mock_kfd_dev(test, gpu);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, mock_kfd_fini, gpu));

	return gpu;
}

static bool mock_is_locked(struct mock_kfd *gpu)
{
	guard(mutex)(&kfd_processes_mutex);

	return kfd_is_locked(gpu ? gpu->kfd : NULL);
}

/* --- Ioctls */

enum { LOST, PRESENT };

static const u32 mock_ids[MOCK_GPUS] = { [LOST] = 0x1057, [PRESENT] = 0x600d };

/* A process with process devices of a GPU that is lost, and of one that is not */
static struct kfd_process *mock_process(struct kunit *test)
{
	static const char * const names[MOCK_GPUS] = {
		[LOST] = "lost", [PRESENT] = "present"
	};
	struct kfd_process_device *pdd;
	struct kfd_process *p;
	struct mock_kfd *gpu;
	int i;

	p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p);

	for (i = 0; i < MOCK_GPUS; i++) {
		pdd = kunit_kzalloc(test, sizeof(*pdd), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, pdd);
		gpu = mock_kfd(test, names[i]);
		if (i == LOST)
			amdgpu_hotplug_mark_lost(gpu->adev, "test");
		pdd->dev = &gpu->node;
		pdd->user_gpu_id = mock_ids[i];
		p->pdds[p->n_pdds++] = pdd;
	}

	return p;
}

#define CHECK_IOCTL(_p, _cmd, _args)					\
	kfd_hotplug_check_ioctl(_p, _IOC_NR(AMDKFD_IOC_##_cmd), _args)

/* What asks for something of the GPU fails, what gives something back works */
static void ioctls_name_lost_gpu(struct kunit *test)
{
	static const struct {
		const char *name;
		unsigned int nr;
		/* Where the arguments have the id, or the handle */
		size_t offset;
		bool handle;
		int expected;
	} cases[] = {
#define IOCTL(_cmd, _args, _member, _handle, _expected)			\
	{								\
		.name = #_cmd,						\
		.nr = _IOC_NR(AMDKFD_IOC_##_cmd),			\
		.offset = offsetof(struct kfd_ioctl_##_args, _member),	\
		.handle = _handle,					\
		.expected = _expected,					\
	}
#define ID(_cmd, _args, _expected)					\
	IOCTL(_cmd, _args, gpu_id, false, _expected)
#define HANDLE(_cmd, _args, _expected)					\
	IOCTL(_cmd, _args, handle, true, _expected)
		ID(CREATE_QUEUE, create_queue_args, -ENODEV),
		ID(SET_MEMORY_POLICY, set_memory_policy_args, -ENODEV),
		ID(GET_CLOCK_COUNTERS, get_clock_counters_args, -ENODEV),
		ID(SET_SCRATCH_BACKING_VA, set_scratch_backing_va_args, -ENODEV),
		ID(GET_TILE_CONFIG, get_tile_config_args, -ENODEV),
		ID(SET_TRAP_HANDLER, set_trap_handler_args, -ENODEV),
		ID(ACQUIRE_VM, acquire_vm_args, -ENODEV),
		ID(ALLOC_MEMORY_OF_GPU, alloc_memory_of_gpu_args, -ENODEV),
		ID(IMPORT_DMABUF, import_dmabuf_args, -ENODEV),
		ID(AVAILABLE_MEMORY, get_available_memory_args, -ENODEV),
		IOCTL(SMI_EVENTS, smi_events_args, gpuid, false, -ENODEV),
		IOCTL(CREATE_EVENT, create_event_args, event_page_offset, true,
		      -ENODEV),
		HANDLE(MAP_MEMORY_TO_GPU, map_memory_to_gpu_args, -ENODEV),
		HANDLE(EXPORT_DMABUF, export_dmabuf_args, -ENODEV),
		HANDLE(UNMAP_MEMORY_FROM_GPU, unmap_memory_from_gpu_args, 0),
		HANDLE(FREE_MEMORY_OF_GPU, free_memory_of_gpu_args, 0),
#undef HANDLE
#undef ID
#undef IOCTL
	};
	struct kfd_process *p = mock_process(test);
	struct kfd_ioctl_acquire_vm_args acquire = {};
	u64 args[16], handle;
	int i, gpu, expected;
	u32 id;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_ASSERT_LE(test, cases[i].offset + sizeof(handle), sizeof(args));

		for (gpu = 0; gpu < MOCK_GPUS; gpu++) {
			id = mock_ids[gpu];
			handle = MAKE_HANDLE(id, 1);
			memset(args, 0, sizeof(args));
			if (cases[i].handle)
				memcpy((void *)args + cases[i].offset, &handle,
				       sizeof(handle));
			else
				memcpy((void *)args + cases[i].offset, &id,
				       sizeof(id));
			expected = 0;
			if (gpu == LOST)
				expected = cases[i].expected;
			KUNIT_EXPECT_EQ_MSG(test, expected,
					    kfd_hotplug_check_ioctl(p, cases[i].nr,
								    args),
					    "%s of GPU %x", cases[i].name, id);
		}
	}

	/* Of a GPU that the process does not have, which may have arrived */
	acquire.gpu_id = ~mock_ids[LOST];
	KUNIT_EXPECT_EQ(test, 0, CHECK_IOCTL(p, ACQUIRE_VM, &acquire));
	KUNIT_EXPECT_EQ(test, 0,
			kfd_hotplug_check_ioctl(p, AMDKFD_COMMAND_END, &acquire));
}

static int check_svm(struct kunit *test, struct kfd_process *p, u32 op,
		     u32 type, u32 value)
{
	struct kfd_ioctl_svm_args *args;
	int ret;

	/* The last one, so that it is seen that all are looked at */
	args = kunit_kzalloc(test, struct_size(args, attrs, 2), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, args);
	args->op = op;
	args->nattr = 2;
	args->attrs[0].type = KFD_IOCTL_SVM_ATTR_SET_FLAGS;
	args->attrs[1].type = type;
	args->attrs[1].value = value;
	ret = CHECK_IOCTL(p, SVM, args);
	kunit_kfree(test, args);

	return ret;
}

/* As other ioctls, with the names in a list; other values may look like a name */
static void svm_names_lost_gpu(struct kunit *test)
{
	static const struct {
		u32 op, type;
		int expected;
	} cases[] = {
#define SVM(_op, _type, _expected)					\
	{ KFD_IOCTL_SVM_OP_##_op##_ATTR, KFD_IOCTL_SVM_ATTR_##_type, _expected }
		SVM(SET, PREFERRED_LOC, -ENODEV),
		SVM(SET, PREFETCH_LOC, -ENODEV),
		SVM(SET, ACCESS, -ENODEV),
		SVM(SET, ACCESS_IN_PLACE, -ENODEV),
		SVM(SET, NO_ACCESS, 0),
		SVM(SET, CLR_FLAGS, 0),
		SVM(SET, GRANULARITY, 0),
		SVM(GET, ACCESS, -ENODEV),
		SVM(GET, PREFERRED_LOC, 0),
		SVM(GET, PREFETCH_LOC, 0),
#undef SVM
	};
	struct kfd_process *p = mock_process(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_EXPECT_EQ_MSG(test, cases[i].expected,
				    check_svm(test, p, cases[i].op, cases[i].type,
					      mock_ids[LOST]),
				    "op %u, attribute %u", cases[i].op,
				    cases[i].type);
		KUNIT_EXPECT_EQ_MSG(test, 0,
				    check_svm(test, p, cases[i].op, cases[i].type,
					      mock_ids[PRESENT]),
				    "op %u, attribute %u", cases[i].op,
				    cases[i].type);
	}

	KUNIT_EXPECT_EQ(test, 0,
			check_svm(test, p, KFD_IOCTL_SVM_OP_SET_ATTR,
				  KFD_IOCTL_SVM_ATTR_PREFETCH_LOC,
				  KFD_IOCTL_SVM_LOCATION_SYSMEM));
	KUNIT_EXPECT_EQ(test, 0,
			check_svm(test, p, KFD_IOCTL_SVM_OP_SET_ATTR,
				  KFD_IOCTL_SVM_ATTR_PREFERRED_LOC,
				  KFD_IOCTL_SVM_LOCATION_UNDEFINED));
}

/* Of a process that has lost a GPU nothing is saved or restored, but it runs on */
static void criu_names_all_gpus(struct kunit *test)
{
	static const struct {
		u32 op;
		int expected;
	} cases[] = {
		{ KFD_CRIU_OP_PROCESS_INFO, -ENODEV },
		{ KFD_CRIU_OP_CHECKPOINT, -ENODEV },
		{ KFD_CRIU_OP_RESTORE, -ENODEV },
		{ KFD_CRIU_OP_UNPAUSE, 0 },
		{ KFD_CRIU_OP_RESUME, 0 },
	};
	struct kfd_process *p = mock_process(test), *other;
	struct kfd_ioctl_criu_args args = {};
	int i;

	/* One that has not lost any */
	other = kunit_kzalloc(test, sizeof(*other), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, other);
	other->pdds[other->n_pdds++] = p->pdds[PRESENT];

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		args.op = cases[i].op;
		KUNIT_EXPECT_EQ_MSG(test, cases[i].expected,
				    CHECK_IOCTL(p, CRIU_OP, &args),
				    "op %u", args.op);
		KUNIT_EXPECT_EQ_MSG(test, 0, CHECK_IOCTL(other, CRIU_OP, &args),
				    "op %u", args.op);
	}
}

/* --- References */

/* Who refers to a node keeps it, and its device, also when it was detached */
static void node_keeps_device(struct kunit *test)
{
	struct mock_kfd *gpu = mock_kfd(test, "referred");
	struct kfd_hotplug *hotplug = &gpu->kfd->hotplug;
	struct drm_device *drm = adev_to_drm(gpu->adev);
	unsigned int refs = kref_read(&drm->ref);

	KUNIT_EXPECT_PTR_EQ(test, &gpu->node, kfd_node_get(&gpu->node));
	KUNIT_EXPECT_EQ(test, kref_read(&drm->ref), refs + 1);

	kfd_hotplug_detach(gpu->kfd);
	KUNIT_EXPECT_TRUE(test, hotplug->detached);
	flush_work(&hotplug->unlock_work);
	KUNIT_EXPECT_EQ(test, kref_read(&hotplug->users), 1);
	KUNIT_EXPECT_FALSE(test, completion_done(&hotplug->unused));

	/* Only the driver's own reference is given back, and once */
	kfd_hotplug_detach(gpu->kfd);
	KUNIT_EXPECT_EQ(test, kref_read(&hotplug->users), 1);

	kfd_node_put(&gpu->node);
	KUNIT_EXPECT_TRUE(test, completion_done(&hotplug->unused));
	KUNIT_EXPECT_EQ(test, kref_read(&drm->ref), refs);

	kfd_node_put(NULL);
}

static void mock_detach_work(struct work_struct *work)
{
	struct mock_kfd *gpu = container_of(work, struct mock_kfd, exit_work);

	kfd_hotplug_detach(gpu->kfd);
	complete(&gpu->exited);
}

/* Who finds nodes with the lock of all processes held can put its references so */
static void not_freed_with_lock(struct kunit *test)
{
	struct mock_kfd *gpu = mock_kfd(test, "removed");
	struct kfd_hotplug *hotplug = &gpu->kfd->hotplug;

	INIT_WORK(&gpu->exit_work, mock_detach_work);
	scoped_guard(mutex, &kfd_processes_mutex) {
		kfd_node_get(&gpu->node);
		schedule_work(&gpu->exit_work);
		flush_work(&gpu->exit_work);
		KUNIT_EXPECT_TRUE(test, hotplug->detached);
		kfd_node_put(&gpu->node);
		KUNIT_EXPECT_FALSE(test, completion_done(&hotplug->unused));
	}

	flush_work(&hotplug->unlock_work);
	KUNIT_EXPECT_TRUE(test, completion_done(&hotplug->unused));
}

static void mock_exit_work(struct work_struct *work)
{
	struct mock_kfd *gpu = container_of(work, struct mock_kfd, exit_work);

	kgd2kfd_device_exit(gpu->kfd);
	complete(&gpu->exited);
}

/* Who has found a node in the topology may look at it while it is taken away */
static void exit_waits_for_references(struct kunit *test)
{
	struct mock_kfd *gpu = mock_kfd(test, "partitioned");
	unsigned long early;

	kfd_node_get(&gpu->node);
	INIT_WORK(&gpu->exit_work, mock_exit_work);
	schedule_work(&gpu->exit_work);

	early = wait_for_completion_timeout(&gpu->exited,
					    msecs_to_jiffies(MOCK_IDLE_MS));
	KUNIT_EXPECT_EQ(test, early, 0);
	if (!early) {
		kfd_node_put(&gpu->node);
		wait_for_completion(&gpu->exited);
	} else {
		/* What kfd_node_put() would do without the freed device */
		drm_dev_put(adev_to_drm(gpu->adev));
	}
	gpu->kfd = NULL;
}

static void mock_fini_work(struct work_struct *work)
{
	struct mock_kfd *gpu = container_of(work, struct mock_kfd, exit_work);

	amdgpu_amdkfd_device_fini_sw(gpu->adev);
	complete(&gpu->exited);
}

/* Interrupts come while the partition mode is switched, and offer themselves to KFD */
static void interrupts_end_before_exit(struct kunit *test)
{
	struct mock_kfd *gpu = mock_kfd(test, "interrupted");
	struct amdgpu_kfd_dev *kfd = &gpu->adev->kfd;
	bool taken, early;
	int ms;

	if (num_online_cpus() < 2)
		kunit_skip(test, "the interrupt needs a CPU of its own");

	mutex_init(&kfd->dev_lock);
	kfd->dev = gpu->kfd;
	INIT_WORK(&gpu->exit_work, mock_fini_work);

	/* The interrupt; it must not sleep */
	rcu_read_lock();
	queue_work(system_dfl_wq, &gpu->exit_work);
	for (ms = 0; ms < 1000 && READ_ONCE(kfd->dev); ms++)
		mdelay(1);
	taken = !READ_ONCE(kfd->dev);
	mdelay(MOCK_IDLE_MS);
	early = completion_done(&gpu->exited);
	rcu_read_unlock();

	wait_for_completion(&gpu->exited);
	gpu->kfd = NULL;
	KUNIT_EXPECT_TRUE(test, taken);
	KUNIT_EXPECT_FALSE(test, early);
}

/* --- Interrupts */

#define MOCK_ENTRIES	3

/* One of a process whose memory does not answer: the handler waits for it */
struct mock_handler {
	struct completion entered;
	struct completion released;
	int entries;
};

static struct mock_handler *mock_handler;

static void mock_interrupt_wq(struct kfd_node *node, const u32 *ih_ring_entry)
{
	mock_handler->entries++;
	complete(&mock_handler->entered);
	wait_for_completion(&mock_handler->released);
}

static const struct kfd_event_interrupt_class mock_interrupt_class = {
	.interrupt_wq = mock_interrupt_wq,
};

static void mock_interrupt_fini(void *data)
{
	struct mock_kfd *gpu = data;

	complete_all(&mock_handler->released);
	destroy_workqueue(gpu->kfd->ih_wq);
	gpu->kfd->ih_wq = NULL;
	kfd_interrupt_exit(&gpu->node);
}

/* What waits for a process when the GPU goes, and what has not begun yet */
static void detach_waits_for_no_process(struct kunit *test)
{
	struct mock_kfd *gpu = mock_kfd(test, "stuck");
	struct kfd_device_info *info = &gpu->kfd->device_info;
	const unsigned long patience = msecs_to_jiffies(1000);
	u32 entry[8] = {};
	int i;

	mock_handler = kunit_kzalloc(test, sizeof(*mock_handler), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, mock_handler);
	init_completion(&mock_handler->entered);
	init_completion(&mock_handler->released);
	info->ih_ring_entry_size = sizeof(entry);
	info->event_interrupt_class = &mock_interrupt_class;
	KUNIT_ASSERT_EQ(test, 0, kfd_interrupt_init(&gpu->node));
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, mock_interrupt_fini, gpu));

	for (i = 0; i < MOCK_ENTRIES; i++)
		KUNIT_ASSERT_TRUE(test, enqueue_ih_ring_entry(&gpu->node, entry));
	queue_work(gpu->kfd->ih_wq, &gpu->node.interrupt_work);
	KUNIT_ASSERT_NE(test, 0,
			wait_for_completion_timeout(&mock_handler->entered, patience));

	amdgpu_hotplug_mark_lost(gpu->adev, "test");
	INIT_WORK(&gpu->exit_work, mock_detach_work);
	schedule_work(&gpu->exit_work);
	KUNIT_EXPECT_NE(test, 0,
			wait_for_completion_timeout(&gpu->exited, patience));

	complete_all(&mock_handler->released);
	flush_work(&gpu->exit_work);
	flush_workqueue(gpu->kfd->ih_wq);
	KUNIT_EXPECT_EQ(test, mock_handler->entries, 1);
}

/* --- Locks */

/* Users of other GPUs, and who opens /dev/kfd, notice nothing of a reset */
static void reset_locks_one_gpu(struct kunit *test)
{
	struct mock_kfd *gpu = mock_kfd(test, "reset");
	struct mock_kfd *other = mock_kfd(test, "other");

	KUNIT_EXPECT_EQ(test, kgd2kfd_pre_reset(gpu->kfd, NULL), 0);
	KUNIT_EXPECT_TRUE(test, mock_is_locked(gpu));
	KUNIT_EXPECT_FALSE(test, mock_is_locked(other));
	KUNIT_EXPECT_FALSE(test, mock_is_locked(NULL));

	/* It has failed, and a second one does not */
	KUNIT_EXPECT_EQ(test, kgd2kfd_pre_reset(gpu->kfd, NULL), 0);
	KUNIT_EXPECT_EQ(test, kgd2kfd_post_reset(gpu->kfd), 0);
	KUNIT_EXPECT_FALSE(test, mock_is_locked(gpu));
}

/* All processes are evicted, and a new one would not be */
static void suspend_locks_all(struct kunit *test)
{
	struct mock_kfd *gpu = mock_kfd(test, "suspended");
	struct mock_kfd *other = mock_kfd(test, "other");

	kgd2kfd_suspend_process(gpu->kfd);
	kgd2kfd_suspend_process(other->kfd);
	KUNIT_EXPECT_TRUE(test, mock_is_locked(gpu));
	KUNIT_EXPECT_TRUE(test, mock_is_locked(NULL));

	kgd2kfd_resume_process(gpu->kfd);
	KUNIT_EXPECT_TRUE(test, mock_is_locked(gpu));

	kgd2kfd_resume_process(other->kfd);
	KUNIT_EXPECT_FALSE(test, mock_is_locked(gpu));
	KUNIT_EXPECT_FALSE(test, mock_is_locked(NULL));
}

/* --- Suspend */

static int mock_dqm_start(struct device_queue_manager *dqm)
{
	return -ENOMEM;
}

static int mock_dqm_stop(struct device_queue_manager *dqm)
{
	return 0;
}

/* One node with a queue manager that stops, and does not start again */
static void mock_node(struct kunit *test, struct mock_kfd *gpu)
{
	struct device_queue_manager *dqm;

	dqm = kunit_kzalloc(test, sizeof(*dqm), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, dqm);
	dqm->dev = &gpu->node;
	dqm->ops.start = mock_dqm_start;
	dqm->ops.stop = mock_dqm_stop;
	mutex_init(&dqm->lock_hidden);
	INIT_LIST_HEAD(&dqm->queues);

	gpu->node.dqm = dqm;
	spin_lock_init(&gpu->node.interrupt_lock);
	spin_lock_init(&gpu->node.smi_lock);
	INIT_LIST_HEAD(&gpu->node.smi_clients);
	gpu->kfd->nodes[0] = &gpu->node;
	gpu->kfd->num_nodes = 1;
}

/* Display and graphics go on without KFD, and so do the processes of other GPUs */
static void detached_when_it_does_not_resume(struct kunit *test)
{
	struct mock_kfd *gpu = mock_kfd(test, "resume");
	struct amdgpu_device *adev = gpu->adev;

	mock_node(test, gpu);
	adev->kfd.dev = gpu->kfd;
	mutex_init(&adev->kfd.client_lock);

	amdgpu_amdkfd_suspend(adev, true);
	KUNIT_EXPECT_TRUE(test, mock_is_locked(NULL));

	adev->in_runpm = true;
	KUNIT_EXPECT_EQ(test, amdgpu_amdkfd_resume_or_detach(adev), -ENOMEM);
	KUNIT_EXPECT_FALSE(test, kfd_node_gone(&gpu->node));

	adev->in_runpm = false;
	KUNIT_EXPECT_EQ(test, amdgpu_amdkfd_resume_or_detach(adev), 0);
	KUNIT_EXPECT_TRUE(test, amdgpu_hotplug_admits(adev));
	KUNIT_EXPECT_TRUE(test, kfd_node_gone(&gpu->node));
	flush_work(&gpu->kfd->hotplug.unlock_work);
	KUNIT_EXPECT_FALSE(test, mock_is_locked(NULL));

	/* The next sleep does not wake it again */
	amdgpu_amdkfd_suspend(adev, true);
	KUNIT_EXPECT_FALSE(test, mock_is_locked(NULL));
	KUNIT_EXPECT_EQ(test, amdgpu_amdkfd_resume(adev, true), 0);
}

/* A switch of the partition mode frees the device that it has locked */
static void switch_locks_each_time(struct kunit *test)
{
	struct mock_kfd *gpu = mock_kfd(test, "switched");
	struct mock_kfd *other = mock_kfd(test, "other");
	int i;

	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, kgd2kfd_check_and_lock_kfd(gpu->kfd), 0);
		KUNIT_EXPECT_EQ(test, kgd2kfd_check_and_lock_kfd(gpu->kfd),
				-EBUSY);
		kgd2kfd_device_exit(gpu->kfd);
		gpu->kfd = NULL;

		gpu->kfd = mock_kfd_dev(test, gpu);
		KUNIT_EXPECT_TRUE(test, mock_is_locked(gpu));
		KUNIT_EXPECT_FALSE(test, mock_is_locked(other));

		kgd2kfd_unlock_kfd(gpu->adev);
		KUNIT_EXPECT_FALSE(test, mock_is_locked(gpu));
	}

	/* Not while somebody refers to what it would free */
	kfd_node_get(&gpu->node);
	KUNIT_EXPECT_EQ(test, kgd2kfd_check_and_lock_kfd(gpu->kfd), -EBUSY);
	KUNIT_EXPECT_FALSE(test, mock_is_locked(gpu));
	kfd_node_put(&gpu->node);
}

/* Its topology has a node for the CPUs at least */
static int amdgpu_hotplug_kfd_init(struct kunit *test)
{
	if (!kfd_topology_get_num_devices())
		kunit_skip(test, "KFD could not be initialized");

	return 0;
}

static struct kunit_case amdgpu_hotplug_kfd_cases[] = {
	KUNIT_CASE(ioctls_name_lost_gpu),
	KUNIT_CASE(svm_names_lost_gpu),
	KUNIT_CASE(criu_names_all_gpus),
	KUNIT_CASE(node_keeps_device),
	KUNIT_CASE(not_freed_with_lock),
	KUNIT_CASE(exit_waits_for_references),
	KUNIT_CASE(interrupts_end_before_exit),
	KUNIT_CASE(detach_waits_for_no_process),
	KUNIT_CASE(reset_locks_one_gpu),
	KUNIT_CASE(suspend_locks_all),
	KUNIT_CASE(detached_when_it_does_not_resume),
	KUNIT_CASE(switch_locks_each_time),
	{}
};

static struct kunit_suite amdgpu_hotplug_kfd_suite = {
	.name = "amdgpu_hotplug_kfd",
	.init = amdgpu_hotplug_kfd_init,
	.test_cases = amdgpu_hotplug_kfd_cases,
};

kunit_test_suite(amdgpu_hotplug_kfd_suite);
