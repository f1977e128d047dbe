#!/usr/bin/env python3
"""Make the excerpts of a real model in this folder from its checkpoints.

    python3 ../../../shared/bench/fetch_weights.py --checkpoints --models minilm-l6 --out DIR \\
        --layouts int8-channel,int4-g128-packed,int4-gptq
    DIR/.venv/bin/python make_weights.py DIR [--out DIR] [--check]

Keeps the attention's query of the last layer, and of embeddings the first rows. With --check nothing is
written: the files are made and compared with those here; exit status 1 if one differs. Needs safetensors.
"""
import argparse
import json
import pathlib
import sys

import safetensors

HERE = pathlib.Path(__file__).parent
LAYOUTS = {"int8-channel": "minilm_int8", "int4-g128-packed": "minilm_int4", "int4-gptq": "minilm_gptq"}
LAYER = "encoder.layer.5.attention.self.query."
EMBEDDINGS = "embeddings.word_embeddings."
ROWS = 256
NAMES = {"BF16": "bfloat16", "F16": "float16", "I8": "int8", "I32": "int32", "I64": "int64"}


def excerpt(path):
    """The bytes of a safetensors file of some of the tensors."""
    data = path.read_bytes()
    kept = {}
    for name, tensor in safetensors.deserialize(data):
        shape, bytes_ = list(tensor["shape"]), bytes(tensor["data"])
        if name.startswith(EMBEDDINGS) and tensor["dtype"] != "F16":
            if name.endswith("_shape"):
                bytes_ = ROWS.to_bytes(8, "little") + bytes_[8:]
            else:
                bytes_ = bytes_[:len(bytes_) // shape[0] * ROWS]
                shape[0] = ROWS
        elif not name.startswith(LAYER):
            continue
        kept[name] = {"dtype": NAMES[tensor["dtype"]], "shape": shape, "data": bytes_}
    header = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
    # One entry alone: of several the order is not the same each time.
    told = {"quantization_config": header["__metadata__"]["quantization_config"]}
    return safetensors.serialize(kept, told)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoints", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=HERE)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    wrong = 0
    for layout, name in LAYOUTS.items():
        made = excerpt(args.checkpoints / f"minilm-l6.{layout}.safetensors")
        path = args.out / f"{name}.safetensors"
        if not args.check:
            path.write_bytes(made)
        elif made != (HERE / path.name).read_bytes():
            wrong += 1
            print(f"{path.name} differs", file=sys.stderr)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
