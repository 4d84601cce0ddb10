# SPDX-License-Identifier: GPL-2.0
"""pooltrial: tries the GPU pool out, with boards, VMs and jobs that are its own. Prints KTAP; exit status 0 when all rows pass, 1 when one
fails, 2 when the trial itself could not be made. See Documentation/pool/testing.md."""

import argparse
import json
import pathlib
import signal
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from pooltrial import kills, repair, rows  # noqa: E402
from pooltrial.lines import Trouble  # noqa: E402
from pooltrial.pool import Kernel, Pool  # noqa: E402


def kernel(text):
    label, _, files = text.partition("=")
    image, _, initrd = files.partition(":")
    for file in (image, initrd):
        if not pathlib.Path(file).is_file():
            raise argparse.ArgumentTypeError(f"'{text}': want LABEL=BZIMAGE:INITRD, '{file}' is no file")
    return Kernel(label, pathlib.Path(image).resolve(), pathlib.Path(initrd).resolve())


def options():
    parser = argparse.ArgumentParser(prog="pooltrial", description=__doc__)
    parser.add_argument("--daemon", required=True, type=pathlib.Path, help="the program gpupoold")
    parser.add_argument("--results", default="results/pool", type=pathlib.Path, help="where logs and pool.json go")
    parser.add_argument("--kernel", action="append", type=kernel, default=[], metavar="LABEL=BZIMAGE:INITRD",
                        help="of the guests; more than one: the rows are run with each, and `repair` shows them beside each other")
    parser.add_argument("--may-fail", action="append", default=[], metavar="LABEL", help="a kernel that the others are compared with")
    parser.add_argument("--memory-mib", type=int, default=3072, help="of each guest (%(default)s)")
    parser.add_argument("--kills", type=int, default=50, help="how often the row `kills` kills the daemon (%(default)s)")
    parser.add_argument("--give-up", type=int, default=30, metavar="SECONDS",
                        help="a repair that takes longer is none (%(default)s); a debug kernel is slow")
    parser.add_argument("--seed", type=int, help="of what is drawn at random")
    parser.add_argument("--fake", action="store_true", help="files stand for boards and VMs: `kills` alone, without a guest")
    parser.add_argument("rows", nargs="*", default=["repair"], help=f"of {', '.join([*rows.ROWS, 'kills'])} (repair)")
    chosen = parser.parse_args()
    unknown = [row for row in chosen.rows if row not in rows.ROWS and row != "kills"]
    if unknown:
        parser.error(f"there is no row '{unknown[0]}'")
    if chosen.fake:
        if chosen.rows != ["kills"]:
            parser.error("--fake is for the row kills")
        chosen.kernel = [Kernel("fake")]
    elif not chosen.kernel:
        parser.error("name a kernel, or --fake")
    for each in chosen.kernel:
        each.memory_mib = chosen.memory_mib
    return chosen


class Report:
    """What is printed as it happens, and kept for programs."""

    def __init__(self, chosen):
        self.chosen, self.number, self.failed, self.excused, self.left_out, self.rows = chosen, 0, 0, 0, 0, []
        print("TAP version 13")
        print(f"1..{len(chosen.rows) * len(chosen.kernel)}", flush=True)

    def add(self, label, row, seconds, notes, trouble):
        self.number += 1
        for note in notes:
            print(f"# {note}")
        # Who is only compared with has no say.
        excused = bool(trouble) and label in self.chosen.may_fail
        self.excused += excused
        self.failed += bool(trouble) and not excused
        directive = f" # TODO {trouble}" if excused else f" # {trouble}" if trouble else ""
        print(f"{'not ok' if trouble else 'ok'} {self.number} - {row}-{label}{directive}", flush=True)
        self.rows.append({"row": row, "kernel": label, "passed": not trouble, "seconds": round(seconds, 1), "notes": notes,
                          **({"trouble": trouble} if trouble else {})})


def run_rows(chosen, each, report):
    """Of one kernel. Its repair, if there was one."""
    label = each.label
    with Pool(chosen.daemon, chosen.results, each, "fake" if chosen.fake else "qemu", chosen.give_up) as pool:
        begin = time.monotonic()
        pool.create(rows.GPUS, {vm: rows.MOST_GPUS for vm in rows.VMS})
        print(f"# {label}: two VMs and {rows.GPUS} GPUs are up after {time.monotonic() - begin:.1f} s", flush=True)
        for row in chosen.rows:
            begin, notes, trouble = time.monotonic(), [], ""
            try:
                if row == "kills":
                    kills.row(pool, notes.append, chosen.kills, chosen.seed)
                elif row == "random":
                    rows.at_random(pool, notes.append, chosen.seed)
                else:
                    rows.ROWS[row](pool, notes.append)
            except Trouble as failure:
                trouble = str(failure)
            # What hangs fails for what it was waited for.
            complaint = pool.judge_kernel_logs(notes.append, label in chosen.may_fail)
            if trouble and complaint:
                notes.append(complaint)
            trouble = trouble or complaint
            if trouble and label not in chosen.may_fail:
                notes += pool.last_words()
            report.add(label, row, time.monotonic() - begin, notes, trouble)
            if trouble:  # nobody knows in what state it left the pool
                report.left_out += 0 if label in chosen.may_fail else len(chosen.rows) - chosen.rows.index(row) - 1
                break
        return getattr(pool, "repair", None)


def end(*_):
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, signal.SIG_IGN)  # the pool is put away once
    sys.exit("ended by a signal")


def main():
    chosen = options()
    # Whoever ends the trial ends its pool with it.
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    report = Report(chosen)
    repairs, cannot = [], ""
    for each in chosen.kernel:
        try:
            if done := run_rows(chosen, each, report):
                repairs.append(done)
        except Trouble as trouble:
            cannot = f"{each.label}: {trouble}"
            print(f"Bail out! {cannot}", flush=True)
            break
    if len(repairs) > 1:
        print("\n".join(f"# {line}" for line in repair.table(repairs)))
    chosen.results.mkdir(parents=True, exist_ok=True)
    (chosen.results / "pool.json").write_text(json.dumps({
        "rows": report.rows,
        "repairs": {each.pool.kernel.label: {"kernel": each.release, "phases_s": each.times, "lease_s": each.lease_times}
                    for each in repairs}}, indent=1) + "\n")
    failed = report.failed + report.left_out + bool(cannot)
    if report.excused:
        print(f"# {report.excused} not ok, of a kernel that is only compared with")
    print(f"# {report.number - report.failed - report.excused} passed, {failed} failed")
    sys.exit(2 if cannot else 1 if failed else 0)


main()
