"""The way of a tensor of WCodec from its stored bytes: descriptor, parts, part codecs. Written from specs/wcodec.md
alone (chapters 5 and 6, and what chapter 8 says of parts that are named)."""
import zlib

import numpy as np

import pco_reader
from pco_reader import need
from wcodec_streams import Bytes
from wcodec_symbols import BITPLANE, DIRECT, Coded
from wcodec_views import BYTES, FLOAT_WORDS, SYMBOLS, WORDS, Part, join, layout, split, unsigned

RAW, PCO = range(2)
PCO_TYPES = {(WORDS, 1): "u8", (WORDS, 2): "u16", (WORDS, 4): "u32", (WORDS, 8): "u64",
             (FLOAT_WORDS, 2): "f16", (FLOAT_WORDS, 4): "f32", (FLOAT_WORDS, 8): "f64"}


def aligned(n, to):
    return -(-n // to) * to


class Tensor:
    """The way of an entry from its stored bytes."""

    def __init__(self, file, entry):
        self.file, self.entry, self.parts, self.group_at, self.named = file, entry, [], 0, 0

    def bytes(self):
        e, r = self.entry, Bytes(self.entry.descriptor)
        if not e.descriptor:
            stored = e.check is not None
            need(len(e.groups) == aligned(e.length, 4 if stored else 1), "a plain entry of another length")
            need(e.length or not stored, "a stored plain entry of no bytes")
            need(not any(e.groups[e.length:]), "padding behind a plain entry is not zero")
            return e.groups[:e.length]
        view = r.take(8)
        want = layout(view, *e.seen, e.length)
        need(r.varint() == len(want), "parts of another number than the view's")
        for part in want:
            part.data = self.read_part(r, part)
            self.parts.append(part)
        r.close("a descriptor")
        need(self.group_at == len(e.groups), "groups that do not fill the entry's bytes")
        return join(view, *e.seen, e.length, self.parts)

    def read_part(self, r, want):
        role, kind = r.u8(), r.u8()
        need(kind <= BYTES, "unknown kind of part")
        if kind == SYMBOLS:
            part = Part(role, kind, r.u8(), r.length(), r.length())
        else:
            part = Part(role, kind, *([r.length()] if kind == BYTES else [r.u8(), r.length()]))
        need(part == want, "a part that is not the view's")
        codec = r.u8()
        if codec in (DIRECT, BITPLANE):
            need(kind == SYMBOLS or (kind == BYTES and codec == DIRECT), "a codec that is not for this kind")
            coded = Coded(r, want, codec, self.file.tables, self)
            return coded.decode(self.read_groups(r, coded.groups()))
        need(codec <= PCO, "unknown codec")
        a_group = r.length()
        need(a_group >= 1, "groups of no elements")
        groups = self.read_groups(r, -(-part.count // a_group))
        counts = [min(a_group, part.count - i * a_group) for i in range(len(groups))]
        decode = decode_raw if codec == RAW else decode_pco
        width = part.width or 1
        decoded = [decode(group, part, count) for group, count in zip(groups, counts)]
        return np.concatenate(decoded) if decoded else np.zeros(0, unsigned(width))

    def read_groups(self, r, count):
        """The stored bytes of the next groups."""
        need(count <= r.left(), "more groups than bytes")
        sizes = [r.length() for _ in range(count)]
        checks = [r.u32() for _ in range(count)] if self.entry.check is not None else [None] * count
        groups, stored = [], self.entry.groups
        for size, check in zip(sizes, checks):
            end = aligned(self.group_at + size, 4)
            need(end <= len(stored), "a group beyond the entry's bytes")
            groups.append(stored[self.group_at:self.group_at + size])
            need(check in (None, zlib.crc32(groups[-1])), "checksum of a group")
            need(not any(stored[self.group_at + size:end]), "padding behind a group is not zero")
            self.group_at = end
        return groups

    def named_part(self, r, part):
        """A part that `part` names: of this tensor, of another entry, or of the base."""
        self.named += 1
        need(self.named <= 16, "a tensor that names more than 16 parts")
        entry = r.varint()
        if entry == 0:
            number = r.varint()
            need(number < len(self.parts), "a part that does not come before")
            need(not self.parts[number].has_sources, "a part that is named and names parts")
            return self.parts[number]
        self.entry.names_others = True
        if entry == 1:
            name = r.string(1024)
            need(self.file.base_hash is not None, "a tensor of a base without BASE")
            need(self.file.base is not None, f"the base {self.file.base_name} is needed")
            need(name in self.file.base, "a tensor that the base has not")
            dtype, shape, data = self.file.base[name]
            need(len(data) <= 16 * part.count + 2**20, "a large tensor of the base is named for few symbols")
        else:
            dtype, shape, data = self.other_entry(entry - 2, part)
        view, number = r.take(8), r.varint()
        parts = split(view, dtype, shape, data)
        need(number < len(parts), "a part that an entry has not")
        return parts[number]

    def other_entry(self, number, part):
        need(number < len(self.file.entries), "an entry that there is not")
        other = self.file.entries[number]
        need(other.length <= 4 * part.count + 4096, "a large entry is named for few symbols")
        if other.of is not None:
            number = other.of
        holder = self.file.entries[number]
        need(sum(holder.sizes) <= 2 * (4 * part.count + 4096), "an entry is named that takes much for few symbols")
        need(not self.file.entries[number].names_others, "an entry that is named and names others")
        data = self.file.bytes(number)
        need(not self.file.entries[number].names_others, "an entry that is named and names others")
        return other.dtype, other.shape, data


def decode_raw(stored, part, count):
    width = part.width or 1
    need(len(stored) == width * count, "RAW of another size")
    values = np.frombuffer(stored, unsigned(width))
    need(part.kind != SYMBOLS or (values >> np.uint8(part.bits - 1) <= 1).all(), "RAW symbols beyond their bits")
    return values


def decode_pco(stored, part, count):
    need(part.kind in (WORDS, FLOAT_WORDS), "PCO of what are no words")
    need(part.width * count <= len(stored) << 16, "a group claims too much")
    ty, values, end = pco_reader.decode(stored)
    need(end == len(stored), "bytes behind a Pco file")
    need(ty == PCO_TYPES[part.kind, part.width] and len(values) == count, "Pco of another type or count")
    return np.array(values, unsigned(part.width))
