"""Small files of WCodec that latens did not write: each case fills a builder of wcodec_writer.py."""
from wcodec_encode import curve, explicit, product_table
from wcodec_reader import INLINE, STORED
from wcodec_streams import frequencies_of, knots_of
from wcodec_symbols import ADDED, BF16, BITPLANE, F16, F32, SIGNED, UNSIGNED
from wcodec_tiles import COLUMN, DC, LEFT, LINEAR, OF_TILES, PLANAR, REFERENCE
from wcodec_views import BLOCKS, product
from wcodec_writer import (RAW_VIEW, UNSIGNED_BYTES, class_fields, coded, of_base, of_entry, of_file, of_this, part_of,
                           pco, pco_runs, prediction_fields, raw, source)

CASES = {}  # name: what it covers, and the function


def case(covers):
    def add(function):
        CASES[function.__name__.replace("_", "-")] = covers, function
        return function
    return add


def words(width, order=0):
    return bytes([3, width, order, 0, 0, 0, 0, 0])


def packed(bits, width, order=0, axis=0, sign=1, columns=0):
    return bytes([2, bits, width, order + 4 * axis + 8 * sign]) + columns.to_bytes(4, "little")


def bell(bits, log, centre=0, halving=2, extent=12):
    """An explicit table around a symbol."""
    distances = sorted(range(-(extent - 1), extent), key=lambda d: (abs(d), -d))
    weights = {}
    for d in distances:
        weights.setdefault((centre + d) % (1 << bits), max(1, 1 << 16 >> abs(d) // halving))
    return explicit(bits, log, frequencies_of(weights, 1 << bits, log))


def symbols(b, name, rows, cols, code, bits=8, **options):
    """A tensor of symbols: bytes, or packed in bytes."""
    n = 8 // bits
    view = UNSIGNED_BYTES if bits == 8 else packed(bits, 1)
    return b.tensor(name, "U8", [rows, cols // n], view, code, length=rows * cols // n, **options)


def raw_words(b, name, width, values, **options):
    return b.tensor(name, f"U{8 * width}", [len(values)], words(width) if width > 1 else UNSIGNED_BYTES, raw(values),
                    length=width * len(values), **options)


def four_tables(b, bits=8, log=11):
    return [b.table(bell(bits, log, 0, halving, extent)) for halving, extent in ((1, 3), (2, 5), (4, 7), (8, 9))]


FOUR = [[(1, 0)] + [(3, s % 4) for s in range(85)]]  # a map on which nearly every level tells


# ---- symbols without prediction

@case("PAIRS of 4 bits, products and an explicit table of pairs, groups of several rows")
def pairs_of_4_bits(b):
    low, high = b.table(bell(4, 6, 8, 1)), b.table(bell(4, 9, 7, 2))
    tables = [b.table(product_table(log, low, high)) for log in (8, 11, 14)]
    for log, table in zip((8, 11, 14), tables):
        symbols(b, f"product of {log}", 12, 16, coded(pairs=True, group_rows=5, log=log, tables=[table]), 4)
    table = b.table(bell(8, 10, 0x77, 1, 40))
    symbols(b, "explicit", 12, 16, coded(pairs=True, log=10, tables=[table]), 4)
    symbols(b, "nibbles", 12, 16, coded(log=9, tables=[high]), 4)


@case("PAIRS of 2 bits, with RECUT and rows of another length, 2 bits one by one")
def pairs_of_2_bits(b):
    weights = {lo | hi << 4: 1 + 5 * (lo == 1) + 3 * (hi == 2) for lo in range(4) for hi in range(4)}
    table = b.table(explicit(8, 10, frequencies_of(weights, 256, 10)))
    symbols(b, "pairs", 9, 24, coded(pairs=True, group_rows=4, log=10, tables=[table]), 2)
    symbols(b, "recut", 9, 24, coded(pairs=True, recut=14, group_rows=3, log=10, tables=[table]), 2)
    one = b.table(bell(2, 5, 1, 1, 2))
    symbols(b, "alone", 9, 24, coded(log=5, tables=[one]), 2)


@case("PAIRS with classes of rows, columns and blocks: a pair has those of its first symbol")
def pairs_of_classes(b):
    tables = [b.table(bell(8, 11, 0x88, halving, 60)) for halving in (1, 2, 8, 20)]
    scales = raw_words(b, "scales", 2, [b.random.randrange(65536) for _ in range(12 * 5)])
    levels = source(of_entry(scales, words(2)), UNSIGNED, (1, 5), 1)
    rows, cols = [b.random.randrange(9) for _ in range(12)], [b.random.randrange(5) for _ in range(12)]
    fields = class_fields(FOUR, 40, rows, cols, [levels])
    symbols(b, "blocks of 5 columns", 12, 24, coded(pairs=True, log=11, tables=tables, classes=fields), 4)
    fields = class_fields(FOUR, 33, None, [b.random.randrange(50) for _ in range(9)], [levels])
    symbols(b, "cut anew", 12, 24, coded(pairs=True, recut=18, log=11, tables=tables, classes=fields), 4)


@case("CLASSES of rows, of columns, of both, with RECUT and a short last row; bias of both signs")
def classes_of_rows_and_columns(b):
    tables, draw = four_tables(b), b.random.randrange
    rows, cols = [draw(256) for _ in range(14)], [draw(256) for _ in range(20)]
    symbols(b, "rows", 14, 20, coded(group_rows=6, log=11, tables=tables, classes=class_fields(FOUR, 0, rows)))
    symbols(b, "columns", 14, 20, coded(log=11, tables=tables, classes=class_fields(FOUR, -3, None, cols)))
    both = class_fields(FOUR, -200, rows, cols)
    symbols(b, "both", 14, 20, coded(group_rows=5, log=11, tables=tables, classes=both))
    rows, cols = [draw(200) for _ in range(19)], [draw(90) for _ in range(15)]
    short = class_fields([[(100, 3), (1, 0), (155, 2)]], 7, rows, cols)
    symbols(b, "cut anew", 14, 20, coded(recut=15, group_rows=7, log=11, tables=tables, classes=short))


@case("level sources of every form and width, with fractions of 0 to 4")
def level_sources(b):
    tables, draw, n = four_tables(b), b.random.randrange, 0
    for width, form in [(1, UNSIGNED), (1, SIGNED), (2, UNSIGNED), (2, SIGNED), (2, F16), (2, BF16), (4, UNSIGNED),
                        (4, SIGNED), (4, F32)]:
        numbers = [0, (1 << 8 * width) - 1, 1 << 8 * width - 1] + [draw(1 << 8 * width) for _ in range(13)]
        number = raw_words(b, f"s{n}", width, numbers)
        view = words(width, n % 4 if width > 1 and n % 4 != 1 else 0) if width > 1 else UNSIGNED_BYTES
        levels = source(of_entry(number, view), form, (2, 3), n % 5)
        fields = class_fields(FOUR, 200, None, None, [levels])
        symbols(b, f"w{n}", 8, 10, coded(log=11, tables=tables, classes=fields))
        n += 1


@case("sources of bytes in each form (bytes that fill no number are ignored), of 2 and 4 bits, of a blob and a copy")
def odd_sources(b):
    tables, draw = four_tables(b), b.random.randrange
    rest = b.tensor("rest", "U8", [23], RAW_VIEW, raw(), length=23)
    for form in (UNSIGNED, SIGNED, F16, BF16, F32):
        levels = source(of_entry(rest), form, (3, 4), 2)
        fields = class_fields(FOUR, 150, None, None, [levels])
        symbols(b, f"form {form}", 8, 10, coded(log=11, tables=tables, classes=fields))
    blob, copy = b.blob(bytes(draw(256) for _ in range(20))), b.copy("copy", "U8", [23], rest)
    four = [source(of_entry(rest, packed(4, 1)), SIGNED, (1, 2), 4),
            source(of_entry(rest, packed(2, 1)), UNSIGNED, (2, 2), 1),
            source(of_entry(blob), UNSIGNED, (4, 4), 0), source(of_entry(copy), SIGNED, (1 << 50, 1), 3)]
    fields = class_fields(FOUR, 150, None, None, four)
    symbols(b, "four", 8, 10, coded(log=11, tables=tables, classes=fields))


@case("zero sources: raw bits whatever the form says; fewer and more maps than values")
def zero_sources(b):
    tables, draw = four_tables(b), b.random.randrange
    maps = [[(256, 1)], [(128, 0), (128, 2)], [(256, 3)]]
    rows = [draw(256) for _ in range(8)]
    for n, (width, form, fraction) in enumerate([(1, UNSIGNED, 0), (1, SIGNED, 3), (2, F16, 1), (4, UNSIGNED, 4)]):
        number = raw_words(b, f"z{n}", width, [0, 1, 2, 255] + [draw(4) for _ in range(12)])
        view = words(width) if width > 1 else UNSIGNED_BYTES
        zero = source(of_entry(number, view), form, (1, 5), fraction)
        fields = class_fields(maps, 0, rows, None, [], zero)
        symbols(b, f"w{n}", 8, 10, coded(log=11, tables=tables, classes=fields))
    number = raw_words(b, "fours", 1, [draw(256) for _ in range(20)])
    zero = source(of_entry(number, packed(4, 1)), UNSIGNED, (1, 2))
    many = class_fields([[(256, z % 4)] for z in range(18)], 0, None, None, [], zero)
    symbols(b, "nibbles", 8, 10, coded(log=11, tables=tables, classes=many))


def maps_of_rows(b):
    """Whole, too short, too long, with rows that no block has: parts of each, as words or bytes."""
    draw = b.random.randrange
    maps = [[draw(4) for _ in range(8)], [3, 1, 2], [draw(4) for _ in range(11)], [0, 1, 0xFFFFFFFF, 4, 2, 3, 77, 1]]
    for n, rows in enumerate(maps):
        yield of_entry(raw_words(b, f"map {n}", 4, rows), words(4) if n % 2 else RAW_VIEW)


@case("row maps of levels: whole, too short, too long, with rows that no block has")
def row_maps(b):
    tables, scales = four_tables(b), raw_words(b, "scales", 2, [b.random.randrange(65536) for _ in range(12)])
    for n, of_rows in enumerate(maps_of_rows(b)):
        levels = source(of_entry(scales, words(2)), UNSIGNED, (1, 4), 2, of_rows)
        fields = class_fields(FOUR, 100, None, None, [levels])
        symbols(b, f"w{n}", 8, 10, coded(log=11, tables=tables, classes=fields))


@case("row maps of zero points")
def row_maps_of_zeros(b):
    tables, zeros = four_tables(b), raw_words(b, "zeros", 2, [b.random.randrange(5) for _ in range(12)])
    for n, of_rows in enumerate(maps_of_rows(b)):
        zero = source(of_entry(zeros, words(2)), UNSIGNED, (5, 9), 0, of_rows)
        fields = class_fields([[(256, z)] for z in range(4)], 0, None, None, [], zero)
        symbols(b, f"z{n}", 8, 10, coded(group_rows=5, log=11, tables=tables, classes=fields))


@case("an earlier part of the tensor as a source, and entries that come after")
def own_and_later_parts(b):
    tables, later = four_tables(b), b.reserve()
    raw_words(b, "later", 1, [b.random.randrange(256) for _ in range(30)], number=later)
    exponent = coded(log=11, tables=tables[2:3])
    levels = [source(of_this(0), form, (1, 1), 1) for form in (UNSIGNED, SIGNED)]
    levels += [source(of_entry(later, UNSIGNED_BYTES), UNSIGNED, (2, 3))]
    mantissa = coded(log=11, tables=tables, classes=class_fields(FOUR, 60, None, None, levels))
    b.tensor("floats", "F16", [7, 12], bytes([4, 2, 0, 0, 0, 0, 0, 0]), exponent, mantissa, length=168)


@case("RECUT: rows of 1, of a row that is short at the end, of all")
def recut(b):
    table = b.table(bell(8, 10, 3, 3))
    for cols in (1, 7, 9, 63, 64, 1000):
        symbols(b, f"of {cols}", 7, 9, coded(recut=cols, group_rows=max(1, 30 // cols), log=10, tables=[table]))


# ---- tables

@case("curves: above, below, both, symmetric, narrow, all symbols, round the end of the alphabet; 2 to 8 bits")
def curves(b):
    forms = [(8, 12, 3, 0, 30), (8, 12, 250, 30, 0), (8, 13, 128, 100, 127), (8, 10, 0, 0, 0), (8, 11, 5, 1, 1),
             (8, 14, 77, 127, 128), (4, 9, 8, 7, 8), (4, 4, 3, 2, 2), (2, 6, 1, 1, 2), (8, 8, 9, 90, 165)]
    for n, (bits, log, centre, below, above) in enumerate(forms):
        down = lambda e: [-b.random.randrange(20) for _ in knots_of(e)]  # noqa: E731
        table = b.table(curve(bits, log, centre, below, above, down(above), down(below)))
        symbols(b, f"c{n}", 4, 24, coded(log=log, tables=[table]), bits)
    for n, (bits, log, below, above) in enumerate([(8, 12, 40, 40), (8, 12, 5, 60), (8, 9, 0, 17), (4, 7, 7, 7)]):
        steps = [12 - b.random.randrange(40) if i else -90 for i, _ in enumerate(knots_of(above))]
        table = b.table(curve(bits, log, 1, below, above, steps))
        symbols(b, f"s{n}", 4, 24, coded(log=log, tables=[table]), bits)


@case("explicit tables of 2 to 8 bits and of 2^1 to 2^14 slots; one symbol alone; large steps; 64 of them named")
def explicit_tables(b):
    for log in range(1, 15):
        table = b.table(bell(8, log, 9 * log, 1, min(40, 1 << log - 1)))
        symbols(b, f"of {log}", 3, 16, coded(log=log, tables=[table]))
    last = b.table(explicit(8, 14, [1] * 255 + [(1 << 14) - 255]))
    symbols(b, "the last one", 3, 16, coded(log=14, tables=[last]))
    one = b.table(explicit(4, 1, [0] * 15 + [2]))
    symbols(b, "one", 3, 16, coded(log=1, tables=[one]), 4)
    fields = class_fields([[(4, k) for k in range(64)]], 0, [97, 250, 31])
    symbols(b, "64 tables", 3, 16, coded(log=14, tables=[last] * 64, classes=fields))
    symbols(b, "more than it needs", 3, 16, coded(log=14, tables=[last, last]))


# ---- prediction and transforms

@case("each predictor for all tiles; tiles of one symbol, cropped ones, larger ones than the band; centres; 4 bits")
def predictors(b):
    eight, four = b.table(bell(8, 10, 0, 2)), b.table(bell(4, 9, 0, 1, 6))
    symbols(b, "like", 9, 14, raw())
    draw = b.random.randrange
    for p in range(8):
        tile = [(1, 1), (4, 4), (3, 5), (8, 20)][p % 4]
        means = [draw(256) for _ in range(14)] if p == COLUMN else None
        fields = prediction_fields(tile, p, draw(256), means, of_entry(0, UNSIGNED_BYTES) if p == REFERENCE else None)
        symbols(b, f"p{p}", 9, 14, coded(prediction=fields, group_rows=5, log=10, tables=[eight]))
        if p != REFERENCE:
            means = [draw(16) for _ in range(14)] if p == COLUMN else None
            fields = prediction_fields(tile, p, 8, means)
            symbols(b, f"q{p}", 9, 14, coded(prediction=fields, log=9, tables=[four]), 4)


@case("tiles with predictors of their own, all eight; DIRECT and BITPLANE; CLASSES of the residuals; RECUT")
def tiles_of_their_own(b):
    tables, draw = four_tables(b), b.random.randrange
    symbols(b, "like", 12, 18, raw())
    means = [draw(256) for _ in range(18)]
    fields = prediction_fields((4, 5), OF_TILES, 128, means, of_entry(0, UNSIGNED_BYTES))
    symbols(b, "direct", 12, 18, coded(prediction=fields, log=11, tables=tables[:1]))
    classes = class_fields(FOUR, 0, [draw(256) for _ in range(12)])
    symbols(b, "of classes", 12, 18, coded(prediction=fields, group_rows=8, log=11, tables=tables, classes=classes))
    symbols(b, "planes", 12, 18, coded(BITPLANE, prediction=fields, scale=3))
    again = prediction_fields((4, 5), OF_TILES, 1, [draw(256) for _ in range(24)], of_entry(0, UNSIGNED_BYTES))
    symbols(b, "cut anew", 12, 18, coded(prediction=again, recut=24, log=11, tables=tables[:1]))


@case("LINEAR: reach of 1 and of all columns, weights of −128 and 127, sums that are clamped; 8 and 4 bits")
def linear(b):
    eight, four, draw = b.table(bell(8, 10, 0, 2)), b.table(bell(4, 9, 0, 1, 6)), b.random.randrange
    forms = [(8, 10, 1, -128, 127), (8, 10, 9, -128, 127), (8, 12, 4, 60, 127), (4, 10, 3, -40, 40),
             (8, 2, 1, -128, -128)]
    for n, (bits, cols, reach, low, high) in enumerate(forms):
        weights = [draw(low, high + 1) for _ in range(sum(min(c, reach) for c in range(cols)))]
        means, centre = [draw(1 << bits) for _ in range(cols)], draw(1 << bits)
        fields = prediction_fields((4, 4), LINEAR, centre, means, None, reach, weights)
        log, table = (10, eight) if bits == 8 else (9, four)
        symbols(b, f"l{n}", 11, cols, coded(prediction=fields, group_rows=4, log=log, tables=[table]), bits)
    symbols(b, "planes", 11, 2, coded(BITPLANE, prediction=fields, scale=9))


def sixteen(b, log=11):
    return [b.table(bell(8, log, 0, 1 + k, 20)) for k in range(4)] * 4


@case("DCT and ADST of residuals, sub-blocks in tiles that are cropped, none of them, 4 bits")
def transforms(b):
    tables = sixteen(b)
    for n, (rows, cols, tile, bits) in enumerate([(16, 16, (16, 16), 8), (19, 21, (9, 17), 8), (17, 16, (8, 8), 4)]):
        for predictor in (0, PLANAR, OF_TILES):
            fields = prediction_fields(tile, predictor, 3)
            code = coded(prediction=fields, transform=True, log=11, tables=tables, group_rows=20)
            symbols(b, f"t{n} {predictor}", rows, cols, code, bits)
    code = coded(prediction=fields, transform=True, log=11, tables=tables, codes=False)
    symbols(b, "no codes", 16, 16, code)


@case("escapes up to the largest, 65280: coefficients of 16 bits, whose sums and products wrap")
def escapes(b):
    weights = {255: 9, 0: 4, 1: 3, 254: 2, 7: 1}
    table = b.table(explicit(8, 11, frequencies_of(weights, 256, 11)))
    for scale in (300, 4000, 40000):
        fields = prediction_fields((8, 16), DC, 100)
        code = coded(prediction=fields, transform=True, log=11, tables=[table] * 16, scale=scale)
        symbols(b, f"of {scale}", 12, 16, code)
    code = coded(prediction=fields, transform=True, log=11, tables=[table] * 16, scale=40000, codes=False)
    symbols(b, "residuals", 12, 16, code)


@case("bitplanes with kinds of classes, of transforms, of both; up to 16 planes, whose values are clamped; none")
def bitplanes(b):
    draw = b.random.randrange
    plain, tiled = prediction_fields((4, 4), 0, 5), prediction_fields((8, 9), OF_TILES, 5)
    kinds = class_fields([[(16, k) for k in range(16)]], 0, [draw(256) for _ in range(9)])
    seven = class_fields([[(32, k) for k in range(8)]], 0, [draw(256) for _ in range(17)])
    symbols(b, "kinds", 9, 12, coded(BITPLANE, prediction=plain, classes=kinds, scale=20))
    symbols(b, "transforms", 17, 18, coded(BITPLANE, prediction=tiled, transform=True, scale=2))
    symbols(b, "both", 17, 18, coded(BITPLANE, prediction=tiled, transform=True, classes=seven, scale=2, group_rows=12))
    symbols(b, "wide", 4, 6, coded(BITPLANE, prediction=plain, scale=40000))
    symbols(b, "nothing", 4, 6, coded(BITPLANE, prediction=plain, scale=0))
    symbols(b, "4 bits", 9, 12, coded(BITPLANE, prediction=plain, scale=4, log=1), 4)


# ---- views

@case("packed symbols of 2 to 8 bits in words of 1 to 8 bytes: each order, axis, sign; columns of their own")
def packed_orders(b):
    for bits, width, order, axis, sign, columns in [
            (2, 1, 0, 0, 0, 0), (2, 4, 1, 0, 1, 0), (2, 8, 0, 1, 2, 0), (4, 1, 1, 0, 0, 0), (4, 2, 0, 1, 1, 0),
            (4, 4, 0, 0, 2, 0), (4, 4, 1, 1, 0, 0), (4, 4, 2, 0, 0, 0), (4, 4, 2, 1, 1, 0), (4, 8, 1, 1, 0, 0),
            (8, 1, 0, 0, 0, 0), (8, 2, 1, 0, 1, 0), (8, 4, 0, 1, 2, 0), (8, 8, 1, 1, 0, 0), (4, 4, 0, 0, 0, 24),
            (2, 2, 1, 0, 0, 32)]:
        view, dtype = packed(bits, width, order, axis, sign, columns), {1: "U8", 2: "I16", 4: "I32", 8: "U64"}[width]
        name = f"{bits} in {width}, {order} {axis} {sign} {columns}"
        b.tensor(name, dtype, [3, 4], view, raw(group=7), length=12 * width)
    for bits, width, axis, sign, columns in [
            (3, 4, 0, 1, 0), (3, 4, 1, 1, 0), (3, 1, 0, 0, 24), (3, 8, 1, 2, 0), (5, 4, 0, 1, 0), (5, 2, 1, 0, 0), (6, 4, 0, 1, 48),
            (6, 4, 1, 1, 0), (6, 1, 0, 2, 0), (6, 8, 0, 0, 0)]:
        view, dtype = packed(bits, width, 0, axis, sign, columns), {1: "U8", 2: "I16", 4: "I32", 8: "U64"}[width]
        b.tensor(f"{bits} in {width}, {axis} {sign} {columns}", dtype, [15, 15], view, raw(group=64), length=225 * width)
    three, four = (b.table(bell(bits, 9, 1 << bits - 1, 1, 1 << bits - 1)) for bits in (3, 6))
    b.tensor("gptq of 3 bits", "I32", [6, 20], packed(3, 4, 0, 1), coded(log=9, tables=[three]), length=480)
    b.tensor("mlx of 6 bits", "U32", [20, 6], packed(6, 4), coded(log=9, tables=[four]), length=480)
    table = b.table(bell(4, 9, 8, 1, 8))
    b.tensor("awq", "I32", [6, 4], packed(4, 4, 2, 0, 1), coded(pairs=True, log=12, tables=[
        b.table(product_table(12, table, table))]), length=96)
    b.tensor("gptq", "I32", [2, 24], packed(4, 4, 0, 1), coded(log=9, tables=[table]), length=192)


@case("words of 1, 2, 4, 8 bytes in each order, RAW and Pco, of float types and others; F8, F6 and F4")
def words_and_orders(b):
    for width in (1, 2, 4, 8):
        for order in range(4):
            if (width, order) == (1, 1):
                continue
            dtype = {1: "I8", 2: "BF16", 4: "I32", 8: "F64"}[width]
            b.tensor(f"{width} {order}", dtype, [2, 3], words(width, order), raw(group=4), length=6 * width)
            if width > 1:
                b.tensor(f"{width} {order} pco", dtype, [3, 9], words(width, order), pco(20, 7), length=27 * width)
    b.tensor("all of Pco", "F32", [2, 5], words(4, 1), pco(10, 32), length=40)
    b.tensor("halves of words", "I32", [2, 3], words(2), raw(), length=24)
    b.tensor("f6", "F6_E2M3", [4, 4], UNSIGNED_BYTES, raw(), length=12)
    b.tensor("f4", "F4", [4, 16], packed(4, 1), raw(), length=32)
    b.tensor("c64", "C64", [3], words(8), raw(), length=24)
    b.tensor("signed", "I8", [5], bytes([1, 0, 0, 0, 0, 0, 0, 0]), raw(), length=5)
    b.tensor("offset", "U8", [5], bytes([1, 2, 0, 0, 0, 0, 0, 0]), raw(), length=5)


@case("floats of 2, 4, 8 bytes as planes of bytes")
def float_bytes(b):
    table = b.table(bell(8, 11, 120, 2))
    for width, dtype in ((2, "BF16"), (4, "F32"), (8, "F64")):
        view = bytes([4, width, 0, 0, 0, 0, 0, 0])
        b.tensor(dtype, dtype, [6, 7], view, coded(log=11, tables=[table]), *[raw()] * (width - 1), length=42 * width)


@case("bytes of types that nobody knows, or that are not taken apart; lengths that no shape has; DIRECT for bytes")
def raw_and_unknown(b):
    table = b.table(bell(8, 11, 60, 2))
    for dtype, shape, length in [("FOO", [2, 3], 7), ("U8", [2, 3], 7), ("F4", [3, 1], 2), ("sixteen letters.", [], 5),
                                 ("IQ2_XXS", [256], 66), ("Q2_K", [256], 84), ("ü", [5], 4), ("F32", [2, 2], 16)]:
        b.tensor(f"{dtype} {shape}", dtype, shape, RAW_VIEW, raw(group=5), length=length)
    b.tensor("direct", "FOO", [9], RAW_VIEW, coded(log=11, tables=[table]), length=150)
    b.tensor("cut", "FOO", [9], RAW_VIEW, coded(recut=40, group_rows=2, log=11, tables=[table]), length=150)
    b.tensor("blocks as bytes", "Q4_0", [2, 64], UNSIGNED_BYTES, raw(), length=72)
    b.tensor("others as bytes", "IQ3_XXS", [1, 256], UNSIGNED_BYTES, raw(), length=98)
    b.tensor("words of them", "Q2_K", [2, 256], words(4), raw(), length=168)


def blocks_case(number, name, size, count):
    def fill(b):
        view = bytes([5, number, 0, 0, 0, 0, 0, 0])
        width = {32: 64, 256: 256}[count]
        length = 2 * width // count * size
        entry_parts = len(b_parts(name))
        b.tensor("raw", name, [2, width], view, *[raw()] * entry_parts, length=length)
        b.tensor("stored", name, [2, 1, width], view, *[raw(group=50)] * entry_parts, length=length, storage=STORED)
        if count == 32:
            tables = {bits: b.table(bell(bits, 9, 1 << bits - 1, 1, 8)) for bits in (4, 5, 8)}
            codes = [pco(3, 9) if kind == "w" else coded(log=9, tables=[tables[bits]]) for kind, bits in b_parts(name)]
            b.tensor("coded", name, [2, width], view, *codes, length=length)
    fill.__name__ = f"blocks-{name.lower()}".replace("_", "-")
    return case(f"blocks of {name}")(fill)


def b_parts(name):
    """The parts of a type of blocks: words, or symbols of so many bits."""
    word, bits = ("w", 16), {"Q4_0": 4, "IQ4_NL": 4, "Q4_1": 4, "Q5_0": 5, "Q5_1": 5, "Q8_0": 8}.get(name)
    if bits:
        return [word] * (2 if name.endswith("_1") else 1) + [("s", bits)]
    return {"MXFP4": [("s", 8), ("s", 4)], "Q6_K": [word, ("s", 8), ("s", 6)]}.get(
        name, [word, word, ("s", 6), ("s", 6), ("s", 5 if name == "Q5_K" else 4)])


for _number, (_name, _size, _count, _) in BLOCKS.items():
    blocks_case(_number, _name, _size, _count)


@case("matrices of shapes: scalars, vectors, three and more dimensions with a long last one and without")
def shapes(b):
    table = b.table(bell(8, 10, 0, 2))
    for shape in ([], [1], [70], [5, 8], [2, 1, 3], [2, 3, 64], [4, 3, 2, 2], [1] * 30 + [3, 5]):
        code = coded(prediction=prediction_fields((2, 3), LEFT), log=10, tables=[table])
        b.tensor(f"{shape}", "I8", shape, UNSIGNED_BYTES, code, length=product(shape))
    b.tensor("words of rows", "U8", [4, 2, 4], words(2), raw(), length=32)


# ---- the container

@case("stored entries of several parts and groups, their padding and checksums, beside inline ones; the header knows")
def stored(b):
    table = b.table(bell(8, 10, 0, 2))
    for n, storage in enumerate((STORED, 1, STORED, STORED)):
        b.tensor(f"t{n}", "BF16", [7, 5], bytes([4, 2, 0, 0, 0, 0, 0, 0]), coded(log=10, tables=[table], group_rows=3),
                 raw(group=9), length=70, storage=storage)
    b.file("model.bin", *range(4))
    return dict(known=True, quantisation=2)


@case("copies of tensors and of blobs under other names, types and shapes; files of segments and zeros; many files")
def copies_and_blobs(b):
    first = symbols(b, "model.a", 4, 6, raw())
    blob = b.blob(b"\x07header of it")
    b.copy("model.b", "I16", [4, 3], first)
    b.copy("c", "FOO", [2, 2], blob)
    b.copy("", "", [], blob, kind=1)
    b.file("a.bin", blob, first, ("zeros", 5), 3, 4, 2)
    b.file("zeros", ("zeros", 1000))
    b.file("nothing")
    b.file("A.BIN", blob)


@case("names that share beginnings, of 1024 bytes, empty, with separators and what is no letter")
def names(b):
    for name in ("model.layers.0.weight", "model.layers.0.bias", "model.layers.11.weight", "model", "", "../../etc",
                 "n" * 1024, "n" * 1023 + "m", "Ünïcödé \u2028 \U0001f40d", "a\0b", " "):
        b.tensor(name, "U8", [2], UNSIGNED_BYTES, raw(), length=2)


@case("ancillary records before, between and behind the others; a higher minor version; all tiles 0")
def odd_records(b):
    symbols(b, "x", 4, 6, raw())
    b.file("model.bin", 0)
    b.odd = {0: (1, b"first"), 2: (99, b""), 4: (7, bytes(40)), 6: (1 << 40 | 1, b"last")}
    return dict(minor=7, known=True)


@case("tensors without elements in every view, with groups of 1 and no table; no entries beside them")
def empty_tensors(b):
    for dtype, shape, view, n in [
            ("F32", [0, 5], RAW_VIEW, 1), ("U8", [5, 0, 3], UNSIGNED_BYTES, 1), ("I32", [0], packed(4, 4), 1),
            ("I32", [0, 8], packed(4, 4, columns=8), 1), ("I32", [8, 0], packed(4, 4, 0, 1), 1),
            ("F16", [0], words(2, 1), 1), ("F64", [3, 0], bytes([4, 8, 0, 0, 0, 0, 0, 0]), 8),
            ("Q4_K", [0, 256], bytes([5, 12, 0, 0, 0, 0, 0, 0]), 5)]:
        b.tensor(f"{dtype} {view[0]} {view[3]} {view[4]}", dtype, shape, view, *[raw()] * n, length=0)
    symbols(b, "direct", 0, 4, coded(log=3, tables=[]))
    symbols(b, "planes", 0, 4, coded(BITPLANE, prediction=prediction_fields((4, 4), 0), log=3))
    b.tensor("pco", "U16", [0], words(2), pco(9, 3), length=0)
    b.file("model.bin", *range(11))


@case("no entries, no tables, no files")
def nothing(b):
    pass


@case("groups of one row, of more rows than there are, of all lengths that are not multiples of 32 or 4")
def groups(b):
    table = b.table(bell(8, 10, 0, 2))
    for rows, cols, group_rows in [(5, 7, 1), (3, 33, 2), (2, 32, 1), (1, 1, 1), (4, 31, 1 << 56), (6, 16, 4)]:
        symbols(b, f"{rows} {cols} {group_rows}", rows, cols, coded(group_rows=group_rows, log=10, tables=[table]))
    symbols(b, "raw", 3, 5, raw(group=4), storage=STORED)
    symbols(b, "raw of more", 3, 5, raw(group=1 << 50))


def base_tensors(random):
    draw = lambda n: bytes(random.randrange(256) for _ in range(n))  # noqa: E731
    return {"like": ("U8", [12, 10], draw(120)), "scales": ("F32", [12], draw(48)), "large": ("U8", [5000], draw(5000))}


@case("against base.safetensors: a reference, level sources (one of 5000 bytes), a zero source")
def against_a_base(b):
    tables = four_tables(b)
    like = of_base("like", UNSIGNED_BYTES)
    fields = prediction_fields((4, 4), REFERENCE, 0, None, like)
    symbols(b, "fine", 12, 10, coded(prediction=fields, log=11, tables=tables[:1]))
    fields = prediction_fields((4, 4), OF_TILES, 9, None, like)
    symbols(b, "tiles", 12, 10, coded(prediction=fields, log=11, tables=tables[:1]))
    levels = [source(of_base("scales"), F32, (1, 10), 1), source(of_base("large", UNSIGNED_BYTES), UNSIGNED, (1, 1), 0)]
    zero = source(of_base("like", packed(4, 1)), UNSIGNED, (1, 1))
    classes = class_fields([[(256, z % 4)] for z in range(7)] + FOUR, 100, None, None, levels, zero)
    symbols(b, "classes", 12, 10, coded(log=11, tables=tables, classes=classes))
    symbols(b, "alone", 2, 3, raw())


@case("PAIRS of what COLUMN leaves: of 4 and of 2 bits, with RECUT, with classes, in groups of several rows")
def pairs_of_columns(b):
    draw = b.random.randrange
    means = lambda bits, cols: prediction_fields((4, 4), COLUMN, 3, [draw(1 << bits) for _ in range(cols)])  # noqa: E731
    low, high = b.table(bell(4, 6, 8, 1)), b.table(bell(4, 9, 7, 2))
    product = b.table(product_table(12, low, high))
    symbols(b, "product", 12, 16, coded(pairs=True, prediction=means(4, 16), group_rows=5, log=12, tables=[product]), 4)
    tables = [b.table(bell(8, 11, 0x88, halving, 60)) for halving in (1, 2, 8, 20)]
    fields = class_fields(FOUR, 40, [draw(9) for _ in range(12)], [draw(5) for _ in range(33)])
    symbols(b, "classes", 12, 66, coded(pairs=True, prediction=means(4, 66), log=11, tables=tables, classes=fields), 4)
    weights = {lo | hi << 4: 1 + 5 * (lo == 1) + 3 * (hi == 2) for lo in range(4) for hi in range(4)}
    table = b.table(explicit(8, 10, frequencies_of(weights, 256, 10)))
    symbols(b, "2 bits", 9, 24, coded(pairs=True, prediction=means(2, 24), group_rows=4, log=10, tables=[table]), 2)
    symbols(b, "recut", 9, 24, coded(pairs=True, recut=12, prediction=means(2, 12), log=10, tables=[table]), 2)


@case("level sources that are added to sums, of every form; with others that are taken away")
def added_levels(b):
    tables, draw = four_tables(b), b.random.randrange
    for n, (width, form) in enumerate([(1, UNSIGNED), (1, SIGNED), (2, F16), (2, BF16), (4, UNSIGNED), (4, F32)]):
        numbers = [[0, (1 << 8 * width) - 1] + [draw(1 << 8 * width) for _ in range(14)] for _ in range(2)]
        view = words(width) if width > 1 else UNSIGNED_BYTES
        both = [of_entry(raw_words(b, f"s{n} {i}", width, some), view) for i, some in enumerate(numbers)]
        more, less = source(both[0], form, (2, 3), ADDED + n % 5), source(both[1], form, (2, 3), n % 5)
        symbols(b, f"more {n}", 8, 10, coded(log=11, tables=tables, classes=class_fields(FOUR, 0, None, None, [more])))
        rows, cols = [draw(100) for _ in range(8)], [draw(100) for _ in range(10)]
        fields = class_fields(FOUR, 60, rows, cols, [less, more])
        symbols(b, f"both {n}", 8, 10, coded(log=11, tables=tables, classes=fields))
    zero = source(both[0], F32, (1, 5), ADDED)
    symbols(b, "zero", 8, 10, coded(log=11, tables=tables, classes=class_fields(FOUR, 0, rows, None, [], zero)))


def tables_of_pairs(b, bits):
    """Four tables of pairs, around another pair each."""
    pairs = [lo | hi << 4 for lo in range(1 << bits) for hi in range(1 << bits)]
    weights = [{pair: 1 + 9 * (pair & 15 == n) + 5 * (pair >> 4 == 3 - n) for pair in pairs} for n in range(4)]
    return [b.table(explicit(8, 11, frequencies_of(some, 256, 11))) for some in weights]


@case("ORDER: columns of 4 and of 2 bits in pairs of levels, with RECUT, in groups of several rows, of what COLUMN leaves")
def pairs_in_order(b):
    draw, of_bits = b.random.randrange, {bits: tables_of_pairs(b, bits) for bits in (2, 4)}
    for name, bits, cols, recut, groups in [("of 4", 4, 34, None, 5), ("of 2", 2, 48, None, 9), ("cut", 4, 34, 68, 1)]:
        across, tables = recut or cols, of_bits[bits]
        fields = class_fields(FOUR, 40, [draw(9) for _ in range(12 * cols // across)], [draw(30) for _ in range(across)])
        said = dict(pairs=True, recut=recut, group_rows=groups, log=11, tables=tables, classes=fields, ordered=True)
        symbols(b, name, 12, cols, coded(**said), bits)
        means = prediction_fields((4, 4), COLUMN, 3, [draw(1 << bits) for _ in range(across)])
        symbols(b, f"{name}, of columns", 12, cols, coded(prediction=means, **said), bits)


@case("STACKED: pairs of two rows in blocks of several widths, an odd number of rows; with means, without levels of columns")
def pairs_of_rows(b):
    tables, draw = tables_of_pairs(b, 4), b.random.randrange
    for name, width, rows, groups in [("blocks of 8", 8, 13, 6), ("of 32", 32, 13, 13), ("of rows", 64, 12, 7)]:
        scales = raw_words(b, f"scales {name}", 2, [draw(65536) for _ in range(rows * (64 // width))])
        levels = source(of_entry(scales, words(2)), UNSIGNED, (1, width), 1)
        of_rows, of_cols = [draw(9) for _ in range(rows)], [draw(30) for _ in range(64)]
        said = dict(pairs=True, group_rows=groups, log=11, tables=tables, stacked=True)
        symbols(b, name, rows, 64, coded(classes=class_fields(FOUR, 40, of_rows, of_cols, [levels]), **said), 4)
        symbols(b, f"{name} alone", rows, 64, coded(classes=class_fields(FOUR, 40, None, None, [levels]), **said), 4)
        means = prediction_fields((4, 4), COLUMN, 3, [draw(16) for _ in range(64)])
        fields = class_fields(FOUR, 40, None, of_cols, [levels])
        symbols(b, f"{name}, of columns", rows, 64, coded(prediction=means, classes=fields, **said), 4)


@case("plain entries of all sizes, stored and inline, between others; copies, classes by their numbers, blobs, no bytes")
def plain_entries(b):
    draw = lambda count: bytes(b.random.randrange(256) for _ in range(count))
    for n, (length, storage) in enumerate([(5, STORED), (1, STORED), (0, INLINE), (3, INLINE), (130, STORED), (8, INLINE)]):
        b.plain(f"plain {n}", "I8", [length], draw(length), storage)
        symbols(b, f"other {n}", 4, 6, raw(), storage=b.random.choice([INLINE, STORED]))
    scales = b.plain("scales", "F16", [6], draw(12), STORED)
    b.plain("of another length", "FOO", [2, 3], draw(7), STORED)
    b.copy("copied", "U8", [3, 4], scales)
    levels = source(of_entry(scales, words(2)), UNSIGNED, (1, 64), 1)
    fields = class_fields(FOUR, 40, None, None, [levels])
    symbols(b, "weights", 6, 64, coded(log=11, tables=four_tables(b), classes=fields))
    blob = b.plain("", "", [], b"header", STORED, kind=1)
    b.file("model.bin", blob, *range(blob))
    return dict(known=True)


@case("RECUT to rows that are longer than all symbols, up to 2^50, with classes of rows")
def recut_beyond(b):
    tables = four_tables(b)
    for cols in (64, 96, 1 << 50):
        code = coded(recut=cols, group_rows=1, log=11, tables=tables, classes=class_fields(FOUR, 60, [9], None))
        symbols(b, f"of {cols}", 7, 9, code)


@case("bitplanes with TRANSFORM in groups of which no block is transformed: values go tile by tile all the same")
def bitplanes_without_codes(b):
    tiled = prediction_fields((8, 9), OF_TILES, 5)
    for group_rows in (8, 1 << 20):
        code = coded(BITPLANE, prediction=tiled, transform=True, scale=9, codes=False, group_rows=group_rows)
        symbols(b, f"groups of {group_rows}", 17, 18, code)


@case("references of fewer symbols than are predicted, that end before some groups begin, and of more; by tiles too, in bitplanes")
def other_references(b):
    table = b.table(bell(8, 10, 0, 2))
    for name, rows in [("fewer", 5), ("one", 1), ("more", 17)]:
        n = symbols(b, name, rows, 10, raw())
        like = of_entry(n, UNSIGNED_BYTES)
        whole = prediction_fields((4, 4), REFERENCE, 7, None, like)
        symbols(b, f"by {name}", 12, 10, coded(prediction=whole, group_rows=4, log=10, tables=[table]))
        tiles = prediction_fields((4, 4), OF_TILES, 7, None, like)
        symbols(b, f"tiles by {name}", 12, 10, coded(prediction=tiles, group_rows=4, log=10, tables=[table]))
        symbols(b, f"planes by {name}", 12, 10, coded(BITPLANE, prediction=tiles, group_rows=4, scale=9))


@case("ESCAPES: symbols that no table has, the escape itself, none in a group, all of one; with classes, of residuals, of 4 bits")
def escapes_of_symbols(b):
    tables, table = four_tables(b), b.table(bell(8, 11, 0, 2))
    for name, escape in [("rare", 0), ("of the middle", 1), ("far out", 255), ("never", 128)]:
        symbols(b, name, 12, 10, coded(log=11, tables=[table], group_rows=5, escape=escape))
        symbols(b, f"{name}, by classes", 12, 10, coded(log=11, tables=tables, group_rows=5, escape=escape,
                                                       classes=class_fields(FOUR, 40, [b.random.randrange(90) for _ in range(12)])))
        fields = prediction_fields((4, 4), [0, COLUMN, OF_TILES, PLANAR][escape % 4], 3, [b.random.randrange(256) for _ in range(10)])
        symbols(b, f"{name}, of residuals", 12, 10, coded(log=11, tables=[table], prediction=fields, escape=escape))
    four = b.table(bell(4, 9, 0, 1, 6))
    symbols(b, "of 4 bits", 12, 10, coded(log=9, tables=[four], group_rows=3, escape=15), 4)
    only = b.table(explicit(8, 4, [0] * 9 + [16]))
    symbols(b, "all of them", 7, 11, coded(log=4, tables=[only], group_rows=2, escape=9))
    symbols(b, "cut anew", 7, 11, coded(log=11, tables=[table], recut=20, group_rows=2, escape=255))


@case("COMPACT: of 2, 4 and 8 bits, in groups that are in states alone and in larger ones; classes, residuals, escapes, coefficients, pairs of all three kinds")
def compact_states(b):
    draw, said = b.random.randrange, dict(log=10, compact=True)
    for bits in (2, 4, 8):
        table = b.table(bell(bits, 10, 0, 2, min(12, 1 << bits)))
        for group_rows in (1, 5, 22):
            symbols(b, f"of {bits} bits, {group_rows} rows", 22, 16, coded(tables=[table], group_rows=group_rows, **said), bits)
    symbols(b, "one", 1, 1, coded(tables=[b.table(explicit(8, 10, [0, 1023, 1]))], **said))
    table, tables = b.table(bell(8, 10, 0, 2)), four_tables(b, log=10)
    classes = class_fields(FOUR, 40, [draw(90) for _ in range(12)])
    symbols(b, "by classes", 12, 30, coded(tables=tables, group_rows=5, classes=classes, **said))
    symbols(b, "cut anew", 7, 31, coded(tables=[table], recut=20, group_rows=9, **said))
    symbols(b, "escapes", 12, 30, coded(tables=[table], group_rows=5, escape=1, **said))
    tiles = prediction_fields((4, 4), OF_TILES, 3, [draw(256) for _ in range(30)])
    symbols(b, "residuals", 12, 30, coded(tables=[table], prediction=tiles, group_rows=7, escape=0, **said))
    eight = prediction_fields((8, 8), OF_TILES, 3)
    for codes in (False, True):
        code = coded(tables=(tables * 4)[:16], prediction=eight, transform=True, scale=200, codes=codes, **said)
        symbols(b, f"coefficients {codes}", 24, 32, code)
    pairs = dict(said, pairs=True, log=11, tables=tables_of_pairs(b, 4))
    fields = class_fields(FOUR, 40, [draw(9) for _ in range(13)], [draw(30) for _ in range(32)])
    symbols(b, "pairs", 13, 64, coded(group_rows=5, classes=fields, **pairs), 4)
    fields = class_fields(FOUR, 40, [draw(9) for _ in range(13)], [draw(30) for _ in range(64)])
    symbols(b, "pairs in order", 13, 64, coded(group_rows=5, classes=fields, ordered=True, **pairs), 4)
    for group_rows in (1, 2, 7, 13):
        symbols(b, f"stacked {group_rows}", 13, 64, coded(group_rows=group_rows, classes=fields, stacked=True, **pairs), 4)
    # Spans of which the last ones are in states, and whose ends are not ends of lanes.
    scales = raw_words(b, "scales", 2, [draw(65536) for _ in range(13 * 8)])
    levels = source(of_entry(scales, words(2)), UNSIGNED, (1, 8), 1)
    fields = class_fields(FOUR, 40, [draw(9) for _ in range(13)], [draw(30) for _ in range(64)], [levels])
    for group_rows in (3, 5, 13):
        symbols(b, f"spans {group_rows}", 13, 64, coded(group_rows=group_rows, classes=fields, stacked=True, **pairs), 4)
    fields = prediction_fields((1, 64), COLUMN, 3, [draw(16) for _ in range(64)])
    symbols(b, "means of pairs", 13, 64, coded(group_rows=6, prediction=fields, **pairs | dict(tables=pairs["tables"][:1])), 4)


@case("COMPACT: blocks of 5 and of 6 bits, which leave bits of states unused; with escapes")
def compact_blocks(b):
    for name, width, length in [("Q5_0", 96, 66), ("Q5_0", 672, 462), ("Q6_K", 768, 630)]:
        number = next(n for n, (known, *_) in BLOCKS.items() if known == name)
        tables = {bits: b.table(bell(bits, 9, 1 << bits - 1, 1, 8)) for kind, bits in b_parts(name) if kind != "w"}
        for escape in (None, 3):
            codes = [pco(3, 9) if kind == "w" else coded(log=9, tables=[tables[bits]], group_rows=2, escape=escape, compact=True)
                     for kind, bits in b_parts(name)]
            shape = f"{name} {width} {escape}", name, [3, width]
            b.tensor(*shape, bytes([5, number, 0, 0, 0, 0, 0, 0]), *codes, length=3 * length)


def escaped_pairs(b, log, escape, centres=(7, 8), halving=1):
    """Of 4 bits: a table of pairs in which those far from the centres have no frequency."""
    return b.table(product_table(log, *(b.table(bell(4, 12, centre, halving)) for centre in centres), escape))


def four_of_pairs(b):
    """Of all kinds: two products that lack what is rare, one that has all, an explicit table of few pairs."""
    whole = b.table(product_table(9, b.table(bell(4, 6, 8, 1)), b.table(bell(4, 9, 7, 2))))
    return [escaped_pairs(b, 9, 0x45), escaped_pairs(b, 9, 0x45, (3, 12), 2), whole, b.table(bell(8, 9, 0x44, 1, 40))]


@case("PAIRS with ESCAPES: neighbours, of 4 and of 2 bits; products with an escape that lack much, little, all, down to 4 slots; explicit tables; plain and compact")
def pair_escapes(b):
    for log, escape, compact in [(8, 0x88, False), (12, 0x00, True), (14, 0xf3, False)]:
        code = coded(pairs=True, group_rows=7, log=log, tables=[escaped_pairs(b, log, escape)], escape=escape, compact=compact)
        symbols(b, f"product of {log}", 12, 24, code, 4)
    flat = b.table(explicit(4, 4, [1] * 16))
    for name, log, factors, escape in [
            ("all of them", 5, [flat, flat], 0x77), ("few slots", 3, [b.table(explicit(4, 6, [0, 3, 56, 5])), b.table(explicit(4, 6, [5, 56, 3]))], 0xee),
            ("four slots", 2, [b.table(explicit(4, 3, [4, 4])), b.table(explicit(4, 3, [0, 8]))], 0x11),
            # Its own weight is 0, and a quarter of a slot is all that it has.
            ("nothing apart", 14, [b.table(explicit(4, 1, [0, 1, 1])), b.table(explicit(4, 1, [1, 0, 1]))], 0xff),
            # Of weights a quarter of a slot, one less, one more.
            ("near the least", 4, [b.table(explicit(4, 6, [8, 7, 9, 40])), b.table(explicit(4, 6, [8, 9, 7, 40]))], 0x21)]:
        table = b.table(product_table(log, *factors, escape))
        symbols(b, name, 12, 24, coded(pairs=True, log=log, tables=[table], escape=escape), 4)
    # The commonest pair, so that it is said apart often, itself too; it stands in states as well.
    common = escaped_pairs(b, 10, 0x87)
    symbols(b, "the commonest", 12, 24, coded(pairs=True, log=10, tables=[common], escape=0x87, compact=True), 4)
    never = b.table(bell(8, 10, 0x77, 1, 40))
    for name, escape in [("explicit", 0x78), ("explicit without it", 0x00)]:
        symbols(b, name, 12, 24, coded(pairs=True, log=10, tables=[never], escape=escape, compact=True), 4)
    # An escape may be what no pair of 2 bits is.
    low, high = b.table(explicit(4, 9, [250, 150, 80, 32])), b.table(explicit(4, 9, [40, 100, 300, 72]))
    for name, escape, compact in [("2 bits", 0x03, True), ("2 bits, no pair", 0xf0, False)]:
        table = b.table(product_table(4, low, high, escape))
        said = dict(pairs=True, group_rows=4, log=4, tables=[table], escape=escape, compact=compact)
        symbols(b, name, 9, 24, coded(**said), 2)
        means = prediction_fields((4, 4), COLUMN, 1, [b.random.randrange(4) for _ in range(12)])
        symbols(b, f"{name}, of columns", 9, 24, coded(recut=12, prediction=means, **said), 2)


@case("PAIRS with ESCAPES and classes: neighbours, ORDER, STACKED in blocks with an odd number of rows, with means; plain and compact")
def pair_escapes_of_classes(b):
    draw, tables = b.random.randrange, four_of_pairs(b)
    for compact in (False, True):
        said = dict(pairs=True, log=9, tables=tables, escape=0x45, compact=compact)
        rows, cols = [draw(9) for _ in range(13)], [draw(30) for _ in range(48)]
        scales = raw_words(b, f"scales {compact}", 2, [draw(65536) for _ in range(13 * 6)])
        levels = source(of_entry(scales, words(2)), UNSIGNED, (1, 8), 1)
        means = prediction_fields((4, 4), COLUMN, 3, [draw(16) for _ in range(48)])
        neighbours, whole = class_fields(FOUR, 40, rows, cols[::2], [levels]), class_fields(FOUR, 40, rows, cols, [levels])
        for name, fields, kind in [("neighbours", neighbours, {}), ("in order", whole, dict(ordered=True)),
                                   ("stacked", whole, dict(stacked=True))]:
            code = coded(group_rows=5, classes=fields, **kind, **said)
            symbols(b, f"{name} {compact}", 13, 48, code, 4)
            symbols(b, f"{name} {compact}, of columns", 13, 48, coded(prediction=means, classes=fields, **kind, **said), 4)
        # All rows in one span; the only row, which is paired with itself.
        code = coded(group_rows=1, classes=class_fields(FOUR, 10, rows, cols), stacked=True, **said)
        symbols(b, f"rows of their own {compact}", 13, 48, code, 4)


@case("woven segments: names forward, backward and twice, as they are, as JSON has them and in its ASCII, and parts that cut characters; markers that text, names, numbers and zeros have; of blobs, tensors, copies; no bytes")
def woven(b):
    first, later = b.reserve(), b.reserve()
    near = [b.plain(name, "U8", [2], bytes([n, 255])) for n, name in enumerate(
        ["model.layers.0.weight", "model.layers.1.weight", "~/é\0~", ""])]
    long = b.plain("n" * 1024, "F16", [1], b"ab")
    for _ in range(64):
        b.plain("", "", [], b"", kind=1)
    far = b.plain("far", "U8", [0], b"")
    odd = [b.plain(name, "U8", [1], bytes([n])) for n, name in enumerate(
        ['say "quoted"', "back\\slash\\n", "".join(map(chr, range(33))) + "/\x7f\x80", '"é"\\\u2028\\u00e9/😀\n', "\1" * 1024])]

    def stored(text, name, number=None, **options):
        return b.tensor(name, "U8", [len(text)], RAW_VIEW, raw(list(text), 7), length=len(text), number=number, **options)

    # Both name themselves and each other.
    for number, name in ((first, "first"), (later, "later")):
        stored(b"\0\0", name, number)
    pieces = [b'["', *near, long, far, b'":[~', far, b"~~", near[0], near[0], b"]~", later, first, first]
    text, forward = b.text(0x7e, *pieces, zeros=3)
    stored(text, "first", first, storage=STORED)
    # Of a marker that numbers and zeros have too.
    text, of_zeros = b.text(0, far, b"\0", near[3], b"\0a\0\0", first, near[2], b"\0", zeros=5)
    stored(text, "later", later)
    copies = b.copy("copied", "I8", [len(text), 1], later), b.copy("", "", [], first, kind=1)
    text, ones = b.text(1, near[1], far, b"\1\2", near[0], near[1], near[2], near[3], long)
    blob = b.blob(text)
    text, plain = b.text(255, b"no name\xff", zeros=255)
    alone = b.plain("", "", [], text, STORED, kind=1)
    nothing, zeros = b.blob(b.text(9)[0]), b.blob(b.text(0, zeros=255)[0])
    unnamed = b.blob(b.text(7, near[3], near[3], ("quoted", near[3]))[0])
    # Of markers that stand in names, and in what JSON has for them.
    both = [piece for number in (*odd, near[0], near[3], far, first) for piece in (number, b'":"', ("quoted", number))]
    text, slashes = b.text(0x5c, b'{"\\', *both, b'\\"}', zeros=1)
    slashed = stored(text, "slashed")
    text, quotes = b.text(0x22, *[("quoted", number) for number in (*odd[::-1], odd[0], *near, slashed)], b'"\\"')
    quotes = "woven", b.blob(text), quotes
    # In ASCII, of markers that stand in that; what is left out next counts from what a part is of.
    text, in_ascii = b.text(0x75, *[piece for number in (*odd, odd[3], *near, far, slashed, long, first)
                                    for piece in (b"u", ("ascii", number), ("quoted", number))], zeros=2)
    in_ascii = "woven", b.blob(text), in_ascii
    # All of a name in two, within each of its characters too; its first, its last byte, all of it; of a marker that
    # cuts characters, and of one that numbers of parts have.
    cuts = [piece for number in (near[2], odd[2], odd[3]) for size in [len(b.entries[number].raw_name)]
            for at in range(1, size) for piece in (("part", number, 0, at), ("part", number, at, size - at))]
    parts = [*cuts, far, ("part", long, 1023, 1), ("part", long, 128, 896), ("part", long, 0, 1024), b"\xa9\xc3",
             ("part", first, 0, 5), ("ascii", later), ("part", far, 1, 1), ("part", odd[4], 0, 1), ("quoted", odd[4])]
    text, parted = b.text(0xc3, *parts, zeros=1)
    parted = "woven", stored(text, "parts"), parted
    text, again_parted = b.text(4, *parts, ("part", parted[1], 4, 1))
    again_parted = "woven", b.blob(text), again_parted

    again = "woven", first, forward
    b.file("a.bin", again, far, ("zeros", 9), ("woven", later, of_zeros), again, near[1])
    b.file("b.bin", ("woven", copies[0], of_zeros), first, ("woven", copies[1], forward), ("woven", blob, ones))
    b.file("c.bin", ("woven", alone, plain), ("woven", nothing, b""), ("zeros", 4096), ("woven", blob, ones))
    b.file("none.bin", ("woven", zeros, b""), ("woven", nothing, b""), ("woven", unnamed, b""))
    b.file("d.bin", quotes, ("woven", slashed, slashes), odd[0], quotes)
    b.file("e.bin", in_ascii, parted, ("zeros", 1), again_parted, in_ascii)


@case("parts of what is woven: of all, of no bytes, that overlap, that cut names and characters, up to 2^14 in short texts and in texts of 2^14 bytes; of blobs, tensors, copies, plain entries; files that share a text; names of files before and behind, and of the file itself, in all forms; what is named next")
def woven_parts(b):
    shards = [f"model-{n:05}-of-00020.bin" for n in range(20)]
    b.file_names = ["parts.bin", 'say "é" 😀.bin', "tab\t\1\x7f\u2028.bin", "~" + "é" * 511 + "~", *shards, "of 2^14.bin", "none.bin"]
    parts, odd, tab, long, *_ = files = [of_file(number) for number, _ in enumerate(b.file_names)]
    near = [b.plain(name, "U8", [2], bytes([n, 255])) for n, name in enumerate(
        ["model.layers.0.weight", "model.layers.1.weight", 'q"\\\n😀', "", "n" * 1024])]

    def pieces_of(segment, size, by=None, until=1 << 14):
        """Parts of so many bytes, each so many behind the one before."""
        return [part_of(segment, at, at + size) for at in range(0, min(until, len(segment[2])), by or size)]

    # Names of files, between those of entries: these count from each other. Each form of each, last of the longest.
    pieces = [b'{"', near[1], b'":["', parts, near[2], files[-1], parts, parts, near[0], odd, near[1], b'"]', tab]
    pieces += [piece for name in (parts, odd, tab, files[9], near[2], files[23]) for piece in (("quoted", name), b",", ("ascii", name))]
    pieces += [("part", name, 1, 3) for name in (odd, near[0], parts, near[1])] + [("part", odd, 5, 1), ("part", tab, 0, 4), near[2]]
    near_end = len(b.text(0x7e, *pieces)[1])
    pieces += [files[8], long, near[0], ("quoted", long), ("part", long, 2, 1021), near[1], ("ascii", long), ("part", long, 1023, 1), near[2]]
    text, whole = b.text(0x7e, *pieces, zeros=3)
    named = "woven", b.tensor("text", "U8", [len(text)], RAW_VIEW, raw(list(text), 7), length=len(text), storage=STORED), whole
    copies = b.copy("copied", "I8", [len(text), 1], named[1]), b.copy("", "", [], named[1], kind=1)
    copies = [("woven", number, whole) for number in copies]
    # Of markers that numbers have too.
    texts = [b.text(marker, parts, parts, near[0], odd, near[1], bytes([marker]), ("part", parts, 4, 5), files[22]) for marker in (5, 4, 0)]
    plain = [("woven", b.plain("", "", [], text, storage, kind=1), data) for (text, data), storage in zip(texts, (STORED, INLINE, STORED))]
    b.file("parts.bin", *pieces_of(named, 1, until=near_end), ("zeros", 1), *pieces_of(named, 61), *pieces_of(named, 1000), near[0],
           *pieces_of(named, 9, 4, near_end))
    b.file(b.file_names[1], *[part_of(s, 0, len(whole)) for s in (named, *copies)], named, part_of(copies[0], 5, 500))
    b.file(b.file_names[2], *[part for s in plain for part in pieces_of(s, 3)], ("zeros", 4096), *[part_of(s, 9, 30) for s in plain * 2])
    b.file(b.file_names[3], *plain, part_of(copies[1], 30, 40), part_of(copies[1], 31, 32), near[1], part_of(named, 30, 40))
    # Headers of shards that share a text, which is read behind the last of them too.
    pieces, places = [], [0]
    for n, _ in enumerate(shards):
        pieces += [b'{"', ("quoted", near[n % 3]), b'":"', ("ascii", files[4 + n]), b'", "next":"', files[4 + (n + 1) % 20], b'"}\n']
        places.append(len(b.text(0xff, *pieces)[1]))
    text, whole = b.text(0xff, *pieces, b"behind all parts", long)
    shared = "woven", b.blob(text), whole
    for n, name in enumerate(shards):
        b.file(name, part_of(shared, places[n], places[n + 1]), near[n % 3], part_of(shared, len(whole) - 3, len(whole)))
    # Up to 2^14 bytes: all that is woven, with the end of a name, within one, in texts that have so many themselves.
    end, most = 1 << 14, []
    for pieces in [near[4]] * 16, [near[4]] * 17, [b"abc", *[long] * 17]:
        text, data = b.text(0x7e, *pieces)
        most.append(("woven", b.blob(text), data))
    for n, name in enumerate((parts, near[3])):
        text, data = b.text(0x7e, *[name, b'":[1, '] * 2047, zeros=6)
        assert len(text) == end
        words_of_text = tuple((1, text[at:at + 8]) for at in (0, 8)) + ((2045, text[16:24]), (1, text[-8:]))
        number = b.tensor(f"as long {n}", "U64", [2048], words(8), pco_runs(words_of_text), length=end)
        most.append(("woven", number, data))
    whole_parts = [part_of(s, 0, min(end, len(s[2]))) for s in most]
    ends = [part_of(s, min(end, len(s[2])) - count, min(end, len(s[2]))) for s in most for count in (0, 1, 500, 1025)]
    b.file("of 2^14.bin", *whole_parts, *ends, most[4], most[2])
    nothing = "woven", b.blob(b.text(9)[0]), b""
    empty = "woven", b.blob(b.text(7, near[3], ("quoted", near[3]), zeros=255)[0]), b""
    b.file("none.bin", *[part_of(s, 0, 0) for s in (nothing, empty, named)], part_of(named, 50, 50), part_of(most[0], end, end))


def tables_told(b, more):
    """Symbols of four tables, and others that nothing needs."""
    b.has_tables = True
    classes = class_fields(FOUR, 0, None, [b.random.randrange(256) for _ in range(30)])
    symbols(b, "coded", 20, 30, coded(tables=four_tables(b), log=11, classes=classes))
    b.tables += [bell(8, 11, centre) for centre in range(more)]
    b.file("model.bin", 0)


@case("TABLES of a short bank: all of it")
def tables_of_short_bank(b):
    tables_told(b, 3)


@case("TABLES of a bank of more than 4096 bytes, before PARITY and SUMS")
def tables_of_long_bank(b):
    tables_told(b, 256)
    b.parity, b.has_sums = 4096, True
