// SPDX-License-Identifier: GPL-2.0
/*
 * What user space sees when a GPU leaves while it is in use, and when it comes
 * back. The GPU is named by its PCI address in the environment:
 *
 *	AMDGPU_HOTPLUG_PCI=0000:03:00.0 ./amdgpu_hotplug
 *
 * Without it all tests are skipped: no GPU is removed that nobody pointed at.
 * Nothing else may use that GPU; a display on it goes dark.
 *
 * See Documentation/gpu/amdgpu/hotplug.rst for what is expected here.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <drm/amdgpu_drm.h>
#include <drm/drm.h>
#include <linux/sync_file.h>

#include "kselftest_harness.h"

#define DRIVER		"/sys/bus/pci/drivers/amdgpu"
#define DEVICES		"/sys/bus/pci/devices"
#define BO_SIZE		4096ULL
#define IB_VA		0x100000000ULL

/*
 * Not what the driver promises, which is less, but what a kernel with all its
 * debug options may need: who takes longer waits for something that never comes.
 */
#define LEAVE_MS	10000
#define SIGNAL_MS	2000
#define RETURN_MS	60000

#define PKT3(op, n)	(3u << 30 | ((n) & 0x3fff) << 16 | (op) << 8)
#define PKT3_NOP	0x10
#define PKT3_WAIT_REG_MEM	0x3c
#define WAIT_MEMORY_EQUAL	0x13

#define PTR(p)		((uintptr_t)(p))

enum how {
	HOW_REMOVE,	/* the device, through sysfs */
	HOW_UNBIND,	/* the driver from the device */
	HOW_LOST,	/* fault injection: the driver takes it for lost */
};

/* A GPU in use: what a client holds of it. */
struct client {
	int fd;
	__u32 ctx;
	__u32 bo;
	__u32 *map;
	int dmabuf;
};

static long long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);

	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static bool bound(const char *pci)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), DRIVER "/%s", pci);

	return !access(path, F_OK);
}

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);

	return err;
}

/* The number of the GPU's minor of this type ("card" or "renderD"), or -errno. */
static int drm_minor(const char *pci, const char *type)
{
	char path[PATH_MAX];
	struct dirent *entry;
	int minor = -ENODEV;
	DIR *dir;

	snprintf(path, sizeof(path), DEVICES "/%s/drm", pci);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (minor < 0 && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, type, strlen(type)))
			minor = atoi(entry->d_name + strlen(type));
	closedir(dir);

	return minor;
}

static int open_render(const char *pci)
{
	int minor = drm_minor(pci, "renderD");
	char path[64];
	int fd;

	if (minor < 0)
		return minor;
	snprintf(path, sizeof(path), "/dev/dri/renderD%d", minor);
	fd = open(path, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/*
 * Wait until the render node can be opened: devtmpfs and udev may be late.
 * There is nothing to wait on that works with and without udev.
 */
static int open_render_wait(const char *pci)
{
	long long end = now_ms() + RETURN_MS;
	int fd;

	while ((fd = open_render(pci)) < 0 && now_ms() < end)
		usleep(10000);

	return fd;
}

static int inject_path(const char *pci, char *path, size_t size)
{
	int minor = drm_minor(pci, "card");

	if (minor < 0)
		minor = drm_minor(pci, "renderD");
	if (minor < 0)
		return minor;
	snprintf(path, size, "/sys/kernel/debug/dri/%d/amdgpu_hotplug", minor);

	return access(path, W_OK) ? -errno : 0;
}

static int leave(const char *pci, enum how how)
{
	char path[PATH_MAX];
	int err;

	switch (how) {
	case HOW_REMOVE:
		snprintf(path, sizeof(path), DEVICES "/%s/remove", pci);
		return write_file(path, "1");
	case HOW_UNBIND:
		return write_file(DRIVER "/unbind", pci);
	case HOW_LOST:
		err = inject_path(pci, path, sizeof(path));
		return err ?: write_file(path, "lost");
	}

	return -EINVAL;
}

/* Whatever was done to the GPU, make the driver use it again. */
static int come_back(const char *pci, bool lost)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), DEVICES "/%s/remove", pci);
	if (lost && !access(path, F_OK))
		write_file(path, "1");
	if (access(path, F_OK))
		write_file("/sys/bus/pci/rescan", "1");
	if (!bound(pci))
		write_file(DRIVER "/bind", pci);

	return bound(pci) ? 0 : -ENODEV;
}

static int create_bo(struct client *c)
{
	union drm_amdgpu_gem_create create = {};
	union drm_amdgpu_gem_mmap map = {};
	struct drm_amdgpu_gem_va va = {};
	struct drm_prime_handle prime = {};

	create.in.bo_size = BO_SIZE;
	create.in.alignment = BO_SIZE;
	create.in.domains = AMDGPU_GEM_DOMAIN_GTT;
	if (ioctl(c->fd, DRM_IOCTL_AMDGPU_GEM_CREATE, &create))
		return -errno;
	c->bo = create.out.handle;

	map.in.handle = c->bo;
	if (ioctl(c->fd, DRM_IOCTL_AMDGPU_GEM_MMAP, &map))
		return -errno;
	c->map = mmap(NULL, BO_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd,
		      map.out.addr_ptr);
	if (c->map == MAP_FAILED)
		return -errno;

	va.handle = c->bo;
	va.operation = AMDGPU_VA_OP_MAP;
	va.flags = AMDGPU_VM_PAGE_READABLE | AMDGPU_VM_PAGE_WRITEABLE |
		   AMDGPU_VM_PAGE_EXECUTABLE;
	va.va_address = IB_VA;
	va.map_size = BO_SIZE;
	if (ioctl(c->fd, DRM_IOCTL_AMDGPU_GEM_VA, &va))
		return -errno;

	prime.handle = c->bo;
	prime.flags = DRM_CLOEXEC | DRM_RDWR;
	if (ioctl(c->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime))
		return -errno;
	c->dmabuf = prime.fd;

	return 0;
}

static int client_open(struct client *c, const char *pci)
{
	union drm_amdgpu_ctx ctx = {};

	memset(c, 0, sizeof(*c));
	c->dmabuf = -1;
	c->fd = open_render_wait(pci);
	if (c->fd < 0)
		return c->fd;

	ctx.in.op = AMDGPU_CTX_OP_ALLOC_CTX;
	if (ioctl(c->fd, DRM_IOCTL_AMDGPU_CTX, &ctx))
		return -errno;
	c->ctx = ctx.out.alloc.ctx_id;

	return create_bo(c);
}

static void client_close(struct client *c)
{
	if (c->map && c->map != MAP_FAILED)
		munmap(c->map, BO_SIZE);
	if (c->dmabuf >= 0)
		close(c->dmabuf);
	if (c->fd >= 0)
		close(c->fd);
}

/*
 * Submit the commands in the client's buffer to the first compute ring. The
 * fence comes back as a sync_file, and in @syncobj unless that is 0.
 */
static int submit(struct client *c, unsigned int dwords, __u32 syncobj)
{
	struct drm_amdgpu_bo_list_entry entry = { .bo_handle = c->bo };
	struct drm_amdgpu_bo_list_in list = {
		.operation = ~0u,
		.list_handle = ~0u,
		.bo_number = 1,
		.bo_info_size = sizeof(entry),
		.bo_info_ptr = PTR(&entry),
	};
	struct drm_amdgpu_cs_chunk_ib ib = {
		.va_start = IB_VA,
		.ib_bytes = dwords * 4,
		.ip_type = AMDGPU_HW_IP_COMPUTE,
	};
	struct drm_amdgpu_cs_chunk_sem sem = { .handle = syncobj };
	struct drm_amdgpu_cs_chunk chunks[] = {
		{ AMDGPU_CHUNK_ID_IB, sizeof(ib) / 4, PTR(&ib) },
		{ AMDGPU_CHUNK_ID_BO_HANDLES, sizeof(list) / 4, PTR(&list) },
		{ AMDGPU_CHUNK_ID_SYNCOBJ_OUT, sizeof(sem) / 4, PTR(&sem) },
	};
	__u64 pointers[] = { PTR(&chunks[0]), PTR(&chunks[1]), PTR(&chunks[2]) };
	union drm_amdgpu_fence_to_handle handle = {};
	union drm_amdgpu_cs cs = {};

	cs.in.ctx_id = c->ctx;
	cs.in.num_chunks = syncobj ? 3 : 2;
	cs.in.chunks = PTR(pointers);
	if (ioctl(c->fd, DRM_IOCTL_AMDGPU_CS, &cs))
		return -errno;

	handle.in.fence.ctx_id = c->ctx;
	handle.in.fence.ip_type = AMDGPU_HW_IP_COMPUTE;
	handle.in.fence.seq_no = cs.out.handle;
	handle.in.what = AMDGPU_FENCE_TO_HANDLE_GET_SYNC_FILE_FD;
	if (ioctl(c->fd, DRM_IOCTL_AMDGPU_FENCE_TO_HANDLE, &handle))
		return -errno;

	return handle.out.handle;
}

/* A job that does nothing. */
static int submit_nop(struct client *c)
{
	unsigned int i;

	for (i = 0; i < 16; i++)
		c->map[i] = PKT3(PKT3_NOP, 0x3fff);

	return submit(c, 16, 0);
}

/* A job that waits for a value that nobody writes. */
static int submit_endless(struct client *c, __u32 syncobj)
{
	const __u64 flag = IB_VA + BO_SIZE / 2;
	unsigned int i = 0;

	c->map[BO_SIZE / 2 / 4] = 0;
	c->map[i++] = PKT3(PKT3_WAIT_REG_MEM, 5);
	c->map[i++] = WAIT_MEMORY_EQUAL;
	c->map[i++] = (__u32)flag;
	c->map[i++] = flag >> 32;
	c->map[i++] = 1;
	c->map[i++] = ~0u;
	c->map[i++] = 4;
	while (i < 16)
		c->map[i++] = PKT3(PKT3_NOP, 0x3fff);

	return submit(c, i, syncobj);
}

/* 1: signalled, 0: not within @ms, < 0: signalled with that error. */
static int fence_status(int fence, int ms)
{
	struct pollfd pfd = { .fd = fence, .events = POLLIN };
	struct sync_file_info info = {};

	if (poll(&pfd, 1, ms) < 0 || ioctl(fence, SYNC_IOC_FILE_INFO, &info))
		return -errno;

	return info.status;
}

static int works(const char *pci)
{
	struct client c;
	int fence, err;

	err = client_open(&c, pci);
	if (err)
		goto out;
	fence = submit_nop(&c);
	if (fence < 0) {
		err = fence;
		goto out;
	}
	err = fence_status(fence, RETURN_MS);
	close(fence);
	err = err == 1 ? 0 : err ?: -ETIME;
out:
	client_close(&c);

	return err;
}

/* Another GPU of this driver, if there is one. */
static bool find_other(const char *pci, char *other, size_t size)
{
	unsigned int domain, bus, slot, function;
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	dir = opendir(DRIVER);
	if (!dir)
		return false;
	while (!found && (entry = readdir(dir))) {
		if (sscanf(entry->d_name, "%x:%x:%x.%u", &domain, &bus, &slot,
			   &function) != 4 || !strcmp(entry->d_name, pci))
			continue;
		snprintf(other, size, "%s", entry->d_name);
		found = true;
	}
	closedir(dir);

	return found;
}

FIXTURE(hotplug)
{
	const char *pci;
	struct client client;
};

FIXTURE_VARIANT(hotplug)
{
	enum how how;
};

FIXTURE_VARIANT_ADD(hotplug, remove)
{
	.how = HOW_REMOVE,
};

FIXTURE_VARIANT_ADD(hotplug, unbind)
{
	.how = HOW_UNBIND,
};

FIXTURE_VARIANT_ADD(hotplug, lost)
{
	.how = HOW_LOST,
};

FIXTURE_SETUP(hotplug)
{
	char path[PATH_MAX];

	self->client.fd = -1;
	self->client.dmabuf = -1;
	self->pci = getenv("AMDGPU_HOTPLUG_PCI");
	if (!self->pci || !*self->pci)
		SKIP(return, "AMDGPU_HOTPLUG_PCI does not name the GPU to remove");
	if (geteuid())
		SKIP(return, "only root may remove a GPU");
	if (!bound(self->pci))
		SKIP(return, "amdgpu has no GPU at %s", self->pci);
	if (variant->how == HOW_LOST && inject_path(self->pci, path, sizeof(path)))
		SKIP(return, "no fault injection in this kernel");

	ASSERT_EQ(0, client_open(&self->client, self->pci));
}

/* In the parent, so that a GPU whose client was killed comes back, too. */
FIXTURE_TEARDOWN_PARENT(hotplug)
{
	if (self->pci && !geteuid())
		come_back(self->pci, variant->how == HOW_LOST);
}

#define LEAVE()								\
do {									\
	long long start_ms = now_ms();					\
									\
	ASSERT_EQ(0, leave(self->pci, variant->how));			\
	EXPECT_GE(LEAVE_MS, now_ms() - start_ms);			\
} while (0)

#define COME_BACK()							\
	ASSERT_EQ(0, come_back(self->pci, variant->how == HOW_LOST))

/* Each ioctl that a render client may use names the GPU by its file. */
#define IOCTL(name)	{ DRM_IOCTL_##name, #name }
static const struct {
	unsigned long request;
	const char *name;
} ioctls[] = {
	IOCTL(VERSION), IOCTL(GET_CAP), IOCTL(GEM_CLOSE),
	IOCTL(PRIME_HANDLE_TO_FD), IOCTL(PRIME_FD_TO_HANDLE),
	IOCTL(SYNCOBJ_CREATE), IOCTL(SYNCOBJ_DESTROY),
	IOCTL(SYNCOBJ_HANDLE_TO_FD), IOCTL(SYNCOBJ_FD_TO_HANDLE),
	IOCTL(SYNCOBJ_WAIT), IOCTL(SYNCOBJ_RESET), IOCTL(SYNCOBJ_SIGNAL),
	IOCTL(SYNCOBJ_TIMELINE_WAIT), IOCTL(SYNCOBJ_QUERY),
	IOCTL(SYNCOBJ_TRANSFER), IOCTL(SYNCOBJ_TIMELINE_SIGNAL),
	IOCTL(AMDGPU_GEM_CREATE), IOCTL(AMDGPU_GEM_MMAP),
	IOCTL(AMDGPU_CTX), IOCTL(AMDGPU_BO_LIST), IOCTL(AMDGPU_CS),
	IOCTL(AMDGPU_INFO), IOCTL(AMDGPU_GEM_METADATA),
	IOCTL(AMDGPU_GEM_WAIT_IDLE), IOCTL(AMDGPU_GEM_VA),
	IOCTL(AMDGPU_WAIT_CS), IOCTL(AMDGPU_GEM_OP),
	IOCTL(AMDGPU_GEM_USERPTR), IOCTL(AMDGPU_WAIT_FENCES),
	IOCTL(AMDGPU_VM), IOCTL(AMDGPU_FENCE_TO_HANDLE),
};

TEST_F_TIMEOUT(hotplug, ioctls_fail, 180)
{
	__u64 argument[64];
	unsigned int i;

	LEAVE();
	for (i = 0; i < ARRAY_SIZE(ioctls); i++) {
		memset(argument, 0, sizeof(argument));
		errno = 0;
		EXPECT_EQ(-1, ioctl(self->client.fd, ioctls[i].request, argument));
		EXPECT_EQ(ENODEV, errno) {
			TH_LOG("%s: %s", ioctls[i].name, strerror(errno));
		}
	}
}

TEST_F_TIMEOUT(hotplug, fences_signal, 180)
{
	struct drm_syncobj_create create = {};
	struct drm_syncobj_handle handle = {};
	int fence, status;

	ASSERT_EQ(0, ioctl(self->client.fd, DRM_IOCTL_SYNCOBJ_CREATE, &create));
	fence = submit_endless(&self->client, create.handle);
	ASSERT_LE(0, fence);
	handle.handle = create.handle;
	handle.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE;
	handle.fd = -1;
	ASSERT_EQ(0, ioctl(self->client.fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &handle));
	/* It is what it is for only if it does not end by itself. */
	ASSERT_EQ(0, fence_status(fence, 100));

	LEAVE();
	status = fence_status(fence, SIGNAL_MS);
	EXPECT_EQ(-ENODEV, status);
	status = fence_status(handle.fd, SIGNAL_MS);
	EXPECT_EQ(-ENODEV, status);
}

/* Really write and read memory; a signal ends the test, and is its result. */
static __u32 touch(__u32 *word, __u32 value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);

	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

TEST_F_TIMEOUT(hotplug, mappings_stay, 180)
{
	__u32 *bo = self->client.map;
	__u32 *untouched, *dmabuf;

	untouched = mmap(NULL, BO_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
			 self->client.dmabuf, 0);
	ASSERT_NE(MAP_FAILED, (void *)untouched);
	dmabuf = mmap(NULL, BO_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
		      self->client.dmabuf, 0);
	ASSERT_NE(MAP_FAILED, (void *)dmabuf);
	EXPECT_EQ(1u, touch(bo, 1));
	EXPECT_EQ(2u, touch(dmabuf, 2));

	LEAVE();
	EXPECT_EQ(3u, touch(bo, 3));
	EXPECT_EQ(4u, touch(dmabuf, 4));
	EXPECT_EQ(5u, touch(untouched, 5));
}

TEST_F_TIMEOUT(hotplug, late_close, 180)
{
	union drm_amdgpu_ctx ctx = {};

	LEAVE();
	/* The old file stays open over the return of the GPU, and all it holds. */
	COME_BACK();
	EXPECT_EQ(0, works(self->pci));
	EXPECT_EQ(-1, ioctl(self->client.fd, DRM_IOCTL_AMDGPU_CTX, &ctx));
	EXPECT_EQ(ENODEV, errno);

	client_close(&self->client);
	EXPECT_EQ(0, works(self->pci));
}

TEST_F_TIMEOUT(hotplug, kfd_opens, 180)
{
	int before, fd;

	if (access("/dev/kfd", F_OK))
		SKIP(return, "no /dev/kfd");
	before = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, before);

	LEAVE();
	fd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	EXPECT_LE(0, fd);
	close(fd);

	COME_BACK();
	fd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	EXPECT_LE(0, fd);
	close(fd);
	close(before);
}

TEST_F_TIMEOUT(hotplug, other_gpu, 180)
{
	struct client bystander;
	char other[NAME_MAX + 1];
	int fence;

	if (!find_other(self->pci, other, sizeof(other)))
		SKIP(return, "there is no other GPU");
	ASSERT_EQ(0, client_open(&bystander, other));

	LEAVE();
	fence = submit_nop(&bystander);
	ASSERT_LE(0, fence);
	EXPECT_EQ(1, fence_status(fence, RETURN_MS));
	close(fence);

	COME_BACK();
	fence = submit_nop(&bystander);
	ASSERT_LE(0, fence);
	EXPECT_EQ(1, fence_status(fence, RETURN_MS));
	close(fence);
	client_close(&bystander);
}

TEST_HARNESS_MAIN
