#!/usr/bin/env python3
"""Make the golden Pco files of this folder with old and new releases of pcodec.

    python3 make_pco.py [--out DIR] [--work DIR] [--only RELEASE,...]
    python3 make_pco.py --check [--work DIR]

pcodec (PyPI) is the Python binding of the reference implementation of Pco.
Needs Python 3.11 (every release has a wheel for it) with pip and access to
PyPI.  For each release it makes a virtual environment in --work (default: a
temporary folder) with that pcodec and the pinned numpy, and there compresses
data that is generated from fixed seeds with integer and correctly rounded
arithmetic only.  Then pcodec 1.1.0 decodes every file: one that does not give
back the exact bits is an error.  Results: DIR/*.pco (standalone files),
DIR/*.pcw (wrapped format: header, then for each chunk its metadata and its
pages, end to end) and DIR/manifest.json (default DIR: pco beside this script).

Made again, all files come out the same except those in Dict mode: pco's order
of the dictionary's entries is not deterministic.

--check writes nothing: it decodes the files that are there with pcodec 1.1.0
and compares them with the manifest.
"""
import argparse
import glob
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import venv
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
RELEASES = ["0.0.1", "0.1.0", "0.1.1", "0.2.0", "0.3.2", "0.3.6", "1.0.0", "1.1.0"]
REFEREE = "1.1.0"
WIDE = ["0.1.0", "0.2.0", "0.3.6", "1.1.0"]   # one of each format version: more cases than the others
NUMPY = "numpy==1.26.4"
MAX_BYTES = 6144

DTYPES = {"u8": "<u1", "i8": "<i1", "u16": "<u2", "i16": "<i2", "u32": "<u4", "i32": "<i4",
          "u64": "<u8", "i64": "<i8", "f16": "<f2", "f32": "<f4", "f64": "<f8"}
BITS = {"f16": "<u2", "f32": "<u4", "f64": "<u8"}


def version(release):
    return tuple(int(x) for x in release.split("."))


# ---------------------------------------------------------------- data
# Only integers from PCG64 and + - * / on floats (one correct rounding each):
# the same bits on every machine.

def rng(*key):
    import numpy as np
    return np.random.Generator(np.random.PCG64(zlib.crc32(repr(key).encode())))


def cast_int(values, t):
    """Integers of any size to type t, wrapping."""
    import numpy as np
    return np.asarray(values, dtype=np.int64).astype(DTYPES[t])


def skew(t, n):
    """Products of small numbers, some negative where the type allows: a peak and a tail."""
    import numpy as np
    r = rng("skew", t, n)
    top = {1: 11}.get(np.dtype(DTYPES[t]).itemsize, 40)
    v = r.integers(0, top, n) * r.integers(0, top, n)
    if t[0] == "i":
        v = v // 2 * r.choice(np.array([1, 1, 1, -1]), n)
    if t[0] == "f":
        return ((v - 200) / 8.0).astype(DTYPES[t])
    return cast_int(v + (1000 if t not in ("u8", "i8") else 0), t)


def poly(t, n):
    """A cubic with noise, wrapping around the integer type; floats stay below 2^10."""
    import numpy as np
    r = rng("poly", t, n)
    i = np.arange(n, dtype=np.int64)
    noise = r.integers(0, 5, n)
    if t[0] == "f":
        return ((i * i % 4001 + noise) / 4.0).astype(DTYPES[t])
    return cast_int(i * i * i - 70 * i * i + 1234567 * i + noise, t)


def wave(t, n):
    """An oscillation by the recurrence x[i] = c x[i-1] - x[i-2], plus noise."""
    import numpy as np
    r = rng("wave", t, n)
    c, a, b = 1.9921875, 0.0, 1.0   # period near 71
    out = []
    for _ in range(n):
        out.append(b)
        a, b = b, c * b - a
    x = np.array(out)               # within about +-11.3
    size = np.dtype(DTYPES[t]).itemsize
    v = np.floor(x * {1: 10.0, 2: 2500.0}.get(size, 1e6)).astype(np.int64)
    v = v + r.integers(0, {1: 2, 2: 20}.get(size, 300), n)
    if t[0] == "f":
        return (v / 64.0).astype(DTYPES[t])
    if t[0] == "u":
        v = v + {1: 128, 2: 32768}.get(size, 2**31)
    return cast_int(v, t)


def multiples(t, n, base):
    """base * (skewed) + a few small remainders."""
    import numpy as np
    r = rng("mult", t, n, base)
    top = 5 if t == "u8" else 4 if t == "i8" else 11
    v = r.integers(0, top, n) * r.integers(0, top, n) * base
    odd = r.integers(0, 16, n) == 0
    v = v + odd * r.integers(0, min(base, 50), n)
    if t[0] == "i":
        v = v * r.choice(np.array([1, -1]), n)
    return cast_int(v, t)


def decimals(t, n, base, special=True):
    """Multiples of a float base, each correctly rounded, a few an ulp or so off, and specials."""
    import numpy as np
    r = rng("dec", t, n, base, special)
    k = r.integers(-40, 41, n) * r.integers(0, 20, n)
    x = (k.astype(DTYPES[t]) * np.array(base, DTYPES[t])).astype(DTYPES[t])
    u = x.view(BITS[t])
    u += (r.integers(0, 10, n) == 0).astype(BITS[t])
    if special and n >= 16:
        s = specials(t)
        x[r.choice(n, len(s), replace=False)] = s
    return x


def specials(t):
    """Infinities, both zeros, subnormals, extremes and NaNs (quiet, signed, with payloads)."""
    import numpy as np
    m = {"f16": 10, "f32": 23, "f64": 52}[t]
    size = np.dtype(DTYPES[t]).itemsize * 8
    exp = ((1 << (size - 1 - m)) - 1) << m
    sign = 1 << (size - 1)
    bits = [0, sign, 1, sign | 1, (1 << m) - 1, 1 << m, exp - 1, sign | (exp - 1),
            exp, sign | exp, exp | 1 << (m - 1), sign | exp | 1 << (m - 1),
            exp | 1 << (m - 1) | 5]
    return np.array(bits, dtype=BITS[t]).view(DTYPES[t])


def all_specials(t, n):
    """Specials, signalling NaNs among them, between random bit patterns and small numbers."""
    import numpy as np
    r = rng("special", t, n)
    s = specials(t)
    m = {"f16": 10, "f32": 23, "f64": 52}[t]
    signalling = s[8:9].view(BITS[t]) | np.array([1], BITS[t])
    s = np.concatenate([s, signalling.view(DTYPES[t])])
    x = s[r.integers(0, len(s), n)].copy()
    some = r.integers(0, 8, n) == 0
    raw = np.frombuffer(r.bytes(n * x.dtype.itemsize), BITS[t]).view(DTYPES[t])
    return np.where(some, raw, x)


def quantised(t, n, k):
    """Floats whose k lowest bits are zero, a few excepted."""
    import numpy as np
    r = rng("quant", t, n, k)
    x = (r.integers(-30, 31, n) * r.integers(1, 8, n) / 7.0 + 0.3).astype(DTYPES[t])
    u = x.view(BITS[t])
    u &= np.array(~((1 << k) - 1) & (1 << 8 * x.dtype.itemsize) - 1, BITS[t])
    u |= np.where(r.integers(0, 20, n) == 0, r.integers(0, 4, n), 0).astype(BITS[t])
    return x


def extremes(t, n):
    """MIN, MAX and their neighbours: every difference wraps."""
    import numpy as np
    info = np.iinfo(DTYPES[t])
    pick = np.array([info.min, info.max, info.min + 1, info.max - 1, info.max // 2 + 1, 0, 1],
                    dtype=DTYPES[t])
    return pick[rng("extreme", t, n).integers(0, len(pick), n)]


def noise(t, n):
    """Random bits over the whole type."""
    import numpy as np
    return np.frombuffer(rng("noise", t, n).bytes(n * np.dtype(DTYPES[t]).itemsize), DTYPES[t])


def repeats(t, n, period=37):
    """A random pattern that comes back with small changes."""
    import numpy as np
    r = rng("repeat", t, n, period)
    v = r.integers(0, 2**30, period)[np.arange(n) % period]
    v = v + (r.integers(0, 30, n) == 0) * r.integers(0, 9, n)
    if t[0] == "f":
        return (v % 2**15 / 16.0 if t == "f16" else v / 1024.0).astype(DTYPES[t])
    return cast_int(v, t)


def few(t, n, count):
    """`count` distinct random values (of any bit pattern but NaN) in random order."""
    import numpy as np
    r = rng("few", t, n, count)
    size = np.dtype(DTYPES[t]).itemsize
    v = np.frombuffer(r.bytes(count * size), DTYPES[t])
    if t[0] == "f":
        v = np.where(np.isnan(v), np.array(-0.0, DTYPES[t]), v)
    return v[np.minimum(r.integers(0, count, n), r.integers(0, count, n))]


def constant(t, n):
    import numpy as np
    return np.full(n, 7 if t[0] == "u" else -7, DTYPES[t])


def mixed_scale(t, n):
    """Many magnitudes: many bins at a high level."""
    r = rng("scale", t, n)
    return cast_int(r.integers(0, 2**30, n) >> r.integers(0, 31, n), t)


# ---------------------------------------------------------------- cases
def cases(release):
    """(name, type, n, data, options).  Options: level, mode, delta, pages, wrapped.

    mode: None (automatic) or ("classic",), ("int_mult", base), ("float_mult", base),
    ("float_quant", k), ("dict",); delta: None (automatic) or ("none",),
    ("consecutive", order), ("lookback",), ("conv1", order); pages: None, a number
    (equal pages up to it) or a list of exact sizes.
    """
    v = version(release)
    types = ["i32", "u32", "i64", "u64", "f32", "f64"]
    if v >= (0, 2):
        types += ["i16", "u16", "f16"]
    if v >= (1,):
        types += ["i8", "u8"]
    has = set(types)
    plain = dict(mode=("classic",), delta=("none",))
    out = []

    def add(name, t, data, narrow=True, newest=False, **options):
        """narrow: also for the releases that are not in WIDE; newest: for 1.1.0 only."""
        if t in has and (release == REFEREE or not newest and (narrow or release in WIDE)):
            out.append((name, t, len(data), data, options))

    # Sizes around a batch of 256, nothing forced.
    for t in types:
        sizes = {"i32": [0, 1, 2, 255, 256, 257, 1000, 3000], "f64": [0, 1, 2, 255, 256, 257, 1000],
                 "i8": [0, 1, 2, 257, 1000], "u16": [0, 1, 2, 257, 1000]}.get(t, [0, 1, 257])
        for n in sizes:
            add("auto", t, skew(t, n), narrow=n in (1, 257) or t == "i32" and n < 1000,
                newest=n == 0 and t not in ("i32", "f64"))
        add("classic", t, skew(t, 256), newest=True, **plain)
        add("constant", t, constant(t, 700), narrow=t == "u32", newest=t not in ("u32", "f64"), **plain)
        if t[0] == "f":
            add("special", t, all_specials(t, 300), narrow=t == "f32", **plain)
            add("special_delta", t, all_specials(t, 100), newest=True, mode=("classic",),
                delta=("consecutive", 1))
        else:
            add("extreme_delta", t, extremes(t, 257), narrow=t == "i64", newest=t in ("u64", "i32"),
                mode=("classic",), delta=("consecutive", 1))
    add("classic_level0", "i32", skew("i32", 1000), level=0, **plain)
    add("noise", "u64", noise("u64", 257), narrow=False, **plain)
    add("noise", "f32", noise("f32", 257), newest=True, **plain)
    add("noise", "i16", noise("i16", 257), newest=True, **plain)
    add("scale_level12", "u32", mixed_scale("u32", 1200), narrow=False, level=12, **plain)
    add("scale_level1", "i64", mixed_scale("i64", 300), narrow=False, level=1, **plain)

    add("many_bins", "u32", few("u32", 3000, 200), newest=True, level=12, **plain)

    # Consecutive deltas, also with fewer numbers than the order (encoders may then drop it).
    for order in range(1, 8):
        add(f"consecutive{order}", "i64", poly("i64", 300), narrow=order in (1, 7), newest=order in (3, 4, 6),
            mode=("classic",), delta=("consecutive", order))
    for t in ("u32", "f32", "f64", "i16", "f16", "u8"):
        add("consecutive2", t, poly(t, 257), narrow=t == "f32", newest=t in ("f64", "i16"),
            mode=("classic",), delta=("consecutive", 2))
    for n in (1, 2, 6, 7, 8):
        add("consecutive7", "u32", poly("u32", n), narrow=n < 8, mode=("classic",), delta=("consecutive", 7))
    add("extreme_delta7", "i64", extremes("i64", 257), newest=True, mode=("classic",),
        delta=("consecutive", 7))

    # IntMult.
    for t, base, n in (("i32", 1000, 1000), ("u64", 10**6, 300), ("i64", 60, 300), ("u32", 7, 300),
                       ("i16", 100, 600), ("u16", 12, 257), ("i8", 10, 300), ("u8", 10, 300)):
        add("int_mult", t, multiples(t, n, base), narrow=t in ("i32", "i16", "u8"), mode=("int_mult", base),
            delta=("none",))
        if t in ("i32", "i16"):   # cumulative sums (they wrap in i16)
            add("int_mult_delta", t, multiples(t, n, base).cumsum(dtype=DTYPES[t]), narrow=t == "i16",
                mode=("int_mult", base), delta=("consecutive", 1))
    add("int_mult_extreme", "i64", extremes("i64", 257), narrow=False, mode=("int_mult", 1000),
        delta=("consecutive", 2))

    # FloatMult.
    for t, base, n in (("f64", 0.01, 500), ("f32", 0.1, 300), ("f16", 0.5, 300)):
        add("float_mult", t, decimals(t, n, base), mode=("float_mult", base), delta=("none",))
        add("float_mult_delta", t, decimals(t, n, base, False), narrow=False, newest=t == "f16",
            mode=("float_mult", base), delta=("consecutive", 1))

    # FloatQuant.
    for t, k, n in (("f64", 29, 257), ("f32", 13, 400), ("f16", 5, 257)):
        add("float_quant", t, quantised(t, n, k), mode=("float_quant", k), delta=("none",))
        add("float_quant_delta", t, quantised(t, n, k), narrow=False, newest=t != "f32", mode=("float_quant", k),
            delta=("consecutive", 1))
    add("float_quant_special", "f32", all_specials("f32", 257), narrow=False, mode=("float_quant", 7),
        delta=("none",))

    # Lookback.
    for t in types:
        add("lookback", t, repeats(t, 900 if t in ("u32", "i64") else 300), narrow=t in ("u32", "f32", "i8"),
            newest=t in ("i32", "u16"),
            mode=("classic",), delta=("lookback",))
    add("lookback_int_mult", "i64", repeats("i64", 500) * 100, mode=("int_mult", 100), delta=("lookback",))
    add("lookback_far", "u32", repeats("u32", 1500, 600), narrow=False, mode=("classic",), delta=("lookback",))
    add("lookback_extreme", "i64", extremes("i64", 257), narrow=False, mode=("classic",), delta=("lookback",))
    for n in (1, 2, 257):
        add("lookback", "u64", repeats("u64", n), narrow=False, mode=("classic",), delta=("lookback",))

    # Dict.
    for t, n, count in (("u64", 1000, 3), ("f64", 600, 100), ("f32", 257, 1), ("i16", 600, 20),
                        ("i32", 1000, 17), ("f16", 300, 9), ("i8", 300, 5), ("u8", 300, 40)):
        add(f"dict{count}", t, few(t, n, count), narrow=t in ("u64", "f32", "i8"), mode=("dict",), delta=("none",))
    add("dict_consecutive", "i64", few("i64", 500, 12), mode=("dict",), delta=("consecutive", 1))
    add("dict_lookback", "u64", repeats("u64", 600, 29), mode=("dict",), delta=("lookback",))
    add("dict_conv1", "u32", few("u32", 500, 60), mode=("dict",), delta=("conv1", 2))
    add("dict_special", "f64", specials("f64")[rng("ds").integers(0, 13, 300)], narrow=False,
        mode=("dict",), delta=("none",))

    # Conv1 (primary latents of at most 32 bits).
    for order in (1, 2, 3, 4, 8, 16, 32):
        add(f"conv1_{order}", "i32", wave("i32", 300), narrow=order in (2, 32), mode=("classic",),
            delta=("conv1", order))
    for t in ("u32", "f32", "i16", "u16", "f16", "i8", "u8"):
        add("conv1_2", t, wave(t, 300), narrow=t in ("f32", "i8"),
            mode=("classic",), delta=("conv1", 2))
    add("conv1_4", "i16", wave("i16", 600), narrow=False, mode=("classic",), delta=("conv1", 4))
    add("conv1_int_mult", "i32", (wave("i32", 500) // 1000) * 100, mode=("int_mult", 100), delta=("conv1", 2))
    add("conv1_extreme", "i32", extremes("i32", 300), narrow=False, mode=("classic",), delta=("conv1", 3))

    # Several chunks in a standalone file.
    add("chunks", "i32", skew("i32", 1000), pages=256)
    add("chunks", "f64", decimals("f64", 600, 0.01), narrow=False, pages=250, mode=("float_mult", 0.01))
    add("chunks_tiny", "u32", poly("u32", 12), pages=1, **plain)
    add("chunks_exact", "i64", poly("i64", 1027), narrow=False, pages=[1, 255, 257, 2, 512], mode=("classic",),
        delta=("consecutive", 2))
    add("chunks_lookback", "i64", repeats("i64", 900), narrow=False, pages=300, mode=("classic",),
        delta=("lookback",))

    # Wrapped format: a list of chunks, each with several pages.
    w = dict(wrapped=True)
    add("wrapped", "i32", skew("i32", 1000), narrow=False, pages=[1, 255, 256, 257, 231], **w, **plain)
    add("wrapped_delta", "i64", poly("i64", 600), pages=200, mode=("classic",), delta=("consecutive", 2), **w)
    add("wrapped_delta7", "i64", poly("i64", 300), pages=[1, 2, 7, 8, 282], mode=("classic",),
        delta=("consecutive", 7), **w)
    add("wrapped_chunks", "u32", skew("u32", 900), narrow=False, pages=200, split=2, **w)
    add("wrapped_int_mult", "i32", multiples("i32", 700, 1000), narrow=False, pages=256, mode=("int_mult", 1000),
        delta=("none",), **w)
    add("wrapped_float_mult", "f64", decimals("f64", 600, 0.01), pages=256, mode=("float_mult", 0.01),
        delta=("none",), **w)
    add("wrapped_float_quant", "f32", quantised("f32", 600, 13), pages=[256, 344], mode=("float_quant", 13),
        delta=("consecutive", 1), **w)
    add("wrapped_lookback", "u64", repeats("u64", 700), pages=[257, 1, 442], mode=("classic",),
        delta=("lookback",), **w)
    add("wrapped_dict", "u16", few("u16", 600, 30), pages=256, mode=("dict",), delta=("none",), **w)
    add("wrapped_conv1", "i16", wave("i16", 600), pages=[300, 2, 298], mode=("classic",),
        delta=("conv1", 2), **w)
    return out


# ---------------------------------------------------------------- one release (in its venv)
def compress(release, data, options):
    """The file's bytes and, for the wrapped format, its layout; None: this release cannot."""
    import pcodec
    v = version(release)
    level = options.get("level", 8)
    mode, delta, pages = options.get("mode"), options.get("delta"), options.get("pages")
    if delta and delta[0] == "conv1" and v < (1,) or delta and delta[0] == "lookback" and v < (0, 3):
        return None
    if mode and (mode[0] == "dict" and v < (1,) or mode[0] == "float_quant" and v < (0, 2)):
        return None
    order = None if delta is None else 0 if delta[0] == "none" else delta[1] if len(delta) > 1 else None

    if v < (0, 2):   # modes could only be switched on and off
        kw = dict(
            compression_level=level, delta_encoding_order=order,
            int_mult_spec="enabled" if mode is None or mode[0] == "int_mult" else "disabled",
            float_mult_spec="enabled" if mode is None or mode[0] == "float_mult" else "disabled")
        if v < (0, 1):
            if options.get("wrapped") or isinstance(pages, list):
                return None
            return pcodec.auto_compress(data, max_page_n=pages or 262144, **kw), None
    elif v < (0, 3):
        kw = dict(compression_level=level, delta_encoding_order=order)
    else:
        spec = pcodec.DeltaSpec
        kw = dict(compression_level=level)
        if delta is not None:
            kw["delta_spec"] = {
                "none": lambda: (spec.no_op if v >= (1,) else spec.none)(),
                "consecutive": lambda: spec.try_consecutive(delta[1]),
                "lookback": lambda: spec.try_lookback(),
                "conv1": lambda: spec.try_conv1(delta[1])}[delta[0]]()
        if v >= (1,):
            kw["enable_8_bit"] = True
    if v >= (0, 2) and mode is not None:
        make = pcodec.ModeSpec
        kw["mode_spec"] = {
            "classic": make.classic, "int_mult": make.try_int_mult, "float_mult": make.try_float_mult,
            "float_quant": make.try_float_quant, "dict": getattr(make, "try_dict", None),
        }[mode[0]](*mode[1:])

    def config(pages):
        if pages is None:
            return pcodec.ChunkConfig(**kw)
        paging = pcodec.PagingSpec
        made = paging.exact_page_sizes(pages) if isinstance(pages, list) else paging.equal_pages_up_to(pages)
        return pcodec.ChunkConfig(paging_spec=made, **kw)

    if not options.get("wrapped"):
        from pcodec import standalone
        return standalone.simple_compress(data, config(pages)), None

    from pcodec import wrapped
    fc = wrapped.FileCompressor()
    header = fc.write_header()
    blob, layout = header, {"header_bytes": len(header), "chunks": []}
    split = options.get("split", 1)
    size = -(-len(data) // split)
    for i in range(0, len(data), size):
        cc = fc.chunk_compressor(data[i:i + size], config(pages))
        meta = cc.write_meta() if v >= (1,) else cc.write_chunk_meta()
        blob += meta
        chunk = {"meta_bytes": len(meta), "pages": []}
        for j, n in enumerate(cc.n_per_page()):
            page = cc.write_page(j)
            blob += page
            chunk["pages"].append({"n": n, "bytes": len(page)})
        layout["chunks"].append(chunk)
    return blob, layout


def worker(release, out):
    import numpy as np
    entries = []
    for name, t, n, data, options in cases(release):
        data = np.ascontiguousarray(data, dtype=DTYPES[t])
        made = compress(release, data, options)
        if made is None:
            continue
        blob, layout = made
        ext = "pcw" if options.get("wrapped") else "pco"
        file = f"r{release.replace('.', '_')}-{t}-{name}-{n}.{ext}"
        if any(e["file"] == file for e in entries):
            sys.exit(f"{file}: twice")
        if len(blob) > MAX_BYTES:
            sys.exit(f"{file}: {len(blob)} bytes are too many")
        with open(os.path.join(out, file), "wb") as f:
            f.write(blob)
        words = {k: " ".join(map(str, options[k])) if options.get(k) else "auto" for k in ("mode", "delta")}
        if version(release) < (0, 2) and words["mode"] != "classic":   # the base cannot be given
            words["mode"] = words["mode"].split()[0]
        entry = {
            "file": file, "release": release, "dtype": t, "n": n, "bytes": len(blob),
            "sha256_raw": hashlib.sha256(data.tobytes()).hexdigest(),
            "asked": {k: v for k, v in words.items() if v != "auto"}}
        entry["asked"].update({k: options[k] for k in ("level", "pages") if k in options})
        if layout:
            entry["wrapped"] = layout
        entries.append(entry)
    with open(os.path.join(out, f"part-{release}.json"), "w") as f:
        json.dump(entries, f)


# ---------------------------------------------------------------- the referee (pcodec 1.1.0)
class Bits:
    """Little-endian bit reader."""

    def __init__(self, blob):
        self.value, self.at = int.from_bytes(blob, "little"), 0

    def take(self, n):
        got = self.value >> self.at & ((1 << n) - 1)
        self.at += n
        return got


def chunk_words(meta, t, format_major):
    """Mode, delta and variables of a chunk, from the metadata's bytes."""
    import numpy as np
    k = np.dtype(DTYPES[t]).itemsize * 8
    b = Bits(meta)
    mode = b.take(4)
    out = {"mode": ["classic", "int_mult", "float_mult", "float_quant", "dict"][mode]}
    primary, secondary = k, None
    if mode == 1:
        out["base"], secondary = b.take(k), k
    elif mode == 2:
        u = b.take(k)
        bits = u ^ (1 << k - 1) if u >> k - 1 else ~u & (1 << k) - 1
        out["base"] = float(np.array([bits], BITS[t]).view(DTYPES[t])[0])
        secondary = k
    elif mode == 3:
        out["k"], secondary = b.take(8), k
    elif mode == 4:
        out["dict_n"] = b.take(25)
        b.at = -(-b.at // 8) * 8 + out["dict_n"] * k
        primary = 32
    variables = []
    if format_major < 3:
        order = b.take(3)
        out["delta"] = f"consecutive {order}" if order else "none"
    else:
        delta = b.take(4)
        if delta == 0:
            out["delta"] = "none"
        elif delta == 1:
            out["delta"] = f"consecutive {b.take(3)}"
            assert b.take(1) == 0, "the secondary variable has a delta: no encoder did that"
        elif delta == 2:
            out["delta"] = "lookback"
            out["window_log"] = b.take(5) + 1
            assert b.take(4) == 0 and b.take(1) == 0, "more than one state, or a secondary delta"
            variables.append(32)
        else:
            out["quantization"], out["bias"] = b.take(5), b.take(64) - (1 << 63)
            order = b.take(5) + 1
            out["delta"] = f"conv1 {order}"
            weights = [b.take(32) - (1 << 31) for _ in range(order)]
            if order <= 4:
                out["weights"] = weights
    variables.append(primary)
    if secondary:
        variables.append(secondary)
    out["bins"] = []   # of the lookback variable if there is one, the primary, the secondary
    for width in variables:
        log, bins = b.take(4), b.take(15)
        b.at += bins * (log + width + width.bit_length())
        out["bins"].append(bins)
    if -(-b.at // 8) != len(meta):
        sys.exit(f"chunk metadata: {len(meta)} bytes, read {b.at} bits")
    return out


def walk(blob, entry):
    """Decode a file chunk by chunk; returns the raw bytes and what the file's headers say."""
    import numpy as np
    from pcodec import wrapped
    t = entry["dtype"]
    layout = entry.get("wrapped")
    facts, at = {}, 0
    if not layout:
        assert blob[:4] == b"pco!"
        facts["standalone"] = standalone = blob[4]
        assert standalone in (2, 3), "the Python releases write no other"
        at = 5
        if standalone >= 3:
            assert blob[at] == 0, "a uniform type"
            at += 1
        b = Bits(blob[at:at + 10])
        assert b.take(b.take(6) + 1) == entry["n"], "n_hint is not n"
        at += -(-b.at // 8)
    decompressor, used = wrapped.FileDecompressor.new(blob[at:])
    major = blob[at]
    facts["format"] = f"{major}.{blob[at + 1]}" if major >= 4 else str(major)
    if layout:
        assert used == layout["header_bytes"]
    at += used
    raw, chunks, i = b"", [], 0
    while i < len(layout["chunks"]) if layout else blob[at] != 0:
        if layout:
            pages = layout["chunks"][i]["pages"]
        else:
            pages = [{"n": int.from_bytes(blob[at + 1:at + 4], "little") + 1}]
            at += 4
        chunk, used = decompressor.chunk_decompressor(blob[at:], t)
        words = chunk_words(blob[at:at + used], t, major)
        if layout:
            assert used == layout["chunks"][i]["meta_bytes"]
        at += used
        for page in pages:
            dst = np.zeros(page["n"], DTYPES[t])
            progress, used = chunk.read_page_into(blob[at:], page["n"], dst)
            assert progress.finished and progress.n_processed == page["n"]
            assert page.get("bytes", used) == used
            at += used
            raw += dst.tobytes()
        chunks.append({"n": sum(p["n"] for p in pages), **words})
        i += 1
    assert at + (0 if layout else 1) == len(blob), "trailing bytes"
    facts["chunks"] = chunks
    return raw, facts


def referee(out, entries):
    """Decode and describe every file; exits where one is not what was compressed."""
    import numpy as np
    from pcodec import standalone
    for e in entries:
        with open(os.path.join(out, e["file"]), "rb") as f:
            blob = f.read()
        try:
            if len(blob) != e["bytes"]:
                sys.exit(f"{e['file']}: not the file of the manifest")
            raw, facts = walk(blob, e)
            if not e.get("wrapped"):
                whole = standalone.simple_decompress(blob)
                whole = b"" if whole is None else whole.astype(DTYPES[e["dtype"]], copy=False).tobytes()
                if whole != raw:
                    sys.exit(f"{e['file']}: simple_decompress differs")
        except (AssertionError, RuntimeError) as err:
            sys.exit(f"{e['file']}: {err!r}")
        n = len(raw) // np.dtype(DTYPES[e["dtype"]]).itemsize
        if hashlib.sha256(raw).hexdigest() != e["sha256_raw"] or n != e["n"]:
            sys.exit(f"{e['file']}: decodes to other values")
        for key, value in facts.items():
            if e.setdefault(key, value) != value:
                sys.exit(f"{e['file']}: {key} is {value}, the manifest says {e[key]}")


def second_step(args):
    if args.step == "referee":
        entries = []
        for release in RELEASES:
            part = os.path.join(args.out, f"part-{release}.json")
            if os.path.exists(part):
                with open(part) as f:
                    entries += json.load(f)
                os.remove(part)
        referee(args.out, entries)
        entries.sort(key=lambda e: (version(e["release"]), e["file"]))
        with open(os.path.join(args.out, "manifest.json"), "w") as f:
            f.write("[\n" + ",\n".join(json.dumps(e, separators=(",", ":")) for e in entries) + "\n]\n")
    elif args.step == "check":
        with open(os.path.join(args.out, "manifest.json")) as f:
            entries = json.load(f)
        there = {f for f in os.listdir(args.out) if f.endswith((".pco", ".pcw"))}
        if there != {e["file"] for e in entries}:
            sys.exit("the files are not those of the manifest")
        referee(args.out, entries)
    else:
        return worker(args.step, args.out)
    print(f"{len(entries)} files, {sum(e['bytes'] for e in entries)} bytes: all decode with pcodec {REFEREE}")


# ---------------------------------------------------------------- first step
def python_for(release, work):
    env = os.path.join(work, f"venv-{release}")
    python = os.path.join(env, "bin", "python")
    if not os.path.exists(python):
        venv.create(env, with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check",
                    "--only-binary", ":all:", NUMPY, f"pcodec=={release}"], check=True)
    return python


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--out", default=os.path.join(HERE, "pco"), 
                    help="where the files go (default: pco beside this script)")
    ap.add_argument("--work", help="folder for the virtual environments (default: temporary)")
    ap.add_argument("--only", help="comma-separated releases (the manifest then holds only these)")
    ap.add_argument("--check", action="store_true", help="decode the files in --out and compare with the manifest")
    ap.add_argument("--step", help=argparse.SUPPRESS)   # the second step, in a venv
    args = ap.parse_args()
    if args.step:
        return second_step(args)
    me, out = os.path.abspath(__file__), os.path.abspath(args.out)
    with tempfile.TemporaryDirectory() as tmp:
        work = os.path.abspath(args.work) if args.work else tmp
        os.makedirs(work, exist_ok=True)
        if args.check:
            return subprocess.run([python_for(REFEREE, work), me, "--out", out, "--step", "check"]).returncode
        os.makedirs(out, exist_ok=True)
        for old in glob.glob(os.path.join(out, "*.pc[ow]")):
            os.remove(old)
        for release in args.only.split(",") if args.only else RELEASES:
            r = subprocess.run([python_for(release, work), me, "--out", out, "--step", release])
            if r.returncode:
                return r.returncode
        return subprocess.run([python_for(REFEREE, work), me, "--out", out, "--step", "referee"]).returncode


if __name__ == "__main__":
    sys.exit(main())
