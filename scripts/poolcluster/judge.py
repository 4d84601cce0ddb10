# SPDX-License-Identifier: GPL-2.0
"""What has to hold after each row, whatever the row was: said by those who cannot know of each other. The tenants' disks have each step
once; the histories of all nodes have each VM in one place at a time; no GPU is in two leases; books and boards say the same."""

from pooltrial.lines import Trouble
from poolcluster.room import POOL, PROFILE, VMS

LCG = (6364136223846793005, 1442695040888963407)  # tenant's


def require(holds, what):
    if not holds:
        raise Trouble(what)


def signed(value):
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


class Disk:
    """What the tenant of a VM has written, wherever it ran."""

    def __init__(self, room, vm):
        self.vm = vm
        self.steps = []  # time, node, number, result
        file = room.folder / "share" / vm
        text = file.read_text() if file.exists() else ""
        for line in text[:text.rfind("\n") + 1].splitlines():
            when, node, number, result = line.split()
            self.steps.append((float(when), node, int(number), int(result)))
        refused = file.with_suffix(".refused")
        self.refused = refused.read_text().split("\n")[:-1] if refused.exists() else []

    def check(self):
        require(not self.refused, f"vm {self.vm} was started a second time while it ran: {self.refused}")
        value = 1
        for n, (when, node, number, result) in enumerate(self.steps, 1):
            value = signed(value * LCG[0] + LCG[1])
            require(number == n, f"vm {self.vm}: step {n} was done twice or never, {node} wrote step {number}")
            require(result == value, f"vm {self.vm}: step {n} on {node} has a wrong result")

    def moves(self, after=0.0):
        """(last step's time, from, first step's time, to) of each change of the node."""
        return [(a[0], a[1], b[0], b[1]) for a, b in zip(self.steps, self.steps[1:]) if a[1] != b[1] and b[0] >= after]


def stays(room, vm):
    """Where the VM was by the books, and from when to when: (from, to, node). What was cut off ended then."""
    found, now = [], max((event["time_us"] for _, event in room.events), default=0) / 1e6
    for node in room.nodes:
        begin = None
        history = sorted((event["time_us"] / 1e6, event["number"], event["what"]) for name, event in room.events
                         if name == node.name and event.get("vm") == vm and event["what"] in ("vm-starting", "vm-stopped"))
        for when, _, what in history:
            if what == "vm-starting":
                begin = when
            elif begin is not None:
                cut = [off for off in node.off_at if begin < off < when]
                found.append((begin, min([when, *cut]), node.name))
                begin = None
        if begin is not None:
            found.append((begin, min([now, *[off for off in node.off_at if off > begin]]), node.name))
    return sorted(found)


def check_stays(room):
    for vm in VMS:
        visits = stays(room, vm)
        for (_, end, here), (begin, _, there) in zip(visits, visits[1:]):
            require(begin >= end, f"vm {vm} was started on {there} {end - begin:.3f} s before it had ended on {here}")


def check_books(room, profiles=None):
    """Of the nodes that are up. Each VM with all its leases on one of them; each GPU in one of them, and in one lease at most."""
    owner, where, findings = {}, {vm: {} for vm in VMS}, []
    for node in room.up():
        status = node.ask("status")
        held = {}
        for pool in status["pools"]:
            for gpu in pool["gpus"]:
                serial = int(gpu["serial"], 16)
                require(owner.setdefault(serial, node.name) == node.name, f"GPU {serial:#x} is {node.name}'s and {owner[serial]}'s")
                if "lease" in gpu:
                    require(gpu["lease"] not in held, f"lease {gpu['lease']} of {node.name} has {held.get(gpu['lease'])} and {gpu['name']}")
                    held[gpu["lease"]] = gpu["name"]
        for lease in status["leases"]:
            if lease["state"] == "active":
                require(held.get(lease["lease"]) == lease["gpu"], f"lease {lease['lease']} of {node.name} and {lease['gpu']} do not agree")
                where[lease["vm"]][node.name] = where[lease["vm"]].get(node.name, 0) + 1
        expected = {POOL: (profiles or {}).get(node.name, PROFILE)}
        findings += [f"{node.name}: {finding}" for finding in node.ask("doctor", 60, timeout_ms=60000, expect=expected)["findings"]]
    require(not findings, f"doctor: {findings}")
    for vm, places in where.items():
        require(len(places) <= 1, f"vm {vm} has leases on {places}")
    return where


def check_epochs(room):
    """No GPU was given away twice without a scrub in between: by the histories, which last longer than a node is up."""
    for node in room.nodes:
        clean, given = {}, {}
        for _, event in sorted(((n, e) for n, e in room.events if n == node.name), key=lambda pair: pair[1]["number"]):
            gpu, epoch = event.get("gpu"), event.get("epoch")
            if event["what"] == "gpu-free":
                clean[gpu] = epoch
            if event["what"] == "gpu-attaching":
                require(clean.get(gpu) == epoch, f"{gpu} of {node.name} was given away in epoch {epoch}, it was clean in {clean.get(gpu)}")
                require(given.get(gpu) != epoch, f"{gpu} of {node.name} was given away twice in epoch {epoch}")
                given[gpu] = epoch


def check_all(room, profiles=None):
    for vm in VMS:
        Disk(room, vm).check()
    check_stays(room)
    check_epochs(room)
    return check_books(room, profiles)
