"""latens.wcodec: checkpoints round trip; slices are those of the whole; the tool agrees."""

import json
import os
import pathlib

import numpy as np
import pytest

import latens
from latens import wcodec


def tensors():
    rng = np.random.default_rng(5)
    return {
        "f32": rng.normal(size=(40, 30)).astype("f4"),
        "f16": rng.normal(size=(8, 3, 3)).astype("f2"),
        "i8": rng.normal(scale=20, size=(700, 300)).astype("i1"),
        "u8": rng.integers(0, 255, 77, dtype="u1"),
        "i64": np.arange(9),
        "bool": np.array([True, False]),
        "one": np.array(3, "i4"),
        "none": np.zeros((0, 4), "f8"),
    }


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("w") / "model.wcodec"
    wcodec.save_file(tensors(), path, {"format": "pt"}, level=4)
    return path


def test_tensors_come_back(saved):
    back = wcodec.load_file(saved)
    assert sorted(back) == sorted(tensors())
    for name, array in tensors().items():
        assert same(back[name], array), name
    with wcodec.open(saved) as file:
        assert file.metadata() == {"format": "pt"}
        assert file.info("f16")[:3] == ("F16", (8, 3, 3), 144)
        assert file.files().keys() == {"model.safetensors"}
        assert len(file.model_hash) == 64 and file.base_name is None
        seen = []
        file.verify(lambda *n: seen.append(n))
        assert seen[-1][0] == seen[-1][1]
    from_bytes = wcodec.open(saved.read_bytes())
    assert same(from_bytes["f32"], back["f32"])


class OfJax:
    """An array as jax has it: DLPack knows its type, NumPy's DLPack does not, `__array__` gives a copy."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        raise BufferError("unsupported type")

    def __dlpack_device__(self):
        return (1, 0)

    def __array__(self, dtype=None, copy=None):
        return self.array.copy()


def test_types_that_only_ml_dtypes_has(tmp_path):
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    array = np.arange(6).reshape(2, 3).astype(ml_dtypes.bfloat16)
    wcodec.save_file({"w": OfJax(array)}, tmp_path / "j.wcodec")
    assert same(wcodec.load_file(tmp_path / "j.wcodec")["w"], array)
    with pytest.raises(latens.InvalidArgumentError, match=r"view\('u2'\)"):
        latens.pco.compress(OfJax(array))
    # What is written to a copy would be lost.
    with pytest.raises(latens.InvalidArgumentError, match="copy"):
        latens.pco.decompress_into(latens.pco.compress(np.arange(3)), OfJax(np.zeros(3, "i8")))
    with pytest.raises(latens.InvalidArgumentError, match="DLPack"):
        wcodec.save_file({"w": OfJax(np.array([{}], object))}, tmp_path / "j.wcodec")


def test_arrays_of_jax(tmp_path):
    jnp = pytest.importorskip("jax.numpy", reason="jax is not installed")
    array = jnp.arange(6, dtype=jnp.bfloat16).reshape(2, 3)
    wcodec.save_file({"w": array}, tmp_path / "j.wcodec")
    assert same(wcodec.load_file(tmp_path / "j.wcodec")["w"], np.asarray(array))


def test_tensors_of_pytorch(tmp_path):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    tensor = torch.arange(6.0).reshape(2, 3).bfloat16()
    parameter = torch.nn.Parameter(torch.ones(2))
    wcodec.save_file({"w": tensor, "p": parameter}, tmp_path / "t.wcodec")
    back = wcodec.load_file(tmp_path / "t.wcodec")
    assert back["w"].dtype.name == "bfloat16" and back["w"].astype("f4").tolist() == tensor.tolist()
    assert back["p"].tolist() == [1, 1]


INDICES = [
    slice(3, 7),
    slice(None),
    slice(5, 2),
    slice(-3, None),
    slice(None, None, 3),
    slice(6, 1, -2),
    slice(None, None, -1),
    2,
    -1,
    (slice(1, 4), 2),
    (0, slice(None, None, 2)),
    (slice(2, 5), slice(1, 3)),
    np.int64(1),
    ([0, 2],),
    (..., 1),
]


@pytest.mark.parametrize("name", ["f32", "f16", "i8", "i64"])
def test_slices_are_those_of_the_whole(saved, name):
    array = tensors()[name]
    part = wcodec.open(saved).get_slice(name)
    assert part.get_shape() == list(array.shape)
    for index in INDICES:
        if isinstance(index, tuple) and len(index) > array.ndim:
            continue
        expected = np.asarray(array[index])
        assert same(part[index], expected), index
    with pytest.raises(IndexError):
        part[array.shape[0]]


def test_logical_weights(saved):
    file = wcodec.open(saved)
    array = tensors()["i8"]
    assert np.array_equal(file.logical("i8", rows=(10, 20), cols=(5, 9)), array[10:20, 5:9])
    assert np.array_equal(file.logical("f32"), tensors()["f32"])


def test_tensors_are_looked_into(tmp_path):
    """Codec, packing, entropy and shares, with the names that the tool has for them."""
    draw = np.random.default_rng(4)
    weights = np.clip(draw.normal(0, 9, (128, 64)).round(), -127, 127).astype(np.int8)
    path = tmp_path / "m.wcodec"
    tools = wcodec.Tools(predictors=["COLUMN"])
    wcodec.save_file({"w": weights, "f": np.ones(3, np.float32)}, path, tools=tools)
    with wcodec.open(path) as file:
        found = file.inspect("w")
        assert (found["dtype"], found["shape"], found["packing"]) == ("I8", [128, 64], "int8")
        assert found["weights"] == found["flat_bytes"] == 8192
        assert (found["rows"], found["cols"]) == (128, 64)
        counts = np.unique(weights, return_counts=True)[1] / 8192
        assert abs(found["order0_entropy"] + (counts * np.log2(counts)).sum()) < 1e-9
        (part,) = found["parts"]
        assert part["codec"] == "direct" and list(part["predictors"]) == ["COLUMN"]
        # All parts in one, as the tool tells them.
        for key in ["codec", "predictors", "transforms", "contexts", "pairs", "escapes"]:
            assert found[key] == part[key], key
        assert (found["raw"], found["raw_bytes"]) == (False, 0)
        assert file.inspect("f")["packing"] == "f32"
        with pytest.raises(KeyError):
            file.inspect("v")


def test_layers_are_saved_one_at_a_time(tmp_path):
    """The file is that of all of them; what is asked for next is written before."""
    draw = np.random.default_rng(6)
    scales = np.ones((64, 1), np.float32)
    layers = [
        {
            f"{i}.weight": np.clip(draw.normal(0, 9, (64, 64)).round(), -127, 127).astype(np.int8),
            f"{i}.weight_scale": scales,
            f"{i}.tied": np.arange(5000, dtype=np.int16),
        }
        for i in range(4)
    ]
    path, at_once = tmp_path / "m.wcodec", tmp_path / "n" / "m.wcodec"
    asked = []

    def each():
        for i, layer in enumerate(layers):
            asked.append(i)
            assert not path.exists()
            yield layer

    wcodec.save_layers(each(), path, {"format": "np"}, threads=2)
    assert asked == [0, 1, 2, 3]
    together = {name: array for layer in layers for name, array in layer.items()}
    at_once.parent.mkdir()
    wcodec.save_file(together, at_once, {"format": "np"})
    with wcodec.open(path) as file, wcodec.open(at_once) as other:
        file.verify()
        assert sorted(file.keys()) == sorted(other.keys())
        for name, array in together.items():
            assert same(file[name], array)
        assert file.info("3.tied").copy_of == "0.tied"
    assert abs(path.stat().st_size - at_once.stat().st_size) < 1000
    # Against a base.
    tuned = tmp_path / "tuned.wcodec"
    more = {np.dtype(np.int8): np.int8(1)}
    changed = (
        {n: a + more[a.dtype] if a.dtype in more else a for n, a in one.items()} for one in layers
    )
    wcodec.save_layers(changed, tuned, base=path)
    with wcodec.open(tuned, base=path) as file:
        assert np.array_equal(file["2.weight"], layers[2]["2.weight"] + np.int8(1))
    assert tuned.stat().st_size < path.stat().st_size
    # What fails leaves nothing.
    wrong = tmp_path / "wrong.wcodec"
    with pytest.raises(latens.InvalidArgumentError, match=r"0\.weight"):
        wcodec.save_layers([layers[0], layers[0]], wrong)
    with pytest.raises(latens.InvalidArgumentError, match="no text"):
        wcodec.save_layers([{3: scales}], wrong)

    def fails():
        yield layers[0]
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        wcodec.save_layers(fails(), wrong)
    assert not wrong.exists() and len(list(tmp_path.iterdir())) == 3


def test_tools_are_forced_and_planes_left_out(tmp_path):
    array = tensors()["i8"]
    path = tmp_path / "m.wcodec"
    wcodec.save_file({"w": array}, path, tools=wcodec.Tools(coder="bitplane"))
    with wcodec.open(path) as file:
        assert np.array_equal(file["w"], array)
        for planes in range(6):
            near = file.logical("w", without_planes=planes).astype(int)
            far = abs(near - array).max()
            assert far < 2**planes and (far > 0) == (planes > 0)
        (flat,) = wcodec.decompress_file(path, tmp_path)
    before = pathlib.Path(flat).read_bytes()
    tools = wcodec.Tools((8, 32), ["left", "TOP"], ["DCT", "ADST", "NONE"], contexts=False)
    wcodec.compress_file(flat, path, tools=tools, overwrite=True)
    wcodec.decompress_file(path, tmp_path, overwrite=True)
    assert pathlib.Path(flat).read_bytes() == before
    for wrong, said in [
        (wcodec.Tools(tile=(0, 4)), "sides are 1 to 4096"),
        (wcodec.Tools(predictors=["UP"]), "NONE, LEFT, TOP"),
        (wcodec.Tools(predictors="LEFT"), "one name"),
        (wcodec.Tools(transforms=["FFT"]), "NONE, DCT, ADST"),
        (wcodec.Tools(coder="huffman"), "direct, bitplane"),
        (wcodec.Tools(contexts="no"), "contexts 'no'"),
    ]:
        with pytest.raises(latens.InvalidArgumentError, match=said):
            wcodec.save_file({"w": array}, path, tools=wrong)
    assert same(wcodec.open(path)["w"], array)


@pytest.mark.parametrize("sign", ["int4", "uint4", "int4-offset"])
@pytest.mark.parametrize("order", ["", "-high"])
def test_packings_are_said(tmp_path, sign, order):
    packed = np.random.default_rng(3).integers(0, 256, (24, 16), np.uint8)
    low, high = packed & 15, packed >> 4
    want = np.stack([high, low] if order else [low, high], axis=-1).reshape(24, 32).astype(int)
    want = {"int4": (want ^ 8) - 8, "uint4": want, "int4-offset": want - 8}[sign]
    arrays = {"u.weight": packed, "i.weight": packed.view(np.int8), "norm": np.ones(8, np.float32)}
    path, chosen = tmp_path / "m.wcodec", {"packings": {"*.weight": sign + order}}

    def check():
        with wcodec.open(path) as file:
            for name in ("u.weight", "i.weight"):
                assert np.array_equal(file.logical(name), want)
                assert np.array_equal(file[name], arrays[name])

    wcodec.save_file(arrays, path, group_symbols=64, **chosen)
    check()
    (flat,) = wcodec.decompress_file(path, tmp_path)
    wcodec.compress_file(flat, path, overwrite=True, **chosen)
    check()
    wcodec.save_layers(({name: array} for name, array in arrays.items()), path, **chosen)
    check()
    before = path.read_bytes()
    for wrong, said in [
        ({"packings": {"*": "int5"}}, "no packing: none, int4"),
        ({"packings": {"*": sign}}, "does not fit F32"),
        ({"packings": {"*.bias": sign}}, "no tensor has such a name"),
        ({"packings": "int4"}, "a dictionary"),
        ({"packings": {"*": 4}}, "4 is no text"),
        ({"group_symbols": -1}, "group_symbols -1"),
    ]:
        with pytest.raises(latens.InvalidArgumentError, match=said):
            wcodec.save_file(arrays, path, **wrong)
    assert path.read_bytes() == before


def test_files_come_back_byte_for_byte(saved, tmp_path):
    (path,) = wcodec.decompress_file(saved, tmp_path)
    assert os.path.basename(path) == "model.safetensors"
    with pytest.raises(FileExistsError):
        wcodec.decompress_file(saved, tmp_path)
    seen = []
    again = wcodec.compress_file(path, level=1, progress=lambda *n: seen.append(n))
    assert again == str(tmp_path / "model.wcodec") and seen[-1][0] == seen[-1][1]
    before = pathlib.Path(path).read_bytes()
    wcodec.decompress_file(again, tmp_path, overwrite=True)
    assert pathlib.Path(path).read_bytes() == before
    header = json.loads(before[8 : 8 + int.from_bytes(before[:8], "little")])
    assert header["f16"]["shape"] == [8, 3, 3]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.safetensors", "model.wcodec"]


def test_errors_of_a_base_name_it(saved, tmp_path):
    changed = {**tensors(), "i8": tensors()["i8"] ^ 1}
    tuned, none = tmp_path / "tuned.wcodec", tmp_path / "none.wcodec"
    wcodec.save_file(changed, tuned, base=saved)
    calls = [
        lambda base: wcodec.open(tuned, base=base),
        lambda base: wcodec.open(tuned.read_bytes(), base=base),
        lambda base: wcodec.load_file(tuned, base=base),
        lambda base: wcodec.save_file(changed, tmp_path / "x.wcodec", base=base),
        lambda base: wcodec.save_layers([changed], tmp_path / "x.wcodec", base=base),
        lambda base: wcodec.compress_file(flat, tmp_path / "x.wcodec", base=base),
    ]
    flat = wcodec.decompress_file(tuned, tmp_path, base=saved)[0]
    for call in calls:
        with pytest.raises(OSError) as error:
            call(none)
        assert os.fspath(error.value.filename) == os.fspath(none)
        with pytest.raises(latens.InvalidArgumentError, match="the base .*made against"):
            call(tuned)
    # What it is, not what it is called.
    other = tmp_path / "base"
    other.write_bytes(saved.read_bytes())
    assert same(wcodec.load_file(tuned, base=other)["i8"], changed["i8"])
    damaged = bytearray(saved.read_bytes())
    damaged[4000] ^= 1
    other.write_bytes(damaged)
    with wcodec.open(tuned, base=other) as file, pytest.raises(latens.CorruptError, match="the base ") as error:
        file.verify()
    assert error.value.offset is None


def test_a_base(saved, tmp_path):
    changed = tensors()
    changed["i8"] = changed["i8"].copy()
    changed["i8"][3] += 1
    wcodec.save_file(changed, tmp_path / "next.wcodec", level=1)
    (flat,) = wcodec.decompress_file(tmp_path / "next.wcodec", tmp_path)
    small = wcodec.compress_file(flat, tmp_path / "small.wcodec", base=saved, level=4)
    assert os.path.getsize(small) < os.path.getsize(saved) / 4
    assert wcodec.open(small).base_name == "model.wcodec"
    assert same(wcodec.load_file(small, base=saved)["i8"], changed["i8"])
    with pytest.raises(latens.InvalidArgumentError, match="base"):
        wcodec.load_file(small)
    # Arrays at once, and the base is not replaced by what needs it.
    wcodec.save_file(changed, tmp_path / "direct.wcodec", base=saved)
    assert os.path.getsize(tmp_path / "direct.wcodec") < os.path.getsize(saved) / 4
    assert same(wcodec.load_file(tmp_path / "direct.wcodec", base=saved)["i8"], changed["i8"])
    before = pathlib.Path(saved).read_bytes()
    with pytest.raises(latens.InvalidArgumentError):
        wcodec.save_file(changed, saved, base=saved)
    assert pathlib.Path(saved).read_bytes() == before


def test_a_callback_can_end_it(tmp_path):
    rng = np.random.default_rng(6)
    many = {f"t{i}": rng.normal(scale=9, size=(500, 500)).astype("i1") for i in range(20)}

    def fail(done, total):
        raise RuntimeError(f"{done} of {total}")

    with pytest.raises(RuntimeError, match="of"):
        wcodec.save_file(many, tmp_path / "x.wcodec", progress=fail)
    assert not list(tmp_path.iterdir())


def test_errors(saved, tmp_path):
    with pytest.raises(FileNotFoundError):
        wcodec.open(tmp_path / "nowhere")
    with pytest.raises(latens.LatensError):
        wcodec.open(b"no wcodec")
    data = bytearray(saved.read_bytes())
    data[200] ^= 1
    file = wcodec.open(data)
    with pytest.raises(latens.CorruptError) as caught:
        file.verify()
    assert caught.value.offset is not None and caught.value.places
    [fault] = [fault for fault in file.faults() if fault.tensor is not None]
    assert fault.offset == caught.value.offset and "checksum" in fault.what
    assert wcodec.open(saved).faults() == []
    with pytest.raises(KeyError):
        file["nothing"]
    with pytest.raises(latens.LimitError):
        wcodec.open(saved, max_output=100)["i8"]
    with pytest.raises(latens.InvalidArgumentError):
        wcodec.save_file({"c": np.zeros(3, "c16")}, tmp_path / "x.wcodec")
    assert not list(tmp_path.iterdir())


def test_salvage(saved):
    whole = saved.read_bytes()
    assert wcodec.open(whole, salvage=True).damage == []
    # A bit of the header, and the footer cut off: the checksum of the index mends the one, its place the other.
    for data in (flipped(whole, 20), whole[:-8]):
        with pytest.raises((latens.CorruptError, latens.TruncatedError)):
            wcodec.open(data)
        file = wcodec.open(data, salvage=True)
        assert file.damage and all(type(d.offset) is int and d.what for d in file.damage)
        for name, array in tensors().items():
            assert same(file[name], array), name
    # Of damage to a tensor only that one suffers.
    lost = []
    file = wcodec.open(flipped(flipped(whole, 20), 200), salvage=True)
    for name, array in tensors().items():
        try:
            assert same(file[name], array), name
        except latens.CorruptError:
            lost.append(name)
    assert len(lost) == 1
    with pytest.raises(latens.LatensError):
        wcodec.open(b"not such a file", salvage=True)
    with pytest.raises(latens.InvalidArgumentError, match="salvage"):
        wcodec.open(whole, salvage="yes")


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def test_bfloat16(tmp_path):
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    array = np.linspace(-1, 1, 99).astype(ml_dtypes.bfloat16)
    wcodec.save_file({"w": array}, tmp_path / "b.wcodec")
    file = wcodec.open(tmp_path / "b.wcodec")
    assert file.info("w").dtype == "BF16" and same(file["w"], array)
    assert same(file.get_slice("w")[3:5], array[3:5])


def test_safetensors_agrees(saved, tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    (path,) = wcodec.decompress_file(saved, tmp_path)
    for name, array in safetensors.load_file(path).items():
        assert same(array, tensors()[name])
    safetensors.save_file(tensors(), tmp_path / "theirs.safetensors")
    back = wcodec.load_file(wcodec.compress_file(tmp_path / "theirs.safetensors", level=0))
    assert all(same(back[name], array) for name, array in tensors().items())


def test_the_tool_agrees(saved, run, tmp_path):
    run("verify", str(saved))
    run("extract", str(saved), "i8", "--rows", "2:5", "-o", "rows.npy")
    rows = wcodec.open(saved).logical("i8", rows=(2, 5))
    assert same(np.load(tmp_path / "rows.npy"), rows)


GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "testdata" / "golden" / "wcodec"


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.wcodec")), ids=lambda p: p.stem)
def test_golden_files(path, tmp_path):
    """Every packing: bytes as the index says, slices those of the whole, files written out."""
    file = wcodec.open(path)
    if file.base_name is not None:
        pytest.skip("made against another checkpoint")
    file.verify()
    for name in file:
        info, data = file.info(name), file.get_bytes(name)
        assert data.size == info.nbytes
        for at in range(0, info.nbytes, max(1, info.nbytes // 5)):
            assert np.array_equal(file._reader.range(name, at, info.nbytes), data[at:])
        try:
            if file._reader.layout(name)[0] > 2:
                part = file.logical(name, rows=(1, 3))
                assert same(part, file.logical(name)[1:3])
            array = file.get_tensor(name)
        except (latens.InvalidArgumentError, latens.MissingError):
            continue
        if array.ndim and array.shape[0] > 2:
            for index in (slice(1, 3), -1, slice(None, None, 2)):
                assert same(np.asarray(file.get_slice(name)[index]), np.asarray(array[index]))
    for out, length in zip(wcodec.decompress_file(path, tmp_path), file.files().values(), strict=True):
        assert os.path.getsize(out) == length


def test_closing(saved):
    def held():
        return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0

    before = held()
    files = [wcodec.open(saved) for _ in range(5)]
    parts = [file.get_slice("f32") for file in files]
    array = files[0]["f32"]
    for file in files:
        with file as same_file:
            assert same_file is file and not file.closed
    assert held() == before and all(file.closed for file in files)
    for call in (
        lambda: files[0]["f32"],
        lambda: files[0].get_bytes("f32"),
        lambda: files[0].logical("i8"),
        lambda: files[0].files(),
        lambda: files[0].model_hash,
        files[0].verify,
        files[0].metadata,
        lambda: parts[0][1:3],
    ):
        with pytest.raises(latens.InvalidArgumentError, match="closed"):
            call()
    files[0].close()
    assert files[0].keys() and same(array, tensors()["f32"])
    wcodec.load_file(saved)
    assert held() == before


def test_logical_weights_of_nothing(saved):
    file = wcodec.open(saved)
    assert file.logical("i8", rows=(5, 5)).shape == (0, 300)
    assert file.logical("i8", rows=(0, 0), cols=(3, 7)).shape == (0, 4)
    assert file.logical("i8", rows=(1, 3), cols=(7, 7)).shape == (2, 0)
    assert file.logical("none").size == 0


def heavy_on_the_left(shape):
    return np.rint(np.random.default_rng(3).normal(size=shape) * 9).astype("i1")


def test_metadata_want_the_header_alone(tmp_path):
    path, base = tmp_path / "m.wcodec", tmp_path / "b.wcodec"
    tensors = {"w": heavy_on_the_left((64, 64)), "small": heavy_on_the_left(40)}
    wcodec.save_file(tensors, path, {"format": "pt"})
    whole = path.read_bytes()
    damaged = 0
    for at in range(64, len(whole) - 200, 97):
        try:
            file = wcodec.open(flipped(whole, at))
        except latens.LatensError:
            continue
        if any(fault.tensor for fault in file.faults()):
            assert file.metadata() == {"format": "pt"}, at
            damaged += 1
    assert damaged
    with wcodec.open(path, max_output=1000) as file:
        assert sum(file.files().values()) > 1000
        assert file.metadata() == {"format": "pt"}
        with pytest.raises(latens.LimitError):
            file["w"]
    with wcodec.open(path, max_output=10) as file, pytest.raises(latens.LimitError):
        file.metadata()
    os.rename(path, base)
    wcodec.save_file({n: t ^ (t > 20) for n, t in tensors.items()}, path, {"format": "np"}, base=base)
    with wcodec.open(path) as file:
        assert file.base_name == "b.wcodec" and file.metadata() == {"format": "np"}


def test_a_file_looks_names_up_and_is_equal_to_itself(saved, monkeypatch):
    with wcodec.open(saved) as file, wcodec.open(saved) as other:
        monkeypatch.setattr(file, "get_tensors", None)
        assert "f32" in file and "f33" not in file and 3 not in file
        assert file == file and file != other and len({file, other, file}) == 2


def safetensors_file(tensors):
    header, data = {}, b""
    for name, array in tensors.items():
        ends = [len(data), len(data) + array.nbytes]
        header[name] = {"dtype": "I8", "shape": list(array.shape), "data_offsets": ends}
        data += array.tobytes()
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def test_progress_of_several_files(tmp_path):
    folder = tmp_path / "shards"
    folder.mkdir()
    shards = {f"part-{i}.safetensors": {f"w{i}": heavy_on_the_left((500, 900 * i))} for i in (1, 2, 3)}
    for name, tensors in shards.items():
        (folder / name).write_bytes(safetensors_file(tensors))
    index = folder / "model.safetensors.index.json"
    of = {tensor: name for name, tensors in shards.items() for tensor in tensors}
    index.write_text(json.dumps({"metadata": {}, "weight_map": of}))
    total = sum(path.stat().st_size for path in folder.iterdir())
    for verify in (False, True):
        seen = []
        wcodec.compress_file(
            index, tmp_path / "m.wcodec", verify=verify, overwrite=True, progress=lambda *n: seen.append(n)
        )
        assert seen[-1] == (total * (1 + verify),) * 2
        # What is read of files is told before, as what there is in all becomes known.
        assert {n for _, n in seen if n} == {total * (1 + verify)} and seen == sorted(seen)
    out, seen = tmp_path / "out", []
    out.mkdir()
    paths = wcodec.decompress_file(tmp_path / "m.wcodec", out, progress=lambda *n: seen.append(n))
    assert len(paths) == 4 and seen == sorted(seen)
    assert {n for _, n in seen} == {total} and seen[-1] == (total, total)
    for path in folder.iterdir():
        assert (out / path.name).read_bytes() == path.read_bytes()
    # What is read of a base is none of it.
    seen.clear()
    wcodec.compress_file(index, tmp_path / "n.wcodec", base=index.with_name("part-3.safetensors"),
                         verify=False, progress=lambda *n: seen.append(n))
    assert seen[-1] == (total, total)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_named_pipes_are_refused(saved, tmp_path):
    pipe = tmp_path / "pipe.wcodec"
    os.mkfifo(pipe)
    array = {"a": np.zeros(3)}
    for call in (
        lambda: wcodec.open(pipe),
        lambda: wcodec.open(saved, base=pipe),
        lambda: wcodec.decompress_file(pipe),
        lambda: wcodec.compress_file(pipe, tmp_path / "x.wcodec"),
        lambda: wcodec.save_file(array, tmp_path / "x.wcodec", base=pipe),
        lambda: wcodec.save_layers([array], tmp_path / "x.wcodec", base=pipe),
    ):
        with pytest.raises(latens.InvalidArgumentError, match="named pipe.* to a file first"):
            call()
    with pytest.raises(latens.InvalidArgumentError, match="device"):
        wcodec.open("/dev/null")


def test_names_of_the_file_that_comes_back(tmp_path):
    array = {"a": np.zeros(3)}
    long = "x" * 240 + "äöü"
    for name, source in (
        (long + ".wcodec", "x" * 240 + "ä.safetensors"),
        ("a:b\\c.wcodec", "a_b_c.safetensors"),
        (os.fsdecode(b"caf\xe9.wcodec"), "caf_.safetensors"),
    ):
        try:
            (tmp_path / name).touch()
        except OSError:
            continue
        wcodec.save_file(array, tmp_path / name)
        wcodec.decompress_file(tmp_path / name)
        assert (tmp_path / source).stat().st_size > 24
        wcodec.save_layers([array], tmp_path / name)
        assert wcodec.open(tmp_path / name).files().keys() == {source}


def test_bytes_are_borrowed(tmp_path):
    import resource

    # Noise, so that the file is as large.
    noise = np.random.default_rng(1).integers(0, 256, 64 << 20, dtype="u1")
    wcodec.save_file({"a": noise}, tmp_path / "n.wcodec", level=0, verify=False)
    data = (tmp_path / "n.wcodec").read_bytes()
    del noise
    status = pathlib.Path("/proc/self/statm")
    if not status.exists():
        pytest.skip("memory is looked up in /proc")

    def taken():
        return int(status.read_text().split()[1]) * resource.getpagesize()

    for source, copies in ((data, 0), (bytearray(data), 1)):
        before = taken()
        file = wcodec.open(source)
        assert taken() - before < (copies + 0.5) * len(data)
        assert file.info("a").nbytes == 64 << 20
        del file


def test_logical_types(tmp_path):
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    exponents = (2.0 ** np.arange(-4, 4)).astype(ml_dtypes.float8_e8m0fnu).reshape(2, 4)
    tensors = {"e": exponents, "b": np.eye(3, dtype="?"), "f": np.ones((3, 2), ml_dtypes.float8_e4m3fn)}
    wcodec.save_file(tensors, tmp_path / "t.wcodec")
    with wcodec.open(tmp_path / "t.wcodec") as file:
        assert file.logical("e").dtype == "u1" and file.logical("e").tolist()[1] == [127, 128, 129, 130]
        assert file.logical("b").dtype == "u1" and file.logical("b").tolist() == np.eye(3).tolist()
        assert file.logical("f").dtype == ml_dtypes.float8_e4m3fn
