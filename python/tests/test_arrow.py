"""latens.arrow: columns of pyarrow, polars, pandas and DuckDB, chunked and with nulls."""

import datetime
import decimal

import numpy as np
import pytest

import latens

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

from latens import arrow  # noqa: E402

KINDS = [
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32()),
    *(pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.bool_(), pa.date32(), pa.date64()),
    *(pa.time32("s"), pa.time64("us"), pa.timestamp("ns", "Europe/Berlin"), pa.duration("ms")),
]


def column(kind, nulls=True):
    if kind == pa.float16():
        values = [np.float16(v) for v in range(7)]
    elif kind == pa.date64():
        values = [v * 86_400_000 for v in range(7)]
    else:
        values = [v % 2 == 0 if kind == pa.bool_() else v for v in range(7)]
    values = [None if nulls and i in (0, 3, 4) else v for i, v in enumerate(values)]
    if kind == pa.date64():
        return pa.array(values, pa.int64()).cast(kind)
    return pa.array(values, kind)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("nulls", [True, False])
def test_columns_come_back(kind, nulls):
    array = column(kind, nulls)
    assert arrow.decompress_column(arrow.compress_column(array)).equals(array)
    chunked = pa.chunked_array([array, array[2:], array[:0]])
    back = arrow.decompress_column(arrow.compress_column(chunked, chunk_n=4, level=2))
    assert back.type == kind and back.equals(chunked.combine_chunks())
    for empty in (array[:0], pa.chunked_array([], kind)):
        assert len(arrow.decompress_column(arrow.compress_column(empty))) == 0
    assert arrow.decompress_column(arrow.compress_column(pa.nulls(5, kind))).null_count == 5


TABLE = {"a": [1, None, 3, 2**60], "b": [0.5, 1.5, float("nan"), -0.0]}


def test_pyarrow_tables():
    table = pa.table(TABLE)
    back = arrow.decompress(arrow.compress(pa.concat_tables([table, table])))
    assert back["a"].to_pylist() == TABLE["a"] * 2
    assert back["b"].to_numpy().tobytes() == np.array(TABLE["b"] * 2).tobytes()


def test_polars():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = polars.DataFrame(TABLE)
    frame = polars.concat([frame, frame], rechunk=False)
    back = polars.from_arrow(arrow.decompress(arrow.compress(frame)))
    assert back.equals(frame, null_equal=True)
    series = frame["a"]
    assert polars.from_arrow(arrow.decompress_column(arrow.compress_column(series))).equals(
        series, null_equal=True
    )


def test_pandas():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame({"x": [1, 2, 3], "t": pandas.date_range("2024-01-01", periods=3)})
    back = arrow.decompress(arrow.compress(frame)).to_pandas()
    pandas.testing.assert_frame_equal(back, frame)


def test_duckdb():
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    relation = duckdb.sql("select range as i, nullif(range % 3, 0)::double as d from range(10)")
    back = arrow.decompress(arrow.compress(relation))
    assert back["i"].to_pylist() == list(range(10))
    assert back["d"].to_pylist() == [i % 3 or None for i in range(10)]


def test_errors():
    text = pa.table({"x": ["a"]})
    with pytest.raises(latens.InvalidArgumentError, match="column 'x'.*string"):
        arrow.compress(text)
    with pytest.raises(latens.InvalidArgumentError, match="pyarrow.array"):
        arrow.compress_column([1, 2])
    with pytest.raises(latens.InvalidArgumentError):
        arrow.compress_column(pa.array([decimal.Decimal("1.5")]))
    assert datetime.date(1970, 1, 2) in arrow.decompress_column(
        arrow.compress_column(column(pa.date32(), False))
    ).to_pylist()
    data = arrow.compress_column(column(pa.int64()))
    for at in range(0, len(data)):
        with pytest.raises(latens.LatensError):
            arrow.decompress_column(data[:at])
    with pytest.raises(latens.LimitError):
        arrow.decompress_column(data, max_output=8)
