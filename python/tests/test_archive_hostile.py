"""`.pco.zip` files from strangers: sealed and sound as archives, but not in what they say."""

import copy
import io
import json
import random
import zipfile
import zlib

import numpy as np
import pytest

import latens
from latens import pco

SEAL = b"latens pco.zip crc32 "
TYPES = {"i8": "i64", "f8": "f64", "u1": "u8", "u8": "u64", "u4": "u32"}


def sealed(data):
    """A file whose seal holds, whatever is in it."""
    return data[:-8] + b"%08x" % zlib.crc32(data[:-8])


def packed(members, schema, deflated=()):
    """An archive of these members; `schema` is text or what is made JSON."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        text = schema if isinstance(schema, (str, bytes)) else json.dumps(schema)
        for name, data in [*members.items(), ("schema.json", text)]:
            kind = zipfile.ZIP_DEFLATED if name in deflated else zipfile.ZIP_STORED
            archive.writestr(zipfile.ZipInfo(name), data, kind)
        archive.comment = SEAL + b"0" * 8
    return sealed(out.getvalue())


def column(name, data, nulls=0, valid=None, file="a.pco"):
    numbers = pco.decompress(data)
    about = {
        "field": {
            "name": name,
            "storage": {"number": TYPES[numbers.dtype.str[1:]]},
            "logical": "none",
            "nullable": nulls > 0,
        },
        "nulls": nulls,
        "layout": {"kind": "numbers", "values": {"file": file, "bytes": len(data)}},
    }
    if valid is not None:
        about["valid"] = {"file": "v.pco", "bytes": len(valid)}
    return about


def table(rows, *columns, **more):
    return {"format": "latens pco.zip", "version": 1, "rows": rows, "columns": columns, **more}


@pytest.fixture
def load(tmp_path):
    def of(data, **limits):
        (tmp_path / "x.pco.zip").write_bytes(data)
        return latens.load(tmp_path / "x.pco.zip", **limits)

    return of


NONE = pco.compress(np.zeros(0, "i8"))
THREE = pco.compress(np.arange(3))


def test_rows_without_bytes(load):
    for rows, limits in [(3 * 10**8, {}), (10**12, {}), (10**4, {"max_output": 10**4})]:
        valid = pco.compress(np.array([0, rows], "u8"))
        members = {"a.pco": NONE, "v.pco": valid}
        about = column("a", NONE, rows, valid)
        with pytest.raises(latens.LimitError, match="max_output"):
            load(packed(members, table(rows, about)), **limits)
    valid = pco.compress(np.array([0, 10**6], "u8"))
    data = packed({"a.pco": NONE, "v.pco": valid}, table(10**6, column("a", NONE, 10**6, valid)))
    assert load(data)["a"].mask.all()
    # A sum of runs that wraps around, and runs of nothing.
    for runs in ([1 << 63, 1 << 63, 10], [0, 4, 0, 6]):
        valid = pco.compress(np.array(runs, "u8"))
        about = column("a", NONE, 10, valid)
        with pytest.raises(latens.CorruptError, match="runs"):
            load(packed({"a.pco": NONE, "v.pco": valid}, table(10, about)))


def test_limits(tmp_path):
    path = tmp_path / "x.pco.zip"
    latens.save(path, a=np.arange(1000), b=np.arange(500.0))
    assert len(latens.load(path, max_output=12_000, max_alloc=1 << 20)) == 2
    with pytest.raises(latens.LimitError, match="max_output"):
        latens.load(path, max_output=11_999)
    with latens.open(path, max_output=4000) as file:
        assert file["b"].size == 500
        with pytest.raises(latens.LimitError, match="max_output"):
            file["a"]
    with latens.open(path, max_alloc=10) as file, pytest.raises(latens.LimitError, match="max_alloc"):
        file["a"]
    with pytest.raises(latens.InvalidArgumentError, match="closed"):
        file["a"]


def test_members_are_stored(load):
    about = table(3, column("a", THREE))
    assert load(packed({"a.pco": THREE}, about))["a"].tolist() == [0, 1, 2]
    spaces = json.dumps(about) + " " * (1 << 24)
    for name in ("schema.json", "a.pco"):
        with pytest.raises(latens.CorruptError, match="stored") as caught:
            load(packed({"a.pco": THREE}, spaces, deflated=[name]))
        assert caught.value.offset is not None


def wrong_schemas():
    def changed(**more):
        return json.dumps({**table(3, column("a", THREE)), **more})

    def arrays(about):
        value = about if isinstance(about, str) else json.dumps({"a": about})
        return changed(metadata=[{"key": "latens.arrays", "value": value}])

    yield from ["", "[1]", "{", "[" * 200_000, "\udc00".encode("utf-8", "surrogatepass"), "null"]
    yield from [changed(array={"shape": [3]}), changed(array=3), changed(rows=-3), changed(rows=3.0)]
    yield from [arrays("{"), arrays("{}"), arrays("[" * 100_000), arrays({}), arrays({"dtype": "<i8"})]
    for dtype in ("zzz", "S8", "O", "i4,O", "(1,)O", "<f8", "<M8[999999999Y]x", "|b1", 3, None):
        yield arrays({"dtype": dtype, "shape": [3]})
    for shape in ("abc", None, [4], [-3, -1], [3.0], [True], [1] * 99 + [3], [1 << 62, 4], {}):
        yield arrays({"dtype": "<i8", "shape": shape})
    for key, value in [("nulls", "x"), ("nulls", 2), ("valid", 3), ("layout", {}), ("field", [])]:
        yield json.dumps(table(3, {**column("a", THREE), key: value}))
    for file in ("zz", [1], "schema.json", None):
        yield json.dumps(table(3, column("a", THREE, file=file)))


@pytest.mark.parametrize("text", list(wrong_schemas()), ids=lambda t: repr(t[-60:]))
def test_wrong_schemas(load, text):
    with pytest.raises(latens.CorruptError) as caught:
        load(packed({"a.pco": THREE}, text))
    assert caught.value.offset is not None or "member" in str(caught.value)


def test_errors_have_their_place(load):
    damaged = bytearray(pco.compress(np.arange(1000.0) ** 3))
    damaged[len(damaged) // 2] ^= 16
    about = column("a", pco.compress(np.arange(1.0)))
    about["layout"]["values"]["bytes"] = len(damaged)
    data = packed({"first.pco": b"x" * 50, "a.pco": bytes(damaged)}, table(1000, about))
    with pytest.raises(latens.CorruptError) as caught:
        load(data)
    start = data.index(bytes(damaged))
    assert start < caught.value.offset <= start + len(damaged)
    assert f"byte {caught.value.offset}" in str(caught.value) and caught.value.places[0] == "a.pco"


def text_archive(values, dictionary=False, fixed=None):
    zstandard = pytest.importorskip("zstandard", reason="zstandard is not installed")
    values = [value.encode() if isinstance(value, str) else value for value in values]
    distinct = list(dict.fromkeys(values)) if dictionary else values
    joined = b"".join(distinct)
    members = {"t.zst": zstandard.compress(joined)}
    store = {"joined": {"file": "t.zst", "bytes": len(members["t.zst"])}, "total": len(joined)}
    if fixed is None:
        lengths = members["t.lengths.pco"] = pco.compress(np.array([len(v) for v in distinct], "u4"))
        store["lengths"] = {"file": "t.lengths.pco", "bytes": len(lengths)}
    layout = {"kind": "plain", "values": store}
    if dictionary:
        codes = members["t.pco"] = pco.compress(np.array([distinct.index(v) for v in values], "u4"))
        layout.update(kind="dictionary", distinct=len(distinct))
        layout["codes"] = {"file": "t.pco", "bytes": len(codes)}
    storage = "bytes" if fixed is None else {"fixed": fixed}
    field = {"name": "t", "storage": storage, "logical": "text", "nullable": False}
    return members, table(len(values), {"field": field, "nulls": 0, "layout": layout})


def test_text(load):
    words = ["one", "two", "", "one", "drei"]
    assert load(packed(*text_archive(words)))["t"].tolist() == words
    assert load(packed(*text_archive(words, dictionary=True)))["t"].tolist() == words
    assert load(packed(*text_archive(["ab", "cd"], fixed=2)))["t"].tolist() == ["ab", "cd"]
    with pytest.raises(latens.CorruptError, match="UTF-8"):
        load(packed(*text_archive([b"\xff\xfe"])))
    with pytest.raises(latens.LimitError):
        load(packed(*text_archive(words)), max_output=40)
    members, about = text_archive(["a" * 9])
    about["columns"][0]["layout"]["values"]["total"] = 1 << 62
    with pytest.raises(latens.CorruptError, match="lengths"):
        load(packed(members, about))
    # Lengths that say more than there is, and a fixed one that rows multiply.
    lengths = pco.compress(np.full(1 << 20, (1 << 32) - 1, "u4"))
    members, about = text_archive(["a"])
    store = about["columns"][0]["layout"]["values"]
    members["t.lengths.pco"], store["lengths"]["bytes"] = lengths, len(lengths)
    about["rows"], store["total"] = 1 << 20, ((1 << 32) - 1) << 20
    with pytest.raises(latens.CorruptError, match="as long as"):
        load(packed(members, about))
    for fixed, rows in [(0, 1 << 50), (2, 1 << 50)]:
        members, about = text_archive(["ab"[:fixed]], fixed=fixed)
        about["rows"] = rows
        about["columns"][0]["layout"]["values"]["total"] = fixed * rows
        with pytest.raises(latens.LatensError):
            load(packed(members, about))


def test_two_columns_of_a_name(load):
    about = table(3, column("a", THREE), column("a", THREE))
    with pytest.raises(latens.InvalidArgumentError, match="two columns"):
        load(packed({"a.pco": THREE}, about))


def seeds():
    rng = np.random.default_rng(1)
    for arrays in (
        {"a": rng.normal(size=(3, 4)), "b": np.arange(5, dtype=">i2"), "c": np.array([True, False])},
        {"d": np.array(["2024-01-01", "NaT"], "M8[D]"), "w": np.array([1 + 2j])},
        {"one": np.arange(6, dtype="f4").reshape(2, 3)},
        {"m": np.ma.MaskedArray(np.arange(6), [0, 1, 0, 0, 1, 1]), "n": np.arange(9)},
    ):
        yield arrays, None
    valid = pco.compress(np.array([1, 2, 2], "u8"))
    yield {"a.pco": THREE, "v.pco": valid}, table(5, column("a", THREE, 2, valid))
    try:
        yield text_archive(["one", "two", "one"])
        yield text_archive(["one", "two", "one"], dictionary=True)
        yield text_archive(["ab", "cd"], fixed=2)
    except pytest.skip.Exception:
        pass


def parts(path):
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return members, json.loads(members.pop("schema.json"))


JUNK = [None, True, -1, 0, 1, 2, 7, 1 << 31, 1 << 62, (1 << 64) - 1, 1 << 64, 10**30, 1.5, "", "x",
        "a.pco", "schema.json", "numbers", "plain", "boolean", "int96", [], [3], {}, {"fixed": 3}]


def mutated(random, value):
    """A copy of a piece of JSON, with one thing in it changed."""
    value = copy.deepcopy(value)
    at = value
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        key = random.choice(keys)
        deeper = isinstance(at[key], (dict, list)) and at[key]
        if not deeper or random.random() < 0.1:
            break
        at = at[key]
    if random.random() < 0.2:
        del at[key]
    elif isinstance(at[key], int) and random.random() < 0.5:
        at[key] += random.choice([-1, 1, 8])
    elif isinstance(at[key], str) and at[key].startswith("{"):
        at[key] = json.dumps(mutated(random, json.loads(at[key])))
    else:
        at[key] = random.choice(JUNK)
    return value


def test_thousands_of_mutations(tmp_path):
    """What comes back is an array of a type that `load` gives, or an error of ours; in little time."""
    path, chance = tmp_path / "x.pco.zip", random.Random(7)
    files = []
    for arrays, about in seeds():
        if isinstance(about, dict):
            files.append((arrays, about))
        else:
            latens.save(path, **arrays)
            files.append(parts(path))
    ended = {"error": 0, "array": 0}
    for number in range(4000):
        members, about = files[number % len(files)]
        kind = chance.random()
        if kind < 0.6:
            data = packed(members, mutated(chance, about))
        elif kind < 0.8:
            members = {name: bytearray(data) for name, data in members.items()}
            data = members[chance.choice(list(members))]
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            data = packed({name: bytes(data) for name, data in members.items()}, about)
        else:
            # The structures of the ZIP too.
            data = bytearray(packed(members, about))
            for _ in range(chance.choice([1, 1, 4])):
                data[chance.randrange(len(data) - 29)] = chance.choice([0, 1, 80, 255])
            data = sealed(bytes(data))
        path.write_bytes(data)
        try:
            found = latens.load(path, max_output=chance.choice([None, 1 << 20]))
        except latens.LatensError as error:
            assert str(error)
            ended["error"] += 1
        else:
            assert all(isinstance(array, np.ndarray) for array in found.values())
            ended["array"] += 1
    assert min(ended.values()) > 100, ended
