// SPDX-License-Identifier: GPL-2.0
/*
 * Provokes each detector of a debug kernel on request, so that a self-test
 * can prove that the kernel which judges a driver would have noticed.
 *
 * A word written to the debugfs file "detectors" commits that one mistake.
 * The machine is none the worse for it, but for the taint: nothing that the
 * mistakes touch is used for anything else.
 */
#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/uaccess.h>

static struct platform_device *detectors_pdev;
static struct dentry *detectors_file;

/* KASAN: read of freed memory */
static int provoke_kasan(void)
{
	char *freed = kmalloc(64, GFP_KERNEL);

	if (!freed)
		return -ENOMEM;
	kfree(freed);
	OPTIMIZER_HIDE_VAR(freed);
	pr_info("freed memory reads %d\n", READ_ONCE(*freed));
	return 0;
}

/* lockdep: two locks in both orders. To be first: any other report ends it */
static int provoke_lockdep(void)
{
	static DEFINE_MUTEX(detectors_lock_a);
	static DEFINE_MUTEX(detectors_lock_b);

	mutex_lock(&detectors_lock_a);
	mutex_lock(&detectors_lock_b);
	mutex_unlock(&detectors_lock_b);
	mutex_unlock(&detectors_lock_a);

	mutex_lock(&detectors_lock_b);
	mutex_lock(&detectors_lock_a);
	mutex_unlock(&detectors_lock_a);
	mutex_unlock(&detectors_lock_b);
	return 0;
}

/*
 * kmemleak: many, because SLUB's per-CPU sheaves keep stale pointers to what
 * they handed out last, and kmemleak takes those for references.
 */
static int provoke_kmemleak(void)
{
	int i;

	for (i = 0; i < 1024; i++) {
		char *leaked = kmalloc(96, GFP_KERNEL);

		if (!leaked)
			return -ENOMEM;
		memset(leaked, i, 96);
		OPTIMIZER_HIDE_VAR(leaked);
	}
	return 0;
}

/* DMA API debugging: unmapping of what was never mapped */
static int provoke_dma_debug(void)
{
	struct device *dev = &detectors_pdev->dev;
	void *buffer = kmalloc(64, GFP_KERNEL);

	if (!buffer)
		return -ENOMEM;
	dma_unmap_single(dev, virt_to_phys(buffer), 64, DMA_TO_DEVICE);
	kfree(buffer);
	return 0;
}

/* DEBUG_ATOMIC_SLEEP: a call that may sleep under a spinlock */
static int provoke_atomic_sleep(void)
{
	static DEFINE_SPINLOCK(detectors_spinlock);

	spin_lock(&detectors_spinlock);
	might_sleep();
	spin_unlock(&detectors_spinlock);
	return 0;
}

/* DEBUG_LIST: an entry whose neighbour does not point back */
static int provoke_list(void)
{
	struct list_head *entries = kcalloc(3, sizeof(*entries), GFP_KERNEL);

	if (!entries)
		return -ENOMEM;
	INIT_LIST_HEAD(&entries[0]);
	list_add(&entries[1], &entries[0]);
	entries[1].prev = &entries[2];
	list_add(&entries[2], &entries[0]);
	kfree(entries);
	return 0;
}

/* khungtaskd: a task that does not wake up until the word "wake" */
static DECLARE_COMPLETION(detectors_wake);
static struct task_struct *detectors_task;

static int sleep_until_woken(void *unused)
{
	wait_for_completion(&detectors_wake);
	return 0;
}

static int wake_hung_task(void)
{
	if (!detectors_task)
		return 0;
	complete(&detectors_wake);
	/* The reference taken at the start keeps the task, ended or not. */
	kthread_stop(detectors_task);
	put_task_struct(detectors_task);
	detectors_task = NULL;
	return 0;
}

static int provoke_hung_task(void)
{
	struct task_struct *task;

	if (detectors_task)
		return -EBUSY;
	reinit_completion(&detectors_wake);
	task = kthread_create(sleep_until_woken, NULL, "detectors-hung");
	if (IS_ERR(task))
		return PTR_ERR(task);
	get_task_struct(task);
	detectors_task = task;
	wake_up_process(task);
	return 0;
}

/* DEBUG_SHIRQ: a shared handler is called once more when it is freed */
static irqreturn_t count_call(int irq, void *data)
{
	unsigned int *calls = data;

	(*calls)++;
	return IRQ_NONE;
}

static int provoke_shirq(void)
{
	unsigned int calls = 0, before;
	int irq, ret;

	irq = irq_alloc_desc(NUMA_NO_NODE);
	if (irq < 0)
		return irq;
	irq_set_chip_and_handler(irq, &dummy_irq_chip, handle_simple_irq);
	ret = request_irq(irq, count_call, IRQF_SHARED, "detectors", &calls);
	if (!ret) {
		before = calls;
		free_irq(irq, &calls);
		pr_info("shared handler called %u times by free_irq\n",
			calls - before);
	}
	irq_free_desc(irq);
	return ret;
}

static const struct {
	const char *word;
	int (*provoke)(void);
} detectors[] = {
	{ "kasan", provoke_kasan },
	{ "lockdep", provoke_lockdep },
	{ "kmemleak", provoke_kmemleak },
	{ "dma-debug", provoke_dma_debug },
	{ "atomic-sleep", provoke_atomic_sleep },
	{ "list", provoke_list },
	{ "hung-task", provoke_hung_task },
	{ "wake", wake_hung_task },
	{ "shirq", provoke_shirq },
};

/* One mistake at a time. */
static DEFINE_MUTEX(detectors_mutex);

static ssize_t detectors_write(struct file *file, const char __user *data,
			       size_t count, loff_t *pos)
{
	char word[16] = {};
	int i, ret = -EINVAL;

	if (count >= sizeof(word))
		return -EINVAL;
	if (copy_from_user(word, data, count))
		return -EFAULT;
	strim(word);

	mutex_lock(&detectors_mutex);
	for (i = 0; i < ARRAY_SIZE(detectors); i++) {
		if (!strcmp(word, detectors[i].word))
			ret = detectors[i].provoke();
	}
	mutex_unlock(&detectors_mutex);
	return ret ?: count;
}

static const struct file_operations detectors_fops = {
	.owner = THIS_MODULE,
	.write = detectors_write,
};

static int __init detectors_init(void)
{
	int ret;

	detectors_pdev = platform_device_register_simple("detectors",
							 PLATFORM_DEVID_NONE,
							 NULL, 0);
	if (IS_ERR(detectors_pdev))
		return PTR_ERR(detectors_pdev);
	ret = dma_coerce_mask_and_coherent(&detectors_pdev->dev,
					   DMA_BIT_MASK(64));
	if (ret) {
		platform_device_unregister(detectors_pdev);
		return ret;
	}
	detectors_file = debugfs_create_file("detectors", 0200, NULL, NULL,
					     &detectors_fops);
	return 0;
}

static void __exit detectors_exit(void)
{
	debugfs_remove(detectors_file);
	wake_hung_task();
	platform_device_unregister(detectors_pdev);
}

module_init(detectors_init);
module_exit(detectors_exit);

MODULE_DESCRIPTION("Provokes the detectors of a debug kernel on request");
MODULE_LICENSE("GPL");
