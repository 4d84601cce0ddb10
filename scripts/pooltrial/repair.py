# SPDX-License-Identifier: GPL-2.0
"""PL-02: a GPU falls off the bus under a job, another one takes its place, and the job ends with the result that it would have had. How
long that took, phase by phase. The other VM's tenant, who does the same job without a failure, is whom the result is compared with."""

import json
import re
import time

from pooltrial.lines import Lines, Trouble

STEPS = 20000
BEFORE = 2000  # steps that the job does before its GPU fails
SILENT = 10  # seconds, after which a guest in which a repair has failed is not waited for

# What a phase is, and where it begins and ends. Remove and add go on beside each other, since a VM has one slot more than GPUs.
PHASES = {
    "detect": "from the failure until it is in the books",
    "drain": "until the job is told, and lets go",
    "remove": "the failed board goes out of the VM",
    "add": "QEMU has the other board",
    "probe": "the guest has a driver and its nodes",
    "resume": "from the news that it is there to the job's next step",
    "whole": "from the failure to the job's next step",
}


def milliseconds(name, text):
    """"add 12 ms, probe 840 ms": what the driver tells of a step."""
    found = re.search(rf"\b{name} (\d+) ms", text)
    return int(found[1]) / 1000 if found else None


class Repair:
    """Of one kernel."""

    def __init__(self, pool):
        self.pool = pool
        self.times = {}
        self.notes = []
        self.release = ""
        self.lease_times = None
        self.jobs = []

    def lease(self, vm, name, steps):
        """A lease with a job on its GPU. How long it took from the wish to the first step."""
        begin = time.time()
        lease, = self.pool.lease(vm)
        job = self.pool.guest(vm).start_job(name, self.pool.serials[self.pool.gpu_of(lease)], steps)
        self.jobs.append(job)
        first = job.wait("ready", 120)
        active = self.pool.event("lease-active", begin, lease=lease)["time_us"] / 1e6
        return lease, job, (active - begin, job.guest.host_time(first) - begin)

    def run(self):
        pool = self.pool
        guest = pool.guest("train")
        self.release = guest.kernel()
        # The job that is to fail comes last: on a fast host it would be over before the other VM has its GPU.
        _, control, _ = self.lease("other", "control", STEPS)
        lease, job, self.lease_times = self.lease("train", "job", STEPS)
        self.notes.append("lease to active {:.2f} s, to the first step of a job {:.2f} s".format(*self.lease_times))
        process = pool.vm_process("train")
        failing = pool.gpu_of(lease)
        self.wait_done(job, BEFORE)
        emulator = pool.emulator(failing)
        self.failed = time.time()
        with Lines(emulator) as lines:
            lines.ask("vanish")
        try:
            pool.wait_event("lease-active", pool.give_up, self.failed, lease=lease)
            job.wait("result", 2 * pool.give_up)
        except Trouble as trouble:
            self.notes.append(str(trouble))
            guest.patience = job.guest.patience = SILENT
        self.measure(job, lease, failing)
        if pool.vm_process("train") != process:
            raise Trouble("the VM is another process than before")
        if "whole" not in self.times and job.said("result"):
            raise Trouble("the job has not noticed the failure: it was over before")
        self.words = job.result(1)
        self.control = control.result(180)
        if self.words != self.control:
            raise Trouble(f"the job's result {self.words} is not that of the undisturbed one, {self.control}")
        if control.disturbances():
            raise Trouble(f"the other tenant's job was disturbed: {dict(control.disturbances())}")
        self.notes.append(f"the other tenant's job stood still for {control.longest_pause():.1f} s at most")
        pool.settle()
        pool.empty()

    def wait_done(self, job, steps):
        while True:
            job.look()
            if any(line.get("done", 0) >= steps for line in job.lines):
                return
            job.wait("progress", 60, len(job.lines))

    def measure(self, job, lease, failing):
        """What has not come is missing."""
        pool, times = self.pool, self.times
        pool.read_events()
        found_out = pool.event("gpu-failed", self.failed, gpu=failing)
        if not found_out:
            return
        detected = found_out["time_us"] / 1e6
        times["detect"] = detected - self.failed
        pulled = pool.event("gpu-pulled", detected, gpu=failing)
        if pulled:
            times["remove"] = milliseconds("remove", pulled["detail"])
            self.notes.append(f"the failed board: {pulled['detail']}")
        leased = pool.event("gpu-leased", detected, lease=lease)
        if leased:
            for phase in ("add", "probe"):
                times[phase] = milliseconds(phase, leased["detail"])
        try:
            job.look()
        except Trouble as trouble:
            self.notes.append(str(trouble))
        self.measure_job(job, detected)

    def measure_job(self, job, detected):
        at, times = job.guest.host_time, self.times
        later = [line for line in job.lines if at(line) > self.failed - 0.1]
        let_go = next((n for n, line in enumerate(later) if line["state"] in ("lost", "end")), None)
        if let_go is None:
            return
        times["drain"] = at(later[let_go]) - detected
        later = later[let_go:]
        # A process that lives on is told of the new GPU; another one is ready with its first step.
        told = next((line for line in later if line["state"] in ("uevent", "ready")), None)
        goes_on = next((n for n, line in enumerate(later) if line["state"] in ("moved", "ready")), None)
        if told is None or goes_on is None:
            return
        step = next(line for line in later[goes_on:] + [told] if line["state"] in ("ready", "progress"))
        times["resume"] = at(step) - at(told)
        times["whole"] = at(step) - self.failed


def table(repairs):
    """Phases, and the times of each kernel beside each other."""
    width = max(len(repair.pool.kernel.label) for repair in repairs) + 4
    lines = [f"{'phase':<8}" + "".join(f"{repair.pool.kernel.label:>{max(width, 10)}}" for repair in repairs)]
    for phase, meaning in PHASES.items():
        cells = ""
        for repair in repairs:
            time_of = repair.times.get(phase)
            cells += f"{f'{time_of:.2f} s' if time_of is not None else f'> {repair.pool.give_up} s':>{max(width, 10)}}"
        lines.append(f"{phase:<8}{cells}  {meaning}")
    return lines


def row(pool, tell):
    repair = pool.repair = Repair(pool)
    try:
        repair.run()
    finally:
        for line in [*table([repair]), *repair.notes]:
            tell(line)
        for job in repair.jobs:
            text = "".join(json.dumps(line) + "\n" for line in job.lines)
            pool.log.with_name(f"{pool.kernel.label}-{job.name}.log").write_text(text)
