"""Microseconds of a call on few numbers, beside pcodec 1.1.0.

    python python/benches/small_calls.py

One thread, thread CPU time, the contestants in turn, the least of 25 turns: what a call costs
besides the numbers. `compress` is at level 8.
"""

import time

import numpy as np
from pcodec import ChunkConfig, standalone

from latens import delta_binary_packed as dbp
from latens import pco

CALLS, TURNS = 2000, 25


def measured(calls, n):
    """Microseconds by name."""
    least = dict.fromkeys(calls, float("inf"))
    for _ in range(TURNS):
        for name, call in calls.items():
            started = time.thread_time()
            for _ in range(n):
                call()
            least[name] = min(least[name], (time.thread_time() - started) / n)
    return {name: seconds * 1e6 for name, seconds in least.items()}


def main():
    shown = None
    for n in (1, 10, 100, 1000):
        numbers = np.arange(n) * 3
        ours, theirs = pco.compress(numbers), standalone.simple_compress(numbers, ChunkConfig())
        stream, out = dbp.encode(numbers), np.empty_like(numbers)
        row = measured(
            {
                "decompress": lambda: pco.decompress(ours),
                "pcodec's": lambda: pco.decompress(theirs),
                "pcodec": lambda: standalone.simple_decompress(theirs),
                "_into": lambda: pco.decompress_into(ours, out),
                "pcodec _into": lambda: standalone.simple_decompress_into(theirs, out),
                "dbp.decode": lambda: dbp.decode(stream, "int64"),
                "dbp.decode_into": lambda: dbp.decode_into(stream, out),
                "dbp.encode": lambda: dbp.encode(numbers),
            },
            CALLS,
        )
        row |= measured(
            {
                "compress": lambda: pco.compress(numbers),
                "pcodec compress": lambda: standalone.simple_compress(numbers, ChunkConfig()),
            },
            CALLS // 20,
        )
        assert np.array_equal(out, numbers)
        if shown is None:
            shown = list(row)
            print("| numbers | " + " | ".join(shown) + " |")
        print(f"| {n} | " + " | ".join(f"{row[name]:.2f}" for name in shown) + " |", flush=True)


if __name__ == "__main__":
    main()
