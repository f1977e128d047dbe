"""Reads Pco field by field, for clarity and not for speed. Written from specs/pco.md alone."""
import struct

TYPES = dict(u32=1, u64=2, i32=3, i64=4, f32=5, f64=6, u16=7, i16=8, f16=9, u8=10, i8=11)
NAMES = {byte: name for name, byte in TYPES.items()}
PACK = dict(f16="<e", f32="<f", f64="<d")
MANTISSA = dict(f16=11, f32=24, f64=53)  # the implicit digit included
CLASSIC, INT_MULT, FLOAT_MULT, FLOAT_QUANT, DICT = range(5)


class Corrupt(Exception):
    pass


def need(condition, what):
    if not condition:
        raise Corrupt(what)


def width(ty):
    return int(ty[1:])


# ---- numbers are handled as their bits; a latent is the order-preserving image of the bits

def float_bits(ty, x):
    try:
        return int.from_bytes(struct.pack(PACK[ty], x), "little")
    except OverflowError:
        return int.from_bytes(struct.pack(PACK[ty], float("inf") if x > 0 else float("-inf")), "little")


def bits_float(ty, bits):
    return struct.unpack(PACK[ty], bits.to_bytes(width(ty) // 8, "little"))[0]


def ordered(ty, bits):
    mid, mask = 1 << (width(ty) - 1), (1 << width(ty)) - 1
    if ty[0] == "u":
        return bits
    return bits ^ (mask if ty[0] == "f" and bits & mid else mid)


def unordered(ty, latent):
    mid, mask = 1 << (width(ty) - 1), (1 << width(ty)) - 1
    if ty[0] == "u":
        return latent
    return latent ^ (mask if ty[0] == "f" and not latent & mid else mid)


# ---- tANS

def spread(log, weights):
    size = 1 << log
    need(sum(weights) == size, "weights do not sum to the table size")
    step = 3 * size // 5
    step += step % 2 == 0
    slots, j = [0] * size, 0
    for b, w in enumerate(weights):
        for _ in range(w):
            slots[j * step % size] = b
            j += 1
    return slots


def decode_table(log, weights):
    """Per slot: bin, bits to read, base of the next slot."""
    seen, table = list(weights), []
    for b in spread(log, weights) if weights else []:
        x = seen[b]
        seen[b] += 1
        nbits = log - (x.bit_length() - 1)
        table.append((b, nbits, (x << nbits) - (1 << log)))
    return table


# ---- joining and splitting modes

def int_float(ty, l0):
    """Bits of the integer-valued float number l0."""
    mid = 1 << (width(ty) - 1)
    sign, a = (0, l0 - mid) if l0 >= mid else (mid, mid - 1 - l0)
    g = 1 << MANTISSA[ty]
    bits = float_bits(ty, float(a)) if a < g else float_bits(ty, float(g)) + (a - g)
    need(bits < mid, "FloatMult: multiplier out of range")
    return bits | sign


def float_product(ty, l0, base):
    """Ordered latent of (integer-valued float l0) * base."""
    v = int_float(ty, l0)
    x = bits_float(ty, v)
    if x != x:
        return ordered(ty, v | 1 << (MANTISSA[ty] - 2))  # NaN * base: quiet bit set, all else kept
    return ordered(ty, float_bits(ty, x * bits_float(ty, unordered(ty, base))))


def join(ty, mode, par, l0, l1):
    k = width(ty)
    mask, mid = (1 << k) - 1, 1 << (k - 1)
    if mode == INT_MULT:
        need(l1 < par, "IntMult: remainder not below the base")
        return unordered(ty, (l0 * par + l1) & mask)
    if mode == FLOAT_MULT:
        return unordered(ty, (float_product(ty, l0, par) + l1 + mid) & mask)
    if mode == FLOAT_QUANT:
        need(l0 < 1 << (k - par) and l1 < 1 << par, "FloatQuant: a part is too wide")
        low = l1 if l0 >= mid >> par else (1 << par) - 1 - l1
        return unordered(ty, ((l0 << par) + low) & mask)
    if mode == DICT:
        need(l0 < len(par), "Dict: index out of range")
        return unordered(ty, par[l0])
    return unordered(ty, l0)


# ---- delta encodings

def conv_prediction(x, i, par):
    q, bias, weights = par
    return max(0, bias + sum(w * x[i - len(weights) + j] for j, w in enumerate(weights))) >> q


def apply_delta(kind, par, k, n, state, stored, lookbacks):
    mask, mid = (1 << k) - 1, 1 << (k - 1)
    e = [(r + mid) & mask for r in stored]
    x = list(state)
    if kind == 1:
        m, x = list(state), []
        for i in range(n):
            x.append(m[0])
            for j in range(len(m)):  # m[j] takes the old m[j+1], the last one takes the residual
                m[j] = (m[j] + (m[j + 1] if j + 1 < len(m) else e[i] if i < len(e) else 0)) & mask
    for t, r in enumerate(e if kind > 1 else []):
        i = len(state) + t
        if kind == 2:
            need(1 <= lookbacks[t] <= 1 << par[0], "lookback outside of the window")
            x.append((r + (x[i - lookbacks[t]] if i >= lookbacks[t] else 0)) & mask)
        else:
            x.append((r + conv_prediction(x, i, par)) & mask)
    return x[:n]


# ---- reading

class Reader:
    def __init__(self, data):
        self.data, self.pos, self.big = data, 0, int.from_bytes(data, "little")

    def take(self, nbits):
        need(self.pos + nbits <= 8 * len(self.data), f"truncated at byte {self.pos // 8}")
        value = self.big >> self.pos & ((1 << nbits) - 1)
        self.pos += nbits
        return value

    def align(self):
        need(self.take(-self.pos % 8) == 0, "padding is not zero")


def read_chunk(r, major, ty, n):
    """Chunk metadata and one page of n numbers."""
    k, mode, par, states, second = width(ty), r.take(4), None, 0, False
    need(mode <= 4 and not (mode == 1 and major == 0), "unknown mode")
    need(mode in (0, 4) or (ty[0] == "f") == (mode != INT_MULT), "mode does not fit the type")
    if mode in (INT_MULT, FLOAT_MULT):
        par = r.take(k)
        need(par != 0, "base 0")
        if mode == FLOAT_MULT:
            base = bits_float(ty, unordered(ty, par))
            need(base - base == 0 and base != 0, "base not finite or zero")
    elif mode == FLOAT_QUANT:
        par = r.take(8)
        need(1 <= par < MANTISSA[ty], "quantum out of range")
    elif mode == DICT:
        count = r.take(25)
        r.align()
        par = [r.take(k) for _ in range(count)]
    kind, dpar = 0, None
    if major < 3:
        states = r.take(3)
        kind = int(states > 0)
    else:
        kind = r.take(4)
        need(kind <= 3, "unknown delta encoding")
        if kind == 1:
            states, second = r.take(3), r.take(1)
            need(states > 0, "order 0")
        elif kind == 2:
            window_log, state_log, second = r.take(5) + 1, r.take(4), r.take(1)
            need(state_log <= window_log <= 24, "window out of range")
            dpar, states = (window_log,), 1 << state_log
        elif kind == 3:
            q, bias, states = r.take(5), r.take(64) - (1 << 63), r.take(5) + 1
            dpar = q, bias, [r.take(32) - (1 << 31) for _ in range(states)]
    kp = 32 if mode == DICT else k
    if kind == 3:
        need(kp <= 32 and dpar[0] <= min(31, 2 * kp - 1), "Conv1 out of range")
        bound = float(abs(dpar[1])) + float(sum(map(abs, dpar[2])) << kp)  # in f64, as the text says
        need(bound < float(1 << (2 * kp - 1)), "Conv1 overflows")
    variables = [("delta", 32, 0, states)] if kind == 2 else []  # name, width, own states, codes missing
    variables.append(("primary", kp, states, states))
    if mode in (1, 2, 3):
        variables.append(("secondary", k, states * second, states * second))
    tables = []
    for name, kv, _, _ in variables:
        log, count = r.take(4), r.take(15)
        need(log <= 14 and count <= 1 << log and (count > 1 or log == 0), "bins and table size disagree")
        bins = [(r.take(log) + 1, r.take(kv), r.take(kv.bit_length())) for _ in range(count)]
        need(all(o <= kv for _, _, o in bins), "offset bits exceed the type")
        need(name != "delta" or all(1 <= low <= 1 << dpar[0] for _, low, _ in bins), "lookback bin")
        tables.append((log, bins, decode_table(log, [w for w, _, _ in bins])))
    r.align()
    heads = []
    for (name, kv, s, _), (log, bins, _) in zip(variables, tables):
        heads.append(([r.take(kv) for _ in range(s)], [r.take(log) for _ in range(4)]))
    r.align()
    stored = [[] for _ in variables]
    for start in range(0, n, 256):
        for (_, kv, _, late), (_, bins, table), (_, lanes), out in zip(variables, tables, heads, stored):
            c = min(256, max(0, n - start - late))
            need(c == 0 or bins, "no bins, yet latents are stored")
            symbols = []
            for t in range(c):
                b, nbits, base = table[lanes[t % 4]]
                lanes[t % 4] = base + r.take(nbits)
                symbols.append(b)
            out += [(bins[b][1] + r.take(bins[b][2])) & ((1 << kv) - 1) for b in symbols]
    r.align()
    lookbacks, latents = stored[0] if kind == 2 else None, []
    for (name, kv, s, _), (state, _), out in zip(variables, heads, stored):
        if name != "delta":
            latents.append(apply_delta(kind, dpar, kv, n, state, out, lookbacks) if s else out)
    latents += [[None] * n] if len(latents) == 1 else []
    return [join(ty, mode, par, l0, l1) for l0, l1 in zip(*latents)]


def decode(data):
    """Type (None if there is none), bits of all numbers, and the end of the last chunk's terminator."""
    r = Reader(data)
    need(r.take(32) == int.from_bytes(b"pco!", "little"), "magic")
    version, uniform, out = r.take(8), 0, []
    need(version <= 3, "standalone version")
    if version < 2:
        r.pos -= 8
    if version == 3:
        uniform = r.take(8)
        need(uniform == 0 or uniform in NAMES, "number type")
    if version >= 2:
        r.take(r.take(6) + 1)  # n_hint
        r.align()
    major = r.take(8)
    need(major <= 4, "format version")
    if major == 4:
        r.take(8)
    ty = NAMES.get(uniform)
    while byte := r.take(8):
        need(byte in NAMES and (uniform in (0, byte)), "number type")
        ty = NAMES[byte]
        out += read_chunk(r, major, ty, r.take(24) + 1)
    return ty, out, r.pos // 8
