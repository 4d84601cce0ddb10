# SPDX-License-Identifier: GPL-2.0
"""`scripts/series check --build`: every prefix of the series builds, and can be linked, without a warning; sparse says no more than of stock.

A copy of a built stock kernel is patched step by step, so that make compiles what a patch changes and no more. Files that a patch does not
touch, but which include a header that it changes, are parsed: what can be wrong with them the compiler says before it makes code. The last
prefix is compiled as a whole. What a prefix gave is kept in the cache under a key of its code and of the kernel's configuration: a run that
was broken off goes on where it was, and a change of the last patch builds that one alone. It does not boot anything: that is what `prove`
is for.
"""

import collections
import concurrent.futures
import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from patchseries.contents import CODE, Contents, key_of
from patchseries.patch import SeriesError
from patchseries.tree import Tree, run

GUEST = pathlib.Path(__file__).resolve().parent.parent / "guest"
# What sparse says of syntax that it does not know. Where it says so it sees no more of the file, and would pass everything.
ALIEN = "error: (Expected|got |too many errors)"
# A header with tracepoints is code, to the file that defines them.
DEFINES = re.compile(r"^(TRACE_EVENT|DEFINE_EVENT|DECLARE_TRACE)\w*\(", re.M)


def cache():
    home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(home) / "amdgpu-hotplug"


def in_kernel(path):
    """Is PATH code of the kernel, and not of a program of user space?"""
    return CODE.search(path) and not path.startswith("tools/")


def folders(paths):
    """The folders to make for PATHS: DRM's drivers as a whole, because their headers are included across them; of others the file's own."""
    found = set()
    for path in map(pathlib.PurePath, paths):
        if path.parts[0] != "include" and in_kernel(str(path)):
            found.add("drivers/gpu/drm/" if path.parts[:3] == ("drivers", "gpu", "drm") else f"{path.parent}/")
    return sorted(found)


def _saved(text):
    """(object, command, source) of what kbuild keeps of a compilation, whose lines are TEXT."""
    name, command = re.search(r"^savedcmd_(\S+) := (.*?)(?: ; .*)?$", text, re.MULTILINE).groups()
    source = re.search(r"^source_\S+ := (.*)$", text, re.MULTILINE)
    return name, command, source and os.path.normpath(f"build/{source[1]}")


class Builder:
    """A patched copy of the kernel whose build folder is STOCK_BUILD, inside its source tree."""

    def __init__(self, stock_build, folder, lock):
        stock = stock_build.parent
        self.path = pathlib.Path(folder) / "tree"
        self.lock = lock
        run("rsync", "-a", "--exclude=/build", f"--link-dest={stock}", f"{stock}/", f"{self.path}/", cwd=stock)
        # The build folder is no set of hard links: make and objtool write into their files.
        run("cp", "-a", "--reflink=auto", stock_build, self.path / "build", cwd=stock)
        self.tree = Tree(self.path)
        self.exported = {line.split("\t")[1] for line in self._lines("Module.symvers")}
        self.in_vmlinux = {line.split()[2] for line in self._lines("System.map")}
        self.held = set()

    def _lines(self, name):
        path = self.path / "build" / name
        if not path.is_file():
            raise SeriesError(f"{path.parent} has no {name}: it is not the folder of a kernel that was built")
        return path.read_text().splitlines()

    @contextlib.contextmanager
    def _locked(self):
        if not self.lock:
            yield
            return
        with open(self.lock, "ab") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            yield

    def make(self, *arguments):
        """(exit status, what it said). Nothing of it runs on when this is broken off."""
        with self._locked():
            command = [GUEST / "kbuild", self.path, *arguments]
            pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
            with subprocess.Popen(command, text=True, start_new_session=True, **pipes) as process:
                try:
                    said = process.communicate()[1]
                except BaseException:
                    os.killpg(process.pid, signal.SIGTERM)
                    raise
        return process.returncode, said.splitlines()

    def apply(self, name, patch):
        """Apply PATCH. Headers keep their time, so that make compiles the files that PATCH touches: the others are for parse(). But not
        those that define something."""
        headers = [self.path / path for path in patch.files if path.endswith(".h") and path not in patch.new_files]
        times = {header: header.stat().st_mtime_ns for header in headers}
        self.tree.apply(None, name, patch)
        for header, nanoseconds in times.items():
            if not DEFINES.search(header.read_text()):
                os.utime(header, ns=(nanoseconds, nanoseconds))
                self.held.add(header)

    def release(self):
        """From now on make compiles all that includes a header which was changed."""
        for header in self.held:
            header.touch()
        self.held.clear()

    def parse(self, patch, goals, jobs):
        """What the compiler says of the files below GOALS that include a header of PATCH, and that PATCH does not touch."""
        headers = {path for path in patch.files if self.path / path in self.held}
        if not headers:
            return []
        named = re.compile("|".join(re.escape("/" + pathlib.PurePath(path).name) for path in sorted(headers)))
        commands = []
        for goal in goals:
            for file in sorted((self.path / "build" / goal).rglob(".*.o.cmd")):
                text = file.read_text()
                if not named.search(text):
                    continue
                command, source = _saved(text)[1:]
                names = {os.path.normpath(f"build/{name}") for name in re.findall(r"^  (\S+) \\$", text, re.MULTILINE)}
                if names & headers and source not in patch.files:
                    commands.append(command)
        with self._locked():
            pool = concurrent.futures.ThreadPoolExecutor(int(jobs))
            try:
                return sum(pool.map(self._parse, commands), [])
            finally:
                pool.shutdown(cancel_futures=True)

    def _parse(self, command):
        """COMMAND is as kbuild saved it for make: of a compilation, through ccache, to an object."""
        command = command.replace("$(pound)", "#").replace("$$", "$").removeprefix("ccache ")
        command = re.sub(r" -Wp,-MMD,\S+", "", re.sub(r" -c -o \S+ ", " -fsyntax-only ", command))
        done = subprocess.run(command, shell=True, cwd=self.path / "build", stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        said = done.stderr.splitlines()
        return said if done.returncode == 0 or any("error:" in line for line in said) else [f"error: {command[:60]}: {said[:1] or done.returncode}"]

    def unresolved(self, goals):
        """(object, symbol) for what a module of GOALS, or what they add to vmlinux, refers to and nobody provides."""
        modules, builtin = [], []
        for goal in goals:
            order = self.path / "build" / goal / "modules.order"
            modules += order.read_text().split() if order.is_file() else []
            archive = self.path / "build" / goal / "built-in.a"
            builtin += [archive] if archive.is_file() else []
        modules = [self.path / "build" / name for name in dict.fromkeys(modules)]
        symbols = {path: self._symbols(path) for path in [*modules, *builtin]}
        defined = set().union(*(has for has, _ in symbols.values()))
        exported = self.exported | {name.removeprefix("__export_symbol_") for name in defined if name.startswith("__export_symbol_")}
        for path, (_, wants) in symbols.items():
            known = exported if path in modules else self.in_vmlinux | defined
            for name in sorted(wants - known):
                yield str(path.relative_to(self.path / "build")), name

    def _symbols(self, path):
        """What the object or archive defines, and what it wants of others."""
        defined, wanted = set(), set()
        for line in run("nm", "-P", path, cwd=self.path / "build").splitlines():
            name, kind, *_ = line.split() + ["", ""]
            if kind == "U":
                wanted.add(name)
            elif kind and kind not in "wv":
                defined.add(name)
        return defined, wanted - defined - {"_GLOBAL_OFFSET_TABLE_", "__this_module"}

    def sparse(self, tool, sources):
        """What sparse says of the objects that were made of SOURCES, without the line numbers: a count for each complaint.

        Only make's own name of an object has its flags: amdkfd's are amdgpu's, and its objects drivers/gpu/drm/amd/amdgpu/../amdkfd/.
        """
        objects = set()
        for path in map(pathlib.PurePath, sources):
            for file in (self.path / "build" / path.parent).glob(f".{path.stem}.o.cmd"):
                name, _, source = _saved(file.read_text())
                objects |= {name} if source == str(path) else set()
        if not objects:
            return collections.Counter()  # make without a goal would be all of the kernel
        _, said = self.make("-k", "C=2", f"CHECK={tool}", *sorted(objects))
        return collections.Counter(re.sub(r":\d+:\d+", "", line) for line in said if re.search("warning:|error:", line))


class Kept:
    """What a prefix gave in an earlier run, on this stock kernel: a file for each, with the list of complaints."""

    def __init__(self, stock_build):
        key = hashlib.sha256((stock_build / ".config").read_bytes() + stock_build.parent.name.encode()).hexdigest()[:12]
        self.folder = cache() / "prefixes" / key

    def get(self, name):
        path = self.folder / name
        return json.loads(path.read_text()) if path.exists() else None

    def put(self, name, complaints):
        self.folder.mkdir(parents=True, exist_ok=True)
        whole = self.folder / f"{name}.{os.getpid()}"
        whole.write_text(json.dumps(complaints))
        whole.rename(self.folder / name)


def _say(text):
    print(f"--- {text}", file=sys.stderr, flush=True)


def prefix_keys(series, source):
    """The key of what each prefix of SERIES makes of SOURCE."""
    with Contents(source, series.files) as contents:
        for entry in series.entries:
            contents.apply([entry])
            yield contents.keys().whole


def builds(series, stock_build, jobs, *, first=1, lock=None, sparse=None, whole=True):
    """Complaints. FIRST is the first patch after which is built, LOCK a file to lock while make runs, SPARSE a program and its version.

    With WHOLE the last prefix is compiled with all that includes a header which the series changes; else that is parsed only.
    """
    kept = Kept(stock_build)
    # What a prefix says has the name of its last patch in it.
    prefixes = [key_of(key, name) for key, name in zip(prefix_keys(series, stock_build.parent), series.names)]
    results = {number: kept.get(prefixes[number - 1]) for number in range(first, len(series.patches) + 1)}
    said_by_sparse = sparse and f"{prefixes[-1]}-{hashlib.sha256(sparse[1].encode()).hexdigest()[:8]}"
    of_sparse = kept.get(said_by_sparse) if sparse else []
    if None in results.values() or of_sparse is None:
        with tempfile.TemporaryDirectory(dir=stock_build.parent.parent, prefix="prefixes-") as folder:
            builder = Builder(stock_build, folder, lock)
            sources = sorted({path for path in series.files if path.endswith(".c") and in_kernel(path)})
            before = builder.sparse(sparse[0], sources) if of_sparse is None else None
            code = [number for number, patch in enumerate(series.patches, 1) if any(map(in_kernel, patch.files))]
            last = max(code, default=len(series.patches))
            if of_sparse is None:
                # Sparse looks at what was made of the whole series, in this copy.
                results[last] = None
            touched = []
            for number, (_, name, patch) in enumerate(series.entries, 1):
                builder.apply(name, patch)
                touched += patch.files
                if number == last and whole:
                    builder.release()
                if results.get(number, []) is not None:
                    continue
                start = time.monotonic()
                results[number] = _prefix(builder, name, patch, folders(touched), jobs)
                _say(f"{name}: {'; '.join(results[number]) or 'builds'} ({time.monotonic() - start:.0f} s)")
                if any(" does not build: " in line for line in results[number]):
                    return sum(filter(None, results.values()), [])
                kept.put(prefixes[number - 1], results[number])
            if of_sparse is None:
                after = builder.sparse(sparse[0], sources)
                alien = [line for line in before | after if re.search(ALIEN, line)]
                of_sparse = [f"sparse: {line}" for line in (after - before).elements()]
                of_sparse += [f"sparse does not understand this kernel: {line}" for line in alien[:1]]
                kept.put(said_by_sparse, of_sparse)
    return [line for number in sorted(results) for line in results[number]] + of_sparse


def _prefix(builder, name, patch, goals, jobs):
    """Complaints of the kernel with the series up to PATCH."""
    if not any(map(in_kernel, patch.files)):
        return []
    if any(pathlib.PurePath(path).name.startswith("Kconfig") for path in patch.files):
        builder.make("olddefconfig")
    status, said = builder.make(f"-j{jobs}", *goals)
    if not status and builder.held:
        said += builder.parse(patch, goals, jobs)
    if status or any("error:" in line for line in said):
        errors = [line for line in said if re.search(r"\berror\b|undefined", line)]
        return [f"{name}: does not build: {(errors or said or ['no message'])[0]}"]
    complaints = [f"{name}: {line}" for line in said if "warning:" in line]
    return complaints + [f"{name}: {path}: nobody exports {symbol}" for path, symbol in builder.unresolved(goals)]
