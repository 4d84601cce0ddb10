# SPDX-License-Identifier: GPL-2.0
"""A guest's memory as QEMU dumped it, opened with drgn: the kernel's types and symbols from whatever of these there is.

Types come from the DWARF of a vmlinux, from an object with the types alone (scripts/guest/blocked-tasks makes one where there is a built tree),
or from the BTF in the kernel's memory. Where the kernel lies it says itself (vmcoreinfo), unless it cannot but lie where its vmlinux says."""

import pathlib
import re
import struct

import drgn
from drgn.helpers.linux.list import list_for_each_entry

from guestdump import chains
from guestdump.btf import Btf
from guestdump.elf import Elf
from guestdump.symbols import Symbols, add_kernel_table
from guestdump.unwind import OrcTable, Unwinder

# Enough for drgn to read physical memory.
NOTHING_KNOWN = b"OSRELEASE=6.0.0\nPAGESIZE=4096\nKERNELOFFSET=0\nSYMBOL(swapper_pg_dir)=ffffffff82000000\nNUMBER(pgtable_l5_enabled)=0\nNUMBER(phys_base)=0\n"
NOTE = b"VMCOREINFO\0\0OSRELEASE="
CHUNK = 4 << 20
GIB = 1 << 30
TOP_OF_LOW_MEMORY = 2 * GIB  # of QEMU's q35: what is more lies from 4 GiB on
UNINTERRUPTIBLE, IDLE = 0x2, 0x402
STATES = {0: "R", 1: "S", 2: "D", 4: "T", 8: "t", 16: "X", 32: "Z"}
NT_PRSTATUS = 1
PRSTATUS_BP, PRSTATUS_IP, PRSTATUS_SP = 112 + 32, 112 + 128, 112 + 152
FLAGS = 7  # of the owner of a mutex or rw_semaphore
READERS = 1
STACK_SIZE, STACK_SEARCHED = 16384, 2048
# By their names: whether a word that points to a task is the owner of a lock, or a variable for a task, no other thing tells.
LOCK_NAMES = re.compile(r"mutex|lock|sem$|sem_|rwsem|mtx")
OWNER_OFFSETS = {0: "mutex", 8: "rw_semaphore"}
BLOCKERS = {0: "mutex", 1: "semaphore", 2: "rw_semaphore (to read)", 3: "rw_semaphore (to write)"}


class DumpError(Exception):
    pass


def program(core, vmcoreinfo):
    # QEMU leaves the architecture out of the file's head, and drgn does not guess.
    prog = drgn.Program(drgn.Platform(drgn.Architecture.X86_64), vmcoreinfo=vmcoreinfo)
    prog.set_core_dump(str(core))
    return prog


def find_vmcoreinfo(core):
    """The note in the guest's memory. It is allocated early, and so above 4 GiB where there is memory."""
    prog = program(core, NOTHING_KNOWN)
    tail = b""
    for start, end in ((4 * GIB, 64 * GIB), (0, TOP_OF_LOW_MEMORY)):
        for at in range(start, end, CHUNK):
            try:
                data = tail + prog.read(at, CHUNK, True)
            except drgn.FaultError:
                break
            found = data.find(NOTE)
            if found >= 0:
                text = data[found + NOTE.index(b"OSRELEASE") :][:8192]
                return text[: text.index(b"\0")] if b"\0" in text else text
            tail = data[-len(NOTE) :]
    return None


def vmcoreinfo_of(elf, release):
    """That of a kernel that says nothing, and cannot be moved. drgn asks for the table of pages by one name, libkdumpfile by the other."""
    pages = next(address for name, address, _size in elf.symbols() if name == "init_top_pgt")
    return (f"OSRELEASE={release}\nPAGESIZE=4096\nKERNELOFFSET=0\nSYMBOL(swapper_pg_dir)={pages:x}\nSYMBOL(init_top_pgt)={pages:x}\n"
            "NUMBER(pgtable_l5_enabled)=0\nNUMBER(phys_base)=0\nNUMBER(KERNEL_IMAGE_SIZE)=1073741824\n").encode()


def made(module):
    """Later versions of drgn say, too, whether a module is new."""
    return module[0] if isinstance(module, tuple) else module


def registers(core):
    """(ip, sp, bp) of each CPU, from the notes of a kdump file: KDUMP's second block says where they are."""
    with open(core, "rb") as file:
        file.seek(4096 + 48)
        offset, size = struct.unpack("<QQ", file.read(16))
        file.seek(offset)
        notes = file.read(size)
    found, at = [], 0
    while at + 12 <= len(notes):
        name, desc, kind = struct.unpack_from("<III", notes, at)
        start = at + 12 + (name + 3 & ~3)
        if kind == NT_PRSTATUS and notes[at + 12 : at + 16] == b"CORE":
            found.append(tuple(struct.unpack_from("<Q", notes, start + offset)[0] for offset in (PRSTATUS_IP, PRSTATUS_SP, PRSTATUS_BP)))
        at = start + (desc + 3 & ~3)
    return found


class Dump:
    """`folder`: vmcore, and of vmlinux, types.o and vmcoreinfo what there is."""

    def __init__(self, folder, release):
        folder = pathlib.Path(folder)
        self.core = folder / "vmcore"
        vmlinux = Elf(folder / "vmlinux") if (folder / "vmlinux").exists() else None
        info = (folder / "vmcoreinfo").read_bytes() if (folder / "vmcoreinfo").exists() else None
        if info is None and (vmlinux is None or any(name == "vmcoreinfo_note" for name, _address, _size in vmlinux.symbols())):
            info = find_vmcoreinfo(self.core)
        if info is None and vmlinux is None:
            raise DumpError("there is no vmlinux, and the kernel has no vmcoreinfo that says where it lies")
        self.vmcoreinfo = info or vmcoreinfo_of(vmlinux, release)
        self.prog = program(self.core, self.vmcoreinfo)
        self.symbols = Symbols()
        places = {name: int(address, 16) for name, address in re.findall(r"SYMBOL\((\w+)\)=([0-9a-f]+)", self.vmcoreinfo.decode())}
        if vmlinux is not None:
            moved = int(re.search(rb"^KERNELOFFSET=([0-9a-f]+)", self.vmcoreinfo, re.M)[1], 16)
            for name, address, _size in vmlinux.symbols():
                if address >> 63:
                    self.symbols.add(name, address + moved)
        else:
            add_kernel_table(self.symbols, self.prog.read, places)
        self.check_place()
        self.add_types(folder, vmlinux)
        modules = list(self.modules())
        for module in modules:
            self.add_module(module)
        self.unwinder = Unwinder(self.word, list(self.orc_tables(modules)))

    def give_symbols(self):
        """To drgn, for a prompt: symbols, and the variables that most of its helpers begin with."""
        variables = {"init_task": "struct task_struct", "modules": "struct list_head"}

        def symbol(_prog, name, address, _one):
            if name is not None:
                found = (name, self.symbols[name]) if name in self.symbols else None
            else:
                near = self.symbols.nearest(address)
                found = near and (near[0], address - near[1])
            if not found:
                return []
            return [drgn.Symbol(*found, (address or found[1]) - found[1] + 1, drgn.SymbolBinding.UNKNOWN, drgn.SymbolKind.UNKNOWN)]

        def variable(_prog, name, _flags, _file):
            return self.variable(variables[name], name) if name in variables else None

        self.prog.register_symbol_finder("guest", symbol, enable_index=-1)
        self.prog.register_object_finder("guest", variable, enable_index=-1)

    def check_place(self):
        try:
            banner = self.prog.read(self.symbols["linux_banner"], 14)
        except (drgn.FaultError, KeyError):
            banner = b""
        if banner != b"Linux version ":
            raise DumpError("the kernel lies elsewhere than its symbols say (KASLR), or they are of another kernel: run with --append nokaslr")

    def add_types(self, folder, vmlinux):
        # By force: that it is this kernel's, check_place() has seen, and a kernel that says nothing does not say its build ID.
        if vmlinux is not None and vmlinux.has_dwarf():
            made(self.prog.main_module("kernel", create=True)).try_file(str(folder / "vmlinux"), force=True)
        elif (folder / "types.o").exists():
            made(self.prog.extra_module("types", create=True)).try_file(str(folder / "types.o"), force=True)
        elif "__start_BTF" in self.symbols:
            start, end = self.symbols["__start_BTF"], self.symbols["__stop_BTF"]
            self.prog.register_type_finder("btf", Btf(self.prog, self.prog.read(start, end - start)).find, enable_index=0)
        else:
            raise DumpError("the kernel's types are not known: no DWARF in vmlinux, no built tree to make them from, no BTF")

    def word(self, address):
        try:
            return self.prog.read_u64(address)
        except drgn.FaultError as error:
            raise LookupError(str(error)) from error

    def variable(self, kind, name):
        return drgn.Object(self.prog, kind, address=self.symbols[name])

    def modules(self):
        return list_for_each_entry("struct module", self.variable("struct list_head", "modules").address_of_(), "list")

    def add_module(self, module):
        table, name = module.kallsyms, module.name.string_().decode()
        count = table.num_symtab.value_()
        entries = self.prog.read(table.symtab.value_(), 24 * count)
        addresses = {offset: address for offset, _info, _other, _index, address, _size in struct.iter_unpack("<IBBHQQ", entries)
                     if offset and address >> 63}
        if addresses:
            start, last = table.strtab.value_(), max(addresses)
            text = self.prog.read(start, last) + drgn.Object(self.prog, "char *", start + last).string_() + b"\0"
            for offset, address in addresses.items():
                self.symbols.add(text[offset : text.index(b"\0", offset)].decode(errors="replace"), address, name)

    def orc_tables(self, modules):
        symbols = self.symbols
        if "__start_orc_unwind" not in symbols:
            return
        start, end = symbols["__start_orc_unwind_ip"], symbols["__stop_orc_unwind_ip"]
        yield symbols["_stext"], symbols["_etext"], OrcTable(self.prog.read, start, symbols["__start_orc_unwind"], (end - start) // 4)
        for module in modules:
            arch = module.arch
            count = arch.num_orcs.value_()
            if count:
                table = OrcTable(self.prog.read, arch.orc_unwind_ip.value_(), arch.orc_unwind.value_(), count)
                # Its table has the text that was freed after its init, too, where another module may be by now.
                text = module.mem[0]  # MOD_TEXT
                yield text.base.value_(), text.base.value_() + text.size.value_(), table

    def tasks(self):
        """All, as values."""
        first = self.variable("struct task_struct", "init_task")
        threads = [thread for process in list_for_each_entry("struct task_struct", first.tasks.address_of_(), "tasks")
                   for thread in list_for_each_entry("struct task_struct", process.signal.thread_head.address_of_(), "thread_node")]
        pids = {thread.value_(): thread.pid.value_() for thread in threads}
        cpus = registers(self.core)
        held = self.held_locks(threads)
        return [self.task(thread, pids, cpus, held.get(thread.value_(), [])) for thread in threads]

    def held_locks(self, threads):
        """The names of the locks that each task holds: what lockdep knows, or those that are variables of the kernel or of a module."""
        if threads and threads[0].type_.type.has_member("lockdep_depth"):
            return {thread.value_(): [self.held_name(thread.held_locks[number].instance) for number in range(thread.lockdep_depth)] for thread in threads}
        owners = {thread.value_() for thread in threads}
        held = {}
        for start, size in self.data_regions():
            for number, word in enumerate(struct.unpack(f"<{size // 8}Q", self.prog.read(start, size // 8 * 8))):
                if word & ~FLAGS in owners:
                    found = self.symbols.nearest(start + 8 * number)
                    if found and found[1] in OWNER_OFFSETS and LOCK_NAMES.search(found[0]):
                        held.setdefault(word & ~FLAGS, []).append(f"{OWNER_OFFSETS[found[1]]} {found[0]}")
        return held

    def held_name(self, instance):
        name = instance.name.string_().decode(errors="replace") if instance.name else ""
        return name or f"{instance.value_():#x}"

    def data_regions(self):
        """Address and size of what holds the variables."""
        for first, last in (("_sdata", "_edata"), ("__bss_start", "__bss_stop")):
            if first in self.symbols and last in self.symbols:
                yield self.symbols[first], self.symbols[last] - self.symbols[first]
        for module in self.modules():
            for region in (module.mem[1], module.mem[2]):  # MOD_DATA, MOD_RODATA
                if region.size:
                    yield region.base.value_(), region.size.value_()

    def task(self, thread, pids, cpus, held):
        state = thread.member_("__state").value_()
        letter = "I" if state & IDLE == IDLE else "D" if state & UNINTERRUPTIBLE else STATES.get(state & 0x7F & -(state & 0x7F), "?")
        cpu = thread.thread_info.cpu.value_() if thread.on_cpu else None
        try:
            if cpu is None:
                pcs = self.unwinder.sleeping(thread.thread.sp.value_())
            else:
                pcs = self.unwinder.running(*cpus[cpu])
        except LookupError:
            pcs = []
        frames = [self.symbols.describe(pc - 1 if index or cpu is None else pc) for index, pc in enumerate(pcs)]
        return chains.Task(thread.pid.value_(), thread.comm.string_().decode(errors="replace"), letter, frames, self.wait(thread, pids, frames), cpu, held)

    def wait(self, thread, pids, frames):
        if thread.type_.type.has_member("blocker"):
            blocker = thread.blocker.value_()
            kind, address = blocker & 3, blocker & ~3
        else:
            kind, address = self.waiter_on_stack(thread, pids, frames)
        if not address:
            return None
        lock = drgn.Object(self.prog, {0: "struct mutex", 1: "struct semaphore"}.get(kind, "struct rw_semaphore"), address=address)
        return chains.Wait(BLOCKERS[kind], address, self.name_of(lock), *self.owner(lock, kind, pids))

    def waiter_on_stack(self, thread, pids, frames):
        """What `blocker` says since 6.16, of an older kernel: a task that waits has an entry of the lock's list on its stack, which begins
        with the list's links and the task. The one entry without a task is the lock's."""
        names = [chains.function_of(frame) for frame in frames]
        kind = next((kind for kind, beginning in ((0, "__mutex_lock"), (2, "rwsem_down_read"), (3, "rwsem_down_write"))
                     if any(name.startswith(beginning) for name in names)), None)
        lock = None if kind is None else self.prog.type("struct mutex" if kind == 0 else "struct rw_semaphore")
        if lock is None or not lock.has_member("wait_list"):
            return 0, 0
        start = thread.thread.sp.value_()
        size = min(STACK_SEARCHED, thread.stack.value_() + STACK_SIZE - start)
        words = struct.unpack(f"<{size // 8}Q", self.prog.read(start, size))
        try:
            for number, word in enumerate(words[2:]):
                entry, following = start + 8 * number, words[number]
                if word != thread.value_() or following < 1 << 63 or self.word(following + 8) != entry:
                    continue
                while following != entry:
                    if self.word(following + 16) not in pids:
                        return kind, following - drgn.offsetof(lock, "wait_list")
                    following = self.word(following)
        except LookupError:
            pass
        return 0, 0

    def owner(self, lock, kind, pids):
        """The pid of the task that holds it, and what is to be said of that."""
        if kind == 1:
            owner = lock.last_holder.value_() if lock.type_.has_member("last_holder") else 0
            return pids.get(owner), "last taken by that task" if owner else ""
        owner = lock.owner.counter.value_() & (1 << 64) - 1
        task = owner & ~FLAGS
        if kind == 0:
            return pids.get(task, task or None), ""
        if owner & READERS:
            return pids.get(task), "read by at least one task, the last one known to be named here" if task in pids else "held by readers, who are not known"
        return pids.get(task, task or None), ""

    def name_of(self, lock):
        """Of one that is a variable of the kernel, or that lockdep knows by name; empty: it has none."""
        found = self.symbols.nearest(lock.address_)
        if found and found[1] == 0:
            return found[0]
        if lock.type_.has_member("dep_map"):
            name = lock.dep_map.name
            return name.string_().decode(errors="replace") if name else ""
        return ""
