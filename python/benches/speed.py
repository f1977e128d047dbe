"""Speed of the package beside the Rust call and beside pcodec 1.1.0, on the public corpus.

    python python/benches/speed.py CORPUS/public benches/results/python_speed.csv [--repeat 5]

One thread, thread CPU time, the contestants in turn, medians of ratios. For each column: seconds of
each to compress at level 8 and to decode its own file into a ready array, ours with both of its
checksums; then ours with the file that pcodec has made. What the Rust call takes is what the
extension module takes without the Python around it; that is the bound which `overhead` is about.
"""

import argparse
import csv
import pathlib
import statistics
import time

import numpy as np
from pcodec import ChunkConfig, standalone

from latens import _latens, pco

CONFIG = ChunkConfig(enable_8_bit=True)


def seconds(call):
    started = time.thread_time()
    call()
    return time.thread_time() - started


def measure(numbers, repeat):
    """Medians of seconds, the contestants in turn."""
    ours, theirs = pco.compress(numbers), standalone.simple_compress(numbers, CONFIG)
    out = np.empty_like(numbers)
    held = np.frombuffer(ours, np.uint8)
    loops = max(1, 20_000_000 // numbers.nbytes)

    def looped(call):
        return lambda: [call() for _ in range(loops)]

    contestants = {
        "latens_compress_s": (1, lambda: pco.compress(numbers)),
        "pcodec_compress_s": (1, lambda: standalone.simple_compress(numbers, CONFIG)),
        "latens_decode_s": (loops, looped(lambda: pco.decompress_into(ours, out))),
        "direct_decode_s": (
            loops,
            looped(lambda: _latens.pco_decompress_into(held, out, None, None, 1, None)),
        ),
        "pcodec_decode_s": (loops, looped(lambda: standalone.simple_decompress_into(theirs, out))),
        "latens_decode_pcodecs_s": (loops, looped(lambda: pco.decompress_into(theirs, out))),
    }
    times = {name: [] for name in contestants}
    for _ in range(repeat):
        for name, (n, call) in contestants.items():
            times[name].append(seconds(call) / n)
    assert np.array_equal(out.view("u1"), numbers.view("u1"))
    return {
        "latens_bytes": len(ours),
        "pcodec_bytes": len(theirs),
        **{name: statistics.median(values) for name, values in times.items()},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    rows = []
    for path in sorted(arguments.corpus.glob("*.npy")):
        numbers = np.load(path).reshape(-1)
        try:
            row = {"column": path.stem, "bytes": numbers.nbytes, **measure(numbers, arguments.repeat)}
        except (ValueError, TypeError) as error:
            print(f"{path.stem}: left out: {error}")
            continue
        row["compress_ratio"] = row["pcodec_compress_s"] / row["latens_compress_s"]
        row["decode_ratio"] = row["pcodec_decode_s"] / row["latens_decode_s"]
        row["same_file_ratio"] = row["pcodec_decode_s"] / row["latens_decode_pcodecs_s"]
        row["of_direct"] = row["direct_decode_s"] / row["latens_decode_s"]
        rows.append(row)
        print(
            f"{row['column']:24} compress {row['compress_ratio']:5.2f} ×  "
            f"decode {row['decode_ratio']:5.2f} ×  the same file {row['same_file_ratio']:5.2f} ×  "
            f"of the direct call {row['of_direct']:4.2f}"
        )
    for name in ("compress_ratio", "decode_ratio", "same_file_ratio", "of_direct"):
        print(name, "geometric mean", round(statistics.geometric_mean(r[name] for r in rows), 3))
    with open(arguments.out, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()})


if __name__ == "__main__":
    main()
