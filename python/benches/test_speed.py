"""Speed beside pcodec 1.1.0 on the public corpus, by pytest-benchmark: processor time of one thread.

    pip install pytest pytest-benchmark pcodec==1.1.0
    LATENS_CORPUS=CORPUS/public pytest python/benches/test_speed.py --benchmark-timer=time.thread_time \\
        --benchmark-json=speed.json
    python python/benches/test_speed.py speed.json benches/results/python_benchmark.csv

The last line writes the medians of each column and prints the geometric means of how many times as
fast as pcodec latens is. For each column all that is measured comes one after the other: compressing at
level 8, decoding pcodec's file to an array that is there, and each its own file, ours with both of its
checksums. `speed.py` has the same by turns, round by round.
"""

import csv
import json
import os
import statistics
import sys
from pathlib import Path

import numpy as np
import pytest
from pcodec import ChunkConfig, standalone

from latens import pco

CONFIG = ChunkConfig(enable_8_bit=True)
ROUNDS = 7
# Of as many bytes at least a round takes.
ROUND_BYTES = 20_000_000
CORPUS = os.environ.get("LATENS_CORPUS")
COLUMNS = sorted(Path(CORPUS).glob("*.npy")) if CORPUS else []


class Column:
    """Numbers, the file that each codec makes of them, and room to decode to."""

    def __init__(self, path):
        self.numbers = np.load(path).reshape(-1)
        self.files = {
            "latens": pco.compress(self.numbers),
            "pcodec": standalone.simple_compress(self.numbers, CONFIG),
        }
        self.out = np.empty_like(self.numbers)

    def measure(self, benchmark, call, iterations):
        benchmark.pedantic(call, rounds=ROUNDS, iterations=iterations, warmup_rounds=1)

    def decode(self, benchmark, codec, file):
        decode = {"latens": pco.decompress_into, "pcodec": standalone.simple_decompress_into}[codec]
        self.out.fill(0)
        iterations = max(1, ROUND_BYTES // self.numbers.nbytes)
        self.measure(benchmark, lambda: decode(file, self.out), iterations)
        assert np.array_equal(self.out.view("u1"), self.numbers.view("u1"))


@pytest.fixture(scope="module", params=COLUMNS, ids=lambda path: path.stem)
def column(request):
    return Column(request.param)


@pytest.mark.parametrize("codec", ["latens", "pcodec"])
def test_compress(benchmark, column, codec):
    numbers = column.numbers
    compress = {
        "latens": lambda: pco.compress(numbers),
        "pcodec": lambda: standalone.simple_compress(numbers, CONFIG),
    }[codec]
    column.measure(benchmark, compress, max(1, ROUND_BYTES // numbers.nbytes // 8))


@pytest.mark.parametrize("codec", ["latens", "pcodec"])
def test_decode(benchmark, column, codec):
    column.decode(benchmark, codec, column.files["pcodec"])


@pytest.mark.parametrize("codec", ["latens", "pcodec"])
def test_decode_own(benchmark, column, codec):
    column.decode(benchmark, codec, column.files[codec])


def table(benchmarks):
    """By column and work: seconds of either codec, and how many times as fast latens is."""
    seconds = {}
    for one in benchmarks:
        work, parameters = one["name"].removeprefix("test_").rstrip("]").split("[")
        name, codec = parameters.rsplit("-", 1)
        seconds.setdefault((name, work), {})[codec] = one["stats"]["median"]
    for (name, work), of in seconds.items():
        yield {
            "column": name,
            "work": work,
            "latens_s": f"{of['latens']:.6g}",
            "pcodec_s": f"{of['pcodec']:.6g}",
            "times_as_fast": f"{of['pcodec'] / of['latens']:.4g}",
        }


def main(measured, out):
    with open(measured) as file:
        rows = list(table(json.load(file)["benchmarks"]))
    with open(out, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    for work in dict.fromkeys(row["work"] for row in rows):
        ratios = [float(row["times_as_fast"]) for row in rows if row["work"] == work]
        print(f"{work}: {statistics.geometric_mean(ratios):.3f} × pcodec, {len(ratios)} columns")


if __name__ == "__main__":
    main(*sys.argv[1:])
