"""More files of WCodec that break one rule each: descriptors, parts and groups of one tensor."""
import struct

import numpy as np

from wcodec_encode import BitWriter, GolombWriter, encode_rans, explicit, short_stream, string
from wcodec_foreign import bell, packed, raw_words, symbols, words
from wcodec_hostile import add, direct, flip, plain, put
from wcodec_streams import Table
from wcodec_symbols import ESCAPES as ESCAPES_FLAG
from wcodec_symbols import BITPLANE, CLASSES, F16, ORDER, PAIRS, PREDICT, STACKED, TRANSFORM, UNSIGNED
from wcodec_tiles import COLUMN, LINEAR, OF_TILES, REFERENCE
from wcodec_writer import (UNSIGNED_BYTES, class_fields, coded, of_base, of_entry, of_this, pco, prediction_fields, raw,
                           source, varint)

EVERY = [[(256, 0)]]

# ---- descriptors

def descriptor(name, wrong, change, fill=plain):
    """`change(descriptor)` of view, 1, role, kind, 8, 8, 8, codec and its fields."""
    def function(b):
        fill(b)
        e = b.entries[0]
        e.descriptor = change(e.descriptor)
        return b.finish(change=lambda r: r)
    add(name, wrong, function)


descriptor("view-6", "a view that does not exist", lambda d: put(d, 0, b"\6"))
descriptor("view-byte-7", "a byte of a view that must be zero", lambda d: put(d, 7, b"\1"))
descriptor("view-sign-3", "a sign that does not exist", lambda d: put(d, 1, b"\3"))
descriptor("view-of-other-words", "words of 8 bytes, and a part of symbols", lambda d: put(d, 0, b"\3\x08"))
descriptor("view-uneven", "a view that does not come out even: 3 columns of 64", lambda d: put(
    d, 0, packed(8, 1, columns=3)))
descriptor("view-other-blocks", "blocks of a GGUF type in a tensor of bytes", lambda d: put(d, 0, b"\5\2"))
descriptor("parts-2", "two parts where the view has one", lambda d: put(d, 8, b"\2") + d[9:])
descriptor("parts-17", "17 parts", lambda d: put(d, 8, b"\x11"))
descriptor("part-role", "a part of another role", lambda d: put(d, 9, b"\1"))
descriptor("part-kind", "a kind of part that does not exist", lambda d: put(d, 10, b"\4"))
descriptor("part-bits", "a part of other bits", lambda d: put(d, 11, b"\4"))
descriptor("part-columns", "a part of other rows and columns", lambda d: put(d, 12, b"\4\x10"))
descriptor("descriptor-left-over", "a byte left over in a descriptor", lambda d: d + b"\0")
descriptor("group-beyond", "a group that is longer than all of the entry's", lambda d: d[:-2] + varint(3000))
descriptor("codec-2", "a codec that does not exist", lambda d: put(d, 14, b"\2"))


def groups_of(name, wrong, change, code=None):
    """Changes the stored bytes of the only group, and its length with it."""
    def altered(builder, context, part):
        fields, groups = (code or direct)(builder)(builder, context, part)
        return fields, [change(g) for g in groups]
    add(name, wrong, lambda b: plain(b, altered).finish(change=lambda r: r))


def all_groups(name, wrong, change, code=None):
    """Changes the bytes of all groups, and leaves the descriptor."""
    def fill(b):
        plain(b, code)
        b.entries[0].groups = change(b.entries[0].groups)
        return b.finish(change=lambda r: r)
    add(name, wrong, fill)


all_groups("groups-not-filled", "four bytes of groups that are of none", lambda g: g + bytes(4))
all_groups("group-not-padded", "a last group that is not padded to 4 bytes", lambda g: g[:-3], raw(group=63))
all_groups("group-padding", "a byte in the padding behind a group", lambda g: put(g, 5, b"\1"), raw(group=5))


def fields(name, wrong, code, change):
    """`code(builder)` is a coding that is right; `change(fields)`, of codec and what belongs to it, makes it wrong."""
    def altered(builder, context, part):
        said, groups = code(builder)(builder, context, part)
        return bytes(change(bytearray(said))), groups
    add(name, wrong, lambda b: plain(b, altered).finish(change=lambda r: r))


def at(place, *new):
    return lambda f: f[:place] + bytes(new) + f[place + len(new):]


def then(place, drop, new):
    """Puts `new` in the place of `drop` bytes."""
    return lambda f: f[:place] + bytes(new) + f[place + drop:]


def raw_all(_):
    return raw()


fields("raw-groups-of-0", "RAW with groups of no elements", raw_all, at(1, 0))
fields("raw-groups-of-1", "RAW with groups of 1: their lengths are lacking", raw_all, at(1, 1))
fields("pco-of-symbols", "PCO of symbols", raw_all, at(0, 1))
fields("flag-5", "ORDER without PAIRS and CLASSES", direct, at(1, 32))
fields("group-rows-0", "groups of no rows", direct, at(2, 0))
fields("recut-0", "RECUT to rows of nothing", lambda b: direct(b, recut=9), at(2, 0))
fields("pairs-of-8-bits", "PAIRS of symbols of 8 bits", direct, at(1, 2))
fields("transform-alone", "TRANSFORM without PREDICT", direct, at(1, 8))
fields("bitplane-alone", "BITPLANE without PREDICT", direct, at(0, 4))
fields("table-bits-0", "tables of 2^0 slots", direct, at(3, 0))
fields("table-bits-15", "tables of 2^15 slots", direct, at(3, 15))
fields("tables-none", "symbols and no table", direct, then(4, 2, [0]))
fields("tables-65", "65 tables", direct, then(4, 2, [65] + [0] * 65))
fields("table-unknown", "a table that the bank has not", direct, at(5, 1))
fields("table-of-other-size", "a table of other slots than the descriptor says", direct, at(3, 9))


def behind_a_narrow_one(b):
    b.table(bell(4, 10))
    return direct(b)


fields("table-of-other-alphabet", "a table of 4 bits for symbols of 8", behind_a_narrow_one, at(5, 0))


# [codec, flags, group rows, tile rows, tile columns, predictor, centre, sides, ...]
def predicted(predictor=0, **options):
    return lambda b: direct(b, prediction=prediction_fields((4, 4), predictor, 0, **options))


MEANS = [1, 2, 3, 4, 5, 6, 7, 8]
fields("tile-of-0", "tiles of no rows", predicted(), at(3, 0))
fields("tile-of-4097", "tiles of 4097 rows", predicted(), then(3, 1, varint(4097)))
fields("predictor-9", "a predictor that does not exist", predicted(), at(5, 9))
fields("sides-8", "a side that does not exist", predicted(), at(7, 8))
fields("column-without-means", "COLUMN without means", predicted(), at(5, COLUMN))
fields("reference-without-one", "REFERENCE without a reference", predicted(), at(5, REFERENCE))
fields("linear-without-weights", "LINEAR without weights", predicted(COLUMN, means=MEANS), at(5, LINEAR))
fields("weights-without-linear", "weights, and another predictor than LINEAR", predicted(
    LINEAR, means=MEANS, reach=1, weights=[0] * 7), at(5, 4))
fields("reach-0", "LINEAR with a reach of 0", predicted(LINEAR, means=MEANS, reach=1, weights=[0] * 7),
       lambda f: f.replace(b"\1" + short_stream([128] * 7), b"\0" + short_stream([128] * 7)))
fields("reach-of-columns", "LINEAR with a reach of all columns", predicted(
    LINEAR, means=MEANS, reach=7, weights=[0] * 28), lambda f: f.replace(
        b"\7" + short_stream([128] * 28), b"\x08" + short_stream([128] * 28)))
fields("predict-short-row", "PREDICT with a last row that is short", lambda b: direct(
    b, recut=16, prediction=prediction_fields((4, 4), 0)), at(2, 15))


def of_4_bits(name, wrong, code, change, change_group=bytes):
    def altered(builder, context, part):
        said, groups = code(builder)(builder, context, part)
        return change(said), [change_group(g) for g in groups]

    def fill(b):
        symbols(b, "x", 8, 8, altered, 4)
        return b.finish(change=lambda r: r)
    add(name, wrong, fill)


def four_bits(b, **options):
    return coded(log=9, tables=[b.table(bell(4, 9, 0, 1, 6))], group_rows=8, **options)


of_4_bits("centre-16", "a centre of 16, of 4 bits", lambda b: four_bits(
    b, prediction=prediction_fields((4, 4), 0, 15)), lambda f: put(f, 6, b"\x10"))
of_4_bits("mean-17", "a mean of 17, of 4 bits", lambda b: four_bits(
    b, prediction=prediction_fields((4, 4), COLUMN, 0, [3, 1, 2, 0, 1, 5, 6, 7])), lambda f: f.replace(
        short_stream([3, 1, 2, 0, 1, 5, 6, 7]), short_stream([3, 17, 2, 0, 1, 5, 6, 7])))
of_4_bits("raw-symbol-16", "RAW with a symbol of 16, of 4 bits", raw_all, bytes, lambda g: put(g, 9, b"\x10"))
of_4_bits("pairs-of-odd-rows", "PAIRS with rows of 7", lambda b: four_bits(b, recut=8), lambda f: put(f, 1, b"\3\7"))
of_4_bits("pairs-and-predict", "PAIRS and PREDICT", lambda b: four_bits(
    b, prediction=prediction_fields((4, 4), 0)), lambda f: put(f, 1, b"\6"))


def pair(b):
    frequencies = [0] * 256
    frequencies[0x11], frequencies[0x43] = 500, 524
    only = [0] * 256
    only[0x11] = 1024
    number = b.table(explicit(8, 10, only))

    def altered(builder, context, part):
        said, _ = coded(log=10, tables=[number], pairs=True)(builder, context, part)
        return said, [encode_rans([0x43] + [0x11] * 31, [0] * 32, [Table(8, 10, frequencies)], 10)]
    symbols(b, "x", 8, 8, altered, 2)
    b.tables[number] = explicit(8, 10, frequencies)
    return b.finish(change=lambda r: r)


add("pair-of-more", "a pair whose second symbol is 4, of 2 bits", pair)


# ---- classes and sources

def classed(b, extra=(), **options):
    """Four tables; fields of classes with whatever `options` say."""
    tables = [b.table(bell(8, 10, 0, halving, 9)) for halving in (1, 2)]
    maps = options.pop("maps", [[(3, 0), (253, 1)]])
    return coded(log=10, tables=tables, classes=class_fields(maps, 60, **options))


def sourced(name, wrong, make, old, new, before=None, count=1, of=()):
    """Symbols with a level source, or what else `make(number)` gives for class_fields; then `old` in the fields
    is made `new`. Entry 1 has 16 words of 32 bits, or what `before` makes."""
    def altered(builder, context, part):
        said, groups = classed(builder, **make(1))(builder, context, part)
        assert said.count(old) == count, (name, said.count(old))
        return said.replace(old, new), groups

    def fill(b):
        number = b.reserve()
        for other in (before or numbers, *of):
            other(b)
        symbols(b, "x", 8, 8, altered, number=number)
        return b.finish(change=lambda r: r)
    add(name, wrong, fill)


def numbers(b):
    raw_words(b, "scales", 4, [b.random.randrange(1 << 32) for _ in range(16)])


def levels(form=UNSIGNED, view=words(4), block=(1, 4), **options):
    return lambda number: dict(levels=[source(of_entry(number, view), form, block, 2, **options)])


NAMED = of_entry(1, words(4))  # how entry 1 is named
TAIL = bytes([UNSIGNED, 1, 4, 2, 0])  # and what follows in a source
sourced("terms-bit-3", "a term that does not exist", lambda n: {}, b"\0" + varint(120) + b"\1\2",
        b"\x08" + varint(120) + b"\1\2")
sourced("sources-5", "five level sources", lambda n: dict(levels=[NAMED + TAIL] * 4), b"\x40" + varint(120),
        b"\x50" + varint(120))
sourced("form-5", "a form that does not exist", levels(), NAMED + TAIL, NAMED + put(TAIL, 0, b"\5"))
sourced("block-of-0", "blocks of no rows", levels(), NAMED + TAIL, NAMED + put(TAIL, 1, b"\0"))
sourced("fraction-5", "a fraction of 5", levels(), NAMED + TAIL, NAMED + put(TAIL, 3, b"\5"))
sourced("row-map-2", "neither a row map nor none", levels(), NAMED + TAIL, NAMED + put(TAIL, 4, b"\2"))
sourced("symbols-as-floats", "symbols as f16", levels(view=packed(8, 4)), of_entry(1, packed(8, 4)) + TAIL,
        of_entry(1, packed(8, 4)) + put(TAIL, 0, b"\2"))
sourced("words-of-4-as-f16", "words of 4 bytes as f16", levels(), NAMED + TAIL, NAMED + put(TAIL, 0, bytes([F16])))
sourced("words-of-2-as-f32", "words of 2 bytes as f32", levels(view=words(2)), of_entry(1, words(2)) + TAIL,
        of_entry(1, words(2)) + put(TAIL, 0, b"\4"))
sourced("words-of-8", "words of 8 bytes", levels(), NAMED + TAIL, of_entry(1, words(8)) + TAIL)
sourced("row-map-of-2", "a row map of words of 2 bytes", levels(row_map=NAMED), b"\1" + NAMED,
        b"\1" + of_entry(1, words(2)))
sourced("row-map-of-symbols", "a row map of symbols", levels(row_map=NAMED), b"\1" + NAMED,
        b"\1" + of_entry(1, packed(8, 4)))
sourced("source-unknown", "a source of an entry that there is not", levels(), NAMED, of_entry(9, words(4)))
sourced("source-part-1", "a source of a part that its entry has not", levels(), NAMED, of_entry(1, words(4), 1))
sourced("source-itself", "an entry that names itself", levels(), NAMED, of_entry(0, UNSIGNED_BYTES))
sourced("source-view", "a source by a view that does not fit", levels(), NAMED,
        of_entry(1, bytes([5, 2, 0, 0, 0, 0, 0, 0])))
sourced("source-own-part", "a source of a part that does not come before", levels(), NAMED, of_this(0))
sourced("source-without-base", "a source of a base in a file without one", levels(), NAMED, of_base("a", words(4)))
sourced("source-large", "a source of 4 n + 4097 bytes", levels(view=UNSIGNED_BYTES), of_entry(1, UNSIGNED_BYTES),
        of_entry(2, UNSIGNED_BYTES), before=lambda b: raw_words(b, "a", 1, [1] * 64),
        of=[lambda b: raw_words(b, "large", 1, [7] * 4353)])


def names_another(b):
    """An entry that names entry 2."""
    later = b.reserve()
    symbols(b, "other", 4, 4, raw(), number=later + 1 if later < 0 else b.reserve())
    code = classed(b, levels=[source(of_entry(later + 1, UNSIGNED_BYTES), UNSIGNED, (1, 4))])
    symbols(b, "names", 8, 8, code, number=later)


sourced("source-names-others", "a source whose entry names another", levels(view=UNSIGNED_BYTES),
        of_entry(1, UNSIGNED_BYTES), of_entry(2, UNSIGNED_BYTES), before=lambda b: raw_words(b, "a", 1, [1] * 64),
        of=[names_another])
sourced("maps-2-without-zero", "two maps and no zero source", lambda n: {}, b"\1\2\0", b"\2\2\0")
sourced("maps-0", "no map", lambda n: {}, b"\1\2\0", b"\0\2\0")
sourced("map-of-257", "a map of more than 256 classes", lambda n: {}, b"\1\2\0" + varint(252), b"\1\3\0" + varint(252))
sourced("class-without-table", "a class that has no table", lambda n: {}, b"\1\2\0", b"\1\2\2")


def of_parts(name, wrong, *codes):
    """A tensor of floats of 8 bytes: 8 parts, each coded as `codes[i](tables)` says, or raw."""
    def fill(b):
        tables = [b.table(bell(8, 10, 0, halving, 9)) for halving in (1, 2)]
        numbers(b)
        made = [codes[i](tables) if i < len(codes) else raw() for i in range(8)]
        b.tensor("x", "F64", [4, 8], bytes([4, 8, 0, 0, 0, 0, 0, 0]), *made, length=256)
        return b.finish(change=lambda r: r)
    add(name, wrong, fill)


def by(*parts, wrong=None):
    """Symbols with level sources; `wrong` stands for the last one once the fields are made."""
    def make(tables):
        maps = [[(3, 0), (253, 1)]]
        code = coded(log=10, tables=tables, classes=class_fields(maps, 60, levels=list(parts)))

        def altered(builder, context, part):
            said, groups = code(builder, context, part)
            return said.replace(parts[-1], wrong) if wrong else said, groups
        return altered
    return make


FIRST, SECOND = source(of_this(0), UNSIGNED, (3, 3)), source(of_this(1), UNSIGNED, (3, 3))
of_parts("own-source-with-sources", "a part of the tensor as a source, which has sources itself",
         by(), by(FIRST), by(FIRST, wrong=SECOND))
MAPPED = source(of_entry(0, words(4)), UNSIGNED, (1, 4), 0, of_entry(0, words(4)))
PLAIN = source(of_entry(0, words(4)), UNSIGNED, (1, 4))
OTHER = source(of_entry(0, words(4)), UNSIGNED, (1, 5))
of_parts("names-17", "a tensor that names 17 parts", by(*[MAPPED] * 4), by(*[MAPPED] * 3),
         by(OTHER, PLAIN, wrong=MAPPED))


# ---- short streams

def means(name, wrong, stream):
    """A stream of eight means, in the place of one that is right."""
    fields(name, wrong, predicted(COLUMN, means=MEANS), lambda f: f.replace(short_stream(MEANS), stream))


def stream_of(base, values, more=b""):
    return string(GolombWriter(BitWriter().put(base, 8)).signed(*values) + more)


means("short-stream-value", "a value of 256 in a short stream", stream_of(250, [1, 2, 3, 4, 5, 6, 0, 0]))
means("short-stream-left-over", "a byte left over in a short stream", stream_of(1, range(8), b"\0"))
means("short-stream-short", "a short stream that ends before its values", string(short_stream(MEANS)[1:-2]))
means("short-stream-padding", "a bit set behind the values of a short stream", put(
    short_stream(MEANS), -1, bytes([short_stream(MEANS)[-1] | 128])))
means("golomb-25", "a Golomb code of 25 one bits",
      string(BitWriter().put(0, 8).put((1 << 25) - 1, 25).bytes() + bytes(20)))


# ---- groups

groups_of("group-short", "a group that is shorter than its states", lambda g: g[:120])
groups_of("state-low", "a lane that begins below 2^16", lambda g: put(g, 8, b"\xff\xff\0\0"))
groups_of("state-end", "a lane that does not end at 2^16", lambda g: put(g, 4, bytes([g[4] ^ 1])))
groups_of("word-lacking", "a group whose words run out", lambda g: g[:-2])
groups_of("word-left-over", "a word left over", lambda g: g + b"ab")
groups_of("half-a-word", "half a word left over", lambda g: g + b"a")
groups_of("raw-size", "RAW of a byte too few", lambda g: g[:-1], raw_all)
groups_of("tile-padding", "a bit set behind the predictors of tiles", lambda g: put(g, 1, bytes([g[1] | 128])),
          predicted(OF_TILES))
groups_of("tile-column-without-means", "a tile of COLUMN without means", lambda g: put(
    g, 0, bytes([g[0] & ~7 | COLUMN])), predicted(OF_TILES))
groups_of("tile-reference-without-one", "a tile of REFERENCE without a reference", lambda g: put(
    g, 0, bytes([g[0] & ~7 | REFERENCE])), predicted(OF_TILES))


def transformed(b, frequencies=None, **options):
    table = b.table(explicit(8, 10, frequencies or [1023, 1]))
    return coded(log=10, tables=[table] * 16, prediction=prediction_fields((8, 8), 0), transform=True, **options)


ESCAPES = [0] * 7 + [512] + [0] * 247 + [512]


def escaping(b):
    return transformed(b, ESCAPES, scale=20)


groups_of("transform-3", "a transform that does not exist", lambda g: put(g, 0, b"\1\3"), transformed)
groups_of("transform-flag-2", "neither codes nor none", lambda g: put(g, 0, b"\2"), transformed)
groups_of("transform-padding", "a bit set behind the codes of sub-blocks", lambda g: put(g, 1, bytes([g[1] | 16])),
          transformed)
groups_of("escape-lacking", "an escape that is lacking", lambda g: g[:-2], escaping)
groups_of("escape-left-over", "an escape left over", lambda g: g + b"\0\0", escaping)
groups_of("escape-of-65281", "an escape of 65281: a number beyond 65535", lambda g: put(
    g, -2, struct.pack("<H", 65281)), escaping)
fields("transform-15-tables", "TRANSFORM with 15 tables", transformed,
       lambda f: f.replace(b"\x10" + bytes(16), b"\x0f" + bytes(15)))
fields("transform-and-classes", "TRANSFORM and CLASSES, of DIRECT", transformed, lambda f: put(
    bytes(f), 1, bytes([f[1] | 16])) + class_fields(EVERY))


def planes(b, scale=4, **options):
    return coded(BITPLANE, log=10, prediction=prediction_fields((4, 4), 0), scale=scale, **options)


groups_of("planes-17", "17 planes", lambda g: b"\x11" + bytes(68), planes)
groups_of("planes-lengths", "lengths of planes that are lacking", lambda g: g[:9], planes)
groups_of("plane-short", "a plane of three bytes", lambda g: b"\1\3\0\0\0abc", planes)
groups_of("plane-lacking", "a plane that is longer than its group", lambda g: put(g, 1, b"\xff"), planes)
groups_of("plane-left-over", "a byte behind the planes", lambda g: g + b"\0", planes)
groups_of("plane-not-used", "a byte left over in the last plane", lambda g: put(
    g, 1 + 4 * (g[0] - 1), struct.pack("<I", 1 + struct.unpack("<I", g[4 * g[0] - 3:4 * g[0] + 1])[0])) + b"\0", planes)
groups_of("plane-end", "a plane whose code does not end at 0", lambda g: flip(g, -1), planes)
fields("bitplane-with-table", "BITPLANE that names a table", planes, lambda f: f[:-1] + b"\1\0")
fields("bitplane-table-bits", "BITPLANE with table bits of 0", planes, lambda f: f[:-2] + b"\0\0")
fields("bitplane-kind-16", "BITPLANE with a kind of 16", lambda b: planes(b, classes=class_fields(EVERY)),
       lambda f: f[:-1] + b"\x10")
fields("bitplane-transform-kind-8", "BITPLANE with TRANSFORM and a kind of 8", lambda b: coded(
    BITPLANE, log=10, prediction=prediction_fields((8, 8), 0), transform=True, classes=class_fields(EVERY)),
    lambda f: f[:-1] + b"\x08")


def claim(b):
    """2^24 symbols in 128 bytes, whose only table has one symbol: the group may stand for 2^23."""
    number = b.table(explicit(8, 1, [2]))
    group, shape = encode_rans([], [], [], 1), [4096, 4096]

    def code(builder, context, part):
        part.data = np.zeros(1, np.uint8)
        return bytes([3, 0]) + varint(4096) + bytes([1, 1, number]), [group]
    b.tensor("x", "U8", shape, UNSIGNED_BYTES, code, length=1 << 24)
    b.entries[0].data = bytes(1 << 24)
    return b.finish(change=lambda r: r)


add("group-claims", "a group that claims 2^17 symbols for each of its bytes", claim)


# ---- Pco

def pco_group(name, wrong, change, group=64):
    """Of 64 numbers by the fields; `group` is how many there are."""
    def altered(builder, context, part):
        said, groups = pco(group, 9)(builder, context, part)
        return put(said, 1, b"\x40"), [change(groups[0])]

    def fill(b):
        b.tensor("x", "U32", [64], words(4), altered, length=256)
        return b.finish(change=lambda r: r)
    add(name, wrong, fill)


def signed_pco(g):
    """Of i32 in the place of u32: the uniform type, and that of the chunk, behind a hint of two bytes and versions."""
    assert g[5] == g[10] == 1
    return put(put(g, 5, b"\3"), 10, b"\3")


pco_group("pco-type", "Pco of i32 for words of u32", signed_pco)
pco_group("pco-left-over", "a byte behind a Pco file", lambda g: g + b"\0")
pco_group("pco-cut", "a Pco file that ends before its end", lambda g: g[:-1])
pco_group("pco-count", "Pco of fewer numbers than its group has", bytes, 40)


# ---- pairs of residuals

def in_pairs(b):
    """Pairs of what means of columns leave."""
    fields = prediction_fields((4, 4), COLUMN, 0, [3, 1, 2, 0, 1, 5, 6, 7])
    return coded(log=9, tables=[b.table(bell(8, 9, 0x11, 1, 6))], pairs=True, group_rows=8, prediction=fields)


of_4_bits("pairs-by-top", "PAIRS predicted by TOP", in_pairs, lambda f: put(f, 5, b"\2"))
of_4_bits("pairs-by-tile", "PAIRS whose tiles have predictors of their own", in_pairs, lambda f: put(f, 5, b"\xff"))
of_4_bits("pairs-and-transform", "PAIRS and TRANSFORM", in_pairs, lambda f: put(f, 1, b"\x0e"))
of_4_bits("pairs-of-planes", "BITPLANE with PAIRS", in_pairs, lambda f: put(f, 0, b"\4"))


def residual_pair(b):
    frequencies = [0] * 256
    frequencies[0x11], frequencies[0x43] = 500, 524
    only = [0] * 256
    only[0x11] = 1024
    number = b.table(explicit(8, 10, only))

    def altered(builder, context, part):
        fields = prediction_fields((4, 4), COLUMN, 0, [3, 1, 2, 0, 1, 0, 2, 3])
        said, _ = coded(log=10, tables=[number], pairs=True, prediction=fields)(builder, context, part)
        return said, [encode_rans([0x43] + [0x11] * 31, [0] * 32, [Table(8, 10, frequencies)], 10)]
    symbols(b, "x", 8, 8, altered, 2)
    b.tables[number] = explicit(8, 10, frequencies)
    return b.finish(change=lambda r: r)


add("residual-pair-of-more", "a pair whose second residual is 4, of 2 bits", residual_pair)


# ---- pairs in an order, and stacked ones

# [codec, flags, group rows, ...]
fields("flag-8", "a flag that does not exist, the second byte of flags", direct, then(1, 1, varint(256)))
FLAGS = PAIRS | CLASSES


def all_of_one(**options):
    """PAIRS of 4 bits, all of one class unless `options` say other classes or none."""
    options = {"classes": class_fields(EVERY), **options}
    return lambda b: coded(log=9, tables=[b.table(bell(8, 9, 0x11, 1, 6))], pairs=True, group_rows=8, **options)


def flags(number):
    return at(1, number)


LEVELS = class_fields(EVERY, cols=MEANS)
fields("order-without-pairs", "ORDER without PAIRS", lambda b: direct(b, classes=LEVELS), flags(CLASSES | ORDER))
of_4_bits("order-without-classes", "ORDER without CLASSES", all_of_one(classes=None), flags(PAIRS | ORDER))
of_4_bits("order-without-levels", "ORDER without levels of columns", all_of_one(), flags(FLAGS | ORDER))
of_4_bits("order-short-row", "ORDER with a last row that is short", all_of_one(
    recut=16, ordered=True, classes=class_fields(EVERY, cols=[1] * 16)), lambda f: put(f, 2, b"\x0a").replace(
        short_stream([1] * 16), short_stream([1] * 10)))
fields("stacked-without-pairs", "STACKED without PAIRS", lambda b: direct(b, classes=class_fields(EVERY)),
       flags(CLASSES | STACKED))
of_4_bits("stacked-without-classes", "STACKED without CLASSES", all_of_one(classes=None), flags(PAIRS | STACKED))
of_4_bits("stacked-and-order", "STACKED and ORDER", all_of_one(classes=LEVELS, ordered=True),
          flags(FLAGS | ORDER | STACKED))
of_4_bits("stacked-short-row", "STACKED with a last row that is short", all_of_one(recut=16, stacked=True), at(2, 10))


def stacked_by(name, wrong, old, new):
    """STACKED with a level source of blocks of 1 × 2; then `old` in the fields is made `new`."""
    def altered(builder, context, part):
        levels = class_fields(EVERY, levels=[source(of_entry(0, UNSIGNED_BYTES), UNSIGNED, (1, 2))])
        said, groups = all_of_one(stacked=True, classes=levels)(builder)(builder, context, part)
        assert said.count(old) == 1, name
        return said.replace(old, new), groups

    def fill(b):
        raw_words(b, "scales", 1, [1 << i % 8 for i in range(32)])
        symbols(b, "x", 8, 8, altered, 4)
        return b.finish(change=lambda r: r)
    add(name, wrong, fill)


BY = of_entry(0, UNSIGNED_BYTES)
stacked_by("stacked-with-zero", "STACKED with a zero source", b"\x10\0" + BY, b"\x04\0" + BY)
stacked_by("stacked-odd-blocks", "STACKED with blocks of 3 columns", BY + bytes([UNSIGNED, 1, 2]),
           BY + bytes([UNSIGNED, 1, 3]))


def odd_row(b):
    """Seven rows: of the fourth pair of a column both are the last one."""
    frequencies = [0] * 256
    frequencies[0x11], frequencies[0x21] = 500, 524
    only = [0] * 256
    only[0x11] = 1024
    number = b.table(explicit(8, 10, only))

    def altered(builder, context, part):
        said, _ = coded(log=10, tables=[number], pairs=True, stacked=True, classes=class_fields(EVERY))(
            builder, context, part)
        pairs = [0x11] * 3 + [0x21] + [0x11] * 28
        return said, [encode_rans(pairs, [0] * 32, [Table(8, 10, frequencies)], 10)]
    symbols(b, "x", 7, 8, altered, 4)
    b.tables[number] = explicit(8, 10, frequencies)
    return b.finish(change=lambda r: r)


add("stacked-odd-row", "a row that is paired with itself, whose halves are not the same", odd_row)
of_4_bits("stacked-many-rows", "STACKED in groups of 2^20 + 1 rows", all_of_one(stacked=True),
          then(2, 1, varint((1 << 20) + 1)))


def many_columns(b):
    """Rows of 2^16 + 2 symbols, of which none takes a bit."""
    only = [0] * 256
    only[0x11] = 1024
    options = dict(log=10, tables=[b.table(explicit(8, 10, only))], pairs=True, classes=class_fields(EVERY))

    def altered(builder, context, part):
        said, groups = coded(**options)(builder, context, part)
        return flags(FLAGS | STACKED)(said), groups
    symbols(b, "x", 2, (1 << 16) + 2, altered, 4)
    return b.finish(change=lambda r: r)


add("stacked-many-columns", "STACKED of 2^16 + 2 columns, which take no bytes", many_columns)


# ---- symbols that are said apart

# [codec, flags, flags, group rows, escape, ...]
def said_apart(b):
    return coded(log=10, tables=[b.table(bell(8, 10, 0, 2))], group_rows=8, escape=0)


def of_four_bits(b):
    return coded(log=9, tables=[b.table(bell(4, 9, 0, 1, 6))], group_rows=8, escape=0)


def fewer(g):
    return bytes([g[0] - 1]) + g[1:g[0]] + g[g[0] + 1:]


def more(g):
    return bytes([g[0] + 1]) + g[1:g[0] + 1] + b"\0" + g[g[0] + 1:]


def empty(code, number, escape=3, place=0):
    """Flags with ESCAPES, the escape behind the rows of a group, and in each group an empty list: nothing else is wrong."""
    def altered(builder):
        def apart(inner, context, part):
            said, groups = code(builder)(inner, context, part)
            assert said[2] < 128
            said = said[:1] + varint(number | ESCAPES_FLAG) + said[2:3] + bytes([escape]) + said[3:]
            return said, [group if place is None else group[:place] + b"\0" + group[place:] for group in groups]
        return apart
    return altered


def unchanged(said):
    return said


groups_of("symbol-apart-lacking", "a symbol that is said apart is lacking", fewer, said_apart)
groups_of("symbol-apart-left-over", "a symbol that is said apart is left over", more, said_apart)
groups_of("symbols-apart-beyond", "more symbols said apart than the group has bytes", lambda g: b"\xff\xff\x03" + g[1:],
          said_apart)
groups_of("symbols-apart-form", "a number of symbols said apart that is not in its shortest form",
          lambda g: bytes([g[0] | 128, 0]) + g[1:], said_apart)
fields("escapes-of-planes", "ESCAPES of BITPLANE", empty(lambda b: planes(b, group_rows=8), PREDICT, place=None), unchanged)
fields("escapes-of-transforms", "ESCAPES with TRANSFORM",
       empty(lambda b: transformed(b, codes=False, group_rows=8), PREDICT | TRANSFORM, place=1), unchanged)


def transformed_pairs(b):
    """What TRANSFORM allows, of COLUMN, as PAIRS need it."""
    prediction = prediction_fields((8, 8), COLUMN, 0, MEANS)
    return coded(log=10, tables=[b.table(explicit(8, 10, [1023, 1]))] * 16, prediction=prediction, transform=True, codes=False,
                 group_rows=8)


of_4_bits("escapes-of-pairs-and-transforms", "ESCAPES with PAIRS and TRANSFORM",
          empty(transformed_pairs, PAIRS | PREDICT | TRANSFORM, place=1), unchanged)
of_4_bits("escape-of-more-bits", "an escape that is no symbol of 4 bits",
          empty(lambda b: coded(log=9, tables=[b.table(bell(4, 9, 0, 1, 6))], group_rows=8), 0, 16), unchanged)
of_4_bits("symbol-apart-of-more-bits", "a symbol said apart that is not of 4 bits", of_four_bits, unchanged,
          lambda g: g[:1] + b"\x10" + g[2:])
