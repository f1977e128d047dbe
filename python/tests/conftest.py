"""What the tests share."""

import os
import pathlib
import shutil
import subprocess

import pytest


@pytest.fixture(scope="session")
def tool() -> str:
    """The tool `latens`, where it is built: LATENS_TOOL, or target/release of this repository."""
    root = pathlib.Path(__file__).resolve().parents[2]
    for path in (os.environ.get("LATENS_TOOL"), root / "target/release/latens"):
        if path and shutil.which(str(path)):
            return str(path)
    pytest.skip("the tool is not built: cargo build --release, or set LATENS_TOOL")


@pytest.fixture
def run(tool, tmp_path):
    """Runs the tool in a folder of its own; returns what it prints."""

    def call(*args: str) -> str:
        done = subprocess.run([tool, *args], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return call
