# SPDX-License-Identifier: GPL-2.0
"""poolcluster: tries the GPU pool out on a cluster of three machines: nodes in namespaces with Corosync and Pacemaker of Debian, and a
power switch that fences for real. Boards and VMs are files and processes: no guest is needed. Prints KTAP; exit status 0 when all rows pass
or cannot be made on this host, 1 when one fails, 2 when the trial itself could not be made. See Documentation/pool/testing.md."""

import argparse
import ctypes
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

sys.dont_write_bytecode = True
TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP))

from poolcluster import rows  # noqa: E402
from poolcluster.room import BREAKS, Room  # noqa: E402
from pooltrial.lines import Trouble  # noqa: E402

# What a node has of Debian, which need not be that of the host.
PACKAGES = ("pacemaker corosync pacemaker-cli-utils resource-agents dash bash coreutils util-linux sed grep findutils hostname iproute2 "
            "libxml2-utils").split()
NAMESPACES = ["unshare", "--mount", "--net", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc"]
FORM = 180  # seconds, for the cluster and its VMs to be up


def options():
    parser = argparse.ArgumentParser(prog="poolcluster", description=__doc__)
    parser.add_argument("--daemon", required=True, type=pathlib.Path, help="the program gpupoold, beside gpupool")
    parser.add_argument("--results", default="results/pool-cluster", type=pathlib.Path, help="where logs and cluster.json go")
    parser.add_argument("--shell", action="store_true", help="no rows, a shell: `node 1 crm_mon -1`; the cluster ends with it")
    parser.add_argument("--break", dest="wrong", choices=BREAKS, help="do this one thing wrong: a row has to find it")
    parser.add_argument("--inside", nargs=2, metavar=("FOLDER", "ROOT"), help=argparse.SUPPRESS)
    parser.add_argument("rows", nargs="*", default=list(rows.ROWS), help=f"of {', '.join(rows.ROWS)} (all)")
    chosen = parser.parse_args()
    unknown = [row for row in chosen.rows if row not in rows.ROWS]
    if unknown:
        parser.error(f"there is no row '{unknown[0]}'")
    if not chosen.daemon.exists() or not (chosen.daemon.parent / "gpupool").exists():
        parser.error(f"{chosen.daemon}, or gpupool beside it, is not built")
    chosen.daemon, chosen.results = chosen.daemon.resolve(), chosen.results.resolve()
    return chosen


def lacking():
    """Why this host cannot have such nodes; nothing: it can."""
    if os.geteuid() != 0:
        return "only root can make namespaces with networks"
    for program in ("unshare", "nsenter", "ip", "mount", "ldd", "apt-get", "dpkg-deb"):
        if not shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"):
            return f"there is no {program}"
    probe = subprocess.run([*NAMESPACES, "sh", "-c", "ip link add type veth && ip link add probe type bridge && mount -t tmpfs tmpfs /mnt"],
                           capture_output=True, text=True, check=False)
    return f"no namespaces: {probe.stderr.strip()}" if probe.returncode else ""


def outside(chosen):
    """On the host: makes the room, waits for it to end, and leaves nothing behind."""
    if why := lacking():
        print("TAP version 13")
        print(f"1..{len(chosen.rows)}")
        for number, row in enumerate(chosen.rows, 1):
            print(f"ok {number} - {row} # SKIP {why}")
        print(f"# 0 passed, 0 failed, {len(chosen.rows)} skipped")
        return 0
    root = subprocess.run([TOP / "guest/deb-root", "cluster", "trixie", *PACKAGES], stdout=subprocess.PIPE, text=True, check=False)
    if root.returncode != 0:
        print("Bail out! no Debian packages for the nodes", flush=True)
        return 2
    folder = tempfile.mkdtemp(prefix="poolcluster-")
    libc = ctypes.CDLL(None)
    arguments = [*(["--shell"] if chosen.shell else []), *(["--break", chosen.wrong] if chosen.wrong else []), *chosen.rows]
    room = subprocess.Popen([*NAMESPACES, sys.executable, pathlib.Path(__file__).parent, "--daemon", chosen.daemon, "--results", chosen.results,
                             "--inside", folder, root.stdout.strip(), *arguments],
                            preexec_fn=lambda: libc.prctl(1, signal.SIGKILL))  # PR_SET_PDEATHSIG: the room ends with this process

    def end(*_):
        room.kill()  # and all that is in it

    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, end)
    signal.signal(signal.SIGINT, signal.SIG_IGN if chosen.shell else end)
    try:
        status = room.wait()
        return status if status >= 0 else 2
    finally:
        os.rmdir(folder)  # what was mounted there was the room's


def shell(room):
    """A prompt in the room, with the command `node`."""
    tools = room.folder / "bin"
    tools.mkdir()
    cases = " ".join(f"{node.number}) first={node.first} ;;" for node in room.nodes)
    (tools / "node").write_text(f"""#!/bin/bash
number=$1; shift; case $number in {cases} *) echo "want: node 1|2|3 COMMAND"; exit 1 ;; esac
exec nsenter --target $first --all --root env --chdir=/ PATH=/usr/sbin:/usr/bin:/sbin:/bin "${{@:-bash}}"
""")
    (tools / "node").chmod(0o755)
    print("A cluster of three nodes: `node 1 crm_mon -1`, `node 2 gpupool status`, `node 3 bash`; exit ends it.", flush=True)
    subprocess.run(["bash", "--norc"], env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "PS1": "pool cluster# "}, check=False)


def inside(chosen):
    folder, packages = chosen.inside
    chosen.results.mkdir(parents=True, exist_ok=True)
    done, failed, cannot = [], 0, ""
    if not chosen.shell:
        print("TAP version 13")
        print(f"1..{len(chosen.rows)}", flush=True)
    begin = time.monotonic()
    try:
        with Room(folder, chosen.results, packages, chosen.daemon.parent, chosen.wrong) as room:
            room.ready(seconds=FORM)
            room.quiet()
            print(f"# three nodes and {len(rows.VMS)} VMs are up after {time.monotonic() - begin:.1f} s", flush=True)
            if chosen.shell:
                shell(room)
                return 0
            for number, row in enumerate(chosen.rows, 1):
                start, notes, trouble = time.monotonic(), [], ""
                try:
                    rows.ROWS[row](room, notes.append)
                except Trouble as failure:
                    trouble = str(failure)
                except Exception as failure:  # of the row itself: it fails, and the logs are kept
                    traceback.print_exc()
                    trouble = f"{type(failure).__name__}: {failure}"
                for note in notes:
                    print(f"# {note}")
                print(f"{'not ok' if trouble else 'ok'} {number} - {row}{f' # {trouble}' if trouble else ''}", flush=True)
                done.append({"row": row, "passed": not trouble, "seconds": round(time.monotonic() - start, 1), "notes": notes,
                             **({"trouble": trouble} if trouble else {})})
                if trouble:  # nobody knows in what state it left the cluster
                    failed = len(chosen.rows) - number + 1
                    for later, other in enumerate(chosen.rows[number:], number + 1):
                        print(f"not ok {later} - {other} # not run", flush=True)
                    break
    except Trouble as trouble:
        cannot = str(trouble)
        print(f"Bail out! {cannot}", flush=True)
    (chosen.results / "cluster.json").write_text(json.dumps({"rows": done}, indent=1) + "\n")
    print(f"# {sum(each['passed'] for each in done)} passed, {failed + bool(cannot)} failed")
    return 2 if cannot else 1 if failed else 0


def main():
    chosen = options()
    sys.exit(inside(chosen) if chosen.inside else outside(chosen))


main()
