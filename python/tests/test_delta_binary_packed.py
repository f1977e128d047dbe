"""latens.delta_binary_packed: round trips, errors, Parquet's own reader where there is one."""

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import latens
from latens import delta_binary_packed as dbp

TYPES = ["i4", "i8", "u4", "u8"]


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(TYPES).flatmap(lambda t: hnp.arrays(np.dtype(t), st.integers(0, 700))))
def test_any_numbers_come_back(numbers):
    stream = dbp.encode(numbers)
    values, consumed = dbp.decode(stream + b"behind", numbers.dtype)
    assert values.dtype == numbers.dtype and np.array_equal(values, numbers)
    assert consumed == len(stream)
    out = np.zeros(numbers.size + 3, numbers.dtype)
    assert dbp.decode_into(stream, out) == (numbers.size, len(stream))
    assert np.array_equal(out[: numbers.size], numbers) and not out[numbers.size :].any()


def test_bytes_of_the_format():
    # From the documentation of the library: block, miniblocks, count, first, min delta, widths.
    assert dbp.encode(np.arange(1, 6, dtype="i4")) == bytes([0x80, 1, 4, 5, 2, 2, 0, 0, 0, 0])
    wide = dbp.encode(np.arange(600, dtype="i8"), block_size=512, miniblocks=2)
    assert np.array_equal(dbp.decode(wide, "i8")[0], np.arange(600))


def test_errors():
    stream = dbp.encode(np.arange(300, dtype="i8") ** 2)
    with pytest.raises(latens.TruncatedError) as caught:
        dbp.decode(stream[: len(stream) // 2], "i8")
    assert caught.value.offset is not None
    with pytest.raises(latens.LimitError):
        dbp.decode(stream, "i8", max_output=100)
    with pytest.raises(latens.InvalidArgumentError, match="room"):
        dbp.decode_into(stream, np.zeros(10, "i8"))
    with pytest.raises(latens.InvalidArgumentError, match="int32, int64"):
        dbp.decode(stream, "f8")
    with pytest.raises(latens.InvalidArgumentError, match="int32, int64"):
        dbp.encode(np.zeros(3, "i2"))
    with pytest.raises(latens.InvalidArgumentError):
        dbp.encode(np.zeros(3, "i4"), block_size=100)


@pytest.mark.parametrize("dtype", TYPES)
def test_threads_and_progress(dtype):
    numbers = (np.arange(700_000) ** 2 // 7).astype(dtype)
    stream = dbp.encode(numbers)
    for threads in (0, 1, 2, 5):
        told = []

        def progress(done, total):
            told.append((done, total))

        given = {"threads": threads, "progress": progress}
        assert dbp.encode(numbers, **given) == stream
        assert told[-1] == (numbers.size, numbers.size)
        values, consumed = dbp.decode(stream, dtype, **given)
        assert np.array_equal(values, numbers) and consumed == len(stream)
        out = np.zeros_like(numbers)
        assert dbp.decode_into(stream, out, **given) == (numbers.size, len(stream))
        assert np.array_equal(out, numbers)
        assert told.count((numbers.size, numbers.size)) == 3

    def refuse(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        dbp.decode(stream, dtype, progress=refuse)
    with pytest.raises(latens.InvalidArgumentError, match="threads -1"):
        dbp.encode(numbers, threads=-1)
    with pytest.raises(latens.InvalidArgumentError, match="threads 'all'"):
        dbp.decode(stream, dtype, threads="all")
