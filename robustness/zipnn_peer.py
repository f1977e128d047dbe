#!/usr/bin/env python3
"""What zipnn makes of damaged containers: the strategies of the program `robustness`, fewer cases.

    python3 robustness/zipnn_peer.py [CASES]        needs the packages zipnn and numpy

Each case runs in a process of its own, for many end the process.
"""
import os, random, resource, signal, sys, time


def damage(data, index, rng):
    data = bytearray(data)
    n, kind = len(data), index % 5
    if kind == 0:
        return "truncation", bytes(data[: rng.randrange(n)])
    if kind == 1:
        bit = rng.randrange(8 * n)
        data[bit // 8] ^= 1 << (bit % 8)
        return "bit", bytes(data)
    if kind == 2:
        at = rng.randrange(min(n, 96))
        blow = rng.choice([b"\xff" * 4, b"\xff" * 8, b"\0" * 4, b"\0" * 8, b"\x7f", b"\x80"])
        data[at : at + len(blow)] = blow[: n - at]
        return "blow-up", bytes(data)
    if kind == 3:
        return "append", bytes(data) + rng.randbytes(rng.randrange(1, 40))
    for _ in range(rng.randrange(1, 9)):
        data[rng.randrange(n)] = rng.randrange(256)
    return "havoc", bytes(data)


def one(data, sound):
    """error, same, silent, or how the process ended."""
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1), os.dup2(null, 2)
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.alarm(5)
        try:
            back = zipnn.ZipNN().decompress(data)
            os._exit(10 if bytes(back) == sound else 11)
        except BaseException:
            os._exit(12)
    _, status, usage = os.wait4(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    names = {10: "same", 11: "silent", 12: "error", -signal.SIGALRM: "over 5 s"}
    return names.get(code, f"crash ({code})"), usage.ru_maxrss


import numpy, zipnn

cases = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
rng = random.Random(1)
values = numpy.random.default_rng(1).normal(0, 0.02, 3000).astype("<f4")
sound = (values.view("<u4") >> 16).astype("<u2").tobytes() * 4
packed = bytes(zipnn.ZipNN(bytearray_dtype="bfloat16").compress(sound))
counts, most = {}, 0
start = time.monotonic()
for index in range(cases):
    strategy, data = damage(packed, index, rng)
    verdict, rss = one(data, sound)
    counts[verdict] = counts.get(verdict, 0) + 1
    most = max(most, rss)
print(f"zipnn: {cases} cases of {len(packed)} bytes, {counts}, at most {most >> 10} MiB resident, "
      f"{time.monotonic() - start:.0f} s")
