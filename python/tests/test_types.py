"""The stubs say what the extension module has."""

import subprocess
import sys

import pytest


def test_stubtest(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "latens._latens", "latens.pco", "latens.wcodec"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
