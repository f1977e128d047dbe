"""latens.pco: round trips of every type, buffers, errors, threads, the reference both ways."""

import array
import subprocess
import sys
import threading
import time

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import latens
from latens import delta_binary_packed, pco
from latens.pco import wrapped

TYPES = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8"]


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def column(dtype, n=5000, seed=1):
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.integers(0, 4, n)).astype(dtype)


@pytest.mark.parametrize("dtype", TYPES)
def test_every_type_comes_back(dtype):
    numbers = column(dtype)
    data = pco.compress(numbers)
    assert len(data) < numbers.nbytes
    assert same(pco.decompress(data), numbers)
    out = np.zeros(6000, dtype)
    assert pco.decompress_into(data, out) == (5000, True)
    assert same(out[:5000], numbers) and not out[5000:].any()
    assert pco.decompress_into(data, out[:7]) == (7, False)


def test_chunks_are_the_encoders_where_nothing_is_said():
    def chunks(**given):
        return len(pco.inspect(pco.compress(np.arange(300_000), level=10, **given))["chunks"])

    assert chunks() == 2 and chunks(favor="size") == 1
    assert chunks(favor="size", chunk_n=1 << 18) == 2


@settings(max_examples=150, deadline=None)
@given(
    numbers=st.sampled_from(TYPES).flatmap(
        lambda t: hnp.arrays(np.dtype(t), hnp.array_shapes(max_dims=3, max_side=40, min_side=0))
    ),
    level=st.integers(0, 12),
    threads=st.integers(1, 3),
)
def test_any_bits_come_back(numbers, level, threads):
    data = pco.compress(numbers, level=level, chunk_n=100, threads=threads)
    assert data == pco.compress(numbers, level=level, chunk_n=100)
    back = pco.decompress(data, threads=threads)
    assert same(back, np.ascontiguousarray(numbers).reshape(-1))
    out = np.empty(numbers.shape, numbers.dtype)
    assert pco.decompress_into(data, out, threads=threads) == (numbers.size, True)
    assert out.tobytes() == numbers.tobytes()


def test_whatever_holds_numbers_goes_in():
    numbers = column("i4")
    data = pco.compress(numbers)
    for source in [
        memoryview(numbers),
        array.array("i", numbers.tolist()),
        numbers.astype(">i4"),
        np.repeat(numbers, 2)[::2],
        numbers.reshape(50, 100).copy(),
        np.asfortranarray(numbers.reshape(50, 100)),
        _Dlpack(numbers),
    ]:
        assert pco.compress(source) == data
    assert same(pco.decompress(pco.compress(b"abc" * 99)), np.frombuffer(b"abc" * 99, "u1"))
    for held in (bytearray(data), memoryview(data), np.frombuffer(data, "u1")):
        assert same(pco.decompress(held), numbers)
    out = array.array("i", [0] * 5000)
    assert pco.decompress_into(data, out).finished and same(np.asarray(out), numbers)


class _Dlpack:
    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


@pytest.mark.parametrize(
    "source, said",
    [
        (np.zeros(3, bool), "view('u1')"),
        (np.zeros(3, "M8[s]"), "view('i8')"),
        (np.zeros(3, "c8"), "view('f4')"),
        (np.zeros(3, object), "dtype='f8'"),
        ([1, 2], "numpy.asarray"),
    ],
)
def test_what_cannot_go_in_says_what_to_write(source, said):
    with pytest.raises(latens.InvalidArgumentError, match=said.replace("(", r"\(").replace(")", r"\)")):
        pco.compress(source)


def test_modes_and_deltas_as_on_the_command_line():
    for mode, delta in [
        ("classic", "none"),
        ("int-mult@7", "consecutive@2"),
        ("dict", "lookback"),
        ("classic", "conv1@6"),
    ]:
        data = pco.compress(column("i4") * 7, mode=mode, delta=delta)
        chunk = pco.inspect(data)["chunks"][0]
        assert (chunk["mode"], chunk["delta"]) == (mode, delta)
        assert same(pco.decompress(data), column("i4") * 7)
    with pytest.raises(latens.InvalidArgumentError, match="int-mult@BASE"):
        pco.compress(column("i4"), mode="int-mult")
    with pytest.raises(latens.InvalidArgumentError, match="level 13"):
        pco.compress(column("i4"), level=13)


def test_damage_has_a_kind_and_an_offset():
    data = pco.compress(column("i8"))
    with pytest.raises(latens.TruncatedError) as caught:
        pco.decompress(data[:-200])
    assert 0 < caught.value.offset <= len(data)
    bad = bytearray(data)
    bad[len(bad) // 2] ^= 16
    with pytest.raises(latens.LatensError) as caught:
        pco.decompress(bad)
    assert isinstance(caught.value, (latens.CorruptError, latens.TruncatedError))
    assert isinstance(caught.value, ValueError) and caught.value.offset is not None
    with pytest.raises(latens.LimitError, match="max_output"):
        pco.decompress(data, max_output=39_999)
    with pytest.raises(latens.InvalidArgumentError, match="i64"):
        pco.decompress_into(data, np.zeros(5000))
    # A chunk of a number with a table of 2^14 slots, more often than the default lets pass.
    fields = 14 << 8 | 2 << 12 | (2**14 - 2) << 27 | 1 << 67
    chunk = bytes([10, 0, 0, 0]) + fields.to_bytes(10, "little") + bytes(8)
    tables = b"pco!\3\0\0\4\1" + 300 * chunk + b"\0"
    out = np.zeros(300, "u1")
    for threads in (1, 2):
        with pytest.raises(latens.LimitError, match="max_spare_slots"):
            pco.decompress(tables, threads=threads)
        with pytest.raises(latens.LimitError, match="max_spare_slots"):
            pco.decompress_into(tables, out, threads=threads)
        assert len(pco.decompress(tables, max_spare_slots=2**30, threads=threads)) == 300
        done = pco.decompress_into(tables, out, max_spare_slots=2**30, threads=threads)
        assert done.n == 300 and done.finished
    with pytest.raises(latens.InvalidArgumentError, match="writable"):
        pco.decompress_into(data, np.zeros((5000, 2), "i8")[:, 0])
    out = np.zeros(5000, "i8")
    with pytest.raises(latens.LatensError) as caught:
        pco.decompress_into(data[: len(data) // 2], out)
    n = caught.value.values_before or 0
    assert same(out[:n], column("i8")[:n]) and not out[n:].any()


def test_wrapped_parts():
    numbers = column("f4", 3000) / 4
    encoder = wrapped.FileEncoder(level=6, delta="consecutive@1")
    chunk = encoder.chunk(numbers, [1000, 2000])
    assert (chunk.pages, chunk.delta) == (2, "consecutive@1")
    file = wrapped.FileDecoder(encoder.header())
    assert file.format_version == "4.1" and file.consumed == len(encoder.header())
    decoder = file.chunk(chunk.meta() + b"more", "f4")
    assert decoder.consumed == len(chunk.meta()) and decoder.mode == chunk.mode
    assert same(decoder.page(chunk.page(1), 2000), numbers[1000:])
    out = np.empty(1000, "f4")
    assert decoder.page_into(chunk.page(0), out) == len(chunk.page(0))
    assert same(out, numbers[:1000])
    with pytest.raises(latens.LatensError):
        decoder.page(chunk.page(1)[:50], 1 << 40)
    with pytest.raises(latens.InvalidArgumentError):
        encoder.chunk(numbers, [1, 2])


def test_wrapped_pages_in_one_call():
    numbers = np.random.default_rng(3).integers(0, 999, 40_500).astype("u2")
    lens = [1000] * 40 + [500]
    encoder = wrapped.FileEncoder(level=4)
    chunk = encoder.chunk(numbers, pages=lens)
    pages = [chunk.page(i) for i in range(len(lens))]
    decoder = wrapped.FileDecoder(encoder.header()).chunk(chunk.meta(), "u2")
    back, told = np.empty_like(numbers), []
    sizes = decoder.pages_into(pages, lens, back, progress=lambda done, total: told.append((done, total)))
    assert sizes == [len(page) for page in pages] and np.array_equal(back, numbers)
    assert told[-1] == (40_500, 40_500)
    assert decoder.pages_into([], [], back[:0]) == []
    for wrong in (lens[1:], [*lens[1:], 501], [*lens, 1]):
        with pytest.raises(latens.InvalidArgumentError, match="numbers in all"):
            decoder.pages_into(pages, wrong, back)
    with pytest.raises(latens.InvalidArgumentError, match="overlap"):
        decoder.pages_into([back.view("u1")[:9]], [back.size], back)
    back[:] = 7
    pages[33] = pages[33][:100]
    with pytest.raises(latens.TruncatedError, match="page 33"):
        decoder.pages_into(pages, lens, back)
    assert np.array_equal(back[:33_000], numbers[:33_000]) and (back[34_000:] == 7).all()


def test_progress_of_wrapped_parts():
    numbers, told = np.arange(1 << 20) % 977, []

    def progress(done, total):
        told.append((done, total))

    def reached(end):
        assert told[-1] == (end, end) and told == sorted(told)
        told.clear()

    encoder = wrapped.FileEncoder(level=1)
    chunk = encoder.chunk(numbers, [1000, numbers.size - 1000], progress=progress)
    reached(numbers.size)
    decoder = wrapped.FileDecoder(encoder.header()).chunk(chunk.meta(), numbers.dtype)
    for index, part in enumerate(np.split(numbers, [1000])):
        page, out = chunk.page(index), np.zeros_like(part)
        assert np.array_equal(decoder.page(page, part.size, progress=progress), part)
        reached(part.size)
        assert decoder.page_into(page, out, progress=progress) == len(page)
        reached(part.size)
        assert np.array_equal(out, part)


def test_threads_and_progress():
    numbers = column("u4", 2_000_000)
    seen = []
    data = pco.compress(numbers, level=2, threads=2, progress=lambda *n: seen.append(n))
    assert seen[-1] == (2_000_000, 2_000_000) and seen == sorted(seen)
    assert data == pco.compress(numbers, level=2)
    assert same(pco.decompress(data, threads=2, progress=lambda *n: seen.append(n)), numbers)
    out = np.empty_like(numbers)
    assert pco.decompress_into(data, out, threads=2).finished and same(out, numbers)

    def fail(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        pco.compress(numbers, progress=fail)



def test_an_array_in_use_is_refused():
    numbers = np.arange(3_000_000.0)
    data, out, errors = pco.compress(numbers, level=1), np.empty_like(numbers), []

    def decode():
        try:
            for _ in range(5):
                pco.decompress_into(data, out)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=decode) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert same(out, numbers)
    assert all(isinstance(error, latens.LatensError) for error in errors)
    assert all("in use" in str(error) for error in errors)


@pytest.mark.parametrize("dtype", TYPES)
def test_the_reference_both_ways(dtype):
    standalone = pytest.importorskip("pcodec", reason="pcodec is not installed").standalone
    from pcodec import ChunkConfig

    for numbers in (column(dtype), column(dtype)[:0], np.tile(column(dtype, 300), 40)):
        theirs = standalone.simple_compress(numbers, ChunkConfig(enable_8_bit=True))
        back = pco.decompress(theirs)
        assert same(back, numbers) or numbers.size == back.size == 0
        back = standalone.simple_decompress(pco.compress(numbers))
        assert numbers.size == 0 or same(back, numbers)


def test_import_takes_milliseconds():
    program = "import sys, latens; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
    times = []
    for _ in range(7):
        program = (
            "import time; t = time.process_time(); import latens; print(time.process_time() - t)"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        times.append(float(done.stdout))
    assert min(times) < 0.05


def test_a_page_of_more_numbers_than_memory():
    """A page of equal numbers takes any count: what the container says of it is believed no further
    than memory reaches."""
    program = """
import resource
import numpy as np, latens
from latens.pco import wrapped
encoder = wrapped.FileEncoder(mode="classic", delta="none")
chunk = encoder.chunk(np.full(1000, 7))
decoder = wrapped.FileDecoder(encoder.header()).chunk(chunk.meta(), "i8")
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
try:
    decoder.page(chunk.page(0), 1 << 40)
except latens.InvalidArgumentError as error:
    assert "memory" in str(error), error
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("n", [0, 1, 100, 2047, 2048, 2049, 5000])
def test_brief_calls_are_as_others(n):
    # Up to 16 KiB nothing is watched and the GIL is kept: by whatever way, the same comes out.
    numbers = np.arange(n, dtype=np.int64) * 7
    file, stream = pco.compress(numbers), delta_binary_packed.encode(numbers)
    for data in (file, bytearray(file), memoryview(file), np.frombuffer(file, np.uint8)):
        found = pco.decompress(data)
        assert found.dtype == np.int64 and np.array_equal(found, numbers)
        assert found.flags.owndata or n > 2048
        found[:1] = 5
        out = np.zeros((n + 1,), np.int64)
        assert pco.decompress_into(data, out) == pco.Decompressed(n, True)
        assert np.array_equal(out[:n], numbers)
    told = []
    pco.decompress(file, progress=lambda *step: told.append(step))
    assert told[-1] == (n, n)
    for dtype in ("int64", "i8", np.int64, np.dtype(np.int64), int):
        found, consumed = delta_binary_packed.decode(stream, dtype)
        assert np.array_equal(found, numbers) and consumed == len(stream)
    done = delta_binary_packed.decode_into(stream, out)
    assert (done.n, done.consumed) == (n, len(stream))
    if n > 1:
        with pytest.raises(latens.LimitError):
            pco.decompress(file, max_output=8 * n - 1)
        with pytest.raises(latens.LimitError):
            delta_binary_packed.decode(stream, "int64", max_output=8 * n - 1)
        assert pco.decompress(file, max_output=8 * n).size == n


def test_a_small_file_may_say_too_little_of_itself():
    # What it announces is a hint, of 16 bits here behind 6 for their count.
    numbers = np.full(60_000, 3, np.uint32)
    file = bytearray(pco.compress(numbers, checksum=False))
    assert len(file) < 64 and int.from_bytes(file[6:9], "little") >> 6 & 0xFFFF == 60_000
    file[6:9] = (int.from_bytes(file[6:9], "little") & ~(0xFFFF << 6) | 5 << 6).to_bytes(3, "little")
    assert np.array_equal(pco.decompress(file), numbers)
    assert np.array_equal(pco.decompress(bytes(file)), numbers)
    with pytest.raises(latens.LimitError):
        pco.decompress(file, max_output=numbers.nbytes - 1)
