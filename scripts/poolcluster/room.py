# SPDX-License-Identifier: GPL-2.0
"""The room: three nodes in namespaces, two networks between them, a power switch. All of it is below one process, whose end ends it; nothing
of it is in the host's network. A node is a Debian of its own (node.sh) with Corosync, Pacemaker and gpupoold; its power is the life of its
first process."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import threading
import time

from pooltrial.lines import Gone, Lines, Refused, Trouble, wait_until

HERE = pathlib.Path(__file__).resolve().parent
NODES = (1, 2, 3)
GPUS = 3  # of each node
POOL, PROFILE = "mi", "mi300x"
VMS = {"train": 2, "infer": 1}  # and how many GPUs they have
SWITCH = ("10.98.0.254", 1623)
FOREVER_MS = 3600 * 1000
# What can be done wrong, to see that a row finds it: on the nodes (break.sh), and around them.
OUTSIDE = ("no-fencing", "lying-switch")
BREAKS = ("same-boot", "count-good", "blind", "wrong-plan", "trusting", "false-stop", *OUTSIDE)
PASSWD = "root:x:0:0:root:/root:/bin/bash\nhacluster:x:890:890::/var/lib/pacemaker:/usr/sbin/nologin\nnobody:x:65534:65534::/:/usr/sbin/nologin\n"
GROUP = "root:x:0:\nhaclient:x:890:\nnogroup:x:65534:\n"


def command(*words, seconds=60, **options):
    """What it prints. Trouble when it fails."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=seconds, check=False, **options)
    except subprocess.TimeoutExpired as error:
        raise Trouble(f"{' '.join(map(str, words))}: not done in {seconds:.0f} s") from error
    if done.returncode != 0:
        raise Trouble(f"{' '.join(map(str, words))}: status {done.returncode}: {(done.stderr or done.stdout).strip()[-500:]}")
    return done.stdout


class PowerSwitch:
    """Listens on the network of the power switch. `dead`: takes connections, and answers nobody."""

    def __init__(self, nodes):
        self.nodes, self.dead, self.lies, self.log = nodes, False, False, []
        self.listener = socket.create_server(SWITCH)
        self.silent = []  # connections that wait for an answer
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.answer, args=(client,), daemon=True).start()

    def answer(self, client):
        with contextlib.suppress(OSError), client.makefile("rw") as lines:
            verb, *plug = lines.readline().split()
            if self.dead:
                self.silent.append(client)
                return
            with client:
                lines.write(f"{self.carry_out(verb, *plug)}\n")

    def carry_out(self, verb, plug=""):
        if verb == "list":
            return "ok"
        node = next((node for node in self.nodes if node.name == plug), None)
        if node is None:
            return "error"
        if verb == "status":
            return "on" if node.powered else "off"
        if verb != "off":
            return "error"
        if not self.lies:
            node.power_off()
        self.log.append((time.time(), "off", plug))
        return "ok"

    def off(self, node, after):
        """When it had that node without power, and said so; nothing: not since then."""
        return next((when for when, what, plug in self.log if what == "off" and plug == node.name and when >= after), None)

    def revive(self):
        self.dead = False
        for client in self.silent:
            client.close()
        self.silent = []


class Node:
    def __init__(self, room, number):
        self.room, self.number, self.name = room, number, f"node{number}"
        self.folder = room.folder / self.name
        self.process = self.first = None
        self.off_at = []  # the moments at which its power was cut
        self.lock = threading.Lock()
        self.serials = {f"gpu{n}": 0xe00 + 0x10 * number + n for n in range(GPUS)}

    @property
    def powered(self):
        return self.process is not None and self.process.poll() is None

    # --- power

    def make_disk(self, profile=PROFILE, **pool):
        """As it was delivered."""
        shutil.rmtree(self.folder / "disk", ignore_errors=True)
        etc = self.folder / "disk/upper/etc"
        (etc / "corosync").mkdir(parents=True)
        (self.folder / "log").mkdir(parents=True, exist_ok=True)
        (etc / "passwd").write_text(PASSWD)
        (etc / "group").write_text(GROUP)
        shutil.copy(HERE / "corosync.conf", etc / "corosync/corosync.conf")
        (etc / "gpupool.json").write_text(json.dumps({
            "cluster": "pacemaker",
            "pools": {POOL: {"profile": profile, **pool}},
            "gpus": [{"pool": POOL, "serial": f"{serial:#x}"} for serial in self.serials.values()],
            "vms": {vm: {"gpus": gpus + 1, "definition": {"run": ["/bin/bash", "/opt/testbed/tenant", f"/share/{vm}"]}}
                    for vm, gpus in VMS.items()}}))
        cib = self.folder / "disk/upper/var/lib/pacemaker/cib"
        cib.mkdir(parents=True)
        vms = "".join((HERE / "vm.xml").read_text().replace("@VM@", vm).replace("@GPUS@", str(gpus)) for vm, gpus in VMS.items())
        fencing = "false" if self.room.wrong == "no-fencing" else "true"
        (cib / "cib.xml").write_text((HERE / "cib.xml").read_text().replace("@VMS@", vms).replace("@FENCING@", fencing))
        (cib / "cib.xml").chmod(0o600)

    def power_on(self):
        with open(self.folder / "log/node.out", "ab") as log:
            self.process = subprocess.Popen(
                ["unshare", "--mount", "--net", "--uts", "--ipc", "--pid", "--fork", "--kill-child", self.room.folder / "testbed/node.sh",
                 str(self.number), self.folder, self.room.packages, *self.room.broken], stdin=subprocess.PIPE, stdout=log, stderr=log)
        parent = self.process.pid
        children = pathlib.Path(f"/proc/{parent}/task/{parent}/children")
        self.first = int(wait_until(lambda: self.alive() and children.read_text(), f"the first process of {self.name}", 10, 0.01))
        for network in ("ring", "power"):
            outlet = f"{network}{self.number}"
            command("ip", "link", "add", outlet, "type", "veth", "peer", "name", network, "netns", str(self.first))
            command("ip", "link", "set", outlet, "master", network, "up")
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        self.room.follow(self)

    def alive(self):
        if not self.powered:
            raise Trouble(f"{self.name} did not start, see {self.room.results}/{self.name}/node.out")
        return True

    def power_off(self):
        """When this returns no process of it is left."""
        with self.lock:
            if self.powered:
                os.kill(self.first, signal.SIGKILL)
                self.process.wait()
                self.off_at.append(time.time())
                for network in ("ring", "power"):  # its cables, which the kernel takes away later
                    subprocess.run(["ip", "link", "delete", f"{network}{self.number}"], capture_output=True, check=False)

    # --- what a sysadmin does

    def path(self, path):
        """A file of it, from here."""
        root = pathlib.Path(f"/proc/{self.first}/root")
        try:
            if os.path.samefile(root, "/"):
                raise Gone(f"{self.name} has no root of its own yet")
        except OSError as error:
            raise Gone(f"{self.name} has no power") from error
        return root / path.lstrip("/")

    def run(self, *words, seconds=60):
        return command("nsenter", "--target", str(self.first), "--all", "--root", "env", "--chdir=/", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", *words,
                       seconds=seconds)

    def ask(self, do, seconds=30, **members):
        with Lines(self.path("/run/gpupool/socket")) as lines:
            return lines.ask(do, seconds, **members)

    def cut_cable(self):
        command("ip", "link", "set", f"ring{self.number}", "down")

    def processes(self, *words):
        """Those of it that have these words in their command lines: numbers in the room."""
        found = []
        here = os.readlink(f"/proc/{self.first}/ns/pid")
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                line = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
                if all(word in line for word in words) and os.readlink(folder / "ns/pid") == here:
                    found.append(int(folder.name))
        return found


class Room:
    def __init__(self, folder, results, packages, tools, wrong=None):
        self.folder, self.results, self.packages, self.tools = map(pathlib.Path, (folder, results, packages, tools))
        self.wrong = wrong
        self.broken = [wrong] if wrong and wrong not in OUTSIDE else []  # on the nodes
        self.changed = threading.Condition()
        self.events = []  # (node, event), as they come

    def __enter__(self):
        command("mount", "-t", "tmpfs", "-o", "size=2g", "tmpfs", self.folder)
        (self.folder / "share").mkdir()
        self.take_along()
        self.nodes = [Node(self, number) for number in NODES]
        try:
            self.build()
        except BaseException:
            self.__exit__()
            raise
        return self

    def take_along(self):
        """What nodes run, as it is now: somebody may build, or change branches, while they do."""
        shutil.copytree(HERE, self.folder / "testbed")
        shutil.copytree(HERE.parent.parent / "tools/gpupool/cluster", self.folder / "cluster")
        (self.folder / "programs").mkdir()
        for program in ("gpupool", "gpupoold"):
            shutil.copy(self.tools / program, self.folder / "programs")

    def build(self):
        command("ip", "link", "set", "lo", "up")
        # Addresses of their own: a bridge has the least of its ports' else, and another one when that port goes, so that for a while nobody
        # who knew the power switch reaches it.
        for network, address in (("ring", "02:00:00:00:00:01"), ("power", "02:00:00:00:00:02")):
            command("ip", "link", "add", network, "address", address, "type", "bridge")
            command("ip", "link", "set", network, "up")
        command("ip", "address", "add", f"{SWITCH[0]}/24", "dev", "power")
        self.switch = PowerSwitch(self.nodes)
        self.switch.lies = self.wrong == "lying-switch"
        for node in self.nodes:
            node.make_disk()
            node.power_on()

    def __exit__(self, *_):
        for node in self.nodes:
            node.power_off()
            if (node.folder / "log").exists():
                shutil.copytree(node.folder / "log", self.results / node.name, dirs_exist_ok=True)
        for file in (self.folder / "share").iterdir():
            shutil.copy(file, self.results)
        command("umount", "--lazy", self.folder)

    # --- what happens

    def follow(self, node):
        """All events of its gpupoold from now on, until it ends."""
        first = node.first
        known = {event["number"] for name, event in self.events if name == node.name}

        def listen():
            last = max(known, default=0)
            while node.powered and node.first == first:
                time.sleep(0.02)  # nobody tells of a socket that comes
                with contextlib.suppress(Gone):
                    with Lines(node.path("/run/gpupool/socket"), 1) as lines:
                        while True:
                            try:
                                more = lines.ask("events", FOREVER_MS, after=last, timeout_ms=FOREVER_MS)["events"]
                            except Refused as refusal:
                                if refusal.code != "not-yet":
                                    raise
                                continue
                            with self.changed:
                                self.events += [(node.name, event) for event in more]
                                last = more[-1]["number"]
                                self.changed.notify_all()
        threading.Thread(target=listen, daemon=True).start()

    def find(self, what, after=0.0, node=None, has="", **members):
        """The first event of that kind since then: (node, event); nothing: none has come."""
        return next(((name, event) for name, event in self.events
                     if event["what"] == what and event["time_us"] / 1e6 >= after and node in (None, name) and has in event.get("detail", "")
                     and all(event.get(key) == value for key, value in members.items())), None)

    def wait(self, look, awaited, seconds):
        """What look() says once that is something; it is asked whenever something has happened."""
        deadline = time.monotonic() + seconds
        with self.changed:
            while not (seen := look()):
                left = deadline - time.monotonic()
                if left <= 0 or not self.changed.wait(left):
                    raise Trouble(f"waited {seconds:.0f} s for {awaited}")
            return seen

    def wait_event(self, what, seconds, after=0.0, **wanted):
        return self.wait(lambda: self.find(what, after, **wanted), f"the event {what} {wanted}", seconds)

    def wait_capacity(self, node, wanted, seconds):
        """Pacemaker was told last that the node has so much."""
        about = f"gpu-{POOL} of {node.name} is "

        def look():
            told = [event for _, event in self.events if event["what"] == "cluster-attribute" and event.get("detail", "").startswith(about)]
            return told and max(told, key=lambda event: event["time_us"])["detail"] == f"{about}'{wanted}'"
        self.wait(look, f"{node.name} to have a capacity of {wanted}", seconds)

    # --- who is where

    def up(self):
        return [node for node in self.nodes if node.powered]

    def node(self, name):
        return next(node for node in self.nodes if node.name == name)

    def instances(self, vm):
        """Names of nodes, one for each process that is the VM."""
        return [node.name for node in self.up() for _ in node.processes("/opt/testbed/tenant", f"/share/{vm}")]

    def host_of(self, vm):
        found = self.instances(vm)
        if len(found) != 1:
            raise Trouble(f"vm {vm} runs on {found}")
        return self.node(found[0])

    def ready(self, vms=VMS, seconds=120):
        """Each VM runs with all its GPUs."""
        def look():
            for vm in vms:
                last = {}
                for name, event in self.events:
                    if event.get("vm") == vm and "lease" in event and self.node(name).powered:
                        last[name, event["lease"]] = event["what"]
                if list(last.values()).count("lease-active") != VMS[vm]:
                    return False
            return True
        self.wait(look, f"{', '.join(vms)} to have all GPUs", seconds)

    def quiet(self, seconds=60):
        """Pacemaker has nothing to do."""
        self.up()[0].run("crm_resource", "--wait", f"--timeout={seconds}s", seconds=seconds + 10)
