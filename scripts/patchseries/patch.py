# SPDX-License-Identifier: GPL-2.0
"""One patch of the series: the file in patches/, taken apart and put together again byte for byte.

The file is a mail as git format-patch writes it, without diffstat. Under the `---` stand the notes: `Proof:` lines (what shows that the
patch is needed and works) and `New-file:` lines. A new file is not in the diff: its text is in this repository, at its path.
"""

import dataclasses
import re

MAGIC = "From " + "0" * 40 + " Mon Sep 17 00:00:00 2001"


class SeriesError(Exception):
    """What the user can put right: one line, with the file it is about."""


@dataclasses.dataclass(frozen=True)
class Proof:
    """`Proof: ROW [CHECK ...]`, `Proof: kunit/SUITE.TEST`, or `Proof: review` where neither a scenario nor a test can reach the defect.

    The lines under it say what the row does not say by itself.
    """

    row: str
    checks: tuple
    reason: str

    @property
    def by_run(self):
        return self.row != "review"

    @property
    def test(self):
        """SUITE.TEST of a KUnit test, which a row kunit/... runs among others; else None."""
        kind, _, test = self.row.partition("/")
        return test if kind == "kunit" and "." in test else None


@dataclasses.dataclass
class Patch:
    author: str
    date: str
    message: str  # subject, empty line, body, trailers; ends with a newline
    notes: str  # Proof lines and free text; empty, or ends with a newline
    new_files: list
    diff: str  # of files that exist already; empty, or ends with a newline

    @classmethod
    def parse(cls, text, name):
        head, _, rest = text.partition("\n\n")
        match = re.fullmatch(re.escape(MAGIC) + r"\nFrom: (.+)\nDate: (.+)\nSubject: \[PATCH\] (.+)", head)
        if not match:
            raise SeriesError(f"{name}: does not begin as `scripts/series refresh` writes it (From, From:, Date:, Subject: [PATCH])")
        body, found, rest = rest.partition("\n---\n")
        if not found:
            raise SeriesError(f"{name}: no line `---` between message and diff")
        begin = re.search(r"^diff --git ", rest, re.M)
        under, diff = (rest[: begin.start()], rest[begin.start() :]) if begin else (rest, "")
        notes, new_files = [], []
        for line in under.rstrip("\n").splitlines():
            if line.startswith("New-file: "):
                new_files.append(line.removeprefix("New-file: "))
            else:
                notes.append(line + "\n")
        author, date, subject = match.groups()
        return cls(author, date, f"{subject}\n\n{body}\n", "".join(notes), new_files, diff)

    def format(self):
        subject, _, body = self.message.partition("\n\n")
        new = "".join(f"New-file: {path}\n" for path in self.new_files)
        return (
            f"{MAGIC}\nFrom: {self.author}\nDate: {self.date}\nSubject: [PATCH] {subject}\n\n{body}---\n"
            f"{self.notes}{new}\n{self.diff}"
        )

    @property
    def commit_message(self):
        """The notes stay in the commit, where git format-patch and git am know them as no part of the message."""
        return self.message + ("---\n" + self.notes if self.notes else "")

    @staticmethod
    def split_message(text):
        """The reverse of commit_message: (message, notes)."""
        message, _, notes = (text.rstrip("\n") + "\n").partition("\n---\n")
        return message.rstrip("\n") + "\n", notes

    @property
    def subject(self):
        return self.message.split("\n", 1)[0]

    @property
    def edited_files(self):
        return re.findall(r"^diff --git a/(\S+) b/", self.diff, re.M)

    @property
    def files(self):
        return self.edited_files + self.new_files

    @property
    def trailers(self):
        """(key, value) of the last paragraph."""
        last = self.message.rstrip("\n").rsplit("\n\n", 1)[-1]
        return re.findall(r"^([A-Z][A-Za-z-]+): +(.+)$", last, re.M)

    @property
    def proofs(self):
        proofs = []
        for match in re.finditer(r"^Proof: *(.*)((?:\n(?!Proof:).+)*)", self.notes, re.M):
            row, *checks = match[1].split() or [""]
            proofs.append(Proof(row, tuple(checks), match[2].strip()))
        return proofs

    def file_name(self, number):
        return f"{number:04}-{re.sub(r'[^A-Za-z0-9._]+', '-', self.subject)[:52].strip('-.')}.patch"
