# SPDX-License-Identifier: GPL-2.0
"""What is told of the tasks of a hung kernel: who waits for which lock, who holds it, and what that one waits for. Pure: text of values."""

import dataclasses
import re

# What a task that waits is in, before its caller: the scheduler, and the kernel's own ways to wait.
SCHEDULER = re.compile(r"(io_)?schedule(_timeout|_preempt_disabled|_hrtimeout\w*|_rtlock|_idle)?$|__schedule$|preempt_schedule|__wait_for_common$|wait_for_completion")
LOCKING = re.compile(
    r"(__)?(ww_)?mutex_lock|__mutex_lock|rwsem_|down_|__down|down$|rt_mutex|__rt_mutex|percpu_down|__percpu_|__ww_mutex"
)
SHOWN_FRAMES = 6


@dataclasses.dataclass(frozen=True)
class Wait:
    """For a lock. `holder`: pid of the task that holds it; None: nobody does, or nobody knows who."""

    kind: str
    address: int
    name: str = ""
    holder: int | None = None
    note: str = ""

    def lock(self):
        return f"{self.kind} {self.name or f'{self.address:#x}'}"


@dataclasses.dataclass
class Task:
    pid: int
    comm: str
    state: str
    frames: list  # "function+0x1/0x2 [module]" or "function", innermost first
    wait: Wait | None = None
    cpu: int | None = None  # it runs on
    holds: list = dataclasses.field(default_factory=list)  # names of locks

    def name(self):
        return f"{self.comm} ({self.pid})"

    def holding(self):
        return f", which holds {' and '.join(self.holds)}," if self.holds else ""

    def blocked(self):
        return self.state == "D"

    def in_kernel(self):
        """It runs, and that not in user space."""
        return self.cpu is not None and bool(self.frames)


def function_of(frame):
    return re.split(r"[+ ]", frame, maxsplit=1)[0]


def place(task):
    """What the task is in, as the first functions below the scheduler's: "drm_sched_stop < amdgpu_device_halt"."""
    names = [function_of(frame) for frame in task.frames]
    while names and SCHEDULER.match(names[0]):
        names.pop(0)
    return " < ".join(names[:SHOWN_FRAMES]) or "an unknown function"


def caller(task):
    """The first functions that are not those of the lock waited for."""
    names = [function_of(frame) for frame in task.frames]
    while names and (SCHEDULER.match(names[0]) or LOCKING.match(names[0])):
        names.pop(0)
    return " < ".join(names[:SHOWN_FRAMES])


def does(task):
    """What a task that waits for no lock does, as the end of a sentence that begins with its name."""
    if task.cpu is not None:
        return f"runs on CPU {task.cpu} in {place(task)}"
    kinds = {"D": "is blocked", "S": "sleeps", "R": "waits for a CPU", "Z": "is dead,", "T": "is stopped", "I": "is idle"}
    return f"{kinds.get(task.state, f'is in state {task.state}')} in {place(task)}"


def end_of(task, tasks, seen):
    """What holds up a task: ", which waits for L, held by B, which ..."; a task in `seen` closes a circle."""
    if task.wait is None:
        return f"which {does(task)}"
    if task.pid in seen:
        return "which closes the circle: a deadlock"
    return f"which waits for {held(task.wait, tasks, seen | {task.pid})}"


def held(wait, tasks, seen):
    text = wait.lock()
    if wait.note:
        text += f" ({wait.note})"
    if wait.holder is None:
        return f"{text}, which no task is known to hold"
    holder = tasks.get(wait.holder)
    if holder is None:
        return f"{text}, held by a task that is gone ({wait.holder})"
    return f"{text}, held by {holder.name()}, {end_of(holder, tasks, seen)}"


def names_of(waiting):
    shown = [task.name() for task in waiting[:3]]
    more = len(waiting) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "") + (" wait" if len(waiting) > 1 else " waits")


def summary(tasks):
    """One line for each task that is blocked by no lock or runs in the kernel: that is most often what holds up all the others. Then one for
    each lock that is waited for."""
    by_pid = {task.pid: task for task in tasks}
    lines = [f"{task.name()}{task.holding()} {does(task)}" for task in tasks if task.wait is None and (task.blocked() or task.in_kernel())]
    locks = {}
    for task in tasks:
        if task.wait is not None:
            locks.setdefault((task.wait.address, task.wait.kind), []).append(task)
    for waiting in sorted(locks.values(), key=len, reverse=True):
        first = waiting[0]
        place_of = f" in {caller(first)}" if len(waiting) == 1 and caller(first) else ""
        lines.append(f"{names_of(waiting)}{place_of} for {held(first.wait, by_pid, frozenset({first.pid}))}")
    return lines


def stacks(tasks):
    """The blocked tasks, those that hold what others wait for, and those that run."""
    holders = {task.wait.holder for task in tasks if task.wait is not None}
    lines = []
    for task in tasks:
        if not (task.blocked() or task.wait or task.pid in holders or task.in_kernel()):
            continue
        lines.append(f"{task.name()}, state {task.state}{'' if task.cpu is None else f', on CPU {task.cpu}'}{task.holding().rstrip(',')}")
        if task.wait is not None:
            lines.append(f"  waits for {task.wait.lock()}, {'holder unknown' if task.wait.holder is None else f'held by {task.wait.holder}'}")
        lines += [f"    {frame}" for frame in task.frames] or ["    no stack"]
        lines.append("")
    return lines


def report(tasks):
    blocked = sum(task.blocked() for task in tasks)
    head = f"{blocked} of {len(tasks)} tasks are blocked (state D)."
    return "\n".join([head, *(f"* {line}" for line in summary(tasks)), "", *stacks(tasks)]) + "\n"
