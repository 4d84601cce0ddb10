// SPDX-License-Identifier: GPL-2.0
/*
 * Makes one function of the kernel fail, without running it, as often as asked:
 * modprobe fail_function symbol=drm_dev_register error=-12 times=1
 *
 * The kernel's own fail_function knows only functions that were marked for it,
 * and what a driver calls in its probe is not.
 */
#include <linux/atomic.h>
#include <linux/kprobes.h>
#include <linux/linkage.h>
#include <linux/module.h>
#include <linux/objtool.h>

static char *symbol;
module_param(symbol, charp, 0444);
MODULE_PARM_DESC(symbol, "function that returns an int");

static int error = -ENOMEM;
module_param(error, int, 0444);
MODULE_PARM_DESC(error, "what it returns");

static int times = 1;
module_param(times, int, 0444);
MODULE_PARM_DESC(times, "how often it fails, from now on");

static atomic_t left;

/* Where the probed function is left to: the call returns from here */
asmlinkage void fail_function_return(void);
asm(
	".text\n"
	".type fail_function_return, @function\n"
	".globl fail_function_return\n"
	ASM_FUNC_ALIGN
	"fail_function_return:\n"
		ANNOTATE_NOENDBR "\n"
		ASM_RET
	".size fail_function_return, .-fail_function_return\n"
);

static int fail_pre_handler(struct kprobe *probe, struct pt_regs *regs)
{
	if (atomic_dec_if_positive(&left) < 0)
		return 0;
	regs_set_return_value(regs, error);
	instruction_pointer_set(regs, (unsigned long)&fail_function_return);
	return 1;
}
NOKPROBE_SYMBOL(fail_pre_handler);

/* Its presence keeps the probe from being optimized to a jump, which could not be left */
static void fail_post_handler(struct kprobe *probe, struct pt_regs *regs,
			      unsigned long flags)
{
}
NOKPROBE_SYMBOL(fail_post_handler);

static struct kprobe fail_probe = {
	.pre_handler = fail_pre_handler,
	.post_handler = fail_post_handler,
};

static int __init fail_function_init(void)
{
	if (!symbol)
		return -EINVAL;
	atomic_set(&left, times);
	fail_probe.symbol_name = symbol;
	return register_kprobe(&fail_probe);
}
module_init(fail_function_init);

static void __exit fail_function_exit(void)
{
	unregister_kprobe(&fail_probe);
}
module_exit(fail_function_exit);

MODULE_DESCRIPTION("makes a function fail");
MODULE_LICENSE("GPL");
