"""What the stubs and the modules say of their names is what is there."""

import importlib
import pathlib
import pkgutil
import subprocess
import sys

import pytest

import latens


def modules():
    """Those that can be imported here, but vllm: its class is made where vLLM is, in a function."""
    yield "latens._latens"
    for module in pkgutil.walk_packages(latens.__path__, "latens."):
        if module.name.split(".")[-1].startswith("_") or module.name == "latens.vllm":
            continue
        try:
            importlib.import_module(module.name)
        except ImportError:
            continue
        yield module.name


def test_stubtest(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    checked = list(modules())
    assert {"latens.pco.wrapped", "latens.archive", "latens.wcodec"} <= set(checked)
    settings = pathlib.Path(__file__).resolve().parents[1] / "pyproject.toml"
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "--mypy-config-file", settings, *checked],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
