"""Ctrl-C ends long calls soon, not at their end.

All is measured in processor time of this process, of all its threads: what other processes do does not count.
"""

import json
import os
import signal
import threading
import time

import numpy as np
import pytest

from latens import delta_binary_packed as dbp
from latens import pco, wcodec
from latens.pco import wrapped

# Seconds of each thread from the signal to the exception. All of such a call takes more.
SOON = 3


def interrupted(call, delay):
    """Runs until SIGINT, which is sent after `delay` seconds, ends it; processor time then, and from the signal on."""
    sent = []

    def send():
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(delay, send)
    started = time.process_time()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        call()
        timer.join()
    ended = time.process_time()
    return ended - started, ended - sent[0]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("delay", [0.4, 2])
def test_a_tensor_at_the_highest_level(tmp_path, threads, delay):
    weights = np.rint(np.random.default_rng(0).normal(size=(8192, 4096)) * 20).astype("i1")
    path = tmp_path / "x.wcodec"
    _, took = interrupted(
        lambda: wcodec.save_file({"w": weights}, path, level=12, threads=threads), delay
    )
    assert took < SOON * threads and not list(tmp_path.iterdir())


@pytest.mark.parametrize("threads", [1, 2])
def test_many_numbers(threads):
    numbers = np.random.default_rng(3).normal(size=40_000_000)
    _, took = interrupted(lambda: pco.compress(numbers, level=12, favor="size", threads=threads), 0.5)
    assert took < SOON * threads


def test_inspecting_many_equal_numbers():
    data = pco.compress(np.zeros(1 << 24), chunk_n=1 << 24, checksum=False, level=0)
    (chunk,) = pco.inspect(data)["chunks"]
    start, end = chunk["offset"], chunk["offset"] + chunk["bytes"]
    bomb = data[:start] + data[start:end] * 1500 + b"\0"
    _, took = interrupted(lambda: pco.inspect(bomb), 0.3)
    assert took < SOON


def zeros(path, tensors, length):
    """A checkpoint of INT8 zeros, which take no room on most disks."""
    layout = {
        f"t{i}": {"dtype": "I8", "shape": [length], "data_offsets": [i * length, (i + 1) * length]}
        for i in range(tensors)
    }
    header = json.dumps(layout).encode()
    with open(path, "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + tensors * length)


def test_reading_a_base(tmp_path):
    base, packed = tmp_path / "base.safetensors", tmp_path / "x.wcodec"
    zeros(base, 64, 1 << 24)
    wcodec.compress_file(base, packed, base=base, verify=False)
    ends_soon("open", lambda: wcodec.open(packed, base=base))


def calls():
    numbers = np.random.default_rng(0).integers(0, 1 << 60, 50_000_000)
    stream = dbp.encode(numbers)
    yield "encode", lambda: dbp.encode(numbers)
    yield "decode", lambda: dbp.decode(stream, "int64")
    yield "decode_into", lambda: dbp.decode_into(stream, numbers)
    few = np.random.default_rng(0).normal(size=1 << 24)
    chunk = wrapped.FileEncoder(level=0).chunk(few)
    decoder = wrapped.FileDecoder(wrapped.FileEncoder(level=0).header()).chunk(chunk.meta(), "f8")
    page = chunk.page(0)
    yield "chunk", lambda: wrapped.FileEncoder(level=12).chunk(few)
    yield "page", lambda: decoder.page(page, few.size)
    yield "page_into", lambda: decoder.page_into(page, few)


def whole(call):
    """Processor time of all of it."""
    started = time.process_time()
    call()
    return time.process_time() - started


def ends_soon(name, call):
    # What is interrupted at its end only takes what all of it takes: that is measured before and after, as the
    # first time new memory comes on top.
    before = whole(call)
    took, _ = interrupted(call, 0.01)
    least = min(before, whole(call))
    # Signals are looked for every 50 ms: of shorter calls nothing can be told.
    assert least < 0.25 or took < 0.7 * least, f"{name}: {took:.2f} s of {least:.2f} s"


def test_calls_of_half_a_second():
    for name, call in calls():
        ends_soon(name, call)
