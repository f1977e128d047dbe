"""Zarr 3 and 2: stores of ours, stores of numcodecs' PCodec both ways, Dask, xarray, wrong use."""

import os
import signal

import numpy as np
import pytest

import latens

zarr = pytest.importorskip("zarr", reason="zarr is not installed")
numcodecs = pytest.importorskip("numcodecs", reason="numcodecs is not installed")

import latens.numcodecs  # noqa: E402
import latens.zarr  # noqa: E402
from latens import pco  # noqa: E402


def grid(dtype="f8"):
    return np.add.outer(np.arange(60), np.arange(90) * 3).astype(dtype)


DTYPES = ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "bool"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("version", [2, 3])
def test_arrays_come_back(tmp_path, dtype, version):
    codec = (
        {"serializer": latens.zarr.Pco(level=5), "compressors": None}
        if version == 3
        else {"compressors": latens.numcodecs.Pco(level=5), "filters": None}
    )
    array = zarr.create_array(
        tmp_path, shape=(60, 90), chunks=(25, 40), dtype=dtype, zarr_format=version, **codec
    )
    array[:] = grid(dtype)
    back = zarr.open_array(tmp_path, mode="r")
    assert back.dtype == dtype and np.array_equal(back[:], grid(dtype))
    assert np.array_equal(back[13:41, ::7], grid(dtype)[13:41, ::7])
    chunk = tmp_path / ("c/0/0" if version == 3 else "0.0")
    numbers = pco.decompress(chunk.read_bytes())
    assert np.array_equal(numbers.reshape(25, 40), grid(dtype)[:25, :40])


def v2(path, codec, order, dtype="f8", **more):
    return zarr.create_array(
        path, shape=(7, 9), chunks=(3, 4), dtype=dtype, order=order, zarr_format=2,
        compressors=codec, filters=None, **more,
    )


@pytest.mark.parametrize("dtype", ["f8", "i2", "bool", "M8[s]"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_orders_of_zarr_2(tmp_path, order, dtype):
    numbers = np.arange(63).reshape(7, 9).astype("i8").astype(dtype)
    for name, codec in (("ours", latens.numcodecs.Pco()), ("zstd", numcodecs.Zstd())):
        array = v2(tmp_path / name, codec, order, dtype)
        array[:] = numbers
        array[3:6, 4:8] = np.asfortranarray(numbers[3:6, 4:8])
        assert np.array_equal(zarr.open_array(tmp_path / name, mode="r")[:], numbers), name
    # The chunk holds what Zstd's does.
    chunk = pco.decompress((tmp_path / "ours/1.1").read_bytes())
    assert chunk.tobytes() == bytes(numcodecs.Zstd().decode((tmp_path / "zstd/1.1").read_bytes()))


@pytest.mark.parametrize("order", ["C", "F"])
def test_orders_as_the_reference_has_them(tmp_path, order):
    pytest.importorskip("pcodec", reason="pcodec is not installed")
    from numcodecs.pcodec import PCodec

    ours, theirs = latens.numcodecs.Pco(), PCodec()
    numbers = np.arange(63.0).reshape(7, 9)
    held = np.array(numbers, order=order)
    for writer in (ours, theirs):
        for reader in (ours, theirs):
            data = writer.encode(held)
            plain = np.asarray(reader.decode(data))
            assert np.array_equal(plain, held.ravel("A"))
            out = np.zeros((7, 9), order=order)
            reader.decode(data, out=out)
            assert np.array_equal(out, numbers)
    # Stores of theirs, under the name `pcodec`, written on by ours.
    path = tmp_path / "store"
    v2(path, theirs, order)[:] = numbers
    try:
        latens.numcodecs.register_pcodec()
        array = zarr.open_array(path, mode="r+")
        assert isinstance(array.compressors[0], latens.numcodecs.Pco)
        assert np.array_equal(array[:], numbers)
        array[:] = numbers + 1
        assert np.array_equal(array[:], numbers + 1)
    finally:
        numcodecs.register_codec(PCodec)
    again = zarr.open_array(path, mode="r")
    assert isinstance(again.compressors[0], PCodec) and np.array_equal(again[:], numbers + 1)


def test_orders_of_zarr_3(tmp_path):
    from zarr.codecs import TransposeCodec

    numbers = np.arange(63.0).reshape(7, 9)
    for i, options in enumerate([{}, {"config": {"order": "F"}}, {"filters": TransposeCodec(order=(1, 0))}]):
        array = zarr.create_array(
            tmp_path / str(i), shape=(7, 9), chunks=(3, 4), dtype="f8",
            serializer=latens.zarr.Pco(), compressors=None, **options,
        )
        array[:] = np.asfortranarray(numbers)
        assert np.array_equal(zarr.open_array(tmp_path / str(i), mode="r")[:], numbers)
        chunk = pco.decompress((tmp_path / str(i) / "c/0/0").read_bytes())
        assert np.array_equal(chunk, numbers[:3, :4].ravel("F" if "filters" in options else "C"))


def test_memory_to_decode_into():
    codec = latens.numcodecs.Pco()
    data = codec.encode(np.arange(12.0))
    out = np.full((3, 4), 7.0, order="F")
    assert codec.decode(data, out=out) is out
    assert np.array_equal(out.ravel("A"), np.arange(12.0))
    held = np.zeros((3, 8))
    locked = np.zeros(12)
    locked.flags.writeable = False
    for wrong in (held[:, ::2], np.zeros(12)[::-1], locked, np.zeros(12, ">f8"), np.zeros(13)):
        with pytest.raises(latens.InvalidArgumentError, match="`out`"):
            codec.decode(data, out=wrong)


def test_foreign_byte_order(tmp_path):
    swapped = np.dtype("i4").newbyteorder("S").str
    options = {"shape": (60, 90), "chunks": (25, 40), "dtype": swapped}
    array = zarr.create_array(
        tmp_path / "2", zarr_format=2, compressors=latens.numcodecs.Pco(), filters=None, **options
    )
    # Zarr 2 would take the numbers that come back for swapped ones.
    with pytest.raises(latens.InvalidArgumentError, match="write dtype="):
        array[:] = grid(swapped)
    pytest.importorskip("zarr", minversion="3.1", reason="Zarr 3.0 has no other byte order")
    array = zarr.create_array(
        tmp_path / "3", serializer=latens.zarr.Pco(), compressors=None, **options
    )
    array[:] = grid(swapped)
    assert np.array_equal(zarr.open_array(tmp_path / "3", mode="r")[:], grid())


def test_within_shards_and_without_dimensions(tmp_path):
    array = zarr.create_array(
        tmp_path / "s", shape=(64, 64), chunks=(8, 8), shards=(32, 32), dtype="i4",
        serializer=latens.zarr.Pco(), compressors=None,
    )
    numbers = np.arange(4096, dtype="i4").reshape(64, 64)
    array[:] = numbers
    assert np.array_equal(zarr.open_array(tmp_path / "s")[9:50, 3:5], numbers[9:50, 3:5])
    one = zarr.create_array(
        tmp_path / "o", shape=(), dtype="f8", serializer=latens.zarr.Pco(), compressors=None
    )
    one[...] = 2.5
    assert zarr.open_array(tmp_path / "o")[...] == 2.5


def test_fill_values_and_nan(tmp_path):
    array = zarr.create_array(
        tmp_path, shape=(10,), chunks=(4,), dtype="f8", fill_value=np.nan,
        serializer=latens.zarr.Pco(), compressors=None,
    )
    array[1:3] = [1.5, -0.0]
    back = zarr.open_array(tmp_path, mode="r")[:]
    expected = np.full(10, np.nan)
    expected[1:3] = [1.5, -0.0]
    assert back.tobytes() == expected.tobytes()
    assert not (tmp_path / "c/2").exists()


def reference(tmp_path, version):
    """A store written by numcodecs' PCodec."""
    if version == 3:
        from zarr.codecs.numcodecs import PCodec

        codec = {"serializer": PCodec(level=8), "compressors": None}
    else:
        from numcodecs.pcodec import PCodec

        codec = {"compressors": PCodec(level=8), "filters": None}
    return zarr.create_array(
        tmp_path, shape=(60, 90), chunks=(25, 40), dtype="f8", zarr_format=version, **codec
    )


PROGRAM = """
import sys, numpy as np, zarr, latens.{module}, pcodec
def refuse(*given): raise AssertionError("their codec was used")
pcodec.standalone.simple_compress = pcodec.standalone.simple_decompress = refuse
pcodec.standalone.simple_decompress_into = refuse
import numcodecs.pcodec
numcodecs.pcodec.PCodec.encode = numcodecs.pcodec.PCodec.decode = refuse
{register}
array = zarr.open_array(sys.argv[1], mode="r+")
grid = np.add.outer(np.arange(60), np.arange(90) * 3).astype("f8")
assert np.array_equal(array[:], grid)
array[:] = grid + 1
assert np.array_equal(array[:], grid + 1)
"""


@pytest.mark.parametrize("version", [2, 3])
def test_stores_of_the_reference_are_read_and_written(tmp_path, version):
    pytest.importorskip("pcodec", reason="pcodec is not installed")
    import subprocess
    import sys

    reference(tmp_path, version)[:] = grid()
    module = "zarr" if version == 3 else "numcodecs"
    program = PROGRAM.format(module=module, register=f"latens.{module}.register_pcodec()")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, str(tmp_path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert np.array_equal(zarr.open_array(tmp_path, mode="r")[:], grid() + 1)
    # And with our trailer, which the reference skips.
    data = pco.compress(grid().reshape(-1))
    from numcodecs.pcodec import PCodec

    assert np.array_equal(PCodec().decode(data), grid().reshape(-1))


def test_wrong_use_says_what_to_write(tmp_path):
    with pytest.raises(TypeError, match=r"serializer=latens.zarr.Pco\(\)"):
        zarr.create_array(
            tmp_path / "a", shape=(9,), chunks=(9,), dtype="f8", compressors=latens.zarr.Pco()
        )
    with pytest.raises(latens.InvalidArgumentError, match="none of uint8"):
        zarr.create_array(
            tmp_path / "b", shape=(9,), chunks=(9,), dtype="c16",
            serializer=latens.zarr.Pco(), compressors=None,
        )
    with pytest.raises(latens.InvalidArgumentError, match="filters=None"):
        latens.numcodecs.Pco().encode(b"bytes of another codec")
    with pytest.raises(latens.InvalidArgumentError, match="level 99"):
        latens.zarr.Pco(level=99)


def test_numcodecs_codec_in_the_wrong_place(tmp_path):
    ours, right = latens.numcodecs.Pco(), r"serializer=latens.zarr.Pco\(\), compressors=None"
    for place in ("compressors", "serializer", "filters"):
        for wrong in (ours, [ours])[: 1 + (place != "serializer")]:
            with pytest.raises(TypeError, match=right):
                zarr.create_array(
                    tmp_path, shape=(9,), chunks=(9,), dtype="f8", overwrite=True, **{place: wrong}
                )
    # Where it is right it still is.
    for compressors in (ours, [ours], (ours,)):
        array = zarr.create_array(
            tmp_path, shape=(9,), chunks=(9,), dtype="f8", overwrite=True, zarr_format=2,
            compressors=compressors, filters=None,
        )
        assert array.compressors == (ours,)


@pytest.mark.parametrize("version", [2, 3])
def test_limits_for_stores_of_strangers(tmp_path, version, monkeypatch):
    module, codec = (latens.numcodecs, "compressors") if version == 2 else (latens.zarr, "serializer")
    options = {"filters": None} if version == 2 else {"compressors": None}
    array = zarr.create_array(
        tmp_path, shape=(60, 90), chunks=(25, 40), dtype="f8", zarr_format=version,
        **{codec: module.Pco()}, **options,
    )
    array[:] = grid()
    for name, low, enough in (("max_output", 7999, 8000), ("max_alloc", 1, 1 << 24)):
        monkeypatch.setattr(module.Pco, name, low)
        with pytest.raises(latens.LimitError, match=name):
            zarr.open_array(tmp_path, mode="r")[:]
        monkeypatch.setattr(module.Pco, name, enough)
        assert np.array_equal(zarr.open_array(tmp_path, mode="r")[:], grid())


def test_configurations_come_back():
    codec = numcodecs.get_codec({"id": "latens.pco", "level": 3, "delta": "consecutive@1"})
    assert numcodecs.get_codec(codec.get_config()) == codec
    ours = latens.zarr.Pco(level=3, mode="classic")
    assert latens.zarr.Pco.from_dict(ours.to_dict()) == ours
    out = np.zeros(60 * 90)
    codec.decode(codec.encode(grid()), out)
    assert np.array_equal(out, grid().reshape(-1))


def test_a_setting_that_there_is_not():
    said = "latens.pco has no setting 'levle'; it has level, mode, delta, favor, checksum"
    with pytest.raises(latens.InvalidArgumentError, match=said):
        serializer = {"name": "latens.pco", "configuration": {"levle": 3}}
        zarr.create_array(
            {}, shape=(4,), chunks=(4,), dtype="f4", serializer=serializer, compressors=None
        )
    with pytest.raises(latens.InvalidArgumentError, match=said):
        numcodecs.get_codec({"id": "latens.pco", "levle": 3})
    assert latens.zarr.Pco.from_dict({"name": "latens.pco"}) == latens.zarr.Pco()


def test_types_as_zarr_before_3_1_has_them():
    import types

    from zarr.core.buffer import default_buffer_prototype

    codec, prototype = latens.zarr.Pco(), default_buffer_prototype()
    codec.validate(shape=(60, 90), dtype=np.dtype("f4"), chunk_grid=None)
    with pytest.raises(latens.InvalidArgumentError, match="none of uint8"):
        codec.validate(shape=(60, 90), dtype=np.dtype("c16"), chunk_grid=None)
    spec = types.SimpleNamespace(prototype=prototype, dtype=np.dtype("f4"), shape=(60, 90))
    held = prototype.nd_buffer.from_ndarray_like(grid("f4"))
    back = codec._decode_sync(codec._encode_sync(held, spec), spec)
    assert np.array_equal(back.as_ndarray_like(), grid("f4"))


def fill(path):
    import dask.array as da

    numbers = da.from_array(grid(), chunks=(25, 40)) * 2
    array = zarr.create_array(
        path, shape=(60, 90), chunks=(25, 40), dtype="f8", overwrite=True,
        serializer=latens.zarr.Pco(), compressors=None,
    )
    return da.store(numbers, array, lock=False, compute=False)


def contents(path):
    return {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}


# Seconds for a cluster that lost a worker, on a busy machine.
PATIENCE = 300


def test_dask_with_two_processes(tmp_path):
    distributed = pytest.importorskip("distributed", reason="dask[distributed] is not installed")
    import dask
    import dask.array as da

    marker = str(tmp_path / "died")

    # In here, so that workers get it by value: they cannot import the tests.
    def die_once(value):
        if not os.path.exists(marker):
            open(marker, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return value

    fill(tmp_path / "one").compute(scheduler="synchronous")
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 3}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.compute(fill(tmp_path / "two")).result(timeout=PATIENCE)
        assert contents(tmp_path / "one") == contents(tmp_path / "two")
        stored = da.from_zarr(str(tmp_path / "two"))
        total = stored.map_blocks(die_once, dtype="f8", meta=np.empty((0, 0))).sum()
        assert client.compute(total).result(timeout=PATIENCE) == 2 * grid().sum()
        assert os.path.exists(marker)


def test_xarray(tmp_path):
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    data = xarray.Dataset(
        {"t": (("y", "x"), np.where(grid() > 250, np.nan, grid()))},
        coords={"x": np.arange(90), "y": np.datetime64("2024-01-01") + np.arange(60)},
    )
    encoding = {"t": {"serializer": latens.zarr.Pco(), "compressors": None, "chunks": (25, 40)}}
    data.to_zarr(tmp_path / "x.zarr", encoding=encoding, zarr_format=3, consolidated=False)
    back = xarray.open_zarr(tmp_path / "x.zarr", consolidated=False).load()
    xarray.testing.assert_identical(back, data)
