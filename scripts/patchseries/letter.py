# SPDX-License-Identifier: GPL-2.0
"""A topic as mails: cover letter with what was seen before and after, patches that `git am` takes, To and Cc from get_maintainer."""

import pathlib
import re
import tempfile

from patchseries import scenarios
from patchseries.patch import SeriesError
from patchseries.proof import Record, states
from patchseries.series import tests_of
from patchseries.tree import Tree, run


def _maintainer(source, files, *options):
    """What get_maintainer says of FILES; of a new one, what it says of the folder."""
    there = []
    for path in map(pathlib.PurePath, files):
        there.append(next(str(known) for known in (path, *path.parents) if (source / known).exists()))
    command = ["perl", "scripts/get_maintainer.pl", "--no-git", "--no-rolestats", *options, "-f", *dict.fromkeys(there)]
    return [line for line in run(*command, cwd=source).splitlines() if line]


def tag(source):
    """The public tag of the kernel tree SOURCE, as its Makefile has it."""
    fields = dict(re.findall(r"^(VERSION|PATCHLEVEL|SUBLEVEL|EXTRAVERSION) *= *(.*)$", (source / "Makefile").read_text(), re.M))
    numbers = [fields.get(name, "") for name in ("VERSION", "PATCHLEVEL", "SUBLEVEL")]
    return "v" + ".".join(numbers[:2] if numbers[2] == "0" else numbers) + fields.get("EXTRAVERSION", "")


def unproven(state, record):
    """(subject, what is lacking) of the topic's patches that name a scenario which no recorded run of this code shows."""
    for patch in state.topic.patches:
        reasons = [record.lacks(proof) if record else "" for proof in patch.proofs if proof.by_run]
        if record and record.stale(state):
            reasons = ["the record is of another version"] if reasons else []
        reasons = [reason for reason in reasons if reason is not None]
        if reasons:
            yield patch.subject, reasons[0]


def _without_variants(rows):
    """ROWS without those whose whole scenario is among them."""
    return [row for row in rows if "/" not in row or row.partition("/")[0] not in rows]


def cover(state, below, record, overview, base_commit):
    """Body of the cover letter of the topic in STATE, which goes on top of the topics BELOW."""
    topic = state.topic
    parts = [topic.cover.text.strip() + "\n", f"These patches are for {topic.cover.tree}.\n"]
    if below:
        count = sum(len(other.patches) for other in below)
        sets = "".join(f"  {other.cover.subject} ({len(other.patches)})\n" for other in below)
        parts.append(f"They go on top of {count} other patch{'es' if count > 1 else ''}, sent separately as:\n\n{sets}")
    unshown = [patch.subject for patch in topic.patches if not any(p.by_run for p in patch.proofs)]
    if record:
        rows = sorted({proof.row for patch in topic.patches for proof in patch.proofs if proof.by_run and not proof.test})
        if rows:
            parts.append(
                "Before and after\n----------------\n\n"
                f"Both columns are recorded runs of the same scenarios, on the {' and '.join(record.flavours)} configuration, with an\n"
                "emulated GPU. FAIL names the check that failed and what it saw.\n\n" + record.table()
            )
            parts.append(
                "To reproduce, in a clone of the project that this series comes from, where KERNEL is your built tree:\n\n"
                f"  build/release/hotplug/hpctl run {' '.join(_without_variants(rows))} --expected none --kernel KERNEL\n"
            )
        tests = sorted(tests_of(topic))
        if tests:
            parts.append(
                "KUnit tests, recorded with the series (hpctl run kunit, on a kernel that has them):\n\n"
                + "".join(f"  {test}: {record.series_tests.get(test, 'not run')}\n" for test in tests)
            )
    lacking = list(unproven(state, record))
    if lacking:
        lines = (f"  {subject}{f': {reason}' if reason else ''}\n" for subject, reason in lacking)
        parts.append("Not yet shown by a recorded run:\n\n" + "".join(lines))
    if unshown:
        parts.append("Not shown by a run (see the note under each patch):\n\n" + "".join(f"  {s}\n" for s in unshown))
    parts.append(overview)
    parts.append(f"base-commit: {base_commit}\n")
    return "\n".join(parts)


def write(series, source, topics, out, *, base_commit, prefix="PATCH"):
    """Write the mails of TOPICS to OUT, a folder for each. Every set is proven by `git am` before it is shown."""
    rows = scenarios.rows(series.repository)
    for state in states(series, source):
        topic = state.topic
        if topic not in topics:
            continue
        folder = pathlib.Path(out) / topic.name
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.glob("*.patch")):
            raise SeriesError(f"{folder} has mails already: give an empty folder")
        with tempfile.TemporaryDirectory() as scratch:
            below = series.below(topic)
            tree = Tree.of_files(source, series.files, pathlib.Path(scratch))
            for other in below:
                for name, patch in zip(other.names, other.patches):
                    tree.apply(other.name, name, patch)
            tree.git("tag", "-f", "base")
            for name, patch in zip(topic.names, topic.patches):
                tree.apply(topic.name, name, patch)
            options = ["-q", "-n", "--cover-letter", "--no-signature", "--thread=shallow", f"--subject-prefix={prefix}"]
            tree.git("format-patch", *options, "-o", str(folder.resolve()), "base")
            first, *mails = sorted(folder.glob("*.patch"))
            everybody = []
            for mail, patch in zip(mails, topic.patches):
                people = _maintainer(source, patch.files, "--no-n")
                everybody += people
                head, _, body = mail.read_text(encoding="utf-8").partition("\n\n")
                body = body.replace(f"\n---\nTopic: {topic.name}\n", "\n---\n", 1)
                mail.write_text(f"{head}\n{_to(people)}\n{body}", encoding="utf-8")
            overview = tree.git("shortlog", "-w72,2,4", "base..HEAD") + tree.git("diff", "--stat=72", "--summary", "base", "HEAD")
            head = first.read_text(encoding="utf-8").partition("\nSubject: ")[0]
            title = f"Subject: [{prefix} {'0' * len(str(len(mails)))}/{len(mails)}] {topic.cover.subject}"
            body = cover(state, below, Record.load(topic, rows), overview, base_commit)
            first.write_text(f"{head}\n{_to(dict.fromkeys(everybody))}{title}\n\n{body}", encoding="utf-8")
            _prove_am(tree, mails)
        yield folder


def _to(people):
    return "To: " + ",\n    ".join(people) + "\n" if people else ""


def _prove_am(tree, mails):
    """git am of the mails gives the same files as the series, and keeps no note."""
    tree.git("checkout", "-q", "-b", "am", "base")
    env = {"GIT_COMMITTER_NAME": "am", "GIT_COMMITTER_EMAIL": "am@localhost"}
    tree.git("am", "-q", "--no-gpg-sign", *(str(mail.resolve()) for mail in mails), env=env)
    if tree.git("rev-parse", "am^{tree}") != tree.git("rev-parse", "series^{tree}"):
        raise SeriesError(f"git am of {mails[0].parent} gives other files than the series")
    if re.search(r"^(Proof|Topic):", tree.git("log", "--format=%B", "base..am"), re.M):
        raise SeriesError(f"git am of {mails[0].parent} keeps notes in the messages")
