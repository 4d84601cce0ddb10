# SPDX-License-Identifier: GPL-2.0
"""One patch of the series: the file in patches/, taken apart and put together again byte for byte.

The file is a mail as git format-patch writes it, without diffstat. Under the `---` stand the notes: `Proof:` lines, which name what shows
that the patch is needed and works.
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
    diff: str  # ends with a newline

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
        if not begin:
            raise SeriesError(f"{name}: has no diff")
        notes = rest[: begin.start()].rstrip("\n")
        author, date, subject = match.groups()
        return cls(author, date, f"{subject}\n\n{body}\n", notes + "\n" if notes else "", rest[begin.start() :])

    def format(self):
        subject, _, body = self.message.partition("\n\n")
        return f"{MAGIC}\nFrom: {self.author}\nDate: {self.date}\nSubject: [PATCH] {subject}\n\n{body}---\n{self.notes}\n{self.diff}"

    def commit_message(self, topic):
        """Topic and notes stay in the commit, where git format-patch and git am know them as no part of the message."""
        return f"{self.message}---\nTopic: {topic}\n{self.notes}"

    @staticmethod
    def split_message(text):
        """The reverse of commit_message: (message, topic or None, notes)."""
        message, _, notes = (text.rstrip("\n") + "\n").partition("\n---\n")
        topic = re.search(r"^Topic: *(\S+)\n", notes, re.M)
        return message.rstrip("\n") + "\n", topic and topic[1], notes.replace(topic[0], "", 1) if topic else notes

    @property
    def subject(self):
        return self.message.split("\n", 1)[0]

    @property
    def files(self):
        return re.findall(r"^diff --git a/(\S+) b/", self.diff, re.M)

    @property
    def new_files(self):
        return re.findall(r"^diff --git a/(\S+) b/\S+\nnew file mode ", self.diff, re.M)

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
