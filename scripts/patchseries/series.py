# SPDX-License-Identifier: GPL-2.0
"""The series of one base kernel: patches/<base>/series names the patch files in order, as quilt reads it."""

import hashlib
import pathlib
import re

from patchseries.patch import Patch, SeriesError


# What a kernel is built from. The rest is text, whose change makes no kernel another one.
CODE = re.compile(r"\.[chS]$|(^|/)(Makefile|Kbuild|Kconfig[^/]*)$")
# Of these, what the kernels that rows run on are built without: KUnit tests, which a kernel of their own runs, and selftests.
TESTS = re.compile(r"^drivers/(.+/)?tests/|^tools/testing/")


def code_hash(patches, repository, tests=True):
    """Key of the code that PATCHES make, with new files from REPOSITORY; without TESTS, of what stays when the tests are left out."""

    def counts(path):
        return CODE.search(path) and (tests or not TESTS.search(path))

    digest = hashlib.sha256()
    for patch in patches:
        for of_file in re.split(r"^(?=diff --git )", patch.diff, flags=re.M):
            if counts(of_file.partition("\n")[0].rpartition(" b/")[2]):
                digest.update(re.sub(r"^(index|@@) .*", r"\1", of_file, flags=re.M).encode())
    for path in sorted(path for patch in patches for path in patch.new_files if counts(path)):
        digest.update(path.encode() + (repository / path).read_bytes())
    return digest.hexdigest()[:12]


class Series:
    """REPOSITORY is where patches/ and the new kernel files are, BASE a folder of patches/."""

    def __init__(self, repository, base):
        self.repository = pathlib.Path(repository)
        self.base = base
        self.folder = self.repository / "patches" / base
        self.names = self._read_names()
        self.patches = [self._read(name) for name in self.names]
        self._forbid_two_owners()

    def _read_names(self):
        listed = self.folder / "series"
        if not listed.exists():
            return []
        return [line for line in listed.read_text().splitlines() if line and not line.startswith("#")]

    def _read(self, name):
        try:
            return Patch.parse((self.folder / name).read_text(encoding="utf-8"), name)
        except FileNotFoundError:
            raise SeriesError(f"{self.folder / 'series'} names {name}, which is not there") from None
        except UnicodeDecodeError:
            raise SeriesError(f"{name}: not UTF-8") from None

    def _forbid_two_owners(self):
        new = set()
        for name, patch in zip(self.names, self.patches):
            for path in patch.new_files:
                if path in new:
                    raise SeriesError(f"{name}: {path} is already introduced by an earlier patch")
                if not (self.repository / path).is_file():
                    raise SeriesError(f"{name}: New-file {path} is not in the repository")
                new.add(path)
            twice = new.intersection(patch.edited_files)
            if twice:
                raise SeriesError(f"{name}: edits {twice.pop()}, which the series itself introduces: refresh the series")

    @property
    def new_files(self):
        return [path for patch in self.patches for path in patch.new_files]

    @property
    def edited_files(self):
        """Files of the base kernel that the series changes, without repetition, in order of appearance."""
        return list(dict.fromkeys(path for patch in self.patches for path in patch.edited_files))

    def hash(self, tests=False):
        """What the code is, and not how it is described: the key of a kernel build, and of a proof. With TESTS, of a kernel that has them."""
        return code_hash(self.patches, self.repository, tests)

    def replace(self, patches, new_texts):
        """Write PATCHES and the new files' NEW_TEXTS (path -> (bytes, mode)) in place of what is there."""
        for name in self.names:
            (self.folder / name).unlink()
        for path in set(self.new_files) - set(new_texts):
            (self.repository / path).unlink()
        for path, (text, mode) in new_texts.items():
            target = self.repository / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text)
            target.chmod(mode)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.patches = patches
        self.names = [patch.file_name(number) for number, patch in enumerate(patches, 1)]
        for name, patch in zip(self.names, patches):
            (self.folder / name).write_text(patch.format(), encoding="utf-8")
        (self.folder / "series").write_text("".join(name + "\n" for name in self.names))
