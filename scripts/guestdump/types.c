// SPDX-License-Identifier: GPL-2.0
// What scripts/guestdump reads of a kernel, for the types in the object's debugging information. Compiled with the headers of that kernel;
// never linked, never loaded.
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/semaphore.h>

struct task_struct *task;
struct signal_struct *process;
struct mutex *mutex;
struct rw_semaphore *rw_semaphore;
struct semaphore *semaphore;
struct module *module;
struct list_head *list;
