"""Reads WCodec field by field, for clarity and not for speed. Written from specs/wcodec*.md alone: this file
from chapters 3 and 4, the ones that it imports from the others.

    python3 wcodec_reader.py check [--base BASE.safetensors] FILE...
    python3 wcodec_reader.py refuse FILE...

`check` decodes all of each file and compares the model hash, and the lines `sha256 file name` that a sha256.txt
beside it has of it: a name is a tensor's, else a source file's. A base is also found beside the file, by its name.
`refuse` wants every file to break a rule."""
import argparse
import hashlib
import json
import pathlib
import struct
import sys
import zlib
from collections import namedtuple

import numpy as np

from pco_reader import Corrupt, need
from wcodec_streams import Bytes, read_bank, unzigzag
from wcodec_tensors import Tensor, aligned
from wcodec_views import layout

HEADER, FOOTER, ALIGNED = 128, 32, 128
HEAD, BASE, BANK, ENTRY, FILE, QUANTIZATION, SUMS, PARITY, TABLES = 2, 4, 6, 8, 10, 13, 15, 17, 19
# What ends an index, in order, as other records are by their tags.
ENDING = {TABLES: 14, PARITY: 15, SUMS: 16}
PARITIES = [1 << n for n in range(6, 13)]
LONGEST_NAME = 1024
MOST_ZEROS, MOST_WOVEN, MOST_WOVEN_IN_PARTS = 4096, 1 << 24, 1 << 14
TENSOR, BLOB = range(2)
STORED, INLINE, COPY = range(3)
WHOLE, ZEROS, WOVEN = range(3)
PART = 1  # the code of a part of what is woven
RAW_VIEW = bytes(8)
# How a name is written.
AS_IT_IS, QUOTED_NAME, ASCII_NAME, PART_OF_NAME = range(4)
# What JSON has between quotes for a character, where that is something else.
QUOTED = {code: f"\\u{code:04x}" for code in range(32)}
QUOTED.update({ord(character): "\\" + letter for character, letter in zip('"\\\b\t\n\f\r', '"\\btnfr')})
# Of a file: all of an entry, so many zeros, or so many bytes woven of an entry, from `start` on where they are a part.
Segment = namedtuple("Segment", "kind entry length start", defaults=[None, None])


class Entry:
    """A tensor or a blob. `groups` and `descriptor` are its stored bytes, a copy has none; a plain entry has no
    descriptor."""

    def __init__(self, r, previous):
        self.kind, shared = r.u8(), r.varint()
        need(self.kind <= BLOB, "neither tensor nor blob")
        need(shared <= len(previous), "a name that shares more than there is")
        rest = r.take(r.length())
        self.raw_name = previous[:shared] + rest
        need(len(self.raw_name) <= 1024, "a name of more than 1024 bytes")
        try:
            self.name = previous[:shared].decode("utf-8") + rest.decode("utf-8")
        except UnicodeDecodeError:
            raise Corrupt("a name that is not UTF-8") from None
        self.dtype, dimensions = r.string(), r.varint()
        need(dimensions <= 32, "more than 32 dimensions")
        self.shape = [r.varint() for _ in range(dimensions)]
        self.length, self.storage = r.length(), r.u8()
        if self.kind == BLOB:
            need(not (self.raw_name or self.dtype or self.shape), "a blob with name, type or shape")
        else:
            need(1 <= len(self.dtype.encode()) <= 16, "a type of no or too many bytes")
        # What views take it as.
        self.seen = ("U8", [self.length]) if self.kind == BLOB else (self.dtype, self.shape)
        need(self.storage <= COPY, "unknown storage")
        self.check, self.of, self.names_others = None, None, False
        if self.storage == COPY:
            self.of = r.varint()
            return
        self.sizes = r.length(), r.length()
        if self.storage == STORED:
            self.check = r.u32()
        if self.storage == INLINE:
            self.groups, self.descriptor = (r.take(size) for size in self.sizes)


def read_segment(r):
    code = r.varint()
    if code % 2 == 0:
        return Segment(WHOLE, code // 2)
    if code == PART:
        entry, start = r.varint(), r.varint()
        return Segment(WOVEN, entry, r.varint(), start)
    if code // 2 <= MOST_ZEROS:
        return Segment(ZEROS, None, code // 2)
    return Segment(WOVEN, code // 2 - MOST_ZEROS - 1, r.varint())


def xor(data, length):
    """Of all bytes whose place is the same modulo the length."""
    rows = np.frombuffer(data + bytes(-len(data) % length), np.uint8).reshape(-1, length)
    return np.bitwise_xor.reduce(rows, 0).tobytes()


class File:
    """An open file. `base` has (dtype, shape, bytes) by name, and `base_hash`, where it is needed and had."""

    def __init__(self, data, base=None):
        self.data, self.base, self.decoded = data, base, {}
        self.index_at = self.read_footer()
        self.header = data[:HEADER]
        need(self.header[:8] == b"WCODEC\0\0", "magic")
        need(struct.unpack("<H", self.header[8:10]) == (1,), "major version")
        need(self.header[44] <= 2, "unknown base quantisation")
        need(not any(self.header[59:]), "the end of the header is not zero")
        self.read_index()
        self.check_header()
        self.place_data()
        self.check_names()

    def read_footer(self):
        data = self.data
        need(len(data) >= HEADER + FOOTER, "shorter than header and footer")
        footer = data[-FOOTER:]
        index_at, length, index_check, check = struct.unpack("<QQII", footer[:24])
        need(footer[24:] == b"WCODEC\0\x01", "magic of the footer")
        need(zlib.crc32(footer[:20]) == check, "checksum of the footer")
        need(length == len(data), "another length")
        need(HEADER <= index_at <= len(data) - FOOTER and index_at % ALIGNED == 0, "an index at no such place")
        need(zlib.crc32(data[index_at:-FOOTER]) == index_check, "checksum of the index")
        return index_at

    def read_index(self):
        r, last = Bytes(self.data, self.index_at, len(self.data) - FOOTER), 0
        self.entries, self.files, self.base_hash, self.base_name = [], [], None, None
        self.head = self.bank = self.stated_tables = None
        previous = b""
        while r.left():
            at, tag = r.pos - self.index_at, r.varint()
            content = r.take(r.length())
            record = Bytes(content)
            if tag in ENDING:
                need(BANK <= last < ENDING[tag], f"record {tag} out of place")
                self.check_ancillary(tag, at, content, r.left())
                last = ENDING[tag]
                continue
            if tag & 1 and tag != QUANTIZATION:
                continue
            need(tag in (HEAD, BASE, BANK, ENTRY, FILE, QUANTIZATION), f"unknown record {tag}")
            need(tag > last or (tag == last and tag in (ENTRY, FILE)), "records out of order, or twice")
            need(tag == HEAD or self.head, "no HEAD at the start")
            need(tag <= BANK or self.bank, "no BANK before the entries")
            last = tag
            if tag == HEAD:
                self.head = record.u32(), record.take(32)
                need(self.head[0] == zlib.crc32(self.header), "checksum of the header")
            elif tag == BASE:
                self.base_hash, self.base_name = record.take(32), record.string(LONGEST_NAME)
            elif tag == BANK:
                self.bank = record.varint(), record.length(), record.u32()
            elif tag == ENTRY:
                self.entries.append(Entry(record, previous))
                previous = self.entries[-1].raw_name
            elif tag == QUANTIZATION:
                for text in (record.string(), record.string()):
                    need(len(text.encode() if isinstance(text, str) else text) <= 255, "a long text")
                record.varint(), record.varint()
            else:
                name, length, count = record.string(LONGEST_NAME), record.length(), record.varint()
                need(count <= record.left(), "more segments than bytes")
                self.files.append((name, length, [read_segment(record) for _ in range(count)]))
            record.close("a record")
        need(self.bank, "no BANK")

    def check_ancillary(self, tag, at, content, left):
        """TABLES, of the bank; PARITY and SUMS, of the bytes of the index before them."""
        if tag == TABLES:
            need(0 < len(content) == min(self.bank[1], 4096), "tables of another length")
            self.stated_tables = content
            return
        index = self.data[self.index_at:self.index_at + at]
        if tag == SUMS:
            need(at > 4096 and left == 0, "SUMS out of place")
            sums = b"".join(struct.pack("<I", zlib.crc32(index[i:i + 4096])) for i in range(0, at, 4096))
            need(content == sums, "sums of another index")
        else:
            need(len(content) in PARITIES, "parity of another length")
            need(content == xor(index, len(content)), "parity of another index")

    def check_header(self):
        tensors = sum(e.kind == TENSOR for e in self.entries)
        told = self.header[12:44] + self.header[47:59]
        want = self.head[1] + struct.pack("<IQ", tensors, self.index_at)
        need(told in (bytes(44), want), "a header that says something else than the index")

    def place_data(self):
        """Finds what is stored, the bank, and what lies between them."""
        at, gaps = HEADER, []
        for e in self.entries:
            if e.storage != STORED:
                continue
            groups, descriptor = e.sizes
            start = aligned(at, ALIGNED if descriptor else 4)
            gaps.append((at, start))
            need(groups % 4 == 0, "groups that are not padded to 4 bytes")
            at = start + groups + descriptor
            need(at <= self.index_at, "entries that reach into the index")
            e.groups, e.descriptor = self.data[start:start + groups], self.data[start + groups:at]
            need(zlib.crc32(e.descriptor or e.groups[:e.length]) == e.check, "checksum of a descriptor, or of a plain entry")
        count, length, check = self.bank
        start, end = aligned(at, ALIGNED), aligned(at, ALIGNED) + length
        need(aligned(end, ALIGNED) == self.index_at, "the index is not behind the bank")
        gaps += [(at, start), (end, self.index_at)]
        need(not any(any(self.data[a:b]) for a, b in gaps), "padding that is not zero")
        bank = self.data[start:end]
        need(zlib.crc32(bank) == check, "checksum of the bank")
        stated = self.stated_tables
        need(stated is None or stated == xor(bank, len(stated)), "the index tells of other tables")
        self.tables = read_bank(bank, count)

    def check_names(self):
        names = [e.name for e in self.entries if e.kind == TENSOR]
        need(len(set(names)) == len(names), "two tensors of one name")
        size = sum(len(e.raw_name) for e in self.entries)
        need(size <= (8 << 20) + 2 * (len(self.data) - FOOTER - self.index_at), "too much of names")
        for i, e in enumerate(self.entries):
            if e.storage == COPY:
                need(e.of < i and self.entries[e.of].storage != COPY, "a copy of a later entry, or of a copy")
                need(self.entries[e.of].length == e.length, "a copy of another length")
        names = [name for name, _, _ in self.files]
        need(len(set(names)) == len(names), "two files of one name")
        for name, length, segments in self.files:
            need(name not in ("", ".", "..") and not set(name) & set("/\\:\0"), "a file name that is not bare")
            named = [s for s in segments if s.kind != ZEROS]
            need(all(s.entry < len(self.entries) for s in named), "a segment of an unknown entry")
            for s in [s for s in named if s.kind == WOVEN]:
                most = MOST_WOVEN if s.start is None else MOST_WOVEN_IN_PARTS
                need(1 <= self.entries[s.entry].length <= most, "woven of no or too many bytes")
                need(span(s)[1] <= most, "too many bytes woven")
            parts = (self.entries[s.entry].length if s.kind == WHOLE else s.length for s in segments)
            need(sum(parts) == length, "segments that do not sum to the file")

    # ---- what is within

    def bytes(self, number):
        """The bytes of an entry."""
        e = self.entries[number]
        if e.storage == COPY:
            original = self.entries[e.of]
            view = original.descriptor[:8] or RAW_VIEW
            want, have = (layout(view, *x.seen, x.length) for x in (e, original))
            need(want == have, "a copy that the parts of its original do not fit")
            return self.bytes(e.of)
        if number not in self.decoded:
            self.decoded[number] = Tensor(self, e).bytes()
        return self.decoded[number]

    def name(self, number):
        """Of an entry, or below 0 of a source file."""
        if number < 0:
            need(-1 - number < len(self.files), "the name of an unknown file")
            return self.files[-1 - number][0]
        need(number < len(self.entries), "the name of an unknown entry")
        need(self.entries[number].kind == TENSOR, "the name of a blob")
        return self.entries[number].name

    def woven(self, segment):
        """The text that an entry holds, with names for its markers; of a part what is behind it is not looked at."""
        text, out, following = self.bytes(segment.entry), bytearray(), 0
        is_part, (first, until) = segment.start is not None, span(segment)
        need(len(text) >= 2, "a text without marker")
        zeros, marker = text[-2:]
        end = len(text) - 2 - zeros
        need(end >= 0, "more zeros than there are bytes")
        need(not any(text[end:-2]), "zeros that are not zero")
        r = Bytes(text, 0, end)
        while r.left() and not (is_part and len(out) >= until):
            byte = r.take(1)
            told = r.varint() if byte[0] == marker else 0
            if told:
                number, form = following + unzigzag((told - 1) // 4), (told - 1) % 4
                byte = written(self.name(number), form, r)
                following = number + 1 if number >= 0 else following
            out += byte
            need(is_part or len(out) <= until, "more bytes woven than are said")
        need(len(out) >= until, "fewer bytes woven than are said")
        return bytes(out[first:until])

    def segment(self, s):
        if s.kind == ZEROS:
            return bytes(s.length)
        return self.bytes(s.entry) if s.kind == WHOLE else self.woven(s)

    def file(self, number):
        return b"".join(map(self.segment, self.files[number][2]))

    def model_hash(self):
        out = hashlib.sha256()
        for i, e in enumerate(self.entries):
            if e.kind == TENSOR:
                out.update(hashed(e.raw_name, e.dtype, e.shape, self.bytes(i)))
        return out.digest()

    def verify(self):
        for number in range(len(self.entries)):
            self.bytes(number)
        for segment in {s for _, _, segments in self.files for s in segments if s.kind == WOVEN}:
            self.woven(segment)
        need(self.model_hash() == self.head[1], "the tensors do not have the model hash")


def span(segment):
    """The first of all that is woven that the segment is, and what is behind the last."""
    first = segment.start or 0
    return first, first + segment.length


def written(name, form, r):
    """A name, or the part of it that the text tells."""
    if form == PART_OF_NAME:
        raw_name, first, count = name.encode(), r.length(), r.length()
        need(count >= 1, "a part of no bytes")
        need(first + count <= len(raw_name), "a part that its name does not have")
        return raw_name[first:first + count]
    name = name if form == AS_IT_IS else name.translate(QUOTED)
    return (name if form != ASCII_NAME else "".join(map(in_ascii, name))).encode()


def in_ascii(character):
    if ord(character) <= 126:
        return character
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[i:i + 2].hex()}" for i in range(0, len(units), 2))


def hashed(name, dtype, shape, data):
    """What the model hash is over, of a tensor."""
    head = struct.pack("<I", len(name)) + name + bytes([len(dtype.encode())]) + dtype.encode()
    return head + struct.pack(f"<I{len(shape)}QQ", len(shape), *shape, len(data)) + data


# ---- the command

def read_safetensors(data):
    """(dtype, shape, bytes) by name, in the order of the data."""
    size = int.from_bytes(data[:8], "little")
    tensors = {name: t for name, t in json.loads(data[8:8 + size]).items() if name != "__metadata__"}
    body = data[8 + size:]
    return {name: (t["dtype"], t["shape"], body[slice(*t["data_offsets"])]) for name, t in tensors.items()}


def open_file(path, base=None):
    file = File(path.read_bytes())
    if file.base_hash is not None:
        base = base or path.with_name(file.base_name)
        if base.exists():
            file.base = read_safetensors(base.read_bytes())
            whole = b"".join(hashed(name.encode(), *tensor) for name, tensor in file.base.items())
            need(hashlib.sha256(whole).digest() == file.base_hash, "another base")
    return file


def check_sums(path, file):
    """Compares with the lines of a sha256.txt; returns how many there were."""
    sums = path.with_name("sha256.txt")
    lines = [line.split(" ", 2) for line in sums.read_text().splitlines()] if sums.exists() else []
    have = {name: lambda i=i: file.file(i) for i, (name, _, _) in enumerate(file.files)}
    have.update({e.name: lambda i=i: file.bytes(i) for i, e in enumerate(file.entries) if e.kind == TENSOR})
    mine = [(want, name) for want, of, name in lines if of == path.name]
    for want, name in mine:
        need(name in have, f"{name!r} is not there")
        need(hashlib.sha256(have[name]()).hexdigest() == want, f"{name!r} has another sha256")
    return len(mine)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["check", "refuse"])
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--base", type=pathlib.Path)
    arguments, failed, sums = parser.parse_args(), 0, 0
    for path in arguments.files:
        reason = None
        try:
            file = open_file(path, arguments.base)
            file.verify()
            sums += check_sums(path, file)
        except Corrupt as error:
            reason = str(error)
        # A file that breaks a rule has the hash that it would have without; else nothing would be shown.
        hash_alone = reason and "model hash" in reason and path.stem != "model-hash"
        if (reason is None or hash_alone) if arguments.verb == "refuse" else reason:
            failed += 1
            print(f"{path}: {reason or 'is not refused'}")
    print(f"{len(arguments.files)} files, {sums} sha256, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
