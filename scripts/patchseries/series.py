# SPDX-License-Identifier: GPL-2.0
"""The series of one base kernel, cut into topics: patches/<base>/series names the patch files in order, TOPIC/NAME, as quilt reads it."""

import dataclasses
import functools
import pathlib

from patchseries.contents import Contents
from patchseries.patch import Patch, SeriesError


@dataclasses.dataclass(frozen=True)
class Cover:
    """TOPIC/cover.txt: fields, an empty line, the text.

    `Subject:`; `Depends:`, topics, may be left out; `Tree:`, where it is to be applied; `Measured:`, the key of the code that a table in the
    text is of (State.hash of patchseries.proof).
    """

    subject: str
    depends: tuple
    tree: str
    measured: str
    text: str

    @classmethod
    def parse(cls, text, name):
        head, _, body = text.partition("\n\n")
        fields = {}
        for line in head.splitlines():
            key, found, value = line.partition(":")
            if not found or key not in ("Subject", "Depends", "Tree", "Measured") or key in fields:
                raise SeriesError(f"{name}: begins with Subject:, Depends:, Tree: and Measured:, each once, and an empty line: {line}")
            fields[key] = value.strip()
        for key in ("Subject", "Tree"):
            if not fields.get(key):
                raise SeriesError(f"{name}: has no {key}:")
        if not body.strip():
            raise SeriesError(f"{name}: says nothing")
        return cls(fields["Subject"], tuple(fields.get("Depends", "").split()), fields["Tree"], fields.get("Measured", ""), body)


@dataclasses.dataclass
class Topic:
    """A sub-series, which is sent on its own."""

    name: str
    folder: pathlib.Path
    names: list  # of the patch files, TOPIC/NNNN-SUBJECT.patch
    patches: list

    @functools.cached_property
    def cover(self):
        path = self.folder / "cover.txt"
        if not path.is_file():
            raise SeriesError(f"{path} is not there: each topic has one")
        return Cover.parse(path.read_text(encoding="utf-8"), f"{self.name}/cover.txt")


class Series:
    """REPOSITORY is where patches/ and the new kernel files are, BASE a folder of patches/. With TOPICS, these alone."""

    def __init__(self, repository, base, topics=None):
        self.repository = pathlib.Path(repository)
        self.base = base
        self.folder = self.repository / "patches" / base
        self.topics = self._read() if topics is None else topics

    def _read(self):
        listed = self.folder / "series"
        topics = {}
        for name in listed.read_text().splitlines() if listed.exists() else []:
            if not name or name.startswith("#"):
                continue
            key, found, _ = name.partition("/")
            if not found:
                raise SeriesError(f"{listed}: {name} is in no topic's folder")
            if key in topics and key != list(topics)[-1]:
                raise SeriesError(f"{listed}: the patches of {key} do not stand together")
            topic = topics.setdefault(key, Topic(key, self.folder / key, [], []))
            topic.names.append(name)
            topic.patches.append(self._read_patch(name))
        return list(topics.values())

    def _read_patch(self, name):
        try:
            return Patch.parse((self.folder / name).read_text(encoding="utf-8"), name)
        except FileNotFoundError:
            raise SeriesError(f"{self.folder / 'series'} names {name}, which is not there") from None
        except UnicodeDecodeError:
            raise SeriesError(f"{name}: not UTF-8") from None

    @property
    def names(self):
        return [name for topic in self.topics for name in topic.names]

    @property
    def patches(self):
        return [patch for topic in self.topics for patch in topic.patches]

    @property
    def entries(self):
        """(topic's name, name, Patch) in order."""
        return [(topic.name, *entry) for topic in self.topics for entry in zip(topic.names, topic.patches)]

    @property
    def files(self):
        """All files that the series touches, without repetition, in order of appearance."""
        return list(dict.fromkeys(path for patch in self.patches for path in patch.files))

    @property
    def new_files(self):
        return list(dict.fromkeys(path for patch in self.patches for path in patch.new_files))

    def topic(self, name):
        for topic in self.topics:
            if topic.name == name:
                return topic
        raise SeriesError(f"there is no topic {name}: {' '.join(topic.name for topic in self.topics)}")

    def below(self, topic):
        """The topics that TOPIC depends on, and those that these depend on, in order."""
        order = [other.name for other in self.topics]
        wanted = set()
        for name in topic.cover.depends:
            if name not in order[: order.index(topic.name)]:
                raise SeriesError(f"{topic.name}/cover.txt: Depends: {name}, which is no topic before it")
            wanted |= {name, *(other.name for other in self.below(self.topic(name)))}
        return [other for other in self.topics if other.name in wanted]

    def alone(self, topic):
        """TOPIC with only what it says that it depends on."""
        return Series(self.repository, self.base, [*self.below(topic), topic])

    def contents(self, source):
        """What SOURCE becomes: the key of a kernel build, and of a proof, is of the code and not of how it is described."""
        with Contents(source, self.files) as contents:
            contents.apply(self.entries)
            return contents.keys()

    def replace(self, topics, texts):
        """Write TOPICS (name -> patches) and the new files' TEXTS (path -> (bytes, mode)) in place of what is there."""
        for name in self.names:
            (self.folder / name).unlink()
        for path in set(self.new_files) - set(texts):
            (self.repository / path).unlink(missing_ok=True)
        for path, (text, mode) in texts.items():
            target = self.repository / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text)
            target.chmod(mode)
        self.topics = []
        for name, patches in topics.items():
            folder = self.folder / name
            folder.mkdir(parents=True, exist_ok=True)
            names = [f"{name}/{patch.file_name(number)}" for number, patch in enumerate(patches, 1)]
            self.topics.append(Topic(name, folder, names, patches))
            for file, patch in zip(names, patches):
                (self.folder / file).write_text(patch.format(), encoding="utf-8")
        (self.folder / "series").write_text("".join(name + "\n" for name in self.names))

    def strays(self):
        """Files in drivers/ and include/ that no patch makes, and topic folders that the list does not name."""
        new = set(self.new_files)
        for top in ("drivers", "include"):
            for path in sorted((self.repository / top).rglob("*")):
                name = str(path.relative_to(self.repository))
                if path.is_file() and name not in new:
                    yield f"{name}: no patch makes this file"
        listed = {*self.names}
        for path in sorted(self.folder.glob("*/*.patch")):
            name = str(path.relative_to(self.folder))
            if name not in listed:
                yield f"{name}: is not in {self.folder.name}/series"


def rows_of(topic, rows):
    """The rows that TOPIC's patches name, of ROWS as scenarios.rows() gives them."""
    named = [proof.row for patch in topic.patches for proof in patch.proofs if proof.by_run and not proof.test]
    return {row for name in named for row in rows.get(name, [name])}


def tests_of(topic):
    return {proof.test for patch in topic.patches for proof in patch.proofs if proof.test}
