# SPDX-License-Identifier: GPL-2.0
"""What `scripts/series check` asks of each patch and of all of them together. Every check gives a list of complaints."""

import collections
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from patchseries.tree import Tree, run

# No Signed-off-by before a human sends it; drivers/gpu/drm/amd/ is in MAINTAINERS whatever is added there; a Fixes: tag needs the
# history, and a wrong one is worse than none.
IGNORED = "FILE_PATH_CHANGES,MISSING_FIXES_TAG"
CHECKPATCH = ["--strict", "--no-tree", "--terse", "--no-summary", "--no-signoff", "--ignore", IGNORED]
FIXES = r'[0-9a-f]{12,} \("[^"]+"\)'


def message(series):
    """Subject, trailers and notes."""
    scenarios = {path.name.removesuffix(".json").split("-", 1)[1] for path in series.repository.glob("tools/hotplug/scenarios/*.json")}
    for name, patch in zip(series.names, series.patches):
        keys = [key for key, _ in patch.trailers]
        if "signed-off-by:" in (patch.message + patch.notes).lower():
            yield f"{name}: has a Signed-off-by, which only the human who sends it may add"
        if "Assisted-by" not in keys:
            yield f"{name}: has no Assisted-by trailer (Documentation/process/coding-assistants.rst of the kernel)"
        if not patch.subject.isascii() or not re.fullmatch(r"\S+: \S.*", patch.subject):
            yield f"{name}: the subject is not `subsystem: what it does` in plain ASCII"
        if patch.message.count("\n\n") < 2:
            yield f"{name}: does not say why"
        for key, value in patch.trailers:
            if key == "Fixes" and not re.fullmatch(FIXES, value):
                yield f"{name}: Fixes: is not HASH (\"subject\"): {value}"
            if key in ("Closes", "Link") and not re.match(r"https?://\S+$", value):
                yield f"{name}: {key}: is not an address: {value}"
        if not patch.proofs:
            yield f"{name}: no `Proof:` under the `---`"
        for proof in patch.proofs:
            if proof.row == "review" and not proof.reason:
                yield f"{name}: `Proof: review` does not say why no run can show it"
            elif proof.by_run and proof.row.split("/")[0] not in scenarios:
                yield f"{name}: `Proof: {proof.row}` is no scenario of tools/hotplug/scenarios"


def fixpoint(series, source):
    """Applied to a git tree and read back, the series is what it was, byte for byte; a plain tree ends up with the same files."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "git").mkdir()
        git_tree = Tree.of_files(source, series.edited_files, folder / "git")
        shutil.copytree(folder / "git", folder / "plain", ignore=shutil.ignore_patterns(".git"))
        git_tree.apply_all(series)
        plain_tree = Tree(folder / "plain")
        plain_tree.apply_all(series)
        for path in series.edited_files + series.new_files:
            if (git_tree.path / path).read_bytes() != (plain_tree.path / path).read_bytes():
                yield f"{path} differs between a git tree and a plain one"
        patches, texts, remarks = git_tree.read("base")
        yield from remarks
        names = [patch.file_name(number) for number, patch in enumerate(patches, 1)]
        if names != series.names:
            yield f"the file names are not those that refresh gives: {' '.join(sorted(set(names) ^ set(series.names)))}"
        for name, before, after in zip(series.names, series.patches, patches):
            if (series.folder / name).read_text(encoding="utf-8") != after.format() or before.format() != after.format():
                yield f"{name}: not what refresh writes: run `scripts/series refresh` on a tree it was applied to"
        for path, (text, _) in texts.items():
            if (series.repository / path).read_bytes() != text:
                yield f"{path}: not what refresh writes"


def checkpatch(series, source):
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree.of_files(source, series.edited_files, pathlib.Path(folder))
        for name, patch in zip(series.names, series.patches):
            tree.apply(name, patch, series.repository)
            mail = tree.git("format-patch", "-1", "--stdout", "--no-signature")
            # The notes are no part of what is merged, and checkpatch reads them as if they were.
            mail = mail.replace("\n---\n" + patch.notes, "\n", 1) if patch.notes else mail
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


def proven(series, record):
    for name, patch in zip(series.names, series.patches):
        for proof in patch.proofs:
            if not proof.by_run:
                continue
            lacking = record.lacks(proof) if record else "there is no patches/*/proof.json: run `scripts/series prove`"
            if lacking:
                yield f"{name}: not proven: {lacking}"
    if record and record.hash != series.hash():
        yield f"proof.json is of another version of the code ({record.hash}, now {series.hash()}): run both kernels again"


def builds(series, stock_build, jobs):
    """Every prefix builds without a warning, and sparse (where it is installed) says of the whole no more than of stock.

    STOCK_BUILD is the build folder, inside its source tree, of a kernel without the series. A copy of it is patched step by step, so that make compiles what a patch
    changes and no more.
    """
    stock = stock_build.parent
    kbuild = pathlib.Path(__file__).resolve().parent.parent / "guest/kbuild"
    with tempfile.TemporaryDirectory(dir=stock.parent, prefix="prefixes-") as folder:
        copy = pathlib.Path(folder) / "tree"
        run("rsync", "-a", "--exclude=/build", f"--link-dest={stock}", f"{stock}/", f"{copy}/", cwd=stock)
        # The build folder is no set of hard links: make and objtool write into their files.
        run("cp", "-a", "--reflink=auto", stock_build, copy / "build", cwd=stock)
        tree = Tree(copy)
        objects = sorted({path[:-2] + ".o" for path in series.edited_files + series.new_files if path.endswith(".c")})

        def make(*arguments):
            command = [kbuild, copy, *arguments]
            return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)

        def sparse():
            there = [name for name in objects if (copy / (name[:-2] + ".c")).exists()]
            said = make("C=2", "CHECK=sparse", *there).stderr.splitlines()
            return collections.Counter(re.sub(r":\d+:\d+", "", line) for line in said if re.search("warning:|error:", line))

        # Whole subsystems: a header is as much a change as what includes it, and what did not change is not compiled.
        folders = sorted({"/".join(path.split("/")[:2]) + "/" for path in objects})
        have_sparse = shutil.which("sparse") is not None
        before = sparse() if have_sparse else None
        for name, patch in zip(series.names, series.patches):
            tree.apply(name, patch, series.repository)
            made = make(f"-j{jobs}", *folders)
            if made.returncode:
                errors = [line for line in made.stderr.splitlines() if re.search(r"\berror\b|undefined", line)]
                yield f"{name}: does not build: {(errors or made.stderr.splitlines() or ['no message'])[0]}"
                return
            yield from (f"{name}: {line}" for line in made.stderr.splitlines() if "warning:" in line)
        if have_sparse:
            yield from (f"sparse: {line}" for line in (sparse() - before).elements())
