/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _DMA_BUF_IMPORTER_H
#define _DMA_BUF_IMPORTER_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* How /dev/dma_buf_importer imports a buffer */
enum dma_buf_importer_mode {
	/* Can be told to stop, and may map the buffer again */
	DMA_BUF_IMPORTER_DYNAMIC,
	/* As above; gives the mapping back some time after it has stopped */
	DMA_BUF_IMPORTER_LATE,
	/* Pins the buffer; can be told to stop, for good */
	DMA_BUF_IMPORTER_PINNED,
	/* Can't be told anything */
	DMA_BUF_IMPORTER_STATIC,
};

/* What QEMU's edu writes to bus addresses, if the buffer is imported in its name */
#define DMA_BUF_IMPORTER_EDU_WORD	0xed0ed0ed

struct dma_buf_importer_attach {
	__s32 fd;
	__u32 mode;
	/* PCI address of the device in whose name the buffer is imported */
	char device[16];
};

struct dma_buf_importer_state {
	/* Whether the device has a mapping, and works on it */
	__u32 mapped;
	__u32 working;
	/* How often it was told to stop */
	__u32 told;
	/* Pages of system memory in the latest mapping, and those of them that
	 * ceased to be the buffer's while they were mapped
	 */
	__u32 pages;
	__u32 lost_pages;
	/* Whether the latest mapping was of bus addresses */
	__u32 bus;
	/* How often the device has accessed the buffer */
	__u64 accesses;
};

#define DMA_BUF_IMPORTER_ATTACH	_IOW('I', 0, struct dma_buf_importer_attach)
#define DMA_BUF_IMPORTER_MAP	_IO('I', 1)
#define DMA_BUF_IMPORTER_UNMAP	_IO('I', 2)
#define DMA_BUF_IMPORTER_STATE	_IOR('I', 3, struct dma_buf_importer_state)

#endif
