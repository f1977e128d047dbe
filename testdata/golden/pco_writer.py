"""Writes Pco field by field: the caller says every choice, nothing is searched for."""
from pco_reader import *  # noqa: F403


def split(ty, mode, par, bits):
    k, lat = width(ty), ordered(ty, bits)
    mask, mid = (1 << k) - 1, 1 << (k - 1)
    if mode == INT_MULT:
        return lat // par, lat % par
    if mode == FLOAT_MULT:
        x, base = bits_float(ty, bits), bits_float(ty, unordered(ty, par))
        g = 1 << MANTISSA[ty]
        if x == x and abs(x / base) < g:
            a, minus = abs(round(x / base)), str(x / base)[0] == "-"
        else:  # infinities and NaNs stand for themselves
            a, minus = g + (bits & mid - 1) - float_bits(ty, float(g)), bool(bits & mid)
        l0 = mid - 1 - a if minus else mid + a
        return l0, (lat - float_product(ty, l0, par) - mid) & mask
    if mode == FLOAT_QUANT:
        low = lat & ((1 << par) - 1)
        return lat >> par, low if lat >= mid else (1 << par) - 1 - low
    return (par.index(lat), None) if mode == DICT else (lat, None)


def take_delta(kind, par, k, x, states, lookbacks):
    mask, mid = (1 << k) - 1, 1 << (k - 1)
    if kind == 1:
        m = []
        for _ in range(states):
            m.append(x[0] if x else 0)
            x = [(b - a) & mask for a, b in zip(x, x[1:])]
        return m, [(r - mid) & mask for r in x]
    state, out = (x + [0] * states)[:states], []
    for i in range(states, len(x)):
        back = lookbacks[i - states] if kind == 2 else 0
        p = (x[i - back] if i >= back else 0) if kind == 2 else conv_prediction(x, i, par)
        out.append((x[i] - p - mid) & mask)
    return state, out


class Writer:
    def __init__(self):
        self.fields, self.pos, self.big = [], 0, 0

    def put(self, value, nbits, name):
        assert 0 <= value < 1 << nbits or value == nbits == 0, (name, value, nbits)
        self.fields.append((name, nbits, value))
        self.big |= value << self.pos
        self.pos += nbits

    def align(self):
        if self.pos % 8:
            self.put(0, -self.pos % 8, "pad")

    def bytes(self):
        return self.big.to_bytes(self.pos // 8, "little")

    def annotated(self):
        """Rows of hex, a row per run of fields that starts and ends on a byte."""
        data, start, pos, names, rows, empty = self.bytes(), 0, 0, [], [], None
        for i, (name, nbits, value) in enumerate(self.fields):
            pos += nbits
            number = int(value) if value < 1 << 24 else hex(value)
            same = empty and empty.rstrip("0123456789") == name.rstrip("0123456789")
            if nbits == 0 and same:  # a run of fields without bits, in short
                names[-1] = f"{empty}..{name}:0"
            else:
                names.append(f"{name}:{nbits}" + (f"={number}" if nbits else ""))
            empty = None if nbits or not name[-1].isdigit() else empty if same else name
            ends = i + 1 == len(self.fields) or self.fields[i + 1][1] > 0  # zero-width fields stay here
            if pos % 8 == 0 and pos // 8 > start and ends:
                rows.append((data[start:pos // 8], names))
                start, names = pos // 8, []
        lines = []
        for data, names in rows:
            notes = [""]
            for name in names:
                if len(notes[-1]) + len(name) > 58:
                    notes.append("")
                notes[-1] += " " + name
            for i in range(max(len(notes), -(-len(data) // 12))):
                piece = data[12 * i:12 * i + 12].hex(" ")
                note = " ;" + notes[i] if i < len(notes) else ""
                lines.append((f"{piece:<36}" + note).rstrip())
        return "\n".join(lines)


def encode_symbols(log, weights, symbols):
    """Lane starts, and per symbol (width, bits): backwards from slot 0 in every lane."""
    slots, lanes, out = decode_table(log, weights), [0] * 4, [None] * len(symbols)
    for t in reversed(range(len(symbols))):
        after = lanes[t % 4]
        lanes[t % 4], nbits, base = next(
            (i, nb, base) for i, (b, nb, base) in enumerate(slots)
            if b == symbols[t] and base <= after < base + (1 << nb))
        out[t] = nbits, after - base
    return lanes, out


def write_header(w, standalone, major, minor=1, uniform=None, n_hint=0):
    w.put(int.from_bytes(b"pco!", "little"), 32, "magic")
    if standalone >= 2:
        w.put(standalone, 8, "standalone")
    if standalone == 3:
        w.put(TYPES.get(uniform, 0), 8, "uniform")
    if standalone >= 2:
        p = max(1, n_hint.bit_length())
        w.put(p - 1, 6, "hint_bits-1")
        w.put(n_hint, p, "n_hint")
        w.align()
    w.put(major, 8, "major")
    if major >= 4:
        w.put(minor, 8, "minor")


def write_chunk(w, major, ty, values, bins, mode=CLASSIC, par=None, delta=0, dpar=None, states=0,
                second=False, lookbacks=None, latents=None):
    """bins: a list of (weight, lower, offset bits) per variable. latents: in place of splitting values."""
    k, n = width(ty), len(values)
    w.put(TYPES[ty], 8, "type")
    w.put(n - 1, 24, "n-1")
    w.put(mode, 4, "mode")
    if mode == DICT:
        w.put(len(par), 25, "count")
        w.align()
        for x in par:
            w.put(x, k, "entry")
    elif mode:
        w.put(par, 8 if mode == FLOAT_QUANT else k, "q" if mode == FLOAT_QUANT else "base")
    if major < 3:
        w.put(states, 3, "order")
    else:
        w.put(delta, 4, "delta")
        if delta == 1:
            w.put(states, 3, "order")
            w.put(second, 1, "secondary")
        elif delta == 2:
            w.put(dpar[0] - 1, 5, "window_log-1")
            w.put(states.bit_length() - 1, 4, "state_log")
            w.put(second, 1, "secondary")
        elif delta == 3:
            w.put(dpar[0], 5, "q")
            w.put(dpar[1] + (1 << 63), 64, "bias")
            w.put(states - 1, 5, "order-1")
            for x in dpar[2]:
                w.put(x + (1 << 31), 32, "w")
    l0, l1 = latents or zip(*(split(ty, mode, par, x) for x in values))
    variables = [("L.", 32, [], lookbacks)] if delta == 2 else []
    for name, kv, x, s in [("", 32 if mode == DICT else k, l0, states), ("2.", k, l1, states * second)]:
        if name == "" or mode in (1, 2, 3):
            variables.append((name, kv, *(take_delta(delta, dpar, kv, list(x), s, lookbacks) if s else ([], list(x)))))
    coded = []
    for (name, kv, state, x), its in zip(variables, bins):
        weights = [b[0] for b in its]
        log = max(0, sum(weights).bit_length() - 1)
        w.put(log, 4, name + "log")
        w.put(len(its), 15, name + "bins")
        for weight, lower, obits in its:
            w.put(weight - 1, log, name + "weight-1")
            w.put(lower, kv, name + "lower")
            w.put(obits, kv.bit_length(), name + "offset_bits")
        mask = (1 << kv) - 1
        symbols = [next(b for b, (_, lo, o) in enumerate(its) if (v - lo) & mask < 1 << o) for v in x]
        offsets = [((v - its[b][1]) & mask, its[b][2]) for v, b in zip(x, symbols)]
        coded.append((name, kv, state, log, *encode_symbols(log, weights, symbols), offsets))
    w.align()
    for name, kv, state, log, lanes, _, _ in coded:
        for x in state:
            w.put(x, kv, name + "state")
        for i, x in enumerate(lanes):
            w.put(x, log, f"{name}lane{i}")
    w.align()
    for start in range(0, n, 256):
        for name, _, _, log, _, codes, offsets in coded:
            for t, (nbits, bits) in enumerate(codes[start:start + 256], start):
                if log:
                    w.put(bits, nbits, f"{name}s{t}")
            for t, (x, obits) in enumerate(offsets[start:start + 256], start):
                if obits:
                    w.put(x, obits, f"{name}o{t}")
    w.align()
