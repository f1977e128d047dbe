"""Files of WCodec that ask for much with few bytes, a name that is cut within a character, records of QUANTIZATION,
plain entries."""
import struct

from wcodec_encode import BitWriter, explicit, string
from wcodec_foreign import FOUR, bell, four_tables, pco, raw_words, symbols
from wcodec_hostile import add, direct, flip, plain, put
from wcodec_hostile_tensors import fields, groups_of, levels, of_4_bits, planes, sourced, unchanged
from wcodec_symbols import BITPLANE, CLASSES, COMPACT, DIRECT, PREDICT, TRANSFORM
from wcodec_reader import ENTRY, FILE, INLINE, QUANTIZATION, STORED
from wcodec_views import BLOCKS
from wcodec_writer import UNSIGNED_BYTES, class_fields, coded, of_entry, prediction_fields, varint

ONE_STATE = struct.pack("<I", 1 << 16) * 32


def claims(name, wrong, rows, cols, coding, group):
    """A tensor of 64 bytes, whose part claims to have so many symbols; `coding(builder)` is codec and fields."""
    def fill(b):
        plain(b)
        e = b.entries[0]
        part = bytes([0, 0, 8]) + varint(rows) + varint(cols) + coding(b) + varint(len(group))
        e.descriptor, e.groups = bytes(UNSIGNED_BYTES) + b"\1" + part, group + bytes(-len(group) % 4)
        return b.finish(change=lambda r: r)
    add(name, wrong, fill)


def of_columns(b):
    table = b.table(explicit(8, 1, [2] + [0] * 255))
    return bytes([DIRECT, CLASSES, 1, 1, 1, table]) + class_fields([[(256, 0)]])


claims("claims-columns", "a row of 2^50 symbols with classes, which take no bytes", 1, 1 << 50, of_columns, ONE_STATE)
claims("claims-sub-blocks", "2^52 symbols with transforms in one group of a byte", 1 << 26, 1 << 26, lambda _: (
    bytes([BITPLANE, PREDICT | TRANSFORM]) + varint(1 << 26) + prediction_fields((8, 8), 0) + bytes([10, 0])), b"\0")
add("claims-zeros", "2^50 zero bytes, which is the code of an entry woven that is not there", lambda b: plain(b).finish(change=lambda r: [
    f if f[0] != FILE else (FILE, string("f") + varint(64 + (1 << 50)) + b"\2\0" + varint((2 << 50) + 1)) for f in r]))


def half_a_character(records):
    """Of two names that share a byte of their second character, and say so."""
    at = next(i for i, r in enumerate(records) if r[0] == ENTRY)
    kind, entry = records[at]
    assert entry[1:4] == b"\0\1x"
    other = entry[:1] + b"\2" + string(b"\xa8") + entry[4:]
    return records[:at] + [(kind, entry[:1] + b"\0" + string("bé") + entry[4:]), (kind, other)] + records[at + 1:]


add("name-shares-half-a-character", "a name that shares one byte of two of a character",
    lambda b: plain(b).finish(change=half_a_character))


def told(name, wrong, change):
    """Records of QUANTIZATION that are not."""
    add(f"quantization-{name}", wrong, lambda b: plain(b).finish(change=change))


SAID = string("gptq") + string("") + b"\4\0"
told("of-long-text", "a method of 256 bytes", lambda r: r + [(QUANTIZATION, string("m" * 256) + SAID[5:])])
told("of-no-text", "a format that is not UTF-8", lambda r: r + [(QUANTIZATION, SAID[:5] + string(b"\xff") + b"\4\0")])
told("is-short", "no group size", lambda r: r + [(QUANTIZATION, SAID[:-1])])
told("is-long", "a byte behind the group size", lambda r: r + [(QUANTIZATION, SAID + b"\0")])
told("twice", "two records of it", lambda r: r + [(QUANTIZATION, SAID)] * 2)
told("before-files", "one before the files", lambda r: r[:-1] + [(QUANTIZATION, SAID)] + r[-1:])
told("before-the-bank", "one before the tables", lambda r: r[:1] + [(QUANTIZATION, SAID)] + r[1:])


def as_it_is(name, wrong, change, length=13, storage=STORED):
    """One plain entry and a file of it; `change` is of groups, as they are written."""
    def fill(b):
        b.plain("x", "U8", [length], bytes(range(1, length + 1)), storage)
        b.file("model.bin", 0)
        b.entries[0].groups = change(b.entries[0].groups)
        return b.finish(change=lambda r: r)
    add(f"plain-{name}", wrong, fill)


as_it_is("flipped", "a flipped bit in a plain entry", lambda g: flip(g, 5))
as_it_is("padding", "a byte in the padding behind a plain entry", lambda g: put(g, 13, b"\1"))
as_it_is("padded-in-the-index", "a plain entry in the index that is padded to 4 bytes", lambda g: g + bytes(3), storage=INLINE)
as_it_is("long", "four bytes too many of a plain entry", lambda g: g + bytes(4))
as_it_is("short", "a plain entry of 13 bytes that stores 12", lambda g: g[:12])
as_it_is("short-in-the-index", "the same in the index", lambda g: g[:12], storage=INLINE)
as_it_is("unpadded", "a plain entry that is not padded to 4 bytes", lambda g: g[:13])
as_it_is("of-none", "a plain entry of no bytes that is stored", lambda g: b"", 0)
as_it_is("of-none-in-the-index", "a plain entry of no bytes that has four", lambda g: bytes(4), 0, storage=INLINE)


def parts(name, wrong, part, groups, shape=(64,)):
    """64 bytes of U8 whose part says something else; `part` is the descriptor's, behind its role."""
    def fill(b):
        plain(b)
        e = b.entries[0]
        e.shape, e.descriptor, e.groups = list(shape), bytes(UNSIGNED_BYTES) + b"\1\0" + part, groups
        return b.finish(change=lambda r: r)
    add(f"parts-{name}", wrong, fill)


RAW_128 = bytes([0]) + varint(128) + varint(128)
parts("of-more-rows", "a part of 8 rows where the tensor has 4", b"\0\10" + varint(8) + varint(16) + RAW_128, bytes(128), (4, 16))
parts("of-twice-the-columns", "a part of 4 rows of 32", b"\0\10" + varint(4) + varint(32) + RAW_128, bytes(128), (4, 16))


def of_many_levels(b):
    """An entry of 64 bytes, whose columns are said to be 2^14, with a level each."""
    each = [s * 89 % 251 for s in range(1 << 14)]
    code = coded(recut=1 << 14, group_rows=1, log=11, tables=four_tables(b), classes=class_fields(FOUR, 60, None, each))
    return symbols(b, "large", 8, 8, code)


sourced("source-explained-at-length", "a source of 64 bytes that takes more than 8704", levels(view=UNSIGNED_BYTES),
        of_entry(1, UNSIGNED_BYTES), of_entry(2, UNSIGNED_BYTES), before=lambda b: raw_words(b, "a", 1, [1] * 64),
        of=[of_many_levels])


# ---- COMPACT

def compact(b):
    """64 symbols, all of them in states."""
    return direct(b, compact=True)


def in_half(b):
    """32 symbols of 4 bits each in groups of four rows: a quarter of what is in states."""
    return coded(log=9, tables=[b.table(bell(4, 9, 0, 1, 6))], group_rows=4, compact=True)


def lane_of_17_bits(g):
    """The first lane 2^17 and more, the others as they are."""
    bits = BitWriter().put(1, 4).put(0, 4 * 31).put(int.from_bytes(g[16:18], "little"), 17)
    for at in range(18, 80, 2):
        bits.put(int.from_bytes(g[at:at + 2], "little"), 16)
    return bits.bytes()


groups_of("compact-short", "a group that is shorter than compact states are", lambda g: g[:79], compact)
groups_of("compact-shorter", "a group that is shorter than its compact states", lambda g: b"\1" + g[1:], compact)
groups_of("compact-end", "a lane that ends beyond 2^17", lane_of_17_bits, compact)
groups_of("compact-left-over", "a word left over where all symbols are in states", lambda g: g + b"ab", compact)
of_4_bits("compact-beyond", "a state that holds more symbols than there are", in_half, unchanged,
          lambda g: put(g, 17, bytes([g[17] | 0x80])))
fields("compact-planes", "COMPACT of BITPLANE", lambda b: planes(b, group_rows=8),
       lambda f: f[:1] + varint(f[1] | COMPACT) + f[2:])


def bit_behind(b):
    """In a group of 69 symbols, whose states do not end with a byte."""
    def altered(builder, context, part):
        said, [group] = coded(log=10, tables=[b.table(bell(8, 10, 0, 2))], compact=True)(builder, context, part)
        lengths = sum(byte % 16 + byte // 16 for byte in group[:16])
        assert lengths % 8
        end = 80 + lengths // 8
        return said, [put(group, end, bytes([group[end] | 128]))]
    symbols(b, "x", 3, 23, altered)
    b.file("model.bin", 0)
    return b.finish(change=lambda r: r)


add("compact-padding", "a bit set behind the states", bit_behind)


def unused_bit(b):
    """Of 96 symbols of 5 bits, three in each state, the bit that no symbol has."""
    def altered(builder, context, part):
        table = b.table(bell(5, 9, 16, 1, 8))
        said, [group] = coded(log=9, tables=[table], compact=True)(builder, context, part)
        return said, [put(group, 17, bytes([group[17] | 128]))]
    number = next(n for n, (name, *_) in BLOCKS.items() if name == "Q5_0")
    b.tensor("x", "Q5_0", [1, 96], bytes([5, number, 0, 0, 0, 0, 0, 0]), pco(3, 9), altered, length=66)
    b.file("model.bin", 0)
    return b.finish(change=lambda r: r)


add("compact-unused", "a bit of a state set that symbols of 5 bits leave", unused_bit)
