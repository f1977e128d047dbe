"""Small made-up checkpoints, compressed by the tool, read by the reader in Python: source files must come back.

    python3 wcodec_checkpoints.py --tool target/release/latens"""
import argparse
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

import numpy as np

from make_wcodec_foreign import safetensors
from pco_reader import Corrupt, need
from wcodec_reader import WOVEN, open_file
from wcodec_views import BLOCKS

LEVELS = (1, 8, 12)
GGUF_TYPES = dict(F32=0, Q4_0=2, Q8_0=8, Q4_K=12, Q6_K=14)


def normal(rng, *shape):
    return np.array([rng.gauss(0, 1) for _ in range(int(np.prod(shape)))]).reshape(shape)


def small_ints(values, bits):
    half = 1 << bits - 1
    return np.clip(np.round(values), -half, half - 1).astype(int)


def int8(rng):
    """Rows with scales of their own, columns with means of their own, a tied tensor, what is not quantised."""
    scales = np.exp(normal(rng, 96) / 2)
    weight = small_ints(normal(rng, 96, 128) * 60 / scales[:, None], 8).astype(np.int8)
    table = small_ints(normal(rng, 400, 40) * 4 + normal(rng, 40) * 20, 8).astype(np.int8)
    return {"a.weight": ("I8", [96, 128], weight.tobytes()),
            "a.scale": ("F32", [96, 1], scales.astype("<f4").tobytes()),
            "embed.weight": ("I8", [400, 40], table.tobytes()), "tied.weight": ("I8", [400, 40], table.tobytes()),
            "a.bias": ("BF16", [96], (scales.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes())}


def gptq(rng):
    """Nibbles that lie below each other in words of 32 bits, scales and zero points by 64 rows."""
    def packed(nibbles):
        words = nibbles.astype(np.uint64) << np.arange(0, 32, 4, dtype=np.uint64)[:, None]
        return np.bitwise_or.reduce(words, axis=1).astype("<u4").tobytes()
    scales = np.exp(normal(rng, 2, 64) / 2)
    weight = small_ints(normal(rng, 2, 64, 64) * 2 / scales[:, None] + 0.5, 4) + 8
    zeros = np.full((2, 8, 8), 7)
    words = np.bitwise_or.reduce(zeros.astype(np.uint64) << np.arange(0, 32, 4, dtype=np.uint64), axis=2)
    return {"m.qweight": ("I32", [16, 64], packed(weight.reshape(16, 8, 64))),
            "m.qzeros": ("I32", [2, 8], words.astype("<u4").tobytes()),
            "m.scales": ("F16", [2, 64], scales.astype("<f2").tobytes()),
            "m.g_idx": ("I32", [128], (np.arange(128) // 64).astype("<i4").tobytes())}


def floats(rng):
    x = normal(rng, 20, 30)
    return {"f32": ("F32", [20, 30], x.astype("<f4").tobytes()), "f16": ("F16", [20, 30], x.astype("<f2").tobytes()),
            "f64": ("F64", [20, 30], x.tobytes()), "bf16": ("BF16", [20, 30], (
                x.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()),
            "i64": ("I64", [90], np.arange(90).astype("<i8").tobytes()), "u8": ("U8", [400], bytes(range(200)) * 2),
            "none": ("F32", [0, 4], b""), "one": ("F32", [], struct.pack("<f", 2.5))}


def gguf(rng, types):
    """Blocks of these types, of random weights and scales that are halves near 1."""
    tensors, at, infos, data = [], 0, b"", b""
    for name, number in types.items():
        shape = [12, 256]
        if number == GGUF_TYPES["F32"]:
            body = normal(rng, *shape).astype("<f4").tobytes()
        else:
            _, size, count, _ = BLOCKS[number]
            body = [rng.randrange(256) & rng.randrange(256) for _ in range(12 * 256 // count * size)]
            blocks = np.array(body, np.uint8).reshape(-1, size)
            place = 208 if number == GGUF_TYPES["Q6_K"] else 0
            blocks[:, place + 1] = 0x38
            body = blocks.tobytes()
        tensors.append(body)
        infos += struct.pack("<Q", len(name.encode())) + name.encode() + struct.pack("<IQQIQ", 2, 256, 12, number, at)
        at += len(body) + -len(body) % 32
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), 0) + infos
    for body in tensors:
        data += body + bytes(-len(body) % 32)
    return head + bytes(-len(head) % 32) + data


def names(layers, dot="."):
    """So many and so long that headers are woven."""
    kinds = ("attention.output.weight", "attention.query.weight", "norm.weight", "mlp.up.weight", "mlp.down.weight")
    return [f"layers.{n}.{kind}".replace(".", dot) for n in range(layers) for kind in kinds]


def sharded(tensors):
    """A shard for each tensor, and their index, by name."""
    shards = {name: f"model-{n:05}-of-{len(tensors):05}.safetensors" for n, name in enumerate(tensors, 1)}
    size = sum(len(data) for _, _, data in tensors.values())
    index = json.dumps({"metadata": {"total_size": size}, "weight_map": shards}, indent=2)
    files = {shards[name]: safetensors({name: tensor}) for name, tensor in tensors.items()}
    return {"model.safetensors.index.json": index.encode(), **files}


def relative(tensors, rng):
    """The same checkpoint after a little training."""
    out = dict(tensors)
    dtype, shape, data = tensors["a.weight"]
    out["a.weight"] = dtype, shape, bytes((b + (rng.random() < 0.1)) & 255 for b in data)
    return out


def checkpoints(rng):
    """The files of each, by name; the tool is given the first."""
    tensors = int8(rng)
    alone = {"int8.safetensors": safetensors(tensors), "gptq.safetensors": safetensors(gptq(rng)),
             "floats.safetensors": safetensors(floats(rng)), "blocks.gguf": gguf(rng, GGUF_TYPES),
             "fine.safetensors": safetensors(relative(tensors, rng))}
    out = {}
    # Some that JSON has otherwise; of é it has six bytes here, which are left out too.
    for kind, dot in dict(names=".", quoted='"\\\n\1', escaped="é").items():
        small = {name: ("BF16", [8], rng.randbytes(16)) for name in names(9, dot)}
        alone[f"{kind}.safetensors"] = safetensors(small)
        alone[f"{kind}.gguf"] = gguf(rng, {name: GGUF_TYPES["Q8_0"] for name in names(4, dot)})
        out[f"shards of {kind}"] = sharded({name: small[name] for name in names(8, dot)})
    return {name: {name: data} for name, data in alone.items()} | out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    tool, failed, count, woven, in_parts = parser.parse_args().tool, 0, 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, files in checkpoints(random.Random(5)).items():
            (folder / name).mkdir()
            for of, data in files.items():
                (folder / name / of).write_bytes(data)
            base = folder / "int8.safetensors/int8.safetensors" if name.startswith("fine") else None
            for level in LEVELS:
                path = folder / f"{name}.{level}.wcodec"
                options = ["--base", base] if base else []
                command = [tool, "compress", "-q", "-l", str(level), *options, folder / name / next(iter(files)), "-o", path]
                subprocess.run(command, check=True)
                count += 1
                try:
                    file = open_file(path, base)
                    file.verify()
                    back = {of: file.file(n) for n, (of, _, _) in enumerate(file.files)}
                    need(back == files, "the source files do not come back")
                    segments = [s for _, _, segments in file.files for s in segments if s.kind == WOVEN]
                    woven += bool(segments)
                    in_parts += any(s.start is not None for s in segments)
                except Corrupt as error:
                    failed += 1
                    print(f"{path.name}: {error}")
    print(f"{count} files of the tool, {woven} of them woven, {in_parts} in parts, {failed} failed")
    return failed > 0 or not in_parts


if __name__ == "__main__":
    sys.exit(main())
