"""Makes wcodec-foreign/ anew: small .wcodec files by wcodec_writer.py, and what each must give back. With Python's
own generator of numbers and fixed seeds, so the files are always the same.

    python3 make_wcodec_foreign.py"""
import hashlib
import json
import pathlib
import random

from wcodec_foreign import CASES, base_tensors
from wcodec_reader import TENSOR
from wcodec_writer import Builder

HERE = pathlib.Path(__file__).parent / "wcodec-foreign"
ABOUT = """# Golden .wcodec files that latens did not write

Made by `python3 make_wcodec_foreign.py` in the folder above, by a writer in Python that was written from the
specifications alone (`wcodec_writer.py`; it needs NumPy): what the format allows and latens's own writer seldom or
never does. All data is synthetic, with fixed seeds. `sha256.txt` says what each tensor is, or else each source file:
a reader that gives back anything else is wrong. `crates/latens/tests/wcodec_foreign.rs` reads them.

| file | covers |
|---|---|
"""


def safetensors(tensors):
    head, at = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        head[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + b"".join(data for _, _, data in tensors.values())


def lines_of(name, builder):
    """A line of sha256.txt for each tensor, and for each file."""
    named = [(e.raw_name.decode(), builder.bytes(i)) for i, e in enumerate(builder.entries) if e.kind == TENSOR]
    taken = {n for n, _ in named}
    for i, (file, _, _) in enumerate(builder.files):
        assert file not in taken
        named.append((file, builder.content(i)))
    # What would not stay on its line is left out.
    plain = [(n, data) for n, data in named if n.isprintable()]
    return [f"{hashlib.sha256(data).hexdigest()} {name}.wcodec {n}\n" for n, data in plain]


def main():
    HERE.mkdir(exist_ok=True)
    for old in HERE.iterdir():
        old.unlink()
    base, about, sums, sizes = base_tensors(random.Random(0)), ABOUT, "", []
    (HERE / "base.safetensors").write_bytes(safetensors(base))
    for seed, (name, (covers, fill)) in enumerate(CASES.items(), 1):
        builder = Builder(seed, base if "base" in name else None)
        options = fill(builder) or {}
        data = builder.finish(**options)
        (HERE / f"{name}.wcodec").write_bytes(data)
        about += f"| {name} | {covers} |\n"
        sums += "".join(lines_of(name, builder))
        sizes.append((len(data), name))
    (HERE / "README.md").write_text(about)
    (HERE / "sha256.txt").write_text(sums)
    print(f"{len(sizes)} files, {sum(n for n, _ in sizes)} bytes, the largest {max(sizes)}")


if __name__ == "__main__":
    main()
