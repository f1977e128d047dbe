"""Types and views of WCodec: a tensor's bytes, taken apart into parts and put together again. Written
from specs/wcodec-views.md alone."""
import math

import numpy as np

from pco_reader import need

WEIGHTS, SCALE, MIN, ZERO, SUPER_SCALE, SUPER_MIN, HIGH_BITS, EXPONENT, MANTISSA, REST = range(10)
SYMBOLS, WORDS, FLOAT_WORDS, BYTES = range(4)
RAW_VIEW, BYTES_VIEW, PACKED_VIEW, WORDS_VIEW, FLOAT_BYTES_VIEW, BLOCKS_VIEW = range(6)
# Bits of an element of what safetensors names.
ELEMENT_BITS = dict(
    BOOL=8, U8=8, I8=8, U16=16, I16=16, U32=32, I32=32, U64=64, I64=64, F16=16, BF16=16, F32=32, F64=64,
    F8_E4M3=8, F8_E5M2=8, F8_E8M0=8, F8_E4M3FNUZ=8, F8_E5M2FNUZ=8, F4=4, F6_E2M3=6, F6_E3M2=6, C64=64)
# GGUF's number of a type that the view takes apart: name, bytes and elements of a block, bits of a weight.
BLOCKS = {2: ("Q4_0", 18, 32, 4), 3: ("Q4_1", 20, 32, 4), 6: ("Q5_0", 22, 32, 5), 7: ("Q5_1", 24, 32, 5),
          8: ("Q8_0", 34, 32, 8), 12: ("Q4_K", 144, 256, 4), 13: ("Q5_K", 176, 256, 5),
          14: ("Q6_K", 210, 256, 6), 20: ("IQ4_NL", 18, 32, 4), 39: ("MXFP4", 17, 32, 4)}
# Bytes and elements of a block.
BLOCK_SIZES = {name: (size, count) for name, size, count, _ in BLOCKS.values()}
BLOCK_SIZES["Q8_1"] = 36, 32
BLOCK_SIZES.update({name: (size, 256) for name, size in dict(
    Q2_K=84, Q3_K=110, Q8_K=292, IQ2_XXS=66, IQ2_XS=74, IQ3_XXS=98, IQ1_S=50, IQ3_S=110, IQ2_S=82, IQ4_XS=136, IQ1_M=56,
    TQ1_0=54, TQ2_0=66).items()})
AWQ = [0, 2, 4, 6, 1, 3, 5, 7]  # which symbol lies in the lowest nibble, the next one, ...


class Part:
    """What a part is, and, once it is decoded, its `data`: symbols, words or bytes in a flat array."""

    def __init__(self, role, kind, *shape, data=None):
        self.role, self.kind, self.data, self.has_sources = role, kind, data, False
        self.bits = self.width = None
        if kind == SYMBOLS:
            self.bits, self.rows, self.cols = shape
        elif kind == BYTES:
            self.bits, self.rows, self.cols = 8, 1, shape[0]
        else:
            self.width, self.rows, self.cols = shape[0], 1, shape[1]
        self.count = self.rows * self.cols

    def __eq__(self, other):
        mine, its = ((p.role, p.kind, p.bits, p.width, p.rows, p.cols) for p in (self, other))
        return mine == its

    def symbols(self):
        need(self.kind in (SYMBOLS, BYTES), "symbols are wanted, these are words")
        return self.data


def unsigned(width):
    return np.dtype(f"<u{width}")


def product(numbers):
    return math.prod(numbers)


def bytes_of(dtype, shape):
    """How long a tensor is; none where the type is not known, or its elements do not fill whole bytes."""
    size, count = BLOCK_SIZES.get(dtype, (ELEMENT_BITS.get(dtype), 8))
    if size is None or product(shape) * size % count:
        return None
    return product(shape) * size // count


def matrix_of(shape):
    """Rows and columns of elements."""
    count = product(shape)
    if count == 0:
        return 0, 0
    if len(shape) == 1:
        g = math.gcd(count, 4096)
        return (1, count) if count <= 65536 or g < 64 else (count // g, g)
    if len(shape) <= 2:
        return tuple(shape) or (1, 1)
    return (count // shape[-1], shape[-1]) if shape[-1] >= 64 else (shape[0], count // shape[0])


def word_matrix(width, dtype, shape, length):
    """Rows and columns of words."""
    if length == 0:
        return 0, 0
    need(bytes_of(dtype, shape) == length, "a view that does not fit type, shape and length")
    rows, cols = matrix_of(shape)
    if rows == 0 or ELEMENT_BITS.get(dtype) == 8 * width:
        return rows, cols
    need(length % (rows * width) == 0, "a view that does not come out even")
    return rows, length // (rows * width)


def layout(view, dtype, shape, length):
    """The parts that a view gives, without their data."""
    kind, (a, b, c) = view[0], view[1:4]
    need(kind <= BLOCKS_VIEW, "unknown view")
    used = [1, 2, 8, 3, 2, 2][kind]
    need(not any(view[used:]), "bytes of a view that must be zero")
    if kind == RAW_VIEW:
        return [Part(REST, BYTES, length)]
    if kind == BYTES_VIEW:
        need(a <= 2, "unknown sign")
        return [Part(WEIGHTS, SYMBOLS, 8, *word_matrix(1, dtype, shape, length))]
    if kind == PACKED_VIEW:
        return [Part(WEIGHTS, SYMBOLS, a, *packed_matrix(view, dtype, shape, length))]
    if kind == WORDS_VIEW:
        need(a in (1, 2, 4, 8) and b <= 3 and (b != 1 or a >= 2), "words of no such width or order")
        rows, cols = word_matrix(a, dtype, shape, length)
        if a == 1:
            return [Part(WEIGHTS, SYMBOLS, 8, rows, cols)]
        return [Part(WEIGHTS, FLOAT_WORDS if b == 1 else WORDS, a, rows * cols)]
    if kind == FLOAT_BYTES_VIEW:
        need(a in (2, 4, 8), "floats of no such width")
        rows, cols = word_matrix(a, dtype, shape, length)
        return [Part(MANTISSA if i else EXPONENT, SYMBOLS, 8, rows, cols) for i in range(a)]
    return block_parts(a, dtype, shape, length)


def packed_matrix(view, dtype, shape, length):
    bits, width, packing = view[1:4]
    order, axis, sign = packing & 3, packing >> 2 & 1, packing >> 3
    need(bits in ((2, 4, 8) if order else (2, 3, 4, 5, 6, 8)) and width in (1, 2, 4, 8), "symbols packed in no such way")
    need(order <= 2 and sign <= 2 and (order < 2 or (bits, width) == (4, 4)), "unknown order or sign")
    (rows, cols), n, together = word_matrix(width, dtype, shape, length), each(view), words_together(bits)
    need((rows if axis else cols) % together == 0, "words that do not hold whole symbols")
    rows, cols = (rows // together, cols) if axis else (rows, cols // together)
    columns = int.from_bytes(view[4:8], "little")
    if axis:
        need(columns == 0, "columns of symbols that lie below each other")
        return rows * n, cols
    need(columns % n == 0, "columns that are no whole words")
    if columns and rows:
        need(rows * cols * n % columns == 0, "columns that do not come out even")
        return rows * cols * n // columns, columns
    return rows, cols * n


def block_parts(number, dtype, shape, length):
    need(number in BLOCKS, "blocks of a type that is not taken apart")
    name, size, count, bits = BLOCKS[number]
    need(name == dtype, "blocks of another type")
    rows, cols = (product(shape[:-1]), shape[-1]) if product(shape) and length else (0, 0)
    blocks = rows * cols // count
    need(cols % count == 0 and length == blocks * size, "blocks that do not come out even")
    weights = Part(WEIGHTS, SYMBOLS, bits, rows, cols)
    if name == "MXFP4":
        return [Part(SCALE, SYMBOLS, 8, rows, cols // 32), weights]
    if name == "Q6_K":
        return [Part(SUPER_SCALE, FLOAT_WORDS, 2, blocks), Part(SCALE, SYMBOLS, 8, rows, cols // 16), weights]
    if count == 256:
        supers = [Part(role, FLOAT_WORDS, 2, blocks) for role in (SUPER_SCALE, SUPER_MIN)]
        return supers + [Part(role, SYMBOLS, 6, rows, cols // 32) for role in (SCALE, MIN)] + [weights]
    mins = [Part(MIN, FLOAT_WORDS, 2, blocks)] if name.endswith("_1") else []
    return [Part(SCALE, FLOAT_WORDS, 2, blocks), *mins, weights]


# ---- bytes to parts

def split(view, dtype, shape, data):
    """The parts of a tensor's bytes."""
    parts, raw = layout(view, dtype, shape, len(data)), np.frombuffer(data, np.uint8)
    if not data:
        arrays = [np.zeros(0, unsigned(part.width or 1)) for part in parts]
    elif view[0] in (RAW_VIEW, BYTES_VIEW):
        arrays = [raw]
    elif view[0] == PACKED_VIEW:
        arrays = [unpack(view, raw.view(unsigned(view[2])), dtype, shape, len(data))]
    elif view[0] == WORDS_VIEW:
        arrays = [reordered(raw.view(unsigned(view[1])), view[2], False)]
    elif view[0] == FLOAT_BYTES_VIEW:
        width = view[1]
        x = raw.view(unsigned(width)).astype(np.uint64)
        turned = x << np.uint64(1) | x >> np.uint64(8 * width - 1)
        shifts = range(8 * width - 8, -8, -8)
        arrays = [(turned >> np.uint64(s) & np.uint64(255)).astype(np.uint8) for s in shifts]
    else:
        _, size, count, _ = BLOCKS[view[1]]
        blocks = raw.reshape(-1, size)
        arrays = [a.reshape(-1) for a in (split_32 if count == 32 else split_256)(view[1], blocks)]
    for part, array in zip(parts, arrays):
        part.data = array
    return parts


def words_together(bits):
    """Words that hold whole symbols."""
    return {3: 3, 5: 5, 6: 3}.get(bits, 1)


def each(view):
    """Symbols of those words."""
    return 8 * view[2] * words_together(view[1]) // view[1]


def places(view):
    """For each of those symbols, how far it lies from the lowest bit of the first word."""
    n, order = each(view), view[3] & 3
    return [view[1] * place for place in [range(n), range(n - 1, -1, -1), [AWQ.index(i) for i in range(8)]][order]]


def bits_of(view, words):
    """The bits of words that hold whole symbols: the last axis from the lowest one of the first on."""
    together, below = words_together(view[1]), view[3] & 4
    if below:
        words = words.reshape(len(words) // together, together, -1).transpose(0, 2, 1)
    else:
        words = words.reshape(len(words), -1, together)
    return np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=2, bitorder="little")


def unpack(view, words, dtype, shape, length):
    bits = bits_of(view, words.reshape(word_matrix(view[2], dtype, shape, length)))
    symbols = sum(bits[:, :, np.array(places(view)) + b] << b for b in range(view[1])).astype(np.uint8)
    return (symbols.transpose(0, 2, 1) if view[3] & 4 else symbols).reshape(-1)


def pack(view, symbols, dtype, shape, length):
    """The words that hold symbols."""
    rows, cols = word_matrix(view[2], dtype, shape, length)
    together, n, below = words_together(view[1]), each(view), view[3] & 4
    symbols = symbols.astype(np.uint8)
    symbols = symbols.reshape(-1, n, cols).transpose(0, 2, 1) if below else symbols.reshape(rows, -1, n)
    bits = np.zeros((*symbols.shape[:2], 8 * view[2] * together), np.uint8)
    for b in range(view[1]):
        bits[:, :, np.array(places(view)) + b] = symbols >> b & 1
    words = np.packbits(bits, axis=2, bitorder="little").view(unsigned(view[2]))
    return (words.transpose(0, 2, 1) if below else words).reshape(-1)


def reordered(words, order, back):
    """Words as the view gives them, or `back` as they were."""
    top = words.dtype.type(1 << 8 * words.dtype.itemsize - 1)
    if order == 3:
        negative = words & top if not back else ~words & top
        return np.where(negative, ~words, words ^ top)
    return words ^ top if order == 2 else words


def halves(columns):
    return np.ascontiguousarray(columns).view("<u2")


def split_32(number, blocks):
    name, size, _, bits = BLOCKS[number]
    if name == "MXFP4":
        parts, at = [blocks[:, :1]], 1
    else:
        at = 4 if name.endswith("_1") else 2
        parts = [halves(blocks[:, i:i + 2]) for i in range(0, at, 2)]
    if bits == 8:
        return [*parts, blocks[:, at:]]
    nibbles = blocks[:, size - 16:]
    weights = np.concatenate([nibbles & 15, nibbles >> 4], 1)
    if bits == 5:
        weights |= np.unpackbits(np.ascontiguousarray(blocks[:, at:at + 4]), axis=1, bitorder="little") << 4
    return [*parts, weights]


def split_256(number, blocks):
    if BLOCKS[number][0] == "Q6_K":
        low, high = blocks[:, :128], blocks[:, 128:192]
        runs = []
        for h in range(2):
            for r in range(4):
                nibbles = low[:, 64 * h + 32 * (r % 2):][:, :32]
                upper = high[:, 32 * h:32 * h + 32] >> 2 * r & 3
                runs.append((nibbles & 15 if r < 2 else nibbles >> 4) | upper << 4)
        return [halves(blocks[:, 208:]), blocks[:, 192:208], np.concatenate(runs, 1)]
    s, nibbles = blocks[:, 4:16], blocks[:, -128:].reshape(-1, 4, 1, 32)
    scales = np.concatenate([s[:, :4] & 63, s[:, 8:] & 15 | s[:, :4] >> 6 << 4], 1)
    mins = np.concatenate([s[:, 4:8] & 63, s[:, 8:] >> 4 | s[:, 4:8] >> 6 << 4], 1)
    weights = np.concatenate([nibbles & 15, nibbles >> 4], 2).reshape(-1, 8, 32)
    if BLOCKS[number][0] == "Q5_K":
        weights = weights | (blocks[:, 16:48][:, None, :] >> np.arange(8, dtype=np.uint8)[:, None] & 1) << 4
    return [halves(blocks[:, :2]), halves(blocks[:, 2:4]), scales, mins, weights]


# ---- parts to bytes

def join(view, dtype, shape, length, parts):
    """The bytes of a tensor from its parts."""
    arrays = [part.data for part in parts]
    if length == 0:
        return b""
    if view[0] in (RAW_VIEW, BYTES_VIEW):
        return arrays[0].astype(np.uint8).tobytes()
    if view[0] == PACKED_VIEW:
        return pack(view, arrays[0], dtype, shape, length).tobytes()
    if view[0] == WORDS_VIEW:
        return reordered(arrays[0].astype(unsigned(view[1])), view[2], True).tobytes()
    if view[0] == FLOAT_BYTES_VIEW:
        width, x = view[1], np.zeros(len(arrays[0]), np.uint64)
        for plane in arrays:
            x = x << np.uint64(8) | plane.astype(np.uint64)
        x = x >> np.uint64(1) | (x & np.uint64(1)) << np.uint64(8 * width - 1)
        return x.astype(unsigned(width)).tobytes()
    count = BLOCKS[view[1]][2]
    columns = (join_32 if count == 32 else join_256)(view[1], arrays)
    return np.concatenate([c.astype(np.uint8) for c in columns], 1).tobytes()


def octets(words):
    return words.astype("<u2").view(np.uint8).reshape(-1, 2)


def join_32(number, arrays):
    name, _, _, bits = BLOCKS[number]
    heads = [arrays[0].reshape(-1, 1)] if name == "MXFP4" else [octets(a) for a in arrays[:-1]]
    weights = arrays[-1].reshape(-1, 32)
    if bits == 8:
        return [*heads, weights]
    fifths = [np.packbits(weights >> 4 & 1, axis=1, bitorder="little")] if bits == 5 else []
    return [*heads, *fifths, weights[:, :16] & 15 | (weights[:, 16:] & 15) << 4]


def join_256(number, arrays):
    if BLOCKS[number][0] == "Q6_K":
        supers, scales, weights = arrays
        w = weights.reshape(-1, 2, 4, 32)
        low = [w[:, h, r] & 15 | (w[:, h, r + 2] & 15) << 4 for h in range(2) for r in range(2)]
        fields = w >> 4 << np.array([[0], [2], [4], [6]], np.uint8)
        high = [np.bitwise_or.reduce(fields[:, h], axis=1) for h in range(2)]
        return [*low, *high, scales.reshape(-1, 16), octets(supers)]
    scale, minimum, scales, mins, weights = arrays
    s, m, w = scales.reshape(-1, 8), mins.reshape(-1, 8), weights.reshape(-1, 8, 32)
    first = s[:, :4] | s[:, 4:] >> 4 << 6
    second = m[:, :4] | m[:, 4:] >> 4 << 6
    columns = [octets(scale), octets(minimum), first, second, s[:, 4:] & 15 | (m[:, 4:] & 15) << 4]
    if BLOCKS[number][0] == "Q5_K":
        columns.append(np.bitwise_or.reduce((w >> 4 & 1) << np.arange(8, dtype=np.uint8)[:, None], axis=1))
    return columns + [w[:, 2 * j] & 15 | (w[:, 2 * j + 1] & 15) << 4 for j in range(4)]
