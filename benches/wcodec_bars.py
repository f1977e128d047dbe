#!/usr/bin/env python3
"""What WCodec saves on each class of weights, beside what was aimed at.

    python3 benches/wcodec_bars.py target/release/latens CHECKPOINTS > benches/results/wcodec_bars.csv

Per cent of the flat bytes of the tensors of a class, their own side information in; from `latens
inspect --json`. Linear layers stand there at levels 9 and 12 as well, where writing, and at 12 reading,
takes longer. At the end, what level 12 saves on embeddings over level 8, whose bytes are in the
place of flat ones. The verdict on a bar that is missed is "missed". Files that are not there are
left out. Bars of linear layers are of a middle one, which is what they were measured on; the same of
all of them stands beside it. What else they were measured on: `requantise.py`.
"""
import functools
import json
import subprocess
import sys
import tempfile
from pathlib import Path

QUANTISED = ("I8", "U8", "I32")


def weights(t):
    """Quantised weights: not scales, shapes or indices."""
    return t["dtype"] in QUANTISED and t["name"].endswith(("weight", "weight_packed", "qweight"))


def linear(t):
    return weights(t) and "embed" not in t["name"]


def middle(t):
    """Of MiniLM's six layers, the one that `fetch_weights.py` takes without `--checkpoints`."""
    return linear(t) and ".layer.3." in t["name"]


def embeddings(t):
    return weights(t) and "embeddings" in t["name"]


def of_type(dtype):
    return lambda t: t["dtype"] == dtype


# File, class, tensors, per cent.
BARS = [
    ("minilm-l6.int8-channel.safetensors", "INT8 per channel", weights, 9.5),
    ("minilm-l6.int8-channel.safetensors", "INT8 per channel, linear", linear, 11.5),
    ("minilm-l6.int8-channel.safetensors", "INT8 per channel, linear, middle layer", middle, 11.5),
    ("minilm-l6.int8-tensor.safetensors", "INT8 per tensor", weights, 35),
    ("minilm-l6.int4-channel-packed.safetensors", "INT4 per channel", weights, 22),
    ("minilm-l6.int4-g128-packed.safetensors", "INT4 g128", weights, 17),
    ("minilm-l6.int4-g128-packed.safetensors", "INT4 g128, linear", linear, 19),
    ("minilm-l6.int4-g128-packed.safetensors", "INT4 g128, linear, middle layer", middle, 19),
    ("minilm-l6.int4-g32-packed.safetensors", "INT4 g32", weights, 10.5),
    ("minilm-l6.int4-g128-asym-packed.safetensors", "INT4 g128 asymmetric", weights, 14.5),
    ("gemma3-270m.shipped.gguf", "GGUF Q8_0", of_type("Q8_0"), 8),
    ("gemma3-270m.shipped.gguf", "GGUF Q5_0", of_type("Q5_0"), 10),
    ("gemma3-270m.shipped.gguf", "GGUF Q4_K", of_type("Q4_K"), 6.5),
    ("gemma3-270m.shipped.gguf", "GGUF Q6_K", of_type("Q6_K"), 4.5),
    ("whisper-tiny-en.int8-channel.safetensors", "INT8 per channel", weights, 32),
    ("whisper-tiny-en.int4-g128-packed.safetensors", "INT4 g128", weights, 45),
    ("minilm-l6.bf16.safetensors", "BF16", of_type("BF16"), 33),
    ("effnet-lite0.bf16.safetensors", "BF16", of_type("BF16"), 33),
    ("paraphrase-l3.bf16.safetensors", "BF16", of_type("BF16"), 33),
]

# The same at higher levels.
HIGHER = [
    (name, f"{group}, level {level}", level, belongs, bar)
    for name, group, belongs, bar in BARS
    if group in ("INT8 per channel, linear", "INT4 g128, linear", "INT4 g128 asymmetric")
    for level in (9, 12)
]

# The same at level 12, beside level 8.
HIGHEST = [
    ("minilm-l6.int8-channel.safetensors", "embeddings, level 12", embeddings, 2),
    ("paraphrase-l3.int8-channel.safetensors", "embeddings, level 12", embeddings, 2),
    ("whisper-tiny-en.int8-channel.safetensors", "embeddings, level 12", embeddings, 2),
]

tool, folder = sys.argv[1], Path(sys.argv[2])


@functools.cache
def tensors(name, level):
    """What `latens inspect` says of the tensors of a file."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "out.wcodec"
        command = [tool, "compress", str(folder / name), "-o", str(out), "--force", "--quiet"]
        subprocess.run([*command, "--level", str(level)], check=True, capture_output=True)
        report = subprocess.run([tool, "inspect", str(out), "--json"], check=True, capture_output=True)
    return json.loads(report.stdout)["tensors"]


def line(name, group, count, before, after, bar):
    saved = 100 - 100 * after / max(before, 1)
    verdict = "" if saved >= bar else "missed"
    group = f'"{group}"' if "," in group else group
    print(f"{name},{group},{count},{before},{after},{saved:.2f},{bar},{verdict}", flush=True)


print("file,class,tensors,flat,wcodec,saved_per_cent,bar,verdict")
for name, group, belongs, bar in BARS:
    if (folder / name).exists():
        chosen = [t for t in tensors(name, 8) if belongs(t)]
        flat = sum(t["flat_bytes"] for t in chosen)
        line(name, group, len(chosen), flat, sum(t["bytes"] for t in chosen), bar)
for name, group, level, belongs, bar in HIGHER:
    if (folder / name).exists():
        chosen = [t for t in tensors(name, level) if belongs(t)]
        flat = sum(t["flat_bytes"] for t in chosen)
        line(name, group, len(chosen), flat, sum(t["bytes"] for t in chosen), bar)
for name, group, belongs, bar in HIGHEST:
    if (folder / name).exists():
        usual, best = ([t for t in tensors(name, level) if belongs(t)] for level in (8, 12))
        sizes = [sum(t["bytes"] for t in some) for some in (usual, best)]
        line(name, group, len(usual), *sizes, bar)
