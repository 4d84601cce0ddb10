# SPDX-License-Identifier: GPL-2.0
"""What `scripts/series check` asks of each patch and of all of them together. Every check gives a list of complaints."""

import pathlib
import re
import shutil
import subprocess
import tempfile

from patchseries import proof, scenarios
from patchseries.patch import SeriesError
from patchseries.tree import Tree

# No Signed-off-by before a human sends it; drivers/gpu/drm/amd/ is in MAINTAINERS whatever is added there; a Fixes: tag needs the
# history, and a wrong one is worse than none. The hashes are of mainline, which is not here to be asked.
IGNORED = "FILE_PATH_CHANGES,MISSING_FIXES_TAG,UNKNOWN_COMMIT_ID"
CHECKPATCH = ["--strict", "--no-tree", "--terse", "--no-summary", "--no-signoff", "--ignore", IGNORED]
FIXES = r'[0-9a-f]{12} \(".+"\)'


def message(series):
    """Subject, trailers and notes."""
    known = scenarios.rows(series.repository)
    row_names = {*known, *(row for rows in known.values() for row in rows)}
    for name, patch in zip(series.names, series.patches):
        keys = [key for key, _ in patch.trailers]
        if "signed-off-by:" in (patch.message + patch.notes).lower():
            yield f"{name}: has a Signed-off-by, which only the human who sends it may add"
        if "Assisted-by" not in keys:
            yield f"{name}: has no Assisted-by trailer (Documentation/process/coding-assistants.rst of the kernel)"
        if not patch.subject.isascii() or not re.fullmatch(r"\S+: \S.*", patch.subject):
            yield f"{name}: the subject is not `subsystem: what it does` in plain ASCII"
        if len(patch.subject) > 75:
            yield f"{name}: the subject has {len(patch.subject)} characters, and 75 are what a mail and `git log` have room for"
        if patch.message.count("\n\n") < 2:
            yield f"{name}: does not say why"
        if keys.count("Fixes") != len(re.findall(r"^Fixes:", patch.message, re.M)):
            yield f"{name}: Fixes: is not among the trailers, which are the last paragraph"
        for key, value in patch.trailers:
            if key == "Fixes" and not re.fullmatch(FIXES, value):
                yield f"{name}: Fixes: is not twelve digits and (\"subject\") in one line: {value}"
            if key in ("Closes", "Link") and not re.match(r"https?://\S+$", value):
                yield f"{name}: {key}: is not an address: {value}"
        if not patch.proofs:
            yield f"{name}: no `Proof:` under the `---`"
        for shown in patch.proofs:
            if shown.row == "review" and not shown.reason:
                yield f"{name}: `Proof: review` does not say why no run can show it"
            elif shown.test and shown.checks:
                yield f"{name}: `Proof: {shown.row}` is a test, which has no checks: {' '.join(shown.checks)}"
            elif shown.by_run and not shown.test and shown.row not in row_names:
                yield f"{name}: `Proof: {shown.row}` is no scenario of tools/hotplug/scenarios, and no row of one"


def topics(series, source):
    """Covers, and that each topic applies to SOURCE with only what it says that it depends on."""
    yield from series.strays()
    for topic in series.topics:
        try:
            yield from (f"{topic.name} alone: {line}" for line in applies(series.alone(topic), source))
        except SeriesError as error:
            yield str(error)


def applies(series, source):
    try:
        series.contents(source)
    except SeriesError as error:
        yield str(error)


def fixpoint(series, source):
    """Applied to a git tree and read back, the series is what it was, byte for byte; a plain tree ends up with the same files."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "git").mkdir()
        git_tree = Tree.of_files(source, series.files, folder / "git")
        shutil.copytree(folder / "git", folder / "plain", ignore=shutil.ignore_patterns(".git"))
        git_tree.apply_all(series)
        plain_tree = Tree(folder / "plain")
        plain_tree.apply_all(series)
        for path in series.files:
            if (git_tree.path / path).read_bytes() != (plain_tree.path / path).read_bytes():
                yield f"{path} differs between a git tree and a plain one"
        read, texts = git_tree.read("base")
        names = [f"{topic}/{patch.file_name(number)}" for topic, patches in read.items() for number, patch in enumerate(patches, 1)]
        if names != series.names:
            yield f"the file names are not those that refresh gives: {' '.join(sorted(set(names) ^ set(series.names)))}"
        for name, before, after in zip(series.names, series.patches, (patch for patches in read.values() for patch in patches)):
            if (series.folder / name).read_text(encoding="utf-8") != after.format() or before.format() != after.format():
                yield f"{name}: not what refresh writes: run `scripts/series refresh` on a tree it was applied to"
        for path, (text, _) in texts.items():
            file = series.repository / path
            if not file.is_file():
                yield f"{path}: the patches make this file, and the repository has none"
            elif file.read_bytes() != text:
                yield f"{path}: not the text that the patches make: run `scripts/series refresh`"


def checkpatch(series, source, only=None):
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree.of_files(source, series.files, pathlib.Path(folder))
        for topic, name, patch in series.entries:
            tree.apply(topic, name, patch)
            if only and topic != only:
                continue
            mail = tree.git("format-patch", "-1", "--stdout", "--no-signature")
            # The notes are no part of what is merged, and checkpatch reads them as if they were.
            mail = mail.replace(f"\n---\nTopic: {topic}\n{patch.notes}", "\n", 1)
            command = ["perl", source / "scripts/checkpatch.pl", *CHECKPATCH, "-"]
            done = subprocess.run(command, cwd=source, input=mail, capture_output=True, text=True, check=False)
            for line in done.stdout.splitlines():
                yield f"{name}: {line.removeprefix('-:')}"


def kernel_doc(series, source):
    new = [path for path in series.new_files if path.endswith((".c", ".h"))]
    tool = next(path for path in (source / "tools/docs/kernel-doc", source / "scripts/kernel-doc") if path.exists())
    for path in new:
        command = [tool, "-none", "-Wall", series.repository / path]
        done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
        for line in done.stderr.splitlines():
            if "warning" in line.lower() or "error" in line.lower():
                yield line.replace(f"{series.repository}/", "")


def proven(series, source, only=None):
    rows = scenarios.rows(series.repository)
    for state in proof.states(series, source):
        if only and state.topic is not only:
            continue
        record = proof.Record.load(state.topic, rows)
        for name, patch in zip(state.topic.names, state.topic.patches):
            for shown in patch.proofs:
                if not shown.by_run:
                    continue
                lacking = record.lacks(shown) if record else f"there is no {state.topic.name}/proof.json: run `scripts/series prove`"
                if lacking:
                    yield f"{name}: not proven: {lacking}"
        stale = record and record.stale(state)
        if stale:
            yield f"{state.topic.name}/proof.json is {stale}: run both kernels again"
