"""Where files are written to: links, FIFOs, inputs, what is there already, folders that are not."""

import os
import stat
import threading

import numpy as np
import pytest

import latens
from latens import wcodec

ARRAYS = {"a": np.arange(300.0).reshape(30, 10), "b": np.zeros(5, "i1")}


@pytest.fixture
def source(tmp_path):
    wcodec.save_file(ARRAYS, tmp_path / "m.wcodec")
    wcodec.decompress_file(tmp_path / "m.wcodec", tmp_path)
    return tmp_path / "m.safetensors"


def save(path):
    latens.save(path, **ARRAYS)


def save_file(path):
    wcodec.save_file(ARRAYS, path)


def back(path):
    found = wcodec.load_file(path) if path.suffix == ".wcodec" else latens.load(path)
    return all(np.array_equal(found[name], array) for name, array in ARRAYS.items())


WRITERS = pytest.mark.parametrize(
    "write, name", [(save, "x.pco.zip"), (save_file, "x.wcodec")], ids=["save", "save_file"]
)


@WRITERS
def test_links_stay(tmp_path, write, name):
    (tmp_path / "there").mkdir()
    real, link, dangling = tmp_path / "there" / name, tmp_path / name, tmp_path / ("new-" + name)
    real.write_bytes(b"old")
    real.chmod(0o640)
    link.symlink_to(os.path.join("there", name))
    dangling.symlink_to(os.path.join("there", "new-" + name))
    write(link)
    write(dangling)
    assert link.is_symlink() and dangling.is_symlink() and back(link) and back(dangling)
    assert stat.S_IMODE(real.stat().st_mode) == 0o640 and not real.is_symlink()
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(dangling.stat().st_mode) == 0o666 & ~umask
    assert len(list((tmp_path / "there").iterdir())) == 2


def read_by_another(fifo):
    held = []
    thread = threading.Thread(target=lambda: held.append(fifo.read_bytes()), daemon=True)
    thread.start()

    def end():
        thread.join(20)
        assert held, "the reader waits still"
        return held[0]

    return end


@WRITERS
def test_a_fifo_is_written_to(tmp_path, write, name):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    (tmp_path / "link").symlink_to("fifo")
    for path in (fifo, tmp_path / "link"):
        end = read_by_another(fifo)
        write(path)
        (tmp_path / name).write_bytes(end())
        assert back(tmp_path / name) and stat.S_ISFIFO(fifo.stat().st_mode)


def test_files_to_a_fifo(source, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    end = read_by_another(tmp_path / "fifo")
    wcodec.compress_file(source, tmp_path / "fifo")
    (tmp_path / "again.wcodec").write_bytes(end())
    assert back(tmp_path / "again.wcodec")
    (tmp_path / "out").mkdir()
    os.mkfifo(tmp_path / "out/m.safetensors")
    end = read_by_another(tmp_path / "out/m.safetensors")
    wcodec.decompress_file(tmp_path / "m.wcodec", tmp_path / "out")
    assert end() == source.read_bytes()


def test_the_input_is_kept(source, tmp_path):
    before = source.read_bytes()
    (tmp_path / "link").symlink_to(source.name)
    os.link(source, tmp_path / "hard")
    for path in (source, tmp_path / "link", tmp_path / "hard"):
        for overwrite in (True, False):
            with pytest.raises(latens.InvalidArgumentError, match="same file"):
                wcodec.compress_file(source, path, overwrite=overwrite)
    with pytest.raises(latens.InvalidArgumentError, match="same file"):
        wcodec.compress_file(source, tmp_path / "m.wcodec", base=tmp_path / "m.wcodec", overwrite=True)
    assert source.read_bytes() == before and back(tmp_path / "m.wcodec")
    # A .wcodec under the name of the file in it.
    (tmp_path / "o").mkdir()
    os.link(tmp_path / "m.wcodec", tmp_path / "o/m.safetensors")
    with pytest.raises(latens.InvalidArgumentError, match="same file"):
        wcodec.decompress_file(tmp_path / "o/m.safetensors", overwrite=True)


def test_shards_are_kept(source, tmp_path):
    index = tmp_path / "s.safetensors.index.json"
    index.write_text('{"weight_map": {"a": "m.safetensors", "b": "m.safetensors"}}')
    flat = source.read_bytes()
    for base in (None, index):
        with pytest.raises(latens.InvalidArgumentError, match="same file"):
            wcodec.compress_file(source if base else index, source, base=base, overwrite=True)
    tuned = tmp_path / "tuned"
    tuned.mkdir()
    wcodec.save_file(ARRAYS, tuned / "m.wcodec")
    with pytest.raises(latens.InvalidArgumentError, match="same file"):
        wcodec.decompress_file(tuned / "m.wcodec", tmp_path, base=index, overwrite=True)
    assert source.read_bytes() == flat
    index.write_text('{"weight_map": {"a": 1}}')
    with pytest.raises(latens.CorruptError):
        wcodec.compress_file(index)


def test_what_is_there(source, tmp_path):
    (tmp_path / "out").mkdir()
    taken = tmp_path / "out/m.wcodec"
    taken.write_bytes(b"kept")
    with pytest.raises(FileExistsError, match="overwrite=True") as caught:
        wcodec.compress_file(source, taken)
    assert caught.value.filename == str(taken) and taken.read_bytes() == b"kept"
    wcodec.compress_file(source, taken, overwrite=True)
    assert back(taken)
    with pytest.raises(FileExistsError, match="overwrite=True"):
        wcodec.decompress_file(taken, source.parent)
    wcodec.decompress_file(taken, source.parent, overwrite=True)
    # What comes back in one call is replaced, as numpy.savez and safetensors do.
    for write, path in ((save, tmp_path / "y.pco.zip"), (save_file, tmp_path / "y.wcodec")):
        path.write_bytes(b"old")
        write(path)
        assert back(path)


def test_one_that_appears_meanwhile_is_kept(source, tmp_path):
    late = tmp_path / "late.wcodec"

    def appear(done, total):
        late.write_bytes(b"kept")

    with pytest.raises(FileExistsError):
        wcodec.compress_file(source, late, progress=appear)
    assert late.read_bytes() == b"kept"
    assert not [p for p in os.listdir(tmp_path) if p.startswith(".")]


@pytest.mark.parametrize("folder", ["nowhere", "nowhere/else"])
def test_a_missing_folder(source, tmp_path, folder):
    path = tmp_path / folder / "x.wcodec"
    calls = [
        lambda: save(path),
        lambda: save_file(path),
        lambda: wcodec.compress_file(source, path),
        lambda: wcodec.decompress_file(tmp_path / "m.wcodec", path),
    ]
    for call in calls:
        with pytest.raises(FileNotFoundError) as caught:
            call()
        assert caught.value.filename == str(path) and "folder" in str(caught.value)
    for call in (lambda: save(tmp_path), lambda: save_file(tmp_path)):
        with pytest.raises(IsADirectoryError) as caught:
            call()
        assert caught.value.filename == str(tmp_path)


def test_a_file_is_whole_or_not_there(tmp_path, monkeypatch):
    save(tmp_path / "x.pco.zip")
    synced = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (synced.append(os.fstat(fd).st_mode), real(fd))[1])
    save(tmp_path / "x.pco.zip")
    assert [stat.S_ISDIR(mode) for mode in synced] == [False, True]
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(5, "as if")))
    before = (tmp_path / "x.pco.zip").read_bytes()
    for write, name in ((save, "x.pco.zip"), (save_file, "x.wcodec")):
        with pytest.raises(OSError, match="as if"):
            write(tmp_path / name)
    assert os.listdir(tmp_path) == ["x.pco.zip"]
    assert (tmp_path / "x.pco.zip").read_bytes() == before
