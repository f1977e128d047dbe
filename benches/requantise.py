#!/usr/bin/env python3
"""Checkpoints quantised as WCodec's size bars were: scales of absmax / 127 and absmax / 7.

    python3 ../shared/bench/fetch_weights.py --checkpoints --models minilm-l6,whisper-tiny-en --layouts f32 --out F32
    python3 benches/requantise.py F32 OUT
    python3 benches/wcodec_bars.py target/release/latens OUT > benches/results/wcodec_bars_requantised.csv

The bars are bits a weight of what `fetch_weights.py` makes without `--checkpoints` (its `quant`). Its
checkpoints divide absmax by 127.5 and 7.5 instead, so that symbols spread wider: log2(7.5 / 7), a
tenth of a bit a weight, 2.5 % of four. Layouts are compressed-tensors': `int-quantized` and
`pack-quantized`, whose zero points are packed along the rows. Needs numpy and safetensors.
"""
import json
import sys
from pathlib import Path

import numpy as np
import safetensors.numpy
from held_out_checkpoints import fetch

SCHEMES = {
    "int8-channel": "int8_ch", "int8-tensor": "int8_tensor", "int4-channel-packed": "int4_ch",
    "int4-g128-packed": "int4_g128", "int4-g32-packed": "int4_g32", "int4-g128-asym-packed": "int4_g128a",
}


def is_matrix(name, w):
    """As `fetch_weights.layout` has it: embeddings too, positions and token types not."""
    return w.ndim >= 2 and w.size >= 2048 and len(w) >= 8 and not any(part in name for part in ("position", "encodings", "token_type"))


def packed(fw, codes):
    """Symbols 0 to 15, eight in a word along the last axis, which is filled with zeros."""
    padded = np.pad(codes, ((0, 0), (0, -codes.shape[1] % 8)))
    return fw.nib(padded.reshape(len(codes), -1, 8))


def layout(fw, tensors, kind):
    """{name: (safetensors' type, array)}"""
    out = {}
    for name, w in tensors.items():
        flat = w.astype(np.float32).reshape(len(w), -1) if is_matrix(name, w) else None
        made = None if flat is None else fw.quant(flat, SCHEMES[kind], float(np.abs(flat).max()))
        if made is None:
            out[name] = ("BF16", fw.bf16(w)) if w.dtype.kind == "f" else (fw.DTN[w.dtype.str[1:]], w)
            continue
        symbols, scale, zero = made
        base = name.removesuffix(".weight")
        scale = scale.reshape(-1) if kind == "int8-tensor" else scale
        out[base + ".weight_scale"] = ("BF16", fw.bf16(scale)) if "int8" in kind or kind == "int4-channel-packed" else ("F16", scale.astype(np.float16))
        if "int8" in kind:
            out[base + ".weight"] = ("I8", symbols.reshape(w.shape))
            continue
        codes = symbols.astype(np.uint8) if zero is not None else (symbols + 8).astype(np.uint8)
        out[base + ".weight_packed"] = ("I32", packed(fw, codes))
        out[base + ".weight_shape"] = ("I64", np.array(w.shape, np.int64))
        if zero is not None:
            out[base + ".weight_zero_point"] = ("I32", np.ascontiguousarray(packed(fw, zero.astype(np.uint8).T).T))
    return out


def config(kind):
    group = next((int(part[1:]) for part in kind.split("-") if part[0] == "g"), None)
    strategy = "group" if group else "tensor" if "tensor" in kind else "channel"
    weights = {"num_bits": 8 if "int8" in kind else 4, "type": "int", "symmetric": "asym" not in kind, "strategy": strategy, "group_size": group}
    form = "int-quantized" if "int8" in kind else "pack-quantized"
    groups = {"group_0": {"targets": ["Linear", "Embedding"], "weights": weights}}
    return {"quant_method": "compressed-tensors", "format": form, "config_groups": groups}


fw, out = fetch(), Path(sys.argv[2])
out.mkdir(exist_ok=True)
for path in sorted(Path(sys.argv[1]).glob("*.f32.safetensors")):
    tensors = safetensors.numpy.load_file(path)
    for kind in SCHEMES:
        meta = {"format": "pt", "quantization_config": json.dumps(config(kind), separators=(",", ":"))}
        parts = fw.st_bytes(layout(fw, tensors, kind), meta)
        (out / f"{path.name.split('.')[0]}.{kind}.safetensors").write_bytes(b"".join(parts))
