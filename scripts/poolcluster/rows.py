# SPDX-License-Identifier: GPL-2.0
"""The rows: each takes a cluster in which all is well, and leaves it so. A Trouble fails it; what it has to say beside that, it tells."""

import json
import os
import re
import signal
import time

from pooltrial.lines import Gone, wait_until
from poolcluster.judge import Disk, check_all, require
from poolcluster.room import POOL, PROFILE, VMS

PATIENCE = 90  # seconds, for what takes Pacemaker ten on a host that does nothing else


def others(room, node):
    return [each for each in room.up() if each is not node]


def phases(room, tell, vm, node, begin):
    """Where the time has gone since `begin`, when something happened to the node, until the VM went on on another one."""
    host, started = room.find("vm-starting", begin, vm=vm)
    leases = [event for name, event in room.events if name == host and event["what"] == "lease-active" and event.get("vm") == vm
              and event["time_us"] / 1e6 > begin]
    step = next(when for when, where, _, _ in Disk(room, vm).steps if when > begin and where == host)
    lost = room.find("cluster-node", begin, has=f"{node.name} is lost")
    marks = {"detect": lost and lost[1], "fence": room.switch.off(node, begin), "place": started,
             "start": room.find("vm-running", begin, vm=vm, node=host)[1], "lease": max(leases, key=lambda event: event["time_us"])}
    text, last = [], begin
    for name, mark in marks.items():
        if mark:
            when = mark if isinstance(mark, float) else mark["time_us"] / 1e6
            text.append(f"{name} {when - last:.2f} s")
            last = when
    tell(f"vm {vm} from {node.name} to {host}: {', '.join(text)}; whole {last - begin:.2f} s; its first step after {step - begin:.2f} s")


def check_fenced(room, node, vms, begin):
    """Before any of these VMs was started."""
    off = room.switch.off(node, begin)
    for vm in vms:
        started = room.find("vm-starting", begin, vm=vm)[1]["time_us"] / 1e6
        require(off and off <= started, f"vm {vm} was started, and {node.name} was {f'fenced {off - started:.2f} s later' if off else 'not fenced'}")


def switch_off(room, node):
    """And Pacemaker knows."""
    begin = time.time()
    node.power_off()
    room.wait_event("cluster-fencing", PATIENCE, begin, has=f"off of {node.name} ")
    room.quiet()


def back(room, node, tell):
    """A node that was off comes back: what it had is lost, and is scrubbed before anybody gets it."""
    begin = time.time()
    node.power_on()
    for gpu in node.serials:
        room.wait_event("gpu-free", PATIENCE, begin, node=node.name, gpu=gpu)
    for gpu in node.serials:
        states = [event["what"] for name, event in room.events
                  if name == node.name and event.get("gpu") == gpu and event["time_us"] / 1e6 >= begin]
        require("gpu-scrubbing" in states[:states.index("gpu-free")] and "gpu-attaching" not in states[:states.index("gpu-free")],
                f"{gpu} of {node.name} came back as {states}, not to be scrubbed first")
    # Its capacity ended with it, and comes when its agent has looked.
    room.wait_event("cluster-attribute", PATIENCE, begin, has=f"gpu-{POOL} of {node.name} is '{len(node.serials)}'")
    room.quiet()
    tell(f"{node.name} has scrubbed its GPUs, and has its capacity again, after {time.time() - begin:.1f} s")


def moved_on(room, tell, node, vms, begin):
    """These VMs of the node, to which something happened then, have all they had, elsewhere, and it was fenced first. Where their leases are."""
    check_fenced(room, node, vms, begin)
    room.ready()
    for vm in vms:
        wait_for_steps(room, vm, begin)
        phases(room, tell, vm, node, begin)
    return check_all(room)


def failover(room, tell):
    """PL-03: a server fails."""
    node = room.host_of("train")
    moved = [vm for vm in VMS if room.instances(vm) == [node.name]]
    begin = time.time()
    node.power_off()
    for vm in moved:
        room.wait_event("vm-starting", PATIENCE, begin, vm=vm)
    where = moved_on(room, tell, node, moved, begin)
    require(all(sum(where[vm].values()) == VMS[vm] for vm in VMS), f"leases are {where}")
    back(room, node, tell)
    lost = [event for name, event in room.events if name == node.name and event["what"] == "lease-lost" and event["time_us"] / 1e6 > begin]
    require(len(lost) == sum(VMS[vm] for vm in moved), f"{node.name} has written off {len(lost)} leases")
    check_all(room)


def wait_for_steps(room, vm, after, seconds=20):
    """The tenant writes on after that moment, where it is now."""
    def look():
        host = room.instances(vm)
        return host and any(step[0] > after and step[1] == host[0] for step in Disk(room, vm).steps[-50:])
    wait_until(look, f"vm {vm} to make a step", seconds)


def partition(room, tell):
    """A node is cut off from the others, and is well: it must not go on with what the others take over."""
    node = room.host_of("train")
    moved = [vm for vm in VMS if room.instances(vm) == [node.name]]
    begin = time.time()
    node.cut_cable()
    for vm in moved:
        room.wait(lambda vm=vm: (found := room.find("vm-starting", begin, vm=vm)) and found[0] != node.name,
                  f"vm {vm} to be started on the side that has quorum", PATIENCE)
    moved_on(room, tell, node, moved, begin)
    require(not node.powered, f"{node.name} has power")
    back(room, node, tell)


def dead_fence(room, tell):
    """PL-10: a node hangs, and the power switch does not answer: nothing is started a second time until it does."""
    node = room.host_of("train")
    moved = [vm for vm in VMS if room.instances(vm) == [node.name]]
    corosync, = node.processes("corosync")
    observer = others(room, node)[0].name
    room.switch.dead = True
    begin = time.time()
    os.kill(corosync, signal.SIGSTOP)  # the machine hangs as far as the others see, and its VMs do not
    failed = []
    while len(failed) < 2:
        last = failed[-1] if failed else begin
        event = room.wait_event("cluster-fencing", PATIENCE, last + 0.001, node=observer)[1]
        require("OK" not in event["detail"], f"{node.name} was fenced by a switch that does not answer: {event['detail']}")
        failed.append(event["time_us"] / 1e6)
        for vm in moved:
            require(room.instances(vm) == [node.name], f"vm {vm} runs on {room.instances(vm)}")
    for vm in moved:
        wait_for_steps(room, vm, failed[-1])
        require(not room.find("vm-starting", begin, vm=vm), f"vm {vm} was started again, and {node.name} was not fenced")
    tell(f"the power switch was silent: fencing failed {len(failed)} times in {failed[-1] - begin:.1f} s, and no VM was started again")
    revived = time.time()
    room.switch.revive()
    for vm in moved:
        room.wait_event("vm-starting", PATIENCE, revived, vm=vm)
    moved_on(room, tell, node, moved, revived)
    back(room, node, tell)


def names(room, tell):
    """PL-08: a pool has the same name on each node, and is of another kind on one: no VM goes there."""
    odd = next(node for node in room.nodes if not any(room.instances(vm) == [node.name] for vm in VMS))
    switch_off(room, odd)
    odd.make_disk(profile="navi21")
    forget(room, odd)
    begin = time.time()
    odd.power_on()
    room.wait_event("cluster-attribute", PATIENCE, begin, has=f"#health-gpupool of {odd.name} is 'red'")
    findings = odd.ask("doctor", 60, timeout_ms=60000, expect={POOL: PROFILE})["findings"]
    require(findings == [f"pool {POOL} is of navi21 here, {PROFILE} is expected"], f"doctor of {odd.name} says {findings}")
    room.quiet()
    # Nobody else has two GPUs for train: it has to wait, not to go there.
    node = room.host_of("train")
    other = next(each for each in room.nodes if each not in (node, odd))
    keep = VMS["infer"] if room.instances("infer") else 1
    free = [gpu["name"] for gpu in other.ask("status")["pools"][0]["gpus"] if gpu["state"] == "free"]
    held = len(other.serials) - len(free)
    taken = free[:len(other.serials) - max(keep, held)]
    for gpu in taken:
        other.ask("offline", gpu=gpu)
    room.wait_capacity(other, len(other.serials) - len(taken), PATIENCE)
    switch_off(room, node)
    require(room.instances("train") == [], f"vm train runs on {room.instances('train')}")
    require(not room.find("vm-starting", begin, node=odd.name), f"a vm was started on {odd.name}")
    online = time.time()
    for gpu in taken:
        other.ask("online", gpu=gpu)
    room.ready()
    require(room.host_of("train") is other, f"vm train is not on {other.name}")
    started = room.find("vm-starting", online, vm="train")[1]["time_us"] / 1e6
    tell(f"doctor of {odd.name} is red, and no vm went there; vm train was started on {other.name} {started - online:.2f} s after it had GPUs")
    check_all(room, {odd.name: "navi21"})
    back(room, node, tell)  # first: one of three has no quorum, and fences nobody
    switch_off(room, odd)
    odd.make_disk()
    forget(room, odd)
    back(room, odd, tell)


def forget(room, node):
    """Its disk is a new one, and its history begins anew."""
    with room.changed:
        room.events = [(name, event) for name, event in room.events if name != node.name]
    node.off_at = []


def plan(room, tell):
    """PL-09: what gpupool-cluster plans is what Pacemaker does."""
    node = room.host_of("train")
    asked = others(room, node)[0]
    said = asked.run("gpupool-cluster", "plan", node.name).splitlines()
    idle = [each for each in room.up() if not any(room.instances(vm) == [each.name] for vm in VMS)]
    for each in idle:
        nothing = asked.run("gpupool-cluster", "plan", each.name).strip()
        require(nothing == "no VM moves", f"the plan for {each.name}, which has no VM, is: {nothing}")
    before = {vm: room.host_of(vm).name for vm in VMS}
    begin = time.time()
    node.power_off()
    for vm in [vm for vm in VMS if before[vm] == node.name]:
        room.wait_event("vm-starting", PATIENCE, begin, vm=vm)
    room.ready()
    room.quiet()
    after = {vm: room.host_of(vm).name for vm in VMS}
    done = sorted(f"vm {vm}  {before[vm]} -> {after[vm]}" for vm in VMS if before[vm] != after[vm])
    require(sorted(said) == done, f"planned was {said}, done {done}")
    tell(f"planned and done: {'; '.join(done)}")
    check_all(room)
    back(room, node, tell)


def capacity(room, tell):
    """The trap: a GPU that fails must not have its VM stopped, as long as somebody repairs it; later it moves."""
    node = room.host_of("infer")
    if room.host_of("train") is node:  # they part, since the others have nothing
        switch_off(room, node)
        room.ready()
        back(room, node, tell)
        node = room.host_of("infer")
    process, = node.processes("/opt/testbed/tenant", "/share/infer")
    status = node.ask("status")
    lease = next(lease for lease in status["leases"] if lease["vm"] == "infer")
    free = [gpu["name"] for gpu in status["pools"][0]["gpus"] if gpu["state"] == "free"]
    for gpu in free:
        node.ask("offline", gpu=gpu)
    begin, counted = time.time(), repairs(node)
    node.ask("fail", gpu=lease["gpu"], reason="of the trial")
    room.wait_event("lease-degraded", PATIENCE, begin, node=node.name)
    node.run("gpupool-cluster", "publish", f"{POOL}:{PROFILE}")
    room.quiet()
    require(node.processes("/opt/testbed/tenant", "/share/infer") == [process], "the VM of a GPU that failed was stopped")
    node.ask("online", gpu=free[0])
    room.wait_event("lease-active", PATIENCE, begin, node=node.name, lease=lease["lease"])
    require(node.processes("/opt/testbed/tenant", "/share/infer") == [process], "the VM of a GPU that was replaced is another process")
    require(repairs(node) == counted + 1, f"{node.name} has counted {repairs(node) - counted} repairs, there was one")
    tell("a GPU failed, and its VM stayed until another one was in its place")
    restore(room, node)
    check_all(room)
    give_up(room, node, tell)


def repairs(node):
    """By the text for Prometheus."""
    text = node.ask("metrics")["text"]
    found = re.search(rf'^gpupool_repair_seconds_count\{{pool="{POOL}"\}} ([0-9]+)$', text, re.MULTILINE)
    require(found, f"{node.name} tells Prometheus of no repairs of pool {POOL}: {text}")
    return int(found[1])


def restore(room, node):
    """All its GPUs are good again, and Pacemaker knows."""
    for gpu in node.ask("status")["pools"][0]["gpus"]:
        if gpu["offline"] or gpu["state"] == "quarantined":
            node.ask("online", gpu=gpu["name"])
    room.wait_capacity(node, len(node.serials), PATIENCE)
    room.quiet()


def give_up(room, node, tell):
    """The pool of the node has a patience of 3 s."""
    set_patience(node, 3)
    status = node.ask("status")
    lease = next(lease for lease in status["leases"] if lease["vm"] == "infer")
    for gpu in status["pools"][0]["gpus"]:
        if gpu["state"] == "free":
            node.ask("offline", gpu=gpu["name"])
    begin = time.time()
    node.ask("fail", gpu=lease["gpu"], reason="of the trial")
    gave_up = room.wait_event("lease-gave-up", PATIENCE, begin, node=node.name)[1]["time_us"] / 1e6
    room.wait(lambda: (found := room.find("vm-starting", gave_up, vm="infer")) and found[0] != node.name, "vm infer to go elsewhere", PATIENCE)
    room.ready()

    def moves():
        disk = Disk(room, "infer")
        disk.check()
        return disk.moves(gave_up)
    move, = wait_until(moves, "the tenant of infer to go on elsewhere", 20)
    tell(f"given up after 3 s, vm infer went to another node; it stood still for {move[2] - move[0]:.2f} s")
    set_patience(node, 0)
    restore(room, node)
    check_all(room)


def set_patience(node, seconds):
    """Of its pool, by its configuration: returns when another gpupoold answers, which has read it."""
    configuration = node.path("/etc/gpupool.json")
    has = json.loads(configuration.read_text())
    has["pools"][POOL]["give_up_s"] = seconds
    configuration.write_text(json.dumps(has))
    for process in node.processes("/opt/gpupool/gpupoold"):
        os.kill(process, signal.SIGTERM)

    def look():
        try:
            return node.ask("status")["pools"][0]["give_up_s"] == seconds
        except Gone:
            return False
    wait_until(look, f"gpupoold of {node.name} to read its configuration", 20)


ROWS = {"failover": failover, "partition": partition, "dead-fence": dead_fence, "names": names, "plan": plan, "capacity": capacity}
