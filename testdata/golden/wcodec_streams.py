"""The streams that WCodec is made of, for clarity and not for speed: numbers, bits, tables, rANS.
Written from specs/wcodec.md alone (chapters 2 and 9 to 11)."""
from collections import namedtuple

import numpy as np

from pco_reader import Corrupt, need  # noqa: F401

LANES, START = 32, 1 << 16
KNOTS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192]
EXPLICIT, CURVE, PRODUCT, ESCAPED_PRODUCT = range(4)
# An alphabet of 2^bits symbols, their frequencies, which sum to 2^log.
Table = namedtuple("Table", "bits log frequencies")


class Bytes:
    """Fields of a run of bytes, one after the other."""

    def __init__(self, data, pos=0, end=None):
        self.data, self.pos, self.end = data, pos, len(data) if end is None else end

    def left(self):
        return self.end - self.pos

    def take(self, count):
        need(count <= self.left(), f"{count} bytes wanted at {self.pos}, {self.left()} left")
        self.pos += count
        return self.data[self.pos - count:self.pos]

    def u8(self):
        return self.take(1)[0]

    def u32(self):
        return int.from_bytes(self.take(4), "little")

    def varint(self):
        value, shift = 0, 0
        while True:
            byte = self.u8()
            value |= (byte & 127) << shift
            if byte < 128:
                need(byte > 0 or shift == 0, "varint not in its shortest form")
                need(value < 1 << 64, "varint of more than 64 bits")
                return value
            shift += 7
            need(shift < 70, "varint of more than 64 bits")

    def length(self):
        """A number of bytes, elements or rows."""
        value = self.varint()
        need(value < 1 << 57, "a length that no file has")
        return value

    def zigzag(self):
        return unzigzag(self.varint())

    def string(self, longest=1 << 57):
        length = self.length()
        need(length <= longest, "a long string")
        try:
            return self.take(length).decode("utf-8")
        except UnicodeDecodeError:
            raise Corrupt("not UTF-8") from None

    def close(self, what):
        need(self.left() == 0, f"bytes left over in {what}")


def unzigzag(u):
    return u >> 1 ^ -(u & 1)


class Bits:
    """Bit fields, least significant bit first."""

    def __init__(self, data, byte=0):
        self.big, self.pos, self.end = int.from_bytes(data, "little"), 8 * byte, 8 * len(data)

    def take(self, count):
        need(self.pos + count <= self.end, "bits are lacking")
        self.pos += count
        return self.big >> self.pos - count & ((1 << count) - 1)

    def align(self):
        """Skips to the next byte, and returns where that is."""
        need(self.take(-self.pos % 8) == 0, "padding bits are not zero")
        return self.pos // 8


class Golomb:
    """The Golomb code with memory."""

    def __init__(self, bits):
        self.bits, self.memory = bits, 16

    def unsigned(self):
        k, ones = min((self.memory >> 3).bit_length(), 24), 0
        while self.bits.take(1):
            ones += 1
            need(ones <= 24, "more than 24 one bits")
        u = (1 << k + ones | self.bits.take(k + ones)) - (1 << k)
        self.memory += min(u, 1 << 20) - (self.memory >> 2)
        return u

    def signed(self):
        return unzigzag(self.unsigned())


def short_stream(r, count, below=256):
    length = r.length()
    bits = Bits(r.take(length))
    base, golomb, values = bits.take(8), Golomb(bits), []
    for _ in range(count):
        values.append(base + golomb.signed())
        need(0 <= values[-1] < below, "a value of a short stream is out of range")
    need(bits.align() == length, "bytes left over in a short stream")
    return np.array(values, np.int64)


# ---- tables

def read_bank(data, count):
    need(count <= 65536 and count <= len(data), "more tables than bytes")
    bits, tables = Bits(data), []
    for _ in range(count):
        kind, alphabet, log = bits.take(3), bits.take(3) + 1, bits.take(4) + 1
        need(log <= 14, "a table of more than 2^14 slots")
        need(kind <= ESCAPED_PRODUCT, "unknown kind of table")
        read = [read_explicit, read_curve, read_product, read_escaped_product][kind]
        tables.append(Table(alphabet, log, read(bits, alphabet, log, tables)))
        bits.align()
    need(bits.pos == bits.end, "bytes left over in the bank")
    return tables


def read_explicit(bits, alphabet, log, _):
    golomb, frequencies, last = Golomb(bits), [], 0
    while sum(frequencies) < 1 << log:
        need(len(frequencies) < 1 << alphabet, "a table of more symbols than its alphabet")
        last += golomb.signed()
        need(last >= 0, "a frequency below 0")
        frequencies.append(last)
    need(sum(frequencies) == 1 << log, "frequencies do not sum to the table's slots")
    return frequencies + [0] * ((1 << alphabet) - len(frequencies))


def knots_of(extent):
    """Distances at which a side of a curve has its logs."""
    return [d for d in KNOTS if d < extent - 1] + [d for d in (extent - 1, extent) if d >= 1]


def read_side(golomb, extent):
    """The logs at the distances 0 … extent."""
    logs, at = [1023], 0
    for knot in knots_of(extent):
        first = logs[at]
        last = first + 4 * golomb.signed()
        need(0 <= last <= 1023, "a log out of range")
        logs += [first + (last - first) * (d - at) // (knot - at) for d in range(at + 1, knot + 1)]
        at = knot
    return logs


def read_curve(bits, alphabet, log, _):
    centre, below, above = (bits.take(alphabet) for _ in range(3))
    symmetric, golomb = bits.take(1), Golomb(bits)
    need(below + above < 1 << alphabet, "a curve wider than its alphabet")
    need(not symmetric or above >= below, "a symmetric curve that is wider below")
    up = read_side(golomb, above)
    down = up if symmetric else read_side(golomb, below)
    weights = {}  # in the order of distance: 0, 1, -1, 2, ...
    for d in range(max(below, above) + 1):
        for side, extent, sign in ((up, above, 1), (down, below, -1)):
            if d <= extent:
                weights[(centre + sign * d) % (1 << alphabet)] = 64 + side[d] % 64 << side[d] // 64
    return frequencies_of(weights, 1 << alphabet, log)


def read_factors(bits, alphabet, tables):
    need(alphabet == 8, "a product of other than 8 bits")
    low, high = bits.take(12), bits.take(12)
    need(max(low, high) < len(tables), "a product of tables that do not come before it")
    low, high = tables[low], tables[high]
    need(low.bits == high.bits == 4, "a product of tables of other than 4 bits")
    return low.frequencies, high.frequencies


def read_product(bits, alphabet, log, tables):
    return product_frequencies(*read_factors(bits, alphabet, tables), log)


def read_escaped_product(bits, alphabet, log, tables):
    factors = read_factors(bits, alphabet, tables)
    return product_frequencies(*factors, log, bits.take(8))


def product_frequencies(low, high, log, escape=None):
    """Of the pairs of two tables; those of less than a quarter of a slot are left to the escape."""
    weights = {s: low[s & 15] * high[s >> 4] for s in range(256)}
    if escape is not None:
        least = -(-sum(weights.values()) >> log + 2)
        kept = {s: w for s, w in weights.items() if w >= least and s != escape}
        weights = kept | {escape: max(least, sum(weights.values()) - sum(kept.values()))}
    order = sorted((s for s in weights if weights[s]), key=lambda s: (-weights[s], s))
    return frequencies_of({s: weights[s] for s in order}, 256, log)


def frequencies_of(weights, symbols, log):
    """`weights` are of the present symbols alone, in the order in which the rest is given out."""
    slots, total = 1 << log, sum(weights.values())
    need(len(weights) <= slots, "more symbols than slots")
    out = {s: 1 for s, w in weights.items() if w * slots < total}
    others = {s: w for s, w in weights.items() if s not in out}
    room, rest = slots - len(out), sum(others.values())
    out.update({s: max(1, w * room // rest) for s, w in others.items()})
    missing = slots - sum(out.values())
    while missing:
        for s in weights:
            if missing > 0 or (missing < 0 and out[s] >= 2):
                out[s] += 1 if missing > 0 else -1
                missing += -1 if missing > 0 else 1
    return [out.get(s, 0) for s in range(symbols)]


# ---- rANS

def read_states(stored, compact):
    """The states that a group begins with, and what follows them."""
    if not compact:
        need(len(stored) >= 4 * LANES, "a group is shorter than its states")
        x = np.frombuffer(stored[:4 * LANES], "<u4").astype(np.int64)
        need((x >= START).all(), "a state begins below 2^16")
        return x, stored[4 * LANES:]
    bits = Bits(stored)
    lengths = [16 + bits.take(4) for _ in range(LANES)]
    x = np.array([1 << length | bits.take(length) for length in lengths], np.int64)
    return x, stored[bits.align():]


def in_states(count, bits):
    """How many of so many coded symbols are in the last states of a COMPACT group."""
    return min(count, LANES * (16 // bits))


def take_from_states(x, first, count, bits):
    """The symbols from number `first` on."""
    out = []
    for lane in (i % LANES for i in range(first, first + count)):
        high, low = divmod(int(x[lane]), START)
        out.append(low % (1 << bits))
        x[lane] = high * START + low // (1 << bits)
    return out


def decode_rans(stored, log, tables, classes, compact):
    """As many symbols as there are classes; then the bytes behind the words that were read."""
    x, stored = read_states(stored, compact)
    words = np.frombuffer(stored, "<u2", len(stored) // 2).astype(np.int64)
    frequencies = np.array([table.frequencies for table in tables])
    before = np.cumsum(frequencies, axis=1) - frequencies
    symbol_of = np.array([np.repeat(np.arange(len(f)), f) for f in frequencies])
    out, read, bits = np.zeros(len(classes), np.int64), 0, tables[0].bits if tables else 8
    count = len(classes) - (in_states(len(classes), bits) if compact else 0)
    for at in range(0, count, LANES):
        k = classes[at:min(at + LANES, count)]
        lanes = x[:len(k)]  # a view: what is stored here is stored in x
        slot = lanes & (1 << log) - 1
        s = symbol_of[k, slot]
        lanes[:] = frequencies[k, s] * (lanes >> log) + slot - before[k, s]
        small = np.nonzero(x < START)[0]
        need(read + len(small) <= len(words), "a group's words run out")
        x[small] = x[small] << 16 | words[read:read + len(small)]
        read += len(small)
        out[at:at + len(k)] = s
    out[count:] = take_from_states(x, count, len(classes) - count, bits)
    need((x == START).all(), "a state does not end at 2^16")
    return out, stored[2 * read:]
