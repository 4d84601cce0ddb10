# SPDX-License-Identifier: GPL-2.0
"""Kernel trees to which the series is applied, and from which it is read back.

A plain tree is patched in place; a git tree gets one commit for each patch. Files are replaced, never written into, because a plain tree
may share them with others by hard links.
"""

import email.utils
import os
import pathlib
import shutil
import subprocess

from patchseries.patch import Patch, SeriesError


def run(*command, cwd, data=None, env=None):
    done = subprocess.run(
        command, cwd=cwd, input=data, env={**os.environ, **(env or {})}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        reason = (done.stderr or done.stdout).strip().splitlines()
        raise SeriesError(f"`{' '.join(command[:3])}` failed in {cwd}: {' | '.join(reason[:4])}")
    return done.stdout


class Tree:
    def __init__(self, path):
        self.path = pathlib.Path(path).resolve()
        if not (self.path / "Kbuild").is_file():
            raise SeriesError(f"{path} is not a kernel tree")
        self.is_git = (self.path / ".git").exists()

    def git(self, *arguments, data=None, env=None):
        # Without the ceiling, git would take a plain tree inside some other work tree for a part of that, and skip every patch.
        ceiling = {"GIT_CEILING_DIRECTORIES": str(self.path.parent)}
        return run("git", *arguments, cwd=self.path, data=data, env={**ceiling, **(env or {})})

    @classmethod
    def of_files(cls, source, files, path):
        """A git tree at PATH, tagged `base`, that has only FILES of the kernel tree SOURCE: what a series touches, made in a moment."""
        for name in dict.fromkeys(["Kbuild", ".gitattributes", *files]):
            if (source / name).exists():
                (path / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source / name, path / name)
        return cls.commit_base(path)

    @classmethod
    def commit_base(cls, path):
        """Make the kernel tree PATH a git tree whose first commit is tagged `base`."""
        run("git", "init", "-q", "-b", "series", ".", cwd=path)
        tree = cls(path)
        tree.git("add", "-A", "-f")
        tree.commit("Base kernel\n", "Base <base@localhost>", "Thu, 01 Jan 1970 00:00:00 +0000")
        tree.git("tag", "base")
        return tree

    def commit(self, message, author, date):
        name, address = email.utils.parseaddr(author)
        env = {}
        for role in ("AUTHOR", "COMMITTER"):
            env |= {f"GIT_{role}_NAME": name, f"GIT_{role}_EMAIL": address, f"GIT_{role}_DATE": date}
        quiet = ("-c", "commit.gpgsign=false", "-c", "gc.auto=0", "commit", "-q", "--no-verify", "--allow-empty")
        self.git(*quiet, "--cleanup=verbatim", "-F", "-", data=message, env=env)

    def apply(self, name, patch, repository):
        """Apply one patch and put its new files, of REPOSITORY, in place."""
        index = ["--index"] if self.is_git else []
        try:
            if patch.diff:
                self.git("apply", *index, "--whitespace=nowarn", "-", data=patch.diff)
        except SeriesError as error:
            raise SeriesError(f"{name} does not apply: {error}") from None
        for path in patch.new_files:
            target = self.path / path
            if target.exists():
                raise SeriesError(f"{name} introduces {path}, which {self.path} has already")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(repository / path, target)
        if self.is_git:
            if patch.new_files:
                self.git("add", "-f", "--", *patch.new_files)
            self.commit(patch.commit_message, patch.author, patch.date)

    def _require_clean(self):
        if self.git("status", "--porcelain", "-uno").strip():
            raise SeriesError(f"{self.path} has uncommitted changes: commit or stash them first")

    def apply_all(self, series):
        if self.is_git:
            self._require_clean()
        for name, patch in zip(series.names, series.patches):
            self.apply(name, patch, series.repository)

    def read(self, base, author=None):
        """The commits BASE..HEAD as (patches, new files' texts, remarks). A new file is what HEAD has, whichever commit last wrote it."""
        if not self.is_git:
            raise SeriesError(f"{self.path} is not a git tree: refresh reads commits")
        self._require_clean()
        commits = self.git("rev-list", "--reverse", "--no-merges", f"{base}..HEAD").split()
        final = set(self.git("diff-tree", "-r", "--name-only", "--diff-filter=A", "--no-renames", base, "HEAD").splitlines())
        patches, remarks, owners = [], [], {}
        for commit in commits:
            changed = self.git("diff-tree", "-r", "--no-commit-id", "--name-status", "--no-renames", commit).splitlines()
            new, edited = [], []
            for status, path in (line.split("\t") for line in changed):
                if path not in final:
                    edited.append(path)
                elif path not in owners:
                    owners[path] = commit
                    new.append(path)
                else:
                    remarks.append(f"{path}: the change of {commit[:12]} is folded into {owners[path][:12]}, which introduces the file")
            message, notes = Patch.split_message(self.git("show", "-s", "--format=%B", commit))
            if not new and not edited:
                raise SeriesError(f"{commit[:12]} ({message.splitlines()[0]}) only changes new files of the series: squash it")
            who, date = self.git("show", "-s", "--format=%an <%ae>%n%aD", commit).splitlines()
            diff = self.git("diff-tree", "-p", "--no-commit-id", "--no-renames", "--abbrev=12", commit, "--", *edited) if edited else ""
            patches.append(Patch(author or who, date, message, notes, new, diff))
        texts = {path: ((self.path / path).read_bytes(), (self.path / path).stat().st_mode & 0o777) for path in owners}
        return patches, texts, remarks
