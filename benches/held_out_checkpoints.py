"""Checkpoints of models that no rule of the encoder was tuned on, and their sizes beside peers.

    python3 benches/held_out_train.py DIR                      # DIR/models/NAME.npz, trained here
    python3 benches/held_out_checkpoints.py make DIR           # DIR/ckpt/MODEL.LAYOUT.safetensors
    python3 benches/held_out_checkpoints.py measure target/release/latens DIR > benches/results/wcodec_held_out.csv

`make` needs numpy, onnx and safetensors; its layouts are those of fetch_weights.py beside the project's
corpus (FETCH_WEIGHTS says where else it is), and more. `measure` needs zstandard, and zipnn for floats. Each file is compressed at levels 4, 8
and 12, verified, and brought back byte for byte. Order 0: the least that one table for each tensor
can take, of bytes, for floats of their bytes by place; nibbles as such.
"""

import csv
import importlib.util
import json
import lzma
import os
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

FETCH = Path(os.environ.get("FETCH_WEIGHTS", Path(__file__).resolve().parents[1] / "../shared/bench/fetch_weights.py"))
LEVELS = [4, 8, 12]
NF4 = np.array([
    -1.0, -0.6961928, -0.52507305, -0.3949175, -0.28444138, -0.18477343, -0.091050036, 0.0, 0.0795803, 0.1609302,
    0.2461123, 0.33791524, 0.44070983, 0.562617, 0.72295684, 1.0,
], np.float32)
# Floats as they are of all; all layouts of a few kinds, the common ones of the others.
COMMON = ["f32", "bf16", "int8-channel"]
MORE = ["f16", "int8-tensor", "int4-g128-packed", "int4-gptq", "int4-awq", "nf4", "fp8", "fake8-f16", "fake8-bf16", "half-pruned-bf16", "half-pruned-int8"]
LAYOUTS = {
    "gpt": COMMON + MORE, "lstm": COMMON + ["int8-tensor", "nf4", "fp8", "half-pruned-bf16"],
    "resnet": COMMON + ["int8-tensor", "fp8", "fake8-f16", "half-pruned-int8"], "vit": COMMON + ["nf4", "fp8", "int8-tensor"],
    "gpt-moe": COMMON + ["nf4"], "word-svd": COMMON + ["f16", "int8-tensor"], "hashed-bag": COMMON + ["int8-tensor"],
    "gpt-adam": ["f32"], "mobilenet-ptq": ["shipped"], "tfidf-linear": ["shipped", "f32"], "tabular-mlp": ["shipped", "f32"],
}
# xz takes its time.
XZ_MOST = 16 << 20


def fetch():
    spec = importlib.util.spec_from_file_location("fetch_weights", FETCH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fp8(x):
    """E4M3 of finite floats, to the nearest: by the distances to all 127 magnitudes."""
    codes = np.arange(127)
    e, m = codes >> 3, codes & 7
    values = np.where(e == 0, m / 8 * 2.0**-6, (1 + m / 8) * 2.0 ** (e.astype(float) - 7)).astype(np.float32)
    edges = (values[1:] + values[:-1]) / 2
    return (np.searchsorted(edges, np.abs(x)) | (np.signbit(x) << 7)).astype(np.uint8)


def layout(fw, tensors, kind):
    """{name: (safetensors' type, array)}"""
    matrices = {n for n, w in tensors.items() if w.dtype.kind == "f" and w.ndim >= 2 and w.size >= 2048 and w.shape[0] >= 8}
    if kind == "shipped":
        return {n: ({**fw.DTN}[w.dtype.str[1:]], w) for n, w in tensors.items()}
    if kind.startswith("half-pruned-"):
        tensors = {n: np.where(np.abs(w) < np.median(np.abs(w)), 0, w).astype(w.dtype) if n in matrices else w for n, w in tensors.items()}
        kind = {"bf16": "bf16", "int8": "int8-channel"}[kind.split("-")[-1]]
    if kind.startswith("fake8-"):
        for n in matrices:
            w = tensors[n].reshape(tensors[n].shape[0], -1).astype(np.float32)
            scale = np.maximum(np.abs(w).max(1, keepdims=True) / 127, 1e-10)
            tensors = {**tensors, n: (np.rint(w / scale) * scale).reshape(tensors[n].shape)}
        kind = kind.split("-")[1]
    if kind not in ("nf4", "fp8"):
        return fw.layout(tensors, kind, False)[0]
    out = {}
    for n, w in tensors.items():
        if n not in matrices:
            out[n] = ("BF16", fw.bf16(w)) if w.dtype.kind == "f" else (fw.DTN[w.dtype.str[1:]], w)
            continue
        flat = np.ascontiguousarray(w, np.float32).reshape(w.shape[0], -1)
        if kind == "fp8":
            scale = np.maximum(np.abs(flat).max(1, keepdims=True) / 448, 1e-12).astype(np.float32)
            out[n], out[n + "_scale"] = ("F8_E4M3", fp8(flat / scale).reshape(w.shape)), ("F32", scale)
        elif w.size % 64:
            out[n] = ("BF16", fw.bf16(w))
        else:
            blocks = flat.reshape(-1, 64)
            absmax = np.abs(blocks).max(1)
            codes = np.searchsorted((NF4[1:] + NF4[:-1]) / 2, blocks / np.maximum(absmax, 1e-12)[:, None]).astype(np.uint8).ravel()
            described = json.dumps({"quant_type": "nf4", "blocksize": 64, "dtype": "bfloat16", "shape": list(w.shape)}).encode()
            out[n] = ("U8", (codes[::2] << 4 | codes[1::2]).reshape(-1, 1))
            out[n + ".absmax"], out[n + ".quant_map"] = ("F32", absmax), ("F32", NF4)
            out[n + ".quant_state.bitsandbytes__nf4"] = ("U8", np.frombuffer(described, np.uint8))
    return out


def tensor_bytes(tensors):
    order = ["BOOL", "U8", "I8", "F8_E4M3", "I16", "U16", "F16", "BF16", "I32", "U32", "F32", "F64", "I64", "U64"]
    names = sorted(tensors, key=lambda n: (-order.index(tensors[n][0]), n))
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for n in names:
        dtype, w = tensors[n]
        header[n] = {"dtype": dtype, "shape": list(w.shape), "data_offsets": [at, at + w.nbytes]}
        at += w.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([struct.pack("<Q", len(text)), text, *[np.ascontiguousarray(tensors[n][1]).tobytes() for n in names]])


def shapes(folder):
    """Checkpoints whose shape and not whose weights are the matter, of the LSTM's numbers."""
    rng = np.random.default_rng(13)
    lstm = np.load(folder / "models/lstm.npz")
    w = lstm["cell.weight_hh_l0"].ravel()
    tiny = {f"layers.{i}.scale.{kind}": ("F32", w[2 * i : 2 * i + 2]) for i in range(6000) for kind in ("weight", "bias")}
    yield "tiny-tensors", tiny
    # Hidden states of sequences of different lengths, padded with zeros.
    x = lstm["embed.weight"][:2048].reshape(16, 128, 256)
    lengths = rng.integers(20, 129, 16)
    x = np.where(np.arange(128)[None, :, None] < lengths[:, None, None], x, 0).astype(np.float32)
    scale = np.abs(x).max() / 127
    yield "padded-int8", {"hidden_states": ("I8", np.rint(x / scale).astype(np.int8)), "scale": ("F32", np.array([scale], np.float32))}
    yield "padded-fp8", {"hidden_states": ("F8_E4M3", fp8(x / np.float32(np.abs(x).max() / 448))), "scale": ("F32", np.ones(1, np.float32))}


def make(folder):
    fw, out = fetch(), folder / "ckpt"
    out.mkdir(exist_ok=True)
    for path in sorted((folder / "models").glob("*.npz")):
        tensors = {n: w if w.ndim else w.reshape(1) for n, w in np.load(path).items()}
        for kind in LAYOUTS.get(path.stem, COMMON):
            (out / f"{path.stem}.{kind}.safetensors").write_bytes(tensor_bytes(layout(fw, dict(tensors), kind)))
    for name, tensors in shapes(folder):
        (out / f"{name}.made-up.safetensors").write_bytes(tensor_bytes(tensors))


def entropy(symbols, alphabet=256):
    counts = np.bincount(symbols.ravel(), minlength=alphabet)
    p = counts[counts > 0] / max(symbols.size, 1)
    return float(-(p * np.log2(p)).sum() * symbols.size / 8)


def order0(raw):
    """{name: (type, elements, bytes, least bytes)}"""
    n = struct.unpack("<Q", raw[:8])[0]
    out = {}
    for name, t in json.loads(raw[8 : 8 + n]).items():
        if name == "__metadata__":
            continue
        begin, end = t["data_offsets"]
        b = np.frombuffer(raw, np.uint8, end - begin, 8 + n + begin)
        width = {"F64": 8, "I64": 8, "F32": 4, "I32": 4, "F16": 2, "BF16": 2}.get(t["dtype"], 1)
        least = sum(entropy(p) for p in b.reshape(-1, width).T) if b.size else 0.0
        if t["dtype"] in ("U8", "I32") and b.size:
            least = min(least, entropy(np.concatenate([b & 15, b >> 4]), 16))
        out[name] = (t["dtype"], int(np.prod(t["shape"])), b.size, least)
    return out


def clocked(command):
    start = time.perf_counter()
    done = subprocess.run(["/usr/bin/env", "python3", "-c", TIMED, *command], check=True, capture_output=True)
    peak = int(done.stderr.split()[-1])
    return time.perf_counter() - start, peak, done.stdout


# The peak of a child's memory, in KiB, at the end of stderr.
TIMED = "import resource,subprocess,sys; subprocess.run(sys.argv[1:], check=True); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)"


def zipnn_bytes(raw, dtype):
    try:
        import zipnn
    except ImportError:
        return ""
    kind = {"F32": "float32", "BF16": "bfloat16", "F16": "float16"}[dtype]
    return len(zipnn.ZipNN(bytearray_dtype=kind, input_format="byte").compress(bytearray(raw)))  # It changes what it is given.


def measure(tool, folder, only):
    """Files whose names hold one of `only`, if there is any; with `--quick` no peers but zstd -3."""
    quick = "--quick" in only
    only = [o for o in only if o != "--quick"]
    import zstandard

    columns = ["file", "bytes", *[f"wcodec_{level}" for level in LEVELS], "zstd3", "zstd19", "xz9", "zipnn", "order0", "encode_mb_s", "decode_mb_s", "peak_mib", "remarks"]
    out = csv.DictWriter(sys.stdout, columns, lineterminator="\n")
    out.writeheader()
    kept = folder / "peers.json"
    peers = json.loads(kept.read_text()) if kept.exists() else {}
    for path in sorted((folder / "ckpt").glob("*.safetensors")):
        if only and not any(o in path.name for o in only):
            continue
        raw, remarks = path.read_bytes(), []
        tensors = order0(raw)
        row = {"file": path.name, "bytes": len(raw), "order0": round(sum(t[3] for t in tensors.values()))}
        if path.name not in peers:
            held = {}
            held["zstd3"] = len(zstandard.ZstdCompressor(3).compress(raw))
            held |= dict.fromkeys(["zstd19", "xz9", "zipnn"], "")
            row |= held
        if path.name not in peers and not quick:
            held["zstd19"] = len(zstandard.ZstdCompressor(19).compress(raw))
            held["xz9"] = len(lzma.compress(raw, preset=9)) if len(raw) <= XZ_MOST else ""
            types = [t[0] for t in tensors.values()]
            most = max(set(types), key=lambda k: sum(t[2] for t in tensors.values() if t[0] == k))
            held["zipnn"] = zipnn_bytes(raw, most) if most in ("F32", "BF16", "F16") else ""
            peers[path.name] = held
            kept.write_text(json.dumps(peers))
        row |= peers.get(path.name, {})
        with tempfile.TemporaryDirectory() as scratch:
            for level in LEVELS:
                packed, back = Path(scratch) / f"{level}.wcodec", Path(scratch) / "back.safetensors"
                command = [tool, "compress", str(path), "-o", str(packed), "-l", str(level), "--no-verify", "-f", "-q", "-T", "1"]
                encode, peak, _ = clocked(command)
                row[f"wcodec_{level}"] = packed.stat().st_size
                subprocess.run([tool, "verify", str(packed), "-q"], check=True, stdout=subprocess.DEVNULL)
                decode, peak_back, _ = clocked([tool, "decompress", str(packed), "-o", str(back), "-f", "-q", "-T", "1"])
                if back.read_bytes() != raw:
                    remarks.append(f"level {level} does not come back")
                if level == 8:
                    row["encode_mb_s"], row["decode_mb_s"] = round(len(raw) / encode / 1e6, 1), round(len(raw) / decode / 1e6, 1)
                    row["peak_mib"] = round(max(peak, peak_back) / 1024)
                    listed = json.loads(subprocess.run([tool, "inspect", str(packed), "--json"], check=True, capture_output=True).stdout)
                    for t in listed["tensors"]:
                        dtype, n, size, least = tensors.get(t["name"], ("", 0, 0, 0))
                        stored = t["bytes"]
                        if n >= 1 << 20 and stored * 8 > (least * 8 + 0.01 * n):
                            remarks.append(f"{t['name']} {8 * stored / n:.3f} > {8 * least / n:.3f} bits")
        sizes = [row[f"wcodec_{level}"] for level in LEVELS]
        best = min(row[p] for p in ("zstd3", "zstd19", "xz9", "zipnn") if row[p] != "")
        if sizes[1] > best:
            remarks.append(f"{100 * sizes[1] / best - 100:+.2f} % to the best peer")
        if max(sizes) > len(raw) * 1.001 + 4096:
            remarks.append("above flat")
        for low, high, a, b in zip(sizes, sizes[1:], LEVELS, LEVELS[1:]):
            if high > low * 1.001:
                remarks.append(f"level {b} {100 * high / low - 100:+.2f} % to {a}")
        out.writerow({**row, "remarks": "; ".join(remarks)})
        sys.stdout.flush()


def main():
    if sys.argv[1] == "make":
        make(Path(sys.argv[2]))
    else:
        measure(sys.argv[2], Path(sys.argv[3]), sys.argv[4:])


if __name__ == "__main__":
    main()
