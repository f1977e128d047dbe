"""Tiles of WCodec: prediction, transforms, bitplanes. Written from specs/wcodec-tiles.md alone."""
import struct
from collections import defaultdict

import numpy as np

from pco_reader import need
from wcodec_streams import Bits

NONE, LEFT, TOP, AVG, PLANAR, DC, COLUMN, REFERENCE, LINEAR = range(9)
OF_TILES = 255
DCT, ADST = 1, 2
DCT_ROTATIONS = [
    (0, 7, 424, 724), (1, 6, 424, 724), (2, 5, 424, 724), (3, 4, 424, 724), (0, 3, 424, 724), (1, 2, 424, 724),
    (0, 1, 424, 724), (3, 2, 204, 392), (7, 4, 101, 200), (6, 5, 311, 569), (7, 6, 424, 724), (4, 5, 424, 724),
    (6, 4, 424, 724)]
ADST_ROTATIONS = [
    (7, 0, 50, 100), (6, 1, 152, 297), (5, 2, 256, 483), (4, 3, 366, 650), (7, 4, 424, 724), (6, 5, 424, 724),
    (7, 6, 424, 724), (4, 5, 204, 392), (0, 3, 424, 724), (1, 2, 424, 724), (3, 2, 424, 724), (0, 1, -204, -392),
    (4, 1, 424, 724), (6, 3, 424, 724), (5, 0, 424, 724)]
# Lane of each coefficient, and its sign.
DCT_ORDER = [(0, 1), (7, -1), (3, -1), (6, 1), (1, -1), (4, -1), (2, 1), (5, -1)]
ADST_ORDER = [(7, 1), (4, 1), (1, 1), (3, -1), (6, -1), (0, 1), (5, 1), (2, 1)]
DIAGONALS = [[(r, d - r) for r in range(8) if 0 <= d - r < 8] for d in range(15)]
ZIGZAG = [place for d, diagonal in enumerate(DIAGONALS) for place in (diagonal if d & 1 else diagonal[::-1])]
POSITION_CLASSES = [0] + [1] * 3 + [2] * 4 + [3] * 7  # by row + column


# ---- tiles and what stands before a group's symbols

class Tile:
    """Where a tile lies in its band, its predictor, and its sub-blocks (row, column) with their codes."""

    def __init__(self, row, col, rows, cols):
        self.row, self.col, self.rows, self.cols = row, col, rows, cols
        self.predictor = NONE
        self.blocks = [(row + 8 * r, col + 8 * c) for r in range(rows // 8) for c in range(cols // 8)]
        self.codes = [0] * len(self.blocks)

    def places(self):
        """Rows and columns of the band."""
        return slice(self.row, self.row + self.rows), slice(self.col, self.col + self.cols)


def tiles_of(size, rows, cols):
    (r, c) = size
    return [Tile(y, x, min(r, rows - y), min(c, cols - x)) for y in range(0, rows, r) for x in range(0, cols, c)]


def read_tiles(stored, size, predictor, transform, rows, cols):
    """The tiles of a group, and the bytes behind their predictors and codes."""
    tiles, at = tiles_of(size, rows, cols), 0
    bits = Bits(stored)
    for tile in tiles:
        tile.predictor = bits.take(3) if predictor == OF_TILES else predictor
    at = bits.align()
    if transform:
        need(at < len(stored) and stored[at] <= 1, "neither codes nor none")
        bits = Bits(stored, at + 1)
        for tile in tiles if stored[at] else []:
            tile.codes = [bits.take(2) for _ in tile.blocks]
            need(all(code <= ADST for code in tile.codes), "unknown transform")
        at = bits.align()
    return tiles, stored[at:]


def kinds_of(tiles, classes):
    """Kinds of the values of a transformed band, from the classes of those that are no coefficients."""
    kinds = classes % 8
    for tile in tiles:
        for (row, col), code in zip(tile.blocks, tile.codes):
            for r, c in ZIGZAG if code else []:
                kinds[row + r, col + c] = (8 if code == DCT else 12) + POSITION_CLASSES[r + c]
    return kinds


def order_of(tiles, transform, rows, cols):
    """Places of a band in the order in which bitplanes code them."""
    if not transform:
        return [(r, c) for r in range(rows) for c in range(cols)]
    order = []
    for t in tiles:
        for (row, col), code in zip(t.blocks, t.codes):
            order += [(row + r, col + c) for r, c in (ZIGZAG if code else [divmod(i, 8) for i in range(64)])]
        whole = (t.rows // 8 * 8, t.cols // 8 * 8)
        rest = [(r, c) for r in range(t.rows) for c in range(t.cols) if r >= whole[0] or c >= whole[1]]
        order += [(t.row + r, t.col + c) for r, c in rest]
    return order


# ---- prediction

def wrap(values, bits):
    """Values mod 2^bits, as signed numbers."""
    half = 1 << bits - 1
    return (values + half) % (2 * half) - half


def restore(tiles, prediction, bits, residuals, reference):
    """Values of a band from its residuals; `reference` has the values of the same places, or is none."""
    if prediction.predictor == LINEAR:
        return restore_linear(prediction, bits, residuals)
    values = np.zeros_like(residuals)
    for tile in tiles:
        rows, cols = tile.places()
        if tile.predictor == COLUMN:
            need(prediction.means is not None, "COLUMN without means")
            predicted = prediction.mean_values(bits)[cols]
        elif tile.predictor == REFERENCE:
            need(reference is not None, "REFERENCE without a reference")
            predicted = reference[rows, cols]
        else:
            predicted = from_neighbours(tile, values, bits)
        values[rows, cols] = wrap(predicted + residuals[rows, cols], bits)
    return values


def from_neighbours(tile, values, bits):
    rows, cols = tile.places()
    half = 1 << bits - 1
    left = values[rows, tile.col - 1:tile.col] if tile.col else None  # a column
    top = values[tile.row - 1:tile.row, cols] if tile.row else None  # a row
    if tile.predictor in (AVG, PLANAR) and left is not None and top is not None:
        corner = values[tile.row - 1, tile.col - 1]
        return left + top >> 1 if tile.predictor == AVG else np.clip(left + top - corner, -half, half - 1)
    if tile.predictor == DC:
        beside = [int(v) for side in (left, top) if side is not None for v in side.flat]
        n = len(beside)
        return (2 * sum(beside) + n) // (2 * n) if n else 0
    usable = {LEFT: [left], TOP: [top], AVG: [left, top], PLANAR: [left, top]}.get(tile.predictor, [])
    return next((side for side in usable if side is not None), 0)


def restore_linear(prediction, bits, residuals):
    values, half = np.zeros_like(residuals), 1 << bits - 1
    means = prediction.mean_values(bits)
    for c, weights in enumerate(prediction.weights):
        t = len(weights)
        total = ((values[:, :t] - means[:t]) * weights).sum(axis=1)
        predicted = np.clip(means[c] + (total + 64 >> 7), -half, half - 1)
        values[:, c] = wrap(predicted + residuals[:, c], bits)
    return values


# ---- transforms: sums and products mod 2^32, as int32

def undo(coefficients, code):
    """Undoes the transform of eight numbers, along the first axis."""
    rotations, order = (DCT_ROTATIONS, DCT_ORDER) if code == DCT else (ADST_ROTATIONS, ADST_ORDER)
    x = [None] * 8
    for (lane, sign), coefficient in zip(order, coefficients):
        x[lane] = coefficient * np.int32(sign)
    step = lambda factor, other: np.int32(factor) * other + np.int32(512) >> np.int32(10)  # noqa: E731
    for a, b, p, u in reversed(rotations):
        x[a] = x[a] - step(p, x[b])
        x[b] = x[b] + step(u, x[a])
        x[a] = x[a] - step(p, x[b])
    return np.stack(x)


def undo_block(block, code):
    """Rows first; of the end result the low 16 bits are kept."""
    with np.errstate(over="ignore"):
        return undo(undo(block.astype(np.int32).T, code).T, code).astype(np.int16)


def undo_transforms(tiles, values):
    for tile in tiles:
        for (row, col), code in zip(tile.blocks, tile.codes):
            if code:
                place = slice(row, row + 8), slice(col, col + 8)
                values[place] = undo_block(values[place], code)


# ---- bitplanes

def adapt(context, bit):
    """The probability of a 0 in `context` = [zero, seen], which then learns from `bit`."""
    zero, seen = context
    rate = (seen + 2).bit_length() - 1
    context[1] = min(seen + 1, 510)
    context[0] = zero - (zero >> rate) if bit else zero + ((1 << 32) - 1 - zero >> rate)


def chance(context):
    return min(max(context[0] >> 17, 8), (1 << 15) - 8)


class BinaryDecoder:
    def __init__(self, stored):
        need(len(stored) >= 4, "a plane is shorter than its first code")
        self.stored, self.pos = stored, 4
        self.range, self.code = (1 << 32) - 1, int.from_bytes(stored[:4], "big")

    def bit(self, context):
        bound = (self.range >> 15) * chance(context)
        bit = int(self.code >= bound)
        if bit:
            self.code, self.range = self.code - bound, self.range - bound
        else:
            self.range = bound
        while self.range < 1 << 24:
            need(self.pos < len(self.stored), "a plane's bytes run out")
            self.range, self.code = self.range << 8, self.code << 8 | self.stored[self.pos]
            self.pos += 1
        adapt(context, bit)
        return bit

    def close(self):
        need(self.pos == len(self.stored), "bytes left over in a plane")
        need(self.code == 0, "a plane does not end at 0")


class Magnitudes:
    """What is known of the magnitudes of a band; contexts live on from plane to plane."""

    def __init__(self, rows, cols, kinds):
        # Indexed from -1 on: what lies outside of the band is 0.
        self.known = [[0] * (cols + 1) for _ in range(rows + 1)]
        self.signs = [[0] * cols for _ in range(rows)]
        self.kinds, self.contexts = kinds.tolist(), defaultdict(lambda: [1 << 31, 0])

    def code_plane(self, p, order, coder, magnitude=None, sign=None):
        """Codes bit p of all values: `coder(context, bit)` gives a bit back, and takes one when it encodes."""
        known = self.known
        for r, c in order:
            kind, above = self.kinds[r][c], known[r][c] >> p + 1
            bit = None if magnitude is None else magnitude[r][c] >> p & 1
            if above:
                context = self.contexts["refinement", kind, p, min(above, 31)]
                known[r][c] |= coder(context, bit) << p
                continue
            n = sum(known[y][x] != 0 for y, x in ((r, c - 1), (r - 1, c), (r - 1, c - 1)))
            if coder(self.contexts["significance", 4 * kind + n, p], bit):
                known[r][c] |= 1 << p
                self.signs[r][c] = coder(self.contexts["sign", kind], sign and sign[r][c])


def decode_planes(stored, order, kinds):
    """The signed values of a band of the shape of `kinds`."""
    rows, cols = kinds.shape
    need(len(stored) >= 1 and stored[0] <= 16, "more than 16 planes")
    planes, at = stored[0], 1 + 4 * stored[0]
    need(at <= len(stored), "lengths of planes are lacking")
    lengths, state = struct.unpack(f"<{planes}I", stored[1:at]), Magnitudes(rows, cols, kinds)
    for p, length in zip(range(planes - 1, -1, -1), lengths):
        need(at + length <= len(stored), "a plane is longer than its group")
        decoder = BinaryDecoder(stored[at:at + length])
        state.code_plane(p, order, lambda context, _: decoder.bit(context))
        decoder.close()
        at += length
    need(at == len(stored), "bytes behind the planes")
    values = np.array([row[:cols] for row in state.known[:rows]], np.int64).reshape(rows, cols)
    return np.clip(np.where(np.array(state.signs).reshape(rows, cols), -values, values), -32768, 32767)
