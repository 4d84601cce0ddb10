# SPDX-License-Identifier: GPL-2.0
"""The rows: each takes a pool that runs, with VMs and GPUs that are nobody's, and leaves it so. A Trouble fails it. What it has to
say beside that, it tells."""

import random
import time

from pooltrial import repair
from pooltrial.lines import Lines, Qmp, Refused, Trouble, wait_until
from pooltrial.pool import POOL

SHORT_JOB = 1500  # steps
LONG_JOB = 20 * SHORT_JOB  # lasts until a GPU is there that is yet to come: ten seconds on a busy host
OPERATIONS = 25  # that are drawn
STALL = 10  # seconds that a job may stand still that has nothing to do with what happens


def require(holds, what):
    if not holds:
        raise Trouble(what)


def refused(code, pool, do, /, **members):
    try:
        pool.ask(do, **members)
    except Refused as refusal:
        require(refusal.code == code, f"{do} was refused as {refusal.code}, not as {code}")
        return
    raise Trouble(f"{do} was not refused")


def check_buses(pool):
    """Each guest has the GPUs on its bus that the books say it has, and no other."""
    wanted = {vm: set() for vm in VMS}
    for gpu in pool.gpus().values():
        if gpu["state"] == "leased":
            wanted[gpu["vm"]].add(int(gpu["serial"], 16))
    for vm, serials in wanted.items():
        seen = set(pool.guest(vm).bus())
        require(seen == serials, f"vm {vm} has {sorted(map(str, seen))} on its bus, the books say {sorted(map(str, serials))}")


class Undisturbed:
    """That the other tenant has noticed nothing."""

    def __init__(self, pool, lease):
        self.pool, self.vm = pool, "other"
        self.process = pool.vm_process(self.vm)
        self.guest = pool.guest(self.vm)
        self.lease = lease
        self.job = self.guest.start_job(f"bystander-{lease}", int(pool.gpus()[pool.gpu_of(lease)]["serial"], 16), 10_000_000)
        self.job.wait("ready", 60)

    def check(self):
        self.job.look()
        done = self.job.lines[-1].get("done", 0)
        wait_until(lambda: self.job.look()[-1].get("done", 0) > done, "the other tenant's job to go on", STALL, 0.2)
        require(not self.job.disturbances(), f"the other tenant's job was disturbed: {dict(self.job.disturbances())}")
        require(self.job.longest_pause() < STALL, f"the other tenant's job stood still for {self.job.longest_pause():.1f} s")
        require(self.pool.vm_process(self.vm) == self.process, "the other VM is another process than before")
        self.guest.run("sh", "-c", f"touch {self.job.folder}/stop; killall gpu_mover; true")
        self.job.wait("end", 60)
        self.pool.give_back(self.lease)
        return f"the other tenant's job stood still for {self.job.longest_pause():.1f} s at most"


def swap(pool, tell):
    """PL-01: a GPU that works is exchanged for another one, in a VM that goes on, under a job that goes on."""
    own, = pool.lease("train")
    bystander = Undisturbed(pool, *pool.lease("other"))
    process = pool.vm_process("train")
    guest = pool.guest("train")
    before = pool.gpu_of(own)
    job = guest.start_job(f"swapped-{own}", pool.serials[before], LONG_JOB, "--on-arrival")
    job.wait("ready", 60)
    begin = time.time()
    after = pool.ask("replace", gpu=before)["by"]
    pool.wait(["leased"], gpu=after)
    took = time.time() - begin
    pool.wait(["free"], gpu=before)
    job.result(120)
    require(job.said("moved"), "the job ended without the new GPU")
    require(pool.vm_process("train") == process, "the VM is another process than before")
    require(set(guest.bus()) == {pool.serials[after]}, "the guest's bus has not the new GPU alone")
    tell(f"{before} replaced by {after} in {took:.2f} s, the VM's process is the same")
    tell(bystander.check())
    pool.empty()


def two_gpus(pool, tell):
    """PL-07: a VM with two GPUs, with a job on each; and a job that moves to one of them is not disturbed when the other one goes."""
    leases = pool.lease("train", 2)
    guest = pool.guest("train")
    serials = [pool.serials[pool.gpu_of(lease)] for lease in leases]
    require(set(guest.bus()) == set(serials), "the guest's bus has not both GPUs")
    jobs = [guest.start_job(f"pair-{lease}", serial, SHORT_JOB) for lease, serial in zip(leases, serials)]
    words = [job.result(120) for job in jobs]
    require(words[0] == words[1], "two GPUs computed different results of one job")
    refused("vm-full", pool, "lease", pool=POOL, vm="train", count=2)
    pool.give_back(leases[0])
    require(set(guest.bus()) == {serials[1]}, "the guest's bus has not the second GPU alone")
    mover = guest.start_job(f"mover-{leases[1]}", serials[1], LONG_JOB, "--on-arrival")
    mover.wait("ready", 60)
    pool.lease("train")
    mover.wait("moved", 60)
    pool.give_back(leases[1])
    mover.result(120)
    require(not mover.said("lost"), "the job took the GPU that it had left for its own")
    pool.empty()
    tell("two GPUs gave the same result in one VM")


def late_unplug(pool, tell):
    """PL-06: what is said of an earlier tenancy hits nobody."""
    first, = pool.lease("train")
    gpu = pool.gpu_of(first)
    late = f"gp-{pool.serials[gpu]:X}-{pool.gpus()[gpu]['epoch']}"
    epoch = pool.gpus()[gpu]["epoch"]
    pool.give_back(first)
    for other in pool.gpus():  # so that the next tenant gets the same GPU
        if other != gpu:
            pool.ask("offline", gpu=other)
    pool.wait(["free"], gpu=gpu)
    second, = pool.lease("train")
    require(pool.gpu_of(second) == gpu, "the second tenant has another GPU")
    guest = pool.guest("train")
    job = guest.start_job(f"late-{second}", pool.serials[gpu], SHORT_JOB)
    job.wait("ready", 60)
    refused("stale-epoch", pool, "fail", gpu=gpu, epoch=epoch)
    pool.stop()  # the monitor has one client
    try:
        with Qmp(pool.guest_folder("train") / "qmp") as qmp:
            try:
                qmp.execute("device_del", id=late)
                raise Trouble(f"QEMU knows {late}")
            except Refused as refusal:
                require(refusal.code == "DeviceNotFound", f"device_del of {late}: {refusal}")
    finally:
        pool.start()
        pool.up()
    job.result(120)
    require(not job.disturbances(), f"the job was disturbed: {dict(job.disturbances())}")
    pool.settle()
    pool.empty()
    tell(f"device_del {late} found nothing")


def spare(pool, tell):
    """PL-12: a hot spare stands in; without one the lease is degraded, and served as soon as there is a GPU."""
    pool.set_spares(1)
    own, = pool.lease("train")
    others = pool.lease("other")
    refused("exhausted", pool, "lease", pool=POOL, vm="other", queue=False)
    first = pool.gpu_of(own)
    begin = time.time()
    with Lines(pool.emulator(first)) as emulator:
        emulator.ask("vanish")
    pool.wait_event("lease-active", 120, begin, lease=own)
    taken = pool.gpu_of(own)
    require(taken != first, "the GPU that failed is still the lease's")
    took = pool.event("lease-active", begin, lease=own)["time_us"] / 1e6 - begin
    pool.wait(["quarantined"], gpu=first)
    with Lines(pool.emulator(taken)) as emulator:
        emulator.ask("vanish")
    pool.wait(["degraded"], lease=own)
    require(pool.health() == "DEGRADED", f"the pool is {pool.health()}")
    pool.wait(["quarantined"], gpu=taken)
    # Whoever lost a GPU comes before whoever never had one.
    waits = pool.ask("lease", pool=POOL, vm="other")["leases"][0]["lease"]
    pool.ask("online", gpu=first)
    pool.wait(["active"], lease=own)
    require(pool.gpu_of(own) == first, "the lease has another GPU than the one that was free")
    require(pool.leases()[waits]["state"] == "queued", "who never had a GPU was served first")
    pool.ask("return", lease=waits)
    check_buses(pool)
    for lease in [own, *others]:
        pool.give_back(lease)
    pool.empty()
    pool.set_spares(0)
    require(pool.health() == "ONLINE", f"the pool is {pool.health()}")
    tell(f"the spare was in place after {took:.2f} s")


def scrubbed(pool, tell):
    """PL-13: the next tenant finds no word of the one before."""
    word = 0x600d600d  # holder's
    first, = pool.lease("train")
    gpu = pool.gpu_of(first)
    guest = pool.guest("train")
    node = guest.run("sh", "-c", f"ls /sys/bus/pci/devices/{guest.bus()[pool.serials[gpu]]}/drm | grep renderD").strip()
    with guest.agent() as agent:
        agent.ask("spawn", name="holder", argv=["sh", "-c", f"sleep 1000 | holder /dev/dri/{node} >/tmp/holder 2>&1"])

    def count():
        with Lines(pool.emulator(gpu)) as emulator:
            return emulator.ask("vram_count", value=word)["count"]
    words = wait_until(count, "the first tenant's words in VRAM", 60, 0.2)
    guest.run("sh", "-c", "killall sleep")
    pool.give_back(first)
    pool.wait(["free"], gpu=gpu)
    for other in pool.gpus():
        if other != gpu:
            pool.ask("offline", gpu=other)
    pool.lease("other")
    left = count()
    require(left == 0, f"the next tenant's VRAM has {left} words of the first one's")
    pool.empty()
    tell(f"the first tenant left {words} words, the second found 0")


def flexible(pool, tell):
    """DX-01: any number of GPUs to any VM, in any order, none of which restarts."""
    processes = {vm: pool.vm_process(vm) for vm in VMS}
    held = {vm: [] for vm in VMS}
    times = []
    for wanted in ((3, 0), (2, 1), (1, 2), (0, 3), (1, 1)):
        for vm, count in zip(VMS, wanted):
            while len(held[vm]) > count:
                pool.give_back(held[vm].pop())
        for vm, count in zip(VMS, wanted):
            missing = count - len(held[vm])
            if missing > 0:
                begin = time.time()
                held[vm] += pool.lease(vm, missing)
                times.append((time.time() - begin) / missing)
        check_buses(pool)
    require({vm: pool.vm_process(vm) for vm in VMS} == processes, "a VM is another process than before")
    pool.empty()
    tell(f"a lease took {sorted(times)[len(times) // 2]:.2f} s in the middle, {max(times):.2f} s at most")


def at_random(pool, tell, seed):
    """PL-04: random operations, and after each the guests' buses are what the books say."""
    seed = seed if seed is not None else random.randrange(1 << 32)
    draw = random.Random(seed)
    for n in range(OPERATIONS):
        leases = [lease for lease, row in pool.leases().items() if row["state"] == "active"]
        choices = ["lease", "lease"] + ["return", "fail", "replace", "vanish"] * bool(leases)
        operation = draw.choice(choices)
        try:
            if operation == "lease":
                pool.ask("lease", pool=POOL, vm=draw.choice(VMS), queue=False)
            elif operation == "return":
                pool.ask("return", lease=draw.choice(leases))
            elif operation == "vanish":
                gpu, begin = pool.gpu_of(draw.choice(leases)), time.time()
                with Lines(pool.emulator(gpu)) as emulator:
                    emulator.ask("vanish")
                pool.wait_event("gpu-failed", 60, begin, gpu=gpu)
            else:
                pool.ask(operation, gpu=pool.gpu_of(draw.choice(leases)))
        except Refused as refusal:
            require(refusal.code in ("exhausted", "vm-full", "bad-state", "unknown-gpu"), f"seed {seed}, operation {n}: {refusal}")
        pool.settle()
        check_buses(pool)
        for name, gpu in pool.gpus().items():
            if gpu["state"] == "quarantined":
                pool.ask("online", gpu=name)
    pool.empty()
    tell(f"seed {seed}: after each of {OPERATIONS} operations the guests' buses were what the books say")


VMS = ("train", "other")
GPUS = 3
MOST_GPUS = 3

ROWS = {
    "repair": repair.row,
    "swap": swap,
    "two-gpus": two_gpus,
    "late-unplug": late_unplug,
    "spare": spare,
    "scrubbed": scrubbed,
    "flexible": flexible,
    "random": at_random,
}
