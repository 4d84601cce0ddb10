# SPDX-License-Identifier: GPL-2.0
"""Kernel trees to which the series is applied, and from which it is read back.

A plain tree is patched in place; a git tree gets one commit for each patch. Files are replaced, never written into, because a plain tree
may share them with others by hard links.
"""

import email.utils
import os
import pathlib
import re
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

    @staticmethod
    def copy_files(source, files, path):
        """Make PATH a plain tree that has only FILES of the kernel tree SOURCE: what a series touches, made in a moment."""
        for name in dict.fromkeys(["Kbuild", ".gitattributes", *files]):
            if (source / name).exists():
                (path / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source / name, path / name)
        return path

    @classmethod
    def of_files(cls, source, files, path):
        """The same, as a git tree, tagged `base`."""
        return cls.commit_base(cls.copy_files(source, files, path))

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

    def apply_diff(self, diff):
        index = ["--index"] if self.is_git else []
        self.git("apply", *index, "--whitespace=nowarn", "-", data=diff)

    def apply(self, topic, name, patch):
        try:
            self.apply_diff(patch.diff)
        except SeriesError as error:
            raise SeriesError(f"{name} does not apply: {error}") from None
        if self.is_git:
            self.commit(patch.commit_message(topic), patch.author, patch.date)

    def _require_clean(self):
        if self.git("status", "--porcelain", "-uno").strip():
            raise SeriesError(f"{self.path} has uncommitted changes: commit or stash them first")

    def apply_all(self, series):
        if self.is_git:
            self._require_clean()
        for entry in series.entries:
            self.apply(*entry)

    def read(self, base, author=None):
        """The commits BASE..HEAD as (topic -> patches, texts of the files that HEAD has and BASE has not)."""
        if not self.is_git:
            raise SeriesError(f"{self.path} is not a git tree: refresh reads commits")
        self._require_clean()
        topics = {}
        for commit in self.git("rev-list", "--reverse", "--no-merges", f"{base}..HEAD").split():
            message, topic, notes = Patch.split_message(self.git("show", "-s", "--format=%B", commit))
            title = f"{commit[:12]} ({message.splitlines()[0]})"
            # A commit that was just added belongs to the topic it was added to.
            topic = topic or (list(topics)[-1] if topics else None)
            if not topic or not re.fullmatch("[a-z0-9][a-z0-9-]*", topic):
                raise SeriesError(f"{title} says in no line `Topic: NAME` under its `---` which topic it belongs to")
            if topic in topics and topic != list(topics)[-1]:
                raise SeriesError(f"{title} belongs to {topic}, whose other commits stand before those of {list(topics)[-1]}: rebase it to them")
            who, date = self.git("show", "-s", "--format=%an <%ae>%n%aD", commit).splitlines()
            diff = self.git("diff-tree", "-p", "--no-commit-id", "--no-renames", "--full-index", commit)
            if not diff:
                raise SeriesError(f"{title} changes nothing")
            diff = re.sub(r"^(index [0-9a-f]{12})[0-9a-f]*(\.\.[0-9a-f]{12})[0-9a-f]*", r"\1\2", diff, flags=re.M)
            topics.setdefault(topic, []).append(Patch(author or who, date, message, notes, diff))
        new = self.git("diff-tree", "-r", "--name-only", "--diff-filter=A", "--no-renames", base, "HEAD").splitlines()
        return topics, {path: ((self.path / path).read_bytes(), (self.path / path).stat().st_mode & 0o777) for path in new}
