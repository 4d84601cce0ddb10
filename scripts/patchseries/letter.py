# SPDX-License-Identifier: GPL-2.0
"""The series as mails: cover letter with what was seen before and after, patches that `git am` takes, To and Cc from get_maintainer."""

import itertools
import pathlib
import re
import tempfile

from patchseries.patch import SeriesError
from patchseries.tree import Tree, run


class Group:
    """What goes to one maintainer's tree."""

    def __init__(self, name):
        self.name = name
        self.patches = []  # (file name, Patch)


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


def maintainer_tree(source, patch):
    """The git tree in which most of the patch's files live, `drm/misc/kernel.git` is drm-misc-kernel; None for documentation alone."""
    votes = []
    for path in patch.files:
        if path.startswith("Documentation/"):
            continue
        trees = [line for line in _maintainer(source, [path], "--scm", "--no-m", "--no-r") if line.startswith("git ")]
        if trees:
            votes.append(re.sub(r"^git \w+://[^/]+/(pub/scm/linux/kernel/git/)?|\.git$", "", trees[0].split(" #")[0]).replace("/", "-"))
    return max(votes, key=votes.count) if votes else None


def groups(series, source, split):
    if not split:
        whole = Group("")
        whole.patches = list(zip(series.names, series.patches))
        return [whole]
    found = {}
    tree = "linux"
    for name, patch in zip(series.names, series.patches):
        # What has no tree of its own goes with the patch before it, which it is about.
        tree = maintainer_tree(source, patch) or tree
        found.setdefault(tree, Group(tree)).patches.append((name, patch))
    return list(found.values())


def _words(text):
    return set(re.findall(r"\b[A-Za-z_]\w{3,}\b", text))


def _added(diff):
    return "\n".join(re.findall(r"^\+(?!\+\+ )(.*)", diff, re.M))


def declared(series, source, group):
    """Names that the group's patches bring into headers of include/."""
    names = set()
    for _, patch in group.patches:
        for part in re.split(r"^(?=diff --git )", patch.diff, flags=re.M):
            header = re.match(r"diff --git a/(include/\S+\.h) ", part)
            if header:
                names |= _words(_added(part)) - _words((source / header[1]).read_text(encoding="utf-8"))
        for path in patch.new_files:
            if path.startswith("include/"):
                names |= _words((series.repository / path).read_text(encoding="utf-8"))
    return names


def used(series, group):
    """Words of the code that the group's patches add, without comments."""
    texts = [_added(patch.diff) for _, patch in group.patches]
    texts += [(series.repository / path).read_text(encoding="utf-8") for _, patch in group.patches for path in patch.new_files]
    return _words(re.sub(r"/\*.*?\*/|//[^\n]*", "", "\n".join(texts), flags=re.S))


def unproven(series, group, record):
    """(subject, what is lacking) of the group's patches that name a scenario which no recorded run of this code shows."""
    for _, patch in group.patches:
        reasons = [record.lacks(proof) if record else "" for proof in patch.proofs if proof.by_run]
        if record and record.stale(series):
            reasons = ["the record is of another version"] if reasons else []
        reasons = [reason for reason in reasons if reason is not None]
        if reasons:
            yield patch.subject, reasons[0]


def _count(group):
    return f"{len(group.patches)} patch{'es' if len(group.patches) > 1 else ''} for {group.name}"


def _without_variants(rows):
    """ROWS without those whose whole scenario is among them."""
    return [row for row in rows if "/" not in row or row.partition("/")[0] not in rows]


def cover(group, text, record, overview, base_commit, needs, others, lacking):
    """Body of the cover letter."""
    parts = [text.strip() + "\n"]
    if others:
        parts.append(f"Sent separately: {', '.join(map(_count, others))}.\n")
    if needs:
        parts.append(f"These patches go on top of those for {' and '.join(needs)}, sent separately.\n")
    unshown = [patch.subject for _, patch in group.patches if not any(p.by_run for p in patch.proofs)]
    if record:
        proofs = [proof for _, patch in group.patches for proof in patch.proofs if proof.by_run]
        rows = sorted({proof.row for proof in proofs if not proof.test})
        tests = sorted({proof.test for proof in proofs if proof.test})
        parts.append(
            "Before and after\n----------------\n\n"
            f"Both columns are recorded runs of the same scenarios, on the {' and '.join(record.flavours)} configuration, with an\n"
            "emulated GPU. FAIL names the check that failed and what it saw.\n\n" + record.table(rows if others else None)
        )
        parts.append(
            "To reproduce, in a clone of the project that this series comes from, where KERNEL is your built tree:\n\n"
            f"  build/release/hotplug/hpctl run {' '.join(_without_variants(rows))} --expected none --kernel KERNEL\n"
        )
        if tests:
            parts.append(
                "KUnit tests, recorded with the series (hpctl run kunit, on a kernel that has them):\n\n"
                + "".join(f"  {test}: {record.series_tests.get(test, 'not run')}\n" for test in tests)
            )
    if lacking:
        lines = (f"  {subject}{f': {reason}' if reason else ''}\n" for subject, reason in lacking)
        parts.append("Not yet shown by a recorded run:\n\n" + "".join(lines))
    if unshown:
        parts.append("Not shown by a run (see the note under each patch):\n\n" + "".join(f"  {s}\n" for s in unshown))
    parts.append(overview)
    parts.append(f"base-commit: {base_commit}\n")
    return "\n".join(parts)


def write(series, source, record, out, *, split=False, base_commit, prefix="PATCH"):
    """Write the mails to OUT; with SPLIT, a folder for each maintainer tree. Every set is proven by `git am` before it is shown."""
    text = (series.folder / "cover.txt").read_text(encoding="utf-8")
    subject, _, text = text.partition("\n")
    every = groups(series, source, split)
    declares = {group.name: declared(series, source, group) for group in every}
    for group in every:
        folder = pathlib.Path(out) / group.name
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.glob("*.patch")):
            raise SeriesError(f"{folder} has mails already: give an empty folder")
        with tempfile.TemporaryDirectory() as scratch:
            others = [other for other in every if other is not group]
            wanted = {other.name for other in others if declares[other.name] & used(series, group)}
            tree, needs = _applied(series, source, group, others, wanted, pathlib.Path(scratch))
            options = ["-q", "-n", "--cover-letter", "--no-signature", "--thread=shallow", f"--subject-prefix={prefix}"]
            tree.git("format-patch", *options, "-o", str(folder.resolve()), "base")
            first, *mails = sorted(folder.glob("*.patch"))
            everybody = []
            for mail, (_, patch) in zip(mails, group.patches):
                people = _maintainer(source, patch.files, "--no-n")
                everybody += people
                head, _, body = mail.read_text(encoding="utf-8").partition("\n\n")
                mail.write_text(f"{head}\n{_to(people)}\n{body}", encoding="utf-8")
            overview = tree.git("shortlog", "-w72,2,4", "base..HEAD") + tree.git("diff", "--stat=72", "--summary", "base", "HEAD")
            head = first.read_text(encoding="utf-8").partition("\nSubject: ")[0]
            title = f"Subject: [{prefix} {'0' * len(str(len(mails)))}/{len(mails)}] {subject}"
            lacking = list(unproven(series, group, record))
            body = cover(group, text, record, overview, base_commit, needs, others, lacking)
            first.write_text(f"{head}\n{_to(dict.fromkeys(everybody))}{title}\n\n{body}", encoding="utf-8")
            _prove_am(tree, mails)
    return [pathlib.Path(out) / group.name for group in every]


def _applied(series, source, group, others, wanted, scratch):
    """A tree with the group's patches above `base`. Under them are the patches of the fewest OTHERS with which they apply, WANTED among these."""
    order = {name: number for number, name in enumerate(series.names)}
    refused = None
    for number in range(len(others) + 1):
        for below in itertools.combinations(others, number):
            names = [other.name for other in below]
            if not wanted.issubset(names):
                continue
            folder = scratch / "-".join(["on", *names])
            folder.mkdir()
            try:
                tree = Tree.of_files(source, series.edited_files, folder)
                for name, patch in sorted((entry for other in below for entry in other.patches), key=lambda entry: order[entry[0]]):
                    tree.apply(name, patch, series.repository)
                tree.git("tag", "-f", "base")
                for name, patch in group.patches:
                    tree.apply(name, patch, series.repository)
                return tree, names
            except SeriesError as error:
                refused = error
    raise SeriesError(f"{_count(group)} cannot be a set of their own, not even on top of all others: {refused}")


def _to(people):
    return "To: " + ",\n    ".join(people) + "\n" if people else ""


def _prove_am(tree, mails):
    """git am of the mails gives the same files as the series, and keeps no note."""
    tree.git("checkout", "-q", "-b", "am", "base")
    env = {"GIT_COMMITTER_NAME": "am", "GIT_COMMITTER_EMAIL": "am@localhost"}
    tree.git("am", "-q", "--no-gpg-sign", *(str(mail.resolve()) for mail in mails), env=env)
    if tree.git("rev-parse", "am^{tree}") != tree.git("rev-parse", "series^{tree}"):
        raise SeriesError(f"git am of {mails[0].parent} gives other files than the series")
    if re.search(r"^Proof:", tree.git("log", "--format=%B", "base..am"), re.M):
        raise SeriesError(f"git am of {mails[0].parent} keeps notes in the messages")
