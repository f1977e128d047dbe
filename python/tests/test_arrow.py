"""latens.arrow: columns of pyarrow, polars, pandas and DuckDB, chunked and with nulls."""

import datetime
import decimal
import json
import sys
import zlib

import numpy as np
import pytest

import latens

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

from latens import arrow, pco, wcodec  # noqa: E402

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


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_types_of_numpy_without_pandas(kind, monkeypatch):
    # As before pyarrow 26, whose types ask pandas.
    monkeypatch.setitem(sys.modules, "pandas", None)
    stored = arrow._stored(kind)
    assert arrow._numpy(stored) == pa.array([], stored).to_numpy(zero_copy_only=False).dtype
    array = column(kind)
    assert arrow.decompress_column(arrow.compress_column(array)).equals(array)


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


def test_pandas_with_an_index():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    for index in (
        pandas.Index([5, 6, 9]),
        pandas.Index([0.5, 1, 2], name="at"),
        pandas.date_range("2024-01-01", periods=3, name="day"),
        pandas.MultiIndex.from_arrays([[1, 1, 2], [3, 4, 5]], names=["a", "b"]),
        pandas.RangeIndex(2, 8, 2, name="r"),
    ):
        frame = pandas.DataFrame({"x": [1, 2, 3], "y": [0.5, None, 1]}, index=index)
        back = arrow.decompress(arrow.compress(frame)).to_pandas()
        assert list(back.columns) == ["x", "y"]
        pandas.testing.assert_frame_equal(back, frame, check_freq=False)


def test_what_a_schema_says_is_kept():
    fields = [pa.field("a", pa.int64(), False, {"k": b"\xff"}), pa.field("b", pa.float32())]
    schema = pa.schema(fields, {"table": "of some", b"\x00": b""})
    table = pa.table({"a": [1, 2], "b": [None, 0.5]}, schema=schema)
    back = arrow.decompress(arrow.compress(table))
    assert back.schema.equals(schema, check_metadata=True) and back.equals(table)
    # A column of it is a column.
    columns = arrow.compress(table)
    del columns["a"]
    assert arrow.decompress(columns)["b"].to_pylist() == [None, 0.5]
    columns["c"] = arrow.compress_column(pa.array([1]))
    with pytest.raises(latens.InvalidArgumentError, match="rows differ"):
        arrow.decompress(columns)
    assert arrow.decompress({}).num_columns == 0


# What latens wrote before the heads of columns had a checksum: [1, None, 3] µs in Berlin.
FIRST = b"latens arrow 1\n" + (
    b'{"type": "/////5AAAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAEAAAAUAAAAEAAUAAg'
    b"ABgAHAAwAAAAQABAAAAAAAAEKEAAAABwAAAAEAAAAAAAAAAAAAAAAAAAACAAMAAYACAAIAAAAAAACAAQAAAANAAAARXVyb3Bl"
    b'L0JlcmxpbgAAAAAAAAA=", "pco": 64, "rows": 3, "valid": 63}\n'
    b"pco!\x03\x04\x81\x04\x01\x04\x01\x00\x00\x00\x10\x00\x08\x00\x00\x00\x00\x00\x00\x00\x14\x00\x08"
    b"\x00\x12\x00\x00\x00\x02\x00\x00\x00\x07\xe0\xe9`}\x108k\xe1\xfe\t\xe6\x01\x00\x00\x00\xfc\xac\xaf"
    b"\xe1LATENSC1pco!\x03\x02\xc1\x04\x01\x02\x02\x00\x00\x00\x10\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00"
    b"\x00\x00\x11\x00\x00\x00\x03\x00\x00\x00GE#\xdb\xb9^\x84\x85Jl)\xe5\x01\x00\x00\x00wv\x87\xc5LATENSC1"
)


def test_columns_of_the_first_kind():
    array = arrow.decompress_column(FIRST)
    assert array.type == pa.timestamp("us", "Europe/Berlin")
    assert array.cast(pa.int64()).to_pylist() == [1, None, 3]
    for damaged in flips(FIRST):
        try:
            # Its head has no checksum.
            assert isinstance(arrow.decompress_column(damaged), pa.Array)
        except latens.LatensError:
            pass


def flips(data):
    for at in range(len(data)):
        for bit in range(8):
            yield data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


@pytest.mark.parametrize("kind", [pa.int64(), pa.timestamp("ns", "UTC"), pa.bool_()], ids=str)
@pytest.mark.parametrize("nulls", [True, False])
def test_every_flipped_bit_is_told(kind, nulls):
    data = arrow.compress_column(column(kind, nulls))
    for damaged in flips(data):
        with pytest.raises((latens.CorruptError, latens.TruncatedError)):
            arrow.decompress_column(damaged)


def test_rows_without_bytes_and_limits():
    data = arrow.compress_column(pa.nulls(10, pa.int64()))
    for rows in (3 * 10**8, 10**12):
        with pytest.raises(latens.LimitError, match="max_output"):
            arrow.decompress_column(of_null_rows(data, rows))
    assert len(arrow.decompress_column(of_null_rows(data, 10**6))) == 10**6
    table = arrow.compress(pa.table({"a": range(1000), "b": range(1000)}))
    assert arrow.decompress(table, max_output=16_000, max_alloc=1 << 24).num_rows == 1000
    with pytest.raises(latens.LimitError, match="max_output") as caught:
        arrow.decompress(table, max_output=15_999)
    assert caught.value.places[0] == "column 'b'"
    with pytest.raises(latens.LimitError, match="max_alloc"):
        arrow.decompress(table, max_alloc=1)


def of_null_rows(data, rows):
    """The column of null rows, with another number of them."""
    size = int.from_bytes(data[15:19], "little")
    about = json.loads(data[23 : 23 + size])
    runs = pco.compress(np.array([0, rows], "u8"))
    about["rows"], about["valid"] = rows, len(runs)
    text = json.dumps(about).encode()
    head = len(text).to_bytes(4, "little") + zlib.crc32(text).to_bytes(4, "little")
    return data[:15] + head + text + data[23 + size :][: about["pco"]] + runs


def with_nulls():
    big = 2**53 + 1
    yield "pyarrow", lambda pa: pa.array([big, None])
    yield "pyarrow", lambda pa: pa.chunked_array([[big], [None]])
    yield "pyarrow", lambda pa: pa.table({"a": [big, None]})
    yield "pyarrow", lambda pa: pa.RecordBatch.from_pydict({"a": [big, None]})
    yield "pyarrow", lambda pa: pa.array([0.5, None])
    yield "polars", lambda pl: pl.Series([big, None])
    yield "polars", lambda pl: pl.Series([0.5, None])
    yield "polars", lambda pl: pl.DataFrame({"a": [big, None]})
    yield "pandas", lambda pd: pd.Series([big, None], dtype="Int64")
    yield "pandas", lambda pd: pd.Series([big, None], dtype="int64[pyarrow]")
    yield "pandas", lambda pd: pd.array([big, None], dtype="Int64")
    yield "pandas", lambda pd: pd.Index([big, None], dtype="Int64")
    yield "pandas", lambda pd: pd.DataFrame({"a": pd.array([big, None], dtype="Int64")})


@pytest.mark.parametrize("package, make", list(with_nulls()))
def test_nulls_do_not_become_floats(package, make, tmp_path):
    peer = pytest.importorskip(package, reason=f"{package} is not installed")
    for save in (
        pco.compress,
        lambda column: latens.save(tmp_path / "n.pco.zip", a=column),
        lambda column: wcodec.save_file({"a": column}, tmp_path / "n.wcodec"),
    ):
        with pytest.raises(latens.InvalidArgumentError, match=r"nulls.*latens.arrow.compress.*fill"):
            save(make(peer))


def test_columns_and_tables_without_nulls_are_arrays():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    big = [2**53 + 1, 7]
    for column in (
        *(pa.array(big), pa.chunked_array([big[:1], big[1:]]), polars.Series(big)),
        *(pandas.Series(big), pandas.Series(big, dtype="Int64"), pandas.Index(big)),
        *(pandas.DataFrame({"a": big}), polars.DataFrame({"a": big}), pa.table({"a": big})),
    ):
        assert pco.decompress(pco.compress(column)).tolist() == big
    # NaN of floats are numbers.
    assert np.isnan(pco.decompress(pco.compress(pandas.Series([0.5, None])))[1])
    for make in (pandas.DataFrame, polars.DataFrame, pa.table):
        with pytest.raises(latens.InvalidArgumentError, match="latens.arrow.compress"):
            pco.compress(make({"a": big, "b": [0.5, 1.5]}))


def test_types_that_arrow_does_not_take():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = polars.DataFrame({"a": polars.Series([1, 2], dtype=polars.Int128)})
    with pytest.raises(latens.InvalidArgumentError):
        arrow.compress(frame)


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
