"""Encodes the streams of WCodec: the other side of wcodec_streams.py and of the bitplanes. Written from
specs/wcodec*.md alone."""
import struct

import numpy as np

from wcodec_streams import LANES, START, in_states
from wcodec_tiles import Magnitudes, adapt, chance


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def zigzagged(n):
    return 2 * n if n >= 0 else -2 * n - 1


def string(text):
    text = text.encode() if isinstance(text, str) else text
    return varint(len(text)) + text


class BitWriter:
    def __init__(self):
        self.big = self.pos = 0

    def put(self, value, count):
        assert 0 <= value < 1 << count or value == count == 0, (value, count)
        self.big |= value << self.pos
        self.pos += count
        return self

    def bytes(self):
        return self.big.to_bytes(-(-self.pos // 8), "little")


class GolombWriter:
    def __init__(self, bits):
        self.bits, self.memory = bits, 16

    def signed(self, *numbers):
        for number in numbers:
            u, k = zigzagged(int(number)), min((self.memory >> 3).bit_length(), 24)
            v = u + (1 << k)
            n = v.bit_length() - 1
            self.bits.put((1 << n - k) - 1, n - k + 1).put(v - (1 << n), n)
            self.memory += min(u, 1 << 20) - (self.memory >> 2)
        return self.bits.bytes()


def short_stream(values, base=None):
    base = (int(values[0]) if len(values) else 0) if base is None else base
    stream = GolombWriter(BitWriter().put(base, 8)).signed(*[int(v) - base for v in values])
    return string(stream)


def table_head(kind, bits, log):
    return BitWriter().put(kind, 3).put(bits - 1, 3).put(log - 1, 4)


def explicit(bits, log, frequencies):
    """The list ends with the last frequency that is not 0."""
    last = max(i for i, f in enumerate(frequencies) if f)
    steps = np.diff([0, *frequencies[:last + 1]])
    return GolombWriter(table_head(0, bits, log)).signed(*steps)


def curve(bits, log, centre, below, above, steps, steps_below=None):
    """The differences of the logs, in steps of 4, of above and of below; without these it is symmetric."""
    head = table_head(1, bits, log).put(centre, bits).put(below, bits).put(above, bits)
    golomb = GolombWriter(head.put(int(steps_below is None), 1))
    return golomb.signed(*steps, *(steps_below or []))


def product_table(log, low, high, escape=None):
    head = table_head(2 if escape is None else 3, 8, log).put(low, 12).put(high, 12)
    return (head if escape is None else head.put(escape, 8)).bytes()


def write_states(x, compact):
    if not compact:
        return struct.pack(f"<{LANES}I", *x)
    out = BitWriter()
    lengths = [state.bit_length() - 1 for state in x]
    for length in lengths:
        out.put(length - 16, 4)
    for state, length in zip(x, lengths):
        out.put(state - (1 << length), length)
    return out.bytes()


def encode_rans(symbols, classes, tables, log, compact=False):
    x, words, count = [START] * LANES, [], len(symbols)
    if compact:
        bits = tables[0].bits
        count -= in_states(count, bits)
        for i in range(len(symbols) - 1, count - 1, -1):
            x[i % LANES] = START + (x[i % LANES] << bits | int(symbols[i])) % START
    before = [np.cumsum([0, *table.frequencies]).tolist() for table in tables]
    for i in range(count - 1, -1, -1):
        s, k, lane = int(symbols[i]), int(classes[i]), i % LANES
        f = tables[k].frequencies[s]
        if x[lane] >= f << 32 - log:
            words.append(x[lane] & 0xFFFF)
            x[lane] >>= 16
        x[lane] = (x[lane] // f << log) + x[lane] % f + before[k][s]
    return write_states(x, compact) + struct.pack(f"<{len(words)}H", *reversed(words))


class BinaryEncoder:
    def __init__(self):
        self.low, self.range, self.out = 0, (1 << 32) - 1, bytearray()

    def bit(self, context, bit):
        bound = (self.range >> 15) * chance(context)
        if bit:
            self.low, self.range = self.low + bound, self.range - bound
        else:
            self.range = bound
        if self.low >> 32:
            self.low &= (1 << 32) - 1
            whole = int.from_bytes(self.out, "big") + 1
            self.out = bytearray(whole.to_bytes(len(self.out), "big"))
        while self.range < 1 << 24:
            self.out.append(self.low >> 24)
            self.low, self.range = self.low << 8 & (1 << 32) - 1, self.range << 8
        adapt(context, bit)
        return bit

    def bytes(self):
        return bytes(self.out) + struct.pack(">I", self.low)


def encode_planes(values, order, kinds, planes=None):
    rows, cols = values.shape
    magnitude, sign = np.abs(values).tolist(), (values < 0).astype(int).tolist()
    planes = int(np.abs(values).max(initial=0)).bit_length() if planes is None else planes
    state, coded = Magnitudes(rows, cols, kinds), []
    for p in range(planes - 1, -1, -1):
        encoder = BinaryEncoder()
        state.code_plane(p, order, encoder.bit, magnitude, sign)
        coded.append(encoder.bytes())
    return bytes([planes]) + struct.pack(f"<{planes}I", *map(len, coded)) + b"".join(coded)
