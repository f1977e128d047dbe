"""More files of WCodec that break one rule each, most by as little as may be."""
import zlib

from wcodec_encode import string, varint
from wcodec_foreign import bell, four_tables, FOUR, packed, raw_words, symbols
from wcodec_hostile import add, plain, records
from wcodec_hostile_tensors import descriptor, put
from wcodec_reader import BASE, FILE, INLINE, PARITY, SUMS, TENSOR
from wcodec_symbols import UNSIGNED
from wcodec_tensors import Tensor
from wcodec_tiles import REFERENCE
from wcodec_writer import (
    UNSIGNED_BYTES, Written, class_fields, coded, index_of, of_entry, of_this, parity, prediction_fields, raw,
    source, sums,
)


def as_it_is(r):
    return r


# ---- names and lengths

def long_file(b):
    plain(b)
    b.files = [("f" * 1025, *b.files[0][1:])]
    return b.finish(change=as_it_is)


add("file-name-1025", "a name of a file of 1025 bytes", long_file)
records("base-name-1025", "a name of a base of 1025 bytes",
        lambda r: [r[0], (BASE, bytes(32) + string("n" * 1025)), *r[1:]])
records("file-of-2-57", "a file of 2^57 bytes",
        lambda r: [(t, string("f") + varint(1 << 57) + varint(0) if t == FILE else c) for t, c in r])


# ---- what an index says for its salvage

def of_long_index(change):
    """A file whose index is of more than 4096 bytes, with other records at its end: `change` gives them from its bytes."""
    def make(b):
        for i in range(120):
            b.plain(f"tensor.{i:03}.of.a.long.name", "U8", [8], bytes(range(i, i + 8)))
        b.file("model.bin", *range(120))

        def more(r):
            index = index_of(r)
            assert 4096 < len(index) < 8192
            return r + change(index)
        return b.finish(change=more)
    return make


def both(index, stated):
    """PARITY as it is stated, and the sums behind it."""
    record = varint(PARITY) + varint(len(stated)) + stated
    return [(PARITY, stated), (SUMS, sums(index + record))]


add("sums-of-another", "sums that are not of the index", of_long_index(lambda i: [(SUMS, sums(i[1:]))]))
add("sums-short", "a sum too few", of_long_index(lambda i: [(SUMS, sums(i)[:4])]))
add("sums-twice", "SUMS twice", of_long_index(lambda i: [(SUMS, sums(i))] * 2))
add("parity-of-another", "parity that is not of the index", of_long_index(lambda i: both(i, parity(i[1:]))))
add("parity-short", "half as much parity", of_long_index(lambda i: both(i, parity(i, 128))))
add("parity-behind-sums", "PARITY behind SUMS", of_long_index(lambda i: both(i, parity(i))[::-1]))
records("sums-of-a-short-index", "SUMS of an index of less than 4096 bytes",
        lambda r: r + [(SUMS, zlib.crc32(b"").to_bytes(4, "little"))])


# ---- parts that name parts

def own_reference(b):
    table = b.table(bell(8, 11, 0, 2, 9))

    def by(part):
        return coded(log=11, tables=[table], prediction=prediction_fields((16, 16), REFERENCE, 0, None, of_this(part)))
    named, Tensor.named_part = Tensor.named_part, unchecked
    b.tensor("f", "F32", [8, 16], bytes([4, 4, 0, 0, 0, 0, 0, 0]), coded(log=11, tables=[table]), by(0), by(1),
             coded(log=11, tables=[table]), length=512)
    Tensor.named_part = named
    return b.finish(change=as_it_is)


def unchecked(self, r, part):
    """A part of the tensor itself, whatever that names."""
    r.varint()
    return self.parts[r.varint()]


add("own-reference-with-reference", "a reference to a part of the tensor itself that has one", own_reference)


def explained_at_length(b):
    """The source has 1648 groups of a byte: 8257 bytes with its descriptor."""
    tables = four_tables(b)
    count = 1648
    number = b.tensor("s", "U8", [count], UNSIGNED_BYTES, raw([3] * count, group=1), length=count)
    assert sum(b.entries[number].sizes) == 2 * (4 * 8 + 4096) + 1
    classes = class_fields(FOUR, 40, None, None, [source(of_entry(number, UNSIGNED_BYTES), UNSIGNED, (1, 1), 1)])
    other, Tensor.other_entry = Tensor.other_entry, lambda self, n, part: (
        self.file.entries[n].dtype, self.file.entries[n].shape, self.file.bytes(n))
    symbols(b, "x", 2, 4, coded(log=11, tables=tables, classes=classes))
    Tensor.other_entry = other
    return b.finish(change=as_it_is)


add("source-a-byte-too-long", "a source that takes a byte more than it may", explained_at_length)


# ---- nothing

def nothing_of_20_tables(b):
    table = b.table(bell(8, 11, 0, 2, 9))
    entry = Written(TENSOR, b"e", "U8", [0], b"", INLINE)
    said = varint(4 | 8) + varint(1) + prediction_fields((16, 16), 0) + bytes([11]) + varint(20) + varint(table) * 20
    entry.descriptor = UNSIGNED_BYTES + varint(1) + bytes([0, 0, 8, 0, 0]) + bytes([3]) + said
    b.put(entry)
    return b.finish(change=as_it_is)


add("no-symbols-20-tables", "coefficients of no symbols with 20 tables", nothing_of_20_tables)
descriptor("view-bits-7", "symbols of 7 bits", lambda d: put(d, 0, packed(7, 1)))
descriptor("view-straddling-high", "symbols that straddle words, the highest bits first", lambda d: put(d, 0, packed(3, 1, 1)))
descriptor("view-straddling-uneven", "symbols of 3 bits in rows that are no whole runs of 3 words", lambda d: put(d, 0, packed(3, 1)))
