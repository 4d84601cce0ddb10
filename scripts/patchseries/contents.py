# SPDX-License-Identifier: GPL-2.0
"""What the files are that patches leave behind: the key of a kernel build, of a recorded run, and of a prefix that was built.

It is of the resulting text alone. Patches that are reworded, put in another order or cut in another way give the same key.
"""

import dataclasses
import hashlib
import pathlib
import re
import tempfile

from patchseries.patch import SeriesError
from patchseries.tree import Tree

# What a kernel is built from. The rest is text, whose change makes no kernel another one.
CODE = re.compile(r"\.[chS]$|(^|/)(Makefile|Kbuild|Kconfig[^/]*)$")
# Of these, what the kernels that rows run on are built without: KUnit tests, which a kernel of their own runs, and selftests.
TESTS = re.compile(r"^drivers/(.+/)?tests/|^tools/testing/")


@dataclasses.dataclass(frozen=True)
class Keys:
    code: str  # without tests
    tests: str  # of the tests alone
    whole: str  # of both


def key_of(*parts):
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


class Contents:
    """A scratch tree that has only FILES of the kernel tree SOURCE, to which patches are applied one after the other."""

    def __init__(self, source, files):
        self.scratch = tempfile.TemporaryDirectory()
        self.tree = Tree(Tree.copy_files(source, files, pathlib.Path(self.scratch.name)))
        self.digests = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.scratch.cleanup()

    def apply(self, entries):
        """Apply ENTRIES, (topic, name, Patch), all at once; if that fails, one by one, to name the one that does not apply."""
        try:
            if entries:
                self.tree.apply_diff("".join(patch.diff for _, _, patch in entries))
        except SeriesError:
            for _, name, patch in entries:
                self.tree.apply(None, name, patch)
        for path in {path for _, _, patch in entries for path in patch.files if CODE.search(path)}:
            file = self.tree.path / path
            self.digests[path] = hashlib.sha256(file.read_bytes()).hexdigest() if file.exists() else ""

    def keys(self):
        lines = {path: f"{path} {digest}" for path, digest in sorted(self.digests.items())}
        tests = [line for path, line in lines.items() if TESTS.search(path)]
        return Keys(key_of(*(line for path, line in lines.items() if not TESTS.search(path))), key_of(*tests), key_of(*lines.values()))
