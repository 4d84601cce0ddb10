# SPDX-License-Identifier: GPL-2.0
"""What a tenant sees and does in a VM: its bus, and jobs on its GPUs. The guest's agent has one client at a time, and gpupoold is one: each
look is a conversation of its own, and a job writes into a file of the guest."""

import collections
import contextlib
import itertools
import json
import re
import time

from pooltrial.lines import Lines, Trouble, wait_until

PATIENCE = 120  # of a guest that is busy on a host that is busy, too

# A kernel that ends the job with its GPU leaves the rest of it to another process, on a GPU that it has not had yet.
JOB = """
id=$1 steps=$2 folder=$3 used=" $1 "
mkdir -p "$folder"
while ! gpu_mover --gpu-id "$id" --steps "$steps" --checkpoint "$folder/state" $4 >>"$folder/log" 2>>"$folder/errors"; do
    [ ! -e "$folder/stop" ] || exit
    echo '{"state":"killed"}' >>"$folder/log"
    id=
    until [ -n "$id" ]; do
        for file in /sys/class/kfd/kfd/topology/nodes/*/gpu_id; do
            read -r each <"$file" || continue
            case "$each$used" in 0*|*" $each "*) ;; *) id=$each used="$used$each " ;; esac
        done
        [ -n "$id" ] || sleep 0.1
    done
done
"""

# A GPU's address, and its configuration space from the extended capabilities on, of which one has the serial number.
BUS = """
for device in /sys/bus/pci/devices/*; do
    case $(cat "$device/vendor" "$device/class" 2>/dev/null | tr -d '\\n') in
    0x10020x0380*|0x10020x0300*|0x10020x1200*)
        echo "${device##*/} $(od -An -v -tx1 -j256 -N768 "$device/config" | tr -d ' \\n')" ;;
    esac
done
"""

# The PCI core has an attribute of this name from 6.18 on, for each board with a serial number. Stock's amdgpu makes another one, which is refused
# with a trace. Documentation/pool/testing.md.
CLASH = re.compile(r"sysfs: cannot create duplicate filename '/devices/pci[^']*/serial_number'$")
CLASH_IN = "amdgpu_fru_sysfs_init"
COMPLAINTS = ("BUG:", "WARNING:", "Oops", "general protection", "INFO: task", "KASAN:", "refcount_t", "rcu: INFO", "possible circular",
              "Call Trace")


def complaints_in(log, pass_over_clashes):
    """Lines of a kernel log that complain, and how many clashes of the attribute it has beside them, if these are passed over."""
    lines, found, clashes, excused = log.splitlines(), [], 0, -1
    for n, line in enumerate(lines):
        if pass_over_clashes and CLASH.search(line):
            trace = list(itertools.takewhile(lambda m: "</TASK>" not in lines[m], range(n, len(lines))))
            if any(CLASH_IN in lines[m] for m in trace):
                clashes += 1
                excused = next((m for m in trace if "Call Trace" in lines[m]), n)
        elif n != excused and any(word in line for word in COMPLAINTS):
            found.append(line)
    return found, clashes


def serial_in(config):
    """The number in the Device Serial Number capability; nothing for a board that does not answer."""
    at = 0
    while 0 <= at <= len(config) - 12:
        header = int.from_bytes(config[at:at + 4], "little")
        if header & 0xffff == 3:
            return int.from_bytes(config[at + 4:at + 12], "little")
        at = (header >> 20) - 256
    return None


class Guest:
    def __init__(self, folder, patience=PATIENCE):
        self.folder, self.patience = folder, patience
        self.clock = None  # by how many seconds the host's is ahead

    @contextlib.contextmanager
    def agent(self):
        with Lines(self.folder / "agent", self.patience) as lines:
            before = time.time()
            hello = lines.ask("hello", self.patience)
            clock = (before + time.time()) / 2 - hello["uptime_us"] / 1e6
            # The answer that took least is the nearest to the truth.
            if self.clock is None or time.time() - before < self.clock[0]:
                self.clock = (time.time() - before, clock)
            yield lines

    def host_time(self, line):
        return line["time_us"] / 1e6 + self.clock[1]

    def run(self, *argv):
        with self.agent() as agent:
            done = agent.ask("run", self.patience, argv=list(argv), timeout_ms=self.patience * 1000)
        if done.get("status") != 0:
            raise Trouble(f"{argv[0]} in the guest: {done}")
        return done["stdout"]

    def kernel(self):
        with self.agent() as agent:
            return agent.ask("hello", self.patience)["kernel"]

    def bus(self):
        """Serial numbers of the GPUs on the guest's bus, and their addresses."""
        found = {}
        for line in self.run("sh", "-c", BUS).splitlines():
            address, config = line.split()
            found[serial_in(bytes.fromhex(config))] = address
        return found

    def gpu_id(self, serial):
        """KFD's, of the board with that number."""
        address = self.bus().get(serial)
        with self.agent() as agent:
            state = agent.ask("state", self.patience)
        for node in state["kfd_nodes"]:
            place = node["location_id"]
            if node["gpu_id"] != 0 and f"{node['domain']:04x}:{place >> 8:02x}:{place >> 3 & 31:02x}.0" == address:
                return node["gpu_id"]
        raise Trouble(f"the guest has no KFD node of the GPU {serial:#x}")

    def wait_loaded(self):
        """Its driver is there: until then a lease would wait for that, too."""
        self.run("sh", "-c", "until dmesg | grep -q 'guest: modules are loaded'; do sleep 0.1; done")

    def start_job(self, name, serial, steps, options=""):
        job = Job(self, name, steps)
        with_gpu = str(self.gpu_id(serial))
        with self.agent() as agent:
            agent.ask("spawn", self.patience, name=name, argv=["sh", "-c", JOB, name, with_gpu, str(steps), job.folder, options])
        return job


class Job:
    """A gpu_mover, or several one after the other."""

    def __init__(self, guest, name, steps):
        self.guest, self.name, self.steps = guest, name, steps
        self.folder = f"/tmp/{name}"
        self.lines = []
        self.taken = 0

    def look(self):
        """All that it has said, oldest first."""
        text = self.guest.run("sh", "-c", f"tail -c +{self.taken + 1} {self.folder}/log 2>/dev/null || true")
        whole = text[:text.rfind("\n") + 1]
        self.taken += len(whole.encode())
        self.lines += [json.loads(line) for line in whole.splitlines()]
        return self.lines

    def said(self, state, after=0):
        """The first line of that state from that number on; nothing: it has not been said."""
        return next((line for line in self.lines[after:] if line["state"] == state), None)

    def wait(self, state, seconds, after=0):
        def look():
            self.look()
            return self.said(state, after)
        try:
            return wait_until(look, f"{self.name} to say '{state}'", seconds, 0.2)
        except Trouble as trouble:
            errors = self.guest.run("sh", "-c", f"tail -n 3 {self.folder}/errors")
            raise Trouble(f"{trouble}; its last line: {self.lines[-1] if self.lines else errors}") from trouble

    def result(self, seconds):
        """The words that it ends with, which are those of the CPU."""
        result = self.wait("result", seconds)
        if not result["same"] or result["steps"] != self.steps:
            raise Trouble(f"{self.name} has a wrong result: {result}")
        bad = [line for line in self.lines if line.get("bad")]
        if bad:
            raise Trouble(f"{self.name} had a wrong result on its way: {bad[0]}")
        return result["words"]

    def longest_pause(self):
        """Between two lines of progress, in seconds."""
        times = [self.guest.host_time(line) for line in self.lines if line["state"] == "progress"]
        return max((b - a for a, b in zip(times, times[1:])), default=0.0)

    def disturbances(self):
        """What it said beside its progress."""
        return collections.Counter(line["state"] for line in self.lines
                                   if line["state"] not in ("ready", "progress", "result", "end"))
