// SPDX-License-Identifier: MIT
/*
 * KUnit tests for GPUs that are lost or removed
 *
 * For what no test with hardware reaches at will. The GPU is a mock without real
 * IP blocks. Its PCI configuration space answers until a test says that it is gone.
 */

#include <kunit/device.h>
#include <kunit/test.h>

#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/pci.h>

#include <drm/drm_atomic_state_helper.h>
#include <drm/drm_crtc.h>
#include <drm/drm_kunit_helpers.h>
#include <drm/drm_vblank.h>

#include "../amdxcp/amdgpu_xcp_drv.h"

#include "amdgpu.h"
#include "amdgpu_display.h"
#include "amdgpu_hotplug.h"
#include "amdgpu_ih.h"
#include "amdgpu_irq.h"
#include "amdgpu_reset.h"
#include "amdgpu_ring.h"
#include "amdgpu_userq.h"
#include "amdgpu_userq_fence.h"
#include "amdgpu_xcp.h"
#include "amdgpu_xgmi.h"
#include "atom.h"

#define SWSMU_CODE_LAYER_L2

#include "amdgpu_smu.h"
#include "smu_cmn.h"
#include "smu_v13_0.h"

#define MOCK_VENDOR_DEVICE	0x74a11002
#define MOCK_FENCES		3

/* How long to look for what must not happen */
#define MOCK_IDLE_MS		50

struct mock_gpu {
	struct amdgpu_device *adev;
	struct pci_bus bus;
	struct pci_dev pdev;

	/* PCI configuration space */
	bool absent;
	/* Request Retry Status, as the port shows it */
	bool not_ready;
	/* So many more reads are not answered */
	unsigned int absent_reads;
	u16 command;
	unsigned int vendor_reads;

	/* How often the work of a loss ran */
	unsigned int told;

	/* How often its IP block was resumed */
	unsigned int resumed;

	/* How often it was reset, and whether it could reach memory then */
	unsigned int resets;
	bool reset_as_master;

	/* When it has executed everything */
	struct delayed_work finish;

	/* The works that process interrupts */
	struct completion ih_started;
	bool ih_freed;

	struct amdgpu_ring *ring;
	/* What the GPU writes when it has executed a job */
	u32 executed;
	struct dma_fence *fences[MOCK_FENCES];
};

static struct mock_gpu *to_mock_gpu(struct amdgpu_device *adev)
{
	return container_of(adev->pdev, struct mock_gpu, pdev);
}

static int mock_config_read(struct pci_bus *bus, unsigned int devfn, int where,
			    int size, u32 *val)
{
	struct mock_gpu *gpu = container_of(bus, struct mock_gpu, bus);

	*val = 0;
	if (where == PCI_VENDOR_ID) {
		gpu->vendor_reads++;
		*val = gpu->not_ready ? 0xffff0001 : MOCK_VENDOR_DEVICE;
	} else if (where == PCI_COMMAND) {
		*val = gpu->command;
	}
	if (gpu->absent_reads)
		gpu->absent_reads--;
	else if (!gpu->absent)
		return PCIBIOS_SUCCESSFUL;

	PCI_SET_ERROR_RESPONSE(val);

	return PCIBIOS_SUCCESSFUL;
}

static int mock_config_write(struct pci_bus *bus, unsigned int devfn, int where,
			     int size, u32 val)
{
	struct mock_gpu *gpu = container_of(bus, struct mock_gpu, bus);

	if (where == PCI_COMMAND && !gpu->absent)
		gpu->command = val;

	return PCIBIOS_SUCCESSFUL;
}

static struct pci_ops mock_config_ops = {
	.read = mock_config_read,
	.write = mock_config_write,
};

static void mock_lost_work(struct work_struct *work)
{
	struct amdgpu_device *adev =
		container_of(work, struct amdgpu_device, hotplug.lost_work);

	to_mock_gpu(adev)->told++;
}

static void mock_idle_work(struct work_struct *work)
{
}

static void mock_gpu_fini(void *data)
{
	struct mock_gpu *gpu = data;

	amdgpu_hotplug_fini(gpu->adev);
	adev_to_drm(gpu->adev)->registered = false;
	amdgpu_reset_put_reset_domain(gpu->adev->reset_domain);
}

static int mock_asic_reset(struct amdgpu_device *adev)
{
	struct mock_gpu *gpu = container_of(adev->pdev, struct mock_gpu, pdev);

	gpu->resets++;
	gpu->reset_as_master |= !!(gpu->command & PCI_COMMAND_MASTER);

	return 0;
}

static const struct amdgpu_asic_funcs mock_asic_funcs = {
	.reset = mock_asic_reset,
};

/* A GPU that was probed. The work of its loss only counts. */
static struct mock_gpu *mock_gpu(struct kunit *test, const char *name)
{
	struct amdgpu_device *adev;
	struct drm_device *drm;
	struct mock_gpu *gpu;
	struct device *dev;

	gpu = kunit_kzalloc(test, sizeof(*gpu), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, gpu);
	gpu->bus.ops = &mock_config_ops;
	gpu->pdev.bus = &gpu->bus;
	gpu->pdev.error_state = pci_channel_io_normal;
	gpu->pdev.dev.init_name = name;
	gpu->command = PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER;

	dev = kunit_device_register(test, name);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	drm = __drm_kunit_helper_alloc_drm_device(test, dev, sizeof(*adev),
						  offsetof(struct amdgpu_device, ddev),
						  DRIVER_GEM | DRIVER_MODESET);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, drm);

	adev = drm_to_adev(drm);
	adev->dev = dev;
	adev->pdev = &gpu->pdev;
	adev->asic_funcs = &mock_asic_funcs;
	adev->usec_timeout = AMDGPU_MAX_USEC_TIMEOUT;
	adev->fence_context = dma_fence_context_alloc(1);
	spin_lock_init(&adev->irq.lock);
	xa_init(&adev->userq_doorbell_xa);
	mutex_init(&adev->kfd.dev_lock);
	INIT_DELAYED_WORK(&adev->delayed_init_work, mock_idle_work);
#ifdef CONFIG_DEV_COREDUMP
	INIT_WORK(&adev->coredump_work, mock_idle_work);
#endif
	adev->reset_domain = amdgpu_reset_create_reset_domain(SINGLE_DEVICE,
							      "kunit-reset");
	KUNIT_ASSERT_NOT_NULL(test, adev->reset_domain);

	amdgpu_hotplug_init(adev);
	INIT_WORK(&adev->hotplug.lost_work, mock_lost_work);
	amdgpu_hotplug_settled(adev);
	adev_to_drm(adev)->registered = true;
	gpu->adev = adev;
	pci_set_drvdata(&gpu->pdev, drm);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, mock_gpu_fini, gpu));

	return gpu;
}

static enum amdgpu_hotplug_phase mock_phase(struct mock_gpu *gpu)
{
	return amdgpu_hotplug_state_phase(&gpu->adev->hotplug.state);
}

static bool mock_suspected(struct mock_gpu *gpu)
{
	return amdgpu_hotplug_state_suspected(&gpu->adev->hotplug.state);
}

/* Ask as a loop that polls, however long ago somebody did */
static bool mock_poll(struct mock_gpu *gpu)
{
	gpu->adev->hotplug.next_check = jiffies;

	return amdgpu_hotplug_poll(gpu->adev);
}

/* Look at hardware that has not finished, however long ago somebody did */
static bool mock_look(struct mock_gpu *gpu)
{
	gpu->adev->hotplug.next_look = jiffies;

	return amdgpu_hotplug_poll(gpu->adev);
}

/* The same by a register */
static int mock_read(struct mock_gpu *gpu, u32 reg, u32 value)
{
	gpu->adev->hotplug.next_look = jiffies;
	amdgpu_hotplug_note_read(gpu->adev, reg, value);

	return atomic_read(&gpu->adev->hotplug.looks);
}

/* Let the silence have begun long ago */
static void mock_silence_lasts(struct mock_gpu *gpu)
{
	struct amdgpu_hotplug *hotplug = &gpu->adev->hotplug;

	guard(spinlock_irqsave)(&hotplug->silence_lock);
	hotplug->silent_since = jiffies - 10 * HZ;
}

static unsigned int mock_told(struct mock_gpu *gpu)
{
	flush_work(&gpu->adev->hotplug.lost_work);

	return gpu->told;
}

/* --- Loss and removal */

/* The first one counts, also where nothing may sleep; all others do nothing */
static void lost_once(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "lost");
	struct amdgpu_device *adev = gpu->adev;
	unsigned long flags;
	bool slept;

	KUNIT_EXPECT_TRUE(test, amdgpu_hotplug_admits(adev));
	KUNIT_EXPECT_FALSE(test, amdgpu_hotplug_lost(adev));

	local_irq_save(flags);
	amdgpu_hotplug_mark_lost(adev, "first");
	slept = !irqs_disabled();
	local_irq_restore(flags);

	KUNIT_EXPECT_FALSE(test, slept);
	KUNIT_EXPECT_EQ(test, mock_phase(gpu), AMDGPU_HOTPLUG_LOST);
	KUNIT_EXPECT_TRUE(test, amdgpu_hotplug_lost(adev));
	KUNIT_EXPECT_FALSE(test, amdgpu_hotplug_admits(adev));
	KUNIT_EXPECT_TRUE(test, adev->no_hw_access);
	/* Ends the loops that count to it */
	KUNIT_EXPECT_EQ(test, adev->usec_timeout, 1);
	KUNIT_EXPECT_EQ(test, mock_told(gpu), 1);

	amdgpu_hotplug_mark_lost(adev, "second");
	KUNIT_EXPECT_EQ(test, mock_told(gpu), 1);
	KUNIT_EXPECT_STREQ(test, adev->hotplug.reason, "first");
}

/* The removal signals the fences itself, and there is nobody left to tell */
static void lost_while_removed(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "lost");
	struct amdgpu_device *adev = gpu->adev;

	amdgpu_hotplug_remove_begin(adev);
	KUNIT_EXPECT_EQ(test, mock_phase(gpu), AMDGPU_HOTPLUG_REMOVING);
	KUNIT_EXPECT_FALSE(test, amdgpu_hotplug_admits(adev));
	KUNIT_EXPECT_FALSE(test, amdgpu_hotplug_lost(adev));

	amdgpu_hotplug_mark_lost(adev, "while it is removed");
	KUNIT_EXPECT_TRUE(test, amdgpu_hotplug_lost(adev));
	KUNIT_EXPECT_EQ(test, mock_told(gpu), 0);

	amdgpu_hotplug_remove_end(adev);
	KUNIT_EXPECT_EQ(test, mock_phase(gpu), AMDGPU_HOTPLUG_GONE);
}

/* What open files keep of an orderly removed GPU cannot be lost, nor used */
static void gone_when_removed(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "removed");
	struct amdgpu_device *adev = gpu->adev;

	amdgpu_hotplug_remove_begin(adev);
	KUNIT_EXPECT_FALSE(test, adev->no_hw_access);
	amdgpu_hotplug_remove_end(adev);

	KUNIT_EXPECT_TRUE(test, adev->no_hw_access);
	KUNIT_EXPECT_EQ(test, adev->usec_timeout, 1);
	KUNIT_EXPECT_TRUE(test, amdgpu_hotplug_lost(adev));
	KUNIT_EXPECT_FALSE(test, amdgpu_hotplug_admits(adev));

	amdgpu_hotplug_mark_lost(adev, "after the removal");
	KUNIT_EXPECT_EQ(test, mock_phase(gpu), AMDGPU_HOTPLUG_GONE);
	KUNIT_EXPECT_EQ(test, mock_told(gpu), 0);
	KUNIT_EXPECT_NULL(test, adev->hotplug.reason);
}

/* The word of the PCI core counts before the driver is told, and for good */
static void lost_when_disconnected(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "disconnected");
	struct amdgpu_device *adev = gpu->adev;

	gpu->pdev.error_state = pci_channel_io_perm_failure;
	KUNIT_EXPECT_FALSE(test, amdgpu_hotplug_admits(adev));
	KUNIT_EXPECT_EQ(test, mock_phase(gpu), AMDGPU_HOTPLUG_LOST);
	KUNIT_EXPECT_EQ(test, gpu->vendor_reads, 0);

	gpu->pdev.error_state = pci_channel_io_normal;
	KUNIT_EXPECT_TRUE(test, amdgpu_hotplug_lost(adev));
	KUNIT_EXPECT_EQ(test, mock_told(gpu), 1);
}

/* Nothing is concluded from silence while a GPU may be silent */
static void lost_when_absent(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "absent");
	struct amdgpu_device *adev = gpu->adev;

	KUNIT_EXPECT_EQ(test, amdgpu_hotplug_check(adev, "there"), 0);

	gpu->absent = true;

	adev->in_suspend = true;
	KUNIT_EXPECT_EQ(test, amdgpu_hotplug_check(adev, "asleep"), 0);
	adev->in_suspend = false;

	gpu->pdev.error_state = pci_channel_io_frozen;
	KUNIT_EXPECT_EQ(test, amdgpu_hotplug_check(adev, "PCI error"), 0);
	gpu->pdev.error_state = pci_channel_io_normal;

	adev->hotplug.settled = false;
	KUNIT_EXPECT_EQ(test, amdgpu_hotplug_check(adev, "probe"), 0);
	amdgpu_hotplug_settled(adev);

	KUNIT_EXPECT_TRUE(test, amdgpu_hotplug_reset_begin(adev));
	KUNIT_EXPECT_EQ(test, amdgpu_hotplug_check(adev, "reset"), 0);
	amdgpu_hotplug_reset_end(adev);

	atomic_set(&adev->reset_domain->in_gpu_reset, 1);
	KUNIT_EXPECT_EQ(test, amdgpu_hotplug_check(adev, "reset of hive"), 0);
	atomic_set(&adev->reset_domain->in_gpu_reset, 0);

	KUNIT_EXPECT_EQ(test, mock_phase(gpu), AMDGPU_HOTPLUG_PRESENT);
	KUNIT_EXPECT_EQ(test, amdgpu_hotplug_check(adev, "absent"), -ENODEV);
	KUNIT_EXPECT_EQ(test, mock_phase(gpu), AMDGPU_HOTPLUG_LOST);

	/* Known, and not looked for again */
	gpu->vendor_reads = 0;
	KUNIT_EXPECT_EQ(test, amdgpu_hotplug_check(adev, "again"), -ENODEV);
	KUNIT_EXPECT_EQ(test, gpu->vendor_reads, 0);
}

/* Probe does not wait for a GPU that left in the middle of it */
static void lost_in_probe(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "probed");
	struct amdgpu_device *adev = gpu->adev;

	adev_to_drm(adev)->registered = false;
	KUNIT_EXPECT_EQ(test, amdgpu_hotplug_check(adev, "there"), 0);

	gpu->absent = true;
	KUNIT_EXPECT_EQ(test, amdgpu_hotplug_check(adev, "left"), -ENODEV);
	KUNIT_EXPECT_EQ(test, mock_phase(gpu), AMDGPU_HOTPLUG_LOST);
	KUNIT_EXPECT_TRUE(test, amdgpu_hotplug_poll(adev));
}

/* Who reads all ones looks for the GPU, whatever loop it is in */
static void lost_when_all_ones(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "polled");
	struct amdgpu_device *adev = gpu->adev;
	u32 *registers;

	registers = kunit_kcalloc(test, 2, sizeof(*registers), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, registers);
	registers[1] = ~0;
	adev->rmmio = (void __iomem *)registers;
	adev->rmmio_size = 2 * sizeof(*registers);

	/* There is a register that has them */
	KUNIT_EXPECT_EQ(test, amdgpu_device_rreg(adev, 1, 0), ~0U);
	KUNIT_EXPECT_FALSE(test, amdgpu_hotplug_lost(adev));
	KUNIT_EXPECT_EQ(test, gpu->vendor_reads, 1);

	gpu->absent = true;
	adev->hotplug.next_check = jiffies;
	KUNIT_EXPECT_EQ(test, amdgpu_device_rreg(adev, 0, 0), 0);
	KUNIT_EXPECT_FALSE(test, mock_suspected(gpu));
	KUNIT_EXPECT_EQ(test, amdgpu_device_rreg(adev, 1, 0), ~0U);
	KUNIT_EXPECT_TRUE(test, mock_suspected(gpu));

	/* Nothing is accessed, and nothing is over */
	KUNIT_EXPECT_EQ(test, amdgpu_device_rreg(adev, 0, 0), ~0U);
	KUNIT_EXPECT_FALSE(test, amdgpu_hotplug_lost(adev));
	KUNIT_EXPECT_TRUE(test, amdgpu_hotplug_admits(adev));
	KUNIT_EXPECT_FALSE(test, adev->no_hw_access);
	KUNIT_EXPECT_GT(test, adev->usec_timeout, 1);

	mock_silence_lasts(gpu);
	adev->hotplug.next_check = jiffies;
	amdgpu_device_rreg(adev, 0, 0);
	KUNIT_EXPECT_TRUE(test, amdgpu_hotplug_lost(adev));
	KUNIT_EXPECT_FALSE(test, mock_suspected(gpu));
	KUNIT_EXPECT_EQ(test, adev->usec_timeout, 1);
	KUNIT_EXPECT_EQ(test, mock_told(gpu), 1);
}

/* A link that was down for a moment costs nothing but what was sent meanwhile */
static void silence_ends(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "silent");
	struct amdgpu_device *adev = gpu->adev;
	u32 reg = 5;

	adev->rmmio = (void __iomem *)&reg;
	adev->rmmio_size = sizeof(reg);

	gpu->absent = true;
	KUNIT_EXPECT_FALSE(test, mock_poll(gpu));
	KUNIT_EXPECT_TRUE(test, mock_suspected(gpu));
	KUNIT_EXPECT_EQ(test, amdgpu_device_rreg(adev, 0, 0), ~0U);
	amdgpu_device_wreg(adev, 0, 6, 0);
	KUNIT_EXPECT_EQ(test, reg, 5);

	/* Whoever wants to access it looks, also where no work can run */
	gpu->absent = false;
	adev->hotplug.next_check = jiffies;
	KUNIT_EXPECT_EQ(test, amdgpu_device_rreg(adev, 0, 0), 5);
	KUNIT_EXPECT_FALSE(test, mock_suspected(gpu));
	amdgpu_device_wreg(adev, 0, 6, 0);
	KUNIT_EXPECT_EQ(test, reg, 6);

	/* Its silence begins anew */
	gpu->absent = true;
	KUNIT_EXPECT_FALSE(test, mock_poll(gpu));
	KUNIT_EXPECT_FALSE(test, mock_poll(gpu));
	KUNIT_EXPECT_EQ(test, mock_phase(gpu), AMDGPU_HOTPLUG_PRESENT);
	KUNIT_EXPECT_EQ(test, mock_told(gpu), 0);

	adev->rmmio = NULL;
}

/* Nobody has to poll for it */
static void silence_is_watched(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "silent");
	struct amdgpu_device *adev = gpu->adev;
	int i;

	gpu->absent = true;
	mock_poll(gpu);
	gpu->absent = false;
	for (i = 0; i < 1000 && mock_suspected(gpu); i++)
		usleep_range(10000, 11000);
	KUNIT_EXPECT_FALSE(test, mock_suspected(gpu));
	KUNIT_EXPECT_FALSE(test, amdgpu_hotplug_lost(adev));

	gpu->absent = true;
	mock_poll(gpu);
	for (i = 0; i < 1000 && !amdgpu_hotplug_lost(adev); i++)
		usleep_range(10000, 11000);
	KUNIT_EXPECT_TRUE(test, amdgpu_hotplug_lost(adev));
}

/* Who has to know waits, and goes on when the GPU is back */
static void silence_is_waited_for(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "silent");
	struct amdgpu_device *adev = gpu->adev;

	gpu->absent_reads = 5;
	KUNIT_EXPECT_EQ(test, amdgpu_hotplug_check(adev, "back"), 0);
	KUNIT_EXPECT_FALSE(test, mock_suspected(gpu));
	KUNIT_EXPECT_GT(test, gpu->vendor_reads, 5);

	gpu->absent_reads = 5;
	KUNIT_EXPECT_EQ(test, amdgpu_hotplug_awake(adev), 0);
	KUNIT_EXPECT_EQ(test, mock_phase(gpu), AMDGPU_HOTPLUG_PRESENT);
}

/* A GPU that says that it is not ready is there, though not for ever */
static void not_ready_is_waited_for(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "unready");
	struct amdgpu_device *adev = gpu->adev;

	gpu->not_ready = true;
	KUNIT_EXPECT_FALSE(test, mock_poll(gpu));
	KUNIT_EXPECT_TRUE(test, mock_suspected(gpu));
	mock_silence_lasts(gpu);
	KUNIT_EXPECT_FALSE(test, mock_poll(gpu));
	KUNIT_EXPECT_TRUE(test, mock_suspected(gpu));

	gpu->not_ready = false;
	KUNIT_EXPECT_FALSE(test, mock_poll(gpu));
	KUNIT_EXPECT_FALSE(test, mock_suspected(gpu));

	gpu->not_ready = true;
	KUNIT_EXPECT_FALSE(test, mock_poll(gpu));
	scoped_guard(spinlock_irqsave, &adev->hotplug.silence_lock)
		adev->hotplug.suspected_since = jiffies - 120 * HZ;
	KUNIT_EXPECT_TRUE(test, mock_poll(gpu));
	KUNIT_EXPECT_EQ(test, mock_phase(gpu), AMDGPU_HOTPLUG_LOST);
}

/* What the PCI core recovers is not lost, however long it takes */
static void silence_explained_later(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "dpc");
	struct amdgpu_device *adev = gpu->adev;

	gpu->absent = true;
	mock_poll(gpu);
	KUNIT_EXPECT_TRUE(test, mock_suspected(gpu));

	gpu->pdev.error_state = pci_channel_io_frozen;
	mock_silence_lasts(gpu);
	KUNIT_EXPECT_FALSE(test, mock_poll(gpu));
	mock_silence_lasts(gpu);
	adev->hotplug.next_awake = jiffies;
	KUNIT_EXPECT_FALSE(test, amdgpu_hotplug_poll_awake(adev));
	KUNIT_EXPECT_EQ(test, amdgpu_hotplug_check(adev, "frozen"), 0);

	/* It has the whole time from then on */
	gpu->pdev.error_state = pci_channel_io_normal;
	KUNIT_EXPECT_FALSE(test, mock_poll(gpu));
	KUNIT_EXPECT_TRUE(test, mock_suspected(gpu));
	gpu->absent = false;
	KUNIT_EXPECT_EQ(test, amdgpu_hotplug_awake(adev), 0);
	KUNIT_EXPECT_FALSE(test, mock_suspected(gpu));

	/* A reset that begins explains it, too */
	gpu->absent = true;
	mock_poll(gpu);
	KUNIT_ASSERT_TRUE(test, amdgpu_hotplug_reset_begin(adev));
	KUNIT_EXPECT_FALSE(test, mock_suspected(gpu));
	amdgpu_hotplug_reset_end(adev);
}

/* Another function of the card has no error handlers: nothing has happened here */
static void error_of_another_function(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "neighbour");

	KUNIT_EXPECT_EQ(test, amdgpu_pci_error_detected(&gpu->pdev,
							pci_channel_io_normal),
			PCI_ERS_RESULT_CAN_RECOVER);
	amdgpu_pci_error_detected(&gpu->pdev, pci_channel_io_perm_failure);
	KUNIT_EXPECT_EQ(test, mock_phase(gpu), AMDGPU_HOTPLUG_PRESENT);

	/* After a fatal one the channel stays frozen */
	gpu->pdev.error_state = pci_channel_io_frozen;
	amdgpu_pci_error_detected(&gpu->pdev, pci_channel_io_perm_failure);
	KUNIT_EXPECT_EQ(test, mock_phase(gpu), AMDGPU_HOTPLUG_LOST);
}

/* What was asleep or reset must answer when it has been woken */
static void lost_when_not_awake(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "asleep");
	struct amdgpu_device *adev = gpu->adev;

	adev->in_suspend = true;
	KUNIT_EXPECT_EQ(test, amdgpu_hotplug_awake(adev), 0);

	gpu->absent = true;
	KUNIT_EXPECT_EQ(test, amdgpu_hotplug_check(adev, "asleep"), 0);
	KUNIT_EXPECT_EQ(test, amdgpu_hotplug_awake(adev), -ENODEV);
	KUNIT_EXPECT_EQ(test, mock_phase(gpu), AMDGPU_HOTPLUG_LOST);

	/* Known, and not looked for again */
	gpu->vendor_reads = 0;
	KUNIT_EXPECT_EQ(test, amdgpu_hotplug_awake(adev), -ENODEV);
	KUNIT_EXPECT_EQ(test, gpu->vendor_reads, 0);
}

/* Neither does a reset wait for ever, whoever else looks and knows nothing */
static void lost_when_not_back(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "reset");
	struct amdgpu_device *adev = gpu->adev;

	gpu->absent = true;
	mock_poll(gpu);
	KUNIT_EXPECT_TRUE(test, mock_suspected(gpu));
	KUNIT_ASSERT_TRUE(test, amdgpu_hotplug_reset_begin(adev));
	KUNIT_EXPECT_FALSE(test, mock_suspected(gpu));

	KUNIT_EXPECT_FALSE(test, amdgpu_hotplug_poll_awake(adev));
	KUNIT_EXPECT_TRUE(test, mock_suspected(gpu));
	KUNIT_EXPECT_FALSE(test, mock_poll(gpu));
	KUNIT_EXPECT_EQ(test, amdgpu_hotplug_awake(adev), -ENODEV);
	KUNIT_EXPECT_EQ(test, mock_phase(gpu), AMDGPU_HOTPLUG_LOST);
	amdgpu_hotplug_reset_end(adev);
}

/* Who waits for an engine in a reset or a suspend reads ones before it asks */
static void poll_awake_has_its_turn(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "engine");
	struct amdgpu_device *adev = gpu->adev;

	adev->in_suspend = true;
	gpu->absent = true;
	adev->hotplug.next_check = jiffies;
	adev->hotplug.next_awake = jiffies;
	KUNIT_EXPECT_FALSE(test, amdgpu_hotplug_poll(adev));
	KUNIT_EXPECT_FALSE(test, mock_suspected(gpu));
	KUNIT_EXPECT_FALSE(test, amdgpu_hotplug_poll_awake(adev));
	KUNIT_EXPECT_TRUE(test, mock_suspected(gpu));

	mock_silence_lasts(gpu);
	adev->hotplug.next_awake = jiffies;
	KUNIT_EXPECT_TRUE(test, amdgpu_hotplug_poll_awake(adev));
	KUNIT_EXPECT_EQ(test, mock_phase(gpu), AMDGPU_HOTPLUG_LOST);
}

/* Loops ask often, and configuration space is read now and then */
static void poll_reads_seldom(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "absent");
	struct amdgpu_device *adev = gpu->adev;

	gpu->absent = true;
	adev->hotplug.next_check = jiffies + 1000 * HZ;
	KUNIT_EXPECT_FALSE(test, amdgpu_hotplug_poll(adev));
	KUNIT_EXPECT_EQ(test, gpu->vendor_reads, 0);

	KUNIT_EXPECT_FALSE(test, mock_poll(gpu));
	KUNIT_EXPECT_GE(test, gpu->vendor_reads, 1);
	KUNIT_EXPECT_TRUE(test, mock_suspected(gpu));

	mock_silence_lasts(gpu);
	KUNIT_EXPECT_TRUE(test, mock_poll(gpu));
	KUNIT_EXPECT_EQ(test, mock_phase(gpu), AMDGPU_HOTPLUG_LOST);
}

/* Nobody has asked for so long that jiffies have wrapped */
static void poll_reads_after_a_pause(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "unasked");

	gpu->adev->hotplug.next_check = jiffies + LONG_MAX / 2;
	KUNIT_EXPECT_FALSE(test, amdgpu_hotplug_poll(gpu->adev));
	KUNIT_EXPECT_GE(test, gpu->vendor_reads, 1);
}

/* --- Resume */

/* Ends the resume: what comes next needs firmware */
static int mock_ip_resume(struct amdgpu_ip_block *ip_block)
{
	to_mock_gpu(ip_block->adev)->resumed++;

	return -EBUSY;
}

static const struct amd_ip_funcs mock_ip_funcs = {
	.name = "kunit",
	.resume = mock_ip_resume,
};

static const struct amdgpu_ip_block_version mock_ip_version = {
	.type = AMD_IP_BLOCK_TYPE_COMMON,
	.funcs = &mock_ip_funcs,
};

static struct mock_gpu *mock_sleeping_gpu(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "resume");
	struct amdgpu_device *adev = gpu->adev;

	adev->in_suspend = true;
	adev->ip_blocks[0].adev = adev;
	adev->ip_blocks[0].version = &mock_ip_version;
	adev->ip_blocks[0].status.valid = true;
	adev->num_ip_blocks = 1;
	/* Has no VBIOS that would be executed */
	adev->flags |= AMD_IS_APU;
	adev->aid_mask = 1;

	return gpu;
}

/* A GPU that left while it was asleep is neither resumed nor waited for */
static void resume_when_absent(struct kunit *test)
{
	struct mock_gpu *gpu = mock_sleeping_gpu(test);
	struct drm_device *drm = adev_to_drm(gpu->adev);

	/* Else it is not tried again */
	gpu->adev->in_runpm = true;
	KUNIT_EXPECT_EQ(test, amdgpu_device_resume(drm, false), -EBUSY);
	KUNIT_EXPECT_EQ(test, gpu->resumed, 1);
	KUNIT_EXPECT_EQ(test, mock_phase(gpu), AMDGPU_HOTPLUG_PRESENT);

	gpu->absent = true;
	KUNIT_EXPECT_EQ(test, amdgpu_device_resume(drm, false), -ENODEV);
	KUNIT_EXPECT_EQ(test, gpu->resumed, 1);
	KUNIT_EXPECT_EQ(test, mock_phase(gpu), AMDGPU_HOTPLUG_LOST);
}

/* A failed request for access is no reason to refuse the next one; a loss is */
static void access_restored(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "access");
	struct amdgpu_device *adev = gpu->adev;

	adev->no_hw_access = true;
	amdgpu_hotplug_restore_access(adev);
	KUNIT_EXPECT_FALSE(test, adev->no_hw_access);

	amdgpu_hotplug_mark_lost(adev, "access");
	amdgpu_hotplug_restore_access(adev);
	KUNIT_EXPECT_TRUE(test, adev->no_hw_access);
}

/* One that vga_switcheroo has parked is not on the bus, and comes back */
static void resume_when_switched_off(struct kunit *test)
{
	struct mock_gpu *gpu = mock_sleeping_gpu(test);
	struct drm_device *drm = adev_to_drm(gpu->adev);

	gpu->absent = true;
	drm->switch_power_state = DRM_SWITCH_POWER_OFF;
	KUNIT_EXPECT_EQ(test, amdgpu_device_resume(drm, false), 0);
	KUNIT_EXPECT_EQ(test, gpu->resumed, 0);
	KUNIT_EXPECT_EQ(test, mock_phase(gpu), AMDGPU_HOTPLUG_PRESENT);
}

/* Processes, also those of other GPUs, would wait for it for ever */
static void lost_when_resume_fails(struct kunit *test)
{
	struct mock_gpu *gpu = mock_sleeping_gpu(test);
	struct drm_device *drm = adev_to_drm(gpu->adev);

	KUNIT_EXPECT_EQ(test, amdgpu_device_resume(drm, false), -EBUSY);
	KUNIT_EXPECT_EQ(test, mock_phase(gpu), AMDGPU_HOTPLUG_LOST);
	KUNIT_EXPECT_EQ(test, mock_told(gpu), 1);

	KUNIT_EXPECT_EQ(test, amdgpu_device_resume(drm, false), -ENODEV);
	KUNIT_EXPECT_EQ(test, gpu->resumed, 1);
}

/* --- Resets */

static void reset_when_lost(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "reset");
	struct amdgpu_device *adev = gpu->adev;

	KUNIT_ASSERT_TRUE(test, amdgpu_hotplug_reset_begin(adev));
	KUNIT_EXPECT_FALSE(test, amdgpu_hotplug_reset_begin(adev));
	amdgpu_hotplug_reset_end(adev);

	KUNIT_ASSERT_TRUE(test, amdgpu_hotplug_reset_begin(adev));
	amdgpu_hotplug_mark_lost(adev, "during a reset");
	amdgpu_hotplug_reset_end(adev);
	KUNIT_EXPECT_FALSE(test, amdgpu_hotplug_reset_begin(adev));
}

static void reset_when_disconnected(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "reset");

	gpu->pdev.error_state = pci_channel_io_perm_failure;
	KUNIT_EXPECT_FALSE(test, amdgpu_hotplug_reset_begin(gpu->adev));
}

static void reset_when_removed(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "reset");

	amdgpu_hotplug_remove_begin(gpu->adev);
	KUNIT_EXPECT_FALSE(test, amdgpu_hotplug_reset_begin(gpu->adev));
	amdgpu_hotplug_remove_end(gpu->adev);
	KUNIT_EXPECT_FALSE(test, amdgpu_hotplug_reset_begin(gpu->adev));
}

struct mock_work {
	struct work_struct work;
	struct amdgpu_device *adev;
	struct completion go;
	bool ran;
	bool in_time;
};

static struct mock_work *mock_work(struct kunit *test, struct amdgpu_device *adev,
				   work_func_t func)
{
	struct mock_work *work;

	work = kunit_kzalloc(test, sizeof(*work), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, work);
	INIT_WORK(&work->work, func);
	init_completion(&work->go);
	work->adev = adev;

	return work;
}

/* A reset that hangs, as those do that wait for hardware, until the GPU is lost */
static void mock_hung_reset(struct work_struct *work)
{
	struct mock_work *reset = container_of(work, struct mock_work, work);
	unsigned long end = jiffies + 60 * HZ;

	while (!reset->in_time && time_before(jiffies, end)) {
		reset->in_time = mock_look(to_mock_gpu(reset->adev));
		usleep_range(100, 200);
	}
	/* What resets and resumes a GPU makes it bus master */
	to_mock_gpu(reset->adev)->command |= PCI_COMMAND_MASTER;
	WRITE_ONCE(reset->ran, true);
	amdgpu_hotplug_reset_end(reset->adev);
}

/* A removal gives up the GPU of a reset that hangs, and waits for its end */
static void removal_ends_hung_reset(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "hung");
	struct mock_work *reset = mock_work(test, gpu->adev, mock_hung_reset);

	KUNIT_ASSERT_TRUE(test, amdgpu_hotplug_reset_begin(gpu->adev));
	queue_work(system_dfl_wq, &reset->work);

	amdgpu_hotplug_remove_begin(gpu->adev);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(reset->ran));
	flush_work(&reset->work);
	KUNIT_EXPECT_TRUE(test, reset->in_time);
	KUNIT_EXPECT_EQ(test, mock_phase(gpu), AMDGPU_HOTPLUG_LOST);
	/* Nothing writes to memory that is freed from now on */
	KUNIT_EXPECT_EQ(test, gpu->command & PCI_COMMAND_MASTER, 0);

	amdgpu_hotplug_remove_end(gpu->adev);
}

static void mock_slow_reset(struct work_struct *work)
{
	struct mock_work *reset = container_of(work, struct mock_work, work);
	int i;

	/* It is waited for very often, and goes on */
	for (i = 0; i < 10 * AMDGPU_HOTPLUG_LOOKS; i++) {
		mock_look(to_mock_gpu(reset->adev));
		if (i % 100 == 0)
			amdgpu_hotplug_finished(&reset->adev->hotplug);
	}
	msleep(1000);
	WRITE_ONCE(reset->ran, true);
	amdgpu_hotplug_reset_end(reset->adev);
}

/* It waits for one that takes long, and the GPU is well */
static void removal_waits_for_slow_reset(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "slow");
	struct mock_work *reset = mock_work(test, gpu->adev, mock_slow_reset);

	KUNIT_ASSERT_TRUE(test, amdgpu_hotplug_reset_begin(gpu->adev));
	amdgpu_hotplug_state_remove_begin(&gpu->adev->hotplug.state);
	queue_work(system_dfl_wq, &reset->work);

	amdgpu_hotplug_remove_begin(gpu->adev);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(reset->ran));
	flush_work(&reset->work);
	KUNIT_EXPECT_EQ(test, mock_phase(gpu), AMDGPU_HOTPLUG_REMOVING);
	KUNIT_EXPECT_EQ(test, atomic_read(&gpu->adev->hotplug.looks), 0);
	KUNIT_EXPECT_NE(test, gpu->command & PCI_COMMAND_MASTER, 0);

	amdgpu_hotplug_remove_end(gpu->adev);
}

/* Not each register that is read is one that is waited for */
static void removal_knows_waits(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "reads");
	int i;

	for (i = 0; i < 2 * AMDGPU_HOTPLUG_LOOKS; i++)
		KUNIT_ASSERT_EQ(test, mock_read(gpu, 7, 0), 0);

	amdgpu_hotplug_remove_begin(gpu->adev);
	/* Some are read in turn, or are written in between */
	for (i = 0; i < 2 * AMDGPU_HOTPLUG_LOOKS; i++)
		KUNIT_ASSERT_EQ(test, mock_read(gpu, 8 + i % 2, 0), 0);
	for (i = 0; i < 2 * AMDGPU_HOTPLUG_LOOKS; i++)
		KUNIT_ASSERT_EQ(test, mock_read(gpu, 7, i), 0);
	/* A loop waits for this one */
	for (i = 0; i < AMDGPU_HOTPLUG_POLLS; i++)
		KUNIT_ASSERT_EQ(test, mock_read(gpu, 9, 1), 0);
	KUNIT_EXPECT_EQ(test, mock_read(gpu, 9, 1), 0);
	KUNIT_EXPECT_EQ(test, mock_read(gpu, 9, 1), 1);
	KUNIT_EXPECT_EQ(test, mock_read(gpu, 9, 1), 2);
	/* It has given up, and the next one begins: nothing is finished */
	KUNIT_EXPECT_EQ(test, mock_read(gpu, 8, 1), 2);
	for (i = 0; i < AMDGPU_HOTPLUG_POLLS; i++)
		KUNIT_EXPECT_EQ(test, mock_read(gpu, 8, 1), 2);
	KUNIT_EXPECT_EQ(test, mock_read(gpu, 8, 1), 3);
	/* What it waited for has come */
	KUNIT_EXPECT_EQ(test, mock_read(gpu, 8, 0), 0);
	KUNIT_EXPECT_EQ(test, mock_phase(gpu), AMDGPU_HOTPLUG_REMOVING);

	amdgpu_hotplug_remove_end(gpu->adev);
}

/* Hardware hangs that was looked at so often, and has finished nothing */
static void removal_counts_looks(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "hangs");
	struct amdgpu_device *adev = gpu->adev;
	int i;

	/* Not without a removal, whatever the hardware does */
	for (i = 0; i < 2 * AMDGPU_HOTPLUG_LOOKS; i++)
		KUNIT_ASSERT_FALSE(test, mock_look(gpu));

	amdgpu_hotplug_remove_begin(adev);
	for (i = 1; i < AMDGPU_HOTPLUG_LOOKS; i++)
		KUNIT_ASSERT_FALSE(test, mock_look(gpu));
	/* It has finished what was waited for, and the next thing has its own time */
	amdgpu_hotplug_finished(&adev->hotplug);
	for (i = 1; i < AMDGPU_HOTPLUG_LOOKS; i++)
		KUNIT_ASSERT_FALSE(test, mock_look(gpu));
	/* Nor does it go on because it answers somebody else */
	adev->hotplug.looker = NULL;
	amdgpu_hotplug_finished(&adev->hotplug);
	KUNIT_EXPECT_EQ(test, atomic_read(&adev->hotplug.looks),
			AMDGPU_HOTPLUG_LOOKS - 1);
	/* A busy loop looks no more often than a patient one, nor who waits for others */
	adev->hotplug.next_look = jiffies + 60 * HZ;
	for (i = 0; i < AMDGPU_HOTPLUG_LOOKS; i++)
		KUNIT_ASSERT_FALSE(test, amdgpu_hotplug_poll(adev));
	adev->hotplug.next_look = jiffies;
	for (i = 0; i < AMDGPU_HOTPLUG_LOOKS; i++)
		KUNIT_ASSERT_FALSE(test, amdgpu_hotplug_ask(adev));

	KUNIT_EXPECT_TRUE(test, mock_look(gpu));
	KUNIT_EXPECT_EQ(test, mock_phase(gpu), AMDGPU_HOTPLUG_LOST);
	KUNIT_EXPECT_EQ(test, gpu->command & PCI_COMMAND_MASTER, 0);
	KUNIT_EXPECT_NE(test, gpu->command & PCI_COMMAND_INTX_DISABLE, 0);

	amdgpu_hotplug_remove_end(adev);
}

static void mock_blocker(struct work_struct *work)
{
	wait_for_completion(&container_of(work, struct mock_work, work)->go);
}

static void mock_reset_work(struct work_struct *work)
{
	struct amdgpu_device *adev =
		container_of(work, struct amdgpu_device, reset_work);

	to_mock_gpu(adev)->told++;
}

/* A reset that is queued when the removal begins never runs, nor does a later one */
static void removal_drops_queued_reset(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "queued");
	struct amdgpu_device *adev = gpu->adev;
	struct mock_work *blocker = mock_work(test, adev, mock_blocker);

	INIT_WORK(&adev->reset_work, mock_reset_work);

	queue_work(adev->reset_domain->wq, &blocker->work);
	KUNIT_EXPECT_TRUE(test, amdgpu_hotplug_schedule_reset(adev, &adev->reset_work));
	KUNIT_EXPECT_FALSE(test, amdgpu_hotplug_schedule_reset(adev, &adev->reset_work));
	KUNIT_EXPECT_TRUE(test, work_pending(&adev->reset_work));

	amdgpu_hotplug_remove_begin(adev);
	KUNIT_EXPECT_FALSE(test, work_pending(&adev->reset_work));
	KUNIT_EXPECT_TRUE(test, amdgpu_hotplug_schedule_reset(adev, &adev->reset_work));
	KUNIT_EXPECT_FALSE(test, work_pending(&adev->reset_work));

	complete(&blocker->go);
	flush_workqueue(adev->reset_domain->wq);
	KUNIT_EXPECT_EQ(test, gpu->told, 0);
	amdgpu_hotplug_remove_end(adev);
}

static void mock_next_reset(struct work_struct *work)
{
	struct mock_work *reset = container_of(work, struct mock_work, work);
	struct amdgpu_device *adev = reset->adev;

	amdgpu_device_lock_reset_domain(adev->reset_domain);
	reset->ran = amdgpu_in_reset(adev);
	amdgpu_device_unlock_reset_domain(adev->reset_domain);
}

/* The end of a reset is not the end of one that waits for it */
static void reset_after_reset(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "next");
	struct amdgpu_device *adev = gpu->adev;
	struct mock_work *next = mock_work(test, adev, mock_next_reset);

	amdgpu_device_lock_reset_domain(adev->reset_domain);
	queue_work(adev->reset_domain->wq, &next->work);
	while (!rwsem_is_contended(&adev->reset_domain->sem))
		usleep_range(1000, 2000);
	amdgpu_device_unlock_reset_domain(adev->reset_domain);

	flush_work(&next->work);
	KUNIT_EXPECT_TRUE(test, next->ran);
	KUNIT_EXPECT_FALSE(test, amdgpu_in_reset(adev));
}

/* Who uses the hardware again does not take it for being reset, and is let in */
static void reset_shared_at_its_end(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "shared");
	struct amdgpu_reset_domain *domain = gpu->adev->reset_domain;
	bool let_in;

	amdgpu_device_lock_reset_domain(domain);
	KUNIT_EXPECT_TRUE(test, amdgpu_in_reset(gpu->adev));
	KUNIT_EXPECT_FALSE(test, down_read_trylock(&domain->sem));

	amdgpu_device_share_reset_domain(domain);
	KUNIT_EXPECT_FALSE(test, amdgpu_in_reset(gpu->adev));
	KUNIT_EXPECT_FALSE(test, down_write_trylock(&domain->sem));
	let_in = down_read_trylock(&domain->sem);
	KUNIT_EXPECT_TRUE(test, let_in);
	if (let_in)
		up_read(&domain->sem);

	amdgpu_device_unlock_reset_domain(domain);
	KUNIT_EXPECT_FALSE(test, amdgpu_in_reset(gpu->adev));
}

static void mock_recovery_end(struct work_struct *work)
{
	struct mock_work *end = container_of(work, struct mock_work, work);

	amdgpu_device_unpark_reset_domain(end->adev->reset_domain);
	amdgpu_device_unlock_reset_domain(end->adev->reset_domain);
}

/* PCI error recovery keeps all others out, and can be ended by another task */
static void reset_parked(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "parked");
	struct amdgpu_device *adev = gpu->adev;
	struct amdgpu_reset_domain *domain = adev->reset_domain;
	struct mock_work *next = mock_work(test, adev, mock_next_reset);
	struct mock_work *end = mock_work(test, adev, mock_recovery_end);
	bool let_in;

	amdgpu_device_lock_reset_domain(domain);
	amdgpu_device_park_reset_domain(domain);
	queue_work(domain->wq, &next->work);
	msleep(20);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(next->ran));
	KUNIT_EXPECT_TRUE(test, amdgpu_in_reset(adev));
	let_in = amdgpu_reset_domain_read_trylock(domain);
	KUNIT_EXPECT_FALSE(test, let_in);
	if (let_in)
		amdgpu_reset_domain_read_unlock(domain);

	queue_work(system_dfl_wq, &end->work);
	flush_work(&end->work);
	flush_work(&next->work);
	KUNIT_EXPECT_TRUE(test, next->ran);
	KUNIT_EXPECT_FALSE(test, amdgpu_in_reset(adev));
	amdgpu_reset_domain_read_lock(domain);
	amdgpu_reset_domain_read_unlock(domain);
}

/* A freeze does not begin in a PCI error recovery, and keeps others from beginning */
static void recovery_held_off(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "held-off");
	struct amdgpu_device *adev = gpu->adev;
	struct amdgpu_reset_domain *domain = adev->reset_domain;

	mutex_init(&adev->reset_list_lock);
	amdgpu_device_lock_reset_domain(domain);
	amdgpu_device_park_reset_domain(domain);
	KUNIT_EXPECT_EQ(test, amdgpu_pci_recovery_hold_off(adev), -EBUSY);
	KUNIT_EXPECT_EQ(test, atomic_read(&domain->freezing), 0);
	amdgpu_device_unpark_reset_domain(domain);
	amdgpu_device_unlock_reset_domain(domain);

	KUNIT_ASSERT_EQ(test, amdgpu_pci_recovery_hold_off(adev), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&domain->freezing), 1);
	amdgpu_pci_recovery_let_in(adev);
	KUNIT_EXPECT_EQ(test, atomic_read(&domain->freezing), 0);
}

static struct kunit_case amdgpu_hotplug_cases[] = {
	KUNIT_CASE(lost_once),
	KUNIT_CASE(lost_while_removed),
	KUNIT_CASE(gone_when_removed),
	KUNIT_CASE(lost_when_disconnected),
	KUNIT_CASE(lost_when_absent),
	KUNIT_CASE(lost_in_probe),
	KUNIT_CASE(lost_when_all_ones),
	KUNIT_CASE(silence_ends),
	KUNIT_CASE(silence_is_watched),
	KUNIT_CASE(silence_is_waited_for),
	KUNIT_CASE(silence_explained_later),
	KUNIT_CASE(error_of_another_function),
	KUNIT_CASE(lost_when_not_awake),
	KUNIT_CASE(access_restored),
	KUNIT_CASE(lost_when_not_back),
	KUNIT_CASE(poll_awake_has_its_turn),
	KUNIT_CASE(poll_reads_seldom),
	KUNIT_CASE(poll_reads_after_a_pause),
	KUNIT_CASE(not_ready_is_waited_for),
	KUNIT_CASE(resume_when_absent),
	KUNIT_CASE(resume_when_switched_off),
	KUNIT_CASE(lost_when_resume_fails),
	KUNIT_CASE(reset_when_lost),
	KUNIT_CASE(reset_when_disconnected),
	KUNIT_CASE(reset_when_removed),
	KUNIT_CASE(reset_after_reset),
	KUNIT_CASE(reset_shared_at_its_end),
	KUNIT_CASE(reset_parked),
	KUNIT_CASE(recovery_held_off),
	KUNIT_CASE(removal_ends_hung_reset),
	KUNIT_CASE(removal_waits_for_slow_reset),
	KUNIT_CASE(removal_knows_waits),
	KUNIT_CASE(removal_counts_looks),
	KUNIT_CASE(removal_drops_queued_reset),
	{}
};

static struct kunit_suite amdgpu_hotplug_suite = {
	.name = "amdgpu_hotplug",
	.test_cases = amdgpu_hotplug_cases,
};

/* --- Fences */

static void mock_emit_fence(struct amdgpu_ring *ring, uint64_t addr, uint64_t seq,
			    unsigned int flags)
{
}

static const struct amdgpu_ring_funcs mock_ring_funcs = {
	.type = AMDGPU_RING_TYPE_COMPUTE,
	.emit_fence = mock_emit_fence,
};

static void mock_rings_fini(void *data)
{
	amdgpu_fence_driver_sw_fini(data);
	/* The fences use the lock of their ring until then */
	rcu_barrier();
}

static struct amdgpu_ring *mock_ring(struct kunit *test, struct mock_gpu *gpu)
{
	struct amdgpu_ring *ring;

	ring = kunit_kzalloc(test, sizeof(*ring), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ring);
	ring->adev = gpu->adev;
	ring->funcs = &mock_ring_funcs;
	ring->num_hw_submission = 4;
	strscpy(ring->name, "kunit");
	KUNIT_ASSERT_EQ(test, amdgpu_fence_driver_init_ring(ring), 0);
	gpu->ring = ring;
	gpu->adev->rings[0] = ring;
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, mock_rings_fini, gpu->adev));

	return ring;
}

static void mock_fences_put(void *data)
{
	struct mock_gpu *gpu = data;
	int i;

	for (i = 0; i < MOCK_FENCES; i++) {
		/* Else its slot keeps it for the ring to wait for */
		if (!dma_fence_is_signaled(gpu->fences[i]))
			dma_fence_signal(gpu->fences[i]);
		dma_fence_put(gpu->fences[i]);
	}
}

/* A GPU with a ring that works, and jobs on it none of which is executed */
static struct mock_gpu *mock_busy_gpu(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "busy");
	struct amdgpu_ring *ring = mock_ring(test, gpu);
	const struct drm_sched_init_args args = {
		.ops = &amdgpu_sched_ops,
		.num_rqs = DRM_SCHED_PRIORITY_COUNT,
		.credit_limit = 4,
		.timeout = MAX_SCHEDULE_TIMEOUT,
		.name = ring->name,
		.dev = gpu->adev->dev,
	};
	int i;

	ring->fence_drv.cpu_addr = &gpu->executed;
	ring->fence_drv.initialized = true;
	KUNIT_ASSERT_EQ(test, drm_sched_init(&ring->sched, &args), 0);

	for (i = 0; i < MOCK_FENCES; i++) {
		struct amdgpu_fence *fence = kzalloc_obj(*fence);

		KUNIT_ASSERT_NOT_NULL(test, fence);
		amdgpu_fence_emit(ring, fence, 0);
		gpu->fences[i] = &fence->base;
	}
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, mock_fences_put, gpu));

	return gpu;
}

static void expect_fences(struct kunit *test, struct mock_gpu *gpu, int executed)
{
	int i;

	for (i = 0; i < MOCK_FENCES; i++)
		KUNIT_EXPECT_EQ_MSG(test, dma_fence_get_status(gpu->fences[i]),
				    i < executed ? 1 : -ENODEV, "fence %d", i);
}

static void fences_of_lost_gpu(struct kunit *test)
{
	struct mock_gpu *gpu = mock_busy_gpu(test);

	amdgpu_hotplug_mark_lost(gpu->adev, "with jobs");
	amdgpu_hotplug_complete_fences(gpu->adev);
	expect_fences(test, gpu, 0);
	/* What becomes ready later must be failed by somebody */
	KUNIT_EXPECT_FALSE(test, drm_sched_is_stopped(&gpu->ring->sched));
}

/* Fence numbers can be in memory of the GPU, where nobody writes them any more */
static void fences_without_memory(struct kunit *test)
{
	struct mock_gpu *gpu = mock_busy_gpu(test);

	gpu->ring->fence_drv.cpu_addr = NULL;
	amdgpu_hotplug_mark_lost(gpu->adev, "with jobs");
	amdgpu_hotplug_complete_fences(gpu->adev);
	expect_fences(test, gpu, 0);
}

/* What is executed is well, even if no interrupt told of it */
static void fences_executed_at_removal(struct kunit *test)
{
	struct mock_gpu *gpu = mock_busy_gpu(test);

	gpu->executed = MOCK_FENCES;
	amdgpu_hotplug_remove_begin(gpu->adev);
	amdgpu_hotplug_complete_fences(gpu->adev);
	expect_fences(test, gpu, MOCK_FENCES);
	KUNIT_EXPECT_EQ(test, mock_phase(gpu), AMDGPU_HOTPLUG_REMOVING);
	amdgpu_hotplug_remove_end(gpu->adev);
}

static void mock_finish(struct work_struct *work)
{
	struct mock_gpu *gpu = container_of(work, struct mock_gpu, finish.work);

	WRITE_ONCE(gpu->executed, MOCK_FENCES);
}

/* A job has the time that is its, and the GPU is well meanwhile */
static void fences_slow_at_removal(struct kunit *test)
{
	struct mock_gpu *gpu = mock_busy_gpu(test);

	INIT_DELAYED_WORK(&gpu->finish, mock_finish);
	schedule_delayed_work(&gpu->finish, HZ);
	amdgpu_hotplug_remove_begin(gpu->adev);
	amdgpu_hotplug_complete_fences(gpu->adev);
	flush_delayed_work(&gpu->finish);
	expect_fences(test, gpu, MOCK_FENCES);
	KUNIT_EXPECT_EQ(test, mock_phase(gpu), AMDGPU_HOTPLUG_REMOVING);
	KUNIT_EXPECT_EQ(test, gpu->resets, 0);
	amdgpu_hotplug_remove_end(gpu->adev);
}

/* A removal does not wait for a hang, and frees nothing that is written to */
static void fences_hung_at_removal(struct kunit *test)
{
	struct mock_gpu *gpu = mock_busy_gpu(test);

	gpu->executed = 1;
	amdgpu_hotplug_remove_begin(gpu->adev);
	amdgpu_hotplug_complete_fences(gpu->adev);
	expect_fences(test, gpu, 1);
	KUNIT_EXPECT_EQ(test, mock_phase(gpu), AMDGPU_HOTPLUG_LOST);
	/* Nothing runs on that the next driver would give access to memory */
	KUNIT_EXPECT_EQ(test, gpu->resets, 1);
	KUNIT_EXPECT_FALSE(test, gpu->reset_as_master);
	KUNIT_EXPECT_EQ(test, gpu->command & PCI_COMMAND_MASTER, 0);
	amdgpu_hotplug_remove_end(gpu->adev);
}

/* The work that a loss queues signals them, without anybody else's doing */
static void fences_by_work_of_loss(struct kunit *test)
{
	struct mock_gpu *gpu = mock_busy_gpu(test);

	amdgpu_hotplug_init(gpu->adev);
	amdgpu_hotplug_mark_lost(gpu->adev, "with jobs");
	flush_work(&gpu->adev->hotplug.lost_work);
	expect_fences(test, gpu, 0);
	KUNIT_EXPECT_EQ(test, gpu->command & PCI_COMMAND_MASTER, 0);
}

/* The array of a ring that was never started */
static void fence_array_freed(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "idle");
	struct amdgpu_ring *ring = mock_ring(test, gpu);

	KUNIT_ASSERT_NOT_NULL(test, ring->fence_drv.fences);
	amdgpu_fence_driver_sw_fini(gpu->adev);
	KUNIT_EXPECT_NULL(test, ring->fence_drv.fences);
}

static struct kunit_case amdgpu_hotplug_fence_cases[] = {
	KUNIT_CASE(fences_of_lost_gpu),
	KUNIT_CASE(fences_without_memory),
	KUNIT_CASE(fences_executed_at_removal),
	KUNIT_CASE(fences_slow_at_removal),
	KUNIT_CASE(fences_hung_at_removal),
	KUNIT_CASE(fences_by_work_of_loss),
	KUNIT_CASE(fence_array_freed),
	{}
};

static struct kunit_suite amdgpu_hotplug_fence_suite = {
	.name = "amdgpu_hotplug_fence",
	.test_cases = amdgpu_hotplug_fence_cases,
};

/* --- User queues */

/* A file with a user queue, and a fence of that which the GPU does not signal */
struct mock_userq {
	struct amdgpu_device *adev;
	struct amdgpu_userq_mgr mgr;
	struct amdgpu_usermode_queue queue;
	struct amdgpu_userq_fence_driver fence_drv;
	struct amdgpu_userq_fence fence;
	/* What the GPU writes when it has executed a job */
	u64 executed;

	unsigned int unmapped;
	int unmap_error;

	/* For who is in the middle of a removal, and for who closes the file then */
	struct completion unmapping, unmap;
	struct work_struct remove_work, close_work;
	struct completion closed;
};

static int mock_userq_unmap(struct amdgpu_usermode_queue *queue)
{
	struct mock_userq *userq = container_of(queue, struct mock_userq, queue);

	userq->unmapped++;
	complete(&userq->unmapping);
	wait_for_completion(&userq->unmap);

	return userq->unmap_error;
}

static const struct amdgpu_userq_funcs mock_userq_funcs = {
	.unmap = mock_userq_unmap,
};

static const char *mock_userq_fence_name(struct dma_fence *fence)
{
	return "kunit";
}

static const struct dma_fence_ops mock_userq_fence_ops = {
	.get_driver_name = mock_userq_fence_name,
	.get_timeline_name = mock_userq_fence_name,
};

static struct mock_userq *mock_userq(struct kunit *test, struct mock_gpu *gpu)
{
	struct amdgpu_userq_fence_driver *fence_drv;
	struct amdgpu_usermode_queue *queue;
	struct mock_userq *userq;

	userq = kunit_kzalloc(test, sizeof(*userq), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, userq);
	userq->adev = gpu->adev;
	init_completion(&userq->unmapping);
	init_completion(&userq->unmap);
	init_completion(&userq->closed);
	KUNIT_ASSERT_EQ(test, 0,
			amdgpu_userq_mgr_init(&userq->mgr, NULL, gpu->adev));

	fence_drv = &userq->fence_drv;
	fence_drv->adev = gpu->adev;
	fence_drv->cpu_addr = &userq->executed;
	INIT_LIST_HEAD(&fence_drv->fences);
	spin_lock_init(&fence_drv->fence_list_lock);

	/* The test keeps a reference, so that nobody frees it */
	spin_lock_init(&userq->fence.lock);
	dma_fence_init64(&userq->fence.base, &mock_userq_fence_ops,
			 &userq->fence.lock, dma_fence_context_alloc(1), 1);
	dma_fence_get(&userq->fence.base);
	list_add_tail(&userq->fence.link, &fence_drv->fences);

	queue = &userq->queue;
	queue->queue_type = AMDGPU_HW_IP_GFX;
	queue->state = AMDGPU_USERQ_STATE_MAPPED;
	queue->userq_mgr = &userq->mgr;
	queue->fence_drv = fence_drv;
	INIT_DELAYED_WORK(&queue->hang_detect_work, mock_idle_work);

	gpu->adev->userq_funcs[AMDGPU_HW_IP_GFX] = &mock_userq_funcs;
	KUNIT_ASSERT_EQ(test, 0,
			xa_insert_irq(&gpu->adev->userq_doorbell_xa, 0, queue,
				      GFP_KERNEL));

	return userq;
}

static void expect_userq_removed(struct kunit *test, struct mock_userq *userq,
				 unsigned int unmapped)
{
	amdgpu_userq_remove(userq->adev);
	KUNIT_EXPECT_EQ(test, userq->unmapped, unmapped);
	KUNIT_EXPECT_EQ(test, userq->queue.state, AMDGPU_USERQ_STATE_HUNG);
	KUNIT_EXPECT_EQ(test, dma_fence_get_status(&userq->fence.base), -ENODEV);
}

/* The GPU does not execute them any more, and nobody asks it for that again */
static void user_queues_unmapped_once(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "userq");
	struct mock_userq *userq = mock_userq(test, gpu);

	complete_all(&userq->unmap);
	amdgpu_hotplug_remove_begin(gpu->adev);
	expect_userq_removed(test, userq, 1);
	expect_userq_removed(test, userq, 1);
	KUNIT_EXPECT_FALSE(test, amdgpu_hotplug_lost(gpu->adev));
}

/* Their fences signal although there is no hardware to ask for anything */
static void user_queues_of_lost_gpu(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "userq");
	struct mock_userq *userq = mock_userq(test, gpu);

	amdgpu_hotplug_mark_lost(gpu->adev, "with user queues");
	expect_userq_removed(test, userq, 0);
}

/* What they still execute must not reach memory that is freed now */
static void user_queues_hung_at_removal(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "userq");
	struct mock_userq *userq = mock_userq(test, gpu);

	complete_all(&userq->unmap);
	userq->unmap_error = -ETIMEDOUT;
	amdgpu_hotplug_remove_begin(gpu->adev);
	expect_userq_removed(test, userq, 1);
	KUNIT_EXPECT_TRUE(test, amdgpu_hotplug_lost(gpu->adev));
	KUNIT_EXPECT_FALSE(test, gpu->command & PCI_COMMAND_MASTER);
}

static void mock_userq_remove_work(struct work_struct *work)
{
	struct mock_userq *userq =
		container_of(work, struct mock_userq, remove_work);

	amdgpu_userq_remove(userq->adev);
}

static void mock_userq_close_work(struct work_struct *work)
{
	struct mock_userq *userq =
		container_of(work, struct mock_userq, close_work);

	amdgpu_userq_mgr_fini(&userq->mgr);
	complete(&userq->closed);
}

/* The removal still has the file's manager when the last queue is destroyed */
static void user_queues_closed_at_removal(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "userq");
	struct mock_userq *userq = mock_userq(test, gpu);
	unsigned long early;

	amdgpu_hotplug_remove_begin(gpu->adev);
	INIT_WORK(&userq->remove_work, mock_userq_remove_work);
	INIT_WORK(&userq->close_work, mock_userq_close_work);
	queue_work(system_dfl_wq, &userq->remove_work);
	wait_for_completion(&userq->unmapping);

	xa_erase_irq(&gpu->adev->userq_doorbell_xa, 0);
	queue_work(system_dfl_wq, &userq->close_work);
	early = wait_for_completion_timeout(&userq->closed,
					    msecs_to_jiffies(MOCK_IDLE_MS));
	KUNIT_EXPECT_EQ(test, early, 0);

	complete_all(&userq->unmap);
	flush_work(&userq->remove_work);
	flush_work(&userq->close_work);
}

static struct kunit_case amdgpu_hotplug_userq_cases[] = {
	KUNIT_CASE(user_queues_unmapped_once),
	KUNIT_CASE(user_queues_of_lost_gpu),
	KUNIT_CASE(user_queues_hung_at_removal),
	KUNIT_CASE(user_queues_closed_at_removal),
	{}
};

static struct kunit_suite amdgpu_hotplug_userq_suite = {
	.name = "amdgpu_hotplug_userq",
	.test_cases = amdgpu_hotplug_userq_cases,
};

/* --- What else has to be right at removal */

static void mock_leave_hive(void *data)
{
	amdgpu_xgmi_remove_device(data);
}

static struct mock_gpu *mock_hive_gpu(struct kunit *test, const char *name,
				      unsigned int node)
{
	struct mock_gpu *gpu = mock_gpu(test, name);
	struct amdgpu_xgmi *xgmi = &gpu->adev->gmc.xgmi;

	xgmi->supported = true;
	xgmi->num_physical_nodes = 2;
	xgmi->physical_node_id = node;
	KUNIT_ASSERT_EQ(test, amdgpu_xgmi_add_device(gpu->adev), 0);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, mock_leave_hive, gpu->adev));

	return gpu;
}

/* At removal, and not when the last file is closed, which may be much later */
static void hive_left_at_removal(struct kunit *test)
{
	struct mock_gpu *removed = mock_hive_gpu(test, "removed", 0);
	struct mock_gpu *stays = mock_hive_gpu(test, "stays", 1);
	struct amdgpu_hive_info *hive = stays->adev->hive;
	struct mock_gpu *replacement;

	KUNIT_ASSERT_PTR_EQ(test, removed->adev->hive, hive);
	KUNIT_ASSERT_EQ(test, list_count_nodes(&hive->device_list), 2);

	amdgpu_device_fini_hw(removed->adev);

	KUNIT_EXPECT_EQ(test, list_count_nodes(&hive->device_list), 1);
	KUNIT_EXPECT_PTR_EQ(test, hive->device_list.next,
			    &stays->adev->gmc.xgmi.head);
	/* Nor does it come back by asking */
	hive = amdgpu_get_xgmi_hive(removed->adev);
	KUNIT_EXPECT_NULL(test, hive);
	amdgpu_put_xgmi_hive(hive);

	replacement = mock_hive_gpu(test, "replacement", 0);
	KUNIT_EXPECT_EQ(test, replacement->adev->psp.xgmi_context.top_info.num_nodes, 2);
}

/* PCI error recovery of another member needs the device lock that a removal holds */
static void hive_recovery_left(struct kunit *test)
{
	struct mock_gpu *removed = mock_hive_gpu(test, "leaves", 0);
	struct mock_gpu *recovers = mock_hive_gpu(test, "recovers", 1);
	struct amdgpu_reset_domain *domain = removed->adev->reset_domain;
	struct amdgpu_device *adev = removed->adev;

	KUNIT_ASSERT_PTR_EQ(test, recovers->adev->hive, adev->hive);
	amdgpu_device_lock_reset_domain(domain);
	KUNIT_ASSERT_TRUE(test, amdgpu_hotplug_reset_begin(adev));
	amdgpu_device_park_reset_domain(domain);

	amdgpu_hotplug_remove_begin(adev);
	KUNIT_EXPECT_TRUE(test, amdgpu_hotplug_lost(adev));
	KUNIT_EXPECT_FALSE(test, amdgpu_hotplug_state_resetting(&adev->hotplug.state));

	amdgpu_device_unpark_reset_domain(domain);
	amdgpu_device_unlock_reset_domain(domain);
	amdgpu_hotplug_remove_end(adev);
}

/* Works on a ring for longer than a removal takes that does not wait for it */
static void mock_ih_process(struct amdgpu_device *adev, struct amdgpu_ih_ring *ih)
{
	struct mock_gpu *gpu = to_mock_gpu(adev);
	unsigned long end;

	complete(&gpu->ih_started);
	while (READ_ONCE(adev->irq.installed))
		usleep_range(1000, 2000);

	end = jiffies + HZ / 10;
	while (READ_ONCE(ih->ring) && time_before(jiffies, end))
		usleep_range(1000, 2000);
	if (!READ_ONCE(ih->ring))
		gpu->ih_freed = true;
}

static void mock_ih1_work(struct work_struct *work)
{
	struct amdgpu_device *adev =
		container_of(work, struct amdgpu_device, irq.ih1_work);

	mock_ih_process(adev, &adev->irq.ih1);
	/* What is delegated */
	schedule_work(&adev->irq.ih_soft_work);
}

static void mock_ih2_work(struct work_struct *work)
{
	struct amdgpu_device *adev =
		container_of(work, struct amdgpu_device, irq.ih2_work);

	mock_ih_process(adev, &adev->irq.ih2);
	schedule_work(&adev->irq.ih_soft_work);
}

static void mock_ih_soft_work(struct work_struct *work)
{
	struct amdgpu_device *adev =
		container_of(work, struct amdgpu_device, irq.ih_soft_work);

	mock_ih_process(adev, &adev->irq.ih_soft);
}

static irqreturn_t mock_irq_handler(int irq, void *arg)
{
	return IRQ_NONE;
}

KUNIT_DEFINE_ACTION_WRAPPER(mock_irq_free, irq_free_desc, unsigned long);

/* @work is the one that runs while the interrupt is freed */
static void expect_ih_work_ends(struct kunit *test, struct mock_gpu *gpu,
				struct work_struct *work)
{
	struct amdgpu_device *adev = gpu->adev;
	struct amdgpu_irq *irq = &adev->irq;

	KUNIT_ASSERT_EQ(test, amdgpu_ih_ring_init(adev, &irq->ih1, PAGE_SIZE, true), 0);
	KUNIT_ASSERT_EQ(test, amdgpu_ih_ring_init(adev, &irq->ih2, PAGE_SIZE, true), 0);
	KUNIT_ASSERT_EQ(test, amdgpu_ih_ring_init(adev, &irq->ih_soft, PAGE_SIZE, true), 0);
	KUNIT_ASSERT_EQ(test, 0,
			request_irq(irq->irq, mock_irq_handler, 0, "kunit",
				    adev_to_drm(adev)));
	irq->installed = true;

	gpu->ih_freed = false;
	reinit_completion(&gpu->ih_started);
	schedule_work(work);
	wait_for_completion(&gpu->ih_started);

	amdgpu_irq_fini_hw(adev);
	flush_work(work);
	flush_work(&irq->ih_soft_work);
	KUNIT_EXPECT_FALSE_MSG(test, gpu->ih_freed, "%ps", work->func);
}

/* The works run on when no interrupt can come any more, and queue the last one */
static void ih_works_end_before_rings(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "interrupts");
	struct amdgpu_irq *irq = &gpu->adev->irq;
	int nr;

	nr = irq_alloc_desc(NUMA_NO_NODE);
	KUNIT_ASSERT_GT(test, nr, 0);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, mock_irq_free,
						  (void *)(unsigned long)nr));
	irq_set_chip_and_handler(nr, &dummy_irq_chip, handle_simple_irq);
	irq->irq = nr;

	init_completion(&gpu->ih_started);
	INIT_WORK(&irq->ih1_work, mock_ih1_work);
	INIT_WORK(&irq->ih2_work, mock_ih2_work);
	INIT_WORK(&irq->ih_soft_work, mock_ih_soft_work);

	expect_ih_work_ends(test, gpu, &irq->ih1_work);
	expect_ih_work_ends(test, gpu, &irq->ih2_work);
	expect_ih_work_ends(test, gpu, &irq->ih_soft_work);
}

static struct smu_context *mock_smu(struct kunit *test, struct mock_gpu *gpu,
				    const struct smu_msg_ops *ops)
{
	struct smu_context *smu;

	smu = kunit_kzalloc(test, sizeof(*smu), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, smu);
	smu->adev = gpu->adev;
	smu->msg_ctl.smu = smu;
	smu->msg_ctl.ops = ops;
	mutex_init(&smu->msg_ctl.lock);

	return smu;
}

/* A question that is not asked has no answer. To leave out an order is no failure. */
static void smu_without_access(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "smu");
	struct smu_context *smu = mock_smu(test, gpu, &smu_msg_v1_ops);
	u32 answer = 0;

	gpu->adev->no_hw_access = true;
	KUNIT_EXPECT_EQ(test, -ENODEV,
			smu_cmn_send_smc_msg_with_param(smu, SMU_MSG_GetSmuVersion,
							0, &answer));
	KUNIT_EXPECT_EQ(test, 0,
			smu_cmn_send_smc_msg_with_param(smu, SMU_MSG_PrepareMp1ForUnload,
							0, NULL));
}

static int mock_smu_features(struct smu_context *smu, struct smu_feature_bits *mask)
{
	smu_feature_bits_fill(mask);

	return 0;
}

static int mock_smu_levels(struct smu_msg_ctl *ctl, struct smu_msg_args *args)
{
	args->out_args[0] = SMU_MAX_DPM_LEVELS + 1;

	return 0;
}

/* A table has room for so many levels, whatever the device says */
static void smu_dpm_levels(struct kunit *test)
{
	static const struct smu_msg_ops ops = { .send_msg = mock_smu_levels };
	static const struct pptable_funcs functions = {
		.get_enabled_mask = mock_smu_features,
	};
	static const struct cmn2asic_mapping clocks[SMU_CLK_COUNT] = {
		[SMU_UCLK] = { 1, 0 },
	};
	struct mock_gpu *gpu = mock_gpu(test, "levels");
	struct smu_context *smu = mock_smu(test, gpu, &ops);
	struct smu_dpm_table *table;

	smu->ppt_funcs = &functions;
	smu->smu_feature.feature_num = SMU_FEATURE_MAX;
	smu->clock_map = clocks;

	table = kunit_kzalloc(test, sizeof(*table), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, table);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			smu_v13_0_set_single_dpm_table(smu, SMU_UCLK, table));
	KUNIT_EXPECT_EQ(test, table->count, 0);
}

#define MOCK_SMU_RESPONSE	1
#define MOCK_SMU_ARGUMENT	2

/* A GPU that leaves between the SMU's answer and what it is */
static u32 mock_smu_leaves(struct amdgpu_device *adev, u32 offset)
{
	if (offset == MOCK_SMU_RESPONSE * 4)
		return 1;
	to_mock_gpu(adev)->absent = true;

	return ~0;
}

static void mock_smu_ordered(struct amdgpu_device *adev, u32 offset, u32 value)
{
}

/* No reset and no suspend keeps the driver from noticing then */
static void smu_answer_lost(struct kunit *test)
{
	static const struct cmn2asic_msg_mapping messages[SMU_MSG_MAX_COUNT] = {
		[SMU_MSG_GetDpmFreqByIndex] = { 1, 1, 0 },
	};
	struct mock_gpu *gpu = mock_gpu(test, "answer");
	struct smu_context *smu = mock_smu(test, gpu, &smu_msg_v1_ops);
	struct amdgpu_device *adev = gpu->adev;
	u32 answer;

	smu->msg_ctl.message_map = messages;
	smu->msg_ctl.default_timeout = 1;
	smu->msg_ctl.config.resp_reg = MOCK_SMU_RESPONSE;
	smu->msg_ctl.config.arg_regs[0] = MOCK_SMU_ARGUMENT;
	smu->msg_ctl.config.num_arg_regs = 1;
	adev->reg.pcie.rreg = mock_smu_leaves;
	adev->reg.pcie.wreg = mock_smu_ordered;
	adev->in_suspend = true;

	KUNIT_EXPECT_EQ(test, -ENODEV,
			smu_cmn_send_smc_msg_with_param(smu, SMU_MSG_GetDpmFreqByIndex,
							0, &answer));
	KUNIT_EXPECT_EQ(test, mock_phase(gpu), AMDGPU_HOTPLUG_LOST);
}

KUNIT_DEFINE_ACTION_WRAPPER(mock_partition_free, amdgpu_xcp_drm_dev_free,
			    struct drm_device *);

/* amdgpu goes on without nodes for partitions after this error, and no other */
static void partitions_exhausted(struct kunit *test)
{
	struct drm_device *ddev;
	int i, err = 0;

	/* Far more than there can be */
	for (i = 0; i < U8_MAX; i++) {
		err = amdgpu_xcp_drm_dev_alloc(&ddev);
		if (err)
			break;
		KUNIT_ASSERT_EQ(test, 0,
				kunit_add_action_or_reset(test, mock_partition_free,
							  ddev));
	}
	KUNIT_EXPECT_EQ(test, err, -ENOSPC);
}

static int mock_ip_details(struct amdgpu_xcp_mgr *xcp_mgr, int xcp_id,
			   enum AMDGPU_XCP_IP_BLOCK ip_id,
			   struct amdgpu_xcp_ip *ip)
{
	return -EINVAL;
}

static struct amdgpu_xcp_mgr_funcs mock_xcp_funcs = {
	.get_ip_details = mock_ip_details,
};

static void mock_partitions_fini(void *data)
{
	amdgpu_xcp_sysfs_fini(data);
	amdgpu_xcp_mgr_fini(data);
}

KUNIT_DEFINE_ACTION_WRAPPER(mock_drm_put, drm_dev_put, struct drm_device *);

/* A file that was opened through a partition uses its minor until it is closed */
static void partitions_kept_after_removal(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "partitions");
	struct amdgpu_device *adev = gpu->adev;
	const struct pci_device_id id = {};
	struct drm_device *partition;

	KUNIT_ASSERT_EQ(test, 0,
			amdgpu_xcp_mgr_init(adev, AMDGPU_XCP_MODE_NONE, 0,
					    &mock_xcp_funcs));
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, mock_partitions_fini, adev));

	partition = adev->xcp_mgr->xcp[1].ddev;
	KUNIT_ASSERT_NOT_NULL(test, partition);
	drm_dev_get(partition);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, mock_drm_put, partition));

	KUNIT_EXPECT_EQ(test, amdgpu_xcp_dev_register(adev, &id), 0);
	amdgpu_xcp_dev_unplug(adev);
	KUNIT_EXPECT_FALSE(test, partition->registered);
	KUNIT_EXPECT_EQ(test, kref_read(&partition->ref), 2);
	/* Its release must find the GPU */
	KUNIT_EXPECT_PTR_EQ(test, partition->render->dev, adev_to_drm(adev));

	kunit_release_action(test, mock_partitions_fini, adev);
	KUNIT_EXPECT_EQ(test, kref_read(&partition->ref), 1);
}

static struct kunit_case amdgpu_hotplug_removal_cases[] = {
	KUNIT_CASE(hive_left_at_removal),
	KUNIT_CASE(hive_recovery_left),
	KUNIT_CASE(smu_without_access),
	KUNIT_CASE(smu_dpm_levels),
	KUNIT_CASE(smu_answer_lost),
	KUNIT_CASE(partitions_exhausted),
	KUNIT_CASE(ih_works_end_before_rings),
	KUNIT_CASE(partitions_kept_after_removal),
	{}
};

static struct kunit_suite amdgpu_hotplug_removal_suite = {
	.name = "amdgpu_hotplug_removal",
	.test_cases = amdgpu_hotplug_removal_cases,
};

/* --- Display */

static int mock_enable_vblank(struct drm_crtc *crtc)
{
	return 0;
}

static void mock_disable_vblank(struct drm_crtc *crtc)
{
}

static const struct drm_crtc_funcs mock_crtc_funcs = {
	.atomic_duplicate_state = drm_atomic_helper_crtc_duplicate_state,
	.atomic_destroy_state = drm_atomic_helper_crtc_destroy_state,
	.destroy = drm_crtc_cleanup,
	.enable_vblank = mock_enable_vblank,
	.disable_vblank = mock_disable_vblank,
};

static void mock_crtc_fini(void *data)
{
	struct drm_crtc *crtc = data;

	drm_crtc_vblank_off(crtc);
	crtc->dev->registered = false;
	drm_crtc_cleanup(crtc);
}

static struct amdgpu_crtc *mock_crtc(struct kunit *test, struct mock_gpu *gpu)
{
	struct drm_device *drm = adev_to_drm(gpu->adev);
	struct amdgpu_crtc *acrtc;

	acrtc = kunit_kzalloc(test, sizeof(*acrtc), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, acrtc);
	/* A CRTC is made before the device is registered, and freed after that */
	drm->registered = false;
	KUNIT_ASSERT_EQ(test, 0,
			drm_crtc_init_with_planes(drm, &acrtc->base, NULL, NULL,
						  &mock_crtc_funcs, NULL));
	KUNIT_ASSERT_EQ(test, drm_vblank_init(drm, 1), 0);
	drm->registered = true;
	drm_crtc_vblank_on(&acrtc->base);
	gpu->adev->mode_info.mode_config_initialized = true;
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, mock_crtc_fini, &acrtc->base));

	return acrtc;
}

static void mock_event_release(struct completion *done)
{
}

/* An event that holds a reference to the vblanks of its CRTC, and completes @done */
static struct drm_pending_vblank_event *mock_event(struct kunit *test,
						   struct drm_crtc *crtc,
						   struct completion *done)
{
	struct drm_pending_vblank_event *event;

	KUNIT_ASSERT_EQ(test, drm_crtc_vblank_get(crtc), 0);
	event = kzalloc_obj(*event);
	KUNIT_ASSERT_NOT_NULL(test, event);
	init_completion(done);
	event->event.base.type = DRM_EVENT_FLIP_COMPLETE;
	event->base.completion = done;
	event->base.completion_release = mock_event_release;

	return event;
}

/* No interrupt comes for what waits for the next frame */
static void flips_of_lost_gpu(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "flips");
	struct amdgpu_crtc *acrtc = mock_crtc(test, gpu);
	struct drm_pending_vblank_event *flip, *vblank;
	struct drm_device *drm = adev_to_drm(gpu->adev);
	struct completion flipped, shown;

	flip = mock_event(test, &acrtc->base, &flipped);
	vblank = mock_event(test, &acrtc->base, &shown);
	scoped_guard(spinlock_irq, &drm->event_lock) {
		acrtc->pflip_status = AMDGPU_FLIP_SUBMITTED;
		acrtc->event = flip;
		vblank->sequence = drm_crtc_vblank_count(&acrtc->base);
		list_add_tail(&vblank->base.link, &drm->vblank_event_list);
	}

	amdgpu_hotplug_init(gpu->adev);
	amdgpu_hotplug_mark_lost(gpu->adev, "in a flip");
	flush_work(&gpu->adev->hotplug.lost_work);

	KUNIT_EXPECT_TRUE(test, completion_done(&flipped));
	KUNIT_EXPECT_TRUE(test, completion_done(&shown));
	KUNIT_EXPECT_NULL(test, acrtc->event);
	KUNIT_EXPECT_EQ(test, acrtc->pflip_status, AMDGPU_FLIP_NONE);
	KUNIT_EXPECT_EQ(test, 0,
			atomic_read(&drm_crtc_vblank_crtc(&acrtc->base)->refcount));

	/* Once, also if the removal does it again */
	amdgpu_display_end_flips(gpu->adev);
	KUNIT_EXPECT_EQ(test, 0,
			atomic_read(&drm_crtc_vblank_crtc(&acrtc->base)->refcount));
}

/* A VBIOS with one table, which jumps to where the jump is */
static u8 mock_vbios[] = {
	/* Header of the list of tables, and where the only one is */
	0, 0, 0, 0, 6, 0,
	/* Header of the table */
	9, 0, 0, 0, 0, 0,
	/* Jump, always, to 6 bytes after its begin */
	67, 6, 0,
};

/* The driver gives up only after 20 s */
static void vbios_table_of_lost_gpu(struct kunit *test)
{
	struct mock_gpu *gpu = mock_gpu(test, "vbios");
	struct card_info card = { .dev = adev_to_drm(gpu->adev) };
	unsigned long begun = jiffies;
	struct atom_context *ctx;

	ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ctx);
	ctx->card = &card;
	ctx->bios = mock_vbios;
	ctx->bios_size = sizeof(mock_vbios);
	mutex_init(&ctx->mutex);

	amdgpu_hotplug_mark_lost(gpu->adev, "in a table");
	KUNIT_EXPECT_EQ(test, amdgpu_atom_execute_table(ctx, 0, NULL, 0), -EINVAL);
	KUNIT_EXPECT_TRUE(test, time_before(jiffies, begun + 5 * HZ));
}

static struct kunit_case amdgpu_hotplug_display_cases[] = {
	KUNIT_CASE(flips_of_lost_gpu),
	KUNIT_CASE(vbios_table_of_lost_gpu),
	{}
};

static struct kunit_suite amdgpu_hotplug_display_suite = {
	.name = "amdgpu_hotplug_display",
	.test_cases = amdgpu_hotplug_display_cases,
};

kunit_test_suites(&amdgpu_hotplug_suite, &amdgpu_hotplug_fence_suite,
		  &amdgpu_hotplug_userq_suite, &amdgpu_hotplug_removal_suite,
		  &amdgpu_hotplug_display_suite);
