#!/usr/bin/env python3
"""A checkpoint and one that was tuned a little, as BF16, F16 and F32: what `--base` is for.

    python3 ../shared/bench/fetch_weights.py --checkpoints --models minilm-l6 --layouts f32 --out F32
    python3 benches/tuned.py F32/minilm-l6.f32.safetensors OUT
    target/release/latens compress OUT/tuned.bf16.safetensors --base OUT/base.bf16.safetensors

Each weight is changed by a normal deviate of 0.3 % of its tensor's mean magnitude. Prints what zstd -19 makes of both files'
XOR by planes of bytes, and of the one with the other as its dictionary (`--patch-from`). Needs numpy, safetensors and zstd.
"""
import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

TYPES = {"bf16": ("BF16", 2), "f16": ("F16", 2), "f32": ("F32", 4)}


def as_type(kind, w):
    if kind == "bf16":
        bits = np.ascontiguousarray(w).view(np.uint32)
        return ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16).astype(np.uint16).tobytes()
    return w.astype({"f16": np.float16, "f32": np.float32}[kind]).tobytes()


def write(path, kind, tensors):
    header, data = {}, []
    for name, w in tensors.items():
        data.append(as_type(kind, w))
        at = sum(map(len, data[:-1]))
        header[name] = {"dtype": TYPES[kind][0], "shape": list(w.shape), "data_offsets": [at, at + len(data[-1])]}
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data))


def zstd(*options, given=None):
    return len(subprocess.run(["zstd", "-19", "-q", "-c", *options], input=given, stdout=subprocess.PIPE, check=True).stdout)


def main(source, out):
    out, random = Path(out), np.random.default_rng(1)
    out.mkdir(parents=True, exist_ok=True)
    base = {name: w for name, w in load_file(source).items() if w.dtype == np.float32}
    changed = {n: w + random.normal(0, 0.003 * np.abs(w).mean(), w.shape).astype(np.float32) for n, w in base.items()}
    for kind, (_, width) in TYPES.items():
        paths = [out / f"{which}.{kind}.safetensors" for which in ("base", "tuned")]
        for path, tensors in zip(paths, (base, changed)):
            write(path, kind, tensors)
        one, other = (np.frombuffer(path.read_bytes(), np.uint8) for path in paths)
        planes = b"".join((one ^ other)[k::width].tobytes() for k in range(width))
        patch = zstd("--long=27", f"--patch-from={paths[0]}", str(paths[1]))
        print(f"{kind}: {os.path.getsize(paths[1])} bytes; zstd -19 of the XOR by planes {zstd(given=planes)}, with --patch-from {patch}")


main(*sys.argv[1:])
