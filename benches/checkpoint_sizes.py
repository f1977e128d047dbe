#!/usr/bin/env python3
"""Sizes of checkpoints as the tool writes them, each read back and compared by the tool itself.

    python3 benches/checkpoint_sizes.py target/release/latens CHECKPOINTS > benches/results/wcodec_sizes.csv
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

tool, folder = sys.argv[1], Path(sys.argv[2])
print("file,bytes,wcodec,per_cent")
with tempfile.TemporaryDirectory() as scratch:
    for path in sorted(p for p in folder.iterdir() if p.suffix in (".safetensors", ".gguf")):
        out = Path(scratch) / "out.wcodec"
        command = [tool, "compress", str(path), "-o", str(out), "--force", "--json"]
        report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        assert report["verified"], path
        before, after = report["input_bytes"], report["output_bytes"]
        print(f"{path.name},{before},{after},{100 * after / before:.3f}", flush=True)
