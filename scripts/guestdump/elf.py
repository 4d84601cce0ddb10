# SPDX-License-Identifier: GPL-2.0
"""The symbols and sections of a vmlinux: all that is wanted of one that has no debugging information. 64 bits, little endian."""

import mmap
import struct

SYMTAB = 2


class Elf:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if self.data[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{path} is no ELF file of 64 bits")
        headers, = struct.unpack_from("<Q", self.data, 0x28)
        size, count, names = struct.unpack_from("<HHH", self.data, 0x3A)
        # name, type, flags, address, offset, size, link
        self.sections = [struct.unpack_from("<IIQQQQI", self.data, headers + size * index) for index in range(count)]
        self.names = [self.string(self.sections[names], section[0]) for section in self.sections]

    def string(self, table, offset):
        start = table[4] + offset
        return self.data[start : self.data.find(b"\0", start)].decode()

    def has_dwarf(self):
        return ".debug_info" in self.names

    def symbols(self):
        """Name, address and size of each that is defined."""
        for section in self.sections:
            if section[1] != SYMTAB:
                continue
            strings = self.sections[section[6]]
            for at in range(section[4], section[4] + section[5], 24):
                name, _info, _other, index, address, size = struct.unpack_from("<IBBHQQ", self.data, at)
                if name and index:
                    yield self.string(strings, name), address, size
