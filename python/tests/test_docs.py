"""Every example in the documents and in the modules runs."""

import doctest
import importlib
import pathlib
import re
import sys

import pytest
from tensorrt_doubles import Network, Refitter, trt

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULES = {
    "latens": [],
    "latens.pco": [],
    "latens.pco.wrapped": [],
    "latens.archive": [],
    "latens.delta_binary_packed": [],
    "latens.wcodec": [],
    "latens.numcodecs": ["numcodecs"],
    "latens.zarr": ["zarr"],
    "latens.arrow": ["pyarrow"],
    "latens.torch": ["torch"],
    "latens.torch_dcp": ["torch"],
    "latens.transformers": ["torch", "transformers"],
    "latens.vllm": ["torch"],
    "latens.tensorrt": [],
}
PEERS = ("zarr", "pyarrow", "torch")


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_modules(name, tmp_path, monkeypatch):
    for peer in MODULES[name]:
        pytest.importorskip(peer, reason=f"{peer} is not installed")
    monkeypatch.chdir(tmp_path)
    doubles = {}
    if name == "latens.tensorrt":
        monkeypatch.setitem(sys.modules, "tensorrt", trt)
        doubles = {"refitter": Refitter(["kernel"]), "network": Network()}
    failed, tried = doctest.testmod(importlib.import_module(name), extraglobs=doubles)
    assert tried > 0 and failed == 0


def blocks():
    for path in (ROOT / "README.md", ROOT / "python" / "README.md"):
        text = path.read_text(encoding="utf-8")
        for i, code in enumerate(re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)):
            yield pytest.param(code, id=f"{path.relative_to(ROOT)}-{i}")


@pytest.mark.parametrize("code", list(blocks()))
def test_examples_of_documents(code, tmp_path, monkeypatch):
    for peer in PEERS:
        if re.search(rf"\bimport [^\n]*\b{peer}\b|from {peer}\b|latens\.{peer}\b", code):
            pytest.importorskip(peer, reason=f"{peer} is not installed")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "example", "exec"), {"__name__": "example"})
