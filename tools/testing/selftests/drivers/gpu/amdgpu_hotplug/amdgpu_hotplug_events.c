// SPDX-License-Identifier: GPL-2.0
/*
 * Prints what user space is told when AMD GPUs arrive and go, a line of JSON for
 * each event, until it gets a signal:
 *
 *	uevent		of the kfd device (GPU_EVENT) and of DRM devices (ACTION, WEDGED)
 *	smi		KFD_SMI_EVENT_GPU_GONE, KFD_SMI_EVENT_GPU_ARRIVED
 *	exception	KFD_EVENT_TYPE_HW_EXCEPTION, with its cause
 *
 * To be told of exceptions it has memory of each GPU, and of the ones that arrive,
 * too; a GPU that it may not use is left out. With --cycle it ends well when a GPU
 * has gone and another one has arrived, each told in all ways.
 *
 * See Documentation/gpu/amdgpu/hotplug.rst for what is expected here.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/kfd_ioctl.h>
#include <linux/netlink.h>

#define NODES		"/sys/class/kfd/kfd/topology/nodes"
#define MAX_GPUS	64
#define MESSAGE_SIZE	8192

/* So that it can be built, and be told nothing, on kernels before */
#if KFD_IOCTL_MINOR_VERSION < 24
#define KFD_HW_EXCEPTION_DEVICE_LOST	2
#endif
#if KFD_IOCTL_MINOR_VERSION < 25
#define KFD_SMI_EVENT_GPU_GONE		14
#define KFD_SMI_EVENT_GPU_ARRIVED	15
#endif

/* What --cycle waits for */
enum {
	SEEN_GONE_UEVENT = 1,
	SEEN_GONE_SMI = 2,
	SEEN_EXCEPTION = 4,
	SEEN_ARRIVED_UEVENT = 8,
	SEEN_ARRIVED_SMI = 16,
	SEEN_ARRIVED_USED = 32,
	SEEN_ALL = 63
};

struct gpu {
	unsigned int id;
	int smi;
};

static struct gpu gpus[MAX_GPUS];
static unsigned int num_gpus;
static int kfd;
/* The thread of the exceptions writes its end of it. */
static int exceptions[2];

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static long long now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);

	return ts.tv_sec * 1000000LL + ts.tv_nsec / 1000;
}

/* The begin of a line; its rest is printed by who knows the event */
static void begin(const char *event)
{
	printf("{\"event\":\"%s\",\"time_us\":%lld,", event, now_us());
}

/* A number from a file of a node of the topology, or of its properties */
static bool node_number(const char *node, const char *file, const char *key,
			unsigned int *value)
{
	unsigned long long number;
	char path[512], name[64];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), NODES "/%s/%s", node, file);
	f = fopen(path, "r");
	if (!f)
		return false;

	if (!key) {
		found = fscanf(f, "%llu", &number) == 1;
	} else {
		while (!found && fscanf(f, "%63s %llu", name, &number) == 2)
			found = !strcmp(name, key);
	}
	fclose(f);
	*value = found ? number : 0;

	return found;
}

/* Use a GPU, and watch it. One that can't be used is told of, and left out. */
static bool use_gpu(unsigned int id, unsigned int minor)
{
	struct kfd_ioctl_acquire_vm_args vm = { .gpu_id = id };
	struct kfd_ioctl_alloc_memory_of_gpu_args vram = {
		.gpu_id = id,
		.size = 4096,
		.flags = KFD_IOC_ALLOC_MEM_FLAGS_VRAM,
	};
	struct kfd_ioctl_smi_events_args smi = { .gpuid = id };
	__u64 events = KFD_SMI_EVENT_MASK_FROM_INDEX(KFD_SMI_EVENT_GPU_GONE) |
		       KFD_SMI_EVENT_MASK_FROM_INDEX(KFD_SMI_EVENT_GPU_ARRIVED);
	const char *what = "open";
	char path[64];
	int drm, error;

	snprintf(path, sizeof(path), "/dev/dri/renderD%u", minor);
	drm = open(path, O_RDWR | O_CLOEXEC);
	if (drm < 0)
		goto refused;

	vm.drm_fd = drm;
	what = "acquire_vm";
	if (ioctl(kfd, AMDKFD_IOC_ACQUIRE_VM, &vm))
		goto refused;

	/* Who only has acquired a GPU is not told of its loss */
	what = "alloc_memory";
	if (ioctl(kfd, AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &vram))
		goto refused;

	what = "smi_events";
	if (ioctl(kfd, AMDKFD_IOC_SMI_EVENTS, &smi))
		goto refused;
	if (write(smi.anon_fd, &events, sizeof(events)) != sizeof(events))
		die("smi mask");

	/* KFD keeps the render node */
	close(drm);
	gpus[num_gpus].id = id;
	gpus[num_gpus++].smi = smi.anon_fd;
	begin("watching");
	printf("\"gpu_id\":%u}\n", id);

	return true;

refused:
	error = errno;
	begin("refused");
	printf("\"gpu_id\":%u,\"call\":\"%s\",\"errno\":%d}\n", id, what, error);
	if (drm >= 0)
		close(drm);

	return false;
}

/* Returns whether there was a GPU that was not used yet, and now is */
static bool use_new_gpus(void)
{
	unsigned int id, minor, i;
	struct dirent *entry;
	bool used = false;
	DIR *nodes;

	nodes = opendir(NODES);
	if (!nodes)
		die(NODES);

	while ((entry = readdir(nodes))) {
		if (!node_number(entry->d_name, "gpu_id", NULL, &id) || !id ||
		    !node_number(entry->d_name, "properties",
				 "drm_render_minor", &minor))
			continue;

		for (i = 0; i < num_gpus && gpus[i].id != id; i++)
			;
		if (i == num_gpus && num_gpus < MAX_GPUS)
			used |= use_gpu(id, minor);
	}
	closedir(nodes);

	return used;
}

/* Exceptions can't be polled: a thread waits for them. */
static void *wait_for_exceptions(void *arg)
{
	struct kfd_ioctl_create_event_args event = {
		.event_type = KFD_IOC_EVENT_HW_EXCEPTION,
		.auto_reset = 1,
	};
	struct kfd_event_data data;
	struct kfd_ioctl_wait_events_args wait = {
		.events_ptr = (__u64)(uintptr_t)&data,
		.num_events = 1,
		.timeout = ~0U,
	};

	if (ioctl(kfd, AMDKFD_IOC_CREATE_EVENT, &event))
		die("create_event");

	/* Ready */
	memset(&data, 0, sizeof(data));
	for (;;) {
		if (write(exceptions[1], &data.hw_exception_data,
			  sizeof(data.hw_exception_data)) < 0)
			die("write");

		memset(&data, 0, sizeof(data));
		data.event_id = event.event_id;
		while (ioctl(kfd, AMDKFD_IOC_WAIT_EVENTS, &wait)) {
			if (errno != EINTR)
				die("wait_events");
		}
	}

	return arg;
}

/* Returns what was seen */
static unsigned int print_exception(void)
{
	struct kfd_hsa_hw_exception_data data;

	if (read(exceptions[0], &data, sizeof(data)) != sizeof(data))
		die("read");

	begin("exception");
	printf("\"gpu_id\":%u,\"cause\":%u,\"memory_lost\":%u}\n",
	       data.gpu_id, data.reset_cause, data.memory_lost);

	return data.reset_cause == KFD_HW_EXCEPTION_DEVICE_LOST ?
	       SEEN_EXCEPTION : 0;
}

static unsigned int print_smi(struct gpu *gpu)
{
	char text[MESSAGE_SIZE], *line, *save = NULL;
	unsigned int event, id, seen = 0;
	ssize_t size;

	size = read(gpu->smi, text, sizeof(text) - 1);
	if (size < 0)
		die("smi read");
	text[size] = 0;

	for (line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (sscanf(line, "%x %x", &event, &id) != 2)
			continue;

		begin("smi");
		printf("\"watched\":%u,\"smi_event\":%u,\"gpu_id\":%u}\n",
		       gpu->id, event, id);
		if (event == KFD_SMI_EVENT_GPU_GONE)
			seen |= SEEN_GONE_SMI;
		else if (event == KFD_SMI_EVENT_GPU_ARRIVED)
			seen |= SEEN_ARRIVED_SMI;
	}

	return seen;
}

static const char *member(const char *text, const char *end, const char *key)
{
	size_t length = strlen(key);

	for (; text < end; text += strlen(text) + 1) {
		if (!strncmp(text, key, length) && text[length] == '=')
			return text + length + 1;
	}

	return "";
}

static unsigned int print_uevent(int uevents)
{
	char text[MESSAGE_SIZE];
	const char *subsystem, *gpu_event, *end;
	unsigned int seen = 0;
	ssize_t size;

	size = recv(uevents, text, sizeof(text) - 1, 0);
	if (size < 0)
		die("recv");
	text[size] = 0;
	end = text + size;

	subsystem = member(text, end, "SUBSYSTEM");
	if (strcmp(subsystem, "kfd") && strcmp(subsystem, "drm"))
		return 0;

	gpu_event = member(text, end, "GPU_EVENT");
	begin("uevent");
	printf("\"subsystem\":\"%s\",\"action\":\"%s\",\"devpath\":\"%s\",",
	       subsystem, member(text, end, "ACTION"),
	       member(text, end, "DEVPATH"));
	printf("\"gpu_event\":\"%s\",\"gpu_id\":\"%s\",\"wedged\":\"%s\"}\n",
	       gpu_event, member(text, end, "GPU_ID"),
	       member(text, end, "WEDGED"));

	if (!strcmp(gpu_event, "gone"))
		seen = SEEN_GONE_UEVENT;
	else if (!strcmp(gpu_event, "arrived"))
		seen = SEEN_ARRIVED_UEVENT |
		       (use_new_gpus() ? SEEN_ARRIVED_USED : 0);

	return seen;
}

static int open_uevents(void)
{
	struct sockaddr_nl address = {
		.nl_family = AF_NETLINK,
		.nl_groups = 1,
	};
	int fd;

	fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC,
		    NETLINK_KOBJECT_UEVENT);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)))
		die("uevents");

	return fd;
}

int main(int argc, char **argv)
{
	struct kfd_hsa_hw_exception_data ready;
	struct pollfd fds[MAX_GPUS + 2];
	unsigned int seen = 0, i, num;
	pthread_t thread;
	bool cycle;
	int uevents;

	cycle = argc == 2 && !strcmp(argv[1], "--cycle");
	if (argc > 1 && !cycle) {
		fprintf(stderr, "usage: %s [--cycle]\n", argv[0]);
		return EXIT_FAILURE;
	}

	setlinebuf(stdout);
	uevents = open_uevents();
	kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	if (kfd < 0)
		die("/dev/kfd");

	use_new_gpus();
	if (pipe2(exceptions, O_CLOEXEC) ||
	    pthread_create(&thread, NULL, wait_for_exceptions, NULL))
		die("thread");
	if (read(exceptions[0], &ready, sizeof(ready)) != sizeof(ready))
		die("read");
	printf("{\"state\":\"ready\",\"gpus\":%u}\n", num_gpus);

	while (!cycle || seen != SEEN_ALL) {
		fds[0].fd = uevents;
		fds[1].fd = exceptions[0];
		num = num_gpus;
		for (i = 0; i < num; i++)
			fds[2 + i].fd = gpus[i].smi;
		for (i = 0; i < num + 2; i++)
			fds[i].events = POLLIN;

		if (poll(fds, num + 2, -1) < 0) {
			if (errno == EINTR)
				continue;
			die("poll");
		}

		if (fds[1].revents)
			seen |= print_exception();
		for (i = 0; i < num; i++) {
			if (fds[2 + i].revents)
				seen |= print_smi(&gpus[i]);
		}
		if (fds[0].revents)
			seen |= print_uevent(uevents);
	}

	return EXIT_SUCCESS;
}
