#!/usr/bin/env python3
"""Checkpoints as MLX quantises them, by MLX itself: U32 `weight`, `scales`, `biases`, and a `config.json`.

    python3 ../shared/bench/fetch_weights.py --checkpoints --models minilm-l6,whisper-tiny-en --layouts f32 --out F32
    python3 benches/quantise_mlx.py F32 OUT
    target/release/latens compress OUT/minilm-l6-4bit-g64/model.safetensors

Needs `mlx[cpu]`, which runs on Linux too.
"""
import json
import sys
from pathlib import Path

import mlx.core as mx

SCHEMES = [(2, 64, "affine"), (3, 64, "affine"), (4, 64, "affine"), (4, 32, "affine"), (5, 64, "affine"), (6, 64, "affine"),
           (8, 64, "affine"), (4, 32, "mxfp4")]


def quantised(tensors, bits, group, mode):
    """As `mlx_lm.convert -q` has it: matrices whose rows are whole groups; all else BF16."""
    for name, w in tensors.items():
        if not (name.endswith("weight") and w.ndim == 2 and w.shape[1] % group == 0 and len(w) > 2):
            yield name, w.astype(mx.bfloat16) if w.dtype in (mx.float32, mx.float16) else w
            continue
        parts = mx.quantize(w.astype(mx.bfloat16), group_size=group, bits=bits, mode=mode)
        for part, value in zip(("weight", "scales", "biases"), parts):
            yield name.removesuffix("weight") + part, value


def main(source, out):
    for path in sorted(Path(source).glob("*.f32.safetensors")):
        for bits, group, mode in SCHEMES:
            kind = f"{bits}bit-g{group}" if mode == "affine" else mode
            folder = Path(out) / f"{path.name.split('.')[0]}-{kind}"
            folder.mkdir(parents=True, exist_ok=True)
            tensors = dict(quantised(mx.load(str(path)), bits, group, mode))
            mx.save_safetensors(str(folder / "model.safetensors"), tensors, metadata={"format": "mlx"})
            said = {"group_size": group, "bits": bits, **({} if mode == "affine" else {"mode": mode})}
            (folder / "config.json").write_text(json.dumps({"quantization": said, "quantization_config": said}))


main(*sys.argv[1:])
