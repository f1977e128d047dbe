"""More files of WCodec that break one rule each, most by as little as may be."""
import zlib

from wcodec_encode import explicit, string, varint
from wcodec_foreign import bell, four_tables, FOUR, packed, raw_words, symbols, words as words_of
from wcodec_hostile import add, plain, records
from wcodec_hostile_tensors import descriptor, put
from wcodec_reader import BANK, BASE, ENTRY, FILE, INLINE, PARITY, QUANTIZATION, SUMS, TABLES, TENSOR, xor
from wcodec_symbols import UNSIGNED
from wcodec_tensors import Tensor
from wcodec_tiles import COLUMN, REFERENCE
from wcodec_writer import (
    UNSIGNED_BYTES, Written, class_fields, coded, index_of, of_entry, of_this, pco_runs, prediction_fields,
    raw, source, sums,
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


def both(index, length, of=None):
    """PARITY of so many bytes, and the sums behind it."""
    stated = xor(index if of is None else of, length)
    record = varint(PARITY) + varint(len(stated)) + stated
    return [(PARITY, stated), (SUMS, sums(index + record))]


add("sums-of-another", "sums that are not of the index", of_long_index(lambda i: [(SUMS, sums(i[1:]))]))
add("sums-short", "a sum too few", of_long_index(lambda i: [(SUMS, sums(i)[:4])]))
add("sums-twice", "SUMS twice", of_long_index(lambda i: [(SUMS, sums(i))] * 2))
add("parity-of-another", "parity that is not of the index", of_long_index(lambda i: both(i, 256, i[1:])))
add("parity-from-its-end", "parity whose places are counted from the end of the index", of_long_index(lambda i: both(i, 512, bytes(-len(i) % 512) + i)))
add("parity-short", "32 bytes of parity", of_long_index(lambda i: both(i, 32)))
add("parity-long", "8192 bytes of parity", of_long_index(lambda i: both(i, 8192)))
add("parity-of-no-power", "384 bytes of parity", of_long_index(lambda i: both(i, 384)))
add("parity-twice", "PARITY twice", of_long_index(lambda i: [both(i, 256)[0], *both(index_of([both(i, 256)[0]]), 256)]))
add("parity-behind-sums", "PARITY behind SUMS", of_long_index(lambda i: both(i, 256)[::-1]))
records("parity-of-another-short-index", "parity that is not of the index, which is of less than 4096 bytes",
        lambda r: r + [(PARITY, xor(index_of(r)[1:], 64))])
records("parity-before-file", "PARITY before FILE", lambda r: [*r[:-1], (PARITY, xor(index_of(r[:-1]), 64)), r[-1]])
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


# ---- what is woven

def woven(name, wrong, text, length, of=1, stated=None, called=b"x", file_called="model.bin"):
    """A file of a text, which is a blob behind a tensor; `stated` is the file's length, where it is another. It is file
    1: `called` is the tensor, `file_called` file 0."""
    def make(b):
        plain(b)
        b.entries[0].raw_name = called
        b.files[0] = file_called, *b.files[0][1:]
        b.blob(text)
        b.file("woven.bin", ("woven", of, bytes(length)))
        if stated is not None:
            b.files[-1] = "woven.bin", stated, b.files[-1][2]
        return b.finish(change=as_it_is)
    add(f"woven-{name}", wrong, make)


RIGHT = b"ab~\1c\0\0\2~"  # abxc
woven("of-no-entry", "what is woven of an entry that is not there", RIGHT, 4, 2)
woven("segments-sum", "woven bytes that do not sum to their file", RIGHT, 4, stated=5)
woven("shorter", "fewer bytes woven than are said", RIGHT, 5)
woven("longer", "more bytes woven than are said", RIGHT, 3)
woven("longer-of-none", "a byte woven where none is said", b"a\0~", 0)
woven("of-no-bytes", "what is woven of an entry of no bytes", b"", 0)
woven("of-a-byte", "a text of one byte", b"\0", 0)
woven("blob", "the name of a blob", b"ab~\x09c\0~", 3)
woven("no-entry", "the name of an entry that is not there", b"ab~\x11c\0~", 3)
woven("below-0", "more bytes woven than are said: those of the name of file 0", b"ab~\x05c\0~", 3)
woven("far", "the name of entry 2^61", b"a~\1~" + varint((1 << 64) - 7) + b"\0~", 3)
woven("far-below-0", "the name of file 2^61 - 1", b"a~" + varint((1 << 64) - 3) + b"\0~", 2)
woven("zeros", "zeros behind a text that are not zero", b"ab~\1c\0\1\2~", 4)
woven("zeros-too-many", "more zeros than there are bytes", b"\0\0\3~", 0)
woven("cut", "a text that ends with its marker", b"ab~\1c~\0~", 5)
woven("cut-by-zeros", "a text that ends with its marker, and zeros behind it", b"ab~\1c~\0\1~", 5)
woven("cut-number", "a text that ends within a number, and zeros behind it", b"ab~\1c~\x81\0\1~", 5)
woven("not-short", "the number of a name that is not in its shortest form", b"ab~\x81\0c\0~", 4)
woven("marker-not-short", "the 0 of a marker that is not in its shortest form", b"ab~\x80\0c\0~", 4)
QUOTE = b'"\\\n'  # of which JSON has twice as many bytes
woven("quoted-longer", "more bytes woven than are said: those of a name, but it is as JSON has it", b"ab~\2c\0~", 6, called=QUOTE)
woven("quoted-shorter", "fewer bytes woven than are said: those of a name as JSON has it, but it is as it is", b"ab~\1c\0~", 9, called=QUOTE)
woven("quoted-not-fewest", "fewer bytes woven than are said: those of a name as JSON may have it too", b"~\2\0~", 6, called=b"\b")
woven("quoted-blob", "the name of a blob as JSON has it", b"ab~\x0ac\0~", 3)
woven("quoted-no-entry", "the name of an entry that is not there, as JSON has it", b"ab~\x12c\0~", 3)
woven("quoted-below-0", "more bytes woven than are said: those of the name of file 0 as JSON has it", b"ab~\x06c\0~", 3)
woven("quoted-before-blob", "the name of a blob behind a name as JSON has it", b"ab~\2~\1c\0~", 4)
woven("ascii-longer", "more bytes woven than are said: those of a name in the fewest bytes, but it is in ASCII", b"ab~\3c\0~", 5, called="é".encode())
woven("ascii-shorter", "fewer bytes woven than are said: those of a name in ASCII, but it is in the fewest bytes", b"ab~\2c\0~", 9, called="é".encode())
woven("ascii-127", "more bytes woven than are said: those of a name in ASCII, were 127 as it is", b"ab~\3c\0~", 4, called=b"\x7f")
woven("ascii-126", "fewer bytes woven than are said: those of a name in ASCII, were 126 not as it is", b"ab~\3c\0~", 9, called=b"~")
woven("ascii-units", "more bytes woven than are said: those of a name in ASCII, were two units of UTF-16 one", b"ab~\3c\0~", 9, called="😀".encode())
woven("ascii-blob", "the name of a blob in ASCII", b"ab~\x0bc\0~", 3)
woven("ascii-no-entry", "the name of an entry that is not there, in ASCII", b"ab~\x13c\0~", 3)
woven("ascii-below-0", "more bytes woven than are said: those of the name of file 0 in ASCII", b"ab~\x07c\0~", 3)
woven("part-begins-beyond", "a part that begins beyond its name", b"ab~\4\4\1c\0~", 4, called=b"xyz")
woven("part-begins-at-end", "a part that begins where its name ends", b"ab~\4\3\1c\0~", 4, called=b"xyz")
woven("part-ends-beyond", "a part that ends beyond its name", b"ab~\4\1\3c\0~", 6, called=b"xyz")
woven("part-of-json", "a part of what JSON has for a name, which the name does not have", b"ab~\4\0\6c\0~", 9, called=QUOTE)
woven("part-wraps", "a part that begins at 2^64 - 1 and ends, by 64 bits, within its name", b"ab~\4" + varint((1 << 64) - 1) + b"\2c\0~", 5, called=b"xyz")
woven("part-far", "a part of 2^64 - 1 bytes that ends, by 64 bits, within its name", b"ab~\4\2" + varint((1 << 64) - 1) + b"c\0~", 4, called=b"xyz")
woven("part-of-none", "a part of no bytes", b"ab~\4\1\0c\0~", 3, called=b"xyz")
woven("part-of-none-at-end", "a part of no bytes where its name ends", b"ab~\4\3\0c\0~", 3, called=b"xyz")
woven("part-cut", "a text that ends where it says how many bytes of a name", b"ab~\1c~\x08\0\0~", 5)
woven("part-cut-by-zeros", "a text that ends where it says how many bytes of a name, and zeros behind it", b"ab~\1c~\x08\0\0\1~", 5)
woven("part-cut-number", "a text that ends within how many bytes of a name there are, and zeros behind it", b"ab~\1c~\x08\0\x81\0\1~", 5)
woven("part-cut-first", "a text that ends where it says where a part begins", b"ab~\1c~\x08\0~", 5)
woven("part-first-not-short", "where a part begins, not in its shortest form", b"ab~\4\x81\0\1c\0~", 4, called=b"xyz")
woven("part-not-short", "how many bytes a part has, not in its shortest form", b"ab~\4\1\x81\0c\0~", 4, called=b"xyz")
woven("part-blob", "a part of the name of a blob", b"ab~\x0c\0\1c\0~", 4)
woven("part-no-entry", "a part of the name of an entry that is not there", b"ab~\x14\0\1c\0~", 4)
woven("part-below-0", "more bytes woven than are said: those of a part of the name of file 0", b"ab~\x08\0\1c\0~", 3)
woven("part-longer", "more bytes woven than are said: those of a part", b"ab~\4\0\2c\0~", 4, called=b"xyz")
woven("part-shorter", "fewer bytes woven than are said: those of a name, but it is a part", b"ab~\4\0\2c\0~", 6, called=b"xyz")


def woven_to_more(b):
    """A byte and 2^14 names of 2^10 bytes: entry 0, and again and again the one before."""
    b.plain("n" * 1024, "U8", [1], b"a")
    code = pco_runs(((1, b"~\0"), (1, b"~\1"), ((1 << 14) - 1, b"~\5"), (1, b"\0~")))
    text = b.tensor("text", "U16", [(1 << 14) + 2], words_of(2), code, length=(2 << 14) + 4)
    b.file("woven.bin", ("woven", text, b"~" + b.entries[0].raw_name * (1 << 14)))
    return b.finish(change=as_it_is)


def woven_of_more(b):
    """Of eight bytes seven are woven: a zero is behind each marker."""
    word, count = b"\0abcde\0~", (1 << 21) + 1
    code = pco_runs(*[((1 << 15, word),)] * 64, ((1, word),))
    text = b.tensor("text", "U64", [count], words_of(8), code, length=8 * count)
    b.file("woven.bin", ("woven", text, (b"\0abcde\0" + b"~abcde\0" * (count - 1))[:-1]))
    return b.finish(change=as_it_is)


add("woven-to-more", "2^24 + 1 bytes woven", woven_to_more)
add("woven-of-more", "what is woven of 2^24 + 8 bytes", woven_of_more)


# ---- names of files, of which there are two

woven("file-none", "the name of file 2, which is not there", b"ab~\x15c\0~", 12)
woven("file-none-quoted", "the name of file 2, which is not there, as JSON has it", b"ab~\x16c\0~", 12)
woven("file-none-ascii", "the name of file 2, which is not there, in ASCII", b"ab~\x17c\0~", 12)
woven("file-none-part", "a part of the name of file 2, which is not there", b"ab~\x18\0\1c\0~", 4)
woven("file-none-behind", "the name of file 2, which is not there, behind that of an entry", b"ab~\1~\x1dc\0~", 13)
woven("file-none-behind-file", "the name of file 2, which is not there, behind that of a file, from which it is not told", b"ab~\x0d~\x15c\0~", 21)
woven("file-far-quoted", "the name of file 2^61 - 1 as JSON has it", b"a~" + varint((1 << 64) - 2) + b"\0~", 2)
woven("file-far-ascii", "the name of file 2^61 - 1 in ASCII", b"a~" + varint((1 << 64) - 1) + b"\0~", 2)
woven("file-far-part", "a part of the name of file 2^61 - 2", b"a~" + varint((1 << 64) - 8) + b"\0\1\0~", 2)
woven("file-then-blob", "the name of a blob, which follows the tensor that was named before a file", b"~\1~\x0d~\1\0~", 11)
woven("file-shorter", "fewer bytes woven than are said: those of the name of file 0", b"ab~\5c\0~", 13)
woven("file-longer", "more bytes woven than are said: those of the name of file 0", b"ab~\5c\0~", 11)
woven("file-part-beyond", "a part that ends beyond the name of file 0", b"ab~\x08\1\x09c\0~", 12)
woven("file-part-at-end", "a part that begins where the name of file 0 ends", b"ab~\x08\x09\1c\0~", 4)
woven("file-part-of-none", "a part of no bytes of the name of file 0", b"ab~\x08\1\0c\0~", 3)
woven("file-quoted-longer", "more bytes woven than are said: those of a file's name, but it is as JSON has it", b"ab~\6c\0~", 5, file_called='q"')
woven("file-quoted-shorter", "fewer bytes woven than are said: those of a file's name as JSON has it, but it is as it is", b"ab~\5c\0~", 6, file_called='q"')
woven("file-ascii-longer", "more bytes woven than are said: those of a file's name in the fewest bytes, but it is in ASCII", b"ab~\7c\0~", 5, file_called="é")
woven("file-ascii-shorter", "fewer bytes woven than are said: those of a file's name in ASCII, but it is in the fewest bytes", b"ab~\6c\0~", 9, file_called="é")


# ---- parts of what is woven

def by_means(b, data):
    """A row of these bytes, of which each is the mean of its column: they take less where they are alike."""
    fields = prediction_fields((1, 1), COLUMN, 0, list(data))
    symbols(b, "text", 1, len(data), coded(log=1, tables=[b.table(explicit(8, 1, [2]))], prediction=fields))
    assert b.bytes(len(b.entries) - 1) == data


def parted(name, wrong, length, *parts, text=RIGHT, called=b"x"):
    """A file of parts, each as its fields say, of a text, which is an entry behind a tensor."""
    def make(b):
        plain(b)
        b.entries[0].raw_name = called
        b.blob(text) if len(text) < 1 << 14 else by_means(b, text)
        b.file("woven.bin")
        said = string("woven.bin") + varint(length) + varint(len(parts)) + b"".join(b"\1" + part for part in parts)
        return b.finish(change=lambda r: [*r[:-1], (FILE, said)])
    add(f"parted-{name}", wrong, make)


END = 1 << 14
LONG = dict(text=b"~\1" + b"~\5" * 16 + b"\0~", called=b"n" * 1024)  # 2^14 and 2^10 bytes
parted("of-no-entry", "a part of an entry that is not there", 4, b"\2\0\4")
parted("of-entry-2-64", "a part of entry 2^64 - 1", 4, varint((1 << 64) - 1) + b"\0\4")
parted("of-no-bytes", "a part of no bytes of an entry of no bytes", 0, b"\1\0\0", text=b"")
parted("of-more", "a part of a text of 2^14 + 1 bytes", 4, b"\1\0\4", text=b"a" * (END - 1) + b"\0~")
parted("ends-beyond-2-14", "a part that ends a byte beyond 2^14", 2, b"\1" + varint(END - 1) + b"\2", **LONG)
parted("of-2-14-and-1", "a part of 2^14 + 1 bytes", END + 1, b"\1\0" + varint(END + 1), **LONG)
parted("begins-beyond-2-14", "a part of no bytes that begins a byte beyond 2^14", 0, b"\1" + varint(END + 1) + b"\0", **LONG)
parted("ends-beyond", "a part that ends a byte beyond what is woven", 4, b"\1\1\4")
parted("begins-at-end", "a part of a byte that begins where what is woven ends", 1, b"\1\4\1")
parted("begins-beyond", "a part of no bytes that begins a byte beyond what is woven", 0, b"\1\5\0")
parted("of-zeros", "a part that is the zeros behind a text", 2, b"\1\4\2")
parted("wraps", "a part that begins at 2^64 - 1 and ends, by 64 bits, within what is woven", 2, b"\1" + varint((1 << 64) - 1) + b"\2")
parted("wraps-to-0", "a part that begins at 2^64 - 4 and ends, by 64 bits, at 0", 4, b"\1" + varint((1 << 64) - 4) + b"\4")
parted("far", "a part of 2^64 - 1 bytes that ends, by 64 bits, within what is woven", 1, b"\1\2" + varint((1 << 64) - 1), b"\1\0\2")
parted("begins-at-2-56", "a part that begins at 2^56", 1, b"\1" + varint(1 << 56) + b"\1")
parted("entry-not-short", "the entry of a part that is not in its shortest form", 4, b"\x81\0\0\4")
parted("first-not-short", "where a part begins, not in its shortest form", 4, b"\1\x80\0\4")
parted("not-short", "how many bytes a part has, not in its shortest form", 4, b"\1\0\x84\0")
parted("of-65-bits", "a part that begins at 2^64", 4, b"\1" + b"\x80" * 9 + b"\2\4")
parted("cut", "no zero bytes, whose code is that of a part: its record ends before the entry", 0, b"")
parted("cut-entry", "a record that ends within the entry of a part", 4, b"\x81")
parted("cut-before-first", "a record that ends before where a part begins", 4, b"\1")
parted("cut-first", "a record that ends within where a part begins", 4, b"\1\x80")
parted("cut-before-count", "a record that ends before how many bytes a part has", 4, b"\1\0")
parted("cut-count", "a record that ends within how many bytes a part has", 4, b"\1\0\x84")
parted("sum-less", "parts that come to a byte less than their file", 5, b"\1\0\2", b"\1\2\2")
parted("sum-more", "parts that come to a byte more than their file", 3, b"\1\0\2", b"\1\2\2")
parted("of-a-byte", "a part of no bytes of a text of one byte", 0, b"\1\0\0", text=b"\0")
parted("zeros", "zeros behind a text of which there is a part that are not zero", 4, b"\1\0\4", text=b"ab~\1c\0\1\2~")
parted("zeros-too-many", "a part of no bytes of a text with more zeros than there are bytes", 0, b"\1\0\0", text=b"\0\0\3~")
parted("marker-cut", "a part that ends behind a marker, with which the text ends", 2, b"\1\3\2", text=b"ab~\1c~\0~")
parted("blob-before", "the name of a blob before a part", 1, b"\1\2\1", text=b"ab~\x09c\0~")
parted("no-entry-before", "the name of an entry that is not there before a part", 1, b"\1\2\1", text=b"ab~\x11c\0~")
parted("no-file-before", "the name of file 2, which is not there, before a part", 1, b"\1\2\1", text=b"ab~\x15c\0~")
parted("no-part-before", "a part that its name does not have before a part", 1, b"\1\3\1", text=b"ab~\4\0\2c\0~")
parted("not-short-before", "the 0 of a marker that is not in its shortest form before a part", 1, b"\1\3\1", text=b"ab~\x80\0c\0~")
parted("names-shorter", "a part that ends at 2^14, a byte beyond names and a part of one", END - 1, b"\1\1" + varint(END - 1),
       text=b"~\1" + b"~\5" * 14 + b"~\x08\1" + varint(1023) + b"\0~", called=b"n" * 1024)


# ---- what an index says of the tables

def tables(name, wrong, change, long=False):
    """A file that tells of its tables, with other records: `change` gives them from its own and from the bank."""
    def make(b):
        b.has_tables = True
        symbols(b, "coded", 16, 16, coded(tables=four_tables(b), log=11))
        if long:
            b.tables += [bell(8, 11, centre) for centre in range(256)]
        bank = b"".join(b.tables)
        assert (len(bank) > 4096) == long
        b.file("model.bin", 0)
        return b.finish(change=lambda r: change(r, bank))
    add(f"tables-{name}", wrong, make)


def stated(name, wrong, of, long=False):
    """With TABLES of something else, made of the bank."""
    tables(name, wrong, lambda r, bank: [*r[:-1], (TABLES, of(bank))], long)


def before(tag):
    """TABLES before the record of another tag."""
    def change(r, _):
        place = [t for t, _ in r].index(tag)
        return [*r[:place], r[-1], *r[place:-1]]
    return change


stated("of-another", "TABLES that differ from the bank in a bit", lambda bank: bytes([bank[0] ^ 4]) + bank[1:])
stated("short", "TABLES of a byte less than the bank", lambda bank: bank[:-1])
stated("longer", "TABLES of a byte more than the bank", lambda bank: bank + b"\0")
stated("empty", "TABLES of no bytes", lambda bank: b"")
stated("folded", "TABLES that are the XOR of the halves of a short bank", lambda bank: xor(bank, (len(bank) + 1) // 2))
stated("whole", "TABLES that are all of a bank of more than 4096 bytes", lambda bank: bank, long=True)
stated("first", "TABLES that are the first 4096 bytes of a longer bank", lambda bank: bank[:4096], long=True)
stated("last", "TABLES that are the last 4096 bytes of a longer bank", lambda bank: bank[-4096:], long=True)
stated("folded-less", "TABLES of 2048 bytes of a longer bank", lambda bank: xor(bank, 2048), long=True)
tables("twice", "TABLES twice", lambda r, _: [*r, r[-1]])
tables("behind-parity", "TABLES behind PARITY", lambda r, _: [*r[:-1], (PARITY, xor(index_of(r[:-1]), 64)), r[-1]])
tables("before-bank", "TABLES before BANK", before(BANK))
tables("before-entry", "TABLES before ENTRY", before(ENTRY))
tables("before-file", "TABLES before FILE", before(FILE))
tables("before-quantization", "TABLES before QUANTIZATION", lambda r, _: [*r, (QUANTIZATION, bytes(4))])


def no_tables(content):
    """A file without a bank that tells of one."""
    def make(b):
        b.plain("plain", "U8", [3], b"abc")
        b.file("model.bin", 0)
        return b.finish(change=lambda r: [*r, (TABLES, content)])
    return make


add("tables-of-none", "TABLES of a byte where the bank is empty", no_tables(b"\0"))
add("tables-empty-of-none", "TABLES of no bytes where the bank is empty", no_tables(b""))
