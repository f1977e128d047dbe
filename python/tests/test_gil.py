"""Other threads run while the extension works."""

import threading
import time

import numpy as np
import pytest

import latens
from latens import delta_binary_packed as dbp
from latens import pco, wcodec
from latens.pco import wrapped


@pytest.fixture
def ticks():
    """A list that a thread appends to every millisecond, as long as it gets the GIL."""
    found, done = [], threading.Event()

    def count():
        while not done.is_set():
            found.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    yield found
    done.set()
    thread.join()


def calls(folder):
    random = np.random.default_rng(2)
    numbers = random.normal(size=12_000_000)
    packed = pco.compress(numbers, level=1)
    yield "pco.compress", lambda: pco.compress(numbers, level=1)
    yield "pco.decompress", lambda: pco.decompress(packed)
    yield "pco.decompress_into", lambda: pco.decompress_into(packed, numbers)
    yield "pco.inspect", lambda: pco.inspect(packed)
    encoder = wrapped.FileEncoder(level=1)
    chunk = encoder.chunk(numbers)
    decoder = wrapped.FileDecoder(encoder.header()).chunk(chunk.meta(), "float64")
    page = chunk.page(0)
    yield "wrapped chunk", lambda: encoder.chunk(numbers)
    yield "wrapped page written", lambda: chunk.page(0)
    yield "wrapped page", lambda: decoder.page(page, numbers.size)
    yield "wrapped page_into", lambda: decoder.page_into(page, numbers)
    ids = random.integers(0, 1 << 50, 30_000_000)
    stream = dbp.encode(ids)
    yield "dbp.encode", lambda: dbp.encode(ids)
    yield "dbp.decode", lambda: dbp.decode(stream, "int64")
    yield "dbp.decode_into", lambda: dbp.decode_into(stream, ids)
    archive = folder / "x.pco.zip"
    latens.save(archive, ids=ids[::10], level=1)
    yield "save", lambda: latens.save(folder / "y.pco.zip", ids=ids[::10], level=1)
    yield "load", lambda: latens.load(archive)
    weights = np.rint(random.normal(size=(8192, 8192)) * 20).astype("i1")
    model = folder / "x.wcodec"
    wcodec.save_file({"w": weights}, model, threads=1)
    file = wcodec.open(model, threads=1)
    yield "wcodec.save_file", lambda: wcodec.save_file({"w": weights}, folder / "y.wcodec", threads=1)
    yield "get_tensor", lambda: file.get_tensor("w")
    yield "get_slice", lambda: file.get_slice("w")[1:8000]
    yield "verify", file.verify


def test_the_gil_is_released(ticks, tmp_path):
    for name, call in calls(tmp_path):
        # A machine that is busy may leave no time to the other thread. That is tried again, as often as it takes: with
        # the GIL held it is one tick at most, while arguments are looked at, however long the call takes.
        most = 0
        for _ in range(20):
            started = time.perf_counter()
            call()
            ended = time.perf_counter()
            most = max(most, sum(started < tick < ended for tick in ticks[-1000:]))
            if most >= 3:
                break
        assert most >= 3, (name, most)
