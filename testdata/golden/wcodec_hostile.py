"""Files of WCodec that break one rule each. A case gives the bytes of a file, or changes what the builder has; all
checksums but those that a case is about are right, and the model hash is that of the file without the fault."""
import struct
import zlib

import numpy as np

from wcodec_encode import BitWriter, GolombWriter, curve, explicit, product_table, string
from wcodec_foreign import symbols
from wcodec_reader import BANK, BASE, ENTRY, FILE, STORED
from wcodec_writer import UNSIGNED_BYTES, coded, raw, varint

CASES = {}  # name: what is wrong, and the function


def add(name, wrong, function):
    assert name not in CASES
    CASES[name] = wrong, function


def direct(b, **options):
    """In one group; all symbols are as likely, so that there are words."""
    return coded(log=10, tables=[b.table(explicit(8, 10, [4] * 256))], group_rows=8, **options)


def plain(b, code=None, **options):
    """One tensor of 8 × 8 bytes and a file of it."""
    if code is None:
        code = direct(b)
    symbols(b, "x", 8, 8, code, **options)
    b.file("model.bin", 0)
    return b


def put(data, at, new):
    """`data` with `new` at `at`, which may count from the end."""
    at += len(data) if at < 0 else 0
    return data[:at] + new + data[at + len(new):]


def flip(data, at):
    return put(data, at, bytes([data[at] ^ 1]))


# ---- header and footer

def index_of(data):
    """Where the footer says that the index is."""
    return struct.unpack("<Q", data[-32:-24])[0]


def summed(data):
    """With checksums of header, index and footer put right."""
    index = index_of(data)
    if data[index:index + 2] == b"\x02\x24":
        data = put(data, index + 2, struct.pack("<I", zlib.crc32(data[:128])))
    data = put(data, -16, struct.pack("<I", zlib.crc32(data[index:-32])))
    return put(data, -12, struct.pack("<I", zlib.crc32(data[-32:-12])))


def header(name, wrong, at, new, **options):
    add(name, wrong, lambda b: summed(put(plain(b).finish(**options), at, new)))


header("magic", "another magic", 3, b"A")
header("major-2", "a major version that does not exist", 8, b"\2\0")
header("quantisation-3", "a base quantisation that does not exist", 44, b"\3")
header("header-end", "a byte behind the header's last field", 60, b"\1")
header("header-hash", "a model hash in the header that is not the index's", 12, bytes([170] * 32), known=True)
header("header-count", "a number of tensors in the header that is not the index's", 47, b"\2", known=True)
header("header-index", "an offset in the header that is not the index's", 52, b"\2", known=True)
header("header-half-set", "a number of tensors in a header without hash and offset", 47, b"\1")


def ready(name, wrong, change):
    """Changes the bytes of a file that is right."""
    add(name, wrong, lambda b: change(plain(b).finish()))


ready("header-hash-and-count", "hash and count in the header that are not the index's, and no offset",
      lambda d: summed(put(put(d, 12, bytes([170] * 32)), 47, b"\x63")))
ready("header-checksum", "a flipped bit in the header", lambda d: flip(d, 45))
ready("footer-magic", "another magic of the footer", lambda d: flip(d, -1))
ready("footer-checksum", "a flipped bit in the footer", lambda d: flip(d, -18))
ready("footer-length", "another length in the footer", lambda d: summed(put(d, -24, struct.pack("<Q", len(d) + 1))))
ready("index-offset", "an index that is said to be 128 bytes earlier",
      lambda d: summed(put(d, -32, struct.pack("<Q", index_of(d) - 128))))
ready("index-checksum", "a flipped bit in the index", lambda d: flip(d, -40))
ready("byte-behind", "a byte behind the footer", lambda d: d + b"\0")
ready("cut", "a file that ends within its footer", lambda d: d[:-5])


# ---- records

def records(name, wrong, change):
    add(name, wrong, lambda b: plain(b).finish(change=change))


records("model-hash", "another model hash", lambda r: [(2, flip(r[0][1], 9)), *r[1:]])
records("tag-12", "an even tag that is not known", lambda r: r + [(12, b"a")])
records("bank-before-head", "BANK before HEAD", lambda r: [r[1], r[0], *r[2:]])
records("file-before-entry", "FILE before ENTRY", lambda r: [*r[:2], r[3], r[2]])
records("two-heads", "HEAD twice", lambda r: [r[0], *r])
records("two-banks", "BANK twice", lambda r: [*r[:2], *r[1:]])
records("two-bases", "BASE twice", lambda r: [r[0], *[(BASE, bytes(32) + b"\0")] * 2, *r[1:]])
records("no-bank", "no BANK", lambda r: [r[0], *r[2:]])
records("no-head", "no HEAD", lambda r: r[1:])
for _tag, _name in ((0, "head"), (1, "bank"), (2, "entry"), (3, "file")):
    records(f"{_name}-left-over", f"a byte left over in {_name.upper()}",
            lambda r, i=_tag: [(t, c + b"\0" * (k == i)) for k, (t, c) in enumerate(r)])
records("bank-claimed", "2^40 tables claimed in a bank of a few bytes",
        lambda r: [r[0], (BANK, varint(1 << 40) + r[1][1][1:]), *r[2:]])
records("bank-checksum", "a checksum of the bank that does not fit",
        lambda r: [r[0], (BANK, flip(r[1][1], -1)), *r[2:]])


def indexed(data, change, gap=b""):
    """With another index, perhaps behind a gap."""
    at = index_of(data)
    front, index = data[:at] + gap, change(data[at:-32])
    footer = struct.pack("<QQI", len(front), len(front) + len(index) + 32, zlib.crc32(index))
    return front + index + footer + struct.pack("<I", zlib.crc32(footer)) + data[-8:]


def raw_index(name, wrong, change):
    """Changes the bytes of the index."""
    ready(name, wrong, lambda d: indexed(d, change))


raw_index("tag-not-short", "a tag as a varint that is not in its shortest form", lambda i: b"\x82\x00" + i[1:])
raw_index("tag-of-65-bits", "a varint of more than 64 bits", lambda i: i + b"\xff" * 9 + b"\x02\0")
raw_index("record-beyond-end", "a record that is longer than the index", lambda i: i + b"\x0b\x7f")


ready("index-too-far", "an index that does not follow the bank", lambda d: indexed(d, bytes, bytes(128)))
ready("padding-of-bank", "a byte in the padding behind the bank", lambda d: put(d, index_of(d) - 1, b"\1"))
add("padding-of-data", "a byte in the padding behind a stored entry",
    lambda b: put(plain(b, storage=STORED).finish(), 128 + len(b.entries[0].groups + b.entries[0].descriptor), b"\1"))
records("bank-too-long", "a bank with a table more than it says", lambda r: [r[0], (BANK, b"\0" + r[1][1][1:]), *r[2:]])


# ---- entries

def entry(name, wrong, change):
    """Changes what the record of the tensor says: kind, 0, 1, x, 2, U8, 2, 8, 8, 64, 1 and on."""
    add(name, wrong, lambda b: plain(b).finish(
        change=lambda r: [(t, change(c) if t == ENTRY else c) for t, c in r]))


def named(name, wrong, *tensors):
    """Tensors of two raw bytes of these names; bytes of a name stand as they are."""
    def fill(b):
        for i, tensor in enumerate(tensors):
            b.tensor(f"{i}", "U8", [2], UNSIGNED_BYTES, raw(), length=2)
            b.entries[i].raw_name = tensor
        return b.finish(change=lambda r: r)
    add(name, wrong, fill)


entry("kind-2", "an entry that is neither tensor nor blob", lambda c: put(c, 0, b"\2"))
entry("name-shares-too-much", "a name that shares more with the one before than that has", lambda c: put(c, 1, b"\5"))
entry("type-empty", "a tensor without a type", lambda c: c.replace(b"\2U8", b"\0"))
entry("type-of-17", "a type of 17 bytes", lambda c: c.replace(b"\2U8", b"\x11" + b"U" * 17))
entry("dimensions-33", "33 dimensions", lambda c: c.replace(b"\2\x08\x08", b"\x21" + b"\1" * 31 + b"\x08\x08"))
entry("elements-of-64", "2^57 elements in 64 bytes", lambda c: c.replace(b"\2\x08\x08", b"\2\x08" + varint(1 << 54)))
entry("length-2-57", "a length of 2^57", lambda c: c.replace(b"\x08\x08\x40", b"\x08\x08" + varint(1 << 57)))
entry("storage-3", "a storage that does not exist", lambda c: c.replace(b"\x08\x08\x40\1", b"\x08\x08\x40\3"))
entry("blob-with-name", "a blob that has name and type", lambda c: put(c, 0, b"\1"))
named("name-not-utf8", "a name that is not UTF-8", b"a\xff")
named("name-of-1025", "a name of 1025 bytes", b"n" * 1025)
named("names-twice", "two tensors of one name", b"a", b"b", b"a")


def stored_sizes(change):
    def fill(b):
        plain(b, storage=STORED)
        e = b.entries[0]
        old = varint(len(e.groups)) + varint(len(e.descriptor)) + struct.pack("<I", zlib.crc32(e.descriptor))
        return b.finish(change=lambda r: [(t, c.replace(old, change(e)) if t == ENTRY else c) for t, c in r])
    return fill


def sizes(groups, descriptor, check):
    return varint(groups) + varint(descriptor) + struct.pack("<I", check)


add("descriptor-checksum", "a checksum of a descriptor that does not fit", stored_sizes(
    lambda e: sizes(len(e.groups), len(e.descriptor), zlib.crc32(e.descriptor) ^ 1)))
add("entry-into-index", "a stored entry that reaches into the index", stored_sizes(
    lambda e: sizes(len(e.groups) + 4096, len(e.descriptor), zlib.crc32(e.descriptor))))
add("group-checksum", "a flipped bit in a stored group", lambda b: flip(plain(b, storage=STORED).finish(), 140))


def copy(name, wrong, of, shape=(8, 8), length=64, second=None):
    def fill(b):
        plain(b)
        b.copy("y", "U8", list(shape), 0)
        b.entries[1].of, b.entries[1].length = of, length
        if second is not None:
            b.copy("z", "U8", [8, 8], 0)
            b.entries[2].of = second
        hashes = b.bytes
        b.bytes = lambda number: b.entries[0].data if number else hashes(0)
        return b.finish(change=lambda r: r)
    add(name, wrong, fill)


copy("copy-of-itself", "a copy of itself", 1)
copy("copy-of-copy", "a copy of a copy", 0, second=1)
copy("copy-of-later", "a copy of an entry that comes later", 2, second=0)
copy("copy-length", "a copy of another length than its original", 0, (8, 7), 56)
copy("copy-shape", "a copy of a shape that its original's parts do not fit", 0, (4, 16))

for _bare, _name in (("", "empty"), (".", "dot"), ("..", "dots"), ("a/b", "slash"), ("a\\b", "backslash"),
                     ("C:x", "colon"), ("a\0b", "nul")):
    records(f"file-name-{_name}", f"a file name that is not bare: {_bare!r}".replace("\\\\", "\\"),
            lambda r, n=_bare: r[:3] + [(FILE, string(n) + varint(64) + b"\1\0")])
records("file-names-twice", "two files of one name", lambda r: r + r[3:])
records("segment-unknown", "a segment of an entry that there is not",
        lambda r: r[:3] + [(FILE, string("f") + b"\x40\1\2")])
records("segments-sum", "segments that do not sum to their file", lambda r: r[:3] + [(FILE, string("f") + b"\x41\1\0")])
records("segments-claimed", "2^50 segments claimed, one there",
        lambda r: r[:3] + [(FILE, string("f") + b"\x40" + varint(1 << 50) + b"\0")])


# ---- tables

def table(name, wrong, *tables):
    """Tables behind the one that is used."""
    def fill(b):
        plain(b)
        b.tables += tables
        return b.finish(change=lambda r: r)
    add(name, wrong, fill)


def explicit_of(frequencies, kind=0, bits=8, log=10, more=()):
    w = BitWriter().put(kind, 3).put(bits - 1, 3).put(log - 1, 4)
    GolombWriter(w).signed(*np.diff([0, *frequencies]))
    for bit in more:
        w.put(bit, 1)
    return w.bytes()


NIBBLES = explicit(4, 10, [512, 512])
table("table-kind-4", "a kind of table that does not exist", explicit_of([1024], kind=4))
table("table-log-15", "a table of 2^15 slots", explicit_of([1 << 15], log=15))
table("table-sum", "frequencies that sum to more than the slots", explicit_of([1000, 25]))
table("table-negative", "a frequency below 0", explicit_of([512, -3, 515]))
table("table-symbols", "frequencies of more symbols than there are", explicit_of([1] * 17, bits=4))
table("table-cut", "a table that ends before its frequencies do", explicit_of([512])[:3])
table("table-padding", "a bit set behind a table", explicit_of([1024], more=[1]))
table("curve-width", "a curve that is as wide as its alphabet", curve(8, 12, 0, 128, 128, [0] * 13, [0] * 13))
table("curve-log", "a log beyond 1023", curve(8, 12, 0, 0, 3, [1, 0, 0]))
table("curve-log-below-0", "a log below 0", curve(8, 12, 0, 0, 3, [-256, 0, 0]))
table("curve-symmetric", "a symmetric curve that is wider below", curve(8, 12, 0, 4, 3, [0] * 3))
table("curve-slots", "a curve of more symbols than slots", curve(8, 3, 0, 5, 5, [0] * 5))
table("product-of-itself", "a product of itself", NIBBLES, product_table(10, 1, 2))
table("product-of-later", "a product of a table that comes later", product_table(10, 2, 2), NIBBLES)
table("product-of-bytes", "a product of tables of 8 bits", product_table(10, 0, 0))
table("product-of-4-bits", "a product of 4 bits", NIBBLES, BitWriter().put(2, 3).put(3, 3).put(9, 4).put(1, 12).put(
    1, 12).bytes())
table("product-slots", "a product of more symbols than slots", NIBBLES, product_table(1, 1, 1))
