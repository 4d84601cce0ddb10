# SPDX-License-Identifier: GPL-2.0
"""guestdump FOLDER RELEASE: prints which tasks of the guest with the memory FOLDER/vmcore are blocked, by what, and who holds it; leaves
FOLDER/vmcoreinfo. guestdump --open FOLDER: drgn's prompt, or a script of standard input. See scripts/guest/blocked-tasks, which calls this."""

import argparse
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import drgn  # noqa: E402
from drgn.cli import run_interactive  # noqa: E402

from guestdump import chains  # noqa: E402
from guestdump.dump import Dump, DumpError  # noqa: E402


def main():
    arguments = argparse.ArgumentParser(prog="guestdump", description=__doc__)
    arguments.add_argument("--open", action="store_true")
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("release", nargs="?", default="")
    chosen = arguments.parse_args()
    try:
        dump = Dump(chosen.folder, chosen.release)
    except DumpError as error:
        sys.exit(f"error: {error}")
    if chosen.open:
        dump.give_symbols()
        if sys.stdin.isatty():
            run_interactive(dump.prog)
        else:
            drgn.set_default_prog(dump.prog)
            exec(sys.stdin.read(), {"prog": dump.prog})  # a script
        return
    (chosen.folder / "vmcoreinfo").write_bytes(dump.vmcoreinfo)
    print(chains.report(dump.tasks()), end="")


main()
