# SPDX-License-Identifier: GPL-2.0
"""The stacks of a kernel for x86-64 that has no debugging information: by frame pointers, or by the ORC tables that it has in its memory.

Source: arch/x86/kernel/unwind_orc.c and asm/orc_types.h, as they are since Linux 6.4. Not modelled: stacks that go on in a trampoline of ftrace or BPF."""

import array
import struct

MOST_FRAMES = 64
KERNEL = 1 << 63  # half of the address space
# asm/switch_to.h, struct inactive_task_frame: what a task that sleeps has pushed.
PUSHED_BP, PUSHED_RETURN, PUSHED_SIZE = 40, 48, 56
# struct pt_regs, and its end that an interrupt pushes
REGS_BP, REGS_IP, REGS_SP = 32, 128, 152
IRET_SP = 24
CALL, REGS, REGS_PARTIAL = 2, 3, 4
ENTRY = struct.Struct("<hhH")


class Registers:
    """Numbers of registers in the tables: they were changed once. Nearly all entries are based on SP, so that its number tells which they are."""

    def __init__(self, entries):
        bases = [flags & 0xF for _sp, _bp, flags in ENTRY.iter_unpack(entries)]
        self.bp = 4
        self.sp, self.previous_sp, self.sp_indirect, self.bp_indirect = (3, 8, 9, 10) if bases.count(3) > bases.count(5) else (5, 1, 9, 8)


class OrcTable:
    """Of the kernel or of a module."""

    def __init__(self, read, ip_at, entries_at, count):
        self.base, self.count = ip_at, count
        self.offsets = array.array("i", read(ip_at, 4 * count))
        self.entries = read(entries_at, ENTRY.size * count)
        self.registers = Registers(self.entries)

    def address(self, index):
        return self.base + 4 * index + self.offsets[index]

    def find(self, ip):
        """Offsets, base registers and kind of the last place that is not behind `ip`; None: that is before the first one."""
        low, high = 0, self.count
        while low < high:
            middle = (low + high) // 2
            if self.address(middle) <= ip:
                low = middle + 1
            else:
                high = middle
        return ENTRY.unpack_from(self.entries, ENTRY.size * (low - 1)) if low else None


class Unwinder:
    """`word(address)` reads 8 bytes, and raises LookupError where there is no memory. `tables`: (first address, last address, OrcTable) of
    the kernel and of each module; none: the kernel has frame pointers."""

    def __init__(self, word, tables):
        self.word, self.tables = word, tables

    def sleeping(self, sp):
        """Return addresses of a task that sleeps, innermost first. `sp`: its thread.sp."""
        return self.walk(self.word(sp + PUSHED_RETURN), sp + PUSHED_SIZE, self.word(sp + PUSHED_BP))

    def walk(self, ip, sp, bp):
        pcs = []
        step = self.orc if self.tables else self.frame_pointer
        exact = False  # `ip` is where the task is, not where a call returns to
        try:
            while ip >= KERNEL and len(pcs) < MOST_FRAMES:
                pcs.append(ip)
                state = step(ip if exact else ip - 1, sp, bp)
                if state is None:
                    break
                ip, sp, bp, exact = state
        except LookupError:
            pass  # what is known stands
        return pcs

    def running(self, ip, sp, bp):
        """The same of one that runs, from its registers."""
        if ip < KERNEL:
            return []
        state = (self.orc if self.tables else self.frame_pointer)(ip, sp, bp)
        return [ip] + (self.walk(*state[:3]) if state else [])

    def frame_pointer(self, _ip, sp, bp):
        if bp < KERNEL or bp & 7 or bp < sp:
            return None
        return self.word(bp + 8), bp + 16, self.word(bp), False

    def orc(self, ip, sp, bp):
        table = next((table for first, last, table in self.tables if first <= ip <= last), None)
        entry = table.find(ip) if table else None
        if entry is None:
            return None
        sp_offset, bp_offset, flags = entry
        sp_register, bp_register, kind = flags & 0xF, flags >> 4 & 0xF, flags >> 8 & 7
        registers = table.registers
        if sp_register == registers.sp:
            sp += sp_offset
        elif sp_register == registers.bp:
            sp = bp + sp_offset
        elif sp_register == registers.sp_indirect:
            sp = self.word(sp) + sp_offset
        elif sp_register == registers.bp_indirect:
            sp = self.word(bp + sp_offset)
        else:
            return None
        if kind == REGS:
            return self.word(sp + REGS_IP), self.word(sp + REGS_SP), self.word(sp + REGS_BP), True
        if kind == REGS_PARTIAL:
            return self.word(sp), self.word(sp + IRET_SP), bp, True
        if kind != CALL:
            return None
        if bp_register == registers.previous_sp:
            bp = self.word(sp + bp_offset)
        elif bp_register == registers.bp:
            bp = self.word(bp + bp_offset)
        return self.word(sp - 8), sp, bp, False
