# SPDX-License-Identifier: GPL-2.0
"""The series as mails: cover letter with what was seen before and after, patches that `git am` takes, To and Cc from get_maintainer."""

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


def maintainer_tree(source, patch):
    """The git tree in which most of the patch's files live: `drm/misc/kernel.git` is drm-misc-kernel."""
    votes = []
    for path in patch.files:
        trees = [line for line in _maintainer(source, [path], "--scm", "--no-m", "--no-r") if line.startswith("git ")]
        if trees:
            votes.append(re.sub(r"^git \w+://[^/]+/|\.git$", "", trees[0].split(" #")[0]).replace("/", "-"))
    return max(votes, key=votes.count) if votes else "linux"


def groups(series, source, split):
    if not split:
        whole = Group("")
        whole.patches = list(zip(series.names, series.patches))
        return [whole]
    found = {}
    for name, patch in zip(series.names, series.patches):
        tree = maintainer_tree(source, patch)
        found.setdefault(tree, Group(tree)).patches.append((name, patch))
    return list(found.values())


def cover(group, text, record, overview, base_commit, needs):
    """Body of the cover letter."""
    parts = [text.strip() + "\n"]
    if needs:
        parts.append(f"These patches go on top of those for {' and '.join(needs)}, sent separately.\n")
    unshown = [patch.subject for _, patch in group.patches if not any(p.by_run for p in patch.proofs)]
    if record:
        parts.append(
            "Before and after\n----------------\n\n"
            f"Both columns are one recorded run each of the same scenarios, on the {record.info['flavour']} configuration, with an\n"
            "emulated GPU. FAIL names the check that failed and what it saw.\n\n" + record.table()
        )
        rows = sorted({proof.row for _, patch in group.patches for proof in patch.proofs if proof.by_run})
        parts.append(
            "To reproduce, in a clone of the project that this series comes from, where KERNEL is your built tree:\n\n"
            f"  build/release/hotplug/hpctl run {' '.join(rows)} --kernel KERNEL\n"
        )
    if unshown:
        parts.append("Not shown by a scenario (see the note under each patch):\n\n" + "".join(f"  {s}\n" for s in unshown))
    parts.append(overview)
    parts.append(f"base-commit: {base_commit}\n")
    return "\n".join(parts)


def write(series, source, record, out, *, split=False, base_commit, prefix="PATCH"):
    """Write the mails to OUT; with SPLIT, a folder for each maintainer tree. Every set is proven by `git am` before it is shown."""
    text = (series.folder / "cover.txt").read_text(encoding="utf-8")
    subject, _, text = text.partition("\n")
    done = []
    for group in groups(series, source, split):
        folder = pathlib.Path(out) / group.name
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.glob("*.patch")):
            raise SeriesError(f"{folder} has mails already: give an empty folder")
        with tempfile.TemporaryDirectory() as scratch:
            tree, needs = _applied(series, source, group, done, pathlib.Path(scratch))
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
            body = cover(group, text, record, overview, base_commit, needs)
            first.write_text(f"{head}\n{_to(dict.fromkeys(everybody))}{title}\n\n{body}", encoding="utf-8")
            _prove_am(tree, mails)
        done.append(group)
    return [pathlib.Path(out) / group.name for group in done]


def _applied(series, source, group, earlier, scratch):
    """A tree with the group's patches above `base`; where they do not apply alone, the groups EARLIER sent are under them."""
    def tree_on(below, folder):
        (scratch / folder).mkdir()
        tree = Tree.of_files(source, series.edited_files, scratch / folder)
        for name, patch in (entry for other in below for entry in other.patches):
            tree.apply(name, patch, series.repository)
        tree.git("tag", "-f", "base")
        for name, patch in group.patches:
            tree.apply(name, patch, series.repository)
        return tree, [other.name for other in below]

    try:
        return tree_on([], "alone")
    except SeriesError:
        if not earlier:
            raise
        return tree_on(earlier, "on-top")


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
