# SPDX-License-Identifier: GPL-2.0
"""patches/BASE/TOPIC/proof.json: what recorded runs on the stock kernel and on the series said, and what that proves of TOPIC's patches.

Only record() writes it, out of hpctl's results.json. It names the code that ran, which is that of the topic and of what it depends on, and
carries a digest of itself: neither a patch that changed since nor an entry written by hand passes for proven. Other topics may change.
"""

import dataclasses
import hashlib
import json
import pathlib

from patchseries import scenarios
from patchseries.contents import key_of
from patchseries.patch import SeriesError
from patchseries.series import Topic, rows_of, tests_of

REMEMBERED = ("started", "flavour", "profile", "seed", "kernel")
VERSIONS = ("QEMU", "accelerator")  # the others are paths of the machine that ran it
NOTHING = {"runs": [], "rows": {}, "guests": {}, "tests": {}}
IMAGE = pathlib.PurePath("arch/x86/boot/bzImage")


def _digest(content):
    return hashlib.sha256(json.dumps({**content, "digest": ""}, sort_keys=True).encode()).hexdigest()


def _results(path):
    path = pathlib.Path(path)
    path = path / "results.json" if path.is_dir() else path
    try:
        run = json.loads(path.read_text())
    except (OSError, json.JSONDecodeError) as error:
        raise SeriesError(f"{path} is no result of hpctl: {error}") from None
    if run.get("interrupted"):
        # What the last row left behind, the next one would have shown.
        run["rows"] = run["rows"][:-1]
    if run.get("error") or not run.get("rows"):
        raise SeriesError(f"{path}: the run did not come to its end: {run.get('error') or 'interrupted in its first row, or no rows'}")
    return run


def _source(run):
    """What scripts/guest/kernel built the run's kernel from: `stock`, or the series' hash."""
    image = pathlib.Path(run["versions"]["kernel image"])
    if image.parts[-len(IMAGE.parts):] == IMAGE.parts:
        source = image.parents[len(IMAGE.parts) - 1] / ".source"
        if source.is_file():
            return source.read_text().strip()
    raise SeriesError(f"the kernel {image} was not built by scripts/guest/kernel: nobody knows what it is")


def _guest(run):
    """What the two sides must have in common to be compared."""
    return run["flavour"], run.get("profile")


def _rows(runs):
    """row -> check -> the worst of its results: a row may have run more than once, in one kind of guest."""
    rows = {}
    for run in runs:
        for row in run["rows"]:
            if not row["checks"]:
                continue
            checks = rows.setdefault(row["id"], {})
            for check in row["checks"]:
                if checks.get(check["check"], {"passed": True})["passed"]:
                    checks[check["check"]] = {"passed": check["passed"], "value": check["value"]}
    return rows


def _is_kunit(row):
    return row["id"].partition("/")[0] == "kunit"


def _has_kunit(run):
    """Whether a KUnit suite ran: a kernel without them skips those rows, and they have no result then."""
    return any(_is_kunit(row) and (row["checks"] or row.get("tests")) for row in run["rows"])


def _tests(runs):
    """KUnit test -> its outcome: `pass` if it passed wherever it ran."""
    tests = {}
    for run in runs:
        for row in filter(_is_kunit, run["rows"]):
            for test in row.get("tests", []):
                if tests.setdefault(test["test"], "pass") == "pass":
                    tests[test["test"]] = test["outcome"]
    return tests


def _row_guests(runs):
    """row -> the kind of guest it ran in."""
    guests = {}
    for run in runs:
        ran = {row["id"]: list(_guest(run)) for row in run["rows"] if row["checks"]}
        _same_guests(guests, ran)
        guests |= ran
    return guests


def _same_guests(some, others):
    """A row that ran twice must have run in one kind of guest: what differs may be the guest's."""
    for row in some.keys() & others.keys():
        if some[row] != others[row]:
            raise SeriesError(f"row {row} ran in two kinds of guest: {some[row]} and {others[row]}")


def _side(runs, kept, rows, tests):
    """Of ROWS and TESTS, what RUNS said; of KEPT, a side of an earlier record, what did not run again."""
    ran = [run for run in runs if any(row["id"] in rows for row in run["rows"]) or _tests([run]).keys() & tests]
    remembered = [{key: run.get(key) for key in REMEMBERED} | {"versions": {key: run["versions"].get(key) for key in VERSIONS}} for run in ran]
    return {
        "runs": kept["runs"] + remembered,
        "rows": _only(kept["rows"] | _rows(runs), rows),
        "guests": _only(kept["guests"] | _row_guests(runs), rows),
        "tests": _only(kept["tests"] | _tests(runs), tests),
    }


def _only(entries, wanted):
    return {key: value for key, value in entries.items() if key in wanted}


@dataclasses.dataclass(frozen=True)
class State:
    """A topic and the keys of its code: of what it is with what it depends on, and of that with all tests of the series."""

    topic: Topic
    hash: str
    hash_with_tests: str


def states(series, source):
    tests = series.contents(source).tests
    for topic in series.topics:
        code = series.alone(topic).contents(source).code
        yield State(topic, code, key_of(code, tests))


def _kept(state):
    """(stock, series): what the record has that still holds. Stock stays what it is; of the series what ran on the code of now."""
    content = _load(state.topic)
    if content is None:
        return NOTHING, NOTHING
    ours = content["series"] if content["hash"] == state.hash else NOTHING
    if content["hash_with_tests"] != state.hash_with_tests:
        ours = ours | {"tests": {}}
    return NOTHING | content["stock"], NOTHING | ours


def record(paths, series, source, add=False):
    """Tells the runs on stock and those on the series apart by what their kernels were built from. With ADD what is recorded stays.

    A run on the whole series counts for each topic, and one on a topic alone for that.
    """
    keys = series.contents(source)
    every = list(states(series, source))
    runs = {}
    for path in paths:
        run = _results(path)
        of_kernel = _source(run)
        wanted = {"stock", keys.whole} if _has_kunit(run) else {"stock", keys.code, *(state.hash for state in every)}
        if of_kernel not in wanted:
            now = keys.whole if _has_kunit(run) else keys.code
            raise SeriesError(f"{path}: the kernel is neither stock nor this version of the series ({of_kernel}, not {now})")
        runs.setdefault(of_kernel, []).append(run)
    stock = runs.pop("stock", [])
    # A run of unit tests alone has nothing to be compared with: they come with the series.
    ours = [run for some in runs.values() for run in some]
    lone = {_guest(run) for run in stock if not all(map(_is_kunit, run["rows"]))} ^ {_guest(run) for run in ours if not all(map(_is_kunit, run["rows"]))}
    if not add and (lone or not stock):
        raise SeriesError(f"a run on stock and one on the series are wanted for each kind of guest: {sorted(map(str, lone)) or 'there is none'}")
    known = scenarios.rows(series.repository)
    contents = []
    for state in every:
        kept = _kept(state) if add else (NOTHING, NOTHING)
        rows, tests = rows_of(state.topic, known), tests_of(state.topic)
        here = [run for of_kernel, some in runs.items() if of_kernel in (keys.code, keys.whole, state.hash) for run in some]
        sides = {"stock": _side(stock, kept[0], rows, tests), "series": _side(here, kept[1], rows, tests)}
        _same_guests(*(side["guests"] for side in sides.values()))
        content = {"hash": state.hash, "hash_with_tests": state.hash_with_tests, **sides, "digest": ""}
        content["digest"] = _digest(content)
        contents.append(content)
    for state, content in zip(every, contents):
        # A topic that only review shows has no record.
        if rows_of(state.topic, known) or tests_of(state.topic):
            (state.topic.folder / "proof.json").write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")
            yield Record(content, known), state


def _load(topic):
    """The content of TOPIC's proof.json, or None where there is none."""
    path = topic.folder / "proof.json"
    if not path.exists():
        return None
    content = json.loads(path.read_text())
    if content.get("digest") != _digest(content):
        raise SeriesError(f"{path} was edited: only `scripts/series prove` may write it")
    return content


class Record:
    """Of one topic; ROWS as scenarios.rows() gives them."""

    def __init__(self, content, rows):
        self.scenarios = rows
        self.hash = content["hash"]
        self.hash_with_tests = content["hash_with_tests"]
        self.flavours = sorted({run["flavour"] for run in content["series"]["runs"]})
        self.stock = content["stock"]["rows"]
        self.series = content["series"]["rows"]
        self.stock_tests = content["stock"].get("tests", {})
        self.series_tests = content["series"].get("tests", {})

    @classmethod
    def load(cls, topic, rows):
        """The record of TOPIC, or None where there is none."""
        content = _load(topic)
        return content and cls(content, rows)

    def stale(self, state):
        """None where the record is of the topic's STATE as it is; else of what it is. Other tests concern nobody who ran none."""
        if self.hash != state.hash:
            return f"of another version of the code ({self.hash}, now {state.hash})"
        if self.series_tests and self.hash_with_tests != state.hash_with_tests:
            return f"of another version of the KUnit tests ({self.hash_with_tests}, now {state.hash_with_tests})"
        return None

    def lacks(self, proof):
        """None where the run proves it; else what is missing."""
        if proof.test:
            return self._lacks_test(proof.test)
        failed = []
        for row in self.scenarios.get(proof.row, [proof.row]):
            ours = self.series.get(row)
            if row not in self.stock:
                return f"row {row} did not run on stock"
            if ours is None:
                return f"row {row} did not run on the series"
            for check in proof.checks or self.stock[row]:
                if check not in self.stock[row]:
                    return f"row {row} has no check {check}"
                if not ours.get(check, {"passed": False})["passed"]:
                    return f"{row} {check} fails on the series"
                if not self.stock[row][check]["passed"]:
                    failed.append(check)
        return None if failed else f"{' '.join([proof.row, *proof.checks])} passes on stock"

    def _lacks_test(self, test):
        """Stock does not have the test as a rule. One that it has and that passes there shows nothing."""
        outcome = self.series_tests.get(test)
        if outcome is None:
            return f"test {test} did not run on the series"
        if outcome != "pass":
            return f"test {test} did not pass on the series ({outcome})"
        return f"test {test} passes on stock" if self.stock_tests.get(test) == "pass" else None

    def table(self):
        """Before and after: a line for each row, side by side, as a maintainer reads it in a terminal of 80 columns."""
        lines = [f"{'row':<26} {'stock':<26} with the series", f"{'-' * 26} {'-' * 26} {'-' * 24}"]
        for row in sorted(set(self.stock) & set(self.series)):
            before, after = self._cells(self.stock[row]), self._cells(self.series[row])
            for index in range(max(len(before), len(after))):
                cells = [part[index] if index < len(part) else "" for part in (before, after)]
                lines.append(f"{row if index == 0 else '':<26} {cells[0]:<26} {cells[1]}".rstrip())
        return "\n".join(lines) + "\n"

    @staticmethod
    def _cells(checks):
        failed = [f"FAIL {name} {result['value']}".strip() for name, result in checks.items() if not result["passed"]]
        removed = checks.get("removed", {}).get("value")
        return failed or [f"pass, removed {removed}" if removed else "pass"]
