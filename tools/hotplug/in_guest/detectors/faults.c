// SPDX-License-Identifier: GPL-2.0
/*
 * Seeds faults of a kernel, one each, that a check of the harness has to see:
 * what a driver does wrong when it is slow, touches a device that is gone,
 * leaks, or complains. Documentation/harness/checks.md lists them.
 *
 * A word, with its argument if it has one, written to the debugfs file "faults"
 * commits or arms that fault. A read of the file never returns, and no signal
 * ends it. There is no exit: what was leaked is never taken back.
 */
#include <drm/drm_device.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_ioctl.h>
#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/io.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/pci.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

static struct platform_device *faults_pdev;

/* A driver that takes its time: before it gives a GPU back, or takes one */
static unsigned long slow_unbind_ms, slow_bind_ms;

/* A driver that keeps its mapping of the registers, and reads them later */
static void __iomem *mapped;
static unsigned int reads_at_end;

static void read_mapped(unsigned int count)
{
	while (mapped && count--)
		readl(mapped);
}

static int faults_notify(struct notifier_block *nb, unsigned long action,
			 void *data)
{
	struct pci_dev *pdev = to_pci_dev(data);

	if (pdev->vendor != PCI_VENDOR_ID_ATI)
		return NOTIFY_DONE;
	/* Interruptible, so that no process is in D state: that is another fault */
	if (action == BUS_NOTIFY_UNBIND_DRIVER)
		msleep_interruptible(xchg(&slow_unbind_ms, 0));
	else if (action == BUS_NOTIFY_BIND_DRIVER)
		msleep_interruptible(xchg(&slow_bind_ms, 0));
	else if (action == BUS_NOTIFY_DEL_DEVICE)
		read_mapped(xchg(&reads_at_end, 0));
	return NOTIFY_OK;
}

static struct notifier_block faults_notifier = {
	.notifier_call = faults_notify,
};

static int seed_slow_unbind(const char *ms)
{
	return kstrtoul(ms, 10, &slow_unbind_ms);
}

static int seed_slow_bind(const char *ms)
{
	return kstrtoul(ms, 10, &slow_bind_ms);
}

/* What comes of it has to be put */
static struct pci_dev *find_pdev(const char *address)
{
	unsigned int domain, bus, device, function;

	if (sscanf(address, "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4)
		return NULL;
	return pci_get_domain_bus_and_slot(domain, bus, PCI_DEVFN(device, function));
}

static int seed_map(const char *address)
{
	struct pci_dev *pdev = find_pdev(address);

	if (!pdev)
		return -ENODEV;
	mapped = ioremap(pci_resource_start(pdev, 5), PAGE_SIZE);
	pci_dev_put(pdev);
	return mapped ? 0 : -ENOMEM;
}

static int seed_read(const char *count)
{
	unsigned int reads;
	int ret = kstrtouint(count, 10, &reads);

	if (ret)
		return ret;
	if (!mapped)
		return -ENXIO;
	read_mapped(reads);
	return 0;
}

static int seed_read_at_end(const char *count)
{
	return kstrtouint(count, 10, &reads_at_end);
}

/*
 * A driver that gives memory back while its GPU goes on with it: the interrupt
 * controller, which writes its pointer there. Without an IOMMU that would be
 * somebody's memory by then, so it is sent to where there is none.
 */
#define IH_RB_WPTR_ADDR_HI	((0x10a0 + 0x85) * 4)
#define IH_RB_WPTR_ADDR_LO	((0x10a0 + 0x86) * 4)
#define BEYOND_MEMORY		(1ULL << 46)

static void __iomem *ih_page;
static u32 wptr_hi, wptr_lo;

static void write_wptr_address(u32 hi, u32 lo)
{
	writel(hi, ih_page + offset_in_page(IH_RB_WPTR_ADDR_HI));
	writel(lo, ih_page + offset_in_page(IH_RB_WPTR_ADDR_LO));
}

static int seed_stray(const char *address)
{
	struct pci_dev *pdev = find_pdev(address);
	dma_addr_t where;
	void *memory;

	if (!pdev)
		return -ENODEV;
	memory = dma_alloc_coherent(&pdev->dev, PAGE_SIZE, &where, GFP_KERNEL);
	if (memory)
		dma_free_coherent(&pdev->dev, PAGE_SIZE, memory, where);
	if (!device_iommu_mapped(&pdev->dev))
		where = BEYOND_MEMORY;
	ih_page = ioremap(pci_resource_start(pdev, 5) +
			  (IH_RB_WPTR_ADDR_HI & PAGE_MASK), PAGE_SIZE);
	pci_dev_put(pdev);
	if (!memory || !ih_page)
		return -ENOMEM;
	wptr_hi = readl(ih_page + offset_in_page(IH_RB_WPTR_ADDR_HI));
	wptr_lo = readl(ih_page + offset_in_page(IH_RB_WPTR_ADDR_LO));
	write_wptr_address(upper_32_bits(where), lower_32_bits(where));
	return 0;
}

static int seed_stray_end(const char *unused)
{
	if (!ih_page)
		return -ENXIO;
	write_wptr_address(wptr_hi, wptr_lo);
	iounmap(ih_page);
	ih_page = NULL;
	return 0;
}

/* A driver that leaks: objects of a cache of its own, which has KFD's name */
static int seed_leak(const char *count)
{
	static struct kmem_cache *cache;
	unsigned int objects;
	int ret = kstrtouint(count, 10, &objects);

	if (ret)
		return ret;
	if (!cache)
		cache = kmem_cache_create("kfd_faults", 128, 0, SLAB_NO_MERGE, NULL);
	if (!cache)
		return -ENOMEM;
	while (objects--) {
		if (!kmem_cache_alloc(cache, GFP_KERNEL))
			return -ENOMEM;
	}
	return 0;
}

/* A DRM device that nobody gives back: it keeps its minor */
static const struct file_operations faults_drm_fops = {
	.owner = THIS_MODULE,
	.open = drm_open,
	.release = drm_release,
	.unlocked_ioctl = drm_ioctl,
	.fop_flags = FOP_UNSIGNED_OFFSET,
};

static const struct drm_driver faults_drm_driver = {
	.driver_features = DRIVER_RENDER,
	.fops = &faults_drm_fops,
	.name = "faults",
	.desc = "keeps a minor",
	.major = 1,
};

static int seed_minor(const char *unused)
{
	struct drm_device *drm = drm_dev_alloc(&faults_drm_driver, &faults_pdev->dev);
	int ret;

	if (IS_ERR(drm))
		return PTR_ERR(drm);
	ret = drm_dev_register(drm, 0);
	if (ret)
		drm_dev_put(drm);
	return ret;
}

static int seed_warning(const char *unused)
{
	WARN(1, "a fault that was asked for\n");
	return 0;
}

static int seed_error(const char *unused)
{
	pr_err("faults: an error that was asked for\n");
	return 0;
}

/* More than the log holds, faster than anybody reads it */
static int seed_flood(const char *count)
{
	unsigned int records, i;
	int ret = kstrtouint(count, 10, &records);

	for (i = 0; !ret && i < records; i++)
		printk(KERN_DEBUG "faults: record %u of %u %0200u\n", i, records, 0);
	return ret;
}

static const struct {
	const char *word;
	int (*seed)(const char *argument);
} faults[] = {
	{ "slow-unbind", seed_slow_unbind },	/* milliseconds */
	{ "slow-bind", seed_slow_bind },	/* milliseconds */
	{ "map", seed_map },			/* PCI address */
	{ "read", seed_read },			/* how often */
	{ "read-at-end", seed_read_at_end },	/* how often */
	{ "stray", seed_stray },		/* PCI address */
	{ "stray-end", seed_stray_end },
	{ "leak", seed_leak },			/* how many objects */
	{ "minor", seed_minor },
	{ "warning", seed_warning },
	{ "error", seed_error },
	{ "flood", seed_flood },		/* how many records */
};

static ssize_t faults_write(struct file *file, const char __user *data,
			    size_t count, loff_t *pos)
{
	char text[48] = {}, *argument, *word;
	int i, ret = -EINVAL;

	if (count >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, data, count))
		return -EFAULT;
	argument = strim(text);
	word = strsep(&argument, " ");
	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		if (!strcmp(word, faults[i].word))
			ret = faults[i].seed(argument ?: "");
	}
	return ret ?: count;
}

/* A process that is stuck in the kernel */
static ssize_t faults_read(struct file *file, char __user *data, size_t count,
			   loff_t *pos)
{
	DECLARE_COMPLETION_ONSTACK(never);

	wait_for_completion(&never);
	return 0;
}

static const struct file_operations faults_fops = {
	.owner = THIS_MODULE,
	.write = faults_write,
	.read = faults_read,
};

static int __init faults_init(void)
{
	int ret;

	faults_pdev = platform_device_register_simple("faults", PLATFORM_DEVID_NONE,
						      NULL, 0);
	if (IS_ERR(faults_pdev))
		return PTR_ERR(faults_pdev);
	ret = bus_register_notifier(&pci_bus_type, &faults_notifier);
	if (ret) {
		platform_device_unregister(faults_pdev);
		return ret;
	}
	debugfs_create_file("faults", 0600, NULL, NULL, &faults_fops);
	return 0;
}
module_init(faults_init);

MODULE_DESCRIPTION("Seeds faults that the harness's checks have to see");
MODULE_LICENSE("GPL");
