"""latens.save, load, open: arrays of any shape; the tool reads them and the other way round."""

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
