#!/usr/bin/env python3
"""OpenZL for `pco_builds`: lines `TYPE PATH` in, lines `BYTES ENCODE DECODE` out (seconds of this thread).

Wants `pip install openzl numpy`. Numbers go in as integers of their width, as OpenZL has no floats. The
smallest result counts of: its generic graph, FieldLz after differences, and the generic graph over bytes.
"""
import sys
import time

import numpy as np
import openzl.ext as zl


def compressor(graph):
    made = zl.Compressor()
    made.set_parameter(zl.CParam.FormatVersion, zl.MAX_FORMAT_VERSION)
    made.select_starting_graph(graph(made))
    return made


GENERIC = compressor(zl.graphs.Compress())
DELTA = compressor(lambda c: zl.nodes.DeltaInt()(c, zl.graphs.FieldLz()(c)))
WAYS = [(GENERIC, zl.Type.Numeric), (DELTA, zl.Type.Numeric), (GENERIC, zl.Type.Serial)]


def measure(numbers, graph, kind):
    if kind == zl.Type.Serial:
        numbers = numbers.view("u1")
    context = zl.CCtx()
    context.ref_compressor(graph)
    started = time.thread_time()
    packed = context.compress([zl.Input(kind, numbers)])
    encode = time.thread_time() - started
    started = time.thread_time()
    back = zl.DCtx().decompress(packed)[0]
    decode = time.thread_time() - started
    if not np.array_equal(np.asarray(back.content.as_nparray()), numbers):
        raise SystemExit("OpenZL does not give back what went in")
    return len(packed), encode, decode


for line in sys.stdin:
    ty, path = line.split(maxsplit=1)
    numbers = np.fromfile(path.strip(), dtype=f"<u{int(ty[1:]) // 8}")
    print(*min(measure(numbers, *way) for way in WAYS), flush=True)
