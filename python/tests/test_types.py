"""What the stubs and the modules say of their names is what is there."""

import pathlib
import subprocess
import sys

import pytest

# The hand-written stub, and modules that stand without peers. In others, which are typed where they are
# written, mypy's stubtest takes names of peers that it skips for their own.
CHECKED = ("_latens", "archive", "delta_binary_packed", "errors", "pco", "tensorrt", "transformers", "wcodec")


def test_stubtest(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    settings = pathlib.Path(__file__).resolve().parents[1] / "pyproject.toml"
    command = [sys.executable, "-m", "mypy.stubtest", "--mypy-config-file", settings]
    done = subprocess.run(
        [*command, *(f"latens.{name}" for name in CHECKED)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
