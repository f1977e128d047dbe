"""Tables against the readers and writers that people use: pyarrow, DuckDB, polars, pcodec.

    python -m venv .venv && .venv/bin/pip install pyarrow duckdb polars pcodec numpy pytz
    .venv/bin/python crates/latens-cli/tests/interop/tables.py target/release/latens

Each of them writes Parquet files that go through `.pco.zip` and come back equal by its own
reading; each reads the Parquet files that latens writes, in all encodings and compressions; and
the members of a `.pco.zip` are read with nothing but zipfile, zlib and pcodec.
"""

import datetime
import decimal
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile
import zlib

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from pcodec import standalone

ROWS = 5000


def everything() -> pa.Table:
    """A column of every flat type that Arrow has a Parquet form for, a tenth of it null."""
    rng = np.random.default_rng(7)
    null = rng.random(ROWS) < 0.1
    small = rng.integers(0, 100, ROWS)
    wide = rng.integers(-(2**62), 2**62, ROWS)

    def array(values, ty):
        return pa.array([None if n else v for v, n in zip(values, null)], type=ty)

    columns = {}
    for name in ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]:
        columns[name] = array(small.tolist(), getattr(pa, name)())
    columns["wide"] = array(wide.tolist(), pa.int64())
    columns["float16"] = array([np.float16(x) / np.float16(7) for x in small], pa.float16())
    columns["float32"] = array((small / 7).tolist(), pa.float32())
    columns["float64"] = array((small / 7).tolist(), pa.float64())
    # Few exponents and no pattern: smallest with their bytes apart.
    columns["split32"] = array(rng.random(ROWS).tolist(), pa.float32())
    columns["split64"] = array((1 + rng.random(ROWS)).tolist(), pa.float64())
    columns["bool"] = array((small > 50).tolist(), pa.bool_())
    columns["date32"] = array(small.tolist(), pa.date32())
    columns["time32"] = array((small * 1000).tolist(), pa.time32("ms"))
    columns["time64us"] = array((small * 1000).tolist(), pa.time64("us"))
    columns["time64ns"] = array((small * 1000).tolist(), pa.time64("ns"))
    for unit in ["ms", "us", "ns"]:
        for zone in [None, "UTC", "Europe/Berlin"]:
            columns[f"ts_{unit}_{zone}"] = array((wide // 2**20).tolist(), pa.timestamp(unit, zone))
    columns["decimal9"] = array([decimal.Decimal(int(x)).scaleb(-2) for x in small], pa.decimal128(9, 2))
    columns["decimal38"] = array(
        [decimal.Decimal(int(x) * 10**15).scaleb(-5) for x in wide], pa.decimal128(38, 5)
    )
    columns["text"] = array([f"word {x}" for x in small], pa.string())
    columns["unique"] = array([f"{x:x}" for x in wide], pa.string())
    columns["large"] = array([f"word {x}" for x in small], pa.large_string())
    columns["binary"] = array([bytes([x] * (x % 9)) for x in small.tolist()], pa.binary())
    columns["fixed"] = array([bytes([x] * 5) for x in small.tolist()], pa.binary(5))
    columns["dictionary"] = array([f"k{x % 5}" for x in small], pa.string()).dictionary_encode()
    columns["null"] = pa.nulls(ROWS)
    columns["required"] = pa.array(small, pa.int64())
    fields = [pa.field(n, c.type, nullable=n != "required") for n, c in columns.items()]
    schema = pa.schema(fields, metadata={"owner": "interop"})
    return pa.table(list(columns.values()), schema=schema)


def decoded(table):
    """Dictionary columns as values: which chunk has which dictionary is up to the reader."""
    for i, column in enumerate(table.columns):
        if pa.types.is_dictionary(column.type):
            values = column.cast(column.type.value_type)
            table = table.set_column(i, table.field(i).with_type(values.type), values)
    return table


class Tool:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def __call__(self, *args):
        subprocess.run([self.path, *map(str, args), "-q", "-f"], check=True, cwd=self.folder)

    def round_trip(self, source):
        self("compress", source, "-o", "t.pco.zip")
        self("decompress", "t.pco.zip", "-o", "back.parquet")
        return self.folder / "back.parquet"


def members(path, table):
    """The archive with nothing of latens: zipfile, zlib.crc32, pcodec."""
    data = path.read_bytes()
    assert b"%08x" % zlib.crc32(data[:-8]) == data[-8:]
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        manifest = json.loads(archive.read("schema.json"))
        checked = 0
        for column in manifest["columns"]:
            layout, name = column["layout"], column["field"]["name"]
            if layout["kind"] != "numbers" or name not in ("wide", "float64", "int32", "uint64"):
                continue
            numbers = standalone.simple_decompress(archive.read(layout["values"]["file"]))
            expected = table[name].combine_chunks().drop_null().to_numpy()
            assert numbers.tobytes() == expected.tobytes(), name
            checked += 1
        assert checked == 4


def main(tool_path):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        tool = Tool(tool_path, folder)
        table = everything()
        source = folder / "pyarrow.parquet"
        pages = dict(version="2.6", row_group_size=1500)
        for options in [
            dict(compression="snappy"),
            dict(compression="zstd", data_page_version="2.0"),
            dict(compression="gzip", use_dictionary=False),
            dict(compression="brotli"),
            dict(compression="lz4", write_page_checksum=True),
            dict(compression="none", use_dictionary=False,
                 column_encoding={"int64": "DELTA_BINARY_PACKED", "text": "DELTA_BYTE_ARRAY",
                                  "float64": "BYTE_STREAM_SPLIT", "unique": "DELTA_LENGTH_BYTE_ARRAY"}),
        ]:
            pq.write_table(table, source, **pages, **options)
            back, there = pq.read_table(tool.round_trip(source)), pq.read_table(source)
            assert back.schema.equals(there.schema, check_metadata=True), options
            assert decoded(back).equals(decoded(there)), options
        members(folder / "t.pco.zip", table)
        legacy = folder / "int96.parquet"
        pq.write_table(table.select(["ts_ns_None"]), legacy, use_deprecated_int96_timestamps=True)
        assert pq.read_table(tool.round_trip(legacy)).equals(pq.read_table(legacy))
        print("pyarrow", pa.__version__, "and pcodec: ok")

        skipped = {"float16", "null", "time32", "time64ns"}
        plain = table.select([n for n in table.column_names if n not in skipped])
        pq.write_table(plain, source)
        expected = duckdb.sql(f"SELECT * FROM '{source}'").fetchall()
        for encoding in ["auto", "delta", "plain"]:
            for compression in ["none", "snappy", "zstd"]:
                out = folder / "out.parquet"
                tool("compress", source, "-o", out, "--encoding", encoding, "--compression", compression)
                back = decoded(pq.read_table(out))
                assert back.equals(decoded(pq.read_table(source))), (encoding, compression)
                assert duckdb.sql(f"SELECT * FROM '{out}'").fetchall() == expected
                assert pl.read_parquet(out).equals(pl.read_parquet(source), null_equal=True)
                checked = pq.read_table(out, page_checksum_verification=True)
                assert decoded(checked).equals(back)
                for i in range(pq.read_metadata(out).num_columns):
                    chunk = pq.read_metadata(out).row_group(0).column(i)
                    integer = chunk.physical_type in ("INT32", "INT64")
                    split = "BYTE_STREAM_SPLIT" in chunk.encodings
                    assert not split or encoding == "auto" and chunk.physical_type in ("FLOAT", "DOUBLE"), chunk
                    delta = "DELTA_BINARY_PACKED" in chunk.encodings
                    assert encoding == "auto" or delta == (integer and encoding == "delta"), chunk
                if encoding == "auto" and compression == "zstd":
                    metas = [pq.read_metadata(out).row_group(0).column(i) for i in range(len(plain.column_names))]
                    split = [m.path_in_schema for m in metas if "BYTE_STREAM_SPLIT" in m.encodings]
                    assert {"split32", "split64"} <= set(split), split
        broken = bytearray(out.read_bytes())
        broken[pq.read_metadata(out).row_group(0).column(0).data_page_offset + 200] ^= 1
        out.write_bytes(broken)
        try:
            pq.read_table(out, page_checksum_verification=True)
            raise AssertionError("pyarrow found no checksum")
        except OSError as e:
            assert "checksum" in str(e).lower() or "crc" in str(e).lower(), e
        advice = json.loads(subprocess.check_output([tool_path, "advise", source, "--json"]))
        assert [c["name"] for c in advice["columns"]] == plain.column_names
        exec(advice["pyarrow"].replace('"out.parquet"', "out"), {"pq": pq, "table": plain, "out": out})
        assert decoded(pq.read_table(out)).equals(decoded(pq.read_table(source)))
        for i, column in enumerate(advice["columns"]):
            used = pq.read_metadata(out).row_group(0).column(i).encodings
            expected = {"dict": "RLE_DICTIONARY", "delt": "DELTA_BINARY_PACKED",
                        "byte": "BYTE_STREAM_SPLIT"}.get(column["parquet"][:4])
            assert expected is None or expected in used, (column, used)
        print("readers: pyarrow, DuckDB", duckdb.__version__, "polars", pl.__version__, "ok")

        theirs = folder / "duckdb.parquet"
        duckdb.sql(
            f"""COPY (SELECT range AS i, range * 1.5 AS f, range % 7 = 0 AS b, 'n' || range % 50 AS s,
                DATE '2020-01-01' + range::INT AS d, uuid() AS u, range::HUGEINT AS h,
                (range / 100)::DECIMAL(30, 4) AS dec, TIMESTAMPTZ '2020-01-01' + INTERVAL (range) SECOND AS t,
                CASE WHEN range % 3 = 0 THEN NULL ELSE range END AS n
                FROM range({ROWS})) TO '{theirs}' (FORMAT PARQUET, ROW_GROUP_SIZE 2048)"""
        )
        query = "SELECT * FROM '{}' ORDER BY i"
        back = tool.round_trip(theirs)
        assert duckdb.sql(query.format(back)).fetchall() == duckdb.sql(query.format(theirs)).fetchall()
        assert pq.read_schema(back).equals(pq.read_schema(theirs))

        theirs = folder / "polars.parquet"
        pl.DataFrame({
            "i": range(ROWS),
            "s": [f"x{i % 9}" for i in range(ROWS)],
            "c": pl.Series([f"x{i % 9}" for i in range(ROWS)], dtype=pl.Categorical),
            "d": [datetime.date(2020, 1, 1) + datetime.timedelta(i) for i in range(ROWS)],
            "t": [datetime.timedelta(microseconds=i) for i in range(ROWS)],
        }).write_parquet(theirs)
        assert pl.read_parquet(tool.round_trip(theirs)).equals(pl.read_parquet(theirs))
        print("writers: DuckDB, polars ok")


if __name__ == "__main__":
    main(str(pathlib.Path(sys.argv[1]).resolve()))
