# SPDX-License-Identifier: GPL-2.0
"""Names of addresses in a kernel: from its vmlinux, from the table that it has in its memory (kernel/kallsyms.c), and from its modules."""

import bisect
import struct

LONGEST = 1 << 20  # what lies further behind a symbol is not in it


class Symbols:
    def __init__(self):
        self.addresses = {}
        self.table = []  # address, name, module
        self.ordered = True

    def add(self, name, address, module=""):
        self.table.append((address, name, module))
        self.addresses.setdefault(name, address)
        self.ordered = False

    def __contains__(self, name):
        return name in self.addresses

    def __getitem__(self, name):
        return self.addresses[name]

    def nearest(self, address):
        """The symbol that an address is in, and how far in; None: it is in none."""
        if not self.ordered:
            self.table.sort()
            self.ordered = True
        index = bisect.bisect_right(self.table, address, key=lambda entry: entry[0]) - 1
        if index < 0 or address - self.table[index][0] > LONGEST:
            return None
        start, name, module = self.table[index]
        return name, address - start, module

    def describe(self, address):
        """As the kernel's own stacks have it: "function+0x12 [module]"."""
        found = self.nearest(address)
        if found is None:
            return f"{address:#x}"
        name, offset, module = found
        return f"{name}+{offset:#x}" + (f" [{module}]" if module else "")


def expand_names(data, count, tokens):
    """The compressed names, one after the other: a length, then so many numbers of tokens. The first letter is the symbol's type."""
    names, at = [], 0
    for _ in range(count):
        length = data[at]
        at += 1
        if length & 0x80:
            length = length & 0x7F | data[at] << 7
            at += 1
        names.append(b"".join(map(tokens.__getitem__, data[at : at + length]))[1:].decode(errors="replace"))
        at += length
    return names


def add_kernel_table(symbols, read, places):
    """`read(address, size)`; `places`: addresses of the kernel's tables and of _stext, as vmcoreinfo has them."""
    count, = struct.unpack("<I", read(places["kallsyms_num_syms"], 4))
    index = struct.unpack("<256H", read(places["kallsyms_token_index"], 512))
    text = read(places["kallsyms_token_table"], index[255] + 128)
    tokens = [text[at : text.index(b"\0", at)] for at in index]
    names = expand_names(read(places["kallsyms_names"], places["kallsyms_token_table"] - places["kallsyms_names"]), count, tokens)
    offsets_at = places["kallsyms_offsets"]
    offsets = struct.unpack(f"<{count}i", read(offsets_at, 4 * count))
    # Offsets count from themselves; up to 7.0 from a base, upwards, or downwards where those from 0 up are addresses of per-CPU variables.
    ways = [[offsets_at + 4 * number + offset for number, offset in enumerate(offsets)]]
    if "kallsyms_relative_base" in places:
        base, = struct.unpack("<Q", read(places["kallsyms_relative_base"], 8))
        ways = [[base + (offset & 0xFFFFFFFF) for offset in offsets], [offset if offset >= 0 else base - 1 - offset for offset in offsets]]
    start = names.index("_stext")
    for addresses in ways:
        if addresses[start] == places["_stext"]:
            for name, address in zip(names, addresses):
                symbols.add(name, address)
            return
    raise ValueError("the kernel's table of symbols has a form that is not known")
