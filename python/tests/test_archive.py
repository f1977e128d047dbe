"""latens.save, load, open: arrays of any shape; the tool reads them and the other way round."""

import io
import os
import signal

import numpy as np
import pytest

import latens

ARRAYS = {
    "grid": np.arange(12.0).reshape(3, 4) / 7,
    "ids": np.arange(5, dtype="u2"),
    "one": np.float32(2.5).reshape(()),
    "none": np.zeros((0, 3), "i1"),
    "flags": np.array([True, False, True]),
    "days": np.array(["2024-01-01", "NaT"], "M8[D]"),
    "spans": np.array([[1], [-5]], "m8[ns]"),
    "waves": np.array([1 + 2j, 3.5j]),
    "big": np.arange(4, dtype=">i4").reshape(2, 2),
    "halves": np.arange(6, dtype="f2")[::2],
    "fortran": np.asfortranarray(np.arange(6).reshape(2, 3)),
    "../odd name é": np.arange(3),
}


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def test_arrays_come_back(tmp_path):
    path = tmp_path / "x.pco.zip"
    latens.save(path, **ARRAYS)
    back = latens.load(path)
    assert list(back) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert same(back[name], array), name
    assert [p.name for p in tmp_path.iterdir()] == ["x.pco.zip"]


@pytest.mark.parametrize("name", list(ARRAYS))
def test_one_array_comes_back(tmp_path, name):
    latens.save(tmp_path / "x.pco.zip", ARRAYS[name])
    with latens.open(tmp_path / "x.pco.zip") as file:
        assert file.files == ["arr_0"] and same(file["arr_0"], ARRAYS[name])


def forked(call):
    """The id of a child that calls and exits with 0 where that was true."""
    child = os.fork()
    if child == 0:
        code = 9
        try:
            code = 0 if call() else 1
        finally:
            os._exit(code)
    return child


def codes(children):
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_processes_that_are_forked_read_one_open_file(tmp_path):
    arrays = {f"a{i}": np.arange(20_000) * 7919 * (i + 1) % 9973 for i in range(8)}
    latens.save(tmp_path / "x.pco.zip", **arrays)

    def read(archive):
        return all(np.array_equal(archive[name], arrays[name]) for _ in range(15) for name in arrays)

    with latens.open(tmp_path / "x.pco.zip") as archive, open(tmp_path / "x.pco.zip", "rb") as file:
        for shared in (archive, latens.open(file)):
            children = [forked(lambda shared=shared: read(shared)) for _ in range(3)]
            assert read(shared) and codes(children) == [0, 0, 0]
    # While a thread of the parent reads.
    archive = latens.open(io.BytesIO((tmp_path / "x.pco.zip").read_bytes()))

    def within_time():
        signal.alarm(20)
        return np.array_equal(archive["a1"], arrays["a1"])

    with archive._reader._members._lock:
        child = forked(within_time)
    assert codes([child]) == [0]


def test_as_savez(tmp_path):
    latens.save(tmp_path / "x.pco.zip", np.arange(3), np.arange(2), z=np.arange(1))
    np.savez(tmp_path / "x.npz", np.arange(3), np.arange(2), z=np.arange(1))
    theirs = np.load(tmp_path / "x.npz")
    assert sorted(latens.load(tmp_path / "x.pco.zip")) == sorted(theirs.files)
    with pytest.raises(latens.InvalidArgumentError, match="text: "):
        latens.save(tmp_path / "y.pco.zip", text=np.array(["a"]))
    with pytest.raises(latens.InvalidArgumentError):
        latens.save(tmp_path / "y.pco.zip")
    assert not (tmp_path / "y.pco.zip").exists()


def test_damage_is_found(tmp_path):
    path = tmp_path / "x.pco.zip"
    latens.save(path, a=np.arange(100), b=np.eye(3))
    whole = path.read_bytes()
    for at in range(0, len(whole), 7):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 8]) + whole[at + 1 :])
        with pytest.raises(latens.LatensError):
            latens.load(path)
    path.write_bytes(whole[:-40])
    with pytest.raises(latens.TruncatedError) as caught:
        latens.load(path)
    assert caught.value.offset == len(whole) - 40
    with pytest.raises(FileNotFoundError):
        latens.open(tmp_path / "nowhere.pco.zip")
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(latens.CorruptError, match="no .pco.zip file"):
        latens.load(path)


def test_the_tool_reads_ours(run, tmp_path):
    grid = np.arange(60, dtype="f4").reshape(3, 4, 5)
    latens.save(tmp_path / "one.pco.zip", grid)
    run("decompress", "one.pco.zip", "-o", "one.npy")
    assert same(np.load(tmp_path / "one.npy"), grid)
    latens.save(tmp_path / "many.pco.zip", **ARRAYS)
    run("verify", "many.pco.zip")
    table = {"a": np.arange(4), "b": np.arange(2) / 4}
    latens.save(tmp_path / "table.pco.zip", **table)
    run("decompress", "table.pco.zip", "-o", "table.csv")
    assert (tmp_path / "table.csv").read_text().split() == ["a,b", "0,0.0", "1,0.25", "2,", "3,"]


def test_ours_reads_the_tool(run, tmp_path):
    for i, array in enumerate([ARRAYS["grid"], ARRAYS["big"], ARRAYS["fortran"], ARRAYS["one"]]):
        np.save(tmp_path / f"a{i}.npy", array)
        run("compress", f"a{i}.npy", "-o", f"a{i}.pco.zip")
        back = latens.load(tmp_path / f"a{i}.pco.zip")[f"a{i}"]
        assert back.dtype == array.dtype and np.array_equal(back, array)
    (tmp_path / "t.csv").write_text("a,b,c\n1,2.5,x\n,3.5,y\n7,,x\n")
    run("compress", "t.csv", "-o", "t.pco.zip")
    with latens.open(tmp_path / "t.pco.zip") as file:
        assert file["a"].tolist() == [1, None, 7] and file["b"].tolist() == [2.5, 3.5, None]
        try:
            import zstandard  # noqa: F401
        except ImportError:
            with pytest.raises(latens.MissingError, match="zstandard"):
                file["c"]
        else:
            assert file["c"].tolist() == ["x", "y", "x"]


def test_what_savez_takes(tmp_path):
    path = tmp_path / "x.pco.zip"
    given = {"a": [1, 2, 3], "b": 3, "c": [[0.5], [1]], "d": True, "e": 2j, "level": np.arange(4)}
    given |= {"threads": [7, 8], "progress": np.eye(2)}
    latens.save(path, (4, 5), **given)
    np.savez(tmp_path / "x.npz", (4, 5), **given)
    back, theirs = latens.load(path), np.load(tmp_path / "x.npz")
    assert sorted(back) == sorted(theirs.files)
    assert all(same(back[name], theirs[name]) for name in theirs.files)
    latens.save(path, np.arange(3), level=0, threads=2)
    assert list(latens.load(path)) == ["arr_0"]
    for wrong in ([1, [2, 3]], ["a"], {}, None, [1 << 70], np.array([object()])):
        with pytest.raises(latens.InvalidArgumentError):
            latens.save(path, a=wrong)
    with pytest.raises(latens.InvalidArgumentError, match="UTF-8"):
        latens.save(path, **{"a\udcff": np.arange(3)})
    assert list(latens.load(path)) == ["arr_0"]


def test_file_objects(tmp_path):
    held = io.BytesIO()
    latens.save(held, **ARRAYS)
    latens.save(tmp_path / "x.pco.zip", **ARRAYS)
    assert held.getvalue() == (tmp_path / "x.pco.zip").read_bytes()
    back = latens.load(held)
    assert all(same(back[name], array) for name, array in ARRAYS.items())
    with open(tmp_path / "y.pco.zip", "wb") as file:
        latens.save(file, a=np.arange(3))
    with open(tmp_path / "y.pco.zip", "rb") as file:
        with latens.open(file) as archive:
            assert archive["a"].tolist() == [0, 1, 2]
        assert not file.closed
        with pytest.raises(latens.InvalidArgumentError, match="closed"):
            archive["a"]
    reading, writing = os.pipe()
    os.write(writing, held.getvalue()[:100])
    os.close(writing)
    with open(reading, "rb") as pipe, pytest.raises(latens.InvalidArgumentError, match="BytesIO"):
        latens.load(pipe)


MASKS = {
    "plain": np.ma.MaskedArray(np.arange(6.0), [0, 1, 0, 0, 1, 1]),
    "first": np.ma.MaskedArray(np.arange(6).reshape(2, 3), [[1, 1, 0], [0, 0, 0]]),
    "all": np.ma.masked_all((3, 2), "f4"),
    "unmasked": np.ma.MaskedArray(np.arange(3)),
    "one": np.ma.MaskedArray(5, True),
    "none": np.ma.MaskedArray(np.zeros((0, 2))),
    "days": np.ma.MaskedArray(np.array(["2024-01-01", "NaT"], "M8[D]"), [1, 0]),
    "waves": np.ma.MaskedArray([1 + 2j, 3j, 4], [0, 1, 0]),
    "flags": np.ma.MaskedArray([True, False, True], [0, 0, 1]),
    "big": np.ma.MaskedArray(np.arange(4, dtype=">i4"), [0, 0, 0, 1]),
    "fortran": np.ma.MaskedArray(np.asfortranarray(np.arange(6).reshape(2, 3)), np.eye(2, 3)),
}


def same_masked(a, b):
    right = isinstance(a, np.ma.MaskedArray) and a.dtype == b.dtype and a.shape == b.shape
    masks = np.array_equal(np.ma.getmaskarray(a), np.ma.getmaskarray(b))
    return right and masks and a.compressed().tobytes() == b.compressed().tobytes()


@pytest.mark.parametrize("names", [[name] for name in MASKS] + [list(MASKS)], ids="-".join)
def test_masks_are_kept(tmp_path, names):
    path = tmp_path / "x.pco.zip"
    given = {name: MASKS[name] for name in names}
    latens.save(path, **given)
    back = latens.load(path)
    assert all(same_masked(back[name], given[name]) for name in names)
    latens.save(path, **given, more=np.arange(40))
    back = latens.load(path)
    assert all(same_masked(back[name], given[name]) for name in names)
    assert same(back["more"], np.arange(40))


def test_what_load_gives_can_be_saved(run, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2.5\n,3.5\n7,\n")
    run("compress", "t.csv", "-o", "t.pco.zip")
    first = latens.load(tmp_path / "t.pco.zip")
    latens.save(tmp_path / "u.pco.zip", **first)
    again = latens.load(tmp_path / "u.pco.zip")
    assert all(same_masked(again[name], array) for name, array in first.items())
    run("verify", "u.pco.zip")
    run("decompress", "u.pco.zip", "-o", "u.csv")
    assert (tmp_path / "u.csv").read_text().split() == ["a,b", "1,2.5", ",3.5", "7,"]


def test_progress(tmp_path):
    path = tmp_path / "x.pco.zip"
    arrays = {
        "a": np.arange(600_000) ** 2 % 977,
        "b": np.linspace(0, 1, 300_000),
        "masked": np.ma.masked_less(np.arange(1000), 10),
    }
    n = 600_000 + 300_000 + 990
    told = []

    def progress(done, total):
        told.append((done, total))

    def reached(end):
        assert told[-1] == (end, end) and told == sorted(told)
        assert all(total == end for _, total in told)
        told.clear()

    latens.save(path, **arrays, progress=progress)
    reached(n)
    back = latens.load(path, progress=progress)
    assert all(same(back[name], array) for name, array in arrays.items())
    reached(n)
    with latens.open(path, progress=progress) as file:
        for name, array in arrays.items():
            assert same(file[name], array)
            reached(array.count() if name == "masked" else array.size)

    def refuse(done, total):
        raise RuntimeError("enough")

    other = tmp_path / "y.pco.zip"
    with pytest.raises(RuntimeError, match="enough"):
        latens.save(other, **arrays, progress=refuse)
    assert list(tmp_path.iterdir()) == [path]
