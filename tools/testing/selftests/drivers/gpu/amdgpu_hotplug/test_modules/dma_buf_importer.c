// SPDX-License-Identifier: GPL-2.0
/*
 * An importer of dma-bufs. It stands in for a device that works on the memory of
 * another one, as a NIC does, and goes on until it is told to stop: an open file
 * of /dev/dma_buf_importer is one such device, and a thread of it makes an access
 * each millisecond, by the DMA addresses that the exporter gave it. If the buffer
 * is imported in the name of QEMU's edu, the accesses are that device's, by its
 * DMA engine, which takes 100 ms for each.
 *
 * It warns when a page is freed that it has mapped, and leaves that page alone.
 */
#include <linux/delay.h>
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/highmem.h>
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/iopoll.h>
#include <linux/ioport.h>
#include <linux/kthread.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "dma_buf_importer.h"

#define LATE_MS	200

/* QEMU's edu, see docs/specs/edu.rst there */
#define EDU_DMA_SOURCE		0x80
#define EDU_DMA_TARGET		0x88
#define EDU_DMA_COUNT		0x90
#define EDU_DMA_COMMAND		0x98
#define   EDU_DMA_START			BIT(0)
#define   EDU_DMA_FROM_BUFFER		BIT(1)
#define EDU_DMA_BUFFER		0x40000

/* A transfer takes 100 ms of the guest's time; a host may be busy */
#define EDU_DMA_TIMEOUT_US	(10 * USEC_PER_SEC)

struct importer;

struct edu {
	void __iomem *regs;
	/* Under the device lock: who imports in its name, one at a time */
	struct importer *user;
};

/* A page of the mapping, and what it was like then. TTM's may have no count. */
struct importer_page {
	struct page *page;
	struct address_space *mapping;
	bool counted;
	bool lost;
};

/* An open file */
struct importer {
	/* One ioctl at a time */
	struct mutex ioctl;
	enum dma_buf_importer_mode mode;
	/* The device in whose name the buffer is imported */
	struct device *dev;
	/* That device, if it makes the accesses. Under the device lock and the
	 * reservation lock; NULL again when it has been removed.
	 */
	struct edu *edu;
	/* NULL before DMA_BUF_IMPORTER_ATTACH, and final after it */
	struct dma_buf *dmabuf;
	struct dma_buf_attachment *attach;

	/* Under the reservation lock: the mapping, or NULL */
	struct sg_table *sgt;
	bool pinned;
	/* The edu in whose name the buffer was imported is */
	bool gone;
	/* Gives the mapping back, if that is to be late */
	struct delayed_work late;

	/* Inside the reservation lock: protects all that follows */
	struct mutex engine;
	/* Makes the accesses */
	struct task_struct *thread;
	struct importer_page *pages;
	/* The first page of a mapping of bus addresses */
	void __iomem *bus;
	dma_addr_t bus_address;
	/* The page that the edu is at */
	u32 next_page;
	struct dma_buf_importer_state state;
};

static bool edu_is_busy(struct edu *edu)
{
	return readl(edu->regs + EDU_DMA_COMMAND) & EDU_DMA_START;
}

static int edu_wait(struct edu *edu)
{
	bool busy;

	return read_poll_timeout(edu_is_busy, busy, !busy, 1000,
				 EDU_DMA_TIMEOUT_US, false, edu);
}

/* Begins to move a word between @address and the edu's buffer */
static void edu_begin(struct edu *edu, dma_addr_t address, bool write)
{
	writeq(write ? EDU_DMA_BUFFER : address, edu->regs + EDU_DMA_SOURCE);
	writeq(write ? address : EDU_DMA_BUFFER, edu->regs + EDU_DMA_TARGET);
	writeq(sizeof(u32), edu->regs + EDU_DMA_COUNT);
	writeq(EDU_DMA_START | (write ? EDU_DMA_FROM_BUFFER : 0),
	       edu->regs + EDU_DMA_COMMAND);
}

static bool importer_page_is_lost(struct importer *imp, struct importer_page *p)
{
	if (p->lost)
		return true;

	if ((p->counted && !page_count(p->page)) ||
	    READ_ONCE(p->page->mapping) != p->mapping) {
		WARN_ONCE(!imp->state.lost_pages,
			  "dma_buf_importer: a page was freed under DMA\n");
		p->lost = true;
		imp->state.lost_pages++;
	}

	return p->lost;
}

static void importer_write_page(struct importer *imp, struct importer_page *p)
{
	u32 *words;

	if (importer_page_is_lost(imp, p))
		return;

	words = kmap_local_page(p->page);
	WRITE_ONCE(words[PAGE_SIZE / sizeof(u32) - 1], (u32)imp->state.accesses);
	kunmap_local(words);
}

/*
 * Bus addresses are written to, as a harness can look for the word where another
 * device is by now; of system memory, which may be anybody's by then, a page at a
 * time is read.
 */
static void importer_access_by_edu(struct importer *imp)
{
	struct importer_page *p;

	if (edu_is_busy(imp->edu))
		return;

	imp->state.accesses++;
	if (imp->state.bus) {
		edu_begin(imp->edu, imp->bus_address, true);
		return;
	}

	p = &imp->pages[imp->next_page];
	imp->next_page = (imp->next_page + 1) % imp->state.pages;
	if (!importer_page_is_lost(imp, p))
		edu_begin(imp->edu, page_to_phys(p->page), false);
}

static void importer_access(struct importer *imp)
{
	u32 i;

	lockdep_assert_held(&imp->engine);

	if (!imp->state.working)
		return;

	if (imp->edu) {
		importer_access_by_edu(imp);
		return;
	}

	/* A read, as what answers may be another device by now */
	if (imp->bus)
		ioread32(imp->bus);
	for (i = 0; i < imp->state.pages; i++)
		importer_write_page(imp, &imp->pages[i]);
	imp->state.accesses++;
}

static int importer_thread(void *data)
{
	struct importer *imp = data;

	while (!kthread_should_stop()) {
		mutex_lock(&imp->engine);
		importer_access(imp);
		mutex_unlock(&imp->engine);
		usleep_range(1000, 1500);
	}

	return 0;
}

static bool importer_is_ram(phys_addr_t address)
{
	return region_intersects(address, PAGE_SIZE, IORESOURCE_SYSTEM_RAM,
				 IORES_DESC_NONE) == REGION_INTERSECTS;
}

/* The device begins to work on a mapping. Without IOMMU an address is physical. */
static int importer_start(struct importer *imp, struct sg_table *sgt)
{
	struct scatterlist *sg;
	phys_addr_t address;
	u32 n = 0;
	int i;

	guard(mutex)(&imp->engine);

	imp->state.pages = 0;
	imp->state.lost_pages = 0;
	address = sg_dma_address(sgt->sgl);
	imp->state.bus = !importer_is_ram(address);
	imp->next_page = 0;
	if (imp->state.bus && imp->edu) {
		imp->bus_address = address;
	} else if (imp->state.bus) {
		imp->bus = ioremap_wc(address, PAGE_SIZE);
		if (!imp->bus)
			return -ENOMEM;
	} else {
		imp->pages = kvcalloc(imp->dmabuf->size >> PAGE_SHIFT,
				      sizeof(*imp->pages), GFP_KERNEL);
		if (!imp->pages)
			return -ENOMEM;
		for_each_sgtable_dma_sg(sgt, sg, i) {
			u32 left = sg_dma_len(sg) >> PAGE_SHIFT;

			address = sg_dma_address(sg);
			for (; left; left--, n++, address += PAGE_SIZE) {
				struct page *page = pfn_to_page(PHYS_PFN(address));

				imp->pages[n].page = page;
				imp->pages[n].mapping = READ_ONCE(page->mapping);
				imp->pages[n].counted = page_count(page);
			}
		}
		imp->state.pages = n;
	}

	imp->state.mapped = 1;
	imp->state.working = 1;
	importer_access(imp);

	return imp->edu ? edu_wait(imp->edu) : 0;
}

static void importer_stop(struct importer *imp)
{
	guard(mutex)(&imp->engine);

	imp->state.working = 0;
	if (imp->edu && edu_wait(imp->edu))
		dev_err(imp->dev, "a transfer does not end\n");
	if (imp->bus)
		iounmap(imp->bus);
	imp->bus = NULL;
	kvfree(imp->pages);
	imp->pages = NULL;
}

static void importer_unmap_locked(struct importer *imp)
{
	dma_resv_assert_held(imp->dmabuf->resv);

	if (imp->sgt) {
		importer_stop(imp);
		dma_buf_unmap_attachment(imp->attach, imp->sgt,
					 DMA_BIDIRECTIONAL);
		imp->sgt = NULL;
		mutex_lock(&imp->engine);
		imp->state.mapped = 0;
		mutex_unlock(&imp->engine);
	}

	if (imp->pinned) {
		dma_buf_unpin(imp->attach);
		imp->pinned = false;
	}
}

static void importer_unmap(struct importer *imp)
{
	dma_resv_lock(imp->dmabuf->resv, NULL);
	importer_unmap_locked(imp);
	dma_resv_unlock(imp->dmabuf->resv);
}

static void importer_late_work(struct work_struct *work)
{
	struct importer *imp = container_of(work, struct importer, late.work);

	importer_unmap(imp);
}

static void importer_invalidate(struct dma_buf_attachment *attach)
{
	struct importer *imp = attach->importer_priv;

	mutex_lock(&imp->engine);
	imp->state.told++;
	mutex_unlock(&imp->engine);

	if (imp->mode != DMA_BUF_IMPORTER_LATE) {
		importer_unmap_locked(imp);
	} else if (imp->sgt) {
		importer_stop(imp);
		schedule_delayed_work(&imp->late, msecs_to_jiffies(LATE_MS));
	}
}

static const struct dma_buf_attach_ops importer_ops = {
	.allow_peer2peer = true,
	.invalidate_mappings = importer_invalidate,
};

static int importer_map_locked(struct importer *imp)
{
	struct sg_table *sgt;
	int r;

	if (imp->sgt)
		return -EBUSY;
	if (imp->gone)
		return -ENODEV;

	if (imp->mode == DMA_BUF_IMPORTER_PINNED) {
		r = dma_buf_pin(imp->attach);
		if (r)
			return r;
		imp->pinned = true;
	}

	sgt = dma_buf_map_attachment(imp->attach, DMA_BIDIRECTIONAL);
	if (IS_ERR(sgt)) {
		r = PTR_ERR(sgt);
		goto unpin;
	}

	/* What the exporter moves is there when it has been moved */
	dma_resv_wait_timeout(imp->dmabuf->resv, DMA_RESV_USAGE_KERNEL, false,
			      MAX_SCHEDULE_TIMEOUT);
	imp->sgt = sgt;
	r = importer_start(imp, sgt);
	if (r)
		importer_unmap_locked(imp);

	return r;

unpin:
	if (imp->pinned)
		dma_buf_unpin(imp->attach);
	imp->pinned = false;
	return r;
}

static struct pci_driver edu_driver;

/* The edu makes the accesses, if the buffer is imported in its name */
static int importer_take_edu(struct importer *imp)
{
	struct edu *edu;

	guard(device)(imp->dev);

	if (imp->dev->driver != &edu_driver.driver)
		return 0;

	edu = dev_get_drvdata(imp->dev);
	if (edu->user)
		return -EBUSY;
	edu->user = imp;
	imp->edu = edu;

	return 0;
}

static void importer_leave_edu(struct importer *imp)
{
	guard(device)(imp->dev);

	importer_unmap(imp);
	if (imp->edu)
		imp->edu->user = NULL;
	imp->edu = NULL;
}

static int edu_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct edu *edu;
	dma_addr_t address;
	u32 *word;
	int r;

	edu = devm_kzalloc(&pdev->dev, sizeof(*edu), GFP_KERNEL);
	if (!edu)
		return -ENOMEM;

	r = pcim_enable_device(pdev);
	if (r)
		return r;
	edu->regs = pcim_iomap_region(pdev, 0, "edu");
	if (IS_ERR(edu->regs))
		return PTR_ERR(edu->regs);
	r = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (r)
		return r;
	word = dmam_alloc_coherent(&pdev->dev, sizeof(*word), &address,
				   GFP_KERNEL);
	if (!word)
		return -ENOMEM;

	/* Its buffer is written by nobody else */
	pci_set_master(pdev);
	*word = DMA_BUF_IMPORTER_EDU_WORD;
	edu_begin(edu, address, false);
	r = edu_wait(edu);
	if (r)
		return r;

	pci_set_drvdata(pdev, edu);

	return 0;
}

static void edu_remove(struct pci_dev *pdev)
{
	struct edu *edu = pci_get_drvdata(pdev);
	struct importer *imp = edu->user;

	if (!imp)
		return;

	dma_resv_lock(imp->dmabuf->resv, NULL);
	importer_unmap_locked(imp);
	imp->gone = true;
	imp->edu = NULL;
	dma_resv_unlock(imp->dmabuf->resv);
}

static const struct pci_device_id edu_ids[] = {
	{ PCI_DEVICE(0x1234, 0x11e8) },
	{}
};

static struct pci_driver edu_driver = {
	.name = "dma_buf_importer",
	.id_table = edu_ids,
	.probe = edu_probe,
	.remove = edu_remove,
};

static int importer_attach(struct importer *imp,
			   struct dma_buf_importer_attach __user *user)
{
	struct dma_buf_importer_attach args;
	struct dma_buf *dmabuf;
	struct device *dev;
	int r;

	if (imp->dmabuf)
		return -EBUSY;
	if (copy_from_user(&args, user, sizeof(args)))
		return -EFAULT;
	if (args.mode > DMA_BUF_IMPORTER_STATIC ||
	    strnlen(args.device, sizeof(args.device)) == sizeof(args.device))
		return -EINVAL;

	dmabuf = dma_buf_get(args.fd);
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);

	dev = bus_find_device_by_name(&pci_bus_type, NULL, args.device);
	if (!dev) {
		r = -ENXIO;
		goto put_dmabuf;
	}

	/* Addresses are physical: the CPU's accesses, and those of its checks */
	if (device_iommu_mapped(dev)) {
		r = -EOPNOTSUPP;
		goto put_dev;
	}

	/* A bridge, which makes no DMA of its own, has the default of 32 bits */
	r = dma_set_mask_and_coherent(dev, DMA_BIT_MASK(64));
	if (r)
		goto put_dev;

	imp->mode = args.mode;
	imp->dev = dev;
	imp->dmabuf = dmabuf;
	/* A word at a time is accessed, so that segments may be of any length */
	dma_set_max_seg_size(dev, UINT_MAX);
	if (imp->mode == DMA_BUF_IMPORTER_STATIC)
		imp->attach = dma_buf_attach(dmabuf, dev);
	else
		imp->attach = dma_buf_dynamic_attach(dmabuf, dev, &importer_ops,
						     imp);
	if (IS_ERR(imp->attach)) {
		r = PTR_ERR(imp->attach);
		goto forget;
	}

	r = importer_take_edu(imp);
	if (r)
		goto detach;

	return 0;

detach:
	dma_buf_detach(dmabuf, imp->attach);
forget:
	imp->dmabuf = NULL;
put_dev:
	put_device(dev);
put_dmabuf:
	dma_buf_put(dmabuf);
	return r;
}

static long importer_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct importer *imp = file->private_data;
	void __user *user = (void __user *)arg;
	struct dma_buf_importer_state state;
	long r = 0;

	guard(mutex)(&imp->ioctl);

	if (cmd == DMA_BUF_IMPORTER_ATTACH)
		return importer_attach(imp, user);
	if (!imp->dmabuf)
		return -EINVAL;

	switch (cmd) {
	case DMA_BUF_IMPORTER_MAP:
		dma_resv_lock(imp->dmabuf->resv, NULL);
		r = importer_map_locked(imp);
		dma_resv_unlock(imp->dmabuf->resv);
		return r;
	case DMA_BUF_IMPORTER_UNMAP:
		importer_unmap(imp);
		return 0;
	case DMA_BUF_IMPORTER_STATE:
		mutex_lock(&imp->engine);
		state = imp->state;
		mutex_unlock(&imp->engine);
		return copy_to_user(user, &state, sizeof(state)) ? -EFAULT : 0;
	default:
		return -ENOTTY;
	}
}

static int importer_open(struct inode *inode, struct file *file)
{
	struct importer *imp = kzalloc(sizeof(*imp), GFP_KERNEL);

	if (!imp)
		return -ENOMEM;

	mutex_init(&imp->ioctl);
	mutex_init(&imp->engine);
	INIT_DELAYED_WORK(&imp->late, importer_late_work);
	imp->thread = kthread_run(importer_thread, imp, "dma_buf_importer");
	if (IS_ERR(imp->thread)) {
		long r = PTR_ERR(imp->thread);

		kfree(imp);
		return r;
	}
	file->private_data = imp;

	return 0;
}

static int importer_release(struct inode *inode, struct file *file)
{
	struct importer *imp = file->private_data;

	if (imp->dmabuf) {
		importer_leave_edu(imp);
		/* Nobody tells it anything after that */
		dma_buf_detach(imp->dmabuf, imp->attach);
		cancel_delayed_work_sync(&imp->late);
		dma_buf_put(imp->dmabuf);
		put_device(imp->dev);
	}
	kthread_stop(imp->thread);
	kfree(imp);

	return 0;
}

static const struct file_operations importer_fops = {
	.owner = THIS_MODULE,
	.open = importer_open,
	.release = importer_release,
	.unlocked_ioctl = importer_ioctl,
};

static struct miscdevice importer_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "dma_buf_importer",
	.fops = &importer_fops,
};

static int __init importer_init(void)
{
	int r;

	r = pci_register_driver(&edu_driver);
	if (r)
		return r;
	r = misc_register(&importer_misc);
	if (r)
		pci_unregister_driver(&edu_driver);

	return r;
}
module_init(importer_init);

static void __exit importer_exit(void)
{
	misc_deregister(&importer_misc);
	pci_unregister_driver(&edu_driver);
}
module_exit(importer_exit);

MODULE_IMPORT_NS("DMA_BUF");
MODULE_DESCRIPTION("imports dma-bufs as a device would that works on them");
MODULE_LICENSE("GPL");
