"""Makes ../hostile-wcodec anew: .wcodec files by wcodec_writer.py that break one rule each, and its README.md, with
what the tool says of them.

    python3 make_wcodec_hostile.py --tool target/release/latens"""
import argparse
import pathlib
import re
import subprocess

import wcodec_hostile_tensors  # noqa: F401  adds its cases
import wcodec_hostile_claims  # noqa: F401, I001  adds its own, behind them: seeds are by their order
import wcodec_hostile_pairs  # noqa: F401, I001  and behind these
import wcodec_hostile_edges  # noqa: F401, I001  likewise
from wcodec_hostile import CASES
from wcodec_writer import Builder

HERE = pathlib.Path(__file__).parent.parent / "hostile-wcodec"
ABOUT = """# Hostile .wcodec files

Each breaks one rule of `specs/wcodec.md` or its two other texts; all checksums but those that it is about are right.
Made by `python3 make_wcodec_hostile.py --tool PATH` in `testdata/golden`, out of the cases of `wcodec_hostile.py`,
`wcodec_hostile_tensors.py`, `wcodec_hostile_claims.py`, `wcodec_hostile_pairs.py` and `wcodec_hostile_edges.py`, which know the specifications alone.
`crates/latens/tests/wcodec_foreign.rs` holds latens to the last column; the reader in Python refuses all of them too (`wcodec_reader.py refuse`).

| file | attacks with | latens |
|---|---|---|
"""


def said(tool, path):
    """Kind and byte of the tool's error."""
    run = subprocess.run([tool, "verify", "-T1", path], capture_output=True, text=True)
    text = run.stdout + run.stderr
    kind = re.search(r"\b(corrupt|truncated|invalid argument)\b", text)
    # What else is wrong, and advice, may follow.
    byte = re.search(r"byte (\d+)\)", text.strip().split("\n")[0])
    print(f"{path.stem:28} {' '.join(text.split())[:150]}")
    return f"{kind[1] if kind else 'nothing'} at byte {byte[1] if byte else '?'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    tool = parser.parse_args().tool
    HERE.mkdir(exist_ok=True)
    for old in HERE.iterdir():
        old.unlink()
    about, size = ABOUT, 0
    for seed, (name, (wrong, make)) in enumerate(CASES.items(), 1):
        path = HERE / f"{name}.wcodec"
        path.write_bytes(make(Builder(seed)))
        size += path.stat().st_size
        about += f"| {path.name} | {wrong} | {said(tool, path)} |\n"
    (HERE / "README.md").write_text(about)
    print(f"{len(CASES)} files, {size} bytes")


if __name__ == "__main__":
    main()
