"""Makes the golden pages of DELTA_BINARY_PACKED and the two string encodings on top of it.

    python -m venv venv && venv/bin/pip install pyarrow duckdb polars
    venv/bin/python testdata/golden/dbp/make.py

Each column is written to a Parquet file without compression by a real writer; the payload of its
first data page goes to NAME.page and the numbers in it, little endian, to NAME.values (strings:
u32 length and bytes, each). SOURCES.txt says who wrote what. Columns that a writer stores in
another encoding are left out.
"""

import importlib.metadata
import os
import struct
import sys
import tempfile

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq

HERE = os.path.dirname(os.path.abspath(__file__))
N = 700
DELTA = {5: "dbp", 6: "dlba", 7: "dba"}


def noise(n, seed):
    state = seed
    for _ in range(n):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield state >> 32


def columns():
    r = list(noise(N, 1))
    stamps, t = [], 1_700_000_000_000_000
    for x in r:
        t += 1_000_000 + x % 5000
        stamps.append(t)
    yield "ids", "i32", [1000 + 3 * i + x % 3 for i, x in enumerate(r)]
    yield "noise", "i32", [x - 2**31 for x in r]
    # 33 bits where differences do not wrap.
    yield "extremes", "i32", [[-(2**31), 2**31 - 1, 0][x % 3] for x in r]
    yield "stamps", "i64", stamps
    yield "noise", "i64", [x * 2**32 + y - 2**63 for x, y in zip(r, noise(N, 2))]
    yield "constant", "i64", [7] * N
    yield "one", "i64", [-5]
    yield "names", "str", [f"station-{i // 10:04}-{x % 100}" for i, x in enumerate(r)]


class Thrift:
    """As much of the compact protocol as page headers and what lies around them take."""

    def __init__(self, data, at):
        self.data, self.at = data, at

    def varint(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def integer(self):
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def value(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            self.at += 1
            return self.data[self.at - 1]
        if kind in (4, 5, 6):
            return self.integer()
        if kind == 7:
            self.at += 8
            return None
        if kind == 8:
            size = self.varint()
            self.at += size
            return self.data[self.at - size : self.at]
        if kind in (9, 10):
            head = self.data[self.at]
            self.at += 1
            size = head >> 4 if head >> 4 != 15 else self.varint()
            return [self.value(head & 15) for _ in range(size)]
        assert kind == 12, kind
        return self.struct()

    def struct(self):
        fields, number = {}, 0
        while True:
            head = self.data[self.at]
            self.at += 1
            if head == 0:
                return fields
            number = number + (head >> 4) if head >> 4 else self.integer()
            fields[number] = self.value(head & 15)


def first_delta_page(path, column):
    """(encoding, payload) of the first data page of a column, or None."""
    meta = pq.ParquetFile(path).metadata
    if meta.num_row_groups == 0 or meta.row_group(0).num_rows == 0:
        return None
    chunk = meta.row_group(0).column(column)
    assert chunk.compression == "UNCOMPRESSED", chunk.compression
    optional = pq.ParquetFile(path).schema.column(column).max_definition_level
    with open(path, "rb") as file:
        data = file.read()
    at = chunk.data_page_offset
    thrift = Thrift(data, at)
    header = thrift.struct()
    payload = data[thrift.at : thrift.at + header[3]]
    if header[1] == 0:
        encoding = header[5][2]
        if optional:
            (size,) = struct.unpack_from("<I", payload)
            payload = payload[4 + size :]
    else:
        assert header[1] == 3, header[1]
        encoding = header[8][4]
        payload = payload[header[8][5] + header[8][6] :]
    return (DELTA[encoding], payload) if encoding in DELTA else None


def arrow_table(name, kind, values):
    types = {"i32": pa.int32(), "i64": pa.int64(), "str": pa.string()}
    schema = pa.schema([pa.field(name, types[kind], nullable=False)])
    return pa.table([pa.array(values, types[kind])], schema=schema)


def write_pyarrow(path, name, kind, values, encoding=None):
    encoding = encoding or ("DELTA_BYTE_ARRAY" if kind == "str" else "DELTA_BINARY_PACKED")
    pq.write_table(arrow_table(name, kind, values), path, compression="NONE", use_dictionary=False,
                   column_encoding={name: encoding})


def write_pyarrow_lengths(path, name, kind, values):
    if kind == "str":
        write_pyarrow(path, name, kind, values, "DELTA_LENGTH_BYTE_ARRAY")


def write_duckdb(path, name, kind, values):
    numbers = arrow_table(name, kind, values)  # noqa: F841, named in the query
    duckdb.sql(f"COPY (SELECT * FROM numbers) TO '{path}' (FORMAT parquet, PARQUET_VERSION v2, "
               "COMPRESSION uncompressed, DICTIONARY_SIZE_LIMIT 1)")


def write_polars(path, name, kind, values):
    polars.from_arrow(arrow_table(name, kind, values)).write_parquet(path, compression="uncompressed")


WRITERS = [("pyarrow", "pyarrow", write_pyarrow), ("pyarrow", "pyarrow_lengths", write_pyarrow_lengths),
           ("duckdb", "duckdb", write_duckdb), ("polars", "polars", write_polars)]


def main():
    sources = []
    for package, label, write in WRITERS:
        version = importlib.metadata.version(package)
        for name, kind, values in columns():
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "x.parquet")
                write(path, name, kind, values)
                found = first_delta_page(path, 0) if os.path.exists(path) else None
            if found is None:
                print(f"{label} {name} {kind}: not in a delta encoding", file=sys.stderr)
                continue
            encoding, payload = found
            stem = f"{label}_{name}.{kind}.{encoding}"
            with open(os.path.join(HERE, stem + ".page"), "wb") as file:
                file.write(payload)
            with open(os.path.join(HERE, stem + ".values"), "wb") as file:
                for value in values:
                    if kind == "str":
                        file.write(struct.pack("<I", len(value)) + value.encode())
                    else:
                        file.write(struct.pack("<i" if kind == "i32" else "<q", value))
            sources.append(f"{stem}: {len(values)} values, {len(payload)} bytes, {package} {version}")
    with open(os.path.join(HERE, "SOURCES.txt"), "w") as file:
        file.write("Made by make.py beside this file; the columns are its own invention.\n\n")
        file.write("\n".join(sources) + "\n")


main()
