"""Lazy tensors, as the loader for vLLM gives them, beside tensors that are not."""

import numpy as np
import pytest

import latens

torch = pytest.importorskip("torch", reason="torch is not installed")

import latens.torch as lt  # noqa: E402


def test_lazy_tensors_are_as_those_that_are_not(tmp_path):
    from latens._torch_lazy import LazyTensor

    whole = torch.arange(60 * 35).reshape(60, 7, 5)
    lt.save_file({"w": whole}, tmp_path / "m.wcodec", level=0)
    file = lt.safe_open(tmp_path / "m.wcodec")
    lazy = LazyTensor(file.get_slice("w"))
    assert isinstance(lazy[3:9], LazyTensor) and isinstance(lazy.narrow(1, 2, 3)[5:], LazyTensor)
    for name, take in {
        "rows": lambda t: t[3:9],
        "rows from behind": lambda t: t[-4:],
        "nothing": lambda t: t[9:3],
        "steps": lambda t: t[::7],
        "cut twice": lambda t: t.narrow(0, 10, 30).narrow(2, 1, 3)[5:, 2:4],
        "the last dimension": lambda t: t.narrow(-1, 1, 2),
        "a row": lambda t: t[7],
        "a column": lambda t: t[:, 2],
        "of a part": lambda t: t[10:20][3],
        "from behind": lambda t: t[-1],
        "a number": lambda t: t[3, 2, 1],
        "chunks": lambda t: t.chunk(3, 0)[1],
        "split": lambda t: t.split([10, 50])[1],
        "others": lambda t: t[[3, 1]],
        "transposed": lambda t: t.transpose(0, 1),
        "view": lambda t: t.view(60, 35),
        "sum": lambda t: t.sum(),
        "type": lambda t: t.to(torch.float32),
        "copy": lambda t: t.clone(),
        "data": lambda t: t.data,
        "detached": lambda t: t.detach()[1:3],
        "put into": lambda t: torch.zeros(60, 7, 5, dtype=torch.int64).copy_(t),
        "joined": lambda t: torch.cat([t, t]),
        "contiguous": lambda t: t[2:4].contiguous(),
    }.items():
        found, expected = take(lazy), take(whole)
        found = found.decoded() if isinstance(found, LazyTensor) else found
        assert type(found) is torch.Tensor and torch.equal(found, expected), name
    assert "shape=(60, 7, 5)" in repr(lazy) and lazy.dtype == torch.int64
    assert lazy.numel() == whole.numel() and lazy[7, 2, 1].item() == whole[7, 2, 1].item()
    lazy = LazyTensor(file.get_slice("w"))
    file.close()
    with pytest.raises(latens.InvalidArgumentError, match="closed"):
        lazy.sum()


@pytest.fixture
def lazy(tmp_path):
    """Makes a lazy tensor of numbers that are given, each time from a file of its own."""
    from latens._torch_lazy import LazyTensor

    def make(whole):
        lt.save_file({"w": whole}, tmp_path / "lazy.wcodec", level=0)
        return LazyTensor(lt.safe_open(tmp_path / "lazy.wcodec").get_slice("w"))

    return make


def add(a, b):
    a += b
    return a


def put(a, index, value):
    a[index] = value
    return a


WRITES = {
    "zeros, as gpt_oss of vLLM has it": lambda t: t.zero_(),
    "in place": lambda t: add(t, 1),
    "twice": lambda t: t.mul_(2).add_(3),
    "a function": lambda t: torch.mul(t, 3, out=t),
    "of several": lambda t: torch._foreach_add_([t], 1),
    "an element": lambda t: put(t, (3, 2), 0.5),
    "a row": lambda t: put(t, 1, 7.0),
    "a mask": lambda t: put(t, t > 50, 0.0),
    "from another": lambda t: t.copy_(torch.ones(8, 10)),
    "through a slice": lambda t: t[2:4].zero_(),
    "through a column": lambda t: t[:, 3].fill_(5),
    "through steps": lambda t: t[::2].zero_(),
    "through a view": lambda t: t.view(-1)[3:9].zero_(),
    "through a transposed part": lambda t: t[1:5].t().add_(1),
    "through parts that overlap": lambda t: (t[:5].zero_(), t[3:7, 2:6].add_(1), t[4].mul_(3)),
    "through what is split": lambda t: [part.mul_(i) for i, part in enumerate(t.split([3, 5]))],
    "through chunks of columns": lambda t: [part.mul_(i) for i, part in enumerate(t.chunk(2, 1))],
    "through rows": lambda t: [row.mul_(i) for i, row in enumerate(t.unbind())],
    "through what is detached": lambda t: t.detach().zero_(),
    "through data": lambda t: t.data.add_(4),
    "through NumPy": lambda t: put(t.numpy(), slice(1, 3), -1),
    "through DLPack": lambda t: torch.from_dlpack(t)[1:3].zero_(),
    "through a storage": lambda t: t.untyped_storage().fill_(0),
    "in shared memory": lambda t: t.share_memory_().add_(1),
}


@pytest.mark.parametrize("write", list(WRITES))
def test_writes_to_lazy_tensors_stay(lazy, write):
    whole = torch.arange(80.0).reshape(8, 10)
    tensor = lazy(whole)
    before, row, expected = tensor[2:6, 1:], tensor[3], whole.clone()
    WRITES[write](tensor)
    WRITES[write](expected)
    into = torch.empty(8, 10).copy_(tensor)
    assert torch.equal(into, expected) and not torch.equal(into, whole)
    # Slices see it, whether taken before or after.
    for found, wanted in (
        (before, expected[2:6, 1:]),
        (row, expected[3]),
        (tensor[1:4], expected[1:4]),
        (tensor[:, 2:5].contiguous(), expected[:, 2:5]),
    ):
        assert torch.equal(found.clone(), wanted)


def test_what_is_written_to_a_lazy_tensor_is_the_tensor(lazy):
    tensor = lazy(torch.ones(8, 10))
    same = tensor
    same += 1
    assert same is tensor and tensor.zero_() is tensor and tensor.sum() == 0
    assert torch.add(torch.ones(8, 10), 1, out=tensor) is tensor and tensor.sum() == 160


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t[1:6].select(0, 7),
        lambda t: t[1:6].select(0, -6),
        lambda t: t[1:6][5],
        lambda t: t.select(5, 0),
        lambda t: t.select(-3, 0),
        lambda t: t.narrow(0, 0, 9),
        lambda t: t.narrow(0, 5, 4),
        lambda t: t.narrow(2, 0, 1),
        lambda t: t.split([3, 4]),
        lambda t: t.split(2, 3),
        lambda t: t.chunk(0),
        lambda t: t[:, 2:4].view(-1),
        lambda t: t[3, 2, 1],
        lambda t: t[0, 0].unbind(),
    ],
)
def test_lazy_tensors_refuse_what_tensors_do(lazy, call):
    whole = torch.arange(80.0).reshape(8, 10)
    with pytest.raises(Exception) as expected:
        call(whole)
    with pytest.raises(type(expected.value)) as found:
        call(lazy(whole))
    assert str(found.value) == str(expected.value)


def test_lazy_tensors_lie_as_tensors_do(lazy):
    from latens._torch_lazy import LazyTensor

    whole = torch.arange(120.0).reshape(4, 6, 5)
    tensor = lazy(whole)
    for take in (
        lambda t: t[1:3],
        lambda t: t[:, 2:4],
        lambda t: t[2],
        lambda t: t[:, 3, 1:],
        lambda t: t[3, 2, 1],
        lambda t: t[4:],
        lambda t: t.narrow(1, 2, 3).select(0, 1),
        lambda t: t.split(4, dim=1)[1],
        lambda t: t.unbind(2)[3],
        lambda t: t.tensor_split(3)[1],
    ):
        found, expected = take(tensor), take(whole)
        assert isinstance(found, LazyTensor)
        about = [(t.shape, t.stride(), t.storage_offset(), t.is_contiguous()) for t in (found, expected)]
        assert about[0] == about[1] and torch.equal(found.decoded(), expected)
        assert found.tolist() == expected.tolist()


def test_memory_of_lazy_tensors(lazy, tmp_path):
    import copy
    import pickle

    whole = torch.arange(80.0).reshape(8, 10)
    for take in (lambda t: t, lambda t: t[2:5], lambda t: t[:, 1:4], lambda t: t[3]):
        tensor, expected = take(lazy(whole)), take(whole).numpy()
        latens.save(tmp_path / "l.pco.zip", w=tensor)
        torch.save(tensor, tmp_path / "l.pt")
        for found in (
            tensor.numpy(),
            tensor.cpu().numpy(),
            np.from_dlpack(take(lazy(whole))),
            np.asarray(take(lazy(whole))),
            np.array(take(lazy(whole)).tolist()),
            torch.from_dlpack(take(lazy(whole))),
            latens.load(tmp_path / "l.pco.zip")["w"],
            torch.load(tmp_path / "l.pt"),
            copy.deepcopy(take(lazy(whole))),
            pickle.loads(pickle.dumps(take(lazy(whole)))),
            take(lazy(whole)).share_memory_(),
            torch.empty(0).set_(take(lazy(whole))),
        ):
            assert np.array_equal(np.asarray(found), expected)
        assert tensor.data_ptr() and not tensor.is_pinned()
    assert lazy(whole).share_memory_().is_shared() and not lazy(whole).is_shared()


def test_memory_that_is_taken_from_a_lazy_tensor_is_refused(lazy, tmp_path):
    # A segmentation fault would end all tests, so what may be one has a process of its own.
    import subprocess
    import sys

    lazy(torch.ones(512, 1024))
    program = """
import sys, torch, latens.torch as lt
from latens._torch_lazy import LazyTensor
lazy = LazyTensor(lt.safe_open(sys.argv[1]).get_slice("w"))
p = torch.nn.Parameter(torch.zeros(512, 1024), requires_grad=False)
p.data = lazy
for use in (p.sum, p.clone, p.numpy, p.tolist, p.data_ptr, p.share_memory_, lambda: p @ p.t(),
            lambda: torch.zeros(512, 1024).copy_(p), lambda: p.copy_(torch.ones(512, 1024)),
            lambda: torch._C._to_dlpack(p), lambda: torch._C._to_dlpack(lazy),
            lambda: torch.Tensor.untyped_storage(lazy).data_ptr()):
    try:
        use()
    except RuntimeError as error:
        assert "tensor.clone()" in str(error), error
    else:
        raise AssertionError(use)
assert lazy.sum() == 512 * 1024
"""
    command = [sys.executable, "-c", program, tmp_path / "lazy.wcodec"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr or done.returncode


def test_lazy_tensors_keep_their_shape(lazy):
    tensor = lazy(torch.ones(8, 10))
    for call in (
        lambda: tensor.t_(),
        lambda: tensor.resize_(80),
        lambda: tensor.unsqueeze_(0),
        lambda: tensor.set_(torch.ones(3)),
        lambda: setattr(tensor, "data", torch.ones(8, 10)),
    ):
        with pytest.raises(latens.InvalidArgumentError, match="clone"):
            call()
    assert tensor.sum() == 80
