"""Decoding on a GPU: what comes of it where there is one, and that nothing breaks where there is none."""

import numpy as np
import pytest

import latens
from latens import _latens, wcodec


@pytest.fixture
def saved(tmp_path):
    random = np.random.default_rng(1)
    tensors = {
        "a": np.rint(random.normal(size=(300, 128)) * 20).astype(np.int8),
        "b": random.normal(size=(200, 100)).astype(np.float32),
        "none": np.zeros((0, 3), np.float32),
    }
    wcodec.save_file(tensors, tmp_path / "m.wcodec")
    return tmp_path / "m.wcodec", tensors


def test_no_gpu_is_a_sentence(saved):
    file, why = _latens.GpuFile.open(saved[0], None, 0, 1 << 20, None, None)
    assert file is None and why


def test_tensors_and_ranges_of_bytes(saved):
    path, tensors = saved
    file, why = _latens.GpuFile.open(path, None, 0, 0, None, None)
    if file is None:
        pytest.skip(why)
    decoded = file.tensors(list(tensors))
    for tensor, data in zip(tensors.values(), decoded, strict=True):
        assert len(data) == tensor.nbytes
        assert data.__cuda_array_interface__["shape"] == (tensor.nbytes,)
        assert data.__dlpack_device__() == (2, 0)
        assert "dltensor" in repr(data.__dlpack__(stream=-1))
    assert len(file.range("a", 128, 640)) == 512
    limited, _ = _latens.GpuFile.open(path, None, 0, 0, 100, None)
    with pytest.raises(latens.LimitError, match="max_output"):
        limited.tensors(["a"])


def test_tensors_of_torch(saved):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    import latens.torch as lt
    from latens import _torch_gpu

    path, tensors = saved
    if not torch.cuda.is_available():
        # Builds of PyTorch for CUDA may crash where there is no driver; they are not asked.
        assert _torch_gpu.open_on(path, "cuda") is None and _torch_gpu.open_on(path, "cpu") is None
        assert np.array_equal(lt.load_file(path)["a"].numpy(), tensors["a"])
        return
    loaded = lt.load_file(path, device="cuda")
    for name, tensor in tensors.items():
        assert loaded[name].is_cuda and np.array_equal(loaded[name].cpu().numpy(), tensor)
    with lt.safe_open(path, device="cuda") as file:
        part = file.get_slice("a")[10:20, 3:5]
        assert np.array_equal(part.cpu().numpy(), tensors["a"][10:20, 3:5])
