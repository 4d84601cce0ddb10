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
#include <glob.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <drm/amdgpu_drm.h>
#include <drm/drm.h>
#include <linux/dma-buf.h>
#include <linux/kfd_ioctl.h>
#include <linux/netlink.h>
#include <linux/sync_file.h>

#include "kselftest_harness.h"

#define DRIVER		"/sys/bus/pci/drivers/amdgpu"
#define DEVICES		"/sys/bus/pci/devices"
#define KFD_NODES	"/sys/class/kfd/kfd/topology/nodes"
#define SW_SYNC		"/sys/kernel/debug/sync/sw_sync"
#define BO_SIZE		4096ULL
#define IB_VA		0x100000000ULL
#define PATTERN		0x600d600du

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

/* A timeline whose fences user space signals, see drivers/dma-buf/sw_sync.c */
struct sw_sync_create_fence_data {
	__u32 value;
	char name[32];
	__s32 fence;
};

#define SW_SYNC_IOC_CREATE_FENCE	_IOWR('W', 0, struct sw_sync_create_fence_data)
#define SW_SYNC_IOC_INC			_IOW('W', 1, __u32)

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
	/* Of the job that was submitted last */
	__u64 job;
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

/* The GPU's device node of this type */
static int node_path(const char *pci, const char *type, char *path, size_t size)
{
	int minor = drm_minor(pci, type);

	if (minor < 0)
		return minor;
	snprintf(path, size, "/dev/dri/%s%d", type, minor);

	return 0;
}

static int open_node(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int open_render(const char *pci)
{
	char path[64];
	int err = node_path(pci, "renderD", path, sizeof(path));

	return err ?: open_node(path);
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

/* What the kernel tells of devices, from now on */
static int open_uevents(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);

	int err;

	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&address, sizeof(address))) {
		err = -errno;
		close(fd);
		return err;
	}

	return fd;
}

/* The value of a variable of a uevent, or "" */
static const char *uevent_value(const char *text, const char *end, const char *key)
{
	size_t length = strlen(key);

	for (; text < end; text += strlen(text) + 1) {
		if (!strncmp(text, key, length) && text[length] == '=')
			return text + length + 1;
	}

	return "";
}

/* Does this uevent of the GPU's DRM devices tell that it has left? */
static bool tells_of_leaving(const char *text, const char *end, const char *pci,
			     enum how how)
{
	if (strcmp(uevent_value(text, end, "SUBSYSTEM"), "drm") ||
	    !strstr(uevent_value(text, end, "DEVPATH"), pci))
		return false;
	if (how == HOW_LOST)
		return !strcmp(uevent_value(text, end, "ACTION"), "change") &&
		       !strcmp(uevent_value(text, end, "WEDGED"), "bus-reset");

	return !strcmp(uevent_value(text, end, "ACTION"), "remove");
}

/* Wait for the uevent that tells that the GPU has left: 0 or -errno. */
static int wait_told(int uevents, const char *pci, enum how how)
{
	struct pollfd pfd = { .fd = uevents, .events = POLLIN };
	long long end = now_ms() + LEAVE_MS;
	char text[8192];
	ssize_t size;

	do {
		if (poll(&pfd, 1, LEAVE_MS) < 0)
			return -errno;
		if (!pfd.revents)
			return -ETIME;
		size = recv(uevents, text, sizeof(text) - 1, 0);
		if (size < 0)
			return -errno;
		text[size] = 0;
		if (tells_of_leaving(text, text + size, pci, how))
			return 0;
	} while (now_ms() < end);

	return -ETIME;
}

/* A number from a file of a node of KFD's topology, or from its lines */
static unsigned long long kfd_number(const char *node, const char *file,
				     const char *key)
{
	char path[PATH_MAX], name[64] = "";
	unsigned long long value = 0;
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), KFD_NODES "/%s/%s", node, file);
	f = fopen(path, "r");
	if (!f)
		return 0;
	if (!key)
		found = fscanf(f, "%llu", &value) == 1;
	while (key && !found && fscanf(f, "%63s %llu", name, &value) == 2)
		found = !strcmp(name, key);
	fclose(f);

	return found ? value : 0;
}

/* KFD's id of the GPU, or 0 */
static __u32 kfd_gpu_id(const char *pci)
{
	int minor = drm_minor(pci, "renderD");
	struct dirent *entry;
	__u32 id = 0;
	DIR *nodes;

	nodes = minor < 0 ? NULL : opendir(KFD_NODES);
	if (!nodes)
		return 0;
	while (!id && (entry = readdir(nodes))) {
		if (kfd_number(entry->d_name, "properties", "drm_render_minor") ==
		    (unsigned int)minor)
			id = kfd_number(entry->d_name, "gpu_id", NULL);
	}
	closedir(nodes);

	return id;
}

/* What changes with each change of the topology */
static unsigned long long kfd_generation(void)
{
	return kfd_number("..", "generation_id", NULL);
}

/* Has a node as many links of this kind as it says, all of them from it to others? */
static bool kfd_links_right(const char *node, const char *kind, const char *count)
{
	unsigned long long number = strtoull(node, NULL, 10), to;
	char path[PATH_MAX], file[64];
	unsigned int i;

	for (i = 0;; i++) {
		snprintf(file, sizeof(file), "%s/%u/properties", kind, i);
		snprintf(path, sizeof(path), KFD_NODES "/%s/%s", node, file);
		if (access(path, F_OK))
			return i == kfd_number(node, "properties", count);

		to = kfd_number(node, file, "node_to");
		snprintf(path, sizeof(path), KFD_NODES "/%llu", to);
		if (access(path, F_OK) || to == number ||
		    kfd_number(node, file, "node_from") != number)
			return false;
	}
}

static bool kfd_topology_right(void)
{
	struct dirent *entry;
	bool right = true;
	DIR *nodes;

	nodes = opendir(KFD_NODES);
	if (!nodes)
		return false;
	while (right && (entry = readdir(nodes))) {
		if (entry->d_name[0] == '.')
			continue;
		right = kfd_links_right(entry->d_name, "io_links", "io_links_count") &&
			kfd_links_right(entry->d_name, "p2p_links", "p2p_links_count");
	}
	closedir(nodes);

	return right;
}

/* Set or ask for one attribute of a page of managed memory: 0 or -errno */
static int kfd_svm(int kfd, void *page, __u32 op, __u32 type, __u32 value)
{
	struct {
		struct kfd_ioctl_svm_args args;
		struct kfd_ioctl_svm_attribute attribute;
	} svm = {
		.args = {
			.start_addr = PTR(page),
			.size = BO_SIZE,
			.op = op,
			.nattr = 1,
		},
		.attribute = { .type = type, .value = value },
	};
	/* The size that the request tells is that without attributes */
	unsigned long request = AMDKFD_IOC_SVM +
		(sizeof(svm.attribute) << _IOC_SIZESHIFT);

	return ioctl(kfd, request, &svm) ? -errno : 0;
}

static int create_bo(struct client *c, __u64 domain)
{
	union drm_amdgpu_gem_create create = {};
	union drm_amdgpu_gem_mmap map = {};
	struct drm_amdgpu_gem_va va = {};
	struct drm_prime_handle prime = {};

	create.in.bo_size = BO_SIZE;
	create.in.alignment = BO_SIZE;
	create.in.domains = domain;
	create.in.domain_flags = AMDGPU_GEM_CREATE_CPU_ACCESS_REQUIRED;
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

static int client_open(struct client *c, const char *pci, __u64 domain)
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

	return create_bo(c, domain);
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
 * Submit the commands in the client's buffer to the first compute ring. They wait
 * for the fence in @in. Theirs comes back as a sync_file, and in @out. Either
 * syncobj may be 0.
 */
static int submit(struct client *c, unsigned int dwords, __u32 in, __u32 out)
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
	struct drm_amdgpu_cs_chunk_sem sem_in = { .handle = in };
	struct drm_amdgpu_cs_chunk_sem sem_out = { .handle = out };
	struct drm_amdgpu_cs_chunk chunks[] = {
		{ AMDGPU_CHUNK_ID_IB, sizeof(ib) / 4, PTR(&ib) },
		{ AMDGPU_CHUNK_ID_BO_HANDLES, sizeof(list) / 4, PTR(&list) },
		{ AMDGPU_CHUNK_ID_SYNCOBJ_IN, sizeof(sem_in) / 4, PTR(&sem_in) },
		{ AMDGPU_CHUNK_ID_SYNCOBJ_OUT, sizeof(sem_out) / 4, PTR(&sem_out) },
	};
	__u64 pointers[4] = { PTR(&chunks[0]), PTR(&chunks[1]) };
	union drm_amdgpu_fence_to_handle handle = {};
	union drm_amdgpu_cs cs = {};
	unsigned int n = 2;

	if (in)
		pointers[n++] = PTR(&chunks[2]);
	if (out)
		pointers[n++] = PTR(&chunks[3]);
	cs.in.ctx_id = c->ctx;
	cs.in.num_chunks = n;
	cs.in.chunks = PTR(pointers);
	if (ioctl(c->fd, DRM_IOCTL_AMDGPU_CS, &cs))
		return -errno;
	c->job = cs.out.handle;

	handle.in.fence.ctx_id = c->ctx;
	handle.in.fence.ip_type = AMDGPU_HW_IP_COMPUTE;
	handle.in.fence.seq_no = cs.out.handle;
	handle.in.what = AMDGPU_FENCE_TO_HANDLE_GET_SYNC_FILE_FD;
	if (ioctl(c->fd, DRM_IOCTL_AMDGPU_FENCE_TO_HANDLE, &handle))
		return -errno;

	return handle.out.handle;
}

/* A job that does nothing, when the fence in @in, if any, has signalled. */
static int submit_nop(struct client *c, __u32 in)
{
	unsigned int i;

	for (i = 0; i < 16; i++)
		c->map[i] = PKT3(PKT3_NOP, 0x3fff);

	return submit(c, 16, in, 0);
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

	return submit(c, i, 0, syncobj);
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

	err = client_open(&c, pci, AMDGPU_GEM_DOMAIN_GTT);
	if (err)
		goto out;
	fence = submit_nop(&c, 0);
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

/* A thread in an ioctl that waits for a fence */
struct waiter {
	pthread_t thread;
	int fd;
	unsigned long request;
	void *argument;
	pid_t tid;
	int result;
};

static void *waiter_main(void *data)
{
	struct waiter *w = data;

	__atomic_store_n(&w->tid, gettid(), __ATOMIC_RELEASE);
	w->result = ioctl(w->fd, w->request, w->argument) ? -errno : 0;

	return NULL;
}

static bool sleeps(pid_t tid)
{
	char path[64], text[256], *state;
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "r");
	if (!file)
		return false;
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = 0;
	state = strrchr(text, ')');

	return state && state[1] && state[2] == 'S';
}

/*
 * Start it, and wait until it sleeps, interruptibly: there is nothing in its way
 * to the fence that it could sleep for like that. Nothing tells it but /proc.
 */
static int waiter_start(struct waiter *w)
{
	long long end = now_ms() + SIGNAL_MS;
	int err = pthread_create(&w->thread, NULL, waiter_main, w);
	pid_t tid;

	if (err)
		return -err;
	do {
		tid = __atomic_load_n(&w->tid, __ATOMIC_ACQUIRE);
		if (tid && sleeps(tid))
			return 0;
		usleep(1000);
	} while (now_ms() < end);

	return -ETIME;
}

/* What its ioctl returned: 0, -errno, or -ETIME if it still waits. */
static int waiter_end(struct waiter *w)
{
	struct timespec end;
	int err;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += SIGNAL_MS / 1000;
	err = pthread_timedjoin_np(w->thread, NULL, &end);

	return err ? -ETIME : w->result;
}

FIXTURE(hotplug)
{
	const char *pci;
	struct client client;
	int uevents;
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
	self->uevents = -1;
	self->pci = getenv("AMDGPU_HOTPLUG_PCI");
	if (!self->pci || !*self->pci)
		SKIP(return, "AMDGPU_HOTPLUG_PCI does not name the GPU to remove");
	if (geteuid())
		SKIP(return, "only root may remove a GPU");
	if (!bound(self->pci))
		SKIP(return, "amdgpu has no GPU at %s", self->pci);
	if (variant->how == HOW_LOST && inject_path(self->pci, path, sizeof(path)))
		SKIP(return, "no fault injection in this kernel");

	self->uevents = open_uevents();
	ASSERT_LE(0, self->uevents);
	ASSERT_EQ(0, client_open(&self->client, self->pci, AMDGPU_GEM_DOMAIN_GTT));
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

/* Each ioctl names the GPU by its file: those of render clients, and some of others */
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
	IOCTL(SYNCOBJ_EVENTFD), IOCTL(SET_CLIENT_NAME), IOCTL(GEM_CHANGE_HANDLE),
	IOCTL(AMDGPU_GEM_CREATE), IOCTL(AMDGPU_GEM_MMAP),
	IOCTL(AMDGPU_CTX), IOCTL(AMDGPU_BO_LIST), IOCTL(AMDGPU_CS),
	IOCTL(AMDGPU_INFO), IOCTL(AMDGPU_GEM_METADATA),
	IOCTL(AMDGPU_GEM_WAIT_IDLE), IOCTL(AMDGPU_GEM_VA),
	IOCTL(AMDGPU_WAIT_CS), IOCTL(AMDGPU_GEM_OP),
	IOCTL(AMDGPU_GEM_USERPTR), IOCTL(AMDGPU_WAIT_FENCES),
	IOCTL(AMDGPU_VM), IOCTL(AMDGPU_FENCE_TO_HANDLE),
	IOCTL(AMDGPU_USERQ), IOCTL(AMDGPU_USERQ_SIGNAL), IOCTL(AMDGPU_USERQ_WAIT),
	IOCTL(AMDGPU_GEM_LIST_HANDLES), IOCTL(AMDGPU_PROC_OPTIONS),
	IOCTL(AMDGPU_SCHED), IOCTL(GET_UNIQUE), IOCTL(GET_MAGIC), IOCTL(SET_MASTER),
	IOCTL(MODE_GETRESOURCES),
};

TEST_F_TIMEOUT(hotplug, ioctls_fail, 180)
{
	int fds[] = { self->client.fd, -1 };
	__u64 argument[64];
	unsigned int i, f;
	char path[64];

	/* GPUs without display need not have it */
	if (!node_path(self->pci, "card", path, sizeof(path))) {
		fds[1] = open_node(path);
		ASSERT_LE(0, fds[1]);
	}

	LEAVE();
	for (f = 0; f < ARRAY_SIZE(fds) && fds[f] >= 0; f++) {
		for (i = 0; i < ARRAY_SIZE(ioctls); i++) {
			memset(argument, 0, sizeof(argument));
			errno = 0;
			EXPECT_EQ(-1, ioctl(fds[f], ioctls[i].request, argument));
			EXPECT_EQ(ENODEV, errno) {
				TH_LOG("%s of the %s node: %s", ioctls[i].name,
				       f ? "card" : "render", strerror(errno));
			}
		}
	}
}

TEST_F_TIMEOUT(hotplug, open_fails, 180)
{
	char path[64];
	int fd;

	ASSERT_EQ(0, node_path(self->pci, "renderD", path, sizeof(path)));

	LEAVE();
	fd = open_node(path);
	if (variant->how == HOW_LOST) {
		EXPECT_EQ(-ENODEV, fd);
	} else {
		/* There may be a node that nobody has removed */
		EXPECT_TRUE(fd == -ENOENT || fd == -ENXIO || fd == -ENODEV) {
			TH_LOG("open: %d", fd);
		}
	}
}

/* Of these a GPU has some */
static const char * const attributes[] = {
	"power_dpm_force_performance_level", "hwmon/hwmon*/freq1_input",
	"hwmon/hwmon*/power1_average", "hwmon/hwmon*/temp2_input",
};

TEST_F_TIMEOUT(hotplug, sysfs_fails, 180)
{
	int fds[ARRAY_SIZE(attributes)];
	char path[PATH_MAX], text[64];
	unsigned int i, n = 0;
	glob_t found;

	for (i = 0; i < ARRAY_SIZE(attributes); i++) {
		fds[i] = -1;
		snprintf(path, sizeof(path), DEVICES "/%s/%s", self->pci, attributes[i]);
		if (glob(path, 0, NULL, &found))
			continue;
		fds[i] = open(found.gl_pathv[0], O_RDONLY | O_CLOEXEC);
		globfree(&found);
		ASSERT_LE(0, fds[i]);
		n++;
	}
	if (!n)
		SKIP(return, "the GPU has no files of the power management");

	LEAVE();
	for (i = 0; i < ARRAY_SIZE(attributes); i++) {
		if (fds[i] < 0)
			continue;
		errno = 0;
		EXPECT_EQ(-1, pread(fds[i], text, sizeof(text), 0));
		EXPECT_EQ(ENODEV, errno) {
			TH_LOG("%s: %s", attributes[i], strerror(errno));
		}
	}
}

TEST_F_TIMEOUT(hotplug, event_sent, 180)
{
	LEAVE();
	EXPECT_EQ(0, wait_told(self->uevents, self->pci, variant->how));
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

/* A job that becomes ready when the GPU is gone */
TEST_F_TIMEOUT(hotplug, late_job_fails, 180)
{
	struct sw_sync_create_fence_data late = { .value = 1 };
	struct drm_syncobj_create create = {};
	struct drm_syncobj_handle import = {};
	int timeline, fence, status;
	__u32 one = 1;

	timeline = open(SW_SYNC, O_RDWR | O_CLOEXEC);
	if (timeline < 0)
		SKIP(return, "no fences that a program can signal: CONFIG_SW_SYNC");
	ASSERT_EQ(0, ioctl(timeline, SW_SYNC_IOC_CREATE_FENCE, &late));
	ASSERT_EQ(0, ioctl(self->client.fd, DRM_IOCTL_SYNCOBJ_CREATE, &create));
	import.handle = create.handle;
	import.flags = DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE;
	import.fd = late.fence;
	ASSERT_EQ(0, ioctl(self->client.fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &import));
	fence = submit_nop(&self->client, create.handle);
	ASSERT_LE(0, fence);
	ASSERT_EQ(0, fence_status(fence, 100));

	LEAVE();
	ASSERT_EQ(0, ioctl(timeline, SW_SYNC_IOC_INC, &one));
	status = fence_status(fence, SIGNAL_MS);
	EXPECT_EQ(-ENODEV, status);
}

TEST_F_TIMEOUT(hotplug, waits_end, 180)
{
	struct drm_syncobj_wait syncobj = {
		.timeout_nsec = INT64_MAX,
		.count_handles = 1,
	};
	struct drm_syncobj_create create = {};
	union drm_amdgpu_wait_cs cs = {};
	struct waiter cs_waiter = {
		.fd = self->client.fd,
		.request = DRM_IOCTL_AMDGPU_WAIT_CS,
		.argument = &cs,
	};
	struct waiter syncobj_waiter = {
		.fd = self->client.fd,
		.request = DRM_IOCTL_SYNCOBJ_WAIT,
		.argument = &syncobj,
	};
	int result;

	ASSERT_EQ(0, ioctl(self->client.fd, DRM_IOCTL_SYNCOBJ_CREATE, &create));
	ASSERT_LE(0, submit_endless(&self->client, create.handle));
	syncobj.handles = PTR(&create.handle);
	cs.in.handle = self->client.job;
	cs.in.timeout = ~0ULL;
	cs.in.ip_type = AMDGPU_HW_IP_COMPUTE;
	cs.in.ctx_id = self->client.ctx;
	ASSERT_EQ(0, waiter_start(&cs_waiter));
	ASSERT_EQ(0, waiter_start(&syncobj_waiter));

	LEAVE();
	result = waiter_end(&cs_waiter);
	EXPECT_EQ(-ENODEV, result);
	/* It tells that the fence has signalled, not how */
	result = waiter_end(&syncobj_waiter);
	EXPECT_EQ(0, result);
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

/* What was written to VRAM is gone with it, and nobody sees what is there next. */
TEST_F_TIMEOUT(hotplug, vram_reads_zero, 180)
{
	struct client vram;
	__u32 *dmabuf;
	int err = 0;

	ASSERT_EQ(0, client_open(&vram, self->pci, AMDGPU_GEM_DOMAIN_VRAM));
	dmabuf = mmap(NULL, BO_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
		      vram.dmabuf, 0);
	ASSERT_NE(MAP_FAILED, (void *)dmabuf);
	ASSERT_EQ(PATTERN, touch(vram.map, PATTERN));
	ASSERT_EQ(PATTERN, touch(dmabuf, PATTERN));

	LEAVE();
	/* A loss is told when the mappings have been taken away */
	if (variant->how == HOW_LOST)
		err = wait_told(self->uevents, self->pci, variant->how);
	ASSERT_EQ(0, err);
	EXPECT_EQ(0u, __atomic_load_n(vram.map, __ATOMIC_SEQ_CST));
	EXPECT_EQ(0u, __atomic_load_n(dmabuf, __ATOMIC_SEQ_CST));
	EXPECT_EQ(6u, touch(vram.map, 6));
	EXPECT_EQ(7u, touch(dmabuf, 7));
}

TEST_F_TIMEOUT(hotplug, dma_buf_revoked, 180)
{
	struct dma_buf_sync sync = { .flags = DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ };
	struct drm_prime_handle import = { .fd = self->client.dmabuf };
	struct client bystander = { .fd = -1, .dmabuf = -1 };
	char other[NAME_MAX + 1];
	int err = 0;

	if (find_other(self->pci, other, sizeof(other)))
		err = client_open(&bystander, other, AMDGPU_GEM_DOMAIN_GTT);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, ioctl(self->client.dmabuf, DMA_BUF_IOCTL_SYNC, &sync));

	LEAVE();
	EXPECT_EQ(-1, ioctl(self->client.dmabuf, DMA_BUF_IOCTL_SYNC, &sync));
	EXPECT_EQ(ENODEV, errno);
	if (bystander.fd >= 0) {
		EXPECT_EQ(-1, ioctl(bystander.fd, DRM_IOCTL_PRIME_FD_TO_HANDLE,
				    &import));
		EXPECT_EQ(ENODEV, errno);
	}
	client_close(&bystander);
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

TEST_F_TIMEOUT(hotplug, kfd_ioctls_fail, 180)
{
	struct kfd_ioctl_get_available_memory_args memory = {};
	struct kfd_ioctl_acquire_vm_args vm = {};
	int kfd;

	kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	if (kfd < 0)
		SKIP(return, "no /dev/kfd");
	memory.gpu_id = kfd_gpu_id(self->pci);
	if (!memory.gpu_id)
		SKIP(return, "KFD does not have this GPU");
	ASSERT_EQ(0, ioctl(kfd, AMDKFD_IOC_AVAILABLE_MEMORY, &memory));
	vm.gpu_id = memory.gpu_id;
	vm.drm_fd = self->client.fd;

	LEAVE();
	EXPECT_EQ(-1, ioctl(kfd, AMDKFD_IOC_AVAILABLE_MEMORY, &memory));
	EXPECT_EQ(ENODEV, errno);
	EXPECT_EQ(-1, ioctl(kfd, AMDKFD_IOC_ACQUIRE_VM, &vm));
	EXPECT_EQ(ENODEV, errno);
	close(kfd);
}

TEST_F_TIMEOUT(hotplug, kfd_svm_fails, 180)
{
	struct kfd_ioctl_acquire_vm_args vm = {};
	int kfd, err;
	void *page;

	kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	if (kfd < 0)
		SKIP(return, "no /dev/kfd");
	vm.gpu_id = kfd_gpu_id(self->pci);
	if (!vm.gpu_id)
		SKIP(return, "KFD does not have this GPU");
	/* Not that of the client, whose address space is in use */
	err = open_render(self->pci);
	ASSERT_LE(0, err);
	vm.drm_fd = err;
	ASSERT_EQ(0, ioctl(kfd, AMDKFD_IOC_ACQUIRE_VM, &vm));
	page = mmap(NULL, BO_SIZE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, page);
	err = kfd_svm(kfd, page, KFD_IOCTL_SVM_OP_SET_ATTR,
		      KFD_IOCTL_SVM_ATTR_ACCESS, vm.gpu_id);
	if (err == -EINVAL)
		SKIP(return, "no managed memory on this GPU");
	if (err == -EPERM)
		SKIP(return, "no managed memory in this kernel: CONFIG_HSA_AMD_SVM");
	ASSERT_EQ(0, err);

	LEAVE();
	err = kfd_svm(kfd, page, KFD_IOCTL_SVM_OP_SET_ATTR,
		      KFD_IOCTL_SVM_ATTR_ACCESS, vm.gpu_id);
	EXPECT_EQ(-ENODEV, err);
	err = kfd_svm(kfd, page, KFD_IOCTL_SVM_OP_SET_ATTR,
		      KFD_IOCTL_SVM_ATTR_PREFERRED_LOC, vm.gpu_id);
	EXPECT_EQ(-ENODEV, err);
	err = kfd_svm(kfd, page, KFD_IOCTL_SVM_OP_SET_ATTR,
		      KFD_IOCTL_SVM_ATTR_PREFETCH_LOC, vm.gpu_id);
	EXPECT_EQ(-ENODEV, err);
	err = kfd_svm(kfd, page, KFD_IOCTL_SVM_OP_GET_ATTR,
		      KFD_IOCTL_SVM_ATTR_ACCESS, vm.gpu_id);
	EXPECT_EQ(-ENODEV, err);
	/* Access can still be given back, and the memory be used */
	err = kfd_svm(kfd, page, KFD_IOCTL_SVM_OP_SET_ATTR,
		      KFD_IOCTL_SVM_ATTR_NO_ACCESS, vm.gpu_id);
	EXPECT_EQ(0, err);
	EXPECT_EQ(8u, touch(page, 8));
	close(kfd);
}

TEST_F_TIMEOUT(hotplug, kfd_topology_right, 180)
{
	__u32 id = kfd_gpu_id(self->pci), found = 0;
	unsigned long long generation;
	struct dirent *entry;
	DIR *nodes;

	if (!id)
		SKIP(return, "KFD does not have this GPU");
	ASSERT_TRUE(kfd_topology_right());
	generation = kfd_generation();

	LEAVE();
	/* A loss is told when the topology has changed */
	ASSERT_EQ(0, wait_told(self->uevents, self->pci, variant->how));
	nodes = opendir(KFD_NODES);
	ASSERT_NE(NULL, nodes);
	while ((entry = readdir(nodes)))
		found |= kfd_number(entry->d_name, "gpu_id", NULL) == id;
	closedir(nodes);
	EXPECT_EQ(0u, found);
	EXPECT_TRUE(kfd_topology_right());
	EXPECT_NE(generation, kfd_generation());

	/* While a file of the old one is open */
	generation = kfd_generation();
	COME_BACK();
	EXPECT_NE(0u, kfd_gpu_id(self->pci));
	EXPECT_TRUE(kfd_topology_right());
	EXPECT_NE(generation, kfd_generation());
}

TEST_F_TIMEOUT(hotplug, other_gpu, 180)
{
	struct client bystander;
	char other[NAME_MAX + 1];
	int fence;

	if (!find_other(self->pci, other, sizeof(other)))
		SKIP(return, "there is no other GPU");
	ASSERT_EQ(0, client_open(&bystander, other, AMDGPU_GEM_DOMAIN_GTT));

	LEAVE();
	fence = submit_nop(&bystander, 0);
	ASSERT_LE(0, fence);
	EXPECT_EQ(1, fence_status(fence, RETURN_MS));
	close(fence);

	COME_BACK();
	fence = submit_nop(&bystander, 0);
	ASSERT_LE(0, fence);
	EXPECT_EQ(1, fence_status(fence, RETURN_MS));
	close(fence);
	client_close(&bystander);
}

/* A GPU that stays, and is reset */
FIXTURE(reset)
{
	const char *pci;
	char path[64];
};

FIXTURE_SETUP(reset)
{
	int minor;

	self->pci = getenv("AMDGPU_HOTPLUG_PCI");
	if (!self->pci || !*self->pci)
		SKIP(return, "AMDGPU_HOTPLUG_PCI does not name the GPU to reset");
	minor = drm_minor(self->pci, "renderD");
	snprintf(self->path, sizeof(self->path),
		 "/sys/kernel/debug/dri/%d/amdgpu_gpu_recover", minor);
	if (minor < 0 || access(self->path, R_OK))
		SKIP(return, "no reset can be asked for");
}

/* The reset may have failed, and the GPU be lost */
FIXTURE_TEARDOWN_PARENT(reset)
{
	int fd = self->pci && !geteuid() ? open_render(self->pci) : 0;

	if (fd < 0)
		come_back(self->pci, true);
	else if (fd > 0)
		close(fd);
}

struct resetter {
	pthread_t thread;
	const char *path;
	int result;
	bool done;
};

static void *resetter_main(void *data)
{
	struct resetter *r = data;
	char text[64];
	ssize_t size;
	int fd;

	/* Returns the result of the reset when that has ended */
	fd = open(r->path, O_RDONLY | O_CLOEXEC);
	size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (size < 0) {
		r->result = -errno;
	} else {
		text[size] = 0;
		r->result = atoi(text);
	}
	if (fd >= 0)
		close(fd);
	__atomic_store_n(&r->done, true, __ATOMIC_RELEASE);

	return NULL;
}

/* What a new process gets when it opens /dev/kfd: 0 or -errno */
static int kfd_open_anew(void)
{
	int status = 0;
	pid_t child;

	child = fork();
	if (!child)
		_exit(open("/dev/kfd", O_RDWR | O_CLOEXEC) < 0 ? errno : 0);
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return -ECHILD;

	return -WEXITSTATUS(status);
}

TEST_F_TIMEOUT(reset, kfd_open_during_reset, 180)
{
	struct resetter resetter = { .path = self->path };
	unsigned int opened = 0;
	int err = 0;

	if (kfd_open_anew())
		SKIP(return, "no /dev/kfd");

	ASSERT_EQ(0, pthread_create(&resetter.thread, NULL, resetter_main, &resetter));
	while (!__atomic_load_n(&resetter.done, __ATOMIC_ACQUIRE) && !err) {
		err = kfd_open_anew();
		opened++;
	}
	ASSERT_EQ(0, pthread_join(resetter.thread, NULL));

	EXPECT_EQ(0, resetter.result);
	EXPECT_EQ(0, err) {
		TH_LOG("open number %u: %s", opened, strerror(-err));
	}
	EXPECT_LT(0u, opened);
}

TEST_HARNESS_MAIN
