# SPDX-License-Identifier: GPL-2.0
"""The types of a kernel that carries BTF, for drgn, which reads DWARF alone: Debian's kernels have BTF in their memory, and DWARF in a package
of a gigabyte. Members are made when they are asked for. Not modelled: parameters of functions, tags, what a pointer to a function returns.
Source: Documentation/bpf/btf.rst of the kernel."""

import struct

from drgn import Object, Qualifiers, TypeEnumerator, TypeKind, TypeMember

INT, PTR, ARRAY, STRUCT, UNION, ENUM, FWD, TYPEDEF, VOLATILE, CONST, RESTRICT, FUNC, FUNC_PROTO, VAR, DATASEC, FLOAT, DECL_TAG, TYPE_TAG, ENUM64 = range(1, 20)
QUALIFIERS = {VOLATILE: Qualifiers.VOLATILE, CONST: Qualifiers.CONST, RESTRICT: Qualifiers.RESTRICT}
# What follows the three words that every type has: bytes of its own, and bytes for each of its members.
TAILS = {INT: (4, 0), ARRAY: (12, 0), STRUCT: (0, 12), UNION: (0, 12), ENUM: (0, 8), FUNC_PROTO: (0, 8), VAR: (4, 0), DATASEC: (0, 12), DECL_TAG: (4, 0), ENUM64: (0, 12)}
NAMED = {INT: TypeKind.INT, STRUCT: TypeKind.STRUCT, UNION: TypeKind.UNION, ENUM: TypeKind.ENUM, ENUM64: TypeKind.ENUM, TYPEDEF: TypeKind.TYPEDEF, FLOAT: TypeKind.FLOAT}
MAGIC = 0xEB9F
SIGNED, BOOL = 1, 4


class Btf:
    def __init__(self, prog, data):
        magic, _version, _flags, header, types, types_size, strings, strings_size = struct.unpack_from("<HBBIIIII", data)
        if magic != MAGIC:
            raise ValueError("no BTF there")
        self.prog = prog
        self.strings = data[header + strings : header + strings + strings_size]
        self.data = data
        self.offsets = [0]  # of each type by its number; 0 is void
        self.made = {}
        self.by_name = {}
        at = header + types
        while at < header + types + types_size:
            name, info = struct.unpack_from("<II", data, at)
            kind = info >> 24 & 0x1F
            if name and kind in NAMED:
                self.by_name.setdefault((NAMED[kind], self.string(name)), len(self.offsets))
            self.offsets.append(at)
            fixed, each = TAILS.get(kind, (0, 0))
            at += 12 + fixed + each * (info & 0xFFFF)

    def string(self, offset):
        return self.strings[offset : self.strings.index(b"\0", offset)].decode()

    def find(self, _prog, kinds, name, _filename):
        """A type finder, as Program.register_type_finder() wants it."""
        for kind in kinds:
            number = self.by_name.get((kind, name))
            if number is not None:
                return self.type(number)
        if TypeKind.BOOL in kinds and (TypeKind.INT, name) in self.by_name:
            return self.type(self.by_name[TypeKind.INT, name])
        return None

    def type(self, number):
        if number not in self.made:
            self.made[number] = self.make(number)
        return self.made[number]

    def make(self, number):
        prog = self.prog
        if number == 0:
            return prog.void_type()
        at = self.offsets[number]
        name_at, info, size = struct.unpack_from("<III", self.data, at)
        kind, name, other = info >> 24 & 0x1F, self.string(name_at), size
        if kind == INT:
            encoding = self.data[at + 15] & 0xF
            return prog.bool_type(name, size) if encoding & BOOL else prog.int_type(name, size, bool(encoding & SIGNED))
        if kind == FLOAT:
            return prog.float_type(name, size)
        if kind == PTR:
            return prog.pointer_type(self.type(other))
        if kind == ARRAY:
            element, _index, length = struct.unpack_from("<III", self.data, at + 12)
            return prog.array_type(self.type(element), length)
        if kind in (STRUCT, UNION):
            make = prog.struct_type if kind == STRUCT else prog.union_type
            return make(name or None, size, self.members(at + 12, info & 0xFFFF, bool(info >> 31)))
        if kind in (ENUM, ENUM64):
            return self.enumeration(name, at, info, size, kind)
        if kind == FWD:
            return (prog.union_type if info >> 31 else prog.struct_type)(name)
        if kind == TYPEDEF:
            return prog.typedef_type(name, self.type(other))
        if kind in QUALIFIERS:
            inner = self.type(other)
            return inner.qualified(inner.qualifiers | QUALIFIERS[kind])
        if kind == TYPE_TAG:
            return self.type(other)
        return prog.function_type(prog.void_type(), ())

    def members(self, at, count, bitfields):
        made = []
        for _ in range(count):
            name, number, offset = struct.unpack_from("<III", self.data, at)
            size = offset >> 24 if bitfields else 0
            made.append(TypeMember(self.member(number, size), self.string(name) or None, offset & 0xFFFFFF if bitfields else offset))
            at += 12
        return made

    def member(self, number, bits):
        return lambda: Object(self.prog, self.type(number), bit_field_size=bits or None)

    def enumeration(self, name, at, info, size, kind):
        prog, signed = self.prog, bool(info >> 31)
        values = []
        for index in range(info & 0xFFFF):
            if kind == ENUM:
                label, value = struct.unpack_from("<Ii" if signed else "<II", self.data, at + 12 + 8 * index)
            else:
                label, low, high = struct.unpack_from("<III", self.data, at + 12 + 12 * index)
                value = low | high << 32
                value -= (value >> 63 << 64) if signed else 0
            values.append(TypeEnumerator(self.string(label), value))
        carrier = prog.int_type("int" if signed else "unsigned int", size, signed)
        return prog.enum_type(name or None, carrier, values)
