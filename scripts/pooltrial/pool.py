# SPDX-License-Identifier: GPL-2.0
"""A pool of its own: gpupoold with its folders, its boards and VMs, all of which end with it."""

import fcntl
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import struct
import subprocess
import tempfile

from pooltrial.guest import Guest, complaints_in
from pooltrial.lines import Gone, Lines, Qmp, Trouble, wait_until

POOL = "mi"
PROFILE = "mi300x"
FIRST_SERIAL = 0xe01
LAST_WORDS = 12  # lines of each log that a failed row shows
FLOCK = "hhqqi4x"  # struct flock


def holder(lock):
    """The process that has the file locked as long as it lives (detached_process.h); nothing: none has."""
    try:
        with open(lock, "rb") as file:
            asked = struct.pack(FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            kind = struct.unpack(FLOCK, fcntl.fcntl(file, fcntl.F_OFD_GETLK, asked))[0]
            return int(file.read()) if kind != fcntl.F_UNLCK else None
    except (FileNotFoundError, ValueError):
        return None


class Kernel:
    """What a guest boots: a label, and the two files."""

    def __init__(self, label, image="", initrd="", memory_mib=3072):
        self.label, self.image, self.initrd, self.memory_mib = label, image, initrd, memory_mib

    def definition(self):
        return {"kernel": str(self.image), "initrd": str(self.initrd), "memory_mib": self.memory_mib, "cpus": 2}


class Pool:
    def __init__(self, daemon, results, kernel, driver="qemu", give_up=30):
        self.program = daemon.resolve()
        if not self.program.exists():
            raise Trouble(f"{self.program} is not built")
        self.driver, self.kernel = driver, kernel
        self.give_up = give_up  # seconds: a repair that takes longer is none
        self.log = pathlib.Path(results) / f"gpupoold-{kernel.label}.log"
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.log.unlink(missing_ok=True)
        # A unix socket's path has to be short.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pool-"))
        self.configuration = self.folder / "gpupool.json"
        self.daemon = None
        self.patience = 10  # seconds, with a daemon that does not listen
        self.seen = 0  # events up to this number have been read
        self.events = []

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.end()

    # --- the daemon

    def start(self, die_at=None):
        command = [self.program, "--driver", self.driver, "--state", self.folder / "state", "--run", self.folder / "run", "--log", "debug",
                   "--metrics", self.folder / "metrics", "--map", self.folder / "map.html"]
        if self.configuration.exists():
            command += ["--config", self.configuration]
        if die_at is not None:
            command += ["--die-at", str(die_at)]
        with open(self.log, "ab") as log:
            self.daemon = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def up(self):
        """It answers."""
        def look():
            if self.daemon.poll() is not None:
                raise Trouble(f"gpupoold ended with {self.daemon.returncode}, see {self.log}")
            try:
                with Lines(self.folder / "run/socket", 0.1) as lines:
                    return lines.ask("status")
            except Gone:
                return None
        return wait_until(look, "gpupoold to answer", 120)

    def stop(self, how=signal.SIGTERM):
        if self.daemon:
            self.daemon.send_signal(how)
            try:
                status = self.daemon.wait(150)
            except subprocess.TimeoutExpired:
                self.daemon.kill()
                self.daemon.wait()
                raise Trouble("gpupoold did not end") from None
            finally:
                self.daemon = None
            # It may have ended by itself before, or a sanitizer found something.
            if status != (0 if how == signal.SIGTERM else -how):
                raise Trouble(f"gpupoold ended with {status}, see {self.log}")

    def died(self, seconds):
        """It has ended by itself."""
        try:
            self.daemon.wait(seconds)
            return True
        except subprocess.TimeoutExpired:
            return False

    def judge_kernel_logs(self, tell, pass_over_clashes):
        """What the guests' kernels have said so far is kept beside the daemon's log. What is wrong with it; nothing: all is well."""
        wrong, clashes, guests = "", 0, 0
        for lock in self.folder.glob("run/vms/*/lock") if self.kernel.image else ():
            if holder(lock):
                name = lock.parent.name
                try:
                    text = Guest(lock.parent, patience=10).run("dmesg")
                    found, known = complaints_in(text, pass_over_clashes)
                    wrong = wrong or (f"the kernel of {name} complained: {found[0]}" if found else "")
                    clashes += known
                    guests += 1
                except Trouble as trouble:  # it hangs
                    text = f"{trouble}\n"
                    wrong = wrong or f"no kernel log of {name}: {trouble}"
                self.log.with_name(f"{self.kernel.label}-{name}-dmesg.log").write_text(text)
        if clashes:
            tell(f"kernel logs of {guests} guests: passed over {clashes} clashes of serial_number")
        return wrong

    def last_words(self):
        """The ends of the logs, for who reads a row that failed on a machine that is gone."""
        words = []
        for log in [self.log, *sorted(self.log.parent.glob(f"{self.kernel.label}-*-dmesg.log"))]:
            if log.exists():
                words += [f"{log.name}: {line[:160]}" for line in log.read_text(errors="replace").splitlines()[-LAST_WORDS:]]
        return words

    def end(self):
        """Nothing of it is left, whatever state it is in."""
        try:
            self.stop()
        finally:
            if self.kernel.image:
                for console in self.folder.glob("run/vms/*/console.log"):
                    shutil.copy(console, self.log.with_name(f"{self.kernel.label}-{console.parent.name}.log"))
            # QEMU before its boards: it aborts when one goes away under it.
            for lock in sorted(self.folder.glob("run/vms/*/lock")) + sorted(self.folder.glob("run/boards/*.lock")):
                if process := holder(lock):
                    os.kill(process, signal.SIGKILL)
                    wait_until(lambda: not holder(lock), f"the end of {lock.parent.name}", 10)
            shutil.rmtree(self.folder, ignore_errors=True)

    # --- what a sysadmin does

    def ask(self, do, seconds=60, **members):
        with Lines(self.folder / "run/socket", self.patience) as lines:
            return lines.ask(do, seconds, **members)

    def wait(self, until, seconds=120, **named):
        state = self.ask("wait", seconds + 30, until=until, timeout_ms=int(seconds * 1000), **named)["state"]
        if state not in until:
            raise Trouble(f"{named} is {state}, not {until[0]}")
        return state

    def set_spares(self, spares):
        """By the configuration, which is read at the start."""
        self.configuration.write_text(json.dumps({"pools": {POOL: {"profile": PROFILE, "spares": spares}}}))
        self.stop()
        self.start()
        self.up()

    def create(self, gpus, vms):
        """A pool and VMs that run. `vms`: names, and how many GPUs they may have."""
        self.up()
        self.ask("create", pool=POOL, profile=PROFILE)
        self.serials = {self.ask("add", pool=POOL, serial=FIRST_SERIAL + n)["gpu"]: FIRST_SERIAL + n for n in range(gpus)}
        for name, most in vms.items():
            self.ask("declare", vm=name, gpus=most, definition=self.kernel.definition() if self.kernel.image else {})
            self.ask("start", vm=name)
        for name in vms:
            self.wait(["running"], 240, vm=name)
        for name in vms if self.kernel.image else ():
            self.guest(name).wait_loaded()
        for gpu in self.serials:
            self.wait(["free"], gpu=gpu)

    def lease(self, vm, count=1, seconds=120):
        leases = [made["lease"] for made in self.ask("lease", pool=POOL, vm=vm, count=count)["leases"]]
        for lease in leases:
            self.wait(["active"], seconds, lease=lease)
        return leases

    def give_back(self, lease, seconds=120):
        self.ask("return", lease=lease)
        self.wait(["closed", "over"], seconds, lease=lease)

    def empty(self):
        """All leases are over, all GPUs free again."""
        for lease in self.leases():
            self.give_back(lease)
        for name, gpu in self.gpus().items():
            if gpu["offline"] or gpu["state"] == "quarantined":
                self.ask("online", gpu=name)
        for name in self.gpus():
            self.wait(["free"], gpu=name)

    def gpus(self):
        return {gpu["name"]: gpu for pool in self.ask("status")["pools"] for gpu in pool["gpus"]}

    def leases(self):
        return {lease["lease"]: lease for lease in self.ask("status")["leases"]}

    def gpu_of(self, lease):
        return self.leases()[lease]["gpu"]

    def health(self):
        return self.ask("status", pool=POOL)["pools"][0]["health"]

    def guest_folder(self, vm):
        """Of the one that runs."""
        return next(lock.parent for lock in self.folder.glob(f"run/vms/{vm}@*/lock") if holder(lock))

    def guest(self, vm):
        return Guest(self.guest_folder(vm))

    def read_events(self):
        while True:
            more = self.ask("events", after=self.seen)["events"]
            if not more:
                return self.events
            self.events += more
            self.seen = more[-1]["number"]

    def event(self, what, after=0.0, **members):
        """The first of that kind since `after` (the host's time)."""
        return next((event for event in self.read_events() if event["what"] == what and event["time_us"] / 1e6 >= after
                     and all(event.get(key) == value for key, value in members.items())), None)

    def wait_event(self, what, seconds, after=0.0, **members):
        return wait_until(lambda: self.event(what, after, **members), f"the event {what}", seconds, 0.1)

    # --- what is there, whatever the daemon says

    def emulator(self, gpu):
        return self.folder / "run/boards" / f"gp-{self.serials[gpu]:X}-{self.gpus()[gpu]['epoch']}.ctl"

    def vm_process(self, vm):
        """The process that is the VM, and when it began."""
        number = holder(self.guest_folder(vm) / "lock")
        return number, pathlib.Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[19]

    def settle(self, seconds=120):
        """Until nothing is under way, and the doctor has nothing to say."""
        restless = ("new", "scrubbing", "reserved", "attaching", "detaching", "failed", "pulled")

        def look():
            if any(gpu["state"] in restless for gpu in self.gpus().values()):
                return None
            findings = self.ask("doctor", seconds, timeout_ms=seconds * 1000)["findings"]
            self.findings = findings
            return not findings
        try:
            wait_until(look, "the books to be those of the hardware", seconds, 0.1)
        except Trouble as trouble:
            raise Trouble(f"{trouble}: {getattr(self, 'findings', '')} {self.gpus()}") from trouble

    def check_hardware(self):
        """The books, the VMs' monitors and the emulators say the same. The daemon had settled, and is stopped: it has the monitors."""
        boards, wanted = self.boards(), {}
        for gpu in self.books():
            if gpu["state"] in ("free", "leased"):
                wanted[gpu["serial"]] = (gpu["epoch"], gpu["vm"] if gpu["state"] == "leased" else "")
        if wanted != boards:
            raise Trouble(f"books {wanted}, hardware {boards}")
        self.check_tenancies()

    def ledger(self, question):
        # gpupoold is gone: its locks are, too.
        ledger = sqlite3.connect(self.folder / "state/ledger")
        try:
            ledger.row_factory = sqlite3.Row
            return [dict(row) for row in ledger.execute(question)]
        finally:
            ledger.close()

    def books(self):
        return [{**row, "vm": row["vm"] or ""} for row in self.ledger("SELECT * FROM gpus")]

    def check_tenancies(self):
        """No GPU is in two leases, none was given away twice without a scrub."""
        twice = self.ledger("SELECT gpu, epoch FROM tenancies GROUP BY gpu, epoch HAVING COUNT(*) > 1")
        held = self.ledger("SELECT lease FROM gpus WHERE lease IS NOT NULL GROUP BY lease HAVING COUNT(*) > 1")
        if twice or held:
            raise Trouble(f"leased twice: {twice or held}")

    def boards(self):
        """Boards with power, by serial number: their epoch and VM."""
        found = {}
        if self.driver == "fake":
            for file in (self.folder / "run/fake/boards").iterdir():
                board = json.loads(file.read_text())
                found[int(file.name, 16)] = (board["epoch"], board["vm"])
            return found
        in_vm = {}
        for lock in self.folder.glob("run/vms/*/lock"):
            if holder(lock):
                with Qmp(lock.parent / "qmp") as qmp:
                    for device in qmp.execute("qom-list", path="/machine/peripheral"):
                        if device["name"].startswith("gp-"):
                            in_vm[device["name"]] = lock.parent.name.rsplit("@", 1)[0]
        for lock in self.folder.glob("run/boards/*.lock"):
            if holder(lock):
                with Lines(lock.with_suffix(".ctl")) as emulator:
                    attached = emulator.ask("status")["attached"]
                vm = in_vm.pop(lock.stem, "")
                if attached != bool(vm):
                    raise Trouble(f"{lock.stem} is {'' if attached else 'not '}attached, and in {vm or 'no vm'}")
                serial, epoch = lock.stem.split("-")[1:]
                found[int(serial, 16)] = (int(epoch), vm)
        if in_vm:
            raise Trouble(f"QEMU has devices without an emulator: {in_vm}")
        return found
