"""Parts of symbols that are coded DIRECT or BITPLANE: geometry, groups, classes. Written from
specs/wcodec.md alone (chapters 7 and 8)."""
import numpy as np

from pco_reader import need
from wcodec_pairs import Span, order_of_columns, put_apart, spans_of
from wcodec_streams import Bytes, decode_rans, short_stream
from wcodec_tiles import (COLUMN, LINEAR, OF_TILES, REFERENCE, decode_planes, kinds_of, order_of, read_tiles, restore,
                          undo_transforms, wrap)
from wcodec_views import BYTES, SYMBOLS, unsigned

DIRECT, BITPLANE = 3, 4
RECUT, PAIRS, PREDICT, TRANSFORM, CLASSES, ORDER, STACKED, ESCAPES, COMPACT = (1 << i for i in range(9))
UNSIGNED, SIGNED, F16, BF16, F32 = range(5)
MANTISSA_BITS = {F16: 10, BF16: 7, F32: 23}
NOWHERE = 1 << 62


def part_of(context, part, r):
    """A part that is named, for `part`."""
    return context.named_part(r, part)


class Prediction:
    """What PREDICT says of a part."""

    def __init__(self, r, part, rows, cols, context):
        self.size, self.predictor = (r.varint(), r.varint()), r.u8()
        need(all(1 <= side <= 4096 for side in self.size), "tiles of no such size")
        need(self.predictor <= LINEAR or self.predictor == OF_TILES, "unknown predictor")
        self.centre, sides = r.u8(), r.u8()
        need(self.centre < 1 << part.bits, "a centre beyond the symbols")
        need(sides < 8, "unknown sides")
        need((sides & 4 > 0) == (self.predictor == LINEAR), "weights are for LINEAR, and it needs them")
        need(sides & 1 or self.predictor not in (COLUMN, LINEAR), "a predictor without means")
        need(sides & 2 or self.predictor != REFERENCE, "a predictor without a reference")
        self.means = short_stream(r, cols, 1 << part.bits) if sides & 1 else None
        self.reference = None
        if sides & 2:
            reference = part_of(context, part, r)
            need(reference.kind in (SYMBOLS, BYTES), "a reference of words")
            need(reference.bits == part.bits, "a reference of other bits")
            there = reference.data.astype(np.int64).reshape(-1)[: part.count]
            self.reference = np.pad(there, (0, part.count - len(there))).reshape(rows, cols)
        self.weights = None
        if sides & 4:
            need(cols <= 8192, "LINEAR of too many columns")
            reach = r.varint()
            need(1 <= reach <= 384 and reach < cols, "LINEAR of no such reach")
            counts = [min(c, reach) for c in range(cols)]
            weights = short_stream(r, sum(counts)) - 128
            self.weights = np.split(weights, np.cumsum(counts)[:-1])

    def values(self, symbols, bits):
        return wrap(symbols - self.centre, bits)

    def mean_values(self, bits):
        return self.values(self.means, bits)

    def reference_values(self, rows, bits):
        return None if self.reference is None else self.values(self.reference[rows], bits)


# ---- classes

ADDED = 8  # in the byte of the fraction: levels are added to sums


def levels_of(numbers, form, bits, fraction):
    """What is taken from sums for numbers, which are given as their bits."""
    if fraction & ADDED:
        return -levels_of(numbers, form, bits, fraction & ~ADDED).astype(np.int64)
    if form in MANTISSA_BITS:
        return (numbers & (1 << 8 * numbers.itemsize - 1) - 1) >> MANTISSA_BITS[form] - fraction
    out = np.zeros(len(numbers), np.int64)
    for i, n in enumerate(numbers.tolist()):
        if form == SIGNED and n >> bits - 1:
            n = (1 << bits) - n
        highest = n.bit_length() - 1
        if n:
            out[i] = (highest << fraction) + ((n << fraction >> highest) & (1 << fraction) - 1)
    return out


def numbers_of(part, width):
    """The numbers of a part of words or bytes, which must be of `width` bytes."""
    if part.kind == BYTES:
        whole = part.data[:part.count // width * width]
        return np.ascontiguousarray(whole).view(unsigned(width))
    need(part.kind != SYMBOLS and part.width == width, "numbers of another width")
    return part.data


class Source:
    """Where levels or zero points of blocks come from."""

    def __init__(self, r, part, context, zero):
        named = part_of(context, part, r)
        need(not named.has_sources, "a source that has sources")
        form, self.block, fraction = r.u8(), (r.length(), r.length()), r.u8()
        need(form <= F32, "unknown form")
        need(min(self.block) >= 1, "blocks of nothing")
        need(fraction & ~ADDED <= 4, "a fraction beyond 4")
        if named.kind == SYMBOLS:
            need(form <= SIGNED, "symbols as floats")
            numbers, bits = named.data, named.bits
        else:
            width = {F16: 2, BF16: 2, F32: 4}.get(form, 1 if named.kind == BYTES else named.width)
            need(width in (1, 2, 4), "numbers of 8 bytes")
            numbers, bits = numbers_of(named, width), 8 * width
        self.numbers = numbers.astype(np.int64) if zero else levels_of(numbers, form, bits, fraction)
        self.row_map, mapped = None, r.u8()
        need(mapped <= 1, "neither a row map nor none")
        if mapped:
            self.row_map = numbers_of(part_of(context, part, r), 4).astype(np.int64)

    def at(self, rows, cols_in_all, cols):
        """Numbers of the blocks of these rows and columns; 0 where there are none."""
        height, width = (min(side, 1 << 40) for side in self.block)
        if self.row_map is None:
            block_rows = rows // height
        else:
            inside = rows < len(self.row_map)
            block_rows = np.where(inside, np.append(self.row_map, 0)[np.minimum(rows, len(self.row_map))], -1)
        index = block_rows[:, None] * -(-cols_in_all // width) + cols[None, :] // width
        there = (block_rows[:, None] >= 0) & (index < len(self.numbers))
        return np.where(there, np.append(self.numbers, 0)[np.where(there, index, -1)], 0)


class Rule:
    """Says the class of a symbol."""

    def __init__(self, r, part, coded, most, context):
        terms, self.bias = r.u8(), r.zigzag()
        need(abs(self.bias) < 1 << 24, "a bias beyond its bounds")
        need(terms & 8 == 0 and terms >> 4 <= 4, "unknown terms")
        need(terms & 2 or not coded.ordered, "ORDER without levels of columns")
        need(not (terms & 4 and coded.stacked), "STACKED with a zero source")
        rows, cols = coded.rows, coded.cols
        # Rows may be said to be longer than the part is.
        self.cols_in_all, there = cols, min(cols, part.count)
        step = 2 if coded.pairs and not (coded.ordered or coded.stacked) else 1
        self.row_levels = short_stream(r, rows) if terms & 1 else np.zeros(rows, np.int64)
        levels = short_stream(r, cols // step) if terms & 2 else np.zeros(-(-there // step), np.int64)
        self.col_levels = levels[:-(-there // step)]
        self.cols = np.arange(0, there, 2 if coded.pairs else 1)
        if coded.ordered:
            self.order = order_of_columns(self.col_levels)
            a, b = (self.col_levels[self.order[i::2]] for i in range(2))
            self.col_levels = a + b >> 1
        self.sources = [Source(r, part, context, False) for _ in range(terms >> 4)]
        self.spans = None
        if coded.stacked:
            widths = [source.block[1] for source in self.sources]
            need(all(width % 2 == 0 or width >= cols for width in widths), "STACKED blocks of an odd number of columns")
            self.spans = spans_of(there, widths)
        self.zero = Source(r, part, context, True) if terms & 4 else None
        part.has_sources |= bool(self.sources or self.zero)
        count = r.varint()
        need(1 <= count <= (256 if self.zero else 1), "maps of no such number")
        self.maps = np.array([self.read_map(r) for _ in range(count)])
        need(self.maps.max() < most, "a class that has no table, or a kind beyond the last")

    @staticmethod
    def read_map(r):
        classes = []
        while len(classes) < 256:
            length = r.varint() + 1
            need(len(classes) + length <= 256, "a map of more than 256 classes")
            classes += [r.u8()] * length
        return classes

    def row_sums(self, rows, cols):
        """The sums of these rows and columns, without the levels of columns."""
        total = self.row_levels[rows][:, None] + np.zeros((1, len(cols)), np.int64)
        for source in self.sources:
            total = total - source.at(rows, self.cols_in_all, cols)
        return total + self.bias

    def stacks(self, first, count):
        """The spans of `count` rows, of STACKED."""
        rows = np.arange(first, first + count)
        return [Span(start, self.col_levels[start:end], self.row_sums(rows, np.array([start]))[:, 0])
                for start, end in self.spans]

    def classes(self, first, count):
        """Of the coded symbols of `count` rows: row by row, of STACKED in the order in which they are coded."""
        if self.spans is not None:
            totals = [span.totals() for span in self.stacks(first, count)]
            return self.maps[0, np.clip(np.concatenate(totals), 0, 255)]
        rows = np.arange(first, first + count)
        total = np.clip(self.row_sums(rows, self.cols) + self.col_levels, 0, 255)
        z = 0 if self.zero is None else self.zero.at(rows, self.cols_in_all, self.cols)
        return self.maps[np.minimum(z, len(self.maps) - 1), total]


# ---- the part

class Coded:
    """What stands in the descriptor of a part that is coded DIRECT or BITPLANE."""

    def __init__(self, r, part, codec, bank, context):
        self.part, self.bitplane, self.flags = part, codec == BITPLANE, r.varint()
        need(self.flags < 512, "unknown flags")
        recut, self.pairs, predict, self.transform, classes, self.ordered, self.stacked, escapes, self.compact = (
            self.flags >> i & 1 for i in range(9))
        self.rows, self.cols, count = part.rows, part.cols, part.count
        if recut:
            self.cols = r.length()
            need(self.cols >= 1, "rows of nothing")
            self.rows = -(-count // self.cols)
        self.group_rows = r.length()
        need(self.group_rows >= 1, "groups of no rows")
        need(not escapes or not (self.transform or self.bitplane), "ESCAPES of other than DIRECT symbols")
        need(not (self.compact and self.bitplane), "COMPACT of BITPLANE")
        self.escape = r.u8() if escapes else None
        need(self.escape is None or self.pairs or self.escape < 1 << part.bits, "an escape that is no symbol")
        need(predict or not (self.transform or self.bitplane), "TRANSFORM and BITPLANE need PREDICT")
        need(not (self.pairs and self.transform), "PAIRS exclude TRANSFORM")
        need(not self.pairs or (part.bits <= 4 and self.cols % 2 == 0), "PAIRS of large symbols, or of odd rows")
        sorts = self.ordered or self.stacked
        need(not sorts or (self.pairs and classes), "ORDER or STACKED without PAIRS or CLASSES")
        need(not (self.ordered and self.stacked), "ORDER with STACKED")
        many = self.group_rows > 1 << 20 or self.cols > 1 << 16
        need(not (self.stacked and many), "STACKED of many rows or columns")
        whole = self.rows * self.cols == count
        need(whole or not (predict or sorts), "PREDICT, ORDER or STACKED with a row that is not whole")
        self.prediction = Prediction(r, part, self.rows, self.cols, context) if predict else None
        need(not self.pairs or not predict or self.prediction.predictor == COLUMN, "PAIRS predicted by other than COLUMN")
        need(not (self.pairs and self.bitplane), "BITPLANE with PAIRS")
        part.has_sources = bool(predict and self.prediction.reference is not None)
        self.read_tables(r, bank)
        most = len(self.tables) if not self.bitplane else 8 if self.transform else 16
        need(not classes or not (self.transform and not self.bitplane), "CLASSES of coefficients")
        self.rule = Rule(r, part, self, most, context) if classes else None

    def read_tables(self, r, bank):
        self.log, count = r.u8(), r.varint()
        need(1 <= self.log <= 14, "tables of no such size")
        need(count <= 64, "more than 64 tables")
        numbers = [r.varint() for _ in range(count)]
        need(all(number < len(bank) for number in numbers), "a table that is not in the bank")
        self.tables = [bank[number] for number in numbers]
        self.alphabet = 8 if self.pairs or self.transform else self.part.bits
        need(all((t.bits, t.log) == (self.alphabet, self.log) for t in self.tables), "a table of another size")
        if self.bitplane:
            need(count == 0, "BITPLANE with tables")
        elif self.transform:
            need(count == 16 or count < 16 and self.part.count == 0, "TRANSFORM without its 16 tables")
        else:
            need(count >= 1 or self.part.count == 0, "symbols without a table")

    def groups(self):
        return -(-self.rows // self.group_rows) if self.part.count else 0

    def decode(self, groups):
        """The symbols of the part."""
        decoded = [self.decode_group(g, stored) for g, stored in enumerate(groups)]
        return np.concatenate(decoded).astype(np.uint8) if decoded else np.zeros(0, np.uint8)

    def span(self, group):
        """First row, rows and symbols of a group."""
        first = group * self.group_rows
        rows = min(self.group_rows, self.rows - first)
        return first, rows, min((first + rows) * self.cols, self.part.count) - first * self.cols

    def classes(self, first, rows):
        width = min(self.cols, self.part.count) // (2 if self.pairs else 1)
        return self.rule.classes(first, rows) if self.rule else np.zeros((rows, width), np.int64)

    def coded_symbols(self, rows, count):
        """How many symbols are coded for `count` of the part in so many rows."""
        if self.stacked:
            return -(-rows // 2) * self.cols
        return count // 2 if self.pairs else count

    def decode_group(self, group, stored):
        first, rows, count = self.span(group)
        need(count <= len(stored) << 16, "a group claims too much")
        if not self.prediction:
            classes = self.classes(first, rows).reshape(-1)[:self.coded_symbols(rows, count)]
            apart, stored = self.read_escapes(stored)
            symbols, rest = decode_rans(stored, self.log, self.tables, classes, self.compact)
            need(not rest, "words left over in a group")
            self.put_escapes(symbols, apart)
            return self.apart(symbols, first, rows, count) if self.pairs else symbols
        p = self.prediction
        tiles, stored = read_tiles(stored, p.size, p.predictor, self.transform, rows, self.cols)
        kinds = self.classes(first, rows)
        if self.transform:
            kinds = kinds_of(tiles, kinds)
        if self.bitplane:
            residuals = decode_planes(stored, order_of(tiles, self.transform, rows, self.cols), kinds)
        else:
            residuals = self.read_residuals(stored, kinds, first, rows)
        undo_transforms(tiles, residuals)
        reference = p.reference_values(slice(first, first + rows), self.part.bits)
        values = restore(tiles, p, self.part.bits, residuals, reference)
        return ((values + p.centre) % (1 << self.part.bits)).reshape(-1)

    def places(self, first, rows, count):
        """Where in a group the first and the second symbols of pairs are, in the order in which they are coded."""
        if self.stacked:
            spans = [span.places(self.cols) for span in self.rule.stacks(first, rows)]
            return [np.concatenate(places) for places in zip(*spans)]
        places = np.arange(count)
        if self.ordered:
            places = places.reshape(rows, self.cols)[:, self.rule.order].reshape(-1)
        return places[::2], places[1::2]

    def apart(self, pairs, first, rows, count):
        """The symbols, or residuals, of pairs."""
        return put_apart(pairs, *self.places(first, rows, count), self.part.bits, count)

    def read_escapes(self, stored):
        """The symbols, or pairs, of a group that are said apart, and what follows them."""
        if self.escape is None:
            return b"", stored
        r, most = Bytes(stored), 1 << self.part.bits
        apart = r.take(r.varint())
        halves = [half for pair in apart for half in (pair & 15, pair >> 4)] if self.pairs else apart
        need(all(symbol < most for symbol in halves), "an escape beyond the symbols")
        return apart, r.take(r.left())

    def put_escapes(self, symbols, apart):
        """In the order in which they are coded, before pairs are taken apart."""
        places = np.nonzero(symbols == self.escape)[0] if self.escape is not None else []
        need(len(places) == len(apart), "escapes are lacking, or left over")
        if len(apart):
            symbols[places] = np.frombuffer(apart, np.uint8)

    def read_residuals(self, stored, kinds, first, rows):
        apart, stored = self.read_escapes(stored)
        u, rest = decode_rans(stored, self.log, self.tables, kinds.reshape(-1), self.compact)
        if not self.transform:
            need(not rest, "words left over in a group")
            self.put_escapes(u, apart)
            symbols = self.apart(u, first, rows, rows * self.cols) if self.pairs else u
            return symbols.reshape(rows, self.cols)
        escapes = np.nonzero(u == 255)[0]
        need(len(rest) == 2 * len(escapes), "escapes are lacking, or left over")
        u[escapes] += np.frombuffer(rest, "<u2")
        need((u <= 65535).all(), "an escape beyond 65535")
        return np.where(u & 1, -(u >> 1) - 1, u >> 1).reshape(kinds.shape)
