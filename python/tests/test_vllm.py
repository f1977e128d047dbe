"""latens.vllm against doubles of vLLM's documented interface."""

import sys
import types

import pytest

import latens
from latens import wcodec

torch = pytest.importorskip("torch", reason="torch is not installed")

import latens.torch as lt  # noqa: E402
import latens.vllm as ours  # noqa: E402
from latens._torch_lazy import LazyTensor  # noqa: E402


def same(a, b):
    bits = [t.contiguous().reshape(-1).view(torch.uint8) if t.numel() else t for t in (a, b)]
    return a.dtype == b.dtype and a.shape == b.shape and torch.equal(*bits)


def tensors():
    torch.manual_seed(1)
    return {
        "bfloat16": torch.randn(40, 6).bfloat16(),
        "int8": (torch.randn(40, 6) * 9).to(torch.int8),
        "scalar": torch.tensor(2.5),
        "none": torch.zeros(0, 3),
    }


@pytest.fixture
def saved(tmp_path):
    lt.save_file(tensors(), tmp_path / "m.wcodec", level=2)
    return tmp_path / "m.wcodec"


class BaseModelLoader:
    """What vLLM documents of its base class."""

    def __init__(self, load_config):
        self.load_config = load_config

    def download_model(self, model_config):
        raise NotImplementedError

    def load_weights(self, model, model_config):
        raise NotImplementedError


@pytest.fixture
def vllm(monkeypatch):
    """A double of vLLM; the load formats that are registered there, and how often."""
    formats, calls = {}, []

    def register(name):
        calls.append(name)
        return lambda cls: formats.__setitem__(name, cls)

    package = types.ModuleType("vllm.model_executor.model_loader")
    package.register_model_loader, package._LOAD_FORMAT_TO_MODEL_LOADER = register, formats
    base = types.ModuleType("vllm.model_executor.model_loader.base_loader")
    base.BaseModelLoader = BaseModelLoader
    for module in (types.ModuleType("vllm"), types.ModuleType("vllm.model_executor"), package, base):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return types.SimpleNamespace(formats=formats, calls=calls, base=BaseModelLoader)


def test_vllm_loader(saved, vllm, tmp_path):
    ours.register()
    ours.register()
    assert vllm.calls == ["wcodec"]
    loader = vllm.formats["wcodec"](None)
    config = types.SimpleNamespace(model=str(saved.parent))
    loader.download_model(config)
    got = {}
    model = types.SimpleNamespace(load_weights=lambda pairs: got.update(pairs))
    loader.load_weights(model, config)
    assert all(same(got[name], tensor) for name, tensor in tensors().items())
    assert dict(loader.get_all_weights(config, model)).keys() == got.keys()
    for rank in range(2):
        part = ours.rows(str(saved), "bfloat16", rank, 2)
        assert same(part, tensors()["bfloat16"][rank * 20 : rank * 20 + 20])
        part = ours.rows(str(saved), "int8", rank, 2, dim=1)
        assert same(part, tensors()["int8"][:, rank * 3 : rank * 3 + 3])
    with pytest.raises(latens.InvalidArgumentError, match="no part"):
        ours.rows(str(saved), "int8", 0, 7)
    (tmp_path / "empty").mkdir()
    for wrong, said in ((str(tmp_path / "empty"), "no .wcodec"), ("org/model", "no folder here")):
        with pytest.raises(latens.InvalidArgumentError, match=said):
            loader.download_model(types.SimpleNamespace(model=wrong))


def loader_with(settings):
    config = types.SimpleNamespace(model_loader_extra_config=settings, load_format="wcodec")
    return ours.make_loader(BaseModelLoader)(config)


def test_a_base_and_limits(tmp_path):
    before = {"big": torch.randn(600, 600), "small": torch.randn(4, 2)}
    now = {name: tensor + (tensor > 2) for name, tensor in before.items()}
    base = tmp_path / "before.wcodec"
    lt.save_file(before, base)
    folder = tmp_path / "model"
    folder.mkdir()
    lt.save_file(now, folder / "a.wcodec", base=base, tools=lt.wcodec.Tools(predictors=["REFERENCE"]))
    # One that has no base needs none.
    lt.save_file({"other": torch.ones(3)}, folder / "b.wcodec")
    now["other"] = torch.ones(3)
    for lazy in (False, True):
        found = dict(ours.weights(str(folder), lazy=lazy, base=base))
        assert found.keys() == now.keys()
        assert all(torch.equal(found[name] + 0, now[name]) for name in now)
        loader = loader_with({"lazy": lazy, "base": str(base)})
        got = loader.get_all_weights(types.SimpleNamespace(model=str(folder)), None)
        assert all(torch.equal(tensor + 0, now[name]) for name, tensor in got)
    part = ours.rows(str(folder / "a.wcodec"), "small", 1, 2, base=base)
    assert torch.equal(part, now["small"][2:])
    with pytest.raises(latens.InvalidArgumentError, match="a.wcodec: .*not the base"):
        list(ours.weights(str(folder), base=folder / "b.wcodec"))
    with pytest.raises(latens.LimitError, match="max_output"):
        list(ours.weights(str(folder), base=base, lazy=False, max_output=1000))
    with pytest.raises(latens.LimitError, match="max_output"):
        ours.rows(str(folder / "a.wcodec"), "big", 0, 2, base=base, max_output=1000)


def test_settings_of_the_loader():
    for known in (None, {}, {"lazy": False, "threads": 1, "base": "b", "max_output": 9, "enable_weights_track": True}):
        loader_with(known)
    for wrong in ({"lzay": False}, {"lazy": True, "junk": 1}, ["lazy"]):
        with pytest.raises(latens.InvalidArgumentError, match="lazy, base, threads, max_output, max_alloc, enable_weights_track"):
            loader_with(wrong)


class Model(torch.nn.Module):
    """It says which weights it has loaded, where it does."""

    def __init__(self, says=True):
        super().__init__()
        self.a, self.b = (torch.nn.Parameter(torch.empty(3)) for _ in range(2))
        self.says, self.seen = says, {}

    def load_weights(self, pairs):
        self.seen = dict(pairs)
        return set(self.seen) if self.says else None


def test_weights_that_are_missing_are_an_error(tmp_path):
    lt.save_file({"a": torch.ones(3)}, tmp_path / "m.wcodec")
    config = types.SimpleNamespace(model=str(tmp_path), quantization=None)
    with pytest.raises(ValueError, match="not initialized.*b"):
        loader_with({}).load_weights(Model(), config)
    loader_with({"enable_weights_track": False}).load_weights(Model(), config)
    # As vLLM has it: by default only of what is not quantized and says what it loads.
    loader_with({}).load_weights(Model(says=False), config)
    config.quantization = "fp8"
    loader_with({}).load_weights(Model(), config)
    with pytest.raises(ValueError, match="not initialized"):
        loader_with({"enable_weights_track": True}).load_weights(Model(), config)


def test_weights_are_missing_where_vllm_says_so(tmp_path, vllm, monkeypatch):
    asked = []

    class DefaultModelLoader:
        def track_weights_loading(self, model, loaded_weights, quantized=False):
            asked.append((loaded_weights, quantized))

        def __init__(self, load_config):
            self.load_config = load_config

        def _get_weights_iterator(self, source):
            assert self.load_config.load_format == "auto"
            assert self.load_config.model_loader_extra_config == {}
            yield source.prefix + "theirs", torch.ones(1)

    default = types.ModuleType("vllm.model_executor.model_loader.default_loader")
    default.DefaultModelLoader = DefaultModelLoader
    monkeypatch.setitem(sys.modules, default.__name__, default)
    lt.save_file({"a": torch.ones(3)}, tmp_path / "m.wcodec")
    model = Model()
    model.secondary_weights = [source("org/other", "text.")]
    loader = loader_with({"lazy": False})
    loader.load_weights(model, types.SimpleNamespace(model=str(tmp_path), quantization=None))
    assert asked == [({"a", "text.theirs"}, False)]
    assert loader.load_config.load_format == "wcodec"


def source(path, prefix, patterns=None, subfolder=None):
    return types.SimpleNamespace(
        model_or_path=str(path), prefix=prefix, allow_patterns_overrides=patterns,
        subfolder=subfolder, revision=None, is_unused_weight=lambda name: name == "unused",
    )  # fmt: skip


def test_weights_of_other_folders(tmp_path):
    for name in ("m", "head", "towers/audio/m"):
        path = tmp_path / f"{name}.wcodec"
        path.parent.mkdir(parents=True, exist_ok=True)
        lt.save_file({path.stem: torch.ones(1), "unused": torch.ones(1)}, path)
    model, config = Model(), types.SimpleNamespace(model=str(tmp_path))
    model.is_unused_checkpoint_weight = lambda name: name == "unused"
    model.secondary_weights = [
        source(tmp_path, "joint.", ["head.safetensors"]),
        source(tmp_path / "towers", "audio.", subfolder="audio"),
    ]
    assert list(dict(loader_with({}).get_all_weights(config, model))) == ["m", "joint.head", "audio.m"]
    model.secondary_weights = [source("org/other", "text.")]
    with pytest.raises(latens.InvalidArgumentError, match="org/other"):
        list(loader_with({}).get_all_weights(config, model))


def test_tensors_are_lazy_where_there_are_several_ranks(tmp_path, monkeypatch):
    lt.save_file({"w": torch.ones(600, 600)}, tmp_path / "m.wcodec", level=0)
    config = types.SimpleNamespace(model=str(tmp_path))
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    for ranks in (1, 2):
        monkeypatch.setattr(torch.distributed, "get_world_size", lambda ranks=ranks: ranks)
        for settings, lazy in (({}, ranks > 1), ({"lazy": True}, True), ({"lazy": False}, False)):
            ((_, tensor),) = loader_with(settings).get_all_weights(config, Model())
            assert isinstance(tensor, LazyTensor) == lazy and tensor.sum() == 360_000


class Parallel(torch.nn.Module):
    """Layers of a rank that take their part as vLLM's do."""

    def __init__(self, rank, world):
        super().__init__()
        self.rank, self.world, self.taken = rank, world, {}

    def load_weights(self, pairs):
        for name, loaded in pairs:
            assert isinstance(loaded, torch.Tensor)
            dim = {"column": 0, "row": 1}.get(name.split(".")[0])
            if dim is not None:
                size = loaded.shape[dim] // self.world
                loaded = loaded.narrow(dim, self.rank * size, size)
            param = torch.nn.Parameter(torch.empty(loaded.shape, dtype=loaded.dtype), False)
            assert param.size() == loaded.size()
            param.data.copy_(loaded)
            self.taken[name] = param.data


@pytest.mark.parametrize("lazy", [True, False])
def test_ranks_of_vllm_get_their_part(tmp_path, monkeypatch, lazy):
    torch.manual_seed(2)
    whole = {
        "column.w": torch.randn(2048, 512).bfloat16(),
        "row.w": (torch.randn(512, 4096) * 20).to(torch.int8),
        "norm": torch.randn(600_000),
        "small": torch.randn(9),
    }
    lt.save_file(whole, tmp_path / "m.wcodec", level=1)
    loader = ours.make_loader(BaseModelLoader)(
        types.SimpleNamespace(model_loader_extra_config={"lazy": lazy})
    )
    decoded = []
    reader = wcodec.File._reader.fget
    spying = property(lambda file: Spy(reader(file), decoded))
    monkeypatch.setattr(wcodec.File, "_reader", spying)
    for rank in range(4):
        decoded.clear()
        model = Parallel(rank, 4)
        loader.load_weights(model, types.SimpleNamespace(model=str(tmp_path)))
        assert same(model.taken["column.w"], whole["column.w"][rank * 512 : rank * 512 + 512])
        assert same(model.taken["row.w"], whole["row.w"][:, rank * 1024 : rank * 1024 + 1024])
        assert same(model.taken["norm"], whole["norm"]) and same(model.taken["small"], whole["small"])
        of_column = sum(size for name, size in decoded if name == "column.w")
        assert of_column == whole["column.w"].nbytes // (4 if lazy else 1)


class Spy:
    """A reader that notes what is decoded."""

    def __init__(self, reader, decoded):
        self._of, self._decoded = reader, decoded

    def __getattr__(self, name):
        return getattr(self._of, name)

    def range(self, name, start, stop):
        self._decoded.append((name, stop - start))
        return self._of.range(name, start, stop)

    def several(self, names):
        found = self._of.several(names)
        self._decoded.extend((name, data.size) for name, data in zip(names, found, strict=True))
        return found
