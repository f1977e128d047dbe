"""What callers may get wrong: each is told as an error of ours, and nothing is lost in silence."""

import errno
import io
import os

import numpy as np
import pytest

import latens
from latens import delta_binary_packed as dbp
from latens import pco, wcodec
from latens.pco import wrapped

NUMBERS = np.arange(1000, dtype="i4")
DATA = pco.compress(NUMBERS)
STREAM = dbp.encode(NUMBERS)


@pytest.fixture
def saved(tmp_path):
    wcodec.save_file({"w": NUMBERS.astype("i1").reshape(50, 20)}, tmp_path / "x.wcodec")
    return tmp_path / "x.wcodec"


def wrong_calls(path):
    header = wrapped.FileEncoder().header()
    chunk = wrapped.FileEncoder().chunk(NUMBERS)
    decoder = wrapped.FileDecoder(header).chunk(chunk.meta(), "i4")
    yield "level -1; 0 to 12 exist", lambda: pco.compress(NUMBERS, level=-1)
    yield "level 13; 0 to 12 exist", lambda: pco.compress(NUMBERS, level=13)
    yield "level -1; 0 to 12 exist", lambda: latens.save(path.parent / "s", NUMBERS, level=-1)
    yield "level 13; 0 to 12 exist", lambda: wcodec.save_file({"a": NUMBERS}, path, level=13)
    yield "level -1; 0 to 12 exist", lambda: wcodec.compress_file(path, level=-1)
    yield "level -1; 0 to 12 exist", lambda: wrapped.FileEncoder(level=-1)
    yield "threads -2; ", lambda: pco.compress(NUMBERS, threads=-2)
    yield "threads -2; ", lambda: pco.decompress(DATA, threads=-2)
    yield "threads -2; ", lambda: wcodec.open(path, threads=-2)
    yield "max_output -1; ", lambda: pco.decompress(DATA, max_output=-1)
    yield "max_output -1; ", lambda: dbp.decode(STREAM, "i4", max_output=-1)
    yield "max_alloc -1; ", lambda: wrapped.FileDecoder(header, max_alloc=-1)
    yield "max_alloc -1; ", lambda: latens.load(path, max_alloc=-1)
    yield "max_alloc 18446744073709551616; ", lambda: pco.decompress(DATA, max_alloc=1 << 64)
    yield "index -1; ", lambda: chunk.page(-1)
    yield "n -1; ", lambda: decoder.page(chunk.page(0), -1)
    yield "pages -1; ", lambda: wrapped.FileEncoder().chunk(NUMBERS, [1001, -1])
    yield "chunk_n -1; ", lambda: pco.compress(NUMBERS, chunk_n=-1)
    yield "block_size -128; ", lambda: dbp.encode(NUMBERS, block_size=-128)
    yield "count -1; ", lambda: dbp.decode_into(STREAM, NUMBERS.copy(), count=-1)
    yield "rows -1; ", lambda: wcodec.open(path).logical("w", rows=(-1, 2))
    yield "cols -1; ", lambda: wcodec.open(path).logical("w", cols=(0, -1))
    yield "rows (1,); ", lambda: wcodec.open(path).logical("w", rows=(1,))
    yield "cols slice(", lambda: wcodec.open(path).logical("w", cols=slice(1, 2))
    yield "rows (0, None); ", lambda: wcodec.open(path).logical("w", rows=(0, None))
    yield "a list, is no dictionary", lambda: wcodec.save_file([NUMBERS], path)
    yield "None is no dictionary", lambda: wcodec.save_file(None, path)
    yield "is for save_file", lambda: wcodec.save_layers({"a": NUMBERS}, path)
    yield "a int, are no generator", lambda: wcodec.save_layers(3, path)
    yield "a ndarray, is no dictionary", lambda: wcodec.save_layers([NUMBERS], path)
    yield "metadata, a list, ", lambda: wcodec.save_file({"a": NUMBERS}, path, [("a", "b")])
    yield "metadata, a list, ", lambda: wcodec.save_layers([], path, [("a", "b")])
    for wrong, said in (
        ({"coder": "direct"}, "wcodec.Tools("),
        (wcodec.Tools(tile=5), "tile 5; "),
        (wcodec.Tools(tile=(16, -1)), "tile -1; "),
        (wcodec.Tools(predictors=5), "5 is no list"),
        (wcodec.Tools(transforms=[3]), "3 is no name"),
        (wcodec.Tools(coder=None), "None is no name"),
        (wcodec.Tools(predictors=["NONE", "REFERENCE"]), "give that one as base"),
    ):
        yield said, lambda tools=wrong: wcodec.save_file({"a": NUMBERS}, path, tools=tools)
        yield said, lambda tools=wrong: wcodec.save_layers([{"a": NUMBERS}], path, tools=tools)
    yield "checksum 1; ", lambda: pco.compress(NUMBERS, checksum=1)
    yield "strict 1; ", lambda: dbp.decode(STREAM, "i4", strict=1)
    yield "verify 'no'; ", lambda: wcodec.save_file({"a": NUMBERS}, path, verify="no")
    yield "'zzz' is no type", lambda: dbp.decode(STREAM, "zzz")
    yield "not i16", lambda: dbp.decode(STREAM, "i2")
    yield "file object", lambda: wcodec.open(io.BytesIO(b""))
    yield "os.fsdecode", lambda: wcodec.open(os.fsencode(path))
    yield "neither a path", lambda: latens.load(b"bytes")
    yield "neither a path", lambda: latens.save(3, NUMBERS)


def test_wrong_calls(saved):
    before = saved.read_bytes()
    for said, call in wrong_calls(saved):
        with pytest.raises(latens.InvalidArgumentError) as caught:
            call()
        assert said in str(caught.value), caught.value
    assert saved.read_bytes() == before


def test_errors_of_the_system_name_the_file(saved, tmp_path):
    with pytest.raises(latens.InputOutputError) as caught:
        wcodec.open(tmp_path)
    error = caught.value
    assert (error.errno, error.filename) == (errno.EISDIR, str(tmp_path))
    assert str(tmp_path) in str(error) and "os error" not in str(error)


def test_errors_are_whole_behind_pickle(tmp_path):
    import copy
    import pickle

    with pytest.raises(latens.InputOutputError) as caught:
        wcodec.open(tmp_path)
    error = caught.value
    error.places = ["somewhere"]
    plain = latens.InputOutputError(errno.ENOENT, "no such file", "a.wcodec")
    for given in (error, plain, latens.InputOutputError("only text")):
        for again in (pickle.loads(pickle.dumps(given)), copy.copy(given)):
            assert type(again) is latens.InputOutputError and str(again) == str(given)
            for name in ("errno", "strerror", "filename", "args", "places", "offset"):
                assert getattr(again, name) == getattr(given, name), name
    with pytest.raises(latens.LatensError) as caught:
        pco.decompress(DATA[:-20])
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.offset) == (str(caught.value), caught.value.offset)


def test_memory_that_is_not_aligned():
    held = np.zeros(NUMBERS.nbytes + 1, "u1")
    crooked = held[1:].view("i4")
    crooked[:] = NUMBERS
    assert not crooked.flags.aligned
    assert pco.compress(crooked) == DATA and dbp.encode(crooked) == STREAM
    file = io.BytesIO()
    latens.save(file, a=crooked)
    assert np.array_equal(latens.load(file)["a"], NUMBERS)
    for call in (pco.decompress_into, dbp.decode_into):
        with pytest.raises(latens.InvalidArgumentError, match=r"aligned.*write numpy\.empty"):
            call(DATA, crooked)
    chunk = wrapped.FileEncoder().chunk(crooked)
    decoder = wrapped.FileDecoder(wrapped.FileEncoder().header()).chunk(chunk.meta(), "i4")
    with pytest.raises(latens.InvalidArgumentError, match="aligned"):
        decoder.page_into(chunk.page(0), crooked)


def test_memory_that_overlaps():
    chunk = wrapped.FileEncoder().chunk(NUMBERS)
    decoder = wrapped.FileDecoder(wrapped.FileEncoder().header()).chunk(chunk.meta(), "i4")
    for data, call in [
        (DATA, pco.decompress_into),
        (STREAM, dbp.decode_into),
        (chunk.page(0), decoder.page_into),
    ]:
        held = bytearray(NUMBERS.nbytes + len(data))
        held[-len(data) :] = data
        apart, over = np.frombuffer(held, "i4", 1000), np.frombuffer(held, "i4", 1001)
        call(np.frombuffer(held, "u1")[-len(data) :], apart)
        assert np.array_equal(apart, NUMBERS)
        held[-len(data) :] = data
        # Not of one array of NumPy: only the addresses say so.
        with pytest.raises(latens.InvalidArgumentError, match="overlaps"):
            call(memoryview(held)[-len(data) :], over)


def test_masked_arrays_are_not_stripped(tmp_path):
    masked = np.ma.MaskedArray(NUMBERS, NUMBERS % 7 == 0)
    whole = np.ma.MaskedArray(NUMBERS, False)
    for call in (
        pco.compress,
        dbp.encode,
        lambda a: wcodec.save_file({"a": a}, tmp_path / "x.wcodec"),
        lambda a: wrapped.FileEncoder().chunk(a),
    ):
        with pytest.raises(latens.InvalidArgumentError, match=r"masked.*latens\.save.*filled"):
            call(masked)
        call(whole)
    with pytest.raises(latens.InvalidArgumentError, match=r"out\.data"):
        pco.decompress_into(DATA, masked)


def test_types_of_other_packages_get_advice():
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    array = NUMBERS.astype(ml_dtypes.bfloat16)
    for call in (pco.compress, lambda a: latens.save(io.BytesIO(), a=a)):
        with pytest.raises(latens.InvalidArgumentError, match=r"view\('u2'\).*wcodec\.save_file"):
            call(array)
    with pytest.raises(latens.InvalidArgumentError, match=r"view\('u1'\)"):
        pco.compress(NUMBERS.astype(ml_dtypes.float8_e4m3fn))


def test_limits(saved, tmp_path):
    assert pco.inspect(DATA, max_output=4000)["n"] == 1000
    with pytest.raises(latens.LimitError, match="max_output"):
        pco.inspect(DATA, max_output=3999)
    out = np.empty(1000, "i4")
    for call in (pco.inspect, lambda d, **limits: pco.decompress_into(d, out, **limits)):
        with pytest.raises(latens.LimitError, match="max_alloc"):
            call(DATA, max_alloc=1)
    size = sum(wcodec.open(saved).files().values())
    assert wcodec.load_file(saved, max_output=1000, max_alloc=1 << 24)["w"].size == 1000
    wcodec.decompress_file(saved, tmp_path, max_output=size, max_alloc=1 << 24, overwrite=True)
    for call in (
        lambda: wcodec.load_file(saved, max_output=999),
        lambda: wcodec.decompress_file(saved, tmp_path, max_output=size - 1, overwrite=True),
    ):
        with pytest.raises(latens.LimitError, match="max_output"):
            call()


def test_a_base_has_the_limits_too(saved, tmp_path):
    changed = NUMBERS.astype("i1").reshape(50, 20).copy()
    changed[3] += 1
    wcodec.save_file({"w": changed}, tmp_path / "y.wcodec")
    (flat,) = wcodec.decompress_file(tmp_path / "y.wcodec", tmp_path)
    small = wcodec.compress_file(flat, tmp_path / "z.wcodec", base=saved, level=12)
    if wcodec.open(small, base=saved).base_name is None:
        pytest.skip("not coded against the base")
    assert np.array_equal(wcodec.load_file(small, base=saved)["w"], changed)
    with pytest.raises(latens.LimitError):
        wcodec.load_file(small, base=saved, max_output=999)


LONG = "é" * 513


@pytest.mark.parametrize(
    "names, metadata, said",
    [
        ([LONG], {}, "1026 bytes"),
        (["b", LONG, LONG + "x"], {}, "1026 bytes"),
        (["__metadata__"], {}, "__metadata__"),
        ([1], {}, "1 is no text"),
        ([None], {}, "None is no text"),
        (["a"], {"k": 3}, "3 is no text"),
        (["a"], {3: "k"}, "3 is no text"),
        (["a"], {"k": None}, "None is no text"),
        (["\ud800"], {}, "UTF-8"),
    ],
)
def test_names_that_a_header_does_not_hold(tmp_path, names, metadata, said):
    with pytest.raises(latens.InvalidArgumentError, match=said):
        wcodec.save_file(dict.fromkeys(names, NUMBERS), tmp_path / "x.wcodec", metadata)
    assert not list(tmp_path.iterdir())
    wcodec.save_file({LONG[:-1]: NUMBERS, "": NUMBERS}, tmp_path / "x.wcodec", {"": "é"})
    assert sorted(wcodec.load_file(tmp_path / "x.wcodec")) == ["", LONG[:-1]]
