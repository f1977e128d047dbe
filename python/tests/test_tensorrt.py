"""latens.tensorrt against doubles of TensorRT's documented interface."""

import sys

import numpy as np
import pytest
from tensorrt_doubles import Network, Refitter, trt

import latens
from latens import tensorrt, wcodec


@pytest.fixture
def reader(tmp_path):
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    arrays = {
        "w": np.arange(12, dtype="f4").reshape(3, 4),
        "h": np.arange(5).astype(ml_dtypes.bfloat16),
        "empty": np.zeros((0, 2), "f4"),
    }
    wcodec.save_file(arrays, tmp_path / "t.wcodec")
    return wcodec.open(tmp_path / "t.wcodec"), arrays


def test_a_refitter_gets_all_that_it_wants(reader):
    file, arrays = reader
    refitter = Refitter(["net.w", "net.h"])
    held = tensorrt.set_weights(refitter, file, lambda name: name.split(".")[1], trt=trt)
    assert len(held) == 2
    assert np.array_equal(refitter.got["net.w"], arrays["w"])
    assert refitter.got["net.h"].tobytes() == arrays["h"].tobytes()
    with pytest.raises(latens.InvalidArgumentError, match="'x'"):
        tensorrt.set_weights(Refitter(["x"]), file, trt=trt)
    with pytest.raises(latens.InvalidArgumentError, match="refuses"):
        tensorrt.set_weights(Refitter(["w"], refuses=["w"]), file, trt=trt)


def test_weights_are_decoded_once_and_need_no_ml_dtypes(reader, monkeypatch):
    file, arrays = reader
    asked = []
    get_bytes = file.get_bytes
    monkeypatch.setattr(file, "get_bytes", lambda name: asked.append(name) or get_bytes(name))
    monkeypatch.setattr(file, "get_tensors", None)
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    refitter = Refitter(["w", "h"])
    tensorrt.set_weights(refitter, file, trt=trt)
    assert asked == ["w", "h"] and refitter.got["h"].tobytes() == arrays["h"].tobytes()


def test_types_of_tensorrt(tmp_path):
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    numbers = np.arange(1, 5)
    scales = (2.0**numbers).astype(ml_dtypes.float8_e8m0fnu)
    taken = {t: numbers.astype(t) for t in ("f4", "f2", "i1", "u1", "i4", "i8", "?")}
    refused = {t: numbers.astype(t) for t in ("f8", "i2", "u2", "u4", "u8", "c8")}
    refused["e5m2"] = numbers.astype(ml_dtypes.float8_e5m2)
    wcodec.save_file({**taken, **refused, "scales": scales}, tmp_path / "t.wcodec")
    file = wcodec.open(tmp_path / "t.wcodec")
    refitter = Refitter([*taken, "scales"])
    tensorrt.set_weights(refitter, file, trt=trt)
    assert refitter.got["scales"].tobytes() == scales.tobytes()
    assert all(np.array_equal(refitter.got[name], taken[name]) for name in taken)
    for name in refused:
        with pytest.raises(latens.InvalidArgumentError, match=f"^{name}: .*{file.info(name).dtype};"):
            tensorrt.set_weights(Refitter([name]), file, trt=trt)
    # One of before it had that type.
    old = type("old", (), {"DataType": type("DataType", (), {}), "Weights": trt.Weights})
    with pytest.raises(latens.InvalidArgumentError, match="^scales: .*F8_E8M0"):
        tensorrt.set_weights(Refitter(["scales"]), file, trt=old)


def test_constants_of_a_network(reader):
    file, arrays = reader
    constants = tensorrt.Constants(Network(), file, trt=trt)
    layer = constants.add("w")
    assert layer.name == "w" and layer.shape == (3, 4) and np.array_equal(layer.data, arrays["w"])
    with pytest.raises(latens.InvalidArgumentError, match="empty"):
        constants.add("empty")
    with pytest.raises(latens.InvalidArgumentError, match="install tensorrt"):
        tensorrt.Constants(Network(), file)
